"""Regulators u = -K x that minimise ∫ (xᵀQx + uᵀRu) dt, and observers by the dual problem.

    VA + AᵀV - V B R⁻¹ Bᵀ V + Q = 0,   K = R⁻¹ Bᵀ V                    (Krasovskii's problem, Riccati's equation)
    x̂' = A x̂ + B u + Λ (σ - C x̂),     Λ = K(Aᵀ, Cᵀ)ᵀ

The Riccati equation is solved by the Schur method in balanced variables; every solution carries its residual and an
estimate of the error of K. The establishment method of Repin and Tretyakov, C' = AᵀC + CA - CBR⁻¹BᵀC + Q from C(0) = 0
to its limit, is an independent route; it is integrated by a stiff solver and certified in the same way, because with a
step chosen by hand it can stop at a wrong but bounded answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_continuous_are, solve_continuous_lyapunov

from svyaz.arguments import check_arguments
from svyaz.arrays import Array
from svyaz.control.directions import Direction
from svyaz.expr import ModelError, Problem
from svyaz.matrices import balance, eigvals, eigvalsh, finite
from svyaz.stability import FirstApproximation

REFINEMENTS = 4
"""Newton's steps on a solution of the Riccati equation at most."""

ESTABLISHED = 1e-12
"""The relative residual at which the establishment method has settled; where rounding keeps it from it, a thousandfold."""

DOUBLINGS = 14

PLACED = 1e-3
"""Roots that were asked for may be missed by this part of their size."""


@dataclass(frozen=True)
class PairFacts:
    """What was found out of a plant on the way to a design: unknown where it was not asked for.

    Whether its pairs are controllable and observable, the roots that stay where they are, and the directions to which
    they belong, in coordinates.
    """

    controllable: bool | None = None
    observable: bool | None = None
    fixed_roots: tuple[complex, ...] = ()
    uncontrollable: tuple[Direction, ...] = ()
    unobservable: tuple[Direction, ...] = ()


class NotSolvable(Exception):
    """The design problem has no solution; the message says why, ``facts`` what was found out on the way.

    >>> import svyaz
    >>> try:
    ...     svyaz.lqr([[1.0]], [[0.0]])
    ... except svyaz.NotSolvable:
    ...     print("what grows cannot be moved")
    what grows cannot be moved
    """

    def __init__(self, message: str, facts: PairFacts | None = None) -> None:
        super().__init__(message)
        self.facts = facts or PairFacts()


class NoRegulator(NotSolvable):
    """There is none for this plant with these inputs, because a design problem has no solution."""

    def __init__(self, reason: NotSolvable, plant: FirstApproximation, inputs: Sequence[str]) -> None:
        super().__init__(str(reason), reason.facts)
        self.plant, self.inputs = plant, tuple(inputs)


@dataclass(frozen=True)
class Regulator:
    """u = -K x, with the solution V of the Riccati equation, its relative residual, and the roots of A - BK.

    ``gain_error`` is the largest error of an entry of K as the next step of Newton's method estimates it. Both are
    missing where K does not come from a Riccati equation.
    """

    gain: Array
    riccati: Array | None
    residual: float | None
    gain_error: float | None
    roots: NDArray[np.complex128]


Finder = Callable[[Array, Array, Array, Array], Regulator]
"""(A, B, Q, R) → regulator."""


@dataclass(frozen=True)
class Method:
    """How K and Λ are found; an observer is a regulator of the dual pair."""

    name: str
    regulator: Finder
    observer: Finder


@check_arguments
def lqr(a: ArrayLike, b: ArrayLike, q: ArrayLike | None = None, r: ArrayLike | None = None) -> Regulator:
    """The optimal regulator; unit weights unless given. Weights must be symmetric, Q ≥ 0 and R > 0.

    A (n, n), B (n, r), Q (n, n), R (r, r) give K (r, n) of u = -K x.

    >>> import svyaz
    >>> svyaz.lqr([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]]).gain.round(6).tolist()
    [[1.0, 1.732051]]
    """
    matrix, inputs, state_weight, input_weight = _problem(a, b, q, r)
    scale = balance(matrix)[1]
    balanced = matrix / scale[:, None] * scale[None, :]
    moved = inputs / scale[:, None]
    weight = state_weight * scale[:, None] * scale[None, :]
    try:
        solution = solve_continuous_are(balanced, moved, weight, input_weight)
    except ValueError as error:  # of LAPACK, or since numbers run out of range
        raise NotSolvable(f"no stabilising solution of the Riccati equation was found: {error}") from error
    solution = _refined(balanced, moved, weight, input_weight, np.asarray(0.5 * (solution + solution.T), dtype=float))
    v = solution / scale[:, None] / scale[None, :]
    return _certified(matrix, inputs, state_weight, input_weight, 0.5 * (v + v.T))


