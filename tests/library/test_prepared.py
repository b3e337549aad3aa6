"""Prepared runs give the motions that ``simulate`` gives with the same values and starts."""

import tracemalloc
from copy import copy

import numpy as np
import pytest

import svyaz
from svyaz import ModelError

BLOCK = {
    "name": "block on a spring with dry friction",
    "coordinates": ["x"],
    "kinetic": "m/2*x'^2",
    "potential": "k*x^2/2",
    "forces": {"x": "-mu*m*g*sign(x')"},
    "parameters": {"m": 1, "k": 10, "mu": 0.2, "g": 9.81},
    "initial": {"x": 1},
}
FREE = {
    "name": "a body thrown with a spin",
    "body": [
        {
            "name": "top",
            "base": "ground",
            "joint": "free",
            "coordinates": ["x", "y", "z", "e0", "e1", "e2", "e3"],
            "mass": "m",
            "pole": [0, 0, 0],
            "center": [0, 0, 0],
            "inertia": {"xx": 0.1, "yy": 0.2, "zz": 0.25},
        }
    ],
    "gravity": [0, 0, "-g"],
    "parameters": {"m": 2, "g": 9.81},
    "initial": {"e0": 1, "wx": 0.1, "wy": 2, "wz": 0.3},
}
CASES = {
    "symbolic": ("pendulum:2", {"L1": 1.5}, {"u1": 0.4}, {"until": 2}),
    "fixed steps": ("pendulum:2", {"L1": 1.5}, {"u1": 0.4}, {"until": 1, "method": "rk4", "step": 0.01, "every": 0.1}),
    "gains": ("sleigh", {"m": 1.3}, {}, {"until": 1, "stabilize": 5.0, "method": "rk4", "step": 0.01}),
    "projection": ("sleigh", {"m": 1.3}, {}, {"until": 1, "stabilize": "projection", "method": "rk4", "step": 0.01}),
    "events": ("bouncing-ball", {"e": 0.6}, {"y": 1.2}, {"until": 1.5}),
    "closed loop": ("four-bar", {"mAB": 1.5}, {}, {"until": 0.3, "stabilize": 10.0, "method": "rk4", "step": 0.001}),
    "free base": (FREE, {"g": 1.6}, {"z": 1.0}, {"until": 0.5}),
    "recursions": ("random-tree:20", {"m1": 0.7}, {"q1": 0.2}, {"until": 0.1}),
    "friction": (BLOCK, {"mu": 0.3}, {"x": 1.2}, {"until": 3}),
    "long tree": ("chain:20", {}, {}, {"until": 0.2}),
}


def system_of(model):
    return svyaz.load(model) if isinstance(model, str) else svyaz.System(**model)


@pytest.mark.parametrize("case", CASES)
def test_W9_prepared_runs_equal_simulate(case):
    """Times, states, energies and notes are those of simulate with the same values, in every call."""
    model, parameters, start, options = CASES[case]
    system = system_of(model)
    wanted = system.with_(**parameters).simulate(start=start or None, **options)
    run = system.prepare(**options)
    for _ in range(3):
        run(start=start)
        found = run(parameters=parameters, start=start)
        assert np.array_equal(found.times, wanted.times)
        assert np.array_equal(found.states, wanted.states)
        assert found.status == wanted.status
    assert found.notes == wanted.notes
    for name in wanted.quantities:
        assert np.array_equal(found[name], wanted[name], equal_nan=True)
    for name in parameters:
        assert found.system.parameters[name] == parameters[name]


def test_W9_initial_values_follow_parameters():
    """Formulas of parameters and of the start are evaluated with the values of a call."""
    system = svyaz.System(
        coordinates=["x"],
        kinetic="m/2*x'^2",
        potential="k*x^2/2",
        parameters={"m": 2, "w": 3, "k": "m*w^2"},
        initial={"x": "1/w"},
    )
    run = system.prepare(until=1)
    for w in (2.0, 3.0, 5.0):
        found = run({"w": w})
        assert found["x"][-1] == pytest.approx(np.cos(w) / w, abs=1e-7)  # x = cos(w t)/w


