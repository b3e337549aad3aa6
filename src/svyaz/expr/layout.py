"""The order in which an expression is shown, whatever it is shown in.

SymEngine keeps terms and factors in an order of its own. Here an expression becomes a tree of nodes in the order of the
books: in a product numbers, parameters, coordinates, functions, velocities, accelerations; in a sum accelerations
first, then velocities, then the rest, numbers last. Products of sums are left as they are. The argument of an even or
odd function is written with its leading term positive: cos(u2 - u1) as cos(u1 - u2), sin(u2 - u1) as -sin(u1 - u2).

Shared subexpressions are laid out once, and nothing recurses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeVar
from zlib import crc32

from symengine import Basic
from symengine.lib import symengine_wrapper as wrapper

from svyaz.expr.names import natural_key

NUMBER, CONSTANT, PARAMETER, COORDINATE, FUNCTION, VELOCITY, ACCELERATION = range(7)
"""Grades: what a factor is, in the order in which factors are written."""

EVEN = frozenset({"cos", "cosh", "abs"})
ODD = frozenset({"sin", "tan", "sinh", "tanh"})
_CALL_ORDER = ("sqrt", "sin", "cos", "tan")

Rank = tuple
"""Place of a name among names of its grade; () for numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A piece of a formula. ``grade`` and ``rank`` say where it stands among the factors of a product.

    ``mark`` is a short text that tells it from others of the same grade and rank, so that the order never depends on
    the order in which SymEngine keeps its operands.
    """

    grade: int
    rank: Rank
    mark: str


@dataclass(frozen=True, slots=True, eq=False)
class Number(Node):
    """A number that is not negative."""

    value: Fraction | float


@dataclass(frozen=True, slots=True, eq=False)
class Name(Node):
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Sum(Node):
    """Terms in the order of their names; see ``terms_in_order`` for the order in which they are written."""

    terms: tuple[Signed, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Product(Node):
    """``above`` / ``below``; both in the order in which they are written."""

    above: tuple[Node, ...]
    below: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Power(Node):
    base: Node
    exponent: Node


@dataclass(frozen=True, slots=True, eq=False)
class Call(Node):
    function: str
    arguments: tuple[Node, ...]


class Signed(NamedTuple):
    """A node with its sign."""

    negative: bool
    node: Node


def layout(expression: Basic, order: Sequence[str] | None = None) -> Signed:
    """The expression in the order in which it is shown.

    ``order`` lists names as they should follow each other in products; others come after them, in natural order.
    Without it names that occur with an apostrophe are coordinates, and masses and moments of inertia go first.
    """
    arrange = _Arranger(expression, order)
    done: dict[Basic, Signed] = {}
    stack = [expression]
    while stack:
        current = stack[-1]
        if current in done:
            stack.pop()
            continue
        arguments = () if isinstance(current, wrapper.Number | wrapper.Constant) else current.args
        waiting = [argument for argument in arguments if argument not in done]
        if waiting:
            stack.extend(waiting)
        else:
            done[current] = arrange(current, [done[argument] for argument in arguments])
            stack.pop()
    return done[expression]


def terms_in_order(total: Sum) -> Iterable[Signed]:
    """The terms in the order in which they are written: if there is a positive one, a positive one goes first."""
    first = next((number for number, term in enumerate(total.terms) if not term.negative), 0)
    return (total.terms[first], *total.terms[:first], *total.terms[first + 1 :])


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly inside a node."""
    match node:
        case Sum(terms=terms):
            return tuple(term.node for term in terms)
        case Product(above=above, below=below):
            return (*above, *below)
        case Power(base=base, exponent=exponent):
            return (base, exponent)
        case Call(arguments=arguments):
            return arguments
    return ()


Shown = TypeVar("Shown")


def fold(root: Node, show: Callable[[Node, Callable[[Node], Shown]], Shown]) -> Shown:
    """Show a tree from the leaves up: ``show(node, shown)`` may ask ``shown`` for what is inside the node."""
    done: dict[int, Shown] = {}
    stack = [root]

    def arrange(node: Node) -> Shown:
        return done[id(node)]

    while stack:
        node = stack[-1]
        waiting = [child for child in children(node) if id(child) not in done]
        if waiting and id(node) not in done:
            stack.extend(waiting)
            continue
        stack.pop()
        if id(node) not in done:
            done[id(node)] = show(node, arrange)
    return done[id(root)]


