"""How runs are asked for, how they end, and what they keep."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
import pytest

from svyaz.integrate import Flow, Ode, solve


def _square(x, c, out):
    out[0] = x[1] * x[1]
    return 0


def _square_jacobian(x, c, out):
    out[0] = 2 * x[1]
    return 0


def _ends(x, c, out):
    if x[0] >= c[0]:
        return 3
    out[0] = 1.0
    return 0


def _falls(x, c, out):
    out[0] = -0.5 / sqrt(x[1])
    return 0


def _to_circle(x, c, out):
    if c[0] > 0 and x[0] > c[0]:
        return 1
    r = sqrt(x[1] * x[1] + x[2] * x[2] / 4)
    out[0], out[1] = x[1] / r, x[2] / r
    return 0


class Interrupter:
    """A progress callable that presses Ctrl-C once the motion has come so far."""

    def __init__(self, when: float) -> None:
        self.when = when
        self.seen: list[float] = []

    def __call__(self, t: float) -> None:
        self.seen.append(t)
        if t >= self.when:
            raise KeyboardInterrupt


def test_every_step_is_stored_and_the_last_is_shortened(problem: Callable[[str], Any]) -> None:
    case = problem("oscillator")
    path = solve(case.flow, case.start, (0.0, 1.05), method="rk4", step=0.1)
    np.testing.assert_array_equal(path.times, [*(0.1 * np.arange(11)), 1.05])
    assert path.steps == 11
    assert path.evaluations == 44
    np.testing.assert_allclose(path.states.T, case.exact(path.times), atol=2e-4)
    np.testing.assert_array_equal(path.states[0], case.start)


def test_a_whole_number_of_steps_is_recognised(problem: Callable[[str], Any]) -> None:
    case = problem("oscillator")
    path = solve(case.flow, case.start, (0.0, 0.3), method="euler", step=0.1)  # 0.3/0.1 < 3 in doubles
    assert path.steps == 3
    assert path.times[-1] == 0.3
    far = solve(case.flow, case.start, (1e6, 1e6 + 1), method="euler", step=0.001)
    assert far.steps == 1000
    np.testing.assert_allclose(np.diff(far.times), 0.001, atol=1e-9)


def test_thinning(problem: Callable[[str], Any]) -> None:
    case = problem("oscillator")
    whole = solve(case.flow, case.start, (0.0, 1.0), method="rk2", step=0.01)
    some = solve(case.flow, case.start, (0.0, 1.0), method="rk2", step=0.01, every=7)
    np.testing.assert_array_equal(some.states[:-1], whole.states[::7])
    np.testing.assert_array_equal(some.states[-1], whole.states[-1])
    many = solve(case.flow, case.start, (0.0, 1.0), method="euler", step=1e-6)
    assert many.steps == 1_000_000
    assert len(many.times) == 200_001


def test_shares_of_work_do_not_show(problem: Callable[[str], Any]) -> None:
    """Hundreds of thousands of steps run in many shares: the times are t₀ + ih, and the end is that of one loop."""
    case, n, h = problem("oscillator"), 400_000, 1e-3
    path = solve(case.flow, case.start, (0.0, n * h), method="euler", step=h)
    np.testing.assert_array_equal(path.times[:-1], h * np.arange(0, n, 2))
    turn = (1 + 2j * h) ** n  # Euler's method on u' = 2iu, u = y₁ - i y₂/2
    np.testing.assert_allclose(path.states[-1], [turn.real, -2 * turn.imag], rtol=1e-9)


@pytest.mark.parametrize("name", ["euler", "rk4", "radau"])
def test_output_at_given_times_with_fixed_steps(problem: Callable[[str], Any], name: str) -> None:
    case, grid = problem("oscillator"), np.array([0.0, 0.05, 0.1, 0.3, 0.30001, 0.95])
    path = solve(case.ode, case.start, (0.0, 1.0), method=name, step=0.1, output=grid)
    steps = solve(case.ode, case.start, (0.0, 1.0), method=name, step=0.1)
    np.testing.assert_array_equal(path.times, grid)
    np.testing.assert_array_equal(path.states[[0, 2, 3]], steps.states[[0, 1, 3]])
    half = solve(case.ode, case.start, (0.0, 0.05), method=name, step=0.05)
    np.testing.assert_array_equal(path.states[1], half.states[-1])


@pytest.mark.parametrize("options", [{"step": 0.01}, {"rtol": 1e-6}])
def test_a_span_of_no_length_is_the_start(problem: Callable[[str], Any], options: dict[str, float]) -> None:
    case = problem("oscillator")
    path = solve(case.flow, case.start, (2.0, 2.0), method="dopri5", **options)
    assert path.status == "finished"
    assert path.steps == 0
    np.testing.assert_array_equal(path.states, [case.start])


@pytest.mark.parametrize("name", ["euler", "rk4", "dopri5", "dop853"])
def test_divergence_is_reported_with_fixed_steps(as_native: Callable[..., Flow], name: str) -> None:
    path = solve(as_native(_square, [0.0], 1), [1.0], (0.0, 3.0), method=name, step=0.01)
    assert path.status == "diverged"
    assert "t = 1" in path.reason
    assert np.isfinite(path.states).all()
    assert 0.9 < path.times[-1] < 1.3
    assert (np.diff(path.times) > 0).all()


@pytest.mark.parametrize("name", ["rkf45", "dopri5", "dop853", "radau"])
def test_divergence_is_reported_with_chosen_steps(as_native: Callable[..., Flow], name: str) -> None:
    f, slope = as_native(_square, [0.0], 1), as_native(_square_jacobian, [0.0], 1)
    path = solve(Ode(f, slope), [1.0], (0.0, 3.0), method=name, rtol=1e-8)
    assert path.status == "diverged"
    assert path.times[-1] == pytest.approx(1.0, abs=1e-6)
    assert path.states[-1, 0] > 1e6


def test_implicit_step_beyond_the_explosion(as_native: Callable[..., Flow]) -> None:
    f, slope = as_native(_square, [0.0], 1), as_native(_square_jacobian, [0.0], 1)
    path = solve(Ode(f, slope), [1.0], (0.0, 3.0), method="radau", step=0.3)
    assert path.status in ("stalled", "diverged")
    assert path.times[-1] < 1.3


def test_rates_that_cease_to_exist_stall_the_motion(as_native: Callable[..., Flow]) -> None:
    """y' = -1/(2√y) reaches zero with an infinite slope at t = 4/3, since y^(3/2) = 1 - 3t/4."""
    path = solve(as_native(_falls, [0.0], 1), [1.0], (0.0, 3.0), method="dopri5", rtol=1e-8)
    assert path.status == "stalled"
    assert path.times[-1] == pytest.approx(4 / 3, abs=1e-6)
    assert "t = 1.333" in path.reason


