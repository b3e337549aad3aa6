"""Q4, Q5: regulators about steady motions, in Lagrange's and in Routh's variables."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
from scipy.integrate import simpson

from control import lqr
from svyaz import System
from svyaz.control import NoRegulator, Regulation
from svyaz.expr import ModelError, evaluate, gradient
from svyaz.forms import derive
from svyaz.motion import simulate
from svyaz.show import as_json

PARAMETERS = {"m": 1.0, "g": 9.81, "l": 0.5, "J": 0.3, "b": 0.1, "k": 0.2}


def hoop(forces: dict[str, str]) -> System:
    return System(
        name="driven hoop",
        coordinates=["x", "z", "psi"],
        kinetic="m/2*(x'^2 + z'^2 + x^2*psi'^2) + J/2*psi'^2",
        potential="m*g*z",
        parameters=PARAMETERS,
        inputs={"M": 0},
        forces=forces,
        constraint=[{"name": "hoop", "equation": "x^2 + z^2 = l^2", "dependent": "x"}],
        initial={"x": 0.3, "z": -0.4, "psi'": 6},
        box={"x": [-0.6, 0.6], "z": [-0.6, 0.6]},
    )


def driven() -> System:
    """The shaft is driven against friction, the bead slides with friction."""
    return hoop({"psi": "M - b*psi'", "x": "-k*x'"})


@cache
def regulated(variables: str = "lagrange") -> Regulation:
    return driven().regulate(fix={"psi'": 6.0}, variables=variables)


@cache
def regulated_at_fixed_momentum() -> Regulation:
    return pushed().regulate(fix={"psi'": 6.0}, near={"x": 0.4})


def pushed() -> System:
    """The bead is pushed, the shaft turns freely: its momentum cannot be moved."""
    return hoop({"z": "M"})


def lagrange_matrices(system: System, state: dict[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """N and V of (z, z', psi') by differentiating Shulgin's equations, x eliminated by its linear part."""
    import symengine as se

    equations = derive(system, "shulgin")
    point = {**system.constants, **dict.fromkeys(equations.states, 0.0), **state, "t": 0.0}

    def table(entries, by):
        return np.array(
            [[evaluate(e, point) for e in gradient(entry, [se.Symbol(x) for x in by])] for entry in entries]
        )

    assert equations.accelerated == ("z", "psi")
    mass = np.array([[evaluate(e, point) for e in row] for row in equations.mass_matrix])
    slope = table([equations.explicit["x"]], ["z'"])
    by_z = table(equations.bias, ["z"]) + table(equations.bias, ["x"]) @ slope
    rows = -np.linalg.solve(mass, np.hstack([by_z, table(equations.bias, ["z'", "psi'"])]))
    inputs = -np.linalg.solve(mass, table(equations.bias, ["M"]))
    return np.vstack([[0.0, 1.0, 0.0], rows]), np.vstack([[0.0], inputs])


def test_Q4_lagrange_variables_are_those_of_the_source() -> None:
    """N, V_b of 1.7 and the optimal K for unit weights, against direct linearisation and python-control."""
    found = regulated()
    assert found.shown.variables == ("z", "z'", "psi'")
    state = {**found.plant.state, "psi'": 6.0, "M": found.plant.inputs["M"]}
    N, V = lagrange_matrices(driven(), state)
    assert pytest.approx(N, abs=1e-10) == found.shown.A
    assert pytest.approx(V, abs=1e-10) == found.shown.B
    assert found.plant.inputs["M"] == pytest.approx(0.1 * 6.0)
    K, _, _ = lqr(N, V, np.eye(3), np.eye(1))
    assert found.shown_gain == pytest.approx(K, abs=1e-8)


def test_Q4_weights_belong_to_the_variables_asked_for() -> None:
    """Routh's: the pair changes with the variables, its roots and whether it is controllable do not."""
    lagrange, routh = (regulated(word) for word in ("lagrange", "routh"))
    assert routh.shown.variables == ("z", "z'", "p_psi")
    K, _, _ = lqr(routh.shown.A, routh.shown.B, np.eye(3), np.eye(1))
    assert routh.shown_gain == pytest.approx(K, abs=1e-8)
    roots = [np.sort_complex(np.linalg.eigvals(found.shown.A)) for found in (lagrange, routh)]
    assert roots[0] == pytest.approx(roots[1], abs=1e-10)
    assert routh.plant.inputs == pytest.approx(lagrange.plant.inputs)


