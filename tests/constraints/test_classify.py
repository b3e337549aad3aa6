"""Holonomic or not, with integrals; expectations are from theorems on the forms, worked by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import symengine as se

from svyaz import System, load
from svyaz.constraints import Classification, classify, frobenius
from svyaz.constraints.potentials import potential, vanishes
from svyaz.constraints.weighing import weighed
from svyaz.dynamics import magnitude
from svyaz.expr import evaluate, gradient
from svyaz.integrate import budget
from svyaz.show import as_json


def system(coordinates: str, *equations: str, parameters: dict | None = None, initial: dict | None = None) -> System:
    names = coordinates.split()
    return System(
        name="test",
        coordinates=names,
        kinetic="+".join(f"{q}'^2/2" for q in names),
        potential="0",
        parameters=parameters or {},
        constraint=[{"name": f"c{k + 1}", "equation": e} for k, e in enumerate(equations)],
        initial=initial or {},
    )


def kinds(found: tuple[Classification, ...]) -> list[str]:
    return [c.kind for c in found]


def test_000_A32_blade_is_nonholonomic() -> None:
    (blade,) = classify(system("x y phi", "y'*cos(phi) - x'*sin(phi) = 0"))
    assert blade.kind == "nonholonomic"
    assert not blade.row_wise
    assert blade.linear
    assert not blade.time_dependent
    assert blade.integral is None


def test_000_A33_product_is_holonomic_with_its_potential() -> None:
    (c,) = classify(system("x y", "x'*y + x*y' = 0"))
    assert c.kind == "holonomic"
    assert str(c.integral) == "x*y"
    assert as_json(c)["integral"] == "x*y"


def test_pair_is_holonomic_though_its_first_row_is_not_alone() -> None:
    first, second = classify(system("x y z", "z' - y*x' = 0", "x' = 0"))
    assert kinds((first, second)) == ["holonomic", "holonomic"]
    assert (first.row_wise, second.row_wise) == (False, True)
    assert (str(first.integral), str(second.integral)) == ("z", "x")
    (alone,) = classify(system("x y z", "z' - y*x' = 0"))
    assert alone.kind == "nonholonomic"


def test_integrable_on_what_a_position_constraint_leaves_is_a_remark() -> None:
    row, position = classify(system("x y z", "z' - y*x' = 0", "x = 1"))
    assert kinds((row, position)) == ["nonholonomic", "holonomic"]
    assert "integrable on what the position constraints leave (to z = constant)" in row.remark
    assert position.order == 0
    assert position.integral is None


def test_the_remark_is_about_points_on_the_position_constraints() -> None:
    """On z = 0 the form dy - wz dx is dy; off that surface it is not integrable even together with dz."""
    row, _ = classify(system("x y z w", "y' - w*z*x' = 0", "z = 0"))
    assert row.kind == "nonholonomic"
    assert "integrable on what the position constraints leave" in row.remark
    other, _ = classify(system("x y z w", "y' - w*x' = 0", "z = 0"))
    assert other.remark == ""


def test_blade_on_a_rail_stays_a_blade() -> None:
    blade, _ = classify(system("x y u", "x'*sin(u) = y'*cos(u)", "tan(u) = cos(x)", initial={"u": 0.7}))
    assert blade.kind == "nonholonomic"
    assert "integrable on what the position constraints leave" in blade.remark


def test_engel_flag_first_derived_system_is_not_enough() -> None:
    """dy - y₁dx lies in the first derived system of {dy - y₁dx, dy₁ - y₂dx}, yet nothing in it is integrable."""
    assert kinds(classify(system("x y y1 y2", "y' = y1*x'", "y1' = y2*x'"))) == ["nonholonomic", "nonholonomic"]


def test_wheels_have_one_integrable_combination() -> None:
    rolling = "x'*cos(u) + y'*sin(u) {} b*u' + a*{}' = 0"
    found = classify(
        system(
            "x y u f1 f2",
            rolling.format("+", "f1"),
            rolling.format("-", "f2"),
            "x'*sin(u) - y'*cos(u) = 0",
            parameters={"a": 0.3, "b": 0.7},
        )
    )
    assert set(kinds(found)) == {"nonholonomic"}
    assert "one independent combination" in found[0].remark
    assert "'c1' - 'c2' integrates to a*f1 - a*f2 + 2*b*u" in found[0].remark


def test_holonomic_row_among_nonholonomic_ones() -> None:
    found = classify(system("x y phi w", "y'*cos(phi) = x'*sin(phi)", "w' = 2*phi'"))
    assert kinds(found) == ["nonholonomic", "holonomic"]
    assert vanishes(found[1].integral - se.sympify("w - 2*phi"))


def test_two_coordinates_always_integrate_one_row_without_time() -> None:
    (c,) = classify(system("x y", "x*y' = (y + x^2)*x'"))
    assert c.kind == "holonomic"
    x, y = se.symbols("x y")
    gx, gy = gradient(c.integral, [x, y])
    assert vanishes(gx * x + gy * (y + x**2))


def test_time_makes_the_same_row_nonholonomic() -> None:
    (c,) = classify(system("x y", "x' = y*t"))
    assert (c.kind, c.time_dependent) == ("nonholonomic", True)
    (d,) = classify(system("x y", "x'*(y + t) + x*(y' + 1) = 0"))
    assert (d.kind, d.time_dependent) == ("holonomic", True)
    assert vanishes(d.integral - se.sympify("x*(y + t)"))


def test_constant_speed_integrates_to_a_moving_position() -> None:
    (c,) = classify(system("x y", "x' = 3"))
    assert (c.kind, c.time_dependent, str(c.integral)) == ("holonomic", True, "-3*t + x")


def test_rheonomic_position() -> None:
    (c,) = classify(system("x y", "y = sin(t)"))
    assert (c.kind, c.time_dependent, c.order) == ("holonomic", True, 0)


def test_nonlinear_in_velocities_is_read_by_chetaev() -> None:
    (c,) = classify(system("x y", "x'^2 + y'^2 = 1"))
    assert (c.kind, c.linear) == ("nonholonomic", False)
    assert "Chetaev" in c.remark


def test_apparent_nonlinearity_is_linear() -> None:
    (c,) = classify(system("x y z", "(x' + y')^2 - x'^2 - 2*x'*y' - y'^2 + z' = 0"))
    assert (c.kind, c.linear, str(c.integral)) == ("holonomic", True, "z")


def test_repeated_rows_do_not_hide_a_blade() -> None:
    """A wedge product over dependent rows vanishes for the wrong reason."""
    blade = "y'*cos(phi) = x'*sin(phi)"
    assert kinds(classify(system("x y phi", blade, "2*" + blade.replace("= ", "= 2*")))) == ["nonholonomic"] * 2


def test_cancellation_does_not_make_a_closed_form_open() -> None:
    """d of the form vanishes only through sin² + cos² = 1, which multiplying out does not show."""
    (c,) = classify(system("x y", "(sin(x - y)^2 + cos(x - y)^2)*(x' + y') = 0"))
    assert c.kind == "holonomic"


@pytest.mark.parametrize("unit", [1.0, 1e-3, 180 / 3.141592653589793, 1e5])
@pytest.mark.parametrize(
    ("equations", "expected"),
    [
        (["y'*cos(phi*k) - x'*sin(phi*k) = 0"], ["nonholonomic"]),
        (["1e4*(z' - y*x') = 0", "1e-4*x' = 0"], ["holonomic", "holonomic"]),
        (["z'*w = y*x'*s", "phi'*k*s = x'"], ["nonholonomic", "holonomic"]),
    ],
)
def test_C6_units_do_not_change_the_kind(unit: float, equations: list[str], expected: list[str]) -> None:
    model = system("x y z phi", *equations, parameters={"k": 1 / unit, "s": unit, "w": unit**2})
    assert kinds(classify(model)) == expected


POTENTIALS = [
    "x*y",
    "l*sin(x - y) + y^2",
    "sqrt(x^2 + y^2) - z",
    "exp(k*x)*y",
    "x*cos(k*y)^2",
    "y/x",
    "tan(x)*y",
    "log(x^2 + y^2)",
    "x^2*sin(x)*y",
    "sin(x^2*y)",
    "sin(x)*cos(y)*sin(x + y)",
    "x^3*exp(-x)*y + z*t",
]


@pytest.mark.parametrize("text", POTENTIALS)
def test_potential_differs_from_the_original_by_a_constant(text: str) -> None:
    p = se.sympify(text.replace("^", "**"))
    variables = se.symbols("x y z t")
    found = potential([se.expand(a) for a in gradient(p, variables)], variables)
    assert found is not None
    assert all(vanishes(a) for a in gradient(found - p, variables))


def test_no_potential_is_returned_for_a_form_that_is_not_closed() -> None:
    x, y = se.symbols("x y")
    assert potential([y, -x], [x, y]) is None
    assert potential([y, 2 * x], [x, y]) is None


def test_N1_2_6_sizes_of_shared_expressions_are_looked_at_once() -> None:
    """The tree of this expression has 3⁶⁰ leaves, its graph 180 nodes."""
    e = se.Symbol("x")
    exact = size = 0.3
    for _ in range(60):
        e = (se.sin(e) * e + e) / 2
        exact, size = (math.sin(exact) * exact + exact) / 2, (size + size) / 2
    values, sizes = weighed([e, e + 1], {"x": np.array([0.3, 0.3])})
    assert values == pytest.approx(np.array([[exact, exact + 1]] * 2), rel=1e-12)
    assert sizes == pytest.approx(np.array([[size, size + 1]] * 2), rel=1e-12)
    assert evaluate(magnitude(e), {"x": 0.3}) == pytest.approx(size, rel=1e-12)


def test_N1_2_6_bicycle_is_classified_in_seconds(case) -> None:
    """Whipple's bicycle: the wheels roll and the blades are nonholonomic (Meijaard and others 2007)."""
    found = {c.name: c for c in classify(load(case("bicycle")))}
    assert found["front height"].kind == "holonomic"
    assert {c.kind for name, c in found.items() if name != "front height"} == {"nonholonomic"}


