"""The parts of the bias of a tree as people and programs read them."""

from __future__ import annotations

from collections.abc import Iterator

from svyaz.expr import latex_name, to_latex, to_text
from svyaz.forms import BiasParts
from svyaz.program import TEXT_NOTATION as TEXT
from svyaz.program import Program, export, operations
from svyaz.show.equations import Printer, told_operations
from svyaz.show.sequences import Sequence, sequence_of

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
    return "\n".join([*lines, told_operations(operations(program)), ""])


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


def parts_sequence(found: BiasParts, program: Program) -> Sequence:
    """The parts as formulas; long ones refer to constants and a sequence, others are explicit."""
    if not found.explicit:
        return sequence_of(program, TEXT)
    return Sequence((), (), {f"{part}[{name}]": formula for part, name, formula in _formulas(found, to_text)})
