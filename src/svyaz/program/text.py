"""The portable text of a program: written, read back strictly, hashed.

One statement a line, fields separated by single blanks; names are JSON strings, numbers hexadecimal floats (exact)::

    svyaz program 1
    parameters 1
    "L"
    inputs 2
    "t"
    "u'"
    nodes 4
    input 1
    parameter 0
    const 0x1.8000000000000p+1
    mul 0 2
    systems 1
    system 1 1 symmetric
    matrix 1
    side 3
    order 0 | 0
    outputs 1
    "u''" 3
    end

Reading text never executes anything; its size is limited.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator
from itertools import pairwise

from svyaz.program.tape import (
    ARITHMETIC,
    BINARY,
    UNARY,
    LinearSystem,
    Node,
    Program,
    ProgramError,
    Sparse,
    system_nodes,
)

FIRST_LINE = "svyaz program 1"
LARGEST_TEXT = 256_000_000
"""Characters; longer text is refused unread."""
LARGEST_COUNT = 10_000_000
"""Nodes, names or systems."""
LARGEST_SIZE = 1_000
"""Equations of one linear system that is written whole, and sides of any."""
LARGEST_SPARSE = 50_000
"""Equations of one linear system of which only the entries are written."""
LARGEST_NAME = 1_000

_ARGUMENTS = dict.fromkeys((*UNARY, "neg"), 1) | dict.fromkeys((*ARITHMETIC, *BINARY), 2)
_NUMBER = re.compile(r"-?0x[01]\.[0-9a-f]{1,13}p[+-][0-9]{1,4}")
_INDEX = re.compile(r"0|[1-9][0-9]{0,7}")


def to_text(program: Program) -> str:
    """The text of a program; the same program always gives the same text."""
    lines = [FIRST_LINE]
    for title, names in (("parameters", program.parameters), ("inputs", program.inputs)):
        lines.append(f"{title} {len(names)}")
        lines += [json.dumps(name) for name in names]
    lines.append(f"nodes {len(program.nodes)}")
    lines += [_node_line(node) for node in program.nodes]
    lines.append(f"systems {len(program.systems)}")
    for system in program.systems:
        lines += _system_lines(system)
    lines.append(f"outputs {len(program.outputs)}")
    lines += [f"{json.dumps(name)} {node}" for name, node in program.outputs]
    return "\n".join([*lines, "end", ""])


def content_hash(program: Program) -> str:
    """SHA-256 of the text of a program, in hexadecimal: the same in every process and on every machine."""
    return hashlib.sha256(to_text(program).encode()).hexdigest()


def from_text(text: str) -> Program:
    """Read a program. Text that is not exactly of the form that ``to_text`` writes is a ProgramError with its line."""
    if len(text) > LARGEST_TEXT:
        raise ProgramError(f"the text of a program has more than {LARGEST_TEXT} characters")
    return _TextReader(text).program()


def _node_line(node: Node) -> str:
    if node[0] == "const":
        value = float(node[1])
        if not math.isfinite(value):
            raise ProgramError(f"a program cannot hold the number {value}")
        return f"const {value.hex()}"
    return " ".join(map(str, node))


def _system_lines(system: LinearSystem) -> list[str]:
    kind = "symmetric" if system.symmetric else "general"
    if isinstance(system.matrix, Sparse):
        entries = " ".join(f"{row} {column} {node}" for row, column, node in system.matrix.entries)
        matrix = f"entries {system.matrix.zero} {entries}".rstrip()
    else:
        matrix = "matrix " + " ".join(map(str, system.matrix))
    lines = [f"system {system.size} {len(system.sides)} {kind}", matrix]
    lines += ["side " + " ".join(map(str, side)) for side in system.sides]
    if system.order is None:
        return [*lines, "order none"]
    rows, columns = (" ".join(map(str, part)) for part in system.order)
    return [*lines, f"order {rows} | {columns}"]


class _TextReader:
    """Reads statement by statement and knows the line it is at."""

    def __init__(self, text: str) -> None:
        self.lines: Iterator[str] = iter(text.split("\n"))
        self.number = 0

    def error(self, message: str) -> ProgramError:
        return ProgramError(f"program text, line {self.number}: {message}")

    def line(self) -> str:
        self.number += 1
        line = next(self.lines, None)
        if line is None:
            raise self.error("the text ends too early")
        return line

    def expect(self, wanted: str) -> None:
        line = self.line()
        if line != wanted:
            raise self.error(f"expected {wanted!r}, found {line[:60]!r}")

    def index(self, word: str, limit: int, what: str) -> int:
        if not _INDEX.fullmatch(word):
            raise self.error(f"expected the number of {what}, found {word[:40]!r}")
        value = int(word)
        if value >= limit:
            raise self.error(f"{what} {value} is not below {limit}")
        return value

    def count(self, title: str) -> int:
        words = self.line().split(" ")
        if len(words) != 2 or words[0] != title:
            raise self.error(f"expected '{title} COUNT'")
        return self.index(words[1], LARGEST_COUNT + 1, title)

    def name(self, word: str) -> str:
        try:
            name = json.loads(word) if word.startswith('"') and len(word) <= 6 * LARGEST_NAME else None
        except (ValueError, RecursionError):
            name = None
        if not isinstance(name, str) or not name or len(name) > LARGEST_NAME or json.dumps(name) != word:
            raise self.error(f"expected a name in quotes, found {word[:60]!r}")
        return name

    def names(self, title: str) -> tuple[str, ...]:
        names = tuple(self.name(self.line()) for _ in range(self.count(title)))
        if len(set(names)) != len(names):
            raise self.error(f"a name occurs twice among the {title}")
        return names

    def program(self) -> Program:
        self.expect(FIRST_LINE)
        parameters, inputs = self.names("parameters"), self.names("inputs")
        nodes = [self.node(place, len(parameters), len(inputs)) for place in range(self.count("nodes"))]
        systems = tuple(self.system(len(nodes)) for _ in range(self.count("systems")))
        outputs = []
        for _ in range(self.count("outputs")):
            word, _, node = self.line().rpartition(" ")
            outputs.append((self.name(word), self.index(node, len(nodes), "node")))
        if len({name for name, _ in outputs}) != len(outputs):
            raise self.error("a name occurs twice among the outputs")
        self.expect("end")
        self.expect("")
        if next(self.lines, None) is not None:
            raise self.error("text after the end")
        self.check_unknowns(nodes, systems)
        return Program(parameters, inputs, tuple(nodes), tuple(outputs), systems)

    def node(self, place: int, parameters: int, inputs: int) -> Node:
        op, *words = self.line().split(" ")
        wanted = _ARGUMENTS.get(op, 2 if op == "unknown" else 1)
        if len(words) != wanted:
            raise self.error(f"{op[:40]!r} takes {wanted} arguments, found {len(words)}")
        if op in _ARGUMENTS:
            return (op, *(self.index(word, place, "earlier node") for word in words))
        if op == "const":
            return (op, self.constant(words[0]))
        if op == "parameter":
            return (op, self.index(words[0], parameters, "parameter"))
        if op == "input":
            return (op, self.index(words[0], inputs, "input"))
        if op == "unknown":
            return (op, *(self.index(word, LARGEST_COUNT, "unknown") for word in words))
        raise self.error(f"unknown operation {op[:40]!r}")

    def constant(self, word: str) -> float:
        if not _NUMBER.fullmatch(word):
            raise self.error(f"expected a hexadecimal float, found {word[:40]!r}")
        try:
            value = float.fromhex(word)
        except OverflowError:
            value = math.inf
        if not math.isfinite(value) or value.hex() != word:
            raise self.error(f"{word} is not a finite double")
        return value

    def row(self, title: str, length: int, limit: int) -> tuple[int, ...]:
        word, *rest = self.line().split(" ")
        if word != title or len(rest) != length:
            raise self.error(f"expected {title!r} and {length} numbers")
        return tuple(self.index(item, limit, "node") for item in rest)

    def system(self, node_count: int) -> LinearSystem:
        word, *rest = self.line().split(" ")
        if word != "system" or len(rest) != 3 or rest[2] not in ("symmetric", "general"):
            raise self.error("expected 'system SIZE SIDES symmetric' or '… general'")
        size = self.index(rest[0], LARGEST_SPARSE + 1, "equation")
        side_count = self.index(rest[1], LARGEST_SIZE + 1, "side")
        if not size or not side_count:
            raise self.error("a linear system needs an equation and a side")
        matrix = self.matrix(size, node_count)
        sides = tuple(self.row("side", size, node_count) for _ in range(side_count))
        return LinearSystem(size, matrix, sides, rest[2] == "symmetric", self.order(size))

    def matrix(self, size: int, node_count: int) -> tuple[int, ...] | Sparse:
        word, *rest = self.line().split(" ")
        if word != "entries":
            if word != "matrix" or size > LARGEST_SIZE or len(rest) != size * size:
                raise self.error(f"expected 'matrix' and {size * size} numbers, or 'entries'")
            return tuple(self.index(item, node_count, "node") for item in rest)
        if len(rest) % 3 != 1:
            raise self.error("expected 'entries', a node, and a row, a column and a node for each")
        limits = (size, size, node_count)
        numbers = [self.index(item, limits[k % 3], "entry") for k, item in enumerate(rest[1:])]
        entries = tuple(zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True))
        if any(a[:2] >= b[:2] for a, b in pairwise(entries)):
            raise self.error("the entries of a matrix are not in order")
        return Sparse(size, self.index(rest[0], node_count, "node"), entries)

    def order(self, size: int) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        line = self.line()
        if line == "order none":
            return None
        words = line.split(" ")
        if len(words) != 2 * size + 2 or words[0] != "order" or words[size + 1] != "|":
            raise self.error(f"expected 'order none' or 'order', {size} rows, '|' and {size} columns")
        rows = tuple(self.index(word, size, "row") for word in words[1 : size + 1])
        columns = tuple(self.index(word, size, "column") for word in words[size + 2 :])
        if len(set(rows)) != size or len(set(columns)) != size:
            raise self.error("a row or column occurs twice in an order")
        return rows, columns

    def check_unknowns(self, nodes: list[Node], systems: tuple[LinearSystem, ...]) -> None:
        """An unknown must come after everything that its system is made of."""
        last = [max(system_nodes(system)) for system in systems]
        for place, node in enumerate(nodes):
            if node[0] != "unknown":
                continue
            if node[1] >= len(systems) or node[2] >= systems[node[1]].size * len(systems[node[1]].sides):
                raise ProgramError(f"program text: node {place} is an unknown that no linear system has")
            if last[node[1]] >= place:
                raise ProgramError(f"program text: node {place} is an unknown of a system that comes later")
