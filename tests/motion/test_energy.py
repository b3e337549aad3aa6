"""What is told of the energy and of other integrals: which of them a system has, and how far they went."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from svyaz import loads
from svyaz.forms import keeps_energy
from svyaz.integrate import method as find_method
from svyaz.motion import Motion, simulate
from svyaz.show import as_json, overview, write_report
from svyaz.show.overviews import energy_plot
from svyaz.show.plots import velocities_title
from svyaz.study import sweep
from svyaz.study.measures import ENERGY

HELD = """
name = "held oscillator"
coordinates = ["x"]
kinetic = "x'^2/2"
potential = "x^2/2"
[[integral]]
name = "total"
expression = "(x'^2 + x^2)/2"
value = 1.0
hold = true
gain = 2.0
[initial]
x = 1
[run]
until = 4
every = 0.1
"""


def test_N1_1_3_what_is_shown_of_an_integral_with_a_value_is_its_deviation() -> None:
    """The deviation decays by its own law, g̃ = -½ e^{-2t}, while the drift grows to the distance from start to value."""
    motion = simulate(loads(HELD))
    wanted = -0.5 * np.exp(-2.0 * motion.times)
    assert motion.deviations["total"] == pytest.approx(wanted, abs=1e-8)
    record = as_json(motion)["integrals"]
    assert list(record) == ["total"], "the energy is declared under a name of its own and stands there once"
    assert record["total"]["drift"] == pytest.approx(0.5 - 0.5 * np.exp(-8.0), abs=1e-8)
    assert record["total"]["deviation"] == pytest.approx({"initial": -0.5, "final": wanted[-1], "max": 0.5}, abs=1e-8)
    text = io.StringIO()
    motion.to_csv(text)
    rows = list(csv.reader(text.getvalue().splitlines()))
    assert rows[0] == ["t", "x", "x'", "deviation of total"]
    assert [float(row[3]) for row in rows[1:]] == pytest.approx(wanted, abs=1e-8)
    assert motion.to_xarray()["deviation of total"].values == pytest.approx(wanted, abs=1e-8)
    panel = overview(motion).axes[-1]
    assert panel.get_title(loc="left") == "Deviations of integrals"
    t, drawn = np.asarray(panel.get_lines()[0].get_xydata()).T
    assert drawn == pytest.approx(0.5 * np.exp(-2.0 * t), abs=1e-8)


def test_N1_1_3_a_value_without_holding_and_no_value() -> None:
    free = simulate(loads(HELD.replace("hold = true", "hold = false")))
    assert as_json(free)["integrals"]["total"]["deviation"] == pytest.approx(
        dict.fromkeys(("initial", "final"), -0.5) | {"max": 0.5}
    )
    assert "deviation" not in as_json(simulate(loads(HELD.replace("value = 1.0", ""))))["integrals"]["total"]


@pytest.mark.parametrize(
    ("model", "title"),
    [
        ("coordinates = ['x']\nmomenta = ['p']\nhamiltonian = 'p^2/2 + x^2/2'", "Momenta"),
        ("coordinates = ['x']\nkinetic = \"x'^2/2\"", "Velocities"),
        ("coordinates = ['x']\nkinetic = \"x'^2/2\"\nstates = ['w']\nrates.w = 'x'", "Velocities and further states"),
        (
            "coordinates = ['x']\nmomenta = ['p']\nstates = ['w']\nhamiltonian = 'p^2/2'\nrates.w = 'x'",
            "Momenta and further states",
        ),
    ],
)
def test_N1_1_3_momenta_and_further_states_are_no_velocities(model: str, title: str) -> None:
    system = loads(f"name = 'named'\n{model}\ninitial.x = 1\nrun.until = 0.1")
    assert velocities_title(simulate(system)) == title


FREE = "name = 'm'\ncoordinates = ['x', 'y']\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = '2*x^2 + y^2'\n"
START = "initial = {x = 1, y = 0.5, \"x'\" = 0.2, \"y'\" = -0.3}\nrun = {until = 1, rtol = 1e-11, method = 'dop853'}\n"
CHANGED = {
    "dissipation": ("dissipation = \"0.1*x'^2 + 0.05*(x' - y')^2\"", "dissipated"),
    "resistance": ("forces.x = \"-0.2*x' - 0.1*x'*abs(x')\"\nforces.y = \"-0.3*tanh(y'/0.2)\"", "dissipated"),
    "a damper between": ("forces.x = \"-0.2*(x' - y')\"\nforces.y = \"-0.2*(y' - x')\"", "dissipated"),
    "resistance that grows": ('forces.x = "-(1 + x^2)*x\'^3"', "dissipated"),
    "negative damping": ('forces.x = "0.2*x\'"', "work"),
    "feedback of the positions": ('forces.x = "(1 - 4*x^2)*x\'*y"', "work"),
    "a driving force": ("forces.x = 'sin(5*t)'", "work"),
    "a circulatory force": ("forces.x = 'y'\nforces.y = '-x'", "work"),
    "an input": ("forces.x = 'nu'\ninputs.nu = 0.7", "work"),
    "a further state": ("states = ['w']\nrates.w = 'x - w'\nforces.x = 'w'", "work"),
    "a moving wall": ("constraint = [{name = 'c', equation = 'x - 0.5*y = 0.75*cos(t)'}]", "work"),
    "a driven velocity": ("constraint = [{name = 'c', equation = \"x' + y' = -0.1 + sin(t)\"}]", "work"),
}


def found(text: str, start: str = START, **options: object) -> Motion:
    return simulate(loads(FREE + start + text), project=True, **options)


@pytest.mark.parametrize("what", CHANGED)
def test_N1_1_2_where_the_energy_went_to_the_accuracy_of_the_run(what: str) -> None:
    """The energies are functions of the states, the work is an integral of powers: only the true ones leave no remainder."""
    text, term = CHANGED[what]
    motion = found(text, stabilize="projection" if "constraint" in text else None)
    record = as_json(motion)
    assert "energy" not in record["integrals"]
    told = record["energy"]
    assert list(told) == ["initial", "final", "work", "dissipated", "impacts", "remainder"]
    change = told["work"] - told["dissipated"] - told["impacts"] + told["remainder"]
    assert told["final"] - told["initial"] == pytest.approx(change, abs=1e-14)
    assert abs(told["remainder"]) < 1e-9
    other = {"work": "dissipated", "dissipated": "work"}[term]
    assert abs(told[term]) > 1e-3
    assert told[other] == 0.0
    assert np.abs(motion.balance.remainder).max() < 1e-9
    if term == "dissipated":
        assert (np.diff(motion.balance.dissipated) >= 0.0).all(), "what resists never gives energy back"


@pytest.mark.parametrize(
    "text",
    [
        "",
        'forces.x = "3*y\'"\nforces.y = "-3*x\'"',  # gyroscopic
        'parameters.b = 0\nforces.x = "-b*x\'"',
        "inputs.nu = 0\nforces.x = 'nu'",
        "constraint = [{name = 'c', equation = 'x + y = 1.5'}]",
        "constraint = [{name = 'c', equation = \"x'*cos(t) + y'*sin(t) = 0\"}]",  # moves, and lets the system move along
        "constraint = [{name = 'c', equation = \"x'^2 = 4*y'^2\"}]",
        "constraint = [{name = 'c', equation = 'x + y = 1.5', from = 0, until = 0.5}]",
        "quasi = {}\n",
    ],
)
def test_N1_1_2_the_energy_is_an_integral_where_nothing_changes_it(text: str) -> None:
    system = loads(FREE + START + text)
    assert keeps_energy(system)
    motion = simulate(system, project=True, stabilize="off" if "constraint" in text else None, method="dop853")
    assert motion.balance is None
    assert "energy" not in as_json(motion)
    assert motion.finished
    assert motion.drifts()["energy"].drift < 1e-8


def test_N1_1_2_time_in_the_energies() -> None:
    """A spring that stiffens does work ½ k' x²; so does a Hamiltonian that depends on time."""
    rest = "initial.x = 1\nrun.until = 2"
    stiff = loads(f"name = 'm'\ncoordinates = ['x']\nkinetic = \"x'^2/2\"\npotential = '(1 + t)*x^2/2'\n{rest}")
    same = loads(f"name = 'm'\ncoordinates = ['x']\nmomenta = ['p']\nhamiltonian = 'p^2/2 + (1 + t)*x^2/2'\n{rest}")
    first, second = simulate(stiff), simulate(same)
    wanted = solve_ivp(
        lambda t, y: [y[1], -(1 + t) * y[0], y[0] ** 2 / 2], (0, 2), [1, 0, 0], rtol=1e-11, atol=1e-12
    ).y[2, -1]
    for motion in (first, second):
        assert motion.balance.totals["work"] == pytest.approx(wanted, rel=1e-8)
        assert abs(motion.balance.totals["remainder"]) < 1e-8


