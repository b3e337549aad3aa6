"""V1: where as many values are prescribed as the manifold of steady motions has dimensions, everything else is unknown."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from svyaz import System, load
from svyaz.show import as_json
from svyaz.stability import steady_branches

G = 9.81

GIMBAL = """
name = "gyroscope in a gimbal"
coordinates = ["psi", "theta", "phi"]
kinetic = "J/2*psi'^2 + A/2*(theta'^2 + psi'^2*sin(theta)^2) + C/2*(phi' + psi'*cos(theta))^2"
potential = "m*g*h*cos(theta)"
[parameters]
J = 0.003
A = 0.002
C = 0.0015
m = 0.5
g = 9.81
h = 0.04
[initial]
theta = 1.0
"psi'" = 1
"phi'" = 100
[box]
theta = [0.1, 3.0]
"""


def gyroscope(**words: object) -> System:
    parameters = {"A": 0.05, "C": 0.02, "J": 0.01, "m": 1.0, "h": 0.1, "g": G}
    for name in list(words):
        if name in parameters:
            parameters[name] = words.pop(name)
    return System(
        coordinates=["psi", "theta", "phi"],
        kinetic="J/2*psi'^2 + A/2*(theta'^2 + psi'^2*sin(theta)^2) + C/2*(phi' + psi'*cos(theta))^2",
        potential="m*g*h*cos(theta)",
        parameters=parameters,
        box={"theta": [0.1, 3.0]},
        **words,
    )


def precessions(system: System, theta: float, name: str, value: float) -> list[tuple[float, float]]:
    """(psi', phi') of A Ω² cos θ - C n Ω + m g h = 0, n = phi' + Ω cos θ, with one of the speeds or momenta prescribed."""
    p = system.parameters
    A, C, c, pull = p["A"], p["C"], np.cos(theta), p["m"] * G * p["h"]
    inertia = p["J"] + A * np.sin(theta) ** 2  # p_psi = inertia Ω + C n cos θ
    if name == "psi'":
        return [(value, (A * value**2 * c + pull) / (C * value) - value * c)]
    equations = {
        "phi'": [(A - C) * c, -C * value, pull],
        "p_phi": [A * c, -value, pull],
        "p_psi": [A * c + inertia / c, -value / c, pull],
    }
    turning = [float(z.real) for z in np.roots(equations[name]) if abs(z.imag) <= 1e-12 * abs(z)]
    spins = {"phi'": lambda w: value, "p_phi": lambda w: value / C - w * c}
    spin = spins.get(name, lambda w: (value - inertia * w) / (c * C) - w * c)
    return sorted((w, spin(w)) for w in turning)


@pytest.mark.parametrize("seed", range(8))
def test_V1_all_precessions_with_a_prescribed_angle_and_speed_or_momentum(seed: int) -> None:
    """None, one or two, slow and fast, over the whole line of speeds: those of a quadratic equation, and complete."""
    random = np.random.default_rng(seed)
    sizes = {"A": 0.05, "C": 0.02, "J": 0.01, "m": 1.0, "h": 0.1}
    system = gyroscope(**{name: x * np.exp(random.uniform(-1, 1)) for name, x in sizes.items()})
    theta, name = random.uniform(0.3, 2.8), ("phi'", "psi'", "p_phi", "p_psi")[seed % 4]
    value = random.uniform(-1, 1) * {"phi'": 200.0, "psi'": 20.0}.get(name, 3.0)
    found = system.steady({"theta": theta, name: value})
    expected = precessions(system, theta, name, value)
    told = sorted((m.speeds["psi'"], m.speeds["phi'"]) for m in found.motions)
    assert (found.complete, found.dimension, len(told)) == (True, 2, len(expected))
    assert np.ravel(told) == pytest.approx(np.ravel(expected), rel=1e-7)


@pytest.mark.parametrize("off", [-1e-9, 1e-9])
def test_V1_nothing_is_claimed_where_two_precessions_become_one(off: float) -> None:
    """About p² = 4 A m g h cos θ slow and fast precession merge: a list that claims to be complete has both, or neither."""
    system, theta = gyroscope(), 1.0
    p = np.sqrt(4 * 0.05 * G * 0.1 * np.cos(theta)) * (1 + off)
    found = system.steady({"theta": theta, "p_phi": p})
    expected = precessions(system, theta, "p_phi", p)
    assert len(expected) == (2 if off > 0 else 0)
    if found.complete or abs(off) > 1e-6:
        assert (found.complete, len(found.motions)) == (True, len(expected))


