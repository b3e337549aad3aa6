"""Intervals contain the ranges of functions, and shrink to their values."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import System
from svyaz.program.building import build
from svyaz.program.interpret import evaluate
from svyaz.program.intervals import ranges

TEXTS = [
    "x*y - y^2 + 2", "x/(y + 3)", "sin(x)*cos(y) + sin(x - 2*y)", "tan(x/4) + atan(x*y)", "sqrt(x^2 + 1) - abs(y)",
    "exp(x/3)*cosh(y/2) + sinh(x/5)", "log(x^2 + 0.5) + tanh(y)", "min(x, y) + max(x, 2*y)", "asin(x/9) + acos(y/9)",
    "(x^2 + y^2 + 1)^(1/3)", "x^3 - 3*x*y^4", "a*cos(x) + 1/(2 + cos(y))",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_values_at_random_points_lie_within_the_bounds_of_their_boxes(text: str) -> None:
    system = System(coordinates=["x", "y"], kinetic="a*(x'^2 + y'^2)", potential=text, parameters={"a": 1.7})
    program = build([("f", system.potential)], inputs=("x", "y"), parameters=("a",))
    random = np.random.default_rng(5)
    centers, radii = random.uniform(-3, 3, (40, 2)), random.uniform(0, 1.5, (40, 2))
    low, high = ranges(program, {"a": 1.7}, centers - radii, centers + radii)
    for k in range(40):
        for _ in range(25):
            point = centers[k] + radii[k] * random.uniform(-1, 1, 2)
            value = evaluate(program, {"a": 1.7}, point)["f"]
            assert low[k, 0] <= value <= high[k, 0]
    tight_low, tight_high = ranges(program, {"a": 1.7}, centers, centers)
    assert np.all(tight_high - tight_low <= 1e-11 * (1 + np.abs(tight_low)))


def test_division_by_an_interval_around_zero_is_unbounded() -> None:
    program = build(
        [("f", System(coordinates=["x"], kinetic="x'^2", potential="1/x").potential)], inputs=("x",), parameters=()
    )
    low, high = ranges(program, {}, np.array([[-1.0], [1.0]]), np.array([[1.0], [2.0]]))
    assert (low[0, 0], high[0, 0]) == (-np.inf, np.inf)
    assert low[1, 0] == pytest.approx(0.5)
    assert high[1, 0] == pytest.approx(1.0)


def test_N3_sums_that_cancel_are_rounded_by_their_terms() -> None:
    """Σ a_j y_j of terms 10⁶ times larger than the sum, against exact fractions."""
    from fractions import Fraction

    from svyaz.stability.interval_matrices import number_times, times_vector

    random = np.random.default_rng(1)
    for _ in range(200):
        a, y = random.normal(size=7), random.normal(size=7)
        a[-1] = -(a[:-1] @ y[:-1]) / y[-1] + 1e-6 * random.normal()
        exact = sum(Fraction(float(p)) * Fraction(float(q)) for p, q in zip(a, y, strict=True))
        for low, high in (
            times_vector((a[None, None, :], a[None, None, :]), (y[None, :], y[None, :])),
            number_times(a[None, None, :], (y[None, :], y[None, :])),
        ):
            assert Fraction(float(low.item())) <= exact <= Fraction(float(high.item()))


ONE_ARGUMENT = {
    "sin": (-20, 20), "cos": (-20, 20), "tan": (-9, 9), "asin": (-1, 1), "acos": (-1, 1), "atan": (-30, 30), "sinh": (-20, 20),
    "cosh": (-20, 20), "tanh": (-5, 5), "exp": (-40, 40), "log": (1e-6, 50), "sqrt": (0, 50), "abs": (-5, 5), "sign": (-2, 2),
    "x^2": (-5, 5), "x^3": (-5, 5), "x^7": (-3, 3), "x^(-1)": (0.01, 5), "x^(-2)": (0.01, 5), "x^(-3)": (-5, -0.01),
    "x^0.3": (0, 9), "x^(-1.7)": (0.01, 9), "x^2.5": (0, 9),
}  # fmt: skip
TWO_ARGUMENTS = {"x*y": (-3, 3), "x/y": (0.1, 3), "min(x, y)": (-3, 3), "max(x, y)": (-3, 3), "x^y": (0.1, 3)}
TURNING = [k * np.pi / 2 for k in range(-14, 15)]
"""Where sines, cosines and even functions turn: the extremes inside of intervals."""


def bounds_of(text: str, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray, object]:
    """Bounds (N,) over boxes (N, 2), and the expression in mpmath's words."""
    import mpmath

    names = {
        name: getattr(mpmath, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh")
    }
    names |= {name: getattr(mpmath, name) for name in ("tanh", "exp", "log", "sqrt", "sign")}
    names |= {"abs": abs, "min": min, "max": max}
    system = System(coordinates=["x", "y"], kinetic="x'^2 + y'^2", potential=text)
    least, most = ranges(build([("f", system.potential)], inputs=("x", "y"), parameters=()), {}, low, high)
    exact = eval(f"lambda x, y: {text.replace('^', '**')}", names)
    return least[:, 0], most[:, 0], exact


def samples_of(low: np.ndarray, high: np.ndarray, random: np.random.Generator) -> list[tuple[float, float]]:
    """Corners of a box, places where functions turn, and points between."""
    sides = []
    for a, b in zip(low, high, strict=True):
        inside = [x for x in TURNING if a <= x <= b]
        sides.append([a, b, *inside, *np.clip(a + (b - a) * random.uniform(size=2), a, b)])
    return [(float(x), float(y)) for x in sides[0] for y in sides[1]]


@pytest.mark.parametrize("text", [*ONE_ARGUMENT, *TWO_ARGUMENTS, "atan2(x, y)"])
def test_V1_bounds_of_every_function_are_right_and_tight(text: str) -> None:
    """Random intervals of all widths: they contain the exact values (mpmath, 40 digits), and exceed these by rounding alone."""
    import mpmath

    random = np.random.default_rng(11)
    count = 60 if text in ONE_ARGUMENT else 30
    least, most = {**ONE_ARGUMENT, **TWO_ARGUMENTS}.get(text, (-3, 3))
    ends = random.uniform(least, most, (count, 2))
    width = (most - least) * 10.0 ** random.uniform(-9, 0, (count, 2))
    low, high = np.clip(ends - width / 2, least, most), np.clip(ends + width / 2, least, most)
    if text in ONE_ARGUMENT:
        low[:, 1] = high[:, 1] = 0.0
    text = text if "x" in text and text != "exp" else f"{text}(x)"
    lower, upper, exact = bounds_of(text, low, high)
    with mpmath.workdps(40):
        for k in range(count):
            points = samples_of(low[k], high[k], random)
            if text == "tan(x)" and (high[k, 0] - low[k, 0] >= np.pi or np.cos(low[k, 0]) * np.cos(high[k, 0]) <= 0):
                assert (lower[k], upper[k]) == (-np.inf, np.inf)
                continue
            if text == "atan2(x, y)" and low[k, 0] <= 0 <= high[k, 0] and low[k, 1] <= 0:
                assert lower[k] <= -np.pi
                assert upper[k] >= np.pi
                continue
            values = [exact(mpmath.mpf(x), mpmath.mpf(y)) for x, y in points]
            assert lower[k] <= min(values), text
            assert max(values) <= upper[k], text
            room = 24 * np.spacing(np.abs([float(v) for v in values]).max() + 1e-290)
            assert lower[k] >= float(min(values)) - room, text
            assert upper[k] <= float(max(values)) + room, text


def test_V1_each_side_of_a_pole_or_a_cut_has_bounds_of_its_own() -> None:
    """1/x beside 0, tan x beside π/2, atan2(x, -1) beside its cut: two branches, each tight, together all values."""
    from svyaz.program import ranges_by_branches

    cases = [
        ("1/x", -1.0, 2.0, {(-np.inf, -1.0), (0.5, np.inf)}),
        ("1/x^2", -1.0, 2.0, {(0.25, np.inf)}),
        ("x^(-3)", -1.0, 2.0, {(-np.inf, -1.0), (0.125, np.inf)}),
        ("tan(x)", 1.0, 2.0, {(np.tan(1.0), np.inf), (-np.inf, np.tan(2.0))}),
        ("atan2(x, -1)", -1.0, 1.0, {(0.75 * np.pi, np.pi), (-np.pi, -0.75 * np.pi)}),
    ]
    for text, low, high, expected in cases:
        potential = System(coordinates=["x"], kinetic="x'^2", potential=text).potential
        program = build([("f", potential)], inputs=("x",), parameters=())
        found = list(ranges_by_branches(program, {}, np.array([[low]]), np.array([[high]]), 1))
        for a, b in expected:
            assert any((lo[0, 0], hi[0, 0]) == pytest.approx((a, b), rel=1e-14) for lo, hi in found), text
        assert len(found) == len(expected), text


def test_V1_what_has_no_bound_never_gets_one() -> None:
    """e^(1000 x) - e^(1000 x) is of the kind ∞ - ∞: functions of it may not invent bounds."""
    for outer in ("abs({})", "min({}, 3)", "max({}, -3)", "({})^2", "({})*(2 + y)", "sqrt(({})^2)", "1/(1 + ({})^2)"):
        potential = System(
            coordinates=["x", "y"], kinetic="x'^2 + y'^2", potential=outer.format("exp(1000*x) - 2*exp(999*x + y)")
        ).potential
        program = build([("f", potential)], inputs=("x", "y"), parameters=())
        low, high = ranges(program, {}, np.array([[-1.0, -1.0]]), np.array([[1.0, 1.0]]))
        for x, y in np.random.default_rng(2).uniform(-0.3, 0.3, (40, 2)):
            value = evaluate(program, {}, np.array([x, y]))["f"]
            assert low[0, 0] <= value <= high[0, 0], outer
