"""Balanced trees and inverse problems as JSON and LaTeX, and the answer of ``svyaz balance`` as people read it."""

from __future__ import annotations

import math
from dataclasses import asdict

from svyaz import __version__
from svyaz.expr import acceleration, to_latex, to_text
from svyaz.forms import EACH, MASS, LinearForm, lagrangian
from svyaz.json_types import Record
from svyaz.show.results import as_json, latex_of, stated_numbers
from svyaz.synthesis import (
    Balanced,
    BalancedMasses,
    FieldFamily,
    Helmholtz,
    Infeasible,
    Inverse,
    form_text,
    in_parameters,
    round_numbers,
)


@as_json.register(Helmholtz)
def _(found: Helmholtz) -> Record:
    result: Record = {"svyaz": __version__, "model": found.system.name, "tested": found.tested}
    result |= {c.name: {"holds": c.holds, "where": list(c.where)} for c in found.conditions}
    if found.construction is not None:
        result["lagrangian"] = to_text(found.construction.lagrangian)
        result["rayleigh"] = to_text(found.construction.rayleigh)
    return result | {"notes": list(found.notes)} | stated_numbers(found.system)


@as_json.register(FieldFamily)
def _(found: FieldFamily) -> Record:
    """Of an inverse problem; what needs the free functions themselves is null."""
    return {
        "svyaz": __version__,
        "model": found.system.name,
        "free": list(found.names),
        "field": {q: to_text(v) for q, v in found.fields.items()},
        "lagrangian": to_text(found.lagrangian),
        "rayleigh": None if found.rayleigh is None else to_text(found.rayleigh),
        "accelerations": None,
        "positive_definite": None,
        "decay_rate": None,
        **stated_numbers(found.system),
    }


@as_json.register(Inverse)
def _(found: Inverse) -> Record:
    system = found.system
    return {
        "svyaz": __version__,
        "model": system.name,
        "field": {q: to_text(v) for q, v in found.field.items()},
        "lagrangian": to_text(lagrangian(system)),
        "rayleigh": None if found.rayleigh is None else to_text(found.rayleigh),
        "accelerations": {q: to_text(a) for q, a in found.accelerations.items()},
        "gains": [[to_text(e) for e in row] for row in found.gains],
        "positive_definite": found.positive_definite,
        "decay_rate": found.decay_rate,
        "roots": [float(found.roots.real.min()), float(found.roots.real.max())],
        "method": found.method,
        "step": found.step,
        "step_limit": found.step_limit if math.isfinite(found.step_limit) else None,
        "euler_step_limit": found.euler_limit,
        "stable": found.stable,
        "repels": bool(found.repels),
        "reasons": list(found.reasons),
        **({} if found.approach is None else {"approach": asdict(found.approach)}),
        **stated_numbers(system),
    }


@latex_of.register(Inverse)
def _(found: Inverse) -> str:
    return f"$${inverse_latex(found).strip()}$$"


def inverse_latex(found: Inverse) -> str:
    """L, D, the accelerations and K as one aligned display."""
    system = found.system
    order = [*system.constants, *system.states]
    rows = [f"L &= {to_latex(lagrangian(system), order)}"]
    rows += [] if found.rayleigh is None else [f"D &= {to_latex(found.rayleigh, order)}"]
    for name, a in found.accelerations.items():
        rows.append(rf"{to_latex(acceleration(name), order)} &= {to_latex(a, order)}")
    entries = r" \\ ".join(" & ".join(to_latex(e, order) for e in row) for row in found.gains)
    rows.append(rf"K &= \begin{{pmatrix}} {entries} \end{{pmatrix}}")
    return "\\begin{aligned}\n" + " \\\\\n".join(f"  {row}" for row in rows) + "\n\\end{aligned}\n"


@as_json.register(Balanced)
def _(found: Balanced) -> Record:
    proof = found.proof
    result: Record = {
        "svyaz": __version__,
        "model": found.system.name,
        "coordinates": list(found.found.tree.freedoms),
        "conditions": [to_text(e) for e in found.formulas],
        "matrix": [[to_text(in_parameters(entry, found.known)) for entry in row] for row in found.matrix],
        "named": [
            {"condition": found.line(row, pivot), "body": found.known[pivot].body, "value": found.value(row)}
            for pivot, row in found.found.conditions.rows.items()
        ],
        "named_matrix": [[found.line(entry) for entry in row] for row in found.matrix],
        "quantities": {q.name: {"meaning": q.meaning, "formula": to_text(q.expression)} for q in found.used_quantities},
        "gravity": {"drops_out": not found.found.gravity.rows, "conditions": found.gravity_lines},
        "proof": {
            "poses": proof.poses,
            "with_all": proof.with_all,
            "without_one": proof.without_one,
            "independent": proof.independent,
            "holds": proof.holds,
        },
        "feasible": not isinstance(found.masses, Infeasible),
    }
    if isinstance(found.masses, Infeasible):
        result["reason"] = found.masses.reason
    result |= {"notes": list(found.notes)} | stated_numbers(found.system)
    return result | {"parameters": dict(found.system.parameters)}


