"""Laws u(t, x) in place of inputs: expressions and functions of Python, against closed forms and SciPy."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest
import symengine as se
from scipy.integrate import solve_ivp

from svyaz import ModelError, System
from svyaz.forms import derive
from svyaz.motion import simulate, with_inputs

OSCILLATOR = {
    "name": "driven oscillator",
    "coordinates": ["x"],
    "kinetic": "x'^2/2",
    "potential": "k/2*x^2",
    "parameters": {"k": 4},
    "forces": {"x": "u"},
    "inputs": {"u": 0},
    "initial": {"x": 1},
}
FINE = {"method": "dop853", "rtol": 1e-12, "until": 5.0}


def oscillator(**words) -> System:
    return System(**{**OSCILLATOR, **words})


def driven(t: np.ndarray) -> np.ndarray:
    """x'' + 4 x = sin t from x = 1 at rest."""
    return np.cos(2 * t) - np.sin(2 * t) / 6 + np.sin(t) / 3


def both_ways(system: System, text: str, law, **asked) -> tuple:
    """The motion under an expression and the one under a function of Python."""
    return simulate(system, inputs={"u": text}, **asked), simulate(system, inputs={"u": law}, **asked)


@pytest.mark.parametrize(
    "law", ["sin(t)", se.sin(se.Symbol("t")), lambda t, x: np.sin(t)], ids=["text", "tree", "call"]
)
def test_a_driven_oscillator_follows_its_closed_form(law) -> None:
    motion = simulate(oscillator(), inputs={"u": law}, **FINE)
    assert motion.finished
    assert np.abs(motion.column("x") - driven(motion.times)).max() < 1e-10
    assert np.abs(motion.column("u") - np.sin(motion.times)).max() < 1e-15


def test_a_number_is_a_constant_law() -> None:
    motion = simulate(oscillator(), inputs={"u": 2}, **FINE)
    assert motion.column("x") == pytest.approx(0.5 + 0.5 * np.cos(2 * motion.times), abs=1e-10)


@pytest.mark.parametrize("method", ["euler", "rk4", "dopri5", "dop853", "radau"])
def test_a_function_gives_the_motion_of_the_expression(method: str) -> None:
    how = {"step": 0.01} if method in ("euler", "rk4") else {"rtol": 1e-9}
    text, law = "sin(t) - 0.7*x' - k*x^3", lambda t, x: np.sin(t) - 0.7 * x[1] - 4 * x[0] ** 3
    told, called = both_ways(oscillator(), text, law, method=method, until=3, **how)
    assert told.finished
    assert told.steps == called.steps
    assert called.states[-1] == pytest.approx(told.states[-1], abs=1e-12)


def test_a_stiff_law_is_felt_by_the_jacobian() -> None:
    """u = -10⁶ (x - cos t): without its slope Newton's iteration of radau would need steps of 10⁻³."""
    told, called = both_ways(
        oscillator(), "-1e6*(x - cos(t)) - 2e3*x'", lambda t, x: -1e6 * (x[0] - np.cos(t)) - 2e3 * x[1],
        method="radau", rtol=1e-6, until=2,
    )  # fmt: skip
    assert called.steps < 1.1 * told.steps < 400
    assert called.states[-1] == pytest.approx(told.states[-1], abs=1e-6)


def test_limits_cut_a_law_off() -> None:
    system = oscillator(inputs={"u": {"value": 0, "low": -0.5, "high": 0.25}})
    for law in ("3*sin(t)", lambda t, x: 3 * np.sin(t)):
        motion = simulate(system, inputs={"u": law}, **FINE)
        assert motion.column("u") == pytest.approx(np.clip(3 * np.sin(motion.times), -0.5, 0.25), abs=1e-14)
        found = solve_ivp(
            lambda t, y: [y[1], -4 * y[0] + np.clip(3 * np.sin(t), -0.5, 0.25)], (0, 5), [1, 0],
            rtol=1e-11, atol=1e-12, max_step=0.01,
        )  # fmt: skip
        assert motion.states[-1] == pytest.approx(found.y[:, -1], abs=1e-8)


ROD = {
    "name": "bob with a thruster",
    "coordinates": ["x", "y"],
    "kinetic": "(x'^2 + y'^2)/2",
    "potential": "g*y",
    "parameters": {"g": 9.81},
    "forces": {"x": "u"},
    "inputs": {"u": 0},
    "constraint": [{"name": "rod", "equation": "x^2 + y^2 = 1"}],
    "initial": {"x": 0.6, "y": -0.8},
}


