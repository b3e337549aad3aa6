"""Residuals, their scales, and projections onto the constraints."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from svyaz import System
from svyaz.constraints.states import NoConsistentState, project, residuals
from svyaz.dynamics.measure import measure_of, state_vector
from svyaz.dynamics.projection_program import projection_program
from svyaz.expr import ModelError
from svyaz.forms import Equations
from svyaz.forms.derivation import derive
from svyaz.forms.named.multipliers import with_multipliers
from svyaz.forms.programs import augmented_system, rate_expressions
from svyaz.program import Program, compile_program
from svyaz.program.building import build

PI = math.pi


def sleigh(**initial: float) -> System:
    """The sleigh of Chaplygin on an incline, m = a = J = 1: its mass matrix is singular."""
    return System(
        name="sleigh",
        coordinates=["x", "y", "phi"],
        kinetic="m/2*(x'^2 + y'^2 + 2*a*phi'*(y'*cos(phi) - x'*sin(phi))) + J/2*phi'^2",
        potential="-m*g*x*sin(30*deg)",
        parameters={"m": 1, "a": 1, "J": 1, "g": 9.8},
        constraint=[{"name": "blade", "equation": "y'*cos(phi) = x'*sin(phi)"}],
        initial={"y": 1.0, "phi": math.pi / 3, "phi'": 1.0, **initial},
    )


def pendulum(**initial: float) -> System:
    """A point of mass 2 on a rod of length 1.5, in x and y."""
    return System(
        name="pendulum",
        coordinates=["x", "y"],
        kinetic="m/2*(x'^2 + y'^2)",
        potential="m*g*y",
        parameters={"m": 2, "g": 9.81, "l": 1.5},
        constraint=[{"name": "rod", "equation": "x^2 + y^2 = l^2"}],
        initial=initial or {"x": 1.5},
    )


def points(coordinates: str, *equations: str, kinetic: str = "", initial: dict | None = None) -> System:
    """Unit masses on lines, constraints c1, c2 …"""
    names = coordinates.split()
    return System(
        name="points",
        coordinates=names,
        kinetic=kinetic or "+".join(f"{q}'^2/2" for q in names),
        potential="0",
        constraint=[{"name": f"c{k + 1}", "equation": e} for k, e in enumerate(equations)],
        initial=initial or {},
    )


def test_scale_is_the_sum_of_the_terms() -> None:
    r = residuals(derive(pendulum(x=1.2, y=0.9, **{"x'": 1.0})))["rod"]
    assert r.position == pytest.approx(0.0, abs=1e-15)
    assert r.position_scale == pytest.approx(1.2**2 + 0.9**2 + 1.5**2)
    assert r.velocity == pytest.approx(2.4)
    assert r.velocity_scale == pytest.approx(2.4)
    assert r.position_met
    assert not r.velocity_met


def test_at_rest_rounding_is_no_wrong_velocity() -> None:
    r = residuals(derive(pendulum(x=1.5, **{"x'": 1e-17})))["rod"]
    assert r.met


def test_sine_that_is_zero_up_to_rounding() -> None:
    assert residuals(derive(points("u v", "sin(u) = 0", initial={"u": math.pi})))["c1"].met


@pytest.mark.parametrize("factor", [1e-8, 1.0, -1e9])
@pytest.mark.parametrize("unit", [1e-3, 1.0, 180 / math.pi])
def test_C6_relative_residual_does_not_depend_on_units(factor: float, unit: float) -> None:
    model = System(
        name="rod",
        coordinates=["x", "u"],
        kinetic="((x'/s)^2 + u'^2)/2",
        potential="x/s",
        parameters={"s": unit, "k": factor},
        constraint=[{"name": "rod", "equation": "k*(x/s - cos(u)) = 0"}],
        initial={"x": 0.5 * unit, "u": 0.3, "x'": 0.2 * unit},
    )
    r = residuals(derive(model))["rod"]
    assert abs(r.position) / r.position_scale == pytest.approx(abs(0.5 - math.cos(0.3)) / 1.5, rel=1e-12)
    assert abs(r.velocity) / r.velocity_scale == pytest.approx(1.0, rel=1e-12)


def test_C5_wrong_position_wrong_velocity_broken_hidden_constraint() -> None:
    (wrong,) = residuals(derive(pendulum(x=1.4))).values()
    assert not wrong.position_met
    assert wrong.position == pytest.approx(-0.29)
    (hidden,) = residuals(derive(pendulum(x=1.5, **{"x'": 0.5}))).values()
    assert hidden.position_met
    assert not hidden.velocity_met
    (blade,) = residuals(derive(sleigh(**{"x'": 1.0}))).values()
    assert blade.position is None
    assert not blade.velocity_met
    assert all(r.met for r in residuals(derive(sleigh())).values())


def test_000_A18_consistent_start_of_the_cart() -> None:
    model = points("x y theta", "y = sin(x)", "x'*sin(theta) = y'*cos(theta)", initial={"theta": math.pi / 4})
    found = residuals(derive(model))
    assert all(r.met and abs(r.velocity) <= 1e-14 for r in found.values())
    assert found["c1"].position == pytest.approx(0.0, abs=1e-14)


def test_projection_of_a_pendulum_is_radial() -> None:
    equations = derive(pendulum(x=2.0, y=-1.0, **{"x'": 0.3, "y'": 0.4}))
    found = project(equations)
    r = np.array([2.0, -1.0]) / math.sqrt(5.0)
    v = np.array([0.3, 0.4])
    assert found.state[:2] == pytest.approx(1.5 * r, abs=1e-13)
    assert found.state[2:] == pytest.approx(v - (v @ r) * r, abs=1e-13)
    assert found.moved["x"] == pytest.approx(1.5 * r[0] - 2.0)


def test_projection_is_the_nearest_point_in_the_norm_of_the_masses() -> None:
    """Two points of masses 1 and 5 on a rod that ends on a parabola, against SciPy."""
    model = points(
        "x y z",
        "(x - z)^2 + y^2 = 1",
        "y = x^2/2",
        kinetic="(x'^2 + y'^2)/2 + 5/2*z'^2 + 0.3*x'*z'",
        initial={"x": 0.6, "y": 0.6, "z": 0.0},
    )
    found = project(derive(model))
    mass = np.array([[1, 0, 0.3], [0, 1, 0], [0.3, 0, 5]])
    start = np.array([0.6, 0.6, 0.0])
    rows = [lambda q: (q[0] - q[2]) ** 2 + q[1] ** 2 - 1, lambda q: q[1] - q[0] ** 2 / 2]
    best = minimize(
        lambda q: (q - start) @ mass @ (q - start) / 2,
        start,
        method="SLSQP",
        constraints=[{"type": "eq", "fun": row} for row in rows],
        options={"ftol": 1e-15, "maxiter": 500},
    )
    assert found.state[:3] == pytest.approx(best.x, abs=1e-6)


def test_velocities_are_projected_in_the_norm_of_the_masses() -> None:
    model = points("x y", "x + y = 0", kinetic="x'^2/2 + 4*y'^2/2", initial={"x'": 1.0, "y'": 2.0})
    found = project(derive(model))
    # min (a - 1)² + 4 (b - 2)² with a + b = 0: a = -7/5
    assert found.state[2:] == pytest.approx([-1.4, 1.4], abs=1e-14)


def test_singular_mass_matrix() -> None:
    """With M singular the least correction is still unique: the blade's row alone carries it."""
    equations = derive(sleigh(**{"x'": 0.4, "y'": -0.2}))
    found = project(equations)
    assert residuals(equations, found.state)["blade"].met
    p = compile_program(projection_program(equations))
    native = p.evaluate(np.r_[0.0, state_vector(equations)], p.constants(equations.system.constants))
    assert native == pytest.approx(found.state, abs=1e-12)


