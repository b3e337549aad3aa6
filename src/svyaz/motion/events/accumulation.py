"""Impacts that accumulate: how high contacts hop, when their series of impacts ends, and when hops are over.

A contact has settled when its hop is lower than can be seen, by the push back that there is; or, where nothing pushes it back,
when it approaches slowly after such a hop. What has settled gives nothing back any more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from svyaz.expr import evaluate
from svyaz.model import Constraint
from svyaz.motion.events.complementarity import Collision
from svyaz.motion.events.contacts import DEEP, SHALLOW

SURE = 1e-10
"""An accumulation point is known when two estimates of it differ by no more than this part of the run."""

SHRINKING = 0.9
"""Estimates of an accumulation point converge when their differences shrink at least by this factor."""

DIGITS = (3, 12)
"""Digits of an accumulation point that are printed, at least and at most."""

LEAST = 1e-14
"""Hops lower than this part of the highest one are over in any case."""

NOTHING = 1e-13
"""Approaches with less than this part of the strongest motion at an impact, as roots of energies, are rounding."""


@dataclass(frozen=True)
class Hop:
    """How high a contact is thrown by an impact, and when its impacts will have accumulated if the push back is constant."""

    height: float
    size: float
    rest: float
    lasting: float

    def over(self, highest: float, before: float | None, until: float) -> bool:
        """Is it so low, and the accumulation point so well known by the estimate before, that the impacts are over?"""
        sure = before is not None and abs(self.rest - before) <= SURE * until
        return self.height <= max((DEEP if sure else LEAST) * highest, SHALLOW * self.size)


def bouncing(constraint: Constraint, constants: Mapping[str, float]) -> float:
    """The coefficient of restitution."""
    return float(evaluate(constraint.restitution, constants)) if constraint.impact != "inelastic" else 0.0


def hops(collision: Collision, coefficients: Mapping[str, float], before: Collection[str]) -> dict[str, Hop]:
    """The hop of each contact that approaches and gives back a part of its speed, by its first constraint.

    Constraints that acted ``before`` go on meanwhile. With the speed v = e·on' after the impact and the push back a = on'' of
    the motion without it, the hop is v²/2a high, and all later ones take 2v/a (1 + e + e² + …) = 2v/(a (1 - e)).
    """
    s, place, gaps, found = collision.snapshot, collision.place, collision.gaps, {}
    for group in collision.groups:
        name = place.constraints[group[0]].name
        e, k = coefficients.get(name, 0.0), _number(group[0], collision.touched)
        if not 0.0 < e < 1.0 or k is None or not gaps.rate[k] > 0.0:
            continue
        others = [
            row
            for row, c in enumerate(place.constraints)
            if row not in group and (c.name in before or not coefficients.get(c.name))
        ]
        push = float(gaps.rows[k] @ place.accelerated(others) + gaps.bias[k])
        speed = e * float(gaps.rate[k])
        if push > 0.0 and speed > 0.0:
            rest, lasting = s.time + 2.0 * speed / (push * (1.0 - e)), 2.0 * speed / push
            found[name] = Hop(speed**2 / (2.0 * push), float(gaps.size[k]), rest, lasting)
    return found


def _number(row: int, rows: Sequence[int]) -> int | None:
    return rows.index(row) if row in rows else None


def accumulated(time: float, rests: Mapping[str, float], errors: Mapping[str, float]) -> list[str]:
    """Notes on impacts without end in a finite time, with as many digits of its moment as the ``errors`` leave."""
    notes = []
    for rest in dict.fromkeys(rests.values()):
        error = max(errors.get(name, rest - time) for name in rests if rests[name] == rest)
        digits = int(np.clip(np.floor(np.log10(rest / max(error, 1e-300))), *DIGITS)) if rest > 0.0 else DIGITS[0]
        told = " and ".join(f"'{name}'" for name in rests if rests[name] == rest)
        last = f"from t = {time:.9g} on they are held while the last ones pass, lower than can be seen"
        notes.append(
            f"the impacts of {told} accumulate: {last}, and rest from t = {rest:.{digits}g}, the end of their series"
        )
    return notes


class Bounces:
    """What the impacts of a run so far say about hops: how high they were, and where they accumulate.

    Hops that last no longer than the ``shortest`` cannot be followed by the method, ``rounding`` is its relative error;
    ``errors`` are those of the moments at which impacts end.
    """

    def __init__(self, constants: Mapping[str, float], until: float, shortest: float, rounding: float) -> None:
        self._constants, self._until, self._shortest, self._rounding = constants, until, shortest, rounding
        self._coefficients: dict[str, float] = {}
        self._highest: dict[str, float] = {}
        self._rests: dict[str, float] = {}
        self._struck: dict[str, float] = {}
        self._last: dict[str, float] = {}
        self.errors: dict[str, float] = {}
        self._told: set[str] = set()
        self._strongest = 0.0
        self._landings: list[tuple[float, frozenset[str]]] = []

    def lively(self, collision: Collision, before: Collection[str]) -> tuple[dict[str, float], dict[str, float]]:
        """Restitutions by constraint, and the contacts that have settled, with the moment at which their impacts end.

        ``before`` are the constraints that acted up to now.
        """
        given = {c.name: self._restitution(c) for c in collision.place.constraints if c.impact is not None}
        s, v, settled = collision.snapshot, collision.speeds, {}
        self._strongest = max(self._strongest, np.sqrt(max(float(v @ s.mass @ v), 0.0)))
        approaches = collision.approaches
        if all(x <= NOTHING * self._strongest for x in approaches.values()):  # else they may yet be struck by others
            given |= {name: 0.0 for k in approaches for name in collision.names(k)}
        names = {collision.first(k).name for k in approaches}
        found = hops(collision, given, before) if names else {}
        found = {name: hop for name, hop in found.items() if name in names}
        for name, hop in found.items():
            self._highest[name] = max(self._highest.get(name, 0.0), hop.height)
            short = hop.lasting <= self._shortest
            if short or hop.over(self._highest[name], self._rests.get(name), self._until):
                settled[name] = self._end_of_series(name, hop)
            self._rests[name], self._last[name] = hop.rest, hop.rest - self._rests.get(name, s.time)
        if names <= settled.keys() | (self._low(collision, names) - found.keys()):
            return {}, settled
        return {name: e for name, e in given.items() if e > 0.0}, {}

    def _restitution(self, constraint: Constraint) -> float:
        """The coefficient of restitution, found once."""
        if constraint.name not in self._coefficients:
            self._coefficients[constraint.name] = bouncing(constraint, self._constants)
        return self._coefficients[constraint.name]

    def _end_of_series(self, name: str, hop: Hop) -> float:
        """Where the estimates of it go, the differences of which shrink in a ratio (Aitken); and its error is noted."""
        change = hop.rest - self._rests.get(name, np.inf)
        ratio = change / self._last[name] if self._last.get(name) else 1.0
        more = change * ratio / (1.0 - ratio) if abs(ratio) < SHRINKING and np.isfinite(change) else np.inf
        sure = abs(more) <= hop.lasting  # else the hops before were of another kind
        more = more if sure else 0.0
        self.errors[name] = max(abs(more) if sure else min(abs(change), hop.lasting), self._rounding * hop.rest)
        return hop.rest + more

    def _low(self, collision: Collision, names: Collection[str]) -> set[str]:
        """Contacts that approach slowly after a hop that was lower than can be seen; all are remembered as struck now."""
        now, found = collision.snapshot.time, set[str]()
        gaps = collision.gaps
        for k, row in enumerate(collision.touched):
            name = collision.place.constraints[row].name
            if name not in names:
                continue
            since = now - self._struck.get(name, -np.inf)
            if row in collision.slow and since * gaps.rate[k] <= 4.0 * SHALLOW * gaps.size[k]:
                found.add(name)
            self._struck[name] = now
        return found

    def rocked(self, collision: Collision, kept: Collection[Constraint]) -> dict[str, float]:
        """When contacts that were struck in turn, and now are all kept since hops have become low, come to rest.

        The intervals of two landings shrink in a ratio ρ (Aitken's extrapolation), and the last one, d, is followed by
        d ρ/(1 - ρ) in all.
        """
        now, struck = collision.snapshot.time, frozenset(collision.first(k).name for k in collision.approaches)
        names = [c.name for c in kept if c.name in collision.touching]
        self._landings = [*self._landings[-4:], (now, struck)]
        times, sets = zip(*self._landings[:-1], strict=True) if len(self._landings) > 1 else ((), ())
        if not collision.settled or len(times) < 4 or len(names) < 2 or sets[-4] != sets[-2]:
            return {}
        first, second = times[-2] - times[-4], now - times[-2]
        ratio = second / first if first > 0.0 else 1.0
        return dict.fromkeys(names, now + second * ratio / (1.0 - ratio)) if 0.0 < ratio < 1.0 else {}

    def once(self, notes: Collection[str]) -> tuple[str, ...]:
        """Notes of kinds that were not told yet in this run."""
        kinds = {note.split(" t = ")[0]: note for note in notes}
        new = tuple(note for kind, note in kinds.items() if kind not in self._told)
        self._told |= set(kinds)
        return new
