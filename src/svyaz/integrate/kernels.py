"""The arithmetic of loops for several runs at once: the parts themselves, worked through with vectors in place of numbers.

A part (see `svyaz.integrate.compiling`) that only computes, whatever its numbers are, is called as Python with ``Vector``\\ s:
each operation writes an LLVM instruction. So a lane has the operations of one run alone, in the same order, and its bits.
A product that would go into a sum is refused here: the compiler may fuse it for one run and not for the other; parts say
``fused``. Where rows of a matrix are exchanged, each lane has its own.

Numbers stand lane by lane, entry i of lane l at i·width + l. A kernel has the signature of a program; its first argument is
the room that its parts share.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import TypeVar, cast

from svyaz.integrate import factors
from svyaz.integrate.ingredients import Ingredient

Result = TypeVar("Result")


class Kernel:
    """The text of a kernel while it is written; ``known`` are the numbers of the room that were read or written."""

    def __init__(self, name: str, width: int) -> None:
        self.name, self.width = name, width
        self.kind = f"<{width} x double>"
        self.lines: list[str] = []
        self.known: dict[int, Vector] = {}
        self.read: dict[int, Vector] = {}
        self.count = 0
        self.block = "entry"

    def value(self, instruction: str) -> str:
        """The name of the result of an instruction."""
        self.count += 1
        self.lines.append(f"  %v{self.count} = {instruction}")
        return f"%v{self.count}"

    def vector(self, instruction: str, *, product: bool = False) -> Vector:
        return Vector(self, self.value(instruction), product)

    def called(self, name: str, *given: Vector | float) -> Vector:
        """What an intrinsic gives."""
        arguments = ", ".join(f"{self.kind} {text(one)}" for one in given)
        return self.vector(f"call {self.kind} @llvm.{name}.v{self.width}f64({arguments})")

    def load(self, place: int) -> Vector:
        if place not in self.known:
            self.known[place] = self._fetched(place)
        return self.known[place]

    def _fetched(self, place: int) -> Vector:
        at = self.value(f"getelementptr {self.kind}, ptr %room, i64 {place}")
        self.read[place] = self.vector(f"load {self.kind}, ptr {at}, align 8")
        return self.read[place]

    def store(self, place: int, value: Vector | float) -> None:
        self.known[place] = value if isinstance(value, Vector) else self.splat(value)

    def splat(self, number: float) -> Vector:
        """The same number in all lanes."""
        return self.vector(f"select i1 true, {self.kind} {text(number)}, {self.kind} {text(number)}")

    def only(self, on: Vector) -> None:
        """What was written so far holds in the lanes that are on; in the others stands what was there."""
        flags = on > 0.0
        for place, new in list(self.known.items()):
            if self.read.get(place) is not new:
                old = self.read.get(place) or self._fetched(place)
                self.known[place] = flags.chosen(new, old)

    def where_some(self, mask: Mask, change: Callable[[], None]) -> None:
        """Change numbers of the room, which are known, if the mask holds in some lane; else nothing is done."""
        bits = self.value(f"bitcast <{self.width} x i1> {mask.name} to i{self.width}")
        some = self.value(f"icmp ne i{self.width} {bits}, 0")
        before, origin, changed, after = dict(self.known), self.block, f"changed.{bits[1:]}", f"after.{bits[1:]}"
        self.lines += [f"  br i1 {some}, label %{changed}, label %{after}", f"{changed}:"]
        change()
        self.lines += [f"  br label %{after}", f"{after}:"]
        self.block = after
        for place, old in before.items():
            new = self.known[place]
            if new is not old:
                self.known[place] = self.vector(
                    f"phi {self.kind} [ {new.name}, %{changed} ], [ {old.name}, %{origin} ]"
                )

    def text(self, good: Mask | None) -> str:
        """The function; its answer has a bit for each lane in which ``good`` does not hold."""
        for place, value in self.known.items():
            if self.read.get(place) is not value:
                at = self.value(f"getelementptr {self.kind}, ptr %room, i64 {place}")
                self.lines.append(f"  store {self.kind} {value.name}, ptr {at}, align 8")
        answer = "0"
        if good is not None:
            bits = self.value(f"bitcast <{self.width} x i1> {good.name} to i{self.width}")
            answer = self.value(f"zext i{self.width} {bits} to i32")
            answer = self.value(f"xor i32 {answer}, {2**self.width - 1}")
        body = "\n".join(self.lines)
        head = f"define i32 @{self.name}(ptr noalias %room, ptr %none, ptr %nothing) nounwind {{\nentry:\n"
        return f"{head}{body}\n  ret i32 {answer}\n}}\n"


class Vector:
    """A number of each lane."""

    __array_ufunc__ = None  # numbers of NumPy leave operations to it

    def __init__(self, kernel: Kernel, name: str, product: bool = False) -> None:
        self.kernel, self.name, self.product = kernel, name, product

    def _with(self, op: str, a: Vector | float, b: Vector | float) -> Vector:
        if op in ("fadd", "fsub") and any(isinstance(one, Vector) and one.product for one in (a, b)):
            raise TypeError("a product goes into a sum: say `fused`")
        kernel = self.kernel
        return kernel.vector(f"{op} {kernel.kind} {text(a)}, {text(b)}", product=op == "fmul")

    def __add__(self, other: Vector | float) -> Vector:
        return self._with("fadd", self, other)

    def __radd__(self, other: float) -> Vector:
        return self._with("fadd", other, self)

    def __sub__(self, other: Vector | float) -> Vector:
        return self._with("fsub", self, other)

    def __mul__(self, other: Vector | float) -> Vector:
        return self._with("fmul", self, other)

    def __rmul__(self, other: float) -> Vector:
        return self._with("fmul", other, self)

    def __truediv__(self, other: Vector | float) -> Vector:
        return self._with("fdiv", self, other)

    def __rtruediv__(self, other: float) -> Vector:
        return self._with("fdiv", other, self)

    def __neg__(self) -> Vector:
        return self.kernel.vector(f"fneg {self.kernel.kind} {self.name}", product=self.product)

    def __abs__(self) -> Vector:
        return self.kernel.called("fabs", self)

    def __gt__(self, other: Vector | float) -> Mask:
        return self._compared("ogt", other)

    def __lt__(self, other: Vector | float) -> Mask:
        return self._compared("olt", other)

    def equals(self, other: float) -> Mask:
        return self._compared("oeq", other)

    def _compared(self, how: str, other: Vector | float) -> Mask:
        kernel = self.kernel
        return Mask(kernel, kernel.value(f"fcmp {how} {kernel.kind} {self.name}, {text(other)}"))


class Mask:
    """Whether something holds, of each lane."""

    def __init__(self, kernel: Kernel, name: str) -> None:
        self.kernel, self.name = kernel, name

    def chosen(self, a: Vector | float, b: Vector | float) -> Vector:
        kernel = self.kernel
        return kernel.vector(
            f"select <{kernel.width} x i1> {self.name}, {kernel.kind} {text(a)}, {kernel.kind} {text(b)}"
        )

    def __and__(self, other: Mask | bool) -> Mask:
        if isinstance(other, bool):
            assert other, "what never holds is not written"
            return self
        kernel = self.kernel
        return Mask(kernel, kernel.value(f"and <{kernel.width} x i1> {self.name}, {other.name}"))

    __rand__ = __and__


class RoomPart:
    """Numbers of the room, each of every lane; read and written as an array of one or two dimensions."""

    def __init__(self, kernel: Kernel, start: int, shape: tuple[int, ...]) -> None:
        self.kernel, self.start, self.shape = kernel, start, shape
        self.size = shape[0] * shape[-1] if len(shape) == 2 else shape[0]

    def _place(self, key: int | tuple[int, int]) -> int:
        if isinstance(key, tuple):
            return self.start + key[0] * self.shape[1] + key[1]
        return self.start + key

    def row(self, i: int) -> RoomPart:
        return RoomPart(self.kernel, self.start + i * self.shape[1], self.shape[1:])

    def __getitem__(self, key: int | tuple[int, int]) -> Vector:
        return self.kernel.load(self._place(key))

    def __setitem__(self, key: int | tuple[int, int], value: Vector | float) -> None:
        self.kernel.store(self._place(key), value)


def text(number: Vector | float) -> str:
    """A value in LLVM."""
    if isinstance(number, Vector):
        return number.name
    return f"splat (double 0x{struct.unpack('<Q', struct.pack('<d', float(number)))[0]:016X})"


def declarations(width: int) -> str:
    """What kernels call."""
    kind = f"<{width} x double>"
    return (
        f"declare {kind} @llvm.fma.v{width}f64({kind}, {kind}, {kind})\ndeclare {kind} @llvm.fabs.v{width}f64({kind})\n"
    )


def in_lanes(kernel: Kernel, part: Callable[..., Result]) -> Callable[..., Result]:
    """A part with all that it calls as a function of vectors; rooms begin at address 0, eight bytes to a vector.

    It gives vectors and masks where the part gives numbers and truths.
    """
    ingredient: object = part
    assert isinstance(ingredient, Ingredient), "parts are woven into loops"
    return cast(Callable[..., Result], _worked(kernel, ingredient))


def _worked(kernel: Kernel, part: Ingredient) -> Callable[..., object]:
    function = part.function
    assert isinstance(function, FunctionType), "parts are functions"
    if part.kind == "instruction":
        return _instructions(kernel)[function.__name__]
    if function.__module__ == factors.__name__ and function.__name__ in _LANE_BY_LANE:
        return _LANE_BY_LANE[function.__name__]
    known = function.__globals__
    named = {name: known[name] for name in function.__code__.co_names if name in known}
    called = {name: _worked(kernel, used) for name, used in named.items() if isinstance(used, Ingredient)}
    return FunctionType(function.__code__, {**known, **called}, function.__name__)


def _instructions(kernel: Kernel) -> dict[str, Callable[..., object]]:
    return {
        "fused": lambda a, b, c: kernel.called("fma", a, b, c),
        "choose": lambda which, a, b: which.chosen(a, b),
        "matrix": lambda at, rows, columns: RoomPart(kernel, at // 8, (rows, columns)),
        "numbers": lambda at, size: RoomPart(kernel, at // 8, (size,)),
        "whole_numbers": lambda at, size: RoomPart(kernel, at // 8, (size,)),
    }


def _brought_up(a: RoomPart, pivots: RoomPart, k: int) -> Mask:
    return _pivoted((a,), [abs(a[i, k]) for i in range(k, a.shape[0])], pivots, k)


def _brought_up_complex(re: RoomPart, im: RoomPart, pivots: RoomPart, k: int) -> Mask:
    sizes = [abs(re[i, k]) + abs(im[i, k]) for i in range(k, re.shape[0])]
    return _pivoted((re, im), sizes, pivots, k)


def _pivoted(parts: tuple[RoomPart, ...], sizes: list[Vector], pivots: RoomPart, k: int) -> Mask:
    """Exchange row k with that of the largest size, which each lane has for itself."""
    best, kernel = sizes[0], sizes[0].kernel
    row = kernel.splat(float(k))
    for i, size in enumerate(sizes[1:], k + 1):
        larger = size > best
        best, row = larger.chosen(size, best), larger.chosen(float(i), row)
    pivots[k] = row

    def exchanged() -> None:
        for i in range(k + 1, k + len(sizes)):
            taken = row.equals(float(i))
            for a in parts:
                for j in range(a.shape[0]):
                    upper, lower = a[k, j], a[i, j]
                    a[k, j], a[i, j] = taken.chosen(lower, upper), taken.chosen(upper, lower)

    kernel.where_some(row > float(k), exchanged)
    return (best > 0.0) & (best < float("inf"))


def _exchange(pivots: RoomPart, b: RoomPart) -> None:
    entries = [b[i] for i in range(b.size)]  # they are known before one of them is exchanged

    def exchanged(k: int) -> None:
        for i in range(k + 1, len(entries)):
            taken = pivots[k].equals(float(i))
            upper, lower = b[k], b[i]
            b[k], b[i] = taken.chosen(lower, upper), taken.chosen(upper, lower)

    for k in range(len(entries) - 1):
        entries[0].kernel.where_some(pivots[k] > float(k), partial(exchanged, k))


_LANE_BY_LANE: dict[str, Callable[..., object]] = {
    "brought_up": _brought_up,
    "brought_up_complex": _brought_up_complex,
    "exchange": _exchange,
}
"""Parts of `svyaz.integrate.factors` that do with each lane what its own numbers ask for."""
