"""What the instructions of the loops are in LLVM; `svyaz.integrate.calls` declares them and says what they mean.

Loaded only where loops are compiled: for each instruction a function of the types of its arguments that gives its own type
and how its code is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.base import BaseContext
from numba.core.typing.templates import Signature
from numba.core.typing.templates import signature as typing_signature

WORD, NUMBER = ir.IntType(64), ir.DoubleType()
Generated = tuple[object, Callable[..., ir.Value]]

# the stubs of numba know no arrays and pointers
_int64: Any = types.int64
_kinds: Any = types


def _number(builder: ir.IRBuilder, address: ir.Value, index: ir.Value) -> ir.Value:
    """Pointer to the double number `index` places behind an address."""
    return builder.gep(builder.inttoptr(address, NUMBER.as_pointer()), [index])


def _status(builder: ir.IRBuilder, address: ir.Value, *arguments: ir.Value) -> ir.Value:
    """What the function of three pointers at an address answers."""
    number = NUMBER.as_pointer()
    kind = ir.FunctionType(ir.IntType(32), (number, number, number))
    pointers = [builder.inttoptr(argument, number) for argument in arguments]
    return builder.sext(builder.call(builder.inttoptr(address, kind.as_pointer()), pointers), WORD)


def call(typing_context: object, address: object, x: object, c: object, out: object) -> Generated:
    signature = types.int64(types.int64, types.int64, types.int64, types.int64)
    return signature, lambda _context, builder, _signature, given: _status(builder, *given)


def place(typing_context: object, array: object) -> Generated:
    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Sequence[ir.Value]
    ) -> ir.Value:
        view = context.make_array(signature.args[0])(context, builder, given[0])
        return builder.ptrtoint(view.data, WORD)

    return _int64(array), generate


def read(typing_context: object, address: object, index: object) -> Generated:
    signature = types.float64(types.int64, types.int64)
    return signature, lambda _context, builder, _signature, given: builder.load(_number(builder, *given))


def write(typing_context: object, address: object, index: object, value: object) -> Generated:
    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Sequence[ir.Value]
    ) -> ir.Value:
        builder.store(given[2], _number(builder, *given[:2]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.float64), generate


def whole(typing_context: object, address: object, index: object) -> Generated:
    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Sequence[ir.Value]
    ) -> ir.Value:
        return builder.load(builder.gep(builder.inttoptr(given[0], WORD.as_pointer()), [given[1]]))

    return types.int64(types.int64, types.int64), generate


def fused(typing_context: object, a: object, b: object, c: object) -> Generated:
    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Sequence[ir.Value]
    ) -> ir.Value:
        name = "llvm.fmuladd.f64"
        known = builder.module.globals.get(name)
        kind = ir.FunctionType(NUMBER, (NUMBER, NUMBER, NUMBER))
        return builder.call(ir.Function(builder.module, kind, name) if known is None else known, given)

    return types.float64(types.float64, types.float64, types.float64), generate


def choose(typing_context: object, which: object, a: object, b: object) -> Generated:
    signature = types.float64(types.boolean, types.float64, types.float64)
    return signature, lambda _context, builder, _signature, given: builder.select(*given)


def array_at(
    context: BaseContext, builder: ir.IRBuilder, kind: Any, address: ir.Value, shape: Sequence[ir.Value]
) -> ir.Value:
    """An array in the order of C over memory that somebody else keeps: it has no count of references."""
    size = ir.Constant(WORD, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    strides = [size]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    view = context.make_array(kind)(context, builder)
    data = builder.inttoptr(address, view.data.type)
    context.populate_array(view, data=data, shape=list(shape), strides=strides, itemsize=size, meminfo=None)
    return view._getvalue()


def _view(kind: object, dimensions: int) -> Generated:
    array = _kinds.Array(kind, dimensions, "C")

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Sequence[ir.Value]
    ) -> ir.Value:
        return array_at(context, builder, array, given[0], given[1:])

    return typing_signature(array, *[types.int64] * (dimensions + 1)), generate


def numbers(typing_context: object, address: object, size: object) -> Generated:
    return _view(types.float64, 1)


def matrix(typing_context: object, address: object, rows: object, columns: object) -> Generated:
    return _view(types.float64, 2)


def whole_numbers(typing_context: object, address: object, size: object) -> Generated:
    return _view(types.int64, 1)
