"""Named numbers in memory that native loops and Python share.

A class states what a record holds: ``int`` and ``float`` are numbers of 64 bits, another such class is a record inside, and
``Annotated[Array, k]`` are k numbers in a row.

>>> from typing import Annotated
>>> class Sphere:
...     radius: float
...     center: Annotated[Array, 3]
>>> record_type(Sphere).itemsize
32

Loops see it by its address: ``record_at(Sphere)`` is an instruction of loops, from an address to a ``Sphere`` that has its
fields, ``element_of(Sphere)`` one from the address of many, their count and a number. Python makes the memory,
``np.zeros(10, record_type(Sphere))``.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Annotated, Any, TypeVar, cast, get_args, get_origin, get_type_hints, overload

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.integrate.ingredients import Ingredient

Kind = TypeVar("Kind")
Number = TypeVar("Number", bound=np.generic)


class Routine:
    """A native function of three addresses, 0 where there is none, and the address of its constants."""

    function: int
    constants: int


def record_type(kind: type) -> np.dtype[np.void]:
    """How the numbers of a record follow each other."""
    fields = [(name, _type_of(hint)) for name, hint in get_type_hints(kind, include_extras=True).items()]
    return np.dtype(fields, align=True)


def _type_of(hint: Any) -> Any:
    if get_origin(hint) is Annotated:
        array, size = get_args(hint)
        return ("i8" if array == NDArray[np.int64] else "f8", (size,))
    return {int: "i8", float: "f8"}.get(hint) or record_type(hint)


def record_at(kind: type[Kind]) -> Callable[[int], Kind]:
    """An instruction of loops: the record at an address."""
    return cast("Callable[[int], Kind]", Ingredient(kind, "record", record_type(kind)))


def element_of(kind: type[Kind]) -> Callable[[int, int, int], Kind]:
    """An instruction of loops: from the address of records, how many they are, and a number, the record with that number."""
    return cast("Callable[[int, int, int], Kind]", Ingredient(kind, "element", record_type(kind)))


@overload
def memory_at(address: int, count: int) -> Array: ...
@overload
def memory_at(address: int, count: int, kind: np.dtype[Number]) -> NDArray[Number]: ...
def memory_at(address: int, count: int, kind: np.dtype[np.generic] | None = None) -> NDArray[np.generic]:
    """Numbers or records in the memory of a loop as an array of Python, not copied."""
    numbers: np.dtype[np.generic] = np.dtype(np.float64) if kind is None else kind
    if count == 0:
        return np.zeros(0, numbers)
    block: Any = (ctypes.c_char * (count * numbers.itemsize)).from_address(address)
    return np.ndarray((count,), numbers, buffer=block)
