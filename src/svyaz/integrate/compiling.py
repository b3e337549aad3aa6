"""How the native loops are compiled: once for every model, and kept while the files that decide them stay.

``compiled`` is a loop that Python calls, ``part`` a function that only loops call, ``piece`` one that is woven into them,
``callback`` a function of three addresses that loops call by its own, ``instruction`` an operation given to LLVM (in
`svyaz.integrate.instructions`). Machine code is kept by the guarded cache of `svyaz.program` and called as any function of
three addresses. Where there is none it is made of the LLVM text of the loop: the text that the wheel carries, or one that
numba makes (see `svyaz.integrate.weaving`) where the wheel carries none of these very files. Only then numba is needed.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from importlib.abc import InspectLoader
from importlib.resources import files
from threading import Lock
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

import numpy as np

from svyaz.extras import extra
from svyaz.integrate.ingredients import SHARED, Ingredient, Pattern, Woveable

if TYPE_CHECKING:
    from svyaz.integrate.weaving import Woven

Given = ParamSpec("Given")
Function = TypeVar("Function", bound=Callable[..., object])

ENTRY = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
"""int32 f(x, c, out) of three addresses: all that is compiled is called so."""
TEXTS = "texts"
"""The folder of the wheel with the texts of loops; a source tree has none."""
_NUMBERS: dict[type, str] = {float: "d", np.float64: "d", int: "q", np.int64: "q", bool: "b"}
_ARRAYS = {
    (kind, n): letter + n * "q"
    for kind, letter in (("d", "f"), ("l", "i"), ("D", "c"), ("V", "v"))
    for n in range(1, 4)
}
_LETTERS = {np.dtype(np.float64): "f8", np.dtype(np.int64): "i8", np.dtype(np.complex128): "c16"}


class Uncompiled(TypeError):
    """A function that only compiled loops call was called from Python."""


def bound(
    loop: Callable[Concatenate[int, Given], int], *given: Given.args, **_none: Given.kwargs
) -> Callable[[int], int]:
    """A loop whose first argument is a whole number, with all its others: they are laid out once, for many calls."""
    assert isinstance(loop, Loop), "a loop is compiled"
    entry, block = loop.laid_out((0, *given))
    address, first = ctypes.addressof(block), ctypes.c_int64.from_buffer(block)

    def call(number: int, _alive: tuple[object, ...] = (given, block)) -> int:
        first.value = number
        return int(entry(None, address, None))

    return call


def rebound(loop: Callable[..., int], place: int, count: int, *given: object) -> Callable[..., int]:
    """A loop that is called with other values of ``count`` numbers in a row each time; the first of them is its argument
    number ``place``, or stands first in that record.
    """
    assert isinstance(loop, Loop), "a loop is compiled"
    entry, block = loop.laid_out(given)
    layouts = [_put(value, []).translate(_FORMATS) for value in given]
    first = sum(map(len, layouts[:place]))
    record = struct.Struct("".join(layouts)[first : first + count])
    address, offset, pack = ctypes.addressof(block), struct.calcsize("q") * first, record.pack_into

    def call(*values: float, _alive: tuple[object, ...] = (given, block)) -> int:
        pack(block, offset, *values)
        code: int = entry(None, address, None)
        return code

    return call


class Callback(Protocol):
    """A compiled function int32 f(x, c, out) of three addresses; it must live as long as its address is used."""

    @property
    def address(self) -> int: ...


def part(function: Function) -> Function:
    """A function that only loops call; it is compiled and kept with them."""
    return cast(Function, Ingredient(function, "part"))


def piece(function: Function) -> Function:
    """A piece of a loop, woven into it where it is called."""
    return cast(Function, Ingredient(function, "piece"))


def instruction(function: Function) -> Function:
    """An operation of the loops that `svyaz.integrate.instructions` gives as LLVM instructions under the same name."""
    return cast(Function, Ingredient(function, "instruction"))


def shared(function: Function) -> Function:
    """A function that Python calls as it is, and that loops may call too."""
    SHARED.add(function)
    return function


def compiled(function: Function) -> Function:
    """A loop that Python calls; it answers with a whole number, and is compiled for the types of its first arguments."""
    return cast(Function, Loop(function))


def callback(function: Callable[[int, int, int], int]) -> Callback:
    """A function f(x, c, out) of three addresses that loops call by its address."""
    return _machine_code(function, None)


def lazy_callback(function: Callable[[int, int, int], int]) -> Callable[[], Callback]:
    """A function that gives the same, compiled when it is first wanted."""
    return cache(partial(callback, function))


@dataclass(frozen=True)
class MachineCode:
    """A native function of three addresses, and what keeps it alive."""

    address: int
    owner: object


class Loop(Woveable):
    """A native loop. Its arguments go to it in one block of words: numbers as they are, arrays by address and shape."""

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__(function)
        self._entries: dict[str, tuple[Any, MachineCode]] = {}
        self.patterns: list[tuple[Pattern, ...]] = []
        """Types of arguments for which it was compiled."""
        self._making = Lock()

    def __call__(self, *given: object) -> int:
        entry, block = self.laid_out(given)
        return int(entry(None, ctypes.addressof(block), None))

    def laid_out(self, given: tuple[object, ...]) -> tuple[Any, ctypes.Array[ctypes.c_char]]:
        """The native function for such arguments, and the block of their words."""
        words: list[int | float] = []
        layout = "".join([_put(value, words) for value in given])
        entry, _ = self._entries.get(layout) or self._entry(layout, given)
        packed = struct.pack(layout.translate(_FORMATS), *words)
        return entry, ctypes.create_string_buffer(packed, len(packed))

    def _entry(self, layout: str, given: tuple[object, ...]) -> tuple[Any, MachineCode]:
        with self._making:
            if layout not in self._entries:
                self.patterns.append(tuple(pattern(value) for value in given))
                code = _machine_code(self.function, self.patterns[-1])
                self._entries[layout] = ENTRY(code.address), code
            return self._entries[layout]


_FORMATS = str.maketrans({"b": "q", "f": "q", "c": "q", "i": "q", "v": "q", "(": None, ")": None})


def _put(value: Any, words: list[int | float]) -> str:
    """Append the words of an argument; the answer is its layout: d, q, b for a number, f, i, c, v and sizes for an array."""
    kind = type(value)
    if kind is np.ndarray:
        if not value.flags.c_contiguous:
            raise TypeError("a native loop takes arrays in the order of C")
        words.append(value.ctypes.data)
        words.extend(value.shape)
        return _ARRAYS[value.dtype.char, value.ndim]
    if kind in _NUMBERS:
        words.append(value)
        return _NUMBERS[kind]
    return f"({''.join([_put(member, words) for member in value])})"


def pattern(value: Any) -> Pattern:
    """The type of an argument."""
    if isinstance(value, np.ndarray):
        kind = _LETTERS.get(value.dtype) or f"v{value.dtype.itemsize // 8}"
        return Pattern(kind, value.ndim)
    if isinstance(value, tuple):
        return Pattern("", record=type(value), parts=tuple(pattern(member) for member in value))
    return Pattern("d" if isinstance(value, float) else "b" if isinstance(value, bool) else "q")


def _machine_code(function: Callable[..., object], given: tuple[Pattern, ...] | None) -> MachineCode:
    """The code of a loop for arguments of these types, or of a function of three addresses (None)."""
    from svyaz.program import kept_code, load_code

    fresh: list[Woven] = []
    code = kept_code(("loop", text_name(function, given)), lambda: _object_code(function, given, fresh))
    if code is None:  # it leans on what this process alone has: it serves here and is not kept
        return MachineCode(fresh[0].address, fresh[0])
    engine = load_code(code)
    return MachineCode(int(engine.get_function_address("entry")), engine)


def _object_code(
    function: Callable[..., object], given: tuple[Pattern, ...] | None, fresh: list[Woven]
) -> bytes | None:
    from svyaz.program import standalone_object_code

    text = loop_text(function, given, fresh)
    return None if text is None else standalone_object_code(text.decode())


def loop_text(function: Callable[..., object], given: tuple[Pattern, ...] | None, fresh: list[Woven]) -> bytes | None:
    """LLVM text of a loop: carried by the package, kept, or made by numba, which then appends to ``fresh`` what it made.

    None where the code leans on what one process alone has.
    """
    name = text_name(function, given)
    carried = files("svyaz.integrate") / TEXTS / name
    if carried.is_file():
        return carried.read_bytes()
    from llvmlite.binding import llvm_version_info

    from svyaz.program import kept_text

    def make() -> bytes | None:
        with extra("loops"):
            from svyaz.integrate.weaving import woven
        made = woven(function, given)
        fresh.append(made)
        return None if made.text is None else made.text.encode()

    written_by = f"LLVM {llvm_version_info[0]}"  # earlier versions do not read it
    return kept_text(("text of a loop", written_by, name), make)


def text_name(function: Callable[..., object], given: tuple[Pattern, ...] | None) -> str:
    """The name of the text of a loop: all on which it depends is in it, the files above all."""
    types = "three addresses" if given is None else ", ".join(part.text for part in given)
    which = f"{function.__module__}.{function.__qualname__}({types})"
    return f"{function.__name__.strip('_')}-{sha256((_stamp(function) + which).encode()).hexdigest()[:32]}.ll"


def _stamp(function: Callable[..., object]) -> str:
    """A hash of the module in which a loop stands, or of the loop where that has no file, of those from which it and its
    parts take parts, and of all that stand here.
    """
    modules = sorted(_modules_of_parts(function) - {function.__module__})
    sources = [_source(function.__module__) or repr(function.__code__.co_code), *map(_source, modules)]
    return sha256("".join(source or "" for source in sources).encode() + _own_stamp()).hexdigest()


def _modules_of_parts(function: Callable[..., object]) -> set[str]:
    """The modules of all that a loop is made of."""
    found: set[str] = set()
    waiting = [function]
    while waiting:
        known = getattr(waiting.pop(), "__globals__", {})  # a class of records has none
        for ingredient in (v.function for v in known.values() if isinstance(v, Ingredient)):
            if ingredient.__module__ not in found:
                found.add(ingredient.__module__)
                waiting.append(ingredient)
    return found


def _source(name: str) -> str | None:
    """The text of a module, where it has a file."""
    module = sys.modules.get(name)
    loader = None if module is None or module.__spec__ is None else module.__spec__.loader
    return loader.get_source(name) if isinstance(loader, InspectLoader) else None


@cache
def _own_stamp() -> bytes:
    folder = sorted(files("svyaz.integrate").iterdir(), key=lambda file: file.name)
    return b"\0".join(file.read_bytes() for file in folder if file.name.endswith(".py"))
