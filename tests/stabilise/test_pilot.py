"""Pilots: the deviation predicted before a run is never exceeded and not far above it; verdicts against runs."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
NINE = [
    "pendulum-xy",
    "sleigh",
    "ball-on-plane",
    "three-link",
    "slider-crank",
    "four-bar",
    "rolling-disc",
    "rocket-path",
    "sling-hooked",
]


@pytest.fixture(autouse=True)
def _benches(monkeypatch) -> None:
    """The studies stand in the folder of the benches; here they run on a small part of their cases."""
    monkeypatch.syspath_prepend(str(ROOT))


def bench(name: str):
    return import_module(f"bench.{name}")


@pytest.mark.parametrize("name", NINE)
def test_C1_predicted_deviations_are_bounds_and_not_far_above(name) -> None:
    study, made = bench("predictions.bounds"), bench("tools.nine").rig(name)
    methods = ("euler", "rk2", "rk4", "dopri5")
    found = [c for c in study.cases(made, methods, (0.01,), (0.01, 0.1, 0.5, 0.9)) if c is not None]
    found += [c for c in study.cases(made, ("euler", "rk4"), (0.002,), (0.02, 0.4)) if c is not None]
    assert len(found) >= 8
    for case in found:
        assert case.exceeded <= 1.0, case
        if case.settled:
            assert case.loose <= 20.0, case


def test_C1_the_first_second_of_the_sleigh_would_miss_its_remainder() -> None:
    """The remainder grows with the speed: over six seconds it is many times that of the first second."""
    from svyaz.stabilise.pilot import predict

    made = bench("tools.nine").rig("sleigh")
    options = made.options(method="rk4", step=0.01, stabilize="off")
    segment = made.segment.regained(made.critical(20.0))
    whole, first = (predict(segment, options, made.state, (0.0, end)) for end in (6.0, 0.5))
    assert whole.bounds["blade"] > 3 * first.bounds["blade"]


def test_C1_the_cost_of_the_pilot_is_reported() -> None:
    from svyaz.motion import check

    made = bench("tools.nine").rig("slider-crank")
    pilot = check(made.system, method="rk4", step=0.01, stabilize=10).gains.prediction
    assert pilot.steps > 0
    assert pilot.seconds > 0
    assert pilot.coarseness in (1, 2, 4, 8)
    assert set(pilot.remainders) == {"crank", "rod"}


def test_C1_a_disturbed_start_enters_the_prediction() -> None:
    made = bench("tools.nine").rig("pendulum-xy", **{"initial.x": 1.001})
    from svyaz.stabilise.pilot import predict

    options = made.options(method="rk4", step=0.005, stabilize="off")
    law = made.critical(10.0)
    path = made.run(law, options)
    bound = predict(made.segment.regained(law), options, made.state, made.span).bounds["rod"]
    observed = made.residuals(path)[0][0]
    assert observed == pytest.approx(2.001e-3, rel=1e-6)
    assert observed <= bound <= 20 * observed


def test_C1_power_and_sum_by_doubling() -> None:
    from svyaz.stabilise.gain_range import _power_and_sum

    rng = np.random.default_rng(4)
    s = rng.normal(size=(3, 3)) / 3
    for m in (0, 1, 2, 7, 20):
        power, total = _power_and_sum(s, m)
        np.testing.assert_allclose(power, np.linalg.matrix_power(s, m), atol=1e-12)
        plain = sum((np.linalg.matrix_power(s, k) for k in range(m)), np.zeros((3, 3)))
        np.testing.assert_allclose(total, plain, atol=1e-12)


def test_nothing_is_predicted_without_a_fixed_step_or_for_projection() -> None:
    from svyaz.stabilise.pilot import predict

    made = bench("tools.nine").rig("pendulum-xy")
    segment = made.segment.regained(made.critical(5.0))
    assert predict(segment, made.options(method="dop853", rtol=1e-8), made.state, made.span) is None
    assert predict(segment, made.options(method="radau", step=0.01), made.state, made.span) is None
    options = made.options(method="rk4", step=0.01, stabilize="projection")
    assert predict(made.projected(options), options, made.state, made.span) is None


# verdicts against runs


def test_C2_hanging_pendulum_does_what_the_verdict_says() -> None:
    """400 draws of (α, β, method, τ), none within 2 % of the border: unstable grows 1000-fold, stable decays."""
    study, drawn = bench("verdicts.hanging"), bench("verdicts.draws")
    made = study.hanging()
    found = list(drawn.draws(made, 400, study.STEPS, seed=2024))
    stable = sum(d.verdict.stable for d in found)
    assert 100 < stable < 300
    for d in found:
        largest, last = study.growth(made, d)
        if d.verdict.stable:
            assert last < 0.1, d
        else:
            assert largest >= 1000, d


@pytest.mark.parametrize("method", ["euler", "rk2", "rk4", "dopri5"])
def test_C2_runs_lost_in_spite_of_the_verdict_are_reported(method) -> None:
    study, made = bench("verdicts.swinging"), bench("tools.nine").rig("pendulum-xy")
    count = 0
    for share in (0.5, 0.8, 0.92, 0.95, 0.98):
        gone, kappa = study.lost(made, method, 0.02, share)
        if gone:
            count += 1
            assert study.reported(made, method, 0.02, kappa)
    assert count > 0, "the verdict is necessary, not sufficient"
