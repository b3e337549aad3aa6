"""All equilibria in a box: numbers known beforehand, families, and questions that have no answer."""

from __future__ import annotations

from itertools import product
from math import pi

import numpy as np
import pytest

from svyaz import System, gallery, loads
from svyaz.expr import ModelError
from svyaz.stability.equilibrium_search import Equilibria, equilibria


def model(name: str, **choices: str) -> System:
    return loads(gallery.find(name, choices) or "", name)


def positions(found: Equilibria, *names: str) -> np.ndarray:
    return np.array([[e.state[name] for name in names] for e in found.equilibria])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_003_A4_the_beam_has_two_positions_of_the_wheel(seed: int) -> None:
    found = equilibria(model("ball-and-beam"), {"r": 0.25}, {"theta": (0, pi)}, seed=seed)
    assert found.complete
    assert positions(found, "alpha", "theta") == pytest.approx(np.array([[0, 0], [0, 2 * np.arctan(2)]]), abs=1e-9)
    assert [e.inputs["nu"] for e in found.equilibria] == pytest.approx([0.0221591, -0.0369318], abs=1e-7)
    assert [e.verdict.word for e in found.equilibria] == ["unstable", "unstable"]
    assert [e.verdict.zero_roots for e in found.equilibria] == [1, 1]


def test_003_A26_voltages_and_currents_come_with_the_position() -> None:
    found = equilibria(model("ball-and-beam", control="voltage", motor="numbers"), {"r": 0.2}, {"theta": (-0.5, 0.5)})
    (only,) = found.equilibria
    assert only.state["I"] == pytest.approx(2.31124, rel=1e-5)
    assert only.inputs["e"] == pytest.approx(888.940, rel=1e-5)


@pytest.mark.parametrize("links", [1, 2, 3, 4, 5, 6])
def test_R5_a_chain_of_n_links_has_two_to_the_n_equilibria(links: int) -> None:
    found = equilibria(model(f"pendulum:{links}"), seed=links)
    expected = np.array(sorted(product([0.0, pi], repeat=links)))
    assert found.complete
    assert positions(found, *(f"u{k + 1}" for k in range(links))) == pytest.approx(expected, abs=1e-9)
    words = [e.verdict.word for e in found.equilibria]
    assert words[0] == "stable"
    assert set(words[1:]) == {"unstable"}


def crank_equilibria() -> list[tuple[float, float]]:
    """(x, y) of the crank pin of the four-bar at rest, by scanning the slope of its energy over the crank angle."""
    a, b, c, d = 1.0, 3.0, 2.5, 3.0
    angles = np.linspace(-pi, pi, 400_001)

    def height(theta: np.ndarray, side: float) -> np.ndarray:
        x, y = a * np.cos(theta), a * np.sin(theta)
        s2 = (d - x) ** 2 + y**2
        along = (b**2 - c**2 + s2) / (2 * s2)
        across = side * np.sqrt(b**2 / s2 - along**2)
        yc = y - along * y + across * (d - x)
        return y / 2 + (y + yc) / 2 + yc / 2

    found = []
    for side in (1.0, -1.0):
        slope = (height(angles + 1e-5, side) - height(angles - 1e-5, side)) / 2e-5
        turns = angles[np.flatnonzero(slope[:-1] * slope[1:] < 0)]
        found.extend(zip(map(float, np.cos(turns)), map(float, np.sin(turns)), strict=True))
    return sorted(found)


def test_R5_a_four_bar_with_weight() -> None:
    box = {"xB": (-1.1, 1.1), "yB": (-1.1, 1.1), "xC": (0.0, 6.0), "yC": (-3.0, 3.0)}
    found = equilibria(model("four-bar"), box=box)
    assert found.complete
    assert positions(found, "xB", "yB") == pytest.approx(np.array(crank_equilibria()), abs=1e-4)
    assert all(e.verdict.zero_roots == 3 for e in found.equilibria)


