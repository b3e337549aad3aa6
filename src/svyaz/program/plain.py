"""Tapes of expressions as they were read, for a plain interpreter to check other roads against."""

from __future__ import annotations

from collections.abc import Sequence

from svyaz.expr import Expression, symbols_in
from svyaz.program.graph import Graph
from svyaz.program.lower import lower
from svyaz.program.tape import Program


def plain_programs(groups: Sequence[Sequence[Expression]]) -> list[Program]:
    """The tapes of groups of expressions as they were read: nothing is shortened, shared beyond what is equal, or solved.

    Each lists the names of all groups as its inputs.
    """
    names = tuple(sorted(map(str, symbols_in([e for outputs in groups for e in outputs]))))
    found = []
    for outputs in groups:
        graph = Graph((), names)
        roots = [graph.read(e) for e in outputs]
        found.append(lower(graph, roots, [], [str(k) for k in range(len(outputs))], names, ()))
    return found


def plain_program(outputs: Sequence[Expression]) -> Program:
    """The tape of expressions as they were read."""
    return plain_programs([outputs])[0]
