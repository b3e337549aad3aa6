"""MATLAB, Julia and Maple: every operation, hard names, linear systems. Octave runs the first, our readers the others."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from julia_reader import julia_module
from maple_reader import maple_session
from sample_programs import close, everything, native, states, sum_of_all

from svyaz.program.exports import export
from svyaz.program.tape import Program

RESERVED = {
    "matlab": ("end", "function", "sin", "x", "p", "c", "out", "pi", "constants", "_first", "a" * 80, "a" * 79 + "b"),
    "julia": ("end", "module", "sin", "x", "p", "c", "reshape", "in", "constants", "_", "__", "atan"),
    "maple": ("end", "proc", "I", "D", "Pi", "gamma", "x", "p", "c", "_Z", "arctan", "to"),
}


def in_octave(program: Program, parameters: np.ndarray, inputs: np.ndarray, folder: Path) -> tuple[np.ndarray, str]:
    """Outputs for each row of inputs, and whatever else Octave said."""
    octave = shutil.which("octave-cli")
    if octave is None:
        pytest.skip("no GNU Octave on this machine: MATLAB text cannot be run")
    (folder / "model.m").write_text(export(program, "matlab"))
    np.savetxt(folder / "p.txt", np.atleast_2d(parameters), fmt="%.17g")
    np.savetxt(folder / "x.txt", inputs, fmt="%.17g")
    script = (
        "m = model(); p = load('p.txt'); x = load('x.txt'); c = m.constants(p);"
        "for k = 1:rows(x), printf('%.17g ', m.step(x(k, :), c)); printf('\\n'); end;"
        "if isfield(m, 'rates'), printf('%.17g ', m.rates(x(1, 1), x(1, 2:end), c)); printf('\\n'); end"
    )
    command = [octave, "--no-gui", "--norc", "--quiet", "--eval", script]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    rows = [[float(number) for number in line.split()] for line in done.stdout.splitlines()]
    assert rows, done.stderr
    if len(rows) > len(inputs):
        rates = rows.pop()
        assert rates == rows[0][-len(rates) :]
    return np.array(rows), done.stderr


def in_julia(program: Program, parameters: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    space = julia_module(export(program, "julia"))
    assert space["PARAMETERS"] == list(program.parameters)
    constants = space["constants"](list(parameters))
    if "rates" in space:
        found, rates = space["step"](inputs[0], constants), space["rates"](inputs[0][0], inputs[0][1:], constants)
        assert list(rates) == list(found[-len(rates) :])
    return np.array([space["step"](row, constants) for row in inputs])


def in_maple(program: Program, parameters: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    space = maple_session(export(program, "maple"))
    assert space["output_names"] == [name for name, _ in program.outputs]
    constants = space["constants"](list(parameters))
    if "rates" in space:
        found, rates = (
            space["step"](list(inputs[0]), constants),
            space["rates"](inputs[0][0], list(inputs[0][1:]), constants),
        )
        assert rates == found[-len(rates) :]
    return np.array([space["step"](list(row), constants) for row in inputs])


@pytest.mark.parametrize("which", ["everything", "pendulum"])
def test_matlab_text_run_by_octave_gives_the_native_numbers(which, tape, pendulum, tmp_path) -> None:
    program = everything(tape) if which == "everything" else pendulum(4)
    parameters, inputs = states(program)
    found, said = in_octave(program, parameters, inputs, tmp_path)
    assert said.replace("error: ignoring const execution_exception& while preparing to exit", "").strip() == ""
    close(found, native(program, parameters, inputs))


@pytest.mark.parametrize("run", [in_julia, in_maple])
@pytest.mark.parametrize("which", ["everything", "pendulum"])
def test_julia_and_maple_texts_give_the_native_numbers(run, which, tape, pendulum) -> None:
    program = everything(tape) if which == "everything" else pendulum(4)
    parameters, inputs = states(program)
    close(run(program, parameters, inputs), native(program, parameters, inputs))


@pytest.mark.parametrize("language", RESERVED)
def test_names_of_the_language_are_avoided(language, tape, tmp_path) -> None:
    program = sum_of_all(RESERVED[language], tape)
    parameters, inputs = states(program, 2)
    expected = native(program, parameters, inputs)
    if language == "matlab":
        found, _ = in_octave(program, parameters, inputs, tmp_path)
    else:
        found = {"julia": in_julia, "maple": in_maple}[language](program, parameters, inputs)
    close(found, expected)


def test_matlab_names_begin_with_letters_and_stay_short(tape) -> None:
    import re

    text = export(sum_of_all(RESERVED["matlab"], tape), "matlab")
    names = set(re.findall(r"^    (\w+) =", text, re.MULTILINE))
    assert all(name[0].isalpha() and len(name) <= 63 for name in names)
    assert not names & {"end", "function", "sin", "pi"}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("run", [in_julia, in_maple])
def test_singular_systems_are_told(run, pendulum) -> None:
    program = pendulum(2)
    with pytest.raises((ArithmeticError, np.linalg.LinAlgError)):
        run(program, np.array([1.0, 1.0, 1.0, 0.0, 9.8]), np.zeros((1, 5)))


def test_hostile_names_stay_names(tape) -> None:
    hostile = ('"; run("rm")\n#', "$(exit())", "'); system('ls'); %", "\\", '"""\nend')
    program = sum_of_all(hostile, tape)
    parameters, inputs = states(program, 2)
    expected = native(program, parameters, inputs)
    for language, reader in (("julia", julia_module), ("maple", maple_session)):
        space = reader(export(program, language))
        close(np.array(space["step"](list(inputs[0]), space["constants"](list(parameters)))), expected[0])
    for line in export(program, "matlab").splitlines():
        assert "system(" not in line or line.startswith(("%", "m."))


@pytest.mark.parametrize("language", ["matlab", "julia", "maple"])
def test_a_program_without_parameters_or_systems_is_short(language) -> None:
    program = Program((), ("x",), (("input", 0), ("sin", 0)), (("s", 1),))
    text = export(program, language)
    assert "solve_system" not in text
    assert "rates" not in text


def test_the_matlab_function_has_the_name_of_its_file(svyaz, tmp_path) -> None:
    done = svyaz("derive", "pendulum:2", "--format", "matlab", "--out", "my_arm2.m")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "my_arm2.m").read_text().startswith("function m = my_arm2()\n% m = my_arm2();")
    octave = shutil.which("octave-cli")
    if octave is None:
        pytest.skip("no GNU Octave on this machine: MATLAB text cannot be run")
    script = "m = my_arm2(); printf('%d', numel(m.inputs))"
    command = [octave, "--no-gui", "--norc", "--quiet", "--eval", script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "5"
    assert "differs from function name" not in done.stderr


@pytest.mark.parametrize(
    "file", ["2arms.m", "my arm.m", "arm.txt", "end.m", "step.m", "sin.m", "m.m", "x.y.m", "фаза.m", None]
)
def test_files_whose_name_is_none_for_matlab_have_the_function_model(tape, file) -> None:
    text = export(everything(tape), "matlab", file)
    assert text.startswith("function m = model()\n% m = model();            (keep")


def test_other_languages_do_not_ask_for_the_name_of_the_file(tape) -> None:
    assert export(everything(tape), "c", "arm.c") == export(everything(tape), "c")
