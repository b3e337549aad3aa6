"""The parts of the bias of a tree as people and programs read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from svyaz import __version__
from svyaz.expr import latex_name, to_latex, to_text
from svyaz.forms.tree.bias_parts import BiasParts
from svyaz.program import TEXT_NOTATION as TEXT
from svyaz.program import Assignment, Program, export, listing, operations

MEANINGS = {
    "centrifugal": "in squares of velocities",
    "coriolis": "in products of different velocities",
    "gravity": "what holds the tree at rest",
    "gyroscopic": "among the first two, what does no work",
}


def parts_text(found: BiasParts) -> str:
    """The parts one after the other with a heading each; long ones after the sequence that they refer to."""
    program = found.program()
    constants, steps, formulas = _sequence(found, program)
    lines = [f"{found.system.name}: parts of the bias", ""]
    lines += ["constants, once:", *(f"  {line}" for line in constants), ""] if constants else []
    lines += ["in each state:", *(f"  {line}" for line in steps), ""] if steps else []
    for part, entries in formulas.items():
        lines.append(f"{part}, {MEANINGS[part]}:")
        lines += [f"  {name}: {entry}" for name, entry in entries.items()]
        lines.append("")
    told = ", ".join(f"{count} {kind}" for kind, count in operations(program).items() if count)
    return "\n".join([*lines, f"operations of the step part: {told or 'none'}", ""])


def parts_latex(found: BiasParts) -> str:
    """One aligned display."""
    if not found.explicit:
        return export(found.program(), "latex")
    lines = [
        rf"\mathrm{{{part}}}_{{{latex_name(name)}}} &= {formula}" for part, name, formula in _formulas(found, to_latex)
    ]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}\n"


def parts_json(found: BiasParts) -> dict[str, Any]:
    """The parts by coordinate; with ``constants`` and ``sequence`` to which long ones refer."""
    program = found.program()
    constants, steps, formulas = _sequence(found, program)
    return {
        "svyaz": __version__,
        "model": found.system.name,
        "coordinates": list(found.freedoms),
        "constants": [line.split(" = ", 1) for line in constants],
        "sequence": [line.split(" = ", 1) for line in steps],
        **formulas,
        "operations": operations(program),
        "parameters": dict(found.system.constants),
        "initial": dict(zip(found.system.states, found.system.initial_state(), strict=True)),
    }


def _formulas(found: BiasParts, show: Callable[..., str]) -> Iterator[tuple[str, str, str]]:
    order = [*found.system.constants, *found.system.states]
    for part, entries in found.parts.items():
        for name, entry in zip(found.freedoms, entries, strict=True):
            yield part, name, show(entry, order)


def _sequence(found: BiasParts, program: Program) -> tuple[list[str], list[str], dict[str, dict[str, str]]]:
    """(constants, sequence, formula of each part by coordinate); the first two are empty when formulas are explicit."""
    formulas: dict[str, dict[str, str]] = {part: {} for part in found.parts}
    if found.explicit:
        for part, name, formula in _formulas(found, to_text):
            formulas[part][name] = formula
        return [], [], formulas
    written = listing(program, TEXT)
    constants = [f"{step.name} = {step.formula}" for step in written.constants]
    constants += [f"{n} = {f}" for n, f in zip(written.kept, written.stored, strict=True) if n != f]
    steps = [f"{step.name} = {step.formula}" for step in written.steps if isinstance(step, Assignment)]
    results = iter(written.results)
    for part in found.parts:
        for name in found.freedoms:
            formulas[part][name] = next(results)
    return constants, steps, formulas
