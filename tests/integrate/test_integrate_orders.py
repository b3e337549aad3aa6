"""S4: observed orders of all methods on a pair (equations, exact solution)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from svyaz.integrate import method as find_method
from svyaz.integrate import method_names, solve

METHODS = [*method_names(), "rk2:0.75", "rk2:0.25"]

# by order: coarse enough for the error to stay above rounding, fine enough for its first term to rule
STEPS = {1: 1 / 400, 2: 1 / 200, 3: 1 / 80, 4: 1 / 40, 5: 1 / 16, 6: 1 / 8, 7: 1 / 4, 8: 1 / 2}


def first_step(name: str) -> float:
    return STEPS[find_method(name).order]


def error_with(case: Any, name: str, step: float, output: np.ndarray | None = None) -> float:
    """Mean square error along the whole path, which has no accidental zeros as the error at one moment may have."""
    path = solve(case.ode, case.start, case.span, method=name, step=step, output=output)
    assert path.status == "finished"
    return float(np.sqrt(np.mean((path.states.T - case.exact(path.times)) ** 2)))


def observed_order(case: Any, name: str) -> float:
    errors = [error_with(case, name, first_step(name) / 2**k) for k in range(3)]
    assert errors[-1] > 1e-13, "the error is only rounding: take coarser steps"
    return float(np.log2(errors[0] / errors[2]) / 2)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("equations", ["oscillator", "rigid body"])
def test_S4_observed_order(problem: Callable[[str], Any], equations: str, name: str) -> None:
    assert observed_order(problem(equations), name) == pytest.approx(find_method(name).order, abs=0.25)


@pytest.mark.parametrize("name", METHODS)
def test_S4_order_where_time_enters_the_equations(problem: Callable[[str], Any], name: str) -> None:
    """The error of dopri5, whose first term nearly vanishes here, falls faster than its order says."""
    order = find_method(name).order
    assert order - 0.2 < observed_order(problem("transcendental"), name) < order + 0.8


@pytest.mark.parametrize("name", [name for name in METHODS if find_method(name).order <= 5])
def test_output_between_fixed_steps_has_the_order_of_the_method(problem: Callable[[str], Any], name: str) -> None:
    case, step, order = problem("rigid body"), first_step(name), find_method(name).order
    grid = np.linspace(*case.span, 138)
    errors = [error_with(case, name, step / 2**k, grid) for k in range(2)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)


@pytest.mark.parametrize("name", METHODS)
def test_fixed_steps_repeat_the_tableau(problem: Callable[[str], Any], name: str) -> None:
    """Three steps against the textbook sums in NumPy (fixed-point iterations for the implicit method)."""
    case, tableau, h = problem("transcendental"), find_method(name), 0.05
    t, y = 0.5, case.start.copy()
    for _ in range(3):
        slopes = np.zeros((tableau.stages, y.size))
        for _ in range(60 if tableau.implicit else tableau.stages):
            slopes = np.array(
                [case.rates(t + c * h, y + h * (row @ slopes)) for c, row in zip(tableau.c, tableau.a, strict=True)]
            )
        t, y = t + h, y + h * (tableau.b @ slopes)
    path = solve(case.ode, case.start, (0.5, 0.65), method=name, step=h)
    np.testing.assert_allclose(path.states[-1], y, rtol=0, atol=1e-14)
