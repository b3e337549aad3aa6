"""Shulgin's equations against equations with multipliers, against L* written out, and against printed formulas."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
import symengine as se

from svyaz import System
from svyaz.expr import ModelError
from svyaz.expr.calculus import evaluate, velocity
from svyaz.forms import Equations
from svyaz.forms import lagrangian as lagrangian_of
from svyaz.forms.derivation import derive
from svyaz.forms.named.shulgin import redundancy, shulgin_equations
from svyaz.forms.programs import rates_of, rates_program
from svyaz.gallery.random_mechanisms import random_mechanism
from svyaz.program import compile_program
from svyaz.show import as_json

BALL_AND_BEAM = {
    "name": "ball and beam",
    "coordinates": ["r", "alpha", "theta"],
    "kinetic": "m/2*r'^2 + m/2*(r^2+R^2)*(alpha' - R*r'/(r^2+R^2))^2 + J/2*(alpha' - r'/R)^2 + J0/2*theta'^2",
    "potential": "m*g*(r*sin(alpha) + R*cos(alpha))",
    "forces": {"theta": "nu - b0*theta'"},
    "inputs": {"nu": 0.02},
    "parameters": {
        "m": 0.064, "R": 0.0254, "L": 0.425, "l": 0.12, "d": 0.06, "g": 9.81, "J0": 1.152e-4, "b0": 0.3, "J": "2/5*m*R^2",
    },
    "constraint": [
        {
            "name": "rod",
            "equation": "(L*(cos(alpha) - 1) + d*(1 - cos(theta)))^2 + (L*sin(alpha) + l - d*sin(theta))^2 = l^2",
        }
    ],
    "initial": {"r": 0.25},
}  # fmt: skip


def accelerations(equations: Equations, values: Mapping[str, float]) -> dict[str, float]:
    """q̈ of every accelerated coordinate from [M -Gᵀ; G 0] in numbers."""
    n, m = len(equations.accelerated), len(equations.deviations)
    matrix, side = np.zeros((n + m, n + m)), np.zeros(n + m)
    matrix[:n, :n] = [[evaluate(e, values) for e in row] for row in equations.mass_matrix]
    side[:n] = [-evaluate(e, values) for e in equations.bias]
    if m:
        jacobian = np.array([[evaluate(e, values) for e in row] for row in equations.constraint_jacobian])
        matrix[:n, n:], matrix[n:, :n] = -jacobian.T, jacobian
        side[n:] = [-evaluate(e, values) for e in equations.constraint_bias]
    solution = np.linalg.solve(matrix, side)[:n]
    return dict(zip(equations.accelerated, map(float, solution), strict=True))


def moving_state(equations: Equations, system: System, seed: int, time: float = 0.0) -> dict[str, float]:
    """The initial position (on the constraints), random independent velocities, the redundant ones from ṡ = Bṙ + b."""
    random = np.random.default_rng(seed)
    values = {**system.constants, **dict(zip(system.states, system.initial_state(), strict=True)), "t": time}
    values |= {f"{q}'": float(random.uniform(-1, 1)) for q in equations.accelerated}
    values |= {name: float(random.uniform(-1, 1)) for name in system.rates}
    values |= {name: evaluate(rate, values) for name, rate in equations.observed.items()}
    return values


@pytest.mark.parametrize("redundant", [1, 2, 3])
@pytest.mark.parametrize("motors", [0, 1, 2])
def test_accelerations_are_those_of_the_equations_with_multipliers(redundant: int, motors: int) -> None:
    for independent in (1, 2, 3):
        system = random_mechanism(7, independent, redundant, motors).system
        equations, full = shulgin_equations(system), derive(system, "multipliers")
        values = moving_state(equations, system, seed=independent)
        expected = accelerations(full, values)
        found = accelerations(equations, values)
        assert [found[q] for q in equations.accelerated] == pytest.approx(
            [expected[q] for q in equations.accelerated], rel=1e-10, abs=1e-11
        )


def test_native_rates_agree_with_the_expressions() -> None:
    system = random_mechanism(3, 2, 2, 1).system
    equations = shulgin_equations(system)
    native = compile_program(rates_program(equations, rates_of(equations)))
    values = moving_state(equations, system, seed=1)
    x = np.array([values[name] for name in native.program.inputs])
    found = dict(zip(equations.states, native.evaluate(x, native.constants(system.constants)), strict=True))
    expected = accelerations(equations, values)
    assert [found[f"{q}'"] for q in equations.accelerated] == pytest.approx(list(expected.values()), rel=1e-12)
    assert found["s1"] == pytest.approx(values["s1'"], rel=1e-13)


def test_the_left_side_is_that_of_L_star() -> None:
    """d/dt ∂L*/∂ṙ - ∂L*/∂r - Bᵀ ∂L*/∂s - Q_r - BᵀQ_s by SymEngine on L*, accelerations chosen at random."""
    system = random_mechanism(5, 2, 2, 0).system
    equations = shulgin_equations(system)
    split = redundancy(derive(system, "multipliers"), ["s1", "s2"])
    moving = {velocity(s): rate for s, rate in split.rates.items()}
    star = lagrangian_of(system).xreplace(moving)
    values = moving_state(equations, system, seed=2)
    values |= {"r1''": 0.3, "r2''": -0.7}
    flow = {se.Symbol(q): velocity(q) for q in split.independent} | {se.Symbol(s): e for s, e in split.rates.items()}
    flow |= {velocity(q): se.Symbol(f"{q}''") for q in split.independent}
    for i, q in enumerate(split.independent):
        momentum = star.diff(velocity(q))
        left = sum(momentum.diff(s) * rate for s, rate in flow.items()) - star.diff(se.Symbol(q))
        left -= system.forces[q].xreplace(moving)
        for sigma, s in enumerate(split.dependent):
            left -= split.matrix[sigma][i] * (star.diff(se.Symbol(s)) + system.forces[s].xreplace(moving))
        accelerated = sum(m * a for m, a in zip(equations.mass_matrix[i], equations.accelerations, strict=True))
        assert evaluate(accelerated + equations.bias[i], values) == pytest.approx(evaluate(left, values), rel=1e-11)


def test_the_ball_and_beam_is_the_printed_one() -> None:
    """The nonlinear equations of the literature, with the term J0·B(B_α + B_θB)α̇² that one print omits."""
    system = System(**BALL_AND_BEAM)
    equations = shulgin_equations(system, dependent=["theta"])
    v = {**system.constants, "r": 0.21, "alpha": 0.07, "theta": 0.53, "r'": 0.4, "alpha'": -0.6, "t": 0.0}
    m, R, L, rod, d, g = (v[k] for k in ("m", "R", "L", "l", "d", "g"))

    def B(a: float, t: float) -> float:
        above = d * np.sin(a - t) + (L - d) * np.sin(a) + rod * np.cos(a)
        return float(L / d * above / (L * np.sin(a - t) + (L - d) * np.sin(t) + rod * np.cos(t)))

    step = 1e-5
    a, t, r, rd, ad = v["alpha"], v["theta"], v["r"], v["r'"], v["alpha'"]
    b = B(a, t)
    b_a, b_t = (B(a + step, t) - B(a - step, t)) / (2 * step), (B(a, t + step) - B(a, t - step)) / (2 * step)
    J, J0, b0, nu = v["J"], v["J0"], v["b0"], v["nu"]
    mass = [[m + J / R**2 + m * R**2 / (r**2 + R**2), -R * (m + J / R**2)], [0, m * (r**2 + R**2) + J + J0 * b**2]]
    mass[1][0] = mass[0][1]
    bias = [
        -m * R**2 * r / (r**2 + R**2) ** 2 * rd**2 - m * r * ad**2 + m * g * np.sin(a),
        J0 * b * (b_a + b_t * b) * ad**2 + 2 * m * r * rd * ad + m * g * (r * np.cos(a) - R * np.sin(a))
        - b * nu + b0 * b**2 * ad,
    ]  # fmt: skip
    assert [[evaluate(e, v) for e in row] for row in equations.mass_matrix] == pytest.approx(np.array(mass), rel=1e-12)
    assert [evaluate(e, v) for e in equations.bias] == pytest.approx(bias, rel=1e-8)


def test_a_moving_constraint_has_a_drift() -> None:
    """A bead on a parabola y = x²/2 + sin t: ẏ = x ẋ + cos t; its acceleration from L in x alone."""
    words = {
        "coordinates": ["x", "y"],
        "kinetic": "(x'^2 + y'^2)/2",
        "potential": "9.81*y",
        "initial": {"x": 0.4, "y": 0.08},
    }
    system = System(**words, constraint=[{"equation": "y = x^2/2 + sin(t)", "dependent": "y"}])
    equations = shulgin_equations(system)
    values = {"x": 0.4, "y": 0.3, "x'": 0.7, "t": 1.3}
    # (1 + x²) ẍ + x ẋ² - x sin t + 9.81 x = 0, from the Lagrangian in x
    expected = -(0.4 * 0.49 - 0.4 * np.sin(1.3) + 9.81 * 0.4) / (1 + 0.16)
    assert accelerations(equations, values)["x"] == pytest.approx(expected, rel=1e-12)
    assert evaluate(equations.observed["y'"], values) == pytest.approx(0.4 * 0.7 + np.cos(1.3), rel=1e-14)


def test_the_redundant_coordinate_is_chosen_where_the_split_is_well_conditioned() -> None:
    """On a circle of radius one: near (1, 0) y moves and x follows, near (0, 1) the other way round."""
    words = {"coordinates": ["x", "y"], "kinetic": "(x'^2 + y'^2)/2", "constraint": [{"equation": "x^2 + y^2 = 1"}]}
    assert shulgin_equations(System(**words, initial={"x": 1.0})).accelerated == ("y",)
    assert shulgin_equations(System(**words, initial={"y": 1.0})).accelerated == ("x",)
    assert shulgin_equations(System(**words, initial={"x": 0.6, "y": 0.8}), dependent=["x"]).accelerated == ("y",)


@pytest.mark.parametrize(
    ("dependent", "message"),
    [
        (
            ["alpha", "theta"],
            "one redundant coordinate for each constraint: 'alpha', 'theta' and 1 geometric constraint",
        ),
        (["phi"], "'phi' cannot be redundant"),
        (["r"], "cannot be solved for the velocities of 'r'"),
    ],
)
def test_R6_redundant_coordinates_that_do_not_fit_are_refused(dependent: list[str], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        shulgin_equations(System(**BALL_AND_BEAM), dependent=dependent)


def test_R6_velocity_constraints_are_refused() -> None:
    words = {"coordinates": ["x", "y"], "kinetic": "(x'^2 + y'^2)/2", "constraint": [{"equation": "y' = x*x'"}]}
    with pytest.raises(ModelError, match="takes geometric constraints"):
        shulgin_equations(System(**words))


FIVE_BAR: dict[str, object] = {
    "coordinates": ["a", "b", "x", "y"],
    "kinetic": "0.01*(a'^2 + b'^2) + 0.25*(x'^2 + y'^2)",
    "potential": "4.905*y",
    "constraint": [
        {"name": "left", "equation": "(x - 0.4*cos(a))^2 + (y - 0.4*sin(a))^2 = 0.36"},
        {"name": "right", "equation": "(x - 0.5 - 0.4*cos(b))^2 + (y - 0.4*sin(b))^2 = 0.36"},
    ],
    "initial": {"a": "120*deg", "b": "60*deg", "x": 0.25, "y": "0.4*sin(60*deg) + sqrt(0.36 - 0.45^2)"},
}


def test_redundant_coordinates_are_exchanged_where_the_split_degenerates() -> None:
    system = System(**FIVE_BAR)
    # arms and rods come into one line on the way down: x and y cannot stay independent there
    options = {"method": "dop853", "rtol": 1e-11, "until": 1.5}
    split = system.simulate(form="shulgin", **options)
    whole = system.simulate(form="multipliers", stabilize="projection", **options)
    told = as_json(split)
    assert told["status"] == "finished"
    assert told["notes"][0].startswith("redundant: 'a', 'b', chosen for a well conditioned ∂F/∂s")
    assert any("degenerates near t" in note and "is taken" in note for note in told["notes"])
    expected = as_json(whole)["final"]
    assert {name: told["final"][name] for name in expected} == pytest.approx(expected, abs=1e-6)


def test_a_split_that_is_nearly_degenerate_at_the_start_is_warned_of() -> None:
    near = System(
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        constraint=[{"equation": "x^2 + y^2 = 1", "dependent": "x"}],
        initial={"x": 0.01, "y": "-sqrt(1 - 0.0001)"},
    )
    (note,) = near.derive("shulgin").notes
    assert note.startswith("∂F/∂s is nearly singular for 'x' at the initial position")
    assert System(**{**near.words, "initial": {"x": 1.0}}).derive("shulgin").notes == ()
