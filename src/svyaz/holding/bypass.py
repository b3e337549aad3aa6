"""The published jump over a singular point (Kaspirovich 2.3), as an opt-in: [bypass] watch, at, window, jump.

When a watched coordinate, or velocity, would come within ``window`` of a singular value ``at``, it is overwritten by its
value before the step plus ``jump`` in the direction in which it changes, and the stabiliser is left to heal the
constraints. The window is cleared in one jump when jump > 2 window; with jump = 2 window it may take a second one. An
acceleration, the quantity of the published rule, is watched for its size: when it comes within ``window`` of ``at``, or
beyond, the coordinate jumps in the direction of its motion. Only the constraints recover: information lost in the jump is
not regained, so every jump is logged, and a regular chart (a unit quaternion) is the better way.
"""

from __future__ import annotations

from dataclasses import dataclass

import symengine as se
from symengine.lib.symengine_wrapper import Abs, Min, sign

from svyaz.expr import HALF, ONE, Expression, ModelError, Problem, velocity
from svyaz.forms import Equations, rates_of
from svyaz.holding.options import Options
from svyaz.model import Bypass
from svyaz.program import Program, build


def bypass_program(equations: Equations, options: Options) -> Program:
    """The state after a step, with what is watched, or its coordinate, moved on when it lies in the window."""
    watched = Watched.of(equations)
    bypass = watched.bypass
    if options.step is None:
        raise ModelError(
            [Problem("the jump over a singular point needs a fixed step", None, "give a step instead of rtol")]
        )
    if watched.order < 2 and not bypass.jump * (1 + 1e-12) >= 2 * bypass.window > 0:
        raise ModelError([Problem("a jump cannot clear the window unless jump ≥ 2 window > 0")])
    s, rate = se.Symbol(watched.moved), watched.rate
    inside = HALF * (ONE + sign(se.RealDouble(bypass.window) - watched.distance()))
    moved = s + inside * (bypass.jump * sign(rate) - options.step * rate)
    outputs = [(state, moved if state == watched.moved else se.Symbol(state)) for state in equations.states]
    systems = rates_of(equations).systems if watched.order else ()
    return build(outputs, inputs=("t", *equations.states), parameters=equations.constants, systems=systems)


@dataclass(frozen=True)
class Watched:
    """The coordinate of what is watched, how often it is differentiated (0, 1, 2), and how it jumps."""

    coordinate: str
    order: int
    bypass: Bypass

    @classmethod
    def of(cls, equations: Equations) -> Watched:
        bypass = equations.system.bypass
        assert bypass is not None, "only systems with [bypass] come here"
        coordinate = bypass.watch.rstrip("'")
        if f"{coordinate}'" not in equations.states:
            message = f"[bypass] watches '{bypass.watch}'; the velocity of '{coordinate}' is no state in the form "
            raise ModelError([Problem(f"{message}'{equations.form}'", hint="use the form 'multipliers'")])
        return cls(coordinate, len(bypass.watch) - len(coordinate), bypass)

    @property
    def moved(self) -> str:
        """The state that jumps: what is watched, or the coordinate of an acceleration."""
        return f"{self.coordinate}'" if self.order == 1 else self.coordinate

    @property
    def rate(self) -> Expression:
        """Of the state that jumps."""
        own = velocity(self.coordinate)
        return se.Symbol(f"{own}'") if self.order == 1 else own

    def distance(self) -> Expression:
        """From the nearest singular value: of a coordinate over the turn, below it of an acceleration by size."""
        s, at = se.Symbol(f"{self.coordinate}{self.order * chr(39)}"), self.bypass.at
        if self.order == 0:
            return _least([Abs(se.sin((s - a) / 2)) * 2 for a in at])
        return _least([a - Abs(s) if self.order == 2 else Abs(s - a) for a in at])


def _least(distances: list[Expression]) -> Expression:
    return distances[0] if len(distances) == 1 else Min(*distances)
