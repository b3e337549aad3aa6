"""What the native loops share: numbers by their address, calls of native functions, and what is done after a step.

A function of a program has the C signature `int32_t f(const double *x, const double *c, double *out)`; since only
its address enters the loop, one compiled loop serves every model and is read from disk the next time. Inside the loops
arrays are addresses too: counting references to array objects would cost more than a whole step of a small system.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.base import BaseContext
from numba.core.typing.templates import Signature
from numba.core.typing.templates import signature as typing_signature
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.integrate.compiling import instruction, piece

Address = int
if TYPE_CHECKING:
    Pointer = ctypes._Pointer[ctypes.c_double]
else:
    Pointer = object
Counters = NDArray[np.int64]
_int64: Any = types.int64  # its stubs know no arrays and pointers

# what a loop answers; it says RUNNING when its share of steps is used up and it wants to be called again
RUNNING, FINISHED, DIVERGED, SINGULAR, STALLED, PROJECTION, NEWTON = range(7)

# places in `count`, the whole numbers that a loop keeps: steps done, rows stored, evaluations, steps since a row was
# stored, status of the rates; rejected trials, was the last one rejected; J belongs to the state; factorisations; J made
DONE, STORED, EVALUATIONS, WAITING, STATUS, REJECTED, AFTER_REJECTION, FRESH, FACTORISATIONS, JACOBIANS = range(10)
COUNTERS = 10

# what the function of an implicit step answers beside the statuses of the rates, which are positive
NO_FACTORS, NO_CONVERGENCE = -1, -2
# and what stands in front of its constants: the length of the step; evaluations of the rates made so far
LENGTH, EVALUATED = 0, 1

OVERFLOW = 1e150  # beyond it squares of the state overflow: the motion is reported as diverged


class Callee(NamedTuple):
    """A native function and its constants, as the loops take them; address 0 means there is none."""

    address: Address
    constants: Array


def _number(builder: ir.IRBuilder, address: ir.Value, index: ir.Value) -> ir.Value:
    """Pointer to the double number `index` places behind an address."""
    return builder.gep(builder.inttoptr(address, ir.DoubleType().as_pointer()), [index])


def _status(builder: ir.IRBuilder, address: ir.Value, *arguments: ir.Value) -> ir.Value:
    """What the function of three pointers at an address answers."""
    number = ir.DoubleType().as_pointer()
    kind = ir.FunctionType(ir.IntType(32), (number, number, number))
    pointers = [builder.inttoptr(argument, number) for argument in arguments]
    return builder.sext(builder.call(builder.inttoptr(address, kind.as_pointer()), pointers), ir.IntType(64))


@instruction(int)
def call(typing_context: object, address: Address, x: Address, c: Address, out: Address) -> object:
    """f(x, c, out) of the function at `address`; all four are addresses, the answer is its status."""
    signature = types.int64(types.int64, types.int64, types.int64, types.int64)
    return signature, lambda _context, builder, _signature, given: _status(builder, *given)


@instruction(int)
def place(typing_context: object, array: NDArray[np.generic]) -> object:
    """Address of the first entry of an array."""

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Sequence[ir.Value]
    ) -> ir.Value:
        view = context.make_array(signature.args[0])(context, builder, given[0])
        return builder.ptrtoint(view.data, ir.IntType(64))

    return _int64(array), generate


@instruction(np.ndarray)
def uncounted(typing_context: object, array: NDArray[np.generic]) -> object:
    """The same array without its count of references, which costs much in a loop; the caller keeps the array alive."""

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Sequence[ir.Value]
    ) -> ir.Value:
        view = context.make_array(signature.args[0])(context, builder, given[0])
        view.meminfo, view.parent = ir.Constant(view.meminfo.type, None), ir.Constant(view.parent.type, None)
        return view._getvalue()

    return typing_signature(array, array), generate


@instruction(int)
def address_of(typing_context: object, pointer: Pointer) -> object:
    """A pointer as an address."""
    signature = _int64(pointer)
    return signature, lambda _context, builder, _signature, given: builder.ptrtoint(given[0], ir.IntType(64))


@instruction(float)
def read(typing_context: object, address: Address, index: int) -> object:
    """The double number `index` places behind an address."""
    signature = types.float64(types.int64, types.int64)
    return signature, lambda _context, builder, _signature, given: builder.load(_number(builder, *given))


@instruction(type(None))
def write(typing_context: object, address: Address, index: int, value: float) -> object:
    """Put a double number `index` places behind an address."""

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Sequence[ir.Value]
    ) -> ir.Value:
        builder.store(given[2], _number(builder, *given[:2]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.float64), generate


@instruction(int)
def whole(typing_context: object, address: Address, index: int) -> object:
    """The 64-bit integer `index` places behind an address."""

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Sequence[ir.Value]
    ) -> ir.Value:
        integers = builder.inttoptr(given[0], ir.IntType(64).as_pointer())
        return builder.load(builder.gep(integers, [given[1]]))

    return types.int64(types.int64, types.int64), generate


@piece
def copy(source: Address, target: Address, size: int) -> None:
    """target = source, `size` numbers."""
    for m in range(size):
        write(target, m, read(source, m))


@piece
def bounded(x: Address, n: int) -> bool:
    """Whether the state of [t, y…] is finite and below the bound of overflow.

    A sum is not packed by the compiler: a packed load of numbers that were just written one by one waits for them.
    """
    size = 0.0
    for m in range(1, n + 1):
        size += abs(read(x, m))
    return size <= OVERFLOW  # false for NaN


@piece
def settle(after_step: Address, constants: Address, x: Address, n: int, scratch: Address) -> int:
    """Apply the map after a step, if there is one, to [t, y…] at x and say whether the state may be kept."""
    code = RUNNING
    if after_step != 0:
        if call(after_step, x, constants, scratch) == 0:
            copy(scratch, x + 8, n)
        else:
            code = PROJECTION
    if code == RUNNING and not bounded(x, n):
        code = DIVERGED
    return code
