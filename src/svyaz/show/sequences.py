"""Formulas too long to be written out, as a sequence of named ones in the order of evaluation."""

from __future__ import annotations

from dataclasses import dataclass

from svyaz.expr import Expression, latex_name
from svyaz.forms import Equations, terms_program, written_size
from svyaz.program import LATEX_NOTATION as LATEX
from svyaz.program import TEXT_NOTATION as TEXT
from svyaz.program import Assignment, Notation, Program, listing

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


def sequence_of(program: Program, notation: Notation) -> Sequence:
    """The formulas of a program without linear systems, in a notation."""
    written = listing(program, notation)
    constants = [(step.name, step.formula) for step in written.constants]
    constants += [
        (name, formula) for name, formula in zip(written.kept, written.stored, strict=True) if name != formula
    ]
    steps = [(step.name, step.formula) for step in written.steps if isinstance(step, Assignment)]
    terms = {name: formula for (name, _), formula in zip(program.outputs, written.results, strict=True)}
    return Sequence(tuple(constants), tuple(steps), terms)


def text_sequence(equations: Equations) -> Sequence:
    """The terms of equations in plain text."""
    return sequence_of(terms_program(equations), TEXT)


def latex_sequence(equations: Equations) -> Sequence:
    """The same in LaTeX."""
    found = sequence_of(terms_program(equations), LATEX)
    return Sequence(found.constants, found.steps, {latex_name(name): formula for name, formula in found.terms.items()})