def pendulum(until: float) -> np.ndarray:
    """The angle of the same bob from the vertical by SciPy, φ'' = -g sin φ + u cos φ, u = -2 x' + sin 3t."""

    def rates(t: float, y: np.ndarray) -> list[float]:
        u = -2 * y[1] * np.cos(y[0]) + np.sin(3 * t)
        return [y[1], -9.81 * np.sin(y[0]) + u * np.cos(y[0])]

    found = solve_ivp(rates, (0, until), [np.arcsin(0.6), 0.0], rtol=1e-11, atol=1e-12)
    return found.y[:, -1]


@pytest.mark.parametrize("form", ["multipliers", "shulgin"])
@pytest.mark.parametrize("call", [False, True], ids=["text", "call"])
def test_laws_go_with_constraints_and_reduced_forms(form: str, call: bool) -> None:
    law = (lambda t, x: -2 * x[2] + np.sin(3 * t)) if call else "-2*x' + sin(3*t)"
    asked = {} if form == "shulgin" else {"stabilize": "projection"}
    motion = simulate(System(**ROD), form=form, inputs={"u": law}, method="dop853", rtol=1e-10, until=2, **asked)
    assert motion.finished
    angle, rate = pendulum(2)
    expected = [np.sin(angle), -np.cos(angle), rate * np.cos(angle), rate * np.sin(angle)]
    assert motion.states[-1] == pytest.approx(expected, abs=1e-8)


SLEIGH = {
    "name": "sleigh with a propeller",
    "coordinates": ["x", "y", "phi"],
    "kinetic": "(x'^2 + y'^2)/2 + phi'^2/2",
    "forces": {"phi": "u"},
    "inputs": {"u": 0},
    "constraint": [{"name": "blade", "equation": "y'*cos(phi) = x'*sin(phi)"}],
    "initial": {"x'": 1, "phi'": 0.2},
}


@pytest.mark.parametrize("form", ["maggi", "voronets", "appell"])
def test_laws_go_with_nonholonomic_forms(form: str) -> None:
    text, law = "cos(t) - x'", lambda t, x: np.cos(t) - x[3]
    told, called = both_ways(System(**SLEIGH), text, law, form=form, method="dop853", rtol=1e-10, until=4)
    full = simulate(System(**SLEIGH), form="multipliers", inputs={"u": text}, rtol=1e-10, until=4)
    assert called.states[-1] == pytest.approx(told.states[-1], abs=1e-12)
    assert told.states[-1] == pytest.approx(full.states[-1], abs=1e-6)


def test_chaplygin_refuses_a_law_that_may_know_the_dependent_coordinates() -> None:
    told = simulate(System(**SLEIGH), form="chaplygin", inputs={"u": "cos(t) - phi'"}, rtol=1e-10, until=4)
    assert told.finished
    with pytest.raises(ModelError, match="the force on 'phi' depends on the dependent coordinate"):
        simulate(System(**SLEIGH), form="chaplygin", inputs={"u": lambda t, x: np.cos(t) - x[5]}, until=4)


def test_a_law_moves_events() -> None:
    """Pushed by u = t/2 against g = 1 a ball lands when h - t²/2 + t³/12 = 0, and lies until u = 1."""
    words = {
        "name": "ball",
        "coordinates": ["z"],
        "kinetic": "z'^2/2",
        "potential": "z",
        "forces": {"z": "u"},
        "inputs": {"u": 0},
        "constraint": [
            {"name": "floor", "equation": "z = 0", "on": "-z", "off": "-lambda_floor", "impact": "inelastic"}
        ],
        "initial": {"z": 0.3},
    }
    landing = min(r.real for r in np.roots([1 / 12, -1 / 2, 0, 0.3]) if abs(r.imag) < 1e-9 and r.real > 0)
    for law in ("t/2", lambda t, x: t / 2):
        motion = simulate(System(**words), inputs={"u": law}, rtol=1e-11, until=4)
        assert motion.finished
        moments = [event.t for event in motion.phases]
        assert moments == pytest.approx([0.0, landing, 2.0], abs=1e-8)


def test_laws_of_plain_rates() -> None:
    words = {"name": "coil", "states": ["i"], "rates": {"i": "(v - R*i)/L"}, "parameters": {"R": 2, "L": 0.5}}
    motion = simulate(System(**words, inputs={"v": 1}), inputs={"v": lambda t, x: 3.0}, rtol=1e-11, until=2)
    assert motion.column("i") == pytest.approx(1.5 * (1 - np.exp(-4 * motion.times)), abs=1e-9)


