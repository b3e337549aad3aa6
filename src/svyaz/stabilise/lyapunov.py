"""A quadratic Lyapunov function of the deviations, looked for from the linear part of a law, and the region it proves.

With V = yᵀPy and J = ∂F/∂y, F(x, y) = ∫₀¹ J(x, sy) ds y. So where PJ + JᵀP is negative definite for all y of the ellipsoid
V ≤ c and all states x of a box, V falls there like e^{-2μt}: deviations that begin in the ellipsoid die out as long as the
states stay in the box. Intervals bound J over box and ellipsoid, so that this is proved, for the perturbation equation
itself (exact integration); what a step adds is judged by |S(τλ)| and watched. Constraints whose laws name each other's
deviations are taken together, others apart. Mukharlyamov, section 4.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import inf

import numpy as np
import symengine as se
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.expr import Expression, gradients, names_in, symbols_in
from svyaz.matrices import eigvals, eigvalsh
from svyaz.program import Program, build, ranges

WIDENED = 0.1
"""The box of the states reaches beyond those of the pilot by this part of its sides."""

PARTS = 4096
"""The box is divided into at most so many parts."""

FINEST = 64
"""A side of the box is divided into at most so many parts."""

LARGEST, SMALLEST = 1e12, 1e-18
"""Between these parts of the deviations seen the size of the ellipsoid is looked for."""

BISECTIONS = 12
SPREAD = 9
"""So many linear parts along the pilot are tried as the origin of P."""

FEW, MOST_TRIED = 25, 600
"""P is improved for about so many linear parts, by at most so many trials."""

SMALL = 6
"""Matrices up to this size need no library for Lyapunov's equation."""

SLACK = 1e-10
"""Rounding of the small matrices, as a part of their size: a margin below it proves nothing."""


@dataclass(frozen=True)
class Region:
    """V = yᵀPy ≤ ``level``: deviations that die out like e^{-``rate`` t} while states stay in the box ``where``.

    ``names`` are the entries of y, ``level`` is infinite where all deviations do, and zero where nothing is proved:
    ``reason`` tells why.
    """

    constraints: tuple[str, ...]
    names: tuple[str, ...]
    matrix: Array
    level: float
    rate: float
    where: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    reason: str = ""

    @property
    def proved(self) -> bool:
        return self.level > 0.0

    @property
    def told(self) -> str:
        """In words."""
        names = ", ".join(f"'{name}'" for name in self.constraints)
        if not self.proved:
            return f"no Lyapunov function was found for {names}: {self.reason}; stability is judged to first order only"
        which = "all deviations" if self.level == inf else f"deviations with V = yᵀPy ≤ {self.level:.4g}"
        sides = ", ".join(f"{low:.4g} ≤ {name} ≤ {high:.4g}" for name, (low, high) in self.where.items())
        while_there = f" as long as {sides}" if sides else ""
        return (
            f"proved for {names}: {which} die out at the rate {self.rate:.4g} at least{while_there} (exact integration)"
        )


@dataclass(frozen=True)
class PerturbedRates:
    """ẏ = F(x, y): ``rates`` of the entries ``y``, the constraint of each, and the values of constants."""

    y: tuple[se.Symbol, ...]
    rates: tuple[Expression, ...]
    constraints: tuple[str, ...]
    values: Mapping[str, float]


def regions(
    law: PerturbedRates, linear: Array, sizes: Array, states: Mapping[str, Array], apart: Collection[str] = ()
) -> tuple[Region, ...]:
    """What is proved, for each set of constraints that depend on each other.

    ``linear`` are the linear parts (k, c, c) along a pilot with these ``states`` (t among them), ``sizes`` (c,) those of
    deviations. Of rates that name deviations which are kept ``apart`` nothing is proved.
    """
    return tuple(_region(law, part, linear[:, part][:, :, part], sizes[part], states, apart) for part in _parts(law))


def _parts(law: PerturbedRates) -> list[list[int]]:
    """Entries of y by sets of constraints whose rates name each other's deviations."""
    groups = {name: {name} for name in law.constraints}
    owner = {str(s): name for s, name in zip(law.y, law.constraints, strict=True)}
    for name, rate in zip(law.constraints, law.rates, strict=True):
        for other in {owner[n] for n in names_in(rate) if n in owner}:
            if groups[other] is not groups[name]:
                joined = groups[name] | groups[other]
                for member in joined:
                    groups[member] = joined
    distinct = {id(g): g for g in groups.values()}.values()
    return [[k for k, name in enumerate(law.constraints) if name in g] for g in distinct]


