"""The inertia matrix as people and programs read it: named constants, the sequence, the matrix, counts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from svyaz.expr import Expression, latex_name, to_latex, to_text
from svyaz.forms import BiasParts, Inertia
from svyaz.model import System
from svyaz.program import LATEX_NOTATION as LATEX
from svyaz.program import TEXT_NOTATION as TEXT
from svyaz.program import Assignment, Listing, Notation, Program, export, listing, operations
from svyaz.show.equations import Printer, WrittenSequence, describe_operations, sequence_of

Pairs = list[list[str]]


def _number(value: float) -> str:
    return f"{value:.0f}" if value == int(value) and abs(value) < 1e15 else repr(value)


PLAIN = replace(TEXT, number=_number)


def inertia_sequence(inertia: Inertia, notation: Notation) -> tuple[Pairs, Pairs, list[list[str]]]:
    """(constants, sequence, full matrix) as [name, formula] and entries, in the order of evaluation."""
    written = listing(inertia.program, notation, inertia.names)
    constants = _constants(written)
    steps = [[step.name, step.formula] for step in written.steps if isinstance(step, Assignment)]
    entries = {name: formula for (name, _), formula in zip(inertia.program.outputs, written.results, strict=True)}
    triangle = iter(entries.values())
    size = len(inertia.freedoms)
    matrix = [[""] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1):
            matrix[i][j] = matrix[j][i] = next(triangle)
    return constants, steps, matrix


def _constants(written: Listing) -> Pairs:
    """Intermediates and kept constants as [name, formula]; an intermediate that is kept has the name that it is kept by."""
    pairs = [[step.name, step.formula] for step in written.constants]
    kept = [[name, formula] for name, formula in zip(written.kept, written.stored, strict=True) if name != formula]
    known = {name for name, _ in pairs}
    renamed = {formula: name for name, formula in kept if formula in known}
    pairs += [[name, formula] for name, formula in kept if formula not in known]
    if not renamed:
        return pairs
    words = re.compile("|".join(rf"(?<![\w{{}}]){re.escape(name)}(?![\w{{}}])" for name in renamed))
    return [[renamed.get(name, name), words.sub(lambda match: renamed[match[0]], formula)] for name, formula in pairs]


def inertia_text(inertia: Inertia, title: str) -> str:
    """A page: base parameters, constants, the sequence, the matrix, the counts."""
    constants, sequence, matrix = inertia_sequence(inertia, PLAIN)
    lines = [title, "", "constants, once:"]
    lines += [f"  {name} = {formula}" for name, formula in constants] or ["  none"]
    lines += ["", "in each position:"]
    lines += [f"  {name} = {formula}" for name, formula in sequence] or ["  nothing: the matrix is constant"]
    lines += ["", f"inertia matrix, {', '.join(inertia.freedoms)}:"]
    widths = [max(len(row[j]) for row in matrix) for j in range(len(matrix))]
    lines += ["  " + "  ".join(entry.ljust(w) for entry, w in zip(row, widths, strict=True)).rstrip() for row in matrix]
    counts = ", ".join(f"{count} {kind}" for kind, count in inertia.operations.items() if count)
    lines += ["", f"operations: {counts or 'none'}"]
    return "\n".join(lines) + "\n"


def base_parameters_text(inertia: Inertia) -> str:
    """The groups into which masses, first moments and inertias of the bodies were put together."""
    lines = [f"  {name} = {to_text(e)}" for name, e in inertia.base_parameters]
    return "\n".join(["", "base parameters (the groups of masses that the motion feels):", *(lines or ["  none"]), ""])


def explicit_text(elements: Sequence[Sequence[Expression]], system: System) -> str:
    """One formula for each entry of the lower triangle."""
    lines = [f"{name} = {formula}" for name, formula in _lower(elements, system, to_text)]
    return "\n".join([f"{system.name}, {', '.join(system.freedoms)}", "", *lines, ""])


def explicit_latex(elements: Sequence[Sequence[Expression]], system: System) -> str:
    """The same as one aligned display."""
    lines = [f"{latex_name(name)} &= {formula}" for name, formula in _lower(elements, system, to_latex)]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}\n"


def _lower(
    elements: Sequence[Sequence[Expression]], system: System, show: Callable[..., str]
) -> Iterator[tuple[str, str]]:
    order = [*system.parameters, *system.states]
    between = "" if len(elements) < 10 else "_"
    for i, row in enumerate(elements):
        for j, entry in enumerate(row[: i + 1]):
            yield f"H{i + 1}{between}{j + 1}", show(entry, order)


def inertia_latex(inertia: Inertia) -> str:
    """One aligned display."""
    constants, sequence, matrix = inertia_sequence(inertia, LATEX)
    lines = [f"{name} &= {formula}" for name, formula in (*constants, *sequence)]
    rows = r" \\ ".join(" & ".join(row) for row in matrix)
    lines.append(rf"H &= \begin{{bmatrix}} {rows} \end{{bmatrix}}")
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}\n"


MEANINGS = {
    "centrifugal": "in squares of velocities",
    "coriolis": "in products of different velocities",
    "gravity": "what holds the tree at rest",
    "gyroscopic": "among the first two, what does no work",
}


def parts_text(found: BiasParts) -> str:
    """The parts one after the other with a heading each; long ones after the sequence that they refer to."""
    program = found.program()
    written = parts_sequence(found, program)
    lines = [f"{found.system.name}: parts of the bias", ""]
    for heading, pairs in (("constants, once:", written.constants), ("in each state:", written.steps)):
        lines += [heading, *(f"  {name} = {formula}" for name, formula in pairs), ""] if pairs else []
    for part in found.parts:
        lines.append(f"{part}, {MEANINGS[part]}:")
        lines += [f"  {name}: {written.terms[f'{part}[{name}]']}" for name in found.freedoms]
        lines.append("")
    return "\n".join([*lines, describe_operations(operations(program)), ""])


def parts_latex(found: BiasParts) -> str:
    """One aligned display."""
    if not found.explicit:
        return export(found.program(), "latex")
    lines = [
        rf"\mathrm{{{part}}}_{{{latex_name(name)}}} &= {formula}" for part, name, formula in _formulas(found, to_latex)
    ]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}\n"


def _formulas(found: BiasParts, show: Printer) -> Iterator[tuple[str, str, str]]:
    order = [*found.system.constants, *found.system.states]
    for part, entries in found.parts.items():
        for name, entry in zip(found.freedoms, entries, strict=True):
            yield part, name, show(entry, order)


def parts_sequence(found: BiasParts, program: Program) -> WrittenSequence:
    """The parts as formulas; long ones refer to constants and a sequence, others are explicit."""
    if not found.explicit:
        return sequence_of(program, TEXT)
    return WrittenSequence((), (), {f"{part}[{name}]": formula for part, name, formula in _formulas(found, to_text)})