def test_N1_1_2_the_work_of_a_constraint_in_closed_form() -> None:
    """A bead on a rod that turns: r = cosh t, and the rod does the work r'² = sinh² t (half of it is of the rotation)."""
    text = """
name = "bead"
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
constraint = [{name = "rod", equation = "x*sin(t) = y*cos(t)"}]
initial = {x = 1, "y'" = 1}
run = {until = 1, method = "dop853", rtol = 1e-11}
"""
    for form in ("multipliers", "shulgin"):
        totals = simulate(loads(text), form=form, stabilize="off").balance.totals
        assert totals["work"] == pytest.approx(np.sinh(1.0) ** 2, abs=1e-8), form
        assert abs(totals["remainder"]) < 1e-8


def test_N1_1_2_eliminated_constraints_do_work_too() -> None:
    text, _ = CHANGED["a driven velocity"]
    runs = {form: found(text, form=form).balance for form in ("multipliers", "voronets", "maggi", "appell")}
    wanted = runs["multipliers"].totals["work"]
    for form, balance in runs.items():
        assert balance.totals["work"] == pytest.approx(wanted, abs=1e-8), form
        assert abs(balance.totals["remainder"]) < 1e-8, form


@pytest.mark.parametrize("method", ["euler", "rk2", "rk4", "rkf45", "dopri5", "dop853", "radau"])
def test_N1_1_2_the_remainder_is_the_error_of_the_method(method: str) -> None:
    """Halving the step divides it as the order says, and rows that are farther apart tell the same."""
    order = find_method(method).order
    step = {1: 0.01, 2: 0.02, 4: 0.05, 5: 0.1, 8: 0.5}[order]
    text, _ = CHANGED["dissipation"]
    runs = [found(text, method=method, step=h, until=2.0).balance.totals for h in (step, step / 2)]
    sparse = found(text, method=method, step=step, until=2.0, every=1.0).balance.totals
    ratio = abs(runs[0]["remainder"] / runs[1]["remainder"])
    assert ratio > 0.6 * 2**order, ratio
    for term, value in sparse.items():
        assert value == pytest.approx(runs[0][term], abs=2 * abs(runs[0]["remainder"]) + 1e-11), term


