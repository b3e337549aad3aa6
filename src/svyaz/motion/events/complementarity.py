"""Which constraints an impact keeps, when some of them cannot pull.

For one-sided constraints with gaps -on and restitutions e this is Newton's impact, a linear complementarity problem
(J. J. Moreau 1988; F. Pfeiffer, C. Glocker, Multibody Dynamics with Unilateral Contacts, 1996): with the impulses Λ of the
constraints that are kept,

    kept:     on'(v⁺) = -e on'(v⁻), and off(Λ) is not positive,
    let go:   Λ = 0, and on'(v⁺) + e on'(v⁻) is not positive;
e = 0 is the inelastic one.

Which of the contacts at rest act afterwards is the same problem for accelerations and reactions (``resting``).

For contacts of one row without friction, Lemke's method gives the set. Otherwise it is looked for by changing one contact at
a time: the one that is pulled most is let go; when none is pulled, the one that is entered most is taken back. Sets are not
tried twice. For contacts without friction the velocities after the impact are unique; constraints that share their ``off``
(a foot on the ground and its grip) are one contact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.dynamics import Measure, Snapshot, dependencies, measure_of
from svyaz.expr import evaluate
from svyaz.forms import Equations
from svyaz.integrate import Path
from svyaz.matrices import lstsq, matrix_rank
from svyaz.model import Constraint, System, multiplier_symbol, multipliers_in, names_of
from svyaz.motion.events.contacts import CLOSED, RISING, Contacts, Gaps
from svyaz.motion.events.impacts import anchored
from svyaz.motion.events.lemke import solve_complementarity
from svyaz.motion.events.place import CollisionPlace
from svyaz.motion.events.rubbing import Frictions, Rubs, rubbed
from svyaz.motion.phases import Phase, reached

Kept = frozenset[int]
"""Numbers of the contacts that are kept."""

Solution = tuple[Array, dict[str, float], Array]
"""(v⁺, Λ by name, T of the frictions)."""

UNBOUNDED = 1e12
"""The size of a multiplier that stands for an impulse."""

NOTHING = 1e-7
"""Impulses below this part of the largest one are none."""

FITTING = 1e-6
"""Velocities that fit the constraints to this part of their scales need no impulses."""

TINY = float(np.finfo(float).tiny)

MOST_TRIED = 500
"""Sets that the search looks at."""

MOST_SEARCHED = 10
"""Up to so many contacts all sets are tried before the search is given up."""


@dataclass(frozen=True)
class Collision:
    """The constraints that may act after an event, and where they stand just before it.

    ``groups`` are those that can be let go, by contact; all others are kept. ``snapshot`` has a row for each constraint.
    ``touching`` are the one-sided ones that must not be entered. ``restitution`` has the coefficient of each constraint.
    Velocities that fit the constraints to ``fitting`` of their scales need no impulses. ``rubs`` are the ``frictions`` there,
    ``pushed`` impulses that are given besides, as those of an expansion. ``gaps`` are those of all contacts with these
    velocities; ``place`` is what belongs to the position and was computed so far.
    """

    constraints: tuple[Constraint, ...]
    groups: tuple[tuple[Constraint, ...], ...]
    measure: Measure
    snapshot: Snapshot
    contacts: Contacts
    gaps: Gaps
    place: CollisionPlace
    touching: frozenset[str]
    restitution: Array
    fitting: float = FITTING
    rubs: Rubs | None = None
    frictions: Frictions | None = None
    pushed: Array | None = None

    def rows(self, kept: Kept) -> list[int]:
        """The rows of the constraints that act with these contacts."""
        gone = {c.name for k, group in enumerate(self.groups) if k not in kept for c in group}
        return [i for i, c in enumerate(self.constraints) if c.name not in gone]

    def chosen(self, kept: Kept) -> tuple[Constraint, ...]:
        """The constraints that act with these contacts; grips that repeat others do not."""
        found = [self.constraints[i] for i in self.rows(kept)]
        for c in found[::-1] if self.place.repeats(names_of(found)) else ():
            others = [other for other in found if other is not c]
            grips = c.off is not None and multiplier_symbol(c.name) not in multipliers_in(c.off)
            fewer, more = (dependencies(self.place.unit_rows(names_of(rows))) for rows in (others, found))
            if grips and len(fewer) < len(more):
                found = others
        return tuple(found)

    def solved(self, kept: Kept) -> Solution | None:
        """The impact with these contacts; None where friction leaves no solution."""
        if kept not in self._solutions:
            self._solutions[kept] = self._solve(kept)
        return self._solutions[kept]

    @cached_property
    def _solutions(self) -> dict[Kept, Solution | None]:
        return {}

    def _solve(self, kept: Kept) -> Solution | None:
        s, rows = self.snapshot, self.rows(kept)
        if self.pushed is None and self.fits[rows].all():
            return s.v, {self.constraints[i].name: 0.0 for i in rows}, np.zeros(0)
        wanted = -((1.0 + self.restitution) * s.velocity)[rows]
        pushed = np.zeros(len(s.velocity)) if self.pushed is None else self.pushed
        forces = np.zeros(0)
        if self.rubs is not None:
            rubbing = rubbed(s, rows, wanted, pushed, self.rubs)
            if rubbing is None:
                return None
            jump, found, forces = rubbing
        else:
            given = self.place.compliance.pushed(s.jacobian.T @ pushed) if pushed.any() else np.zeros(len(s.v))
            own, found = self.place.compliance.least(s.jacobian[rows], wanted - s.jacobian[rows] @ given)
            jump = given + own
        return s.v + jump, {self.constraints[i].name: float(x) for i, x in zip(rows, found, strict=True)}, forces

    def at_speeds(self, speeds: Array) -> Collision:
        """The same bodies with other velocities."""
        s = self.snapshot
        change = s.jacobian @ (speeds - s.v)
        moved = replace(s, v=speeds, state=self.measure.moved(s.state, v=speeds), velocity=s.velocity + change)
        gaps = self.gaps.at_speeds(speeds)
        return replace(
            self, snapshot=moved, gaps=gaps, rubs=None if self.rubs is None else self.rubs.moved(speeds - s.v)
        )

    def approaches(self) -> dict[int, float]:
        """By contact that would be entered if nothing happened: |g|/√(g M⁻¹ gᵀ), the root of the energy of its approach."""
        return {k: self._vigour(k) for k in self._entered(self.snapshot.v)}

    def at_rest(self, least: float) -> frozenset[str]:
        """The one-sided constraints that touch and neither part nor approach, or do so with less than ``least``."""
        still = np.abs(self.gaps.rate) <= RISING * self.gaps.rate_size
        quiet = {c.name for c, rests in zip(self.contacts.constraints, still, strict=True) if rests}
        quiet |= {c.name for k, group in enumerate(self.groups) if self._vigour(k) <= least for c in group}
        return self.touching & quiet

    def _vigour(self, contact: int) -> float:
        first = self.groups[contact][0]
        row = next(i for i, c in enumerate(self.constraints) if c is first)
        return abs(float(self.snapshot.velocity[row])) / max(self.place.ease(first.name), TINY)

    @cached_property
    def fits(self) -> NDArray[np.bool_]:
        """Which constraints the velocities fit (m,), so that they need no impulses."""
        s = self.snapshot
        found: NDArray[np.bool_] = np.abs(s.velocity) <= (self.fitting * s.velocity_scale if self.fitting else 0.0)
        return found

    @cached_property
    def slow(self) -> frozenset[str]:
        """The one-sided constraints that touch and whose hops would be lower than can be seen."""
        return self.touching & {c.name for c, low in zip(self.contacts.constraints, self.gaps.slow, strict=True) if low}

    @property
    def settled(self) -> bool:
        """Have hops become so low that they end, and all that touches stays?"""
        still = [fit or c.name in self.slow for c, fit in zip(self.constraints, self.fits, strict=True)]
        return bool(self.touching) and self.touching == self.slow and all(still)

    def by_pivots(self) -> Kept | None:
        """The contacts with impulses by Lemke's method; None unless each is one row without friction."""
        if self.rubs is not None or any(len(group) > 1 or not group[0].pushes for group in self.groups):
            return None
        s, compliance, names = self.snapshot, self.place.compliance, [c.name for c in self.constraints]
        own = [names.index(first.name) for first, *_ in self.groups]
        kept = [i for i in range(len(names)) if i not in own]
        moved = np.array([compliance.pushed(row) for row in s.jacobian]).reshape(s.jacobian.shape)
        matrix, rates = s.jacobian @ moved.T, (1.0 + self.restitution) * s.velocity
        if self.pushed is not None:
            rates = rates + matrix @ self.pushed
        shares = lstsq(matrix[np.ix_(kept, kept)], np.column_stack([matrix[np.ix_(kept, own)], rates[kept]]))
        reduced = np.column_stack([matrix[np.ix_(own, own)], rates[own]]) - matrix[np.ix_(own, kept)] @ shares
        signs = np.array([first.pushes for first, *_ in self.groups], dtype=float)
        found = solve_complementarity(reduced[:, :-1] * np.outer(signs, signs), signs * reduced[:, -1])
        return None if found is None else frozenset(np.flatnonzero(found > 0.0).tolist())

    def faults(self, kept: Kept) -> list[int]:
        """Contacts that this set has wrong, the worst first: pulled ones, then those outside that are entered."""
        solved = self.solved(kept)
        if solved is None:
            return list(range(len(self.groups)))
        speeds, impulses, _ = solved
        pulls = self._pulls(impulses)
        pulled = sorted((k for k in kept if pulls[k] > 0.0), key=lambda k: -pulls[k])
        surplus = self._surplus(kept)
        if surplus:
            return [*(k for k in pulled if k in surplus), *sorted(surplus, key=lambda k: (-pulls[k], -k))]
        entered = self._entered(speeds)
        outside = sorted((k for k in entered if k not in kept), key=lambda k: -entered[k])
        return [*pulled, *outside]

    def _pulls(self, impulses: Mapping[str, float]) -> list[float]:
        """``off`` of each contact for λ = sΛ, s → ∞, divided by s: in the root of an energy, so that contacts compare."""
        s, largest = self.snapshot, max(map(abs, impulses.values()), default=0.0)
        if largest == 0.0:
            return [0.0] * len(self.groups)
        known: dict[str, float] = {}
        found = []
        for first, *_ in self.groups:
            assert first.off is not None, "contacts are made of constraints with a condition for their end"
            if first.pushes:
                value, reacting = -first.pushes * impulses.get(first.name, 0.0) / largest, [first.name]
            else:
                known = known or self._known_at(s, {name: UNBOUNDED * x / largest for name, x in impulses.items()})
                value = evaluate(first.off, known) / UNBOUNDED
                symbols = {str(m) for m in multipliers_in(first.off)}
                reacting = [c.name for c in self.constraints if str(multiplier_symbol(c.name)) in symbols]
            weight = max(map(self.place.ease, reacting), default=1.0)
            found.append(value * weight if abs(value) > NOTHING else 0.0)
        return found

    def _known_at(self, s: Snapshot, multipliers: Mapping[str, float]) -> dict[str, float]:
        """The values of all that a condition may name; of multipliers that are not given it is zero."""
        equations = self.measure.equations
        known = {**equations.system.constants, **dict(zip(equations.states, map(float, s.state), strict=True))}
        known |= {"t": s.time} | {str(multiplier_symbol(c.name)): 0.0 for c in equations.system.constraints}
        return known | {str(multiplier_symbol(name)): x for name, x in multipliers.items()}

    def _surplus(self, kept: Kept) -> set[int]:
        """If the constraints repeat each other: contacts without which no less is demanded."""
        names = [c.name for c in self.constraints]
        if not self.place.repeats([names[i] for i in self.rows(kept)]):
            return set()
        unit = self.place.unit_rows(names)
        rank = matrix_rank(unit[self.rows(kept)], tol=1e-9)
        return {k for k in kept if matrix_rank(unit[self.rows(kept - {k})], tol=1e-9) == rank}

    def _entered(self, speeds: Array) -> dict[int, float]:
        """By contact: the rate of ``on`` after the impact, beyond what is given back of that before, as a part of its
        terms, where that is more than rounding.
        """
        if not self.touching:
            return {}
        here, after = self.gaps, self.gaps.at_speeds(speeds)
        numbered, back = self.contacts.numbered, np.zeros(len(here.rate))
        for c, e in zip(self.constraints, self.restitution.tolist(), strict=True):
            if c.name in numbered:
                back[numbered[c.name]] = e
        return self._risen(after.rate + back * here.rate, np.maximum(here.rate_size, after.rate_size))

    def _risen(self, rates: Array, sizes: Array) -> dict[int, float]:
        """By contact: rates of ``on`` as parts of their terms, where they are above rounding."""
        risen = [(self.contacts.constraints[k].name, k) for k in np.flatnonzero(rates > RISING * sizes)]
        rises = {name: float(rates[k] / sizes[k]) for name, k in risen if name in self.touching}
        found = {k: max(rises.get(c.name, 0.0) for c in group) for k, group in enumerate(self.groups)}
        return {k: rise for k, rise in found.items() if rise > 0.0}