@pytest.mark.parametrize("options", [{"method": "rk4", "step": 0.01}, {"method": "dop853", "rtol": 1e-8}])
def test_singular_equations_are_reported(as_native: Callable[..., Flow], options: dict[str, Any]) -> None:
    path = solve(as_native(_ends, [1.0], 1), [0.0], (0.0, 3.0), **options)
    assert path.status == "singular"
    assert path.singular_system == 2
    assert path.times[-1] == pytest.approx(1.0, abs=0.011)
    assert path.states[-1, 0] == pytest.approx(path.times[-1])


def test_singular_at_the_start(as_native: Callable[..., Flow]) -> None:
    for options in ({"step": 0.01}, {"rtol": 1e-6}):
        path = solve(as_native(_ends, [0.0], 1), [0.0], (0.0, 3.0), method="dopri5", **options)
        assert path.status == "singular"
        np.testing.assert_array_equal(path.times, [0.0])


@pytest.mark.parametrize("options", [{"method": "euler", "step": 0.01}, {"method": "dopri5", "rtol": 1e-3}])
def test_map_after_each_step_is_applied(
    problem: Callable[[str], Any], as_native: Callable[..., Flow], options: dict[str, Any]
) -> None:
    """The oscillator kept on y₁² + (y₂/2)² = 1: Euler's method then turns by atan(ωh) a step."""
    case, onto = problem("oscillator"), as_native(_to_circle, [0.0], 2)
    path = solve(Ode(case.flow, after_step=onto), case.start, (0.0, 3.0), **options)
    radius = np.hypot(path.states[:, 0], path.states[:, 1] / 2)
    np.testing.assert_allclose(radius, 1.0, atol=1e-14)
    if options["method"] == "euler":
        angle = path.steps * np.arctan(0.02)
        np.testing.assert_allclose(path.states[-1], [np.cos(angle), -2 * np.sin(angle)], atol=1e-12)
    grid = solve(Ode(case.flow, after_step=onto), case.start, (0.0, 3.0), output=np.linspace(0, 3, 50), **options)
    np.testing.assert_allclose(np.hypot(grid.states[:, 0], grid.states[:, 1] / 2), 1.0, atol=1e-14)