def _refined(a: Array, b: Array, q: Array, r: Array, v: Array) -> Array:
    """Newton's steps as long as the residual falls."""
    best, error = v, _residual(a, b, q, r, v)
    for _ in range(REFINEMENTS):
        better = _newton_step(a, b, q, r, best)
        if better is None:
            break
        now = _residual(a, b, q, r, better)
        if not now < error:
            break
        best, error = better, now
    return best


def _newton_step(a: Array, b: Array, q: Array, r: Array, v: Array) -> Array | None:
    """Kleinman: (A - BK)ᵀX + X(A - BK) + Q + KᵀRK = 0; None when A - BK is not stable."""
    gain = np.linalg.solve(r, b.T @ v)
    closed = a - b @ gain
    if np.max(eigvals(closed).real, initial=-np.inf) >= 0:
        return None
    side = q + gain.T @ r @ gain
    if not np.isfinite(side).all():
        return None
    found = solve_continuous_lyapunov(closed.T, -side)
    return np.asarray(0.5 * (found + found.T), dtype=float)


def establish(
    a: ArrayLike,
    b: ArrayLike,
    q: ArrayLike | None = None,
    r: ArrayLike | None = None,
    duration: float | None = None,
) -> Regulator:
    """The same regulator by the establishment method of Repin and Tretyakov.

    Unless a duration is given, it goes on, each time twice as long, until the Riccati equation holds.
    """
    from scipy.integrate import solve_ivp

    matrix, inputs, state_weight, input_weight = _problem(a, b, q, r)
    n = len(matrix)
    quadratic = inputs @ np.linalg.solve(input_weight, inputs.T)

    def rate(_: float, flat: Array) -> Array:
        c = flat.reshape(n, n)
        return np.asarray(matrix.T @ c + c @ matrix - c @ quadratic @ c + state_weight).ravel()

    flat, length, before = np.zeros(n * n), 10.0 if duration is None else duration, np.inf
    for _ in range(DOUBLINGS):
        run = solve_ivp(rate, (0.0, length), flat, method="LSODA", rtol=1e-11, atol=1e-13)
        if not run.success:
            raise NotSolvable(f"the establishment method stopped: {run.message}")
        flat, length = run.y[:, -1], 2 * length
        v = flat.reshape(n, n)
        found = _certified(matrix, inputs, state_weight, input_weight, 0.5 * (v + v.T))
        now = _residual(matrix, inputs, state_weight, input_weight, 0.5 * (v + v.T))
        if duration is not None or now <= ESTABLISHED or 0.5 * before < now <= 1e3 * ESTABLISHED:
            return found
        before = now
    raise NotSolvable(
        f"the establishment method has not settled after {length:g} units of time: "
        f"the relative residual of the Riccati equation is {now:.2g}"
    )


def placed(a: ArrayLike, b: ArrayLike, poles: Sequence[complex]) -> Regulator:
    """u = -K x with given roots of A - BK (Kautsky, Nichols, Van Dooren), one for each variable."""
    from scipy.signal import place_poles

    matrix, inputs, _, _ = _problem(a, b, None, None)
    wanted = np.asarray(poles, dtype=complex)
    if len(wanted) != len(matrix):
        raise ModelError([Problem(f"there are {len(matrix)} roots to be placed, and {len(wanted)} were given")])
    if not np.allclose(np.sort_complex(wanted), np.sort_complex(wanted.conj())):
        raise ModelError([Problem("complex roots are placed in pairs: each with its conjugate")])
    try:
        gain = np.asarray(place_poles(matrix, inputs, wanted).gain_matrix, dtype=float)
    except ValueError as error:
        reason = str(error).strip().rstrip(".")
        raise NotSolvable(f"these roots cannot be placed: {reason[0].lower()}{reason[1:]}") from error
    reached = eigvals(balance(matrix - inputs @ gain)[0])
    off = max(float(np.abs(reached - root).min() / max(abs(root), 1e-300)) for root in wanted)
    if not off <= PLACED:
        raise NotSolvable(f"these roots cannot be placed: rounding leaves them off by {off:.2g} of their size")
    return Regulator(gain, None, None, None, reached)


