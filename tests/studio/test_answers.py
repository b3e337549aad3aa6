"""What the studio shows is what the commands write as JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from studio_client import RunningStudio

from svyaz import load

UNLIKE = {"seconds", "pilot"}
"""Times of the machine."""


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_times(part) for name, part in value.items() if name not in UNLIKE}
    return [without_times(part) for part in value] if isinstance(value, list) else value


def written(svyaz, *arguments: str) -> Any:
    """The JSON of a command."""
    return without_times(json.loads(svyaz(*arguments, "--json", "-").stdout))


@pytest.mark.parametrize(
    ("model", "settings", "options", "flags"),
    [
        ("pendulum:2", {"g": "9.8"}, {"until": 1}, ["--set", "g=9.8", "--until", "1"]),
        ("sleigh", {}, {"stabilize": 10, "until": 0.5}, ["--stabilize", "10", "--until", "0.5"]),
        ("sling", {}, {}, []),
        ("bouncing-ball", {"initial.y": "2"}, {"until": 1}, ["--set", "initial.y=2", "--until", "1"]),
    ],
)
def test_U2_a_motion_is_that_of_the_command(studio: RunningStudio, svyaz, model, settings, options, flags) -> None:
    answer = studio.ask("simulate", model, settings=settings, options=options)["answer"]
    (run,) = answer["runs"]
    assert without_times(run["record"]) == written(svyaz, "simulate", model, *flags)
    name = load(model).coordinates[0]
    assert run["groups"]["state"][name][-1] == pytest.approx(run["record"]["final"][name], rel=1e-12)
    assert len(run["t"]) == len(run["groups"]["state"][name]) > 20


def test_U2_a_check_is_that_of_the_command(studio: RunningStudio, svyaz) -> None:
    answer = studio.ask("check", "sleigh", options={"stabilize": 20})["answer"]
    assert without_times(answer["record"]) == written(svyaz, "check", "sleigh", "--stabilize", "20")


def test_curves_are_those_of_the_motion(studio: RunningStudio) -> None:
    run = studio.ask("simulate", "pendulum:1", options={"until": 2, "method": "rk4", "step": 0.01})["answer"]["runs"][0]
    motion = load("pendulum:1").simulate(until=2, method="rk4", step=0.01)
    assert np.array_equal(run["t"], motion.times)
    assert np.array_equal(run["groups"]["state"]["u1"], motion["u1"])
    item = run["scene"]["items"][0]
    length, u = load("pendulum:1").parameters["L1"], motion["u1"][0]
    assert item["points"][0][-1] == pytest.approx([length * np.sin(u), -length * np.cos(u)], abs=1e-12)


def test_a_mistake_is_told_with_its_place(studio: RunningStudio) -> None:
    text = 'name = "a"\ncoordinates = ["x"]\nkinetic = "m/2*x\'^2"\npotential = "k*z^2"\n[parameters]\nm = 1\nk = 1\n'
    (mistake,) = studio.ask("read", {"name": "mine", "text": text})["mistakes"]
    assert (mistake["line"], mistake["column"]) == (4, 16)
    assert "'z'" in mistake["message"]