@pytest.mark.parametrize("variables", ["lagrange", "routh"])
@pytest.mark.parametrize("seed", range(3))
def test_Q5_the_loop_returns(variables: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = regulated(variables)
    z, speed = found.plant.state["z"], 6.0
    start = {"z": z * (1 + rng.uniform(-0.02, 0.02)), "psi'": speed * (1 + rng.uniform(-0.02, 0.02))}
    trial = found.run(start, 30.0)["regulator"]
    assert trial.start.consistent
    assert trial.answer == "returned"


def test_Q5_the_loop_is_that_of_the_model_itself() -> None:
    """u = u0 - K (z - z0, z', psi' - c) put into the forces of the model, in all its coordinates, gives the same motion."""
    found = regulated()
    z0, u0, K = found.plant.state["z"], found.plant.inputs["M"], [float(k) for k in found.shown_gain[0]]
    law = f"({u0!r}) - ({K[0]!r})*(z - ({z0!r})) - ({K[1]!r})*z' - ({K[2]!r})*(psi' - 6)"
    trial = found.run({"z": 1.02 * z0, "psi'": 6.1}, 10.0)["regulator"]
    begin = {**trial.start.state, "psi'": 6.1}
    told = u0 - K[0] * (begin["z"] - z0) - K[2] * 0.1
    assert trial.transient.inputs["M"][0] == pytest.approx(told, abs=1e-12), "the input shown is the one that acts"
    closed = hoop({"psi": f"{law} - b*psi'", "x": "-k*x'"}).with_settings(
        {f"initial.{name}": begin[name] for name in ("x", "z", "psi'")}
    )
    motion = simulate(closed, form="multipliers", method="dop853", rtol=1e-11, until=10.0, stabilize="off", force=True)
    for name in ("x", "z", "z'"):
        assert trial.transient.motion.column(name)[-1] == pytest.approx(motion.column(name)[-1], abs=1e-6)


def test_Q4_T1_conserved_momenta_are_named() -> None:
    found = regulated_at_fixed_momentum()
    assert found.shown.variables == ("z", "z'")
    assert found.design.controllable.complete
    assert "p_psi is conserved" in " ".join(found.notes)
    record = json.loads(json.dumps(as_json(found)))
    # p = (m x² + J) psi' with x dx = -z dz: in Lagrange's variables -2 m z psi' dz + (m x² + J) dpsi'
    state, m, j = found.plant.state, PARAMETERS["m"], PARAMETERS["J"]
    row = {"z": -2 * m * state["z"] * 6.0, "psi'": m * state["x"] ** 2 + j}
    (told,) = record["uncontrollable"]
    assert told["root"] == [0.0, 0.0]
    assert told["direction"] == pytest.approx({name: x / row["z"] for name, x in row.items()}, rel=1e-9)
    assert record["speeds"] == pytest.approx({"psi'": 6.0})


def test_Q5_a_perturbed_momentum_leads_to_the_motion_foretold() -> None:
    """The limit is announced beforehand and reached; it is a steady motion of the loop at the new momentum."""
    found = regulated_at_fixed_momentum()
    trial = found.run({"psi'": 6.3}, 60.0)["regulator"]
    assert trial.limit is not None
    assert trial.distance_from_limit < 1e-6
    assert abs(trial.limit["z"] - found.plant.state["z"]) > 1e-3
    assert "tends to the shifted steady motion" in trial.answer


def test_Q4_T2_velocities_do_not_see_a_neighbouring_motion() -> None:
    """Σ2, the positional velocity: the vector (x, 0, w) with Phi x + Ups w = 0 of N is not seen."""
    with pytest.raises(NoRegulator, match="not observable") as caught:
        hoop({"psi": "M", "x": "-k*x'"}).regulate(fix={"psi'": 6.0}, measure="z'")
    assert caught.value.facts.unobservable
    hoop({"psi": "M", "x": "-k*x'"}).regulate(fix={"psi'": 6.0}, measure="psi'")


def test_routh_variables_want_a_steady_motion() -> None:
    with pytest.raises(ModelError, match="those of steady motions"):
        driven().regulate(fix={"M": 0.0}, variables="routh")


def test_Q5_the_drift_of_a_cyclic_coordinate_is_that_of_a_run() -> None:
    found = driven().regulate(fix={"psi'": 6.0}, measure="z, psi'")
    record = json.loads(json.dumps(as_json(found)))
    run = found.run({"psi'": 6.0 + 1e-4}, 15.0)["regulator"].transient
    x, p = run.motion.column("x"), run.motion.column("p_psi")
    ahead = simpson(p / (PARAMETERS["m"] * x**2 + PARAMETERS["J"]) - 6.0, run.times)
    assert ahead == pytest.approx(1e-4 * record["drift"]["psi"]["psi'"], rel=5e-3)
    A, C = np.array(record["A"]), np.array([[1.0, 0, 0], [0, 0, 1.0]])
    assert np.allclose(record["observability"]["matrix"], np.vstack([C, C @ A, C @ A @ A]), atol=1e-8)
    B = np.array(record["B"])
    assert np.allclose(record["controllability"]["matrix"], np.hstack([B, A @ B, A @ A @ B]), atol=1e-8)


@pytest.mark.parametrize(("measured", "seen"), [("z", True), ("z'", False), ("psi'", True)])
def test_Q4_T2_without_forces_on_a_cyclic_coordinate_positional_velocities_do_not_see_neighbouring_motions(
    measured: str, seen: bool
) -> None:
    system = hoop({"psi": "M", "x": "-k*x'"})
    if seen:
        assert system.regulate(fix={"psi'": 6.0}, measure=measured).valid
        return
    with pytest.raises(NoRegulator, match="the root 0 cannot be seen"):
        system.regulate(fix={"psi'": 6.0}, measure=measured)


def test_Q5_forces_with_the_rate_of_a_current_beside_a_motor_on_a_cyclic_coordinate() -> None:
    """Blocks H and U₁: the current's rate acts on the shaft and on the pendulum; differences of equations by hand."""
    m, arm, g, j, la, ra, ka, c = 1.0, 0.5, 9.81, 0.5, 0.05, 1.0, 0.2, 0.05
    system = System(
        name="rotating pendulum with a motor",
        coordinates=["psi", "a"],
        kinetic="J/2*psi'^2 + m/2*l^2*(a'^2 + sin(a)^2*psi'^2)",
        potential="-m*g*l*cos(a)",
        parameters={"m": m, "l": arm, "g": g, "J": j},
        forces={"psi": f"-{c}*psi' + 0.03*I'", "a": "-0.1*a' + 0.02*I'"},
        motor=[
            {"name": "drive", "current": "I", "voltage": "e", "inductance": la, "resistance": ra, "back_emf": ka,
             "supply": 1.0, "torque": ka, "shaft": "psi'", "on": "psi"},
        ],
        initial={"psi'": 6, "a": 1},
    )  # fmt: skip

    def rates(s: np.ndarray, e: float) -> np.ndarray:
        a, v, i, w = s
        rise = (e - ra * i - ka * w) / la
        turn = (-c * w + 0.03 * rise + ka * i - m * arm**2 * np.sin(2 * a) * v * w) / (j + m * arm**2 * np.sin(a) ** 2)
        swing = (-0.1 * v + 0.02 * rise - m * g * arm * np.sin(a)) / (m * arm**2) + np.sin(2 * a) / 2 * w**2
        return np.array([v, swing, rise, turn])

    found = system.regulate(fix={"psi'": 6.0})
    rest, e = np.array([np.arccos(g / (arm * 36)), 0.0, c * 6 / ka, 6.0]), ra * c * 6 / ka + ka * 6
    assert found.shown.variables == ("a", "a'", "I", "psi'")
    assert [found.plant.state["a"], found.plant.inputs["e"]] == pytest.approx([rest[0], e], abs=1e-9)
    by = [(rates(rest + 1e-6 * d, e) - rates(rest - 1e-6 * d, e)) / 2e-6 for d in np.eye(4)]
    assert np.allclose(found.shown.A, np.column_stack(by), atol=1e-7)
    assert np.allclose(found.shown.B[:, 0], (rates(rest, e + 1e-6) - rates(rest, e - 1e-6)) / 2e-6, atol=1e-7)


def test_Q5_a_regulator_passes_to_polar_coordinates_along_a_symmetry() -> None:
    words = {"parameters": {"m": 1.0, "g": 9.81, "l": 1.0}, "inputs": {"u": 0}, "forces": {"z": "u"}}
    free = {"coordinates": ["x", "y", "z"], "kinetic": "m/2*(x'^2 + y'^2 + z'^2)", "potential": "m*g*z"}
    rod = [{"name": "rod", "equation": "x^2 + y^2 + z^2 = l^2"}]
    box = {"x": [-1.2, 1.2], "y": [-1.2, 1.2], "z": [-1.2, -0.1]}
    system = System(**free, **words, constraint=rod, box=box, initial={"x": 0.8, "z": -0.6, "y'": 3.2})
    found = system.regulate(fix={"psi'": 4.0, "u": 0.0})
    assert found.plant.state["z"] == pytest.approx(-9.81 / 16)
    assert found.valid
    assert "rho*cos(psi)" in " ".join(found.notes)
    # at the momentum of the cone the small oscillation is that of the spherical pendulum, sin²θ(1 + 3 cos²θ) being known
    cosine = 9.81 / 16
    assert np.abs(np.linalg.eigvals(found.plant.A)).max() == pytest.approx(4 * np.sqrt(1 + 3 * cosine**2), rel=1e-8)


TWO_SHAFTS = {
    "name": "two shafts",
    "coordinates": ["a", "p", "q"],
    "kinetic": "a'^2/2 + (1 + sin(a)^2/2)*p'^2/2 + (2 + 0.3*cos(a))*q'^2/2 + 0.1*a'*p'",
    "potential": "-3*cos(a)",
    "inputs": {"u": 0, "w": 0},
    "forces": {"p": "u", "q": "w"},
    "box": {"a": (0.2, 1.5)},
    "initial": {"a": 1.0},
}
FLAT = {
    "name": "reduced potential without curvature",
    "coordinates": ["a", "p"],
    "kinetic": "a'^2/2 + (1 + a)*p'^2/2",
    "potential": "2*a",
    "inputs": {"u": 0},
    "forces": {"p": "u"},
    "box": {"a": (-0.5, 1.5)},
}


@pytest.mark.parametrize(
    ("words", "fix", "measured", "seen"),
    [
        (TWO_SHAFTS, {"p'": 4.0, "q'": 1.0}, "a", False),  # positions, fewer than cyclic speeds: l > k
        (TWO_SHAFTS, {"p'": 4.0, "q'": 1.0}, "a'", False),
        (TWO_SHAFTS, {"p'": 4.0, "q'": 1.0}, "p', q'", True),
        (FLAT, {"p'": 2.0, "a": 0.5}, "a", True),
        (FLAT, {"p'": 2.0, "a": 0.5}, "p'", False),  # cyclic speeds, and Phi = 0
    ],
)
def test_Q4_observers_exist_where_they_are_proved_to(
    words: dict[str, object], fix: dict[str, float], measured: str, seen: bool
) -> None:
    """T2: positions see neighbouring steady motions iff l ≤ k, cyclic speeds iff Phi is regular, velocities never."""
    system = System(**words)
    if seen:
        assert system.regulate(fix=fix, measure=measured).valid
        return
    with pytest.raises(NoRegulator, match=f"the roots? 0.* cannot be seen in {measured}") as caught:
        system.regulate(fix=fix, measure=measured)
    assert all(abs(d.root) < 1e-6 for d in caught.value.facts.unobservable)
