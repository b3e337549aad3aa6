"""Q3: rest and steady motions where velocities are constrained, against closed forms and against reduced equations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from svyaz import System, load
from svyaz.expr import ModelError, evaluate, gradient
from svyaz.forms import derive, rates_of
from svyaz.motion import simulate
from svyaz.stability import nonholonomic_linearisation, steady_branches

G = 9.81


def squares(roots: np.ndarray) -> list[float]:
    """λ² of the roots that are not zero, each pair once."""
    return sorted({round(float((z * z).real), 9) for z in roots if abs(z) > 1e-6})


@pytest.mark.parametrize("speed", [0.0, 1.0, 1.8, 1.82, 4.0])
def test_Q3_disc_rolling_straight(speed: float) -> None:
    """(A + m r²) λ² = m g r - C (C + m r²)/A φ'²: stable above v² = g r/3 for the uniform disc."""
    found = load("rolling-disc").steady({"psi'": 0.0, "phi'": speed, "theta": 0.0})
    (motion,) = found.motions
    A, C = 0.25, 0.5
    expected = (G - C * (C + 1) / A * speed**2) / (A + 1)
    assert squares(motion.verdict.roots) == pytest.approx([expected], abs=1e-8)
    assert motion.verdict.word == ("unstable" if speed**2 < G / 3 else "stable")
    assert (motion.verdict.zero_roots, found.dimension) == (2, 2)
    assert motion.speeds["x'"] == pytest.approx(speed)


@pytest.mark.parametrize("spin", [2.0, 2.80, 2.81, 5.0])
def test_Q3_disc_spinning_on_the_spot(spin: float) -> None:
    """λ² = m g r/(A + m r²) - ψ'²: stable above ψ'² = 4 g/5 r."""
    (motion,) = load("rolling-disc").steady({"psi'": spin, "phi'": 0.0, "theta": 0.0}).motions
    assert squares(motion.verdict.roots) == pytest.approx([G / 1.25 - spin**2], abs=1e-8)
    assert motion.verdict.word == ("unstable" if spin**2 < 0.8 * G else "stable")


def test_Q3_leaning_disc_rolls_in_circles() -> None:
    """The motion stays what it is, and its roots are those of Voronets' equations differentiated."""
    disc = load("rolling-disc")
    found = disc.steady({"theta": 0.4, "phi'": 2.5}, {"psi'": (-4.0, 4.0)})
    assert found.found.complete
    for motion in found.motions:
        start = {**motion.state, **motion.speeds}
        run = simulate(
            System.from_words({**disc.words, "initial": start}), until=3.0, method="dop853", rtol=1e-11, stabilize="off"
        )
        assert run.column("theta") == pytest.approx(0.4, abs=1e-8)
        assert run.column("psi'") == pytest.approx(motion.speeds["psi'"], abs=1e-8)
        assert squares(motion.verdict.roots) == pytest.approx(squares(by_voronets(disc, start)), abs=1e-7)


def by_voronets(system: System, state: dict[str, float]) -> np.ndarray:
    """Roots of Voronets' equations of θ, θ', ψ', φ' by K du = ds - dK u, the system solved on numbers."""
    import symengine as se

    equations = derive(system, "voronets")
    (linear,) = rates_of(equations).systems
    values = {**system.constants, **state, "theta'": 0.0, "t": 0.0}
    names = ["theta", *(str(v) for v in equations.velocities)]
    by = [se.Symbol(name) for name in names]
    matrix = np.array([[evaluate(e, values) for e in row] for row in linear.matrix])
    sides = np.array([evaluate(e, values) for e in linear.sides[0]])
    solution = np.linalg.solve(matrix, sides)
    columns = []
    for s in by:
        moved = np.array([evaluate(gradient(e, [s])[0], values) for e in linear.sides[0]])
        turned = np.array([[evaluate(gradient(e, [s])[0], values) for e in row] for row in linear.matrix])
        columns.append(np.linalg.solve(matrix, moved - turned @ solution))
    first = [[float(name == "theta'") for name in names]]
    return np.linalg.eigvals(np.vstack([first, np.array(columns).T]))


