"""Coefficients of the perturbation equation: blocks and the matrices of an extended Lagrangian, as functions of the state.

With 2T̃ = ṽᵀÃ(q, q̌)ṽ, 2P̃ = q̌ᵀH̃(q)q̌, 2D̃ = ṽᵀB(q, q̌)ṽ for q̌ = h and ṽ = (ḣ, f) the Lagrange equations of the deviations are

    Ã dṽ/dt = -H̃ q̌ - (dÃ/dt + B) ṽ + ½ ṽᵀ(∂Ã/∂q̌)ṽ,

the first and the last term in the rows of positions alone: Mukharlyamov (3.17), with the ½ that is missing there. Of the
extended Lagrangian only this is taken: what its terms would add to the motion itself is of second order in the deviations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import (
    HALF,
    ONE,
    TIME,
    ZERO,
    Expression,
    add_up,
    differentiate,
    evaluate,
    is_zero,
    names_in,
    parse,
    total_derivative,
)
from svyaz.forms import Equations
from svyaz.holding.laws import deviation_symbols, positions_of, scope_of
from svyaz.holding.request import Block, bad, finite
from svyaz.matrices import eigvalsh
from svyaz.model import is_number

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
