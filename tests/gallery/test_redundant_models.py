"""Mechanisms of the gallery in redundant coordinates, against closed forms: positions of rest, what holds them, roots."""

from __future__ import annotations

import json

import numpy as np
import pytest

from svyaz import System, gallery, loads
from svyaz.control import regulate
from svyaz.forms.derivation import derive
from svyaz.motion import simulate
from svyaz.show import as_json
from svyaz.show.equations import text_lines
from svyaz.stability.equilibrium_search import equilibria

NEW = ("inverted-pendulum-xy", "four-bar-motor", "furuta-linkage", "parallel-manipulator")


def model(name: str) -> System:
    return loads(gallery.find(name) or "", name)


@pytest.mark.parametrize("name", NEW)
def test_forms_with_and_without_multipliers_give_the_same_motion(name: str) -> None:
    system = model(name)
    assert text_lines(derive(system, "shulgin"))
    runs = [simulate(system, form=form, method="radau", rtol=1e-10, until=0.3) for form in ("shulgin", "multipliers")]
    for q in system.coordinates:
        assert runs[0].column(q)[-1] == pytest.approx(runs[1].column(q)[-1], abs=1e-7)


def test_the_bob_rests_above_and_below_the_cart() -> None:
    """With the rail's friction: A of the textbook for the pendulum upright, in x = X + l φ."""
    system = model("inverted-pendulum-xy")
    found = equilibria(system, {"X": 0.0})
    places = [[e.state["x"], e.state["y"]] for e in found.equilibria]
    assert np.array(places) == pytest.approx(np.array([[0, -0.3], [0, 0.3]]), abs=1e-9)
    assert [e.verdict.word for e in found.equilibria][1] == "unstable"
    above = regulate(system).plant
    M, m, length, b, g = (system.parameters[k] for k in ("M", "m", "l", "b", "g"))
    tilt = m * g / (M * length)
    assert above.variables == ("X", "x", "X'", "x'")
    assert above.A[2] == pytest.approx([tilt, -tilt, -b / M, 0])
    assert above.A[3] == pytest.approx([-g / length, g / length, 0, 0])
    assert above.B[:, 0] == pytest.approx([0, 0, 1 / M, 0])


def test_linearised_the_rod_leaves_nothing_to_control() -> None:
    found = regulate(model("inverted-pendulum-xy"), against_linearised=True)
    assert found.rival is None
    assert str(found.refused).startswith("not controllable")
    told = as_json(found)
    assert told["against"]["stabilises"] is False
    assert json.dumps(told)


def four_bar_energy(system: System, theta: np.ndarray, side: float = 1.0) -> np.ndarray:
    """The potential energy over the angle of the crank; the side is the way in which the loop is closed."""
    p = system.parameters
    x, y = p["a"] * np.cos(theta), p["a"] * np.sin(theta)
    s2 = (p["d"] - x) ** 2 + y**2
    along = (p["b"] ** 2 - p["c"] ** 2 + s2) / (2 * s2)
    height = y - along * y + side * np.sqrt(p["b"] ** 2 / s2 - along**2) * (p["d"] - x)
    return p["g"] * (p["mAB"] * y / 2 + p["mBC"] * (y + height) / 2 + p["mCD"] * height / 2)


def test_the_voltage_that_holds_the_crank_is_the_slope_of_the_energy() -> None:
    system = model("four-bar-motor")
    plant = regulate(system).plant
    angle, p = plant.state["theta"], system.parameters
    slope = (four_bar_energy(system, angle + 1e-5) - four_bar_energy(system, angle - 1e-5)) / 2e-5
    assert plant.inputs["e"] == pytest.approx(slope * p["Ra"] / (p["n"] * p["k"]), rel=1e-6)
    bend = four_bar_energy(system, angle + np.array([-1e-4, 0, 1e-4])) @ [1, -2, 1] / 1e-8
    assert plant.stiffness[0, 0] == pytest.approx(bend, rel=1e-5)


def test_the_four_bar_rests_without_voltage_where_its_energy_does() -> None:
    system = model("four-bar-motor")
    angles = np.linspace(-np.pi, np.pi, 20_001)
    expected = []
    for side in (1.0, -1.0):
        slope = four_bar_energy(system, angles + 1e-6, side) - four_bar_energy(system, angles - 1e-6, side)
        expected += list(angles[np.flatnonzero(slope[:-1] * slope[1:] < 0)])
    found = equilibria(system, {"e": 0.0})
    assert found.complete
    assert [e.state["theta"] for e in found.equilibria] == pytest.approx(sorted(expected), abs=4e-4)


def test_the_voltage_of_the_rotary_pendulum_balances_its_cable() -> None:
    system = model("furuta-linkage")
    plant, p = regulate(system).plant, system.parameters
    assert plant.state["psi"] == pytest.approx(np.radians(20))
    turned = plant.slope[0, plant.independent.index("theta")]
    held = p["k"] * plant.state["psi"] * turned * p["Ra"] / p["kt"]
    assert plant.inputs["e"] == pytest.approx(held, rel=1e-9)
    assert equilibria(system, {"psi": plant.state["psi"], "alpha": 0.0}, {"theta": (1.5, 3.0)}).complete


def gripper(system: System, q1: float, q2: float, side: float = 1.0) -> tuple[float, float]:
    p = system.parameters
    a = np.array([-p["d"] + p["l1"] * np.cos(q1), p["l1"] * np.sin(q1)])
    b = np.array([p["d"] + p["l1"] * np.cos(q2), p["l1"] * np.sin(q2)])
    gap = b - a
    rise = side * np.sqrt(p["l2"] ** 2 / (gap @ gap) - 0.25)
    return tuple((a + b) / 2 + rise * np.array([-gap[1], gap[0]]))


def lifted(system: System, q1: float, q2: float) -> float:
    p, y = system.parameters, gripper(system, q1, q2)[1]
    arms = p["l1"] * (np.sin(q1) + np.sin(q2))
    return p["g"] * ((p["m1"] + p["m2"]) * arms / 2 + (p["m2"] + p["mP"]) * y)


def test_the_gripper_has_two_places_for_given_arms_and_voltages_that_hold_it() -> None:
    system = model("parallel-manipulator")
    plant, p = regulate(system).plant, system.parameters
    q1, q2 = plant.state["q1"], plant.state["q2"]
    found = equilibria(system, {"q1": q1, "q2": q2})
    places = sorted(gripper(system, q1, q2, side) for side in (1.0, -1.0))
    assert sorted((e.state["x"], e.state["y"]) for e in found.equilibria) == [pytest.approx(xy) for xy in places]
    h = 1e-5
    slopes = [
        (lifted(system, q1 + h, q2) - lifted(system, q1 - h, q2)) / (2 * h),
        (lifted(system, q1, q2 + h) - lifted(system, q1, q2 - h)) / (2 * h),
    ]
    volts = np.array(slopes) * p["Ra"] / (p["n"] * p["k"])
    assert [plant.inputs["e1"], plant.inputs["e2"]] == pytest.approx(volts, rel=1e-6)


def test_rods_linearised_beforehand_let_the_gripper_fall() -> None:
    found = regulate(model("parallel-manipulator"), against_linearised=True)
    assert found.design.stabilises(found.plant)
    assert found.rival is not None
    assert found.rival.stabilises(found.rival.model)
    assert not found.rival.stabilises(found.plant)
