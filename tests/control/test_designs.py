"""Regulators for models written here, against closed forms, python-control and other routes of their own."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import control
from svyaz import System
from svyaz.control.loop import closed_loop
from svyaz.control.regulators import NotSolvable, placing
from svyaz.control.trials import started
from svyaz.expr import ModelError
from svyaz.show import as_json, html_of
from svyaz.stability.choice import NoEquilibrium

CART: dict[str, Any] = {
    "name": "cart and pole",
    "coordinates": ["x", "phi"],
    "kinetic": "(M + m)/2*x'^2 + m*l*x'*phi'*cos(phi) + m*l^2/2*phi'^2",
    "potential": "m*g*l*cos(phi)",
    "parameters": {"M": 1.0, "m": 0.1, "l": 0.5, "g": 9.81},
    "inputs": {"F": 0.0},
    "forces": {"x": "F"},
}

BOWL: dict[str, Any] = {
    "name": "mass in a bowl",
    "coordinates": ["x", "y", "z"],
    "kinetic": "m/2*(x'^2 + y'^2 + z'^2)",
    "potential": "m*g*z",
    "parameters": {"m": 0.2, "g": 9.81, "a": -1.0, "b": 2.0},
    "inputs": {"f": 0.0, "h": 0.0},
    "forces": {"x": "f - 0.05*x'", "y": "h - 0.05*y'"},
    "constraint": [{"name": "surface", "equation": "z = a*x^2 + b*y^2"}],
    "box": {"x": [-1, 1], "y": [-1, 1], "z": [-3, 3]},
}

MAGNET: dict[str, Any] = {
    "name": "magnetic levitation",
    "coordinates": ["h"],
    "kinetic": "m/2*h'^2",
    "potential": "-m*g*h",
    "parameters": {"m": 0.1, "g": 9.81, "C": 1e-3},
    "inputs": {"i": {"value": 1, "low": 0, "high": 5}},
    "forces": {"h": "-C*i^2/h^2"},
    "box": {"h": [0.005, 0.1]},
    "initial": {"h": 0.02},
}

CRANK: dict[str, Any] = {
    "name": "slider-crank with a motor",
    "coordinates": ["phi", "psi", "x"],
    "kinetic": "J/2*phi'^2 + M/2*x'^2 + Jr/2*psi'^2",
    "potential": "k/2*(x - 0.35)^2 + w*r/2*sin(phi)",
    "parameters": {"J": 0.02, "M": 0.5, "Jr": 0.005, "r": 0.1, "l": 0.3, "k": 200, "w": 3.0},
    "forces": {"phi": "-0.01*phi'"},
    "constraint": [
        {"name": "closure x", "equation": "r*cos(phi) + l*cos(psi) = x"},
        {"name": "closure y", "equation": "r*sin(phi) = l*sin(psi)"},
    ],
    "motor": [
        {"name": "drive", "current": "I", "voltage": "U", "inductance": 0.005, "resistance": 1.0, "back_emf": 0.1,
         "supply": 1.0, "torque": 0.1, "shaft": "phi'", "on": "phi"},
    ],
    "box": {"x": [0, 0.5]},
    "initial": {"phi": 1.0, "psi": "asin(r*sin(1.0)/l)"},
}  # fmt: skip

BESIDE: dict[str, Any] = {
    "name": "an unstable mass beside a damped one",
    "coordinates": ["p", "q"],
    "kinetic": "(p'^2 + q'^2)/2",
    "potential": "-p^2/2 + q^2",
    "inputs": {"f": 0.0},
    "forces": {"p": "f", "q": "-q'"},
    "box": {"p": [-1, 1], "q": [-1, 1]},
}


def test_a_cart_and_pole_is_the_textbook_one() -> None:
    found = System(**CART).regulate()
    M, m, length, g = 1.0, 0.1, 0.5, 9.81
    a = np.zeros((4, 4))
    a[0, 2] = a[1, 3] = 1.0
    a[2, 1], a[3, 1] = -m * g / M, (M + m) * g / (M * length)
    b = np.array([[0.0], [0.0], [1 / M], [-1 / (M * length)]])
    assert pytest.approx(a, abs=1e-12) == found.plant.A
    assert pytest.approx(b, abs=1e-12) == found.design.B
    assert found.design.regulator.gain == pytest.approx(control.lqr(a, b, np.eye(4), np.eye(1))[0], rel=1e-8)
    assert found.theorem.startswith("Krasovskii")
    assert "x may be moved without any force" in " ".join(found.notes)  # the cart may stand anywhere: two zero roots
    assert found.run({"phi": 0.1}, 20.0)["regulator"].answer == "returned"


def test_R2_in_the_bowl_all_stiffness_comes_from_second_derivatives_of_the_constraint() -> None:
    found = System(**BOWL).regulate(against_linearised=True)
    m, g = 0.2, 9.81
    assert found.plant.A[2:, :2] == pytest.approx(np.diag([2 * g, -4 * g]))
    assert found.plant.linearisation_defect == pytest.approx(np.hypot(2 * m * g, 4 * m * g))
    assert found.rival.model.A[2:, :2] == pytest.approx(np.zeros((2, 2)))
    assert not found.rival.stabilises(found.plant)
    result = as_json(found)
    assert result["zero_roots"] == 1
    assert result["against"]["stabilises"] is False


def test_an_input_that_enters_as_a_square_is_looked_for_between_its_limits() -> None:
    found = System(**MAGNET).regulate()
    current = 0.02 * np.sqrt(0.1 * 9.81 / 1e-3)
    assert found.plant.inputs["i"] == pytest.approx(current, rel=1e-12)
    assert found.plant.A[1, 0] == pytest.approx(2 * 9.81 / 0.02)
    assert found.plant.B[1, 0] == pytest.approx(-2 * 9.81 / current)
    heavier = found.margin("m", (0.05, 0.4))
    assert np.isfinite(heavier.largest).all()


def test_a_range_may_contain_values_for_which_there_is_no_model() -> None:
    words = {**CART, "parameters": {**CART["parameters"], "h": "1/(l - 1)"}}
    found = System(**words).regulate().margin("l", (0.4, 1.0))
    assert np.isnan(found.largest[-1])
    assert np.isfinite(found.largest[:-1]).all()


def test_R4_a_slider_crank_with_multipliers_and_by_shulgin_moves_alike_under_its_control() -> None:
    found = System(**CRANK).regulate()
    start = started(found.plant, {"phi": 0.2, "phi'": 0.5, "I": 0.3})
    assert start.consistent
    first = closed_loop(found.design).run(start.state, 10.0, rtol=1e-11)
    second = closed_loop(found.design, form="multipliers").run(start.state, 10.0, rtol=1e-11)
    for name in found.plant.variables:
        assert np.abs(first.deviations[name] - second.deviations[name]).max() < 1e-7
    assert first.largest_residual < 1e-9
    assert first.returned


def test_R3_an_inconsistent_start_ends_where_it_was_foretold() -> None:
    found = System(**CRANK).regulate()
    assert found.plant.dependent == ("psi", "x")
    at = found.plant.state
    trial = found.run({"phi": at["phi"] + 0.05, "x": at["x"] + 0.01}, 20.0)["regulator"]
    assert not trial.start.consistent
    assert not trial.transient.returned
    assert not trial.failed
    assert trial.distance_from_limit < 1e-9
    assert abs(trial.limit["phi"] - found.plant.state["phi"]) > 5e-3
    told = as_json(trial)
    assert told["residuals"]["closure x"] == pytest.approx(-0.01, abs=1e-9)
    assert "foretold" in told["answer"]


def test_the_velocity_of_a_redundant_coordinate_is_no_part_of_a_start() -> None:
    found = System(**CRANK).regulate()
    with pytest.raises(ModelError, match="follow from the constraints"):
        started(found.plant, {"x'": 0.1})
    with pytest.raises(ModelError, match="not among the variables"):
        started(found.plant, {"y": 0.1})


def test_plants_and_loops_are_handed_to_python_control() -> None:
    found = System(**CRANK).regulate(measure="phi")
    plant, loop = found.to_control(), found.loop_to_control()
    assert plant.state_labels == list(found.plant.variables)
    assert pytest.approx(found.plant.A) == plant.A
    assert pytest.approx(np.array([[1.0, 0.0, 0.0]])) == plant.C
    assert np.sort_complex(loop.poles()) == pytest.approx(np.sort_complex(found.design.closed_roots(found.plant)))
    free = System(**CART).regulate()
    closed = np.sort_complex(free.loop_to_control().poles())
    assert closed == pytest.approx(np.sort_complex(free.design.closed_roots(free.plant)))


def test_roots_are_placed_and_the_riccati_equation_is_not_spoken_of() -> None:
    found = System(**CART).regulate(method=placing([-1.0, -2.0, -3.0 + 1j, -3.0 - 1j]))
    result = as_json(found)
    wanted = [[-1, 0], [-2, 0], [-3, 1], [-3, -1]]
    assert sorted(map(tuple, np.round(result["closed_roots"], 9))) == sorted(map(tuple, wanted))
    assert result["riccati_residual"] is None
    assert found.valid


def test_weights_are_given_by_words_or_matrices(tmp_path) -> None:
    system = System(**CART)
    words = {"state": {"x": 10.0, "phi'": 0.0}, "input": {"F": 0.1}}
    by_words = system.regulate(weights=words).design.regulator.gain
    a, b = system.regulate().plant.A, system.regulate().plant.B
    expected = control.lqr(a, b, np.diag([10.0, 1.0, 1.0, 0.0]), [[0.1]])[0]
    assert by_words == pytest.approx(expected, rel=1e-8)
    by_matrices = system.regulate(weights={"Q": np.diag([10.0, 1, 1, 0]), "R": [[0.1]]}).design.regulator.gain
    assert by_matrices == pytest.approx(by_words, rel=1e-12)
    file = tmp_path / "weights.toml"
    file.write_text('[state]\nx = 10\n"phi\'" = 0\n[input]\nF = 0.1\n')
    assert system.regulate(weights=file).design.regulator.gain == pytest.approx(by_words, rel=1e-12)


def test_noise_weighs_the_observer() -> None:
    system = System(**CART)
    noise = {"noise": {"phi'": 4.0, "x + 0*phi": 0.25}}
    found = system.regulate(measure=["x + 0*phi"], weights=noise)
    a, c = found.plant.A, [[1.0, 0, 0, 0]]
    expected = control.lqr(a.T, np.transpose(c), np.diag([1.0, 1.0, 1.0, 4.0]), [[0.25]])[0].T
    assert found.design.watcher.gain == pytest.approx(expected, rel=1e-8)


def test_the_measurement_of_a_plain_variable_is_weighed_in_its_own_table(tmp_path: Path) -> None:
    system = System(**CART)
    file = tmp_path / "weights.toml"
    file.write_text("[noise]\nx = 3\nphi = 2\n[measurement]\nx = 0.01\nphi = 4\n")
    found = system.regulate(measure="x, phi", weights=file)
    c = np.eye(2, 4)
    expected = control.lqe(found.plant.A, np.eye(4), c, np.diag([3.0, 2.0, 1.0, 1.0]), np.diag([0.01, 4.0]))[0]
    assert found.design.watcher.gain == pytest.approx(expected, rel=1e-8)
    assert not [note for note in found.notes if "[noise]" in note]

    process, meters = (
        np.diag([3.0, 2, 1, 1]) + 0.5 * np.eye(4, k=1) + 0.5 * np.eye(4, k=-1),
        [[0.01, 0.002], [0.002, 4]],
    )
    found = system.regulate(measure="x, phi", weights={"W": process, "V": meters})
    expected = control.lqe(found.plant.A, np.eye(4), c, process, np.array(meters))[0]
    assert found.design.watcher.gain == pytest.approx(expected, rel=1e-8)


def test_noise_of_a_measured_variable_is_of_the_process_and_a_note_says_so() -> None:
    found = System(**CART).regulate(measure="x", weights={"noise": {"x": 0.01}})
    expected = control.lqe(found.plant.A, np.eye(4), np.eye(1, 4), np.diag([0.01, 1, 1, 1]), [[1.0]])[0]
    assert found.design.watcher.gain == pytest.approx(expected, rel=1e-8)
    told = "[noise] x is taken as noise of the process; the measurement of x is weighed by [measurement]"
    assert told in found.notes


def test_weights_of_measurements_that_do_not_fit_are_refused() -> None:
    def refused(message: str, measure: str = "x", **weights: Any) -> None:
        with pytest.raises(ModelError, match=message):
            System(**CART).regulate(measure=measure, weights=weights)

    refused("no measured expression 'phi'; there are x", measurement={"phi": 1.0})
    refused("no measured expression 'x'; there is none", measure="", measurement={"x": 1.0})
    refused("must be positive", measurement={"x": 0.0})
    refused("already weighs the measurement of '2[*]x'", measure="2*x", measurement={"2*x": 1.0}, noise={"2*x": 1.0})
    refused("not both", V=[[1.0]], measurement={"x": 1.0})
    refused("positive definite", V=[[0.0]])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"state": {"x": -1.0}}, "positive or zero"),
        ({"input": {"F": 0.0}}, "must be positive"),
        ({"R": [[-1.0]]}, "positive definite"),
        ({"Q": [[1.0, 2.0], [2.0, 1.0]]}, "4 × 4"),
        ({"Q": np.array([[1.0, 2, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])}, "symmetric"),
        ({"Q": "unit"}, "matrix of numbers"),
        ({"noise": {"y": 1.0}}, "no variable 'y'"),
        ({"weights": {}}, "weights have no 'weights'"),
        ({"R": [[1.0]], "input": {"F": 1.0}}, "not both"),
    ],
)
def test_R6_weights_that_do_not_fit_are_refused(weights: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        System(**CART).regulate(weights=weights)


def test_R6_what_cannot_be_controlled_or_seen_is_refused_or_told() -> None:
    twins = {**BESIDE, "potential": "-(p^2 + q^2)/2", "forces": {"p": "f", "q": "f"}}
    with pytest.raises(NotSolvable, match="not controllable: the root 1 cannot be moved by f") as refusal:
        System(**twins).regulate()
    assert as_json(refusal.value)["controllable"] is False
    assert as_json(refusal.value)["variables"] == ["p", "q", "p'", "q'"]
    beside = System(**BESIDE).regulate()
    assert not beside.valid
    assert beside.reason == "not controllable: the roots -0.5+1.3229i, -0.5-1.3229i cannot be moved by f (direction q)"
    with pytest.raises(NotSolvable, match="not observable: the root"):
        System(**{**BESIDE, "forces": {"p": "f", "q": "f - q'"}}).regulate(measure=["q"])
    with pytest.raises(NotSolvable, match="does not change to first order"):
        System(**CART).regulate(measure=["cos(phi)"])


def test_R6_a_position_from_which_the_drive_does_not_move_the_mechanism() -> None:
    """A cam at its highest point, da/db = 0: the torque on b neither holds the weight on a nor moves it to first order."""
    cam: dict[str, Any] = {
        "coordinates": ["a", "b"],
        "kinetic": "(a'^2 + b'^2)/2",
        "potential": "a",
        "inputs": {"u": 0.0},
        "forces": {"b": "u"},
        "constraint": [{"equation": "a = cos(b)", "name": "cam"}],
        "box": {"a": [-2, 2], "b": [-0.5, 0.5]},
    }
    with pytest.raises(NotSolvable, match="not controllable"):
        System(**{**cam, "forces": {"a": "u"}}).regulate(near={"b": 0.0})
    with pytest.raises(NoEquilibrium, match="cannot be solved for 'b': det ∂F/∂s = 0"):
        System(**cam).regulate(fix={"b": 0.0}, dependent=["b"])


def test_drives_that_share_a_load_are_given_their_values_in_the_model() -> None:
    words = {**CART, "inputs": {"F": 0.0, "H": 2.0}, "forces": {"x": "F + H"}}
    found = System(**words).regulate()
    assert (found.plant.inputs["F"] + found.plant.inputs["H"]) == pytest.approx(0.0, abs=1e-12)
    assert found.valid
    assert np.array(found.design.regulator.gain[0]) == pytest.approx(found.design.regulator.gain[1])


def test_limits_of_inputs_that_do_not_hold_the_equilibrium_take_the_theorem_away() -> None:
    weak = {
        "coordinates": ["u"],
        "kinetic": "u'^2/2",
        "potential": "9.81*cos(u)",
        "inputs": {"tau": {"value": 0, "low": -1, "high": 1}},
        "forces": {"u": "tau"},
        "initial": {"u": 0.5},
    }
    found = System(**weak).regulate()
    assert "tau = -4.703 that holds the equilibrium lies within its limits" in found.reason
    assert not found.valid
    assert System(**weak).regulate(near={"u": 0.05}).valid


def test_results_show_themselves_in_notebooks() -> None:
    system = System(**CRANK)
    family = html_of(system.equilibria())
    assert "family of dimension 1" in family
    page = html_of(system.equilibria(fix={"U": 0.0}))
    assert page.count("<tr>") == 5
    assert "unstable" in page
    shown = html_of(system.regulate())
    assert "closed roots" in shown
    assert "NO" not in shown
    assert "perturbations satisfy the constraints" in shown


def test_near_names_the_member_of_a_family() -> None:
    found = System(**CRANK).regulate(near={"x": 0.38})
    assert found.plant.state["x"] == pytest.approx(0.38, abs=1e-12)
    with pytest.raises(ModelError, match="no coordinate of the model"):
        System(**CRANK).regulate(near={"I": 1.0})
    with pytest.raises(ModelError, match="prescribed"):
        System(**CRANK).regulate(near={"x": 0.3}, fix={"x": 0.3})


def test_N1_1_4_roots_with_an_observer_are_those_of_the_regulator_and_of_the_observer() -> None:
    """Five unstable masses in a row of which one is seen: its gains, up to 6e4, make the roots of the whole matrix rounding."""
    names = [f"x{k}" for k in range(5)]
    springs = " + ".join(f"({a} - {b})^2/2" for a, b in pairwise(names))
    row = System(
        coordinates=names,
        kinetic=" + ".join(f"{x}'^2/2" for x in names),
        potential=f"{springs} - 2*({' + '.join(f'{x}^2' for x in names)})",
        inputs={f"u{x}": 0 for x in names},
        forces={x: f"u{x}" for x in names},
    )
    found = row.regulate(fix=dict.fromkeys(names, 0.0), measure=["x0"])
    design, plant = found.design, found.plant
    assert design.watcher is not None
    assert design.measurement is not None
    parts = plant.A - design.B @ design.regulator.gain, plant.A - design.watcher.gain @ design.measurement.matrix
    expected = np.concatenate([np.linalg.eigvals(part) for part in parts])
    np.testing.assert_allclose(np.sort_complex(design.closed_roots(plant)), np.sort_complex(expected), rtol=1e-6)
    assert design.stabilises(plant)
    assert as_json(found)["zero_roots"] == 0
    assert all(h["holds"] for h in as_json(found)["hypotheses"])
