"""Poles of the potential in the box: named, enclosed, and no obstacle to a proof elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from svyaz import System
from svyaz.stability import Equilibria


def on_a_line(potential: str, low: float, high: float) -> Equilibria:
    return System(coordinates=["x"], kinetic="x'^2/2", potential=potential, box={"x": (low, high)}).equilibria(
        seconds=20
    )


@pytest.mark.parametrize(
    ("potential", "rest", "poles"),
    [
        ("-1/abs(x) - x^2", [-(0.5 ** (1 / 3)), 0.5 ** (1 / 3)], [0.0]),
        ("1/x + x", [-1.0, 1.0], [0.0]),
        ("1/(x - 0.3)^2 + 2*x", [1.3], [0.3]),
        ("1/(x - 0.3) - 1/(x + 0.7)", [-0.2], [-0.7, 0.3]),
        ("x - log(x + 0.2)", [0.8], [-0.2]),
        ("sqrt(x - 0.1) - x", [0.35], [0.1]),
        ("tan(x) - 2*x", [-np.pi / 4, np.pi / 4], [-np.pi / 2, np.pi / 2]),
        ("(x + 0.5)^(-1.5) + x", [1.5**0.4 - 0.5], [-0.5]),
    ],
)
def test_N1_1_12_poles_are_named_and_enclosed(potential: str, rest: list[float], poles: list[float]) -> None:
    found = on_a_line(potential, -1.9, 1.8)
    assert [e.state["x"] for e in found.equilibria] == pytest.approx(rest)
    assert found.complete
    assert len(found.poles) == len(poles)
    for pole, at in zip(sorted(found.poles, key=lambda p: p.box["x"]), poles, strict=True):
        low, high = pole.box["x"]
        assert low <= at <= high
        assert high - low < 1e-5
        assert pole.where


def test_N1_1_12_a_curve_of_poles_is_enclosed_in_few_parts(svyaz, tmp_path: Path) -> None:
    """Two charges on a plane, 1/r between a free and a fixed one: a pole in a point; beside it 1/(x - y) along a line."""
    (tmp_path / "charges.toml").write_text(
        """
name = "charges"
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "1/(x - y) + x - y + (x + y)^2/2"
[box]
x = [-1.5, 1.6]
y = [-1.7, 1.4]
"""
    )
    done = svyaz("equilibria", "charges.toml", "--json", "found.json")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    # x - y = ±1 and x + y = 0
    assert sorted(e["state"]["x"] for e in found["equilibria"]) == pytest.approx([-0.5, 0.5])
    assert found["complete"] is True
    assert [pole["where"] for pole in found["poles"]] == [["x - y"]]
    assert found["poles"][0]["parts"] < 5000
    assert "a pole of the forces, where x - y = 0" in done.stdout
    assert "there are no others in the box outside of what encloses its poles" in done.stdout


def test_N1_1_12_where_nothing_is_defined_nothing_is_searched() -> None:
    """V = log(x - 5) lives beyond x = 5, and has a slope everywhere there."""
    found = on_a_line("log(x - 5)", -4.0, 4.0)
    assert (found.equilibria, found.complete, found.poles) == ((), True, ())
    assert found.parts == 1
    assert on_a_line("sqrt(x)^3 - x", -4.0, 4.0).parts < 400


def test_N1_1_12_values_that_are_rounding_are_told_as_zero() -> None:
    """Nothing is printed that Newton's last step left."""
    system = System(
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        potential="x^2*(1 + y)/2 + y^2/2 + x^3*y/7 + sin(x)*y/3",
        box={"x": (-0.3, 0.5), "y": (-0.4, 0.3)},
    )
    assert [dict(e.state) for e in system.equilibria().equilibria] == [{"x": 0.0, "y": 0.0}]
    tiny = System(coordinates=["x"], kinetic="x'^2/2", potential="(x - 3e-13)^2", box={"x": (-1e-12, 1e-12)})
    assert [e.state["x"] for e in tiny.equilibria().equilibria] == pytest.approx([3e-13], rel=1e-9)
