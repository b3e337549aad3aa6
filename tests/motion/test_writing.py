"""Equations with their stabilising terms as text and as code: exported programs make svyaz's own run.

Python, C and JavaScript are run, MATLAB's text by GNU Octave; the rates of Julia and Maple are computed
by readers of the tests.
"""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from julia_reader import julia_module
from maple_reader import maple_session

from svyaz import Motion, System, load
from svyaz.expr import ModelError
from svyaz.motion import simulate, with_gains

RUN = {"method": "rk4", "step": 0.01, "until": 6.0}
GAINS = {
    "sleigh": 10.0,
    "slalom-cart": {"alpha": 20.0, "beta": 90.0, "kappa": 7.0},
    "three-link": {
        "A": [[-100.0, 0, 0, 0], [0, -90.0, 1.0, 0], [0, 0, -80.0, 0], [0, 0, 0, -70.0]],
        "B": -20.0,
        "E": -9.0,
    },
}


GENTLE = {"three-link": {"slope": 5 * np.pi / 180}}
"""On its slope of 15 degrees the three-link model multiplies a change of 1e-15 in its start by more than 1e5 within 6 s."""


def system_of(name: str) -> System:
    return load(name).with_(**GENTLE.get(name, {}))


@pytest.fixture(scope="module")
def own() -> dict[str, Motion]:
    """The runs of svyaz."""
    return {name: system_of(name).simulate(stabilize=gains, **RUN) for name, gains in GAINS.items()}


def deviations(table: str, motion: Motion) -> np.ndarray:
    """How far the states of a written CSV are from those of a motion, relative to their sizes, at t = 0, 1, …, 6."""
    rows = list(csv.reader(table.splitlines()))
    numbers = np.array([[float(word) for word in row] for row in rows[1:]])
    times = numbers[:, 0]
    np.testing.assert_allclose(times, np.arange(7.0), atol=1e-12)
    for name, residual in motion.residuals.items():
        assert numbers[-1, rows[0].index(f"residual[{name}]")] == pytest.approx(residual[-1], abs=1e-8)
        own_push = motion.multipliers[name][-1]
        assert numbers[-1, rows[0].index(f"multiplier[{name}]")] == pytest.approx(own_push, rel=1e-5)
    scale = np.maximum(1.0, np.abs(motion.states).max(axis=0))
    own = motion.states[np.searchsorted(motion.times, times - 1e-9)]
    columns = [rows[0].index(name) for name in motion.system.states]
    return np.abs(numbers[:, columns] - own) / scale


def compared(table: str, motion: Motion) -> None:
    assert deviations(table, motion).max() <= 1e-10


def text(name: str, language: str) -> str:
    return system_of(name).export(language, stabilize=GAINS[name], complete=True, every=1.0, **RUN)


