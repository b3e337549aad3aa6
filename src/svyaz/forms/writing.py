"""Equations as people write them: one line for each coordinate, collected by accelerations, velocities, the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import symengine as se

from svyaz import __version__
from svyaz.expr import ZERO, Expression, add_up, to_latex, to_text, to_unicode
from svyaz.forms.equations import Equations
from svyaz.forms.programs import rate_expressions, terms_program
from svyaz.forms.reactions import numbered, reaction_lines
from svyaz.forms.sequences import is_long, latex_sequence, text_sequence
from svyaz.program import operations

Printer = Callable[..., str]


def name_order(equations: Equations) -> list[str]:
    """Names in the order in which they stand in products: constants as declared, multipliers, what moves."""
    return [*equations.constants, *map(str, multiplier_signs(equations).values()), *equations.states]


def multiplier_signs(equations: Equations) -> dict[str, se.Symbol]:
    """λ, or λ1, λ2, … for several constraints, by their names."""
    names = [d.name for d in equations.pushing]
    return dict(zip(names, numbered("lambda", len(names)), strict=True))


def reaction_signs(equations: Equations) -> dict[str, se.Symbol]:
    """ρ, or ρ1, ρ2, … of the eliminated constraints, by their names."""
    names = [c.name for c in equations.eliminated]
    return dict(zip(names, numbered("rho", len(names)), strict=True))


def reactions_text(equations: Equations) -> list[str]:
    """The equations for the reactions of eliminated constraints, after the accelerations are known."""
    order = name_order(equations)
    return [f"{to_text(left, order)} = {to_text(right, order)}" for left, right in reaction_lines(equations)]


def sides(equations: Equations) -> list[tuple[Expression, Expression]]:
    """(left, right) of every equation: M q̈ + bias = Gᵀ λ, then the constraints differentiated, G q̈ + rest = 0."""
    if not equations.accelerated:
        return [(se.Symbol(state + "'"), rate) for state, rate in rate_expressions(equations)]
    accelerations = equations.accelerations
    signs = multiplier_signs(equations)
    rows = dict(zip(equations.multiplier_names, equations.constraint_jacobian, strict=True))
    lines = []
    for i, row in enumerate(equations.mass_matrix):
        left = add_up([*(m * a for m, a in zip(row, accelerations, strict=True)), equations.bias[i]])
        right = add_up([ZERO, *(rows[name][i] * sign for name, sign in signs.items())])
        if left != ZERO or right != ZERO:  # a carried velocity has a constraint instead
            lines.append((left, right))
    for row, rest in zip(equations.constraint_jacobian, equations.constraint_bias, strict=True):
        lines.append((add_up([*(g * a for g, a in zip(row, accelerations, strict=True)), rest]), ZERO))
    rates = ((se.Symbol(state + "'"), rate) for state, rate in equations.explicit.items())
    lines.extend((symbol, rate) for symbol, rate in rates if symbol != rate)
    return lines


def lines(equations: Equations, printer: Printer) -> list[str]:
    """The equations, each as ``left = right``."""
    order = name_order(equations)
    return [f"{printer(left, order)} = {printer(right, order)}" for left, right in sides(equations)]


def text_lines(equations: Equations) -> list[str]:
    """Plain text, as the parser reads it; equations beyond reading as a sequence of named formulas."""
    return text_sequence(equations).lines() if is_long(equations) else lines(equations, to_text)


def unicode_lines(equations: Equations) -> list[str]:
    """For reading on a terminal."""
    return text_sequence(equations).lines() if is_long(equations) else lines(equations, to_unicode)


def latex_lines(equations: Equations) -> list[str]:
    """LaTeX, one formula a line, without delimiters."""
    return latex_sequence(equations).lines() if is_long(equations) else lines(equations, to_latex)


def latex_document(equations: Equations) -> str:
    """One aligned display, ready to paste."""
    rows = " \\\\\n".join("  " + line.replace(" = ", " &= ", 1) for line in latex_lines(equations))
    return "\\begin{aligned}\n" + rows + "\n\\end{aligned}\n"


def as_json(equations: Equations) -> dict[str, Any]:
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
        "constraints": [d.name for d in equations.deviations],
        "operations": operations(terms_program(equations)),
        "parameters": dict(equations.system.constants),
        "initial": dict(zip(equations.system.states, equations.system.initial_state(), strict=True)),
    }


def _chart(equations: Equations) -> dict[str, Any]:
    """What a form without multipliers has decided."""
    if equations.origin is None:
        return {}
    return {"dependent": list(equations.dependent), "notes": list(equations.notes)}


def _plain_terms(equations: Equations) -> dict[str, Any]:
    order = name_order(equations)

    def text(expression: Expression) -> str:
        return to_text(expression, order)

    terms: dict[str, Any] = {
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


def _long_terms(equations: Equations) -> dict[str, Any]:
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
