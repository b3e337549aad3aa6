"""Steady motions along symmetries that are no coordinates: planes that turn together, bodies that are shifted together."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scipy.optimize import root

from svyaz import System, load
from svyaz.expr import ModelError
from svyaz.forms import linear_symmetries

G = 9.81
DOUBLE: dict[str, Any] = {
    "name": "spherical double pendulum",
    "coordinates": ["x1", "y1", "z1", "x2", "y2", "z2"],
    "kinetic": "m1/2*(x1'^2 + y1'^2 + z1'^2) + m2/2*(x2'^2 + y2'^2 + z2'^2)",
    "potential": "m1*g*z1 + m2*g*z2",
    "parameters": {"m1": 1.0, "m2": 0.5, "g": G, "l1": 1.0, "l2": 0.8},
    "constraint": [
        {"name": "upper", "equation": "x1^2 + y1^2 + z1^2 = l1^2"},
        {"name": "lower", "equation": "(x2 - x1)^2 + (y2 - y1)^2 + (z2 - z1)^2 = l2^2"},
    ],
    "initial": {"x1": 0.6, "z1": -0.8, "x2": 0.6, "z2": -1.6, "y1'": 2.0},
}
SIDES = {"x1": (-1.1, 1.1), "y1": (-1.1, 1.1), "z1": (-1.1, 0), "x2": (-1.9, 1.9), "y2": (-1.9, 1.9), "z2": (-1.9, 0)}


def test_Q3_two_planes_that_turn_together() -> None:
    """(m1 + m2) g tan a = m1 w² r1 + m2 w² r2, g tan b = w² r2, r1 = l1 sin a, r2 = r1 + l2 sin b."""
    m1, m2, l1, l2, w = 1.0, 0.5, 1.0, 0.8, 5.0
    found = System(**DOUBLE, box=SIDES).steady({"psi'": w})

    def balance(angles: np.ndarray) -> list[float]:
        r1 = l1 * np.sin(angles[0])
        r2 = r1 + l2 * np.sin(angles[1])
        pull = w**2 * (m1 * r1 + m2 * r2)
        return [(m1 + m2) * G * np.tan(angles[0]) - pull, G * np.tan(angles[1]) - w**2 * r2]

    a, b = root(balance, [1.2, 1.4], tol=1e-14).x
    outer = max(found.motions, key=lambda m: m.momenta["p_psi"])
    reached = [outer.state[name] for name in ("rho", "z1", "x2_turned", "y2_turned", "z2")]
    r2 = l1 * np.sin(a) + l2 * np.sin(b)
    assert reached == pytest.approx([l1 * np.sin(a), -np.cos(a), r2, 0, -np.cos(a) - l2 * np.cos(b)], abs=1e-8)
    assert outer.momenta["p_psi"] == pytest.approx(w * (m1 * np.sin(a) ** 2 + m2 * r2**2), rel=1e-9)
    assert outer.verdict.word == "stable"
    assert "x2, y2 are told in axes that turn with psi" in found.notes[0]


def test_Q3_the_circular_motion_of_two_bodies() -> None:
    """r³ w² = G (m1 + m2), both shifts and the turn of the distance are found; small oscillations have the frequency w."""
    m1, m2, w = 1.3, 2.1, 0.7
    system = System(
        name="two bodies",
        coordinates=["x1", "y1", "x2", "y2"],
        kinetic="m1/2*(x1'^2 + y1'^2) + m2/2*(x2'^2 + y2'^2)",
        potential="-m1*m2/sqrt((x1 - x2)^2 + (y1 - y2)^2)",
        parameters={"m1": m1, "m2": m2},
        initial={"x2": 1.0, "y2'": 1.0},
        box=dict.fromkeys(("x1", "y1", "x2", "y2"), (-2.0, 2.0)),
    )
    (motion,) = system.steady({"psi'": w}).motions
    assert motion.state["rho"] == pytest.approx(((m1 + m2) / w**2) ** (1 / 3), rel=1e-9)
    assert motion.verdict.zero_roots == 3
    assert np.abs(motion.verdict.roots).max() == pytest.approx(w, rel=1e-8)
    # the pole of the turn runs with the centre of mass, which has the speed of the initial state
    speeds = [motion.speeds["x1_turned'"], motion.speeds["y1_turned'"]]
    assert speeds == pytest.approx([0.0, m2 / (m1 + m2)], abs=1e-9)


PAIR: dict[str, Any] = {
    "name": "pair",
    "coordinates": ["x1", "x2"],
    "kinetic": "m*x1'^2/2 + M*x2'^2/2",
    "potential": "c/2*(x1 - x2 + 1)^2",
    "parameters": {"m": 1.0, "M": 2.0, "c": 4.0, "k": 0.5},
    "box": {"x1": (-2.0, 2.0), "x2": (-2.0, 2.0)},
}


def test_Q3_a_shift_of_all_bodies() -> None:
    (motion,) = System(**PAIR).steady({"x1'": 3.0}).motions
    assert motion.state["x2_from_x1"] == pytest.approx(1.0)
    assert motion.momenta["p_x1"] == pytest.approx(9.0)
    assert np.abs(motion.verdict.roots).max() == pytest.approx(np.sqrt(4.0 * 1.5))


def test_Q3_friction_and_a_drive_along_a_shift() -> None:
    """u = k (x1' + x2') holds the speed; what is stretched is the friction of the second body."""
    dragged = System(**PAIR, inputs={"u": 0.0}, forces={"x1": "u - k*x1'", "x2": "-k*x2'"})
    (symmetry,) = linear_symmetries(dragged)
    assert not symmetry.conserved
    (motion,) = dragged.steady({"x1'": 3.0}).motions
    assert motion.inputs["u"] == pytest.approx(3.0)
    assert motion.state["x2_from_x1"] == pytest.approx(1 - 0.5 * 3 / 4)
    found = dragged.regulate(fix={"x1'": 3.0})
    assert found.valid
    assert found.run({"x2_from_x1": 1.2}, 30.0)["regulator"].transient.returned


def test_Q5_a_drive_that_turns_with_a_plane() -> None:
    """A torque about the vertical: the force M (-y, x)/(x² + y²); friction along the way."""
    forces = {"x": "-M*y/(x^2 + y^2) - k*x'", "y": "M*x/(x^2 + y^2) - k*y'", "z": "-k*z'"}
    system = System(
        name="driven pendulum",
        coordinates=["x", "y", "z"],
        kinetic="m/2*(x'^2 + y'^2 + z'^2)",
        potential="m*g*z",
        parameters={"m": 1.0, "g": G, "l": 1.0, "k": 0.05},
        inputs={"M": 0.0},
        forces=forces,
        constraint=[{"name": "rod", "equation": "x^2 + y^2 + z^2 = l^2"}],
        initial={"x": 0.8, "z": -0.6, "y'": 3.2},
        box={"x": (-1.2, 1.2), "y": (-1.2, 1.2), "z": (-1.2, -0.1)},
    )
    found = system.regulate(fix={"psi'": 4.0})
    z = -G / 16
    assert found.plant.state["z"] == pytest.approx(z, abs=1e-9)
    assert found.plant.inputs["M"] == pytest.approx(0.05 * 4 * (1 - z**2), abs=1e-9)
    assert found.run({"z": -0.6}, 40.0)["regulator"].transient.returned


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"forces": {"x1": "-k*x1"}}, "held at a place"),
        ({"dissipation": "k/2*x1'^2*x1^2"}, "friction by place"),
        ({"potential": "c/2*(x1 - x2 + 1)^2 + 1e-9*x1^2"}, "hardly held"),
    ],
)
def test_what_breaks_a_symmetry_is_seen(change: dict[str, Any], why: str) -> None:
    assert linear_symmetries(System(**{**PAIR, **change})) == (), why


def test_a_symmetry_of_one_value_of_a_parameter_is_none_along_it() -> None:
    """Springs of equal stiffness turn in their plane; they do not while one stiffness varies."""
    words = {"coordinates": ["x", "y"], "kinetic": "(x'^2 + y'^2)/2", "parameters": {"a": 1.0, "b": 1.0}}
    springs = System(name="springs", **words, potential="a*x^2/2 + b*y^2/2", box={"x": (-1, 1), "y": (-1, 1)})
    assert len(linear_symmetries(springs)) == 1
    assert linear_symmetries(springs, ["a"]) == ()
    with pytest.raises(ModelError, match="no coordinate is cyclic"):
        springs.steady({"b": 2.0})


def test_symmetries_are_told_by_check_and_where_a_coordinate_is_cyclic_already(svyaz) -> None:
    result = svyaz("check", "spherical-pendulum", "--with", "coordinates=cartesian", "--json", "-")
    (symmetry,) = json.loads(result.stdout)["symmetries"]
    assert symmetry["field"] == {"x": "-y", "y": "x"}
    assert symmetry["momentum"] == "m*x*y' - m*y*x'"
    assert symmetry["conserved"]
    top = svyaz("steady", "heavy-symmetric-top", "--with", "mounting=axis")
    assert "prescribe psi' or p_psi" in " ".join(top.stdout.split())


def test_numbers_are_right_where_an_absent_coordinate_has_a_name_of_the_engine() -> None:
    """Common parts are called x0, x1, … by SymEngine: a cyclic x1 must not meet them."""

    def roots(names: list[str]) -> np.ndarray:
        a, b, c = names
        system = System(
            name="names",
            coordinates=names,
            kinetic=f"{a}'^2 + {b}'^2 + {c}'^2 + ({a}'*{b}' + {b}'*{c}')*cos({b} + {c})/4 + {c}'^2*sin({b} + {c})^2",
            potential=f"-2*cos({b} + {c} + 0.3) + 3*({b} + {c})^2 - sin({b} - {c} - 0.1) + ({b} - {c})^2*(1 + ({b} - {c})^2)",
            box=dict.fromkeys(names, (-1.0, 1.0)),
        )
        (found,) = system.equilibria({a: 0.1}).equilibria
        return np.sort(np.abs(found.verdict.roots))

    assert roots(["x0", "x1", "x2"]) == pytest.approx(roots(["u", "v", "w"]), abs=1e-9)


def test_Q5_a_start_is_told_in_the_coordinates_along_a_symmetry(svyaz, tmp_path) -> None:
    text = """
