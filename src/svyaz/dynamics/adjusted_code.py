"""Rates of native code that a program changes: ẋ = F(t, x, f), where f is what the code gives.

One compiled function serves every model. It finds in its constants, all 64-bit integers, the address of the code and that of
its constants, the same of the program, the number n of states, and where the inputs [t, x, f] of the program are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from weakref import finalize

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.dynamics.code import Enforcement, RateCode
from svyaz.forms import Rates
from svyaz.integrate import Callback, Flow, along, call, callback, copy, whole
from svyaz.program import Native, build, compile_program


def _adjusted_step(x: int, c: int, out: int) -> int:
    n, inputs = whole(c, 4), whole(c, 5)
    if call(whole(c, 0), x, whole(c, 1), out) != 0:
        return 1
    copy(x, inputs, 1 + n)
    copy(out, inputs + 8 * (1 + n), n)
    return call(whole(c, 2), inputs, whole(c, 3), out)


@lru_cache(maxsize=1)
def _step_function() -> Callback:
    return callback(_adjusted_step)


@dataclass(frozen=True)
class AdjustedCode:
    """The rates of ``inner`` code, changed by a ``native`` program."""

    inner: RateCode
    native: Native
    states: int

    @property
    def address(self) -> int:
        return _step_function().address

    def constants(self, values: Mapping[str, float]) -> Array:
        """What the function takes as ``c``, a workspace of its own."""
        inner, own, inputs = self.inner.constants(values), self.native.constants(values), np.zeros(1 + 2 * self.states)
        code = [self.inner.address, inner.ctypes.data, self.native.address, own.ctypes.data]
        words = np.array([*code, self.states, inputs.ctypes.data], dtype=np.int64)
        finalize(words, _release, (self, inner, own, inputs))
        return words.view(np.float64)

    def evaluate(self, rows: Array, constants: Array) -> Array:
        """Rates (k, n) along rows [t, x…], or (n,) at one."""
        found = along(Flow(self.address, constants, self.states, self), np.atleast_2d(rows))
        return found if rows.ndim > 1 else found[0]


def _release(_owners: object) -> None:
    """What a workspace needs lives as long as its words."""


def named_rates(states: Sequence[str]) -> Rates:
    """The rates of all states as symbols, which stand for numbers that code gives."""
    return Rates((), tuple((state, se.Symbol(f"pace of {state}")) for state in states))


def adjusted_code(
    inner: RateCode, states: Sequence[str], constants: Sequence[str], enforcement: Enforcement
) -> RateCode:
    """The code with what an enforcement makes of its rates."""
    if enforcement.adjust is None:
        return inner
    plain = named_rates(states)
    rates = enforcement.adjust(plain)
    native = compile_program(
        build(
            rates.rates,
            inputs=("t", *states, *(str(rate) for _, rate in plain.rates)),
            parameters=(*constants, *enforcement.values),
            systems=rates.systems,
        )
    )
    return AdjustedCode(inner, native, len(states))
