"""Systems in notebooks, as they were stated."""

from __future__ import annotations

from html import escape
from math import isfinite

from svyaz.expr import to_latex
from svyaz.forms import lagrangian, written_size
from svyaz.model import Mechanical, System, WantedField
from svyaz.show.equations import LONGEST
from svyaz.show.notebooks import details, formula, heading, picture
from svyaz.show.positions import Position, positions_figure
from svyaz.show.results import html_of, latex_of
from svyaz.show.tables import notebook_table

MOST = 12
"""So many constraints are shown as formulas."""


@html_of.register(System)
def _(system: System) -> str:
    """What was stated: the law, the constraints, the mechanism where it starts, numbers."""
    start = dict(zip(system.states, system.initial_state(), strict=True))
    shown = ""
    if system.drawings and all(map(isfinite, start.values())):
        shown = picture(positions_figure([Position("at the start", system, start)]), f"{system.name} at the start")
    numbers = [[name, float(value)] for name, value in system.constants.items()]
    numbers += [[f"{name} at the start", value] for name, value in start.items()]
    constraints = [] if isinstance(system.law, WantedField) else system.constraints
    return (
        heading(system.name, *_law(system))
        + (formula(latex_of(system)) if _readable(system) else "")
        + "".join(f"<p>{escape(c.name)}:</p>{formula(f'{to_latex(c.expression)} = 0')}" for c in constraints[:MOST])
        + (f"<p>and {len(constraints) - MOST} constraints more</p>" if len(constraints) > MOST else "")
        + shown
        + details("parameters, inputs and the start", notebook_table(["name", "value"], numbers))
    )


def _readable(system: System) -> bool:
    """Is its law short enough to be set?"""
    return not isinstance(system.law, Mechanical) or written_size(lagrangian(system), {}) <= LONGEST


def _law(system: System) -> list[str]:
    """What is not in the formula."""
    bodies = [f"{len(system.bodies)} bodies"] if system.bodies else []
    inputs = [f"inputs {', '.join(system.inputs)}"] if system.inputs else []
    return bodies + inputs + ([] if _readable(system) else ["its Lagrangian is beyond reading"])