def test_W9_prepared_runs_fail_as_simulate_does():
    """A run that does not reach its end raises RunFailed, or is returned where that was asked for."""
    system = svyaz.System(
        states=["x"], rates={"x": "a*x^2"}, parameters={"a": 0.1}, initial={"x": 1}
    )  # x = 1/(1 - a t)
    run = system.prepare(until=2)
    for _ in range(3):
        assert run()["x"][-1] == pytest.approx(1 / 0.8, rel=1e-6)
        with pytest.raises(svyaz.RunFailed) as failure:
            run({"a": 1.0})
        assert failure.value.motion.times[-1] == pytest.approx(1.0, abs=1e-3)
    assert system.prepare(until=2, on_failure="return")({"a": 1.0}).status == "diverged"


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"parameters": {"L1": float("nan")}}, "parameters"),
        ({"parameters": {"L1": float("inf")}}, "parameters"),
        ({"parameters": 3}, "parameters"),
        ({"parameters": {"L9": 1.0}}, "L9"),
        ({"start": {"u1": float("nan")}}, "start"),
        ({"start": {"nobody": 1.0}}, "nobody"),
    ],
)
def test_W9_values_of_prepared_runs_are_checked(given, named):
    """Wrong names and numbers are errors that name the argument, in every call."""
    run = svyaz.load("pendulum:2").prepare(until=0.1)
    for _ in range(3):
        with pytest.raises(ModelError, match=named):
            run(**given)


def test_W9_prepared_runs_keep_their_arrays_and_memory():
    """A motion is not changed by the runs after it, and a thousand runs leave no memory behind."""
    run = svyaz.load("pendulum:2").prepare(until=1)
    kept = [run(start={"u1": x}) for x in (0.1, 0.2, 0.3, 0.4, 0.5)]
    copies = [motion.states.copy() for motion in kept]
    for _ in range(600):
        run(start={"u1": 0.7})
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(400):
            run(start={"u1": 0.7})
        assert tracemalloc.get_traced_memory()[0] - before < 100_000
    finally:
        tracemalloc.stop()
    for motion, states in zip(kept, copies, strict=True):
        assert np.array_equal(motion.states, states)
    assert np.array_equal(copy(kept[2])["energy"], kept[2]["energy"])


def test_W9_second_simulate_gives_the_same_motion():
    """What a run prepared serves the next one, which gives the same numbers, notes and gains."""
    for name, options in (("sleigh", {"until": 1}), ("four-bar", {"until": 0.5}), ("chain:20", {"until": 0.1})):
        system = svyaz.load(name)
        first, second = (system.simulate(on_failure="return", **options) for _ in range(2))
        fresh = svyaz.load(name).simulate(on_failure="return", **options)
        assert np.array_equal(first.states, second.states)
        assert np.array_equal(first.states, fresh.states)
        assert first.notes == second.notes


def test_W9_a_run_that_failed_its_check_fails_again(monkeypatch):
    """Only rows that passed the check of a run are left out when it is repeated."""
    from svyaz.motion import self_check

    def refuse(*_given):
        raise self_check_failed

    self_check_failed = RuntimeError("the rates do not satisfy the equations")
    monkeypatch.setattr(self_check, "check_samples", refuse)
    system = svyaz.load("pendulum:2")
    for _ in range(2):
        with pytest.raises(RuntimeError, match="do not satisfy"):
            system.simulate(until=0.1)


def test_W9_options_are_checked_when_a_run_is_prepared():
    """Wrong options, and those that belong to each call, are refused before anything is run."""
    system = svyaz.load("pendulum:2")
    for wrong in ({"nonsense": 1}, {"start": {"u1": 1.0}}):
        with pytest.raises(TypeError, match=next(iter(wrong))):
            system.prepare(**wrong)
    for wrong in ({"step": float("nan")}, {"until": -1.0}, {"on_failure": "hide"}, {"rows": [0.0, 99.0]}):
        with pytest.raises(ModelError, match=next(iter(wrong))):
            system.prepare(**wrong)


def test_W9_masses_are_judged_in_every_call():
    """Negative masses of the model or of a call are refused, masses of zero make a singular run, in every call."""
    for own in (1.0, -1.0, 0.0):
        system = svyaz.System(coordinates=["x"], kinetic="m/2*x'^2", potential="x^2/2", parameters={"m": own})
        run = system.prepare(until=1)
        for _ in range(3):
            assert run({"m": 4.0}, {"x": 1.0})["x"][-1] == pytest.approx(np.cos(0.5), abs=1e-8)
            with pytest.raises(ModelError, match="negative"):
                run({"m": -1.0})
            with pytest.raises(svyaz.RunFailed, match="without inertia"):
                run({"m": 0.0})
            if own < 0:
                with pytest.raises(ModelError, match="negative"):
                    run(start={"x": 1.0})
