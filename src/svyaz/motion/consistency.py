"""Do rows of a motion satisfy the equations as the model states them? What is left is compared with the sizes of the terms.

Numbers that the rows do not tell are found by least squares: multipliers of constraints that a form has used up, frictions that
hold, sides of surfaces along which the motion slides (these two within their bounds).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import ZERO
from svyaz.forms import Equations
from svyaz.matrices import pinv
from svyaz.model import Constraint, Friction, System
from svyaz.motion.jets import Corners, Tape
from svyaz.motion.samples import (
    Flags,
    Sample,
    carried_constraints,
    enforced_rates,
    enforcing_directions,
    only_rows,
    own_jets,
    rows_of,
    rows_on_chart,
)
from svyaz.motion.stated_equations import MotionRows, Reaction, StatedEquations, stated_equations
from svyaz.program import plain_program

ALLOWED = 1e-9
"""What may be left of an equation, as a part of the sizes of its terms."""

ALLOWED_MULTIPLIERS = 1e-6
"""… with the multipliers of the row, where others leave no more than that: these are solved for apart from the rates."""

ROUNDING = 1e-13
"""… and as a part of the largest terms of all equations, among which a linear solution leaves what it rounds off."""

EPSILON, TINY = float(np.finfo(float).eps), 1e-300
SLOW = 1e3
"""So many times the slip of a friction that holds is rounding too."""

BEYOND = 1e-6
"""By this part a friction may exceed its bound."""


class InconsistentRun(RuntimeError):
    """A run whose rates do not satisfy the equations of its model: a fault of the program."""


def check_samples(system: System, samples: Sequence[Sample]) -> None:
    """Raise InconsistentRun where the equations of the system do not hold at a row of a sample."""
    stated = stated_equations(system)
    if not stated.known:
        return
    with np.errstate(all="ignore"):
        for sample in samples:
            _check(stated, sample)


def _check(stated: StatedEquations, sample: Sample) -> None:
    """Compare what is left of each equation, and of each constraint, with its terms."""
    kept: Flags = np.asarray(np.isfinite(np.hstack([sample.rates, sample.states])).all(axis=1))
    if not kept.any():
        return
    sample = only_rows(sample, kept)
    rows, corners = rows_on_chart(stated, sample), Corners(_open_corners(sample))
    reactions = {c.name: stated.reaction(c, rows) for c in _acting(sample.equations)}
    left = stated.left(rows, corners)
    above = left[:, 0].copy()
    directions = enforcing_directions(sample) if sample.held else []
    unknown = [_moved_back(stated, sample, d) - above for d in directions]
    bounds = [np.full(len(sample.times), np.inf) for _ in directions]
    pushes, *held = _frictions(sample, reactions, left, stated.freedoms)
    for own, more in zip((unknown, bounds), held, strict=True):
        own += more
    for key, is_open in corners.seen.items():
        change = np.where(is_open, 0.5 * (above - stated.left(rows, Corners(corners.near, key))[:, 0]), 0.0)
        left[:, 0] -= change
        unknown.append(change)
        bounds.append(np.ones(len(sample.times)))
    strong = _strongest(unknown, bounds)
    left, found = _solved(sample, left, unknown, bounds)
    if (np.abs(left[:, 0]) > ALLOWED * left[:, 1]).any():  # multipliers of their own solution: how far are they off?
        _compare(stated.names, left, sample, ALLOWED_MULTIPLIERS, strong)
        left, _ = _solved(sample, left, pushes, [np.full(len(sample.times), np.inf)] * len(pushes))
    _compare(stated.names, left, sample, strong=strong)
    if sample.held:
        _compare([f"the law of '{h.name}'" for h in sample.held], enforced_rates(sample), sample)
        sample = replace(
            sample, rates=sample.rates - sum(z[:, None] * d for z, d in zip(found, directions, strict=False))
        )
    _check_velocities(stated, sample, left, reactions)
    _check_constraints(stated, sample, left, reactions)


def _moved_back(stated: StatedEquations, sample: Sample, direction: Array) -> Array:
    """What is left of each equation with rates that are less by a direction (c, k)."""
    rows = rows_on_chart(stated, replace(sample, rates=sample.rates - direction))
    found: Array = stated.left(rows, Corners(_open_corners(sample)))[:, 0]
    return found


def _check_velocities(stated: StatedEquations, sample: Sample, left: Array, reactions: Mapping[str, Reaction]) -> None:
    """Compare G q̇ or f of each constraint that a form has used up with its terms.

    A motion at rest moves as rounding of forces in balance does, by what they could do in the time of the run.
    """
    gone = {c.name: reactions[c.name] for c in sample.equations.eliminated}
    speeds = np.array([reaction.rate[0] for reaction in gone.values()])
    if gone and (np.abs(speeds[:, 0]) > ALLOWED * speeds[:, 1]).any():
        could = _strong(stated, rows_of(stated.system, sample), left, gone)
        speeds[:, 1] += ROUNDING / ALLOWED * could * np.abs(sample.times).max()
    _compare([f"the velocities by '{name}'" for name in gone], speeds, sample)


def _check_constraints(stated: StatedEquations, sample: Sample, left: Array, reactions: Mapping[str, Reaction]) -> None:
    """Compare ḧ or ḟ of each constraint, with what stabilises it, with its terms."""
    rows = rows_of(stated.system, sample)
    if sample.held or carried_constraints(sample.equations):
        reactions = {c.name: stated.reaction(c, rows) for c in _acting(sample.equations)}
    seconds = _seconds(sample, rows, reactions)
    if (np.abs(seconds[:, 0]) > ALLOWED * seconds[:, 1]).any():
        seconds[:, 1] += ROUNDING / ALLOWED * _strong(stated, rows, left, reactions)
    _compare([f"the constraint '{name}'" for name in reactions], seconds, sample)


def _strong(stated: StatedEquations, rows: MotionRows, left: Array, reactions: Mapping[str, Reaction]) -> Array:
    """Σ |G_i| a_i of each constraint (m, k), with the accelerations a that the terms of the equations could give."""
    count, faster = stated.freedoms, dict(rows.rates)
    faster |= {v: rows.rates[v] + 1.0 + np.abs(rows.rates[v]) for v in stated.system.velocities}
    added = np.abs(
        stated.left(MotionRows(rows.values, faster), Corners())[:count, 0] - stated.left(rows, Corners())[:count, 0]
    )
    fast = 1.0 + np.abs(np.array([rows.rates[v] for v in stated.system.velocities]))
    could = left[:count, 1] / np.where(added > 0.0, added / fast, np.inf)
    return np.array([(np.abs(r.along[:, 0]) * could).sum(axis=0) for r in reactions.values()])


def _acting(equations: Equations) -> list[Constraint]:
    """The constraints in the equations, those that a form has used up among them."""
    own = {d.name: d.constraint for d in equations.deviations}
    return [*own.values(), *(c for c in equations.eliminated if c.name not in own)]


def _open_corners(sample: Sample) -> Array:
    """How near to zero what jumps may be without a side, at each row: a motion slides there, or comes there at an event."""
    near, surfaces = np.full(len(sample.times), -1.0), sample.equations.sides
    if not surfaces:
        return near
    tape, jets = plain_program([s.expression for s in surfaces]), own_jets(sample)
    sliding = {str(s.side) for s in sample.equations.sliding}
    for k, surface in enumerate(surfaces):
        value, side = Tape(tape, jets).output(k)[0, 0], sample.values.get(str(surface.side), 0.0)
        is_open = str(surface.side) in sliding or side == 0.0
        met = np.full(near.shape, is_open) | (np.asarray(sample.ends) & (side * value <= 0.0))
        near = np.where(met, np.maximum(near, np.abs(value)), near)
    return near


def _frictions(
    sample: Sample, reactions: Mapping[str, Reaction], left: Array, count: int
) -> tuple[list[Array], list[Array], list[Array]]:
    """Take the forces of all reactions from what is left; frictions that hold are unknown forces with bounds.

    What unit multipliers give, the unknown forces, their bounds.
    """
    pushes: list[Array] = []
    unknown: list[Array] = []
    bounds: list[Array] = []
    holding = [  # also those that need not hold beside others: several may share out what holds the motion
        p.friction for p in sample.equations.pulls if p.side == ZERO or sample.values.get(str(p.side)) == 0.0
    ]
    carried = {c.name for c in carried_constraints(sample.equations)}
    ends = np.asarray(sample.ends)
    slow = _slow(sample, reactions, holding)
    for name, reaction in reactions.items():
        if name in carried or name not in sample.multipliers:
            unknown.append(_padded(reaction.along[:, 0], len(left)))
            bounds.append(np.full(len(sample.times), np.inf))
            continue
        push = sample.multipliers[name]
        size = np.abs(push)
        force = np.array([push, size]) * reaction.along + size * reaction.by_size
        constraint = next(c for c in _acting(sample.equations) if c.name == name)
        for friction, rubbing in zip(constraint.frictions, reaction.frictions, strict=True):
            is_held = ends | (friction in holding) | (np.abs(rubbing.slip) <= slow)
            slides = np.where(is_held, 0.0, rubbing.sliding * rubbing.side * size)
            force = force + np.array([-slides, np.abs(slides)]) * rubbing.along
            if is_held.any():
                unknown.append(_padded(np.where(is_held, rubbing.along[:, 0], 0.0), len(left)))
                bounds.append(np.maximum(rubbing.static, rubbing.sliding) * size)
        left[:count] += np.array([[-1.0], [1.0]]) * force
        pushes.append(_padded(np.where(push == 0.0, reaction.along[:, 0], force[:, 0] / push), len(left)))
    return pushes, unknown, bounds


def _slow(sample: Sample, reactions: Mapping[str, Reaction], holding: Sequence[Friction]) -> Array:
    """A slip that is no faster belongs to a friction that is at rest beside others that hold; at each row (k,)."""
    frictions = [f for c in _acting(sample.equations) for f in c.frictions]
    rubs = [rubbing for reaction in reactions.values() for rubbing in reaction.frictions]
    own = [np.abs(rubbing.slip) for f, rubbing in zip(frictions, rubs, strict=True) if f in holding]
    return SLOW * np.max(own, axis=0) if own else np.full(len(sample.times), -1.0)


def _padded(column: Array, count: int) -> Array:
    """Entries of the freedoms, and zeros for the equations of rates."""
    found = np.zeros((count, column.shape[1]))
    found[: len(column)] = column
    return found


def _solved(sample: Sample, left: Array, unknown: Sequence[Array], bounds: Sequence[Array]) -> tuple[Array, Array]:
    """What is left with the unknown forces that fit best, and these (u, k); none that fit within their bounds is an error."""
    if not unknown:
        return left, np.zeros((0, len(sample.times)))
    columns = np.moveaxis(np.array(unknown), 0, 1)  # (c, u, k)
    sizes = left[:, 1] + np.abs(columns).max(axis=1)
    defined: Flags = np.asarray(np.isfinite(columns).all(axis=1) & np.isfinite(left).all(axis=1))
    weights = np.where(defined, 1.0 / np.where(sizes > TINY, sizes, 1.0), 0.0)
    matrices = np.moveaxis(np.where(defined[:, None], weights[:, None] * columns, 0.0), 2, 0)
    sides = np.where(defined, -weights * left[:, 0], 0.0).T
    found: Array = (pinv(matrices, EPSILON * max(matrices.shape[1:])) @ sides[:, :, None])[:, :, 0].T
    most = np.array(bounds) * (1.0 + BEYOND)
    for k in np.flatnonzero((np.abs(found) > most).any(axis=0)):
        _check_bounds(matrices[k], sides[k], most[:, k], found[:, k], _describe(sample, int(k), ""))
    left = left.copy()
    left[:, 0] += (columns * found).sum(axis=1)
    left[:, 1] += (np.abs(columns) * np.abs(found)).sum(axis=1)
    return left, found


def _strongest(unknown: Sequence[Array], bounds: Sequence[Array]) -> Array | float:
    """The largest force (k,) that what holds the motion may have: where next to nothing is held, it is rounded like that."""
    finite = [np.abs(column).max(axis=0) * most for column, most in zip(unknown, bounds, strict=True)]
    found = [np.where(np.isfinite(each), each, 0.0) for each in finite]
    return np.max(found, axis=0) if found else 0.0


def _check_bounds(matrix: Array, side: Array, most: Array, free: Array, described: str) -> None:
    """Is there a fit within bounds as good as the ``free`` one? Forces that share a direction may be shared out otherwise."""
    from scipy.optimize import lsq_linear

    most = np.maximum(most, BEYOND * np.abs(free).max())
    found: Array = lsq_linear(matrix, side, (-most, most), method="bvls").x
    if np.abs(matrix @ found - side).max() > BEYOND + np.abs(matrix @ free - side).max():
        worst = int(np.argmax(np.abs(free) - most))
        raise InconsistentRun(f"{described}what holds the motion is {free[worst]:.3g}, its bound {most[worst]:.3g}")


def _seconds(sample: Sample, rows: MotionRows, reactions: Mapping[str, Reaction]) -> Array:
    """ḧ + correction of each constraint (m, 2, k)."""
    if not reactions:
        return np.zeros((0, 2, len(sample.times)))
    found = {name: np.broadcast_to(r.second, (2, len(sample.times))) for name, r in reactions.items()}
    added = dict(zip((d.name for d in sample.equations.deviations), sample.correction, strict=False))
    if added:
        jets = own_jets(sample)
        for name, reaction in reactions.items():
            jets |= {f"h of {name}": reaction.position, f"rate of {name}": reaction.rate}
        for name, more in zip(added, Tape(plain_program(list(added.values())), jets).outputs(), strict=True):
            found[name] = found[name] + more[0]
    return np.array(list(found.values()))


def _compare(
    names: Sequence[str], left: Array, sample: Sample, allowed: float = ALLOWED, strong: Array | float = 0.0
) -> None:
    if not left.size:
        return
    largest = np.fmax(np.fmax.reduce(left[:, 1], axis=0), strong)
    undefined = np.isnan(left).any(
        axis=(0, 1)
    )  # the size of an equation is not told there: that of other rows is taken
    sizes = left[:, 1] + ROUNDING / allowed * np.where(undefined, largest.max(), largest)
    excess = np.abs(left[:, 0]) - allowed * sizes
    if not (excess > 0.0).any():
        return
    worst, k = np.unravel_index(np.nanargmax(np.where(excess > 0.0, np.abs(left[:, 0]) / sizes, 0.0)), excess.shape)
    part = abs(left[worst, 0, k]) / left[worst, 1, k]
    what = f"{left[worst, 0, k]:.3g} is left of {names[int(worst)]}, {part:.2g} of its terms"
    raise InconsistentRun(_describe(sample, int(k), what))


def _describe(sample: Sample, row: int, what: str) -> str:
    return (
        f"the rates of {sample.road} do not satisfy the equations of the model, so the motion is not to be trusted; please "
        f"report it with the model: at t = {sample.times[row]:.9g} {what}"
    )
