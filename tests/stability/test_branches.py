"""Q6: branches of steady motions, their turning and branching points, against closed forms."""

from __future__ import annotations

import csv
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from svyaz import System, load
from svyaz.expr import ModelError
from svyaz.stability import SteadyBranches, steady_branches
from svyaz.stability.branches import Curves, follow_all

G = 9.81


def pitchfork(z):
    u, m = z
    return np.array([u * m - u**3]), np.array([[m - 3 * u * u, u]])


def cubic(z):
    u, m = z
    return np.array([m - u + u**3]), np.array([[-1 + 3 * u * u, 1.0]])


def crossing(z):
    u, m = z
    return np.array([u * m - u**2]), np.array([[m - 2 * u, u]])


@pytest.mark.parametrize(
    ("function", "start", "kind", "expected", "branches"),
    [
        (pitchfork, (0.0, -1.0), "branching", [(0.0, 0.0)], 3),
        (crossing, (0.0, -1.0), "branching", [(0.0, 0.0)], 3),
        (cubic, (-1.324717957244746, 1.0), "turning", [(3**-0.5, 2 * 3**-1.5), (-(3**-0.5), -2 * 3**-1.5)], 1),
    ],
)
def test_Q6_special_points_of_plane_curves(function, start, kind, expected, branches) -> None:
    low, high = np.array([-2.0, -1.0]), np.array([2.0, 1.0])
    curves = follow_all(Curves(function, np.ones(2), low, high), [np.array(start)])
    assert not curves.incomplete
    assert len(curves.branches) == branches
    special = [p.z for branch in curves.branches for p in branch if p.kind != "regular"]
    assert all(p.kind in ("regular", kind) for branch in curves.branches for p in branch)
    for z in special:
        assert min(np.linalg.norm(z - np.array(e)) for e in expected) < 1e-8
    for e in expected:
        assert min(np.linalg.norm(z - np.array(e)) for z in special) < 1e-8


def assert_no_jumps(found) -> None:
    """Between two neighbours of a branch nothing changes by more than a small part of the whole picture."""
    rows = np.array([[m.value, *m.motion.state.values(), *m.motion.speeds.values()] for m in found.members])
    size = np.ptp(rows, axis=0)
    size[size == 0] = 1.0
    for number in range(found.count):
        own = [row for m, row in zip(found.members, rows, strict=True) if m.number == number]
        assert max(np.abs((b - a) / size).max() for a, b in pairwise(own)) < 0.1


def test_Q6_branches_of_a_rotating_parabola_meet_exactly_at_its_lowest_point() -> None:
    """z = a x² turns about its axis: off the axis the bead is in equilibrium where ω² = 2 g a alone; p = J ω at x = 0."""
    parabola = System(
        coordinates=["x", "z", "psi"],
        kinetic="1/2*(x'^2 + z'^2 + x^2*psi'^2) + 0.3/2*psi'^2",
        potential=f"{G}*z",
        constraint=[{"name": "wire", "equation": "z = 0.5*x^2"}],
        initial={"x": 0.5, "z": 0.125, "psi'": 3},
        box={"x": [-2, 2.2], "z": [-0.1, 3]},
    )
    (meeting,) = parabola.steady_branches("p_psi", (0.02, 1.0)).special("branching")
    assert meeting.value == pytest.approx(0.3 * np.sqrt(G), abs=1e-9)
    assert (meeting.motion.state["x"], meeting.motion.state["z"]) == (0.0, 0.0)


def test_Q6_hoop() -> None:
    """The lowest position loses its stability at ω² = g/l, where two others branch off."""
    found = load("hoop").steady_branches("psi'", (2.0, 8.0))
    (meeting,) = found.special("branching")
    assert meeting.value == pytest.approx(np.sqrt(G / 0.5), abs=1e-6)
    assert found.special("turning") == []
    assert_no_jumps(found)
    for m in found.members:
        x, z = m.motion.state["x"], m.motion.state["z"]
        assert x**2 + z**2 == pytest.approx(0.25, abs=1e-9)
        if m.kind == "regular" and abs(m.value - meeting.value) > 1e-3:
            lowest = abs(x) < 1e-6 and z < 0
            stable = (lowest and m.value < meeting.value) or (abs(x) >= 1e-6)
            assert m.motion.verdict.word == ("stable" if stable else "unstable")
            assert abs(x) < 1e-6 or z == pytest.approx(-G / m.value**2, abs=1e-8)


