"""Perturbation equations with functions of the state: laws of the user, blocks A … E, and matrices of an extended Lagrangian.

Deviations y = (h, ḣ, f) follow ḧ = F, ḟ = F with any functions F(x, t, y) of the state that vanish with y. The linear part
W(x, t) = ∂F/∂y at y = 0 may change along the motion, so that it is judged at states of a pilot, frozen there. Laws come from
the model (``law`` of a constraint, which takes the place of what is asked for all), or with the run: one for all constraints,
or by their names. Kaspirovich (1.1.20), (1.2.5), (1.3.6).

With 2T̃ = ṽᵀÃ(q, q̌)ṽ, 2P̃ = q̌ᵀH̃(q)q̌, 2D̃ = ṽᵀB(q, q̌)ṽ for q̌ = h and ṽ = (ḣ, f) the Lagrange equations of the deviations are

    Ã dṽ/dt = -H̃ q̌ - (dÃ/dt + B) ṽ + ½ ṽᵀ(∂Ã/∂q̌)ṽ,

the first and the last term in the rows of positions alone: Mukharlyamov (3.17), with the ½ that is missing there. Of the
extended Lagrangian only this is taken: what its terms would add to the motion itself is of second order in the deviations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import (
    HALF,
    ONE,
    TIME,
    ZERO,
    Expression,
    Scope,
    add_up,
    at_points,
    differentiate,
    evaluate,
    is_zero,
    names_in,
    parse,
    substitute,
    symbols_in,
    total_derivative,
)
from svyaz.forms import Equations
from svyaz.matrices import eigvalsh
from svyaz.model import deviation_rate_symbol, deviation_symbol, fault_of, is_number, law_scope, nearest
from svyaz.stabilise.request import Block, bad, finite

if TYPE_CHECKING:
    from svyaz.stabilise.lyapunov import PerturbedRates


ACTING = "gain law 0 0"
"""A gain of 1 before every law: with all gains at zero nothing is stabilised."""


GROUPS = POSITIONS, VELOCITIES, INTEGRALS = ("positions", "velocities", "integrals")
"""Words for all constraints on positions, all on velocities, and all integrals that are held."""


@dataclass(frozen=True)
class General:
    """F by rows of the constraints, over the ``states``, constants, gains and the symbols ``y`` of (h, ḣ, f).

    ``slopes`` is W, ``values`` are those of constants and gains. W is looked at at few states: it is not compiled.
    """

    rows: tuple[Expression, ...]
    y: tuple[se.Symbol, ...]
    slopes: list[list[Expression]]
    states: tuple[str, ...]
    values: Mapping[str, float]

    @cached_property
    def varying(self) -> bool:
        """Does W change along a motion?"""
        named = set(map(str, symbols_in([entry for row in self.slopes for entry in row])))
        return not named <= set(self.values)

    def along(self, times: Array, states: Array, gains: Mapping[str, float]) -> Array:
        """W along rows of states, (k, c, c)."""
        known = np.array([*{**self.values, **gains}.values()])
        points = np.column_stack([times, states, np.broadcast_to(known, (len(times), len(known)))])
        return self._numbers(points).reshape(len(times), len(self.y), len(self.y))

    @cached_property
    def _numbers(self) -> Callable[[Array], Array]:
        return at_points([entry for row in self.slopes for entry in row], ("t", *self.states, *self.values))


def positions_of(equations: Equations) -> list[int]:
    """Numbers of the position constraints among the deviations."""
    return [k for k, d in enumerate(equations.deviations) if d.position is not None]


def velocities_of(equations: Equations) -> list[int]:
    """Numbers of the velocity constraints among the deviations."""
    return [k for k, d in enumerate(equations.deviations) if d.position is None]


def deviation_symbols(equations: Equations) -> tuple[se.Symbol, ...]:
    """Symbols for the entries of y = (h, ḣ, f)."""
    names = [d.name for d in equations.deviations]
    places, speeds = positions_of(equations), velocities_of(equations)
    rates = [deviation_rate_symbol(names[k]) for k in places]
    return (*(deviation_symbol(names[k]) for k in places), *rates, *(deviation_symbol(names[k]) for k in speeds))


def meanings(equations: Equations) -> dict[se.Symbol, Expression]:
    """What the symbols of deviations stand for in terms of the states."""
    found: dict[se.Symbol, Expression] = {}
    for d in equations.deviations:
        if d.position is not None:
            found[deviation_symbol(d.name)], found[deviation_rate_symbol(d.name)] = d.position, d.velocity
        else:
            found[deviation_symbol(d.name)] = d.velocity
    return found


def own_laws(equations: Equations) -> dict[int, Expression]:
    """The laws that the model gives constraints, by the numbers of these."""
    given = {k: d.constraint.law for k, d in enumerate(equations.deviations)}
    return {k: in_rows(equations, law) for k, law in given.items() if law is not None}


def laws_of_run(equations: Equations, law: str | Mapping[str, str]) -> dict[int, Expression]:
    """The laws that are given with a run; the model's own ones where a single law is given for all others."""
    if not isinstance(law, str):
        system = equations.system
        known = [*(c.name for c in system.constraints), *(i.name for i in system.integrals if i.hold), *GROUPS]
        wrong = next((name for name in law if name not in known), None)
        if wrong is not None:
            raise bad(
                f"there is no constraint '{wrong}' for the law, nor such an integral that is held",
                nearest(wrong, known),
            )
    own = own_laws(equations)
    found: dict[int, Expression] = {}
    for k, d in enumerate(equations.deviations):
        group = POSITIONS if d.position is not None else VELOCITIES
        text = law if isinstance(law, str) else law.get(group)
        if not isinstance(law, str) and d.name in law:
            found[k] = read_law(equations, d.name, law[d.name])
        elif k in own:
            found[k] = own[k]
        elif text is not None:
            found[k] = read_law(equations, d.name, text)
        else:
            raise bad(f"the law says nothing about the constraint '{d.name}'", None)
    return found