def plain(signed: Signed) -> Node:
    """One node for a signed one: a lone negative term is a sum of one term."""
    node = signed.node
    return Sum(node.grade, node.rank, _mark("-", node.mark), (signed,)) if signed.negative else node


def _mark(*parts: str) -> str:
    """The text of the parts, or its beginning and a checksum."""
    text = "".join(parts)
    return text if len(text) <= 60 else f"{text[:50]}~{crc32(text.encode(errors='replace')):08x}"


class _Arranger:
    """Lays out one operation whose operands have been laid out."""

    def __init__(self, expression: Basic, order: Sequence[str] | None) -> None:
        self.position = {name: number for number, name in enumerate(order or ())}
        self.coordinates = {str(s).rstrip("'") for s in expression.free_symbols if str(s).endswith("'")}

    def __call__(self, expression: Basic, inner: list[Signed]) -> Signed:
        if isinstance(expression, wrapper.Symbol):
            return Signed(False, self.name(str(expression)))
        if isinstance(expression, wrapper.Rational | wrapper.RealDouble):
            return _number(expression)
        if isinstance(expression, wrapper.Exp1):
            return Signed(False, Call(CONSTANT, (), "exp", "exp", (_whole(1),)))
        if isinstance(expression, wrapper.Add):
            return Signed(False, _sum(inner))
        if isinstance(expression, wrapper.Mul):
            return _product(inner)
        if isinstance(expression, wrapper.Pow):
            return _power(expression, inner)
        if not inner:
            return Signed(False, Name(CONSTANT, (), str(expression), str(expression)))
        return _call(expression, inner)

    def name(self, name: str) -> Name:
        base = name.rstrip("'")
        primes = len(name) - len(base)
        if primes:
            grade = VELOCITY if primes == 1 else ACCELERATION
        else:
            grade = COORDINATE if base in self.coordinates and base not in self.position else PARAMETER
        if base in self.position:
            return Name(grade, ((0, self.position[base], ()),), name, name)
        group = 1 if base[0] in "mM" else 2 if base[0] in "JI" else 4 if base == "t" else 3
        return Name(grade, ((group, 0, natural_key(base)),), name, name)


def _number(expression: Basic) -> Signed:
    if isinstance(expression, wrapper.RealDouble):
        number = float(expression)
        negative = number < 0 or (number == 0 and str(number)[0] == "-")
        return Signed(negative, Number(NUMBER, (), repr(abs(number)), abs(number)))
    numerator, denominator = expression.get_num_den()
    value = Fraction(int(numerator), int(denominator))
    return Signed(value < 0, Number(NUMBER, (), _mark(str(abs(value))), abs(value)))


def _whole(number: int) -> Number:
    return Number(NUMBER, (), _mark(str(number)), Fraction(number))


def _power_of(node: Node) -> tuple[Node, float]:
    """A factor as base and exponent, for the order of factors and terms."""
    if isinstance(node, Power):
        exponent = node.exponent
        return node.base, float(exponent.value) if isinstance(exponent, Number) else 1.0
    return node, 1.0


def _factor_key(node: Node) -> tuple:
    """Names first, then functions of names (sin before cos), then anything else; base before exponent."""
    base, exponent = _power_of(node)
    kind, which = 2, 0
    if isinstance(base, Name):
        kind = 0
    elif isinstance(base, Call):
        kind = 1 if isinstance(base.arguments[0], Name) else 2
        which = _CALL_ORDER.index(base.function) if base.function in _CALL_ORDER else len(_CALL_ORDER)
    return (node.grade, node.rank, kind, which, base.mark, -exponent, node.mark)


_END = ((99,),)


def _term_key(term: Signed) -> tuple:
    """Accelerations first, then velocities, then the rest, numbers last; higher powers before lower ones."""
    node = term.node
    above, below = (node.above, node.below) if isinstance(node, Product) else ((node,), ())
    moving, resting = [], []
    for factor in (*above, *below):
        if factor.grade == NUMBER:
            continue
        key = _factor_key(factor)
        if factor.grade >= VELOCITY:
            moving.append((-key[0], *key[1:]))
        else:
            resting.append(key)
    grade = max(node.grade, FUNCTION) if resting or moving else NUMBER
    return (-grade, (*moving, *_END), (*resting, *_END), node.mark, term.negative)