def test_Q6_precession_of_a_top() -> None:
    """A Ω² cos θ - p Ω + m g h = 0 at a given inclination: fast and slow precession meet at p² = 4 A m g h cos θ."""
    top = System(
        name="top",
        coordinates=["psi", "theta", "phi"],
        kinetic="A/2*(theta'^2 + psi'^2*sin(theta)^2) + C/2*(phi' + psi'*cos(theta))^2",
        potential="m*g*h*cos(theta)",
        parameters={"A": 0.05, "C": 0.02, "m": 1.0, "g": G, "h": 0.1},
    )
    found = top.steady_branches("p_phi", (0.1, 2.0), {"theta": 1.0}, {"psi'": (0.1, 60.0)})
    (turn,) = found.special("turning")
    assert turn.value == pytest.approx(np.sqrt(4 * 0.05 * np.cos(1.0) * 0.1 * G), abs=1e-6)
    assert found.count == 1
    assert_no_jumps(found)
    for m in found.members:
        omega = m.motion.speeds["psi'"]
        assert 0.05 * omega**2 * np.cos(1.0) - m.value * omega + 0.1 * G == pytest.approx(0.0, abs=1e-8)


def test_Q6_hoop_off_its_axis() -> None:
    """x² ω² about an axis at the distance e from the centre: the branching point opens into a turning point.

    At a given speed (e + l sin θ) ω² cos θ = g sin θ; it turns back where the derivative by θ vanishes too.
    """
    from scipy.optimize import brentq

    e, l = 0.02, 0.5  # noqa: E741

    def speed2(theta: float) -> float:
        return G * np.tan(theta) / (e + l * np.sin(theta))

    hoop = System(
        name="hoop off its axis",
        coordinates=["x", "z", "psi"],
        kinetic="m/2*(x'^2 + z'^2 + (e + x)^2*psi'^2) + J/2*psi'^2",
        potential="m*g*z",
        parameters={"m": 1.0, "g": G, "l": l, "J": 0.3, "e": e},
        constraint=[{"name": "hoop", "equation": "x^2 + z^2 = l^2"}],
        box={"x": [-0.6, 0.6], "z": [-0.6, -0.05]},
    )
    found = hoop.steady_branches("psi'", (2.0, 8.0))
    (turn,) = found.special("turning")
    assert found.special("branching") == []
    h = 1e-6
    theta = brentq(lambda a: (speed2(a + h) - speed2(a - h)) / (2 * h), -1.0, -0.1, xtol=1e-14)
    assert turn.value == pytest.approx(np.sqrt(speed2(theta)), abs=1e-6)
    assert turn.motion.state["x"] == pytest.approx(l * np.sin(theta), abs=1e-4)
    assert_no_jumps(found)


def test_Q6_branches_on_the_command_line(svyaz, tmp_path: Path) -> None:
    done = svyaz("steady", "hoop", "--along", "psi'=3:6", "--csv", "branches.csv", "--plot", "branches.png")
    assert done.returncode == 0, done.stderr
    assert "branching point at psi' = 4.429446918" in done.stdout
    rows = list(csv.DictReader((tmp_path / "branches.csv").open(encoding="utf-8")))
    assert {row["kind"] for row in rows} == {"regular", "branching"}
    assert (tmp_path / "branches.png").stat().st_size > 10_000


def test_what_is_varied_cannot_be_prescribed() -> None:
    with pytest.raises(ModelError, match="it cannot be prescribed"):
        load("hoop").steady_branches("psi'", (2.0, 8.0), {"psi'": 3.0})


def parabola() -> System:
    """A bead on z = a x², which turns about the vertical axis: psi' is the same for all x where psi'² = 2 a g."""
    return System(
        name="bead on a rotating parabola",
        coordinates=["x", "z", "psi"],
        kinetic="m/2*(x'^2 + z'^2 + x^2*psi'^2) + J/2*psi'^2",
        potential="m*g*z",
        parameters={"m": 1.0, "g": 9.81, "a": 0.5, "J": 0.3},
        constraint=[{"name": "wire", "equation": "z = a*x^2"}],
        initial={"x": 0.5, "z": 0.125, "psi'": 3.0},
        box={"x": [-2, 2.2], "z": [-0.1, 3]},
    )


