"""How deviations are carried along by a method: y ← S(τW) y + R, with S dense, or sparse where it falls apart.

Without a law that changes along the motion S is the same in every step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from svyaz.arrays import Array
from svyaz.holding.perturbations import Perturbation
from svyaz.holding.verdicts import Discretisation
from svyaz.matrices import LARGE, is_large, separate_blocks

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Factors: TypeAlias = "Array | csr_array[Any]"
"""S(τW) along rows, (k, c, c), or one sparse matrix for all of them."""


def factors_along(law: Perturbation, scheme: Discretisation, times: Array, states: Array) -> Factors:
    """S(τW) along rows, (k, c, c); the same everywhere, and a view of it, where W is; sparse where that is large."""
    if law.varying:
        return scheme.matrix(law.along(times, states))
    found = scheme.matrix(law.matrix)
    if 2 * len(found) > LARGE and is_large(found):
        from scipy.sparse import csr_array

        return csr_array(found)
    return np.broadcast_to(found, (len(times), *law.matrix.shape))


def applied(s: Factors, y: Array) -> Array:
    """S y along rows."""
    if not isinstance(s, np.ndarray):
        return np.ascontiguousarray((s @ y.T).T)
    return y @ s[0].T if s.strides[0] == 0 else np.einsum("kij,kj->ki", s, y)


def recursion(s: Factors, y: Array, r: Array, times: Array, step: float, end: float) -> tuple[Array, Array]:
    """y ← S y + R(t), both constant between the samples: over m steps, y ← Sᵐ y + (1 + S + … + Sᵐ⁻¹) R."""
    powers: dict[tuple[int, int], tuple[Factors, Factors]] = {}
    same = not isinstance(s, np.ndarray) or s.strides[0] == 0
    rows = np.zeros_like(r)
    for k, following in enumerate([*times[1:], end]):
        rows[k] = y
        m = max(0, round((following - times[k]) / step))
        key = (m, 0 if same else k)
        if key not in powers:
            powers[key] = _power_and_sum(s[k] if isinstance(s, np.ndarray) else s, m)
        power, total = powers[key]
        y = power @ y + total @ r[k]
    return rows, y


def _power_and_sum(s: Factors, m: int) -> tuple[Factors, Factors]:
    """(Sᵐ, 1 + S + … + Sᵐ⁻¹) by doubling, also where 1 - S has no inverse; of an array, or of a sparse one."""
    power: Factors = np.eye(s.shape[0])
    if not isinstance(s, np.ndarray):
        from scipy.sparse import csr_array

        power = csr_array(power)
    total = 0.0 * s
    for bit in f"{m:b}" if m else "":
        total = total + power @ total
        power = power @ power
        if bit == "1":
            total = total + power
            power = power @ s
    return power, total


def rounding_walk(s: Array, scales: Array, steps: int) -> Array:
    """Standard deviations of y ← S y + ε, ε of the size of rounding: Σ Sᵏ diag(ε²) Sᵏᵀ, by doubling."""
    # in units of the largest scale, since a path that was lost may have any
    unit = float(np.max(scales, initial=0.0)) or 1.0
    found = np.zeros(len(s))
    for block, everywhere in separate_blocks(s) if is_large(s) else [(s, [np.arange(len(s))])]:
        places = np.array(everywhere)
        power, sizes = block, (np.finfo(float).eps * scales[places] / unit) ** 2
        covariance = sizes[:, :, None] * np.eye(len(block))
        for _ in range(max(1, steps).bit_length()):
            covariance = covariance + power @ covariance @ power.T
            power = power @ power
        found[places] = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    return unit * found
