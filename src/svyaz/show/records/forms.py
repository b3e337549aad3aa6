"""Equations of motion, parts of the bias and inertia matrices as JSON, as LaTeX and in notebooks."""

from __future__ import annotations

from svyaz import __version__
from svyaz.expr import Expression, to_text
from svyaz.forms import BiasParts, Equations, Inertia, rate_expressions, terms_program
from svyaz.json_types import Record
from svyaz.program import operations
from svyaz.show.equations import is_long, latex_lines, name_order, text_lines, text_sequence
from svyaz.show.inertia_page import PLAIN, inertia_latex, inertia_sequence, parts_latex, parts_sequence
from svyaz.show.results import as_json, latex_of, stated_numbers


@latex_of.register(Equations)
def _(equations: Equations) -> str:
    rows = r" \\ ".join(line.replace(" = ", " &= ", 1) for line in latex_lines(equations))
    return rf"$$\begin{{aligned}}{rows}\end{{aligned}}$$"


@as_json.register(Equations)
def _(equations: Equations) -> Record:
    """The result of ``derive`` as the contract writes it.

    Equations beyond reading have further entries ``constants`` and ``sequence``, whose names the terms refer to.
    """
    terms = _long_terms(equations) if is_long(equations) else _plain_terms(equations)
    return {
        "svyaz": __version__,
        "model": equations.system.name,
        "coordinates": list(equations.accelerated or equations.states),
        "form": equations.form,
        **terms,
        **_chart(equations),
        **_directions(equations),
        "constraints": [d.name for d in equations.deviations],
        "notes": list(equations.notes),
        "operations": operations(terms_program(equations)),
        **stated_numbers(equations.system),
    }


def _chart(equations: Equations) -> Record:
    """What a form without multipliers has decided."""
    if equations.origin is None:
        return {}
    return {"dependent": list(equations.dependent)}


def _directions(equations: Equations) -> Record:
    """Along which directions, by coordinate, controls keep servo-constraints."""
    found = {
        d.name: {q: to_text(e) for q, e in zip(equations.accelerated, d.constraint.direction, strict=True)}
        for d in equations.deviations
        if d.constraint.servo
    }
    return {"directions": found} if found else {}


def _plain_terms(equations: Equations) -> Record:
    order = name_order(equations)

    def text(expression: Expression) -> str:
        return to_text(expression, order)

    terms: Record = {
        "mass_matrix": [[text(e) for e in row] for row in equations.mass_matrix],
        "bias": [text(e) for e in equations.bias],
        "constraint_jacobian": [[text(e) for e in row] for row in equations.constraint_jacobian],
        "constraint_bias": [text(e) for e in equations.constraint_bias],
        "equations": text_lines(equations),
    }
    if not equations.accelerated:
        terms["rates"] = {state: text(rate) for state, rate in rate_expressions(equations)}
    elif equations.origin is not None:
        terms["rates"] = {q: text(equations.explicit[q]) for q in equations.system.coordinates}
    if equations.gibbs is not None:
        terms["gibbs"] = text(equations.gibbs)
    return terms


def _long_terms(equations: Equations) -> Record:
    written = text_sequence(equations)
    q = equations.accelerated

    def entry(i: int, j: int) -> str:
        return written.terms[f"M[{q[min(i, j)]},{q[max(i, j)]}]"]

    names = [d.name for d in equations.deviations]
    rates = {q: written.terms[f"rate[{q}]"] for q in equations.system.coordinates if f"rate[{q}]" in written.terms}
    return {
        "constants": [list(pair) for pair in written.constants],
        "sequence": [list(pair) for pair in written.steps],
        "mass_matrix": [[entry(i, j) for j in range(len(q))] for i in range(len(q))],
        "bias": [written.terms[f"bias[{name}]"] for name in q],
        "constraint_jacobian": [[written.terms[f"G[{name},{x}]"] for x in q] for name in names],
        "constraint_bias": [written.terms[f"constraint_bias[{name}]"] for name in names],
        "equations": [],
        **({"rates": rates} if rates else {}),
    }


@as_json.register(BiasParts)
def _(found: BiasParts) -> Record:
    """The parts by coordinate; with ``constants`` and ``sequence`` to which long ones refer."""
    program = found.program()
    written = parts_sequence(found, program)
    return {
        "svyaz": __version__,
        "model": found.system.name,
        "coordinates": list(found.freedoms),
        "constants": [list(pair) for pair in written.constants],
        "sequence": [list(pair) for pair in written.steps],
        **{part: {name: written.terms[f"{part}[{name}]"] for name in found.freedoms} for part in found.parts},
        "operations": operations(program),
        **stated_numbers(found.system),
    }


@as_json.register(Inertia)
def _(inertia: Inertia) -> Record:
    constants, sequence, matrix = inertia_sequence(inertia, PLAIN)
    return {
        "coordinates": list(inertia.freedoms),
        "constants": constants,
        "sequence": sequence,
        "matrix": matrix,
        "operations": inertia.operations,
        "base_parameters": [[name, to_text(e)] for name, e in inertia.base_parameters],
    }


@latex_of.register(Inertia)
def _(inertia: Inertia) -> str:
    return f"$${inertia_latex(inertia).strip()}$$"


@latex_of.register(BiasParts)
def _(found: BiasParts) -> str:
    return f"$${parts_latex(found).strip()}$$"
