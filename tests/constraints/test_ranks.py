"""Ranks, repeated and contradictory constraints, and the augmented matrix."""

from __future__ import annotations

import math

import numpy as np
import pytest

from svyaz import System, load
from svyaz.constraints.ranks import examine
from svyaz.forms.derivation import derive
from svyaz.forms.named.multipliers import with_multipliers
from svyaz.motion import simulate


def ten_coordinates() -> System:
    """Foot, extensible leg and body with the constraints of the published listing, at its start.

    r1 = foot + (s1 + l1/2) e1, joint = foot + (s1 + l1 + s3) e1, r2 = joint + (s2 + l2/2) e2,
    e = (cos ψ cos φ, cos ψ sin φ, sin ψ).
    """
    e = {i: (f"cos(psi{i})*cos(phi{i})", f"cos(psi{i})*sin(phi{i})", f"sin(psi{i})") for i in (1, 2)}
    rate = {
        i: (
            f"(-sin(psi{i})*cos(phi{i})*psi{i}' - cos(psi{i})*sin(phi{i})*phi{i}')",
            f"(-sin(psi{i})*sin(phi{i})*psi{i}' + cos(psi{i})*cos(phi{i})*phi{i}')",
            f"cos(psi{i})*psi{i}'",
        )
        for i in (1, 2)
    }
    foot, foot_rate = ("x0", "y0", "0"), ("x0'", "y0'", "0")
    v1 = [f"({foot_rate[k]} + s1'*{e[1][k]} + (s1 + l1/2)*{rate[1][k]})" for k in range(3)]
    v2 = [
        f"({foot_rate[k]} + (s1' + s3')*{e[1][k]} + (s1 + l1 + s3)*{rate[1][k]}"
        f" + s2'*{e[2][k]} + (s2 + l2/2)*{rate[2][k]})"
        for k in range(3)
    ]
    r1 = [f"({foot[k]} + (s1 + l1/2)*{e[1][k]})" for k in range(3)]
    r2 = [f"({foot[k]} + (s1 + l1 + s3)*{e[1][k]} + (s2 + l2/2)*{e[2][k]})" for k in range(3)]
    square = lambda v: "+".join(f"{c}^2" for c in v)  # noqa: E731
    rods = "+".join(f"m{i}*l{i}^2/24*(psi{i}'^2 + cos(psi{i})^2*phi{i}'^2)" for i in (1, 2))
    kinetic = f"m0/2*(x0'^2 + y0'^2) + m0*l0^2/24*phi0'^2 + m1/2*({square(v1)}) + m2/2*({square(v2)}) + {rods}"
    potential = f"-g*sin(a)*(m0*x0 + m1*{r1[0]} + m2*{r2[0]}) + g*cos(a)*(m1*{r1[2]} + m2*{r2[2]})"
    delta, amplitude = 0.1, 10.0
    return System(
        name="three links, ten coordinates",
        coordinates=["x0", "y0", "phi0", "phi1", "phi2", "psi1", "psi2", "s1", "s2", "s3"],
        kinetic=kinetic,
        potential=potential,
        parameters={
            "m0": 5,
            "m1": 5,
            "m2": 10,
            "l0": 0.5,
            "l1": 1,
            "l2": 1,
            "a": "15*deg",
            "g": 9.8,
            "A": amplitude,
            "k": 1,
            "delta": delta,
            "a0": 1,
        },
        constraint=[
            {"name": "f1", "equation": "s1^2 + s2^2 + s3^2 = a0^2"},
            {"name": "f2", "equation": "(psi1 - pi/3)^2 + (psi2 - 2*pi/3)^2 = delta^2"},
            {"name": "f3", "equation": "y0 = A*sin(k*x0)"},
            {"name": "f4", "equation": "y0' = x0'*tan(phi0)"},
        ],
        initial={
            **dict.fromkeys(("phi0", "phi1", "phi2"), math.atan(amplitude)),
            "psi1": math.pi / 3,
            "psi2": 2 * math.pi / 3 - delta,
            "s1": 0.6,
            "s2": 0.64,
            "s3": 0.48,
        },
    )


def sleigh(**initial: float) -> System:
    """The sleigh of Chaplygin on an incline, m = a = J = 1: its mass matrix is singular."""
    return System(
        name="sleigh",
        coordinates=["x", "y", "phi"],
        kinetic="m/2*(x'^2 + y'^2 + 2*a*phi'*(y'*cos(phi) - x'*sin(phi))) + J/2*phi'^2",
        potential="-m*g*x*sin(30*deg)",
        parameters={"m": 1, "a": 1, "J": 1, "g": 9.8},
        constraint=[{"name": "blade", "equation": "y'*cos(phi) = x'*sin(phi)"}],
        initial={"y": 1.0, "phi": math.pi / 3, "phi'": 1.0, **initial},
    )


def points(coordinates: str, *equations: str, kinetic: str = "", initial: dict | None = None) -> System:
    """Unit masses on lines, constraints c1, c2 …"""
    names = coordinates.split()
    return System(
        name="points",
        coordinates=names,
        kinetic=kinetic or "+".join(f"{q}'^2/2" for q in names),
        potential="0",
        constraint=[{"name": f"c{k + 1}", "equation": e} for k, e in enumerate(equations)],
        initial=initial or {},
    )


