"""The figures work with the package's own systems and motions, not only with look-alikes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from svyaz import loads
from svyaz.motion import Motion, simulate
from svyaz.show import overview
from svyaz.show.report import report_page, write_report
from svyaz.show.scene import build_scene

MODEL = """
name = "pendulum on a moving spring"
coordinates = ["theta"]
kinetic = "m*l^2/2*theta'^2"
potential = "-m*g*l*cos(theta)"
[parameters]
m = 1
l = 2
g = 9.81
R = 0.25
[initial]
theta = 0.5
[[draw]]
link = [["0", "0"], ["l*sin(theta)", "-l*cos(theta)"]]
[[draw]]
spring = [["t", "1"], ["0", "0"]]
[[draw]]
circle = { center = ["l*sin(theta)", "-l*cos(theta)"], radius = "R*(1 + theta^2)" }
[[draw]]
point = ["l*sin(theta)", "-l*cos(theta)"]
trace = true
"""


@pytest.fixture(scope="module")
def motion() -> Motion:
    t = np.linspace(0, 2, 101)
    u, v = 0.5 * np.cos(2 * t), -np.sin(2 * t)
    energy = 2 * v**2 - 2 * 9.81 * np.cos(u)
    return Motion(
        system=loads(MODEL),
        form="lagrange",
        method="rk4",
        step=0.02,
        rtol=None,
        status="finished",
        reason="",
        times=t,
        states=np.column_stack([u, v]),
        state_names=("theta", "theta'"),
        integrals={"energy": energy},
        quantities={"kinetic": 2 * v**2, "potential": -2 * 9.81 * np.cos(u)},
        steps=100,
        evaluations=400,
        seconds=0.001,
    )


def test_parts_are_where_the_model_says(motion: Motion) -> None:
    t = np.array([0.0, 0.31, 1.7])
    scene = build_scene(motion, t)
    u = 0.5 * np.cos(2 * t)
    bob = np.column_stack([2 * np.sin(u), -2 * np.cos(u)])
    link, spring, circle, point = scene.items
    assert link.points[:, 1] == pytest.approx(bob, abs=1e-6)
    assert spring.points[:, 0] == pytest.approx(np.column_stack([t, np.ones(3)]))
    assert circle.points[:, 0] == pytest.approx(bob, abs=1e-6)
    assert circle.radius == pytest.approx(0.25 * (1 + u**2), abs=1e-6)
    assert point.trace
    assert not scene.spatial


def test_work_of_friction_is_no_drift(motion: Motion) -> None:
    damped = simulate(loads(MODEL + '[forces]\ntheta = "-0.1*theta\'"\n'))
    assert "Energy drift" in report_page(motion, "", [])
    assert "Energy remainder" in report_page(damped, "", [])
    assert "Energy drift" not in report_page(damped, "", [])


def test_report_and_overview(motion: Motion, tmp_path: Path) -> None:
    text = write_report(motion, tmp_path).read_text()
    assert "pendulum on a moving spring" in text
    assert "9.81" in text
    assert "Coordinates" in {axes.get_title(loc="left") for axes in overview(motion).axes}
