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
FOUR = ir.VectorType(NUMBER, 4)
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


def _four(builder: ir.IRBuilder, address: ir.Value) -> ir.Value:
    """Pointer to four double numbers, which are taken at once."""
    return builder.inttoptr(address, FOUR.as_pointer())


def _product_and_sum(module: ir.Module) -> ir.Function:
    """a·b + c of four numbers each."""
    name = "llvm.fmuladd.v4f64"
    known = module.globals.get(name)
    return ir.Function(module, ir.FunctionType(FOUR, (FOUR, FOUR, FOUR)), name) if known is None else known


def _splat(builder: ir.IRBuilder, number: ir.Value) -> ir.Value:
    """The same number four times."""
    first = builder.insert_element(ir.Constant(FOUR, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), 4), [0, 0, 0, 0])
    return builder.shuffle_vector(first, ir.Constant(FOUR, ir.Undefined), zeros)


def add_four(typing_context: object, target: object, factor: object, source: object) -> Generated:
    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Sequence[ir.Value]
    ) -> ir.Value:
        place, other = _four(builder, given[0]), builder.load(_four(builder, given[2]), align=8)
        product = _product_and_sum(builder.module)
        found = builder.call(product, [_splat(builder, given[1]), other, builder.load(place, align=8)])
        builder.store(found, place, align=8)
        return context.get_dummy_value()

    return types.void(types.int64, types.float64, types.int64), generate


def pass_four(typing_context: object, wrench: object, stride: object, u: object, s: object) -> Generated:
    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Sequence[ir.Value]
    ) -> ir.Value:
        wrench, stride, u, s = given
        product = _product_and_sum(builder.module)
        length = builder.mul(stride, ir.Constant(WORD, 8))
        places = [_four(builder, builder.add(wrench, builder.mul(length, ir.Constant(WORD, j)))) for j in range(6)]
        parts = [builder.load(place, align=8) for place in places]
        factors = [_splat(builder, builder.load(_number(builder, s, ir.Constant(WORD, j)))) for j in range(12)]
        total = builder.load(_four(builder, u), align=8)
        for part, factor in zip(parts, factors[:6], strict=True):
            total = builder.call(product, [factor, part, total])
        builder.store(total, _four(builder, u), align=8)
        for place, part, factor in zip(places, parts, factors[6:], strict=True):
            builder.store(builder.call(product, [builder.fneg(factor), total, part]), place, align=8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64), generate


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
