"""The linear forces of a first approximation by their nature, and what gyroscopic ones hold up."""

from __future__ import annotations

import numpy as np

from svyaz.arrays import Array
from svyaz.matrices import eigvalsh
from svyaz.stability.linearisation import FirstApproximation
from svyaz.stability.spectrum import signs


def forces_of(approximation: FirstApproximation) -> dict[str, Array]:
    """Minus the linear forces on x and x' by their nature (Kelvin, Tait, Merkin), in the order of the independent coordinates.

    inertia ẍ + (gyroscopic + dissipative) ẋ + (potential + second_order + circulatory) x = 0; ``second_order`` is what the
    second derivatives of the constraints add, ``gyroscopic`` and ``circulatory`` are skew.
    """
    n = len(approximation.independent)
    by_speed = -approximation.inertia @ approximation.A[n : 2 * n, n : 2 * n]
    own = approximation.stiffness - approximation.second_order
    return {
        "potential": 0.5 * (own + own.T),
        "second_order": approximation.second_order,
        "gyroscopic": 0.5 * (by_speed - by_speed.T),
        "dissipative": 0.5 * (by_speed + by_speed.T),
        "circulatory": 0.5 * (own - own.T),
    }


def held_by_gyroscopic_forces(approximation: FirstApproximation) -> str:
    """Words where the forces without the gyroscopic ones would let the motion go, and no root does (Kelvin, Tait, Chetaev)."""
    if signs(approximation.A)[2] or approximation.further:
        return ""
    forces = forces_of(approximation)
    stiffness = forces["potential"] + 0.5 * (forces["second_order"] + forces["second_order"].T)
    sizes = np.sqrt(np.maximum(np.diag(approximation.inertia), 1e-300))
    curved = eigvalsh(stiffness / np.outer(sizes, sizes))
    count = int(np.sum(curved < -1e-9 * np.abs(curved).max(initial=0.0)))
    if not count:
        return ""
    return (
        f"gyroscopic forces hold up, to first order, {count} direction{'s' if count > 1 else ''} in which the potential has no "
        "minimum; friction in all directions would destroy this (Kelvin, Tait and Chetaev)"
    )