@pytest.mark.parametrize("seed", range(3))
def test_V1_all_motions_of_rotating_pendulums(seed: int) -> None:
    """By the angle: psi' = ± √(g/l cos θ). By the speed: four positions above √(g/l), two below."""
    random = np.random.default_rng(seed)
    length, inertia = random.uniform(0.2, 2.0), random.uniform(0.1, 1.0)
    system = System(
        coordinates=["theta", "psi"],
        kinetic="m*l^2/2*(theta'^2 + psi'^2*sin(theta)^2) + J/2*psi'^2",
        potential="-m*g*l*cos(theta)",
        parameters={"m": random.uniform(0.2, 2.0), "l": length, "J": inertia, "g": G},
    )
    theta = random.uniform(0.1, 3.0)
    found = system.steady({"theta": theta})
    speed = np.sqrt(G / length / abs(np.cos(theta)))
    expected = [-speed, speed] if theta < np.pi / 2 else []
    assert [m.speeds["psi'"] for m in found.motions] == pytest.approx(expected, rel=1e-8)
    assert found.complete
    part = random.choice([0.8, 0.999, 1.001, 1.3])
    found = system.steady({"psi'": part * np.sqrt(G / length)})
    assert (found.complete, len(found.motions)) == (True, 4 if part > 1 else 2)


def test_V1_slow_and_fast_precession_on_the_command_line(svyaz, tmp_path: Path) -> None:
    """Nobody prescribes phi': both precessions are found, without a box for it, and the same with one."""
    (tmp_path / "gimbal.toml").write_text(GIMBAL)
    done = svyaz("steady", "gimbal.toml", "--fix", "p_psi=0.6", "--fix", "theta=1", "--json", "found.json")
    record = json.loads((tmp_path / "found.json").read_text())
    assert (done.returncode, record["complete"], record["taken"]) == (0, True, {})
    system = gyroscope(A=0.002, C=0.0015, J=0.003, m=0.5, h=0.04)
    told = sorted((m["speeds"]["psi'"], m["speeds"]["phi'"]) for m in record["motions"])
    assert np.ravel(told) == pytest.approx(np.ravel(precessions(system, 1.0, "p_psi", 0.6)), rel=1e-8)
    assert "phi' has no side in the box: all its values were searched" in done.stdout


def test_V1_speeds_of_the_initial_state_are_told_and_nothing_is_claimed_beyond_them() -> None:
    """One value is missing: the faster speed is that of the initial state, the other one is unknown."""
    system = gyroscope(initial={"theta": 1.0, "psi'": 1.0, "phi'": 100.0})
    found = system.steady({"theta": 1.0})
    assert (found.taken, found.complete, as_json(found)["complete"]) == ({"phi'": 100.0}, False, False)
    expected = precessions(system, 1.0, "phi'", 100.0)
    assert [m.speeds["psi'"] for m in found.motions] == pytest.approx([w for w, _ in expected], rel=1e-8)
    still = gyroscope(initial={"theta": 1.0}).steady({"theta": 1.0})
    assert still.motions == ()
    assert still.reason() == "there is no steady motion in the box with psi' = 0 of the initial state"


@pytest.mark.parametrize("bounded", [True, False])
def test_V1_the_box_of_the_model_counts_as_much_as_that_of_the_command(bounded: bool) -> None:
    """A motor holds phi' = k e/(k² + c R); psi' follows from the angle: the one root of two that lies in the box, or both."""
    k, resistance, friction, e = 0.02, 2.0, 2e-5, 6.0
    box = {"theta": [0.1, 3.0], **({"psi'": [0.1, 60.0]} if bounded else {})}
    system = System(
        coordinates=["psi", "theta", "phi"],
        kinetic="0.0015*psi'^2 + 0.001*(theta'^2 + psi'^2*sin(theta)^2) + 0.00075*(phi' + psi'*cos(theta))^2",
        potential="0.5*9.81*0.04*cos(theta)",
        inputs={"e": 0},
        forces={"phi": f"{k}*(e - {k}*phi')/{resistance} - {friction}*phi'"},
        initial={"theta": 1.0, "psi'": 1.0, "phi'": 100.0},
        box=box,
    )
    found = system.steady({"theta": 1.0, "e": e})
    spin = k * e / (k**2 + friction * resistance)
    c = np.cos(1.0)
    roots = sorted(np.roots([(0.002 - 0.0015) * c, -0.0015 * spin, 0.5 * G * 0.04]))
    expected = [w for w in roots if not bounded or w < 60]
    assert [m.speeds["psi'"] for m in found.motions] == pytest.approx(expected, rel=1e-8)
    assert found.complete


