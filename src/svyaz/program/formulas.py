"""A program as a list of named formulas: what all exported languages have in common.

A language is a ``Notation`` (how numbers, names and operations are written) and a page that puts the listing in place.
Order and grouping of operations are those of the tape, so that all languages give the same numbers up to the rounding
of their elementary functions.

Names of a model as identifiers of a programming language.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import isfinite, isnan

from svyaz.program.tape import (
    BINARY,
    LEAVES,
    UNARY,
    Node,
    Program,
    ProgramError,
    constants_nodes,
    needed_nodes,
    stored_constants,
    system_nodes,
)


def identifier(name: str) -> str:
    """ASCII letters, digits and underscores: ``x'`` becomes x_dot, ``x''`` x_ddot, ``φ`` phi."""
    stem = name.rstrip("'")
    order = len(name) - len(stem)
    plain = "".join(_ascii(character) for character in stem)
    plain = re.sub(r"_+", "_", plain).strip("_") if plain != stem else plain
    if not plain or plain[0].isdigit():
        plain = f"n{plain}"
    return plain + (f"_{'d' * order}ot" if order else "")


def _ascii(character: str) -> str:
    if character.isascii():
        return character if character.isalnum() or character == "_" else "_"
    # GREEK SMALL LETTER PHI, LATIN SMALL LETTER E WITH ACUTE …
    found = re.fullmatch(r"(GREEK|CYRILLIC|LATIN) (SMALL|CAPITAL) LETTER (\w+).*", unicodedata.name(character, ""))
    if found is None:
        return f"u{ord(character):x}"
    word = found[3].lower()
    return word if found[2] == "SMALL" else word.capitalize()


def distinct(names: Iterable[str], reserved: Iterable[str], again: str) -> list[str]:
    """The names, changed by the template ``again`` where they are reserved or occur again."""
    taken = set(reserved)
    return [_claimed(name, taken, again) for name in names]


def _claimed(name: str, taken: set[str], again: str) -> str:
    """The name, changed by the template where it is taken, which it is from now on."""
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = again.format(name, number)
    taken.add(candidate)
    return candidate


SUM, PRODUCT, POWER, ATOM = range(4)
"""How tightly an operation binds."""

LONGEST_FORMULA = 160
"""Characters; a longer formula gets intermediate names."""


@dataclass(frozen=True)
class Rule:
    """How an operation is written: a template, how tightly it binds, and how tightly its arguments must."""

    template: str
    binds: int = ATOM
    arguments: tuple[int, ...] = (SUM, SUM)


@dataclass(frozen=True)
class Notation:
    """How a language writes numbers, names and operations; ``first`` is the place of the first entry of its lists."""

    rules: Mapping[str, Rule]
    number: Callable[[float], str]
    name: Callable[[str], str] = identifier
    group: str = "({0})"
    unknown: str = "solution{0}[{1}]"
    first: int = 0
    intermediate: str = "v{0}"
    constant: str = "k{0}"
    again: str = "{0}_{1}"
    reserved: frozenset[str] = frozenset()

    def unknown_name(self, system: int, place: int) -> str:
        """An unknown of a linear system, ``place`` counted from 0."""
        return self.unknown.format(system, place + self.first)


ARITHMETIC_RULES = {
    "add": Rule("{0} + {1}", SUM, (SUM, PRODUCT)),
    "sub": Rule("{0} - {1}", SUM, (SUM, PRODUCT)),
    "mul": Rule("{0}*{1}", PRODUCT, (PRODUCT, POWER)),
    "div": Rule("{0}/{1}", PRODUCT, (PRODUCT, POWER)),
    "neg": Rule("-{0}", SUM, (PRODUCT,)),
}


ELEMENTARY = UNARY[:12]
"""The functions of one number that every language has: sqrt, sin, …, log."""


def functions(template: str = "{0}", **renamed: str) -> dict[str, Rule]:
    """Rules that write operations as calls of functions, under the names that the template makes unless renamed."""
    names = {name: renamed.get(name, template.format(name)) for name in (*UNARY, *BINARY)}
    return {op: Rule(f"{name}({{0}})" if op in UNARY else f"{name}({{0}}, {{1}})") for op, name in names.items()}


