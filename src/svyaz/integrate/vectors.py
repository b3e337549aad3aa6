"""Numbers of several lanes as numba compiles them: a vector in place of each number, a mask in place of each truth.

A loop is written for numbers and compiled for vectors too, where its arrays have vectors for entries. Each operation on a
vector does to every lane what the operation on numbers does, so that a lane has the bits of one run alone. A product that
would go into a sum is refused here, because the compiler may fuse it for numbers: loops say ``fused``. Loaded only where loops
are compiled.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.core.typing.templates import signature as typing_signature
from numba.extending import lower_builtin, lower_cast, models, register_model

NUMBER = ir.DoubleType()

Untyped: TypeAlias = Any
"""What comes from numba, whose stubs know neither its types nor its templates."""

_kinds: Untyped = types
_models: Untyped = models
_Template: Untyped = AbstractTemplate
_infer: Untyped = infer_global


class VectorType(_kinds.Type):
    """A number of each lane; a ``product`` may not go into a sum."""

    def __init__(self, width: int, product: bool = False) -> None:
        self.width, self.product = width, product
        super().__init__(name=f"{'product' if product else 'vector'}({width})")

    def can_convert_to(self, typing_context: object, other: object) -> object:
        return Conversion.safe if isinstance(other, VectorType) and other.width == self.width else None

    def unify(self, typing_context: object, other: object) -> object:
        both = isinstance(other, VectorType) and other.width == self.width
        return VectorType(self.width, self.product or other.product) if both else None  # type: ignore[attr-defined]


class MaskType(_kinds.Type):
    """A truth of each lane."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"mask({width})")


@register_model(VectorType)
class _VectorModel(_models.PrimitiveModel):
    def __init__(self, manager: object, kind: VectorType) -> None:
        super().__init__(manager, kind, ir.VectorType(NUMBER, kind.width))


@register_model(MaskType)
class _MaskModel(_models.PrimitiveModel):
    def __init__(self, manager: object, kind: MaskType) -> None:
        super().__init__(manager, kind, ir.VectorType(ir.IntType(1), kind.width))


@lower_cast(VectorType, VectorType)
def _as_it_is(context: object, builder: object, given: object, wanted: object, value: ir.Value) -> ir.Value:
    return value


def width_of(kinds: Sequence[object]) -> int:
    """The number of lanes of the vectors or masks among some types; 0 where there are none."""
    return max((kind.width for kind in kinds if isinstance(kind, VectorType | MaskType)), default=0)


def splat(builder: ir.IRBuilder, value: ir.Value, width: int) -> ir.Value:
    """A number in all lanes; what is a vector stays so."""
    if isinstance(value.type, ir.VectorType):
        return value
    kind = ir.VectorType(value.type, width)
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width)
    return builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), zeros)


def bits(builder: ir.IRBuilder, mask: ir.Value) -> ir.Value:
    """A mask as a whole number with a bit for each lane."""
    packed = builder.bitcast(mask, ir.IntType(mask.type.count))
    return builder.zext(packed, ir.IntType(64))


def mask_of(builder: ir.IRBuilder, value: ir.Value, width: int) -> ir.Value:
    """The mask of a whole number."""
    return builder.bitcast(builder.trunc(value, ir.IntType(width)), ir.VectorType(ir.IntType(1), width))


Generic = Callable[[Sequence[Untyped]], object]
Lowering = Callable[[ir.IRBuilder, Sequence[ir.Value], int], ir.Value]


def _define(
    operation: Callable[..., object], operands: Sequence[tuple[Untyped, ...]], typed: Generic, made: Lowering
) -> None:
    """Give numba an operation on vectors or masks: the type of its result (None: of others), and its code for so many lanes."""

    def generic(_template: object, given: Sequence[Untyped], _named: object) -> object:
        kind = typed(given)
        return None if kind is None else typing_signature(kind, *given)

    def lower(_context: object, builder: ir.IRBuilder, signature: Untyped, given: Sequence[ir.Value]) -> ir.Value:
        return made(builder, given, signature.return_type.width)

    _infer(operation)(type(f"LanesOf{operation.__name__}", (_Template,), {"generic": generic}))
    for kinds in operands:
        lower_builtin(operation, *kinds)(lower)


PAIRS = ((VectorType, VectorType), (VectorType, _kinds.Float), (_kinds.Float, VectorType))


def _define_arithmetic(operation: Callable[..., object], name: str) -> None:
    def typed(given: Sequence[Untyped]) -> object:
        width = width_of(given)
        if width and name in ("fadd", "fsub") and any(isinstance(a, VectorType) and a.product for a in given):
            raise TypingError("a product goes into a sum: say `fused`")
        return VectorType(width, name == "fmul") if width else None

    def made(builder: ir.IRBuilder, given: Sequence[ir.Value], width: int) -> ir.Value:
        return getattr(builder, name)(*(splat(builder, value, width) for value in given))

    _define(operation, PAIRS, typed, made)


def _define_comparison(operation: Callable[..., object], symbol: str) -> None:
    def typed(given: Sequence[Untyped]) -> object:
        width = width_of(given)
        return MaskType(width) if width else None

    def made(builder: ir.IRBuilder, given: Sequence[ir.Value], width: int) -> ir.Value:
        compare = builder.fcmp_unordered if symbol == "!=" else builder.fcmp_ordered
        return compare(symbol, *(splat(builder, value, width) for value in given))

    _define(operation, PAIRS, typed, made)


def _define_logic(operation: Callable[..., object], name: str) -> None:
    def typed(given: Sequence[Untyped]) -> object:
        return given[0] if all(isinstance(kind, MaskType) for kind in given) else None

    _define(operation, ((MaskType, MaskType),), typed, lambda builder, given, _width: getattr(builder, name)(*given))


def _define_unary(operation: Callable[..., object], made: Callable[[ir.IRBuilder, ir.Value], ir.Value]) -> None:
    def typed(given: Sequence[Untyped]) -> object:
        return given[0] if isinstance(given[0], VectorType) else None

    _define(operation, ((VectorType,),), typed, lambda builder, given, _width: made(builder, given[0]))


def called(builder: ir.IRBuilder, name: str, given: Sequence[ir.Value]) -> ir.Value:
    """What an intrinsic function of LLVM gives of numbers or vectors."""
    kind = given[0].type
    suffix = f"v{kind.count}f64" if isinstance(kind, ir.VectorType) else "f64"
    whole = f"llvm.{name}.{suffix}"
    known = builder.module.globals.get(whole)
    function = (
        ir.Function(builder.module, ir.FunctionType(kind, [kind] * len(given)), whole) if known is None else known
    )
    return builder.call(function, given)


for _operation, _name in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _define_arithmetic(_operation, _name)
for _operation, _symbol in (
    (operator.lt, "<"),
    (operator.le, "<="),
    (operator.gt, ">"),
    (operator.ge, ">="),
    (operator.ne, "!="),
    (operator.eq, "=="),
):
    _define_comparison(_operation, _symbol)
for _operation, _name in ((operator.and_, "and_"), (operator.or_, "or_")):
    _define_logic(_operation, _name)
_define_unary(operator.neg, lambda builder, value: builder.fneg(value))
_define_unary(abs, lambda builder, value: called(builder, "fabs", [value]))
