"""First approximations at equilibria that are not proved to be simple: what their inexact position leaves of them.

A position known to δ gives the matrix of ẋ₂, ẋ₃ by x₁, x₃ only to

    |ΔS| ≤ Σ_k max |S(q ± δ_k e_k) - S(q)|,

and a singular value σ = uᵀ S v is known to |u|ᵀ |ΔS| |v|: below that it cannot be told from zero, and neither its root
nor a minimum of the energy may be claimed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import ModelError
from svyaz.stability.linearisation import FirstApproximation, formal_approximation

SURE = 4.0
"""A singular value must exceed its inexactness by this factor to count."""

ROUNDING = 1e-15
"""Of the largest entry."""


def rounded(approximation: FirstApproximation, inexact: Mapping[str, float]) -> FirstApproximation:
    """The approximation without the stiffness that a position known to ``inexact`` cannot tell from zero."""
    n, k = len(approximation.independent), len(approximation.further)
    size = np.concatenate([np.sqrt(np.abs(np.diag(approximation.inertia))), np.ones(k)])
    unit = size[:, None] / size
    static = _static(approximation.A, n) * unit
    doubt = SURE * _doubt(approximation, inexact) * unit
    left, values, right = np.linalg.svd(static)
    small = values <= np.einsum("ik,ij,kj->k", np.abs(left), doubt, np.abs(right))
    if not small.any():
        return approximation
    kept = static - (left[:, small] * values[small]) @ right[small]
    noise = ROUNDING * float(np.abs(static).max(initial=0.0))
    kept = np.where(np.abs(kept) <= np.where(np.abs(static) <= doubt, doubt, noise), 0.0, kept) / unit
    matrix = approximation.A.copy()
    matrix[n:, :n], matrix[n:, 2 * n :] = kept[:, :n], kept[:, n:]
    stiffness = -approximation.inertia @ kept[:n, :n]
    return replace(approximation, A=matrix, stiffness=stiffness)


def _static(matrix: Array, n: int) -> Array:
    """Rows of the accelerations and further rates, columns of the coordinates and further states."""
    return np.hstack([matrix[n:, :n], matrix[n:, 2 * n :]])


def _doubt(approximation: FirstApproximation, inexact: Mapping[str, float]) -> Array:
    """|ΔS| of the static matrix."""
    n = len(approximation.independent)
    here = _static(approximation.A, n)
    total = np.zeros_like(here)
    for name, reach in inexact.items():
        most = np.zeros_like(here)
        for way in (-reach, reach):
            most = np.fmax(most, np.abs(_static(_displaced(approximation, name, way), n) - here))
        total += most
    return np.asarray(total)


def _displaced(approximation: FirstApproximation, name: str, by: float) -> Array:
    """A by its formulas, beside the equilibrium; where they have no value there, the one of the equilibrium."""
    known = {**approximation.system.constants, **approximation.state, **approximation.inputs}
    moved = {name: known[name] + by}
    try:
        return formal_approximation(
            approximation.system,
            {**approximation.state, **moved},
            {**approximation.inputs, **moved},
            approximation.dependent,
            moved,
        ).A
    except ModelError:
        return approximation.A
