"""Which contacts act after an impact: the problem of complementarity for accelerations and reactions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from svyaz.arrays import Array
from svyaz.motion.events.complementarity import Collision, Kept, kept_contacts


@dataclass(frozen=True)
class Pressing(Collision):
    """The same problem for accelerations: ``snapshot.v`` are those without contacts, ``velocity`` what they make of ḧ."""

    def _entered(self, speeds: Array) -> dict[int, float]:
        gaps = self.gaps
        sizes = np.maximum(gaps.second_size, np.abs(gaps.rows) @ np.abs(speeds))
        return self._risen(gaps.second_with(speeds), sizes)


def acting_after(collision: Collision, speeds: Array, kept: frozenset[str], resting: frozenset[str]) -> Kept | None:
    """The contacts that act after an impact, decided together by the accelerations; None where there is no such set.

    ``speeds`` are the velocities after it, ``kept`` the constraints that act if nothing else speaks for or against it,
    ``resting`` the one-sided ones that neither part nor approach. A single one, and friction, leave it to the conditions.
    """
    one_sided = {c.name for c in collision.contacts.constraints}
    firsts = [group[0].name for group in collision.groups]
    fixed = {k for k, name in enumerate(firsts) if name in kept and name not in one_sided}
    free = [k for k, name in enumerate(firsts) if name in resting]
    if collision.rubs is not None or len(free) < 2:
        return frozenset(k for k, name in enumerate(firsts) if name in kept)
    names = {c.name for k in {*fixed, *free} for c in collision.groups[k]}
    bound = {c.name for group in collision.groups for c in group}
    rows = [i for i, c in enumerate(collision.constraints) if c.name in names or c.name not in bound]
    constraints = tuple(collision.constraints[i] for i in rows)
    measure, s = collision.measure, collision.snapshot
    whole = measure.equations.multiplier_names
    here = measure.at(measure.moved(s.state, v=speeds), s.time).of_rows([whole.index(c.name) for c in constraints])
    free_fall = here.mobility.accelerated(here.jacobian[:0], here.constraint_bias[:0])
    pressing = Pressing(
        constraints=constraints,
        groups=tuple(collision.groups[k] for k in free),
        measure=measure,
        snapshot=replace(here, v=free_fall, velocity=here.jacobian @ free_fall + here.constraint_bias),
        contacts=collision.contacts,
        gaps=collision.contacts.at(here.time, here.state),
        place=collision.place,
        touching=resting,
        restitution=np.zeros(len(rows)),
        fitting=0.0,
    )
    found = kept_contacts(pressing, frozenset(i for i, k in enumerate(free) if firsts[k] in kept))
    return None if found is None else frozenset(fixed | {free[i] for i in found})
