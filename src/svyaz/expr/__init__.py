"""Expressions: the safe parser, mistakes with their places, printing. Names are loaded when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "ModelError": "errors",
    "Place": "errors",
    "Problem": "errors",
    "RESERVED": "scope",
    "Scope": "scope",
    "is_name": "lexer",
    "parse": "parser",
    "parse_equation": "parser",
    "to_latex": "latex",
    "to_text": "text",
    "to_unicode": "unicode",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
