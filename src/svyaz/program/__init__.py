"""Straight-line programs: the tape, its text, its numbers, its native code and its exports.

Names are imported when they are first used: reading a program needs no compiler.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "LinearSystem": "tape",
    "Program": "tape",
    "ProgramError": "errors",
    "SingularSystem": "errors",
    "to_text": "text",
    "from_text": "text",
    "content_hash": "text",
    "evaluate": "interpret",
    "choose_orders": "elimination",
    "operations": "counts",
    "operations_by_output": "counts",
    "export": "exports",
    "Native": "native",
    "compile_program": "native",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
