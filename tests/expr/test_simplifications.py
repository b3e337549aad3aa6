"""Simplifications as expressions are read, against plain NumPy on the text as written."""

from __future__ import annotations

import numpy as np
import pytest
import symengine as se

from svyaz.expr import ModelError, Scope, parse
from svyaz.program import function

NUMPY = {
    **{
        name: getattr(np, name)
        for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "abs", "sign")
    },
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "min": np.minimum,
    "max": np.maximum,
}
ONE = [name for name in NUMPY if name not in ("atan2", "min", "max")]
POINTS = np.array([-7.0, -2.0, -np.pi, -1.5, -1.0, -0.5, -1e-9, 0.0, 1e-9, 0.5, 1.0, 1.5, 2.0, np.pi, 7.0])
INNER = ["x", *(f"{name}(x)" for name in ONE), "x^2", "x^3", "x^0.5", "x^(-1)", "x^1.5", "1/x", "-x", "2*x", "x + 1"]
EXTENDED = (
    ["sin(asin(x))", "cos(acos(x))", "sin(-asin(x))", "cos(-acos(x))"]
    + [f"({a})^2" for a in INNER if "sqrt" in a or a in ("x^0.5", "x^1.5")]
    + [f"sqrt({a})*sqrt({b})" for a, b in [(a, a) for a in INNER] + [("x^(-1)", "x"), ("1/x", "x"), ("2*x", "x")]]
    + [form.format(a=a) for a in INNER for form in ("({a})/({a})", "({a}) - ({a})", "0*({a})")]
)
"""What the reference of expressions says to have a value where the text as written has none."""


def texts() -> list[str]:
    found = [f"{f}({sign}{g}(x))" for f in ONE for g in ONE for sign in ("", "-")] + EXTENDED
    found += [
        form.format(a=a) for a in INNER for form in ("({a})^2", "({a})^0.5", "({a})^(-1)", "({a})^0", "log(({a})^2)")
    ]
    found += [f"{f}({a}, {b})" for f in ("atan2", "min", "max") for a in INNER for b in ("x", "-x", "2*x", "x^2", "1")]
    return list(dict.fromkeys(found))


def test_simplifications_change_no_value_and_extend_known_domains_alone() -> None:
    """Every function, every pair and the usual products: where the text has a value it is that, where it has none, none."""
    scope = Scope(symbols={"x": se.Symbol("x")}, derivatives={}, forbidden={})
    readable = {}
    for text in texts():
        try:
            readable[text] = parse(text, scope)
        except ModelError:
            continue  # without a value for any x
    assert len(readable) > 700
    values = function(readable, ("x",), {})(POINTS[:, None])
    changed, extended = [], []
    for text in readable:
        with np.errstate(all="ignore"):
            plain = np.broadcast_to(eval(text.replace("^", "**"), {**NUMPY, "x": POINTS}), POINTS.shape)
        found, has = values[text], np.isfinite(plain)
        if text.startswith("atan2"):
            has = has & (POINTS != 0)  # undefined where both arguments vanish
        if not np.allclose(found[has], plain[has], rtol=1e-9, atol=1e-12):
            changed.append(text)
        if np.isfinite(found[~np.isfinite(plain)]).any():
            extended.append(text)
    assert changed == []
    assert [text for text in extended if text not in EXTENDED] == []


@pytest.mark.parametrize("text", ["atan2(x, x)", "atan2(x, -x)", "atan2(-x, 2*x)", "atan2(x^2, x^2)", "atan2(2*x, x)"])
def test_atan2_of_proportional_arguments_is_undefined_where_they_vanish(text) -> None:
    """atan2(u, u) at 0 is not a number; elsewhere it is that of NumPy."""
    formula = parse(text, Scope(symbols={"x": se.Symbol("x")}, derivatives={}, forbidden={}))
    found = function({"v": formula}, ("x",), {})(POINTS[:, None])["v"]
    plain = eval(text.replace("^", "**"), {**NUMPY, "x": POINTS})
    there = POINTS == 0
    assert np.isnan(found[there]).all()
    assert found[~there] == pytest.approx(plain[~there], rel=1e-12)
