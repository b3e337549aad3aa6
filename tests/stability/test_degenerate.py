"""Multiple equilibria: their zero roots are counted by hand, and nothing is claimed that rounding alone would say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

from svyaz import System, loads
from svyaz.stability.equilibrium_search import Equilibrium, equilibria


def only(text: str) -> Equilibrium:
    (found,) = equilibria(loads(text, "degenerate.toml")).equilibria
    assert found.verdict is not None
    return found


def on_a_line(potential: str, low: float, high: float) -> str:
    return f"""
name = "a particle on a line"
coordinates = ["x"]
kinetic = "x'^2/2"
potential = "{potential}"
[box]
x = [{low}, {high}]
"""


@pytest.mark.parametrize(
    ("potential", "at", "word"),
    [
        ("x^3", 0.0, "unstable"),
        ("(x-0.3)^3", 0.3, "unstable"),
        ("x^3 - 0.9*x^2 + 0.27*x", 0.3, "unstable"),
        ("-x^4", 0.0, "unstable"),
        ("x^4", 0.0, "stable"),
        ("(x-0.3)^4", 0.3, "stable"),
        ("sin(x) - x", 0.0, "unstable"),
        ("9.81*cos(x) + 9.81*x^2/2", 0.0, "stable"),
        ("1e6*(x-0.1)^3", 0.1, "unstable"),
        ("1e-6*(x-0.1)^3", 0.1, "unstable"),
    ],
)
@pytest.mark.parametrize(("low", "high"), [(-1.0, 2.0), (-0.7, 1.7)])
def test_N1_1_7_no_stiffness_means_two_zero_roots_and_a_verdict_by_the_first_power(
    potential: str, at: float, word: str, low: float, high: float
) -> None:
    found = only(on_a_line(potential, low, high))
    assert found.state["x"] == pytest.approx(at, abs=1e-9)
    assert found.verdict.zero_roots == 2
    assert np.all(found.verdict.roots == 0)
    assert found.verdict.word == word
    assert found.notes


@pytest.mark.parametrize(("power", "box", "word"), [(3, "[-1, 1.3]", "unstable"), (4, "[-1.1, 1]", "stable")])
def test_a_bead_at_an_inflection_of_its_wire_has_three_zero_roots(power: int, box: str, word: str) -> None:
    found = only(f"""
name = "a bead on a wire"
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[constraint]]
name = "wire"
equation = "y = x^{power}"
[box]
x = {box}
y = [-3, 3]
""")
    assert (found.verdict.zero_roots, found.verdict.constraint_roots) == (3, 1)
    assert found.verdict.word == word


PLANE = """
name = "a particle in the plane"
coordinates = ["x", "y"]
kinetic = "m/2*(x'^2 + x'*y' + y'^2)"
potential = "{potential}"
[parameters]
m = 3
b = {damping}
[forces]
x = "-b*x'"
y = "-b*y'"
[box]
x = [-1, 1.3]
y = [-1.2, 1]
"""


def in_the_plane(potential: str, damping: float = 0.0) -> Equilibrium:
    return only(PLANE.format(potential=potential, damping=damping))


def test_one_soft_direction_across_the_coordinates() -> None:
    """V = (x - y)²/2 + (x + 2y)³: along x = y nothing resists to first order; the other direction swings."""
    found = in_the_plane("(x - y)^2/2 + (x + 2*y)^3")
    assert found.verdict.zero_roots == 2
    assert found.verdict.word == "unstable"
    # a = m [[1, ½], [½, 1]], K = [[1, -1], [-1, 1]]; along (1, -1): λ² = -2 / (m/2) = -4/m
    frequency = np.sqrt(4 / 3)
    assert sorted(np.abs(found.verdict.roots.imag)) == pytest.approx([0, 0, frequency, frequency], abs=1e-9)


def test_damping_leaves_one_zero_root() -> None:
    found = in_the_plane("(x - y)^2/2 + (x + 2*y)^3", damping=0.4)
    assert found.verdict.zero_roots == 1
    assert found.verdict.word == "unstable"  # 27 s³ along x = y = s


def test_a_maximum_across_the_soft_direction_is_unstable() -> None:
    found = in_the_plane("-(x - y)^2/2 + (x + 2*y)^3")
    assert found.verdict.zero_roots == 2
    assert found.verdict.word == "unstable"


def test_a_bead_on_a_hoop_at_its_critical_speed() -> None:
    """V = -g R cos u - ½ ω² R² sin² u with ω² R = g: the stiffness R² (g/R - ω²) vanishes at the bottom."""
    found = equilibria(
        loads(
            """
