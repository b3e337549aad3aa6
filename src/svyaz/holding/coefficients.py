"""Coefficients of the perturbation equation that are functions of the state: blocks A … E, and the matrices of an
extended Lagrangian.

With 2T̃ = ṽᵀÃ(q, q̌)ṽ, 2P̃ = q̌ᵀH̃(q)q̌, 2D̃ = ṽᵀB(q, q̌)ṽ for q̌ = h and ṽ = (ḣ, f) the Lagrange equations of the deviations are

    Ã dṽ/dt = -H̃ q̌ - (dÃ/dt + B) ṽ + ½ ṽᵀ(∂Ã/∂q̌)ṽ,

the first and the last term in the rows of positions alone: Mukharlyamov (3.17), with the ½ that is missing there. Of the
extended Lagrangian only this is taken: what its terms would add to the motion itself is of second order in the deviations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import symengine as se

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
from svyaz.holding.laws import checked, deviation_symbols, linear_rows, scope_of
from svyaz.holding.request import Block, bad, finite
from svyaz.matrices import eigvalsh
from svyaz.model import is_number

Matrix = list[list[Expression]]


def has_text(given: Mapping[str, Block]) -> bool:
    """Is any entry an expression?"""
    return any(
        isinstance(value, str)
        or (
            isinstance(value, Sequence)
            and any(isinstance(e, str) for row in value if isinstance(row, Sequence) for e in row)
        )
        for value in given.values()
    )


def entries_of(equations: Equations, value: Block, shape: tuple[int, int], what: str) -> Matrix:
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
    if len(rows) != shape[0] or any(not isinstance(row, list | tuple) or len(row) != shape[1] for row in rows):
        raise bad(f"{what} must be {shape[0]} × {shape[1]} for these constraints, a list of rows", None)
    return [[entry(e) for e in row] for row in rows]


def block_rows(equations: Equations, given: Mapping[str, Block]) -> dict[int, Expression]:
    """F of blocks that are functions of the state, by the numbers of the constraints."""
    p = sum(d.position is not None for d in equations.deviations)
    v = len(equations.deviations) - p
    shapes = {"A": (p, p), "B": (p, p), "C": (p, v), "D": (v, p), "E": (v, v)}
    blocks = {key: entries_of(equations, value, shapes[key], f"the block {key}") for key, value in given.items()}
    return _checked(equations, linear_rows(equations, blocks))


def extended_rows(equations: Equations, given: Mapping[str, Block]) -> dict[int, Expression]:
    """F of an extended Lagrangian with matrices that are functions of the state, by the numbers of the constraints."""
    p = sum(d.position is not None for d in equations.deviations)
    s = len(equations.deviations)
    shapes = {"mass": (s, s), "stiffness": (p, p), "damping": (s, s)}
    default: dict[str, Block] = {"mass": 1.0, "stiffness": 0.0, "damping": 0.0}
    matrices = {
        key: entries_of(equations, given.get(key, default[key]), shape, f"the matrix '{key}'")
        for key, shape in shapes.items()
    }
    for key, matrix in matrices.items():
        _refuse_unsymmetric(key, matrix)
    mass, stiffness, damping = matrices["mass"], matrices["stiffness"], matrices["damping"]
    _refuse_unfit_mass(equations, mass)
    y = deviation_symbols(equations)
    place, speed = y[:p], y[p:]
    flow = {se.Symbol(q): rate for q, rate in equations.system.coordinate_rates.items()}
    flow |= {TIME: ONE, **dict(zip(place, speed[:p], strict=True))}
    sides = []
    for i in range(s):
        drag = add_up((total_derivative(mass[i][j], flow) + damping[i][j]) * speed[j] for j in range(s))
        pull, bend = ZERO, ZERO
        if i < p:
            pull = add_up(stiffness[i][j] * place[j] for j in range(p))
            terms = [differentiate(mass[j][k], place[i]) * speed[j] * speed[k] for j in range(s) for k in range(s)]
            bend = HALF * add_up(terms)
        sides.append(bend - pull - drag)
    found = _solved(mass, sides)
    numbers = [k for k, d in enumerate(equations.deviations) if d.position is not None]
    numbers += [k for k, d in enumerate(equations.deviations) if d.position is None]
    rows = [found[numbers.index(k)] for k in range(s)]
    return _checked(equations, rows)


def _checked(equations: Equations, rows: Sequence[Expression]) -> dict[int, Expression]:
    return {
        k: checked(equations, d.name, row) for k, (d, row) in enumerate(zip(equations.deviations, rows, strict=True))
    }


def _refuse_unsymmetric(name: str, matrix: Matrix) -> None:
    for i, row in enumerate(matrix):
        for j in range(i):
            if not is_zero(se.expand(row[j] - matrix[j][i])):
                raise bad(f"the matrix '{name}' of the extended Lagrangian must be symmetric", None)


def _refuse_unfit_mass(equations: Equations, mass: Matrix) -> None:
    """The mass of deviations depends on positions and time, and is positive definite where the motion begins."""
    system = equations.system
    rates = {str(s) for s in deviation_symbols(equations)[sum(d.position is not None for d in equations.deviations) :]}
    moving = {*system.velocities, *rates}
    wrong = sorted(set().union(*(names_in(e) for row in mass for e in row)) & moving)
    if wrong:
        raise bad(f"the matrix 'mass' may depend on positions and time only, not on {wrong[0]}", None)
    at = {**system.constants, **dict(zip(system.states, system.initial_state(), strict=True)), "t": 0.0}
    at |= {str(s): 0.0 for s in deviation_symbols(equations)}
    values = np.array([[evaluate(e, at) for e in row] for row in mass]).reshape(len(mass), len(mass))
    if len(values) and (not np.isfinite(values).all() or eigvalsh(values).min() <= 0):
        raise bad("the matrix 'mass' of the extended Lagrangian must be positive definite", None)


def _solved(matrix: Matrix, sides: Sequence[Expression]) -> list[Expression]:
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
