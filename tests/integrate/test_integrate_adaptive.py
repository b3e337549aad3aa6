"""Steps chosen by the error: classical problems, dense output, stiff problems, comparison with SciPy."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from svyaz.integrate import Flow, Ode, solve

METHODS = ["rkf45", "dopri5", "dop853", "radau"]
PEERS = {"dopri5": "RK45", "dop853": "DOP853", "radau": "Radau"}


def deviation(path: Any, case: Any) -> float:
    return float(np.abs(path.states.T - case.exact(path.times)).max())


@pytest.mark.parametrize("rtol", [1e-5, 1e-8, 1e-11])
@pytest.mark.parametrize("equations", ["oscillator", "transcendental", "rigid body", "kepler"])
@pytest.mark.parametrize("name", METHODS)
def test_error_follows_the_tolerance(problem: Callable[[str], Any], name: str, equations: str, rtol: float) -> None:
    case = problem(equations)
    path = solve(case.ode, case.start, case.span, method=name, rtol=rtol)
    assert path.status == "finished"
    assert (path.times[0], path.times[-1]) == case.span
    assert deviation(path, case) < (1000 if equations == "kepler" else 100) * rtol
    assert path.step_sizes is not None
    assert len(path.step_sizes) == path.steps == len(path.times) - 1


@pytest.mark.parametrize("name", METHODS)
def test_dense_output_is_as_accurate_as_the_steps(problem: Callable[[str], Any], name: str) -> None:
    case, rtol = problem("rigid body"), 1e-9
    grid = np.linspace(*case.span, 1001)
    natural = solve(case.ode, case.start, case.span, method=name, rtol=rtol)
    dense = solve(case.ode, case.start, case.span, method=name, rtol=rtol, output=grid)
    np.testing.assert_array_equal(dense.times, grid)
    np.testing.assert_array_equal(dense.states[-1], natural.states[-1])  # the grid does not disturb the steps
    assert dense.steps == natural.steps
    # the collocation polynomial of Radau is of order 3 only
    assert deviation(dense, case) < (300 if name == "radau" else 10) * max(deviation(natural, case), rtol)


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("rtol", [1e-6, 1e-10])
def test_as_good_as_scipy_for_as_many_evaluations(problem: Callable[[str], Any], name: str, rtol: float) -> None:
    case = problem("kepler")
    path = solve(case.ode, case.start, case.span, method=name, rtol=rtol)
    peer = solve_ivp(case.rates, case.span, case.start, method=PEERS[name], rtol=rtol, atol=rtol)
    assert path.evaluations < 1.3 * peer.nfev
    assert deviation(path, case) < 5 * np.abs(peer.y - case.exact(peer.t)).max()


def test_atol_of_each_state(problem: Callable[[str], Any]) -> None:
    case = problem("oscillator")
    loose = solve(case.flow, case.start, case.span, rtol=1e-6, atol=[1e-2, 1e-2])
    tight = solve(case.flow, case.start, case.span, rtol=1e-6, atol=[1e-9, 1e-9])
    assert tight.steps > loose.steps
    assert deviation(tight, case) < deviation(loose, case)


def _van_der_pol(x, c, out):
    out[0] = x[2]
    out[1] = c[0] * (1 - x[1] * x[1]) * x[2] - x[1]
    return 0


def _van_der_pol_jacobian(x, c, out):
    out[0], out[1] = 0.0, 1.0
    out[2], out[3] = -2 * c[0] * x[1] * x[2] - 1, c[0] * (1 - x[1] * x[1])
    return 0


@pytest.fixture(scope="module")
def van_der_pol() -> Any:
    mu, span = 300.0, (0.0, 300.0)

    def rates(t: float, y: Any) -> list[float]:
        return [y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]]

    def slope(t: float, y: Any) -> list[list[float]]:
        return [[0.0, 1.0], [-2 * mu * y[0] * y[1] - 1, mu * (1 - y[0] ** 2)]]

    return span, solve_ivp(rates, span, [2.0, 0.0], method="Radau", jac=slope, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("rtol", [1e-4, 1e-7])
def test_stiff_van_der_pol(van_der_pol: Any, as_native: Callable[..., Flow], rtol: float) -> None:
    span, reference = van_der_pol
    f, slope = as_native(_van_der_pol, [300.0], 2), as_native(_van_der_pol_jacobian, [300.0], 2)
    path = solve(Ode(f, slope), [2.0, 0.0], span, method="radau", rtol=rtol)
    assert path.status == "finished"
    assert path.steps < 1000  # an explicit method needs some hundred thousand
    np.testing.assert_allclose(path.states[-1], reference.y[:, -1], rtol=100 * rtol)


def test_fixed_implicit_steps_on_a_stiff_slope(as_native: Callable[..., Flow]) -> None:
    """Steps of 0.01 on the slow branch of van der Pol, 30 times beyond the stability of explicit methods."""
    f, slope = as_native(_van_der_pol, [1000.0], 2), as_native(_van_der_pol_jacobian, [1000.0], 2)
    path = solve(Ode(f, slope), [2.0, 0.0], (0.0, 1.0), method="radau", step=0.01)
    exact = solve(f, [2.0, 0.0], (0.0, 1.0), method="dop853", rtol=1e-10)
    assert path.status == exact.status == "finished"
    np.testing.assert_allclose(path.states[-1], exact.states[-1], rtol=1e-6)
    blown = solve(f, [2.0, 0.0], (0.0, 1.0), method="rk4", step=0.01)
    assert blown.status == "diverged"


def _robertson(x, c, out):
    slow, fast = 0.04 * x[1] - 1e4 * x[2] * x[3], 3e7 * x[2] * x[2]
    out[0], out[1], out[2] = -slow, slow - fast, fast
    return 0


def _robertson_jacobian(x, c, out):
    out[0], out[1], out[2] = -0.04, 1e4 * x[3], 1e4 * x[2]
    out[3], out[4], out[5] = 0.04, -1e4 * x[3] - 6e7 * x[2], -1e4 * x[2]
    out[6], out[7], out[8] = 0.0, 6e7 * x[2], 0.0
    return 0


def test_robertson(as_native: Callable[..., Flow]) -> None:
    """Eleven decades of time; the end is that of the test set for initial value problems (Mazzia, Magherini, 2008)."""
    f, slope = as_native(_robertson, [0.0], 3), as_native(_robertson_jacobian, [0.0], 3)
    path = solve(
        Ode(f, slope),
        [1.0, 0.0, 0.0],
        (0.0, 1e11),
        method="radau",
        rtol=1e-8,
        atol=[1e-12, 1e-16, 1e-12],
        output=[40.0, 1e11],
    )
    assert path.status == "finished"
    assert path.steps < 2000
    end = [0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050]
    np.testing.assert_allclose(path.states[1], end, rtol=1e-5)
    np.testing.assert_allclose(path.states.sum(axis=1), 1.0, rtol=1e-12)

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        out = np.zeros(3)
        _robertson([t, *y], [], out)
        return out

    peer = solve_ivp(rates, (0.0, 40.0), [1.0, 0.0, 0.0], method="BDF", rtol=1e-8, atol=1e-13)
    np.testing.assert_allclose(path.states[0], peer.y[:, -1], rtol=1e-6)


def test_V1_no_answer_depends_on_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that begins to creep is given up at the same step whether the machine is quick or slow."""
    found = []
    for tick in (0.0, 1.0):
        monkeypatch.setattr("svyaz.integrate.runs.perf_counter", count(0.0, tick).__next__)
        path = solve(
            lambda t, y: np.array([1e7 * (np.cos(t) - y[0]) if t > 0.5 else -np.sin(t)]),
            [1.0],
            (0.0, 1.0),
            rtol=1e-6,
            wary=True,
        )
        found.append((path.status, path.steps, path.times[-1]))
    assert found[0] == found[1]
    assert found[0][0] == "stalled"


@pytest.mark.parametrize("rtol", [1e-6, 1e-10])
def test_V1_an_implicit_method_leaves_what_flies_apart(rtol: float) -> None:
    """w' = t + c √|w| from w ≈ 0, as where a slip begins with Stribeck's law: w = s²t² with 2s² = 1 + cs. A step that is long
    beside 1/J takes the other solution, at which w stays, and the filtered estimate of its error does not see that.
    """
    c, u = 8.8, 0.2
    s = (c + np.sqrt(c * c + 8.0)) / 4.0

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        return np.array([t + c * np.sqrt(abs(y[0] - u))])

    def jacobian(t: float, y: np.ndarray) -> np.ndarray:
        return np.array([[0.5 * c * np.sign(y[0] - u) / np.sqrt(max(abs(y[0] - u), 1e-18))]])

    path = solve(Ode(rates, jacobian), [u + 1e-16], (0.0, 0.1), method="radau", rtol=rtol)
    assert path.finished
    assert abs(path.states[-1, 0] - u - (s * 0.1) ** 2) < 1e3 * rtol * 0.1