def test_an_exception_of_a_law_ends_the_run_and_reaches_the_caller() -> None:
    class Broken(Exception):
        pass

    def law(t: float, x: np.ndarray) -> float:
        if t > 1:
            raise Broken("no force beyond t = 1")
        return 0.0

    for how in ({"method": "rk4", "step": 0.01}, {"method": "dop853"}, {"method": "radau"}):
        with pytest.raises(Broken, match="beyond"):
            simulate(oscillator(), inputs={"u": law}, until=5, **how)


def test_an_interruption_in_a_law_reaches_the_caller() -> None:
    def law(t: float, x: np.ndarray) -> float:
        if t > 1:
            raise KeyboardInterrupt
        return 0.0

    with pytest.raises(KeyboardInterrupt):
        simulate(oscillator(), inputs={"u": law}, until=5)


def test_equations_are_run_as_they_are() -> None:
    plain = simulate(oscillator(), **FINE)
    same = simulate(derive(oscillator()), **FINE)
    assert same.states == pytest.approx(plain.states, abs=0)
    controlled = simulate(derive(oscillator()), inputs={"u": "sin(t)"}, **FINE)
    assert controlled.column("x") == pytest.approx(driven(controlled.times), abs=1e-10)


def test_a_system_with_laws_lives_by_itself() -> None:
    system = with_inputs(oscillator(), {"u": lambda t, x: np.sin(t)})
    gc.collect()
    motion = simulate(system, **FINE)
    assert motion.column("x") == pytest.approx(driven(motion.times), abs=1e-10)
    assert "u" not in system.inputs


def test_a_start_replaces_values_and_rows_are_where_they_are_wanted() -> None:
    motion = simulate(oscillator(), start={"x": 0.5, "x'": 1}, rows=np.array([0.5, 1.0]), **FINE)
    assert motion.times == pytest.approx([0, 0.5, 1, 5])
    assert motion.column("x") == pytest.approx(
        0.5 * np.cos(2 * motion.times) + 0.5 * np.sin(2 * motion.times), abs=1e-10
    )
    with pytest.raises(ModelError, match="'v' is not among the states"):
        simulate(oscillator(), start={"v": 1})


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"v": "sin(t)"}, "there is no input 'v'; there are u"),
        ({"u": "sin(s)"}, "'s'"),
        ({"u": "sin(t"}, "inputs.u"),
        ({"u": se.Symbol("z")}, "contains 'z', which is neither a state nor a parameter"),
        ({"u": {1, 2}}, "a text, a number, an expression, a table or a function"),
        ({"u": lambda t, x: x}, r"an array of the shape \(2,\) at the initial state"),
        ({"u": lambda t, x: "much"}, "gives 'much'"),
    ],
)
def test_laws_that_cannot_be(inputs, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        simulate(oscillator(), inputs=inputs)


def test_a_misspelt_input_is_met_with_the_nearest() -> None:
    with pytest.raises(ModelError, match="did you mean 'thrust'"):
        simulate(oscillator(inputs={"thrust": 0}, forces={"x": "thrust"}), inputs={"thrsut": 1})


def test_the_example_of_the_documentation_holds() -> None:
    page = (Path(__file__).parents[2] / "docs" / "howto" / "control.md").read_text(encoding="utf-8")
    section = page.split("## A law of your own")[1].split("\n## ")[0]
    exec(compile(section.split("```python")[1].split("```")[0], "control.md", "exec"), {})


@pytest.mark.parametrize("shape", ["rows", "pair"])
def test_a_table_of_the_time_is_a_law(shape: str) -> None:
    times, values = np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, -1.0])
    table = {"rows": np.column_stack([times, values]), "pair": (times, values)}
    motion = simulate(oscillator(), inputs={"u": table[shape]}, **FINE)
    exact = solve_ivp(
        lambda t, x: [x[1], np.interp(t, times, values) - 4 * x[0]],
        (0, 5),
        [1, 0],
        "DOP853",
        rtol=1e-11,
        atol=1e-12,
        max_step=0.05,
    )
    assert motion.states[-1] == pytest.approx(exact.y[:, -1], abs=1e-8)
    assert np.abs(motion.column("u") - np.interp(motion.times, times, values)).max() < 1e-15


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([[0, 1, 2]], "two columns, times and values"),
        ([[0.0, 1.0], [0.0, 2.0], [1.0, 3.0]], "times that rise"),
        ([[0.0, 1.0], [1.0, np.nan], [2.0, 0.0]], "finite numbers"),
        ([["a", "b"], ["c", "d"]], "are not numbers"),
    ],
)
def test_wrong_tables_are_refused(table, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        simulate(oscillator(), inputs={"u": table}, **FINE)
