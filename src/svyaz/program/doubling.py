"""2x written as x + x: where additions are cheaper than products, and in angles, where products would be a pity."""

from __future__ import annotations

from dataclasses import replace

from svyaz.program.tape import Node, Program


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
