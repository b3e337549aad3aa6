"""Sides of surfaces in expressions that share long parts."""

from __future__ import annotations

import numpy as np
import pytest
import symengine as se

from svyaz.expr import Scope, evaluate, interpolate, jumping_parts, parse, put_in, split

LEVELS = 60
"""As a tree such an expression has 2^60 leaves."""


def shared() -> list[se.Basic]:
    """Two sums whose long terms are one and the same object."""
    x, v = se.symbols("x v")
    long = x
    for k in range(LEVELS):
        long = se.sin(long) + (k + 2) * se.cos(long)
    return [long * v, long * x - 3 * se.sign(v)]


def test_L4_jumps_beside_long_shared_parts_are_split_off_at_once() -> None:
    """Parts without a jump stay what they are: made anew, they would be compared with the old ones part by part."""
    found, surfaces = split(shared(), {"x", "v"})
    side, v = surfaces[0].side, se.Symbol("v")
    assert [s.expression for s in surfaces] == [v]
    assert found[1] == found[0] / v * se.Symbol("x") - 3 * side
    assert jumping_parts(found) == []


def test_outer_parts_are_replaced_before_inner_ones() -> None:
    x, y, z = se.symbols("x y z")
    assert put_in(se.sin(x) ** 2 + x, {se.sin(x): y, x: z}) == y**2 + z
    assert put_in(se.sin(x), {y: z}) == se.sin(x)


SCOPE = Scope(symbols={name: se.Symbol(name) for name in ("x", "v")})
LAWS = [
    "-sign(v)*(0.3 + 0.2*exp(-abs(v)/0.002))",
    "-0.3*sign(v) - 0.2*sign(v)*abs(v)^1.5",
    "-sign(v)*log(1 + abs(v)) - sign(v)",
    "-v/abs(v)*exp(-abs(v)^0.5)",
    "-v/sqrt(v^2)*sqrt(0.1 + abs(v))",
    "-v*abs(v)^-0.5 - sign(-2*v)",
    "-exp(2*sign(v)*x) - atan2(sign(v), 2)",
    "-max(sign(v), x - 1) - min(abs(v), 0.2)*sign(v - x)",
    "-sign(v)*sign(x - v)*exp(-v*sign(v)/0.002)",
    "-sign(3*v - 3*x)*abs(x - v)^0.3 + sign(x - v) - sign(v)",
]


@pytest.mark.parametrize("law", LAWS)
def test_V1_the_side_of_a_jump_is_selected(law: str) -> None:
    """On the side on which a state lies the split expression has its own value, wherever the other side would lead."""
    whole = parse(law, SCOPE)
    (found,), surfaces = split([whole], {"x", "v"})
    assert surfaces
    for v, x in [(2.0, 0.5), (-2.0, 0.5), (1e-7, -0.3), (-1e-7, 3.0), (40.0, -1.0), (-40.0, 1.0)]:
        values = {"x": x, "v": v}
        sides = {str(s.side): float(np.sign(evaluate(s.expression, values))) for s in surfaces}
        assert evaluate(found, values | sides) == pytest.approx(evaluate(whole, values), rel=1e-12)


@pytest.mark.parametrize("law", LAWS)
def test_V1_on_the_surface_values_lie_on_the_chord_of_both_limits(law: str) -> None:
    """Filippov's convex combination of the limits from both sides, each taken at states ever nearer to the surface."""
    whole = parse(law, SCOPE)
    (found,), surfaces = split([whole], {"x", "v"})
    side = next(s.side for s in surfaces if s.expression in (se.Symbol("v"), -se.Symbol("v")))
    chord, x = interpolate(found, side), 0.7
    other = {str(s.side): float(np.sign(evaluate(s.expression, {"x": x, "v": 0.0}))) for s in surfaces}
    above, below = (evaluate(whole, {"x": x, "v": v}) for v in (1e-24, -1e-24))
    for sigma in (-1.0, -0.3, 0.0, 0.8, 1.0):
        expected = (above + below) / 2 + sigma * (above - below) / 2
        there = evaluate(chord, {"x": x, "v": 0.0} | other | {str(side): sigma})
        assert there == pytest.approx(expected, rel=1e-6, abs=1e-6)