def test_N1_2_6_brackets_that_were_cut_are_not_decided(monkeypatch) -> None:
    """Engel's structure: brackets of brackets fill all space, so that no row is integrable, though the joint test of the
    second row alone does not show it. Cut before them, the second row is called open, not decided."""
    engel = system("x y z w", "z' - w*x' = 0", "y' - z*x' = 0")
    assert kinds(classify(engel)) == ["nonholonomic", "nonholonomic"]
    ticks = itertools.count()
    for room in (budget, frobenius):
        monkeypatch.setattr(room, "clock", lambda: 100.0 * next(ticks))
    first, second = classify(engel)
    assert "is open: the brackets of fields were cut after" in second.remark
    assert first.kind == second.kind == "nonholonomic"
    assert "is open" not in first.remark


@pytest.mark.parametrize(
    ("kind", "equations"),
    [
        ("nonholonomic", ["wz = 0"]),
        ("nonholonomic", ["vy = 0"]),
        ("nonholonomic", ["wz = 0.5*x'"]),
        ("holonomic", ["wx = 0", "wy = 0", "wz = 0"]),
        ("holonomic", ["vx = 0", "vy = 0", "vz = 0"]),
        ("holonomic", ["hook_z' = 0.3"]),
    ],
)
def test_N1_2_constraints_on_velocities_of_a_free_joint_are_classified(kind: str, equations: list[str]) -> None:
    """A blade in space slides where it will; a body that does not turn, or a hook that keeps its height, is a position."""
    hull = {"name": "hull", "base": "ground", "joint": "free", "coordinates": ["x", "y", "z", "e0", "e1", "e2", "e3"]}
    hull |= {"pole": [0, 0, 0], "mass": 2, "center": [0, 0, 0], "inertia": {"xx": 0.3, "yy": 0.4, "zz": 0.5}}
    model = System(
        body=[hull],
        point=[{"name": "hook", "body": "hull", "at": [0.5, 0.2, -0.1]}],
        constraint=[{"name": f"c{k}", "equation": e} for k, e in enumerate(equations)],
    )
    assert set(kinds(classify(model))) == {kind}


