"""Implicit methods are tableaus like any other: steps by Newton's iterations, with or without an estimate of the error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
import pytest

from svyaz import System
from svyaz.integrate import Controller, Flow, Ode, Tableau, method, printed, solve
from svyaz.motion import simulate

R3 = sqrt(3.0)
MIDPOINT = printed(name="midpoint", order=2, a="1/2", b="1", c="1/2")
TRAPEZOID = printed(name="trapezoid", order=2, a="0\n1/2 1/2", b="1/2 1/2", c="0 1")
"""Its first stage is explicit: A is singular."""
GAUSS = Tableau(
    name="gauss",
    order=4,
    a=np.array([[1 / 4, 1 / 4 - R3 / 6], [1 / 4 + R3 / 6, 1 / 4]]),
    b=np.array([0.5, 0.5]),
    c=np.array([0.5 - R3 / 6, 0.5 + R3 / 6]),
)
# Hairer and Wanner II, IV.6: SDIRK of order 3 with γ = (3 + √3)/6; compared with the weights (1, 0) of order 1
G = (3 + R3) / 6
SDIRK = Tableau(
    name="sdirk",
    order=3,
    a=np.array([[G, 0.0], [1 - 2 * G, G]]),
    b=np.array([0.5, 0.5]),
    c=np.array([G, 1 - G]),
    errors=(np.array([-0.5, 0.5, 0.0]),),
    dense=np.array([[0.5, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 0.0, 0.0]]),
    dense_order=1,
    controller=Controller(exponent=0.5, memory=0.0, smallest=0.2, largest=5.0),
)


def _stiff(x, c, out):
    out[0] = c[0] * (x[1] - np.cos(x[0])) - np.sin(x[0])
    return 0


def _stiff_jacobian(x, c, out):
    out[0] = c[0]
    return 0


def _square(x, c, out):
    out[0] = x[1] * x[1]
    return 0


def _square_jacobian(x, c, out):
    out[0] = 2 * x[1]
    return 0


@pytest.mark.parametrize("tableau", [MIDPOINT, TRAPEZOID, GAUSS, SDIRK], ids=lambda tableau: tableau.name)
def test_observed_order(problem: Callable[[str], Any], tableau: Tableau) -> None:
    case = problem("transcendental")
    paths = [solve(case.ode, case.start, case.span, method=tableau, step=0.05 / 2**k) for k in range(3)]
    errors = [np.sqrt(np.mean((path.states.T - case.exact(path.times)) ** 2)) for path in paths]
    assert np.log2(errors[0] / errors[2]) / 2 == pytest.approx(tableau.order, abs=0.2)


def test_steps_of_radau_by_its_own_code_and_by_the_general_one(problem: Callable[[str], Any]) -> None:
    case = problem("kepler")
    own, general = (
        solve(case.ode, case.start, case.span, method=tableau, step=0.02)
        for tableau in (method("radau"), replace(method("radau"), loops=""))
    )
    np.testing.assert_allclose(general.states, own.states, atol=2e-12)


def test_gauss_keeps_quadratic_integrals(problem: Callable[[str], Any]) -> None:
    """Methods of Gauss conserve y₁² + (y₂/2)² of the oscillator, and the two quadratic integrals of the free body."""
    case = problem("rigid body")
    y = solve(case.ode, case.start, (0.0, 100.0), method=GAUSS, step=0.2).states
    np.testing.assert_allclose(y[:, 0] ** 2 + y[:, 1] ** 2, 1.0, atol=2e-13)
    np.testing.assert_allclose(0.51 * y[:, 0] ** 2 + y[:, 2] ** 2, 1.0, atol=2e-13)


@pytest.mark.parametrize("rtol", [1e-3, 1e-5])
def test_an_estimate_of_the_error_chooses_the_steps(as_native: Callable[..., Flow], rtol: float) -> None:
    """y' = λ(y - cos t) - sin t with λ = -1e4 and y = cos t: an explicit method would need 10 000 steps and more."""
    ode = Ode(as_native(_stiff, [-1e4], 1), as_native(_stiff_jacobian, [-1e4], 1))
    path = solve(ode, [1.0], (0.0, 3.0), method=SDIRK, rtol=rtol, output=np.linspace(0, 3, 31))
    assert path.finished
    assert path.steps < 2000
    assert np.abs(path.states[:, 0] - np.cos(path.times)).max() < 30 * rtol
    assert path.evaluations > 3 * path.steps


def test_steps_that_cannot_be_solved_are_reported(as_native: Callable[..., Flow]) -> None:
    """y' = y²: the equation of the midpoint, k = (1 + hk/2)², has a real root as long as h ≤ 1/2."""
    ode = Ode(as_native(_square, [0.0], 1), as_native(_square_jacobian, [0.0], 1))
    path = solve(ode, [1.0], (0.0, 3.0), method=MIDPOINT, step=0.75)
    assert path.status == "stalled"
    assert "implicit step" in path.reason
    stiff = Ode(as_native(_stiff, [2.0], 1), as_native(_stiff_jacobian, [2.0], 1))
    path = solve(stiff, [1.0], (0.0, 3.0), method=MIDPOINT, step=1.0)  # 1 - hJ/2 = 0
    assert path.status == "singular"
    assert path.singular_system is None


def test_grid_thinning_and_map_work_as_for_explicit_methods(
    problem: Callable[[str], Any], as_native: Callable[..., Flow]
) -> None:
    case = problem("oscillator")
    whole = solve(case.ode, case.start, (0.0, 1.0), method=GAUSS, step=0.1)
    some = solve(case.ode, case.start, (0.0, 1.0), method=GAUSS, step=0.1, every=5)
    np.testing.assert_array_equal(some.states, whole.states[[0, 5, 10]])
    grid = solve(case.ode, case.start, (0.0, 1.0), method=GAUSS, step=0.1, output=[0.25, 0.3, 1.0])
    np.testing.assert_array_equal(grid.states[1:], whole.states[[3, 10]])
    np.testing.assert_allclose(grid.states[0], case.exact(0.25), atol=1e-4)
    with pytest.raises(ValueError, match="gauss does not estimate its error"):
        solve(case.ode, case.start, (0.0, 1.0), method=GAUSS, rtol=1e-6)
    with pytest.raises(ValueError, match="gauss is implicit and needs the Jacobian"):
        solve(case.flow, case.start, (0.0, 1.0), method=GAUSS, step=0.1)


@pytest.mark.parametrize("case", [(0.7, 1e-16), (0.9, 1e-15), (0.5, 1e-17)])
def test_motions_that_come_to_rest_go_on_where_rounding_of_the_rates_is_all_that_is_left(
    case: tuple[float, float],
) -> None:
    """sin(x + c) - sin c is never exactly zero: Newton's changes stop at its rounding, below what is allowed."""
    c, atol = case
    force = f"-1.5*x' - 3*sin(x + {c}) + {3 * float(np.sin(c))!r}"
    system = System(coordinates=["x"], kinetic="x'^2/2", potential="0", forces={"x": force}, initial={"x": 0.02})
    motion = simulate(system, method="radau", rtol=1e-9, atol=atol, until=80.0)
    assert motion.status.value == "finished"
    assert abs(motion.states[-1]).max() < 1e-14
