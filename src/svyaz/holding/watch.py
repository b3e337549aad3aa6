"""Watching a run: constraints that were lost in spite of the verdict.

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

from svyaz.arrays import Array
from svyaz.dynamics import DEVIATIONS, dynamics_of, measure_of, typical_sizes, typical_speeds, with_floor
from svyaz.forms import Equations
from svyaz.holding.deviation import SAMPLED, deviations
from svyaz.holding.options import Options
from svyaz.holding.segment import Segment
from svyaz.integrate import Path
from svyaz.program import Tabulated, once_for_each

SAMPLES = 1000
"""Rows of the run at which the Jacobian is looked at."""

DISPLACEMENT = 1e-6
"""Part of the size of a state by which it is moved to find a derivative by central differences."""


@dataclass(frozen=True)
class ErrorBound:
    """The bound for the largest error of any state, each in its own unit, with L and ℶ, from an ``initial`` error Δ₀."""

    value: float
    growth: float
    defect: float
    initial: float = 0.0


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
    return ErrorBound(_grown(before, growth, defect, duration), growth, defect, before)


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

ASTRAY, ALONE = 1e-7, 1e3
"""A constraint that followed from others is astray when it is off by this part of its terms, and this much more than they."""

PROJECTED = 1e-12
"""What projection may leave of a constraint, as a part of its own scale."""


def lost_constraints(segment: Segment, path: Path, predicted: Mapping[str, float | None]) -> list[str]:
    """Notes on constraints that went astray, or farther than predicted."""
    if not segment.equations.deviations:
        return []
    measured = deviations(segment.equations)
    rows = np.isfinite(path.states).all(axis=1)
    times, states = path.times[rows], path.states[rows]
    half = max(1, len(times) // 2)
    y = np.abs(measured.at(times, states))[:, measured.reported]
    scales = measured.scales(times[:half], states[:half])[measured.reported]
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


def spare_astray(segment: Segment, path: Path) -> tuple[int, str] | None:
    """(row, words) where a constraint that followed from others ceases to do so: it is not met though they are."""
    equations = segment.equations
    if not equations.spare:
        return None
    finite = np.isfinite(path.states).all(axis=1)
    times, states = path.times[finite], path.states[finite]
    levels = _redundant_tables(equations)(np.column_stack([times, states]), DEVIATIONS)
    scales = _redundant_scales(equations, times, states, levels)
    relative = [np.abs(levels[name]) / np.where(scales[name] > 0.0, scales[name], np.inf) for name in DEVIATIONS[:2]]
    own = np.zeros(len(times))
    if equations.deviations:
        measured = deviations(equations)
        sizes = measured.scales(times, states)
        own = np.max(np.abs(measured.at(times, states)) / np.where(sizes > 0.0, sizes, 1.0), axis=1)
    off = np.maximum(*relative) > ASTRAY + ALONE * own[:, None]
    if not off.any():
        return None
    row = int(np.argmax(off.any(axis=1)))
    d = equations.spare[int(np.argmax(off[row]))]
    return row, (
        f"the constraint '{d.name}' followed from the others, but at t = {times[row]:.9g} it is not satisfied "
        "with them: they contradict each other from there on, or it restricts another motion"
    )


@once_for_each
def _redundant_tables(equations: Equations) -> Tabulated:
    """Both levels of the constraints that follow from others, with the sums of the magnitudes of their terms."""
    return dynamics_of(equations).tables_of([d.constraint for d in equations.spare])


def _redundant_scales(
    equations: Equations, times: Array, states: Array, levels: Mapping[str, Array]
) -> dict[str, Array]:
    """Own scales (m,) of both levels along a motion: the largest of their terms, not below what a few of its states give."""
    few = np.unique(np.linspace(0, len(times) - 1, SAMPLED).astype(int))
    jacobian = _redundant_tables(equations)(np.column_stack([times[few], states[few]]), ("jacobian",))["jacobian"]
    numbers = measure_of(equations).along(times[few], states[few])
    typical = {
        "position": typical_sizes(numbers.mass, numbers.q),
        "velocity": typical_speeds(numbers.mass, numbers.bias, numbers.q, numbers.v),
    }
    return {
        name: np.maximum(
            levels[f"{name}_terms"].max(axis=0),
            with_floor(levels[f"{name}_terms"][few], jacobian.reshape(len(few), len(equations.spare), -1), sizes).max(
                axis=0
            ),
        )
        for name, sizes in typical.items()
    }


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
