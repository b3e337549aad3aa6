"""Regulators u = -K x that minimise ∫ (xᵀQx + uᵀRu) dt, and observers by the dual problem.

    VA + AᵀV - V B R⁻¹ Bᵀ V + Q = 0,   K = R⁻¹ Bᵀ V                    (Krasovskii's problem, Riccati's equation)
    x̂' = A x̂ + B u + Λ (σ - C x̂),     Λ = K(Aᵀ, Cᵀ)ᵀ

The Riccati equation is solved by the Schur method in balanced variables; every solution carries its residual. The
establishment method of Repin and Tretyakov, C' = AᵀC + CA - CBR⁻¹BᵀC + Q from C(0) = 0 to its limit, is an independent
route; it is integrated by a stiff solver and certified by the same residual, because with a step chosen by hand it can
stop at a wrong but bounded answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp
from scipy.linalg import matrix_balance, solve_continuous_are, solve_continuous_lyapunov
from scipy.signal import place_poles

Matrix = NDArray[np.float64]

REFINEMENTS = 4
"""Newton's steps on a solution of the Riccati equation at most."""


class NotSolvable(Exception):
    """The design problem has no solution; the message says why."""


@dataclass(frozen=True)
class Regulator:
    """u = -K x, with the solution V of the Riccati equation, its relative residual, and the roots of A - BK."""

    gain: Matrix
    riccati: Matrix
    residual: float
    roots: NDArray[np.complex128]


def lqr(a: ArrayLike, b: ArrayLike, q: ArrayLike | None = None, r: ArrayLike | None = None) -> Regulator:
    """The optimal regulator; unit weights unless given. Weights must be symmetric, Q ≥ 0 and R > 0."""
    matrix, inputs, state_weight, input_weight = _problem(a, b, q, r)
    scale = np.asarray(matrix_balance(matrix, permute=False, separate=True)[1][0])
    balanced = matrix / scale[:, None] * scale[None, :]
    moved = inputs / scale[:, None]
    weight = state_weight * scale[:, None] * scale[None, :]
    try:
        solution = solve_continuous_are(balanced, moved, weight, input_weight)
    except np.linalg.LinAlgError as error:
        raise NotSolvable(f"the Riccati equation has no stabilising solution: {error}") from error
    solution = _refined(balanced, moved, weight, input_weight, np.asarray(0.5 * (solution + solution.T), dtype=float))
    v = solution / scale[:, None] / scale[None, :]
    return _certified(matrix, inputs, state_weight, input_weight, 0.5 * (v + v.T))


def _refined(a: Matrix, b: Matrix, q: Matrix, r: Matrix, v: Matrix) -> Matrix:
    """Newton's steps (Kleinman): (A - BK)ᵀX + X(A - BK) + Q + KᵀRK = 0, as long as the residual falls."""
    best, error = v, _residual(a, b, q, r, v)
    for _ in range(REFINEMENTS):
        gain = np.linalg.solve(r, b.T @ best)
        closed = a - b @ gain
        if np.max(np.linalg.eigvals(closed).real, initial=-np.inf) >= 0:
            break
        found = solve_continuous_lyapunov(closed.T, -(q + gain.T @ r @ gain))
        better = np.asarray(0.5 * (found + found.T), dtype=float)
        now = _residual(a, b, q, r, better)
        if not now < error:
            break
        best, error = better, now
    return best


def establish(
    a: ArrayLike, b: ArrayLike, q: ArrayLike | None = None, r: ArrayLike | None = None, duration: float = 10.0
) -> Regulator:
    """The same regulator by the establishment method of Repin and Tretyakov over the given time."""
    matrix, inputs, state_weight, input_weight = _problem(a, b, q, r)
    n = len(matrix)
    quadratic = inputs @ np.linalg.solve(input_weight, inputs.T)

    def rate(_: float, flat: Matrix) -> Matrix:
        c = flat.reshape(n, n)
        return np.asarray(matrix.T @ c + c @ matrix - c @ quadratic @ c + state_weight).ravel()

    run = solve_ivp(rate, (0.0, duration), np.zeros(n * n), method="LSODA", rtol=1e-11, atol=1e-13)
    if not run.success:
        raise NotSolvable(f"the establishment method stopped: {run.message}")
    v = run.y[:, -1].reshape(n, n)
    return _certified(matrix, inputs, state_weight, input_weight, 0.5 * (v + v.T))