def collision_of(
    system: System,
    contacts: Contacts,
    equations: Equations,
    active: Sequence[Constraint],
    phase: Phase,
    path: Path,
    frictions: Frictions,
    close: float = CLOSED,
) -> Collision | None:
    """The collision at the end of a path; None if nothing begins or ceases to act or nothing could be let go.

    Besides the constraints that conditions let act, it knows one-sided ones that touch: those that are let go at this very
    moment, and others whose ``on`` is zero to rounding, or within the part ``close`` of its size. ``equations`` are those with
    all constraints.
    """
    now, before = float(path.times[-1]), path.states[-1]
    acted, acting = {c.name for c in phase.active}, {c.name for c in active}
    if not path.events and acting <= acted:
        return None
    one_sided = {c.name for c in contacts.constraints}
    near, nearer = (contacts.touching(now, before, tolerance) for tolerance in (contacts.tolerance, close))
    near |= {name for name in one_sided if ("on", name) in path.events}
    candidates = []
    for c in system.constraints:
        over = c.end is not None and reached(now, c.end)
        touches = c.name in near if c.name in acted else c.name in nearer and c.impact is not None
        if c.name in acting or (c.name in one_sided and touches and not over):
            candidates.append(c)
    groups = contacts_among([c for c in candidates if c.name in acted or c.name in one_sided])
    if not groups:
        return None
    measure, new = measure_of(equations), [c for c in candidates if c.name not in acted]
    rows = [equations.multiplier_names.index(c.name) for c in candidates]
    snapshot = measure.at(anchored(equations, new, before, now), now).of_rows(rows)
    if not (snapshot.finite and np.isfinite(snapshot.mass).all()):
        return None
    rubs, near = frictions.at(now, snapshot.state, candidates), near & {c.name for c in candidates}
    place, gaps = CollisionPlace(snapshot, names_of(candidates)), contacts.at(now, snapshot.state)
    still = np.zeros(len(candidates))
    return Collision(
        tuple(candidates), groups, measure, snapshot, contacts, gaps, place, near, still, rubs=rubs, frictions=frictions
    )


