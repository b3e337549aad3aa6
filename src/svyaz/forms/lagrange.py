"""Lagrange's equations of the second kind, d/dt ∂L/∂q̇ - ∂L/∂q + ∂D/∂q̇ = Q, written as M q̈ + bias = 0.

For L = ½ q̇ᵀ M q̇ + aᵀ q̇ + L₀ with M, a, L₀ functions of q and t

    bias_i = Σ_jk (∂M_ij/∂q_k - ½ ∂M_jk/∂q_i) q̇_j q̇_k + Σ_j (∂a_i/∂q_j - ∂a_j/∂q_i + ∂M_ij/∂t) q̇_j
             + ∂a_i/∂t - ∂L₀/∂q_i + ∂D/∂q̇_i - Q_i,

so that nothing is ever solved for or substituted. A Lagrangian that is not quadratic in the velocities is taken as it
is: M = ∂²L/∂q̇∂q̇, bias = ∂²L/∂q̇∂q q̇ + ∂²L/∂q̇∂t - ∂L/∂q + ∂D/∂q̇ - Q.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import symengine as se

from svyaz.expr.calculus import HALF, TIME, ZERO, Expression, add_up, differentiate, gradient, substitute, velocity
from svyaz.expr.trig import combine
from svyaz.forms.equations import Equations
from svyaz.model import System

Vector = list
Square = list


def lagrange(system: System) -> Equations:
    """The equations of a mechanical system without constraints."""
    mass, bias = lagrange_terms(system)
    return Equations(
        form="lagrange",
        system=system,
        states=system.states,
        explicit={**{q: velocity(q) for q in system.coordinates}, **system.rates},
        accelerated=system.coordinates,
        mass_matrix=tuple(tuple(row) for row in mass),
        bias=tuple(bias),
    )


def lagrange_terms(system: System) -> tuple[Square, Vector]:
    """(M, bias) of the free system, in the short forms of the books."""
    q = [se.Symbol(name) for name in system.coordinates]
    v = [velocity(name) for name in system.coordinates]
    momenta = gradient(system.lagrangian, v)
    mass = _mass_matrix(momenta, v)
    others = [
        differentiate(system.dissipation, v[i]) - system.forces.get(name, ZERO) for i, name in enumerate(system.coordinates)
    ]
    speeds = set(v)
    if any(entry.free_symbols & speeds for row in mass for entry in row):
        return mass, _general_bias(system.lagrangian, momenta, q, v, others)
    return mass, _quadratic_bias(system.lagrangian, momenta, mass, q, v, others)


def _mass_matrix(momenta: Sequence[Expression], v: Sequence[se.Symbol]) -> Square:
    n = len(v)
    mass = [[ZERO] * n for _ in range(n)]
    for i in range(n):
        present = momenta[i].free_symbols
        for j in range(i, n):
            if v[j] in present:
                mass[i][j] = mass[j][i] = combine(differentiate(momenta[i], v[j]))
    return mass


def _general_bias(
    lagrangian: Expression,
    momenta: Sequence[Expression],
    q: Sequence[se.Symbol],
    v: Sequence[se.Symbol],
    others: Sequence[Expression],
) -> Vector:
    return [
        add_up(differentiate(p, q_j) * v_j for q_j, v_j in zip(q, v, strict=True))
        + differentiate(p, TIME)
        - differentiate(lagrangian, q_i)
        + other
        for p, q_i, other in zip(momenta, q, others, strict=True)
    ]


def _quadratic_bias(
    lagrangian: Expression,
    momenta: Sequence[Expression],
    mass: Square,
    q: Sequence[se.Symbol],
    v: Sequence[se.Symbol],
    others: Sequence[Expression],
) -> Vector:
    at_rest = {v_i: ZERO for v_i in v}
    linear = [combine(substitute(p, at_rest)) for p in momenta]
    still = substitute(lagrangian, at_rest)
    pull = gradient(still, q)
    slopes = [[_slopes(entry, q) for entry in row] for row in mass]
    bias = []
    for i in range(len(q)):
        coefficients = _inertial_coefficients(i, slopes)
        terms = [c * v[j] * v[k] for (j, k), c in coefficients.items()]
        terms.extend(_gyroscopic_terms(i, linear, mass, q, v))
        terms.append(differentiate(linear[i], TIME))
        terms.append(-combine(pull[i]))
        terms.append(others[i])
        bias.append(add_up(terms))
    return bias


def _slopes(entry: Expression, q: Sequence[se.Symbol]) -> dict[int, Expression]:
    """{k: ∂ entry/∂q_k} for the coordinates that occur in the entry."""
    present = entry.free_symbols
    return {k: differentiate(entry, q_k) for k, q_k in enumerate(q) if q_k in present}


def _inertial_coefficients(i: int, slopes: Sequence[Sequence[Mapping[int, Expression]]]) -> dict[tuple[int, int], Expression]:
    """Coefficients of q̇_j q̇_k, j ≤ k, in the i-th equation (Christoffel symbols of the first kind, doubled off the diagonal).

    ∂M_ij/∂q_k + ∂M_ik/∂q_j - ∂M_jk/∂q_i for j < k, and ∂M_ij/∂q_j - ½ ∂M_jj/∂q_i for j = k.
    """
    n = len(slopes)
    total: dict[tuple[int, int], list[Expression]] = defaultdict(list)
    for j in range(n):
        for k, slope in slopes[i][j].items():
            total[min(j, k), max(j, k)].append(slope)
    for j in range(n):
        for k in range(j, n):
            slope = slopes[j][k].get(i)
            if slope is not None:
                total[j, k].append(-slope if j < k else -HALF * slope)
    sums = {key: combine(add_up(terms)) if len(terms) > 1 else terms[0] for key, terms in sorted(total.items())}
    return {key: value for key, value in sums.items() if value != ZERO}


def _gyroscopic_terms(
    i: int, linear: Sequence[Expression], mass: Square, q: Sequence[se.Symbol], v: Sequence[se.Symbol]
) -> list[Expression]:
    """Σ_j (∂a_i/∂q_j - ∂a_j/∂q_i + ∂M_ij/∂t) q̇_j."""
    terms = []
    forward = gradient(linear[i], q)
    for j in range(len(q)):
        coefficient = forward[j] - gradient(linear[j], [q[i]])[0] + gradient(mass[i][j], [TIME])[0]
        if coefficient != ZERO:
            terms.append(combine(coefficient) * v[j])
    return terms
