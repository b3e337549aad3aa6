"""Native code against closed forms, against the interpreter, and alone against in a batch."""

from __future__ import annotations

import math

import numpy as np
import pytest

from svyaz.program.elimination import choose_orders
from svyaz.program.interpret import evaluate
from svyaz.program.native import compile_program
from svyaz.program.tape import BINARY, UNARY, LinearSystem, Program, ProgramError, SingularSystem


@pytest.mark.parametrize("ordered", [True, False], ids=["unrolled", "pivoted"])
@pytest.mark.parametrize("n", [1, 2, 5, 10])
def test_pendulum_equals_the_closed_form(pendulum, pendulum_rates, n, ordered):
    program = pendulum(n)
    random = np.random.default_rng(n)
    parameters = random.uniform(0.5, 2, 2 * n + 1)
    states = random.uniform(-3, 3, (30, 2 * n + 1))
    if ordered:
        program = choose_orders(program, parameters, states[0])
        assert program.systems[0].order is not None
    native = compile_program(program)
    found = native.evaluate(states, native.constants(dict(zip(program.parameters, parameters, strict=True))))
    for state, row in zip(states, found, strict=True):
        expected = pendulum_rates(n, parameters, state)
        np.testing.assert_allclose(row, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
        by_name = evaluate(program, parameters, dict(zip(program.inputs, state, strict=True)))
        assert list(by_name) == [name for name, _ in program.outputs]
        np.testing.assert_allclose(list(by_name.values()), expected, rtol=0, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("ordered", [True, False], ids=["unrolled", "pivoted"])
def test_batch_bits_equal_single_bits(pendulum, ordered):
    n = 6
    random = np.random.default_rng(7)
    states, parameters = random.normal(size=(101, 2 * n + 1)), random.uniform(1, 2, (101, 2 * n + 1))
    program = pendulum(n)
    native = compile_program(choose_orders(program, parameters[0], states[0]) if ordered else program)
    constants = np.array([native.constants(row) for row in parameters])
    batch = native.evaluate(states, constants)
    common = native.evaluate(states, constants[3])
    for k, state in enumerate(states):
        assert native.evaluate(state, constants[k]).tobytes() == batch[k].tobytes()
        assert native.evaluate(state, constants[3]).tobytes() == common[k].tobytes()


ARGUMENTS = {"asin": (-1, 1), "acos": (-1, 1), "sqrt": (0, 9), "log": (1e-3, 9), "pow": (0.1, 3)}


@pytest.mark.parametrize("op", [*UNARY, *BINARY])
def test_functions_agree_with_numpy(op):
    count = 2 if op in BINARY else 1
    nodes = (*(("input", k) for k in range(count)), (op, *range(count)))
    program = Program((), ("a", "b")[:count], nodes, (("value", count),))
    native = compile_program(program)
    low, high = ARGUMENTS.get(op, (-4, 4))
    arguments = np.random.default_rng(1).uniform(low, high, (200, count))
    named = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "pow": "power"}
    numpy_name = {**named, "min": "minimum", "max": "maximum"}.get(op, op)
    expected = getattr(np, numpy_name)(*arguments.T)
    found = native.evaluate(arguments, native.constants([]))[:, 0]
    np.testing.assert_allclose(found, expected, rtol=4e-15, atol=1e-15)
    np.testing.assert_allclose([evaluate(program, [], row)["value"] for row in arguments], expected, rtol=4e-15)


def test_corners_are_well_defined(tape):
    t = tape()
    a, b = t("input", 0), t("input", 1)
    nodes = [t("sign", a), t("abs", a), t("min", a, b), t("max", a, b)]
    program = Program((), ("a", "b"), tuple(t.nodes), tuple(zip("sαxy", nodes, strict=True)))
    native = compile_program(program)
    cases = [(0.0, 1.0), (-0.0, 1.0), (-3.0, -3.0), (5.0, -math.inf), (math.nan, 1.0), (1.0, math.nan)]
    expected = [
        [0, 0, 0, 1],
        [0, 0, 0, 1],
        [-1, 3, -3, -3],
        [1, 5, -math.inf, 5],
        [math.nan] * 4,
        [1, 1, math.nan, math.nan],
    ]
    np.testing.assert_array_equal(native.evaluate(cases, native.constants([])), expected)
    np.testing.assert_array_equal([list(evaluate(program, [], case).values()) for case in cases], expected)


def test_only_constants_in_use_are_kept(tape):
    t = tape()
    m, g, length, x = t("parameter", 0), t("parameter", 1), t("parameter", 2), t("input", 0)
    weight = t("mul", m, g)
    t("sin", length)
    outputs = (("force", t("mul", weight, x)), ("weight", weight), ("two", t("const", 2.0)))
    native = compile_program(Program(("m", "g", "l"), ("x",), tuple(t.nodes), outputs))
    assert native.constant_count == 1
    assert native.constants({"m": 2, "g": 9.8, "l": 1}).tolist() == [2 * 9.8]
    assert native.evaluate([0.5], native.constants([2.0, 9.8, 1.0])).tolist() == [9.8, 19.6, 2.0]


def test_wrong_shapes_and_names_are_refused(pendulum):
    native = compile_program(pendulum(2))
    constants = native.constants([1.0] * 5)
    with pytest.raises(ProgramError, match="no value for parameter m1, g"):
        native.constants({"L0": 1, "L1": 1, "m0": 1})
    with pytest.raises(ProgramError, match="5 parameters expected"):
        native.constants([1.0])
    with pytest.raises(ProgramError, match="5 inputs expected"):
        native.evaluate([1.0, 2.0], constants)
    with pytest.raises(ProgramError, match="constants expected"):
        native.evaluate([0.0] * 5, constants[:2])
    with pytest.raises(ProgramError, match="constants expected"):
        native.evaluate(np.zeros((3, 5)), np.zeros((2, len(constants))))


def test_an_empty_batch_is_empty(pendulum):
    native = compile_program(pendulum(2))
    assert native.evaluate(np.zeros((0, 5)), native.constants([1.0] * 5)).shape == (0, 4)


def test_the_address_can_be_called(pendulum):
    import ctypes

    native = compile_program(pendulum(2))
    step = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.POINTER(ctypes.c_double)] * 3)(native.address)
    arrays = [np.array([0.0, 0.1, 0.2, 0.3, 0.4]), native.constants([1.0] * 5), np.zeros(4)]
    assert step(*(array.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for array in arrays)) == 0
    assert arrays[2].tobytes() == native.evaluate(arrays[0], arrays[1]).tobytes()