LEGEND = (
    "d: first moments of the bodies with the masses that they carry put in their poles; I: inertias of the bodies about\n"
    "their poles; M: masses with all that is carried; as the model has them:"
)


LONGEST_ALIGNED = 48
"""Characters of a condition behind which present values stand below each other; a longer one is followed by its own."""


def balance_text(found: Balanced) -> str:
    """One page."""
    rows = found.found.conditions.rows
    title = f"{found.system.name}: {conditions_text(len(rows))} make{'s' if len(rows) == 1 else ''} the inertia matrix constant"
    lines = [title if rows else f"{found.system.name}: the inertia matrix is constant, whatever the masses are", ""]
    width = max((len(found.line(row, pivot)) + 4 for pivot, row in rows.items()), default=0)
    width = min(width, LONGEST_ALIGNED)
    body = None
    for pivot, row in rows.items():
        if found.known[pivot].body != body:
            body = found.known[pivot].body
            lines.append(f"  body '{body}'")
        lines.append(f"    {found.line(row, pivot) + ' = 0':<{width}}    now {found.value(row):.4g}")
    lines += [""] if rows else []
    lines += _meanings(found)
    matrix = [[found.line(entry) for entry in row] for row in found.matrix]
    widths = [max(len(row[j]) for row in matrix) for j in range(len(matrix))]
    lines += [f"inertia matrix{' under them' if rows else ''}, {', '.join(found.found.tree.freedoms)}:"]
    lines += ["  " + "  ".join(e.ljust(w) for e, w in zip(row, widths, strict=True)).rstrip() for row in matrix]
    lines += ["", gravity_words(found), *found.notes, "", proof_words(found)]
    if isinstance(found.masses, BalancedMasses) and found.masses.lent:
        lines.append(f"bodies without mass that are given one in the balanced model: {', '.join(found.masses.lent)}")
    return "\n".join(lines) + "\n"


def conditions_text(number: int) -> str:
    """How many there are, in words."""
    return "one condition" if number == 1 else f"{number} conditions"


def _meanings(found: Balanced) -> list[str]:
    """Formulas of first moments and carried masses; inertias that are parameters speak for themselves."""
    used = [q for q in found.used_quantities if q.name != str(q.expression)]
    told = [
        (q.name, to_text(round_numbers(q.expression)))
        for q in used
        if not (q.name.startswith("I") and q.expression.is_Symbol)
    ]
    if not told:
        return []
    width = max(len(name) for name, _ in told)
    return [LEGEND, *(f"  {name:<{width}} = {formula}" for name, formula in told), ""]


def gravity_words(found: Balanced) -> str:
    """Whether gravity acts on the balanced tree."""
    if not found.has_gravity:
        return "there is no gravity"
    if not found.found.gravity.rows:
        return "gravity drops out of the equations"
    rows = found.found.gravity.rows
    lifted = [found.known[p].name for p, row in rows.items() if len(row) == 1 and p % EACH == MASS]
    if lifted:
        return f"gravity stays: it lifts or lowers {', '.join(lifted)} itself"
    return f"gravity stays, unless also {', '.join(f'{line} = 0' for line in found.gravity_lines)}"


def proof_words(found: Balanced) -> str:
    """On what the conditions rest."""
    proof = found.proof
    text = f"in {proof.poses} random positions the entries differ by {proof.with_all:.1e} of the largest"
    if proof.without_one is None:
        return f"{text}, with masses chosen at random"
    return f"{text} with all conditions, by {proof.without_one:.1e} or more with any one of them broken"


def balance_latex(found: Balanced) -> str:
    """Conditions and matrix as one aligned display."""
    signs = [q.sign for q in found.known]

    def line(form: LinearForm, first: int | None = None) -> str:
        return form_text(form, first, signs, to_latex)

    lines = [f"{line(row, pivot)} &= 0" for pivot, row in found.found.conditions.rows.items()]
    rows = r" \\ ".join(" & ".join(line(entry) for entry in row) for row in found.matrix)
    lines.append(rf"H &= \begin{{bmatrix}} {rows} \end{{bmatrix}}")
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}\n"


@latex_of.register(Balanced)
def _(found: Balanced) -> str:
    return f"$${balance_latex(found).strip()}$$"