def _region(
    law: PerturbedRates,
    part: Sequence[int],
    linear: Array,
    sizes: Array,
    states: Mapping[str, Array],
    apart: Collection[str],
) -> Region:
    y = [law.y[k] for k in part]
    rates = [law.rates[k] for k in part]
    names = tuple(str(s).removeprefix("deviation ") for s in y)
    constraints = tuple(dict.fromkeys(law.constraints[k] for k in part))
    known = set(law.values) | {str(s) for s in y}
    moving = sorted(set(map(str, symbols_in(rates))) - known)
    if any(name in apart for name in moving):
        reason = "the law names deviations of constraints, which have their own"
        return Region(constraints, names, np.zeros((len(y), len(y))), 0.0, 0.0, {}, reason)
    where = {name: _widen(states[name]) for name in moving}
    p = _common(linear, sizes)
    if p is None:
        reason = "no quadratic function falls for all the linear parts along the pilot"
        return Region(constraints, names, np.zeros((len(y), len(y))), 0.0, 0.0, where, reason)
    slopes = [*chain.from_iterable(gradients(rates, y))]
    depends = not symbols_in(slopes).isdisjoint(y)
    inputs = (*moving, *map(str, y))
    program = build([(str(k), e) for k, e in enumerate(slopes)], inputs=inputs, parameters=tuple(law.values))
    proof = _Proof(program, law.values, p, _boxes(list(where.values())), len(y))
    level, rate = proof.largest(float(sizes @ p @ sizes), unbounded=not depends)
    reason = "" if level > 0.0 else "the bounds on the law over the states of the pilot are too wide for a proof"
    return Region(constraints, names, p, level, rate, where, reason)


def _widen(values: Array) -> tuple[float, float]:
    low, high = float(np.min(values)), float(np.max(values))
    more = WIDENED * max(high - low, 1e-9 * max(abs(low), abs(high)))
    return low - more, high + more


def _boxes(sides: Sequence[tuple[float, float]]) -> tuple[Array, Array]:
    """The box cut into equal parts, (parts, sides)."""
    if not sides:
        return np.zeros((1, 0)), np.zeros((1, 0))
    each = max(1, min(FINEST, int(PARTS ** (1.0 / len(sides)))))
    edges = [np.linspace(low, high, each + 1) for low, high in sides]
    lows = np.meshgrid(*(e[:-1] for e in edges), indexing="ij")
    highs = np.meshgrid(*(e[1:] for e in edges), indexing="ij")
    return np.column_stack([m.ravel() for m in lows]), np.column_stack([m.ravel() for m in highs])


def _common(linear: Array, sizes: Array) -> Array | None:
    """P with PW + WᵀP < 0 for all linear parts: of those that belong to some of them, or to all together, the best."""
    scaled = linear * sizes[None, None, :] / sizes[None, :, None]
    if len(sizes) == 1:  # V = y² falls where all of them are negative
        return 1.0 / np.outer(sizes, sizes) if np.max(scaled) < 0.0 else None
    few = scaled[np.unique(np.linspace(0, len(scaled) - 1, SPREAD).astype(int))]
    origins = [np.mean(scaled, axis=0), *few]
    tried: list[Array] = []
    for w in origins:
        if np.isfinite(w).all() and _is_damped(eigvals(w)):
            p = _of_one(w)
            tried.append(0.5 * (p + p.T) / np.trace(p))
    if not tried:
        return None
    tried.append(np.mean(tried, axis=0))
    best = max(tried, key=lambda p: _least_rate(p, scaled))
    best = _improve(best, scaled)
    if _least_rate(best, scaled) <= 0.0:
        return None
    return np.asarray(best / np.outer(sizes, sizes), dtype=float)


def _of_one(w: Array) -> Array:
    """P with Wᵀ P + P W = -1; of a small W as a linear system for the entries of P."""
    one = np.eye(len(w))
    if len(w) > SMALL:
        from scipy.linalg import solve_continuous_lyapunov

        return np.asarray(solve_continuous_lyapunov(w.T, -one), dtype=float)
    entries = np.linalg.solve(np.kron(w.T, one) + np.kron(one, w.T), -one.ravel())
    return np.asarray(entries, dtype=float).reshape(w.shape)


