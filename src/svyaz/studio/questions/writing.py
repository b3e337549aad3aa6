"""Equations: typeset, counted, and as programs in the languages that can be exported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from svyaz.expr import ModelError, Problem
from svyaz.studio.questions import Tell
from svyaz.studio.questions.asked import Asked, Table, flag, read_question, run_options, text

if TYPE_CHECKING:
    from svyaz.stabilise import Stabilised

MOST_LINES = 80
LONGEST = 12_000
"""Lines that are typeset, and characters of LaTeX of one of them; what is longer stays text."""


def derive(question: Table, tell: Tell) -> Mapping[str, object]:
    """The equations in a form, as formulas, as text and as the record of the command."""
    from svyaz.show import as_json, block_record, equations_page, latex_document, latex_lines

    given = read_question(question)
    equations = _stabilised(given).equations
    lines = latex_lines(equations)
    return {
        "record": as_json(equations) | block_record(equations),
        "form": equations.form,
        "formulas": [_typeset(line) for line in lines[:MOST_LINES]],
        "left": max(0, len(lines) - MOST_LINES),
        "latex": latex_document(equations),
        "text": equations_page(equations),
    }


def _stabilised(given: Asked) -> Stabilised:
    from svyaz.motion import with_gains, without_gains

    how = run_options(given.options, given.system)
    if how["stabilize"] is None:
        return without_gains(given.system, how["form"])
    return with_gains(given.system, how["form"], stabilize=how["stabilize"], method=how["method"], step=how["step"])


def _typeset(latex: str) -> Mapping[str, object]:
    """HTML of a formula, or its LaTeX where it is beyond setting."""
    from svyaz.show import LatexError, render

    if len(latex) > LONGEST:
        return {"latex": latex}
    try:
        return {"html": render(latex)}
    except LatexError:
        return {"latex": latex}


def export(question: Table, tell: Tell) -> Mapping[str, object]:
    """The equations as code of a language; ``program`` makes it a whole program that can be run."""
    from svyaz.motion import program_text
    from svyaz.program import languages
    from svyaz.show import latex_document

    given = read_question(question)
    language = text(given.options, "language") or "python"
    if language == "latex":
        return {"text": latex_document(_stabilised(given).equations)}
    if language not in languages():
        raise ModelError([Problem(f"programs are written in {', '.join(languages())}, not in '{language[:20]}'")])
    how = run_options(given.options, given.system)
    whole = flag(given.options, "program")
    found = program_text(
        _stabilised(given),
        language,
        complete=whole,
        method=how["method"] if whole else None,
        step=how["step"] if whole else None,
        until=how["until"] if whole else None,
        every=how["every"] if whole else None,
    )
    return {"text": found}


ANSWERS = {"derive": derive, "export": export}
