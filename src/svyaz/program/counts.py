"""How many operations a program takes, by kind.

Counted in the step part: what depends on parameters alone is computed once. A subtraction is an addition, a change of
sign is free, ``angle_sum`` are the additions that only feed sines and cosines.

2x written as x + x: where additions are cheaper than products, and in angles, where products would be a pity.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from svyaz.program.tape import ARITHMETIC, LEAVES, LinearSystem, Node, Program, system_nodes

KINDS = ("add", "mul", "div", "trig", "angle_sum", "other")
_KIND = {"add": "add", "sub": "add", "mul": "mul", "div": "div", "sin": "trig", "cos": "trig", "tan": "trig"}


def operations(program: Program) -> dict[str, int]:
    """Operations in one step, every shared value counted once; linear systems by the formulas of elimination."""
    return _count(program, _reached(program, (node for _, node in program.outputs)), _angle_sums(program))


def operations_by_output(program: Program) -> dict[str, dict[str, int]]:
    """Operations that each output alone would take, by the name of the output."""
    angles = _angle_sums(program)
    return {name: _count(program, _reached(program, (node,)), angles) for name, node in program.outputs}


def elimination_operations(system: LinearSystem) -> dict[str, int]:
    """Operations of solving a dense system of n equations with s sides by elimination.

    General: n(n-1)(2n-1)/6 products and additions for the factors, symmetric: half the products of the lower triangle;
    then n² products and n(n-1) additions a side (G. H. Golub, C. F. Van Loan, Matrix Computations, §3.2 and §4.1).
    """
    n, sides = system.size, len(system.sides)
    if system.symmetric:
        factor_mul, factor_add = n * (n - 1) * (n + 4) // 6, n * (n - 1) * (n + 1) // 6
    else:
        factor_mul, factor_add = n * (n - 1) * (2 * n - 1) // 6 + n * (n - 1) // 2, n * (n - 1) * (2 * n - 1) // 6
    return {"add": factor_add + sides * n * (n - 1), "mul": factor_mul + sides * n * n, "div": n}


def _reached(program: Program, start: Iterable[int]) -> set[int]:
    """Nodes of the step part that the given nodes depend on, themselves included."""
    constant, nodes, systems = program.constant_part, program.nodes, program.systems
    reached: set[int] = set()
    entered: set[int] = set()
    waiting = list(start)
    while waiting:
        index = waiting.pop()
        if index in reached or constant[index]:
            continue
        reached.add(index)
        node = nodes[index]
        if node[0] == "unknown":
            if node[1] not in entered:
                entered.add(node[1])
                waiting.extend(system_nodes(systems[node[1]]))
        elif node[0] not in LEAVES:
            waiting.extend(node[1:])
    return reached


def _angle_sums(program: Program) -> frozenset[int]:
    """Additions (and what they add) whose every use ends in a sine, a cosine or a tangent through additions alone."""
    only_angle = [True] * len(program.nodes)
    used = [False] * len(program.nodes)
    for kept in [node for _, node in program.outputs] + [n for system in program.systems for n in system_nodes(system)]:
        only_angle[kept] = False
        used[kept] = True
    for index in range(len(program.nodes) - 1, -1, -1):
        node = program.nodes[index]
        if node[0] in LEAVES or node[0] == "unknown":
            continue
        passes = node[0] in ("sin", "cos", "tan") or (node[0] in ("add", "sub", "neg") and only_angle[index])
        for argument in node[1:]:
            used[argument] = True
            only_angle[argument] = only_angle[argument] and passes
    return frozenset(
        index
        for index, node in enumerate(program.nodes)
        if node[0] in ("add", "sub") and used[index] and only_angle[index]
    )


def _count(program: Program, reached: set[int], angles: frozenset[int]) -> dict[str, int]:
    counts = dict.fromkeys(KINDS, 0)
    entered: set[int] = set()
    for index in reached:
        node = program.nodes[index]
        op = node[0]
        if op == "unknown":
            entered.add(node[1])
        elif op in ARITHMETIC and index in angles:
            counts["angle_sum"] += 1
        elif op not in LEAVES and op != "neg":
            counts[_KIND.get(op, "other")] += 1
    for number in entered:
        for kind, count in elimination_operations(program.systems[number]).items():
            counts[kind] += count
    return counts


def angles_as_sums(program: Program) -> Program:
    """The program with doubled angles, such as cos(2q + a), written as sums of angles."""
    angles = {node[1] for node in program.nodes if node[0] in ("sin", "cos", "tan")}
    for index in range(len(program.nodes) - 1, -1, -1):
        if index in angles and program.nodes[index][0] in ("add", "sub", "neg"):
            angles.update(program.nodes[index][1:])
    double = doubles_as_sums(program)
    nodes = tuple(double.nodes[k] if k in angles else node for k, node in enumerate(program.nodes))
    return replace(program, nodes=nodes)


def doubles_as_sums(program: Program) -> Program:
    """The program with every product by two replaced by a sum; numbering and outputs stay."""

    def written(node: Node) -> Node:
        if node[0] == "mul":
            for factor, other in ((node[1], node[2]), (node[2], node[1])):
                if program.nodes[factor] == ("const", 2.0):
                    return ("add", other, other)
        return node

    return replace(program, nodes=tuple(written(node) for node in program.nodes))
