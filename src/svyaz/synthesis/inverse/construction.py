"""A Lagrangian and a Rayleigh function for equations that satisfy the conditions of Helmholtz.

With s and r of the conditions:

1. D = ∫₀¹ (1 - τ) q̇ᵀ s(q, τq̇) q̇ dτ + c_a(q) q̇_a, where the curl of c is what is left of r;
2. T = ∫₀¹ (1 - τ) q̇ᵀ M(q, τq̇) q̇ dτ, M = ∂f/∂q̈; then f - ∂D/∂q̇ - E(T) is linear in q̇ and free of q̈,
   = (∂a_a/∂q_b - ∂a_b/∂q_a) q̇_b + ∂a_a/∂t + ∂U/∂q_a, and L = T + a_a q̇_a - U.

s and M must be polynomials in the velocities; a and c come by integration along one coordinate after another, U as a
potential. Where s is no polynomial (dry friction, resistance as |q̇|q̇) and no forces are gyroscopic, what is left of f is
integrated by the velocities: D = ∫ (f - E(T) - ∂U/∂q) dq̇. Nothing is returned that does not give the equations back.

All velocity fields that satisfy given constraints, and the one that chosen functions pick out.

The fields that satisfy a(q) q̇ = a₀(q) are v = N μ + n, where the columns of N span what the constraints allow, a N = 0,
and μ(q) are free functions (Kaspirovich 3.1: μ₁ and μ₂ of the knife edge).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import symengine as se

from svyaz.constraints import antiderivative, flattened, potential, vanishes
from svyaz.expr import (
    HALF,
    ONE,
    TIME,
    ZERO,
    Expression,
    ModelError,
    Problem,
    acceleration,
    add_up,
    combine,
    differentiate,
    gradient,
    is_zero,
    names_in,
    substitute,
    to_text,
    total_derivative,
    velocity,
)
from svyaz.forms import basis, is_nothing, velocity_rows, with_multipliers
from svyaz.model import System, WantedField, nearest, system_of


@dataclass(frozen=True)
class FieldFamily:
    """v of every coordinate with the free functions under ``names``."""

    system: System
    names: tuple[str, ...]
    fields: dict[str, Expression]

    @property
    def deviation(self) -> list[Expression]:
        """h = q̇ - v."""
        return [velocity(q) - v for q, v in self.fields.items()]

    @property
    def lagrangian(self) -> Expression:
        """½ |h|²."""
        return HALF * add_up(e**2 for e in self.deviation)

    @property
    def rayleigh(self) -> Expression | None:
        """½ hᵀ d h, or D as it was given; None where d contains velocities."""
        law, h = self.system.law, self.deviation
        assert isinstance(law, WantedField), "a family belongs to a field that is wanted"
        speeds = {str(velocity(q)) for q in self.fields}
        if law.stated is not None or any(names_in(e) & speeds for row in law.rayleigh for e in row):
            return law.stated
        bent = [d * a * b for row, a in zip(law.rayleigh, h, strict=True) for d, b in zip(row, h, strict=True)]
        return HALF * add_up(bent)


def is_family(system: System) -> bool:
    """Are there constraints that leave the choice of the field open?"""
    return isinstance(system.law, WantedField) and not system.law.free and bool(family(system).names)


def family(system: System) -> FieldFamily:
    """The fields that satisfy the constraints of the model."""
    words = {key: value for key, value in system.words.items() if key not in ("free", "rayleigh", "run", "source")}
    kinetic = " + ".join(f"{q}'^2/2" for q in system.coordinates)
    origin = with_multipliers(system_of({**words, "kinetic": kinetic}))
    v = [velocity(q) for q in system.coordinates]
    bent = next((c for c in system.constraints if not _linear_in(c.expression, v)), None)
    if bent is not None:
        message = f"fields are found for constraints that are linear in the velocities, and '{bent.name}' is not"
        raise ModelError([Problem(message, bent.place, "give the field itself in [field]")])
    rows = velocity_rows("invert", system.constraints, system.coordinates)
    if len(rows.constraints) < len(system.constraints):
        held = next(c for c in system.constraints if c.order == 0)
        message = f"'{held.name}' is a constraint on positions; the field satisfies constraints on velocities"
        raise ModelError([Problem(message, held.place, "write its time derivative")])
    chosen = basis("invert", origin, rows, None)
    names = tuple(f"mu{k + 1}" for k in range(len(chosen.names)))
    kinematics = chosen.kinematics(system.coordinates)
    symbols = {u: se.Symbol(name) for u, name in zip(kinematics.velocities, names, strict=True)}
    return FieldFamily(system, names, {q: substitute(rate, symbols) for q, rate in kinematics.rates.items()})


def _linear_in(expression: Expression, v: list[se.Symbol]) -> bool:
    """Is the expression linear in these variables?"""
    return all(is_nothing(e) for slope in gradient(expression, v) for e in gradient(slope, v))


def field_system(system: System) -> System:
    """The model with the field that its constraints and its free functions, taken by their names, determine."""
    law = system.law
    if not isinstance(law, WantedField):
        raise ModelError([Problem("the inverse problem needs a [field], or constraints with free functions in [free]")])
    found = family(system)
    if set(law.free) != set(found.names):
        told = "; ".join(f"{q}' = {to_text(v)}" for q, v in found.fields.items())
        given = ", ".join(f"'{name}'" for name in law.free) or "none"
        message = (
            f"the constraints leave the family {told} with {len(found.names)} free functions, [free] gives {given}"
        )
        strange = next((name for name in law.free if name not in found.names), None)
        hint = None if strange is None else nearest(strange, found.names)
        hint = hint or f"give {', '.join(found.names)} in [free] as functions of the coordinates"
        raise ModelError([Problem(message, None, hint)])
    chosen = {se.Symbol(name): function for name, function in law.free.items()}
    words = {key: value for key, value in system.words.items() if key not in ("constraint", "free")}
    words["field"] = {q: to_text(substitute(v, chosen)) for q, v in found.fields.items()}
    return system_of(words, system.file)


HIGHEST = 8
"""Polynomials in the velocities are read up to this degree."""


@dataclass(frozen=True)
class Construction:
    """L and D with d/dt ∂L/∂q̇ - ∂L/∂q + ∂D/∂q̇ = f."""

    lagrangian: Expression
    rayleigh: Expression

    def circulatory(self, coordinates: Sequence[str]) -> Expression:
        """The part of D linear in the velocities: forces of position that have no potential."""
        v = [velocity(name) for name in coordinates]
        still = dict.fromkeys(v, ZERO)
        return add_up([ZERO, *(substitute(differentiate(self.rayleigh, x), still) * x for x in v)])


def construct(
    f: Sequence[Expression],
    coordinates: Sequence[str],
    s: Sequence[Sequence[Expression]],
    r: Sequence[Sequence[Expression]],
) -> Construction | None:
    """L and D, or None when an integral was not found."""
    q = [se.Symbol(name) for name in coordinates]
    v, a = [velocity(name) for name in coordinates], [acceleration(name) for name in coordinates]
    kinetic = _twice_integrated([[differentiate(e, x) for x in a] for e in f], v)
    if kinetic is None:
        return None
    rest = [flattened(e - lagrange_expression(kinetic, name)) for e, name in zip(f, coordinates, strict=True)]
    rayleigh = _dissipation(q, v, s, r)
    made = None if rayleigh is None else _with_rayleigh(kinetic, rayleigh, rest, q, v)
    if made is None or not gives(made, f, coordinates):
        made = _by_velocities(kinetic, rest, q, v)
    return made if made is not None and gives(made, f, coordinates) else None


def _with_rayleigh(
    kinetic: Expression,
    rayleigh: Expression,
    rest: Sequence[Expression],
    q: Sequence[se.Symbol],
    v: Sequence[se.Symbol],
) -> Construction | None:
    """L = T + a q̇ - U from f - E(T) = ``rest``, with D known."""
    left = [flattened(e - differentiate(rayleigh, x)) for e, x in zip(rest, v, strict=True)]
    still = dict.fromkeys(v, ZERO)
    curl = [[substitute(differentiate(e, x), still) for x in v] for e in left]
    vector = _with_curl(curl, q)
    if vector is None:
        return None
    pulls = [substitute(e, still) - differentiate(p, TIME) for e, p in zip(left, vector, strict=True)]
    height = potential([_tidy(e) for e in pulls], q)
    if height is None:
        return None
    lagrangian = add_up([combine(kinetic), *(p * x for p, x in zip(vector, v, strict=True)), combine(-height)])
    return Construction(lagrangian, combine(rayleigh))


def _by_velocities(
    kinetic: Expression, rest: Sequence[Expression], q: Sequence[se.Symbol], v: Sequence[se.Symbol]
) -> Construction | None:
    """L = T - U, D = ∫ (rest - ∂U/∂q) dq̇, one velocity after another."""
    still = dict.fromkeys(v, ZERO)
    pulls = [substitute(e, still) for e in rest]
    height = potential([_tidy(e) for e in pulls], q)
    if height is None:
        return None
    rayleigh = ZERO
    for e, pull, x in zip(rest, pulls, v, strict=True):
        left = flattened(e - pull - differentiate(rayleigh, x))
        part = ZERO if is_nothing(left) else antiderivative(left, x)
        if part is None:
            return None
        rayleigh = rayleigh + part
    return Construction(add_up([combine(kinetic), combine(-height)]), rayleigh)


def gives(made: Construction, f: Sequence[Expression], coordinates: Sequence[str]) -> bool:
    """Do the functions give these equations back?"""
    return all(
        _is_zero(lagrange_expression(made.lagrangian, name) + differentiate(made.rayleigh, velocity(name)) - e)
        for e, name in zip(f, coordinates, strict=True)
    )


def lagrange_expression(lagrangian: Expression, name: str) -> Expression:
    """d/dt ∂L/∂q̇ - ∂L/∂q for one coordinate, with all coordinates that occur in L moving."""
    coordinates = {str(x).rstrip("'") for x in lagrangian.free_symbols if str(x).endswith("'")}
    momentum = differentiate(lagrangian, velocity(name))
    flow: dict[se.Symbol, Expression] = {TIME: ONE}
    for q in coordinates:
        flow |= {se.Symbol(q): velocity(q), velocity(q): acceleration(q)}
    return total_derivative(momentum, flow) - differentiate(lagrangian, se.Symbol(name))


def _is_zero(expression: Expression) -> bool:
    return is_nothing(expression) or vanishes(expression)


def _tidy(expression: Expression) -> Expression:
    return ZERO if is_nothing(expression) else combine(flattened(expression))


def _dissipation(
    q: Sequence[se.Symbol],
    v: Sequence[se.Symbol],
    s: Sequence[Sequence[Expression]],
    r: Sequence[Sequence[Expression]],
) -> Expression | None:
    """D with ∂²D/∂q̇∂q̇ = s and ∂²D/∂q̇_a∂q_b - ∂²D/∂q̇_b∂q_a = r."""
    first = _twice_integrated(s, v)
    if first is None:
        return None
    momenta = [differentiate(first, x) for x in v]
    n = len(q)
    left = [
        [_tidy(r[i][j] - differentiate(momenta[i], q[j]) + differentiate(momenta[j], q[i])) for j in range(n)]
        for i in range(n)
    ]
    vector = _with_curl(left, q)
    return None if vector is None else first + add_up(c * x for c, x in zip(vector, v, strict=True))


def _twice_integrated(matrix: Sequence[Sequence[Expression]], v: Sequence[se.Symbol]) -> Expression | None:
    """∫₀¹ (1 - τ) q̇ᵀ m(τq̇) q̇ dτ for m polynomial in the velocities: a part of degree k is divided by (k+1)(k+2)."""
    total = ZERO
    for row, x in zip(matrix, v, strict=True):
        for entry, y in zip(row, v, strict=True):
            parts = _homogeneous_parts(entry, v)
            if parts is None:
                return None
            total = total + add_up(part * x * y / ((k + 1) * (k + 2)) for k, part in enumerate(parts))
    return flattened(total)


def _homogeneous_parts(entry: Expression, v: Sequence[se.Symbol]) -> list[Expression] | None:
    """The parts of degree 0, 1, 2 … in the velocities; None when it is no polynomial of moderate degree."""
    if not entry.free_symbols & set(v):
        return [entry]
    scale = se.Symbol("scale of the velocities")
    scaled = substitute(entry, {x: scale * x for x in v})
    parts: list[Expression] = []
    number = 1
    for k in range(HIGHEST + 1):
        parts.append(_tidy(substitute(scaled, {scale: ZERO}) / number))
        scaled = differentiate(scaled, scale)
        number *= k + 1
        if is_zero(scaled) or is_nothing(scaled):
            return parts
    return None


def _with_curl(curl: Sequence[Sequence[Expression]], q: Sequence[se.Symbol]) -> list[Expression] | None:
    """a(q) with ∂a_i/∂q_j - ∂a_j/∂q_i = curl_ij (closed, antisymmetric), the last component zero in turn."""
    n = len(q)
    vector: list[Expression] = [ZERO] * n
    left = [[_tidy(e) for e in row] for row in curl]
    for last in range(n - 1, 0, -1):
        for i in range(last):
            if is_zero(left[i][last]):
                continue
            part = antiderivative(left[i][last], q[last])
            if part is None:
                return None
            vector[i] = vector[i] + part
        left = [
            [_tidy(curl[i][j] - differentiate(vector[i], q[j]) + differentiate(vector[j], q[i])) for j in range(n)]
            for i in range(n)
        ]
    return vector if all(is_zero(e) for row in left for e in row) else None
