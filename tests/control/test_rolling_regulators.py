"""Q5: regulators where velocities are constrained: an upright disc, a knife edge, and what lasts along steady motions."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from control import lqr
from svyaz import System, load
from svyaz.control import NoRegulator, Regulation, regulate
from svyaz.expr import ModelError
from svyaz.show import as_json

M, A, J = 1.3, 0.5, 0.9


def sleigh(**words: object) -> System:
    """J about the point of the blade: m (u̇ - a ω²) = push, J ω̇ + m a u ω = turn."""
    return System(
        name="knife edge",
        coordinates=["x", "y", "phi"],
        kinetic="m/2*(x'^2 + y'^2 + 2*a*phi'*(y'*cos(phi) - x'*sin(phi))) + J/2*phi'^2",
        parameters={"m": M, "a": A, "J": J},
        inputs={"push": 0, "turn": 0},
        forces={"x": "push*cos(phi)", "y": "push*sin(phi)", "phi": "turn"},
        constraint=[{"name": "blade", "equation": "y'*cos(phi) = x'*sin(phi)"}],
        box={"x": [-1, 1], "y": [-1, 1]},
        **words,
    )


@cache
def disc(inputs: str, measure: str = "") -> Regulation:
    return regulate(load("rolling-disc", control="torques"), fix={"phi'": 1.0}, inputs=inputs, measure=measure)


def test_Q5_the_gains_of_a_knife_edge_in_motion_are_those_of_its_equations_in_quasi_velocities() -> None:
    found = regulate(sleigh(), fix={"x'": 1.5})
    matrix = np.array([[0.0, 0.0], [0.0, -M * A * 1.5 / J]])
    inputs = np.diag([1 / M, 1 / J])
    assert found.plant.variables == ("x'", "phi'")
    assert np.allclose(found.plant.A, matrix, atol=1e-13)
    assert np.allclose(found.design.regulator.gain, lqr(matrix, inputs, np.eye(2), np.eye(2))[0], atol=1e-10)
    assert found.valid
    assert found.design.lasting is None


def test_Q5_the_closed_loop_of_a_knife_edge_moves_as_its_equations_in_quasi_velocities() -> None:
    found = regulate(sleigh(), fix={"x'": 1.5}, inputs="turn")
    (gain,) = found.design.regulator.gain
    assert gain[0] == 0  # nothing is fed back along what lasts

    def rates(_: float, s: np.ndarray) -> list[float]:
        u, w = s
        return [A * w**2, (-gain[1] * w - M * A * u * w) / J]

    run = found.run({"x'": 1.4, "phi'": 0.7}, until=8.0)["regulator"]
    own = solve_ivp(rates, (0, 8), [1.4, 0.7], rtol=1e-11, atol=1e-13, dense_output=True)
    speed, turn = (found_ - at for found_, at in zip(own.sol(run.transient.times), (1.5, 0.0), strict=True))
    assert np.allclose(run.transient.deviations["x'"], speed, atol=1e-7)
    assert np.allclose(run.transient.deviations["phi'"], turn, atol=1e-7)
    assert run.transient.reached is not None
    assert run.transient.returned
    assert run.transient.reached["x'"] == pytest.approx(own.y[0, -1], abs=1e-6)
    assert "x' lasts" in " ".join(found.notes)
    assert found.valid
    assert not found.reason


def test_Q5_about_rest_a_knife_edge_is_held_but_for_its_place_across() -> None:
    found = regulate(sleigh())
    assert found.plant.variables == ("x", "y", "phi", "x'", "phi'")
    lasting = found.design.lasting
    assert lasting is not None
    assert [d.weights for d in lasting.named] == [{"y": 1.0}]
    record = json.loads(json.dumps(as_json(found)))
    assert record["lasting"] == [{"direction": {"y": 1.0}, "root": [0.0, 0.0]}] == record["uncontrollable"]
    assert record["zero_roots"] == 1
    assert record["controllable"] is True
    assert record["reason"] == ""
    run = found.run({"x": 0.3, "phi": 0.2}, until=30.0)["regulator"]
    assert run.transient.returned
    assert not run.failed
    reached = run.transient.reached
    assert reached is not None
    assert abs(reached["x"]) < 1e-9
    assert abs(reached["y"]) > 1e-3


def test_Q5_a_slow_disc_is_kept_upright_by_the_torque_about_the_vertical_and_its_speed_lasts() -> None:
    # uniform disc, upright at speed c: ψ' and θ by (1/4) ψ'' + (1/2) c θ' = u, (5/4) θ'' - (3/2) c ψ' = g θ
    matrix = np.array([[0, 0, 1.0], [0, 0, -2.0], [9.81 / 1.25, 1.5 / 1.25, 0]])
    gain = lqr(matrix, np.array([[0.0], [4.0], [0.0]]), np.eye(3), np.eye(1))[0][0]
    found = disc("steer")
    own = dict(zip(found.plant.variables, found.design.regulator.gain[0], strict=True))
    assert [own[name] for name in ("theta", "psi'", "theta'", "phi'")] == pytest.approx([*gain, 0.0], abs=1e-8)
    basin = found.basin({"theta": (-0.1, 0.1), "theta'": (-0.2, 0.2), "phi'": (0.9, 1.1)}, count=20, until=12.0)
    assert basin.returned.all()
    assert basin.outside == 0


def test_Q5_with_both_torques_the_disc_returns_to_its_speed_also_by_an_observer() -> None:
    found = disc("steer,drive", "theta, phi'")
    assert found.design.lasting is None
    assert found.valid
    run = found.run({"theta": 0.02, "phi'": 1.05}, until=25.0)["regulator"]
    assert run.transient.returned
    assert abs(run.transient.final["phi'"] - 1.0) < 1e-3


def test_Q5_an_observer_that_does_not_see_what_lasts_leaves_its_estimate_at_zero() -> None:
    found = disc("steer", "theta")
    assert found.valid
    assert found.design.lasting_roots == 2
    run = found.run({"theta": 0.02}, until=25.0)["regulator"]
    assert run.transient.returned
    assert run.transient.final["estimate phi'"] == 0


def test_Q5_a_velocity_constraint_that_can_be_integrated_gives_what_the_geometric_one_does() -> None:
    words = {
        "coordinates": ["x", "z"],
        "kinetic": "m/2*(x'^2 + z'^2)",
        "potential": "m*g*z",
        "parameters": {"m": 2.0, "g": 9.81},
        "inputs": {"u": 0},
        "forces": {"x": "u"},
        "box": {"x": [-0.4, 0.4], "z": [-1, 1]},
    }
    rolled = System(**words, constraint=[{"name": "bowl", "equation": "z' = -x*x'/(1 + x^2)"}])
    placed = System(**words, constraint=[{"name": "bowl", "equation": "z = -log(1 + x^2)/2", "dependent": "z"}])
    first, second = (regulate(s, fix={"u": 0.0}, against_linearised=True) for s in (rolled, placed))
    own = dict(zip(first.plant.variables, first.design.regulator.gain[0], strict=True))
    assert [own["x"], own["x'"]] == pytest.approx(second.design.regulator.gain[0], abs=1e-9)
    assert own["z"] == 0
    assert first.plant.linearisation_defect == pytest.approx(second.plant.linearisation_defect)
    wrong = [r.rival.closed_roots(r.plant) for r in (first, second) if r.rival is not None]
    assert np.allclose([z for z in wrong[0] if abs(z) > 1e-9], wrong[1], atol=1e-8)


def test_Q5_the_value_at_which_a_control_that_is_kept_fails_is_found() -> None:
    found = regulate(sleigh(), fix={"x'": 1.0}, inputs="turn")
    gain = found.design.regulator.gain[0, 1]
    # -(gain + m a)/J < 0 as long as the centre of mass is not too far behind
    assert found.margin("a", (-2.0, 1.0)).crossings[0][0] == pytest.approx(-gain / M, rel=1e-8)


def test_Q5_what_cannot_be_asked_where_velocities_are_constrained_is_refused_in_words() -> None:
    with pytest.raises(ModelError, match="depends on the heading phi"):
        regulate(sleigh(), fix={"x'": 1.0}, measure="x'")
    with pytest.raises(ModelError, match="contains x"):
        regulate(sleigh(), fix={"x'": 1.0}, measure="x")
    with pytest.raises(ModelError, match="no momenta"):
        regulate(sleigh(), variables="routh")
    with pytest.raises(NoRegulator, match="cannot be moved"):
        regulate(load("rolling-disc", control="torques"))  # at rest no torque rights it