coordinates = ["x", "y", "z"]
kinetic = "m/2*(x'^2 + y'^2 + z'^2)"
potential = "m*g*z"
[parameters]
m = 1
g = 9.81
[inputs]
u = 0
[forces]
z = "u"
[[constraint]]
name = "rod"
equation = "x^2 + y^2 + z^2 = 1"
[initial]
x = 0.8
z = -0.6
"y'" = 3.2
[box]
x = [-1.2, 1.2]
y = [-1.2, 1.2]
z = [-1.2, -0.1]
"""
    (tmp_path / "cone.toml").write_text(text)
    words = ("regulate", "cone.toml", "--fix", "psi'=4", "--fix", "u=0", "--run", "--until", "30")
    result = svyaz(*words, "--start", "rho=0.8", "--json", "-")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["runs"]["regulator"]["start"]["rho"] == pytest.approx(0.8)
    wrong = svyaz(*words, "--start", "x=0.8")
    assert wrong.returncode == 2
    assert "'x' is not among the variables" in wrong.stderr


@pytest.mark.parametrize("scale", [1e-15, 1.0, 1e15])
def test_N1_1_symmetries_do_not_depend_on_how_large_a_potential_is(scale: float) -> None:
    """On a rail y1 = 0 the shift along it is left alone; a turn of one body about the other changes T by m x1' y2'."""
    system = System(
        name="two bodies, one on a rail",
        coordinates=["x1", "y1", "x2", "y2"],
        kinetic="3/2*(x1'^2 + y1'^2) + (x2'^2 + y2'^2)/2",
        potential=f"-{scale!r}/sqrt((x1 - x2)^2 + (y1 - y2)^2)",
        constraint=[{"name": "rail", "equation": "y1 = 0"}],
        initial={"x2": 1.0},
    )
    (found,) = linear_symmetries(system)
    assert {q: float(e) for q, e in found.field.items()} == {"x1": 1.0, "x2": 1.0}


def test_no_symmetry_is_told_in_coordinates_of_free_joints() -> None:
    """Their velocities are no rates of coordinates: "moving y by -q2 changes nothing, so that 0 is constant" was told."""
    assert linear_symmetries(load("random-tree:3", joints="floating")) == ()