TOGGLE = {
    "name": "toggle",
    "coordinates": ["a", "b", "x"],
    "kinetic": "(a'^2 + b'^2 + x'^2)/2",
    "potential": "k/2*(x - L0)^2 + m*g*l1*sin(a)",
    "parameters": {"l1": 1.0, "l2": 1.5, "k": 8.0, "L0": 1.9, "m": 1.0, "g": 9.81},
    "constraint": [
        {"name": "along", "equation": "l1*cos(a) + l2*cos(b) = x"},
        {"name": "across", "equation": "l1*sin(a) = l2*sin(b)"},
    ],
    "box": {"x": [-3, 3]},
    "initial": {"a": 0.3, "b": "asin(sin(0.3)/1.5)", "x": "cos(0.3) + 1.5*cos(asin(sin(0.3)/1.5))"},
}


def toggle_angles() -> list[tuple[float, float]]:
    """(a, b) at rest by a resultant: cos b is eliminated, the rest is a polynomial in tan(a/2)."""
    import sympy as sp

    t, cb = sp.symbols("t cb")
    ca, sa = (1 - t**2) / (1 + t**2), 2 * t / (1 + t**2)
    ratio, k, L0, weight = sp.Rational(2, 3), 8, sp.Rational(19, 10), sp.Rational(981, 100)
    x = ca + sp.Rational(3, 2) * cb
    # dV/da · cos b = 0 with d(cos b)/da = -ratio² sin a cos a / cos b
    rest = k * (x - L0) * (-sa * cb - sp.Rational(3, 2) * ratio**2 * sa * ca) + weight * ca * cb
    circle = cb**2 - 1 + ratio**2 * sa**2
    numerators = [sp.Poly(sp.numer(sp.together(e)), cb) for e in (rest, circle)]
    polynomial = sp.Poly(sp.resultant(*numerators, cb), t)
    found = []
    for root in sp.Poly(sp.sqf_part(polynomial), t).nroots(n=40, maxsteps=400):
        if abs(sp.im(root)) > 1e-25:
            continue
        a = 2 * np.arctan(float(sp.re(root)))
        for sign in (1.0, -1.0):
            cos_b = sign * np.sqrt(1 - (2 / 3 * np.sin(a)) ** 2)
            if abs(float(rest.subs({t: sp.re(root), cb: cos_b}))) < 1e-8:
                found.append((a, float(np.arctan2(2 / 3 * np.sin(a), cos_b))))
    return sorted(found)


def test_R5_a_toggle_mechanism_counted_by_a_resultant() -> None:
    found = equilibria(System(**TOGGLE))
    expected = toggle_angles()
    assert found.complete
    assert len(expected) >= 4
    assert positions(found, "a", "b") == pytest.approx(np.array(expected), abs=1e-7)


def test_a_family_is_recognised_by_its_dimension_and_by_what_may_be_prescribed() -> None:
    found = equilibria(model("ball-and-beam"))
    assert found.dimension == 1
    assert set(found.free) == {"r", "nu"}
    assert "family of dimension 1" in found.reason()
    assert found.members


def test_a_family_is_recognised_where_the_equations_are_as_many_as_the_unknowns() -> None:
    words = {"coordinates": ["x", "y"], "kinetic": "(x'^2 + y'^2)/2", "box": {"x": [-2, 2], "y": [-2, 2]}}
    found = equilibria(System(**words, constraint=[{"equation": "x^2 + y^2 = 1"}], initial={"x": 1}))
    assert (found.dimension, set(found.free)) == (1, {"x", "y"})


def test_a_parameter_may_be_unknown() -> None:
    """Which weight keeps the spring at x = 0.3?"""
    system = System(
        coordinates=["x"], kinetic="m/2*x'^2", potential="k/2*x^2 - m*g*x", parameters={"m": 1, "k": 50, "g": 9.81}
    )
    found = equilibria(system, {"x": 0.3}, {"m": (0.1, 10.0)})
    (only,) = found.equilibria
    assert only.parameters["m"] == pytest.approx(50 * 0.3 / 9.81)
    assert only.verdict.word == "stable"


def test_prescribing_too_much_leaves_nothing_or_what_fits() -> None:
    system = model("ball-and-beam")
    assert len(equilibria(system, {"r": 0.25, "nu": 0.0}).equilibria) == 0
    fitting = equilibria(system, {"r": 0.25, "nu": 0.064 * 9.81 * 0.25 * 0.06 / 0.425})
    assert positions(fitting, "theta") == pytest.approx(np.zeros((1, 1)), abs=1e-6)


