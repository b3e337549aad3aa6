"""Calls of native functions from Python that cost little more than the function: ``f(q, v, out=found)``.

A built-in function of CPython is made of machine code. It takes the addresses of its arrays from the arrays themselves, whose
layout is part of the binary interface of NumPy (``PyArrayObject_fields``); where any argument is something else than a
contiguous array of doubles of the right size, it calls a function of Python with the same arguments. So it never sees what it
cannot read, and says nothing by itself.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from svyaz.arrays import Array
from svyaz.program import engine
from svyaz.program.native import Native

if TYPE_CHECKING:
    import llvmlite.binding as llvm

POSITIONAL_AND_KEYWORDS = 0x80 | 0x02
"""METH_FASTCALL | METH_KEYWORDS."""
NUMBERS, DIMENSIONS, SHAPE, KIND, FLAGS = 16, 24, 32, 56, 64
"""Offsets in an array: address of its numbers, how many dimensions, address of the shape, its dtype, its flags."""
TUPLE_SIZE, TUPLE_FIRST = 16, 24
READABLE, WRITEABLE = 0x1 | 0x100, 0x400
"""Flags of arrays: contiguous and aligned; may be written to."""

_WORDS = (
    *("step", "constants", "otherwise", "vectorcall", "own", "disown", "fresh", "out.name"),
    *("arguments", "inputs", "dimensions", "size", "array", "double"),
)
"""What the record of a function holds, before the sizes of its arguments: addresses, then numbers, then addresses of types."""
_PLACES = "\n".join(f"  %{word}.at = getelementptr i64, ptr %record, i64 {k}" for k, word in enumerate(_WORDS))

_TEXT = f"""
define ptr @direct(ptr %self, ptr %args, i64 %count, ptr %names) {{
entry:
  %record.at = getelementptr i8, ptr %self, i64 {NUMBERS}
  %record = load ptr, ptr %record.at
{_PLACES}
  %sizes = getelementptr i64, ptr %record, i64 {len(_WORDS)}
  %array = load ptr, ptr %array.at
  %double = load ptr, ptr %double.at
  %arguments = load i64, ptr %arguments.at
  %as.many = icmp eq i64 %count, %arguments
  br i1 %as.many, label %room, label %other
room:
  %inputs = load i64, ptr %inputs.at
  %x = alloca double, i64 %inputs, align 16
  br label %argument
argument:
  %k = phi i64 [ 0, %room ], [ %k.next, %copied ]
  %to = phi ptr [ %x, %room ], [ %to.next, %copied ]
  %given.at = getelementptr ptr, ptr %args, i64 %k
  %given = load ptr, ptr %given.at
  %wanted.at = getelementptr i64, ptr %sizes, i64 %k
  %wanted = load i64, ptr %wanted.at
  %given.fits = call i1 @fits(ptr %given, ptr %array, ptr %double, i64 1, i64 %wanted, i32 {READABLE})
  br i1 %given.fits, label %copy, label %other
copy:
  %from.at = getelementptr i8, ptr %given, i64 {NUMBERS}
  %from = load ptr, ptr %from.at
  br label %number
number:
  %i = phi i64 [ 0, %copy ], [ %i.next, %number ]
  %source = getelementptr double, ptr %from, i64 %i
  %value = load double, ptr %source
  %place = getelementptr double, ptr %to, i64 %i
  store double %value, ptr %place
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %wanted
  br i1 %more, label %number, label %copied
copied:
  %to.next = getelementptr double, ptr %to, i64 %wanted
  %k.next = add i64 %k, 1
  %another = icmp slt i64 %k.next, %arguments
  br i1 %another, label %argument, label %target
target:
  %is.new = icmp eq ptr %names, null
  br i1 %is.new, label %make, label %named
make:
  %fresh = load ptr, ptr %fresh.at
  %call = load ptr, ptr %vectorcall.at
  %new = call ptr %call(ptr %fresh, ptr null, i64 0, ptr null)
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %raise, label %run
named:
  %names.count.at = getelementptr i8, ptr %names, i64 {TUPLE_SIZE}
  %names.count = load i64, ptr %names.count.at
  %name.at = getelementptr i8, ptr %names, i64 {TUPLE_FIRST}
  %name = load ptr, ptr %name.at
  %out.name = load ptr, ptr %out.name.at
  %one.name = icmp eq i64 %names.count, 1
  %same.name = icmp eq ptr %name, %out.name
  %is.out = and i1 %one.name, %same.name
  br i1 %is.out, label %measure, label %other
measure:
  %out.at = getelementptr ptr, ptr %args, i64 %arguments
  %old = load ptr, ptr %out.at
  %dimensions = load i64, ptr %dimensions.at
  %size = load i64, ptr %size.at
  %out.fits = call i1 @fits(ptr %old, ptr %array, ptr %double, i64 %dimensions, i64 %size, i32 {READABLE | WRITEABLE})
  br i1 %out.fits, label %take, label %other
take:
  %own = load ptr, ptr %own.at
  call void %own(ptr %old)
  br label %run
run:
  %out = phi ptr [ %new, %make ], [ %old, %take ]
  %step = load ptr, ptr %step.at
  %constants = load ptr, ptr %constants.at
  %result.at = getelementptr i8, ptr %out, i64 {NUMBERS}
  %result = load ptr, ptr %result.at
  %status = call i32 %step(ptr %x, ptr %constants, ptr %result)
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %done, label %give.back
done:
  ret ptr %out
give.back:
  %disown = load ptr, ptr %disown.at
  call void %disown(ptr %out)
  br label %other
raise:
  ret ptr null
other:
  %otherwise = load ptr, ptr %otherwise.at
  %vectorcall = load ptr, ptr %vectorcall.at
  %answer = call ptr %vectorcall(ptr %otherwise, ptr %args, i64 %count, ptr %names)
  ret ptr %answer
}}

