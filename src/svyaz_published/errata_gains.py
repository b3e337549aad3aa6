"""Slips in the printed conditions on gains, steps and errors, each as (error as printed, error as corrected)."""

from __future__ import annotations

import numpy as np

from svyaz.arrays import Array
from svyaz_published.numbers import generator

Pair = tuple[float, float]

STEP = 0.01


def e11_characteristic_equation() -> Pair:
    """The decay rates of ẏ = K y are the roots of det(K - λ E) = 0; det(E - λ K) = 0 gives their reciprocals."""
    gains = np.diag([-2.0, -5.0])
    exact = np.exp(np.diag(gains) * 0.3)
    errors = [float(np.abs(np.exp(roots * 0.3) - exact).max()) for roots in (1 / np.diag(gains), np.diag(gains))]
    return errors[0], errors[1]


def _growth(matrix: Array, steps: int = 20) -> float:
    """By how much a unit box of deviations is exceeded after some steps."""
    return max(float(np.abs(np.linalg.matrix_power(matrix, steps)).sum(axis=1).max()) - 1.0, 0.0)


def e12_entries_or_row_sums() -> Pair:
    """I + τK = -0.9·(all ones) fits the printed range of every entry, and the deviation leaves the box; where the sums of the
    rows are at most one it cannot."""
    random = generator().uniform(-1, 1, (50, 2, 2))
    within = [m / max(1.0, np.abs(m).sum(axis=1).max()) for m in random]
    return _growth(-0.9 * np.ones((2, 2))), max(_growth(m) for m in within)


def e13_no_box_for_positions() -> Pair:
    """Euler on ÿ + αẏ + βy = 0: the first row of I + τW is (1, τ), so the box condition fails for every choice of gains,
    stable ones too. The error is the share of stable choices that the condition rejects."""
    rejected, stable = 0, 0
    for kappa in np.linspace(0.05, 1.9, 40) / STEP:
        matrix = np.eye(2) + STEP * np.array([[0, 1], [-(kappa**2), -2 * kappa]])
        if np.abs(np.linalg.eigvals(matrix)).max() < 1:
            stable += 1
            rejected += np.abs(matrix).sum(axis=1).max() > 1
    certified = 0
    for kappa in np.linspace(0.05, 1.9, 40) / STEP:
        matrix = np.eye(2) + STEP * np.array([[0, 1], [-(kappa**2), -2 * kappa]])
        certified += not _has_norm(matrix)
    return rejected / stable, certified / 40


def _has_norm(matrix: Array) -> bool:
    """Is there a quadratic norm in which the matrix contracts? AᵀPA - P = -I with P > 0 (discrete Lyapunov)."""
    n = len(matrix)
    p = np.linalg.solve(np.eye(n * n) - np.kron(matrix.T, matrix.T), np.eye(n).ravel()).reshape(n, n)
    return bool(np.linalg.eigvalsh((p + p.T) / 2).min() > 0)


def e14_sign_in_the_norm_condition() -> Pair:
    """‖E - τW‖ ≤ 1 would forbid every stable W: the radius of E - τW exceeds 1 where that of E + τW does not."""
    w = np.array([[0.0, 1.0], [-25.0, -10.0]])
    radii = [float(np.abs(np.linalg.eigvals(np.eye(2) + sign * STEP * w)).max()) for sign in (-1, 1)]
    return max(radii[0] - 1, 0.0), max(radii[1] - 1, 0.0)


def e15_node_of_the_two_stage_family() -> Pair:
    """Order of x + τ(k1 X + k2 X(x + ℓτX)) with k1 = 1/4: by how much it falls short of 2, with ℓ = 1/(2 k1) and 1/(2 k2)."""

    def error(node: float, steps: int) -> float:
        x, step = 1.0, 1.0 / steps
        for n in range(steps):
            t = n * step
            slope = -x * x + np.sin(t)
            y = x + node * step * slope
            x += step * (0.25 * slope + 0.75 * (-y * y + np.sin(t + node * step)))
        return x

    errors = []
    for node in (1 / (2 * 0.25), 1 / (2 * 0.75)):
        coarse, fine, finest = (error(node, n) for n in (400, 800, 1600))
        order = np.log2(abs(coarse - fine) / abs(fine - finest))
        errors.append(max(1.95 - float(order), 0.0))
    return errors[0], errors[1]


def e16_exponent_of_the_bound() -> Pair:
    """The bound of the error over an interval of no length is zero: (e^{L T} - 1)/L, not (e^{L T})^{-1}/L."""
    rate, length = 2.0, 1e-12
    return float(np.exp(-rate * length)) / rate, float(np.expm1(rate * length)) / rate


def e17_norm_in_the_bound() -> Pair:
    """ẋ = Jx, J all ones, Euler: an initial error 1e-3 grows beyond 1e-3·e^{LT} with L the largest entry, not with the
    largest row sum. The error is the excess over the bound at T = 2."""
    step, steps = 2.5e-4, 8000
    grown = 1e-3 * float(np.abs(np.linalg.matrix_power(np.eye(2) + step * np.ones((2, 2)), steps) @ [1, 1]).max())
    bounds = [1e-3 * float(np.exp(2 * rate)) for rate in (1.0, 2.0)]
    return max(grown - bounds[0], 0.0), max(grown - bounds[1], 0.0)


def e18_window_about_the_singular_point() -> Pair:
    """The singular point lies in the window (π/2 - δ, π/2 + δ), and not in (π/2 - δ, δ), which is empty. Error: 1 if not."""
    delta, at = 0.05, np.pi / 2
    return float(not at - delta < at < delta), float(not at - delta < at < at + delta)


def e22_sign_of_the_gain() -> Pair:
    """ḟ = k f: growth of a deviation in one second for k = 5, printed as "k > 0", and for k = -5."""
    return max(float(np.exp(5.0)) - 1, 0.0), max(float(np.exp(-5.0)) - 1, 0.0)


def e31_number_of_steps() -> Pair:
    """N steps of h cover the time T: N h - T for the printed N = 10 and for N = T/h."""
    step, time = 0.001, 10.0
    return abs(10 * step - time), abs(round(time / step) * step - time)