def placed(a: ArrayLike, b: ArrayLike, poles: ArrayLike) -> Regulator:
    """u = -K x with given roots of A - BK (Kautsky, Nichols, Van Dooren)."""
    matrix, inputs, _, _ = _problem(a, b, None, None)
    try:
        gain = np.asarray(place_poles(matrix, inputs, np.asarray(poles)).gain_matrix, dtype=float)
    except ValueError as error:
        raise NotSolvable(f"these roots cannot be placed: {error}") from error
    return Regulator(gain, np.zeros_like(matrix), 0.0, np.asarray(np.linalg.eigvals(matrix - inputs @ gain)))


def observer(a: ArrayLike, c: ArrayLike, q: ArrayLike | None = None, r: ArrayLike | None = None) -> Regulator:
    """Λ of the observer as ``gain`` (n × number of measurements), by the dual problem (Aᵀ, Cᵀ)."""
    dual = lqr(np.array(a, dtype=float).T, np.atleast_2d(np.array(c, dtype=float)).T, q, r)
    return Regulator(dual.gain.T, dual.riccati, dual.residual, dual.roots)


def transported(weight: ArrayLike, change: ArrayLike) -> Matrix:
    """The weight T⁻ᵀ Q T⁻¹ for new variables y = T x: the same cost, hence the same feedback, in other coordinates."""
    inverse = np.linalg.inv(np.array(change, dtype=float))
    return np.asarray(inverse.T @ np.array(weight, dtype=float) @ inverse)


def _problem(
    a: ArrayLike, b: ArrayLike, q: ArrayLike | None, r: ArrayLike | None
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    matrix = np.array(a, dtype=float)
    inputs = np.array(b, dtype=float)
    inputs = inputs[:, None] if inputs.ndim == 1 else inputs
    state_weight = np.eye(len(matrix)) if q is None else np.array(q, dtype=float)
    input_weight = np.eye(inputs.shape[1]) if r is None else np.array(r, dtype=float)
    _check_weight("state", state_weight, len(matrix), strict=False)
    _check_weight("input", input_weight, inputs.shape[1], strict=True)
    return matrix, inputs, state_weight, input_weight


def _check_weight(what: str, weight: Matrix, size: int, *, strict: bool) -> None:
    if weight.shape != (size, size):
        raise NotSolvable(f"the {what} weight must be {size} × {size}; it is {' × '.join(map(str, weight.shape))}")
    if not np.allclose(weight, weight.T, rtol=1e-12, atol=0):
        raise NotSolvable(f"the {what} weight must be symmetric")
    least = float(np.linalg.eigvalsh(weight).min(initial=1.0))
    if least < 0 or (strict and least <= 0):
        kind = "definite" if strict else "semidefinite"
        raise NotSolvable(f"the {what} weight must be positive {kind}; it has the root {least:.4g}")


def _certified(a: Matrix, b: Matrix, q: Matrix, r: Matrix, v: Matrix) -> Regulator:
    gain = np.asarray(np.linalg.solve(r, b.T @ v))
    closed = np.asarray(matrix_balance(a - b @ gain, permute=False)[0])
    return Regulator(gain, v, _residual(a, b, q, r, v), np.asarray(np.linalg.eigvals(closed)))


def _residual(a: Matrix, b: Matrix, q: Matrix, r: Matrix, v: Matrix) -> float:
    """The rest of the Riccati equation over the sizes of its terms."""
    gain = np.linalg.solve(r, b.T @ v)
    rest = v @ a + a.T @ v - v @ b @ gain + q
    size = float(2 * np.linalg.norm(v @ a) + np.linalg.norm(v @ b @ gain) + np.linalg.norm(q))
    return float(np.linalg.norm(rest)) / max(size, 1e-300)
