"""The answer of ``svyaz balance`` as people read it: conditions by body, what the names mean, the matrix, the proof."""

from __future__ import annotations

from svyaz.expr import to_latex, to_text
from svyaz.forms import EACH, MASS, LinearForm
from svyaz.synthesis import Balanced, BalancedMasses, form_text, rounded_numbers

LEGEND = (
    "d: first moments of the bodies with the masses that they carry put in their poles; I: inertias of the bodies about\n"
    "their poles; M: masses with all that is carried; as the model has them:"
)


def balance_text(found: Balanced) -> str:
    """One page."""
    rows = found.found.conditions.rows
    title = f"{found.system.name}: {_count(len(rows))} make{'s' if len(rows) == 1 else ''} the inertia matrix constant"
    lines = [title if rows else f"{found.system.name}: the inertia matrix is constant, whatever the masses are", ""]
    width = max((len(found.line(row, pivot)) for pivot, row in rows.items()), default=0) + 4
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
    lines += ["", _gravity(found), *found.notes, "", _proof(found)]
    if isinstance(found.masses, BalancedMasses) and found.masses.lent:
        lines.append(f"bodies without mass that are given one in the balanced model: {', '.join(found.masses.lent)}")
    return "\n".join(lines) + "\n"


def _count(number: int) -> str:
    return "one condition" if number == 1 else f"{number} conditions"


def _meanings(found: Balanced) -> list[str]:
    """Formulas of first moments and carried masses; inertias that are parameters speak for themselves."""
    used = [q for q in found.used_quantities if q.name != str(q.expression)]
    told = [
        (q.name, to_text(rounded_numbers(q.expression)))
        for q in used
        if not (q.name.startswith("I") and q.expression.is_Symbol)
    ]
    if not told:
        return []
    width = max(len(name) for name, _ in told)
    return [LEGEND, *(f"  {name:<{width}} = {formula}" for name, formula in told), ""]


def _gravity(found: Balanced) -> str:
    if not found.has_gravity:
        return "there is no gravity"
    if not found.found.gravity.rows:
        return "gravity drops out of the equations"
    rows = found.found.gravity.rows
    lifted = [found.known[p].name for p, row in rows.items() if len(row) == 1 and p % EACH == MASS]
    if lifted:
        return f"gravity stays: it lifts or lowers {', '.join(lifted)} itself"
    return f"gravity stays, unless also {', '.join(f'{line} = 0' for line in found.gravity_lines)}"


def _proof(found: Balanced) -> str:
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
