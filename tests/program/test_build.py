"""From expressions to a program: the same numbers, fewer operations, constants computed once."""

from __future__ import annotations

import numpy as np
import pytest
import symengine as se
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from svyaz.expr.calculus import evaluate
from svyaz.program import compile_program, operations
from svyaz.program.building import Linear, build

INPUTS = ("t", "x", "y", "z")
PARAMETERS = ("a", "b", "c")
SYMBOLS = [se.Symbol(name) for name in (*INPUTS, *PARAMETERS)]
t, x, y, z, a, b, c = SYMBOLS


def expressions() -> st.SearchStrategy[se.Basic]:
    """Random expressions that are real everywhere, with sums, products, powers and functions of all kinds."""
    numbers = st.sampled_from([-3, -1, 2, 5]).map(se.Integer) | st.sampled_from([-0.75, 0.3, 1.5]).map(se.RealDouble)
    leaves = st.sampled_from(SYMBOLS) | st.sampled_from(SYMBOLS) | numbers

    def extend(inner: st.SearchStrategy[se.Basic]) -> st.SearchStrategy[se.Basic]:
        several = st.lists(inner, min_size=2, max_size=4)
        positive = inner.map(lambda e: 2 + se.sin(e))
        return st.one_of(
            several.map(lambda terms: se.Add(*terms)),
            several.map(lambda factors: se.Mul(*factors)),
            st.tuples(inner, inner).map(lambda pair: pair[0] - pair[1]),
            inner.map(se.sin),
            inner.map(se.cos),
            inner.map(se.atan),
            inner.map(se.tanh),
            positive.map(se.sqrt),
            positive.map(se.log),
            positive.map(lambda e: 1 / e),
            positive.map(lambda e: e ** se.Rational(-3, 2)),
            positive.map(lambda e: e ** se.Rational(7, 5)),
            inner.map(lambda e: se.exp(se.cos(e))),
            inner.map(lambda e: e**3),
            inner.map(abs),
            st.tuples(inner, positive).map(lambda pair: se.atan2(*pair)),
            st.tuples(inner, inner).map(lambda pair: se.Max(*pair)),
            st.tuples(inner, inner).map(lambda pair: se.Min(*pair)),
        )

    return st.recursive(leaves, extend, max_leaves=12)


def numbers(seed: int) -> dict[str, float]:
    random = np.random.default_rng(seed)
    return {str(s): random.uniform(-1.2, 1.2) for s in SYMBOLS}


def run(outputs, values, systems=()):
    native = compile_program(build(outputs, inputs=INPUTS, parameters=PARAMETERS, systems=systems))
    return native.evaluate(np.array([values[name] for name in INPUTS]), native.constants(values))


def size(expression: se.Basic, values: dict[str, float]) -> float:
    """An upper bound of everything that is added up on the way: rounding is measured against it."""
    total = abs(evaluate(expression, values))
    return max([total, *(size(argument, values) for argument in expression.args)])


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(found=st.lists(expressions(), min_size=1, max_size=4), seed=st.integers(0, 2**20))
def test_native_values_equal_direct_evaluation(found, seed) -> None:
    values = numbers(seed)
    expected = [evaluate(e, values) for e in found]
    result = run([(f"out{k}", e) for k, e in enumerate(found)], values)
    for e, want, got in zip(found, expected, result, strict=True):
        scale = size(e, values)
        if scale < 1e6:  # a sine of a large number has no digits to compare
            assert got == pytest.approx(want, rel=0, abs=1e-12 * (1 + scale) ** 2), e


@settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(entries=st.lists(expressions(), min_size=7, max_size=7), seed=st.integers(0, 2**20))
def test_linear_systems_whose_entries_share_with_the_outputs(entries, seed) -> None:
    values = numbers(seed)
    bounded = [se.sin(e) for e in entries]
    u, v = se.symbols("u v")
    matrix = [[3 + bounded[0], bounded[1]], [bounded[2], 3 + bounded[3]]]
    system = Linear(matrix, [bounded[4:6]], [[u, v]])
    found = run([("first", u), ("both", u * bounded[6] - v * bounded[0])], values, [system])
    value = lambda e: evaluate(e, values)  # noqa: E731
    solved = np.linalg.solve([[value(e) for e in row] for row in matrix], [value(e) for e in bounded[4:6]])
    expected = [solved[0], solved[0] * value(bounded[6]) - solved[1] * value(bounded[0])]
    scale = max(size(e, values) for e in entries)
    if scale < 1e4:
        assert found == pytest.approx(expected, rel=0, abs=1e-12 * (1 + scale) ** 2)


