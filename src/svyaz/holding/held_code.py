"""Integrals of trees that recursions run, held by native code around that of the rates (see ``held_loop``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from weakref import finalize

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import gradient, is_zero
from svyaz.forms import Equations, RateCode
from svyaz.holding.held_loop import held_function
from svyaz.holding.integrals import HeldIntegral, constants_of, named_rates, wanted
from svyaz.integrate import Flow, along
from svyaz.program import Native, build, compile_program


@dataclass(frozen=True)
class HeldCode:
    """Rates with what holds integrals; ``inner`` gives those without. ``places``: integral and state of each entry of ∇g."""

    inner: RateCode
    native: Native
    places: tuple[tuple[int, int], ...]
    states: int
    count: int

    @property
    def address(self) -> int:
        return held_function().address

    def constants(self, values: Mapping[str, float]) -> Array:
        """What the function takes as ``c``, a workspace of its own."""
        inner, own = self.inner.constants(values), self.native.constants(values)
        places = np.array(self.places, dtype=np.int64)
        n, g = self.states, self.count
        sizes = [1 + 2 * n, g + len(self.places), g * n, g * g, g]
        room = np.zeros(sum(sizes))
        begins = (room.ctypes.data + 8 * np.concatenate([[0], np.cumsum(sizes)[:-1]])).tolist()
        functions = [self.inner.address, inner.ctypes.data, self.native.address, own.ctypes.data]
        words = np.array([*functions, n, g, len(self.places), places.ctypes.data, *begins], dtype=np.int64)
        finalize(words, _release, (self, inner, own, places, room))
        return words.view(np.float64)

    def evaluate(self, rows: Array, constants: Array) -> Array:
        """Rates (k, n) along rows [t, x…], or (n,) at one."""
        found = along(Flow(self.address, constants, self.states, self), np.atleast_2d(rows))
        return found if rows.ndim > 1 else found[0]


def _release(_kept: object) -> None:
    """What a workspace needs lives as long as its words."""


def held_code(equations: Equations, inner: RateCode, held: Sequence[HeldIntegral]) -> HeldCode:
    """The code of equations without constraints, with what holds integrals."""
    rates, states = named_rates(equations), [se.Symbol(name) for name in equations.states]
    rows = [gradient(h.integral.expression, states) for h in held]
    places = tuple((i, k) for i, row in enumerate(rows) for k, entry in enumerate(row) if not is_zero(entry))
    outputs = [*wanted(equations, rates, held), *(rows[i][k] for i, k in places)]
    inputs = ("t", *equations.states, *(str(rate) for _, rate in rates.rates))
    parameters = (*equations.system.constants, *constants_of(held))
    labelled = [(str(k), e) for k, e in enumerate(outputs)]
    native = compile_program(build(labelled, inputs=inputs, parameters=parameters))
    return HeldCode(inner, native, places, len(states), len(held))