def test_a_map_that_fails_is_reported(problem: Callable[[str], Any], as_native: Callable[..., Flow]) -> None:
    case = problem("oscillator")
    path = solve(
        Ode(case.flow, after_step=as_native(_to_circle, [1.0], 2)), case.start, (0.0, 3.0), method="rk4", step=0.01
    )
    assert path.status == "singular"
    assert "constraints" in path.reason
    assert path.times[-1] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "options",
    [
        {"method": "rk4", "step": 1e-5},
        {"method": "rk4", "step": 1e-5, "output": np.linspace(0, 1e4, 1001)},
        {"method": "dopri5", "rtol": 1e-12},
        {"method": "dop853", "rtol": 1e-13, "output": np.linspace(0, 1e4, 1001)},
        {"method": "radau", "rtol": 1e-10},
        {"method": "radau", "step": 1e-3},
    ],
)
def test_S10_interrupt_keeps_what_was_computed(problem: Callable[[str], Any], options: dict[str, Any]) -> None:
    case, progress = problem("oscillator"), Interrupter(0.05)
    path = solve(case.ode, case.start, (0.0, 1e4), progress=progress, **options)
    assert path.status == "stopped"
    assert "stopped" in path.reason
    assert path.times[-1] == progress.seen[-1] < 1e4
    assert (np.diff(path.times) > 0).all()
    np.testing.assert_allclose(path.states[-1], case.exact(path.times[-1]), atol=1e-5)


def test_progress_reaches_the_end(problem: Callable[[str], Any]) -> None:
    case = problem("oscillator")
    seen: list[float] = []
    path = solve(case.flow, case.start, (0.0, 2000.0), method="rk4", step=1e-2, progress=seen.append)
    assert path.status == "finished"
    assert seen == sorted(seen)
    assert seen[-1] == 2000.0


def test_number_of_steps_is_limited(problem: Callable[[str], Any]) -> None:
    case = problem("oscillator")
    path = solve(case.flow, case.start, (0.0, 100.0), method="dopri5", rtol=1e-9, max_steps=100)
    assert path.status == "stalled"
    assert path.steps + path.rejected == 100
    with pytest.raises(ValueError, match="max_steps"):
        solve(case.flow, case.start, (0.0, 100.0), method="rk4", step=1e-9, max_steps=1000)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"span": (1.0, 0.0)}, "forwards in time"),
        ({"span": (0.0, np.inf)}, "finite"),
        ({"step": 0.1, "rtol": 1e-6}, "either"),
        ({"step": None}, "either"),
        ({"step": 0.0}, "positive"),
        ({"step": np.nan}, "positive"),
        ({"step": None, "rtol": 1e-6, "method": "rk4"}, "does not estimate its error"),
        ({"step": None, "rtol": 1e-6, "method": "euler"}, "does not estimate its error"),
        ({"step": None, "rtol": 1e-17}, "rounding"),
        ({"step": None, "rtol": 1e-6, "atol": 0.0}, "atol"),
        ({"step": None, "rtol": 1e-6, "atol": [1e-6] * 3}, "atol"),
        ({"method": "radau"}, "Jacobian"),
        ({"method": "rk3"}, "did you mean"),
        ({"start": [1.0]}, "2 states"),
        ({"start": [1.0, np.nan]}, "finite"),
        ({"output": [0.0, 0.0]}, "increase"),
        ({"output": [0.0, 2.0]}, "outside"),
        ({"every": 0}, "every"),
    ],
)
def test_bad_questions_are_refused(problem: Callable[[str], Any], changes: dict[str, Any], message: str) -> None:
    case = problem("oscillator")
    asked: dict[str, Any] = {"start": case.start, "span": (0.0, 1.0), "method": "dopri5", "step": 0.1, **changes}
    with pytest.raises(ValueError, match=message):
        solve(case.flow, asked.pop("start"), asked.pop("span"), **asked)


def test_an_interrupt_while_native_code_is_loaded_is_not_lost() -> None:
    """It is raised after the loading, once, and the handler is the old one again."""
    import signal

    from svyaz.integrate.runs import interrupts_kept

    reached = []

    def interrupted() -> None:
        with interrupts_kept():
            signal.raise_signal(signal.SIGINT)
            reached.append("the end")

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert reached == ["the end"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with interrupts_kept():
        reached.append("again")
    assert reached == ["the end", "again"]


def test_N2_a_motion_that_is_absurdly_fast_is_given_up_early_and_a_long_one_is_not(
    problem: Callable[[str], Any],
) -> None:
    """An oscillator over 10¹⁸ of its periods is given up after a hundred thousand steps, over 10⁵ of them it is not."""
    case = problem("oscillator")
    path = solve(case.flow, case.start, (0.0, 1e18), method="dopri5", rtol=1e-6)
    assert path.status == "stalled"
    assert "out of reach" in path.reason
    assert path.steps + path.rejected < 300_000
    path = solve(case.flow, case.start, (0.0, 1e5), method="dopri5", rtol=1e-6, output=[0.0, 1e5])
    assert path.status == "finished"
    assert path.steps > 300_000
