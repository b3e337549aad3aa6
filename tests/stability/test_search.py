"""Searches that are cut short, families with their company, and quiet arithmetic."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

from svyaz import System, gallery, loads
from svyaz.show import as_json
from svyaz.stability import choice
from svyaz.stability.boxes import narrowed
from svyaz.stability.equilibrium_search import equilibria
from svyaz.stability.families import family_among
from svyaz.stability.rest import rest_equations

HAT = """
name = "a hat with a brim at the radius 1"
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "(x^2 + y^2 - 1)^2"
[box]
x = [-2, 2]
y = [-2, 2]
"""

WEAK = """
name = "a motor that is too weak"
coordinates = ["u"]
kinetic = "u'^2/2"
potential = "10*sin(u)"
[forces]
u = "tau"
[inputs]
tau = { value = 0, low = -1, high = 1 }
"""


def test_a_search_that_is_cut_counts_what_is_left() -> None:
    told: list[float] = []
    system = loads(gallery.find("pendulum:3", {}) or "", "pendulum:3")
    cut = equilibria(system, seconds=0.0)
    assert not cut.complete
    assert cut.left == 1
    assert "not decided: 1 part of the box is left" in cut.reason()
    assert as_json(cut)["left"] == 1
    whole = equilibria(system, progress=told.append)
    assert (whole.left, whole.reason(), len(whole.equilibria)) == (0, "", 8)
    assert told[-1] == pytest.approx(1.0)
    assert all(a <= b + 1e-6 for a, b in itertools.pairwise(told))


def test_the_nearest_is_found_by_newtons_method_when_the_search_is_cut() -> None:
    system = loads(gallery.find("pendulum:2", {}) or "", "pendulum:2")
    chosen = choice.equilibrium_near(system, {"u1": 3.0, "u2": 0.1}, seconds=0.0)
    state = chosen.equilibrium.state
    assert (state["u1"], state["u2"]) == pytest.approx((3.141592653589793, 0.0), abs=1e-9)
    assert any("another equilibrium may be nearer" in note for note in chosen.notes)


def test_a_family_does_not_hide_an_equilibrium_beside_it() -> None:
    """On the circle V = 0; at the origin V has the slopes zero and the second derivatives -4: roots ±2, twice."""
    found = equilibria(loads(HAT, "hat.toml"))
    assert found.dimension == 1
    (top,) = found.equilibria
    assert (top.state["x"], top.state["y"]) == pytest.approx((0, 0), abs=1e-9)
    assert top.verdict.word == "unstable"
    assert sorted(top.verdict.roots.real) == pytest.approx([-2, -2, 2, 2])


def test_members_of_a_family_tell_of_limits() -> None:
    """τ = 10 cos u: a member within |τ| ≤ 1 is not mentioned, the others are."""
    found = equilibria(loads(WEAK, "weak.toml"))
    beyond = [k + 1 for k, member in enumerate(found.members) if abs(member["tau"]) > 1]
    assert beyond
    for k in range(1, len(found.members) + 1):
        assert any(note.startswith(f"member {k}: the input 'tau'") for note in found.notes) == (k in beyond)


def test_unbounded_intervals_are_not_warned_of() -> None:
    """V = x² + 0.3 ln(1 - x) has no bounds near x = 1; 2 x (1 - x) = 0.3 at x = (1 ± √0.4)/2."""
    text = """
name = "a magnet"
coordinates = ["x"]
kinetic = "x'^2/2"
potential = "x^2 + 0.3*log(1 - x)"
[box]
x = [-0.9, 0.99]
"""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = equilibria(loads(text, "magnet.toml"))
    assert [e.state["x"] for e in found.equilibria] == pytest.approx([(1 - 0.4**0.5) / 2, (1 + 0.4**0.5) / 2])
    assert found.complete


def test_a_singular_position_is_named() -> None:
    """With d = l the wheel stands at its dead centre, dθ/dα = 0: no torque on it holds the weight m g r₀ on the beam."""
    system = loads(gallery.find("ball-and-beam", {"equilibrium": "nonzero"}) or "", "beam").with_settings({"d": 0.12})
    weight = 0.064 * 9.81 * 0.25
    with pytest.raises(choice.NoEquilibrium, match=r"singular position, ∂F/∂alpha = 0") as refusal:
        choice.equilibrium_near(system, fix={"r": 0.25})
    assert f"no input and no multiplier balances the force {weight:.4g} on alpha" in str(refusal.value)


def test_a_side_that_is_taken_for_granted_is_told() -> None:
    """V' = atan(x - 1.5) without a box: Newton's method leads nowhere from x = 0, and the box around it is searched."""
    text = """
