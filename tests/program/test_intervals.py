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
