"""Motions of trees that are held on surfaces at which forces jump: native code that finds the sides with which they are.

With sides σ between -1 and 1 in place of those of the surfaces s(x, t) = 0, the rates f are linear in σ, and so is
ṡ = ∂s/∂t + ∂s/∂x f. The loop over the bodies is called without sides and with each of them, which gives ṡ = a + C σ; then
with the σ for which ṡ = 0 (see ``forms.sides``). One compiled function serves every model, whose numbers and addresses it
finds in its constants, all 64-bit integers:

    c[0], c[1] the loop and its constants, c[2], c[3] the program of ṡ and its constants, c[4] number n of states, c[5] number
    m of surfaces, c[6] the state with its sides [t, x, σ], c[7] the inputs of the program [t, x, f], c[8] C, c[9] -a, c[10]
    pivots, c[11] rates, c[12], c[13] a program of [t, x, σ] that is watched, and its constants,
    c[14] the multipliers of constraints
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING
from weakref import finalize

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.constraints import magnitude
from svyaz.expr import ONE, TIME, Expression, Surface, total_derivative
from svyaz.forms import RateCode
from svyaz.integrate import (
    Callback,
    Flow,
    along,
    call,
    callback,
    copy,
    factorise,
    matrix,
    numbers,
    part,
    substitute,
    whole,
    whole_numbers,
    write,
)
from svyaz.motion.closing_layout import numbers_at
from svyaz.program import Function, Native, build, compile_program, function

if TYPE_CHECKING:
    from svyaz.motion.closed_trees import ClosedCode

STATE, WATCHED, MULTIPLIED = 6, 12, 14


@part
def _drifted(c: int, out: int, target: int) -> int:
    """ṡ with the sides that stand behind the state."""
    n, given = whole(c, 4), whole(c, 7)
    status = call(whole(c, 0), whole(c, STATE), whole(c, 1), out)
    copy(whole(c, STATE), given, 1 + n)
    copy(out, given + 8 * (1 + n), n)
    return status | call(whole(c, 2), given, whole(c, 3), target)


@part
def _slid(x: int, c: int, out: int) -> int:
    """Rates with the sides that hold the motion, which are left behind the state."""
    n, m = whole(c, 4), whole(c, 5)
    sides, effect, drift = whole(c, STATE) + 8 * (1 + n), matrix(whole(c, 8), m, m), numbers(whole(c, 9), m)
    pivots, row = whole_numbers(whole(c, 10), m), whole(c, 9)
    copy(x, whole(c, STATE), 1 + n)
    for k in range(m):
        write(sides, k, 0.0)
    status = 0
    for k in range(m):
        write(sides, k, 1.0)
        status |= _drifted(c, out, row)
        write(sides, k, 0.0)
        for i in range(m):
            effect[i, k] = drift[i]
    status |= _drifted(c, out, row)
    for i in range(m):
        for k in range(m):
            effect[i, k] -= drift[i]
        drift[i] = -drift[i]
    if status != 0 or not factorise(effect, pivots):
        return 1
    substitute(effect, pivots, drift)
    copy(row, sides, m)
    return call(whole(c, 0), whole(c, STATE), whole(c, 1), out)


def _sliding_step(x: int, c: int, out: int) -> int:
    return 0 if _slid(x, c, out) == 0 else 1


def _sliding_watch(x: int, c: int, out: int) -> int:
    status = _slid(x, c, whole(c, 11))
    status |= call(whole(c, WATCHED), whole(c, STATE), whole(c, WATCHED + 1), out)
    return 0 if status == 0 else 1


@lru_cache(maxsize=1)
def _step_function() -> Callback:
    """The compiled rates."""
    return callback(_sliding_step)


@lru_cache(maxsize=1)
def _watch_function() -> Callback:
    """The compiled watch over states and sides."""
    return callback(_sliding_watch)


@dataclass(frozen=True)
class SlidingCode:
    """The loop over bodies on surfaces that are slid along; ``native`` is the program of ṡ, ``sides`` their names."""

    inner: ClosedCode
    native: Native
    sides: tuple[str, ...]

    @property
    def address(self) -> int:
        return _step_function().address

    @property
    def size(self) -> int:
        """Number of states."""
        return len(self.inner.tree.rows.system.states)

    def constants(self, values: Mapping[str, float], *watched: object) -> Array:
        """What the function takes as ``c``, a workspace of its own; what it points to besides stays alive as long."""
        inner, own = self.inner.constants(values), self.native.constants(values)
        n, m = self.size, len(self.sides)
        sizes = [1 + n + m, 1 + 2 * n, m * m, m, m, n]
        room = np.zeros(sum(sizes))
        begins = (room.ctypes.data + 8 * np.concatenate([[0], np.cumsum(sizes)[:-1]])).tolist()
        functions = [self.inner.address, inner.ctypes.data, self.native.address, own.ctypes.data]
        words = np.array([*functions, n, m, *begins, 0, 0, self.inner.multipliers(inner)], dtype=np.int64)
        finalize(words, _release, (self, inner, own, room, watched))
        return words.view(np.float64)

    def evaluate(self, rows: Array, constants: Array) -> Array:
        """Rates (k, n) along rows [t, x…], or (n,) at one."""
        found = along(Flow(self.address, constants, self.size, self), np.atleast_2d(rows))
        return found if rows.ndim > 1 else found[0]

    def solved(self, rows: Array, constants: Array) -> tuple[Array, Array]:
        """Rates (k, n) and multipliers (k, m), by the loop with the sides that were found."""
        address, count = int(constants.view(np.int64)[MULTIPLIED]), len(self.inner.tree.rows.rows)
        rates, multipliers = np.empty((len(rows), self.size)), np.empty((len(rows), count))
        for k, row in enumerate(rows):
            rates[k] = self.evaluate(row, constants)
            multipliers[k] = numbers_at(address, count) if np.isfinite(rates[k]).all() else np.nan
        return rates, multipliers

    def sides_along(self, rows: Array, constants: Array) -> Array:
        """σ (k, m) of the surfaces."""
        address = int(constants.view(np.int64)[STATE]) + 8 * (1 + self.size)
        found = np.empty((len(rows), len(self.sides)))
        for row, sides in zip(rows, found, strict=True):
            rates = self.evaluate(row, constants)
            sides[:] = numbers_at(address, len(self.sides)) if np.isfinite(rates).all() else np.nan
        return found


def _release(_kept: object) -> None:
    """What a workspace needs lives as long as its words."""


def sliding_code(inner: ClosedCode, surfaces: Sequence[Surface]) -> SlidingCode:
    """The code of bodies whose drive is given the sides of these surfaces, held on them."""
    system = inner.tree.rows.system
    paces = {se.Symbol(name): se.Symbol(f"pace of {name}") for name in system.states}
    rates = [total_derivative(surface.expression, {**paces, TIME: ONE}) for surface in surfaces]
    inputs = ("t", *system.states, *map(str, paces.values()))
    labelled = [(str(k), e) for k, e in enumerate(rates)]
    native = compile_program(build(labelled, inputs=inputs, parameters=tuple(system.constants)))
    return SlidingCode(inner, native, tuple(str(surface.side) for surface in surfaces))


@dataclass(frozen=True)
class SlidingWatch:
    """g (m,) of states and sides as native code, and the sizes of its terms.

    What was made of the last values is kept in ``made``: a watch serves one run at a time.
    """

    code: SlidingCode
    native: Native
    terms: Function
    values: Mapping[str, float]
    made: dict[tuple[float, ...], Array] = field(default_factory=dict, repr=False, compare=False)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Of the only table."""
        return {"g": (len(self.native.program.outputs),)}

    @property
    def address(self) -> int:
        """Of the native code."""
        return _watch_function().address

    @property
    def constants(self) -> Array:
        """What the native code takes as ``c``: its own workspace."""
        key = tuple(self.values[name] for name in sorted(self.values))
        if key not in self.made:
            self.made.clear()
            own = self.native.constants(self.values)
            found = self.code.constants(self.values, own)
            found.view(np.int64)[WATCHED:MULTIPLIED] = self.native.address, own.ctypes.data
            self.made[key] = found
        return self.made[key]

    def with_values(self, values: Mapping[str, float]) -> SlidingWatch:
        """The same with other values of some parameters."""
        return replace(self, values={**self.values, **values})

    def __call__(self, row: Array) -> dict[str, Array]:
        """g at one row; not a number where the sides are not determined."""
        return {"g": along(Flow(self.address, self.constants, self.shapes["g"][0], self), row[None, :])[0]}

    def sizes(self, row: Array) -> Array:
        """The magnitudes of the terms of g (m,) at one row."""
        sides = self.code.sides_along(row[None, :], self.constants)
        return self.terms.with_values(self.values)(np.concatenate([row, sides[0]]))["g"]


def sliding_watch(code: RateCode, conditions: Sequence[Expression], values: Mapping[str, float]) -> SlidingWatch:
    """Conditions in the states and in the sides of surfaces that are slid along."""
    assert isinstance(code, SlidingCode), "surfaces are slid along"
    inputs = ("t", *code.inner.tree.rows.system.states, *code.sides)
    labelled = [(str(k), e) for k, e in enumerate(conditions)]
    native = compile_program(build(labelled, inputs=inputs, parameters=tuple(values)))
    return SlidingWatch(code, native, function({"g": [magnitude(e) for e in conditions]}, inputs, values), dict(values))
