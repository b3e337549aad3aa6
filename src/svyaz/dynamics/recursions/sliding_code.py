"""Motions of trees that are held on surfaces at which forces jump: their code, and what is watched along them (see
``sliding_loop``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from weakref import finalize

import numpy as np
import symengine as se
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.dynamics.recursions.sliding_loop import SlidingModel, sliding_step_function, sliding_watch_function
from svyaz.expr import ONE, TIME, Surface, total_derivative
from svyaz.integrate import Flow, along, memory_at, record_type
from svyaz.program import Native, build, compile_program

if TYPE_CHECKING:
    from svyaz.dynamics.recursions.closed_code import ClosedCode
    from svyaz.dynamics.recursions.closure_watch import TreeWatch


@dataclass(frozen=True)
class SlidingCode:
    """The loop over bodies on surfaces that are slid along; ``native`` is the program of ṡ, ``sides`` their names."""

    inner: ClosedCode
    native: Native
    sides: tuple[str, ...]

    @property
    def address(self) -> int:
        return sliding_step_function().address

    @property
    def size(self) -> int:
        """Number of states."""
        return len(self.inner.rows.system.states)

    def constants(self, values: Mapping[str, float], *watched: object) -> Array:
        """What the function takes as ``c``, a workspace of its own; what it points to besides stays alive as long."""
        inner, own = self.inner.constants(values), self.native.constants(values)
        n, m = self.size, len(self.sides)
        sizes = {"state": 1 + n + m, "inputs": 1 + 2 * n, "effect": m * m, "drift": m, "pivots": m, "rates": n}
        memory = {name: np.zeros(size) for name, size in sizes.items()}
        model = np.zeros(1, record_type(SlidingModel))
        for name, array in memory.items():
            model[name] = array.ctypes.data
        model["loop"] = (self.inner.address, inner.ctypes.data)
        model["program"] = (self.native.address, own.ctypes.data)
        model["size"], model["surfaces"] = n, m
        model["multipliers"] = self.inner.multipliers(inner).ctypes.data
        finalize(model, _release, (self, inner, own, memory, watched))
        return model.view(np.float64)

    def evaluate(self, rows: Array, constants: Array) -> Array:
        """Rates (k, n) along rows [t, x…], or (n,) at one."""
        found = along(Flow(self.address, constants, self.size, self), np.atleast_2d(rows))
        return found if rows.ndim > 1 else found[0]

    def solved(self, rows: Array, constants: Array) -> tuple[Array, Array]:
        """Rates (k, n) and multipliers (k, m), by the loop with the sides that were found."""
        rates, multipliers = np.empty((len(rows), self.size)), np.empty((len(rows), len(self.inner.rows.rows)))
        found = memory_at(int(_model_in(constants)["multipliers"][0]), multipliers.shape[1])
        for k, row in enumerate(rows):
            rates[k] = self.evaluate(row, constants)
            multipliers[k] = found if np.isfinite(rates[k]).all() else np.nan
        return rates, multipliers

    def sides_along(self, rows: Array, constants: Array) -> Array:
        """σ (k, m) of the surfaces."""
        state = memory_at(int(_model_in(constants)["state"][0]), 1 + self.size + len(self.sides))
        found = np.empty((len(rows), len(self.sides)))
        for row, sides in zip(rows, found, strict=True):
            rates = self.evaluate(row, constants)
            sides[:] = state[1 + self.size :] if np.isfinite(rates).all() else np.nan
        return found


def _model_in(constants: Array) -> NDArray[np.void]:
    """The ``SlidingModel`` in the constants, (1,)."""
    return constants.view(record_type(SlidingModel))


def _release(_kept: object) -> None:
    """What a workspace needs lives as long as its words."""


def sliding_code(inner: ClosedCode, surfaces: Sequence[Surface]) -> SlidingCode:
    """The code of bodies whose drive is given the sides of these surfaces, held on them."""
    system = inner.rows.system
    paces = {se.Symbol(name): se.Symbol(f"pace of {name}") for name in system.states}
    rates = [total_derivative(surface.expression, {**paces, TIME: ONE}) for surface in surfaces]
    inputs = ("t", *system.states, *map(str, paces.values()))
    labelled = [(str(k), e) for k, e in enumerate(rates)]
    native = compile_program(build(labelled, inputs=inputs, parameters=tuple(system.constants)))
    return SlidingCode(inner, native, tuple(str(surface.side) for surface in surfaces))


@dataclass(frozen=True)
class SlidingWatch:
    """Conditions g (m,) along a motion that is held: ``watch`` tells them of states with their sides [t, x, σ].

    What was made of the last values is kept in ``made``: a watch serves one run at a time.
    """

    code: SlidingCode
    watch: TreeWatch
    made: dict[int, tuple[Array, Array]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Of the only table."""
        return self.watch.shapes

    @property
    def address(self) -> int:
        """Of the native code."""
        return sliding_watch_function().address

    @property
    def constants(self) -> Array:
        """What the native code takes as ``c``: its own workspace."""
        inner = self.watch.constants
        if id(inner) not in self.made:
            self.made.clear()
            found = self.code.constants(self.watch.values, inner)
            _model_in(found)["watched"] = (self.watch.address, inner.ctypes.data)
            self.made[id(inner)] = inner, found
        return self.made[id(inner)][1]

    def with_values(self, values: Mapping[str, float]) -> SlidingWatch:
        """The same with other values of some parameters."""
        return replace(self, watch=self.watch.with_values(values))

    def __call__(self, rows: Array) -> dict[str, Array]:
        """g at one row or at many; not a number where the sides are not determined."""
        found = along(Flow(self.address, self.constants, self.shapes["g"][0], self), np.atleast_2d(rows))
        return {"g": found if rows.ndim > 1 else found[0]}

    def sizes(self, row: Array) -> Array:
        """The magnitudes of the terms of g (m,) at one row."""
        sides = self.code.sides_along(row[None, :], self.constants)
        return self.watch.sizes(np.concatenate([row, sides[0]]))
