"""The choice of gains: "auto" is not beaten by a constant, never worse than nothing, and tells why."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from svyaz import System, gallery, loads
from svyaz.holding.deviation import scaled_difference, state_sizes
from svyaz.holding.gains import CANDIDATES, LARGEST_SHARE, candidates
from svyaz.holding.pilot import scheme_of
from svyaz.motion import simulate

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _benches(monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def bench(name: str):
    return import_module(f"bench.{name}")


def model(name: str, **settings: object) -> System:
    text = gallery.find(name)
    assert text is not None
    return loads(text, name).with_settings(settings)


@pytest.mark.parametrize(
    ("name", "method", "step"),
    [
        ("pendulum-xy", "rk4", 0.01),
        ("pendulum-xy", "euler", 0.005),
        ("sleigh", "euler", 0.01),
        ("sleigh", "rk2", 0.01),
        ("ball-on-plane", "rk2", 0.01),
        ("slider-crank", "rk4", 0.01),
        ("four-bar", "rk2", 0.005),
        ("rolling-disc", "rk4", 0.01),
        ("rocket-path", "rk4", 0.005),
        ("sling-hooked", "rk4", 0.01),
        ("three-link", "rk4", 0.005),
    ],
)
def test_C4_no_constant_gain_is_twice_as_good_in_error_and_residual(name, method, step) -> None:
    study = bench("gains.choice")
    made = bench("tools.nine").rig(name)
    case = study.case(made, method, step, study.reference(made, step))
    assert case.scored
    assert case.chosen.finished
    assert case.beaten <= 2.0
    assert case.residual_ratio <= 1.2


def test_C4_auto_is_neither_a_constant_nor_the_inverse_of_the_step() -> None:
    chosen = {}
    for method, step in (("euler", 0.001), ("rk4", 0.001), ("rk4", 0.01)):
        motion = simulate(model("pendulum-xy"), method=method, step=step, until=5)
        chosen[method, step] = motion.gains.proposed
    assert chosen["rk4", 0.001] < 0.05 / 0.001
    assert chosen["euler", 0.001] > 10 * chosen["rk4", 0.001]


def test_every_decision_is_logged() -> None:
    motion = simulate(model("sleigh"), method="euler", step=0.01, until=2, tolerance=2e-4)
    assert motion.finished
    auto = motion.gains.choice
    assert any("the step is halved" in line for line in auto.log)
    assert any("chosen from" in line for line in auto.log)
    assert set(auto.log) <= set(motion.notes)
    assert motion.step == auto.step < 0.01
    assert len(auto.trials) == CANDIDATES + 1
    assert auto.seconds > 0


def test_candidates_lie_between_the_span_and_the_limit_of_the_method() -> None:
    from svyaz.holding.options import options_for

    scheme = scheme_of(options_for(model("sleigh"), {"method": "euler", "step": 0.01}))
    found = candidates(scheme, (0.0, 6.0))
    assert found[0] == 0.0
    assert found[1] <= 1 / 6.0
    assert found[-1] == pytest.approx(LARGEST_SHARE * 200, rel=1e-9)
    assert np.all(np.diff(found) > 0)


def test_error_controlled_runs_have_a_choice_too() -> None:
    motion = simulate(model("four-bar"), method="dopri5", rtol=1e-6, until=2, stabilize="auto")
    off = simulate(model("four-bar"), method="dopri5", rtol=1e-6, until=2, stabilize="off")
    assert motion.finished
    for name in motion.residuals:
        assert np.abs(motion.residuals[name]).max() <= 1.2 * np.abs(off.residuals[name]).max() + 1e-12


@pytest.mark.parametrize("unit", [1.0, 1e3])
def test_states_at_zero_take_the_scale_of_their_like(unit) -> None:
    """Two equal masses, one of them at rest; a length in other units changes all sizes alike."""
    system = System(
        name="two points",
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        constraint=[{"name": "rest", "equation": "y = 0"}],
        initial={"x": unit},
    )
    times = np.linspace(0, 1, 11)
    states = np.zeros((11, 4))
    states[:, 0], states[:, 2] = unit * (1 + times), unit
    sizes = state_sizes(system.derive(), times, states)
    assert sizes == pytest.approx(unit * np.array([2, 2e-3, 1, 1e-3]), rel=1e-12)


def test_states_of_no_size_do_not_count_in_differences() -> None:
    a = np.array([[1.0, 1e-16], [2.0, 0.0]])
    b = np.array([[1.1, 5e-16], [2.0, 0.0]])
    assert scaled_difference(a, b) == pytest.approx(0.05)
    assert scaled_difference(np.zeros((2, 2)), np.zeros((2, 2))) == 0.0


def test_C4_cases_in_which_every_gain_diverges_are_listed_and_not_scored() -> None:
    study = bench("gains.choice")
    failed = study.Outcome(1.0, np.inf, np.inf)
    case = study.Case(failed, failed, (failed,) * 25, 0.1)
    assert not case.scored
    good = study.Outcome(2.0, 1e-3, 1e-5)
    better = study.Outcome(3.0, 1e-4, 2e-6)
    assert study.Case(good, failed, (better, failed), 0.1).beaten == pytest.approx(5.0)
    samples = {
        study.job("sleigh", False).name: [
            {"euler 0.01 scored": 0.0} | {f"{m} {s:g} scored": 0.0 for m in study.METHODS for s in study.STEPS}
        ]
    }
    rows = study.rows(samples, False)
    assert len(rows) == 9
    assert all("every gain diverges" in row.name and row.verdict == "reported" for row in rows)
