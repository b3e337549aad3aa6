"""Equations too long to be written out, as a sequence of named formulas in the order of evaluation."""

from __future__ import annotations

from dataclasses import dataclass

from svyaz.expr import Expression, latex_name
from svyaz.forms.equations import Equations
from svyaz.forms.programs import terms_program
from svyaz.program import LATEX_NOTATION as LATEX
from svyaz.program import TEXT_NOTATION as TEXT
from svyaz.program import Assignment, Notation, listing

LONGEST = 12_000
"""Equations of more names, numbers and operations than this are written as a sequence."""


@dataclass(frozen=True)
class Sequence:
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


def written_size(expression: Expression, known: dict[Expression, int]) -> int:
    """Names, numbers and operations of the expression as text; ``known`` keeps the sizes of its parts."""
    stack = [expression]
    while stack:
        e = stack[-1]
        missing = [a for a in e.args if a not in known]
        if missing:
            stack.extend(missing)
            continue
        known[e] = 1 + sum(known[a] for a in e.args)
        stack.pop()
    return known[expression]


def text_sequence(equations: Equations) -> Sequence:
    """In plain text."""
    return _sequence(equations, TEXT)


def latex_sequence(equations: Equations) -> Sequence:
    """In LaTeX."""
    found = _sequence(equations, LATEX)
    return Sequence(found.constants, found.steps, {latex_name(name): formula for name, formula in found.terms.items()})


def _sequence(equations: Equations, notation: Notation) -> Sequence:
    program = terms_program(equations)
    written = listing(program, notation)
    constants = [(step.name, step.formula) for step in written.constants]
    constants += [
        (name, formula) for name, formula in zip(written.kept, written.stored, strict=True) if name != formula
    ]
    steps = [(step.name, step.formula) for step in written.steps if isinstance(step, Assignment)]
    terms = {name: formula for (name, _), formula in zip(program.outputs, written.results, strict=True)}
    return Sequence(tuple(constants), tuple(steps), terms)