@pytest.mark.parametrize("speed", [2.0, -1.5])
def test_Q3_sleigh_runs_straight_with_its_centre_ahead(speed: float) -> None:
    """J δφ'' = -m a u δφ': Chaplygin's sleigh is stable when the centre of mass goes before the blade."""
    flat = load("sleigh").words | {"parameters": {"m": 2, "a": 0.3, "J": 0.7, "b": 0, "g": 9.8, "incline": 0}}
    (motion,) = System.from_words(flat).steady({"x'": speed, "phi'": 0.0}).motions
    assert sorted(motion.verdict.roots.real) == pytest.approx(sorted([0.0, -2 * 0.3 * speed / 0.7]), abs=1e-10)
    assert motion.verdict.word == ("stable" if speed > 0 else "unstable")


def test_Q3_a_sleigh_that_turns_is_not_steady() -> None:
    flat = load("sleigh").words | {"parameters": {"m": 1, "a": 1, "J": 1, "b": 0, "g": 9.8, "incline": 0}}
    found = System.from_words(flat).steady({"x'": 1.0, "phi'": 1.0})
    assert (found.motions, found.found.complete) == ((), True)


def test_Q3_sleigh_rests_across_the_incline() -> None:
    found = load("sleigh").equilibria()
    assert sorted(e.state["phi"] for e in found.equilibria) == pytest.approx([-np.pi / 2, np.pi / 2])
    for e in found.equilibria:
        push = -np.sin(e.state["phi"])  # of the blade, along x, for a unit multiplier
        assert push * e.multipliers["blade"] == pytest.approx(-1.0 * 9.8 * 0.5)


def test_Q3_which_way_it_heads_and_from_where_it_is_seen_does_not_matter() -> None:
    """The same disc from axes that run along with it, turned, and told with other signs of the heading."""
    disc = load("rolling-disc").words
    words = {key: disc[key] for key in ("coordinates", "potential", "parameters", "kinetic")}
    places = {"xc": "X + r*sin(theta)*sin(psi)", "yc": "Y - r*sin(theta)*cos(psi)", "zc": "r*cos(theta)"}
    along = {"X": "x + 2*t", "Y": "y - 1*t", **places}
    rolled = [
        {"name": "along", "equation": "X' = r*phi'*cos(psi)"},
        {"name": "across", "equation": "Y' = r*phi'*sin(psi)"},
    ]
    seen = System.from_words({**words, "name": "seen from a cart", "definitions": along, "constraint": rolled})
    fix = {"psi'": 1.3, "phi'": 2.0}
    one, other = load("rolling-disc").steady(fix), seen.steady(fix)
    assert len(one.motions) == len(other.motions) == 2
    for a, b in zip(one.motions, other.motions, strict=True):
        assert a.state["theta"] == pytest.approx(b.state["theta"], abs=1e-9)
        assert squares(a.verdict.roots) == pytest.approx(squares(b.verdict.roots), abs=1e-8)
        assert a.verdict.word == b.verdict.word


def test_Q6_a_branch_of_rolling_discs_changes_its_stability_at_the_critical_speed() -> None:
    found = load("rolling-disc").steady_branches("phi'", (1.75, 1.9), {"psi'": 0.0}, {"theta": (-0.5, 0.5)})
    assert (found.count, found.incomplete) == (1, False)
    for m in found.members:
        assert m.motion.verdict.word == ("unstable" if m.value**2 < G / 3 else "stable")


