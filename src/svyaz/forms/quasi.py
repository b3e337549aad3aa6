"""Quasi-velocities: q̇ = N(q, t) u + n(q, t), where the columns of N span what the velocity constraints allow, α N = 0.

The model may name them ([quasi], linear in the velocities); else a basis is made from the constraints solved for the
dependent velocities, every column multiplied by its denominators: for a blade, y' = x' tan φ, this is (cos φ, sin φ),
which is regular at every heading.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import symengine as se

from svyaz.expr import (
    ONE,
    ZERO,
    Expression,
    ModelError,
    Problem,
    add_up,
    combine,
    evaluate,
    product,
    quadratic,
    velocity,
)
from svyaz.forms.equations import Equations
from svyaz.forms.reduced_rows import Kinematics
from svyaz.forms.reduction import Chart, VelocityRows, denominators, solve, with_sines
from svyaz.forms.reduction_choice import SINGULAR_CHART, some_chart, values_at
from svyaz.model import System

PREFIXES = ("u", "w", "s", "nu", "quasi")


@dataclass(frozen=True)
class Basis:
    """N (n, k) and n (n,) in the order of the coordinates, with a name for each column.

    ``dependent`` are the dependent coordinates of the chart from which it was made, if it was; ``notes`` tell so.
    """

    names: tuple[str, ...]
    matrix: tuple[tuple[Expression, ...], ...]
    drift: tuple[Expression, ...]
    dependent: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def kinematics(self, coordinates: Sequence[str]) -> Kinematics:
        """The velocities in terms of the quasi-velocities."""
        u = tuple(se.Symbol(name) for name in self.names)
        rates = {
            q: add_up([*(a * x for a, x in zip(row, u, strict=True)), rest])
            for q, row, rest in zip(coordinates, self.matrix, self.drift, strict=True)
        }
        return Kinematics(rates, u)


def basis(form: str, origin: Equations, rows: VelocityRows, dependent: Sequence[str] | None) -> Basis:
    """The quasi-velocities that the model names; a basis of our own where it names none or other ones are asked for."""
    if origin.system.quasi and dependent is None:
        return _named_basis(form, origin, rows)
    made = _own_basis(origin.system, some_chart(form, rows, origin, dependent))
    if dependent is not None or not made.dependent or not made.names:
        return made
    solved = ", ".join(f"{q}'" for q in made.dependent)
    note = f"the model names no [quasi]: {', '.join(made.names)} come from the constraints solved for {solved}"
    return replace(made, notes=(note,))


def _own_basis(system: System, chart: Chart) -> Basis:
    """A column for each independent coordinate: (B_j, e_j) times what clears its denominators."""
    names = _fresh_names(system, len(chart.independent))
    places = {q: k for k, q in enumerate(chart.dependent)}
    columns = []
    for j, independent in enumerate(chart.independent):
        entries = [row[j] for row in chart.coefficients]
        factor = product(ONE, denominators(entries).items())
        column = {q: combine(factor * entries[k]) for q, k in places.items()}
        column[independent] = factor
        columns.append([column.get(q, ZERO) for q in system.coordinates])
    drift = [chart.drift[places[q]] if q in places else ZERO for q in system.coordinates]
    matrix = tuple(zip(*columns, strict=True)) if columns else ((),) * len(drift)
    return Basis(names, matrix, tuple(drift), chart.dependent)


def _named_basis(form: str, origin: Equations, rows: VelocityRows) -> Basis:
    """Constraints and definitions of the quasi-velocities solved together for all velocities."""
    system = origin.system
    v = [velocity(q) for q in system.coordinates]
    free = len(v) - len(rows.matrix)
    if len(system.quasi) != free:
        names = ", ".join(f"'{name}'" for name in system.quasi)
        message = f"{len(rows.matrix)} velocity constraints leave {free} quasi-velocities to {len(v)} coordinates, "
        raise ModelError([Problem(message + f"and [quasi] names {len(system.quasi)}: {names}")])
    matrix, sides = [list(row) for row in rows.matrix], [[*([ZERO] * free), -rest] for rest in rows.rest]
    for k, (name, expression) in enumerate(system.quasi.items()):
        terms = quadratic(with_sines(expression), v)
        if terms is None or any(len(key) == 2 for key in terms):
            raise ModelError([Problem(f"the quasi-velocity '{name}' is not linear in the velocities")])
        matrix.append([terms.get((i,), ZERO) for i in range(len(v))])
        sides.append([*(ONE if j == k else ZERO for j in range(free)), -terms.get((), ZERO)])
    solution = solve(matrix, sides)
    if solution is None or not _regular(matrix, values_at(origin)):
        where = "" if solution is None else "at the initial state "
        message = f"{where}the quasi-velocities and the constraints do not determine the velocities: the form '{form}' "
        raise ModelError([Problem(message + "has no basis", None, "define other quasi-velocities, or none")])
    return Basis(tuple(system.quasi), tuple(tuple(row[:-1]) for row in solution), tuple(row[-1] for row in solution))


def _regular(matrix: Sequence[Sequence[Expression]], values: Mapping[str, float]) -> bool:
    """Is the determinant, rows of length one, different from zero?"""
    numbers = np.array([[evaluate(e, values) for e in row] for row in matrix])
    lengths = np.linalg.norm(numbers, axis=1, keepdims=True)
    return bool(abs(np.linalg.det(numbers / np.where(lengths > 0.0, lengths, 1.0))) > SINGULAR_CHART)


def _fresh_names(system: System, count: int) -> tuple[str, ...]:
    taken = {*system.constants, *system.states, *system.coordinates, *system.words.get("definitions", {})}
    for prefix in PREFIXES:
        names = tuple(f"{prefix}{k + 1}" for k in range(count))
        if taken.isdisjoint(names):
            return names
    return tuple(f"quasi velocity {k + 1}" for k in range(count))