def test_nonlinear_velocity_constraint() -> None:
    found = project(derive(points("x y", "x'^2 + y'^2 = 1", initial={"x'": 2.0, "y'": 1.0})))
    assert found.state[2:] == pytest.approx(np.array([2.0, 1.0]) / math.sqrt(5.0), abs=1e-14)


def test_redundant_but_consistent_constraints_are_met() -> None:
    found = project(derive(points("x y", "x = 1", "2*x = 2", "x^2 + y^2 = 4", initial={"x": 0.5, "y": 0.2})))
    assert found.state[:2] == pytest.approx([1.0, math.sqrt(3.0)], abs=1e-13)


def test_moving_constraint() -> None:
    equations = derive(points("x y", "x = sin(t)", initial={"x": 3.0}))
    assert project(equations, time=0.5).state == pytest.approx([math.sin(0.5), 0.0, math.cos(0.5), 0.0], abs=1e-15)


def test_nothing_moves_when_all_is_met() -> None:
    found = project(derive(pendulum(x=1.5)))
    assert (found.moved, found.iterations) == ({}, 0)


def test_C6_projection_does_not_depend_on_units() -> None:
    states = []
    for unit in (1.0, 1e4):
        model = System(
            name="rod",
            coordinates=["x", "y"],
            kinetic="((x'/s)^2 + 2*y'^2)/2",
            potential="0",
            parameters={"s": unit},
            constraint=[{"name": "rod", "equation": "(x/s)^2 + y^2 = 1"}],
            initial={"x": 0.9 * unit, "y": 0.8, "x'": unit},
        )
        states.append(project(derive(model)).state / np.array([unit, 1.0, unit, 1.0]))
    assert states[0] == pytest.approx(states[1], rel=1e-9)


