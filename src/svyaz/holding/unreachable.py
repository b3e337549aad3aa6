"""Why a run ended, or left what it was to hold: integrals out of reach, or lost, and rates that jump.

Corrections lead the state down to the wanted values along the gradients of the integrals. Where no state has these values,
they end at a state at which the gradients are dependent, and of one integral where its gradient vanishes: an extremum of it
on the level of the others.

Rates jump at a state when they vary around it by as much within a small distance of it as within a hundred times that
distance: what is smooth, however stiff, varies a hundredth of it, and towards a pole it varies more.
"""

from __future__ import annotations

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import gradient
from svyaz.holding.integrals import HeldIntegral
from svyaz.holding.segment import Segment
from svyaz.integrate import UNSOLVED, Path, Status, along
from svyaz.matrices import singular_values
from svyaz.program import function

COLLAPSED = 0.01
"""Gradients whose least singular value is below this part of its largest along the run have become dependent."""

OFF = 1e-6
"""A deviation beyond this part of the size of an integral along the run has not been removed."""

LOST, GROWN = 0.02, 3.0
"""A held integral is lost when it is off by this part of its size at least, and by so many times what it was at first."""

LOOKED_AT = 200
"""So many rows of the run, its last among them, are looked at."""


def values_out_of_reach(segment: Segment, path: Path) -> tuple[int, str] | None:
    """(row, words) where a run of held integrals ended since their gradients became dependent away from their values."""
    if not segment.held or path.status not in (Status.STALLED, Status.SINGULAR, Status.DIVERGED):
        return None
    finite = np.flatnonzero(np.isfinite(path.states).all(axis=1))
    if not len(finite):
        return None
    last = int(finite[-1])
    rows = np.unique(np.linspace(0, last, LOOKED_AT).astype(int))
    table = _along(segment, np.column_stack([path.times[rows], path.states[rows]]))
    slopes, values = table["slopes"], table["values"]
    if not (np.isfinite(slopes).all() and np.isfinite(values).all()):
        return None
    least = np.array([singular_values(matrix)[-1] for matrix in slopes])
    sizes = np.maximum(np.abs(values).max(axis=0), [abs(h.value) for h in segment.held])
    off = np.abs(values[-1] - [h.value for h in segment.held]) > OFF * sizes
    if least[-1] > COLLAPSED * least.max() or not off.any():
        return None
    return last, _words(segment.held, values[-1], float(path.times[last]))


def lost_integrals(segment: Segment, path: Path) -> list[str]:
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


def _words(held: tuple[HeldIntegral, ...], values: Array, time: float) -> str:
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

MOST_NAMED = 3


def stalled_at_jump(segment: Segment, path: Path) -> tuple[int, str] | None:
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
    told = ", ".join(f"d({name})/dt" for name in names[:MOST_NAMED]) + (" …" if len(names) > MOST_NAMED else "")
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
