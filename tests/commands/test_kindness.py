"""Mistakes that a newcomer makes with models of their own: each is answered in words, with the code of bad input."""

from __future__ import annotations

import json
import math
import re

import pytest

from svyaz.commands.group import run

SPHERE = """
name = "sphere"
coordinates = ["x", "y", "z"]
kinetic = "(x'^2 + y'^2 + z'^2)/2"
potential = "g*z"
[parameters]
g = 9.81
[[constraint]]
name = "rod"
equation = "sqrt(x^2 + y^2 + z^2) = 1"
[initial]
x = 1
[run]
method = "rk4"
step = 0.01
until = 1
"""
MASS = """
coordinates = ["x"]
kinetic = "x'^2/2"
[forces]
x = "F"
[inputs]
F = 0
[run]
until = 2
"""
LORENZ = """
name = "Lorenz"
states = ["x", "y", "z"]
[parameters]
rho = 28
[rates]
x = "10*(y - x)"
y = "x*(rho - z) - y"
z = "x*y - 8/3*z"
[initial]
x = 1
[run]
until = 0.1
"""


@pytest.fixture
def sphere(tmp_path) -> str:
    file = tmp_path / "sphere.toml"
    file.write_text(SPHERE)
    return str(file)


@pytest.fixture
def lorenz(tmp_path) -> str:
    file = tmp_path / "lorenz.toml"
    file.write_text(LORENZ)
    return str(file)


@pytest.mark.parametrize(
    "gains", ["nan", "inf", "{alpha = nan, beta = 1}", "{A = [[inf]], B = -1}", "{A = -1, B = nan}", "{mass = nan}"]
)
def test_gains_that_are_no_numbers_are_refused(sphere, gains, capsys) -> None:
    assert run(["simulate", sphere, "--stabilize", gains]) == 2
    assert "must be a finite number" in capsys.readouterr().err


def test_a_law_in_a_model_with_a_coordinate_y_is_told_the_other_name(sphere, capsys) -> None:
    assert run(["simulate", sphere, "--stabilize", '{law = "-4*y - 4*y\'"}']) == 2
    assert "call the deviation and its rate deviation and deviation'" in capsys.readouterr().err
    assert run(["simulate", sphere, "--stabilize", '{law = "-4*deviation - 4*deviation\'"}']) == 0


@pytest.mark.parametrize(("method", "step"), [("rk4", "0.02"), ("euler", "0.002"), ("rk2", "0.01")])
def test_the_step_advised_for_a_tolerance_and_these_gains_does(sphere, method, step, capsys) -> None:
    how = ["--method", method, "--stabilize", "20", "--tolerance", "1e-5"]
    assert run(["simulate", sphere, *how, "--step", step]) == 1
    advised = re.search(r"with these gains about ([\d.e+-]+)", capsys.readouterr().err)
    assert advised is not None
    assert run(["simulate", sphere, *how, "--step", str(0.9 * float(advised[1]))]) == 0


def test_an_animation_of_a_model_without_looks_is_refused_before_the_run(sphere, tmp_path, capsys) -> None:
    assert run(["simulate", sphere, "--animate", str(tmp_path / "film.gif")]) == 2
    assert "[[draw]]" in capsys.readouterr().err


def test_an_animation_of_no_motion_is_left_out(tmp_path, sphere, capsys) -> None:
    drawn = tmp_path / "drawn.toml"
    drawn.write_text(SPHERE + '[[draw]]\npoint = ["x", "y", "z"]\n')
    assert run(["simulate", str(drawn), "--set", "initial.x=0", "--animate", str(tmp_path / "film.gif")]) == 1
    assert "Traceback" not in capsys.readouterr().err


def test_a_sweep_says_when_there_is_nothing_of_the_kind_to_measure(lorenz, tmp_path, capsys) -> None:
    how = ["sweep", lorenz, "--vary", "rho=20:28:2", "--out", str(tmp_path / "out")]
    assert run([*how, "--measure", "residual"]) == 2
    assert "'residual' cannot be measured: the model has no constraint" in capsys.readouterr().err
    assert run([*how, "--measure", "status"]) == 0


