"""Which contacts act after an impact: the problem of complementarity for accelerations and reactions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from svyaz.arrays import Array
from svyaz.dynamics import Snapshot, typical_speeds
from svyaz.model import Constraint
from svyaz.motion.events.complementarity import Collision, Kept, kept_contacts
from svyaz.motion.events.contacts import RISING
from svyaz.motion.events.planes import STILL
from svyaz.motion.events.restitution import Rebound
from svyaz.motion.events.rubbing import Rubs
from svyaz.motion.events.sides import ON


@dataclass(frozen=True)
class Pressing(Collision):
    """The same problem for accelerations: ``snapshot.v`` are those without contacts, ``velocity`` what they make of ḧ.

    ``speeds`` are the velocities; frictions that ``stick``, by number, must do so.
    """

    speeds: Array = field(default_factory=lambda: np.zeros(0))
    stick: tuple[int, ...] = ()

    def _entered(self, speeds: Array) -> dict[int, float]:
        gaps = self.gaps
        sizes = np.maximum(gaps.second_size, gaps.magnitudes @ np.abs(speeds))
        return self._risen(gaps.at_accelerations(speeds).second, sizes)

    def sticks(self, kept: Kept) -> bool:
        """Does friction hold those that must stick?"""
        solved, rubs = self.solved(kept), self.rubs
        if rubs is None or solved is None:
            return rubs is None
        rates, terms = rubs.slopes @ solved[0] + rubs.drift, np.abs(rubs.slopes) @ np.abs(self.snapshot.v)
        return bool((np.abs(rates) <= RISING * (terms + np.abs(rubs.drift)))[list(self.stick)].all())


def acting_after(collision: Collision, rebound: Rebound, kept: frozenset[str]) -> tuple[Kept, Array] | None:
    """The contacts that act after an impact, decided together by the accelerations, and the velocities with which they do;
    None where there is no such set.

    ``kept`` are the constraints that act if nothing else speaks for or against it. With friction there may be no such set, or
    several (Painlevé): then the phase that begins with those kept says so.
    """
    one_sided = {c.name for c in collision.contacts.constraints}
    firsts = [group[0].name for group in collision.groups]
    fixed = {k for k, name in enumerate(firsts) if name in kept and name not in one_sided}
    free = [k for k, name in enumerate(firsts) if name in rebound.resting]
    before = frozenset(k for k, name in enumerate(firsts) if name in kept)
    if len(free) < 2:  # the conditions decide
        return before, rebound.speeds
    names = {c.name for k in {*fixed, *free} for c in collision.groups[k]}
    bound = {c.name for group in collision.groups for c in group}
    constraints = [c for c in collision.constraints if c.name in names or c.name not in bound]
    start = frozenset(i for i, k in enumerate(free) if firsts[k] in kept)
    for problem in _problems(collision, rebound, free, constraints):
        found = kept_contacts(problem, start)
        if found is not None and problem.sticks(found):
            return frozenset(fixed | {free[i] for i in found}), problem.speeds
    return None if collision.rubs is None else (before, rebound.speeds)


def _problems(
    collision: Collision, rebound: Rebound, free: Sequence[int], constraints: Sequence[Constraint]
) -> Iterator[Pressing]:
    """What is to be solved for the contacts ``free``: if hops have become lower than can be seen, first without slips that
    would end as soon; then with the velocities that there are.
    """
    plain = _pressing(collision, rebound.speeds, rebound.resting, free, constraints)
    rubs = plain.rubs
    if rebound.halted and rubs is not None:
        here = _snapshot(collision, rebound.speeds, constraints)
        limits = dict(zip((c.name for c in collision.contacts.constraints), plain.gaps.slowest.tolist(), strict=True))
        slips = rubs.slips
        slow = [
            k
            for k, row in enumerate(rubs.rows)
            if rubs.given[k] and abs(slips[k]) <= limits.get(constraints[row].name, 0.0)
        ]
        if slow:
            rows = np.vstack([here.jacobian, rubs.slopes[slow]])
            jump, _ = here.mobility.least(rows, np.concatenate([np.zeros(len(constraints)), -slips[slow]]))
            halted = _pressing(collision, here.v + jump, rebound.resting, free, constraints)
            yield replace(halted, stick=tuple(slow))
    yield plain


def _snapshot(collision: Collision, speeds: Array, constraints: Sequence[Constraint]) -> Snapshot:
    measure, s = collision.measure, collision.snapshot
    names = measure.equations.multiplier_names
    return measure.at(measure.moved(s.state, v=speeds), s.time).of_rows([names.index(c.name) for c in constraints])


def _pressing(
    collision: Collision,
    speeds: Array,
    resting: frozenset[str],
    free: Sequence[int],
    constraints: Sequence[Constraint],
) -> Pressing:
    """The problem for these velocities."""
    here = _snapshot(collision, speeds, constraints)
    free_fall = here.mobility.accelerated(here.jacobian[:0], here.constraint_bias[:0])
    return Pressing(
        constraints=tuple(constraints),
        groups=tuple(collision.groups[k] for k in free),
        measure=collision.measure,
        snapshot=replace(here, v=free_fall, velocity=here.jacobian @ free_fall + here.constraint_bias),
        contacts=collision.contacts,
        gaps=collision.contacts.at(here.time, here.state),
        place=collision.place,
        touching=resting,
        restitution=np.zeros(len(constraints)),
        fitting=0.0,
        rubs=_rubs(collision, here, free_fall, constraints),
        speeds=speeds,
    )


def _rubs(collision: Collision, here: Snapshot, free_fall: Array, constraints: Sequence[Constraint]) -> Rubs | None:
    """Frictions by accelerations; slips that are as good as zero may stick."""
    found = None if collision.frictions is None else collision.frictions.at(here.time, here.state, constraints)
    if found is None:
        return None
    usual = np.abs(found.slopes) @ typical_speeds(here.mass, here.bias, here.q, here.v)
    return found.for_accelerations(free_fall, np.where(found.plane, STILL, ON) * usual)
