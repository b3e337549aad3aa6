"""How far remainders lead: deviations along a run, y ← S(τW) y + R, and the range of one gain κ that keeps a tolerance.

S is dense, or sparse where it falls apart; without a law that changes along the motion it is the same in every step. From
|R| ≤ r and y₀

    |y_n| ≤ Σ_j |S^j| r + |S^n y₀|,

and no less: some signs of R reach it. With one gain each constraint stands alone. For a velocity constraint S = s is a
number and the sum is r/(1 - |s|), s = S(-τκ). For a position constraint W + κ is nilpotent and, with N = [[κ, 1], [-κ², -κ]],

    S^j = s^j + j s^{j-1} τ S'(-τκ) N,

so that the sums over its row of h are known in closed form. A box that S and R leave invariant (Kaspirovich 2.1.8) bounds y as
well, so that gains with such a box lie in the range; and what the pilot predicts, which knows the signs, lies below.
The remainders depend on the gain, too (a large one costs a method its order): they are measured at some gains, and taken
between them from their logarithms. The sums have the unit of the constraint: the range depends on no units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.matrices import LARGE, is_large, separate_blocks
from svyaz.stabilise.perturbations import Perturbation
from svyaz.stabilise.verdicts import Discretisation

if TYPE_CHECKING:
    from scipy.sparse import csr_array

POINTS = 2001
"""Gains at which the bound is looked at before the ends of the range are located."""

TIMES = np.unique(np.concatenate([np.arange(64), np.geomspace(64, 1e9, 400).astype(int)])).astype(float)
"""Numbers of steps after which the effect of the start is looked at."""


@dataclass(frozen=True)
class Held:
    """A constraint with its tolerance, the largest ``remainder`` of one step at each of the ``gains``, and |y₀|.

    For a constraint on positions ``rate`` has the same of its rate: the remainders, and |ẏ₀|.
    """

    tolerance: float
    gains: Array
    remainder: Array
    start: float = 0.0
    rate: tuple[Array, float] | None = None

    def enlarged(self, factor: float) -> Held:
        """The same with larger remainders."""
        rate = None if self.rate is None else (factor * self.rate[0], self.rate[1])
        return replace(self, remainder=factor * self.remainder, rate=rate)


def gain_range(scheme: Discretisation, constraints: Sequence[Held], present: float | None) -> tuple[float, float]:
    """The gains that keep all tolerances, among those whose remainders are known; (inf, -inf) when there are none.

    Of several intervals the one with the ``present`` gain is told, else the widest in the logarithm.
    """
    gains = constraints[0].gains
    if not len(gains):
        return inf, -inf
    grid = np.unique(np.concatenate([np.geomspace(gains[0], gains[-1], POINTS), gains]))
    good = _keeps(scheme, grid, constraints)
    starts = np.flatnonzero(good & ~np.concatenate([[False], good[:-1]]))
    ends = np.flatnonzero(good & ~np.concatenate([good[1:], [False]]))
    if not len(starts):
        return inf, -inf
    parts = list(zip(starts, ends, strict=True))
    around = [(a, b) for a, b in parts if present is not None and grid[a] <= present <= grid[b]]
    a, b = (around or sorted(parts, key=lambda part: grid[part[0]] / grid[part[1]]))[0]
    low = _edge(scheme, constraints, grid[a], grid[a - 1]) if a > 0 else grid[a]
    high = _edge(scheme, constraints, grid[b], grid[b + 1]) if b + 1 < len(grid) else grid[b]
    return float(low), float(high)


def _edge(scheme: Discretisation, constraints: Sequence[Held], good: float, bad: float) -> float:
    """Where the bound passes the tolerance between a gain that keeps it and one that does not."""
    for _ in range(60):
        middle = 0.5 * (good + bad)
        if _keeps(scheme, np.array([middle]), constraints)[0]:
            good = middle
        else:
            bad = middle
    return good


def _keeps(scheme: Discretisation, kappa: Array, constraints: Sequence[Held]) -> NDArray[np.bool_]:
    kept = np.ones(len(kappa), dtype=np.bool_)
    for c in constraints:
        kept = kept & (farthest(scheme, kappa, c) <= c.tolerance)
    return kept


def farthest(scheme: Discretisation, kappa: Array, held: Held) -> Array:
    """The largest deviation that remainders of the known sizes can build up with these gains."""
    assert scheme.step is not None, "an error-controlled run has no fixed step"
    tau, z = scheme.step, scheme.step * kappa
    s, slope = _factors(scheme, z)
    size = np.abs(s)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rest = _between(kappa, held.gains, held.remainder)
        if held.rate is None:
            found = np.maximum(rest / (1.0 - size), held.start)
        else:
            c, start = z * slope, held.rate[1]
            found = _whole(s, c) * rest
            found = found + tau * np.abs(slope) / (1.0 - size) ** 2 * _between(kappa, held.gains, held.rate[0])
            if held.start or start:
                placed, moving = _largest(s, c, tau * slope)
                found = found + placed * held.start + moving * start
    return np.where(size < 1.0, found, inf)


def _between(kappa: Array, gains: Array, values: Array) -> Array:
    """Values between those at the gains, straight in the logarithms."""
    return np.exp(np.interp(np.log(kappa), np.log(gains), np.log(np.maximum(values, 1e-300))))


def _factors(scheme: Discretisation, z: Array) -> tuple[Array, Array]:
    """s = S(-z) and S'(-z), S = P/Q."""
    value, slope = np.polynomial.polynomial.polyval, np.polynomial.polynomial.polyder
    p, q = scheme.numerator, scheme.denominator
    above, below = value(-z, p), value(-z, q)
    return above / below, (value(-z, slope(p)) * below - above * value(-z, slope(q))) / below**2


def _whole(s: Array, c: Array) -> Array:
    """Σ_j |s^j + j c s^{j-1}|, j from 0: where s and c differ in sign the terms change it at j = |s/c|."""
    size, other = np.abs(s), np.abs(c)
    together = 1.0 / (1.0 - size) + other / (1.0 - size) ** 2
    turn = np.floor(np.where(other > 0.0, size / np.where(other > 0.0, other, 1.0), 0.0))
    a, b = _sums(size, turn)
    all_a, all_b = 1.0 / (1.0 - size), 1.0 / (1.0 - size) ** 2
    apart = 1.0 + (size * a - other * b) + other * (all_b - b) - size * (all_a - a)
    return np.where((s * c < 0.0) & (other > 0.0), apart, together)


def _sums(x: Array, n: Array) -> tuple[Array, Array]:
    """Σ x^{j-1} and Σ j x^{j-1}, j from 1 to n."""
    power = x**n
    return (1.0 - power) / (1.0 - x), (1.0 - (n + 1.0) * power + n * power * x) / (1.0 - x) ** 2


def _largest(s: Array, c: Array, d: Array) -> tuple[Array, Array]:
    """max over j of |s^j + j c s^{j-1}|, and of |j d s^{j-1}|."""
    j = TIMES[1:, None]
    powers = np.exp((j - 1.0) * np.log(np.maximum(np.abs(s), 1e-300)))
    placed, moving = np.max(powers * np.abs(s + j * c), axis=0), np.max(powers * j, axis=0) * np.abs(d)
    return np.maximum(placed, 1.0), moving


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
