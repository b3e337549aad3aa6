"""What is common to all compiled programs: how their functions are called, which are interpreted instead, and which version
of the compiler made them.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from importlib.resources import files

from svyaz.program.cache import cache_key
from svyaz.program.tape import Program, Sparse

_DECISIVE = ("llvm_", "compiled.py", "engine.py", "solver.ll", "sincos.ll", "interpreter.ll", "tape.py", "unrolled.py")
"""Files that decide what is compiled."""

LARGEST_COMPILED, LARGEST_SELDOM = 60_000, 1_500
"""Nodes. Longer programs, and those that are evaluated now and then, are interpreted: they need no compiler at all."""

_POINTER = ctypes.c_void_p
CONSTANTS = ctypes.CFUNCTYPE(None, _POINTER, _POINTER)
STEP = ctypes.CFUNCTYPE(ctypes.c_int32, _POINTER, _POINTER, _POINTER)
BATCH = ctypes.CFUNCTYPE(None, ctypes.c_int64, _POINTER, _POINTER, ctypes.c_int64, _POINTER, _POINTER)


def is_interpreted(program: Program, longest: int = LARGEST_COMPILED) -> bool:
    """Is a program interpreted? One that eliminates a sparse system, or has more nodes than the ``longest`` to compile."""
    if any(node[0] == "outside" for node in program.nodes):
        return False
    if any(isinstance(system.matrix, Sparse) and system.order is not None for system in program.systems):
        return True
    return len(program.nodes) > longest


@lru_cache(maxsize=1)
def compiler_version() -> str:
    """A hash of the modules that decide what is compiled: code kept by another version of them is not used."""
    folder = files("svyaz.program")
    names = sorted(file.name for file in folder.iterdir())
    texts = [folder.joinpath(name).read_text(encoding="utf-8") for name in names if name.startswith(_DECISIVE)]
    return cache_key(*texts)