@pytest.mark.parametrize("method", ["dopri5", "radau"])
def test_N1_1_2_chosen_steps_and_given_rows(method: str) -> None:
    text, _ = CHANGED["resistance"]
    runs = [found(text, method=method, rtol=1e-8, **rows).balance for rows in ({}, {"every": 0.5}, {"every": 1e-3})]
    for balance in runs:
        assert balance.totals["dissipated"] == pytest.approx(runs[0].totals["dissipated"], abs=1e-7)
        assert np.abs(balance.remainder).max() < 1e-6


def test_N1_1_2_what_impacts_take_away() -> None:
    """A ball falls from the height 1 with resistance and stays: of g h nothing is left but what resistance took."""
    text = """
name = "ball"
coordinates = ["y"]
kinetic = "y'^2/2"
potential = "9.81*y"
forces.y = "-0.1*y'"
constraint = [{name = "floor", equation = "y = 0", on = "-y", impact = "inelastic"}]
initial.y = 1
run = {until = 1, rtol = 1e-10, method = "dop853", every = 0.3}
"""
    totals = simulate(loads(text)).balance.totals
    v = brentq(lambda v: -np.log(1 - v / 98.1) * 98.1 - v - 0.1, 1, 9)  # y = -(v_T/k)(ln(1 - v/v_T) + v/v_T), v_T = g/k
    assert totals["impacts"] == pytest.approx(v**2 / 2, rel=1e-8)
    assert totals["dissipated"] == pytest.approx(9.81 - v**2 / 2, rel=1e-8)
    assert totals["work"] == 0.0
    assert abs(totals["remainder"]) < 1e-9


