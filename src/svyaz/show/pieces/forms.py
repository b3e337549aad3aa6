"""Equations, parts of the bias and inertia matrices in notebooks."""

from __future__ import annotations

from svyaz.forms import BiasParts, Equations, Inertia, terms_program
from svyaz.program import operations
from svyaz.show.equations import describe_operations, is_long
from svyaz.show.notebooks import formula, heading
from svyaz.show.results import html_of, latex_of, line_of


@html_of.register(Equations)
def _(equations: Equations) -> str:
    """Its formulas, or what there is to be said of very long ones."""
    words = [f"equations in the form '{equations.form}'", *equations.notes]
    if is_long(equations):
        told = describe_operations(operations(terms_program(equations)))
        return heading(equations.system.name, *words, "beyond reading, written out", f"as a program: {told}")
    return heading(equations.system.name, *words) + formula(latex_of(equations))


@html_of.register(Inertia)
def _(inertia: Inertia) -> str:
    """The sequence of formulas and its counts."""
    return heading("inertia matrix", line_of(inertia)) + formula(latex_of(inertia))


@line_of.register(Inertia)
def _(inertia: Inertia) -> str:
    counts = ", ".join(f"{count} {kind}" for kind, count in inertia.operations.items() if count)
    return f"of {len(inertia.freedoms)} freedoms: {counts or 'no operations'}"


@line_of.register(BiasParts)
def _(found: BiasParts) -> str:
    return f"of '{found.system.name}': {', '.join(found.parts)}"
