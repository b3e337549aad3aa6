"""Ball, universal and planar joints against closed forms, by symbolic equations and by recursions: alone, and beside 17
pendulums that hang still.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from svyaz import System

UNIVERSAL = {"joint": "universal", "coordinates": ["a", "b"], "axes": [[1, 0, 0], [0, 1, 0]]}
PLANAR = {"joint": "planar", "coordinates": ["x", "y", "a"]}
BALL = {"joint": "ball", "coordinates": ["e0", "e1", "e2", "e3"]}
ROADS = pytest.mark.parametrize("others", [0, 17], ids=["symbolic", "recursive"])
EXACT: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-12}


def beside(others: int, *bodies: dict[str, Any], at: list[float] | None = None, **words: Any) -> System:
    """Bodies, and pendulums at rest; the outputs px, py, pz are the place of a point of the last body."""
    hanging = [
        {"name": f"c{k}", "base": "ground", "joint": "revolute", "coordinate": f"c{k}", "axis": [1, 0, 0]}
        | {"mass": 1, "center": [0, 0, -0.3]}
        for k in range(others)
    ]
    if at is not None:
        words["point"] = [{"name": "p", "body": bodies[-1]["name"], "at": at}, *words.get("point", [])]
        words["outputs"] = {f"p{axis}": f"p_{axis}" for axis in "xyz"} | words.get("outputs", {})
    return System(name="beside", body=[*bodies, *hanging], **words)


@ROADS
@pytest.mark.parametrize(("arm", "spin"), [(-0.5, 0.0), (0.3, 20.0)], ids=["pendulum", "top"])
def test_W2_a_symmetric_body_on_a_ball_precesses_steadily(others: int, arm: float, spin: float) -> None:
    """(C - A) Ω² cosθ + C s Ω = m g l: precession Ω about the vertical, spin s about the axis. Below the ball without spin it
    is the pendulum that goes round on a cone, above it the heavy top.
    """
    mass, g, a, c, theta = 1.2, 9.81, 0.45, 0.1, 0.7
    rate = max(np.roots([(c - a) * np.cos(theta), c * spin, -mass * g * arm]), key=abs).real
    body = {**BALL, "name": "1", "base": "ground", "mass": mass, "center": [0, 0, arm]}
    body["inertia"] = {"xx": a, "yy": a, "zz": c}
    start = {"e0": np.cos(theta / 2), "e1": np.sin(theta / 2)}
    start |= {"wy": rate * np.sin(theta), "wz": spin + rate * np.cos(theta)}
    motion = beside(others, body, at=[0, 0, 1], gravity=[0, 0, -g], initial=start).simulate(
        until=2.0, every=0.25, **EXACT
    )
    phase = rate * motion["t"]
    np.testing.assert_allclose(motion["px"], np.sin(theta) * np.sin(phase), atol=1e-7)
    np.testing.assert_allclose(motion["py"], -np.sin(theta) * np.cos(phase), atol=1e-7)
    np.testing.assert_allclose(motion["pz"], np.cos(theta), atol=1e-7)


@ROADS
def test_W2_a_ball_with_a_second_pin_is_a_hinge(others: int) -> None:
    """Two points of a body on one line held: the ball in a closed loop swings as the revolute joint about that line."""
    mass = {"mass": 2.0, "center": [0.2, 0.1, -0.4], "central_inertia": {"xx": 0.1, "yy": 0.2, "zz": 0.15}}
    own = {"name": "1", "base": "ground", **mass}
    pin = [{"name": "r", "body": "1", "at": [0.4, 0, 0]}]
    rows = [{"name": f"pin_{axis}", "equation": f"r_{axis} = 0"} for axis in "yz"]
    words: dict[str, Any] = {"at": [0.3, 0, -1], "gravity": [0, 0, -9.81]}
    start = {"e0": np.cos(0.4), "e1": np.sin(0.4)}
    closed = beside(others, {**BALL, **own}, point=pin, constraint=rows, initial=start, **words)
    hinge = {"joint": "revolute", "coordinate": "q", "axis": [1, 0, 0]}
    expected = beside(0, {**hinge, **own}, initial={"q": 0.8}, **words).simulate(until=1.0, every=0.25, **EXACT)
    found = closed.simulate(until=1.0, every=0.25, **EXACT)
    for name in ("px", "py", "pz"):
        np.testing.assert_allclose(found[name], expected[name], atol=1e-7)


@ROADS
def test_W2_a_universal_joint_turns_a_shaft_unevenly(others: int) -> None:
    """Shafts at an angle β: tan φ = tan u / cos β, r = φ'/u' = cos β / (1 - sin²β cos²u), and (I₁ + I₂ r²) u'² stays."""
    beta, first, second, speed = 0.6, 0.3, 0.5, 2.0
    driving = {"name": "in", "base": "ground", "joint": "revolute", "coordinate": "u", "axis": [1, 0, 0]}
    driving |= {"mass": 1, "inertia": {"xx": first}}
    driven = {**UNIVERSAL, "name": "out", "base": "in", "axes": [[0, 1, 0], [0, 0, 1]], "mass": 1}
    driven["inertia"] = {"xx": second, "yy": 0.4, "zz": 0.4}
    system = beside(
        others,
        driving,
        driven,
        at=[0, 0, 1],
        gravity=[0, 0, -9.81],
        point=[{"name": "end", "body": "out", "at": [1, 0, 0]}],
        constraint=[
            {"name": f"bearing_{k}", "equation": f"end_{k} = {w!r}"} for k, w in (("y", np.sin(beta).item()), ("z", 0))
        ],
        initial={"u'": speed, "a'": speed * np.tan(beta).item(), "b": beta},
    )
    motion = system.simulate(until=2.0, every=0.1, **EXACT)
    along = motion["px"] * np.sin(beta) - motion["py"] * np.cos(beta)
    u = motion["u"]
    np.testing.assert_allclose(along * np.cos(u), motion["pz"] * np.sin(u) / np.cos(beta), atol=1e-7)
    ratio = np.cos(beta) / (1 - (np.sin(beta) * np.cos(u)) ** 2)
    expected = speed * np.sqrt((first + second * ratio[0] ** 2) / (first + second * ratio**2))
    np.testing.assert_allclose(motion["u'"], expected, atol=1e-6)


