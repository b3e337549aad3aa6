"""Watching a run: constraints that were lost in spite of the verdict, singular points.

The linear verdict is necessary, not sufficient, so what really happened is compared with what was predicted.

A bound on the trajectory error of Euler's method, for what it is worth.

    ‖x̃(t) - x_n‖ ≤ ‖Δ₀‖ e^{L t} + ℶ (e^{L t} - 1)/L,      ℶ = max (τ/2 ‖ẍ̃‖ + ‖S‖),

in the norm of the largest entry, with L the largest row sum of |∂X̃/∂x| along the run, X̃ the rates without gains and S
what the gains add to them. Kaspirovich (2.2.13) in the corrected form: the norm is the induced one (row sums, not single
entries), and 1 + τL ≤ e^{τL} is used for numbers, not for matrices. L and ℶ are taken along the computed motion. The
bound grows exponentially, so that only for short runs it says anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import exp, inf

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.constraints import examine, measure_of
from svyaz.holding.deviation import deviations
from svyaz.holding.options import Options
from svyaz.holding.segment import Segment, observed
from svyaz.integrate import Path, Status

SAMPLES = 1000
"""Rows of the run at which the Jacobian is looked at."""

DISPLACEMENT = 1e-6
"""Part of the size of a state by which it is moved to find a derivative by central differences."""


@dataclass(frozen=True)
class ErrorBound:
    """The bound for the largest error of any state, each in its own unit, with L and ℶ."""

    value: float
    growth: float
    defect: float


def euler_bound(segment: Segment, path: Path, step: float, before: float = 0.0) -> ErrorBound:
    """The bound at the end of one phase; ``before`` is the bound on the error of its first state."""
    free = _without_gains(segment)
    rates = _rates(free, path.times, path.states)
    # ẍ̃ from the change of the rates between neighbouring rows of the motion
    width = np.diff(path.times)[:, None]
    bend = np.max(np.abs(np.diff(rates, axis=0) / np.where(width > 0, width, 1.0)), axis=1, initial=0.0)
    pull = np.max(np.abs(_rates(segment, path.times, path.states) - rates), axis=1, initial=0.0)
    defect = float(np.max(0.5 * step * bend + pull[:-1], initial=0.0))
    stride = -(-len(path.times) // SAMPLES)
    growth = _largest_row_sum(free, path.times[::stride], path.states[::stride])
    duration = float(path.times[-1] - path.times[0])
    return ErrorBound(_grown(before, growth, defect, duration), growth, defect)


def _grown(before: float, growth: float, defect: float, duration: float) -> float:
    """Δ₀ e^{LT} + ℶ (e^{LT} - 1)/L."""
    if growth * duration > 700.0:
        return inf if before > 0.0 or defect > 0.0 else 0.0
    factor = exp(growth * duration)
    return before * factor + defect * ((factor - 1.0) / growth if growth > 0.0 else duration)


def _without_gains(segment: Segment) -> Segment:
    law = segment.perturbation
    return segment.regained(replace(law, gains=dict.fromkeys(law.gains, 0.0)))


def _rates(segment: Segment, times: Array, states: Array) -> Array:
    return segment.code.evaluate(np.column_stack([times, states]), segment.constants)


def _largest_row_sum(segment: Segment, times: Array, states: Array) -> float:
    """max ‖∂X/∂x‖ along the rows, by central differences."""
    sizes = np.max(np.abs(states), axis=0)
    sizes = DISPLACEMENT * np.where(sizes > 0, sizes, 1.0)
    sums = np.zeros((len(times), states.shape[1]))
    for j, width in enumerate(sizes):
        shift = np.zeros(states.shape[1])
        shift[j] = width
        above, below = (_rates(segment, times, states + s) for s in (shift, -shift))
        sums += np.abs(above - below) / (2 * width)
    return float(np.max(sums, initial=0.0))


LOST = 0.02
"""A constraint is lost when its residual exceeds this part of its own scale."""

NEAR = 0.01
"""Near a singular point the determinant of the augmented matrix is below this part of its largest value so far."""

SHARP = 2.0
"""A finished run stepped over a singular point where log |det| is lower by this than two rows before and after."""

MOST_EXAMINED, MOST_NOTES = 5000, 3
"""Rows of a finished run that are looked at for singular points, and notes that are made of them."""

PROJECTED = 1e-12
"""What projection may leave of a constraint, as a part of its own scale."""

LOOK_BACK = 4000
"""So many rows before the end of a run are searched for the singular point that ended it."""


def lost_constraints(segment: Segment, path: Path, predicted: Mapping[str, float | None]) -> list[str]:
    """Notes on constraints that went astray, or farther than predicted."""
    if not segment.equations.deviations:
        return []
    measured = deviations(segment.equations)
    rows = np.isfinite(path.states).all(axis=1)
    times, states = path.times[rows], path.states[rows]
    half = max(1, len(times) // 2)
    first, largest = measured.with_scales(times[:half], states[:half])
    y = np.abs(np.concatenate([first, measured.at(times[half:], states[half:])]))[:, measured.reported]
    scales = largest[measured.reported]
    notes = []
    for k, name in enumerate(measured.names):
        worst = int(np.argmax(y[:, k]))
        value, bound = float(y[worst, k]), predicted.get(name)
        if scales[k] > 0 and value > LOST * scales[k] and value > 10 * y[0, k]:
            notes.append(
                f"the constraint '{name}' was lost: its residual grew to {value:.3g} at t = {times[worst]:g}, "
                f"{value / scales[k]:.2g} of its own scale"
            )
        elif bound is not None and value > bound:
            notes.append(f"the residual of '{name}' reached {value:.3g}, more than the predicted {bound:.3g}")
    return notes


def exceeds(segment: Segment, path: Path, options: Options) -> str:
    """Words for a constraint whose residual exceeded the tolerance; empty when none did."""
    if options.tolerance is None or not segment.equations.deviations:
        return ""
    measured = deviations(segment.equations)
    largest = np.max(np.abs(measured.at(path.times, path.states))[:, measured.reported], axis=0)
    allowed = options.allowed(measured.names)
    worst = int(np.argmax(largest / allowed))
    if largest[worst] <= allowed[worst]:
        return ""
    name, value = measured.names[worst], largest[worst]
    return f"the residual of '{name}' reached {value:.3g}, more than the tolerance {allowed[worst]:g}"


def left_by_projection(segment: Segment, path: Path) -> bool:
    """Did a residual stay above PROJECTED of the constraint's own scale after a projection?"""
    if not segment.equations.deviations:
        return False
    measured = deviations(segment.equations)
    largest = np.max(np.abs(measured.at(path.times, path.states)), axis=0)
    return bool(np.any(largest > PROJECTED * measured.scales(path.times, path.states)))


