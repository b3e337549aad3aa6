"""Integrals along a path that was computed: w(t) = ∫ p(t, y) dt over its rows, without a say in how it was computed.

Between two rows the solution is followed once more, from the first of them, by steps of a Runge–Kutta method, and p is
summed over their stages: w₁ = w₀ + h Σ bᵢ p(t₀ + cᵢh, Yᵢ). So an error of the path at its rows does not enter the
integral, but shows where it is compared with what changed between them. All rows are stepped at once; intervals that hold
many steps of the path are divided as far as the integrals need it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.integrate.methods import method as find_method
from svyaz.integrate.tableau import Tableau

Along = Callable[[Array], Array]
"""From rows [t, y…] (k, n + 1) to numbers (k, …); not numbers where they are not determined."""

Places = NDArray[np.int64]

CHUNK = 4_000_000
"""So many numbers are worked on at a time."""

LEAST_ORDER = 5
FEW = 4
"""Steps between two rows that are followed by the same method; where there are more, the one of the highest order does."""

MOST_SHARES = 32
"""Parts of an interval for each step that it holds on the average, where steps were chosen and may be short in some."""

NEWTON = 8


def integrals_along(
    rates: Along,
    jacobian: Along | None,
    integrands: Along,
    times: Array,
    states: Array,
    *,
    method: str,
    step: float | None,
    steps: int,
    error: float,
) -> Array:
    """∫ p dt (k, e) from the first row of a path to each of its rows; times (k,), states (k, n), p (·, e).

    ``method`` and ``step`` are those of the path, ``steps`` how many it took. Intervals that are steps themselves are
    taken whole, others are divided until the integrals are known within ``error``, but not finer than the path itself.
    Where the solution cannot be followed the trapezoidal rule is taken.
    """
    gaps = np.diff(times)
    if not len(gaps):
        return np.zeros((len(times), integrands(_rows(times, states)).shape[1]))
    if step is not None:
        most = np.maximum(1, np.ceil(gaps / step * (1 - 1e-9))).astype(np.int64)
    else:
        most = np.full(len(gaps), 1 if steps == len(gaps) else MOST_SHARES * max(1, -(-steps // len(gaps))))
    own = find_method(method)
    if not own.implicit and own.order < LEAST_ORDER:
        own = find_method("dopri5")
    if not own.implicit and steps > FEW * len(gaps):
        own = find_method("dop853")
    error, every = error / len(gaps) ** 0.5, np.arange(len(gaps))
    with np.errstate(invalid="ignore", over="ignore"):
        following = _Following(rates, jacobian, integrands, own, times, states)
        if own.implicit:  # its equations are solved only where explicit steps do not do
            parts, off = replace(following, rule=find_method("dop853")).over(every, np.ones_like(most))
            stiff = np.flatnonzero(~(off <= error))
            if len(stiff):
                parts[stiff] = following.divided(stiff, most[stiff], error)
        else:
            parts = following.divided(every, most, error)
    return np.concatenate([np.zeros((1, parts.shape[1])), np.cumsum(parts, axis=0)])


@dataclass(frozen=True)
class _Following:
    """The solution from each row to the next, by steps of one method."""

    rates: Along
    jacobian: Along | None
    integrands: Along
    rule: Tableau
    times: Array
    states: Array

    def divided(self, which: Places, most: Places, error: float) -> Array:
        """∫ p dt (k, e) over some intervals, each divided until its error is small enough or it has ``most`` parts."""
        found, off = self.over(which, np.ones_like(most))
        coarse, shares = np.flatnonzero((most > 1) & ~(off <= error)), 1
        while len(coarse):
            shares *= 2
            counts = np.minimum(shares, most[coarse])
            finer, off = self.over(which[coarse], counts)
            if self.rule.implicit:
                off = np.abs(finer - found[coarse]).max(axis=1)
            found[coarse] = finer
            coarse = coarse[(counts < most[coarse]) & ~(off <= error)]
        return found

    def over(self, which: Places, counts: Places) -> tuple[Array, Array]:
        """∫ p dt (k, e) over some intervals, each in so many steps, and what is estimated of its error."""
        n, s = self.states.shape[1], self.rule.stages
        share = max(1, CHUNK // (n * (s + 1) + (n * n * s * s if self.rule.implicit else 0)))
        pieces = [self._piece(which[k : k + share], counts[k : k + share]) for k in range(0, len(which), share)]
        return np.concatenate([p for p, _ in pieces]), np.concatenate([e for _, e in pieces])

    def _piece(self, which: Places, counts: Places) -> tuple[Array, Array]:
        start, y = self.times[which], self.states[which]
        width = self.times[which + 1] - start
        h = width / counts
        y, total, off = self._step(start, y, h)
        for k in range(1, int(counts.max())):
            going = np.flatnonzero(counts > k)
            y[going], gained, more = self._step(start[going] + k * h[going], y[going], h[going])
            total[going] += gained
            off[going] += more
        lost = ~np.isfinite(total).all(axis=1)
        if lost.any():
            ends = (self.integrands(_rows(self.times[k], self.states[k])) for k in (which[lost], which[lost] + 1))
            total[lost] = 0.5 * sum(ends) * width[lost, None]
        return total, off

    def _step(self, t: Array, y: Array, h: Array) -> tuple[Array, Array, Array]:
        """One step from each row: where it leads, what is gained on it, and the error of that where it is estimated."""
        a, b, c, explicit = self.rule.a, self.rule.b, self.rule.c, not self.rule.implicit
        slopes = np.zeros((len(b), *y.shape)) if explicit else self._implicit(t, y, h)
        gains = []
        for i in range(len(b)):
            used = np.flatnonzero(a[i])
            inside = y + h[:, None] * np.tensordot(a[i, used], slopes[used], axes=1) if len(used) else y
            rows = _rows(t + c[i] * h, inside)
            if explicit:
                slopes[i] = self.rates(rows)
            gains.append(self.integrands(rows))
        ends = y + h[:, None] * np.tensordot(b, slopes, axes=1)
        stages = np.stack(gains)
        off = np.full(len(y), np.inf)
        if self.rule.errors:
            weights = self.rule.errors[0]
            off = weights[-1] * self.integrands(_rows(t + h, ends)) + np.tensordot(weights[:-1], stages, axes=1)
            off = np.abs(h[:, None] * off).max(axis=1)
        return ends, h[:, None] * np.tensordot(b, stages, axes=1), off

    def _implicit(self, t: Array, y: Array, h: Array) -> Array:
        """Slopes (s, k, n) of the stages of an implicit method, by Newton's method with ∂f/∂y at the first of them."""
        assert self.jacobian is not None, "an implicit method has the Jacobian of the rates"
        a, c = self.rule.a, self.rule.c
        s, (k, n) = len(c), y.shape
        slope = self.jacobian(_rows(t, y)).reshape(k, n, n)
        matrix = np.eye(s * n) - np.einsum("k,ij,kpq->kipjq", h, a, slope).reshape(k, s * n, s * n)
        matrix[~np.isfinite(matrix).all(axis=(1, 2))] = np.eye(s * n)
        inverse = np.linalg.inv(matrix)
        slopes = np.repeat(self.rates(_rows(t, y))[None], s, axis=0)
        for _ in range(NEWTON):
            inside = y + h[:, None] * np.tensordot(a, slopes, axes=1)
            off = np.stack([self.rates(_rows(t + c[i] * h, inside[i])) for i in range(s)]) - slopes
            change = np.einsum("kpq,kq->kp", inverse, off.transpose(1, 0, 2).reshape(k, s * n))
            slopes = slopes + change.reshape(k, s, n).transpose(1, 0, 2)
        return slopes


def _rows(times: Array, states: Array) -> Array:
    return np.column_stack([times, states])
