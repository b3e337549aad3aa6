"""Sides of surfaces in expressions that share long parts."""

from __future__ import annotations

import symengine as se

from svyaz.expr import jumping_parts, put_in, split

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
