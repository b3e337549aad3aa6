"""Tasks of users of other tools, as ``tests/typing/tasks.py`` writes them, with what the other tools say."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp
from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

import svyaz

FILE = Path(__file__).parents[1] / "typing" / "tasks.py"
MOST_LINES = 10


def loaded():
    spec = importlib.util.spec_from_file_location("tasks", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules["tasks"] = module
    spec.loader.exec_module(module)
    return module


tasks = loaded()
M, m, length, g = 2.0, 0.5, 0.8, 9.81


@pytest.fixture(scope="module")
def cart() -> svyaz.System:
    return svyaz.System(
        name="cart with a pendulum",
        coordinates=["x", "u"],
        kinetic="M/2*x'^2 + m/2*(x'^2 + 2*l*cos(u)*x'*u' + l^2*u'^2)",
        potential="-m*g*l*cos(u)",
        parameters={"M": M, "m": m, "l": length, "g": g},
        inputs={"F": 0.0},
        forces={"x": "F"},
    )


@pytest.fixture(scope="module")
def by_sympy():
    """The same cart by SymPy: Lagrange's method, the matrices ∂f/∂x and ∂f/∂F of ẋ = f as functions of the state and F."""
    x, u = dynamicsymbols("x u")
    t = dynamicsymbols._t
    kinetic = M / 2 * x.diff(t) ** 2
    kinetic += m / 2 * (x.diff(t) ** 2 + 2 * length * sp.cos(u) * x.diff(t) * u.diff(t) + length**2 * u.diff(t) ** 2)
    known = LagrangesMethod(kinetic + m * g * length * sp.cos(u), [x, u])
    known.form_lagranges_equations()
    v, w, f = sp.symbols("v w f")
    plain = {x.diff(t): v, u.diff(t): w}
    matrix, side = (part.subs(plain) for part in (known.mass_matrix, known.forcing))
    rates = sp.Matrix([v, w, *matrix.LUsolve(side + sp.Matrix([f, 0]))])
    state = sp.Matrix([x, u, v, w])
    arguments = [x, u, v, w, f]
    return sp.lambdify(arguments, rates), sp.lambdify(arguments, rates.jacobian(state))


