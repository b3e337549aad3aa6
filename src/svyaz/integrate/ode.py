"""Differential equations ẏ = f(t, y) as the solver takes them: native functions, or plain Python."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from svyaz.arrays import Array

Rates = Callable[[float, Array], ArrayLike]
"""A function of the time and the state (n,) in Python."""

DISPLACEMENT = 1.5e-8
"""Part of the size of a state by which it is moved to find a derivative: the root of rounding."""

_POINTERS = (ctypes.c_void_p,) * 3
_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int32, *_POINTERS)


@dataclass(frozen=True)
class Flow:
    """A native function out = f(x, c), x = [t, y…], with its constants.

    `size` is the number of entries of the state; `owner` is whatever must live as long as the address is used.
    """

    address: int
    constants: Array
    size: int
    owner: object = None


@dataclass(frozen=True)
class Ode:
    """A system of n differential equations ẏ = f(t, y).

    rates: f, n numbers; jacobian: ∂f/∂y by rows (n, n), which implicit methods need; after_step: a map y ↦ y, n numbers,
    that is applied to the state after each step. Each is a native function or one of Python, f(t, y).
    """

    rates: Flow | Rates
    jacobian: Flow | Rates | None = None
    after_step: Flow | Rates | None = None


class PythonFlow:
    """A function of Python behind a native address; what it raises is kept in `raised`, and it is not called again."""

    def __init__(self, function: Rates, size: int, shape: tuple[int, ...]) -> None:
        self.raised: BaseException | None = None
        self._function, self._size, self._shape = function, size, shape
        self._native = _FUNCTION(self._called)

    def flow(self) -> Flow:
        """As the loops take it."""
        address = ctypes.cast(self._native, ctypes.c_void_p).value
        assert address is not None, "a function has an address"
        return Flow(address, np.zeros(1), self._size, self)

    def _called(self, x: int, _constants: int, out: int) -> int:
        if self.raised is not None:
            return 1
        try:
            row = np.array((ctypes.c_double * (self._size + 1)).from_address(x))
            value = np.asarray(self._function(float(row[0]), row[1:]), dtype=np.float64)
            if value.shape != self._shape:
                raise ValueError(f"{self._size} states need an array of the shape {self._shape}, not {value.shape}")
            ctypes.memmove(out, np.ascontiguousarray(value).ctypes.data, value.nbytes)
        except BaseException as error:  # it cannot pass through native code: the solver raises it
            self.raised = error
            return 1
        return 0


def along(flow: Flow, rows: Array) -> Array:
    """f (k, n) of native rates along rows [t, y…] (k, n + 1); not a number where they are not determined."""
    function = _FUNCTION(flow.address)
    given = np.ascontiguousarray(rows, dtype=np.float64)
    found = np.full((len(given), flow.size), np.nan)
    constants = np.ascontiguousarray(flow.constants, dtype=np.float64)
    for row, out in zip(given, found, strict=True):
        if function(row.ctypes.data, constants.ctypes.data, out.ctypes.data) != 0:
            out.fill(np.nan)
    return found


def by_differences(rates: Flow) -> Flow:
    """∂f/∂y (n, n) of native rates by forward differences, good enough for the iterations of an implicit method."""
    size = rates.size

    def jacobian(time: float, state: Array) -> Array:
        widths = DISPLACEMENT * np.maximum(np.abs(state), 1e-3 * np.abs(state).max(initial=1.0))
        rows = np.tile(np.concatenate([[time], state]), (size + 1, 1))
        rows[np.arange(1, size + 1), np.arange(1, size + 1)] += widths
        values = along(rates, rows)
        moved = rows[np.arange(1, size + 1), np.arange(1, size + 1)] - state
        return np.asarray(((values[1:] - values[0]) / moved[:, None]).T)

    return native(jacobian, size, size, size)


def native(function: Flow | Rates, size: int, *shape: int) -> Flow:
    """The function as native code that gives an array of that shape from the time and a state of that size."""
    return function if isinstance(function, Flow) else PythonFlow(function, size, shape).flow()
