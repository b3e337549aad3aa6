"""Results that show themselves: in a notebook by tables, formulas and pictures, in a terminal by one line."""

from __future__ import annotations

from importlib import import_module

WRITER = "svyaz.show.notebooks"
"""What writes them. No room below knows it: it is named here and loaded when something is first to be shown."""


class Shown:
    """The base of what notebooks show; a data class of this kind is declared with ``repr=False``."""

    def __repr__(self) -> str:
        return str(import_module(WRITER).line(self))

    def _repr_html_(self) -> str:
        return str(import_module(WRITER).html(self))

    def _repr_latex_(self) -> str | None:
        found = import_module(WRITER).latex(self)
        return None if found is None else str(found)
