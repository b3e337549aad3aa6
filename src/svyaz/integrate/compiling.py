"""How the native loops are compiled: once for every model, and kept on disk while the files that decide them stay.

``compiled`` is a loop that Python calls, ``part`` a function that only loops call, ``piece`` one that is woven into them,
``callback`` a function of three pointers that loops call by its address, ``instruction`` an operation given to LLVM.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import numba
from numba import types
from numba.core.ccallback import CFunc
from numba.core.runtime import rtsys
from numba.extending import intrinsic, register_jitable

Given = ParamSpec("Given")
Result = TypeVar("Result")
Function = TypeVar("Function", bound=Callable[..., object])

# the stubs of numba know neither all options nor what is made of a function
_njit: Any = numba.njit
_cfunc: Any = CFunc
_intrinsic: Any = intrinsic

# contraction to fused multiply-add is wanted, reassociation is not: the same state must give the same bits
_OPTIONS = {"error_model": "numpy", "fastmath": {"contract"}, "nogil": True, "no_cfunc_wrapper": True}


class Callback(Protocol):
    """A compiled function int32 f(x, c, out) of three pointers; it must live as long as its address is used."""

    @property
    def address(self) -> int: ...


def compiled(function: Function) -> Function:
    """Compile a loop when it is first called and keep its code on disk, or in memory where no folder can be written."""
    code: Function = _njit(function, **_OPTIONS)
    _keep(code, function)
    return code


def part(function: Function) -> Function:
    """A function that only loops call; it is compiled and kept with them."""
    code: Function = _njit(function, no_cpython_wrapper=True, **_OPTIONS)
    return code


def piece(function: Function) -> Function:
    """A piece of a loop, woven into it where it is called."""
    code: Function = _njit(function, inline="always", **_OPTIONS)
    return code


def shared(function: Function) -> Function:
    """A function that Python calls as it is, and that loops may call too."""
    same: Function = register_jitable(function)
    return same


def callback(function: Callable[..., int]) -> Callback:
    """Compile a function f(x, c, out) of three pointers that loops call by its address, and keep its code on disk."""
    pointer = types.CPointer(types.float64)
    options = {"nopython": True, "error_model": "numpy"}
    code = _cfunc(function, ((pointer,) * 3, types.int32), locals={}, options=options)
    _keep(code, function)
    code.compile()
    made: Callback = code
    return made


def instruction(
    result: type[Result],
) -> Callable[[Callable[Concatenate[object, Given], object]], Callable[Given, Result]]:
    """An operation of the loops that is given as LLVM instructions; `result` says what it gives."""

    def make(typing: Callable[Concatenate[object, Given], object]) -> Callable[Given, Result]:
        operation: Callable[Given, Result] = _intrinsic(typing)
        return operation

    return make


def _keep(code: Any, function: Callable[..., object]) -> None:
    """Keep code on disk for as long as none of the files that decide it changes.

    Numba looks at the file of the function alone; a loop is also made of the pieces that it takes from this folder.
    """
    try:
        code.enable_caching()
    except RuntimeError:  # numba found neither __pycache__ nor a user folder to write to
        return
    with suppress(OSError):  # in an archive, of which numba looks at the whole, there are no files
        code._cache._cache_file._source_stamp = _stamp(function.__code__.co_filename)
    code._cache.load_overload = partial(_loaded, code._cache)


def _loaded(cache: Any, signature: object, context: object) -> object:
    """What is kept on disk, or None.

    Numba itself first learns all that it can compile, which takes longer than the rest of a start; kept code needs
    nothing of that, and the compiler learns it by itself where there is none.
    """
    rtsys.initialize(context)
    with cache._guard_against_spurious_io_errors():
        return cache._load_overload(signature, context)


@cache
def _stamp(file: str) -> str:
    """A hash of the file in which a loop stands and of all that stand here."""
    decisive = sorted({Path(file), *Path(__file__).parent.glob("*.py")})
    return sha256(b"\0".join(path.read_bytes() for path in decisive)).hexdigest()
