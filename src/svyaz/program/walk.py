"""What depends on what in a program."""

from __future__ import annotations

from svyaz.program.tape import LEAVES, LinearSystem, Program


def system_nodes(system: LinearSystem) -> list[int]:
    """The nodes a linear system is made of."""
    return [*system.matrix, *(node for side in system.sides for node in side)]


def needed_nodes(program: Program) -> list[bool]:
    """For each node: does an output depend on it?"""
    needed = [False] * len(program.nodes)
    for _, output in program.outputs:
        needed[output] = True
    for index in range(len(program.nodes) - 1, -1, -1):
        if not needed[index]:
            continue
        node = program.nodes[index]
        if node[0] == "unknown":
            for used in system_nodes(program.systems[node[1]]):
                needed[used] = True
        elif node[0] not in LEAVES:
            for used in node[1:]:
                needed[used] = True
    return needed


def stored_constants(program: Program, needed: list[bool]) -> tuple[int, ...]:
    """Nodes of the constants part that the step part uses: what ``c`` holds, in the order of the tape."""
    constant, nodes = program.constant_part, program.nodes
    used: set[int] = {output for _, output in program.outputs}
    for index, node in enumerate(nodes):
        if not needed[index] or constant[index]:
            continue
        if node[0] == "unknown":
            used.update(system_nodes(program.systems[node[1]]))
        elif node[0] != "input":
            used.update(node[1:])
    return tuple(sorted(index for index in used if constant[index] and nodes[index][0] != "const"))


def constants_nodes(program: Program, stored: tuple[int, ...]) -> list[int]:
    """Nodes that the stored constants are computed from, themselves included, in the order of the tape."""
    wanted = set(stored)
    for index in range(max(stored, default=-1), -1, -1):
        node = program.nodes[index]
        if index in wanted and node[0] not in LEAVES:
            wanted.update(node[1:])
    return sorted(wanted)
