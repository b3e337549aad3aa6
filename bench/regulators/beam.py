"""The ball and beam under torque in plain Python: Shulgin's equations with u = u0 - K x, written out by hand.

    a11 r'' + a12 α'' = m R² r r'²/(r² + R²)² + m r α'² - m g sin α
    a12 r'' + a22 α'' = B (ν - b0 B α') - J0 B (B_α + B_θ B) α'² - 2 m r r' α' - m g (r cos α - R sin α),   θ' = B α'

(Ilyina 2019, 3.3.) Only the module ``math`` is used: for numbers one by one it is several times faster than NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import cos, sin

Rates = Callable[[float, Sequence[float]], list[float]]


def closed_loop(p: Mapping[str, float], gain: Sequence[float], r0: float, torque: float) -> Rates:
    """Rates of (r, α, θ, r', α') under ν = torque - K (r - r0, α, r', α')."""
    m, big_r, length, rod, d = p["m"], p["R"], p["L"], p["l"], p["d"]
    g, j, j0, b0 = p["g"], p["J"], p["J0"], p["b0"]
    k1, k2, k3, k4 = gain

    def rates(_: float, x: Sequence[float]) -> list[float]:
        r, a, t, rd, ad = x
        sa, ca, st, ct, sat, cat = sin(a), cos(a), sin(t), cos(t), sin(a - t), cos(a - t)
        over = d * sat + (length - d) * sa + rod * ca
        under = length * sat + (length - d) * st + rod * ct
        ratio = length / d
        b = ratio * over / under
        over_a, over_t = d * cat + (length - d) * ca - rod * sa, -d * cat
        under_a, under_t = length * cat, -length * cat + (length - d) * ct - rod * st
        b_a = ratio * (over_a * under - over * under_a) / under**2
        b_t = ratio * (over_t * under - over * under_t) / under**2
        nu = torque - k1 * (r - r0) - k2 * a - k3 * rd - k4 * ad
        s = r * r + big_r * big_r
        a11 = m + j / big_r**2 + m * big_r**2 / s
        a12 = -big_r * (m + j / big_r**2)
        a22 = m * s + j + j0 * b * b
        f1 = m * big_r**2 * r * rd * rd / s**2 + m * r * ad * ad - m * g * sa
        f2 = b * (nu - b0 * b * ad) - j0 * b * (b_a + b_t * b) * ad * ad
        f2 -= 2 * m * r * rd * ad + m * g * (r * ca - big_r * sa)
        det = a11 * a22 - a12 * a12
        return [rd, ad, b * ad, (a22 * f1 - a12 * f2) / det, (a11 * f2 - a12 * f1) / det]

    return rates