def driven_sleigh() -> System:
    """A sleigh on a wheel that a motor drives, with friction and a torque that steers."""
    return System(
        name="driven sleigh",
        coordinates=["x", "y", "phi", "s"],
        kinetic="m/2*(x'^2 + y'^2) + m*a*phi'*(y'*cos(phi) - x'*sin(phi)) + J/2*phi'^2 + k/2*s'^2",
        dissipation="d/2*(x'^2 + y'^2) + e/2*phi'^2",
        parameters={"m": 2, "a": 0.2, "J": 1, "k": 0.1, "d": 0.5, "e": 0.1, "r": 0.3},
        inputs={"tau": 0, "mu": 0},
        forces={"s": "tau", "phi": "mu"},
        constraint=[
            {"name": "blade", "equation": "y'*cos(phi) = x'*sin(phi)"},
            {"name": "roll", "equation": "x'*cos(phi) + y'*sin(phi) = r*s'"},
        ],
    )


def test_Q3_inputs_that_hold_a_sleigh_on_a_circle() -> None:
    """(m + k/r²) u' = m a w² - d u + tau/r, J w' = -m a u w - e w + mu: the inputs, and the roots of this pair."""
    u, w = 0.6, 0.5
    found = driven_sleigh().steady({"s'": u / 0.3, "phi'": w})
    (motion,) = found.motions
    assert motion.inputs["tau"] == pytest.approx(0.3 * (0.5 * u - 2 * 0.2 * w**2), abs=1e-12)
    assert motion.inputs["mu"] == pytest.approx(2 * 0.2 * u * w + 0.1 * w, abs=1e-12)
    heavy = 2 + 0.1 / 0.09
    matrix = [[-0.5 / heavy, 2 * 2 * 0.2 * w / heavy], [-2 * 0.2 * w, -2 * 0.2 * u - 0.1]]
    expected = np.sort_complex(np.linalg.eigvals(matrix))
    assert np.sort_complex(motion.verdict.roots) == pytest.approx(expected, abs=1e-10)
    assert (found.dimension, motion.verdict.word, motion.verdict.zero_roots) == (2, "asymptotic", 0)


def test_Q3_a_constraint_without_a_direction_at_rest_is_refused() -> None:
    """Appell's and Hamel's: at rest its slopes vanish, and it says nothing of the forces."""
    system = System(
        name="Appell",
        coordinates=["x", "y", "z"],
        kinetic="m/2*(x'^2 + y'^2 + z'^2)",
        potential="m*g*z",
        parameters={"m": 1, "g": 9.81, "a": 0.5},
        constraint=[{"name": "cone", "equation": "x'^2 + y'^2 = a^2*z'^2"}],
    )
    with pytest.raises(ModelError, match="'cone' gives no direction at rest"):
        system.equilibria()


def test_Q3_refusals_where_velocities_are_constrained() -> None:
    words = load("sleigh").words
    moving = {**words, "constraint": [{"name": "blade", "equation": "y'*cos(phi) = x'*sin(phi) + sin(t)"}]}
    with pytest.raises(ModelError, match="change with time"):
        System.from_words(moving).equilibria()
    brief = {**words, "constraint": [{**words["constraint"][0], "until": 2.0}]}
    with pytest.raises(ModelError, match="'blade' does not always act"):
        System.from_words(brief).equilibria()
    with pytest.raises(ModelError, match="its speed is prescribed"):
        load("rolling-disc").steady({"psi": 1.0})
    with pytest.raises(ModelError, match="is no coordinate, speed, input or parameter"):
        load("rolling-disc").steady({"psy'": 1.0})


BENCHMARK = {
    0.0: [5.53094372, 3.13164325, -3.13164325, -5.53094372],
    5.0: [-0.32286643, -0.77534188 + 4.46486771j, -0.77534188 - 4.46486771j, -14.07838969],
}
"""J. P. Meijaard, J. M. Papadopoulos, A. Ruina and A. L. Schwab 2007, table 2."""


@pytest.fixture(scope="module")
def bicycle() -> System:
    return load("bicycle")


def moving_roots(roots: np.ndarray) -> np.ndarray:
    return np.sort_complex(np.array([z for z in roots if abs(z) > 1e-6]))


