"""Conditions watched inside the native loops: see ``integrate.guard``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.dynamics import ConditionCode
from svyaz.integrate import ALARM, SHARE, Flow

DOUBT = 2.0
"""So many times as far as two polynomials of a step differ, a condition may be from zero and is looked at again."""


class Guard:
    """The map after each step with its memory; it serves one run at a time.

    ``conditions`` are those that are watched along the motion with these ``rates``, ``inner`` is the map that follows each
    step in any case. A condition that may have reached zero within a step refuses it where the moment is ``sought`` again.
    """

    def __init__(self, conditions: ConditionCode, rates: Flow, inner: Flow | None = None, *, sought: bool = False):
        from svyaz.integrate import after_step_function, layout

        n, m = rates.size, conditions.shapes["g"][0]
        self.places = layout(n, m)
        self.memory = np.zeros(self.places.size)
        function = after_step_function()
        whole = self.memory.view(np.int64)
        constants = conditions.constants
        whole[:3] = [conditions.address, constants.ctypes.data, m]
        if inner is not None:
            whole[3:5] = [inner.address, inner.constants.ctypes.data]
        self.memory[SHARE] = DOUBT if sought else 0.0
        whole[5:8] = [rates.address, rates.constants.ctypes.data, n]
        self.flow = Flow(function.address, self.memory, n, (function, conditions, constants, rates, inner))

    def begin(self, row: Array, values: Array, levels: Array, armed: NDArray[np.bool_]) -> None:
        """Watch a run from [t, y…]: the conditions there, the levels below minus which they are armed, those that are."""
        self.memory[:] = self.begun(row[None], values[None], levels[None], armed[None])[0]

    def begun(self, rows: Array, values: Array, levels: Array, armed: NDArray[np.bool_]) -> Array:
        """The memories with which runs from several rows begin."""
        found = np.tile(self.memory, (len(rows), 1))
        found[:, ALARM] = 0.0
        places = self.places
        changes = np.full(values.shape, np.inf)
        for place, numbers in (
            (places.before, rows),
            (places.level, levels),
            (places.armed, armed | (values < -levels)),
            (places.last, values),
            (places.change, changes),
        ):
            found[:, place : place + numbers.shape[1]] = numbers
        return found

    @property
    def alarmed(self) -> bool:
        """Was a step refused because a condition rose in it?"""
        return bool(self.memory[ALARM])

    @property
    def armed(self) -> NDArray[np.bool_]:
        """Which conditions counted at the beginning of the last step."""
        return self.memory[self.places.armed : self.places.tried] > 0.0

    @property
    def levels(self) -> Array:
        """Below minus these conditions are armed."""
        return self.memory[self.places.level : self.places.last]

    @property
    def end(self) -> float:
        """The end of the last step."""
        return float(self.memory[self.places.after])