def test_N1_1_2_trees_loops_and_laws() -> None:
    """The same balance by the loop over bodies as from written equations; laws of inputs do work."""
    tree = "name = 'arm'\ngravity = [0, -9.81, 0]\ninputs.u = 0\n"
    tree += "".join(
        f"[[body]]\nname = '{k}'\nbase = '{k - 1 if k else 'ground'}'\njoint = 'revolute'\ncoordinate = 'q{k}'\n"
        f"axis = [0, 0, 1]\npole = [{float(k > 0)}, 0, 0]\nmass = 1\ncenter = [0.5, 0, 0]\n"
        f"inertia = {{xx = 0, yy = 0.4, zz = 0.4}}\n"
        for k in range(3)
    )
    tree += '[forces]\nq0 = "u - 0.3*q0\'"\nq2 = "-0.1*q2\'"\n[run]\nuntil = 1\nrtol = 1e-10\n'
    runs = [simulate(loads(tree), form=form, inputs={"u": "5*cos(3*t)"}) for form in ("lagrange", "articulated")]
    for motion in runs:
        assert motion.balance.totals == pytest.approx(runs[0].balance.totals, abs=1e-8)
        assert np.abs(motion.balance.remainder).max() < 1e-8 * motion.energy_scale
        assert motion.balance.totals["dissipated"] > 0.1


def test_N1_1_2_reports_and_plots_show_the_balance(tmp_path) -> None:
    motion = found(CHANGED["dissipation"][0])
    titles = [axes.get_title(loc="left") for axes in energy_plot(motion).axes]
    assert titles == ["Energy", "Where the energy went", "Remainder of the energy balance"]
    assert overview(motion).axes[2].get_title(loc="left") == "Energy remainder"
    page = write_report(motion, tmp_path, formulas=[]).read_text(encoding="utf-8")
    assert "Energy remainder" in page
    assert "final = initial + work − dissipated − impacts + remainder" in page
    assert "drift" not in page.lower().replace("<style", "").split("<body", 1)[1]


POLE = """
name = "fall"
coordinates = ["x"]
kinetic = "x'^2/2"
potential = "-1/abs(x)"
initial.x = 1
run = {until = 3, method = "rk4", step = 0.01}
"""
LOG = POLE.replace("-1/abs(x)", "log(x - 5)").replace("fall", "log")


@pytest.mark.parametrize("more", ["", 'forces.x = "-0.1*x\'"', "forces.x = 'sin(t)'"], ids=["kept", "damped", "driven"])
@pytest.mark.parametrize("method", ["euler", "rk4", "dop853"])
def test_N1_1_11_a_step_over_a_pole_is_told(more: str, method: str) -> None:
    motion = simulate(loads(POLE + more), method=method, until=1.6)
    assert motion.finished
    assert "the energy balance jumps" in motion.notes[0]
    moment = float(motion.notes[0].split("between t = ")[1].split()[0])
    assert 0.9 < moment < 1.6, "undisturbed it falls into the pole at pi/sqrt(8)"


