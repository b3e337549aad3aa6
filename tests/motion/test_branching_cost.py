"""What looking for positions at which constraints branch costs is bounded by the run itself."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from svyaz import System, simulate
from svyaz.motion.events import locating
from svyaz.stabilise import branch_crossing

ERROR_CONTROL = {"method": "dop853", "rtol": 1e-10, "stabilize": "off"}


def oval(waist: float = 0.0, **more: object) -> System:
    """A free point on Cassini's oval (x² + y²)² = x² - y² + waist; a lemniscate, with a node at 0, where that is zero."""
    return System(
        name="oval",
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        constraint=[{"name": "path", "equation": f"(x^2 + y^2)^2 = x^2 - y^2 + {waist}"}],
        initial={"x": float(np.sqrt((1 + np.sqrt(1 + 4 * waist)) / 2)), "y'": -1.0},
        **more,
    )


@pytest.mark.parametrize("waist", [1e-3, 1e-6])
def test_N2_coming_near_again_and_again_is_looked_at_in_relation_to_the_rows(monkeypatch, waist) -> None:
    """An oval that is nearly a lemniscate comes near to its node twice in a turn, and turns off; the speed stays one."""
    tried, curve = Counter[float](), branch_crossing.Way.curve

    def counted(way: branch_crossing.Way, *arguments: object) -> branch_crossing.Polynomial | None:
        tried[way.time] += 1
        return curve(way, *arguments)

    monkeypatch.setattr(branch_crossing.Way, "curve", counted)
    motion = simulate(oval(waist), method="dop853", rtol=1e-10, stabilize="projection", until=80)
    assert motion.finished
    assert not [note for note in motion.notes if "passed" in note]
    np.testing.assert_allclose(np.hypot(*motion.states[:, 2:].T), 1.0, atol=1e-6)
    assert 5 < len(tried) <= branch_crossing.MOST_TRIED + len(motion.times) // branch_crossing.ROWS_EACH
    assert sum(tried.values()) <= branch_crossing.TRIALS * len(tried)


def test_N2_steps_that_grow_short_without_end_are_one_approach() -> None:
    """Rows at which the time to a position is halved, a thousand in a row, are looked at from few of them."""
    from svyaz.stabilise.degeneracy import ROWS, _spread

    chosen = _spread(2.0 ** (-np.arange(1000) / 10))
    np.testing.assert_array_equal(chosen, 10 * np.arange(ROWS))
    assert len(_spread(np.linspace(1.0, 0.9, 500))) == 1
    np.testing.assert_array_equal(_spread(np.array([1.0, 0.99, 0.98])), [0, 1, 2])


def test_N2_a_run_with_limits_passes_positions_at_a_cost_that_grows_with_their_number(monkeypatch) -> None:
    """Four times as many passages take about four times as many steps, not sixteen times."""
    steps, integrated = Counter[float](), locating.integrated

    def counted(*arguments: object) -> object:
        path = integrated(*arguments)
        steps[until] += path.steps
        return path

    monkeypatch.setattr(locating, "integrated", counted)
    for until in (20.0, 80.0):
        assert simulate(oval(limits={"x": {"low": -5.0}}), **ERROR_CONTROL, until=until).finished
    assert steps[80.0] < 6 * steps[20.0]


FRICTION = System(
    coordinates=["x"], kinetic="x'^2/2", potential="50*x^2", forces={"x": "-0.1*sign(x')"}, initial={"x": 1.0}
)


@pytest.mark.parametrize(
    "system", [oval(), oval(limits={"x": {"low": -5.0}}), FRICTION], ids=["plain", "limits", "dry"]
)
def test_N2_the_steps_that_are_allowed_are_those_of_all_pieces_together(system) -> None:
    """Between branching positions, and between jumps of the rates, a method begins anew; the steps are counted on."""
    motion = simulate(system, **ERROR_CONTROL, until=1000, max_steps=200, on_failure="return")
    assert motion.status == "diverged"
    assert "all steps that were allowed are used up" in motion.reason
    assert 150 < motion.steps <= 201