def test_P1_each_task_is_at_most_ten_lines() -> None:
    bodies = {
        node.name: node.body[1:]
        for node in ast.parse(FILE.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    assert len(bodies) == 13
    lengths = {name: body[-1].end_lineno - body[0].lineno + 1 for name, body in bodies.items()}
    assert {name: count for name, count in lengths.items() if count > MOST_LINES} == {}


def test_P1_derive_and_lambdify() -> None:
    """M = Σ m Jᵀ J of the positions of the bobs, by SymPy."""
    system = svyaz.load("pendulum:2")
    u1, u2, m1, m2, l1, l2 = sp.symbols("u1 u2 m1 m2 L1 L2")
    first = sp.Matrix([l1 * sp.sin(u1), -l1 * sp.cos(u1)])
    second = first + sp.Matrix([l2 * sp.sin(u2), -l2 * sp.cos(u2)])
    slopes = [bob.jacobian([u1, u2]) for bob in (first, second)]
    matrix = m1 * slopes[0].T * slopes[0] + m2 * slopes[1].T * slopes[1]
    values = {**system.parameters, "u1": 0.4, "u2": -1.1}
    numbers = np.array(matrix.subs({sp.Symbol(name): value for name, value in values.items()})).astype(float)
    compiled = tasks.derive_and_lambdify()
    assert np.allclose(compiled(0.4, -1.1, *system.parameters.values()), numbers, atol=1e-13)


def test_P1_rates_into_solve_ivp() -> None:
    ours = svyaz.load("pendulum:2").simulate(until=2.0, rtol=1e-11)
    assert np.abs(tasks.rates_into_solve_ivp() - ours.states[-1]).max() < 1e-7


def test_P1_state_space_and_bode(cart, by_sympy) -> None:
    control = pytest.importorskip("control")
    _, slopes = by_sympy
    theirs = control.StateSpace(slopes(0, 0, 0, 0, 0), [[0], [0], [1 / M], [-1 / (M * length)]], [[1, 0, 0, 0]], 0)
    magnitude, phase, _ = control.frequency_response(theirs, [0.5, 1.0, 5.0])
    ours = tasks.state_space_and_bode(cart)
    assert np.allclose(ours[0], magnitude, rtol=1e-9)
    assert np.allclose(np.exp(1j * ours[1]), np.exp(1j * phase), atol=1e-9)


def test_P1_response_to_a_signal(cart, by_sympy) -> None:
    control = pytest.importorskip("control")
    rates, _ = by_sympy
    times = np.linspace(0.0, 3.0, 61)
    force = 0.2 * np.sin(2 * times)
    linear, whole = tasks.response_to_a_signal(cart, times, force)
    assert np.allclose(linear, control.forced_response(cart.to_control(outputs=["x"]), times, force).outputs, atol=1e-9)
    exact = solve_ivp(
        lambda t, x: rates(*x, np.interp(t, times, force)).ravel(), (0, 3), np.zeros(4), rtol=1e-9, atol=1e-10
    )
    assert whole[-1] == pytest.approx(exact.y[0, -1], abs=1e-6)


def test_P1_lqr_and_closed_loop(cart, by_sympy) -> None:
    control = pytest.importorskip("control")
    _, slopes = by_sympy
    gains, states = tasks.lqr_and_closed_loop(cart)
    b = [[0], [0], [1 / M], [1 / (M * length)]]
    theirs, _, _ = control.lqr(slopes(0, np.pi, 0, 0, 0), b, np.eye(4), [[1]])
    assert np.allclose(gains, theirs, rtol=1e-7)
    assert np.abs(states[-1] - [0, np.pi, 0, 0]).max() < 0.02


def test_P1_step_in_a_loop(cart, by_sympy) -> None:
    rates, _ = by_sympy
    state, expected = np.zeros(4), []
    for _ in range(20):
        force = 4.0 * state[1] - state[0]
        found = solve_ivp(lambda _, x, f=force: rates(*x, f).ravel(), (0, 0.05), state, rtol=1e-10, atol=1e-12)
        state = found.y[:, -1]
        expected.append(state[0])
    ours = tasks.step_in_a_loop(cart)
    assert len(ours) == 20
    assert np.allclose(ours, expected, atol=1e-8)


def test_P1_sweep_to_a_table() -> None:
    system = svyaz.load("pendulum:1")
    start = [system.initial.get("u1", 0.0), system.initial.get("u1'", 0.0)]
    ends = [
        solve_ivp(lambda _, x, k=g / l1: [x[1], -k * np.sin(x[0])], (0, 1), start, rtol=1e-10, atol=1e-11).y[0, -1]
        for l1 in (0.5, 1.0, 2.0)
    ]
    assert np.allclose(tasks.sweep_to_a_table(), ends, atol=1e-6)


def test_P1_animate_inline() -> None:
    shown = tasks.animate_inline()
    assert "<iframe srcdoc=" in shown
    assert "canvas" in shown


def test_P1_numeric_mass_matrix_of_a_robot() -> None:
    pinocchio = pytest.importorskip("pinocchio")
    robots = Path(pinocchio.__file__).parents[4] / "share" / "example-robot-data" / "robots"
    urdf = robots / "ur_description" / "urdf" / "ur5_robot.urdf"
    if not urdf.is_file():
        pytest.skip("the package example-robot-data is not installed")
    robot = pinocchio.buildModelFromUrdf(str(urdf))
    q = np.random.default_rng(3).uniform(-1, 1, (5, robot.nq))
    ours = tasks.numeric_mass_matrix_of_a_robot(urdf, q)
    for row, matrix in zip(q, ours, strict=True):
        half = pinocchio.crba(robot, robot.createData(), row)
        theirs = np.triu(half) + np.triu(half, 1).T
        assert np.allclose(matrix, theirs, atol=1e-10)


def test_P1_expressions_of_sympy_in() -> None:
    system = tasks.expressions_of_sympy_in()
    assert str(system.derive()) == "m*l^2*theta'' + m*l*g*sin(theta) = 0"


def test_P1_symbolic_jacobian_out(cart, by_sympy) -> None:
    _, slopes = by_sympy
    matrix = tasks.symbolic_jacobian_out(cart)
    assert matrix.shape == (4, 4)
    values = {"x": 0.3, "u": 0.7, "x'": -0.2, "u'": 1.1, "F": 0.4, **cart.parameters}
    ours = np.array(matrix.subs({sp.Symbol(name): value for name, value in values.items()})).astype(float)
    assert np.allclose(ours, slopes(0.3, 0.7, -0.2, 1.1, 0.4), atol=1e-11)


def test_P1_linear_about_a_moving_state(cart, by_sympy) -> None:
    rates, slopes = by_sympy
    exact = solve_ivp(lambda _, x: rates(*x, 0.0).ravel(), (0, 0.4), [0, 1, 0.3, 0], rtol=1e-11, atol=1e-12).y[:, -1]
    a, b = tasks.linear_about_a_moving_state(cart)
    assert np.allclose(a, slopes(*exact, 0.0), atol=1e-6)
    assert b.shape == (4, 1)
    assert np.allclose(b.ravel(), rates(*exact, 1.0).ravel() - rates(*exact, 0.0).ravel(), atol=1e-6)


def test_P1_a_system_step_by_step() -> None:
    motion = tasks.step_by_step(0.5)
    assert np.isclose(motion["u"][-1], 2.0, atol=1e-6)  # u' = 2 for a second
