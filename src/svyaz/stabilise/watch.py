"""What happened in a run, against what was predicted: constraints and integrals that were lost, and why a run ended.

The linear verdict is necessary, not sufficient, so residuals are compared with the prediction.

A bound on the trajectory error of Euler's method, for what it is worth:

    ‖x̃(t) - x_n‖ ≤ ‖Δ₀‖ e^{L t} + ℶ (e^{L t} - 1)/L,      ℶ = max (τ/2 ‖ẍ̃‖ + ‖S‖),

in the norm of the largest entry, with L the largest row sum of |∂X̃/∂x| along the run, X̃ the rates without gains and S
what the gains add to them. Kaspirovich (2.2.13) in the corrected form: the norm is the induced one (row sums, not single
entries), and 1 + τL ≤ e^{τL} is used for numbers, not for matrices. L and ℶ are taken along the computed motion. The
bound grows exponentially: it says something of short runs only.

Corrections lead the state down to the wanted values of integrals along their gradients. Where no state has these values,
they end at a state at which the gradients are dependent, and of one integral where its gradient vanishes: an extremum of it
on the level of the others.

Rates jump at a state when they vary around it by as much within a small distance of it as within a hundred times that
distance: what is smooth, however stiff, varies a hundredth of it, and towards a pole it varies more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import exp, inf

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.dynamics import DEVIATIONS, dynamics_of, measure_of, typical_sizes, typical_speeds, with_floor
from svyaz.expr import gradient
from svyaz.forms import Equations
from svyaz.integrate import UNSOLVED, Path, Status, along
from svyaz.matrices import singular_values
from svyaz.program import Tabulated, function, once_for_each
from svyaz.stabilise.degeneracy import COMPARED
from svyaz.stabilise.deviation import SAMPLED, deviations
from svyaz.stabilise.integrals import HeldIntegral
from svyaz.stabilise.options import Options
from svyaz.stabilise.request import MOST_LISTED
from svyaz.stabilise.segment import Segment

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


def find_lost_constraints(segment: Segment, path: Path, predicted: Mapping[str, float | None]) -> list[str]:
    """Notes on constraints that went astray, or farther than predicted."""
    if not segment.equations.deviations:
        return []
    measured = deviations(segment.equations)
    rows = np.isfinite(path.states).all(axis=1)
    times, states = path.times[rows], path.states[rows]
    half, y, terms = max(1, len(times) // 2), *measured.with_terms(times, states)
    y = np.abs(y)[:, measured.reported]
    foretold = any(bound is not None for bound in predicted.values())
    if not foretold and (y.max(axis=0) <= LOST * terms[:half, measured.reported].max(axis=0)).all():
        return []  # the own scales are no smaller than these
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


def find_redundant_drift(segment: Segment, path: Path) -> tuple[int, str] | None:
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
    allowed = options.limits(measured.names)
    worst = int(np.argmax(largest / allowed))
    if largest[worst] <= allowed[worst]:
        return ""
    name, value = measured.names[worst], largest[worst]
    return f"the residual of '{name}' reached {value:.3g}, more than the tolerance {allowed[worst]:g}"


def exceeds_projection(segment: Segment, path: Path) -> bool:
    """Did a residual stay above PROJECTED of the constraint's own scale after a projection?"""
    if not segment.equations.deviations:
        return False
    measured = deviations(segment.equations)
    largest = np.max(np.abs(measured.at(path.times, path.states)), axis=0)
    return bool(np.any(largest > PROJECTED * measured.scales(path.times, path.states)))


DEGENERATE = 0.01
"""Gradients whose least singular value is below this part of its largest along the run have become dependent."""

OFF = 1e-6
"""A deviation beyond this part of the size of an integral along the run has not been removed."""

GROWN = 3.0
"""… and a held integral when it is off by so many times what it was at first, too."""


def find_unreachable_values(segment: Segment, path: Path) -> tuple[int, str] | None:
    """(row, words) where a run of held integrals ended since their gradients became dependent away from their values."""
    if not segment.held or path.status not in (Status.STALLED, Status.SINGULAR, Status.DIVERGED):
        return None
    finite = np.flatnonzero(np.isfinite(path.states).all(axis=1))
    if not len(finite):
        return None
    last = int(finite[-1])
    rows = np.unique(np.linspace(0, last, COMPARED).astype(int))
    table = _along(segment, np.column_stack([path.times[rows], path.states[rows]]))
    slopes, values = table["slopes"], table["values"]
    if not (np.isfinite(slopes).all() and np.isfinite(values).all()):
        return None
    least = np.array([singular_values(matrix)[-1] for matrix in slopes])
    sizes = np.maximum(np.abs(values).max(axis=0), [abs(h.value) for h in segment.held])
    off = np.abs(values[-1] - [h.value for h in segment.held]) > OFF * sizes
    if least[-1] > DEGENERATE * least.max() or not off.any():
        return None
    return last, _describe(segment.held, values[-1], float(path.times[last]))


