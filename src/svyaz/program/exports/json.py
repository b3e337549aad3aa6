"""A program as JSON: names and formulas for people and for other programs, with the portable text to run it from."""

from __future__ import annotations

import json

from svyaz.program.counts import operations
from svyaz.program.exports.listing import ARITHMETIC_RULES, ATOM, POWER, Assignment, Rule, Solution, Style, listing
from svyaz.program.tape import BINARY, UNARY, Program
from svyaz.program.text import to_text

TEXT_STYLE = Style(
    rules=ARITHMETIC_RULES
    | {name: Rule(f"{name}({{0}})") for name in UNARY}
    | {name: Rule(f"{name}({{0}}, {{1}})") for name in BINARY}
    | {"pow": Rule("{0}^{1}", POWER, (ATOM, ATOM))},
    number=repr,
    name=str,
    unknown="s{0}_{1}",
)


def write(program: Program) -> str:
    """Constants, sequence and outputs as [name, formula]; a linear system stands in the sequence where it is solved."""
    written = listing(program, TEXT_STYLE)
    constants = [[step.name, step.formula] for step in written.constants]
    constants += [
        [name, formula] for name, formula in zip(written.kept, written.stored, strict=True) if name != formula
    ]
    result = {
        "parameters": list(program.parameters),
        "inputs": list(program.inputs),
        "constants": constants,
        "sequence": [_entry(step) for step in written.steps],
        "outputs": [[name, formula] for (name, _), formula in zip(program.outputs, written.results, strict=True)],
        "operations": operations(program),
        "program": to_text(program),
    }
    return json.dumps(result, indent=1, ensure_ascii=False) + "\n"


def _entry(step: Assignment | Solution) -> object:
    if isinstance(step, Assignment):
        return [step.name, step.formula]
    size = step.size
    return {
        "matrix": [list(step.matrix[i : i + size]) for i in range(0, size * size, size)],
        "sides": [list(side) for side in step.sides],
        "unknowns": [
            [TEXT_STYLE.unknown_name(step.number, number * size + i) for i in range(size)]
            for number in range(len(step.sides))
        ],
    }
