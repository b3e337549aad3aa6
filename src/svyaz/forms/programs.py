"""From equations to programs: rates of the state, their Jacobian, and what is observed along a motion.

One linear system is solved in each evaluation, as it stands,

    [M  Rᵀ] [ q̈]   [-bias                        ]
    [G  0 ] [-λ] = [-constraint_bias - correction ]

where ``correction`` is what a perturbation equation adds (α ḣ + β h, κ f); without one it is zero. It is symmetric where all
reactions are ideal, R = G.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import symengine as se

from svyaz.expr import (
    ONE,
    TIME,
    ZERO,
    Expression,
    ModelError,
    Problem,
    add_up,
    differentiate,
    gradient,
    is_zero,
    put_in,
    total_derivative,
    without_poles,
)
from svyaz.forms.equations import Equations
from svyaz.forms.observed import Quantities, observed_quantities
from svyaz.forms.reactions import reaction_system
from svyaz.forms.switches import switched_rows
from svyaz.model import GivenEquations
from svyaz.program import LARGEST_WHOLE, Linear, Program, SparseRow, build, row_entries

Correction = Sequence[Expression]


def augmented_system(equations: Equations, correction: Correction | None = None) -> Linear | None:
    """The linear system for accelerations and multipliers; None when every rate is explicit."""
    n, m = len(equations.accelerated), len(equations.deviations)
    if n == 0 and not equations.sliding:
        return None
    added = correction if correction is not None else [ZERO] * m
    rows = augmented_rows(equations)
    side = [-b for b in held_bias(equations)]
    side.extend(-(b + extra) for b, extra in zip(equations.constraint_bias, added, strict=True))
    unknowns = [*equations.accelerations, *_reversed_multipliers(equations)]
    if equations.switches:
        return switched_rows(equations, rows, side, unknowns)
    if equations.sliding:
        return _with_sliding(equations, rows, side, unknowns)
    return Linear(rows, [side], [unknowns], symmetric=_has_symmetric_mass(equations) and equations.ideal)


def augmented_rows(equations: Equations) -> Sequence[Sequence[Expression]]:
    """[M Rᵀ; G 0], of a large system by its entries."""
    n, m = len(equations.accelerated), len(equations.deviations)
    jacobian, reactions = equations.constraint_jacobian, equations.reactions
    if n + m <= LARGEST_WHOLE or equations.sliding or equations.switches:
        rows = [[*equations.mass_matrix[i], *(reactions[k][i] for k in range(m))] for i in range(n)]
        return [*rows, *([*jacobian[k], *([ZERO] * m)] for k in range(m))]
    entries = [dict(row_entries(row)) for row in equations.mass_matrix]
    for k, row in enumerate(reactions):
        for i, entry in row_entries(row):
            entries[i][n + k] = entry
    return [SparseRow(row, n + m) for row in (*entries, *(dict(row_entries(row)) for row in jacobian))]


def held_bias(equations: Equations) -> list[Expression]:
    """The bias with the frictions that hold a motion."""
    found = list(equations.bias)
    for p in equations.pulls:
        if not is_zero(p.holding):
            found = [b + p.holding * equations.in_states(x) for b, x in zip(found, p.friction.along, strict=True)]
    return found


def _with_sliding(
    equations: Equations, rows: Sequence[Sequence[Expression]], side: list[Expression], unknowns: list[se.Symbol]
) -> Linear:
    """The system with a row ṡ = 0 and an unknown side for each surface that is slid along; all is linear in the sides."""
    sides = [surface.side for surface in equations.sliding]
    still: dict[se.Symbol, Expression] = dict.fromkeys([*unknowns, *sides], ZERO)
    flow = {se.Symbol(x): rate for x, rate in equations.explicit.items()} | {TIME: ONE}
    flow |= dict(zip(equations.velocities, equations.accelerations, strict=True))
    columns = [[-e for e in gradient(entry, sides)] for entry in side]
    full = [[*row, *more] for row, more in zip(rows, columns, strict=True)]
    rates = [total_derivative(surface.expression, flow) for surface in equations.sliding]
    full += [gradient(rate, [*unknowns, *sides]) for rate in rates]
    rest = [*(put_in(entry, still) for entry in side), *(-put_in(rate, still) for rate in rates)]
    return Linear(full, [rest], [[*unknowns, *sides]])


def _has_symmetric_mass(equations: Equations) -> bool:
    """Is M = Mᵀ as it is written? That of equations that were given need not be symmetric at all."""
    mass = equations.mass_matrix
    columns = zip(*mass, strict=True)
    return all(
        a is b or a == b for row, column in zip(mass, columns, strict=True) for a, b in zip(row, column, strict=True)
    )


def _reversed_multipliers(equations: Equations) -> list[se.Symbol]:
    return [se.Symbol(f"-multiplier {k}") for k in range(len(equations.deviations))]


def multiplier_symbols(equations: Equations) -> list[Expression]:
    """λ of each constraint in terms of the unknowns of the augmented system."""
    return [-s for s in _reversed_multipliers(equations)]


def rate_expressions(equations: Equations) -> list[tuple[str, Expression]]:
    """(state, rate) in the order of the states; accelerations stand for the rates of velocities."""
    rates: dict[str, Expression] = dict(equations.explicit)
    rates.update(zip((str(v) for v in equations.velocities), equations.accelerations, strict=True))
    return [(state, rates[state]) for state in equations.states]


@dataclass(frozen=True)
class Rates:
    """The rates of the states, in order, as expressions of the state and of the unknowns of linear systems.

    A later system may contain the unknowns of earlier ones.
    """

    systems: tuple[Linear, ...]
    rates: tuple[tuple[str, Expression], ...]


def rates_of(equations: Equations, correction: Correction | None = None) -> Rates:
    """The rates as the equations give them; ``correction`` is added to the constraint rows."""
    linear = augmented_system(equations, correction)
    return Rates((linear,) if linear else (), tuple(rate_expressions(equations)))


def rates_program(
    equations: Equations, rates: Rates, extra: Sequence[str] = (), write: Callable[..., Program] = build
) -> Program:
    """Inputs (t, states), outputs the rates of the states. ``extra`` are further constants, such as gains; ``write`` is
    how a program is built.
    """
    constants = (*equations.constants, *extra)
    return write(rates.rates, inputs=("t", *equations.states), parameters=constants, systems=rates.systems)


def observation(equations: Equations, linear: Linear | None) -> tuple[list[Linear], Quantities]:
    """What is observed along a motion, by kind and name, and the systems it takes: ``multipliers``, ``accelerations``, and
    what depends on the state alone.

    ``linear`` is the augmented system. Multipliers of constraints that the form has eliminated are recovered from the
    accelerations.
    """
    systems, signs = [linear] if linear is not None else [], multiplier_symbols(equations)
    multipliers = dict(zip(equations.multiplier_names, signs, strict=True))
    if equations.eliminated:
        further, recovered = reaction_system(equations, signs)
        systems.append(further)
        multipliers.update(recovered)
    accelerations: dict[str, Expression] = {str(a): a for a in equations.accelerations}
    solved: Quantities = {"multipliers": multipliers, "accelerations": accelerations}
    return systems, solved | observed_quantities(equations)


def jacobian_program(equations: Equations, rates: Rates, extra: Sequence[str] = ()) -> Program:
    """∂ rates/∂ states, row by row, exact where they exist."""
    systems, slopes = slopes_of(rates, equations.states)
    systems = [replace(s, sides=[list(map(without_poles, side)) for side in s.sides]) for s in systems]
    outputs = [
        (f"{state} by {x}", without_poles(slope))
        for (state, _), row in zip(rates.rates, slopes, strict=True)
        for x, slope in zip(equations.states, row, strict=True)
    ]
    return _build(equations, outputs, systems, extra)


def slopes_of(rates: Rates, by: Sequence[str]) -> tuple[list[Linear], list[list[Expression]]]:
    """∂ rates/∂x for the quantities x of these names: the systems it takes, those of the rates first, and a row a rate.

    Differentiating a system K u = s at its solution gives K du = ds - dK u: the same matrix once more, with one
    right-hand side for each x; what the systems before it contribute enters by the chain rule.
    """
    variables = [se.Symbol(name) for name in by]
    systems: list[Linear] = list(rates.systems)
    slopes: dict[se.Symbol, list[Expression]] = {}
    for number, linear in enumerate(rates.systems):
        (unknowns,) = linear.unknowns
        residuals = [
            add_up(k * u for k, u in zip(row, unknowns, strict=True)) - s
            for row, s in zip(linear.matrix, linear.sides[0], strict=True)
        ]
        columns = [[-_total_slope(r, j, variables, slopes) for r in residuals] for j in range(len(by))]
        named = [[se.Symbol(f"slope {number} {i} {j}") for i in range(len(unknowns))] for j in range(len(by))]
        systems.append(Linear(linear.matrix, columns, named, symmetric=linear.symmetric))
        slopes.update({u: [named[j][i] for j in range(len(by))] for i, u in enumerate(unknowns)})
    return systems, [[_total_slope(rate, j, variables, slopes) for j in range(len(by))] for _, rate in rates.rates]


def _total_slope(
    expression: Expression, j: int, states: Sequence[se.Symbol], slopes: Mapping[se.Symbol, Sequence[Expression]]
) -> Expression:
    """d expression/dx_j with the unknowns of solved systems as functions of the state."""
    present = expression.free_symbols
    terms = [differentiate(expression, states[j])] if states[j] in present else []
    terms.extend(differentiate(expression, u) * slope[j] for u, slope in slopes.items() if u in present)
    return add_up(terms) if terms else ZERO


def _build(
    equations: Equations, outputs: Sequence[tuple[str, Expression]], systems: Sequence[Linear], extra: Sequence[str]
) -> Program:
    return build(outputs, inputs=("t", *equations.states), parameters=(*equations.constants, *extra), systems=systems)


def terms_program(equations: Equations) -> Program:
    """M (upper triangle; all of it if given unsymmetric), bias, G and constraint_bias: what ``derive`` counts and exports."""
    return build(_terms(equations), inputs=("t", *equations.states), parameters=equations.constants)


@dataclass(frozen=True)
class Further:
    """Outputs that are written out beside the equations, and the linear systems they take."""

    outputs: tuple[tuple[str, Expression], ...]
    systems: tuple[Linear, ...] = ()


def export_program(
    equations: Equations, rates: Rates | None = None, further: Sequence[Further] = (), extra: Sequence[str] = ()
) -> Program:
    """The terms, accelerations and multipliers, what is asked for ``further``, at last the rates of all states: what is
    written out as code. ``rates`` are those of the equations unless given, ``extra`` the constants that they have besides.

    A friction is written with the sign of the slip; by |λ| of a reaction of either sign it is refused, since the sign is
    found by trying.
    """
    for c in (d.constraint for d in equations.deviations):
        if c.pushes == 0 and (c.frictions or any(drag.absolute for drag in c.drags)):
            message = (
                f"the force by the size of the reaction of '{c.name}' cannot be written out: its sign is not known"
            )
            raise ModelError([Problem(message, c.place)])
    known = rates if rates is not None else rates_of(equations)
    signs = dict(zip(equations.multiplier_names, multiplier_symbols(equations), strict=True))
    outputs = [
        *((name, entry) for name, entry in _terms(equations) if not name.startswith("rate[")),
        *((f"acceleration[{q}]", a) for q, a in zip(equations.accelerated, equations.accelerations, strict=True)),
        *((f"multiplier[{d.name}]", signs[d.name]) for d in equations.pushing),
        *(output for more in further for output in more.outputs),
        *((f"rate[{state}]", rate) for state, rate in known.rates),
    ]
    systems = [*known.systems, *(linear for more in further for linear in more.systems)]
    return _build(equations, outputs, systems, extra)


def recovered_reactions(equations: Equations) -> Further:
    """The multipliers of eliminated constraints, recovered from the accelerations."""
    if not equations.accelerated or not equations.eliminated:
        return Further(())
    linear, found = reaction_system(equations, multiplier_symbols(equations))
    return Further(tuple((f"multiplier[{name}]", push) for name, push in found.items()), (linear,))


def written_residuals(equations: Equations) -> Further:
    """How far each constraint is from being satisfied: h, or f."""
    found = observed_quantities(equations)["residuals"]
    return Further(tuple((f"residual[{name}]", value) for name, value in found.items()))


def written_slopes(equations: Equations, rates: Rates) -> Further:
    """∂ rates/∂ states."""
    systems, slopes = slopes_of(rates, equations.states)
    outputs = [
        (f"jacobian[{state},{x}]", slope)
        for (state, _), row in zip(rates.rates, slopes, strict=True)
        for x, slope in zip(equations.states, row, strict=True)
    ]
    return Further(tuple(outputs), tuple(systems[len(rates.systems) :]))


def _terms(equations: Equations) -> list[tuple[str, Expression]]:
    q = equations.accelerated
    # of a form that is derived M is symmetric, though its two halves may be written differently
    whole = isinstance(equations.system.law, GivenEquations) and not _has_symmetric_mass(equations)
    columns = [range(0 if whole else i, len(q)) for i in range(len(q))]
    outputs = [(f"M[{q[i]},{q[j]}]", equations.mass_matrix[i][j]) for i, places in enumerate(columns) for j in places]
    outputs.extend((f"bias[{name}]", b) for name, b in zip(q, equations.bias, strict=True))
    for d, row, rest in zip(
        equations.deviations, equations.constraint_jacobian, equations.constraint_bias, strict=True
    ):
        outputs.extend((f"G[{d.name},{name}]", entry) for name, entry in zip(q, row, strict=True))
        outputs.append((f"constraint_bias[{d.name}]", rest))
        outputs.extend((f"direction[{d.name},{name}]", e) for name, e in zip(q, d.constraint.direction, strict=False))
    own = {*q, *map(str, equations.velocities)}
    outputs.extend((f"rate[{state}]", rate) for state, rate in rate_expressions(equations) if state not in own)
    return outputs