def count(*outputs: se.Basic) -> dict[str, int]:
    named = [(f"out{k}", e) for k, e in enumerate(outputs)]
    return operations(build(named, inputs=INPUTS, parameters=PARAMETERS))


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        ([x * y, x * y + z], {"mul": 1, "add": 1}),
        ([x * y + x * z], {"mul": 1, "add": 1}),
        ([x * y * z, x * y * t], {"mul": 3}),
        ([x + y + z, t * (x + y)], {"add": 2, "mul": 1}),
        ([x - y, y - x], {"add": 1}),
        ([x**8], {"mul": 3}),
        ([se.sin(x) * y, se.sin(x) * z], {"trig": 1, "mul": 2}),
        ([x / y, z / y], {"div": 1, "mul": 2}),
        ([2 * x + 2 * y], {"add": 1, "mul": 1}),
        ([a * b * c * x], {"mul": 1}),
        ([(a + b) * (a - c)], {}),
        ([a * x + b * x], {"mul": 1}),
        ([se.sin(a) ** 2 / b * x + c**3], {"mul": 1, "add": 1}),
        ([x * 0 + 5], {}),
    ],
)
def test_sharing_and_constants_reduce_the_operations(outputs, expected) -> None:
    """Operations of the step part, none of them more than a person would need."""
    found = {kind: n for kind, n in count(*outputs).items() if n}
    assert sum(found.values()) <= sum(expected.values()), found
    for kind, n in found.items():
        assert n <= expected.get(kind, 0), found


def test_sines_of_differences_are_made_from_few_sines() -> None:
    """All sin and cos of the differences of four angles need four sines and four cosines, not sixteen and more."""
    angles = [t, x, y, z]
    outputs = [f(p - q) for i, p in enumerate(angles) for q in angles[:i] for f in (se.sin, se.cos)]
    assert count(*outputs)["trig"] <= 8


def test_constants_part_holds_what_depends_on_parameters_alone() -> None:
    out = (a**2 + se.sin(b) / c) * x + a * b * c
    program = build([("out", out)], inputs=INPUTS, parameters=PARAMETERS)
    step = [node[0] for node, constant in zip(program.nodes, program.constant_part, strict=True) if not constant]
    assert sorted(step) == ["add", "input", "mul"]


def test_program_with_nothing_that_changes() -> None:
    values = numbers(4)
    assert run([("out", a * b + 1), ("number", se.Integer(3))], values) == pytest.approx(
        [values["a"] * values["b"] + 1, 3.0], rel=1e-15
    )


def test_same_value_under_two_names() -> None:
    values = numbers(5)
    assert run([("p", x * y), ("q", x * y), ("r", x)], values) == pytest.approx(
        [values["x"] * values["y"]] * 2 + [values["x"]], rel=1e-15
    )


def test_systems_that_nobody_uses_are_left_out() -> None:
    u, v, w = se.symbols("u v w")
    unused = Linear([[a]], [[b]], [[u]])
    first, second = Linear([[a + 5]], [[x]], [[v]]), Linear([[c + 5]], [[v * y]], [[w]])
    program = build([("w", w)], inputs=INPUTS, parameters=PARAMETERS, systems=[unused, first, second])
    assert len(program.systems) == 2
    values = numbers(6)
    expected = values["x"] / (values["a"] + 5) * values["y"] / (values["c"] + 5)
    assert run([("w", w)], values, [unused, first, second]) == pytest.approx([expected], rel=1e-14)
    assert not build([("x", x)], inputs=INPUTS, parameters=PARAMETERS, systems=[unused]).systems


def test_build_is_deterministic() -> None:
    from svyaz.program import content_hash

    outputs = [(f"o{k}", se.cos(x - y) * a * b + se.sin(k * z) * x * y + b * a * z**k) for k in range(5)]
    hashes = {content_hash(build(outputs, inputs=INPUTS, parameters=PARAMETERS)) for _ in range(3)}
    assert len(hashes) == 1
