"""From a system to its equations, in the form asked for. The forms are the files of ``named``."""

from __future__ import annotations

from svyaz.expr import Advice, ModelError, Problem
from svyaz.forms.equations import Equations
from svyaz.forms.named import form_of
from svyaz.forms.taken import STATED
from svyaz.model import System


def form_name(system: System, form: str | None = None) -> str:
    """The form asked for, or the one of the model's [run], or the natural one; refused when it does not fit."""
    if system.kind == "field":
        message = "a model of constraints without energies has no equations yet"
        hint = Advice("the inverse problem finds a system that has the wanted motion", "invert")
        raise ModelError([Problem(message, hint=hint)])
    if system.kind != "mechanical":
        if form not in (None, system.kind):
            taken = "equations" if system.equations else "rates"
            message = f"a model given by {_given(system)} has no form '{form}': its {taken} are taken as they are"
            raise ModelError([Problem(message)])
        return system.kind
    found = form_of(form or system.run.get("form") or ("multipliers" if system.constraints else "lagrange"))
    if found.free and system.constraints:
        names = ", ".join(f"'{c.name}'" for c in system.constraints)
        message = f"the form '{found.name}' takes no constraints, and the model has {names}"
        raise ModelError([Problem(message, hint="use the form 'multipliers'")])
    return found.name


def derive(system: System, form: str | None = None) -> Equations:
    """The equations of motion of a system in the form asked for."""
    name = form_name(system, form)
    return STATED[name](system) if name in STATED else form_of(name).derive(system)


def _given(system: System) -> str:
    return {"rates": "its rates", "canonical": "a Hamiltonian"}.get(system.kind, "its equations")
