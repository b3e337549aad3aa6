"""What the instructions of the loops are in LLVM; `svyaz.integrate.calls` declares them and says what they mean.

Loaded only where loops are compiled: for each instruction a function of the types of its arguments that gives its own type
and how its code is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.base import BaseContext
from numba.core.typing.templates import Signature
from numba.core.typing.templates import signature as typing_signature
from numba.np.numpy_support import from_dtype

from svyaz.integrate import vectors
from svyaz.integrate.vectors import NUMBER, MaskType, Untyped, VectorType

WORD = ir.IntType(64)
CHECKED = False
"""Whether code that is made stops the process where it asks for a record that is not there; tests set it."""

Generated = tuple[object, Callable[..., ir.Value]]

_int64: Untyped = types.int64
_kinds: Untyped = types


def _number(builder: ir.IRBuilder, address: ir.Value, index: ir.Value) -> ir.Value:
    """Pointer to the double number `index` places behind an address."""
    return builder.gep(builder.inttoptr(address, NUMBER.as_pointer()), [index])


def _address(context: BaseContext, builder: ir.IRBuilder, kind: Untyped, given: ir.Value) -> ir.Value:
    """The address of a record, or of the first entry of an array; an address is one."""
    if isinstance(kind, _kinds.Record):
        return builder.ptrtoint(given, WORD)
    if not isinstance(kind, _kinds.Array):
        return given
    return builder.ptrtoint(context.make_array(kind)(context, builder, given).data, WORD)


def entry(typing_context: object, array: Untyped, index: object) -> Generated:
    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Sequence[ir.Value]
    ) -> ir.Value:
        whole = context.make_array(array)(context, builder, given[0])
        return builder.load(builder.gep(whole.data, [given[1]]))

    return typing_signature(array.dtype, array, types.int64), generate


def call(typing_context: object, address: object, x: object, c: object, out: object) -> Generated:
    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Sequence[ir.Value]
    ) -> ir.Value:
        number = NUMBER.as_pointer()
        kind = ir.FunctionType(ir.IntType(32), (number, number, number))
        arguments = [_address(context, builder, *both) for both in zip(signature.args[1:], given[1:], strict=True)]
        pointers = [builder.inttoptr(argument, number) for argument in arguments]
        return builder.sext(builder.call(builder.inttoptr(given[0], kind.as_pointer()), pointers), WORD)

    return typing_signature(types.int64, types.int64, x, c, out), generate


def place(typing_context: object, array: object) -> Generated:
    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Sequence[ir.Value]
    ) -> ir.Value:
        return _address(context, builder, signature.args[0], given[0])

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
    width = vectors.width_of((a, b, c))

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Sequence[ir.Value]
    ) -> ir.Value:
        values = [vectors.splat(builder, value, width) if width else value for value in given]
        return vectors.called(builder, "fmuladd", values)

    if not width:
        return types.float64(types.float64, types.float64, types.float64), generate
    return typing_signature(VectorType(width), a, b, c), generate


def choose(typing_context: object, which: object, a: object, b: object) -> Generated:
    width = vectors.width_of((which,))

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Sequence[ir.Value]
    ) -> ir.Value:
        values = [vectors.splat(builder, value, width) if width else value for value in given[1:]]
        return builder.select(given[0], *values)

    if not width:
        return types.float64(types.boolean, types.float64, types.float64), generate
    product = any(isinstance(kind, VectorType) and kind.product for kind in (a, b))
    return typing_signature(VectorType(width, product), which, a, b), generate


def square_root(typing_context: object, a: object) -> Generated:
    kind = a if isinstance(a, VectorType) else types.float64
    return typing_signature(kind, kind), lambda _context, builder, _signature, given: vectors.called(
        builder, "sqrt", given
    )


def width(typing_context: object, array: Untyped) -> Generated:
    count = max(1, vectors.width_of((array.dtype,)))
    return _int64(array), lambda _context, _builder, _signature, _given: ir.Constant(WORD, count)


def lanes(typing_context: object, array: Untyped) -> Generated:
    count = ir.Constant(WORD, max(1, vectors.width_of((array.dtype,))))
    view = _kinds.Array(types.float64, 2, "C")

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Sequence[ir.Value]
    ) -> ir.Value:
        whole = context.make_array(array)(context, builder, given[0])
        address = builder.ptrtoint(whole.data, WORD)
        return array_at(context, builder, view, address, [whole.nitems, count])

    return typing_signature(view, array), generate


def tail(typing_context: object, array: Untyped, index: object) -> Generated:
    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Sequence[ir.Value]
    ) -> ir.Value:
        whole = context.make_array(array)(context, builder, given[0])
        address = builder.ptrtoint(builder.gep(whole.data, [given[1]]), WORD)
        return array_at(context, builder, array, address, [builder.sub(whole.nitems, given[1])])

    return typing_signature(array, array, types.int64), generate


def own(typing_context: object, rows: Untyped, wide: Untyped, number: object) -> Generated:
    count = vectors.width_of((wide.dtype,))
    view = _kinds.Array(types.float64, 1, "C")

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Sequence[ir.Value]
    ) -> ir.Value:
        if count:
            return given[1]
        table = context.make_array(rows)(context, builder, given[0])
        length = builder.extract_value(table.shape, 1)
        address = builder.ptrtoint(builder.gep(table.data, [builder.mul(given[2], length)]), WORD)
        return array_at(context, builder, view, address, [length])

    return typing_signature(wide if count else view, rows, wide, types.int64), generate


def bits(typing_context: object, mask: object) -> Generated:
    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Sequence[ir.Value]
    ) -> ir.Value:
        return vectors.bits(builder, given[0]) if isinstance(mask, MaskType) else builder.zext(given[0], WORD)

    return typing_signature(types.int64, mask), generate


def mask(typing_context: object, flags: object, array: Untyped) -> Generated:
    count = vectors.width_of((array.dtype,))

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Sequence[ir.Value]
    ) -> ir.Value:
        if count:
            return vectors.mask_of(builder, given[0], count)
        return builder.icmp_signed("!=", given[0], ir.Constant(WORD, 0))

    return typing_signature(MaskType(count) if count else types.boolean, types.int64, array), generate


def array_at(
    context: BaseContext, builder: ir.IRBuilder, kind: Untyped, address: ir.Value, shape: Sequence[ir.Value]
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


def whole_matrix(typing_context: object, address: object, rows: object, columns: object) -> Generated:
    return _view(types.int64, 2)


def view_of(layout: np.dtype[Untyped], kind: str) -> Callable[..., Generated]:
    """The instruction that gives the record of a layout at an address, or (``kind`` is "element") one of many there."""
    record = from_dtype(layout)

    def one(typing_context: object, address: object) -> Generated:
        def generate(
            context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Sequence[ir.Value]
        ) -> ir.Value:
            return builder.inttoptr(given[0], context.get_value_type(record))

        return record(types.int64), generate

    def element(typing_context: object, address: object, count: object, number: object) -> Generated:
        def generate(
            context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Sequence[ir.Value]
        ) -> ir.Value:
            if CHECKED:
                with builder.if_then(builder.icmp_unsigned(">=", given[2], given[1])):
                    trap = cgutils.get_or_insert_function(
                        builder.module, ir.FunctionType(ir.VoidType(), []), "llvm.trap"
                    )
                    builder.call(trap, [])
            place = builder.mul(given[2], ir.Constant(WORD, layout.itemsize))
            return builder.inttoptr(builder.add(given[0], place), context.get_value_type(record))

        return record(types.int64, types.int64, types.int64), generate

    return one if kind == "record" else element
