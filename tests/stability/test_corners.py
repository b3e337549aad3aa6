"""Rest at corners of the potential energy, against closed forms and against the energy itself nearby."""

from __future__ import annotations

import numpy as np
import pytest

import svyaz

LINE = "coordinates = ['x']\nkinetic = \"x'^2/2\"\npotential = '{}'\n"
PLANE = "coordinates = ['x', 'y']\nkinetic = \"x'^2/2 + y'^2/2\"\npotential = '{}'\n"
BOX = {"x": (-2.0, 2.3)}
SQUARE = {"x": (-2.0, 2.1), "y": (-1.9, 2.0)}


@pytest.mark.parametrize(
    ("potential", "places", "words"),
    [
        ("abs(x)", [0], ["stable"]),
        ("abs(x) + x^2/2", [0], ["stable"]),
        ("abs(x) - x^2/2", [-1, 1, 0], ["unstable", "unstable", "stable"]),
        ("-abs(x) + 0.1*x", [0], ["unstable"]),
        ("-abs(x) - x^2", [0], ["unstable"]),
        ("abs(x) + 2*x + x^2", [-0.5], ["stable"]),
        ("max(x, -2*x)", [0], ["stable"]),
        ("x^2/2 - 2*max(x - 1, 0)", [0, 2, 1], ["stable", "stable", "unstable"]),
        ("abs(x - 0.3)*(1 + x^2)", [0.3], ["stable"]),
        ("abs(abs(x) - 1)", [-1, 0, 1], ["stable", "unstable", "stable"]),
    ],
)
def test_N1_1_7_a_corner_of_the_energy_is_decided(potential, places, words) -> None:
    """On a line a place is one of rest where the slopes of both sides differ in sign, or vanish; nothing else is."""
    found = svyaz.loads(LINE.format(potential)).equilibria(box=BOX)
    assert found.complete
    assert [e.state["x"] for e in found.equilibria] == pytest.approx(places, abs=1e-9)
    assert [e.word for e in found.equilibria] == words


@pytest.mark.parametrize(
    ("potential", "places", "word"),
    [
        ("abs(x) + y^2/2 + x*y/3", [(0, 0)], "stable"),
        ("abs(x) + abs(y) + x*y/3 + 0.2*y", [(0, 0)], "stable"),
        ("abs(x - y) + x^2 + y^2 - x", [(0.25, 0.25)], "stable"),
        ("abs(x - y) + x^2 - 3*y^2", [(0, 0)], "unstable"),
        ("-abs(x) + y^2", [(0, 0)], "unstable"),
        ("max(x, 2*y) + x^2 + y^2", [(-0.4, -0.2)], "stable"),
    ],
)
def test_N1_1_7_corners_in_the_plane(potential, places, word) -> None:
    """A strict minimum is seen in the energy itself on small circles; what is no minimum is not called stable."""
    system = svyaz.loads(PLANE.format(potential))
    found = system.equilibria(box=SQUARE)
    assert found.complete
    assert [(e.state["x"], e.state["y"]) for e in found.equilibria] == [pytest.approx(p, abs=1e-9) for p in places]
    assert [e.word for e in found.equilibria] == [word]
    (x, y), turn = places[0], np.linspace(0, 2 * np.pi, 721)
    around = {"x": x + 1e-3 * np.cos(turn), "y": y + 1e-3 * np.sin(turn), "abs": np.abs, "max": np.maximum}
    energy = eval(potential.replace("^", "**"), {}, around)  # the text of this test, read by Python
    here = eval(potential.replace("^", "**"), {}, {"x": x, "y": y, "abs": abs, "max": max})
    assert (energy.min() > here) == (word == "stable")


def test_N1_1_7_a_corner_on_a_constraint() -> None:
    """A bead on the unit circle under y + 2|x|: at the lowest point the slopes ±2 hold, at the highest too."""
    text = PLANE.format("y + 2*abs(x)") + "[[constraint]]\nname = 'ring'\nequation = 'x^2 + y^2 = 1'\n"
    found = svyaz.loads(text).equilibria(box=SQUARE)
    assert found.complete
    cornered = [e for e in found.equilibria if e.approximation is None]
    assert [(e.state["x"], e.state["y"]) for e in cornered] == [pytest.approx((0, -1)), pytest.approx((0, 1))]
    assert [e.word for e in cornered] == ["stable", "stable"]
    smooth = sorted((e.state["x"], e.state["y"]) for e in found.equilibria if e.approximation is not None)
    # along the circle (cos a, sin a) with x > 0: cos a - 2 sin a = 0
    assert smooth == [pytest.approx((s * 2 / 5**0.5, 1 / 5**0.5)) for s in (-1, 1)]


def test_N1_1_7_nothing_is_claimed_of_corners_that_are_no_energy() -> None:
    """A relay that pushes across has no potential: the corner is told, and no verdict."""
    text = PLANE.format("x^2/2 + y^2/2") + "[forces]\nx = '-sign(x) + y'\ny = '-x'\n"
    (found,) = svyaz.loads(text).equilibria(box=SQUARE).equilibria
    assert found.word == "undecided"
    assert found.verdict is not None
    assert found.verdict.hypotheses[0].holds is False


def test_N1_1_7_a_side_that_is_just_held_is_not_decided() -> None:
    """The slopes of min(x, 1 - x) + x² at 1/2 are 2 and 0: it is neither a corner that holds nor a smooth equilibrium."""
    found = svyaz.loads(LINE.format("min(x, 1 - x) + x^2")).equilibria(box=BOX)
    assert not found.complete
    assert [e.state["x"] for e in found.equilibria] == pytest.approx([-0.5])


@pytest.mark.parametrize("friction", ['forces = {x = "-0.3*sign(x\')"}', 'dissipation = "0.3*abs(x\')"'])
def test_N1_1_7_dry_friction_holds_beside_the_equilibria(friction) -> None:
    """With the force 0.3 of friction a spring rests wherever |x| ≤ 0.3: the list is not called complete."""
    found = svyaz.loads(LINE.format("x^2/2") + friction + "\n").equilibria(box=BOX)
    assert not found.complete
    assert any("dry friction" in note for note in found.notes)
    smooth = svyaz.loads(LINE.format("x^2/2") + 'dissipation = "x\'^2"\n').equilibria(box=BOX)
    assert smooth.complete