@cache
def followed(name: str, along: str, low: float, high: float) -> SteadyBranches:
    return steady_branches({"crank": crank, "parabola": parabola}[name](), along, (low, high))


def test_V1_a_branch_with_a_constant_value_is_found() -> None:
    """At psi'² = 2 a g every x is a steady motion; all but x = 0 are minima of p²/2I + m g a x² at their momentum."""
    found = followed("parabola", "psi'", 2.0, 4.0)
    critical = np.sqrt(2 * 0.5 * 9.81)
    (meeting,) = found.special("branching")
    assert meeting.value == pytest.approx(critical, abs=1e-12)
    assert found.special("turning") == []
    upright = [m for m in found.members if abs(m.motion.state["x"]) > 1e-6]
    assert {m.motion.verdict.word for m in upright} == {"stable"}
    assert [m.value for m in upright] == pytest.approx([critical] * len(upright), abs=1e-10)
    places = sorted(m.motion.state["x"] for m in upright)
    assert (places[0], places[-1]) == pytest.approx((-2.0, 2.2), abs=1e-6)
    for m in upright:
        assert m.motion.state["z"] == pytest.approx(0.5 * m.motion.state["x"] ** 2, abs=1e-10)


def test_V1_each_point_of_a_branch_is_told_once() -> None:
    """Along the momentum the tilted motions leave the axis at p = ± J √(2 a g); only meeting points belong to several."""
    found = followed("parabola", "p_psi", -2.0, 3.0)
    critical = 0.3 * np.sqrt(2 * 0.5 * 9.81)
    assert sorted(m.value for m in found.special("branching")) == pytest.approx([-critical, critical], abs=1e-12)
    assert found.special("turning") == []
    places = np.array([[m.value, m.motion.state["x"]] for m in found.members if m.kind == "regular"])
    gaps = np.linalg.norm(places[:, None] - places[None, :], axis=2) + np.eye(len(places))
    assert gaps.min() > 1e-4


def crank() -> System:
    return System(
        name="pendulum on a whirling crank",
        coordinates=["rho", "z", "psi"],
        kinetic="m/2*(rho'^2 + z'^2 + (R + rho)^2*psi'^2) + J/2*psi'^2",
        potential="m*g*z",
        parameters={"m": 1.0, "g": 9.81, "R": 0.3, "l": 1.0, "J": 5.0},
        constraint=[{"name": "rod", "equation": "rho^2 + z^2 = l^2"}],
        initial={"rho": 0.5, "z": -(0.75**0.5), "psi'": 4.0},
        box={"rho": [-1.1, 1.2], "z": [-1.1, 1.15]},
    )


@pytest.mark.parametrize("asked", [("crank", "psi'", 4.7, 5.2), ("parabola", "p_psi", -2.0, 3.0)])
def test_V1_a_motion_has_one_verdict_whether_it_is_prescribed_or_followed(asked: tuple[str, str, float, float]) -> None:
    """At random points of the branches, and where they turn or meet: the same word, theorem and roots by both routes.

    The crank turns back at psi' = 4.8917…, where the speed alone is critical: at its momentum the motion is stable.
    """
    found, along = followed(*asked), asked[1]
    random = np.random.default_rng(7)
    special = [m for kind in ("turning", "branching") for m in found.special(kind)]
    for m in [*special, *(found.members[k] for k in random.choice(len(found.members), 2, replace=False))]:
        motions = found.system.steady({along: m.value}).motions
        near = [x for x in motions if all(abs(x.state[q] - y) < 1e-6 for q, y in m.motion.state.items())]
        assert [(x.verdict.word, x.verdict.theorem) for x in near] == [
            (m.motion.verdict.word, m.motion.verdict.theorem)
        ]
        assert near[0].verdict.roots == pytest.approx(m.motion.verdict.roots, abs=1e-5)
    assert {m.motion.verdict.word for m in special} == {"stable"}
    if along == "psi'":
        (fold,) = special
        assert fold.value == pytest.approx(4.891736964653386, abs=1e-9)
        assert max(fold.motion.verdict.roots.imag) == pytest.approx(1.1847, abs=1e-4)