def test_000_A27_rows_three_and_four_coincide_at_the_published_start() -> None:
    report = examine(derive(ten_coordinates()))
    assert (report.rank, report.constraints) == (3, 4)
    assert report.redundant == ("f3", "f4")
    assert report.contradictory == ()
    assert any("'f4' repeats 'f3' at t = 0" in text and "singular state" in text for text in report.messages)
    assert report.augmented_condition > 1e14
    assert report.singular


def test_000_A27_away_from_the_start_the_rows_are_independent() -> None:
    report = examine(derive(ten_coordinates()), {"x0": 0.1, "y0": 10 * math.sin(0.1)})
    assert report.rank == 4
    assert report.redundant == ()
    assert not report.singular


def test_000_A5_singular_mass_matrix_regular_augmented_matrix() -> None:
    """det M = m²(J - m a²) = 0 and |det [M Gᵀ; G 0]| = J m."""
    report = examine(derive(sleigh()))
    assert report.mass_determinant == pytest.approx(0.0, abs=1e-12)
    assert report.augmented_determinant == pytest.approx(1.0, abs=1e-12)
    assert not report.singular
    assert any("mass matrix is singular" in text for text in report.messages)


def test_C5_repeated_row() -> None:
    report = examine(derive(points("x y", "x = 1", "x = 1", initial={"x": 1})))
    assert report.redundant == ("c1", "c2")
    assert report.dependencies[0].structural
    assert "constraint 'c2' repeats 'c1' at t = 0" in report.messages[0]


@pytest.mark.parametrize("factor", ["-3", "1e-6", "1e7"])
def test_C5_scaled_copy(factor: str) -> None:
    circle, copy = "x^2 + y^2 = 1", f"{factor}*(x^2 + y^2) = {factor}"
    report = examine(derive(points("x y", circle, copy, initial={"x": 0.6, "y": 0.8})))
    assert (report.rank, report.redundant, report.contradictory) == (1, ("c1", "c2"), ())


def test_C5_power_of_an_equation_is_a_copy_also_off_the_constraint() -> None:
    report = examine(derive(points("x y", "x^2 + y^2 = 1", "(x^2 + y^2)^2 = 1", initial={"x": 1.1, "y": 0.3})))
    assert (report.rank, report.contradictory) == (1, ())


def test_redundancy_that_only_holds_on_the_constraints_is_structural() -> None:
    report = examine(derive(points("x y", "y = 0", "y + x*y = 0", initial={"x": 1})))
    assert report.dependencies[0].structural


def test_C5_combination_of_several() -> None:
    report = examine(derive(points("x y z", "x = 1", "y = 2", "z = 0", "x + 3*y = 7", initial={"x": 1, "y": 2})))
    assert report.redundant == ("c1", "c2", "c4")
    assert "'c4' follows from 'c1' and 'c2'" in report.messages[0]


@pytest.mark.parametrize(
    "equations",
    [
        ("x = 1", "x = 2"),
        ("x^2 + y^2 = 1", "x^2 + y^2 = 4"),
        ("x^2 + y^2 = 1", "(x^2 + y^2)^2 = 16"),
        ("x = 1", "x' = 2"),
        ("x = sin(t)", "x = 2*t"),
        ("x = 1", "y = 2", "x + 3*y = 8"),
    ],
)
def test_C5_contradiction(equations: tuple[str, ...]) -> None:
    report = examine(derive(points("x y", *equations, initial={"x": 0.3, "y": 0.4})))
    assert report.contradictory == tuple(f"c{k + 1}" for k in range(len(equations)))
    assert any("contradict each other at t = 0" in text for text in report.messages)


def test_same_constraint_in_position_and_velocity_is_redundant_not_contradictory() -> None:
    report = examine(derive(points("x y", "x^2 + y^2 = 1", "x*x' + y*y' = 0", initial={"x": 1, "y'": 1})))
    assert (report.rank, report.redundant, report.contradictory) == (1, ("c1", "c2"), ())


def test_C5_more_constraints_than_coordinates() -> None:
    report = examine(derive(points("x y", "x = 1", "y = 0", "x + y = 1", initial={"x": 1})))
    assert report.rank == 2
    assert any("3 constraints for 2 coordinates" in text for text in report.messages)
    assert any("no freedom" in text for text in report.messages)


def test_C5_singular_start_where_a_gradient_vanishes() -> None:
    report = examine(derive(points("x y", "x^2 + y^2 = 1")))
    assert (report.rank, report.redundant) == (0, ("c1",))
    assert "gradient of constraint 'c1' vanishes at t = 0, but not nearby" in report.messages[0]


def test_gradient_of_rounding_is_no_gradient() -> None:
    """At ψ = π/2 written in two ways the gradient of (ψ - π/2)² is 4e-16, not zero."""
    model = points("u v", "(u - pi/2)^2 + v^2 = 0.01", initial={"u": math.pi / 2 * (1 + 2e-16)})
    assert examine(derive(model)).rank == 0