def reserved_words(*words: str) -> frozenset[str]:
    """Names that a language keeps for itself, from texts of many words."""
    return frozenset(word for text in words for word in text.split())


def shown_number(value: float, nothing: str, infinite: str) -> str:
    """A number with all its digits; in words where it is none or infinite."""
    if isfinite(value):
        return repr(value).replace("e+", "e")
    return nothing if isnan(value) else infinite if value > 0 else f"-{infinite}"


@dataclass(frozen=True)
class Assignment:
    """name = formula."""

    name: str
    formula: str


@dataclass(frozen=True)
class Solution:
    """Linear system ``number`` is solved here; its entries as formulas. ``order`` is that of a ``LinearSystem``."""

    number: int
    size: int
    matrix: tuple[str, ...]
    sides: tuple[tuple[str, ...], ...]
    symmetric: bool = False
    order: tuple[tuple[int, ...], tuple[int, ...]] | None = None

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The matrix by rows."""
        return [self.matrix[i : i + self.size] for i in range(0, len(self.matrix), self.size)]

    @property
    def columns(self) -> list[tuple[str, ...]]:
        """The sides as the columns of a matrix, by rows."""
        return list(zip(*self.sides, strict=True))


@dataclass(frozen=True)
class Listing:
    """Formulas in the order of evaluation.

    ``parameters`` and ``inputs``: (place, name) of those that are used, in the constants part and in the step part.
    ``constants`` lead to ``stored``, the formulas of what is computed once; the step part knows them by ``kept``.
    ``steps`` lead to ``results``, the formulas of the outputs.
    """

    parameters: tuple[tuple[int, str], ...]
    constants: tuple[Assignment, ...]
    stored: tuple[str, ...]
    kept: tuple[str, ...]
    inputs: tuple[tuple[int, str], ...]
    steps: tuple[Assignment | Solution, ...]
    results: tuple[str, ...]


_Formula = tuple[str, int]
"""A text and how tightly it binds."""


def first_rate(program: Program) -> int | None:
    """The place from which the outputs are the rates of all states (the inputs after the time), or None."""
    names = [name for name, _ in program.outputs]
    rates = [f"rate[{state}]" for state in program.inputs[1:]]
    start = len(names) - len(rates)
    known = program.inputs[:1] == ("t",) and start >= 0 and names[start:] == rates
    return start if known and rates else None


def printable(name: str) -> str:
    """A name as it may stand in a comment of one line."""
    return "".join(character if character.isprintable() else " " for character in name)


def listing(program: Program, notation: Notation, named: Mapping[int, str] | None = None) -> Listing:
    """Write a program in a notation; nodes that are ``named`` are written under their names."""
    return _Composition(program, notation, named or {}).listing()


class _Composition:
    def __init__(self, program: Program, notation: Notation, named: Mapping[int, str]) -> None:
        self.program = program
        self.named = named
        self.notation = notation
        self.needed = needed_nodes(program)
        self.stored = stored_constants(program, self.needed)
        taken = set(notation.reserved)
        for number, system in enumerate(program.systems):
            taken |= {f"matrix{number}", f"solution{number}"}
            taken |= {notation.unknown_name(number, place) for place in range(system.size * len(system.sides))}
        names = distinct(
            [notation.name(name) for name in (*program.parameters, *program.inputs)], taken, notation.again
        )
        self.parameter_names, self.input_names = names[: len(program.parameters)], names[len(program.parameters) :]
        self.taken = taken | set(names)
        self.counts = {"intermediate": 0, "constant": 0}

    def fresh(self, kind: str) -> str:
        """The next name of a kind that nothing else has."""
        template = getattr(self.notation, kind)
        while True:
            self.counts[kind] += 1
            name = str(template).format(self.counts[kind])
            if name not in self.taken:
                self.taken.add(name)
                return name

    def own(self, name: str) -> str:
        """A given name as this language writes it, changed where something else has it."""
        return _claimed(self.notation.name(name), self.taken, self.notation.again)

    def listing(self) -> Listing:
        program, nodes = self.program, self.program.nodes
        first = constants_nodes(program, self.stored)
        pieces: dict[int, _Formula] = {}
        constants = self.statements(first, pieces, set(self.stored))
        stored = tuple(pieces[index][0] for index in self.stored)
        parameters = sorted({nodes[index][1] for index in first if nodes[index][0] == "parameter"})

        kept = []
        pieces = {}
        for index in self.stored:
            node = nodes[index]
            kept.append(self.parameter_names[node[1]] if node[0] == "parameter" else self.fresh("constant"))
            pieces[index] = (kept[-1], ATOM)
        second = [index for index in range(len(nodes)) if self.needed[index] and index not in pieces]
        second = [index for index in second if not program.constant_part[index] or nodes[index][0] == "const"]
        outputs = {index for _, index in program.outputs}
        steps = self.statements(second, pieces, outputs)
        inputs = sorted({nodes[index][1] for index in second if nodes[index][0] == "input"})
        return Listing(
            tuple((place, self.parameter_names[place]) for place in parameters),
            tuple(step for step in constants if isinstance(step, Assignment)),
            stored,
            tuple(kept),
            tuple((place, self.input_names[place]) for place in inputs),
            tuple(steps),
            tuple(pieces[index][0] for _, index in program.outputs),
        )

    def statements(self, order: list[int], pieces: dict[int, _Formula], final: set[int]) -> list[Assignment | Solution]:
        """Statements for the nodes in order: what is used more than once, or has grown too long, gets a name."""
        uses = self.uses(order, final)
        statements: list[Assignment | Solution] = []
        solved: set[int] = set()
        for index in order:
            node = self.program.nodes[index]
            if node[0] == "unknown" and node[1] not in solved:
                solved.add(node[1])
                statements.append(self.solution(node[1], pieces))
            piece = self.piece(node, pieces)
            simple = node[0] in (*LEAVES, "unknown") or (node[0] == "neg" and pieces[node[1]][1] == ATOM)
            wanted = self.named.get(index)
            if not simple and (wanted or uses.get(index, 0) > 1 or len(piece[0]) > LONGEST_FORMULA):
                name = self.own(wanted) if wanted else self.fresh("intermediate")
                statements.append(Assignment(name, piece[0]))
                piece = (name, ATOM)
            pieces[index] = piece
        return statements

    def uses(self, order: list[int], final: set[int]) -> dict[int, int]:
        """How often a node is used by the others; what ends up in a linear system counts twice, to stand alone."""
        uses = dict.fromkeys(final, 1)
        for index in order:
            node = self.program.nodes[index]
            if node[0] not in LEAVES and node[0] != "unknown":
                for argument in node[1:]:
                    uses[argument] = uses.get(argument, 0) + 1
        for number in {node[1] for index in order if (node := self.program.nodes[index])[0] == "unknown"}:
            for argument in system_nodes(self.program.systems[number]):
                uses[argument] = uses.get(argument, 0) + 2
        return uses

    def piece(self, node: Node, pieces: dict[int, _Formula]) -> _Formula:
        op = node[0]
        if op == "const":
            text = self.notation.number(float(node[1]))
            return (text, SUM if text.startswith("-") else ATOM if text.replace(".", "").isalnum() else PRODUCT)
        if op == "parameter":
            return (self.parameter_names[node[1]], ATOM)
        if op == "input":
            return (self.input_names[node[1]], ATOM)
        if op == "unknown":
            return (self.notation.unknown_name(node[1], node[2]), ATOM)
        rule = self.notation.rules.get(op)
        if rule is None:
            raise ProgramError(f"the operation {op!r} cannot be written in this language")
        arguments = [
            self.held(pieces[argument], least) for argument, least in zip(node[1:], rule.arguments, strict=False)
        ]
        return (rule.template.format(*arguments), rule.binds)

    def held(self, piece: _Formula, least: int) -> str:
        """The piece as an argument, in parentheses when it binds too loosely."""
        return piece[0] if piece[1] >= least else self.notation.group.format(piece[0])

    def solution(self, number: int, pieces: dict[int, _Formula]) -> Solution:
        system = self.program.systems[number]
        return Solution(
            number,
            system.size,
            tuple(pieces[node][0] for node in system.matrix),
            tuple(tuple(pieces[node][0] for node in side) for side in system.sides),
            system.symmetric,
            system.order,
        )
