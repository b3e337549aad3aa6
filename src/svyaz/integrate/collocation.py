"""The arithmetic of a step of Radau IIA around Newton's iterations: its stages guessed, its end, the estimate of its error.

It serves one run and several at once (see `svyaz.integrate.kernels`). E. Hairer, G. Wanner, Solving Ordinary Differential
Equations II, 2nd ed. (1996), IV.8.
"""

from __future__ import annotations

import numpy as np

from svyaz.arrays import Array
from svyaz.integrate.calls import choose, fused
from svyaz.integrate.compiling import part
from svyaz.integrate.factors import substitute
from svyaz.integrate.newton import NODES, Memory, transform

_R6 = 6.0**0.5
EMBEDDED = np.array([(-13 - 7 * _R6) / 3, (-13 + 7 * _R6) / 3, -1 / 3])
# collocation polynomial through 0, z₁, z₂, z₃: Σᵢ zᵢ Σⱼ COLLOCATION[i, j] θ^(j+1)
COLLOCATION = np.array(
    [
        [(13 + 7 * _R6) / 3, (-23 - 22 * _R6) / 3, (10 + 15 * _R6) / 3],
        [(13 - 7 * _R6) / 3, (-23 + 22 * _R6) / 3, (10 - 15 * _R6) / 3],
        [1 / 3, -8 / 3, 10 / 3],
    ]
)


@part
def basis(theta: float) -> tuple[float, float, float]:
    """The polynomials by which the collocation polynomial at t₀ + θh consists of the stages."""
    a, b, c = COLLOCATION[0], COLLOCATION[1], COLLOCATION[2]
    return (
        theta * fused(theta, fused(theta, a[2], a[1]), a[0]),
        theta * fused(theta, fused(theta, b[2], b[1]), b[0]),
        theta * fused(theta, fused(theta, c[2], c[1]), c[0]),
    )


@part
def guess(h: float, last: float, m: Memory) -> None:
    """Stages of the step h from the collocation polynomial of the step before, or zero at the start."""
    for i in range(3):
        p, q, r = basis(1.0 + NODES[i] * h / last)
        for j in range(m.scale.size):
            value = fused(r, m.before[2, j], fused(q, m.before[1, j], p * m.before[0, j])) - m.before[2, j]
            m.z[i, j] = choose(last > 0.0, value, 0.0)
    transform(m)


@part
def begin_step(h: float, last: float, x: Array, m: Memory, atol: Array, rtol: float) -> None:
    """Units of the states at x and a guess of the stages."""
    for j in range(m.scale.size):
        m.scale[j] = fused(rtol, abs(x[j + 1]), atol[j])
    guess(h, last, m)


@part
def end_step(x: Array, y: Array, m: Memory) -> None:
    """The state at the end of the step."""
    for j in range(m.scale.size):
        y[j + 1] = x[j + 1] + m.z[2, j]


@part
def squares(h: float, slope: Array, x: Array, y: Array, m: Memory, atol: Array, rtol: float) -> float:
    """Sum of squares of (γ/h - J)⁻¹(slope + Σ eᵢzᵢ/h), which is left in m.right, n being what is allowed."""
    n = m.scale.size
    for j in range(n):
        combination = fused(EMBEDDED[2], m.z[2, j], fused(EMBEDDED[1], m.z[1, j], EMBEDDED[0] * m.z[0, j]))
        m.right[j] = slope[j] + combination / h
    substitute(m.real, m.real_pivots, m.right)
    total = 0.0
    for j in range(n):
        a, b = abs(x[j + 1]), abs(y[j + 1])
        ratio = m.right[j] / fused(rtol, choose(a > b, a, b), atol[j])
        total = fused(ratio, ratio, total)
    return total


@part
def filtered(x: Array, m: Memory, argument: Array) -> None:
    """[t, y…] with the estimate of the error added."""
    argument[0] = x[0]
    for j in range(m.scale.size):
        argument[j + 1] = x[j + 1] + m.right[j]
