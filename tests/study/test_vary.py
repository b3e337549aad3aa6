"""What is varied: how it is written, and the mistakes in it."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import System
from svyaz.expr import ModelError
from svyaz.study.vary import axes_for, members_of, parse_axis, points_of, recipe

BEAD = {
    "name": "bead",
    "coordinates": ["x", "y"],
    "kinetic": "m/2*(x'^2 + y'^2)",
    "potential": "m*g*y",
    "parameters": {"m": 1, "g": 9.81, "l": 2, "x0": "l*cos(start)", "start": "30*deg"},
    "constraint": [{"name": "rod", "equation": "x^2 + y^2 = l^2"}],
    "initial": {"x": "x0", "y": "sqrt(l^2 - x0^2)"},
    "run": {"method": "rk4", "step": 0.01, "until": 1},
}


@pytest.fixture
def bead() -> System:
    return System(**BEAD)


def test_values_are_spaced_evenly_or_in_the_logarithm() -> None:
    name, values = parse_axis("m=1:3:5")
    assert name == "m"
    assert values.tolist() == [1, 1.5, 2, 2.5, 3]
    assert parse_axis("kappa = 1e-2:1e2:5:log")[1] == pytest.approx([0.01, 0.1, 1, 10, 100], rel=1e-12)
    assert parse_axis("initial.u=-30*deg:pi/6:2")[1] == pytest.approx([-np.pi / 6, np.pi / 6])
    assert parse_axis("m=2:2:1")[1].tolist() == [2]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("m", "NAME=FROM:TO:COUNT"),
        ("m=1:2", "NAME=FROM:TO:COUNT"),
        ("=1:2:3", "NAME=FROM:TO:COUNT"),
        ("m=1::3", "NAME=FROM:TO:COUNT"),
        ("m=1:2:3:4", "'log'"),
        ("m=1:2:2.5", "whole number"),
        ("m=1:2:0", "whole number"),
        ("m=1:2:-3", "whole number"),
        ("m=1:2:1", "at least 2"),
        ("m=a:2:3", "cannot be read"),
        ("m=1,5:2:3", "cannot be read"),
        ("m=1/0:2:3", "division by zero"),
        ("m=0:2:3:log", "positive"),
        ("m=-1:2:3:log", "positive"),
    ],
)
def test_bad_text_is_refused(text, words) -> None:
    with pytest.raises(ModelError, match=words):
        parse_axis(text)


@pytest.mark.parametrize(
    ("vary", "words"),
    [
        ({}, "varies something"),
        ({"mm": [1, 2]}, "did you mean 'm'"),
        ({"x": [1, 2]}, "initial.x"),
        ({"step": [1, 2]}, "run.step"),
        ({"initial.z": [1]}, "not among the variables"),
        ({"run.method": [1]}, "cannot be varied"),
        ({"run.step": [0.1, 0.0]}, "positive"),
        ({"m": [1, np.nan]}, "finite"),
        ({"m": []}, "list of numbers"),
        ({"m": [1], "parameters.m": [2]}, "twice"),
        ({"stabilize": [1], "alpha": [2]}, "together"),
        ({"run.step": [0.1], "run.rtol": [1e-6]}, "either a step or rtol"),
        ({"m": np.arange(1, 20001), "g": np.arange(1, 20001)}, "400000000 members"),
    ],
)
def test_bad_axes_are_refused(bead, vary, words) -> None:
    with pytest.raises(ModelError, match=words):
        axes_for(bead, vary)


def test_product_runs_the_last_axis_fastest(bead) -> None:
    axes = axes_for(bead, {"m": [1, 2], "run.step": [0.1, 0.2], "alpha": [5.0]})
    points = list(zip(*points_of(axes, range(4)), strict=True))
    assert points == [(1, 0.1, 5), (1, 0.2, 5), (2, 0.1, 5), (2, 0.2, 5)]
    members = members_of(axes, points, {"beta": 7.0})
    assert members[1].settings == {"m": 1}
    assert members[1].asked == {"step": 0.2, "stabilize": {"alpha": 5, "beta": 7}}


def test_a_parameter_hides_a_gain_of_the_same_name() -> None:
    words = {**BEAD, "parameters": {**BEAD["parameters"], "alpha": 1}, "forces": {"x": "-alpha*x'"}}
    axes = axes_for(System(**words), {"alpha": [1.0], "stabilize.alpha": [2.0]})
    assert [axis.kind for axis in axes] == ["value", "gain"]


@pytest.mark.parametrize(
    "settings", [{"l": 3.0}, {"start": 0.2}, {"x0": 0.7}, {"initial.x": 0.3}, {"l": 2.5, "initial.y": 1.0}, {"m": 4.0}]
)
def test_values_are_those_of_the_model_read_anew(bead, settings) -> None:
    constants, state = recipe(bead, settings).values(settings)
    anew = bead.with_settings(settings)
    assert constants == anew.constants
    assert state == anew.initial_state()
