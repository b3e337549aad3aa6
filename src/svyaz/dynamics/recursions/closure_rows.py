"""Constraints of a tree by points of its bodies (see ``forms.tree.point_rows``), as native code for recursions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.dynamics import magnitude
from svyaz.dynamics.recursions.tree_memory import moving_tree
from svyaz.expr import (
    ZERO,
    Expression,
    evaluate,
    substitute,
)
from svyaz.forms import PointRow, last_slices, point_rows, points_named
from svyaz.model import GROUND, Constraint, System, tree_of
from svyaz.program import Function, Native, build, compile_program, function, remembered

AXES = "xyz"


@dataclass(frozen=True)
class ClosureRows:
    """The constraints of a tree. ``bodies`` (among those that move; -1: the ground) carry ``points`` at ``places`` (p, 3)."""

    system: System
    points: tuple[str, ...]
    bodies: tuple[int, ...]
    places: Array
    rows: tuple[PointRow, ...]

    @property
    def inputs(self) -> tuple[str, ...]:
        """t, all states, q̈, then P, Ṗ, P̈ of each point."""
        system = self.system
        accelerations = [f"{v}'" for v in system.velocities]
        points = [f"{name}_{axis}{dots}" for name in self.points for dots in ("", "'", "''") for axis in AXES]
        return ("t", *system.states, *accelerations, *points)

    @cached_property
    def pushes(self) -> list[tuple[int, int]]:
        """(row, point) of all gradients by points, in the order in which the program gives them."""
        return [(k, p) for k, row in enumerate(self.rows) for p in row.by_points]

    @cached_property
    def pulls(self) -> list[tuple[int, int]]:
        """(row, freedom) of all gradients by freedoms."""
        return [(k, q) for k, row in enumerate(self.rows) for q in row.by_freedoms]

    def _gradients(self) -> list[Expression]:
        found = [e for row in self.rows for force in row.by_points.values() for e in force]
        return found + [e for row in self.rows for e in row.by_freedoms.values()]

    def native(self, correction: Sequence[Expression], gains: Sequence[str]) -> Native:
        """Of each row h, its rate, and what its multiplier must bring to zero; then all gradients by points and by freedoms."""
        named: dict[se.Symbol, Expression] = {}
        for row in self.rows:
            name = row.constraint.name
            named |= {rate_symbol(name): row.rate}
            named |= {} if row.position is None else {deviation_symbol(name): row.position}
        wanted = [row.second + substitute(e, named) for row, e in zip(self.rows, correction, strict=True)]
        outputs = [e for row, w in zip(self.rows, wanted, strict=True) for e in (row.position or ZERO, row.rate, w)]
        labelled = [(str(k), e) for k, e in enumerate([*outputs, *self._gradients()])]
        return compile_program(build(labelled, inputs=self.inputs, parameters=(*self.system.constants, *gains)))

    @property
    def gradients(self) -> int:
        """How many numbers the gradients are."""
        return 3 * len(self.pushes) + len(self.pulls)

    @cached_property
    def terms(self) -> Function:
        """The magnitudes of the terms of h and of its rate, along rows of inputs."""
        tables = {
            "position_terms": [magnitude(row.position or ZERO) for row in self.rows],
            "velocity_terms": [magnitude(row.rate) for row in self.rows],
        }
        return function(tables, self.inputs, self.system.constants)


def deviation_symbol(constraint: str) -> se.Symbol:
    """Stands for h of a constraint in what is added to its row."""
    return se.Symbol(f"h of {constraint}")


def rate_symbol(constraint: str) -> se.Symbol:
    """Stands for the rate of h, or for f."""
    return se.Symbol(f"rate of {constraint}")


MOST_SETS = 64
"""Sets of constraints whose rows are kept: events switch between them."""


@remembered
def _known_rows(system: System) -> dict[tuple[int, ...], ClosureRows]:
    return {}


def constraint_rows(system: System, constraints: Sequence[Constraint]) -> ClosureRows:
    """The rows of these constraints, which are kept with the system."""
    known, key = _known_rows(system), tuple(map(id, constraints))
    if key not in known:
        while len(known) >= MOST_SETS:
            del known[next(iter(known))]
        known[key] = rows_of(system, constraints)
    return known[key]


def rows_of(system: System, constraints: Sequence[Constraint], further: Sequence[Expression] = ()) -> ClosureRows:
    """The constraints of a tree; its bodies are those with one velocity each, of a free joint the last. The points are those
    that they name, and those of ``further`` expressions.
    """
    tree = tree_of(system)
    moving = dict(
        zip((k for k, b in enumerate(tree.bodies) if b.freedoms), last_slices(moving_tree(system)), strict=True)
    )
    used = points_named(system, constraints, further)
    bodies, places = [], []
    for name in used:
        point = system.points[name]
        body, at = point.body, list(point.at)
        while body != GROUND and body not in moving:
            at = [a + b for a, b in zip(at, tree.bodies[body].pole, strict=True)]
            body = tree.bodies[body].base
        bodies.append(GROUND if body == GROUND else moving[body])
        places.append([float(evaluate(a, system.constants)) for a in at])
    rows = point_rows(system, constraints, used)
    return ClosureRows(system, tuple(used), tuple(bodies), np.array(places).reshape(-1, 3), rows)
