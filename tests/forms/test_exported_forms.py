"""Every form of the gallery's models in every language: the numbers of the native program."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from julia_reader import julia_module
from maple_reader import maple_session

from svyaz import System, loads
from svyaz.expr import ModelError
from svyaz.forms import form_names
from svyaz.forms.programs import export_program
from svyaz.forms.tree.short_formulas.inertia import write_inertia
from svyaz.gallery.collection import find, names
from svyaz.model import Mechanical
from svyaz.program import Program, compile_program, export

ONE_FORM = ("puma-560", "two-armed-spatial", "stanford", "planar-6r", "quadruped", "bicycle")
"""Large trees and the bicycle, whose reduced forms are longer than can be written: their own form is enough."""

NEVER_TOGETHER = ("rocking-block",)
"""More constraints than coordinates, which events switch: they never act at once."""

TREES = ("three-link-arm", "two-armed-spatial", "puma-560", "stanford", "scara")


def programs() -> Iterator[tuple[str, str | None, System, Program]]:
    """Every model of the gallery in every form that it has, and inertia matrices."""
    for name in (name for name in names() if name not in NEVER_TOGETHER):
        system = loads(find(name.replace(":N", ":3")), name)
        yield name, None, system, export_program(system.derive())
        for form in form_names() if isinstance(system.law, Mechanical) and name not in ONE_FORM else ():
            try:
                yield name, form, system, export_program(system.derive(form))
            except ModelError:  # the form does not fit the model
                continue
    for name in TREES:
        system = loads(find(name), name)
        yield name, "inertia", system, write_inertia(system.tree, tuple(system.parameters)).program


def state_near_the_start(system: System, program: Program) -> np.ndarray:
    """The initial state, moved a little: all forms are regular there."""
    random = np.random.default_rng(5)
    start = dict(zip(system.states, system.initial_state(), strict=True))
    return np.array([start.get(name, 0.0) + random.uniform(0.05, 0.15) for name in program.inputs])


@pytest.fixture(scope="module")
def expected() -> dict[tuple[str, str | None], tuple[System, Program, np.ndarray, np.ndarray]]:
    found = {}
    for name, form, system, program in programs():
        native = compile_program(program)
        x = state_near_the_start(system, program)
        found[name, form] = (system, program, x, native.evaluate(x, native.constants(system.constants)))
        assert np.all(np.isfinite(found[name, form][3])), (name, form)
    return found


def close(found: np.ndarray, numbers: np.ndarray, case: tuple[str, str | None]) -> None:
    scale = max(1.0, float(np.abs(numbers).max()))
    np.testing.assert_allclose(found, numbers, rtol=1e-12, atol=1e-12 * scale, err_msg=str(case))


def test_every_form_is_among_them(expected) -> None:
    assert {form for _, form in expected} >= set(form_names())
    assert len(expected) > 200


@pytest.mark.parametrize("language", ["julia", "maple"])
def test_julia_and_maple_give_the_native_numbers(expected, language) -> None:
    for case, (system, program, x, numbers) in expected.items():
        text = export(program, language)
        space = julia_module(text) if language == "julia" else maple_session(text)
        constants = space["constants"]([system.constants[name] for name in program.parameters])
        close(np.array(space["step"](x.tolist(), constants)), numbers, case)
        if case[1] != "inertia":
            rates = space["rates"](float(x[0]), x[1:].tolist(), constants)
            close(np.array(rates), numbers[-len(x) + 1 :], case)


def test_octave_runs_the_matlab_text_to_the_native_numbers(expected, tmp_path: Path) -> None:
    octave = shutil.which("octave-cli")
    if octave is None:
        pytest.skip("no GNU Octave on this machine: MATLAB text cannot be run")
    script = []
    for number, (system, program, x, _) in enumerate(expected.values()):
        text = export(program, "matlab").replace("function m = model()", f"function m = model{number}()")
        (tmp_path / f"model{number}.m").write_text(text)
        parameters = [system.constants[name] for name in program.parameters]
        script += [
            f"m = model{number}();",
            f"c = m.constants([{' '.join(map(repr, parameters))}]);",
            f"printf('%.17g ', m.step([{' '.join(repr(float(v)) for v in x)}], c)); printf('\\n');",
        ]
    (tmp_path / "run_all.m").write_text("\n".join(script))
    done = subprocess.run(
        [octave, "--no-gui", "--norc", "--quiet", "run_all.m"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert len(lines) == len(expected), done.stderr
    assert "warning" not in done.stderr
    for (case, (_, _, _, numbers)), line in zip(expected.items(), lines, strict=True):
        close(np.array([float(word) for word in line.split()]), numbers, case)


def test_rates_of_exported_python_follow_the_model(expected) -> None:
    """The last outputs are the rates of the states, the velocities first among them."""
    system, program, x, _ = expected["pendulum:N", "lagrange"]
    space: dict = {}
    exec(export(program, "python"), space)
    constants = space["constants"]([system.constants[name] for name in program.parameters])
    rates = space["rates"](float(x[0]), x[1:].tolist(), constants)
    assert rates[:3] == x[4:].tolist()
    assert rates == space["step"](x.tolist(), constants)[-6:]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_rates_of_exported_c_are_those_of_python(expected, tmp_path: Path) -> None:
    system, program, x, numbers = expected["sleigh", "multipliers"]
    (tmp_path / "p.c").write_text(export(program, "c"))
    strict = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC"]
    subprocess.run(["gcc", *strict, "-o", tmp_path / "p.so", tmp_path / "p.c", "-lm"], check=True)
    library = ctypes.CDLL(str(tmp_path / "p.so"))
    library.rates.argtypes = [ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    parameters = np.array([system.constants[name] for name in program.parameters])
    constants, state, rates = np.zeros(100), x[1:].copy(), np.zeros(len(x) - 1)
    library.constants(ctypes.c_void_p(parameters.ctypes.data), ctypes.c_void_p(constants.ctypes.data))
    assert library.rates(float(x[0]), state.ctypes.data, constants.ctypes.data, rates.ctypes.data) == 0
    close(rates, numbers[-len(rates) :], ("sleigh", "multipliers"))


@pytest.mark.parametrize(
    ("language", "arguments"),
    [
        ("matlab", ("derive", "sleigh", "--form", "appell")),
        ("julia", ("inertia", "three-link-arm")),
        ("maple", ("invert", "inverse-cart", "--with", "given=field")),
    ],
)
def test_the_commands_write_them(svyaz, language, arguments, tmp_path) -> None:
    out = tmp_path / "text"
    done = svyaz(*arguments, "--format", language, "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "constants" in out.read_text()


UNSYMMETRIC = System(
    coordinates=["x", "y"],
    parameters={"a": 2.0, "b": 5.0},
    equations={"x": "a*x'' + 3*y'' + x = 0", "y": "7*x'' + b*y'' + y' = 0"},
    initial={"x": 1, "y'": 1},
)


@pytest.mark.parametrize("language", ["python", "c", "matlab", "julia", "maple", "javascript"])
def test_an_unsymmetric_mass_matrix_is_written_out_in_full(language) -> None:
    program = export_program(UNSYMMETRIC.derive())
    native = compile_program(program)
    found = dict(
        zip(dict(program.outputs), native.evaluate(np.zeros(5), native.constants(UNSYMMETRIC.constants)), strict=True)
    )
    assert [found[f"M[{i},{j}]"] for i in "xy" for j in "xy"] == [2.0, 3.0, 7.0, 5.0]
    assert "M[y,x]" in export(program, language)


def test_of_a_symmetric_mass_matrix_one_half_is_written() -> None:
    symmetric = System(coordinates=["x", "y"], equations={"x": "2*x'' + y'' = 0", "y": "x'' + 3*y'' = 0"})
    written = dict(export_program(symmetric.derive()).outputs)
    assert "M[x,y]" in written
    assert "M[y,x]" not in written
