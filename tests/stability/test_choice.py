"""The equilibrium nearest to a position, with no more search than it takes."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import System
from svyaz.stability import choice, equilibrium_near

RODS = {
    "coordinates": ["c", "x1", "y1", "x2", "y2", "x3", "y3"],
    "kinetic": "c'^2/2 + 0.1*(x1'^2 + y1'^2 + x2'^2 + y2'^2 + x3'^2 + y3'^2)",
    "potential": "0.2*9.81*(y1 + y2 + y3)",
    "inputs": {"u": 0.0},
    "forces": {"c": "u - 0.05*c'"},
    "constraint": [
        {"equation": "(x1 - c)^2 + y1^2 = 0.16"},
        {"equation": "(x2 - x1)^2 + (y2 - y1)^2 = 0.16"},
        {"equation": "(x3 - x2)^2 + (y3 - y2)^2 = 0.16"},
    ],
    "initial": {"y1": 0.4, "y2": 0.8, "y3": 1.2},
    "box": {"c": (-1, 1), **{f"{q}{k}": (-0.5 * k, 0.5 * k) for k in (1, 2, 3) for q in "xy"}},
}


def test_N1_2_6_a_start_at_rest_is_taken_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("there is nothing to search for")

    monkeypatch.setattr(choice, "equilibria", never)
    for fix in ({"c": 0.0}, None):
        found = equilibrium_near(System(**RODS), fix=fix).equilibrium
        assert found.state["y3"] == pytest.approx(1.2)
        assert found.inputs["u"] == 0


def test_N1_2_6_a_start_near_one_is_searched_no_farther_than_that() -> None:
    found = equilibrium_near(System(**RODS), {"y3": 1.19}, seconds=20)
    assert found.equilibrium.state["y3"] == pytest.approx(1.2)
    assert found.notes[0] == "the equilibria form a family: c = 0 is taken"


@pytest.mark.parametrize("start", np.linspace(-7, 7, 15))
def test_N1_2_6_where_newton_leads_elsewhere_the_nearest_is_found(start: float) -> None:
    """V = cos 1.1x: rest at every kπ/1.1; near a crest of the force Newton's steps go far."""
    words = {"coordinates": ["x"], "kinetic": "x'^2/2", "potential": "cos(1.1*x)", "box": {"x": (-8, 8)}}
    found = equilibrium_near(System(**words), {"x": start}).equilibrium
    assert found.state["x"] == pytest.approx(np.pi / 1.1 * round(1.1 * start / np.pi), abs=1e-9)
