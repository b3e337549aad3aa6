"""Friction in impacts: Coulomb's law for the impulses of a contact, T along its slip and Λ of its reaction.

    sticks:   slip⁺ = 0, |T| ≤ static |Λ|,          slips:   T = sliding |Λ| σ, σ = ±1, σ slip⁺ ≥ 0,

each for an impact, or a part of it, as a whole (J. J. Moreau 1988; F. Pfeiffer, C. Glocker 1996). In a plane T and the slip
are vectors, and σ is the direction of slip⁺.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

import numpy as np
import symengine as se
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.dynamics import Snapshot
from svyaz.expr import ONE, TIME, gradient, total_derivative
from svyaz.forms import Equations
from svyaz.matrices import lstsq
from svyaz.model import Constraint
from svyaz.motion.events.ways import MOST_TURNS, MOST_WORDS, Bounds, unit_pairs, words_by_pivots
from svyaz.program import Function, function

AGAINST = 1e-9
"""Slips and impulses beyond their bounds by less than this part of their terms are within."""


@dataclass(frozen=True)
class Rubs:
    """Frictions at a state: the number of the constraint and the sign of its reaction; slips (f,) and their slopes (f, n),
    directions (f, n), coefficients (f,). Those with ``plane`` belong to a plane, two and two. ``drift`` (f,) are the rates of
    the slips without accelerations. ``given`` (f,) is the direction of a slip that is known, 0 where it is to be found;
    ``slips`` are those at the beginning.
    """

    rows: tuple[int, ...]
    signs: Array
    slip: Array
    slopes: Array
    along: Array
    sliding: Array
    static: Array
    drift: Array
    plane: NDArray[np.bool_]
    given: Array
    slips: Array

    @property
    def pairs(self) -> list[list[int]]:
        """The numbers of those that are one friction in a plane."""
        return np.flatnonzero(self.plane).reshape(-1, 2).tolist()

    @property
    def known(self) -> list[int]:
        """The numbers of those that slip in a given direction."""
        found = set(np.flatnonzero(self.given).tolist())
        return sorted(found.union(*(pair for pair in self.pairs if found & set(pair))))

    def of_rows(self, rows: Sequence[int]) -> Rubs:
        """Those of some of the constraints, which are numbered anew."""
        kept = [k for k, i in enumerate(self.rows) if i in rows]
        names = ("signs", "slip", "slopes", "along", "sliding", "static", "drift", "plane", "given", "slips")
        numbers = {name: getattr(self, name)[kept] for name in names}
        return Rubs(rows=tuple(list(rows).index(self.rows[k]) for k in kept), **numbers)

    def moved(self, jump: Array) -> Rubs:
        """With other velocities."""
        return replace(self, slip=self.slip + self.slopes @ jump)

    def for_accelerations(self, free: Array, still: Array) -> Rubs:
        """The same law for reactions: rates of slips in place of slips, with the accelerations of the motion ``free`` of
        contacts; slips above ``still`` (f,) keep their direction.
        """
        sizes, given = np.abs(self.slip), np.sign(self.slip)
        for pair in self.pairs:
            sizes[pair] = np.hypot(*self.slip[pair])
            given[pair] = self.slip[pair] / np.maximum(sizes[pair], np.finfo(float).tiny)
        given[sizes <= still] = 0.0
        return replace(self, slip=self.slopes @ free + self.drift, given=given)


@dataclass(frozen=True)
class Frictions:
    """The frictions of one-sided constraints as native code of t and the states."""

    names: tuple[str, ...]
    signs: tuple[int, ...]
    planes: tuple[bool, ...]
    numbers: Function

    def at(self, time: float, state: Array, constraints: Sequence[Constraint]) -> Rubs | None:
        """Those of some constraints at a state; None if there are none."""
        rows = {c.name: i for i, c in enumerate(constraints)}
        chosen = [k for k, name in enumerate(self.names) if name in rows]
        if not chosen:
            return None
        found = {key: table[chosen] for key, table in self.numbers(np.concatenate([[time], state])).items()}
        signs, planes = (np.array(entries)[chosen] for entries in (self.signs, self.planes))
        own = tuple(rows[self.names[k]] for k in chosen)
        return Rubs(own, signs.astype(float), **found, plane=planes, given=np.zeros(len(chosen)), slips=found["slip"])


def frictions_of(free: Equations, constraints: Sequence[Constraint]) -> Frictions:
    """The frictions of constraints whose reactions have one sign; ``free`` are the equations without constraints."""
    chosen = [(c, f) for c in constraints if c.pushes for f in c.frictions]
    slips = [free.in_states(f.slip) for _, f in chosen]
    flow = {se.Symbol(s): rate for s, rate in free.explicit.items()} | {TIME: ONE}
    tables = {
        "slip": slips,
        "slopes": [gradient(slip, free.velocities) for slip in slips],
        "along": [[free.in_states(e) for e in f.along] for _, f in chosen],
        "sliding": [free.in_states(f.sliding) for _, f in chosen],
        "static": [free.in_states(f.static) for _, f in chosen],
        "drift": [total_derivative(slip, flow) for slip in slips],
    }
    numbers = function(tables, ("t", *free.states), free.system.constants)
    names, signs = tuple(c.name for c, _ in chosen), tuple(c.pushes for c, _ in chosen)
    return Frictions(names, signs, tuple(f.plane for _, f in chosen), numbers)


def rubbed(
    s: Snapshot, rows: Sequence[int], wanted: Array, pushed: Array, rubs: Rubs
) -> tuple[Array, Array, Array] | None:
    """(Δv, impulses of the rows, T of the frictions) with G Δv = wanted for these rows; None if nothing fits.

    ``pushed`` are impulses (m,) that all constraints give besides. Sticking is tried first, then the slip before.
    """
    carrying = [k for k, i in enumerate(rubs.rows) if i in rows or pushed[i] != 0.0]
    ways: dict[int, tuple[float, ...]] = {
        k: (0.0, -1.0, 1.0) if rubs.slip[k] < 0.0 else (0.0, 1.0, -1.0) for k in carrying
    }
    for i, j in rubs.pairs:
        ways |= {i: (0.0, 1.0), j: (0.0,)} if i in carrying else {}
    ways |= {k: (float(rubs.given[k]),) for k in rubs.known if k in carrying}
    impact = _Impact(s, list(rows), wanted, pushed, rubs)
    few = prod(map(len, ways.values())) <= MOST_WORDS
    for word in product(*ways.values()) if few else impact.words_by_pivots(carrying):
        sides = np.full(len(rubs.rows), np.nan)  # not a number: carries nothing
        sides[carrying] = word
        found = impact.fitting(sides)
        if found is not None:
            return found
    return None


@dataclass(frozen=True)
class _Impact:
    """What ``rubbed`` is asked for."""

    snapshot: Snapshot
    rows: list[int]
    wanted: Array
    pushed: Array
    rubs: Rubs

    def fitting(self, sides: Array) -> tuple[Array, Array, Array] | None:
        """(Δv, impulses, T) with these sides, if all conditions hold; of those of a plane that slips the first one is 1.

        Its direction is found by projecting T + ρ slip⁺ onto the circle |T| = sliding |Λ|, from the slip before.
        """
        known = self.rubs.known
        slipping = [k for pair in self.rubs.pairs if sides[pair[0]] == 1.0 and pair[0] not in known for k in pair]
        stuck = np.array([k for k in np.flatnonzero(sides == 0.0) if k not in (*slipping, *known)], dtype=np.intp)
        found, rubs = sides.copy(), self.rubs
        if not slipping:
            return self._solved(found, stuck)[0]
        eased = rubs.slopes[slipping] @ lstsq(self.snapshot.mass, rubs.along[slipping].T)
        pace = 1.0 / max(float(np.abs(eased).sum(axis=1).max()), np.finfo(float).tiny)
        start = rubs.slip[slipping]
        found[slipping] = unit_pairs(np.where(start == 0.0, np.finfo(float).tiny, start))
        for _ in range(MOST_TURNS):
            fit, forces, after = self._solved(found, stuck)
            turned = unit_pairs((forces + pace * after)[slipping])
            if np.abs(turned - found[slipping]).max() <= 1e-14:
                return fit
            found[slipping] = turned
        return None

    def words_by_pivots(self, carrying: Sequence[int]) -> Iterator[Array]:
        """Ways to stick and slip as Lemke's method finds them, with the impulses of the rows eliminated."""
        s, rubs, rows, own = self.snapshot, self.rubs, self.rows, list(carrying)
        n, m = len(s.mass), len(rows)
        g = s.jacobian[rows]
        matrix = np.block([[s.mass, -g.T], [g, np.zeros((m, m))]])
        given = np.concatenate([s.jacobian.T @ self.pushed, self.wanted])
        forces = np.vstack([-rubs.along[own].T, np.zeros((m, len(own)))])
        found = lstsq(matrix, np.column_stack([given, forces]))
        impulses = np.zeros((len(self.pushed), 1 + len(own)))
        impulses[:, 0] = self.pushed
        impulses[rows] += found[n:]
        loads = (rubs.sliding * rubs.signs)[own, None] * impulses[[rubs.rows[k] for k in own]]
        slips = rubs.slopes[own] @ found[:n]
        ratio = np.where(rubs.sliding > 0.0, rubs.static / np.where(rubs.sliding > 0.0, rubs.sliding, 1.0), 1.0)[own]
        pairs = [(own.index(i), own.index(j)) for i, j in rubs.pairs if i in own]
        bounds = Bounds(loads[:, 0], loads[:, 1:], ratio)
        for word in words_by_pivots(rubs.slip[own] + slips[:, 0], slips[:, 1:], bounds, pairs):
            for k in rubs.known:
                if k in own:
                    word[own.index(k)] = rubs.given[k]
            yield word

    def _solved(self, sides: Array, stuck: NDArray[np.intp]) -> tuple[tuple[Array, Array, Array] | None, Array, Array]:
        """(Δv, impulses, T) or None, T, and the slips afterwards."""
        s, rubs, rows, pushed = self.snapshot, self.rubs, self.rows, self.pushed
        n, slips = len(s.mass), np.array([k for k in np.flatnonzero(~np.isnan(sides)) if k not in stuck], dtype=np.intp)
        reactions = s.jacobian.copy()
        for k in slips:
            reactions[rubs.rows[k]] -= sides[k] * rubs.sliding[k] * rubs.signs[k] * rubs.along[k]
        held = [*s.jacobian[rows], *rubs.slopes[stuck]]
        matrix = np.zeros((n + len(held), n + len(held)))
        matrix[:n, :n] = s.mass
        for column, direction in enumerate([*(-reactions[rows]), *rubs.along[stuck]], start=n):
            matrix[:n, column] = direction
        if held:
            matrix[n:, :n] = held
        found = lstsq(matrix, np.concatenate([reactions.T @ pushed, self.wanted, -rubs.slip[stuck]]))
        jump, own = found[:n], found[n : n + len(rows)]
        total = pushed.copy()
        total[rows] += own
        loads = np.maximum(rubs.signs * total[list(rubs.rows)], 0.0)
        forces = np.where(np.isnan(sides), 0.0, sides) * rubs.sliding * loads
        forces[stuck] = found[n + len(rows) :]
        room = AGAINST * float(np.abs(total).max(initial=0.0))
        after = rubs.slip + rubs.slopes @ jump
        least = -AGAINST * (np.abs(rubs.slip) + np.abs(rubs.slopes) @ np.abs(jump))
        sizes, along = np.abs(forces), sides * after
        for pair in rubs.pairs:
            sizes[pair], along[pair] = np.hypot(*forces[pair]), along[pair].sum()
        with np.errstate(over="ignore"):  # a coefficient may be as large as one likes: then nothing slips
            breaks = (sizes[stuck] > (rubs.static * loads)[stuck] + room * (rubs.static[stuck] + AGAINST)).any()
        begun = np.setdiff1d(slips, rubs.known)
        fits = not breaks and not (along[begun] < least[begun]).any()
        return ((jump, own, forces) if fits else None), forces, after
