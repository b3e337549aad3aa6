"""From a system to its equations, in the form asked for. The forms are the files of ``named``."""

from __future__ import annotations

from dataclasses import replace

from svyaz.expr import Advice, ModelError, Problem
from svyaz.forms.equations import Equations, Form
from svyaz.forms.named import form_of
from svyaz.forms.stated import as_taken, taken_equations
from svyaz.model import System, WantedField


def form_name(system: System, form: str | None = None) -> str:
    """The form asked for, or the one of the model's [run], or the natural one; refused when it does not fit."""
    if isinstance(system.law, WantedField):
        message = "a model of constraints without energies has no equations yet"
        hint = Advice("the inverse problem finds a system that has the wanted motion", "invert")
        raise ModelError([Problem(message, hint=hint)])
    taken = as_taken(system)
    if taken is not None:
        own, given, what = taken
        if form not in (None, own):
            message = f"a model given by {given} has no form '{form}': its {what} are taken as they are"
            raise ModelError([Problem(message)])
        return own
    found = form_of(form) if form is not None else _of_model(system)
    if found.free and system.constraints:
        names = ", ".join(f"'{c.name}'" for c in system.constraints)
        message = f"the form '{found.name}' takes no constraints, and the model has {names}"
        raise ModelError([Problem(message, hint="use the form 'multipliers'")])
    return found.name


def _of_model(system: System) -> Form:
    """The form of the model's [run], a wrong one shown at its place; else the natural one."""
    if "form" not in system.run:
        return form_of("multipliers" if system.constraints else "lagrange")
    try:
        return form_of(str(system.run["form"]))
    except ModelError as error:
        here = system.place("run", "form")
        raise ModelError([replace(problem, place=here) for problem in error.problems]) from error


def derive(system: System, form: str | None = None) -> Equations:
    """The equations of motion of a system in the form asked for."""
    name = form_name(system, form)
    return form_of(name).derive(system) if as_taken(system) is None else taken_equations(system, name)
