"""The published jump over a singular point (Kaspirovich 2.3), as an opt-in: [bypass] watch, at, window, jump.

When the watched coordinate would come within ``window`` of the singular value ``at``, it is overwritten by its value
before the step plus ``jump`` in the direction of motion, and the stabiliser is left to heal the constraints. The window
is cleared in one jump when jump > 2 window; with jump = 2 window it may take a second one. Only the constraints recover:
information lost in the jump is not regained, so every jump is logged, and a regular chart (a unit quaternion) is the
better way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import symengine as se
from symengine.lib.symengine_wrapper import Abs, sign

from svyaz.arrays import Array
from svyaz.expr import HALF, ONE, ModelError, Problem, velocity
from svyaz.forms import Equations
from svyaz.holding.deviation import deviations
from svyaz.holding.options import Options
from svyaz.model import Bypass
from svyaz.program import Program, build


def bypass_program(equations: Equations, options: Options) -> Program:
    """The state after a step, with the watched coordinate moved on when it lies in the window."""
    name, bypass = _watched(equations)
    if options.step is None:
        raise ModelError(
            [Problem("the jump over a singular point needs a fixed step", None, "give a step instead of rtol")]
        )
    if not bypass.jump * (1 + 1e-12) >= 2 * bypass.window > 0:
        raise ModelError([Problem("a jump cannot clear the window unless jump ≥ 2 window > 0")])
    s, rate = se.Symbol(name), velocity(name)
    distance = se.RealDouble(bypass.window) - Abs(se.sin((s - bypass.at) / 2)) * 2
    inside = HALF * (ONE + sign(distance))
    moved = s + inside * (bypass.jump * sign(rate) - options.step * rate)
    outputs = [(state, moved if state == name else se.Symbol(state)) for state in equations.states]
    return build(outputs, inputs=("t", *equations.states), parameters=equations.constants)


def _watched(equations: Equations) -> tuple[str, Bypass]:
    """The coordinate that is watched, and how it jumps."""
    bypass = equations.system.bypass
    assert bypass is not None, "only systems with [bypass] come here"
    watch = str(bypass.watch)
    if watch not in equations.system.coordinates:
        raise ModelError([Problem(f"[bypass] watches a coordinate; '{watch}' is none")])
    return watch, bypass


@dataclass(frozen=True)
class Jump:
    """A jump of the watched coordinate from ``before`` to ``after``: the violation of the constraints right after it, and
    the time until a tenth of that was left (None if that was never so).
    """

    t: float
    coordinate: str
    before: float
    after: float
    violation: float
    recovery: float | None


def jump_log(equations: Equations, times: Array, states: Array, step: float) -> tuple[Jump, ...]:
    """Every jump along the rows of a run."""
    name, bypass = _watched(equations)
    column = equations.states.index(name)
    speed = states[:, equations.states.index(f"{name}'")]
    change = np.diff(states[:, column]) - step * speed[:-1]
    jumped = np.flatnonzero(np.abs(change) > 0.5 * bypass.jump)
    measured = deviations(equations)
    y = np.max(np.abs(measured.at(times, states))[:, measured.reported], axis=1)
    log = []
    for row in jumped:
        after = y[row + 1 :]
        healed = np.flatnonzero(after < 0.1 * after[0]) if len(after) else np.zeros(0, dtype=int)
        log.append(
            Jump(
                t=float(times[row + 1]),
                coordinate=name,
                before=float(states[row, column]),
                after=float(states[row + 1, column]),
                violation=float(after[0]),
                recovery=float(times[row + 1 + healed[0]] - times[row + 1]) if len(healed) else None,
            )
        )
    return tuple(log)
