"""The peers of the bench of constrained motion move the same mechanisms as we do."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _path(monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def module(name: str):
    return import_module(f"bench.constraints.{name}")


@pytest.mark.parametrize("name", ["pendulum-xy", "slider-crank", "four-bar"])
def test_accelerations_are_ours(name) -> None:
    mechanisms, setting = module("mechanisms"), module("setting")
    code, state = setting.segment(name, "off", method="rk4", step=0.01)
    n = len(state) // 2
    ours = code.rates.owner.evaluate(np.concatenate([[0.0], state]), code.rates.constants)[n:]
    theirs, _ = mechanisms.accelerations(mechanisms.MECHANISMS[name], state[:n], state[n:])
    assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", ["pendulum-xy", "slider-crank", "four-bar"])
def test_peers_converge_to_the_reference(name) -> None:
    pytest.importorskip("sksundae")
    pytest.importorskip("exudyn")
    mechanisms = module("mechanisms")
    exact = mechanisms.reference(name)
    assert mechanisms.error(module("ida_peer").solver(name)(1e-10), exact) < 1e-5
    errors = []
    for steps in (2000, 4000):
        solve, positions = module("exudyn_peer").solver(name)(steps)
        solve()
        errors.append(mechanisms.error(positions(), exact))
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)  # second order


def test_numpy_loops_are_the_same_euler_method() -> None:
    million, setting = module("million"), module("setting")
    code, state = setting.segment("sleigh", million.KAPPA, method="euler", step=million.STEP)
    solve = import_module("svyaz.integrate").solve
    span = (0.0, 2000 * million.STEP)
    path = solve(code.rates, state, span, method="euler", step=million.STEP, every=million.EVERY)
    for loop in (million.plain, million.tight):
        np.testing.assert_allclose(loop(2000), path.states[1:], rtol=1e-13)


def test_times_are_read_off_at_equal_error() -> None:
    at = module("work_precision")._at([(1e-2, 1.0), (1e-4, 10.0), (2e-4, 20.0), (1e-6, 100.0)])
    assert at(1e-3) == pytest.approx(10**0.5)
    assert at(1e-5) == pytest.approx(10**1.5)
    assert at(0.5) == 1.0
    assert np.isnan(at(1e-7))