def law_of_integral(equations: Equations, name: str, law: str | Mapping[str, str]) -> Expression | None:
    """The law that is given with a run for an integral that is held; one law for all is for constraints, if there are any."""
    if isinstance(law, str):
        text = None if equations.system.constraints else law
    else:
        text = law.get(name, law.get(INTEGRALS))
    return None if text is None else read_law(equations, name, text)


def read_law(equations: Equations, name: str, text: str) -> Expression:
    """The law of a constraint, or of an integral that is held, from its text."""
    orders = {c.name: c.order for c in equations.system.constraints}
    if name not in orders:
        orders |= {i.name: 1 for i in equations.system.integrals if i.hold}
    return checked(equations, name, parse(text, scope_of(equations, name, orders)))


def scope_of(equations: Equations, name: str, orders: Mapping[str, int]) -> Scope:
    """What may be named in a law, or in a coefficient that belongs to none: then ``name`` is empty."""
    system = equations.system
    forbidden = dict.fromkeys(system.inputs, "an input may appear in forces and rates only")
    scope = replace(system.scope, forbidden={**system.scope.forbidden, **forbidden})
    return law_scope(scope, name, orders)


def checked(equations: Equations, name: str, law: Expression) -> Expression:
    """A law in terms of the states of the equations; what is none is refused."""
    system, fault = equations.system, fault_of(law, name)
    if fault:
        hint = "'y' is a name of the model: call the deviation and its rate deviation and deviation'"
        raise bad(fault, hint if "y" in system.scope.symbols else "it is a function of deviations with F(0) = 0")
    return in_rows(equations, law)


def in_rows(equations: Equations, law: Expression) -> Expression:
    """A law of the model in terms of the states of the equations; constraints that do not act have no deviation."""
    held = {deviation_symbol(i.name) for i in equations.system.integrals if i.hold}
    acting = held | set(deviation_symbols(equations))
    gone = {s: ZERO for s in law.free_symbols if str(s).startswith("deviation ") and s not in acting}
    return equations.in_states(substitute(law, gone))


