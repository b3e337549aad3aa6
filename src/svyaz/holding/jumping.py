"""A run whose steps shrink without end: is it since its rates jump there, where no surface is known?

Rates jump at a state when they vary around it by as much within a small distance of it as within a hundred times that
distance: what is smooth, however stiff, varies a hundredth of it, and towards a pole it varies more.
"""

from __future__ import annotations

import numpy as np

from svyaz.arrays import Array
from svyaz.holding.segment import Segment
from svyaz.integrate import UNSOLVED, Path, Status, along

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
