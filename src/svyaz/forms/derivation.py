"""The forms of the equations of motion. Each takes a System and returns Equations."""

from __future__ import annotations

from collections.abc import Callable

from svyaz.expr import Advice, ModelError, Problem
from svyaz.forms.appell import appell
from svyaz.forms.chaplygin import chaplygin
from svyaz.forms.equations import Deviation, Equations
from svyaz.forms.first_order import canonical, plain_rates
from svyaz.forms.given import given_equations
from svyaz.forms.lagrange import lagrange
from svyaz.forms.maggi import maggi
from svyaz.forms.multipliers import with_multipliers
from svyaz.forms.shulgin import shulgin_equations
from svyaz.forms.voronets import voronets, voronets_carried
from svyaz.model import System, nearest

REDUCED: dict[str, Callable[..., Equations]] = {
    "chaplygin": chaplygin,
    "shulgin": shulgin_equations,
    "voronets": voronets,
    "voronets:carried": voronets_carried,
    "maggi": maggi,
    "appell": appell,
}
"""Forms that eliminate the velocity constraints: (system, constraints that act, dependent coordinates) → equations."""

FORMS: dict[str, Callable[[System], Equations]] = {"lagrange": lagrange, "multipliers": with_multipliers, **REDUCED}

__all__ = ["FORMS", "REDUCED", "Deviation", "Equations", "derive", "form_name"]


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
    name = form or system.run.get("form") or ("multipliers" if system.constraints else "lagrange")
    if name not in FORMS:
        raise ModelError(
            [Problem(f"there is no form '{name}'; there are {', '.join(FORMS)}", hint=nearest(name, FORMS))]
        )
    if name == "lagrange" and system.constraints:
        names = ", ".join(f"'{c.name}'" for c in system.constraints)
        message = f"the form 'lagrange' takes no constraints, and the model has {names}"
        raise ModelError([Problem(message, hint="use the form 'multipliers'")])
    return name


def derive(system: System, form: str | None = None) -> Equations:
    """The equations of motion of a system in the form asked for."""
    name = form_name(system, form)
    if name == "rates":
        return plain_rates(system)
    if name == "canonical":
        return canonical(system)
    if name in ("equations", "accelerations"):
        return given_equations(system)
    return FORMS[name](system)


def _given(system: System) -> str:
    return {"rates": "its rates", "canonical": "a Hamiltonian"}.get(system.kind, "its equations")
