"""A run with a fixed step as data: what an exported program needs beside the rates to be complete.

y₁ = y₀ + h Σ bᵢ kᵢ,  kᵢ = f(t₀ + cᵢ h, y₀ + h Σ aᵢⱼ kⱼ),  j < i; rows of t, the states, multipliers and residuals are written
as CSV. The last step is shortened where the end is no multiple of the step.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

from svyaz.program.formulas import first_rate, printable
from svyaz.program.tape import Program, ProgramError

WRITTEN = ("multiplier[", "residual[")
"""Outputs that begin so are written beside the states."""

WHOLE = 1e-9
"""A last step shorter than this part of the others is none."""


@dataclass(frozen=True)
class FixedRun:
    """An explicit Runge–Kutta method (a by rows below the diagonal), the initial state, and when rows are written.

    ``every`` is the number of steps from one row to the next; the last state is always written.
    """

    method: str
    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    c: tuple[float, ...]
    start: tuple[float, ...]
    step: float
    until: float
    every: int = 1

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return max(1, ceil(self.until / self.step - WHOLE))

    def shares(self) -> list[list[float]]:
        """a as a full square matrix."""
        return [[*row, *([0.0] * (len(self.b) - len(row)))] for row in self.a]


def written_outputs(program: Program) -> list[int]:
    """The places of the outputs that are written beside the states."""
    return [place for place, (name, _) in enumerate(program.outputs) if name.startswith(WRITTEN)]


def heading(program: Program) -> str:
    """The first line of the CSV: names of the inputs and of the written outputs."""
    names = [*program.inputs, *(program.outputs[place][0] for place in written_outputs(program))]
    return ",".join(_field(printable(name)) for name in names)


def _field(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if any(mark in name for mark in ',"') else name


def escaped(text: str, *more: str) -> str:
    """A text between double quotes in which backslashes, double quotes and ``more`` are escaped."""
    for mark in ("\\", '"', *more):
        text = text.replace(mark, f"\\{mark}")
    return f'"{text}"'


def listed(numbers: Sequence[float], written: Callable[[float], str] = repr) -> str:
    """Numbers with commas between them."""
    return ", ".join(written(float(value)) for value in numbers)


def words_of(program: Program, run: FixedRun, written: Callable[[float], str], row: str) -> dict[str, object]:
    """What the templates of all languages are filled with; ``row`` is how a row of the matrix a is written."""
    if first_rate(program) is None or len(program.defaults) != len(program.parameters):
        raise ProgramError("a complete program needs the rates of all states and the values of all parameters")
    return {
        "parameters": len(program.parameters),
        "states": len(run.start),
        "outputs": len(program.outputs),
        "stages": len(run.b),
        "method": run.method,
        "start": listed(run.start, written),
        "nodes": listed(run.c, written),
        "weights": listed(run.b, written),
        "shares": "\n".join(row.format(listed(entries, written)) for entries in run.shares()),
        "step": written(run.step),
        "until": written(run.until),
        "steps": run.steps,
        "every": run.every,
    }


def filled(template: str, **words: object) -> str:
    """A template with a word in the place of each <name> that is given, all at once."""
    return re.sub(r"<(\w+)>", lambda found: str(words.get(found[1], found[0])), template)