def test_a_sweep_refuses_a_gain_that_nothing_would_feel(sphere, lorenz, tmp_path, capsys) -> None:
    assert run(["sweep", sphere, "--vary", "kappa=1:10:3", "--out", str(tmp_path / "out")]) == 2
    message = capsys.readouterr().err
    assert "'kappa' would act on constraints of velocities, and there are none" in message
    assert "'stabilize'" in message
    assert run(["sweep", lorenz, "--vary", "stabilize=1:10:3", "--out", str(tmp_path / "out")]) == 2


def test_a_byte_order_mark_is_no_part_of_a_model(tmp_path) -> None:
    file = tmp_path / "marked.toml"
    file.write_bytes(b"\xef\xbb\xbf" + SPHERE.encode())
    assert run(["check", str(file)]) == 0


def test_a_greek_key_without_quotes_gets_a_hint(tmp_path, capsys) -> None:
    file = tmp_path / "greek.toml"
    file.write_text('name = "g"\ncoordinates = ["θ"]\nkinetic = "θ\'^2/2"\n[initial]\nθ = 1\n')
    assert run(["check", str(file)]) == 2
    message = capsys.readouterr().err
    assert "greek.toml:5:1" in message
    assert "stands in quotes" in message


@pytest.mark.parametrize("form", ["chaplygin", "voronets", "maggi", "appell"])
def test_reduced_forms_take_models_whose_constraints_are_all_of_positions(sphere, form, tmp_path) -> None:
    found = {}
    for name in ("multipliers", form):
        file = tmp_path / f"{name}.json"
        how = ["--form", name, "--stabilize", "off", "--method", "dop853", "--rtol", "1e-11", "--json", str(file)]
        assert run(["simulate", sphere, *how]) == 0
        found[name] = json.loads(file.read_text())
    for key in ("final", "multipliers"):
        assert found[form][key] == pytest.approx(found["multipliers"][key], rel=1e-8, abs=1e-8)


def test_a_step_longer_than_the_run_is_refused(capsys) -> None:
    assert run(["simulate", "pendulum-xy", "--method", "rk4", "--step", "5", "--until", "1"]) == 2
    assert "the step 5 is longer than the run, which ends at t = 1" in capsys.readouterr().err
    assert run(["simulate", "pendulum-xy", "--method", "rk4", "--step", "0.01", "--until", "0.01"]) == 0


def test_the_way_of_holding_integrals_can_be_set(tmp_path, capsys) -> None:
    """Two integrals in involution have no brackets: 'bracket' is refused with the reason, 'orthogonal' runs."""
    model = tmp_path / "two.toml"
    model.write_text(
        """coordinates = ["x", "y"]
momenta = ["p", "s"]
hamiltonian = "(p^2 + s^2 + x^2 + y^2)/2"
[[integral]]
name = "first"
expression = "(p^2 + x^2)/2"
hold = true
[[integral]]
name = "second"
expression = "(s^2 + y^2)/2"
hold = true
[initial]
x = 1
s = 0.5
[run]
until = 1
stabilize = 2
"""
    )
    assert run(["simulate", str(model), "--set", "run.hold=orthogonal"]) == 0
    capsys.readouterr()
    assert run(["simulate", str(model), "--set", "run.hold=bracket"]) != 0
    assert "involution" in capsys.readouterr().err
    assert run(["simulate", str(model), "--set", "run.hold=never"]) == 2
    assert "'orthogonal' or 'bracket', not 'never'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("regulate", "ball-and-beam", "--box", "r=x:1"), "--box r:1:1: unknown name 'x'"),
        (("regulate", "ball-and-beam", "--near", "r=1 + x"), "--near r:1:5: unknown name 'x'"),
        (("regulate", "ball-and-beam", "--critical", "d=0:zz"), "--critical d:1:1: unknown name 'zz'"),
        (("regulate", "ball-and-beam", "--measure", "r, zz"), "measure:1:1: unknown name 'zz'"),
        (("regulate", "ball-and-beam", "--run", "--start", "r=zz"), "--start r:1:1: unknown name 'zz'"),
        (("equilibria", "ball-and-beam", "--fix", "r=zz"), "--fix r:1:1: unknown name 'zz'"),
        (("inertia", "three-link-arm", "--at", "q1=zz"), "--at q1:1:1: unknown name 'zz'"),
        (("inertia", "three-link-arm", "--at", "q1=1/0"), "--at q1"),
    ],
)
def test_a_mistake_in_the_value_of_an_option_names_the_option(capsys, command, told) -> None:
    assert run(command) == 2
    assert told in capsys.readouterr().err