@ROADS
def test_W2_a_body_in_a_plane_moves_about_a_centre_of_force(others: int) -> None:
    """x = x₀ cos wt, y = v/w sin wt, a = a₀' t; the pole is the centre of mass."""
    body = {**PLANAR, "name": "1", "base": "ground", "mass": 2, "inertia": {"zz": 0.3}}
    start = {"x": 0.5, "y'": 1.0, "a'": 3.0}
    system = beside(others, body, gravity=[0, 0, -9.81], forces={"x": "-8*x", "y": "-8*y"}, initial=start)
    motion = system.simulate(until=2.0, every=0.25, **EXACT)
    t = motion["t"]
    for name, expected in (("x", 0.5 * np.cos(2 * t)), ("y", 0.5 * np.sin(2 * t)), ("a", 3 * t)):
        np.testing.assert_allclose(motion[name], expected, atol=1e-8)


@ROADS
def test_W2_a_body_thrown_in_an_inclined_plane_flies_on_a_parabola(others: int) -> None:
    """The centre of mass, off the pole, falls with g - n (n·g); the body turns evenly."""
    normal, gravity, center = np.array([1.0, 2.0, 2.0]) / 3, np.array([0, 0, -9.81]), [0.3, -0.2, 0.1]
    body = {**PLANAR, "axis": [1, 2, 2], "name": "1", "base": "ground", "mass": 2, "center": center}
    body["central_inertia"] = {"xx": 0.3, "yy": 0.4, "zz": 0.5}
    start = {"x'": 0.7, "a'": 3.0}
    motion = beside(others, body, at=center, gravity=gravity.tolist(), initial=start).simulate(
        until=1.0, every=0.25, **EXACT
    )
    slide = np.array([1.0, 0, 0]) - normal[0] * normal
    velocity = 0.7 * slide / np.linalg.norm(slide) + 3.0 * np.cross(normal, center)
    t = motion["t"][:, None]
    path = center + velocity * t + (gravity - normal * (normal @ gravity)) * t**2 / 2
    np.testing.assert_allclose(np.column_stack([motion[f"p{axis}"] for axis in "xyz"]), path, atol=1e-8)
    np.testing.assert_allclose(motion["a"], 3 * motion["t"], atol=1e-8)


@ROADS
def test_W2_a_body_hanging_on_a_universal_joint_is_stable(others: int) -> None:
    """Hanging is an equilibrium with the frequencies √(m g l / J) about each axis."""
    body = {**UNIVERSAL, "name": "1", "base": "ground", "mass": 2, "center": [0, 0, -0.5]}
    body["inertia"] = {"xx": 0.6, "yy": 0.8, "zz": 0.3}
    found = beside(others, body, gravity=[0, 0, -9.81], initial={"a": 0.05, "b": -0.04}).equilibria()
    (hanging,) = [e for e in found.equilibria if abs(e.state["a"]) + abs(e.state["b"]) < 1e-6]
    assert hanging.word == "stable"
    frequencies = np.abs(np.imag(hanging.verdict.roots))
    for inertia in (0.6, 0.8):
        assert np.min(np.abs(frequencies - np.sqrt(9.81 / inertia))) < 1e-6