def run_by_gcc(written: str, folder: Path) -> str:
    (folder / "model.c").write_text(written)
    strict = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run(["gcc", *strict, "-o", "model", "model.c", "-lm"], cwd=folder, check=True)
    return subprocess.run(["./model"], cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("name", GAINS)
def test_K1_complete_python_programs_make_the_run_of_svyaz(name, own, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(text(name, "python"))
    done = subprocess.run([sys.executable, "-I", "model.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    compared(done.stdout, own[name])


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on this machine: C cannot be compiled")
@pytest.mark.parametrize("name", GAINS)
def test_K1_complete_c_programs_make_the_run_of_svyaz(name, own, tmp_path: Path) -> None:
    compared(run_by_gcc(text(name, "c"), tmp_path), own[name])


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on this machine: C cannot be compiled")
def test_K1_the_three_link_model_on_its_steep_slope_as_far_as_any_rounding_can(tmp_path: Path) -> None:
    """To 1e-10 for 5 s; then a change of the start by 1e-15 is seen at 1e-10, and no other order of roundings does better."""
    steep, gains = load("three-link"), GAINS["three-link"]
    motion = simulate(steep, stabilize=gains, **RUN)
    off = deviations(run_by_gcc(steep.export("c", stabilize=gains, complete=True, every=1.0, **RUN), tmp_path), motion)
    assert off[:6].max() <= 1e-10
    scale = np.maximum(1.0, np.abs(motion.states).max(axis=0))
    nudged = [simulate(steep, start={"x0": by}, stabilize=gains, **RUN) for by in (-1e-15, 1e-15, 2e-15)]
    chance = max(float((np.abs(other.states - motion.states) / scale).max()) for other in nudged)
    assert off.max() <= 1e-10 + 5 * chance
    assert chance > 1e-11


@pytest.mark.parametrize("name", GAINS)
def test_K1_complete_matlab_programs_run_by_octave_make_the_run_of_svyaz(name, own, tmp_path: Path) -> None:
    octave = shutil.which("octave-cli")
    if octave is None:
        pytest.skip("no GNU Octave on this machine: MATLAB text cannot be run")
    (tmp_path / "model.m").write_text(text(name, "matlab"))
    command = [octave, "--no-gui", "--norc", "--quiet", "model.m"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    compared(done.stdout, own[name])


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node on this machine: JavaScript cannot be run")
@pytest.mark.parametrize("name", GAINS)
def test_K1_complete_javascript_programs_make_the_run_of_svyaz(name, own, tmp_path: Path) -> None:
    (tmp_path / "model.js").write_text(text(name, "javascript"))
    done = subprocess.run(["node", "model.js"], cwd=tmp_path, capture_output=True, text=True, check=True)
    compared(done.stdout, own[name])


@pytest.mark.parametrize("language", ["julia", "maple"])
@pytest.mark.parametrize("name", GAINS)
def test_K1_julia_and_maple_have_the_rates_with_gains(name, language, own) -> None:
    written, motion = text(name, language), own[name]
    if language == "julia":
        space = julia_module(written)
        values = space["DEFAULTS"]
    else:
        space = maple_session(written.partition("# one step of")[0])
        values = space["default_values"]
    constants = space["constants"](values)
    proved: dict = {"__name__": "model"}  # the text in Python makes the whole run
    exec(text(name, "python"), proved)
    own_constants = proved["constants"](proved["DEFAULTS"])
    for row in (0, 150, 599):
        at = float(motion.times[row]), motion.states[row].tolist()
        expected = proved["rates"](*at, own_constants)
        np.testing.assert_allclose(space["rates"](*at, constants), expected, rtol=1e-11, atol=1e-11)


def test_gains_bear_the_names_of_the_contract() -> None:
    cart = load("slalom-cart")
    assert with_gains(load("sleigh"), stabilize=10).gains == {"kappa": 10.0}
    assert with_gains(cart, stabilize=3).gains == {"kappa": 3.0}
    assert with_gains(cart, stabilize={"alpha": 20, "beta": 100}).gains == {"alpha": 20.0, "beta": 100.0}
    each = with_gains(
        cart, stabilize={"A": -9, "B": -6, "E": [[-1, 0, 0], [0, -2, -0.5], [0, 0, -3]], "C": [[0, 0, 4]]}
    )
    assert each.gains == {
        "beta_path": 9.0,
        "alpha_path": 6.0,
        "gamma_path_axle": -4.0,
        "kappa_first_wheel": 1.0,
        "kappa_second_wheel": 2.0,
        "kappa_second_wheel_axle": 0.5,
        "kappa_axle": 3.0,
    }


def test_names_of_the_model_are_left_to_it() -> None:
    rod = System(
        coordinates=["alpha", "y"],
        parameters={"kappa": 2.0, "gain_kappa": 1.0},
        kinetic="kappa/2*(alpha'^2 + y'^2)",
        constraint=[{"name": "rod", "equation": "alpha^2 + y^2 = 1"}],
        initial={"alpha": 1},
    )
    assert with_gains(rod, stabilize=5).gains == {"gain_gain_kappa": 5.0}
    assert with_gains(rod, stabilize={"alpha": 4, "beta": 4}).gains == {"gain_alpha": 4.0, "beta": 4.0}


LAW = System(
    coordinates=["x", "y"],
    parameters={"m": 2.0, "stiff": 30.0},
    kinetic="m/2*(x'^2 + y'^2)",
    potential="m*9.81*y",
    constraint=[{"name": "wire", "equation": "y = x^2"}],
    integral=[{"name": "energy", "expression": "m/2*(x'^2 + y'^2) + m*9.81*y", "hold": True, "gain": 3}],
    initial={"x": 1, "y": 1},
    run={
        "method": "rk4",
        "step": 0.01,
        "until": 2,
        "stabilize": {"law": "-9*deviation' - stiff*deviation - deviation^3"},
    },
)


def python_run(text: str) -> dict:
    space: dict = {"__name__": "model"}
    exec(text, space)
    return space


def test_laws_and_held_integrals_are_in_the_code() -> None:
    """Stabilised rates against the equations written down by hand: y = x² as a wire, the energy held orthogonally."""
    space = python_run(LAW.export("python", stabilize=None))
    assert space["PARAMETERS"] == ("m", "stiff", "value of energy", "rate of energy")
    x, y, u, v = 0.9, 0.85, 0.3, 0.5  # off the wire and off the energy
    rates = space["rates"](0.0, [x, y, u, v], space["constants"](space["DEFAULTS"]))
    h, rate = y - x**2, v - 2 * x * u
    law = -9 * rate - 30 * h - h**3
    gradient = np.array([-2 * x, 1.0])
    right = [0.0, -2.0 * 9.81, law + 2 * u**2]
    a = np.linalg.solve([[2.0, 0, -gradient[0]], [0, 2.0, -gradient[1]], [*gradient, 0]], right)[:2]
    kept = np.array([[-2 * x, 1, 0, 0], [-2 * u, 0, -2 * x, 1], [0, 2.0 * 9.81, 2.0 * u, 2.0 * v]])
    free = np.array([u, v, *a])
    energy = u**2 + v**2 + 2 * 9.81 * y
    wanted = [0.0, 0.0, -3 * (energy - 2 * 9.81) - kept[2] @ free]
    np.testing.assert_allclose(rates, free + kept.T @ np.linalg.solve(kept @ kept.T, wanted), rtol=1e-12)
    plain = python_run(LAW.export("python"))
    assert plain["PARAMETERS"] == ("m", "stiff")


def test_laws_of_their_own_are_written_beside_gains() -> None:
    """A bead on two curves: one with a law of its own, the other by the gain that is asked for."""
    words = {
        "coordinates": ["x", "y", "z"],
        "kinetic": "(x'^2 + y'^2 + z'^2)/2",
        "constraint": [
            {"name": "wall", "equation": "x = y^2", "law": "-4*deviation' - (9 + z^2)*deviation"},
            {"name": "floor", "equation": "z = 0"},
        ],
    }
    space = python_run(System(**words).export("python", stabilize=5))
    assert space["PARAMETERS"] == ("kappa",)
    x, y, z, u, v, w = 0.5, 0.4, 0.3, 0.2, -0.6, 0.7
    rates = space["rates"](0.0, [x, y, z, u, v, w], space["constants"]([5.0]))
    pull = -4 * (u - 2 * y * v) - (9 + z**2) * (x - y**2) + 2 * v**2  # x'' - 2 y y'' with equal masses
    expected = [pull / (1 + 4 * y**2), -2 * y * pull / (1 + 4 * y**2), -10 * w - 25 * z]
    np.testing.assert_allclose(rates[3:], expected, rtol=1e-12)


def test_the_jacobian_is_that_of_the_stabilised_rates() -> None:
    space = python_run(load("sleigh").export("python", stabilize=10, jacobian=True))
    constants, state = space["constants"](space["DEFAULTS"]), [0.1, 0.2, 0.7, 1.0, 0.4, -0.3]
    names = space["OUTPUTS"]
    values = dict(zip(names, space["step"]([0.0, *state], constants), strict=True))
    for j, by in enumerate(space["INPUTS"][1:]):
        above, below = (
            space["rates"](0.0, [*state[:j], state[j] + d, *state[j + 1 :]], constants) for d in (1e-6, -1e-6)
        )
        for i, of in enumerate(space["INPUTS"][1:]):
            assert values[f"jacobian[{of},{by}]"] == pytest.approx((above[i] - below[i]) / 2e-6, abs=1e-7)


def test_derive_tells_terms_and_gains(svyaz, tmp_path: Path) -> None:
    done = svyaz("derive", "sleigh", "--stabilize", "10", "--json", "found.json")
    assert "  blade: kappa*(cos(phi)*y' - sin(phi)*x')\n  kappa = 10\n" in done.stdout
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["gains"] == {"kappa": 10.0}
    assert found["parameters"]["kappa"] == 10.0
    assert "kappa" in found["constraint_bias"][0]
    chosen = svyaz("derive", "sleigh", "--stabilize", "auto", "--method", "rk4", "--step", "0.05", "--until", "1")
    assert "chosen from" in chosen.stdout
    unstable = svyaz("derive", "sleigh", "--stabilize", "-1")
    assert "with these gains the constraints are lost" in unstable.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--program",), "choose one by --format"),
        (("--jacobian", "--format", "latex"), "choose one by --format"),
        (("--step", "0.1"), "add --program"),
        (("--stabilize", "projection"), "adds no terms to the equations"),
        (("--program", "--format", "c", "--method", "radau", "--stabilize", "5"), "'radau' is implicit"),
        (("--program", "--format", "c", "--stabilize", "5", "--every", "0.0015"), "must be a multiple of 0.001"),
        (("--parts", "--stabilize", "5"), "neither gains"),
    ],
)
def test_refusals_of_derive(svyaz, arguments, told) -> None:
    done = svyaz("derive", "sleigh", *arguments)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())


def test_what_a_complete_program_cannot_do_is_refused() -> None:
    with pytest.raises(ModelError, match="begin or cease to act"):
        load("biped").export("c", complete=True, stabilize=5, step=0.01, method="rk4")
    with pytest.raises(ModelError, match="of the form 'chaplygin' may degenerate on the way"):
        load("sleigh").export("c", form="chaplygin", complete=True, stabilize=5)
    kept = load("sleigh").with_settings({"run.charts": "keep"})
    assert "int main" in kept.export("c", form="chaplygin", complete=True, stabilize=5)
    with pytest.raises(ModelError, match="has a fixed step"):
        load("pendulum-xy").export("c", complete=True, stabilize=5)


RODS = {
    "coordinates": ["x", "y"],
    "kinetic": "(x'^2 + y'^2)/2",
    "potential": "9.81*y",
    "constraint": [{"name": "rod", "equation": "x^2 + y^2 = 1"}, {"name": "again", "equation": "3*x^2 = 3 - 3*y^2"}],
    "initial": {"x": 1},
}


def test_repeated_constraints_are_left_out_of_programs_as_of_runs() -> None:
    found = with_gains(System(**RODS), stabilize=5)
    assert list(found.terms) == ["rod"]
    assert any("'again'" in note for note in found.equations.notes)
    once = System(**{**RODS, "constraint": RODS["constraint"][:1]})
    state = [0.6, 0.7, 0.2, -0.3]
    for how in (5, "off"):
        words = {"stabilize": how, "complete": True, "method": "rk4", "step": 0.1, "until": 1.0}
        rates = []
        for system in (System(**RODS), once):
            space = python_run(system.export("python", **words))
            rates.append(space["rates"](0.0, state, space["constants"](space.get("DEFAULTS", []))))
        assert rates[0] == rates[1]


def test_friction_by_reactions_is_refused_in_complete_programs() -> None:
    floor = {"name": "floor", "equation": "y = 0", "friction": {"static": 0.4, "sliding": 0.3, "along": ["1", "0"]}}
    block = System(coordinates=["x", "y"], kinetic="(x'^2 + y'^2)/2", potential="9.81*y", constraint=[floor])
    with pytest.raises(ModelError, match="does not stick and slide, as friction at 'floor' asks for"):
        block.export("c", complete=True, stabilize=5, method="rk4", step=0.01)


def test_the_last_step_is_shortened_and_names_are_quoted(tmp_path: Path) -> None:
    system = System(
        coordinates=["x"],
        kinetic="x'^2/2",
        constraint=[{"name": 'a, "b" ??/ %s \\', "equation": "x' = 1"}],
        initial={"x'": 1},
    )
    words = {"complete": True, "stabilize": 1, "method": "euler", "step": 0.4, "until": 1.0, "every": 0.8}
    expected = ["t", "x", "x'", 'multiplier[a, "b" ??/ %s \\]', 'residual[a, "b" ??/ %s \\]']
    (tmp_path / "model.py").write_text(system.export("python", **words))
    printed = [subprocess.run([sys.executable, "model.py"], cwd=tmp_path, capture_output=True, text=True, check=True)]
    if shutil.which("gcc"):
        (tmp_path / "model.c").write_text(system.export("c", **words))
        subprocess.run(["gcc", "-std=c99", "-o", "model", "model.c", "-lm"], cwd=tmp_path, check=True)
        printed.append(subprocess.run(["./model"], cwd=tmp_path, capture_output=True, text=True, check=True))
    for done in printed:
        rows = list(csv.reader(done.stdout.splitlines()))
        assert rows[0] == expected
        assert [[float(word) for word in row[:3]] for row in rows[1:]] == [[0, 0, 1], [0.8, 0.8, 1], [1, 1, 1]]


def test_code_of_constraints_that_cannot_act_together_has_those_of_the_start() -> None:
    """A block on its left corner: (4/3) R phi'' = -g sin(alpha - phi), R² = b² + h², tan alpha = b/h (Housner)."""
    block = load("rocking-block")
    space: dict = {"__name__": "model"}
    exec(block.export("python"), space)
    start = [float(x) for x in block.initial_state()]
    found = dict(zip(block.states, space["rates"](0.0, start, space["constants"](space["DEFAULTS"])), strict=False))
    radius, alpha = np.hypot(0.15, 0.4), np.arctan2(0.15, 0.4)
    expected = -0.75 * 9.81 * np.sin(alpha - np.radians(8)) / radius
    assert found["phi'"] == pytest.approx(expected, rel=1e-12)


EXPLOSION = System(
    name="explosion", coordinates=["x"], kinetic="x'^2/2", potential="-x^8/8", initial={"x": 2.0}, run={"until": 2.0}
)
"""x'' = x⁷ reaches infinity in a finite time, T = ∫₂^∞ 2 dx/√(x⁸ - 2⁸) = B(3/8, 1/2)/32 = 0.1205: no program goes on."""


@pytest.mark.parametrize("language", ["python", "c", "javascript", "matlab", "julia", "maple"])
def test_N1_1_11_programs_that_diverge_say_so_and_end(language: str, tmp_path: Path) -> None:
    written = EXPLOSION.export(language, complete=True, method="rk4", step=0.001, until=2.0)
    assert "the motion diverged: after t = " in written
    runs = {
        "python": [sys.executable, "-I", "model"],
        "c": ["sh", "-c", "gcc -std=c99 -x c -o program model -lm && ./program"],
        "javascript": ["node", "model"],
    }
    tool = {"c": "gcc", "javascript": "node"}.get(language, sys.executable)
    if language not in runs or shutil.which(tool) is None:
        return
    (tmp_path / "model").write_text(written)
    done = subprocess.run(runs[language], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "nan" not in done.stdout.lower()
    last = float(done.stdout.strip().rpartition("\n")[2].partition(",")[0])
    assert 0.120 < last < 0.125
    if language != "python" or "diverged" in done.stderr:
        assert f"after t = {last:.9g} the state is no longer finite" in done.stderr


def test_V1_plain_equations_note_the_gains_and_laws_that_they_leave_out() -> None:
    """Of [run] and of constraints; not where they are asked for, switched off or have nothing to act on."""
    words = {
        "name": "ring",
        "coordinates": ["x", "y"],
        "kinetic": "(x'^2 + y'^2)/2",
        "constraint": [{"name": "rod", "equation": "x^2 + y^2 = 1"}],
        "initial": {"x": 1, "y'": 1},
    }
    assert System.from_words(words).derive().notes == ()
    held = System.from_words({**words, "run": {"stabilize": 20}})
    (note,) = held.derive().notes
    assert note == "[run] stabilize is not part of these equations; stabilize = 20 adds its terms"
    assert held.derive(stabilize=20).notes == ()
    assert System.from_words({**words, "constraint": [], "run": {"stabilize": 20}}).derive().notes == ()
    lawful = {**words, "constraint": [{**words["constraint"][0], "law": "-2*deviation' - deviation"}]}
    (note,) = System.from_words(lawful).derive().notes
    assert note.startswith("the law of 'rod' is not part of these equations")
    assert System.from_words({**lawful, "run": {"stabilize": "off"}}).derive().notes == ()