def test_inputs_take_laws_and_tables_on_the_command_line(svyaz, tmp_path) -> None:
    """x'' = F: by sin t from rest x(2) = 2 - sin 2; by a ramp from 0 to 2 in two seconds x(2) = 4/3."""
    model = tmp_path / "mass.toml"
    model.write_text(MASS, encoding="utf-8")
    table = tmp_path / "force.csv"
    table.write_text("t,F\n0,0\n2,2\n", encoding="utf-8")
    for law, expected in (("sin(t)", 2 - math.sin(2)), (str(table), 4 / 3), ("1.5", 3.0)):
        found = json.loads(svyaz("simulate", str(model), "--set", f"F={law}", "--json", "-").stdout)
        assert found["final"]["x"] == pytest.approx(expected, abs=1e-7)
    table.write_text("t,F\n0,0\n2,two\n", encoding="utf-8")
    refused = svyaz("simulate", str(model), "--set", f"F={table}")
    assert refused.returncode == 2
    assert "two columns of numbers" in refused.stderr


SLIDES = """
name = "slides"
coordinates = ["x"]
kinetic = "{mass}/2*x'^2"
{more}
"""


@pytest.mark.parametrize(
    ("mass", "more", "steady"),
    [
        ("2", "", True),
        ("(2 - t/9)", "", False),
        ("m", 'states = ["m"]\n[rates]\nm = "-1"\n[initial]\nm = 2', False),
        ("2", '[forces]\nx = "sin(t) - x\'"', False),
    ],
)
def test_N1_1_12_steady_motions_are_promised_where_they_are_looked_for(svyaz, tmp_path, mass, more, steady) -> None:
    """A cyclic coordinate is told in any case; the command that is named for it does not refuse the model."""
    (tmp_path / "slides.toml").write_text(SLIDES.format(mass=mass, more=more))
    told = svyaz("check", "slides.toml").stdout
    assert "cyclic: x" in told
    assert ("svyaz steady" in told) is steady
    assert (svyaz("steady", "slides.toml", "--fix", "x'=1").returncode == 2) is not steady


BEAD = """
name = "bead in a V"
coordinates = ["x"]
kinetic = "x'^2/2"
potential = "{potential}"
{limits}
[initial]
x = 1
[run]
method = "rk4"
step = 0.01
until = 1
"""


@pytest.mark.parametrize(
    ("potential", "limits", "told"),
    [
        ("abs(x)", "", "steps over the jumps"),
        ("x^2/2", "[limits]\nx = [-2, 2]", "runs on past the limits of the model (x)"),
        ("x^2/2", "", ""),
    ],
)
def test_N1_1_11_a_written_program_says_what_it_does_not_look_for(svyaz, tmp_path, potential, limits, told) -> None:
    (tmp_path / "bead.toml").write_text(BEAD.format(potential=potential, limits=limits))
    done = svyaz("derive", "bead.toml", "--format", "python", "--program", "--out", "bead.py")
    assert done.returncode == 0
    assert told in done.stderr
    assert bool(done.stderr) == bool(told)
    assert not svyaz("derive", "bead.toml", "--format", "python", "--out", "code.py").stderr


@pytest.mark.parametrize(
    ("setting", "option"),
    [
        ("run.stabilize=20", ("--stabilize", "20")),
        ("run.stabilize={alpha = 20, beta = 100}", ("--stabilize", "{alpha = 20, beta = 100}")),
        ("run.stabilize=off", ("--stabilize", "off")),
        ("run.tolerance={rod = 0.5}", ("--tolerance", "{rod = 0.5}")),
    ],
)
def test_N1_3_1_gains_and_tolerances_are_set_as_options_give_them(svyaz, setting, option) -> None:
    asked = ("--method", "rk4", "--step", "0.01", "--until", "0.1", "--json", "-")
    by_setting, by_option = (svyaz("simulate", "pendulum-xy", *way, *asked) for way in (("--set", setting), option))
    assert by_setting.returncode == by_option.returncode == 0, by_setting.stderr
    (first, second), told = (json.loads(done.stdout) for done in (by_setting, by_option)), ("stabilize", "tolerance")
    assert first["final"] == second["final"]
    assert [first["gains"].get(key) for key in told] == [second["gains"].get(key) for key in told]
