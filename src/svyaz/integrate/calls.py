"""What the native loops share: compiled with a cache on disk, they call right-hand sides by their raw address.

A function of a program has the C signature `int32_t f(const double *x, const double *c, double *out)`; since only
its address enters the loop, one compiled loop serves every model and is read from disk the next time. Inside the loops
arrays are addresses too: counting references to array objects would cost more than a whole step of a small system.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numba
from llvmlite import ir
from numba import types
from numba.core.ccallback import CFunc
from numba.extending import intrinsic

from svyaz.arrays import Array

# what a loop answers; it says RUNNING when its share of steps is used up and it wants to be called again
RUNNING, FINISHED, DIVERGED, SINGULAR, STALLED, PROJECTION, NEWTON = range(7)

OVERFLOW = 1e150  # beyond it squares of the state overflow: the motion is reported as diverged


class Native(NamedTuple):
    """A native function and its constants, as the loops take them; address 0 means there is none."""

    address: int
    constants: Array


njit: Any = numba.njit  # its stubs do not know all of its options

# contraction to fused multiply-add is wanted, reassociation is not: the same state must give the same bits
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}, "nogil": True, "no_cfunc_wrapper": True}


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a loop when it is first called and keep its code on disk, or in memory where no folder can be written."""
    return _kept(njit(function, **_OPTIONS), function)


def _kept(code: Any, function: Callable[..., Any]) -> Any:
    """The same code, kept on disk for as long as none of the files that decide it changes.

    Numba looks at the file of the function alone; a loop is also made of the pieces that it takes from this folder.
    """
    try:
        code.enable_caching()
    except RuntimeError:  # numba found neither __pycache__ nor a user folder to write to
        return code
    code._cache._cache_file._source_stamp = _stamp(function.__code__.co_filename)
    return code


@cache
def _stamp(file: str) -> str:
    """A hash of the file in which a loop stands and of all that stand here."""
    decisive = sorted({Path(file), *Path(__file__).parent.glob("*.py")})
    return sha256(b"\0".join(path.read_bytes() for path in decisive)).hexdigest()


def part(function: Callable[..., Any]) -> Any:
    """A function that only loops call; it is compiled and kept with them."""
    return njit(function, no_cpython_wrapper=True, **_OPTIONS)


def piece(function: Callable[..., Any]) -> Any:
    """A piece of a loop, woven into it where it is called."""
    return njit(function, inline="always", **_OPTIONS)


def callback(function: Callable[..., Any]) -> Any:
    """Compile a function f(x, c, out) of three pointers that loops call by its address, and keep its code on disk."""
    pointer = types.CPointer(types.float64)
    options = {"nopython": True, "error_model": "numpy"}
    code = _kept(CFunc(function, ((pointer,) * 3, types.int32), locals={}, options=options), function)
    code.compile()
    return code


def instruction(typing: Callable[..., Any]) -> Any:
    """An operation of the loops that is given as LLVM instructions."""
    return intrinsic(typing)


def _number(builder: Any, address: Any, index: Any) -> Any:
    """Pointer to the double number `index` places behind an address."""
    return builder.gep(builder.inttoptr(address, ir.DoubleType().as_pointer()), [index])


@instruction
def call(typing_context: Any, address: Any, x: Any, c: Any, out: Any) -> Any:
    """f(x, c, out) of the function at `address`; all four are addresses, the answer is its status."""
    signature = types.int64(types.int64, types.int64, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number = ir.DoubleType().as_pointer()
        kind = ir.FunctionType(ir.IntType(32), (number, number, number))
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        pointers = [builder.inttoptr(argument, number) for argument in arguments[1:]]
        return builder.sext(builder.call(function, pointers), ir.IntType(64))

    return signature, generate


@instruction
def place(typing_context: Any, array: Any) -> Any:
    """Address of the first entry of an array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.ptrtoint(view.data, ir.IntType(64))

    return types.int64(array), generate


@instruction
def address_of(typing_context: Any, pointer: Any) -> Any:
    """A pointer as an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ptrtoint(arguments[0], ir.IntType(64))

    return types.int64(pointer), generate


@instruction
def read(typing_context: Any, address: Any, index: Any) -> Any:
    """The double number `index` places behind an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_number(builder, *arguments))

    return types.float64(types.int64, types.int64), generate


@instruction
def write(typing_context: Any, address: Any, index: Any, value: Any) -> Any:
    """Put a double number `index` places behind an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _number(builder, *arguments[:2]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.float64), generate


@instruction
def whole(typing_context: Any, address: Any, index: Any) -> Any:
    """The 64-bit integer `index` places behind an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        integers = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        return builder.load(builder.gep(integers, [arguments[1]]))

    return types.int64(types.int64, types.int64), generate


@piece
def copy(source: int, target: int, size: int) -> None:
    """target = source, `size` numbers."""
    for m in range(size):
        write(target, m, read(source, m))


@piece
def bounded(x: int, n: int) -> bool:
    """Whether the state of [t, y…] is finite and below the bound of overflow.

    A sum is not packed by the compiler: a packed load of numbers that were just written one by one waits for them.
    """
    size = 0.0
    for m in range(1, n + 1):
        size += abs(read(x, m))
    return size <= OVERFLOW  # false for NaN


@piece
def settle(project: int, constants: int, x: int, n: int, scratch: int) -> int:
    """Apply the map after a step, if there is one, to [t, y…] at x and say whether the state may be kept."""
    code = RUNNING
    if project != 0:
        if call(project, x, constants, scratch) == 0:
            copy(scratch, x + 8, n)
        else:
            code = PROJECTION
    if code == RUNNING and not bounded(x, n):
        code = DIVERGED
    return code
