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
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.dynamics import Measure, Snapshot
from svyaz.expr import evaluate
from svyaz.matrices import lstsq
from svyaz.model import Constraint, multiplier_symbol, multipliers_in
from svyaz.motion.events.contacts import RISING, Contacts, Gaps
from svyaz.motion.events.lemke import solve_complementarity
from svyaz.motion.events.place import TINY, CollisionPlace
from svyaz.motion.events.rubbing import Frictions, Rubs, rubbed

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

MOST_TRIED = 500
"""Sets that the search looks at."""

MOST_SEARCHED = 7
"""Up to so many contacts all sets are tried before the search is given up."""


@dataclass(frozen=True, eq=False)
class Collision:
    """The constraints that may act after an event, and where they stand just before it.

    Constraints are named by their rows in ``place``. ``groups`` are those that can be let go, by contact; the ``fixed`` ones
    are kept. They have the velocities ``speeds`` (n,) and ``velocity`` = G v + ∂h/∂t (m,). ``gaps`` are those of the contacts
    that touch and must not be entered, ``touched`` their rows. ``restitution`` has the coefficient of each constraint.
    Velocities that fit the constraints to ``fitting`` of their scales need no impulses. ``rubs`` are the ``frictions`` there,
    ``pushed`` impulses that are given besides, as those of an expansion.
    """

    place: CollisionPlace
    groups: tuple[tuple[int, ...], ...]
    fixed: tuple[int, ...]
    measure: Measure
    contacts: Contacts
    speeds: Array
    velocity: Array
    gaps: Gaps
    touched: tuple[int, ...]
    restitution: Array
    fitting: float = FITTING
    rubs: Rubs | None = None
    frictions: Frictions | None = None
    pushed: Array | None = None
    _solutions: dict[Kept, Solution | None] = field(default_factory=dict, init=False, repr=False)

    @property
    def snapshot(self) -> Snapshot:
        """The numbers at the position."""
        return self.place.snapshot

    @property
    def members(self) -> tuple[Constraint, ...]:
        """The constraints that take part, those of all contacts among them."""
        return tuple(self.place.constraints[row] for row in self.rows(range(len(self.groups))))

    def names(self, contact: int) -> list[str]:
        """The constraints of a contact."""
        return [self.place.constraints[row].name for row in self.groups[contact]]

    def first(self, contact: int) -> Constraint:
        """The constraint that names a contact."""
        return self.place.constraints[self.groups[contact][0]]

    @property
    def touching(self) -> frozenset[str]:
        """The names of the contacts that touch."""
        return frozenset(self.place.constraints[row].name for row in self.touched)

    def independent(self, constraints: Sequence[Constraint]) -> bool:
        """Are these constraints far from repeating each other?"""
        return self.place.independent([self.place.rows[c.name] for c in constraints])

    @cached_property
    def contact_names(self) -> str:
        """All constraints of the contacts, as messages name them."""
        return ", ".join(f"'{name}'" for k in range(len(self.groups)) for name in self.names(k))

    def rows(self, kept: Kept | Sequence[int]) -> tuple[int, ...]:
        """The rows of the constraints that act with these contacts."""
        return tuple(sorted([*self.fixed, *(row for k in kept for row in self.groups[k])]))

    def chosen(self, kept: Kept) -> tuple[Constraint, ...]:
        """The constraints that act with these contacts; grips that repeat others do not."""
        found, place = list(self.rows(kept)), self.place
        for row in found[::-1] if place.repeats(found) else ():
            c, others = place.constraints[row], [other for other in found if other != row]
            grips = c.off is not None and multiplier_symbol(c.name) not in multipliers_in(c.off)
            if grips and place.repetitions(others) < place.repetitions(found):
                found = others
        return tuple(place.constraints[row] for row in found)

    def solved(self, kept: Kept) -> Solution | None:
        """The impact with these contacts; None where friction leaves no solution."""
        if kept not in self._solutions:
            self._solutions[kept] = self._solve(kept)
        return self._solutions[kept]

    def _solve(self, kept: Kept) -> Solution | None:
        rows, place = list(self.rows(kept)), self.place
        names = [place.constraints[row].name for row in rows]
        if self.pushed is None and self.fits[rows].all():
            return self.speeds, dict.fromkeys(names, 0.0), np.zeros(0)
        wanted = -((1.0 + self.restitution) * self.velocity)[rows]
        forces = np.zeros(0)
        if self.rubs is not None:
            pushed = np.zeros(len(self.velocity)) if self.pushed is None else self.pushed
            rubbing = rubbed(self.snapshot, rows, wanted, pushed, self.rubs)
            if rubbing is None:
                return None
            jump, found, forces = rubbing
        elif self.pushed is None or not self.pushed.any():
            jump, found = place.least(rows, wanted)
        else:
            given = place.pushed(self.pushed)
            own, found = place.least(rows, wanted - self.snapshot.jacobian[rows] @ given)
            jump = given + own
        return self.speeds + jump, dict(zip(names, found.tolist(), strict=True)), forces

    def at_speeds(self, speeds: Array) -> Collision:
        """The same bodies with other velocities."""
        change = speeds - self.speeds
        return replace(
            self,
            speeds=speeds,
            velocity=self.velocity + self.snapshot.jacobian @ change,
            gaps=self.gaps.at_speeds(speeds),
            rubs=None if self.rubs is None else self.rubs.moved(change),
        )

    def among(self, contacts: Sequence[int]) -> Collision:
        """The collision of some of the contacts, and of what is no contact; the others are as if they were not there."""
        return replace(self, groups=tuple(self.groups[k] for k in contacts))

    @cached_property
    def approaches(self) -> dict[int, float]:
        """By contact that would be entered if nothing happened: |g|/√(g M⁻¹ gᵀ), the root of the energy of its approach."""
        return {k: self._vigour(k) for k in self._entered(self.speeds)}

    def at_rest(self, least: float) -> frozenset[str]:
        """The one-sided constraints that touch and neither part nor approach, or do so with less than ``least``."""
        still = np.abs(self.gaps.rate) <= RISING * self.gaps.rate_size
        quiet = {row for row, rests in zip(self.touched, still.tolist(), strict=True) if rests}
        quiet |= {row for k, group in enumerate(self.groups) if self._vigour(k) <= least for row in group}
        return frozenset(self.place.constraints[row].name for row in self.touched if row in quiet)

    def _vigour(self, contact: int) -> float:
        row = self.groups[contact][0]
        return abs(float(self.velocity[row])) / max(self.place.eases[row], TINY)

    @cached_property
    def fits(self) -> NDArray[np.bool_]:
        """Which constraints the velocities fit (m,), so that they need no impulses."""
        allowed = self.fitting * self.snapshot.velocity_scale if self.fitting else 0.0
        found: NDArray[np.bool_] = np.abs(self.velocity) <= allowed
        return found

    @cached_property
    def slow(self) -> frozenset[int]:
        """The rows of contacts that touch and whose hops would be lower than can be seen."""
        return frozenset(row for row, low in zip(self.touched, self.gaps.slow.tolist(), strict=True) if low)

    @property
    def settled(self) -> bool:
        """Have hops become so low that they end, and all that touches stays?"""
        if not self.touched or len(self.slow) < len(self.touched):
            return False
        return all(fit or row in self.slow for row, fit in enumerate(self.fits.tolist()))

    def by_pivots(self) -> Kept | None:
        """The contacts with impulses by Lemke's method; None unless each is one row without friction."""
        firsts = [self.first(k) for k in range(len(self.groups))]
        if self.rubs is not None or not all(c.pushes for c in firsts) or any(len(g) > 1 for g in self.groups):
            return None
        own, kept = [row for row, *_ in self.groups], list(self.fixed)
        matrix, rates = self.place.compliance, (1.0 + self.restitution) * self.velocity
        if self.pushed is not None:
            rates = rates + matrix @ self.pushed
        reduced = np.column_stack([matrix[np.ix_(own, own)], rates[own]])
        if kept:
            shares = lstsq(matrix[np.ix_(kept, kept)], np.column_stack([matrix[np.ix_(kept, own)], rates[kept]]))
            reduced = reduced - matrix[np.ix_(own, kept)] @ shares
        signs = np.array([c.pushes for c in firsts], dtype=float)
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
        if len(kept) == len(self.groups):
            return pulled
        entered = self._entered(speeds)
        outside = sorted((k for k in entered if k not in kept), key=lambda k: -entered[k])
        return [*pulled, *outside]

    def _pulls(self, impulses: Mapping[str, float]) -> list[float]:
        """``off`` of each contact for λ = sΛ, s → ∞, divided by s: in the root of an energy, so that contacts compare."""
        largest = max(map(abs, impulses.values()), default=0.0)
        if largest == 0.0:
            return [0.0] * len(self.groups)
        known: dict[str, float] = {}
        found = []
        for row, *_ in self.groups:
            first = self.place.constraints[row]
            assert first.off is not None, "contacts are made of constraints with a condition for their end"
            if first.pushes:
                value, reacting = -first.pushes * impulses.get(first.name, 0.0) / largest, [row]
            else:
                known = known or self._known({name: UNBOUNDED * x / largest for name, x in impulses.items()})
                value = evaluate(first.off, known) / UNBOUNDED
                symbols = {str(m) for m in multipliers_in(first.off)}
                reacting = [self.place.rows[c.name] for c in self.members if str(multiplier_symbol(c.name)) in symbols]
            weight = max((self.place.eases[k] for k in reacting), default=1.0)
            found.append(value * weight if abs(value) > NOTHING else 0.0)
        return found

    def _known(self, multipliers: Mapping[str, float]) -> dict[str, float]:
        """The values of all that a condition may name; of multipliers that are not given it is zero."""
        equations, s = self.measure.equations, self.snapshot
        state = self.measure.moved(s.state, v=self.speeds)
        known = {**equations.system.constants, **dict(zip(equations.states, map(float, state), strict=True))}
        known |= {"t": s.time} | {str(multiplier_symbol(c.name)): 0.0 for c in equations.system.constraints}
        return known | {str(multiplier_symbol(name)): x for name, x in multipliers.items()}

    def _surplus(self, kept: Kept) -> set[int]:
        """If the constraints repeat each other: contacts without which no less is demanded."""
        rows, place = self.rows(kept), self.place
        if not place.repeats(rows):
            return set()
        rank = place.rank(rows)
        return {k for k in kept if place.rank(self.rows(kept - {k})) == rank}

    def _entered(self, speeds: Array) -> dict[int, float]:
        """By contact: the rate of ``on`` after the impact, beyond what is given back of that before, as a part of its
        terms, where that is more than rounding.
        """
        if not self.touched:
            return {}
        here, after = self.gaps, self.gaps.at_speeds(speeds)
        back = self.restitution[list(self.touched)]
        return self._risen(after.rate + back * here.rate, np.maximum(here.rate_size, after.rate_size))

    def _risen(self, rates: Array, sizes: Array) -> dict[int, float]:
        """By contact: rates of ``on`` as parts of their terms, where they are above rounding."""
        risen = np.flatnonzero(rates > RISING * sizes).tolist()
        if not risen:
            return {}
        rises = {self.touched[i]: float(rates[i] / sizes[i]) for i in risen}
        found = {k: max(rises.get(row, 0.0) for row in group) for k, group in enumerate(self.groups)}
        return {k: rise for k, rise in found.items() if rise > 0.0}


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
