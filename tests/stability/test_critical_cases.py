"""Critical cases that can be decided: one more zero root, a pair of imaginary roots, displacements that change nothing."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import System, equilibria, simulate
from svyaz.stability.critical import StabilityVerdict, stability
from svyaz.stability.linearisation import first_approximation
from svyaz.stability.oscillation import first_coefficient
from svyaz.stability.reduction import reduced_force


def at_zero(**words: object) -> StabilityVerdict:
    return stability(first_approximation(System(**words), {}))


WIRES = {"x^4": True, "-x^4": False, "-x^3": False, "x^5": False, "x^6": True, "2*x^8": True}
"""Wires y(x), and whether y has a strict minimum."""


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("damping", [0.0, 0.3])
@pytest.mark.parametrize("redundant", [False, True])
def test_N1_1_7_a_bead_on_a_flat_wire(wire: str, damping: float, redundant: bool) -> None:
    """The first power of y decides: a minimum is stable, and asymptotically so with damping; all others are unstable."""
    slope = wire.replace("x^", "y'=x^").split("y'=")[-1]
    if redundant:
        found = at_zero(
            coordinates=["x", "y"],
            kinetic="(x'^2 + y'^2)/2",
            potential="9.81*y",
            forces={"x": f"-{damping}*x'", "y": f"-{damping}*y'"},
            constraint=[{"name": "wire", "equation": f"y = {wire}"}],
        )
    else:
        power = int(slope[-1])
        bend = f"({power}*x^{power - 1})^2"
        found = at_zero(
            coordinates=["x"],
            kinetic=f"(1 + {bend})*x'^2/2",
            potential=f"9.81*({wire})",
            forces={"x": f"-{damping}*x'"},
        )
    lowest = WIRES[wire]
    assert found.word == ("unstable" if not lowest else "asymptotic" if damping else "stable")
    assert found.zero_roots - found.constraint_roots == (1 if damping else 2)
    assert all(h.holds for h in found.hypotheses)


def test_N1_1_7_the_rate_on_the_centre_manifold_is_that_of_the_slow_motion() -> None:
    """m x'' + c x' + 4 a m g x³ + … = 0: slowly x' = -(4 a m g/c) x³."""
    system = System(
        coordinates=["x", "y"],
        kinetic="0.7*(x'^2 + y'^2)/2",
        potential="0.7*9.81*y",
        forces={"x": "-0.3*x'"},
        constraint=[{"name": "wire", "equation": "y = 2*x^4"}],
    )
    found = reduced_force(first_approximation(system, {}))
    assert found is not None
    assert found.power == 3
    assert found.rate == pytest.approx(-4 * 2 * 0.7 * 9.81 / 0.3)


@pytest.mark.parametrize("power", [3, 4, 6])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("damping", [0.0, 0.8])
def test_N1_1_7_the_verdict_does_not_depend_on_the_coordinates(power: int, sign: int, damping: float) -> None:
    """V = ± X^p + Y²/2 in bent coordinates a, b, with an inertia that depends on them."""
    x, y = "(a + 0.3*b + 0.2*b^2)", "(b - 0.4*a + 0.1*a^2 + 0.05*a*b)"
    found = at_zero(
        coordinates=["a", "b"],
        kinetic="(1 + a^2)*a'^2/2 + 0.3*a'*b' + (1 + 0.2*sin(a))*b'^2/2",
        potential=f"{sign}*{x}^{power} + {y}^2/2",
        forces={"a": f"-{damping}*a'", "b": f"-{damping}*b'"},
    )
    lowest = power % 2 == 0 and sign > 0
    assert found.word == ("unstable" if not lowest else "asymptotic" if damping else "stable")


def test_N1_1_7_what_the_second_differential_does_not_show_is_not_called_untrue() -> None:
    """V = x⁴ + y⁶ has a minimum, which its first form does not show: nothing false is said."""
    found = at_zero(coordinates=["x", "y"], kinetic="(x'^2 + y'^2)/2", potential="x^4 + y^6")
    assert found.word == "undecided"
    (minimum,) = (h for h in found.hypotheses if "strict minimum" in h.text)
    assert minimum.holds is None
    saddle = at_zero(coordinates=["x", "y"], kinetic="(x'^2 + y'^2)/2 + 9*x*y'", potential="-x^2 - y^2")
    (minimum,) = (h for h in saddle.hypotheses if "strict minimum" in h.text)
    assert (saddle.word, minimum.holds) == ("undecided", False)  # held by gyroscopic forces: λ⁴ + 77 λ² + 4 = 0


SEVERAL = {
    "x^4 + y^4": "stable",
    "(x + 2*y)^4 + 3*(x - y)^4 + x^5": "stable",
    "x^4 + y^4 + z^2 + x^2*z": "stable",  # on z = -x²/2 it is 3/4 x⁴ + y⁴
    "x^4 + y^4 + z^4 - x*y*z^2": "stable",  # |xyz²| ≤ (x⁴ + y⁴ + 2z⁴)/4
    "x^6 + y^6": "stable",
    "cosh(x) - x^2/2 + cosh(y) - y^2/2": "stable",
    "x^4 + y^4 - 2.1*x^2*y^2": "unstable",  # negative only near x² = y²
    "x^4 + y^4 + z^2 + 3*x^2*z": "unstable",  # on z = -3x²/2 it is -5/4 x⁴ + y⁴
    "x^3 + y^4": "unstable",
    "x^4 + y^4 + 1e-9*x^2*y": "unstable",  # a tiny lower form is not taken for rounding
    "(x^2 - y^2)^2 + x^6 + y^6": "undecided",  # a form that vanishes somewhere decides nothing
}
"""Potentials that are flat in several directions at 0, and what is known there when nothing else acts."""


@pytest.mark.parametrize("potential", SEVERAL)
def test_N1_1_7_several_soft_directions_are_decided_by_the_first_form_along_them(potential: str) -> None:
    names = [q for q in "xyz" if q in potential]
    squares = " + ".join(f"{q}'^2" for q in names)
    words = {"coordinates": names, "kinetic": f"({squares})/2 + x'*y'/3", "potential": potential}
    assert at_zero(**words).word == SEVERAL[potential]
    damped = {"stable": "asymptotic"}.get(SEVERAL[potential], "undecided")
    assert at_zero(**words, dissipation=squares).word == damped
    if damped == "asymptotic":
        assert at_zero(**words, dissipation="x'^2").word == "stable"


@pytest.mark.parametrize("c", [1.9, 2.1])
def test_N1_1_7_soft_directions_on_a_surface(c: float) -> None:
    """A heavy bead in a bowl z = x⁴ + y⁴ - c x²y²: the form is positive for c < 2."""
    found = at_zero(
        coordinates=["x", "y", "z"],
        kinetic="(x'^2 + y'^2 + z'^2)/2",
        potential="9.81*z",
        constraint=[{"name": "bowl", "equation": f"z = x^4 + y^4 - {c}*x^2*y^2"}],
    )
    assert found.word == ("stable" if c < 2 else "unstable")


def test_N1_1_7_a_tiny_lower_power_is_not_taken_for_rounding() -> None:
    """V = x⁴/4 - 1e-9 x³/3: the force 1e-9 x² decides."""
    words = {"coordinates": ["x"], "kinetic": "x'^2/2", "forces": {"x": "-x'"}}
    assert at_zero(**words, potential="x^4/4 - 1e-9*x^3/3").word == "unstable"
    assert at_zero(**words, potential="x^4/4").word == "asymptotic"


def van_der_pol(mu: float) -> dict[str, object]:
    return {"coordinates": ["x"], "kinetic": "x'^2/2", "potential": "x^2/2", "forces": {"x": f"{mu}*x^2*x'"}}


@pytest.mark.parametrize(
    ("words", "word"),
    [
        (van_der_pol(-0.5), "asymptotic"),
        (van_der_pol(0.5), "unstable"),
        ({**van_der_pol(0), "forces": {"x": "-x'^3"}}, "asymptotic"),
        ({**van_der_pol(0), "forces": {"x": "x'^3"}}, "unstable"),
        ({**van_der_pol(0), "forces": {"x": "(1 - x^2)*x'"}}, "unstable"),
        ({**van_der_pol(0), "forces": {"x": "(x^2 - 1)*x'"}}, "asymptotic"),
        ({**van_der_pol(0), "forces": {"x": "-x^3"}}, "stable"),
        ({**van_der_pol(0), "forces": {"x": "-x^4*x'"}}, "stable"),
    ],
)
def test_N1_1_7_oscillators_with_damping_of_a_higher_order(words: dict[str, object], word: str) -> None:
    assert at_zero(**words).word == word


@pytest.mark.parametrize("seed", range(5))
def test_N1_1_7_the_first_coefficient_against_its_formula_in_the_plane(seed: int) -> None:
    """x'' = -x + φ(x, x') with X = x, Y = -x': 16 a = g_XXY + g_YYY - g_XY (g_XX + g_YY) (Guckenheimer and Holmes, 3.4.11)."""
    c = np.random.default_rng(seed).uniform(-1, 1, 7).round(2)
    phi = "+".join(
        f"({x})*{m}" for x, m in zip(c, ("x^2", "x*x'", "x'^2", "x^3", "x^2*x'", "x*x'^2", "x'^3"), strict=True)
    )
    # g(X, Y) = -φ(X, -Y): g_XX = -2c₀, g_XY = c₁, g_YY = -2c₂, g_XXY = 2c₄, g_YYY = 6c₆
    expected = 2 * c[4] + 6 * c[6] + c[1] * 2 * (c[0] + c[2])
    system = System(**{**van_der_pol(0), "forces": {"x": phi}})
    found = first_coefficient(first_approximation(system, {}))
    assert found is not None
    assert found.value / expected == pytest.approx(1 / 8, rel=1e-9)  # l₁ = 2a for a vector q of unit length
    assert stability(first_approximation(system, {})).word == ("asymptotic" if expected < 0 else "unstable")


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("redundant", [False, True])
def test_N1_1_7_the_same_pendulum_in_an_angle_and_in_x_and_y(sign: int, redundant: bool) -> None:
    """A horizontal force ∓x²x' at the bob: near the bottom that of van der Pol in u."""
    if redundant:
        words = {
            "coordinates": ["x", "y"],
            "kinetic": "(x'^2 + y'^2)/2",
            "potential": "9.81*y",
            "forces": {"x": f"{sign}*x^2*x'"},
            "constraint": [{"name": "rod", "equation": "x^2 + y^2 = 1"}],
        }
    else:
        force = f"{sign}*sin(u)^2*cos(u)*u'*cos(u)"
        words = {"coordinates": ["u"], "kinetic": "u'^2/2", "potential": "-9.81*cos(u)", "forces": {"u": force}}
    found = stability(first_approximation(System(**words), {"y": -1.0} if redundant else {}))
    assert found.word == ("unstable" if sign > 0 else "asymptotic")
    assert "first coefficient" in found.theorem


@pytest.mark.parametrize("pull", [3.0, -3.0])
def test_N1_1_7_a_damped_neighbour_takes_part_in_the_coefficient(pull: float) -> None:
    """x'' + x = -z x', z'' + 3z' + 2z = pull·x'²: z follows the square of the speed; alone x would be a centre.

    Slowly z = pull (¼ + Re c e^(2it)) a², c = -¼/((2i)² + 6i + 2) = (1 + 3i)/80, and a' = -½ a³ pull (¼ + …) < 0 for pull > 0.
    """
    found = at_zero(
        coordinates=["x", "z"],
        kinetic="(x'^2 + z'^2)/2",
        potential="x^2/2 + z^2",
        forces={"x": "-z*x'", "z": f"-3*z' + {pull}*x'^2"},
    )
    assert found.word == ("asymptotic" if pull > 0 else "unstable")


CART = {
    "coordinates": ["x", "u"],
    "kinetic": "x'^2/2 + 0.1*((x' + 0.5*u'*cos(u))^2 + (0.5*u'*sin(u))^2)",
    "potential": "-0.981*cos(u)",
}


def test_a_cart_that_may_stand_anywhere() -> None:
    """With friction on both it stays near where it is put; without any, the slowest motion carries it away."""
    rubbed = at_zero(**CART, forces={"x": "-0.1*x'", "u": "-0.1*u'"})
    assert (rubbed.word, rubbed.zero_roots) == ("stable", 1)
    assert "family" in rubbed.theorem
    free = at_zero(**CART)
    assert (free.word, free.zero_roots) == ("unstable", 2)
    assert "momentum" in free.theorem
    assert at_zero(**CART, forces={"x": "-0.1*x'^3"}).word == "undecided"


@pytest.mark.parametrize("potential", ["x^2/2 + y^4/4", "x^4 + y^4"])
def test_N1_1_a_minimum_says_nothing_where_the_kinetic_energy_is_not_positive(potential: str) -> None:
    """y'' = y³ leaves 0 though the potential energy has a strict minimum there: -y'² is no kinetic energy."""
    system = System(
        name="light", coordinates=["x", "y"], kinetic="(x'^2 - y'^2)/2", potential=potential, initial={"y": 0.5}
    )
    (found,) = equilibria(system, box={"x": (-1.0, 1.0), "y": (-1.0, 1.0)}).equilibria
    assert found.word != "stable"
    assert ("the kinetic energy is positive", False) in [(h.text, h.holds) for h in found.verdict.hypotheses]
    motion = simulate(system, until=1.0)
    assert any("the kinetic energy is negative" in note for note in motion.notes)
