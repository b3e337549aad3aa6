"""What the studio shows is what the commands write as JSON."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from studio_client import RunningStudio

from svyaz import load
from svyaz.control import design, regulating
from svyaz.stability import critical, first_order, nonholonomic_verdict, positional

UNLIKE = {"seconds", "pilot"}
"""Times of the machine."""


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_times(part) for name, part in value.items() if name not in UNLIKE}
    return [without_times(part) for part in value] if isinstance(value, list) else value


def written(svyaz, *arguments: str) -> Any:
    """The JSON of a command."""
    return without_times(json.loads(svyaz(*arguments, "--json", "-").stdout))


@pytest.mark.parametrize(
    ("model", "settings", "options", "flags"),
    [
        ("pendulum:2", {"g": "9.8"}, {"until": 1}, ["--set", "g=9.8", "--until", "1"]),
        ("sleigh", {}, {"stabilize": 10, "until": 0.5}, ["--stabilize", "10", "--until", "0.5"]),
        ("sling", {}, {}, []),
        ("bouncing-ball", {"initial.y": "2"}, {"until": 1}, ["--set", "initial.y=2", "--until", "1"]),
    ],
)
def test_U2_a_motion_is_that_of_the_command(studio: RunningStudio, svyaz, model, settings, options, flags) -> None:
    answer = studio.ask("simulate", model, settings=settings, options=options)["answer"]
    (run,) = answer["runs"]
    assert without_times(run["record"]) == written(svyaz, "simulate", model, *flags)
    name = load(model).coordinates[0]
    assert run["groups"]["state"][name][-1] == pytest.approx(run["record"]["final"][name], rel=1e-12)
    assert len(run["t"]) == len(run["groups"]["state"][name]) > 20


def test_U2_a_check_is_that_of_the_command(studio: RunningStudio, svyaz) -> None:
    answer = studio.ask("check", "sleigh", options={"stabilize": 20})["answer"]
    assert without_times(answer["record"]) == written(svyaz, "check", "sleigh", "--stabilize", "20")


STAND = {"name": "ball-and-beam", "variant": {"control": "voltage", "motor": "numbers", "equilibrium": "nonzero"}}
CHOSEN = [flag for name, choice in STAND["variant"].items() for flag in ("--with", f"{name}={choice}")]


def test_U2_a_regulator_is_that_of_the_command(studio: RunningStudio, svyaz) -> None:
    options = {
        "run": True,
        "until": 30,
        "start": {"r": "r0 + 0.03"},
        "against": True,
        "dependent": "alpha",
        "measure": "r",
    }
    answer = studio.ask("regulate", STAND, settings={"d": "0.08"}, options=options)["answer"]
    flags = ["--run", "--until", "30", "--start", "r=r0 + 0.03", "--against", "linearised", "--dependent", "alpha"]
    command = written(svyaz, "regulate", "ball-and-beam", *CHOSEN, "--set", "d=0.08", *flags, "--measure", "r")
    assert without_times(answer["record"]) == command
    trial = answer["trials"]["regulator"]
    assert trial["deviations"]["r"][0] == pytest.approx(0.03, rel=1e-9)
    assert trial["linear"]["r"][0] == pytest.approx(0.03, rel=1e-9)
    assert abs(trial["deviations"]["r"][-1]) < 1e-3


def test_U2_equilibria_and_steady_motions_are_those_of_the_commands(studio: RunningStudio, svyaz) -> None:
    found = studio.ask("equilibria", "ball-and-beam", options={"fix": {"r": "r0"}})["answer"]
    assert without_times(found["record"]) == written(svyaz, "equilibria", "ball-and-beam", "--fix", "r=r0")
    assert found["scene"]["frames"] == len(found["record"]["equilibria"]) == 2
    found = studio.ask("steady", "hoop", options={"fix": {"psi'": 6}})["answer"]
    assert without_times(found["record"]) == written(svyaz, "steady", "hoop", "--fix", "psi'=6")
    found = studio.ask("branches", "hoop", options={"along": {"psi'": [4, 5]}})["answer"]
    assert without_times(found["record"]) == written(svyaz, "steady", "hoop", "--along", "psi'=4:5")


def test_U2_a_basin_is_that_of_the_command(studio: RunningStudio, svyaz) -> None:
    options = {"count": 12, "until": 5, "fix": {"X": 0}}
    answer = studio.ask("basin", "inverted-pendulum-xy", options=options)["answer"]
    command = written(svyaz, "regulate", "inverted-pendulum-xy", "--fix", "X=0", "--basin", "12", "--until", "5")
    assert without_times(answer["record"]) == command["basin"]
    assert answer["starts"].shape == (command["basin"]["count"], len(answer["names"]))
    assert answer["returned"].sum() == command["basin"]["returned"]
    for name, (low, high) in command["basin"]["ranges"].items():
        column = answer["starts"][:, answer["names"].index(name)]
        assert low <= column.min() < column.max() <= high


def test_members_of_a_branch_are_drawn_with_their_own_parameters(studio: RunningStudio) -> None:
    states = [{"u1": 0.0}, {"u1": "pi/2", "L1": 3}]
    scene = studio.ask("places", "pendulum:1", options={"states": states})["answer"]["scene"]
    tips = scene["items"][0]["points"][:, -1]
    length = load("pendulum:1").parameters["L1"]
    assert tips == pytest.approx(np.array([[0.0, -length], [3.0, 0.0]]), abs=1e-12)
    assert "mistakes" in studio.ask("places", "pendulum:1", options={"states": [1]})


def test_U1_theorems_are_told_in_three_languages() -> None:
    """Every theorem that the library names has a sentence in Russian and Ukrainian, and so have the first hypotheses."""
    text = files("svyaz.studio").joinpath("assets", "core", "told.js").read_text(encoding="utf-8")
    lines = [line.strip().rstrip(",") for line in text.splitlines() if line.startswith('  ["')]
    rows = [json.loads(line) for line in lines]
    assert all(len(row) == 3 and all(row) and len(set(row)) == 3 for row in rows)
    marks = [[sorted(re.findall(r"\{\d\}", sentence)) for sentence in row] for row in rows]
    assert all(first == second == third for first, second, third in marks)
    known = {row[0] for row in rows}
    modules = {
        critical: "SPECIAL_CASE FIRST_APPROXIMATION LAGRANGE_DIRICHLET ONE_ZERO_ROOT FAMILY IMAGINARY_PAIR DAMPED_MINIMUM "
        "NO_MINIMUM NO_MINIMUM_OF_A_FORM NO_MINIMUM_IN_ONE_DEGREE DRIFT NO_THEOREM",
        first_order: "HAMILTONIAN",
        nonholonomic_verdict: "MANIFOLD REVERSIBLE",
        positional: "UNCHANGED_MOMENTA ROUTH PERSISTENT ONLY_AT_FIXED_MOMENTA",
        design: "FULL_INFORMATION INCOMPLETE_INFORMATION WITHOUT_CONSTRAINTS OBSERVED_WITHOUT_CONSTRAINTS",
        regulating: "STEADY",
    }
    theorems = {getattr(module, name) for module, names in modules.items() for name in names.split()}
    assert theorems - known == set()
    reduced = {text.replace(positional.POTENTIAL, positional.REDUCED) for text in theorems}
    assert reduced - known == set()
    patterns = [re.sub(r"\\\{\d\\\}", ".+", re.escape(sentence)) for sentence in known]
    for h in load("inverted-pendulum-xy").regulate(fix={"X": 0.0}, measure="X").hypotheses:
        assert any(re.fullmatch(pattern, h.text) for pattern in patterns), h.text


def test_U2_equations_are_those_of_the_command(studio: RunningStudio, svyaz) -> None:
    found = studio.ask("derive", "sleigh", options={"form": "chaplygin"})["answer"]
    assert without_times(found["record"]) == written(svyaz, "derive", "sleigh", "--form", "chaplygin")
    assert found["text"] == svyaz("derive", "sleigh", "--form", "chaplygin").stdout
    assert all("katex" in line["html"] or "<math" in line["html"] for line in found["formulas"])
    code = studio.ask("export", "sleigh", options={"language": "c"})["answer"]["text"]
    assert code == svyaz("derive", "sleigh", "--format", "c").stdout


def test_U2_a_sweep_is_that_of_the_command(studio: RunningStudio, svyaz) -> None:
    vary = {"L1": [1, 2, 3, False], "initial.u1": [0.1, 1, 2, True]}
    found = studio.ask("sweep", "pendulum:1", options={"vary": vary, "until": 1, "measure": ["final.u1"]})["answer"]
    flags = ["--vary", "L1=1:2:3", "--vary", "initial.u1=0.1:1:2:log", "--until", "1", "--measure", "final.u1"]
    command = written(svyaz, "sweep", "pendulum:1", *flags)
    assert found["grids"]["final.u1"].ravel().tolist() == [row["final.u1"] for row in command.pop("rows")]
    same = {"workers"}
    assert {k: v for k, v in without_times(found["record"]).items() if k not in same} == {
        k: v for k, v in command.items() if k not in same
    }


def test_U2_what_was_published_is_judged_as_by_the_command(studio: RunningStudio, svyaz) -> None:
    found = studio.ask("published", None, options={"subject": "sling"})["answer"]
    assert found["rows"] == written(svyaz, "reproduce", "sling")["rows"]


def test_a_refusal_tells_what_is_known(studio: RunningStudio) -> None:
    text = 'name = "two"\ncoordinates = ["x", "y"]\nkinetic = "x\'^2/2 + y\'^2/2"\npotential = "x^2 - y^2"\n'
    text += '[inputs]\nu = 0\n[forces]\nx = "u"\n[box]\nx = [-1, 1]\ny = [-1, 1]\n'
    found = studio.ask("regulate", {"name": "two", "text": text}, options={"run": True, "fix": {"u": 0}})
    assert "y" in found["negative"]["reason"]
    assert found["negative"]["record"]["controllable"] is False


def test_curves_are_those_of_the_motion(studio: RunningStudio) -> None:
    run = studio.ask("simulate", "pendulum:1", options={"until": 2, "method": "rk4", "step": 0.01})["answer"]["runs"][0]
    motion = load("pendulum:1").simulate(until=2, method="rk4", step=0.01)
    assert np.array_equal(run["t"], motion.times)
    assert np.array_equal(run["groups"]["state"]["u1"], motion["u1"])
    item = run["scene"]["items"][0]
    length, u = load("pendulum:1").parameters["L1"], motion["u1"][0]
    assert item["points"][0][-1] == pytest.approx([length * np.sin(u), -length * np.cos(u)], abs=1e-12)


def test_a_mistake_is_told_with_its_place(studio: RunningStudio) -> None:
    text = 'name = "a"\ncoordinates = ["x"]\nkinetic = "m/2*x\'^2"\npotential = "k*z^2"\n[parameters]\nm = 1\nk = 1\n'
    (mistake,) = studio.ask("read", {"name": "mine", "text": text})["mistakes"]
    assert (mistake["line"], mistake["column"]) == (4, 16)
    assert "'z'" in mistake["message"]


def test_without_its_extra_the_command_says_what_to_install(python) -> None:
    script = "import sys; sys.modules['h11'] = None; from svyaz.cli import main; sys.exit(main())"
    told = python("-c", script, "studio", "--no-browser")
    assert told.returncode != 0
    assert 'pip install "svyaz[studio]"' in told.stderr


def test_nothing_heavy_is_loaded_by_the_server(python) -> None:
    """The studio opens at once: what computes is loaded by its processes."""
    told = python(
        "-c",
        "import svyaz.studio.running, sys; print([m for m in ('numpy', 'symengine', 'scipy') if m in sys.modules])",
    )
    assert told.stdout.strip() == "[]"
