"""Interval arithmetic on straight-line programs, many boxes at a time.

A value is a pair of arrays (low, high); every operation rounds outwards, so that the range of an output over a box is
always contained in the interval computed (the natural interval extension: R. E. Moore 1966).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.program.functions import remembered
from svyaz.program.interpret import parameter_row
from svyaz.program.interval_functions import JUMPS, OPERATIONS, Interval, is_whole, whole_power
from svyaz.program.native import Native, compile_program
from svyaz.program.tape import Program

Branches = Mapping[int, int]
"""Nodes that jump, and on which side of the jump their values are asked for: 1 or -1."""


def ranges(
    program: Program, values: Mapping[str, float], low: Array, high: Array, branches: Branches | None = None
) -> Interval:
    """Bounds (N, outputs) of all outputs over N boxes; ``low`` and ``high`` have the shape (N, inputs).

    Where a function is defined nowhere in a box, there is no value: the bounds are those of nothing, ∞ and -∞. With
    ``branches``, the bounds hold for those points of the boxes that lie on the given sides of all jumps.
    """
    parameters = parameter_row(program, values)
    shape = (len(low), len(program.outputs))
    bounds = np.empty(shape), np.empty(shape)
    nowhere = np.zeros(len(low), dtype=bool)
    places = [place for _, place in program.outputs]
    lot = max(1, MOST_NUMBERS // max(1, len(program.nodes)))
    with np.errstate(all="ignore"):
        for k in range(0, len(low), lot):
            part = slice(k, k + lot)
            least, most, nowhere[part] = _evaluated(program, parameters, low[part], high[part], branches)
            bounds[0][part], bounds[1][part] = least[places].T, most[places].T
    undefined = np.isnan(bounds[0]) | np.isnan(bounds[1])
    bounds[0][undefined], bounds[1][undefined] = -np.inf, np.inf
    bounds[0][nowhere], bounds[1][nowhere] = np.inf, -np.inf
    return bounds


MOST_BRANCHES = 6
"""With more jumping nodes than this their branches are not tried one by one."""


def ranges_by_branches(
    program: Program, values: Mapping[str, float], low: Array, high: Array, count: int
) -> Iterator[Interval]:
    """Bounds of the first ``count`` outputs on each side of poles and cuts inside the boxes; one if there are too many sides.

    Every point of a box at which the outputs have values belongs to one of them.
    """
    found: list[int] = []
    program = replace(program, outputs=program.outputs[:count])
    needed = _needed(program)
    with np.errstate(all="ignore"):
        _evaluated(program, parameter_row(program, values), low, high, jumping=found)
    jumping = [k for k in found if k in needed]
    if len(jumping) > MOST_BRANCHES:
        yield ranges(program, values, low, high)
        return
    for sides in product((1, -1), repeat=len(jumping)):
        yield ranges(program, values, low, high, dict(zip(jumping, sides, strict=True)))


def _needed(program: Program) -> set[int]:
    """The nodes on which the outputs depend."""
    needed = {place for _, place in program.outputs}
    for k in range(len(program.nodes) - 1, -1, -1):
        node = program.nodes[k]
        if k in needed and node[0] not in ("const", "parameter", "input"):
            needed |= set(node[1:])
    return needed


MOST_NUMBERS = 2_000_000
"""So many values of nodes are held at a time."""


def _evaluated(
    program: Program,
    parameters: Sequence[float],
    low: Array,
    high: Array,
    branches: Branches | None = None,
    jumping: list[int] | None = None,
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Bounds (nodes, N) of all nodes, and where a function is defined nowhere; nodes that jump go to ``jumping``."""
    least, most = np.empty((len(program.nodes), len(low))), np.empty((len(program.nodes), len(low)))
    nowhere = np.zeros(len(low), dtype=bool)
    for op, places, arguments in _stages(program):
        if op == "number":
            nodes = (program.nodes[k] for k in places)
            given = np.array([float(node[1]) if node[0] == "const" else parameters[node[1]] for node in nodes])
            least[places] = most[places] = given[:, None]
        elif op == "input":
            least[places], most[places] = low.T[arguments[0]], high.T[arguments[0]]
        else:
            taken: list[Any] = [(least[a], most[a]) for a in arguments]
            if op == "pow" and program.nodes[arguments[1][0]][0] in ("const", "parameter"):
                taken[1] = taken[1][0][:, :1], taken[1][1][:, :1]
            nowhere |= np.any(_undefined(op, taken), axis=0)
            if jumping is not None and op in JUMPS:
                jumping += [int(k) for k in places[np.any(JUMPS[op](*taken), axis=1)]]
            if branches is not None and op in JUMPS:
                taken.append(np.array([[branches.get(int(k), 1)] for k in places]))
            if op.startswith(WHOLE_POWER):
                least[places], most[places] = whole_power(taken[0], int(op.removeprefix(WHOLE_POWER)))
            else:
                least[places], most[places] = OPERATIONS[op](*taken)
    return least, most, nowhere