@pytest.mark.parametrize(
    ("equations", "words", "names"),
    [
        (["x^2 + y^2 = -1"], "'c1' stays off by 1 ", ("c1",)),
        (["x = 1", "x = 2"], "'c1' and 'c2' contradict each other", ("c1", "c2")),
        (["x = 1", "x' = 2"], "'c1' and 'c2' contradict each other", ("c1", "c2")),
        (["x'^2 + y'^2 = -2"], "no velocity near the given one", ("c1",)),
        (["exp(x) = -1"], "'c1' stays off by 1", ("c1",)),
    ],
)
def test_refusals_say_which_constraint_and_how_far(equations: list[str], words: str, names: tuple[str, ...]) -> None:
    model = points("x y", *equations, initial={"x": 0.7, "y": 0.4, "x'": 0.2, "y'": 0.1})
    with pytest.raises(NoConsistentState) as refused:
        project(derive(model))
    assert words in str(refused.value)
    assert refused.value.constraints == names


def test_refusal_where_the_gradient_vanishes() -> None:
    with pytest.raises(NoConsistentState, match="gradient of 'c1' vanishes at the given state"):
        project(derive(points("x y", "x^2 + y^2 = 1")))


def test_refusal_outside_the_domain() -> None:
    with pytest.raises(NoConsistentState, match="not defined"):
        project(derive(points("x y", "sqrt(x) = 1", initial={"x": -1.0})))


def test_unknown_name_in_a_state() -> None:
    with pytest.raises(ModelError, match="'w' is no coordinate"):
        residuals(derive(pendulum()), {"w": 1.0})


