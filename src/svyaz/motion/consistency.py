"""Do rows of a motion satisfy the equations as the model states them? What is left is compared with the sizes of the terms.

Numbers that the rows do not tell are found by least squares: multipliers of constraints that a form has used up, frictions that
hold, sides of surfaces along which the motion slides (these two within their bounds).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import symengine as se
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.expr import ZERO, Expression
from svyaz.forms import Equations
from svyaz.matrices import lstsq
from svyaz.model import System
from svyaz.motion.jets import Corners, Tape, jets_of
from svyaz.motion.stated_equations import MotionRows, Reaction, StatedEquations, stated_equations
from svyaz.program import Program, plain_program, remembered

ALLOWED = 1e-9
"""What may be left of an equation, as a part of the sizes of its terms."""

ROUNDING = 1e-13
"""… and as a part of the largest terms of all equations, among which a linear solution leaves what it rounds off."""

BEYOND = 1e-6
"""By this part a friction may exceed its bound."""


Flags = NDArray[np.bool_]


class InconsistentRun(RuntimeError):
    """A run whose rates do not satisfy the equations of its model: a fault of the program."""


@dataclass(frozen=True)
class Sample:
    """Rows of a phase (k): what was integrated there, and what is known of it.

    ``states`` and ``rates`` are those of the equations; ``multipliers`` are by constraint, one that is not among them is
    found by least squares. ``values`` are those of all constants, ``correction`` is added to the rows of the constraints.
    ``ends``: rows at which an event may lie.
    """

    road: str
    equations: Equations
    times: Array
    states: Array
    rates: Array
    multipliers: Mapping[str, Array]
    values: Mapping[str, float | Array]
    correction: Sequence[Expression] = ()
    ends: Flags | None = None


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
    sample = _of_rows(sample, kept)
    rows = _rows_of(stated.system, sample)
    reactions = {name: stated.reaction(name, rows) for name in _acting(sample.equations)}
    near = _open_corners(sample)
    corners = Corners(near)
    left = stated.left(rows, corners)
    above = left[:, 0].copy()
    unknown, bounds = _frictions(sample, reactions, left, stated.freedoms)
    for key, is_open in corners.seen.items():
        change = np.where(is_open, 0.5 * (above - stated.left(rows, Corners(near, key))[:, 0]), 0.0)
        left[:, 0] -= change
        unknown.append(change)
        bounds.append(np.ones(len(sample.times)))
    _compare(stated.names, _solved(sample, left, unknown, bounds), sample)
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


def _acting(equations: Equations) -> list[str]:
    """The names of the constraints in the equations, those that a form has used up among them."""
    return list(dict.fromkeys([*(d.name for d in equations.deviations), *(c.name for c in equations.eliminated)]))


def _of_rows(sample: Sample, kept: Flags) -> Sample:
    return replace(
        sample,
        times=sample.times[kept],
        states=sample.states[kept],
        rates=sample.rates[kept],
        multipliers={name: column[kept] for name, column in sample.multipliers.items()},
        ends=np.zeros(int(kept.sum()), dtype=bool) if sample.ends is None else sample.ends[kept],
    )


def _own_jets(sample: Sample) -> dict[str, Array]:
    """The time, the states of the equations with their rates, and all constants."""
    states = sample.equations.states
    values = {**sample.values, "t": sample.times, **dict(zip(states, sample.states.T, strict=True))}
    return jets_of(values, {"t": np.ones(1), **dict(zip(states, sample.rates.T, strict=True))})


@remembered
def _outgoing(equations: Equations) -> Program:
    """The states of the model from those of the equations."""
    names = [name for name in equations.system.states if name not in equations.states]
    return plain_program([equations.in_states(se.Symbol(name)) for name in names])


def _rows_of(system: System, sample: Sample) -> MotionRows:
    """The rows as those of the model."""
    jets = _own_jets(sample)
    missing = [name for name in system.states if name not in jets]
    if missing:
        tape = Tape(_outgoing(sample.equations), jets)
        jets |= {name: tape.output(k) for k, name in enumerate(missing)}
    values = {name: a[0, 0] for name, a in jets.items()}
    return MotionRows(values, {name: np.broadcast_to(jets[name][1, 0], sample.times.shape) for name in system.states})


def _open_corners(sample: Sample) -> Array:
    """How near to zero what jumps may be without a side, at each row: a motion slides there, or comes there at an event."""
    near, surfaces = np.full(len(sample.times), -1.0), sample.equations.sides
    if not surfaces:
        return near
    tape, jets = plain_program([s.expression for s in surfaces]), _own_jets(sample)
    sliding = {str(s.side) for s in sample.equations.sliding}
    for k, surface in enumerate(surfaces):
        value, side = Tape(tape, jets).output(k)[0, 0], sample.values.get(str(surface.side), 0.0)
        is_open = str(surface.side) in sliding or side == 0.0
        met = np.full(near.shape, is_open) | (np.asarray(sample.ends) & (side * value <= 0.0))
        near = np.where(met, np.maximum(near, np.abs(value)), near)
    return near


def _frictions(
    sample: Sample, reactions: Mapping[str, Reaction], left: Array, count: int
) -> tuple[list[Array], list[Array]]:
    """Take the forces of all reactions from what is left; frictions that hold are unknown forces with bounds."""
    unknown: list[Array] = []
    bounds: list[Array] = []
    holding = [
        p.friction
        for p in sample.equations.pulls
        if (p.side == ZERO and p.holding != ZERO) or sample.values.get(str(p.side)) == 0.0
    ]
    gone = {c.name for c in sample.equations.eliminated}
    ends = np.asarray(sample.ends)
    for name, reaction in reactions.items():
        if name in gone or name not in sample.multipliers:
            unknown.append(_padded(reaction.along[:, 0], len(left)))
            bounds.append(np.full(len(sample.times), np.inf))
            continue
        push = sample.multipliers[name]
        size = np.abs(push)
        force = np.array([push, size]) * reaction.along + size * reaction.by_size
        constraint = next(d.constraint for d in sample.equations.deviations if d.name == name)
        for friction, rubbing in zip(constraint.frictions, reaction.frictions, strict=True):
            is_held = ends | (friction in holding)
            slides = np.where(is_held, 0.0, rubbing.sliding * rubbing.side * size)
            force = force + np.array([-slides, np.abs(slides)]) * rubbing.along
            if is_held.any():
                unknown.append(_padded(np.where(is_held, rubbing.along[:, 0], 0.0), len(left)))
                alone = (
                    len(sample.equations.pulls) == 1
                )  # several may share out a force otherwise than least squares do
                bounds.append(
                    np.maximum(rubbing.static, rubbing.sliding) * size if alone else np.inf * np.ones_like(size)
                )
        left[:count] += np.array([[-1.0], [1.0]]) * force
    return unknown, bounds


def _padded(column: Array, count: int) -> Array:
    """Entries of the freedoms, and zeros for the equations of rates."""
    found = np.zeros((count, column.shape[1]))
    found[: len(column)] = column
    return found


def _solved(sample: Sample, left: Array, unknown: Sequence[Array], bounds: Sequence[Array]) -> Array:
    """What is left with the unknown forces that fit best; where none within their bounds fit, that is an error."""
    if not unknown:
        return left
    left = left.copy()
    for k in range(len(sample.times)):
        columns, most = np.array([u[:, k] for u in unknown]).T, np.array([b[k] for b in bounds])
        sizes = left[:, 1, k] + np.abs(columns).max(axis=1, initial=0.0)
        weights = 1.0 / np.where(sizes > 0.0, sizes, 1.0)
        defined = np.isfinite(columns).all(axis=1) & np.isfinite(left[:, :, k]).all(axis=1)
        if not defined.any():
            continue
        matrix, side = (weights[:, None] * columns)[defined], (-weights * left[:, 0, k])[defined]
        found = lstsq(matrix, side, rcond=None)
        if (np.abs(found) > most * (1.0 + BEYOND)).any():
            found = _fit(matrix, side, most * (1.0 + BEYOND), found, _describe(sample, k, ""))
        left[:, 0, k] += columns @ found
        left[:, 1, k] += np.abs(columns) @ np.abs(found)
    return left


def _fit(matrix: Array, side: Array, most: Array, free: Array, described: str) -> Array:
    """The best fit within bounds: forces that share a direction may be shared out otherwise."""
    from scipy.optimize import lsq_linear

    most = np.maximum(most, BEYOND * np.abs(free).max())
    found: Array = lsq_linear(matrix, side, (-most, most), method="bvls").x
    if np.abs(matrix @ found - side).max() > BEYOND + np.abs(matrix @ free - side).max():
        worst = int(np.argmax(np.abs(free) - most))
        raise InconsistentRun(f"{described}what holds the motion is {free[worst]:.3g}, its bound {most[worst]:.3g}")
    return found


def _seconds(sample: Sample, rows: MotionRows, reactions: Mapping[str, Reaction]) -> Array:
    """ḧ + correction of each constraint (m, 2, k)."""
    if not reactions:
        return np.zeros((0, 2, len(sample.times)))
    found = {name: np.broadcast_to(r.second, (2, len(sample.times))) for name, r in reactions.items()}
    added = dict(zip((d.name for d in sample.equations.deviations), sample.correction, strict=False))
    if added:
        jets = _own_jets(sample)
        for name, reaction in reactions.items():
            jets |= {f"h of {name}": reaction.position, f"rate of {name}": reaction.rate}
        for name, more in zip(added, Tape(plain_program(list(added.values())), jets).outputs(), strict=True):
            found[name] = found[name] + more[0]
    return np.array(list(found.values()))


def _compare(names: Sequence[str], left: Array, sample: Sample) -> None:
    if not left.size:
        return
    sizes = left[:, 1] + ROUNDING / ALLOWED * np.nanmax(left[:, 1], axis=0)
    excess = np.abs(left[:, 0]) - ALLOWED * sizes
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
