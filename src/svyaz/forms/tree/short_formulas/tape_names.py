"""Names for the nodes of a tape, found by their values at a sample point."""

from __future__ import annotations

import re
from collections.abc import Mapping

from svyaz.program import LEAVES, Program, node_values

EQUAL = 1e-11
"""Relative difference of two values at a random point that are taken for the same formula."""


def tape_names(program: Program, point: Mapping[str, float], values: Mapping[str, float]) -> dict[int, str]:
    """A name for every output, every sine and cosine of plain coordinates, and every node with the value of a named one."""
    tape = node_values(program, {p: point[p] for p in program.parameters}, {x: point[x] for x in program.inputs})
    names: dict[int, str] = {}
    for name, index in program.outputs:
        if program.nodes[index][0] not in LEAVES and not program.constant_part[index]:
            names.setdefault(index, name)
    by_value = sorted((value, name) for name, value in values.items())
    for index, node in enumerate(program.nodes):
        if index in names or node[0] in LEAVES or program.constant_part[index]:
            continue
        if node[0] in ("sin", "cos"):
            found = _angle_name(program, node[0], node[1])
        else:
            found = _match(by_value, float(tape[index]))
        if found is not None and found not in names.values():
            names[index] = found
    return names


def _match(by_value: list[tuple[float, str]], value: float) -> str | None:
    from bisect import bisect_left

    place = bisect_left(by_value, (value - EQUAL * abs(value), ""))
    if place < len(by_value) and abs(by_value[place][0] - value) <= EQUAL * abs(value):
        return by_value[place][1]
    return None


def _angle_name(program: Program, op: str, angle: int) -> str | None:
    """s2, c23, … for sines and cosines of sums of coordinates q2, q2 + q3, with numbers below ten."""
    numbers: list[str] = []
    waiting = [angle]
    while waiting:
        node = program.nodes[waiting.pop()]
        if node[0] == "add":
            waiting.extend(node[1:])
            continue
        found = re.fullmatch(r"[^\W\d]+([1-9])", program.inputs[node[1]]) if node[0] == "input" else None
        if found is None:
            return None
        numbers.append(found[1])
    return f"{op[0]}{''.join(sorted(numbers))}"