@pytest.mark.parametrize("speed", BENCHMARK)
def test_Q3_bicycle_has_the_roots_of_the_benchmark(speed: float) -> None:
    (found,) = load("bicycle").equilibria({"v": speed}).equilibria
    assert found.state["th"] == pytest.approx(np.pi / 10, abs=1e-12)
    assert moving_roots(found.verdict.roots) == pytest.approx(np.sort_complex(BENCHMARK[speed]), abs=1e-8)
    assert (found.verdict.zero_roots, found.verdict.constraint_roots) == (2, 1)
    assert found.verdict.word == ("stable" if speed else "unstable")


def test_Q3_weave_and_capsize_speeds(bicycle: System) -> None:
    """Where a pair crosses the imaginary axis, and where the product of the roots but that of the speed does, by bisection."""

    def matrix(v: float) -> np.ndarray:
        return nonholonomic_linearisation(bicycle, {"th": np.pi / 10}, {**bicycle.constants, "v": v}).A

    def growth(v: float) -> float:
        return max(float(z.real) for z in np.linalg.eigvals(matrix(v)) if abs(z.imag) > 0.1)

    def product(v: float) -> float:
        return float(np.poly(matrix(v))[-2])

    assert bisected(growth, 4.0, 4.5) == pytest.approx(4.29238253634111, abs=1e-8)
    assert bisected(product, 5.8, 6.3) == pytest.approx(6.02426201538837, abs=1e-8)


def bisected(function: Callable[[float], float], low: float, high: float) -> float:
    start = function(low) > 0
    for _ in range(28):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if (function(middle) > 0) == start else (low, middle)
    return low


def test_Q3_bicycle_from_the_ground_has_the_same_roots(bicycle: System) -> None:
    """v = 0 in the description and the wheels turning: a steady motion with speeds instead of an equilibrium."""
    (motion,) = bicycle.steady({"v": 0.0, "ro'": -5.0 / 0.3, "ph": 0.0, "de": 0.0}).motions
    assert motion.speeds["x'"] == pytest.approx(5.0, abs=1e-9)
    assert moving_roots(motion.verdict.roots) == pytest.approx(np.sort_complex(BENCHMARK[5.0]), abs=1e-7)


def test_Q6_branches_of_a_disc_seen_from_axes_that_run_along_are_those_of_the_disc() -> None:
    """φ' = v + p' with p' = 0: steady motions have (3/2) v ψ' cos θ + (5/4) ψ'² sin θ cos θ + g sin θ = 0 for r = 1."""
    running = System(
        coordinates=["x", "y", "psi", "theta", "p"],
        kinetic="((x' + v + theta'*cos(theta)*sin(psi) + psi'*sin(theta)*cos(psi))^2"
        " + (y' - theta'*cos(theta)*cos(psi) + psi'*sin(theta)*sin(psi))^2 + theta'^2*sin(theta)^2)/2"
        " + (theta'^2 + psi'^2*cos(theta)^2)/8 + (p' + v + psi'*sin(theta))^2/4",
        potential="g*cos(theta)",
        parameters={"g": 9.81, "v": 0.5},
        constraint=[
            {"name": "along", "equation": "x' + v = (p' + v)*cos(psi)"},
            {"name": "across", "equation": "y' = (p' + v)*sin(psi)"},
        ],
        box={"theta": [-1, 1]},
    )
    found = steady_branches(running, "v", (-0.5, 2.0), {"psi'": 1.2, "p'": 0.0})
    assert not found.incomplete
    assert len(found.members) > 10
    for m in found.members:
        theta = m.motion.state["theta"]
        balance = 1.8 * m.value * np.cos(theta) + 1.8 * np.sin(theta) * np.cos(theta) + 9.81 * np.sin(theta)
        assert abs(balance) < 1e-9
        assert m.motion.verdict is not None
