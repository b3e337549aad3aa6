"""Derivatives of expressions, with the corners of abs, sign, min and max taken in the one-sided mean.

SymEngine differentiates everything else; these four it leaves as unevaluated ``Derivative``. The rules used are

    d|a| = sign(a) da,    d sign(a) = 0,
    d max(a, b) = (1 + sign(a - b))/2 da + (1 - sign(a - b))/2 db,    min likewise with the signs exchanged,

exact away from the corners and the mean of both sides at a corner. Functions of Python, which have no expression, stand as
``outside(number, which, a₁, a₂, …)``; their derivative by a_k is the same with ``which`` = k.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence, Set
from functools import reduce
from typing import TypeAlias

import symengine as se
from symengine.lib.symengine_wrapper import Abs, FunctionSymbol, Max, Min, sign

from svyaz.expr.signs import signum

Expression: TypeAlias = se.Basic
ZERO = se.Integer(0)
ONE = se.Integer(1)
HALF = se.Rational(1, 2)
TIME = se.Symbol("t")

_CORNERED = (Abs, sign, Max, Min, FunctionSymbol)
_corners_made = False
"""Corners are only looked for once one has been made."""


def with_corners(function: Callable[..., Expression]) -> Callable[..., Expression]:
    """Abs, sign, Max or Min for use in expressions that will be differentiated by this module."""

    def make(*arguments: Expression) -> Expression:
        global _corners_made
        _corners_made = True
        return function(*arguments)

    return make


def outside(number: se.Symbol, arguments: Sequence[Expression]) -> Expression:
    """A function of Python, known by its number, of arguments."""
    made: Expression = with_corners(se.Function("outside"))(number, ZERO, *arguments)
    return made


def velocity(name: str) -> se.Symbol:
    """The symbol of the time derivative of the coordinate ``name``."""
    return se.Symbol(name + "'")


def velocities_of(names: Iterable[str]) -> tuple[se.Symbol, ...]:
    """The symbols of the velocities of coordinates."""
    return tuple([velocity(name) for name in names])


def acceleration(name: str) -> se.Symbol:
    """The symbol of the second time derivative of the coordinate ``name``."""
    return se.Symbol(name + "''")


def names_in(expression: Expression) -> set[str]:
    """Names of all symbols in the expression."""
    return {str(s) for s in expression.free_symbols}


MANY = 24
"""Of more symbols than this those are looked for first that occur."""


def differentiate(expression: Expression, symbol: se.Symbol) -> Expression:
    """∂ expression / ∂ symbol."""
    return gradient(expression, [symbol])[0]


def total_derivative(expression: Expression, rates: Mapping[se.Symbol, Expression]) -> Expression:
    """d expression / dt = Σ ∂ expression/∂s · ds/dt over the symbols with a known rate; put ``TIME: 1`` among them."""
    present = expression.free_symbols
    moving = [s for s in rates if s in present] if len(rates) <= MANY else [s for s in present if s in rates]
    terms = [slope * rates[s] for s, slope in zip(moving, gradient(expression, moving), strict=True)]
    return se.Add(*terms) if terms else ZERO


def gradient(expression: Expression, symbols: Sequence[se.Symbol]) -> list[Expression]:
    """[∂ expression/∂s for s in symbols]."""
    present = expression.free_symbols
    cornered = corners(expression)
    if cornered:
        return [_chain(expression, cornered, s) if s in present else ZERO for s in symbols]
    if len(symbols) > MANY and len(present) > MANY:
        slopes = _slopes_by_terms(expression, frozenset(symbols))
        return [slopes.get(s, ZERO) for s in symbols]
    return [expression.diff(s) if s in present else ZERO for s in symbols]


def _slopes_by_terms(expression: Expression, symbols: frozenset[se.Symbol]) -> dict[se.Symbol, Expression]:
    """Slopes along the symbols that occur, term by term, for each symbol occurs in a few of them.

    Of a product only the factor is looked into that contains symbols, where it is the only one.
    """
    if expression.is_Add:
        slopes = defaultdict[se.Symbol, list[Expression]](list)
        for term in expression.args:
            for s, slope in _slopes_by_terms(term, symbols).items():
                slopes[s].append(slope)
        return {s: se.Add(*parts) for s, parts in slopes.items()}
    present = [s for s in expression.free_symbols if s in symbols]
    if expression.is_Mul and len(present) > MANY:
        factors = list(expression.args)
        moving = [place for place, factor in enumerate(factors) if not symbols.isdisjoint(factor.free_symbols)]
        if len(moving) == 1:
            inner = _slopes_by_terms(factors.pop(moving[0]), symbols)
            return {s: se.Mul(*factors, slope) for s, slope in inner.items()}
    return {s: expression.diff(s) for s in present}


def gradients(expressions: Sequence[Expression], symbols: Sequence[se.Symbol]) -> list[list[Expression]]:
    """The gradient of each expression; of many symbols few of which occur, in the time that these take."""
    if len(symbols) <= MANY:
        return [gradient(e, symbols) for e in expressions]
    places: dict[se.Symbol, int] = {}
    for place, s in enumerate(symbols):
        places.setdefault(s, place)
    if len(places) < len(symbols):
        return [gradient(e, symbols) for e in expressions]
    found = []
    for e in expressions:
        row = [ZERO] * len(symbols)
        present = [s for s in e.free_symbols if s in places] if e is not ZERO else []
        for s, slope in zip(present, gradient(e, present), strict=True):
            row[places[s]] = slope
        found.append(row)
    return found


def symbols_in(expressions: Iterable[Expression]) -> set[se.Symbol]:
    """The symbols that occur in any of the expressions; what they share is looked at once."""
    found: set[se.Symbol] = se.Function("together")(*expressions).free_symbols
    return found


def occurs(symbols: Set[se.Symbol], expression: Expression) -> bool:
    """Does one of the symbols occur? The search ends where one is found, and looks at what is shared once."""
    seen: set[Expression] = set()
    waiting = [expression]
    while waiting:
        e = waiting.pop()
        if e in symbols:
            return True
        if e not in seen:
            seen.add(e)
            # symbols and functions of them are looked at before long sums and products
            waiting += sorted(e.args, key=lambda a: not (a.is_Add or a.is_Mul))
    return False


def substitute(expression: Expression, values: Mapping[se.Symbol, Expression]) -> Expression:
    """Replace symbols, all at once."""
    if len(values) > MANY:  # SymEngine takes a copy of them all, however few occur
        values = {s: values[s] for s in expression.free_symbols if s in values}
    return expression.xreplace(dict(values)) if values else expression


def evaluate(expression: Expression, values: Mapping[str, float]) -> float:
    """The value of an expression as a real number; the caller gives a number for every name in it."""
    numbers = {s: se.RealDouble(values[str(s)]) for s in expression.free_symbols}
    return real_value(substitute(expression, numbers))


def real_value(number: Expression) -> float:
    """A numerical expression as a float; ``nan`` when it is complex or undefined."""
    try:
        return float(number.n(real=True))
    except (RuntimeError, ValueError, TypeError, ZeroDivisionError):
        signs = number.atoms(sign)
    if not signs:
        return float("nan")
    # SymEngine does not evaluate sign: the outermost ones are replaced by their values
    values = {e: se.RealDouble(_sign_of(real_value(e.args[0]))) for e in signs}
    replaced = number.xreplace(values)
    return float("nan") if replaced.atoms(sign) else real_value(replaced)


def _sign_of(value: float) -> float:
    return value if value != value else float((value > 0) - (value < 0))


def is_zero(expression: Expression) -> bool:
    """Is it the number zero as it stands (no simplification is tried)?"""
    return bool(expression == ZERO) or (bool(expression.is_Number) and real_value(expression) == 0.0)


def add_up(terms: Iterable[Expression]) -> Expression:
    """The sum of the terms."""
    return se.Add(*terms)


def has_corners(expression: Expression) -> bool:
    """Is there a sign(), |a|, min or max in it?"""
    return _corners_made and bool(expression.atoms(sign, Abs, Max, Min))


def corners(expression: Expression) -> list[Expression]:
    """The outermost cornered functions in it.

    Each part is asked once (expressions share parts, and as trees may be exponentially large), without recursion (they
    may be deep), and nothing is remembered: to find an equal expression again costs more than to ask again.
    """
    if not _corners_made:
        return []
    found: dict[Expression, None] = {}
    seen: set[Expression] = set()
    asked = [expression]
    while asked:
        e = asked.pop()
        if isinstance(e, _CORNERED):
            found[e] = None
        elif e not in seen:
            seen.add(e)
            asked += e.args
    return list(found)


def _chain(expression: Expression, cornered: Sequence[Expression], symbol: se.Symbol) -> Expression:
    """Replace the outermost cornered functions by dummies, differentiate, and apply the chain rule to each of them."""
    dummies = {e: se.Symbol(f"_corner{k}") for k, e in enumerate(cornered)}
    smooth = expression.xreplace(dummies)
    result = smooth.diff(symbol)
    for e, dummy in dummies.items():
        outer = smooth.diff(dummy)
        if not is_zero(outer):
            result = result + outer * _derivative_at_corner(e, symbol)
    return result.xreplace({dummy: e for e, dummy in dummies.items()})


def _derivative_at_corner(e: Expression, symbol: se.Symbol) -> Expression:
    if isinstance(e, sign):
        return ZERO
    if isinstance(e, FunctionSymbol):
        return _outside_derivative(e, symbol)
    if isinstance(e, Abs):
        (a,) = e.args
        return signum(a) * differentiate(a, symbol)
    larger = ONE if isinstance(e, Max) else -ONE

    def pair(a: tuple[Expression, Expression], b: tuple[Expression, Expression]) -> tuple[Expression, Expression]:
        side = larger * signum(a[0] - b[0])
        return type(e)(a[0], b[0]), HALF * (ONE + side) * a[1] + HALF * (ONE - side) * b[1]

    return reduce(pair, [(a, differentiate(a, symbol)) for a in e.args])[1]


def _outside_derivative(e: Expression, symbol: se.Symbol) -> Expression:
    """Σ ∂/∂a_k · da_k; derivatives of derivatives are not known and taken for zero."""
    number, which, *arguments = e.args
    if not is_zero(which):
        return ZERO
    slopes = [differentiate(a, symbol) for a in arguments]
    name = se.Function("outside")
    return add_up(name(number, k, *arguments) * slope for k, slope in enumerate(slopes, 1) if not is_zero(slope))


def from_leaves(
    expressions: Iterable[Expression], known: Container[Expression] = ()
) -> list[tuple[Expression, tuple[Expression, ...]]]:
    """Each part of the expressions once, after its arguments, which come with it; parts that are ``known`` are left out.

    An expression is a graph, and its tree may be exponentially larger: brackets of fields, definitions in definitions.
    """
    done: set[Expression] = set()
    found = []
    for expression in expressions:
        stack = [(expression, expression.args)]
        while stack:
            e, arguments = stack[-1]
            if e in done or e in known:
                stack.pop()
                continue
            missing = [(a, a.args) for a in arguments if a not in done and a not in known]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            done.add(e)
            found.append((e, arguments))
    return found
