"""Rates, Jacobians and maps that are plain functions of Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from svyaz.integrate import Ode, method, method_names, solve


def oscillator(t: float, y: np.ndarray) -> list[float]:
    return [y[1], -4.0 * y[0]]


def jacobian(t: float, y: np.ndarray) -> list[list[float]]:
    return [[0.0, 1.0], [-4.0, 0.0]]


@pytest.mark.parametrize("name", method_names())
def test_the_same_path_as_native_rates(problem: Callable[[str], Any], name: str) -> None:
    case = problem("oscillator")
    options = {"method": name, "step": 0.1, "output": [0.0, 0.37, 1.0]}
    path = solve(Ode(oscillator, jacobian), case.start, (0.0, 1.0), **options)
    native = solve(case.ode, case.start, (0.0, 1.0), **options)
    assert path.finished
    assert path.evaluations == native.evaluations
    np.testing.assert_allclose(path.states, native.states, atol=1e-14)


@pytest.mark.parametrize("name", method_names())
@pytest.mark.parametrize("options", [{"step": 0.25}, {"rtol": 1e-6}, {"rtol": 1e-6, "output": [0.0, 0.3, 1.0]}])
def test_as_many_evaluations_are_told_as_were_made(name: str, options: dict[str, Any]) -> None:
    if "rtol" in options and not method(name).embedded:
        pytest.skip("it has no error control")
    made = []

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        made.append(t)
        return -y

    path = solve(Ode(rates, lambda t, y: -np.eye(1)), [1.0], (0.0, 1.0), method=name, **options)
    assert path.evaluations == len(made)


def test_a_plain_function_is_enough() -> None:
    path = solve(lambda t, y: -2.0 * t * y, [1.0], (0.0, 2.0), rtol=1e-9)
    assert path.states[-1, 0] == pytest.approx(np.exp(-4.0), rel=1e-6)


def test_a_map_after_each_step() -> None:
    ode = Ode(oscillator, after_step=lambda t, y: y / np.hypot(y[0], y[1] / 2))
    path = solve(ode, [1.0, 0.0], (0.0, 3.0), method="euler", step=0.01)
    np.testing.assert_allclose(np.hypot(path.states[:, 0], path.states[:, 1] / 2), 1.0, atol=1e-14)


@pytest.mark.parametrize("options", [{"method": "rk4", "step": 0.1}, {"method": "dopri5", "rtol": 1e-6}])
def test_what_the_rates_raise_is_raised(options: dict[str, Any]) -> None:
    def rates(t: float, y: np.ndarray) -> np.ndarray:
        if t > 0.5:
            raise ZeroDivisionError("too late")
        return y

    with pytest.raises(ZeroDivisionError, match="too late"):
        solve(rates, [1.0], (0.0, 1.0), **options)


def test_an_interrupt_in_the_rates_keeps_what_was_computed() -> None:
    def rates(t: float, y: np.ndarray) -> np.ndarray:
        if t > 0.5:
            raise KeyboardInterrupt
        return y

    path = solve(rates, [1.0], (0.0, 1.0), method="rk4", step=0.1)
    assert path.status == "stopped"
    assert 0.3 < path.times[-1] <= 0.51


@pytest.mark.parametrize("answer", [[1.0], [[1.0, 2.0]], 0.0])
def test_rates_of_another_shape_are_refused(answer: Any) -> None:
    with pytest.raises(ValueError, match=r"2 states need an array of the shape \(2,\)"):
        solve(lambda t, y: answer, [1.0, 2.0], (0.0, 1.0), method="rk4", step=0.1)


def test_a_start_that_is_no_row_is_refused() -> None:
    with pytest.raises(ValueError, match="a row of numbers"):
        solve(lambda t, y: y, 1.0, (0.0, 1.0), step=0.1)
    with pytest.raises(ValueError, match="needs the Jacobian"):
        solve(oscillator, [1.0, 0.0], (0.0, 1.0), method=method("radau"), step=0.1)
