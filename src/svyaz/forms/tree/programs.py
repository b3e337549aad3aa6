"""The dynamics of a tree as programs: inertia matrix, forces and accelerations at a state.

The inertia matrix is the one written for speed; velocities and forces go by Newton–Euler over base parameters, whose many
zeros make it short; accelerations solve M v̇ = τ - bias inside the program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import symengine as se

from svyaz.expr import Expression
from svyaz.forms.tree.recursions.algebra import expressions
from svyaz.forms.tree.recursions.composite import mass_matrix
from svyaz.forms.tree.recursions.newton_euler import inverse_dynamics
from svyaz.forms.tree.recursions.places import Placed, placed_along_axes, welded
from svyaz.forms.tree.recursions.regroup import placed_link
from svyaz.forms.tree.short_formulas.inertia import AIMS, fastest, weighted_cost, write_inertia
from svyaz.model import Tree
from svyaz.program import Linear, Program, build_sequence, choose_orders


class TreePrograms:
    """Programs of M(q), bias(q, v), gravity(q), inverse dynamics (q, v, v̇) and forward dynamics (q, v, τ), written when
    they are first asked for; ``values`` of the parameters decide the order of eliminations alone.
    """

    def __init__(self, tree: Tree, values: Mapping[str, float]) -> None:
        self.tree = tree
        self.values = dict(values)
        self._whole = welded(tree, expressions())
        self._speeds = self._symbols("")

    @cached_property
    def mass(self) -> Program:
        """M, row by row: both triangles."""
        program = write_inertia(self.tree, tuple(self.values), "time").program
        size = len(self.tree.velocities)
        lower = {(i, j): program.outputs[i * (i + 1) // 2 + j][1] for i in range(size) for j in range(i + 1)}
        entries = ((f"M{i + 1}_{j + 1}", lower[max(i, j), min(i, j)]) for i in range(size) for j in range(size))
        return replace(program, outputs=tuple(entries))

    @cached_property
    def bias(self) -> Program:
        """Velocity and gravity terms."""
        return self._force_program(self._speeds, None)

    @cached_property
    def gravity(self) -> Program:
        """The forces that hold the tree at rest."""
        return self._force_program(None, None)

    @cached_property
    def inverse(self) -> Program:
        """Forces M v̇ + bias."""
        return self._force_program(self._speeds, self._symbols("'"))

    @cached_property
    def forward(self) -> Program:
        """Accelerations v̇ = M⁻¹ (τ - bias)."""
        forces, found = self._symbols(" force"), self._symbols("'")
        definitions: Mapping[se.Symbol, Expression] = {}
        if not self._whole.by_rates:
            matrix = mass_matrix(self._links, expressions())
        else:
            best = fastest(self._whole, tuple(self.values))
            definitions, matrix = best.sheet.definitions, best.matrix
        bias = self._forces(self._speeds, None)
        side = [tau - b for tau, b in zip(forces, bias, strict=True)]
        program = build_sequence(
            definitions,
            list(zip(self.tree.velocities, found, strict=True)),
            inputs=(*self.tree.coordinates, *self.tree.velocities, *map(str, forces)),
            parameters=tuple(self.values),
            cost=weighted_cost(AIMS["time"]),
            systems=[Linear(matrix, [side], [found], symmetric=True)],
        )
        sample = dict.fromkeys(program.inputs, 0.3)
        return choose_orders(program, self.values, sample, often=True)

    def _symbols(self, suffix: str) -> list[se.Symbol]:
        return [se.Symbol(f"{v}{suffix}") for v in self.tree.velocities]

    @cached_property
    def _links(self) -> list[Placed]:
        """The bodies over base parameters."""
        if not self._whole.by_rates:
            return placed_along_axes(self._whole, {q: se.Symbol(q) for q in self._whole.coordinates}, expressions())
        return [placed_link(self._whole, link) for link in fastest(self._whole, tuple(self.values)).links]

    @cached_property
    def _constants(self) -> Mapping[se.Symbol, Expression]:
        """Names of constants that the links are written in."""
        if not self._whole.by_rates:
            return {}
        return fastest(self._whole, tuple(self.values)).constants

    def _forces(
        self, velocities: Sequence[se.Symbol] | None, accelerations: Sequence[se.Symbol] | None
    ) -> list[Expression]:
        return inverse_dynamics(self._links, self._whole.gravity, velocities, accelerations, expressions())

    def _force_program(
        self, velocities: Sequence[se.Symbol] | None, accelerations: Sequence[se.Symbol] | None
    ) -> Program:
        named = list(zip(self.tree.velocities, self._forces(velocities, accelerations), strict=True))
        inputs = (*self.tree.coordinates, *map(str, velocities or ()), *map(str, accelerations or ()))
        cost = weighted_cost(AIMS["time"])
        return build_sequence(self._constants, named, inputs=inputs, parameters=tuple(self.values), cost=cost)
