"""M and bias of d/dt ∂L/∂q̇ - ∂L/∂q + ∂D/∂q̇ - Q = M q̈ + bias, by Christoffel symbols of the first kind.

For L = ½ q̇ᵀ M q̇ + aᵀ q̇ + L₀ with M, a, L₀ functions of q and t

    bias_i = Σ_jk (∂M_ij/∂q_k - ½ ∂M_jk/∂q_i) q̇_j q̇_k + Σ_j (∂a_i/∂q_j - ∂a_j/∂q_i + ∂M_ij/∂t) q̇_j
             + ∂a_i/∂t - ∂L₀/∂q_i + ∂D/∂q̇_i - Q_i,

so that nothing is ever solved for or substituted. A Lagrangian that is not quadratic in the velocities is taken as it
is: M = ∂²L/∂q̇∂q̇, bias = ∂²L/∂q̇∂q q̇ + ∂²L/∂q̇∂t - ∂L/∂q + ∂D/∂q̇ - Q.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache

import symengine as se

from svyaz.expr import (
    HALF,
    TIME,
    ZERO,
    Expression,
    add_up,
    combine,
    differentiate,
    gradient,
    quadratic,
    symbols_in,
    uncollected,
    velocities_of,
)

Vector = list[Expression]
Square = list[Vector]


def plain_terms_of(
    lagrangian: Expression, coordinates: Sequence[str], others: Sequence[Expression]
) -> tuple[Square, Vector]:
    """The same as ``terms_of`` by plain differentiation, nothing multiplied out: shorter for a nested Lagrangian."""
    v = velocities_of(coordinates)
    q = [se.Symbol(name) for name in coordinates]
    momenta = gradient(lagrangian, v)
    return [gradient(p, v) for p in momenta], _general_bias(lagrangian, momenta, q, v, others)


@uncollected
def terms_of(lagrangian: Expression, coordinates: Sequence[str], others: Sequence[Expression]) -> tuple[Square, Vector]:
    """(M, bias) with d/dt ∂L/∂q̇ - ∂L/∂q + others = M q̈ + bias, L a function of these coordinates, their velocities, t.

    The last ones are kept: a model whose values are moved has the same Lagrangian.
    """
    mass, bias = _terms_of(lagrangian, tuple(coordinates), tuple(others))
    return [list(row) for row in mass], list(bias)


@lru_cache(maxsize=8)
def _terms_of(
    lagrangian: Expression, coordinates: tuple[str, ...], others: tuple[Expression, ...]
) -> tuple[Square, Vector]:
    q = [se.Symbol(name) for name in coordinates]
    v = velocities_of(coordinates)
    coefficients = quadratic(lagrangian, v)
    if coefficients is None:
        return _general_terms(lagrangian, q, v, others)
    n = len(q)
    mass = [[coefficients.get((min(i, j), max(i, j)), ZERO) for j in range(n)] for i in range(n)]
    linear = [coefficients.get((i,), ZERO) for i in range(n)]
    return mass, quadratic_bias(coefficients.get((), ZERO), linear, mass, q, v, others)


def _general_terms(
    lagrangian: Expression, q: Sequence[se.Symbol], v: Sequence[se.Symbol], others: Sequence[Expression]
) -> tuple[Square, Vector]:
    """M = ∂²L/∂q̇∂q̇ and the bias for any dependence on the velocities."""
    momenta = gradient(lagrangian, v)
    mass = [[combine(entry) for entry in gradient(p, v)] for p in momenta]
    return mass, _general_bias(lagrangian, momenta, q, v, others)


def _general_bias(
    lagrangian: Expression,
    momenta: Sequence[Expression],
    q: Sequence[se.Symbol],
    v: Sequence[se.Symbol],
    others: Sequence[Expression],
) -> Vector:
    """∂²L/∂q̇∂q q̇ + ∂²L/∂q̇∂t - ∂L/∂q + others."""
    return [
        add_up(differentiate(p, q_j) * v_j for q_j, v_j in zip(q, v, strict=True))
        + differentiate(p, TIME)
        - differentiate(lagrangian, q_i)
        + other
        for p, q_i, other in zip(momenta, q, others, strict=True)
    ]


def quadratic_bias(
    still: Expression,
    linear: Sequence[Expression],
    mass: Square,
    q: Sequence[se.Symbol],
    v: Sequence[se.Symbol],
    others: Sequence[Expression],
) -> Vector:
    """The bias for L = ½ q̇ᵀ M q̇ + linearᵀ q̇ + still."""
    pull = gradient(still, q)
    inertial = _inertial_coefficients(mass, q)
    gyroscopic = _gyroscopic_coefficients(linear, mass, q)
    rows = [
        [
            *(se.Mul(c, v[j], v[k]) for (j, k), c in inertial[i].items()),
            *(c * v[j] for j, c in gyroscopic[i].items()),
        ]
        for i in range(len(q))
    ]
    return [
        add_up([*terms, differentiate(a, TIME), -combine(force), other])
        for terms, a, force, other in zip(rows, linear, pull, others, strict=True)
    ]


def _inertial_coefficients(mass: Square, q: Sequence[se.Symbol]) -> list[dict[tuple[int, int], Expression]]:
    """Coefficients of q̇_j q̇_k, j ≤ k, in each equation: Christoffel symbols of the first kind, j < k doubled.

    In the i-th: ∂M_ij/∂q_k + ∂M_ik/∂q_j - ∂M_jk/∂q_i for j < k, and ∂M_ij/∂q_j - ½ ∂M_jj/∂q_i for j = k.
    """
    slopes = _Slopes(q)
    total: list[dict[tuple[int, int], list[Expression]]] = [defaultdict(list) for _ in q]
    for j, row in enumerate(mass):
        for k, entry in enumerate(row):
            if k < j or entry is ZERO:
                continue
            for i, slope in slopes.of(entry).items():
                if j < k and i in (j, k):  # of the three terms two are opposite
                    total[j + k - i][i, i].append(slope)
                    continue
                total[j][min(k, i), max(k, i)].append(slope)
                if j < k:
                    total[k][min(j, i), max(j, i)].append(slope)
                total[i][j, k].append(-slope if j < k else -HALF * slope)
    sums = [{key: _short_sum(terms) for key, terms in sorted(row.items())} for row in total]
    return [{key: value for key, value in row.items() if value != ZERO} for row in sums]


def _short_sum(terms: Sequence[Expression]) -> Expression:
    return combine(add_up(terms)) if len(terms) > 1 else terms[0]


class _Slopes:
    """Slopes of expressions along coordinates; sums without coordinates, such as masses carried, are looked into once."""

    def __init__(self, coordinates: Sequence[se.Symbol]) -> None:
        self._coordinates = coordinates
        self._places = {q: k for k, q in enumerate(coordinates)}
        self._still: set[Expression] = set()

    def of(self, entry: Expression) -> dict[int, Expression]:
        """{k: ∂ entry/∂q_k} for the coordinates q_k, by their places, that occur in the entry."""
        still, moving, found = list[Expression](), list[Expression](), set[int]()
        for factor in entry.args if entry.is_Mul else (entry,):
            occurring = self._occurring(factor)
            found.update(occurring)
            (moving if occurring else still).append(factor)
        if len(moving) > 1:
            moving, still = [entry], []
        places = sorted(found)
        slopes = gradient(moving[0], [self._coordinates[k] for k in places]) if moving else []
        return {k: se.Mul(*still, slope) for k, slope in zip(places, slopes, strict=True)}

    def _occurring(self, factor: Expression) -> list[int]:
        if factor.is_Number or factor in self._still:
            return []
        found = [self._places[s] for s in factor.free_symbols if s in self._places]
        if not found:
            self._still.add(factor)
        return found


def _gyroscopic_coefficients(
    linear: Sequence[Expression], mass: Square, q: Sequence[se.Symbol]
) -> list[dict[int, Expression]]:
    """Coefficients of q̇_j in each equation: ∂a_i/∂q_j - ∂a_j/∂q_i + ∂M_ij/∂t, those that are zero left out."""
    n = len(q)
    total: list[dict[int, list[Expression]]] = [defaultdict(list) for _ in range(n)]
    slopes = _Slopes(q)
    timed = TIME in symbols_in([entry for row in mass for entry in row if entry is not ZERO])
    for i in range(n):
        for j, slope in slopes.of(linear[i]).items():
            total[i][j].append(slope)
            total[j][i].append(-slope)
        for j, entry in enumerate(mass[i]) if timed else ():
            slope = ZERO if entry.is_Number else differentiate(entry, TIME)
            if slope != ZERO:
                total[i][j].append(slope)
    sums = [{j: combine(add_up(terms)) for j, terms in sorted(row.items())} for row in total]
    return [{j: value for j, value in row.items() if value != ZERO} for row in sums]