@pytest.mark.parametrize("more", ["", 'forces.x = "-0.1*x\'"'])
@pytest.mark.parametrize(("start", "method"), [(1.0, "rk4"), (5.1, "rk4"), (5.1, "dop853")])
def test_N1_1_11_a_motion_without_an_energy_has_a_status(start: float, method: str, more: str) -> None:
    """The force -1/(x - 5) is finite where the potential energy log(x - 5) is none."""
    text = LOG.replace("initial.x = 1", f'initial = {{x = {start}, "x\'" = 0.5}}') + more
    motion = simulate(loads(text), method=method, step=0.05, until=6)
    where = "in the initial state" if start < 5 else "after t = "
    assert motion.status in ("infeasible" if start < 5 else "singular", "diverged")
    if motion.status != "diverged":
        assert f"the energy has no value {where}" in motion.reason
        assert np.isfinite(motion.energy[:-1]).all()
    forced = simulate(loads(text), method=method, step=0.05, until=6, force=True)
    assert not forced.finished or "the energy has no value at t = " in forced.notes[0]


def test_N1_1_11_integrals_without_a_value_are_told() -> None:
    text = HELD.replace("(x'^2 + x^2)/2", "log(x^2 + x'^2 - 2) - log(x^2 + x'^2 - 2)*x^2*0").replace("hold = true", "")
    motion = simulate(loads(text))
    assert any("the integral 'total' has no value at t = 0" in note for note in motion.notes)
    assert as_json(motion)["integrals"]["total"]["drift"] is None


def test_N1_1_11_members_without_an_energy_have_a_status() -> None:
    found = sweep(loads(LOG), vary={"initial.x": [1.0, 5.5]}, until=0.1, workers=1)
    assert [row.status for row in found.rows] == ["infeasible", "finished"]
    assert "the energy has no value in the initial state" in found.rows[0].reason


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (CHANGED["resistance"][0], {}),
        (CHANGED["a driving force"][0], {"method": "euler", "step": 0.01}),
        (CHANGED["a moving wall"][0], {"method": "rk4", "step": 0.05, "stabilize": 5.0}),
        ("", {"method": "euler", "step": 0.1, "until": 5.0}),
        ("", {"method": "dop853", "rtol": 1e-3, "until": 20.0}),
        ("constraint = [{name = 'c', equation = 'x + y = 2'}]", {"stabilize": 20.0, "method": "rk4", "step": 0.01}),
    ],
)
def test_N1_1_11_errors_of_a_method_and_the_work_of_stabilisation_are_no_jumps(text: str, options: dict) -> None:
    motion = simulate(loads(FREE + START + text), force=True, **options)
    assert motion.finished
    assert not any("jumps" in note for note in motion.notes)


def test_N1_1_2_what_is_declared_and_is_no_integral_is_told() -> None:
    declared = "integral = [{name = 'sum', expression = \"x'^2/2 + y'^2/2 + 2*x^2 + y^2\"}]\n"
    kept, damped = found(declared), found(declared + CHANGED["dissipation"][0])
    assert not any("first integral" in note for note in kept.notes)
    assert any("'sum' is not a first integral" in note for note in damped.notes)


def test_N1_1_2_measures_of_sweeps() -> None:
    """Parameters that are varied do not count as zero; terms of the balance are measured where the energy is no integral."""
    text = FREE + START + 'parameters.b = 0\nforces.x = "-b*x\'"'
    free = sweep(loads(text), vary={"initial.x": [1.0]}, workers=1)
    assert "drift.energy" in free.measures
    assert "drift.energy" not in sweep(loads(text), vary={"b": [0.0, 0.1]}, workers=1).measures
    found = sweep(loads(text), vary={"b": [0.0, 0.1]}, measure=["energy"], workers=1)
    assert found.measures == tuple(f"energy.{name}" for name in ENERGY)
    lost = [row.measures["energy.dissipated"] for row in found.rows]
    assert lost[0] == 0.0 < lost[1]
    assert all(abs(row.measures["energy.remainder"]) < 1e-9 for row in found.rows)
