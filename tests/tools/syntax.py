"""The syntax trees of modules, each parsed once for all tests of a file."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


@cache
def syntax_of(path: Path) -> ast.Module:
    """The syntax tree of a module. ``syntax_of.cache_clear()`` frees them: trees of a whole package slow every collection."""
    return ast.parse(path.read_text(encoding="utf-8"))
