"""Held integrals where rates come from recursions: native code that adds what holds them to the rates of other code.

As for rates that are written out (see ``integrals``), ẋ = f + ∇gᵀ z with (∇g ∇gᵀ) z = F - ġ, the least correction of the
states for which the deviations of the integrals obey their laws. The gradients are short formulas; f is what the code gives.
One compiled function serves every model, whose numbers and addresses it finds in its constants, all 64-bit integers:

    c[0], c[1] the rates and their constants, c[2], c[3] the program of F - ġ and of the entries of ∇g, and its constants,
    c[4] number n of states, c[5] number g of integrals, c[6] number of entries, c[7] for each entry its integral and state,
    c[8] the inputs of the program [t, x, f], c[9] its outputs, c[10] ∇g, c[11] ∇g ∇gᵀ, c[12] pivots
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from weakref import finalize

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import gradient, is_zero
from svyaz.forms import Equations, RateCode
from svyaz.holding.integrals import HeldIntegral, constants_of, named_rates, wanted
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
    read,
    substitute,
    whole,
    whole_numbers,
    write,
)
from svyaz.program import Native, build, compile_program


def _held_step(x: int, c: int, out: int) -> int:
    n, count, entries, places = whole(c, 4), whole(c, 5), whole(c, 6), whole(c, 7)
    given, found, slopes = whole(c, 8), whole(c, 9), matrix(whole(c, 10), whole(c, 5), whole(c, 4))
    gram, pivots = matrix(whole(c, 11), count, count), whole_numbers(whole(c, 12), count)
    status = call(whole(c, 0), x, whole(c, 1), out)
    copy(x, given, 1 + n)
    copy(out, given + 8 * (1 + n), n)
    status |= call(whole(c, 2), given, whole(c, 3), found)
    if status != 0:
        return 1
    for k in range(entries):
        slopes[whole(places, 2 * k), whole(places, 2 * k + 1)] = read(found, count + k)
    for i in range(count):
        for j in range(count):
            total = 0.0
            for k in range(n):
                total += slopes[i, k] * slopes[j, k]
            gram[i, j] = total
    if not factorise(gram, pivots):
        return 1
    needed = numbers(found, count)
    substitute(gram, pivots, needed)
    for i in range(count):
        for k in range(n):
            write(out, k, read(out, k) + slopes[i, k] * needed[i])
    return 0


@lru_cache(maxsize=1)
def _held_function() -> Callback:
    """The compiled function."""
    return callback(_held_step)


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
        return _held_function().address

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