def _span(nodes: Iterable[Node]) -> tuple[int, Rank]:
    """Grade and rank of a composite: those of its highest grade, the earliest name in it."""
    grade, rank = NUMBER, ()
    for node in nodes:
        if node.grade > grade or (node.grade == grade and node.rank < rank):
            grade, rank = node.grade, node.rank
    return grade, rank


def _sum(terms: list[Signed]) -> Sum:
    ordered = sorted(terms, key=_term_key)
    return _sum_of(tuple(ordered))


def _sum_of(ordered: tuple[Signed, ...]) -> Sum:
    mark = _mark(*("-+"[not negative] + node.mark for negative, node in ordered))
    return Sum(*_span(term.node for term in ordered), mark, ordered)


def _product(factors: list[Signed]) -> Signed:
    above: list[Node] = []
    below: list[Node] = []
    negative = False
    for sign, node in factors:
        negative ^= sign
        if isinstance(node, Product):
            above.extend(node.above)
            below.extend(node.below)
        elif isinstance(node, Number) and isinstance(node.value, Fraction):
            if node.value.numerator != 1:
                above.append(_whole(node.value.numerator))
            if node.value.denominator != 1:
                below.append(_whole(node.value.denominator))
        else:
            above.append(node)
    if not below and len(above) == 1:
        return Signed(negative, above[0])
    above.sort(key=_factor_key)
    below.sort(key=_factor_key)
    mark = _mark("*".join(node.mark for node in above), *("/" + node.mark for node in below))
    return Signed(negative, Product(*_span((*above, *below)), mark, tuple(above), tuple(below)))


def _power(expression: Basic, inner: list[Signed]) -> Signed:
    if isinstance(expression.args[0], wrapper.Exp1):
        argument = plain(inner[1])
        return Signed(False, _function("exp", (argument,)))
    base, exponent = inner
    if not isinstance(exponent.node, Number):
        grade, rank = _span((base.node, exponent.node))
        mark = _mark(plain(base).mark, "^", plain(exponent).mark)
        return Signed(False, Power(grade, rank, mark, plain(base), plain(exponent)))
    value = exponent.node.value
    negative = False
    node = base.node
    if base.negative:
        if float(value).is_integer():
            negative = float(value) % 2 == 1
        else:
            node = plain(base)
    grade = max(node.grade, CONSTANT)
    if float(value) == 0.5:
        node = Call(min(grade, FUNCTION), node.rank, _mark("sqrt", node.mark), "sqrt", (node,))
    elif float(value) != 1.0:
        node = Power(grade, node.rank, _mark(node.mark, "^", exponent.node.mark), node, exponent.node)
    if exponent.negative:
        node = Product(grade, node.rank, _mark("/", node.mark), (), (node,))
    return Signed(negative, node)


def _call(expression: Basic, inner: list[Signed]) -> Signed:
    function = type(expression).__name__.lower()
    negative = False
    if len(inner) == 1 and isinstance(inner[0].node, Sum) and function in EVEN | ODD:
        total = inner[0].node
        # A sum that is subtracted as a whole must stay so: 1 - (x + 1) turned round is x + 1 - 1. Nor is an angle
        # turned that contains a part of pi: SymEngine would make another function of it.
        fixed = any(isinstance(term, Sum) or term.grade == CONSTANT for _, term in total.terms)
        if total.terms[0].negative and not fixed:
            turned = tuple(Signed(not sign, term) for sign, term in total.terms)
            inner = [Signed(inner[0].negative, _sum_of(turned))]
            negative = function in ODD
    if function in ("max", "min"):
        inner = sorted(inner, key=_term_key)
    return Signed(negative, _function(function, tuple(plain(argument) for argument in inner)))


def _function(name: str, arguments: tuple[Node, ...]) -> Call:
    grade, rank = _span(arguments)
    mark = _mark(name, *("," + argument.mark for argument in arguments))
    return Call(CONSTANT if grade <= CONSTANT else FUNCTION, rank, mark, name, arguments)
