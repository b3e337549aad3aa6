"""The dynamics of a tree as native code, for one state or for batches of states.

The inertia matrix is the one written for speed; velocities and forces go by Newton–Euler over base parameters, whose many
zeros make it short; accelerations solve M v̇ = τ - bias inside the program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import symengine as se
from numpy.typing import ArrayLike

from svyaz.arrays import Array
from svyaz.expr import Expression
from svyaz.forms.tree.recursions.algebra import expressions
from svyaz.forms.tree.recursions.composite import mass_matrix
from svyaz.forms.tree.recursions.newton_euler import inverse_dynamics
from svyaz.forms.tree.recursions.places import Placed, placed, welded
from svyaz.forms.tree.recursions.regroup import placed_link
from svyaz.forms.tree.short_formulas.inertia import AIMS, fastest, weighted_cost, write_inertia
from svyaz.model import Tree
from svyaz.program import Linear, Native, Program, build_sequence, choose_orders, compile_program


class NativeTree:
    """Compiled when first asked for; all methods take (n,) or a batch (k, n)."""

    def __init__(self, tree: Tree, values: Mapping[str, float]) -> None:
        self.tree = tree
        self.values = dict(values)
        self._whole = welded(tree, expressions())
        self._speeds = [se.Symbol(v) for v in tree.velocities]

    def mass_matrix(self, q: ArrayLike) -> Array:
        """M, (n, n) or (k, n, n)."""
        triangle = self._run(self._mass, q)
        size = len(self.tree.velocities)
        rows, columns = np.tril_indices(size)
        full = np.empty((*triangle.shape[:-1], size, size))
        full[..., rows, columns] = full[..., columns, rows] = triangle
        return full

    def bias(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Velocity and gravity terms."""
        return self._run(self._bias, q, v)

    def gravity_terms(self, q: ArrayLike) -> Array:
        """The forces that hold the tree at rest."""
        return self._run(self._gravity, q)

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, accelerations: ArrayLike) -> Array:
        """Forces M v̇ + bias."""
        return self._run(self._inverse, q, v, accelerations)

    def forward_dynamics(self, q: ArrayLike, v: ArrayLike, forces: ArrayLike) -> Array:
        """Accelerations v̇."""
        return self._run(self.forward_code, q, v, forces)

    def _run(self, native: Native, *parts: ArrayLike) -> Array:
        x = np.concatenate([np.asarray(part, dtype=float) for part in parts], axis=-1)
        return native.evaluate(x, native.constants(self.values))

    @cached_property
    def _mass(self) -> Native:
        return compile_program(write_inertia(self.tree, tuple(self.values), "time").program)

    @cached_property
    def _bias(self) -> Native:
        return self._compiled(self._forces(self._speeds, None), self._speeds)

    @cached_property
    def _gravity(self) -> Native:
        return self._compiled(self._forces(None, None), [])

    @cached_property
    def _inverse(self) -> Native:
        wanted = self._symbols("'")
        return self._compiled(self._forces(self._speeds, wanted), [*self._speeds, *wanted])

    @cached_property
    def forward_code(self) -> Native:
        """The compiled forward dynamics: inputs q, v, τ side by side."""
        return compile_program(self._forward_program())

    def _symbols(self, suffix: str) -> list[se.Symbol]:
        return [se.Symbol(f"{v}{suffix}") for v in self.tree.velocities]

    @cached_property
    def _links(self) -> list[Placed]:
        """The bodies over base parameters."""
        if not self._whole.by_rates:
            return placed(self._whole, {q: se.Symbol(q) for q in self._whole.coordinates}, expressions())
        return [placed_link(self._whole, link) for link in fastest(self._whole, tuple(self.values)).links]

    @cached_property
    def _constants(self) -> Mapping[se.Symbol, Expression]:
        """Names of constants that the links are written in."""
        if not self._whole.by_rates:
            return {}
        return fastest(self._whole, tuple(self.values)).constants

    @cached_property
    def _gravity_vector(self) -> tuple:
        return self._whole.gravity

    def _forces(
        self, velocities: Sequence[se.Symbol] | None, accelerations: Sequence[se.Symbol] | None
    ) -> list[Expression]:
        return inverse_dynamics(self._links, self._gravity_vector, velocities, accelerations, expressions())

    def _compiled(self, outputs: Sequence[Expression], further: Sequence[se.Symbol]) -> Native:
        named = list(zip(self.tree.velocities, outputs, strict=True))
        inputs = (*self.tree.coordinates, *map(str, further))
        cost = weighted_cost(AIMS["time"])
        return compile_program(
            build_sequence(self._constants, named, inputs=inputs, parameters=tuple(self.values), cost=cost)
        )

    def _forward_program(self) -> Program:
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
        return choose_orders(program, self.values, sample)
