"""Every run checks itself: a road that is broken on purpose ends with an error that names it, and no sound road does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import symengine as se

import svyaz
from svyaz.expr import sides as expression_sides
from svyaz.forms import programs
from svyaz.holding import segment as segments
from svyaz.motion import InconsistentRun, consistency, self_check
from svyaz.program import Corners, Tape, jet, plain_program

STRIBECK = """
coordinates = ["x"]
kinetic = "m*x'^2/2"
[parameters]
m = 1
vs = 0.05
[forces]
x = "-sign(x')*(0.3 + 0.2*exp(-abs(x')/vs))"
[initial]
x = 0
"x'" = 2
[run]
until = 1
"""

BLOCK = """
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[initial]
"x'" = 1
[[constraint]]
name = "floor"
equation = "y = 0"
friction = 0.3
[run]
until = 1
"""


def spoilt(monkeypatch: pytest.MonkeyPatch, entry: int, by: float = 0.01) -> None:
    """Rates of segments with one entry that is wrong by a part of the whole: what every road gives to the check."""
    sound = self_check.sample_of

    def sample_of(*arguments, **named):
        found = sound(*arguments, **named)
        rates = found.rates.copy()
        rates[:, entry] += by * (1.0 + np.abs(rates[:, entry]))
        return replace(found, rates=rates)

    monkeypatch.setattr(self_check, "sample_of", sample_of)


def scaled_program(monkeypatch: pytest.MonkeyPatch, factor: float = 1.01) -> None:
    """Compiled rates whose forces are too large: the optimiser is told a bias that is not that of the model."""
    sound = programs.held_bias
    monkeypatch.setattr(programs, "held_bias", lambda equations: [factor * b for b in sound(equations)])


def test_V2_interpreted_jets_agree_with_derivatives():
    """Values, gradients and their rates of the plain interpreter are those of symbolic derivatives."""
    x, y, a = se.symbols("x y a")
    e = se.sin(x * y) ** 2 / (1 + x**2) + se.exp(-a * x) * se.sqrt(y) + x**y + se.log(1 + se.Abs(x - y)) + se.atan2(y, x)
    tape = Tape(plain_program([e], ()), {"x": jet(0.3, 1.5), "y": jet(1.2, -0.5), "a": jet(0.7)}, Corners())
    at = {x: 0.3, y: 1.2, a: 0.7}
    found = tape.gradient()
    smooth = e.subs(se.Abs(x - y), y - x)
    for s in (x, y):
        slope = smooth.diff(s)
        rate = 1.5 * slope.diff(x) - 0.5 * slope.diff(y)
        assert found[str(s)][0, 0, 0] == pytest.approx(float(slope.subs(at)), rel=1e-12)
        assert found[str(s)][1, 0, 0] == pytest.approx(float(rate.subs(at)), rel=1e-11)


def test_V2_the_road_of_plain_forms(monkeypatch):
    """A force that the compiled rates have too large is seen, in forms with and without multipliers."""
    scaled_program(monkeypatch)
    for form in ("multipliers", "shulgin"):
        with pytest.raises(InconsistentRun, match=f"form {form} "):
            svyaz.load("pendulum-xy").simulate(form=form, until=0.11)


def test_V2_the_road_with_sides(monkeypatch):
    """The force of the side that does not apply, combined with the other one, makes friction vanish: it is seen."""
    monkeypatch.setattr(svyaz.forms.sides, "split", _combining(svyaz.forms.sides.split))
    with pytest.raises(InconsistentRun, match="with sides"):
        svyaz.loads(STRIBECK).simulate()


def _combining(split):
    def combined(expressions, moving):
        found, surfaces = split(expressions, moving)
        return [e * se.Rational(99, 100) for e in found], surfaces

    return combined