define internal i1 @fits(ptr %a, ptr %array, ptr %double, i64 %dimensions, i64 %size, i32 %wanted) alwaysinline {{
entry:
  %type.at = getelementptr i8, ptr %a, i64 8
  %type = load ptr, ptr %type.at
  %is.array = icmp eq ptr %type, %array
  br i1 %is.array, label %look, label %no
look:
  %kind.at = getelementptr i8, ptr %a, i64 {KIND}
  %kind = load ptr, ptr %kind.at
  %is.double = icmp eq ptr %kind, %double
  %many.at = getelementptr i8, ptr %a, i64 {DIMENSIONS}
  %many = load i32, ptr %many.at
  %many.long = sext i32 %many to i64
  %as.many = icmp eq i64 %many.long, %dimensions
  %flags.at = getelementptr i8, ptr %a, i64 {FLAGS}
  %flags = load i32, ptr %flags.at
  %have = and i32 %flags, %wanted
  %usable = icmp eq i32 %have, %wanted
  %b = and i1 %is.double, %as.many
  %c = and i1 %b, %usable
  br i1 %c, label %measure, label %no
measure:
  %shape.at = getelementptr i8, ptr %a, i64 {SHAPE}
  %shape = load ptr, ptr %shape.at
  %first = load i64, ptr %shape
  %last.place = sub i64 %dimensions, 1
  %last.at = getelementptr i64, ptr %shape, i64 %last.place
  %last = load i64, ptr %last.at
  %long = icmp eq i64 %first, %size
  %wide = icmp eq i64 %last, %size
  %d = and i1 %long, %wide
  ret i1 %d
no:
  ret i1 false
}}
"""
"""The built-in function; its ``self`` is the record."""


class _Method(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _Record(np.ndarray):
    """The numbers that the native function reads, with all that must live as long as it."""

    alive: tuple[object, ...]


def direct_function(
    name: str,
    native: Native,
    constants: Array,
    sizes: Sequence[int],
    shape: tuple[int, ...],
    otherwise: Callable[..., Array],
) -> Callable[..., Array]:
    """``f(*arrays, out=array)``: one input of the program in arrays of these sizes, outputs in an array (n,) or (n, n), the
    caller's or a new one.

    For all other arguments, and where a linear system is singular, it is ``otherwise``; so it is everywhere where this Python
    lays out objects in another way.
    """
    if not _is_known_layout() or len(set(shape)) != 1:
        return otherwise
    api, address = ctypes.pythonapi, _code().get_function_address("direct")
    python = [ctypes.cast(f, ctypes.c_void_p).value for f in (api.PyObject_Vectorcall, api.Py_IncRef, api.Py_DecRef)]
    out, fresh = sys.intern("out"), partial(np.empty, shape)
    words = [native.address, constants.ctypes.data, id(otherwise), *python, id(fresh), id(out)]
    words += [len(sizes), sum(sizes), len(shape), shape[0], id(np.ndarray), id(np.dtype(float)), *sizes]
    record = np.array(words, dtype=np.int64).view(_Record)
    method = _Method(name.encode(), address, POSITIONAL_AND_KEYWORDS, None)
    record.alive = (native, constants, otherwise, fresh, out, np.dtype(float), method)
    make = api.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    found: Callable[..., Array] = make(ctypes.addressof(method), record, None)
    return found


@cache
def _code() -> llvm.ExecutionEngine:
    """The machine code of the built-in function, for all programs."""
    return engine.load_code(engine.kept_code(("direct calls", _TEXT), lambda: engine.object_code(_TEXT)))


@cache
def _is_known_layout() -> bool:
    """Are objects of this Python and arrays of this NumPy laid out as they are read here?"""
    if (
        sys.implementation.name != "cpython"
        or sysconfig.get_config_var("Py_GIL_DISABLED")
        or ctypes.sizeof(ctypes.c_void_p) != 8
    ):
        return False
    for array in (np.zeros(3), np.zeros((2, 5))):
        at = id(array)

        def word(offset: int, kind: type[ctypes._SimpleCData[int]] = ctypes.c_int64, base: int = at) -> int:
            return kind.from_address(base + offset).value

        expected = (
            id(np.ndarray),
            array.ctypes.data,
            id(np.dtype(float)),
            array.ndim,
            array.flags.num,
            array.shape[-1],
        )
        last = ctypes.c_int64.from_address(word(SHAPE) + 8 * (array.ndim - 1)).value
        found = (word(8), word(NUMBERS), word(KIND), word(DIMENSIONS, ctypes.c_int), word(FLAGS, ctypes.c_int), last)
        if found != expected:
            return False
    return True