def contacts_among(constraints: Sequence[Constraint]) -> tuple[tuple[Constraint, ...], ...]:
    """Constraints with multipliers in ``off``, those with the same ``off`` together."""
    found: list[list[Constraint]] = []
    for c in constraints:
        if c.off is None or not multipliers_in(c.off):
            continue
        same = next((group for group in found if group[0].off == c.off), None)
        if same is None:
            found.append([c])
        else:
            same.append(c)
    return tuple(tuple(group) for group in found)


def kept_contacts(collision: Collision, start: Kept) -> Kept | None:
    """A set of contacts without faults: the first guess, what pivots give, or what a search finds; None if there is none."""
    if not collision.faults(start):
        return start
    tried: set[Kept] = {start}
    kept = collision.by_pivots()
    kept = start if kept is None else kept
    while True:
        faults = collision.faults(kept)
        if not faults:
            return kept
        tried.add(kept)
        following = next((kept ^ {k} for k in faults if kept ^ {k} not in tried), None)
        if following is None or len(tried) > MOST_TRIED:
            break
        kept = following
    if len(collision.groups) > MOST_SEARCHED:
        return None
    return next((k for k in _all_sets(len(collision.groups)) if k not in tried and not collision.faults(k)), None)


def _all_sets(count: int) -> Iterator[Kept]:
    """All sets of contacts, the largest first."""
    return (frozenset(chosen) for size in range(count, -1, -1) for chosen in combinations(range(count), size))
