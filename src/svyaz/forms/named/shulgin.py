"""Shulgin's equations: geometric constraints F(q, t) = 0, redundant coordinates kept, no multipliers.

    q = (r, s),   det ∂F/∂s ≠ 0,   ṡ = B ṙ + b,   B = -(∂F/∂s)⁻¹ ∂F/∂r,   b = -(∂F/∂s)⁻¹ ∂F/∂t,
    L*(r, s, ṙ, t) = L with this ṡ put in,

    d/dt ∂L*/∂ṙ - ∂L*/∂r - Bᵀ ∂L*/∂s = Q_r + Bᵀ Q_s

(M. F. Shulgin 1958.) These are Voronets' equations in which the terms of nonholonomy vanish because the constraints are
integrable. r and s are both states, so the constraints are first integrals: a motion that begins on F = 0 stays there.

The left side is written without L*: it equals NᵀM (N r̈ + β) + Nᵀ bias with N = [E; B], where M q̈ + bias are Lagrange's
expressions of the free system and s̈ = B r̈ + β. Here β = -(∂F/∂s)⁻¹ γ, F̈ = ∂F/∂q q̈ + γ, so that B need not be
differentiated and the second derivatives of F enter as they stand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import symengine as se

from svyaz.expr import (
    TIME,
    ZERO,
    Expression,
    ModelError,
    Problem,
    add_up,
    combine,
    differentiate,
    gradient,
    substitute,
    velocity,
)
from svyaz.forms.equations import Equations, Form
from svyaz.forms.named.multipliers import with_multipliers
from svyaz.forms.reduction import VelocityRows
from svyaz.forms.reduction_choice import declared, ordered_choices, qualities, scaled_rows, values_at
from svyaz.forms.stated import only_ideal
from svyaz.forms.vanishing import is_nothing
from svyaz.model import Constraint, System
from svyaz.program import remembered

NAME = "shulgin"

NEARLY_DEGENERATE = 0.02
"""Below this quality, |det ∂F/∂s| over √det(∂F/∂q ∂F/∂qᵀ) in scaled coordinates, the choice is warned of."""


@dataclass(frozen=True)
class Redundancy:
    """ṡ = B ṙ + b and s̈ = B r̈ + β: ``matrix`` B (m, n), ``drift`` b (m,), ``rest`` β (m,) in terms of q, ṙ, t."""

    independent: tuple[str, ...]
    dependent: tuple[str, ...]
    matrix: tuple[tuple[Expression, ...], ...]
    drift: tuple[Expression, ...]
    rest: tuple[Expression, ...]

    @property
    def rates(self) -> dict[str, Expression]:
        """ṡ by name, in terms of ṙ."""
        v = [velocity(q) for q in self.independent]
        return {
            s: add_up([*(b * v_j for b, v_j in zip(row, v, strict=True)), drift])
            for s, row, drift in zip(self.dependent, self.matrix, self.drift, strict=True)
        }


def shulgin_equations(
    system: System, active: Sequence[Constraint] | None = None, dependent: Sequence[str] | None = None
) -> Equations:
    """The equations in the independent coordinates; the redundant ones follow by ṡ = B ṙ + b.

    ``dependent`` names the redundant coordinates, one for each constraint; else those that the model declares are
    taken, or the ones with the best conditioned ∂F/∂s at the initial state.
    """
    only_ideal(system, f"the form '{NAME}' is", "use the form 'multipliers'")
    origin = with_multipliers(system, active)
    split = redundancy(origin, dependent)
    rates = split.rates
    moving = {velocity(s): rate for s, rate in rates.items()}
    mass, bias = _projected(origin, split, moving)
    further = {name: substitute(rate, moving) for name, rate in system.rates.items()}
    coordinates = {q: rates.get(q, velocity(q)) for q in system.coordinates}
    return Equations(
        form=NAME,
        system=system,
        states=(*system.coordinates, *(f"{q}'" for q in split.independent), *system.rates),
        explicit={**coordinates, **further},
        accelerated=split.independent,
        mass_matrix=mass,
        bias=bias,
        observed={str(velocity(s)): rate for s, rate in rates.items()},
        eliminated=tuple(d.constraint for d in origin.deviations),
        origin=origin,
        dependent=split.dependent,
        notes=_notes(origin, split, dependent),
    )


def _notes(origin: Equations, split: Redundancy, asked: Sequence[str] | None) -> tuple[str, ...]:
    """Which coordinates were taken as redundant, unless that was said; and a warning near a degenerate position."""
    if not split.dependent:
        return ()
    rows = position_rows([d.constraint for d in origin.deviations], origin.system.coordinates)
    alpha = scaled_rows(rows, origin, values_at(origin))
    quality = float(qualities(alpha, [[rows.coordinates.index(q) for q in split.dependent]])[0])
    names = ", ".join(f"'{q}'" for q in split.dependent)
    notes = []
    if not asked and set(declared(rows)) != set(split.dependent):
        notes.append(f"redundant: {names}, chosen for a well conditioned ∂F/∂s (quality {quality:.2g} of 1)")
    if quality < NEARLY_DEGENERATE:
        notes.append(f"∂F/∂s is nearly singular for {names} at the initial position (quality {quality:.2g} of 1)")
    return tuple(notes)


def _projected(
    origin: Equations, split: Redundancy, moving: dict[se.Symbol, Expression]
) -> tuple[tuple[tuple[Expression, ...], ...], tuple[Expression, ...]]:
    """NᵀMN and Nᵀ(M (0; β) + bias) with the redundant velocities put in."""
    place = {q: k for k, q in enumerate(origin.system.coordinates)}
    r, s = [place[q] for q in split.independent], [place[q] for q in split.dependent]
    full = [[substitute(m, moving) for m in row] for row in origin.mass_matrix]
    columns = range(len(split.independent))

    def along(row: Sequence[Expression], j: int) -> Expression:
        """Entry j of row · N."""
        return add_up([row[r[j]], *(row[k] * b[j] for k, b in zip(s, split.matrix, strict=True))])

    half = [[along(row, j) for j in columns] for row in full]
    mass = [[along([line[j] for line in half], i) for j in columns] for i in columns]
    whole = [
        add_up([substitute(bias, moving), *(row[k] * beta for k, beta in zip(s, split.rest, strict=True))])
        for row, bias in zip(full, origin.bias, strict=True)
    ]
    return tuple(tuple(row) for row in mass), tuple(along(whole, i) for i in columns)


def redundancy(origin: Equations, dependent: Sequence[str] | None = None) -> Redundancy:
    """The split of the coordinates of a system with geometric constraints, solved for the redundant velocities."""
    constraints = [d.constraint for d in origin.deviations]
    coordinates = origin.system.coordinates
    rows = position_rows(constraints, coordinates)
    chosen = _redundant_names(rows, origin, dependent)
    independent = tuple(q for q in coordinates if q not in chosen)
    known = rows.columns(independent)
    gamma = [_second_rate(row, rest, coordinates) for row, rest in zip(rows.matrix, rows.rest, strict=True)]
    sides = [[*row, rest, g] for row, rest, g in zip(known, rows.rest, gamma, strict=True)]
    solution = [[-e for e in row] for row in solved_for(rows.columns(chosen), sides)]
    split = Redundancy(
        independent,
        chosen,
        tuple(tuple(row[:-2]) for row in solution),
        tuple(row[-2] for row in solution),
        tuple(row[-1] for row in solution),
    )
    moving = {velocity(s): rate for s, rate in split.rates.items()}
    return Redundancy(
        independent, chosen, split.matrix, split.drift, tuple(substitute(beta, moving) for beta in split.rest)
    )


def _second_rate(row: Sequence[Expression], rest: Expression, coordinates: Sequence[str]) -> Expression:
    """γ = F̈ - ∂F/∂q q̈ = Σ ∂²F/∂q_i∂q_j q̇_i q̇_j + 2 Σ ∂²F/∂q_i∂t q̇_i + ∂²F/∂t²."""
    q, v = [se.Symbol(name) for name in coordinates], [velocity(name) for name in coordinates]
    terms = [differentiate(rest, TIME)]
    for i, slope in enumerate(row):
        second = gradient(slope, q)
        terms.extend((1 if i == j else 2) * combine(second[j]) * v[i] * v[j] for j in range(i, len(q)))
        terms.append(2 * differentiate(slope, TIME) * v[i])
    return add_up(terms)


def solved_for(matrix: Sequence[Sequence[Expression]], sides: Sequence[Sequence[Expression]]) -> list[list[Expression]]:
    """matrix⁻¹ sides, by minors: nothing is multiplied out, so that each entry is a fraction over the determinant."""
    m = len(matrix)
    if m == 0:
        return []
    determinant = combine(_determinant(matrix))
    number = _leading_number(determinant)
    below = combine(determinant / number)
    if m == 1:
        return [[combine(side / number) / below for side in sides[0]]]
    result = []
    for i in range(m):
        minors = [(-1) ** (i + j) * _determinant(_without(matrix, j, i)) for j in range(m)]
        adjugate = [combine(minor / number) for minor in minors]
        columns = zip(*sides, strict=True)
        result.append([add_up(a * e for a, e in zip(adjugate, column, strict=True)) / below for column in columns])
    return result


def _determinant(matrix: Sequence[Sequence[Expression]]) -> Expression:
    if not matrix:
        return se.Integer(1)
    first, terms = matrix[0], []
    for j, entry in enumerate(first):
        if entry != ZERO:
            terms.append((-1) ** j * entry * _determinant(_without(matrix, 0, j)))
    return add_up(terms)


def _without(matrix: Sequence[Sequence[Expression]], row: int, column: int) -> list[list[Expression]]:
    return [[e for j, e in enumerate(line) if j != column] for i, line in enumerate(matrix) if i != row]


def _leading_number(expression: Expression) -> Expression:
    """The number in front of the first term, to be divided out of a fraction; 1 for a determinant that is a number."""
    first = expression.args[0] if expression.is_Add else expression
    if first.is_Mul and first.args[0].is_Number:
        return first.args[0]
    return first if first.is_Number and expression.is_Number else se.Integer(1)


def _redundant_names(rows: VelocityRows, origin: Equations, dependent: Sequence[str] | None) -> tuple[str, ...]:
    """What was asked for, checked; or the best choice at the initial state."""
    constraints = rows.constraints
    declared = [q for c in constraints for q in c.dependent]
    asked = tuple(dict.fromkeys(dependent or declared))
    place = constraints[0].place if constraints else None
    for q in asked:
        if q not in rows.coordinates:
            raise ModelError([Problem(f"'{q}' cannot be redundant: it is no coordinate of the model", place)])
    if len(asked) > len(constraints) or (dependent and len(asked) < len(constraints)):
        names = ", ".join(f"'{q}'" for q in asked)
        count = f"{len(constraints)} geometric constraint{'' if len(constraints) == 1 else 's'}"
        message = f"there is one redundant coordinate for each constraint: {names} and {count} do not fit"
        raise ModelError([Problem(message, place)])
    if not constraints:
        return ()
    if not dependent:
        return _best(rows, origin, values_at(origin))
    if is_nothing(_determinant(rows.columns(asked))):
        names = ", ".join(f"'{q}'" for q in asked)
        message = f"the constraints cannot be solved for the velocities of {names}: det ∂F/∂s = 0 everywhere"
        raise ModelError([Problem(message, place, "take other coordinates as redundant, or leave the choice to svyaz")])
    return asked


def _best(rows: VelocityRows, origin: Equations, values: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(ordered_choices(NAME, rows, origin, values)[0])


def redundant_at(system: System, values: Mapping[str, float]) -> tuple[str, ...]:
    """The redundant coordinates that the model declares, or those with the best conditioned ∂F/∂s at these values."""
    if not system.constraints:
        return ()
    return _best(_own_rows(system), with_multipliers(system), {**values, "t": 0.0})


@remembered
def _own_rows(system: System) -> VelocityRows:
    """Once for a system: it may have many equilibria."""
    return position_rows(system.constraints, system.coordinates)


def position_rows(constraints: Sequence[Constraint], coordinates: Sequence[str]) -> VelocityRows:
    """∂F/∂q and ∂F/∂t of geometric constraints, as the rows of ∂F/∂q q̇ + ∂F/∂t = 0."""
    for c in constraints:
        if c.order == 1:
            message = f"the form 'shulgin' takes geometric constraints, and '{c.name}' contains velocities"
            raise ModelError([Problem(message, c.place, "use the form 'voronets' or 'multipliers'")])
    q = [se.Symbol(name) for name in coordinates]
    matrix = tuple(tuple(combine(e) for e in gradient(c.expression, q)) for c in constraints)
    rest = tuple(differentiate(c.expression, TIME) for c in constraints)
    return VelocityRows(tuple(constraints), tuple(coordinates), matrix, rest)


FORM = Form(NAME, shulgin_equations, reduced=shulgin_equations)