def _is_damped(roots: NDArray[np.complex128]) -> bool:
    """Do they lie in the left half plane, and not about its border, where there is no function to be found?"""
    return bool(np.max(roots.real) < -SLACK * np.max(np.abs(roots)))


def _least_rate(p: Array, linear: Array) -> float:
    """The least μ of d/dt V ≤ -2μ V over the linear parts; -inf where P is not positive."""
    try:
        lower = np.linalg.cholesky(p)
    except np.linalg.LinAlgError:
        return -inf
    z = lower.T @ linear @ np.linalg.inv(lower.T)
    return float(-np.max(eigvalsh(0.5 * (z + z.transpose(0, 2, 1)))))


def _improve(p: Array, linear: Array, sweeps: int = 40) -> Array:
    """P moved along single entries of its factor while the least rate grows."""
    linear = linear[:: -(-len(linear) // FEW)]
    lower, best = np.linalg.cholesky(p), _least_rate(p, linear)
    entries = [(i, j) for i in range(len(p)) for j in range(i + 1)]
    width = 0.3
    for _ in range(min(sweeps, MOST_TRIED // (2 * len(entries)))):
        grown = False
        for i, j in entries:
            for sign in (1.0, -1.0):
                other = lower.copy()
                other[i, j] += sign * width * (lower[i, i] if i == j else max(lower[i, i], lower[j, j]))
                rate = _least_rate(other @ other.T, linear) if np.all(np.diag(other) > 0) else -inf
                if rate > best * (1 + 1e-6) if best > 0 else rate > best:
                    lower, best, grown = other, rate, True
        if not grown:
            width *= 0.5
            if width < 1e-3:
                break
    return np.asarray(lower @ lower.T, dtype=float)


@dataclass(frozen=True)
class _Proof:
    """J over parts of a box of states, and over ellipsoids yᵀPy ≤ level."""

    program: Program
    values: Mapping[str, float]
    p: Array
    boxes: tuple[Array, Array]
    count: int

    def largest(self, seen: float, *, unbounded: bool) -> tuple[float, float]:
        """The largest level that is proved, up to a few percent of its logarithm, and the rate there; zero for none."""
        if unbounded:
            rate = self.rate(0.0)
            return (inf, rate) if rate > 0.0 else (0.0, 0.0)
        low, high = np.log(SMALLEST * seen), np.log(LARGEST * seen)
        if self.rate(np.exp(low)) <= 0.0:
            return 0.0, 0.0
        if self.rate(np.exp(high)) > 0.0:
            return float(np.exp(high)), self.rate(np.exp(high))
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.rate(np.exp(middle)) > 0.0 else (low, middle)
        return float(np.exp(low)), self.rate(float(np.exp(low)))

    def rate(self, level: float) -> float:
        """The rate at which √V falls at least in the ellipsoid, by the bounds on J; not positive where none is proved."""
        reach = np.sqrt(level * np.diag(np.linalg.inv(self.p)))
        parts = len(self.boxes[0])
        low = np.column_stack([self.boxes[0], np.broadcast_to(-reach, (parts, self.count))])
        high = np.column_stack([self.boxes[1], np.broadcast_to(reach, (parts, self.count))])
        shape = (-1, self.count, self.count)
        below, above = np.reshape(ranges(self.program, self.values, low, high), (2, *shape))
        if self.count == 1:
            return float(-np.max(above))
        if not (np.isfinite(below).all() and np.isfinite(above).all()):
            return -inf
        lower = np.linalg.cholesky(self.p)
        left, right = lower.T, np.linalg.inv(lower.T)
        middle, radius = 0.5 * (below + above), 0.5 * (above - below)
        z, around = left @ middle @ right, np.abs(left) @ radius @ np.abs(right)
        z, around = 0.5 * (z + z.transpose(0, 2, 1)), 0.5 * (around + around.transpose(0, 2, 1))
        worst = np.max(eigvalsh(z), axis=1) + np.max(eigvalsh(around), axis=1)
        rounding = SLACK * np.max(np.abs(left) @ np.abs(middle) @ np.abs(right), axis=(1, 2)) * self.count
        return float(-np.max(worst + rounding))