COIN = ("x' = R*ps'*cos(th)", "y' = R*ps'*sin(th)", "x^2/4 + y^2 = 1")


def coin(th: float) -> System:
    return system("x y th ps", *COIN, parameters={"R": 0.2}, initial={"x": 2, "th": th})


def test_V1_an_integral_is_not_claimed_where_the_constraints_lose_rank() -> None:
    """A coin that rolls along an ellipse: ps stops wherever it does not roll along the tangent, and only there."""
    claim = "integrable on what the position constraints leave (to ps = constant)"
    caveat = f"{claim} where the constraints are independent; at the start they are not, and ps may change there"
    assert [c.remark for c in classify(coin(1.0))] == [claim, claim, ""]
    assert [c.remark for c in classify(coin(math.pi / 2))] == [caveat, caveat, ""]


RANKS = [
    ("x z", ["x*z' = 0"], {"x": 0}, False),
    ("x z", ["x*z' = 0"], {"x": 1}, True),
    ("x y z", ["y' = x*z'", "y' = 0"], {"x": 0}, False),
    ("x y z", ["y' = x*z'", "y' = 0"], {"x": 2}, True),
    ("x y z", ["y' = sin(x)*z'", "y' = 0"], {"x": math.pi}, False),
    ("x y", ["x*y' + y*x' = 0"], {}, True),
    ("x y z", ["z' - y*x' = 0", "(x - 1)*x' = 0"], {"x": 1, "y": 1}, False),
    ("x y z", ["z' - y*x' = 0", "x' = 0"], {"x": 1}, True),
]


@pytest.mark.parametrize(("names", "equations", "initial", "everywhere"), RANKS)
def test_V1_integrals_are_constant_for_every_velocity_that_the_start_allows(
    names, equations, initial, everywhere
) -> None:
    """dP·v = 0 for all v in the null space of the constraints at the start; where it is not, P is not called an integral."""
    made = system(names, *equations, initial=initial)
    found = classify(made)
    speeds = [se.Symbol(f"{q}'") for q in made.coordinates]
    q = {name: float(made.initial.get(name, 0)) for name in made.coordinates}
    matrix = np.array([[evaluate(a, q) for a in gradient(c.expression, speeds)] for c in made.constraints])
    _, singular, right = np.linalg.svd(matrix)
    allowed = right[int(np.sum(singular > 1e-12)) :]
    for c in found:
        if c.integral is not None:
            slope = np.array([evaluate(a, q) for a in gradient(c.integral, [se.Symbol(x) for x in made.coordinates])])
            np.testing.assert_allclose(allowed @ slope, 0, atol=1e-12)
    assert kinds(found) == ["holonomic"] * len(found)
    assert all(c.integral is not None for c in found) == everywhere
    assert any("may change there" in c.remark for c in found) != everywhere