def placing(poles: Sequence[complex]) -> Method:
    """The method that gives the closed loop these roots; an observer is optimal."""
    return Method("placement", lambda a, b, q, r: placed(a, b, poles), lqr)


def observer(a: ArrayLike, c: ArrayLike, q: ArrayLike | None = None, r: ArrayLike | None = None) -> Regulator:
    """Λ of the observer as ``gain`` (n × number of measurements), by the dual problem (Aᵀ, Cᵀ)."""
    return dual_of(lqr, np.array(a, dtype=float), np.atleast_2d(np.array(c, dtype=float)), q, r)


def dual_of(
    find: Callable[..., Regulator], a: Array, c: Array, q: ArrayLike | None = None, r: ArrayLike | None = None
) -> Regulator:
    """An observer by any way to find a regulator."""
    dual = find(a.T, c.T, q, r)
    return Regulator(dual.gain.T, dual.riccati, dual.residual, dual.gain_error, dual.roots)


def transported(weight: ArrayLike, change: ArrayLike) -> Array:
    """The weight T⁻ᵀ Q T⁻¹ for new variables y = T x: the same cost, hence the same feedback, in other coordinates."""
    inverse = np.linalg.inv(np.array(change, dtype=float))
    return np.asarray(inverse.T @ np.array(weight, dtype=float) @ inverse)


def _problem(a: ArrayLike, b: ArrayLike, q: ArrayLike | None, r: ArrayLike | None) -> tuple[Array, Array, Array, Array]:
    matrix = finite(np.array(a, dtype=float), "roots")
    inputs = finite(np.array(b, dtype=float), "regulator")
    inputs = inputs[:, None] if inputs.ndim == 1 else inputs
    if (
        matrix.ndim != 2
        or matrix.shape[0] != matrix.shape[1]
        or inputs.shape[:1] != matrix.shape[:1]
        or inputs.ndim != 2
    ):
        message = f"'a' must be (n, n) and 'b' (n, r); they are {matrix.shape} and {inputs.shape}"
        raise ModelError([Problem(message)])
    state_weight = np.eye(len(matrix)) if q is None else np.array(q, dtype=float)
    input_weight = np.eye(inputs.shape[1]) if r is None else np.array(r, dtype=float)
    _check_weight("state", state_weight, len(matrix), strict=False)
    _check_weight("input", input_weight, inputs.shape[1], strict=True)
    return matrix, inputs, state_weight, input_weight


def _check_weight(what: str, weight: Array, size: int, *, strict: bool) -> None:
    if weight.shape != (size, size):
        shape = " × ".join(map(str, weight.shape))
        raise ModelError([Problem(f"the {what} weight must be {size} × {size}; it is {shape}")])
    if not np.allclose(weight, weight.T, rtol=1e-12, atol=0):
        raise NotSolvable(f"the {what} weight must be symmetric")
    least = float(eigvalsh(weight).min(initial=1.0))
    if least < -1e-14 * float(np.abs(weight).max(initial=0.0)) or (strict and least <= 0):
        kind = "definite" if strict else "semidefinite"
        raise NotSolvable(f"the {what} weight must be positive {kind}; it has the root {least:.4g}")


def _certified(a: Array, b: Array, q: Array, r: Array, v: Array) -> Regulator:
    gain = np.asarray(np.linalg.solve(r, b.T @ v))
    closed, _ = balance(a - b @ gain)
    next_one = _newton_step(a, b, q, r, v)
    error = float("inf") if next_one is None else float(np.abs(np.linalg.solve(r, b.T @ (next_one - v))).max())
    return Regulator(gain, v, _residual(a, b, q, r, v), error, eigvals(closed))


def _residual(a: Array, b: Array, q: Array, r: Array, v: Array) -> float:
    """The rest of the Riccati equation over the sizes of its terms."""
    gain = np.linalg.solve(r, b.T @ v)
    rest = v @ a + a.T @ v - v @ b @ gain + q
    size = float(2 * np.linalg.norm(v @ a) + np.linalg.norm(v @ b @ gain) + np.linalg.norm(q))
    return float(np.linalg.norm(rest)) / max(size, 1e-300)


METHODS = {"schur": Method("schur", lqr, lqr), "establishment": Method("establishment", establish, establish)}
"""The ways to solve the Riccati equation."""
