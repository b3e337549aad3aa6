"""Singular points of a run: where they ended it, where it stepped over them, and what they are.

The augmented matrix [M Rᵀ; G 0] degenerates for some reasons, which are told apart. The kinetic energy vanishes for a
motion that the constraints allow: the coordinates are badly chosen there (the pole of angles), others avoid it; or what
moves has no inertia. The gradients of the constraints become dependent at single positions: the mechanism itself branches
there (or stands alone), whatever the coordinates, and accelerations may well stay bounded. Or the rows are dependent
nearby as well: one of them says nothing new. The directions of controls may cease to suffice for servo-constraints: there
the determinant changes its sign, which it does not under ideal reactions. A form without multipliers has a chart of its
own, which may end where the equations that it was made from are regular.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.constraints import examine, listed, model_states
from svyaz.dynamics import measure_of
from svyaz.integrate import Bridge, Path, Status
from svyaz.matrices import weakest_combination
from svyaz.stabilise.degeneracy import COMPARED, RunExcerpt, run_about
from svyaz.stabilise.deviation import deviations
from svyaz.stabilise.observed_columns import observed
from svyaz.stabilise.request import MOST_LISTED
from svyaz.stabilise.segment import Segment

NEAR = 0.01
"""Near a singular point the determinant of the augmented matrix is below this part of its largest value so far."""

SHARP = 2.0
"""A finished run stepped over a singular point where log |det| is lower by this than two rows before and after."""

MOST_EXAMINED = 5000
"""Rows of a finished run that are looked at for singular points."""

MOST_MOMENTS = 12
"""So many moments at which branching positions were passed are told."""

LOOK_BACK = 4000
"""So many rows before the end of a run are searched for the singular point that ended it."""

DEGENERATE = 0.2
"""What falls below this part of its largest size along the run is what degenerates."""

BOUNDED = 2.0
"""Accelerations up to so many times the largest elsewhere are called bounded; of others the number is told."""


def singular_point(segment: Segment, path: Path, step: float | None) -> tuple[int, str] | None:
    """(row, words) of the singular point that ended a run.

    Looked for when a run did not reach its end. It is the first of the last rows at which the determinant of the augmented
    matrix has fallen below NEAR of its largest size so far and one step would change a velocity by more than all it has
    been (a run with error control that stalled, or whose linear system has no solution, needs no such change). A run
    whose constraints were lost before that, or whose determinant stays, diverged for another reason.
    """
    equations = segment.equations
    turned = _sign_change(segment, path) if equations.servo else None
    if turned is not None:
        return turned, _describe(segment, path.times[: turned + 1], path.states[: turned + 1], turned)
    if not equations.accelerated or path.status not in (Status.DIVERGED, Status.STALLED, Status.SINGULAR):
        return None
    first = max(0, len(path.times) - LOOK_BACK)
    times, states = path.times[first:], path.states[first:]
    shrunk = _shrinking(segment, times, states) < NEAR
    ending = np.arange(len(times)) == len(times) - 1 if path.status in (Status.SINGULAR, Status.STALLED) else False
    found = np.flatnonzero(shrunk & (_steep(segment, times, states, step) | ending))
    if not len(found) or _constraint_lost(segment, times, states, int(found[0])):
        return None
    row = int(found[0])
    return first + row, _describe(segment, times[: row + 1], states[: row + 1], row)


def _sign_change(segment: Segment, path: Path) -> int | None:
    """The last row before the determinant of a system with servo-constraints changes its sign."""
    measure = measure_of(segment.equations)
    for first in range(0, len(path.times) - 1, LOOK_BACK):  # a matrix for each row
        rows = slice(first, first + LOOK_BACK + 1)
        sign, _ = measure.augmented_determinants(path.times[rows], path.states[rows])
        found = np.flatnonzero(sign[1:] * sign[:-1] <= 0.0)
        if len(found):
            return first + int(found[0])
    return None


def note_singular_points(segment: Segment, path: Path) -> list[str]:
    """Notes on singular points that a finished run stepped over: the determinant of the augmented matrix degeneracies and
    recovers within a step, or changes its sign.
    """
    if not segment.equations.deviations or path.status is not Status.FINISHED:
        return _pole_notes(path)
    stride = -(-len(path.times) // MOST_EXAMINED)
    times, states = path.times[::stride], path.states[::stride]
    if len(times) < 5:
        return _pole_notes(path)
    sign, size = measure_of(segment.equations).augmented_determinants(times, states)
    size = size - np.nanmax(size)
    low = (size < np.log(NEAR)) & np.isfinite(size)
    sharp = np.zeros(len(times), dtype=bool)
    lowest = (size[2:-2] < size[1:-3]) & (size[2:-2] <= size[3:-1])
    sharp[2:-2] = low[2:-2] & lowest & (np.minimum(size[:-4], size[4:]) - size[2:-2] > SHARP)
    turned = np.zeros(len(times), dtype=bool)
    turned[1:] = sign[1:] * sign[:-1] < 0
    if segment.equations.servo and turned.any():  # the run is cut off there
        return _pole_notes(path)
    if len(path.times) <= path.steps // 2:  # rows at given times may lie too far apart for that
        sharp[:] = False
    for bridge in path.bridged:
        known = (times >= bridge.start) & (times <= bridge.end)
        sharp[known] = turned[known] = False
    rows = np.flatnonzero(sharp | turned)
    told = [f"the run stepped over {_describe(segment, times, states, int(k))}" for k in rows[:MOST_LISTED]]
    return [*_pole_notes(path), *_branch_notes(segment, path, times, states), *told]


def _pole_notes(path: Path) -> list[str]:
    """Notes on what was passed in another chart, each pole once."""
    found: dict[str, list[float]] = {}
    for bridge in path.bridged:
        if bridge.words:
            found.setdefault(bridge.words, []).append(bridge.moment)
    notes = []
    for words, moments in found.items():
        shown = ", ".join(f"{moment:.6g}" for moment in moments[:MOST_MOMENTS])
        more = f" and {len(moments) - MOST_MOMENTS} times more" if len(moments) > MOST_MOMENTS else ""
        notes.append(f"the run passed {words}, near t = {shown}{more}")
    return notes


def _branch_notes(segment: Segment, path: Path, times: Array, states: Array) -> list[str]:
    """A note on the branching positions that were passed by continuity."""
    spans = [bridge for bridge in path.bridged if not bridge.words]
    if not spans:
        return []
    first, moments = spans[0], [bridge.moment for bridge in spans]
    row = int(np.argmin(np.abs(times - first.moment)))
    told = f"the run passed {_describe(segment, times, states, row, first)}; it goes on along the branch on which "
    told += "velocities and energy are continuous"
    if len(moments) > 1:
        shown = ", ".join(f"{moment:.6g}" for moment in moments[1:MOST_MOMENTS])
        more = f" and {len(moments) - MOST_MOMENTS} times more" if len(moments) > MOST_MOMENTS else ""
        told += f"; so also near t = {shown}{more}"
    return [told]


def _shrinking(segment: Segment, times: Array, states: Array) -> Array:
    """|det| of the augmented matrix over its largest value so far."""
    _, size = measure_of(segment.equations).augmented_determinants(times, states)
    largest = np.maximum.accumulate(np.where(np.isfinite(size), size, -np.inf))
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(np.exp(size - largest), nan=0.0)


def _steep(segment: Segment, times: Array, states: Array, step: float | None) -> NDArray[np.bool_]:
    """Rows from which one step changes a velocity by more than its largest size so far."""
    equations = segment.equations
    accelerations = _accelerations(segment, times, states)
    columns = [equations.states.index(str(v)) for v in equations.velocities]
    speeds = np.maximum.accumulate(np.abs(states[:, columns]), axis=0)
    tau = np.diff(times, append=times[-1] + (step or (times[-1] - times[-2] if len(times) > 1 else 1.0)))
    # a velocity that has been zero so far grows from nothing: only compare where it has a size
    known = speeds > 1e-3 * np.max(speeds, axis=1, keepdims=True)
    with np.errstate(over="ignore", invalid="ignore"):
        steep = (np.abs(accelerations) * tau[:, None] > speeds) & known
    return np.isnan(accelerations).any(axis=1) | steep.any(axis=1)


def _accelerations(segment: Segment, times: Array, states: Array) -> Array:
    return np.column_stack(list(observed(segment, times, states)["accelerations"].values()))


def _constraint_lost(segment: Segment, times: Array, states: Array, row: int) -> bool:
    """Had a constraint gone as far as its own scale before this row?"""
    if not segment.equations.deviations or row == 0:
        return False
    measured = deviations(segment.equations)
    y = np.abs(measured.at(times[:row], states[:row]))
    scales = measured.scales(times[: max(1, row // 2)], states[: max(1, row // 2)])
    return bool(np.any((np.max(y, axis=0) > scales)[measured.reported]))


def _describe(segment: Segment, times: Array, states: Array, row: int, bridge: Bridge | None = None) -> str:
    """Where a singular point is, what degenerates, and what becomes of the accelerations; at the row, or a moment near it."""
    run = run_about(segment, times, states, row)
    time, state = float(times[row]), run.states[run.here]
    weightless = examine(run.equations, state, time).weightless if row == 0 and time == 0.0 else ()
    if weightless:
        names = listed(weightless, range(len(weightless)))
        why = "is a mass or a moment of inertia zero?"
        verb, whose = ("moves", "its acceleration is") if len(weightless) == 1 else ("move", "their accelerations are")
        return f"{names} {verb} without inertia at the start: {whose} not determined; {why}"
    motion, reason = _describe_accelerations(segment, times, states, row), _reason(run, segment, state, time)
    if bridge is not None:
        time = bridge.moment
        state = model_states(segment.equations, np.array([time]), bridge.state[None, :])[0]
    places = [run.equations.states.index(q) for q in run.names]
    where = ", ".join(f"{q} = {state[k]:.4g}" for q, k in zip(run.names, places, strict=True))
    return f"a singular point near t = {time:g} ({where}): {reason}; {motion}"


def _reason(run: RunExcerpt, segment: Segment, state: Array, time: float) -> str:
    equations, (inertia, gradients) = run.equations, run.degeneracies
    report = examine(equations, state, time)
    structural = [d for d in report.dependencies if d.structural]
    if structural:
        return "; ".join(report.messages)
    if segment.equations is not equations and min(inertia, gradients) > DEGENERATE:
        return (
            f"the chart of the form '{segment.equations.form}' ends there, where the equations with multipliers are "
            "regular; other dependent coordinates avoid it"
        )
    if inertia <= DEGENERATE:
        return (
            "the kinetic energy degenerates there; where this comes from the coordinates, as at the pole of angles, "
            "others avoid it"
        )
    if gradients <= DEGENERATE:
        return _of_constraints(run, state, time)
    if equations.servo:
        names = [d.name for d in equations.deviations if d.constraint.servo]
        what = "control direction of" if len(names) == 1 else "control directions of"
        ceases = "ceases" if len(names) == 1 else "cease"
        told = f"the {what} {listed(names, range(len(names)))} {ceases} to suffice there"
        return f"{told}: G M⁻¹ B is singular, B the directions"
    return "the augmented matrix of the accelerations degenerates" + "".join(f"; {m}" for m in report.messages)


def _of_constraints(run: RunExcerpt, state: Array, time: float) -> str:
    """The gradients of constraints become dependent, but are not nearby."""
    from svyaz.constraints import Crossing, crossing

    snapshot, what = run.measure.at(state, time), _dependent(run)
    match crossing(run.measure, snapshot, run.sizes):
        case Crossing.BRANCHES:
            return (
                f"{what} there, and the mechanism itself branches: more than one motion passes, in whatever coordinates, "
                "and which one goes on is not determined by the constraints alone"
            )
        case Crossing.ALONE:
            return f"{what} there, and the position stands alone: no motion of the mechanism passes through it"
    return f"{what} there, but not nearby: what the constraints demand there is not determined"


def _dependent(run: RunExcerpt) -> str:
    """What happens to the gradients of constraints at the row: those of the weakest combination."""
    plain = run.measure.gradients(run.times, run.states)
    longest = np.nanmax(plain.lengths(), axis=0)
    g = plain.at(np.array([run.here])).whole()[0] / np.where(longest > 0.0, longest, 1.0)[:, None]
    parts = np.abs(weakest_combination(g))
    names = run.equations.multiplier_names
    weak = [k for k, part in enumerate(parts) if part > 0.2 * parts.max()]
    told = listed(names, weak)
    return f"the gradient of {told} vanishes" if len(weak) == 1 else f"{told} become dependent"


def _describe_accelerations(segment: Segment, times: Array, states: Array, row: int) -> str:
    """Do they stay bounded about the row, compared with those of the run before and after it?"""
    about = np.arange(max(0, row - 2), min(len(times), row + 3))
    far = np.setdiff1d(np.linspace(0, len(times) - 1, COMPARED).astype(int), np.arange(row - 5, row + 6))
    sizes = []
    for rows in (about, far):
        rows = rows[np.isfinite(states[rows]).all(axis=1)]
        found = np.abs(_accelerations(segment, times[rows], states[rows])) if len(rows) else np.zeros((0, 1))
        sizes.append(np.max(found, axis=0, initial=0.0))
    near, elsewhere = sizes
    if np.isnan(near).any():
        return "the accelerations are not determined"
    # what would change no velocity by a millionth over the run is rounding
    columns = [segment.equations.states.index(str(v)) for v in segment.equations.velocities]
    fastest = np.nanmax(np.abs(states[:, columns]), axis=0, initial=0.0)
    elsewhere = np.maximum(elsewhere, 1e-6 * fastest / max(float(times[-1] - times[0]), 1e-300))
    known = elsewhere > 1e-6 * np.max(elsewhere, initial=0.0)
    growth = float(np.max(near[known] / elsewhere[known], initial=0.0))
    if not known.any() or growth <= BOUNDED:
        return "the accelerations stay bounded along the run"
    return f"the accelerations grow there, to {growth:.2g} times those elsewhere"
