"""The parser against a reference: random trees are written as text, and evaluated in plain floating point."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import symengine as se
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from svyaz.expr import ModelError, Scope, parse, to_text

VALUES = {"x": 0.7, "y": -1.3, "phi": 2.1, "m": 0.37, "t": 0.9, "x'": -0.45, "phi'": 1.9}
PLAIN = [name for name in VALUES if not name.endswith("'")]
SCOPE = Scope(
    symbols={name: se.Symbol(name) for name in PLAIN},
    derivatives={name[:-1]: se.Symbol(name) for name in VALUES if name.endswith("'")},
)

Tree = tuple[Any, ...]


class NoValue(Exception):
    """The tree has no value that two ways of rounding would agree on."""


# Writing a tree: levels of the grammar, loosest first.
SUM, PRODUCT, SIGNED, POWER, OPERAND = range(5)


def written(tree: Tree, least: int = SUM) -> str:
    """The tree as text, with the fewest parentheses that the grammar allows."""
    kind, *parts = tree
    match kind:
        case "number" | "name":
            return parts[0]
        case "call":
            return f"{parts[0]}({', '.join(written(part) for part in parts[1])})"
        case "parentheses":
            return f"( {written(parts[0])} )"
        case "+" | "-":
            level, text = SUM, f"{written(parts[0], SUM)} {kind} {written(parts[1], PRODUCT)}"
        case "*" | "/":
            level, text = PRODUCT, f"{written(parts[0], PRODUCT)}{kind}{written(parts[1], SIGNED)}"
        case "minus":
            level, text = SIGNED, f"-{written(parts[0], SIGNED)}"
        case "^" | "**":
            level, text = POWER, f"{written(parts[0], OPERAND)}{kind}{written(parts[1], SIGNED)}"
        case _:
            raise AssertionError(kind)
    return text if level >= least else f"({text})"


def away_from(number: float, *edges: float) -> float:
    if any(abs(number - edge) < 1e-4 for edge in edges):
        raise NoValue
    return number


def has_name(tree: Any) -> bool:
    return isinstance(tree, tuple) and (tree[0] == "name" or any(has_name(part) for part in tree))


def raised(base: float, exponent: float, moving: bool) -> float:
    if abs(exponent) > 1000 or base == 0 or (base < 0 and (moving or not float(exponent).is_integer())):
        raise NoValue
    return base**exponent or away_from(0.0, 0.0)


def extreme(pick: Callable[..., float]) -> Callable[..., float]:
    return lambda *numbers: pick(numbers)


FUNCTIONS: dict[str, tuple[int, Callable[..., float]]] = {
    "sin": (1, math.sin),
    "cos": (1, math.cos),
    "tan": (1, lambda a: math.tan(a) if abs(math.cos(a)) > 1e-3 else away_from(0.0, 0.0)),
    "asin": (1, lambda a: math.asin(away_from(a, -1, 1))),
    "acos": (1, lambda a: math.acos(away_from(a, -1, 1))),
    "atan": (1, math.atan),
    "atan2": (2, lambda b, a: math.atan2(away_from(b, 0.0), away_from(a, 0.0))),
    "sinh": (1, math.sinh),
    "cosh": (1, math.cosh),
    "tanh": (1, math.tanh),
    "exp": (1, math.exp),
    "log": (1, lambda a: math.log(away_from(a, 0.0))),
    "sqrt": (1, lambda a: math.sqrt(away_from(a, 0.0))),
    "abs": (1, abs),
    "sign": (1, lambda a: math.copysign(1.0, away_from(a, 0.0))),
    "min": (3, extreme(min)),
    "max": (2, extreme(max)),
}


def evaluated(tree: Tree) -> float:
    """The value of the tree, by nothing but Python's floats; NoValue where rounding decides."""
    kind, *parts = tree
    match kind:
        case "number":
            return float(parts[0])
        case "name":
            return {**VALUES, "pi": math.pi, "deg": math.pi / 180}[parts[0]]
        case "call":
            value = FUNCTIONS[parts[0]][1](*(evaluated(part) for part in parts[1]))
        case "parentheses":
            value = evaluated(parts[0])
        case "minus":
            value = -evaluated(parts[0])
        case _:
            a, b = evaluated(parts[0]), evaluated(parts[1])
            if kind == "/":
                value = a / away_from(b, 0.0)
            elif kind in ("^", "**"):
                value = raised(a, b, moving=has_name(parts[1]))
            else:
                value = {"+": a + b, "-": a - b, "*": a * b}[kind]
    if isinstance(value, complex) or not abs(value) < 1e8 or 0 < abs(value) < 1e-8:
        raise NoValue
    return value


numbers = st.one_of(
    st.integers(0, 12).map(str),
    st.sampled_from(["0.5", "2.0", "1.25", ".75", "3.", "1e-2", "2.5E+1", "0.3"]),
).map(lambda text: ("number", text))
names = st.sampled_from([*VALUES, "pi", "deg"]).map(lambda name: ("name", name))


def larger(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    def call(name: str) -> st.SearchStrategy[Tree]:
        arguments = st.tuples(*[inner] * FUNCTIONS[name][0])
        return arguments.map(lambda found: ("call", name, found))

    return st.one_of(
        st.tuples(st.sampled_from("+-*/"), inner, inner),
        st.tuples(st.sampled_from(["^", "**"]), inner, st.one_of(inner, numbers)),
        st.tuples(st.just("minus"), inner),
        st.tuples(st.just("parentheses"), inner),
        st.sampled_from(sorted(FUNCTIONS)).flatmap(call),
    )


trees = st.recursive(st.one_of(numbers, names), larger, max_leaves=14)


def value_of(expression: se.Basic) -> float:
    return float(se.Lambdify([se.Symbol(name) for name in VALUES], [expression])(list(VALUES.values()))[0])


@settings(max_examples=1500, deadline=None, derandomize=True)
@given(trees)
@example(("-", ("name", "x"), ("-", ("name", "y"), ("name", "m"))))
@example(("^", ("minus", ("name", "x")), ("number", "2")))
@example(("minus", ("^", ("number", "2"), ("minus", ("^", ("name", "x"), ("number", "2"))))))
def test_S7_the_parser_agrees_with_a_reference_evaluation(tree: Tree) -> None:
    text = written(tree)
    try:
        value = evaluated(tree)
    except (NoValue, ValueError, OverflowError, ZeroDivisionError):
        value = None
    try:
        expression = parse(text, SCOPE)
    except ModelError:
        assert value is None, text
        return
    assume(value is not None)
    assert math.isclose(value_of(expression), value, rel_tol=1e-5, abs_tol=1e-5), text  # type: ignore[arg-type]


@settings(max_examples=1500, deadline=None, derandomize=True)
@given(trees, st.permutations(["m", "phi", "x", "y"]) | st.none())
def test_what_is_printed_is_read_back_as_the_same_expression(tree: Tree, order: list[str] | None) -> None:
    try:
        expression = parse(written(tree), SCOPE)
    except ModelError:
        assume(False)
    # An exponent that is a floating-point number has been computed; it may come out whole and be read as exact.
    assume(not any(power.args[1].is_Float for power in expression.atoms(se.Pow)))
    text = to_text(expression, order)
    again = parse(text, SCOPE)
    # SymEngine keeps an invisible 0.0 in (x + 1.0) + (y - 1.0) and tells it from x + y.
    difference = se.expand(again - expression)
    assert difference.is_Number, text
    assert float(difference) == 0.0, text
    assert to_text(again, order) == text
