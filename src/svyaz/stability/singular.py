"""Singular positions: where multipliers and inputs lose their hold on a coordinate, and no equilibrium is left."""

from __future__ import annotations

import numpy as np

from svyaz.arrays import Array
from svyaz.stability.rest import RestEquations

VANISHING = 1e-5
"""A singular value below this part of the largest counts as zero so close to an undecided position."""

UNBALANCED = 1e-3
"""A force counts as unbalanced when this part of the largest is left."""


def what_fails(rest: RestEquations, place: Array) -> str:
    """Which force nothing balances at q = ``place`` because E₁ of E₀(q) + E₁(q) y = 0 is singular there; or no words."""
    problem, coordinates = rest.problem, rest.system.coordinates
    free = np.zeros(problem.free)
    e0, slope = (x[0] for x in problem.value_and_slope(np.concatenate([place, free])[None, :]))
    e1 = slope[:, problem.bounded :]
    if not problem.free or not np.isfinite(e0).all() or not np.isfinite(e1).all():
        return ""
    sizes = np.linalg.norm(e1, axis=0)
    scaled = e1 / np.where(sizes > 0, sizes, 1.0)
    values = np.linalg.svd(scaled, compute_uv=False)
    if values[-1] > VANISHING * values[0]:
        return ""
    left = (e0 - scaled @ np.linalg.pinv(scaled, rcond=VANISHING) @ e0)[: len(coordinates)]
    forces = np.abs(e0[: len(coordinates)])
    stuck = [k for k in range(len(coordinates)) if abs(left[k]) > UNBALANCED * forces.max(initial=0.0)]
    if not stuck:
        return ""
    names = ", ".join(coordinates[k] for k in stuck)
    gone = [coordinates[k] for k in stuck if np.abs(scaled[k]).max() <= VANISHING * np.abs(scaled).max()]
    slopes = "".join(f", ∂F/∂{q} = 0 (B loses its rank)" for q in gone) if rest.system.constraints else ""
    pull = ", ".join(f"{abs(left[k]):.4g}" for k in stuck)
    return f"a singular position{slopes}: no input and no multiplier balances the force {pull} on {names}"
