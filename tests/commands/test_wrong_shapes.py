"""Words of a run in wrong shapes, and questions to systems that have less than others (N1, 2.5)."""

from __future__ import annotations

from pathlib import Path

import pytest

PENDULUM = """
name = "pendulum"
coordinates = ["x", "y"]
kinetic = "m/2*(x'^2 + y'^2)"
potential = "m*g*y"
[parameters]
m = 1
g = 9.81
[[constraint]]
name = "rod"
equation = "x^2 + y^2 = 1"
[initial]
x = 1
[run]
method = "rk4"
step = 0.01
until = 0.1
"""

SHAPES = [
    "{kappa = [1, 2]}",
    "{kappa = {rod = [1]}}",
    "{kappa = {road = 5}}",
    "{alpha = 'x', beta = 1}",
    "[1, 2, 3]",
    "true",
    "{}",
    "{gamma = 3}",
    "-1e400",
    "nan",
    "{alpha = nan, beta = 1}",
]


@pytest.mark.parametrize("shape", SHAPES)
def test_N1_2_5_gains_in_a_wrong_shape_are_refused(svyaz, tmp_path: Path, shape: str) -> None:
    (tmp_path / "pendulum.toml").write_text(PENDULUM, encoding="utf-8")
    done = svyaz("simulate", "pendulum.toml", "--stabilize", shape)
    assert done.returncode == 2, (shape, done.stdout, done.stderr)
    assert "internal error" not in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.strip()


@pytest.mark.parametrize("model", ["lawden", "inverse-cart"])
def test_N1_2_5_systems_without_energies_may_be_asked_to_project(svyaz, model: str) -> None:
    done = svyaz("simulate", model, "--project", "--until", "0.01")
    assert done.returncode in (0, 1), done.stderr
    assert "internal error" not in done.stderr


def test_N1_2_5_a_bypass_needs_no_constraints(svyaz, tmp_path: Path) -> None:
    text = """
name = "free"
coordinates = ["x"]
kinetic = "x'^2/2"
[initial]
x = 0
"x'" = 1
[bypass]
watch = "x"
at = 0.5
window = 0.01
jump = 0.02
[run]
method = "rk4"
step = 0.001
until = 1
"""
    (tmp_path / "free.toml").write_text(text, encoding="utf-8")
    done = svyaz("simulate", "free.toml")
    assert done.returncode == 0, done.stderr