def find_lost_integrals(segment: Segment, path: Path) -> list[str]:
    """Notes on held integrals that went away from their values."""
    if not segment.held:
        return []
    finite = np.isfinite(path.states).all(axis=1)
    rows = np.column_stack([path.times[finite], path.states[finite]])
    values = _along(segment, rows)["values"] if len(rows) else np.zeros((0, len(segment.held)))
    notes = []
    for h, value in zip(segment.held, values.T, strict=True):
        if not len(value) or not np.isfinite(value).all():
            continue
        off = np.abs(value - h.value)
        worst = int(off.argmax())
        if off[worst] > max(LOST * max(abs(h.value), abs(value[0])), GROWN * off[0]):
            when = f"at t = {rows[worst, 0]:g} it is {value[worst]:.6g}"
            notes.append(f"the integral '{h.name}' was lost: held at {h.value:.6g}, {when}")
    return notes


def _along(segment: Segment, rows: Array) -> dict[str, Array]:
    """Gradients (k, g, n) of constraints and held integrals, values (k, i) of the integrals along rows [t, states…]."""
    equations = segment.equations
    states = [se.Symbol(name) for name in equations.states]
    kept = [e for d in equations.deviations for e in (d.position, d.velocity) if e is not None]
    integrals = [h.integral.expression for h in segment.held]
    slopes = [gradient(e, states) for e in [*kept, *integrals]]
    found = function({"slopes": slopes, "values": integrals}, ("t", *equations.states), segment.values)(rows)
    return {name: np.asarray(found[name]) for name in ("slopes", "values")}


def _describe(held: tuple[HeldIntegral, ...], values: Array, time: float) -> str:
    told = ", ".join(
        f"'{h.name}' = {float(value):.6g} (held at {h.value:.6g})" for h, value in zip(held, values, strict=True)
    )
    if len(held) == 1:
        return (
            f"the value at which the integral is held is out of reach: at t = {time:.9g} {told} and no correction "
            "brings it nearer"
        )
    return (
        "the values at which integrals are held are out of reach together from here: at t = "
        f"{time:.9g} {told}; their gradients are dependent there and no correction brings all of them nearer"
    )


NEAR, FAR = 1e-8, 1e-6
"""Distances at which the rates are looked at, as parts of the sizes of the states."""

ALIKE = 3.0
"""Variations that differ by no more than this factor are alike."""

NOTABLE = 0.1
"""A variation of rates that is this part of their size at least is a jump."""


def find_jump(segment: Segment, path: Path) -> tuple[int, str] | None:
    """(row, words) where a run that stalled did so since its rates jump."""
    if path.status is not Status.STALLED or path.reason.startswith(UNSOLVED) or not np.isfinite(path.states[-1]).all():
        return None
    sizes = np.abs(path.states).max(axis=0)
    sizes = np.where(sizes > 0.0, sizes, sizes.max(initial=0.0) or 1.0)
    last = np.concatenate([path.times[-1:], path.states[-1]])
    (near, _), (far, most) = (_variation(segment, last, radius * sizes) for radius in (NEAR, FAR))
    jumps = (near > NOTABLE * most) & (far <= ALIKE * near) & (near <= ALIKE * far)
    names = [name for name, jump in zip(segment.equations.states, jumps, strict=True) if jump]
    if not names:
        return None
    told = ", ".join(f"d({name})/dt" for name in names[:MOST_LISTED]) + (" …" if len(names) > MOST_LISTED else "")
    reason = (
        f"the rates {told} jump at t = {path.times[-1]:.9g}, and no step is short enough; a smooth law in place of the jump, "
        "v/sqrt(v^2 + small^2) for v/|v|, would be followed"
    )
    return len(path.times) - 1, reason


def _variation(segment: Segment, row: Array, radii: Array) -> tuple[Array, Array]:
    """The largest difference and the largest size of each rate among states so far from that of a row [t, y…], each moved
    up and down.
    """
    n = len(radii)
    rows = np.tile(row, (2 * n, 1))
    rows[np.arange(n), 1 + np.arange(n)] += radii
    rows[n + np.arange(n), 1 + np.arange(n)] -= radii
    rates = along(segment.rates, rows)
    rates = rates[np.isfinite(rates).all(axis=1)]
    if not len(rates):
        return np.zeros(n), np.zeros(n)
    return np.ptp(rates, axis=0), np.abs(rates).max(axis=0)
