"""Closed loops through positions in which the chart of Shulgin's equations degenerates, against multipliers by SciPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import symengine as se
from scipy.integrate import solve_ivp

from svyaz import System, gallery, loads
from svyaz.control import Basin, Design, Regulation, Transient, regulate
from svyaz.expr import gradient
from svyaz.forms import lagrangian as lagrangian_of

CART = {
    "name": "cart with a pendulum, limited force",
    "coordinates": ["c", "x", "y"],
    "kinetic": "M/2*c'^2 + m/2*(x'^2 + y'^2)",
    "potential": "m*g*y",
    "parameters": {"M": 1.5, "m": 0.3, "g": 9.81, "l": 0.7},
    "inputs": {"u": {"value": 0, "low": -3, "high": 3}},
    "forces": {"c": "u"},
    "constraint": [{"name": "rod", "equation": "(x - c)^2 + y^2 = l^2"}],
    "initial": {"y": 0.7},
    "box": {"c": [-1, 1], "x": [-2, 2], "y": [-1, 1]},
}


@pytest.fixture(scope="module")
def cart() -> Regulation:
    return regulate(System(**CART), fix={"c": 0.0})


@pytest.fixture(scope="module")
def beam() -> Regulation:
    choices = {"control": "voltage", "motor": "numbers", "dependent": "alpha", "equilibrium": "nonzero"}
    system = loads(gallery.find("ball-and-beam", choices) or "", "ball-and-beam").with_settings({"d": 0.0935})
    return regulate(system, fix={"r": 0.2}, against_linearised=True)


def with_multipliers(design: Design, run: Transient, until: float) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates at the times of a run by SciPy: M q̈ - Gᵀλ = Q, G q̈ = -γ, the control and the limits put in by hand."""
    model, system = design.model, design.model.system
    q, v = system.coordinates, system.velocities
    known = {se.Symbol(name): value for name, value in system.parameters.items()}
    positions, speeds = [se.Symbol(s) for s in q], [se.Symbol(s) for s in v]
    lagrangian, drag = lagrangian_of(system), system.dissipation
    momenta = gradient(lagrangian, speeds)
    mass = [gradient(p, speeds) for p in momenta]
    force = [
        lagrangian.diff(x) + system.forces.get(name, se.Integer(0)) - drag.diff(s)
        - sum(slope * speed for slope, speed in zip(gradient(p, positions), speeds, strict=True))
        for name, x, s, p in zip(q, positions, speeds, momenta, strict=True)
    ]  # fmt: skip
    rod = [c.expression for c in system.constraints]
    rows = [gradient(e, positions) for e in rod]
    bend = [sum(e.diff(a).diff(b) * s * w for a, s in zip(positions, speeds, strict=True)
                for b, w in zip(positions, speeds, strict=True)) for e in rod]  # fmt: skip
    n, m, names = len(q), len(rod), (*q, *v, *system.rates, *design.inputs)
    flat = [*(e for row in mass for e in row), *force, *(e for row in rows for e in row), *bend, *system.rates.values()]
    numbers = se.Lambdify([se.Symbol(name) for name in names], [se.sympify(e).subs(known) for e in flat], cse=True)
    rest = np.array([model.state.get(name, 0.0) for name in model.variables])
    places = [names.index(name) for name in model.variables]
    held = np.array([model.inputs[name] for name in design.inputs])
    limits = [system.inputs[name] for name in design.inputs]
    low = np.array([-np.inf if u.low is None else u.low for u in limits])
    high = np.array([np.inf if u.high is None else u.high for u in limits])

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        u = np.clip(held - design.regulator.gain @ (y[places] - rest), low, high)
        values = np.asarray(numbers(np.concatenate([y, u])))
        inertia, side, jacobian, curvature, further = np.split(values, np.cumsum([n * n, n, m * n, m]))
        slopes = jacobian.reshape(m, n)
        matrix = np.block([[inertia.reshape(n, n), slopes.T], [slopes, np.zeros((m, m))]])
        solution = np.linalg.solve(matrix, np.concatenate([side, -curvature]))
        return np.concatenate([y[n : 2 * n], solution[:n], further])

    times = run.times[run.times <= until]
    start = np.array([run.motion.column(name)[0] for name in names[: 2 * n + len(system.rates)]])
    path = solve_ivp(rates, (0.0, times[-1]), start, method="Radau", rtol=1e-10, atol=1e-11, t_eval=times)
    assert path.status == 0
    return times, path.y[:n].T


def singular_charts(motion_rows: np.ndarray, slope: Callable[[np.ndarray], np.ndarray]) -> int:
    """How often ∂F/∂s changes its sign."""
    values = slope(motion_rows)
    return int((values[1:] * values[:-1] < 0).sum())