name = "a hoop"
coordinates = ["u"]
kinetic = "R^2*u'^2/2"
potential = "-g*R*cos(u) - w^2*R^2*sin(u)^2/2"
[parameters]
g = 9.81
R = 0.4
w = "sqrt(g/R)"
""",
            "hoop.toml",
        )
    )
    by_angle = {round(e.state["u"], 3): e.verdict for e in found.equilibria}
    assert set(by_angle) == {0.0, 3.142}
    assert (by_angle[0.0].zero_roots, by_angle[0.0].word) == (2, "stable")  # V = const + g R u⁴/8
    assert (by_angle[3.142].zero_roots, by_angle[3.142].word) == (0, "unstable")


def test_a_circuit_keeps_its_own_root() -> None:
    """V = (x - 0.2)³ and a motor without voltage: L I' = -R I - c x', x'' = k I."""
    found = equilibria(
        loads(
            """
name = "a circuit and an inflection"
coordinates = ["x"]
kinetic = "x'^2/2"
potential = "(x - 0.2)^3"
[inputs]
e = 0
[[motor]]
name = "M"
current = "I"
on = "x"
shaft = "x'"
resistance = 2
inductance = 0.5
back_emf = 1
torque = 1
supply = 1
voltage = "e"
[box]
x = [-1, 1.3]
""",
            "circuit.toml",
        ),
        {"e": 0.0},
    )
    (only,) = found.equilibria
    # characteristic polynomial λ (L λ² + R λ + c k) with the stiffness zero: 0, and 0.5 λ² + 2 λ + 1 = 0
    expected = sorted([0.0, -2 + np.sqrt(2), -2 - np.sqrt(2)])
    assert only.verdict.zero_roots == 1
    assert sorted(only.verdict.roots.real) == pytest.approx(expected, abs=1e-9)
    assert only.verdict.word == "unstable"  # the force -3 (x - 0.2)² drives it to one side


@pytest.mark.parametrize("potential", ["(x - 0.2)^3 + y^4", "cosh(x - 0.1) - (x - 0.1)^2/2 + cosh(y) - y^2/2"])
def test_N1_1_7_two_soft_directions_at_a_place_that_is_known_roughly(potential: str) -> None:
    """The cube falls; the sum of cosines hyperbolic has a minimum."""
    found = in_the_plane(potential)
    assert found.verdict.zero_roots == 4
    assert found.verdict.word == ("stable" if "cosh" in potential else "unstable")


@pytest.mark.parametrize("arm", [1.2, 0.7])
def test_N1_1_8_where_the_constraints_lose_their_rank_a_force_rests_on_nothing(arm: float) -> None:
    """Two unit arms, tied by a rod as long as their distance a, loaded by V = sin p + sin q.

    They move with p = q, or crossed with tan(q/2) = k tan(p/2), k = (1 + a)/(1 - a); both ways meet at p = q = 0 and π, where
    ∂F/∂p = ∂F/∂q = 0 and the force (1, 1) is not balanced. Resting positions of the crossed way: cos p + cos q dq/dp = 0.
    """
    k = (1 + arm) / (1 - arm)

    def crossed(p: float) -> float:
        return 2 * np.arctan(k * np.tan(p / 2))

    def slope(p: float) -> float:
        return np.cos(p) + np.cos(crossed(p)) * k * (1 + np.tan(p / 2) ** 2) / (1 + (k * np.tan(p / 2)) ** 2)

    grid = np.linspace(-np.pi + 1e-6, np.pi - 1e-6, 4001)
    signs = np.sign([slope(p) for p in grid])
    turns = [brentq(slope, grid[i], grid[i + 1], xtol=1e-14) for i in np.flatnonzero(signs[1:] != signs[:-1])]
    expected = sorted([(-np.pi / 2, -np.pi / 2), (np.pi / 2, np.pi / 2), *((p, crossed(p)) for p in turns)])
    system = System(
        coordinates=["p", "q"],
        kinetic="(p'^2 + q'^2)/2",
        potential="sin(p) + sin(q)",
        parameters={"a": arm},
        constraint=[{"name": "tie", "equation": "(cos(p) - a - cos(q))^2 + (sin(p) - sin(q))^2 = a^2"}],
    )
    found = system.equilibria()
    assert np.array([[e.state["p"], e.state["q"]] for e in found.equilibria]) == pytest.approx(
        np.array(expected), abs=1e-8
    )
    assert not found.complete
    assert any("no input and no multiplier balances the force 1, 1 on p, q" in note for note in found.notes)
