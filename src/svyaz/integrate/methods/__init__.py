"""One file a method: its tableau as data, its order, and where it was published. The folder is the list of methods.

A file NAME.py says TABLEAU, the method called NAME; a file of many methods says FAMILY besides, whose members are
called NAME:CHOICE. The first line of its docstring names the method in the documentation.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from svyaz.integrate.tableau import Family, Tableau


@cache
def method_names() -> tuple[str, ...]:
    """The names of all methods, by alphabet; nothing is loaded.

    >>> "dop853" in method_names()
    True
    """
    return tuple(sorted(found.name for found in iter_modules(__path__) if not found.name.startswith("_")))


@cache
def method(name: str) -> Tableau:
    """The method of that name: a name of ``method_names``, or a member of a family such as ``rk2:0.75``.

    ValueError where there is none, with the nearest name and all of them.
    """
    family, colon, choice = name.partition(":")
    if family in method_names():
        if not colon:
            found: Tableau = import_module(f"{__name__}.{family}").TABLEAU
            return found
        members = _family(family)
        if choice and members is not None:
            return members.member(choice)
    raise ValueError(_unknown(name, family))


def methods_with_estimate() -> tuple[str, ...]:
    """The methods that choose their steps by an estimate of the error."""
    return tuple(name for name in method_names() if method(name).embedded)


def _family(name: str) -> Family | None:
    members: Family | None = getattr(import_module(f"{__name__}.{name}"), "FAMILY", None)
    return members


def _unknown(name: str, family: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(family.lower(), method_names(), n=1, cutoff=0.5)
    hint = f"; did you mean '{close[0]}'?" if close else "."
    families = [members.example for members in map(_family, method_names()) if members is not None]
    told = f" ({'; '.join(families)})" if families else ""
    return f"no method is called '{name}'{hint} Methods: {', '.join(method_names())}{told}"
