"""Every connected family is found, with a representative of each of its branches and its own verdict."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from svyaz import System
from svyaz.stability import Equilibria

CART = """
name = "cart and pole"
coordinates = ["x", "u"]
kinetic = "M/2*x'^2 + m/2*((x' + l*u'*cos(u))^2 + (l*u'*sin(u))^2)"
potential = "m*g*l*cos(u)"
[parameters]
M = 1
m = 0.2
l = 0.5
g = 9.81
[inputs]
F = 0
[forces]
x = "F"
[initial]
u = 0.1
"""

POINT = {"kinetic": "(x'^2 + y'^2)/2", "coordinates": ["x", "y"], "box": {"x": (-2, 2), "y": (-1.5, 1.7)}}


def at_rest(**words: object) -> Equilibria:
    return System(**{**POINT, **words}).equilibria()


def test_N1_1_9_a_cart_with_its_pole_up_and_down(svyaz, tmp_path: Path) -> None:
    (tmp_path / "cart.toml").write_text(CART)
    done = svyaz("equilibria", "cart.toml", "--json", "found.json")
    assert done.returncode == 1
    assert "family of dimension 1: prescribe one of them by --fix (x)" in done.stderr
    assert "family 2 of dimension 1, along x: unstable" in done.stdout
    assert "x drifts when its momentum is perturbed" in done.stdout
    found = json.loads((tmp_path / "found.json").read_text())
    angles = sorted(family["members"][0]["state"]["u"] for family in found["families"])
    assert angles == pytest.approx([0.0, np.pi])
    for family in found["families"]:
        assert family["dimension"] == 1
        assert family["may_be_fixed"] == ["x"]
        assert family["members"][0]["state"]["x"] == 0  # as near to the initial position as it gets
        assert family["members"][0]["drift"] == ["x"]
    by_angle = {round(f["members"][0]["state"]["u"]): f["members"][0]["theorem"] for f in found["families"]}
    assert "first approximation" in by_angle[0]
    assert "Routh" in by_angle[3]
    verdicts = {round(f["members"][0]["state"]["u"]): f["verdict"] for f in found["families"]}
    assert verdicts == {0: "unstable", 3: "stable"}  # of the pole, at the momentum of the cart


def test_N1_1_9_friction_makes_one_branch_stable() -> None:
    words = {"forces": {"x": "-0.1*x'", "u": "-0.1*u'"}, "inputs": {}}
    kinetic = "x'^2/2 + 0.1*((x' + 0.5*u'*cos(u))^2 + (0.5*u'*sin(u))^2)"
    found = System(coordinates=["x", "u"], kinetic=kinetic, potential="0.981*cos(u)", **words).equilibria()
    assert {round(f.members[0].state["u"]): f.verdict for f in found.families} == {0: "unstable", 3: "asymptotic"}


@pytest.mark.parametrize("count", [1, 2, 3])
def test_N1_1_9_rings_are_counted(count: int) -> None:
    """V = Π (r² - k²)², k = ½ … : a circle of minima at each radius, the crests between them are circles too."""
    squares = "*".join(f"(x^2 + y^2 - {0.25 * k * k})^2" for k in range(1, count + 1))
    found = at_rest(potential=squares)
    radii = np.roots(np.polyder(np.poly([0.25 * k * k for k in range(1, count + 1)] * 2)))
    expected = sorted({round(float(r.real) ** 0.5, 3) for r in radii if abs(r.imag) < 1e-9})
    told = sorted(round(float(np.hypot(*f.members[0].state.values())), 3) for f in found.families)
    assert told == pytest.approx(expected, abs=2e-3)
    assert [tuple(e.state.values()) for e in found.equilibria] == [(0.0, 0.0)]


def test_N1_1_9_crossing_lines_are_two_branches() -> None:
    """V = x²y² rests on both axes."""
    found = at_rest(potential="x^2*y^2")
    assert {f.free for f in found.families} == {("x",), ("y",)}
    assert all(f.dimension == 1 for f in found.families)


def test_N1_1_9_a_branch_is_divided_where_its_verdict_changes() -> None:
    """V = x y² along y = 0: a trough for x > 0, a crest for x < 0; friction along x and y."""
    found = at_rest(potential="x*y^2", forces={"x": "-x'", "y": "-y'"}, box={"x": (-2, 1.7), "y": (-1.5, 1.7)})
    words = {f.verdict: np.sign(f.members[0].state["x"]) for f in found.families}
    assert words["unstable"] == -1
    assert any(e.state["x"] > 0 for f in found.families if f.verdict != "unstable" for e in f.members)


def test_N1_1_9_a_plane_of_equilibria_has_dimension_two() -> None:
    found = System(
        coordinates=["x", "y", "u"],
        kinetic="(x'^2 + y'^2 + u'^2)/2 + x'*u'*cos(u)/4",
        potential="-cos(u)",
        box={"x": (-1, 1), "y": (-1, 1)},
    ).equilibria()
    assert found.dimension == 2
    assert sorted(round(f.members[0].state["u"], 6) for f in found.families) == pytest.approx([0, np.pi], abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_N1_1_9_shifted_levels_are_all_found(seed: int) -> None:
    """f(y) = Π (y - c_k), V = ∫ f: the lines y = c_k, wherever they lie and whatever starts are drawn."""
    levels = np.sort(np.random.default_rng(seed).uniform(-1.4, 1.6, 4))
    levels = levels[np.concatenate([[True], np.diff(levels) > 0.1])]
    potential = np.polyint(np.poly(levels))[::-1]
    text = "+".join(f"({float(c)!r})*y^{k}" for k, c in enumerate(potential))
    found = System(**POINT, potential=text).equilibria(seed=seed)
    assert sorted(f.members[0].state["y"] for f in found.families) == pytest.approx(list(levels), abs=1e-7)


def test_N1_1_9_a_branch_on_which_an_input_turns_back_is_one() -> None:
    """F(x) = k x (1 - L/√(x² + h²)) turns back where (x² + h²)³ = L² h⁴; unstable between, asymptotic on both sides."""
    k, h, length = 40.0, 0.6, 1.0
    system = System(
        coordinates=["x"],
        kinetic="x'^2/2",
        potential="k/2*(sqrt(x^2 + h^2) - L)^2",
        dissipation="0.15*x'^2",
        parameters={"k": k, "h": h, "L": length},
        inputs={"F": 0},
        forces={"x": "F"},
        box={"x": (-2, 2)},
        initial={"x": 0.1},
    )
    families = system.equilibria().families
    assert [family.verdict for family in families] == ["unstable", "asymptotic"]
    turn = np.sqrt((length * h**2) ** (2 / 3) - h**2)
    for family, inside in zip(families, (True, False), strict=True):
        for member in family.members:
            x = member.state["x"]
            assert (abs(x) < turn) == inside
            assert member.inputs["F"] == pytest.approx(k * x * (1 - length / np.hypot(x, h)), abs=1e-8)