def four_bar() -> System:
    """Three rods between two pins at a distance of one, in absolute coordinates."""
    bars = ("p", "q", "r")
    tips = ["", "l*cos(pa)", "l*cos(pa) + l*cos(qa)"]
    rows = []
    for bar, tip in zip(bars, tips, strict=True):
        start = f"{tip} + " if tip else ""
        rows += [f"{bar}x = {start}l/2*cos({bar}a)", f"{bar}y = {start.replace('cos', 'sin')}l/2*sin({bar}a)"]
    rows += ["l*(cos(pa) + cos(qa) + cos(ra)) = 1", "l*(sin(pa) + sin(qa) + sin(ra)) = 0"]
    return System(
        name="four bars",
        coordinates=[bar + c for bar in bars for c in "xya"],
        kinetic="+".join(f"m/2*({b}x'^2 + {b}y'^2) + m*l^2/24*{b}a'^2" for b in bars),
        potential="m*g*(py + qy + ry)",
        parameters={"m": 1.3, "g": 9.81, "l": 1},
        constraint=[{"name": f"c{k}", "equation": row} for k, row in enumerate(rows)],
        initial={
            **dict(
                zip(("pa", "ra", "py", "qx", "qy", "rx", "ry"), (PI / 2, -PI / 2, 0.5, 0.5, 1.0, 1.0, 0.5), strict=True)
            ),
            **dict(zip(("pa'", "px'", "qx'", "ra'", "rx'"), (2.0, -1.0, -2.0, 2.0, -1.0), strict=True)),
        },
    )


def free_rates(equations: Equations) -> Program:
    """The rates without any stabilisation."""
    return build(
        rate_expressions(equations),
        inputs=("t", *equations.states),
        parameters=equations.constants,
        systems=[augmented_system(equations)],
    )


@pytest.mark.parametrize(("make", "iterations"), [(pendulum, 2), (sleigh, 2), (four_bar, 2)])
def test_C3_projection_after_each_rk4_step_keeps_the_constraints(make, iterations: int) -> None:
    equations = derive(make())
    rates, back = compile_program(free_rates(equations)), compile_program(projection_program(equations, iterations))
    given = equations.system.constants
    a, b = rates.constants(given), back.constants(given)
    x, h = state_vector(equations), 0.005
    measure = measure_of(equations)
    for k in range(200):
        t = k * h
        k1 = rates.evaluate(np.r_[t, x], a)
        k2 = rates.evaluate(np.r_[t + h / 2, x + h / 2 * k1], a)
        k3 = rates.evaluate(np.r_[t + h / 2, x + h / 2 * k2], a)
        k4 = rates.evaluate(np.r_[t + h, x + h * k3], a)
        x = back.evaluate(np.r_[t + h, x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)], b)
        s = measure.at(x, t + h)
        assert np.all(np.abs(s.position) <= 1e-12 * s.position_scale)
        assert np.all(np.abs(s.velocity) <= 1e-12 * s.velocity_scale)


def test_native_projection_converges_with_its_iterations() -> None:
    equations = derive(pendulum(x=1.5, **{"y'": 2.0}))
    off = state_vector(equations) + np.array([1e-3, 2e-3, 1e-3, -1e-3])
    measure = measure_of(equations)
    sizes = []
    for iterations in (1, 2, 3):
        p = compile_program(projection_program(equations, iterations))
        s = measure.at(p.evaluate(np.r_[0.0, off], p.constants(equations.system.constants)), 0.0)
        sizes.append(abs(float(s.position[0])))
    assert sizes[0] < 1e-5
    assert sizes[1] < 1e-8
    assert sizes[2] < 1e-11


def test_native_projection_agrees_with_the_nearest_point_to_second_order() -> None:
    equations = derive(pendulum(x=1.5, **{"y'": 2.0}))
    off = state_vector(equations) + np.array([1e-4, 2e-4, 1e-4, -1e-4])
    p = compile_program(projection_program(equations, 3))
    native = p.evaluate(np.r_[0.0, off], p.constants(equations.system.constants))
    assert native == pytest.approx(project(equations, off).state, abs=1e-7)


def test_projection_without_constraints_is_the_identity() -> None:
    equations = with_multipliers(points("x y"))
    p = compile_program(projection_program(equations))
    assert p.evaluate(np.array([0.0, 1, 2, 3, 4]), p.constants({})) == pytest.approx([1, 2, 3, 4])