def general_law(
    equations: Equations, laws: Mapping[int, Expression], linear: Sequence[Expression], gains: Mapping[str, float]
) -> General:
    """Laws for some constraints, by their numbers, and F of the others over ``y`` and gains, with its linear part."""
    y = deviation_symbols(equations)
    acting = se.Symbol(ACTING)
    rows = tuple(acting * laws[k] if k in laws else row for k, row in enumerate(linear))
    places, speeds = positions_of(equations), velocities_of(equations)
    at_zero = dict.fromkeys(y, ZERO)
    table: list[list[Expression]] = [
        *([se.Integer(int(j == len(places) + i)) for j in range(len(y))] for i in range(len(places))),
        *([substitute(differentiate(rows[k], s), at_zero) for s in y] for k in (*places, *speeds)),
    ]
    return General(rows, y, table, tuple(equations.states), {**equations.system.constants, **gains})


def deviation_rates(equations: Equations, general: General, values: Mapping[str, float]) -> PerturbedRates:
    """ẏ = F(x, y) of y = (h, ḣ, f), with the constraint of each entry."""
    from svyaz.stabilise.lyapunov import PerturbedRates

    d, y = equations.deviations, general.y
    places, speeds = positions_of(equations), velocities_of(equations)
    p = len(places)
    rates = (*y[p : 2 * p], *(general.rows[k] for k in (*places, *speeds)))
    return PerturbedRates(y, rates, tuple(d[k].name for k in (*places, *places, *speeds)), values)


def correction_of(equations: Equations, rows: Sequence[Expression]) -> tuple[Expression, ...]:
    """What laws add to the constraint rows G q̈ + constraint_bias + correction = 0: -F, deviations in terms of the states."""
    meaning = meanings(equations)
    return tuple([-substitute(row, meaning) for row in rows])


def linear_rows(equations: Equations, blocks: Mapping[str, Sequence[Sequence[Expression]]]) -> list[Expression]:
    """F = A h + B ḣ + C f by position constraints and F h + D ḣ + E f by velocity constraints, over the symbols of y."""
    y = deviation_symbols(equations)
    places, speeds = positions_of(equations), velocities_of(equations)
    p = len(places)
    parts = (y[:p], y[p : 2 * p], y[2 * p :])
    rows: list[Expression] = [ZERO] * len(equations.deviations)
    for numbers, names in ((places, "ABC"), (speeds, "FDE")):
        for i, k in enumerate(numbers):
            terms = [
                entry * symbol
                for name, symbols in zip(names, parts, strict=True)
                if name in blocks
                for entry, symbol in zip(blocks[name][i], symbols, strict=True)
            ]
            rows[k] = add_up(terms) if terms else ZERO
    return rows


Matrix = list[list[Expression]]


def lagrange_rows(equations: Equations, mass: Matrix, stiffness: Matrix, damping: Matrix) -> list[Expression]:
    """dṽ/dt by the Lagrange equations of the deviations, in the order of y."""
    for name, matrix in (("mass", mass), ("stiffness", stiffness), ("damping", damping)):
        _refuse_unsymmetric(name, matrix)
    _refuse_unfit_mass(equations, mass)
    p, s = len(stiffness), len(mass)
    y = deviation_symbols(equations)
    place, speed = y[:p], y[p:]
    flow = {se.Symbol(q): rate for q, rate in equations.system.coordinate_rates.items()}
    flow |= {TIME: ONE, **dict(zip(place, speed[:p], strict=True))}
    sides = []
    for i in range(s):
        side = -add_up((total_derivative(mass[i][j], flow) + damping[i][j]) * speed[j] for j in range(s))
        if i < p:
            terms = [differentiate(mass[j][k], place[i]) * speed[j] * speed[k] for j in range(s) for k in range(s)]
            side += HALF * add_up(terms) - add_up(stiffness[i][j] * place[j] for j in range(p))
        sides.append(side)
    return _solve(mass, sides)


