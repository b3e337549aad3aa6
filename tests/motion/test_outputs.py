"""Named expressions along motions, against what the columns say."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import ModelError, load, loads, simulate

PENDULUM = """
coordinates = ["x", "y"]
kinetic = "m/2*(x'^2 + y'^2)"
potential = "m*g*y"
[parameters]
m = 2
g = 9.81
[inputs]
F = 0
[forces]
x = "F"
[[constraint]]
name = "rod"
equation = "x^2 + y^2 = 1"
[initial]
x = 0.6
y = -0.8
[outputs]
angle = "atan2(x, -y)"
pull = "2*lambda_rod"
push = "F"
half = "0.5"
[run]
until = 1
"""


@pytest.mark.parametrize("form", ["multipliers", "shulgin"])
def test_outputs_are_columns_of_the_motion(form, tmp_path) -> None:
    motion = simulate(loads(PENDULUM), form=form, inputs={"F": "sin(t)"})
    assert np.abs(motion.column("angle") - np.arctan2(motion.column("x"), -motion.column("y"))).max() < 1e-14
    assert np.abs(motion.column("push") - np.sin(motion.times)).max() < 1e-14
    assert (motion.column("half") == 0.5).all()
    tension = 2 * (9.81 * 0.8)  # at rest at first: the pull against the component of gravity along the rod
    assert abs(motion.column("pull")[0]) == pytest.approx(tension, abs=1e-9)
    motion.to_csv(tmp_path / "m.csv")
    header = (tmp_path / "m.csv").read_text(encoding="utf-8").splitlines()[0]
    assert header.endswith("angle,pull,push,half")
    assert "pull" in motion.to_xarray()


def test_outputs_of_long_trees() -> None:
    words = load("chain:20").words
    from svyaz import System

    motion = System(**{**words, "outputs": {"both": "q1 + q20'"}}).simulate(until=0.1)
    assert np.abs(motion.column("both") - motion.column("q1") - motion.column("q20'")).max() < 1e-14


def test_wrong_outputs_are_shown_at_their_place() -> None:
    for wrong, words in (("other = 'z'", "unknown name 'z'"), ("x = 'y'", "'x'")):
        with pytest.raises(ModelError) as caught:
            loads(PENDULUM.replace('half = "0.5"', wrong), "p.toml")
        assert words in str(caught.value)
        assert caught.value.problems[0].place is not None
