"""Positions at which what turns has no inertia: poles of spherical and Euler's angles.

There speeds do not follow from momenta, Routh's function is infinite, and rounding (sin π = 1.2e-16) must not hide it: the
inertia is compared with that of positions nearby, where it has its common size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import evaluate, gradient, velocity
from svyaz.forms import momenta
from svyaz.matrices import eigvalsh
from svyaz.model import System

NEARBY = 1e-3
"""So far away, beside 1 and the coordinate, inertia is looked at; at a pole it falls with the square of the distance."""

VANISHING = 1e-12
"""The part of the inertia nearby that counts as none."""


def pole_of(system: System, cyclic: Sequence[str], known: Mapping[str, float], resting: Sequence[str]) -> str:
    """Words for a position at which the inertia of the cyclic coordinates vanishes, and not nearby; or none."""
    speeds = [velocity(q) for q in cyclic]
    entries = [gradient(p, speeds) for p in momenta(system, cyclic).values()]
    still = dict.fromkeys(map(str, speeds), 0.0)

    def inertia(moved: Mapping[str, float]) -> Array:
        values = {**known, **still, **moved}
        return np.array([[evaluate(e, values) for e in row] for row in entries], dtype=float)

    here = inertia({})
    steps = [(q, way * NEARBY * (1 + abs(known[q]))) for q in resting for way in (-1, 1)]
    around = [m for q, step in steps if np.isfinite(m := inertia({q: known[q] + step})).all()]
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
