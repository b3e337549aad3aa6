"""The equations of motion in a report: collected, long parts named, trees in matrix form; with counts of operations."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import symengine as se

from svyaz.expr import ZERO, latex_name
from svyaz.forms import Equations, derive, terms_program
from svyaz.model import Constraint
from svyaz.motion import Motion
from svyaz.program import operations
from svyaz.show.equations import describe_operations, is_long, multiplier_signs, name_order, sides, text_sequence
from svyaz.show.formulas import Line, formula_boxes, in_parts, latex_line

MOST_LINES = 400
"""So many lines of a sequence stand in a page."""


def equations_part(motion: Motion) -> str:
    """The equations in the form of the motion."""
    equations = derive(motion.system, motion.form)
    parts = []
    tree = bool(motion.system.bodies)
    if tree or is_long(equations):
        parts.append(_matrix_form(equations))
    if is_long(equations):
        parts.append(_sequence(equations))
    else:
        lines = _entries(equations) if tree and equations.accelerated else sides(equations)
        parts.append(_written_equations(equations, lines))
    parts += [_multipliers(equations), _operations(equations)]
    return "".join(parts)


def formulas_html(formulas: Sequence[str]) -> str:
    """Formulas in LaTeX, as many as can be read; what is left out is said."""
    boxes, missing = formula_boxes(formulas)
    return boxes + _omission(len(formulas), missing)


def _omission(total: int, missing: int) -> str:
    if not missing:
        return ""
    return (
        f'<p class="quiet">{total - missing} of {total} equations are shown, the others are too many or too '
        "long for a page; <code>svyaz derive</code> writes all of them.</p>\n"
    )


def _matrix_form(equations: Equations) -> str:
    """M q̈ + b = Gᵀ λ with the sizes of all that stands there."""
    n, m = len(equations.accelerated), len(equations.deviations)
    right = r" = G^{\mathsf T} \lambda" if m else " = 0"
    rows = [rf"M(q)\, \ddot{{q}} + b(q, \dot{{q}}){right}"]
    rows += [r"G \ddot{q} + g(q, \dot{q}) = 0"] if m else []
    told = f"n = {n} accelerations: M is {n} × {n}, b has {n} entries and holds minus the forces"
    told += f"; {m} constraints: G is {m} × {n}" if m else ""
    q = ", ".join(equations.accelerated[:12]) + (", …" if n > 12 else "")
    return formula_boxes(rows)[0] + f'<p class="quiet">{escape(told)}. q = ({escape(q)}).</p>\n'


def _entries(equations: Equations) -> list[Line]:
    """M entry by entry (its upper triangle), then b, and what constraints add."""
    names = equations.accelerated
    lines: list[Line] = []
    for i, row in enumerate(equations.mass_matrix):
        lines += [(se.Symbol(f"M_{i + 1},{j + 1}"), e) for j, e in enumerate(row) if j >= i and e != ZERO]
    lines += [(se.Symbol(f"b_{i + 1}"), e) for i, e in enumerate(equations.bias) if e != ZERO]
    for k, (row, rest) in enumerate(zip(equations.constraint_jacobian, equations.constraint_bias, strict=True)):
        lines += [(se.Symbol(f"G_{k + 1},{j + 1}"), e) for j, e in enumerate(row) if e != ZERO]
        lines += [(se.Symbol(f"g_{k + 1}"), rest)] if rest != ZERO else []
    assert len(names) == len(equations.mass_matrix)
    return lines


def _written_equations(equations: Equations, lines: Sequence[Line]) -> str:
    order = name_order(equations)
    written = in_parts(lines, {*order, "t"})
    order = [*order, *(str(name) for name, _ in written.parts)]
    boxes, missing = formula_boxes([latex_line(*line, order) for line in written.lines])
    where, left = formula_boxes([latex_line(*part, order) for part in written.parts], "Part of an equation")
    told = "<p>where</p>\n" if where else ""
    return boxes + told + where + _omission(len(lines) + len(written.parts), missing + left)


def _sequence(equations: Equations) -> str:
    """Equations beyond reading, as the sequence of named formulas by which they are computed."""
    found = text_sequence(equations)
    lines = found.lines()
    counts = f"{len(found.constants)} constants, {len(found.steps)} steps, {len(found.terms)} entries of M, b and G"
    rest = f"\n… and {len(lines) - MOST_LINES} more: svyaz derive writes all of them" if len(lines) > MOST_LINES else ""
    return (
        f"<p>Written out they are beyond reading; as a sequence they take {counts}.</p>\n"
        f"<details><summary>The sequence</summary><pre>{escape(chr(10).join(lines[:MOST_LINES]) + rest)}</pre></details>\n"
    )


def _multipliers(equations: Equations) -> str:
    """Which constraint each multiplier belongs to."""
    signs = multiplier_signs(equations)
    told = "; ".join(f"{_sign(str(signs[d.name]))} of {_name_of(d.constraint)}" for d in equations.pushing)
    if not told:
        return ""
    return f'<p class="quiet">Multipliers: {told}. The force on the system is +Gᵀλ.</p>\n'


def _sign(name: str) -> str:
    return escape(latex_name(name).replace(r"\lambda", "λ").replace("_{", "").replace("}", ""))


def _name_of(constraint: Constraint) -> str:
    return escape(constraint.name)


def _operations(equations: Equations) -> str:
    counts = describe_operations(operations(terms_program(equations)))
    words = "What one evaluation of M, b and G takes, after what depends on parameters alone."
    return f'<p class="quiet" title="{escape(words)}">{escape(counts[0].upper() + counts[1:])}.</p>\n'
