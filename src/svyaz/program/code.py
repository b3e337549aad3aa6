"""A listing as the functions of a programming language: what the exported languages have in common.

Each has a function ``constants`` of the list of parameters and a function ``step`` of the lists of inputs and constants.
Both take entries of their lists, assign formulas to names, solve linear systems, and return a list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from svyaz.program.formulas import Assignment, Listing, Notation, Solution
from svyaz.program.tape import Program


@dataclass(frozen=True)
class Code:
    """How a language writes statements, a line each.

    ``assign`` (name, formula) and ``entry`` (list, place) are templates; ``returned`` gives the lines that return formulas
    as the list of a name, ``solve`` those that solve a linear system. ``lists``: parameters, inputs, constants, outputs.
    """

    notation: Notation
    assign: str
    returned: Callable[[str, Sequence[str]], list[str]]
    solve: Callable[[Solution], list[str]]
    entry: str = "{0}[{1}]"
    lists: tuple[str, str, str, str] = ("p", "x", "c", "out")

    def constants(self, written: Listing) -> list[str]:
        """What depends on the parameters alone."""
        parameters, _, constants, _ = self.lists
        assigned = [self.assign.format(step.name, step.formula) for step in written.constants]
        return [*self._taken(parameters, written.parameters), *assigned, *self.returned(constants, written.stored)]

    def step(self, written: Listing) -> list[str]:
        """The outputs from the inputs and the constants."""
        return [*self.begun(written), *self.computed(written)]

    def begun(self, written: Listing) -> list[str]:
        """The beginning of a step: inputs and constants under their names."""
        _, inputs, constants, _ = self.lists
        return [*self._taken(inputs, written.inputs), *self._taken(constants, enumerate(written.kept))]

    def computed(self, written: Listing) -> list[str]:
        """The rest of a step: formulas and linear systems in their order, the outputs returned."""
        lines: list[str] = []
        for step in written.steps:
            if isinstance(step, Assignment):
                lines.append(self.assign.format(step.name, step.formula))
            else:
                lines += self.solve(step)
        return [*lines, *self.returned(self.lists[3], written.results)]

    def _taken(self, source: str, names: Iterable[tuple[int, str]]) -> list[str]:
        first = self.notation.first
        return [self.assign.format(name, self.entry.format(source, place + first)) for place, name in names]


def tables(program: Program) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """(title, list, names of its entries) of parameters, inputs and outputs."""
    outputs = tuple(name for name, _ in program.outputs)
    return ("parameters", "p", program.parameters), ("inputs", "x", program.inputs), ("outputs", "out", outputs)


def helpers(known: dict[str, str], body: str) -> list[str]:
    """The texts of those functions, by the beginning of their calls, that are called in a body."""
    return [text for call, text in known.items() if call in body]