def test_house_A8_a_cart_whose_pendulum_falls_through_the_horizontal(cart: Regulation) -> None:
    """∂F/∂y = 2 y vanishes there; ∂F/∂x does not."""
    run = cart.run({"x": 0.35}, 3.0)["regulator"].transient
    assert run.status == "finished"
    assert cart.plant.dependent == ("y",)
    assert singular_charts(run.motion.column("y"), lambda y: y) > 0
    times, expected = with_multipliers(cart.design, run, 3.0)
    found = np.column_stack([run.motion.column(q) for q in ("c", "x", "y")])[: len(times)]
    assert np.abs(found - expected).max() < 1e-6
    assert run.largest_residual < 1e-9


def test_house_A8_a_beam_under_the_control_from_linearised_constraints(beam: Regulation) -> None:
    """It was said to be lost at t = 11.22, where ∂F/∂alpha vanishes and ∂F/∂theta does not."""
    run = beam.run({"r": 0.23}, 15.0, beyond=True)["linearised constraints"].transient
    assert run.status == "finished"
    assert run.design.model.dependent == ("alpha",)
    times, expected = with_multipliers(run.design, run, 11.4)
    assert times[-1] > 11.37
    found = np.column_stack([run.motion.column(q) for q in beam.system.coordinates])[: len(times)]
    assert np.abs(found - expected).max() < 1e-6


def test_house_A8_members_of_a_basin_change_charts(cart: Regulation) -> None:
    """Starts from which the pendulum falls: what the lots say of them is what runs through the general driver say."""
    found: Basin = cart.basin({"x": (-0.4, 0.4)}, 5, 8.0, seed=3)
    assert 0 < found.returned.sum() < len(found.returned)
    for (deviation,), returned in zip(found.starts, found.returned, strict=True):
        run = cart.run({"x": float(deviation)}, 8.0)["regulator"].transient
        assert run.status == "finished"
        assert returned == (run.returned or run.falling)


STOP = {
    "name": "two masses with a spring between them, one before a stop",
    "coordinates": ["x", "y"],
    "kinetic": "(x'^2 + y'^2)/2",
    "potential": "2*(x - y)^2",
    "inputs": {"f": 0.0},
    "forces": {"y": "f"},
    "constraint": [
        {"name": "stop", "equation": "x = 0.1", "on": "x - 0.1", "off": "lambda_stop", "impact": "inelastic"}
    ],
    "box": {"x": [-1, 1], "y": [-1, 1]},
}


def test_a_closed_loop_runs_against_a_stop_and_returns() -> None:
    """Against SciPy: an impact from which the spring takes it back at once, a second one, pressed to the stop, free again."""
    found = regulate(System(**STOP), fix={"x": 0.0})
    assert any("designed for those that act at the beginning" in note for note in found.notes)
    run = found.run({"x'": 1.0, "y'": 1.0}, 20.0)["regulator"].transient
    assert run.status == "finished"
    assert run.motion.column("x").max() < 0.1 + 1e-9
    assert run.returned
    gain = found.design.regulator.gain[0]

    def rates(held: bool) -> Callable[[float, np.ndarray], list[float]]:
        def function(_: float, state: np.ndarray) -> list[float]:
            x, y, v, w = state
            return [0.0 if held else v, w, 0.0 if held else 4 * (y - x), 4 * (x - y) - gain @ state]

        return function

    def touches(_: float, state: np.ndarray) -> float:
        return state[0] - 0.1

    def pulls(_: float, state: np.ndarray) -> float:
        return state[0] - state[1]

    for event in (touches, pulls):
        event.terminal, event.direction = True, 1.0
    time, state, moments = 0.0, np.array([0.0, 0.0, 1.0, 1.0]), []
    for held, event in ((False, touches), (False, touches), (True, pulls), (False, None)):
        path = solve_ivp(rates(held), (time, 20.0), state, "DOP853", rtol=1e-11, atol=1e-12, events=event)
        time, state = path.t[-1], path.y[:, -1].copy()
        if event is not None:
            moments.append(time)
            state[2] = 0.0
    assert [event.t for event in run.motion.phases if event.on] == pytest.approx(moments[:2], abs=1e-6)
    assert [event.t for event in run.motion.phases if event.off] == pytest.approx(moments[::2], abs=1e-6)
    assert [run.motion.column(name)[-1] for name in ("x", "y", "x'", "y'")] == pytest.approx(state, abs=1e-6)


def test_a_basin_counts_runs_against_a_stop() -> None:
    found = regulate(System(**STOP), fix={"x": 0.0})
    counted = found.basin({"x'": (-1.0, 1.0)}, 4, 15.0)
    for (speed,), returned in zip(counted.starts, counted.returned, strict=True):
        run = found.run({"x'": float(speed)}, 15.0)["regulator"].transient
        assert returned == (run.returned or run.falling)
