"""Equations as people write them: one line for each coordinate, collected by accelerations, velocities, the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import symengine as se

from svyaz.expr import ZERO, Expression, add_up, latex_name, to_latex, to_text, to_unicode
from svyaz.forms import Equations, rate_expressions, reaction_system, shorter, terms_program, written_size
from svyaz.json_types import Record
from svyaz.model import Constraint
from svyaz.program import LATEX_NOTATION as LATEX
from svyaz.program import TEXT_NOTATION as TEXT
from svyaz.program import Assignment, Notation, Program, listing, operations
from svyaz.stabilise import Stabilised

LONGEST = 12_000
"""Equations of more names, numbers and operations than this are written as a sequence."""


@dataclass(frozen=True)
class WrittenSequence:
    """Constants and intermediates as (name, formula) in order, and the formula of each term by its name (M[q1,q2], …)."""

    constants: tuple[tuple[str, str], ...]
    steps: tuple[tuple[str, str], ...]
    terms: dict[str, str]

    def lines(self) -> list[str]:
        """All of it, one formula a line."""
        return [f"{name} = {formula}" for name, formula in (*self.constants, *self.steps, *self.terms.items())]


def is_long(equations: Equations) -> bool:
    """Would the equations, written out, be beyond reading?"""
    entries = [*(e for row in equations.mass_matrix for e in row), *equations.bias]
    total = 0
    known: dict[Expression, int] = {}
    for entry in entries:
        total += written_size(entry, known)
        if total > LONGEST:
            return True
    return False


def sequence_of(program: Program, notation: Notation) -> WrittenSequence:
    """The formulas of a program without linear systems, in a notation."""
    written = listing(program, notation)
    constants = [(step.name, step.formula) for step in written.constants]
    constants += [
        (name, formula) for name, formula in zip(written.kept, written.stored, strict=True) if name != formula
    ]
    steps = [(step.name, step.formula) for step in written.steps if isinstance(step, Assignment)]
    terms = {name: formula for (name, _), formula in zip(program.outputs, written.results, strict=True)}
    return WrittenSequence(tuple(constants), tuple(steps), terms)


def text_sequence(equations: Equations) -> WrittenSequence:
    """The terms of equations in plain text."""
    return sequence_of(terms_program(equations), TEXT)


def latex_sequence(equations: Equations) -> WrittenSequence:
    """The same in LaTeX."""
    found = sequence_of(terms_program(equations), LATEX)
    return WrittenSequence(
        found.constants, found.steps, {latex_name(name): formula for name, formula in found.terms.items()}
    )


Printer = Callable[[Expression, Sequence[str]], str]


def name_order(equations: Equations) -> list[str]:
    """Names in the order in which they stand in products: constants as declared, multipliers, what moves."""
    return [*equations.constants, *map(str, multiplier_signs(equations).values()), *equations.states]


def multiplier_signs(equations: Equations) -> dict[str, se.Symbol]:
    """λ, or λ1, λ2, … for several constraints, by their names."""
    names = [d.name for d in equations.pushing]
    return dict(zip(names, multiplier_symbols("lambda", len(names)), strict=True))


def reaction_signs(equations: Equations) -> dict[str, se.Symbol]:
    """ρ, or ρ1, ρ2, … of the eliminated constraints, by their names."""
    names = [c.name for c in equations.eliminated]
    return dict(zip(names, multiplier_symbols("rho", len(names)), strict=True))


def reactions_text(equations: Equations) -> list[str]:
    """The equations for the reactions of eliminated constraints, after the accelerations are known."""
    order = name_order(equations)
    return [f"{to_text(left, order)} = {to_text(right, order)}" for left, right in reaction_lines(equations)]


def reaction_lines(equations: Equations) -> list[tuple[Expression, Expression]]:
    """(left, right) of α αᵀ ρ = α (M q̈ + bias - Gᵀλ), ρ under rho, or rho1, rho2, …, for reading."""
    signs = dict(
        zip((d.name for d in equations.pushing), multiplier_symbols("lambda", len(equations.pushing)), strict=True)
    )
    linear, _ = reaction_system(equations, [signs.get(d.name, ZERO) for d in equations.deviations])
    rho = multiplier_symbols("rho", len(linear.matrix))
    left = [add_up(shorter(g) * r for g, r in zip(row, rho, strict=True)) for row in linear.matrix]
    return list(zip(left, map(shorter, linear.sides[0]), strict=True))


def multiplier_symbols(sign: str, count: int) -> list[se.Symbol]:
    """λ alone, or λ1, λ2, …"""
    return [se.Symbol(sign if count == 1 else f"{sign}{k + 1}") for k in range(count)]


def sides(equations: Equations) -> list[tuple[Expression, Expression]]:
    """(left, right) of every equation: M q̈ + bias = Rᵀ λ, then the constraints differentiated, G q̈ + rest = 0."""
    if not equations.accelerated:
        return [(se.Symbol(state + "'"), rate) for state, rate in rate_expressions(equations)]
    accelerations = equations.accelerations
    signs = multiplier_signs(equations)
    rows = dict(zip(equations.multiplier_names, equations.reactions, strict=True))
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


def gain_record(found: Stabilised) -> Record:
    """The entries of JSON that tell of stabilising terms and of the gains in them."""
    order = name_order(found.equations)
    terms: Record = {name: to_text(term, order) for name, term in found.terms.items()}
    return {"stabilising": terms, "gains": dict(found.gains)}


def gain_page(found: Stabilised) -> list[str]:
    """The stabilising terms and the gains in them, for ``equations_page``."""
    if not found.terms:
        return []
    order = name_order(found.equations)
    lines = ["", f"stabilising terms, which stand in the constraints above ({found.described}):"]
    lines += [f"  {name}: {to_text(term, order)}" for name, term in found.terms.items()]
    return [*lines, *(f"  {name} = {value:g}" for name, value in found.gains.items())]


def reaction_record(equations: Equations) -> Record:
    """The entry ``reactions`` of JSON: their names, their signs, and the equations that give them."""
    if not equations.eliminated:
        return {"reactions": {}}
    signs = {name: str(sign) for name, sign in reaction_signs(equations).items()}
    return {"reactions": {"signs": signs, "equations": reactions_text(equations)}}


def reaction_page(equations: Equations) -> list[str]:
    """The equations for the reactions of eliminated constraints and what their signs mean, for ``equations_page``."""
    if not equations.eliminated:
        return []
    lines = ["", "reactions, once the accelerations are known:"]
    lines += [f"  {line}" for line in reactions_text(equations)]
    return [*lines, *(f"  {sign}: {name}" for name, sign in reaction_signs(equations).items())]


def equations_page(equations: Equations, reactions: Sequence[str] = ()) -> str:
    """Name, equations, the meaning of the multipliers, the reactions if asked for, and the number of operations."""
    lines = [f"{equations.system.name}, form {equations.form}", ""]
    lines += [f"  {line}" for line in text_lines(equations)]
    if equations.gibbs is not None and not is_long(equations):
        lines += ["", "from the Gibbs function (its terms with accelerations):"]
        lines += [f"  S = {to_text(equations.gibbs, name_order(equations))}"]
    if equations.pushing:
        lines += ["", "multipliers (the constraint forces are +G' lambda):"]
        signs = multiplier_signs(equations)
        lines += [
            f"  {signs[d.name]}: {d.name}, {d.constraint.text}{_servo_note(d.constraint)}" for d in equations.pushing
        ]
    lines += reactions
    lines += ["", *equations.notes] if equations.notes else []
    return "\n".join([*lines, "", describe_operations(operations(terms_program(equations)))]) + "\n"


def _servo_note(constraint: Constraint) -> str:
    """How a servo-constraint is kept; nothing for others."""
    if not constraint.servo:
        return ""
    acts = f"the input {constraint.control}" if constraint.control else "a control"
    return f", kept by {acts} along ({', '.join(map(to_text, constraint.direction))})"


def describe_operations(counts: Mapping[str, int]) -> str:
    """How many operations of each kind a step takes."""
    told = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    return f"operations of the step part: {told or 'none'}"
