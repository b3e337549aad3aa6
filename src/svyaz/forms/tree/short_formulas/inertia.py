"""The inertia matrix of a tree written out with few operations: several ways are tried, the shortest is kept.

Nodes of its tape get the names that they have in the formulas, found by their values at a sample point.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import inf
from random import Random

import symengine as se

from svyaz.expr import Expression, ModelError, Problem, evaluate, expanded, names_in
from svyaz.forms.tree.recursions.algebra import expressions
from svyaz.forms.tree.recursions.composite import mass_matrix
from svyaz.forms.tree.recursions.places import placed_along_axes, welded
from svyaz.forms.tree.recursions.regroup import (
    UNITS,
    RegroupedLink,
    links_of,
    shiftable,
    with_base_parameters,
    with_poles_shifted,
)
from svyaz.forms.tree.short_formulas.clusters import FormulaStyle, short_inertia
from svyaz.forms.tree.short_formulas.sheet import FormulaSheet
from svyaz.model import GROUND, Tree
from svyaz.program import LEAVES, Program, build, build_sequence, node_values, operations
from svyaz.program import evaluate as run
from svyaz.shown import Shown

AIMS: Mapping[str, Mapping[str, float]] = {
    "operations": {"add": 1, "mul": 1, "div": 8, "trig": 0.001, "angle_sum": 0.001, "other": 20},
    "time": {"add": 1, "mul": 1, "div": 8, "trig": 5, "angle_sum": 1, "other": 20},
}
"""What an operation weighs: fewest operations, sines and sums of angles aside; or the fastest native code."""

SMALL = 14
"""Trees of more bodies than this are written in the two most promising ways only."""

LONGEST_SEARCH: Mapping[str, int] = {"operations": 20_000, "time": 6_500}
"""After programs of so many nodes together no further way is tried: the best one so far is kept."""

MOST_TERMS = 500
"""Base parameters of more terms are not multiplied out."""

MOST_SUBSETS = 4
"""Up to so many poles every choice of those that are shifted is tried."""


Constants = Mapping[se.Symbol, Expression]


@dataclass(frozen=True, repr=False)
class Inertia(Shown):
    """A program whose outputs are the lower triangle of the inertia matrix, row by row: H11, H21, H22, H31, …

    ``names`` gives names to nodes of its tape, ``base_parameters`` the constants into which the masses were grouped.

    >>> import svyaz
    >>> found = svyaz.load("planar-2r").inertia()
    >>> [name for name, _ in found.program.outputs]
    ['H11', 'H21', 'H22']
    """

    freedoms: tuple[str, ...]
    program: Program
    names: Mapping[int, str]
    base_parameters: tuple[tuple[str, Expression], ...]

    @property
    def operations(self) -> dict[str, int]:
        """Operations of the step part by kind."""
        return operations(self.program)


@dataclass(frozen=True)
class WrittenInertia:
    """One way of writing the matrix: links over base parameters (in terms of constants), sheet, entries, program."""

    links: list[RegroupedLink]
    constants: Constants
    sheet: FormulaSheet
    matrix: list[list[Expression]]
    program: Program


def write_inertia(tree: Tree, parameters: Sequence[str], aim: str = "operations") -> Inertia:
    """The shortest program found for the inertia matrix; ``aim`` is ``operations`` or ``time``."""
    if aim not in AIMS:
        raise ModelError([Problem(f"'aim' is {' or '.join(AIMS)}, not '{aim}'")])
    if not tree.freedoms:
        raise ModelError([Problem("nothing moves in this tree: all its joints are fixed")])
    whole = welded(tree, expressions())
    if not whole.by_rates:
        return _with_free_joints(whole, parameters)
    best = _best(whole, tuple(parameters), aim)
    point = _sample(best.program)
    names = tape_names(best.program, point, _values(best.sheet, point))
    return Inertia(whole.freedoms, best.program, names, tuple(_groups(best.links)))


def fastest(tree: Tree, parameters: tuple[str, ...]) -> WrittenInertia:
    """The way of writing with the fastest native code, for a tree of revolute and prismatic joints."""
    return _best(tree, parameters, "time")


@lru_cache(maxsize=16)
def _best(tree: Tree, parameters: tuple[str, ...], aim: str) -> WrittenInertia:
    cost, left = weighted_cost(AIMS[aim]), LONGEST_SEARCH[aim]
    best, least = None, inf
    for way in _written(tree, parameters, cost):
        if (weight := cost(way.program)) < least:
            best, least = way, weight
        left -= len(way.program.nodes)
        if left < 0:
            break
    assert best is not None, "there is a way to write any tree"
    return best


def _written(tree: Tree, parameters: tuple[str, ...], cost: Callable[[Program], float]) -> Iterator[WrittenInertia]:
    for links, style, constants in _ways(tree):
        sheet = FormulaSheet(parameters, constants)
        matrix = short_inertia(links, sheet, style)
        program = build_sequence(
            sheet.definitions, _outputs(matrix), inputs=tree.coordinates, parameters=parameters, cost=cost
        )
        yield WrittenInertia(links, constants, sheet, matrix, program)


def _ways(tree: Tree) -> Iterator[tuple[list[RegroupedLink], FormulaStyle, Constants]]:
    """Poles shifted along their axes or not, parameters grouped in either way, phases folded or not."""
    plain = links_of(tree)
    if len(plain) > SMALL:
        constants: dict[se.Symbol, Expression] = {}
        links = with_base_parameters(with_poles_shifted(plain, ()), balanced=False, named=constants)
        yield from ((links, FormulaStyle(phases), constants) for phases in (False, True))
        return
    loose = shiftable(plain)
    several = len(loose) <= MOST_SUBSETS
    subsets = [
        [k for k, keep in zip(loose, taken, strict=True) if keep] for taken in product((1, 0), repeat=len(loose))
    ]
    for chosen in subsets if several else [loose, []]:
        links = with_poles_shifted(plain, chosen)
        grouped = with_base_parameters(links, balanced=False)
        yield grouped, FormulaStyle(phases=True), {}
        yield grouped, FormulaStyle(phases=False), {}
        yield with_base_parameters(links, balanced=True), FormulaStyle(phases=True), {}


def weighted_cost(weights: Mapping[str, float]) -> Callable[[Program], float]:
    """The weight of all operations of a program."""
    return lambda program: sum(weights[kind] * count for kind, count in operations(program).items())


def _outputs(matrix: Sequence[Sequence[Expression]]) -> list[tuple[str, Expression]]:
    between = "" if len(matrix) < 10 else "_"
    return [(f"H{i + 1}{between}{j + 1}", matrix[i][j]) for i in range(len(matrix)) for j in range(i + 1)]


def _with_free_joints(tree: Tree, parameters: Sequence[str]) -> Inertia:
    """By composite bodies and the general optimiser."""
    elements = expressions()
    bodies = placed_along_axes(tree, {q: se.Symbol(q) for q in tree.coordinates}, elements)
    program = build(_outputs(mass_matrix(bodies, elements)), inputs=tree.coordinates, parameters=parameters)
    point = _sample(program)
    return Inertia(tree.freedoms, program, tape_names(program, point, {}), ())


def _sample(program: Program) -> dict[str, float]:
    """Values of all parameters and inputs at which equal numbers mean equal formulas."""
    random = Random(7)
    return {name: random.uniform(0.5, 1.5) for name in (*program.parameters, *program.inputs)}


def _values(sheet: FormulaSheet, point: Mapping[str, float]) -> dict[str, float]:
    """The value of each name of the sheet."""
    known, values = dict(point), {}
    for symbol, formula in sheet.definitions.items():
        name = str(symbol)
        known[name] = values[name] = evaluate(formula, known)
    return values


def _groups(links: Sequence[RegroupedLink]) -> Iterator[tuple[str, Expression]]:
    """Base parameters by name, those that are zero, a single parameter, or of no effect on the motion left out."""
    moments = ("xx", "yy", "zz", "xy", "xz", "yz")
    for link in links:
        felt = _felt_moments(links, link)
        entries = [(f"m{link.number + 1}", link.mass)]
        entries += [(f"m{letter}{link.number + 1}", e) for letter, e in zip("xyz", link.moment, strict=True)]
        # products of inertia are given as ∫ x y dm, the tensor holds them with a minus
        signs = (1, 1, 1, -1, -1, -1)
        entries += [
            (f"{name}{link.number + 1}", sign * e)
            for place, (name, sign, e) in enumerate(zip(moments, signs, link.inertia, strict=True))
            if place in felt
        ]
        for name, e in entries:
            short = expanded(e, MOST_TERMS)
            if not short.is_Symbol and names_in(short):
                yield f"{name}R", short


def _felt_moments(links: Sequence[RegroupedLink], link: RegroupedLink) -> Collection[int]:
    """Places of the moments of inertia that matter: of a body that turns about parallel axes only, that about them."""
    turning, below = [], link
    while True:
        if below.kind.turns:
            turning.append(below)
        if below.base == GROUND:
            break
        if below.turn != UNITS:
            return range(6)
        below = links[below.base]
    axes = {other.axis for other in turning}
    return axes if len(axes) <= 1 else range(6)


def matrix_at(inertia: Inertia, parameters: Mapping[str, float], position: Mapping[str, float]) -> list[list[float]]:
    """The full matrix as numbers; every parameter that occurs needs a value."""
    found = run(inertia.program, {p: parameters[p] for p in inertia.program.parameters}, position)
    size = len(inertia.freedoms)
    matrix = [[0.0] * size for _ in range(size)]
    entries = iter(found.values())
    for i in range(size):
        for j in range(i + 1):
            matrix[i][j] = matrix[j][i] = float(next(entries))
    return matrix


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
    given = set(names.values())
    for index, node in enumerate(program.nodes):
        if index in names or node[0] in LEAVES or program.constant_part[index]:
            continue
        if node[0] in ("sin", "cos"):
            found = _angle_name(program, node[0], node[1])
        else:
            found = _match(by_value, float(tape[index]))
        if found is not None and found not in given:
            names[index] = found
            given.add(found)
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
