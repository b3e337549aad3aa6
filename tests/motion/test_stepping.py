"""A motion step by step, against closed forms and the same motion in one run."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

from svyaz import ModelError, Simulator, load, loads, simulate
from svyaz.motion import stepping

CART = """
coordinates = ["x"]
kinetic = "x'^2/2"
[inputs]
F = { value = 0, high = 2 }
[forces]
x = "F - x'"
[limits]
x = [-10, 1]
"""


def test_P1_inputs_are_held_through_each_step() -> None:
    loop = Simulator(loads(CART), dt=0.1)
    x, v = 0.0, 0.0
    for k in range(10):
        force = 1.0 if k < 5 else -1.0
        found = loop.step({"F": force} if k % 2 else [force])
        decay = np.exp(-0.1)
        x, v = x + force * 0.1 + (v - force) * (1 - decay), force + (v - force) * decay
        assert found == pytest.approx([x, v], abs=1e-9)
    assert loop["kinetic"] == pytest.approx(v**2 / 2, abs=1e-9)
    assert loop.reset({"x": 0.5}) == pytest.approx([0.5, 0.0])
    assert (loop.t, loop.inputs) == (0.0, {"F": 0.0})


def test_P1_inputs_are_cut_off_and_limits_are_seen() -> None:
    loop = Simulator(loads(CART), dt=1.0)
    loop.step({"F": 100.0})
    assert loop.inputs == {"F": 2.0}
    assert loop.status == "finished"
    loop.step()
    assert loop.status == "left"


def test_P1_steps_with_constraints_make_up_the_run() -> None:
    system = load("sleigh")
    loop = Simulator(system, dt=0.05)
    for _ in range(20):
        loop.step()
    whole = simulate(system, until=1.0)
    assert loop.state == pytest.approx(whole.states[-1], abs=1e-9)
    assert abs(loop["blade"]) < 1e-9
    assert loop.multipliers["blade"] == pytest.approx(whole.multipliers["blade"][-1], abs=1e-7)


def test_what_cannot_be_had_step_by_step_is_refused() -> None:
    with pytest.raises(ModelError, match="constraints that begin and cease to act"):
        Simulator(load("biped"))
    loop = Simulator(loads(CART))
    with pytest.raises(ModelError, match="there is no input 'G'"):
        loop.step({"G": 1.0})
    with pytest.raises(ModelError, match="1 inputs expected"):
        loop.step([1.0, 2.0])
    with pytest.raises(ModelError, match="'dt' must be a positive number"):
        loop.step(dt=-1.0)
    with pytest.raises(KeyError, match="no 'q'"):
        loop["q"]


def test_the_example_of_the_simulator_runs() -> None:
    assert doctest.testmod(stepping).failed == 0


def test_W8_the_time_of_a_simulator_is_a_multiple_of_its_step() -> None:
    """After k steps t = k·dt to the last digit, so that a loop up to t = 5 with dt = 0.005 takes 1000 of them; after a step of
    another length the count begins there.
    """
    loop, count = Simulator(load("pendulum:1"), dt=0.005), 0
    while loop.t < 5:
        loop.step()
        count += 1
        assert loop.t == count * 0.005
    assert count == 1000
    loop.step(dt=0.25)
    assert loop.t == 5.25
    loop.step()
    assert loop.t == 5.25 + 0.005
    loop.reset()
    loop.step()
    assert loop.t == 0.005
