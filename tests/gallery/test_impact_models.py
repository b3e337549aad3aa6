"""Models of the gallery with impacts, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import load
from svyaz.motion import simulate


def test_K5_the_ball_of_the_gallery_rests_at_the_end_of_its_series() -> None:
    motion = simulate(load("bouncing-ball"))
    assert motion.finished, motion.reason
    assert motion.phases[-1].t == pytest.approx(np.sqrt(2 / 9.81) * 1.7 / 0.3, abs=1e-9)
    assert motion.states[-1] == pytest.approx([1.4, 0, 0.4, 0], abs=1e-8)


def test_K5_the_cradle_of_the_gallery_swings_from_end_to_end() -> None:
    """Half a period of a pendulum of 40° lies between the impacts, 2 K(sin 20°) sqrt(l/g); the energy is kept."""
    from scipy.special import ellipk

    motion = simulate(load("newtons-cradle"), until=1.3)
    assert motion.finished, motion.reason
    quarter = ellipk(np.sin(np.deg2rad(20)) ** 2) * np.sqrt(0.3 / 9.81)
    strikes = [event for event in motion.phases if event.impacts]
    assert strikes[0].t == pytest.approx(quarter, abs=1e-8)
    assert strikes[0].impacts == (("12",), ("23",), ("34",), ("45",))
    assert strikes[-1].t == pytest.approx(3 * quarter, abs=1e-7)
    last = motion.column("u5")
    assert last.max() == pytest.approx(np.deg2rad(40), abs=3e-4)  # between rows
    assert np.abs(motion.column("u3")).max() < 1e-7
    assert np.ptp(motion.energy) < 1e-9


@pytest.mark.parametrize("step", [0.01, 0.005])
def test_the_cradle_runs_on_with_any_step(step) -> None:
    """Balls at rest side by side touch to rounding: that one would be entered at once, and is not, is no chatter."""
    from scipy.special import ellipk

    motion = simulate(load("newtons-cradle"), until=5, method="dop853", step=step)
    assert motion.finished, motion.reason
    assert np.ptp(motion.energy) < 1e-9
    quarter = ellipk(np.sin(np.deg2rad(20)) ** 2) * np.sqrt(0.3 / 9.81)
    hard = [e.t / quarter for e in motion.phases if max(map(abs, e.velocity_jump.values()), default=0.0) > 1]
    assert {round(t) for t in hard} == {1, 3, 5, 7, 9, 11, 13, 15, 17}
    assert max(abs(t - round(t)) for t in hard) < 1e-5
