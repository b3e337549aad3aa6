"""Functions of Python that native code calls: values for which there is no expression.

In expressions such a function stands as ``outside(number, which, t, x…)``. Programs call one trampoline, which finds the
function by its number, a parameter: code that was compiled once serves every function. ``which`` is 0 for the value and k
for its derivative by the k-th argument, which is taken by central differences.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from itertools import count
from weakref import WeakValueDictionary

import numpy as np

from svyaz.arrays import Array
from svyaz.program import engine

NAME = "svyaz_outside"
DECLARATION = f"declare double @{NAME}(ptr, i64)\n"

WIDTH = float(np.finfo(float).eps ** (1 / 3))
"""By this part of its size (or of 1) an argument is moved for a derivative."""


class Outside:
    """A function of time and state that programs may call for as long as this object lives.

    ``failure`` is the first exception that it raised; from then on its value is not a number.
    """

    def __init__(self, function: Callable[[float, Array], float]) -> None:
        self.function = function
        self.number = next(_numbers)
        self.failure: BaseException | None = None
        _known[self.number] = self

    def value(self, which: int, arguments: Sequence[float]) -> float:
        """At [t, x…], or the derivative by one of them."""
        if which == 0:
            return float(self.function(arguments[0], np.array(arguments[1:])))
        width = WIDTH * max(1.0, abs(arguments[which - 1]))
        sides = (self.value(0, _moved(arguments, which - 1, by)) for by in (width, -width))
        above, below = sides
        return (above - below) / (2.0 * width)


_numbers = count(1)
_known: WeakValueDictionary[int, Outside] = WeakValueDictionary()


def _moved(arguments: Sequence[float], place: int, by: float) -> list[float]:
    return [a + by if k == place else a for k, a in enumerate(arguments)]


def call_outside(number: float, which: float, *arguments: float) -> float:
    """What native code gets: never an exception."""
    outside = _known.get(int(number))
    if outside is None or outside.failure is not None:
        return float("nan")
    try:
        return outside.value(int(which), arguments)
    except BaseException as failure:  # it must not fall through the native code, which cannot catch it
        outside.failure = failure
        return float("nan")


_TRAMPOLINE = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.POINTER(ctypes.c_double), ctypes.c_int64)


@_TRAMPOLINE
def _called(arguments: ctypes._Pointer[ctypes.c_double], size: int) -> float:
    return call_outside(*arguments[:size])


def publish_trampoline() -> None:
    """Let native code that is loaded later call functions of Python."""
    address = ctypes.cast(_called, ctypes.c_void_p).value
    assert address is not None, "a callback has an address"
    engine.publish(NAME, address)
