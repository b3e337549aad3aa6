"""What is common to all compiled programs: how their functions are called, and which version of the compiler made them."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from importlib.resources import files

from svyaz.program.cache import cache_key

_DECISIVE = ("llvm_", "engine.py", "solver.ll", "sincos.ll", "interpreter.ll", "tape.py", "unrolled.py")
"""Files that decide what is compiled."""

_POINTER = ctypes.c_void_p
CONSTANTS = ctypes.CFUNCTYPE(None, _POINTER, _POINTER)
STEP = ctypes.CFUNCTYPE(ctypes.c_int32, _POINTER, _POINTER, _POINTER)
BATCH = ctypes.CFUNCTYPE(None, ctypes.c_int64, _POINTER, _POINTER, ctypes.c_int64, _POINTER, _POINTER)


@lru_cache(maxsize=1)
def compiler_version() -> str:
    """A hash of the modules that decide what is compiled: code kept by another version of them is not used."""
    folder = files("svyaz.program")
    names = sorted(file.name for file in folder.iterdir())
    texts = [folder.joinpath(name).read_text(encoding="utf-8") for name in names if name.startswith(_DECISIVE)]
    return cache_key(*texts)