name = "a spring"
coordinates = ["x"]
kinetic = "x'^2/2"
potential = "(x - 1.5)*atan(x - 1.5) - log(1 + (x - 1.5)^2)/2"
[forces]
x = "u"
[inputs]
u = 0
"""
    chosen = choice.equilibrium_near(loads(text, "spring.toml"), fix={"u": 0.0})
    assert chosen.equilibrium.state["x"] == pytest.approx(1.5)
    assert chosen.notes == ("'x' has no side in the box: it is looked for in [-2, 2]",)


def test_points_of_a_family_are_told_from_points_that_are_alone() -> None:
    """V = x² y² rests on both axes; a step across an axis leads back to it, a step along it goes on."""
    rest = rest_equations(loads(HAT.replace("(x^2 + y^2 - 1)^2", "x^2*y^2"), "cross.toml"))
    family = family_among(rest, [np.array([0.7, 0.0]), np.array([0.0, -1.2]), np.array([5.0, 0.0])])
    assert family is not None
    assert (family.dimension, family.free, len(family.members), family.alone) == (1, ("x", "y"), 2, ())
    rest = rest_equations(loads(HAT, "hat.toml"))
    assert family_among(rest, [np.zeros(2)]) is None


@pytest.mark.parametrize("seed", range(6))
def test_N3_rounding_never_takes_an_equilibrium_out_of_its_box(seed: int) -> None:
    """V = a cos(x + c) + b cos(y + d) rests at x = π - c, y = π - d: boxes about it are narrowed again and again."""
    random = np.random.default_rng(seed)
    c, d = random.uniform(-3, 3, 2).round(2)
    words = {"coordinates": ["x", "y"], "kinetic": "(x'^2 + y'^2)/2"}
    problem = rest_equations(System(**words, potential=f"0.32*cos(x + ({c})) + 0.7*cos(y + ({d}))")).problem
    zero = np.pi - np.array([c, d])
    for size in 10.0 ** random.uniform(-9, -0.5, 20):
        low, high = (zero + sign * size * random.uniform(0.1, 1, (1, 2)) for sign in (-1, 1))
        for _ in range(6):
            low, high, *_ = narrowed(problem, (low, high))
            assert len(low) == 1
            assert np.all((low <= zero + 1e-15 * (1 + abs(zero))) & (high >= zero - 1e-15 * (1 + abs(zero))))


@pytest.mark.parametrize("law", ["energies", "equations"])
def test_limits_are_the_box_of_what_has_none(law: str) -> None:
    """A ball on a spring along a beam: of its two equilibria x = 1 and x = -1 the limits hold one; a box goes before them."""
    energies = {"kinetic": "x'^2/2", "potential": "x^3/3 - x"}
    words = {"coordinates": ["x"], "parameters": {"L": 3}, "limits": {"x": [0, "L"]}}
    words |= energies if law == "energies" else {"equations": {"x": "x'' + x^2 - 1 = 0"}}
    found = System.from_words(words).equilibria()
    assert found.complete
    assert found.box["x"] == (0, 3)
    assert [e.state["x"] for e in found.equilibria] == pytest.approx([1.0])
    both = System.from_words(words).equilibria(box={"x": (-2, 2)}).equilibria
    assert sorted(e.state["x"] for e in both) == pytest.approx([-1.0, 1.0])
    assert [e.outside for e in both if e.state["x"] < 0] == [("x",)]