def test_V1_branches_with_an_unknown_speed_are_followed() -> None:
    """Along p_phi at a fixed angle slow and fast precession are one branch, with its fold at p² = 4 A m g h cos θ."""
    system = gyroscope()
    fold = np.sqrt(4 * 0.05 * G * 0.1 * np.cos(1.0))
    found = steady_branches(system, "p_phi", (0.9 * fold, 2 * fold), {"theta": 1.0})
    (turning,) = found.special("turning")
    assert turning.value == pytest.approx(fold, rel=1e-10)
    for m in found.members[:: max(1, len(found.members) // 7)]:
        near = [abs(m.motion.speeds["psi'"] - w) for w, _ in precessions(system, 1.0, "p_phi", m.value)]
        assert min(near, default=0.0) < 1e-6


def test_V1_rolling_bodies_obey_the_same_count() -> None:
    """A disc of radius r that rolls at the inclination θ: two of (θ, psi', phi') prescribed leave the third unknown."""
    disc = load("rolling-disc")
    by_speeds = disc.steady({"psi'": 1.3, "phi'": 4.1})
    assert by_speeds.complete
    for motion in by_speeds.motions:
        theta = motion.state["theta"]
        for name, other in (("psi'", "phi'"), ("phi'", "psi'")):
            found = disc.steady({"theta": theta, name: motion.speeds[name]})
            assert found.taken == {}
            assert any(m.speeds[other] == pytest.approx(motion.speeds[other], rel=1e-7) for m in found.motions)
            assert len(found.motions) <= (1 if name == "psi'" else 2)  # linear in phi', quadratic in psi'


def test_V1_relative_equilibria_of_three_bodies_are_listed_once() -> None:
    """Two triangles with M = ω² r³ and a line, each a balance of Newton's forces in turning axes, and nothing beside them."""
    masses = np.array([1.0, 0.5, 0.3])
    system = System(
        coordinates=["r", "u", "v", "psi"],  # bodies at (0, 0), (r, 0), (u, v) in axes that turn with psi
        kinetic="(m1*m2*(r'^2 + r^2*psi'^2) + m1*m3*((u' - v*psi')^2 + (v' + u*psi')^2) "
        "+ m2*m3*((u' - r' - v*psi')^2 + (v' + (u - r)*psi')^2))/(2*(m1 + m2 + m3))",
        potential="-m1*m2/r - m1*m3/sqrt(u^2 + v^2) - m2*m3/sqrt((u - r)^2 + v^2)",
        parameters={"m1": 1.0, "m2": 0.5, "m3": 0.3},
        box={"r": [1.1, 1.7], "u": [0.5, 1.0], "v": [-1.2, 1.3]},
    )
    found = system.steady({"psi'": 1.0})
    assert found.complete
    side = masses.sum() ** (1 / 3)
    triangles = [m for m in found.motions if abs(m.state["v"]) > 0.5]
    assert [m.state["r"] for m in triangles] == pytest.approx([side, side], abs=1e-9)
    assert [m.state["v"] for m in triangles] == pytest.approx([-side * 0.75**0.5, side * 0.75**0.5], abs=1e-9)
    (line,) = [m for m in found.motions if m not in triangles]
    places = np.array([0.0, line.state["r"], line.state["u"]])
    gaps = places[:, None] - places[None, :] + np.diag([np.inf] * 3)
    pulls = -(masses * np.sign(gaps) / gaps**2).sum(axis=1)
    assert pulls == pytest.approx(-(places - masses @ places / masses.sum()), abs=1e-9)
    assert all(m.verdict is not None and not m.notes for m in found.motions)
