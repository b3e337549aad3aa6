"""Random programs: native code and exported Python against the interpreter, within a bound of rounding errors."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from svyaz.program.exports import export
from svyaz.program.interpret import node_values
from svyaz.program.native import compile_program
from svyaz.program.tape import Node, Program
from svyaz.program.text import from_text, to_text

SAFE = ("add", "sub", "mul", "neg", "sin", "cos", "atan", "tanh", "abs", "min", "max")
"""Operations that are defined everywhere and whose slope is at most 1, or known."""
UNIT = 2.0**-52


@st.composite
def programs(draw) -> Program:
    """A few leaves, then operations on any earlier nodes; any nodes as outputs."""
    nodes: list[Node] = [("parameter", 0), ("parameter", 1), ("input", 0), ("input", 1), ("input", 2)]
    nodes += [("const", value) for value in draw(st.lists(st.floats(-2, 2), max_size=3))]
    for _ in range(draw(st.integers(1, 25))):
        op = draw(st.sampled_from(SAFE))
        count = 2 if op in ("add", "sub", "mul", "min", "max") else 1
        nodes.append((op, *(draw(st.integers(0, len(nodes) - 1)) for _ in range(count))))
    ends = draw(st.lists(st.integers(0, len(nodes) - 1), min_size=1, max_size=4))
    outputs = tuple((f"y{k}", node) for k, node in enumerate(ends))
    return Program(("a", "b"), ("t", "x", "x'"), tuple(nodes), outputs)


def _error_bounds(program: Program, values: list[float]) -> list[float]:
    """Running error analysis (Wilkinson): how far rounding may have moved each value, contraction or not."""
    bounds: list[float] = []
    for node, value in zip(program.nodes, values, strict=True):
        arguments = node[1:]
        if node[0] in ("const", "parameter", "input"):
            bounds.append(0.0)
        elif node[0] == "mul":
            a, b = arguments
            bounds.append(
                abs(values[a]) * bounds[b] + abs(values[b]) * bounds[a] + bounds[a] * bounds[b] + UNIT * abs(value)
            )
        else:
            bounds.append(math.fsum(bounds[a] for a in arguments) + 4 * UNIT * abs(value))
    return [2.0 * bound + 1e-300 for bound in bounds]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(programs(), st.lists(st.floats(-3, 3), min_size=5, max_size=5))
def test_native_and_python_agree_with_the_interpreter(program, numbers):
    parameters, inputs = numbers[:2], numbers[2:]
    values = node_values(program, parameters, inputs)
    bounds = _error_bounds(program, values)
    if not all(map(math.isfinite, (*values, *bounds))):
        return
    native = compile_program(program)
    found = native.evaluate(inputs, native.constants(parameters))
    interpreted = compile_program(program, longest=0)
    shown = interpreted.evaluate(inputs, interpreted.constants(parameters))
    space: dict = {}
    exec(compile(export(program, "python"), "exported", "exec"), space)
    exported = space["step"](inputs, space["constants"](parameters))
    for (_, node), *by_each in zip(program.outputs, found, shown, exported, strict=True):
        for number in by_each:
            assert abs(number - values[node]) <= bounds[node]
    assert from_text(to_text(program)) == program


def test_long_programs_compile():
    """A long chain x → sin(x) + x·a in one program gives what the same loop gives."""
    length = 3_000
    nodes: list[Node] = [("input", 0), ("parameter", 0)]
    for _ in range(length):
        last = len(nodes) - 1 if len(nodes) > 2 else 0
        nodes += [("sin", last), ("mul", last, 1), ("add", len(nodes), len(nodes) + 1)]
    program = Program(("a",), ("x",), tuple(nodes), (("end", len(nodes) - 1),))
    native = compile_program(program)
    x, a = 0.3, 0.25
    for _ in range(length):
        x = math.sin(x) + x * a
    np.testing.assert_allclose(native.evaluate([0.3], native.constants([a])), [x], rtol=1e-9)
