"""Balanced trees and inverse problems in notebooks."""

from __future__ import annotations

from svyaz.expr import to_latex
from svyaz.show.notebooks import formula, heading
from svyaz.show.records.synthesis import conditions_text, gravity_words, proof_words
from svyaz.show.results import html_of, latex_of, line_of
from svyaz.show.tables import notebook_table
from svyaz.synthesis import (
    Balanced,
    Helmholtz,
    Inverse,
)


@html_of.register(Balanced)
def _(found: Balanced) -> str:
    """The conditions, the matrix under them, and on what they rest."""
    return heading(found.system.name, gravity_words(found), *found.notes, proof_words(found)) + formula(latex_of(found))


@line_of.register(Balanced)
def _(found: Balanced) -> str:
    rows = len(found.found.conditions.rows)
    return f"of '{found.system.name}': {conditions_text(rows) if rows else 'constant, whatever the masses are'}"


@html_of.register(Helmholtz)
def _(found: Helmholtz) -> str:
    """The conditions one by one; the Lagrangian and the Rayleigh function where they hold."""
    rows = [[c.name, c.says, "yes" if c.holds else f"no: {'; '.join(c.where)}"] for c in found.conditions]
    made = found.construction
    parts = [] if made is None else [("L", made.lagrangian), ("D", made.rayleigh)]
    formulas = "".join(formula(f"{sign} = {to_latex(e)}") for sign, e in parts)
    told = heading(found.system.name, found.tested, *found.notes)
    return told + notebook_table(["condition", "says", "holds"], rows) + formulas


@line_of.register(Helmholtz)
def _(found: Helmholtz) -> str:
    told = "all hold" if found.holds else f"not {', '.join(found.failing)}"
    return f"of '{found.system.name}': {told}"


@line_of.register(Inverse)
def _(found: Inverse) -> str:
    return f"of '{found.system.name}': decay rate {found.decay_rate:.6g}"