Stage = tuple[str, NDArray[np.intp], tuple[NDArray[np.intp], ...]]
"""An operation, the nodes that it gives, and those that it takes: operands of one kind at one depth, done at once."""


WHOLE_POWER = "power "
"""Products of one factor with itself are powers of it: their bounds are tighter than those of products."""


@remembered
def _stages(program: Program) -> list[Stage]:
    """The nodes in an order in which those of one operation stand together; general powers stand alone."""
    depth: list[int] = []
    groups: dict[tuple[int, str, int], list[int]] = {}
    powers: list[tuple[int, int]] = []
    for k, node in enumerate(program.nodes):
        op = "number" if node[0] in ("const", "parameter") else node[0]
        leaf = op in ("number", "input")
        if not leaf and op not in OPERATIONS:
            raise ValueError(f"no bounds are known for the operation '{op}'")
        powers.append((k, 1))
        if op == "mul" and powers[node[1]][0] == powers[node[2]][0]:
            powers[k] = powers[node[1]][0], powers[node[1]][1] + powers[node[2]][1]
            op = f"{WHOLE_POWER}{powers[k][1]}"
        depth.append(0 if leaf else 1 + max(depth[a] for a in node[1:]))
        groups.setdefault((depth[-1], op, k if op == "pow" else 0), []).append(k)
    found: list[Stage] = []
    for (_, op, _), places in sorted(groups.items()):
        if op.startswith(WHOLE_POWER):
            taken = [[powers[k][0] for k in places]]
        else:
            count = 0 if op == "number" else 1 if op == "input" else len(program.nodes[places[0]]) - 1
            taken = [[program.nodes[k][1 + i] for k in places] for i in range(count)]
        arguments = tuple(np.array(one, dtype=np.intp) for one in taken)
        found.append((op, np.array(places, dtype=np.intp), arguments))
    return found


def _undefined(op: str, arguments: list[Interval]) -> NDArray[np.bool_] | bool:
    """Where does an argument that depends on the box lie outside of the domain altogether?"""
    low, high = arguments[0]
    if op == "log":
        return np.asarray(high <= 0)
    if op == "sqrt":
        return np.asarray(high < 0)
    if op in ("asin", "acos"):
        return np.asarray((low > 1) | (high < -1))
    if op == "pow" and not is_whole(arguments[1]):
        return np.asarray(high < 0)
    return False


LONG = 1500
"""A program of more operations than this is compiled."""


@remembered
def _compiled(program: Program) -> Native:
    return compile_program(program)


def numbers(program: Program, values: Mapping[str, float], points: Array) -> Array:
    """The outputs (N, outputs) at N points (N, inputs), without bounds; those of long programs by native code."""
    if len(program.nodes) > LONG:
        native = _compiled(program)
        return native.evaluate(np.ascontiguousarray(points), native.constants(values))
    parameters = parameter_row(program, values)
    found: list[Array] = []
    with np.errstate(all="ignore"):
        for node in program.nodes:
            op = node[0]
            if op in ("const", "parameter"):
                found.append(np.array([float(node[1]) if op == "const" else parameters[node[1]]]))
            elif op == "input":
                found.append(points[:, node[1]])
            else:
                found.append(np.asarray(NUMBERS[op](*(found[a] for a in node[1:]))))
    outputs = np.empty((len(points), len(program.outputs)))
    for k, (_, place) in enumerate(program.outputs):
        outputs[:, k] = found[place]
    return outputs


NUMBERS: dict[str, Callable[..., Array]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "pow": np.power,
    "min": np.minimum,
    "max": np.maximum,
    "atan2": np.arctan2,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    **{
        name: getattr(np, name)
        for name in ("sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "abs", "sign")
    },
}
