"""How systems are written and shown, as they were stated."""

from __future__ import annotations

import symengine as se

from svyaz.expr import to_latex
from svyaz.forms import lagrangian
from svyaz.model import Bodies, Canonical, GivenEquations, Mechanical, System, WantedField
from svyaz.show.results import latex_of

MOST = 12
"""So many constraints are shown as formulas."""


@latex_of.register(System)
def _(system: System) -> str:
    match system.law:
        case Bodies(tree=tree):
            return rf"$$\text{{tree of bodies}}\quad {', '.join(map(_name, tree.freedoms))}$$"
        case Mechanical():
            return rf"$$L = {to_latex(lagrangian(system))}$$"
        case Canonical(hamiltonian=hamiltonian):
            return rf"$$H = {to_latex(hamiltonian)}$$"
        case WantedField():
            return rf"$$\dot q = v(q),\quad {', '.join(to_latex(c.expression) + ' = 0' for c in system.constraints)}$$"
        case GivenEquations(equations=equations):
            rows = [rf"{to_latex(e)} &= 0" for e in equations.values()]
        case _:
            rows = [rf"\dot{{{_name(s)}}} &= {to_latex(e)}" for s, e in system.rates.items()]
    joined = r" \\ ".join(rows)
    return rf"$$\begin{{aligned}}{joined}\end{{aligned}}$$"


def _name(name: str) -> str:
    return str(to_latex(se.Symbol(name)))
