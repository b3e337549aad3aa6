"""Branches of steady motions along a speed, a momentum, a parameter, an input or a coordinate."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import pi

import numpy as np

from svyaz.arguments import Duration, Span, check_arguments
from svyaz.arrays import Array
from svyaz.expr import ModelError, Problem
from svyaz.forms import refuse_negative_mass
from svyaz.matrices import pinv, svd
from svyaz.model import System
from svyaz.motion import searches_box
from svyaz.shown import Shown
from svyaz.stability.along import Sides, with_cyclic_coordinates, with_parameters
from svyaz.stability.boxes import LEAST_WIDTH
from svyaz.stability.branches import REGULAR, BranchPoint, Curves, follow_all
from svyaz.stability.equilibrium_search import Equilibrium, equilibria
from svyaz.stability.nonholonomic_rest import has_velocity_constraints, steady_rest
from svyaz.stability.options import SECONDS
from svyaz.stability.rest import RestEquations, rest_equations
from svyaz.stability.resting import equilibrium_at
from svyaz.stability.steady import SteadySearch, rolling_motion, steady_motions
from svyaz.stability.steady_result import SteadyMotion

WELL_SPLIT = 0.1
"""Redundant coordinates are kept along a branch while ∂F/∂s is conditioned so well."""

STARTS = 3
"""At so many values, the ends among them, all motions are looked for, so that branches that meet no other are found."""


@dataclass(frozen=True)
class BranchMember:
    """A steady motion of a branch: the ``value`` of what is varied, and whether the branch turns or meets another there."""

    value: float
    motion: SteadyMotion
    kind: str
    number: int


@dataclass(frozen=True, repr=False)
class SteadyBranches(Shown):
    """All branches with what was varied between ``span``; incomplete where a branch could not be followed to its end."""

    system: System
    along: str
    span: tuple[float, float]
    members: tuple[BranchMember, ...]
    incomplete: bool

    @property
    def count(self) -> int:
        """Number of branches."""
        return len({m.number for m in self.members})

    def special(self, kind: str) -> list[BranchMember]:
        """The turning or branching points, each once."""
        found: list[BranchMember] = []
        for m in self.members:
            near = 1e-6 * max(abs(self.span[1] - self.span[0]), 1e-300)
            if m.kind == kind and not any(_same(m.motion, other.motion, near) for other in found):
                found.append(m)
        return found


@check_arguments
def steady_branches(
    system: System,
    along: str,
    span: Span,
    fix: Mapping[str, float] | None = None,
    box: Mapping[str, tuple[float, float]] | None = None,
    *,
    dependent: Sequence[str] | None = None,
    seconds: Duration = SECONDS,
) -> SteadyBranches:
    """Follow all steady motions while ``along`` goes from one end of its span to the other."""
    fixed, sides = dict(fix or {}), dict(box or {})
    if along in fixed or along in sides:
        raise ModelError([Problem(f"'{along}' is varied: it cannot be prescribed or looked for in a box as well")])
    refuse_negative_mass(system, fixed)
    if system.turns_freely:
        message = "branches of steady motions are not followed where bodies turn freely, on ball or free joints"
        raise ModelError([Problem(message, hint=f"look for steady motions at single values of '{along}'")])
    if has_velocity_constraints(system):
        return _rolling_branches(system, along, span, fixed, sides, seconds)
    # once for all values of what is varied
    system, fixed = with_parameters(system, fixed)
    system, whole, _ = with_cyclic_coordinates(system, fixed, {**sides, along: span})
    sides = {name: side for name, side in whole.items() if name != along}
    boxed = searches_box(system, whole)
    places = {
        float(x): SteadySearch(system, {**fixed, along: float(x)}, sides, boxed=boxed)
        for x in np.linspace(*span, STARTS)
    }
    whole = _hull(whole, [at.bound() for at in places.values()])
    search = SteadySearch(system, fixed, whole, boxed=boxed)
    if not boxed:
        message = f"branches of steady motions with {len(search.system.coordinates)} unknowns are not followed"
        raise ModelError([Problem(message, hint=f"look for steady motions at single values of '{along}'")])
    rest = rest_equations(search.system, search.fixed, search.box)
    order = [k for k, name in enumerate(rest.unknowns) if name != along] + [rest.unknowns.index(along)]
    names = [rest.unknowns[k] for k in order]
    if rest.problem.equations + 1 != len(names):
        more = len(names) - rest.problem.equations - 1
        message = (
            f"the steady motions along '{along}' form no curves: {'prescribe' if more > 0 else 'free'} {abs(more)} more"
        )
        raise ModelError([Problem(message, hint=", ".join(names[:-1]))])
    starts = _starts(places, along, names, dependent, seconds)
    anywhere = {name for at in places.values() for name in at.anywhere.sides}
    curves = follow_all(_curves(rest, order, names, np.array(starts), span, anywhere), starts)
    members = []
    for number, branch in enumerate(curves.branches):
        split = dependent
        for p in branch:
            motion = _motion(search, rest, order, p, curves.scale, split)
            if not dependent and _badly_split(motion):  # others are chosen, and kept for a while
                motion = _motion(search, rest, order, p, curves.scale, None)
            split = dependent or (motion.approximation.dependent if motion.approximation else None)
            members.append(BranchMember(float(p.z[-1] * curves.scale[-1]), motion, p.kind, number))
    return SteadyBranches(search.model, along, span, tuple(members), curves.incomplete)


def _rolling_branches(
    system: System,
    along: str,
    span: tuple[float, float],
    fixed: Mapping[str, float],
    sides: Mapping[str, tuple[float, float]],
    seconds: float,
) -> SteadyBranches:
    """Where velocities are constrained: some equations follow from the others, and as many as there are unknowns are kept."""
    values = [float(x) for x in np.linspace(*span, STARTS)]
    places = [steady_rest(system, {**fixed, along: x}, sides) for x in values]
    whole = _hull({**sides, along: span}, [{n: at.box[n] for n in at.bounded if n in at.speeds} for at, _, _ in places])
    rest, _, _ = steady_rest(system, fixed, whole)
    if along not in rest.unknowns:
        raise ModelError([Problem(f"'{along}' does not change the steady motions by itself: vary something else")])
    order = [k for k, name in enumerate(rest.unknowns) if name != along] + [rest.unknowns.index(along)]
    names, starts = [rest.unknowns[k] for k in order], []
    for x in values:
        found = steady_motions(system, {**fixed, along: x}, sides, seconds=seconds / STARTS).found
        starts += [_point(e, names, {along: x}) for e in found.equilibria]
    if not starts:
        raise ModelError(
            [Problem(f"there is no steady motion in the box from which a branch along '{along}' could begin")]
        )
    anywhere = {name for _, speeds, _ in places for name in speeds.anywhere.sides}
    every = _curves(rest, order, names, np.array(starts), span, anywhere)
    count = len(names) - 1
    slopes = np.hstack([every.values(start)[1][:, :count] * every.scale[:count] for start in starts])
    kept = svd(slopes, full_matrices=False)[0][:, :count].T

    def kept_values(z: Array) -> tuple[Array, Array]:
        value, slope = every.values(z)
        return kept @ value, kept @ slope

    curves = follow_all(replace(every, values=kept_values), starts)
    members, incomplete = [], curves.incomplete
    for number, branch in enumerate(curves.branches):
        for p in branch:
            z = p.z * curves.scale
            value, slope = every.values(z)
            if np.abs(value).max() > 1e-8 * (1 + float((np.abs(slope) @ np.abs(z)).max())):
                incomplete = True  # of the equations that were kept alone
                continue
            motion = rolling_motion(rest, equilibrium_at(rest, z[np.argsort(order)], None))
            members.append(BranchMember(float(z[-1]), motion, p.kind, number))
    return SteadyBranches(rest.system, along, span, tuple(members), incomplete)


def _hull(box: Sides, others: Sequence[Sides]) -> dict[str, tuple[float, float]]:
    """The box with sides for further names, which hold all of theirs."""
    found = dict(box)
    for name, (low, high) in [item for other in others for item in other.items() if item[0] not in box]:
        known = found.get(name, (low, high))
        found[name] = min(low, known[0]), max(high, known[1])
    return found


def _starts(
    places: Mapping[float, SteadySearch],
    along: str,
    names: Sequence[str],
    dependent: Sequence[str] | None,
    seconds: float,
) -> list[Array]:
    """All motions at some values of what is varied, as points of branches."""
    starts = []
    for value, at in places.items():
        found = equilibria(at.system, at.fixed, at.box, dependent=dependent, seconds=seconds / len(places))
        starts += [_point(e, names, {along: value}) for e in found.equilibria]
    if not starts:
        message = f"there is no steady motion in the box from which a branch along '{along}' could begin"
        raise ModelError([Problem(message)])
    return starts


def _curves(
    rest: RestEquations,
    order: Sequence[int],
    names: Sequence[str],
    starts: Array,
    span: tuple[float, float],
    anywhere: Collection[str] = (),
) -> Curves:
    """f with the varied unknown last, the others scaled by the box or, where they have none, by what they are at first.

    Unknowns ``anywhere`` may leave the sides that hold them at the starts.
    """
    back = np.argsort(order)

    def values(z: Array) -> tuple[Array, Array]:
        value, slope = rest.problem.value_and_slope(z[back][None, :])
        return value[0], slope[0][:, order]

    low, high, scale = [], [], []
    follows = _responses(rest, [start[back] for start in starts])[list(order)]
    for k, name in enumerate(names):
        side = None if name in rest.angles else rest.box.get(name)
        size = max(float(np.abs(starts[:, k]).max()), float(follows[k])) if side is None else side[1] - side[0]
        size = 2 * pi if name in rest.angles else size
        scale.append(size if size > 0 else 1.0)
        ends = (-np.inf, np.inf) if side is None or name in anywhere else side
        low.append(ends[0] / scale[-1])
        high.append(ends[1] / scale[-1])
    low[-1], high[-1] = span[0] / scale[-1], span[1] / scale[-1]
    return Curves(values, np.array(scale), np.array(low), np.array(high))


LEAST = 1e-2
"""An unknown without a box is measured at least by what has this part of the largest effect of one with a box."""


def _responses(rest: RestEquations, points: Sequence[Array]) -> Array:
    """How far each unknown goes, to first order, when those with a box go through it; zero for these themselves.

    One that stays where it is at first (the reaction along a straight way) may go far later: it has a part of their effect.
    """
    count, found = len(rest.bounded), np.zeros(len(rest.unknowns))
    for point in points:
        slope = rest.problem.value_and_slope(point[None, :])[1][0]
        moves, effects = slope[:, :count] * rest.width, np.linalg.norm(slope[:, count:], axis=0)
        moved = np.abs(pinv(slope[:, count:], rcond=1e-10) @ moves).max(axis=1, initial=0.0)
        least = LEAST * np.linalg.norm(moves, axis=0).max(initial=0.0) / np.where(effects > 0, effects, np.inf)
        found[count:] = np.maximum(found[count:], np.maximum(moved, least))
    return found


def _point(e: Equilibrium, names: Sequence[str], varied: Mapping[str, float]) -> Array:
    pushes = {f"multiplier of {name}": value for name, value in e.multipliers.items()}
    known = {**e.state, **e.inputs, **pushes, **e.parameters, **varied}
    return np.array([known[name] for name in names])


def _motion(
    search: SteadySearch,
    rest: RestEquations,
    order: Sequence[int],
    point: BranchPoint,
    scale: Array,
    dependent: Sequence[str] | None,
) -> SteadyMotion:
    """The motion at a point of a branch."""
    values = rest.named((point.z * scale)[np.argsort(order)])
    system = search.system
    state = {name: values[name] for name in (*system.coordinates, *system.rates)}
    inputs = {name: values.get(name, given.value) for name, given in system.inputs.items()}
    freed = {name: values[name] for name in system.parameters if name in rest.bounded}
    pushes = {c.name: values[f"multiplier of {c.name}"] for c in system.constraints}
    # where branches turn or meet, as in undecided parts of a box, a stiffness that rounding cannot tell from zero is zero
    reach = {} if point.kind == REGULAR else dict(zip(rest.bounded, LEAST_WIDTH * rest.width, strict=True))
    return search.motion(Equilibrium(state, inputs, pushes, freed, None, None, inexact=reach), dependent)


def _badly_split(motion: SteadyMotion) -> bool:
    """Has it no first approximation with these redundant coordinates, or a badly conditioned one?"""
    return motion.approximation is None or motion.approximation.conditioning < WELL_SPLIT


def _same(a: SteadyMotion, b: SteadyMotion, near: float) -> bool:
    return all(abs(value - b.state[name]) <= near for name, value in a.state.items()) and all(
        abs(value - b.speeds[name]) <= near for name, value in a.speeds.items()
    )