def test_a_multiple_equilibrium_is_named_as_doubtful() -> None:
    system = System(coordinates=["x"], kinetic="x'^2/2", potential="x^4/4", box={"x": [-1, 1]})
    found = equilibria(system)
    assert not found.complete
    assert "not decided near x" in found.notes[0]


def test_a_box_is_needed_for_what_is_no_angle() -> None:
    system = System(coordinates=["x"], kinetic="x'^2/2", potential="x^2/2")
    with pytest.raises(ModelError, match="'x' has no side"):
        equilibria(system)
    with pytest.raises(ModelError, match="'y' is no coordinate"):
        equilibria(system, {"y": 1.0})


@pytest.mark.parametrize("seed", range(6))
def test_known_equilibria_of_random_mechanisms_are_found(seed: int) -> None:
    from svyaz.gallery.random_mechanisms import random_mechanism

    mechanism = random_mechanism(seed, 1, 2, 1)
    box = {q: (mechanism.state[q] - 0.4, mechanism.state[q] + 0.5) for q in mechanism.system.coordinates}
    found = equilibria(mechanism.system, mechanism.inputs, box)
    distances = [max(abs(e.state[q] - mechanism.state[q]) for q in box) for e in found.equilibria]
    assert min(distances) < 1e-9


@pytest.mark.parametrize("metre", [1e-12, 1e-9, 1e-4, 1.0, 1e5, 1e11])
@pytest.mark.parametrize("kilogramme", [1e-25, 1.0, 1e24])
def test_N1_1_equilibria_do_not_depend_on_units(metre: float, kilogramme: float) -> None:
    """A bead on a ring through the middle of a trap, V = m ω² (x² + 4y²)/2, x = R(1 + cos φ), y = R sin φ: at rest where
    sin φ (6 cos φ - 2) = 0, the square of its frequency there is ω² (cos φ (6 cos φ - 2) - 6 sin² φ)/2.
    """
    system = System(
        name="atom on a ring",
        coordinates=["x", "y"],
        kinetic="m/2*(x'^2 + y'^2)",
        potential="m*w^2/2*(x^2 + 4*y^2)",
        parameters={"m": kilogramme, "w": 3.0, "R": metre},
        constraint=[{"name": "ring", "equation": "(x - R)^2 + y^2 = R^2"}],
        initial={"x": 2 * metre},
    )
    found = equilibria(system, box={"x": (-1.1 * metre, 3.2 * metre), "y": (-2.3 * metre, 2.3 * metre)})
    assert found.complete
    side = np.sqrt(8.0) / 3
    expected = [(0.0, 0.0), (4 / 3, -side), (4 / 3, side), (2.0, 0.0)]
    np.testing.assert_allclose(positions(found, "x", "y") / metre, expected, atol=1e-8)
    assert [e.verdict.word for e in found.equilibria] == ["stable", "unstable", "unstable", "stable"]
    squares = [max(e.verdict.roots, key=abs) ** 2 for e in found.equilibria]
    np.testing.assert_allclose(squares, [-36.0, 24.0, 24.0, -18.0], rtol=1e-6)


def test_N1_1_a_force_that_is_small_in_its_units_is_a_force() -> None:
    """An electron in an electric field of 1000 V/m is nowhere at rest, though the force is 1.6e-16 N."""
    system = System(
        name="electron", coordinates=["x", "y"], kinetic="9.1e-31/2*(x'^2 + y'^2)", potential="1.602e-19*1000*x"
    )
    found = equilibria(system, box={"x": (-1.0, 1.0), "y": (-1.0, 1.0)})
    assert (found.complete, found.equilibria, found.family) == (True, (), False)


def test_N1_1_no_equilibrium_where_the_energy_has_no_value() -> None:
    """V = x²/2 - log x has its minimum at 1; at -1 its slope x - 1/x vanishes as well, but there is no energy."""
    system = System(name="log", coordinates=["x"], kinetic="x'^2/2", potential="x^2/2 - log(x)", initial={"x": 1.0})
    found = equilibria(system, box={"x": (-2.0, 3.0)})
    assert positions(found, "x") == pytest.approx(np.array([[1.0]]))
    assert any("at x = -1 the forces would balance, but the energy has no value there" in n for n in found.notes)