def test_singular_systems_are_told(pendulum):
    native = compile_program(pendulum(2))
    massless = native.constants([1.0, 1.0, 1.0, 0.0, 9.8])
    with pytest.raises(SingularSystem, match="linear system 0") as caught:
        native.evaluate([0.0, 0.1, 0.2, 0.3, 0.4], massless)
    assert caught.value.system == 0


def test_import_loads_no_compiler(python):
    code = "import sys, svyaz.program, svyaz.program.text; print({'llvmlite', 'numpy', 'symengine'} & set(sys.modules))"
    assert python("-c", code).stdout.strip() == "set()"


@pytest.mark.parametrize("ordered", [True, False], ids=["unrolled", "pivoted"])
def test_seldom_used_code_has_the_bits_of_optimised_code(pendulum, ordered):
    n = 12
    random = np.random.default_rng(8)
    states, parameters = random.normal(size=(20, 2 * n + 1)), random.uniform(1, 2, 2 * n + 1)
    program = choose_orders(pendulum(n), parameters, states[0]) if ordered else pendulum(n)
    quick = compile_program(program, seldom=True)
    optimised = compile_program(program)
    assert quick is not optimised
    assert compile_program(program, seldom=True) is optimised
    found, expected = (code.evaluate(states, code.constants(parameters)) for code in (quick, optimised))
    assert found.tobytes() == expected.tobytes()


def test_a_step_of_many_blocks_agrees_with_the_interpreter(tape):
    """Values are used far behind the block in which they are computed, and stored for a system that is pivoted."""
    t, size = tape(), 6
    x, a = [t("input", k) for k in range(size)], t("parameter", 0)
    chain = list(x)
    for k in range(400):
        chain.append(t("sin", t("add", t("mul", a, chain[-1]), chain[k % len(chain)])))
    last = chain[-size:]
    matrix = [
        t("add", t("mul", last[i], x[j]), t("const", 8.0 if i == j else 0.5)) for i in range(size) for j in range(size)
    ]
    system = LinearSystem(size, tuple(matrix), (tuple(chain[:size]),), symmetric=False)
    outputs = [("early", chain[50]), *((f"u{k}", t("unknown", 0, k)) for k in range(size))]
    program = Program(("a",), tuple(f"x{k}" for k in range(size)), tuple(t.nodes), tuple(outputs), (system,))
    assert len(program.nodes) > 1000
    states = np.random.default_rng(9).uniform(-1, 1, (7, size))
    for seldom in (True, False):
        native = compile_program(program, seldom=seldom)
        constants = native.constants([0.7])
        found = native.evaluate(states, constants)
        part = native.evaluate_in_part(states, constants)
        for state, row in zip(states, found, strict=True):
            np.testing.assert_allclose(row, list(evaluate(program, [0.7], state).values()), rtol=1e-9)
        assert part[:, 0].tobytes() == found[:, 0].tobytes()
