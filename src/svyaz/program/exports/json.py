"""A program as JSON: names and formulas for people and for other programs, with the portable text to run it from."""

from __future__ import annotations

import json

from svyaz.program.counts import operations
from svyaz.program.formulas import (
    ARITHMETIC_RULES,
    ATOM,
    POWER,
    Assignment,
    Notation,
    Rule,
    Solution,
    functions,
    listing,
)
from svyaz.program.tape import Program
from svyaz.program.text import to_text

TEXT_NOTATION = Notation(
    rules=ARITHMETIC_RULES | functions() | {"pow": Rule("{0}^{1}", POWER, (ATOM, ATOM))},
    number=repr,
    name=str,
    unknown="s{0}_{1}",
)


def write(program: Program) -> str:
    """Constants, sequence and outputs as [name, formula]; a linear system stands in the sequence where it is solved."""
    written = listing(program, TEXT_NOTATION)
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
        "matrix": [list(row) for row in step.rows],
        "sides": [list(side) for side in step.sides],
        "unknowns": [
            [TEXT_NOTATION.unknown_name(step.number, number * size + i) for i in range(size)]
            for number in range(len(step.sides))
        ],
    }
