"""Balanced trees and inverse problems as JSON and LaTeX."""

from __future__ import annotations

import math

from svyaz import __version__
from svyaz.expr import acceleration, to_latex, to_text
from svyaz.forms import lagrangian
from svyaz.json_types import Record
from svyaz.show.results import as_json, given, latex_of
from svyaz.synthesis import Balanced, FieldFamily, Helmholtz, Infeasible, Inverse, in_parameters


@as_json.register(Helmholtz)
def _(found: Helmholtz) -> Record:
    result: Record = {"svyaz": __version__, "model": found.system.name, "tested": found.tested}
    result |= {c.name: {"holds": c.holds, "where": list(c.where)} for c in found.conditions}
    if found.construction is not None:
        result["lagrangian"] = to_text(found.construction.lagrangian)
        result["rayleigh"] = to_text(found.construction.rayleigh)
    return result | {"notes": list(found.notes)} | given(found.system)


@as_json.register(FieldFamily)
def _(found: FieldFamily) -> Record:
    """Of an inverse problem; what needs the free functions themselves is null."""
    return {
        "svyaz": __version__,
        "model": found.system.name,
        "free": list(found.names),
        "field": {q: to_text(v) for q, v in found.fields.items()},
        "lagrangian": to_text(found.lagrangian),
        "rayleigh": to_text(found.rayleigh),
        "accelerations": None,
        "positive_definite": None,
        "decay_rate": None,
        **given(found.system),
    }


@as_json.register(Inverse)
def _(found: Inverse) -> Record:
    system = found.system
    return {
        "svyaz": __version__,
        "model": system.name,
        "field": {q: to_text(v) for q, v in system.velocity_field.items()},
        "lagrangian": to_text(lagrangian(system)),
        "rayleigh": to_text(system.dissipation),
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
        **given(system),
    }


@latex_of.register(Inverse)
def _(found: Inverse) -> str:
    return f"$${inverse_latex(found).strip()}$$"


def inverse_latex(found: Inverse) -> str:
    """L, D, the accelerations and K as one aligned display."""
    system = found.system
    order = [*system.constants, *system.states]
    rows = [f"L &= {to_latex(lagrangian(system), order)}", f"D &= {to_latex(system.dissipation, order)}"]
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
    result |= {"notes": list(found.notes)} | given(found.system)
    return result | {"parameters": dict(found.system.parameters)}
