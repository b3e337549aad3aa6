"""The forms of the equations of motion, one file each. The folder is the list of forms.

A file NAME.py ends with its FORM, the form called NAME; that of ``voronets:carried`` is ``voronets_carried.py``.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from svyaz.forms.equations import Form


@cache
def form_names() -> tuple[str, ...]:
    """The names of all forms, by alphabet; nothing is loaded.

    >>> "multipliers" in form_names()
    True
    """
    return tuple(sorted(found.name.replace("_", ":") for found in iter_modules(__path__)))


@cache
def form_of(name: str) -> Form:
    """The form of that name; ModelError where there is none."""
    if name not in form_names():
        from svyaz.expr import ModelError, Problem
        from svyaz.model import nearest

        message = f"there is no form '{name}'; there are {', '.join(form_names())}"
        raise ModelError([Problem(message, hint=nearest(name, form_names()))])
    form: Form = import_module(f"{__name__}.{name.replace(':', '_')}").FORM
    return form
