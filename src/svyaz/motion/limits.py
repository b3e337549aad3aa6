"""Limits of a model: a run ends where it passes one, or goes on and tells it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.expr import Advice, Expression
from svyaz.forms import Equations
from svyaz.integrate import Flow, Path, Status
from svyaz.model import Limit, System
from svyaz.motion.facts import Reach
from svyaz.motion.result import Motion
from svyaz.program import function
from svyaz.stabilise import Segment


def ended_at_limit(segment: Segment, path: Path) -> Path:
    """The path with the status that it has if a limit was passed at its end."""
    system, (time, state) = segment.equations.system, (path.times[-1], path.states[-1])
    passed = {name: side for side, name in path.events if side in ("low", "high")}
    limit = next((limit for limit in system.limits if limit.name in passed), None)
    if limit is None:
        return path
    row = np.concatenate([[time], state])
    expression = segment.equations.in_states(limit.expression)
    value = float(function({"e": expression}, ("t", *segment.equations.states), system.constants)(row)["e"])
    text = _told(limit, system.constants, value, passed[limit.name], float(time), begins=len(path.times) == 1)
    sides = tuple((side, name, float(time)) for name, side in passed.items())
    return replace(path, status=Status.LEFT, reason=Advice(text, "beyond", text), passed=sides)


def _told(limit: Limit, constants: Mapping[str, float], value: float, side: str, time: float, *, begins: bool) -> str:
    bound = limit.sides(constants)[side == "high"]
    where, how = ("above", "rises above") if side == "high" else ("below", "falls below")
    if begins and abs(value - bound) > limit.margin(constants):
        return f"at t = {time:.9g} {limit.name} = {value:.6g} lies {where} its limit {bound:.6g}"
    return f"{limit.name} {how} its limit {bound:.6g} at t = {time:.9g}"


def past_limits(equations: Equations) -> list[Expression]:
    """What is positive beyond each side of the limits, in the states of the equations."""
    from svyaz.motion.events.conditions import beyond

    return [e for limit in equations.system.limits for _, e in beyond(limit, equations)]


class Fence:
    """The limits along motions with given rates, as the map after each step of a native loop; one for each thread."""

    def __init__(self, equations: Equations, rates: Flow) -> None:
        from svyaz.motion.events.guarding import Guard

        constants = equations.system.constants
        self._beyond = function({"g": past_limits(equations)}, ("t", *equations.states), constants)
        self._rates = rates
        self._guard = Guard(self._beyond, rates)

    def another(self) -> Fence:
        """A fence about the same limits, for another thread."""
        from svyaz.motion.events.guarding import Guard

        found = copy(self)
        found._guard = Guard(self._beyond, self._rates)
        return found

    @property
    def flow(self) -> Flow:
        """The map, which refuses a step in which a limit is passed."""
        return self._guard.flow

    @property
    def passed(self) -> bool:
        """Was a step refused since the run began?"""
        return self._guard.alarmed

    def begin(self, row: Array) -> None:
        """A run begins at [t, y…]."""
        values = self._beyond(row)["g"]
        self._guard.begin(row, values, np.zeros(len(values)), values < 0.0)

    def begun(self, rows: Array) -> Array:
        """Constants of the map for runs that begin at each of the rows [t, y…]."""
        values = self._beyond(rows)["g"]
        return self._guard.begun(rows, values, np.zeros(values.shape), values < 0.0)

    def outside(self, rows: Array) -> NDArray[np.bool_]:
        """Which of the rows [t, y…] lie beyond a limit."""
        return np.asarray((self._beyond(rows)["g"] > 0.0).any(axis=1))


def reaches(system: System, times: Array, states: Array, passed: Sequence[tuple[str, str, float]]) -> dict[str, Reach]:
    """What became of each limit along rows of states of the model; ``passed`` are those that were, with the moments."""
    if not system.limits:
        return {}
    constants = system.constants
    tables = {limit.name: limit.expression for limit in system.limits}
    values = function(tables, ("t", *system.states), constants)(np.column_stack([times, states]))
    found = {}
    for limit in system.limits:
        along = values[limit.name][np.isfinite(values[limit.name])]
        extremes = (float(along.min()), float(along.max())) if len(along) else (np.nan, np.nan)
        moments = [time for _, name, time in passed if name == limit.name]
        found[limit.name] = Reach(*limit.sides(constants), *extremes, min(moments, default=None))
    return found


def told_controls(motion: Motion) -> list[str]:
    """Notes on controls that servo-constraints ask for and the inputs cannot give."""
    found, controls = [], motion.controls
    for c in motion.system.constraints:
        (low, high), asked = c.bounds, controls.get(c.control, np.zeros(0))
        far = np.flatnonzero((asked < low) | (asked > high))
        if len(far):
            worst = far[np.argmax(np.maximum(low - asked[far], asked[far] - high))]
            found.append(
                f"'{c.name}' asks for {c.control} = {asked[worst]:.6g} at t = {motion.times[worst]:.6g}, and the input "
                f"reaches from {low:.6g} to {high:.6g}: it leaves this range at t = {motion.times[far[0]]:.6g}"
            )
    return found


def told_beyond(limits: Mapping[str, Reach]) -> list[str]:
    """Notes on a run that went on past its limits."""
    found = []
    for name, reach in limits.items():
        if reach.left is None:
            continue
        ends = ((reach.least, reach.least < reach.low), (reach.greatest, reach.greatest > reach.high))
        far = " and ".join(f"{end:.6g}" for end, is_outside in ends if is_outside)
        to = f", as far as {far}" if far else ""
        sides = f"{reach.low:.6g} ≤ {name}" if np.isfinite(reach.low) else name
        sides += f" ≤ {reach.high:.6g}" if np.isfinite(reach.high) else ""
        found.append(f"beyond its limits {sides} from t = {reach.left:.6g}{to}: the motion is not physical there")
    return found