def test_motion_without_inertia_is_named() -> None:
    report = examine(derive(points("x y z", "x = 1", kinetic="x'^2/2 + (y' - z')^2/2", initial={"x": 1})))
    assert report.rank == 1
    assert report.weightless == ("y", "z")
    assert any("'y', 'z'" in text and "no inertia" in text for text in report.messages)
    many = " ".join(f"y{k}" for k in range(60))
    kinetic = "x'^2/2 + " + " + ".join(f"(y{k}' - y{k + 1}')^2" for k in range(59))
    told = examine(derive(points(f"x {many}", "x = 1", kinetic=kinetic, initial={"x": 1}))).messages
    assert any("'y0', " in text and "'y11' and 48 more" in text for text in told)


def test_no_constraints() -> None:
    report = examine(with_multipliers(points("x y")))
    assert (report.rank, report.messages, report.augmented_determinant) == (0, (), 1.0)


def test_outside_the_domain_is_said() -> None:
    report = examine(derive(points("x y", "sqrt(x) = 1", initial={"x": -1})))
    assert "not defined" in report.messages[0]


@pytest.mark.parametrize("unit", [1.0, 100.0, 1e-4, 1e5])
def test_C6_verdicts_do_not_depend_on_units(unit: float) -> None:
    """x in metres or in other units, u in radians or degrees: x = X/unit, u = U/(180/pi)."""
    model = System(
        name="crank",
        coordinates=["x", "y", "u"],
        kinetic="m/2*((x'/s)^2 + (y'/s)^2) + J/2*(u'/d)^2",
        potential="0",
        parameters={"m": 3, "J": 0.2, "s": unit, "d": 180 / math.pi},
        constraint=[
            {"name": "a", "equation": "x/s = cos(u/d)"},
            {"name": "b", "equation": "1e3*y/s = 1e3*sin(u/d)"},
            {"name": "c", "equation": "(x/s)^2 + (y/s)^2 = 1"},
        ],
        initial={"x": unit * math.cos(0.4), "y": unit * math.sin(0.4), "u": 0.4 * 180 / math.pi},
    )
    report = examine(derive(model))
    assert (report.rank, report.redundant, report.contradictory) == (2, ("a", "b", "c"), ())
    assert report.dependencies[0].structural
    regular = examine(with_multipliers(model, model.constraints[:2]))
    expected = np.linalg.svd(_scaled_crank(), compute_uv=False)
    assert regular.augmented_condition == pytest.approx(expected[0] / expected[-1], rel=1e-9)


def _scaled_crank() -> np.ndarray:
    """The augmented matrix of the crank with coordinates √m x, √m y, √J u and unit rows."""
    s, c = math.sin(0.4), math.cos(0.4)
    g = np.array([[1 / math.sqrt(3), 0, s / math.sqrt(0.2)], [0, 1 / math.sqrt(3), -c / math.sqrt(0.2)]])
    g /= np.linalg.norm(g, axis=1)[:, None]
    return np.block([[np.eye(3), g.T], [g, np.zeros((2, 2))]])


EXTREME = [1e-290, 1e-155, 1e-20, 1e20, 1e155, 1e290]


@pytest.mark.parametrize("size", EXTREME)
def test_N1_2_5_ranks_do_not_depend_on_how_large_masses_are(size) -> None:
    """Masses and forces by a common factor change nothing about the constraints; the run has a motion or a status."""
    for name in ("pendulum-xy", "rolling-disc", "slider-crank"):
        plain = load(name)
        masses = [key for key in plain.parameters if key.startswith("m")]
        heavy = plain.with_settings({key: size * plain.parameters[key] for key in masses})
        found, expected = examine(heavy.derive()), examine(plain.derive())
        assert (found.rank, found.singular, found.weightless) == (expected.rank, expected.singular, expected.weightless)
        assert found.augmented_condition == pytest.approx(expected.augmented_condition, rel=1e-9)


@pytest.mark.parametrize("ratio", EXTREME)
def test_N1_2_5_masses_that_differ_beyond_all_bounds_end_with_an_answer(ratio) -> None:
    """Two points on a rod, the second of another mass: the motion of any size of ratio is regular."""
    system = System(
        name="dumbbell",
        coordinates=["x", "y"],
        kinetic="(x'^2 + m*y'^2)/2",
        parameters={"m": ratio},
        constraint=[{"name": "rod", "equation": "x + y = 1"}],
        initial={"x": 1},
    )
    report = examine(system.derive())
    assert report.rank == 1
    assert report.full
    motion = simulate(system, until=0.1, method="rk4", step=0.01)
    assert motion.finished or motion.reason


def test_N1_2_5_negative_inertia_is_not_called_dependence(svyaz) -> None:
    for mass in ("-1", "-1e160", "-1e299"):
        answer = svyaz("check", "pendulum-xy", "--set", f"m={mass}")
        assert "depend" not in answer.stdout + answer.stderr
        assert "internal error" not in answer.stderr
