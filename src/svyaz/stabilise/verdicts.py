"""Verdicts on gains before a run: is the perturbation equation stable, and is it still stable after discretisation?

A one-step method with stability function S turns ẏ = W y into y_{n+1} = S(τW) y_n + R_n, R_n the one-step remainder.
Necessary: every root λ of W lies in the left half plane (Hurwitz) and |S(τλ)| < 1. Sufficient for |y_k| ≤ ε_k at all
nodes: Σ_l |S(τW)_kl| ε_l + |R_k| ≤ ε_k (the box), or ‖S(τW)‖_P < 1 in an adapted norm P.

Source: Kaspirovich 2.1 and Mukharlyamov 5, in the corrected form: row sums instead of single entries, E + τW instead
of E - τW, ½ in the remainder. A box or a standard norm never certifies a second-order constraint under Euler's method,
because the row of h in E + τW is (1, τ); the reason is given instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.matrices import LARGE, eigvals, is_large, separate_blocks, spectral_norm

ROUNDING = 1e-12


@dataclass(frozen=True)
class Discretisation:
    """A one-step method with its step: S(z) = P(z)/Q(z), coefficients lowest power first; no step: error-controlled."""

    method: str
    order: int
    numerator: Array
    denominator: Array
    step: float | None

    def factor(self, z: complex | NDArray[np.complex128]) -> NDArray[np.complex128]:
        """S(z)."""
        polynomial = np.polynomial.polynomial.polyval
        return np.asarray(polynomial(z, self.numerator) / polynomial(z, self.denominator))

    def matrix(self, w: Array) -> Array:
        """S(τW), of one matrix or of many."""
        assert self.step is not None, "an error-controlled run has no fixed step"
        large = w.ndim == 2 and 2 * len(w) > LARGE and is_large(w)
        return by_blocks(w, self._matrix) if large else self._matrix(w)

    def _matrix(self, w: Array) -> Array:
        top, bottom = (_matrix_polynomial(c, (self.step or 0.0) * w) for c in (self.numerator, self.denominator))
        return np.asarray(np.linalg.solve(bottom, top) if len(self.denominator) > 1 else top, dtype=float)


@dataclass(frozen=True)
class Verdict:
    """The verdict in a word with the reasons; ``roots`` of W, ``radius`` = max |S(τλ)|, ``limit`` the largest κ.

    Gains are infeasible when they are stable by themselves and do not keep a tolerance, or lose a constraint all the same.
    """

    word: Literal["stable", "unstable", "infeasible"]
    reasons: tuple[str, ...]
    roots: tuple[complex, ...] = ()
    radius: float | None = None
    limit: float = inf

    @property
    def stable(self) -> bool:
        return self.word == "stable"


def _matrix_polynomial(coefficients: Array, w: Array) -> Array:
    value = np.zeros_like(w)
    for c in coefficients[::-1]:
        value = value @ w + c * np.eye(w.shape[-1])
    return value


def by_blocks(w: Array, function: Callable[[Array], Array]) -> Array:
    """A function of a matrix, of each block apart into which it falls."""
    found = np.zeros_like(w)
    for block, everywhere in separate_blocks(w):
        value = function(block)
        for places in everywhere:
            found[np.ix_(places, places)] = value
    return found


def judge(w: Array, scheme: Discretisation) -> Verdict:
    """Hurwitz, then |S(τλ)| < 1 for every root λ of W."""
    return _judge_roots(_roots(w), scheme)


def _judge_roots(roots: NDArray[np.complex128], scheme: Discretisation) -> Verdict:
    limit = largest_gain(scheme)
    size = max(1.0, float(np.max(np.abs(roots), initial=0.0)))
    weakest = float(np.max(roots.real, initial=-inf))
    if len(roots) and weakest >= -ROUNDING * size:
        told = _complex_text(roots[np.argmax(roots.real)])
        reason = f"not asymptotically stable: the perturbation equation has the root {told}, deviations do not die out"
        return Verdict("unstable", (reason,), tuple(roots), None, limit)
    if scheme.step is None:
        return Verdict(
            "stable", ("asymptotically stable; the error control keeps the steps stable",), tuple(roots), None, limit
        )
    factors = np.abs(scheme.factor(scheme.step * roots))
    radius = float(np.max(factors, initial=0.0))
    if radius >= 1.0 - ROUNDING:
        worst = roots[np.argmax(factors)]
        reason = (
            f"unstable with {scheme.method} and the step {scheme.step:g}: the root {_complex_text(worst)} is multiplied "
            f"by {radius:.6g} in a step"
        )
        if worst.imag == 0:
            reason += (
                f"; on the real axis {scheme.method} allows gains up to {limit:.6g} = {limit * scheme.step:.4g}/step"
            )
        return Verdict("unstable", (reason,), tuple(roots), radius, limit)
    reason = (
        f"asymptotically stable, and the largest factor in a step is {radius:.6g}; "
        "necessary, not sufficient: the run is watched"
    )
    return Verdict("stable", (reason,), tuple(roots), radius, limit)


def _roots(w: Array) -> NDArray[np.complex128]:
    if not is_large(w):
        return np.asarray(eigvals(w) if len(w) else np.zeros(0), dtype=np.complex128)
    return np.concatenate([np.tile(eigvals(block), len(where)) for block, where in separate_blocks(w)])


def judge_along(w: Array, times: Array, scheme: Discretisation) -> Verdict:
    """The verdict on linear parts (k, c, c) along a motion, each as if it were constant: that on the worst of them."""
    defined = np.isfinite(w).all(axis=(1, 2))
    if not defined.all():
        first = float(times[np.argmin(defined)])
        reason = f"the law has no finite linear part on the constraints at t = {first:g}, by which it could be judged"
        return Verdict("unstable", (reason,), (), None, largest_gain(scheme))
    roots = eigvals(w)
    worst = int(np.argmax(np.max(roots.real, axis=1)))
    found = _judge_roots(roots[worst], scheme)
    if found.stable and scheme.step is not None:
        worst = int(np.argmax(np.max(np.abs(scheme.factor(scheme.step * roots)), axis=1)))
        found = _judge_roots(roots[worst], scheme)
    if not found.stable:
        return replace(found, reasons=tuple(f"at t = {times[worst]:.6g}: {reason}" for reason in found.reasons))
    where = f"at {len(times)} states along the pilot, each with the linear part it has there: "
    return replace(found, reasons=tuple(where + reason for reason in found.reasons))


def largest_gain(scheme: Discretisation) -> float:
    """The largest κ with |S(-τκ')| < 1 for all 0 < κ' < κ: the interval of the real axis divided by the step."""
    if scheme.step is None:
        return inf
    return _first_crossing(scheme, 1.0, above=True) / scheme.step


def _first_crossing(scheme: Discretisation, level: float, *, above: bool, start: float = 0.0) -> float:
    """The first z > start at which |S(-z)| passes the level (upwards, or downwards); inf when it never does."""
    grid = np.concatenate([np.linspace(start, start + 64.0, 25_601)[1:], np.geomspace(start + 64.0, 1e8, 2000)[1:]])
    values = np.abs(scheme.factor(-grid.astype(complex)))
    beyond = values >= level if above else values <= level
    if not beyond.any():
        return inf
    k = int(np.argmax(beyond))
    low, high = (grid[k - 1] if k else start), grid[k]
    for _ in range(80):
        middle = 0.5 * (low + high)
        passed = abs(complex(scheme.factor(complex(-middle)))) >= level
        low, high = (low, middle) if passed == above else (middle, high)
    return float(0.5 * (low + high))


@dataclass(frozen=True)
class SafeRange:
    """κ between ``low`` and ``high`` keeps one constraint within the tolerance; empty when the remainder exceeds it."""

    low: float
    high: float
    centre: float
    feasible: bool
    advice: str


def safe_range(scheme: Discretisation, tolerance: float, remainder: float) -> SafeRange:
    """Gains for which |S(-τκ)| ε + R ≤ ε: then |y| ≤ ε at every node, for one first-order deviation.

    Euler: R/(ετ) ≤ κ ≤ (2 - R/ε)/τ, centre 1/τ. When R > ε there is none, and since R falls with τ^{p+1} the step
    should be multiplied by about (ε/R)^{1/(p+1)}.
    """
    assert scheme.step is not None, "an error-controlled run has no fixed step"
    share = remainder / tolerance
    if share > 1.0:
        factor = share ** (-1.0 / (scheme.order + 1))
        advice = (
            f"infeasible, reduce the step: the remainder {remainder:.4g} of one step exceeds the tolerance {tolerance:.4g}; "
            f"a step of about {scheme.step * factor:.3g} ({factor:.3g} times the present one) would do"
        )
        return SafeRange(inf, -inf, 1.0 / scheme.step, False, advice)
    low = _first_crossing(scheme, 1.0 - share, above=False)
    high = _first_crossing(scheme, 1.0 - share + ROUNDING, above=True, start=low if np.isfinite(low) else 0.0)
    if not np.isfinite(low):
        advice = f"infeasible with {scheme.method}: no gain damps enough in one step; reduce the step"
        return SafeRange(inf, -inf, 1.0 / scheme.step, False, advice)
    centre = _strongest_damping(scheme, low, high)
    return SafeRange(low / scheme.step, high / scheme.step, centre / scheme.step, True, "")


def _strongest_damping(scheme: Discretisation, low: float, high: float) -> float:
    """z in the interval with the least |S(-z)|."""
    grid = np.linspace(low, min(high, low + 64.0), 6401)
    return float(grid[int(np.argmin(np.abs(scheme.factor(-grid.astype(complex)))))])


@dataclass(frozen=True)
class Certificate:
    """A sufficient condition: ``holds`` or not, its ``value`` (should be ≤ 1), and the reason in words."""

    kind: str
    holds: bool
    value: float
    reason: str


def box_certificate(
    w: Array, scheme: Discretisation, tolerances: Sequence[float], remainders: Sequence[float]
) -> Certificate:
    """max_k (Σ_l |S(τW)_kl| ε_l + |R_k|)/ε_k ≤ 1: the deviations stay in the box |y_k| ≤ ε_k."""
    eps, rest = np.asarray(tolerances, dtype=float), np.abs(np.asarray(remainders, dtype=float))
    s = scheme.matrix(w)
    sums = (np.abs(s) @ eps + rest) / eps
    value = float(np.max(sums, initial=0.0))
    if value <= 1.0 + ROUNDING:
        return Certificate("box", True, value, "the deviations stay within their tolerances (row sums of S(τW))")
    if _has_position_rows(w) and scheme.method == "euler":
        reason = (
            "cannot exist: under Euler's method the row of a position deviation is (1, τ), whose sum exceeds 1 whatever "
            "the gains"
        )
    else:
        k = int(np.argmax(sums))
        reason = f"row {k + 1} of S(τW) has the weighted sum {value:.6g}, more than 1"
    return Certificate("box", False, value, reason)


def _has_position_rows(w: Array) -> bool:
    """A row (0 … 1 … 0): the derivative of a position deviation is a velocity deviation."""
    return any(np.count_nonzero(row) == 1 and np.max(row) == 1.0 for row in w)


def norm_certificate(w: Array, scheme: Discretisation) -> Certificate:
    """‖S(τW)‖_P < 1 with P from AᵀPA - P = -1, A = S(τW), solved for A scaled by its spectral radius."""
    from scipy.linalg import solve_discrete_lyapunov

    blocks = separate_blocks(w) if is_large(w) else []
    if len(blocks) and len(blocks[0][0]) < len(w):
        # the norm of what falls apart is the largest of its parts
        return max(
            (norm_certificate(block, scheme) for block, _ in blocks), key=lambda part: (not part.holds, part.value)
        )
    # deviations of positions and of velocities have different units: the norm is looked for in balanced ones
    a = _balance(scheme.matrix(w))
    radius = float(np.max(np.abs(eigvals(a)), initial=0.0)) if len(a) else 0.0
    if radius >= 1.0 - ROUNDING:
        return Certificate("norm", False, radius, f"cannot exist: the spectral radius {radius:.6g} is not below 1")
    # scaled so that the norm found is close to the spectral radius rather than to 1
    scaled = a / (0.5 * (1.0 + radius)) if len(a) else a
    p = solve_discrete_lyapunov(scaled.T, np.eye(len(a))) if len(a) else np.zeros((0, 0))
    lower = np.linalg.cholesky(p)
    value = spectral_norm(lower.T @ a @ np.linalg.inv(lower.T)) if len(a) else 0.0
    told = f"an adapted norm of S(τW) is {value:.6g}" + (
        ": without remainders deviations die out" if value < 1.0 else ""
    )
    return Certificate("norm", value < 1.0, value, told)


def _balance(a: Array, sweeps: int = 20) -> Array:
    """D⁻¹AD with rows and columns of equal length off the diagonal (E. Osborne, 1960); exactly, so that no units remain."""
    a = a.copy()
    for k in (k for _ in range(sweeps) for k in range(len(a))):
        others = np.arange(len(a)) != k
        row, column = np.linalg.norm(a[k, others]), np.linalg.norm(a[others, k])
        if row > 0.0 and column > 0.0:
            d = np.sqrt(column / row)
            a[k] *= d
            a[:, k] /= d
    return a


def _complex_text(value: complex) -> str:
    if value.imag == 0:
        return f"{value.real:.6g}"
    return f"{value.real:.6g} ± {abs(value.imag):.6g}i"
