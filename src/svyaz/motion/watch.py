"""Watching a run: constraints that were lost in spite of the verdict, singular points, and the power of stabilisation.

The linear verdict is necessary, not sufficient, so what really happened is compared with what was predicted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from svyaz.constraints.ranks import examine
from svyaz.motion.deviations import deviations
from svyaz.motion.integrate import Path
from svyaz.motion.options import Options
from svyaz.motion.segment import Segment, observed

Floats = NDArray[np.float64]

LOST = 0.02
"""A constraint is lost when its residual exceeds this part of its own scale."""

STEEP = 5.0
"""A singular point is near when one step changes a velocity by more than this many times its largest size so far."""

LOOK_BACK = 4000
"""So many rows before the end of a run are searched for the singular point that ended it."""


def lost_constraints(segment: Segment, path: Path, predicted: Mapping[str, float | None]) -> list[str]:
    """Notes on constraints that went astray, or farther than predicted."""
    if not segment.equations.deviations:
        return []
    measured = deviations(segment.equations)
    rows = np.isfinite(path.states).all(axis=1)
    times, states = path.times[rows], path.states[rows]
    y = np.abs(measured.at(times, states))[:, measured.reported]
    scales = measured.scales(times[: max(1, len(times) // 2)], states[: max(1, len(states) // 2)])[measured.reported]
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
    worst = int(np.argmax(largest))
    if largest[worst] <= options.tolerance:
        return ""
    name, value = measured.names[worst], largest[worst]
    return f"the residual of '{name}' reached {value:.3g}, more than the tolerance {options.tolerance:g}"


def singular_point(segment: Segment, path: Path, step: float | None) -> tuple[int, str] | None:
    """(row, words) of the singular point that ended a run: where accelerations outgrow all velocities.

    Looked for when a run diverged: the first of the last rows at which |a| τ exceeds STEEP times the largest velocity of
    that coordinate so far, with the augmented matrix worse conditioned than at the start.
    """
    equations = segment.equations
    if not equations.accelerated or path.status not in ("diverged", "stalled", "singular"):
        return None
    first = max(0, len(path.times) - LOOK_BACK)
    times, states = path.times[first:], path.states[first:]
    table = observed(segment, times, states)
    accelerations = np.column_stack([table[str(a)] for a in equations.accelerations])
    columns = [equations.states.index(str(v)) for v in equations.velocities]
    speeds = np.maximum.accumulate(np.abs(states[:, columns]), axis=0)
    tau = np.diff(times, append=times[-1] + (step or (times[-1] - times[-2] if len(times) > 1 else 1.0)))
    # a velocity that has been zero so far grows from nothing: only compare where it has a size
    change = np.abs(accelerations) * tau[:, None]
    known = speeds > 1e-3 * np.maximum(np.max(np.abs(states[:, columns]), axis=0), 1e-300)
    steep = (change > STEEP * speeds) & known
    bad = np.isnan(accelerations).any(axis=1) | steep.any(axis=1)
    if not bad.any() and path.status != "singular":
        return None
    row = int(np.argmax(bad)) if bad.any() else len(times) - 1
    where = ", ".join(f"{q} = {states[row, equations.states.index(q)]:.4g}" for q in equations.accelerated[:6])
    condition = _condition(segment, float(times[row]), states[row])
    words = (
        f"a singular point near t = {times[row]:g} ({where}): accelerations outgrow the velocities, the condition number of "
        f"the augmented matrix is {condition:.2g}"
    )
    return first + row, words


def _condition(segment: Segment, time: float, state: Floats) -> float:
    report = examine(segment.equations, dict(zip(segment.equations.states, map(float, state), strict=True)), time)
    return float(report.augmented_condition)


def stabilising_power(segment: Segment, times: Floats, states: Floats) -> Floats | None:
    """Σ (λ - λ₀)_k (G q̇)_k: the power of the forces that only stabilise, λ₀ the multipliers without gains."""
    names = segment.equations.multiplier_names
    if not names or not segment.perturbation.gains:
        return None
    without = segment.regained(replace(segment.perturbation, gains=dict.fromkeys(segment.perturbation.gains, 0.0)))
    held, free = observed(segment, times, states), observed(without, times, states)
    total = np.zeros(len(times))
    for name in names:
        total += (held[f"multiplier {name}"] - free[f"multiplier {name}"]) * held[f"through {name}"]
    return total