def _solve(matrix: Matrix, sides: Sequence[Expression]) -> list[Expression]:
    """The solution of a positive definite system by elimination, which needs no pivoting."""
    rows, right = [list(row) for row in matrix], list(sides)
    for k in range(len(rows)):
        for i in range(k + 1, len(rows)):
            if is_zero(rows[i][k]):
                continue
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
            right[i] -= factor * right[k]
    for k in reversed(range(len(rows))):
        right[k] = (right[k] - add_up(rows[k][j] * right[j] for j in range(k + 1, len(rows)))) / rows[k][k]
    return right


def _refuse_unsymmetric(name: str, matrix: Matrix) -> None:
    for i, row in enumerate(matrix):
        for j in range(i):
            gap = se.expand(row[j] - matrix[j][i])
            rounding = is_numeric([[row[j], gap]]) and abs(float(gap)) <= 1e-12 * abs(float(row[j]))
            if not (rounding or is_zero(gap)):
                raise bad(f"the matrix '{name}' of the extended Lagrangian must be symmetric", None)


def _refuse_unfit_mass(equations: Equations, mass: Matrix) -> None:
    """The mass of deviations depends on positions and time, and is positive definite where the motion begins."""
    system = equations.system
    rates = {str(s) for s in deviation_symbols(equations)[len(positions_of(equations)) :]}
    moving = {*system.velocities, *rates}
    wrong = sorted(set().union(*(names_in(e) for row in mass for e in row)) & moving)
    if wrong:
        raise bad(f"the matrix 'mass' may depend on positions and time only, not on {wrong[0]}", None)
    at = {**system.constants, **dict(zip(system.states, system.initial_state(), strict=True)), "t": 0.0}
    at |= {str(s): 0.0 for s in deviation_symbols(equations)}
    values = np.array([[evaluate(e, at) for e in row] for row in mass]).reshape(len(mass), len(mass))
    if len(values) and (not np.isfinite(values).all() or eigvalsh(values).min() <= 0):
        raise bad("the matrix 'mass' of the extended Lagrangian must be positive definite", None)


def matrix_of(equations: Equations, value: Block, shape: tuple[int, int], what: str) -> Matrix:
    """A block as a matrix of expressions of the state; one entry stands for a multiple of the unit matrix."""
    orders = {c.name: c.order for c in equations.system.constraints}

    def entry(given: object) -> Expression:
        if is_number(given):
            return se.RealDouble(finite(f"an entry of {what}", given))
        if not isinstance(given, str):
            raise bad(f"an entry of {what} must be a number or an expression in quotes", None)
        return parse(given, replace(scope_of(equations, "", orders), what=what))

    if is_number(value) or isinstance(value, str):
        if shape[0] != shape[1]:
            raise bad(f"{what} couples {shape[0]} rows to {shape[1]}: it must be given as a matrix", None)
        diagonal = entry(value)
        return [[diagonal if i == j else ZERO for j in range(shape[1])] for i in range(shape[0])]
    rows = value if isinstance(value, list | tuple) else []
    got = (len(rows), len(rows[0]) if rows and isinstance(rows[0], list | tuple) else 0)
    if got != shape or any(not isinstance(row, list | tuple) or len(row) != shape[1] for row in rows):
        raise bad(f"{what} must be {shape[0]} × {shape[1]} for these constraints; it is {got[0]} × {got[1]}", None)
    return [[entry(e) for e in row] for row in rows]


def is_numeric(matrix: Matrix) -> bool:
    return all(e.is_Number for row in matrix for e in row)


def numbers_of(matrix: Matrix, shape: tuple[int, int]) -> Array:
    return np.array([[float(e) for e in row] for row in matrix], dtype=float).reshape(shape)
