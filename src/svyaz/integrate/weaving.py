"""Loops become machine code: numba makes LLVM text of them, and LLVM code that leans on nothing but the library of C.

Loaded only where neither kept code nor a text that came with the package is found. Functions are given to numba with all
that they call in numba's own form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from dis import get_instructions
from functools import cache
from types import FunctionType

import numba
from llvmlite import ir
from numba import types
from numba.core.base import BaseContext
from numba.extending import intrinsic

from svyaz.integrate import instructions
from svyaz.integrate.ingredients import SHARED, Ingredient, Pattern, Woveable
from svyaz.integrate.vectors import Untyped, VectorType
from svyaz.program import standalone_text

# the stubs of numba know neither all options nor what is made of a function
_numba: Untyped = numba
_kinds: Untyped = types
_intrinsic: Untyped = intrinsic

# contraction to fused multiply-add is wanted, reassociation is not: the same state must give the same bits; loops allocate
# nothing, so that no references are counted
_OPTIONS = {"error_model": "numpy", "fastmath": {"contract"}, "_nrt": False}
_WITHOUT_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_NUMBERS = {"d": types.float64, "q": types.int64, "b": types.boolean}
_ENTRIES = {"f8": types.float64, "i8": types.int64, "c16": types.complex128}


@dataclass(frozen=True)
class Woven:
    """A function of three addresses as numba has compiled it, which keeps it alive, and its text where that can be kept."""

    made: Untyped
    text: str | None

    @property
    def address(self) -> int:
        return int(self.made.address)


def woven(function: Callable[..., object], given: Sequence[Pattern] | None) -> Woven:
    """Compile a function of three addresses (None), or a loop whose arguments stand in a block of words."""
    entry = _in_numba(function) if given is None else _entered(_part(function), given)
    with _unpacked():
        made = _numba.cfunc(types.int32(types.int64, types.int64, types.int64), **_OPTIONS)(entry)
    return Woven(made, standalone_text(made.inspect_llvm(), made.native_name))


@contextmanager
def _unpacked() -> Iterator[None]:
    """Parts are not made for packed numbers by themselves, before they are put together (see `standalone_text`)."""
    before = _numba.config.LOOP_VECTORIZE
    _numba.config.LOOP_VECTORIZE = 0
    try:
        yield
    finally:
        _numba.config.LOOP_VECTORIZE = before


@cache
def _native(ingredient: Untyped) -> Untyped:
    """An ingredient in numba's form."""
    if isinstance(ingredient, Ingredient) and ingredient.layout is not None:
        return _intrinsic(instructions.view_of(ingredient.layout, ingredient.kind))
    if isinstance(ingredient, Ingredient) and ingredient.kind == "instruction":
        return _intrinsic(getattr(instructions, ingredient.function.__name__))
    if isinstance(ingredient, Ingredient) and ingredient.kind == "piece":
        # LLVM weaves it in: numba would copy and type it anew at each place, in half of the time that a loop takes
        return _numba.njit(_in_numba(ingredient.function), forceinline=True, **_WITHOUT_WRAPPERS, **_OPTIONS)
    return _part(ingredient.function if isinstance(ingredient, Ingredient | Woveable) else ingredient)


@cache
def _part(function: Untyped) -> Untyped:
    return _numba.njit(_in_numba(function), **_WITHOUT_WRAPPERS, **_OPTIONS)


def _in_numba(function: Untyped) -> FunctionType:
    """The same function with its ingredients in numba's form."""
    known = function.__globals__
    read = {one.argval for one in get_instructions(function) if one.opname == "LOAD_GLOBAL"}
    named = {name: known[name] for name in read if name in known}
    made = {name: _native(value) for name, value in named.items() if _is_ingredient(value)}
    return FunctionType(
        function.__code__, {**known, **made}, function.__name__, function.__defaults__, function.__closure__
    )


def _is_ingredient(value: object) -> bool:
    return isinstance(value, Ingredient | Woveable) or (isinstance(value, FunctionType) and value in SHARED)


def _entered(loop: Untyped, given: Sequence[Pattern]) -> Callable[[int, int, int], int]:
    """A function of three addresses that calls the loop with the arguments that stand at the second of them."""
    kinds = _kinds.Tuple([_kind(pattern) for pattern in given])

    def block(typing_context: object, address: object) -> instructions.Generated:
        def generate(
            context: BaseContext, builder: ir.IRBuilder, signature: object, words: Sequence[ir.Value]
        ) -> Untyped:
            start = builder.inttoptr(words[0], instructions.WORD.as_pointer())
            return _value(context, builder, kinds, start, 0)[0]

        return kinds(types.int64), generate

    arguments = _intrinsic(block)

    def enter(x: int, c: int, out: int) -> int:
        answer: int = loop(*arguments(c))
        return answer

    return enter


def _kind(pattern: Pattern) -> Untyped:
    """The numba type of an argument."""
    if pattern.record is not None:
        return _kinds.NamedTuple([_kind(part) for part in pattern.parts], pattern.record)
    if pattern.dimensions:
        return _kinds.Array(_entries(pattern.letter), pattern.dimensions, "C")
    return _NUMBERS[pattern.letter]


def _entries(letter: str) -> Untyped:
    """The numba type of the entries of an array: numbers, or vectors of so many lanes."""
    return VectorType(int(letter[1:])) if letter[0] == "v" else _ENTRIES[letter]


def _value(
    context: BaseContext, builder: ir.IRBuilder, kind: Untyped, start: ir.Value, place: int
) -> tuple[ir.Value, int]:
    """An argument from its words, `place` words behind the start of the block, and the place behind it."""

    def word(at: int) -> ir.Value:
        return builder.load(builder.gep(start, [ir.Constant(instructions.WORD, at)]))

    if isinstance(kind, _kinds.BaseTuple):
        members = []
        for own in kind.types:
            member, place = _value(context, builder, own, start, place)
            members.append(member)
        return context.make_tuple(builder, kind, members), place
    if isinstance(kind, _kinds.Array):
        shape = [word(place + 1 + axis) for axis in range(kind.ndim)]
        return instructions.array_at(context, builder, kind, word(place), shape), place + 1 + kind.ndim
    if kind == types.float64:
        return builder.bitcast(word(place), instructions.NUMBER), place + 1
    if kind == types.boolean:
        return builder.trunc(word(place), ir.IntType(1)), place + 1
    return word(place), place + 1