def singular_point(segment: Segment, path: Path, step: float | None) -> tuple[int, str] | None:
    """(row, words) of the singular point that ended a run.

    Looked for when a run did not reach its end. It is the first of the last rows at which the determinant of the augmented
    matrix has fallen below NEAR of its largest size so far and one step would change a velocity by more than all it has
    been (a run with error control that stalled, or whose linear system has no solution, needs no such change). A run
    whose constraints were lost before that, or whose determinant stays, diverged for another reason.
    """
    equations = segment.equations
    if not equations.accelerated or path.status not in (Status.DIVERGED, Status.STALLED, Status.SINGULAR):
        return None
    first = max(0, len(path.times) - LOOK_BACK)
    times, states = path.times[first:], path.states[first:]
    shrunk = _shrinking(segment, times, states) < NEAR
    ending = np.arange(len(times)) == len(times) - 1 if path.status in (Status.SINGULAR, Status.STALLED) else False
    found = np.flatnonzero(shrunk & (_steep(segment, times, states, step) | ending))
    if not len(found) or _lost_before(segment, times, states, int(found[0])):
        return None
    return first + int(found[0]), _words_for(segment, float(times[found[0]]), states[found[0]])


def passed_near(segment: Segment, path: Path) -> list[str]:
    """Notes on singular points that a finished run stepped over: the determinant of the augmented matrix collapses and
    recovers within a step, or changes its sign.
    """
    if not segment.equations.deviations or path.status is not Status.FINISHED:
        return []
    stride = -(-len(path.times) // MOST_EXAMINED)
    times, states = path.times[::stride], path.states[::stride]
    if len(times) < 5:
        return []
    sign, size = measure_of(segment.equations).augmented_determinants(times, states)
    size = size - np.nanmax(size)
    low = (size < np.log(NEAR)) & np.isfinite(size)
    sharp = np.zeros(len(times), dtype=bool)
    lowest = (size[2:-2] < size[1:-3]) & (size[2:-2] <= size[3:-1])
    sharp[2:-2] = low[2:-2] & lowest & (np.minimum(size[:-4], size[4:]) - size[2:-2] > SHARP)
    turned = np.zeros(len(times), dtype=bool)
    turned[1:] = sign[1:] * sign[:-1] < 0
    rows = np.flatnonzero(sharp | turned)
    return [f"the run stepped over {_words_for(segment, float(times[k]), states[k])}" for k in rows[:MOST_NOTES]]


def _shrinking(segment: Segment, times: Array, states: Array) -> Array:
    """|det| of the augmented matrix over its largest value so far."""
    _, size = measure_of(segment.equations).augmented_determinants(times, states)
    largest = np.maximum.accumulate(np.where(np.isfinite(size), size, -np.inf))
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(np.exp(size - largest), nan=0.0)


def _steep(segment: Segment, times: Array, states: Array, step: float | None) -> NDArray[np.bool_]:
    """Rows from which one step changes a velocity by more than its largest size so far."""
    equations = segment.equations
    accelerations = np.column_stack(list(observed(segment, times, states)["accelerations"].values()))
    columns = [equations.states.index(str(v)) for v in equations.velocities]
    speeds = np.maximum.accumulate(np.abs(states[:, columns]), axis=0)
    tau = np.diff(times, append=times[-1] + (step or (times[-1] - times[-2] if len(times) > 1 else 1.0)))
    # a velocity that has been zero so far grows from nothing: only compare where it has a size
    known = speeds > 1e-3 * np.max(speeds, axis=1, keepdims=True)
    with np.errstate(over="ignore", invalid="ignore"):
        steep = (np.abs(accelerations) * tau[:, None] > speeds) & known
    return np.isnan(accelerations).any(axis=1) | steep.any(axis=1)


def _lost_before(segment: Segment, times: Array, states: Array, row: int) -> bool:
    """Had a constraint gone as far as its own scale before this row?"""
    if not segment.equations.deviations or row == 0:
        return False
    measured = deviations(segment.equations)
    y = np.abs(measured.at(times[:row], states[:row]))
    scales = measured.scales(times[: max(1, row // 2)], states[: max(1, row // 2)])
    return bool(np.any((np.max(y, axis=0) > scales)[measured.reported]))


def _words_for(segment: Segment, time: float, state: Array) -> str:
    equations = segment.equations
    where = ", ".join(f"{q} = {state[equations.states.index(q)]:.4g}" for q in equations.accelerated[:6])
    told = (
        f"a singular point near t = {time:g} ({where}): the augmented matrix of the accelerations degenerates and they grow "
        "without bound"
    )
    report = examine(equations, state, time)
    if report.full and not report.singular:
        return told + "; other coordinates, which are regular there, avoid it"
    return told + "; " + "; ".join(report.messages)
