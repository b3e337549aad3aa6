"""Which contacts act after an impact: the problem of complementarity for accelerations and reactions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from svyaz.arrays import Array
from svyaz.dynamics import Snapshot, typical_speeds
from svyaz.motion.events.complementarity import Collision, Kept, kept_contacts
from svyaz.motion.events.contacts import RISING
from svyaz.motion.events.planes import STILL
from svyaz.motion.events.restitution import Rebound
from svyaz.motion.events.rubbing import Rubs
from svyaz.motion.events.sides import ON


@dataclass(frozen=True, eq=False)
class Pressing(Collision):
    """The same problem for accelerations: ``speeds`` are those without contacts, ``velocity`` what they make of ḧ.

    ``moving`` are the velocities; frictions that ``stick``, by number, must do so.
    """

    moving: Array = field(default_factory=lambda: np.zeros(0))
    stick: tuple[int, ...] = ()

    def _entered(self, speeds: Array) -> dict[int, float]:
        after = self.gaps.at_accelerations(speeds)
        return self._risen(after.second, np.maximum(self.gaps.second_size, self.gaps.magnitudes @ np.abs(speeds)))

    def sticks(self, kept: Kept) -> bool:
        """Does friction hold those that must stick?"""
        solved, rubs = self.solved(kept), self.rubs
        if rubs is None or solved is None:
            return rubs is None
        rates, terms = rubs.slopes @ solved[0] + rubs.drift, np.abs(rubs.slopes) @ np.abs(self.speeds)
        return bool((np.abs(rates) <= RISING * (terms + np.abs(rubs.drift)))[list(self.stick)].all())


def acting_after(collision: Collision, rebound: Rebound, kept: frozenset[str]) -> tuple[Kept, Array] | None:
    """The contacts that act after an impact, decided together by the accelerations, and the velocities with which they do;
    None where there is no such set.

    ``kept`` are the constraints that act if nothing else speaks for or against it. With friction there may be no such set, or
    several (Painlevé): then the phase that begins with those kept says so.
    """
    one_sided = collision.contacts.numbered
    firsts = [collision.first(k).name for k in range(len(collision.groups))]
    fixed = {k for k, name in enumerate(firsts) if name in kept and name not in one_sided}
    free = [k for k, name in enumerate(firsts) if name in rebound.resting]
    before = frozenset(k for k, name in enumerate(firsts) if name in kept)
    if len(free) < 2:  # the conditions decide
        return before, rebound.speeds
    always = tuple(sorted([*collision.fixed, *(row for k in fixed for row in collision.groups[k])]))
    start = frozenset(i for i, k in enumerate(free) if firsts[k] in kept)
    for problem in _problems(collision, rebound, free, always):
        found = kept_contacts(problem, start)
        if found is not None and problem.sticks(found):
            return frozenset(fixed | {free[i] for i in found}), problem.moving
    return None if collision.rubs is None else (before, rebound.speeds)


def _problems(
    collision: Collision, rebound: Rebound, free: Sequence[int], always: tuple[int, ...]
) -> Iterator[Pressing]:
    """What is to be solved for the contacts ``free``, with the rows that act ``always``: if hops have become lower than can be
    seen, first without slips that would end as soon; then with the velocities that there are.
    """
    plain = _pressing(collision, rebound.speeds, rebound.resting, free, always)
    rubs = plain.rubs
    if rebound.halted and rubs is not None:
        limits = dict(zip(collision.touched, collision.gaps.slowest.tolist(), strict=True))
        slips, rows = rubs.slips, list(plain.rows(range(len(free))))
        own = [k for k, row in enumerate(rubs.rows) if row in rows and rubs.given[k]]
        slow = [k for k in own if abs(slips[k]) <= limits.get(rubs.rows[k], 0.0)]
        if slow:
            given = np.vstack([collision.snapshot.jacobian[rows], rubs.slopes[slow]])
            jump, _ = collision.snapshot.mobility.least(given, np.concatenate([np.zeros(len(rows)), -slips[slow]]))
            halted = _pressing(collision, rebound.speeds + jump, rebound.resting, free, always)
            yield replace(halted, stick=tuple(slow))
    yield plain


def _snapshot(collision: Collision, speeds: Array) -> Snapshot:
    measure, s = collision.measure, collision.snapshot
    places = {name: row for row, name in enumerate(measure.equations.multiplier_names)}
    rows = [places[c.name] for c in collision.place.constraints]
    return measure.at(measure.moved(s.state, v=speeds), s.time).of_rows(rows)


def _pressing(
    collision: Collision,
    speeds: Array,
    resting: frozenset[str],
    free: Sequence[int],
    always: tuple[int, ...],
) -> Pressing:
    """The problem for these velocities."""
    here, place, one_sided = _snapshot(collision, speeds), collision.place, collision.contacts.numbered
    free_fall = place.free_fall(here)
    touched = tuple(row for row in collision.touched if place.constraints[row].name in resting)
    gaps = collision.contacts.at(here.time, here.state)
    return Pressing(
        place=place,
        groups=tuple(collision.groups[k] for k in free),
        fixed=always,
        measure=collision.measure,
        contacts=collision.contacts,
        speeds=free_fall,
        velocity=here.jacobian @ free_fall + here.constraint_bias,
        gaps=gaps.of([one_sided[place.constraints[row].name] for row in touched]),
        touched=touched,
        restitution=np.zeros(len(place.constraints)),
        fitting=0.0,
        rubs=_rubs(collision, here, free_fall),
        moving=speeds,
    )


def _rubs(collision: Collision, here: Snapshot, free_fall: Array) -> Rubs | None:
    """Frictions by accelerations; slips that are as good as zero may stick."""
    constraints = collision.place.constraints
    found = None if collision.frictions is None else collision.frictions.at(here.time, here.state, constraints)
    if found is None:
        return None
    usual = np.abs(found.slopes) @ typical_speeds(here.mass, here.bias, here.q, here.v)
    return found.for_accelerations(free_fall, np.where(found.plane, STILL, ON) * usual)
