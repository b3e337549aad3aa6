"""Exported programs give the native numbers; names become legal; nothing in a name can end a comment or a string."""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess

import numpy as np
import pytest

from svyaz.program.elimination import choose_orders
from svyaz.program.exports import export, languages
from svyaz.program.formulas import distinct, identifier
from svyaz.program.native import compile_program
from svyaz.program.tape import BINARY, UNARY, LinearSystem, Program, ProgramError
from svyaz.program.text import from_text

STRICT = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC"]


def _everything(tape) -> Program:
    """Every operation, two linear systems the second of which uses the first, names that are hard to write."""
    t = tape()
    a, b = t("parameter", 0), t("parameter", 1)
    x, y = t("input", 1), t("input", 2)
    small = t("div", x, t("add", t("const", 4.0), t("mul", x, x)))
    positive = t("add", t("const", 1.5), t("mul", y, y))
    values = [t(op, positive if op in ("log", "sqrt") else small) for op in UNARY]
    values += [t(op, positive, t("mul", a, small)) for op in BINARY]
    values += [t("sub", a, t("sub", b, t("neg", t("add", x, y)))), t("div", a, t("div", b, positive))]
    values += [t("neg", t("mul", t("sub", a, x), t("const", -2.5e-7))), t("pow", positive, t("const", -2.0))]
    one = t("const", 1.0)
    first = LinearSystem(2, (positive, x, x, t("neg", positive)), ((a, b), (one, y)), True)
    unknowns = [t("unknown", 0, k) for k in range(4)]
    zero = t("const", 0.0)
    second = LinearSystem(2, (zero, one, t("add", positive, positive), unknowns[0]), ((unknowns[3], small),), False)
    values += [*unknowns, t("unknown", 1, 0), t("mul", t("unknown", 1, 1), a), a, t("mul", a, b), t("const", 3.0)]
    outputs = tuple((f"out {k}", node) for k, node in enumerate(values))
    return Program(("lambda", "scale"), ("t", "φ''", "lambda'"), tuple(t.nodes), outputs, (first, second))


def _states(program: Program, count: int = 20) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(11)
    return random.uniform(0.5, 2, len(program.parameters)), random.uniform(-2, 2, (count, len(program.inputs)))


@pytest.fixture(params=["everything", "pendulum"])
def program(request, tape, pendulum) -> Program:
    return _everything(tape) if request.param == "everything" else pendulum(4)


def _python(program):
    space: dict = {}
    exec(compile(export(program, "python"), "exported", "exec"), space)
    return space


def _close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13 * max(1.0, np.abs(expected).max()))


def test_S6_python_gives_the_native_numbers(program):
    parameters, states = _states(program)
    native = compile_program(choose_orders(program, parameters, states[0]))
    space = _python(program)
    assert space["INPUTS"] == program.inputs
    constants = space["constants"](list(parameters))
    expected = native.evaluate(states, native.constants(parameters))
    for state, row in zip(states, expected, strict=True):
        _close(space["step"](list(state), constants), row)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_S6_c_gives_the_native_numbers(program, tmp_path):
    (tmp_path / "p.c").write_text(export(program, "c"))
    subprocess.run(["gcc", *STRICT, "-o", tmp_path / "p.so", tmp_path / "p.c", "-lm"], check=True)
    library = ctypes.CDLL(str(tmp_path / "p.so"))
    parameters, states = _states(program)
    native = compile_program(program)
    constants, outputs = np.zeros(max(1, native.constant_count)), np.zeros(len(program.outputs))
    library.constants(ctypes.c_void_p(parameters.ctypes.data), ctypes.c_void_p(constants.ctypes.data))
    expected = native.evaluate(states, native.constants(parameters))
    for state, row in zip(states, expected, strict=True):
        pointers = (ctypes.c_void_p(array.ctypes.data) for array in (state, constants, outputs))
        assert library.step(*pointers) == 0
        _close(outputs, row)


def test_singular_systems_are_told_by_exported_python(pendulum):
    space = _python(pendulum(2))
    with pytest.raises(ArithmeticError, match="singular"):
        space["step"]([0.0] * 5, space["constants"]([1.0, 1.0, 1.0, 0.0, 9.8]))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_unused_values_give_no_warning_in_c(tape, tmp_path):
    t = tape()
    t("sign", t("input", 0))
    program = Program(("m",), ("x", "y"), (*t.nodes, ("min", 0, 1)), (("one", t("const", 1.0)),))
    (tmp_path / "p.c").write_text(export(program, "c"))
    subprocess.run(["gcc", *STRICT, "-o", tmp_path / "p.so", tmp_path / "p.c", "-lm"], check=True)


def test_latex_of_a_small_program(tape):
    t = tape()
    m, k, x = t("parameter", 0), t("parameter", 1), t("input", 0)
    force = t("neg", t("mul", t("div", k, m), t("sub", x, t("const", 0.5))))
    outputs = (("x''", force), ("s", t("sin", x)))
    program = Program(("m", "k"), ("x",), tuple(t.nodes), outputs)
    assert export(program, "latex") == (
        "\\begin{aligned}\n"
        "k_{1} &= \\frac{k}{m} \\\\\n"
        "\\ddot{x} &= -k_{1} \\, \\left( x - 0.5 \\right) \\\\\n"
        "s &= \\sin\\left( x \\right)\n"
        "\\end{aligned}\n"
    )


def test_json_holds_formulas_and_the_program(program):
    result = json.loads(export(program, "json"))
    assert from_text(result["program"]) == program
    assert [name for name, _ in result["outputs"]] == [name for name, _ in program.outputs]
    assert set(result) >= {"parameters", "inputs", "constants", "sequence", "operations"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x", "x"),
        ("x'", "x_dot"),
        ("x''", "x_ddot"),
        ("φ'", "phi_dot"),
        ("Ω1", "Omega1"),
        ("2b", "n2b"),
        ("a b*/", "a_b"),
    ],
)
def test_identifiers(name, expected):
    assert identifier(name) == expected


def test_identifiers_do_not_collide():
    names = [identifier(name) for name in ("x'", "x_dot", "φ", "phi", "for")]
    assert distinct(names, {"for"}, "{0}_{1}") == ["x_dot", "x_dot_2", "phi", "phi_2", "for_2"]


def test_hostile_names_stay_names():
    program = Program(
        ('"""\nimport os', "*/ int x; /*"),
        ("'); raise", "\\"),
        (("input", 0), ("parameter", 0)),
        (("\n}", 0), ("*/", 1)),
    )
    space = _python(program)
    assert "os" not in space
    assert space["step"]([4.0, 5.0], space["constants"]([2.0, 3.0])) == [4.0, 2.0]
    assert export(program, "c").count("*/") == 1


def test_unknown_languages_are_refused(pendulum):
    with pytest.raises(ProgramError, match=f"known are {', '.join(languages())}"):
        export(pendulum(1), "basic")
