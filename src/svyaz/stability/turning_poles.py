"""Positions at which what turns has no inertia: poles of spherical and Euler's angles.

There speeds do not follow from momenta, Routh's function is infinite, and rounding (sin π = 1.2e-16) must not hide it: the
inertia is compared with that of positions nearby, where it has its common size.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from svyaz.arrays import Array
from svyaz.matrices import eigvalsh

VANISHING = 1e-12
"""The part of the inertia nearby that counts as none."""


def told_pole(cyclic: Sequence[str], here: Array, nearby: Array) -> str:
    """Words where the inertia ``here`` (m, m) of the cyclic coordinates vanishes, and not ``nearby`` (k, m, m); or none."""
    around = [m for m in nearby if np.isfinite(m).all()]
    if not around or not np.isfinite(here).all():
        return ""
    sizes = np.sqrt(np.max([np.abs(np.diag(m)) for m in around], axis=0))
    unit = np.outer(np.where(sizes > 0.0, sizes, 1.0), np.where(sizes > 0.0, sizes, 1.0))
    usual = max(float(eigvalsh(m / unit)[0]) for m in around)
    if float(eigvalsh(here / unit)[0]) > VANISHING * usual:
        return ""
    return (
        f"no verdict: the inertia of {', '.join(cyclic)} vanishes at this position, a pole of the coordinates, and speeds do "
        "not follow from momenta there"
    )
