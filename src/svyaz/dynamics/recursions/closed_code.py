"""The loop over the bodies of a tree whose points are tied to each other, as code with workspaces of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from weakref import finalize

import numpy as np

from svyaz.arrays import Array
from svyaz.dynamics.recursions.closure_memory import closure_in, closure_memory
from svyaz.dynamics.recursions.closure_rows import ClosureRows
from svyaz.dynamics.recursions.tree_memory import Drive, sliced_tree, tree_memory
from svyaz.integrate import Callback, Flow, along, memory_at
from svyaz.program import Native


@dataclass(frozen=True)
class ClosedCode:
    """The loop over bodies and rows as native code; each set of constants has a workspace of its own.

    ``native`` is the program of the rows, None where there are none. ``everywhere``: all bodies are looked at, not only those
    on ways from points to the ground.
    """

    rows: ClosureRows
    drive: Drive
    native: Native | None
    function: Callback
    everywhere: bool = False

    @property
    def address(self) -> int:
        return self.function.address

    def constants(self, values: Mapping[str, float], *alive: object) -> Array:
        """What the loop takes as ``c``; what it points to besides stays ``alive`` as long."""
        system = self.rows.system
        model, alive_in_model = tree_memory(system, self.drive)
        if self.native is None:
            finalize(model, _release, (alive_in_model, alive))
            return model.view(np.float64)
        known = {**dict.fromkeys(self.native.program.parameters, 0.0), **values}
        code, sides = (self.native.address, self.native.constants(known)), len(self.drive.given)
        closure, alive_in_closure = closure_memory(
            self.rows, sliced_tree(system), code, sides, everywhere=self.everywhere
        )
        model["closure"] = closure.ctypes.data
        finalize(model, _release, (alive_in_model, code, closure, alive_in_closure, self.native, alive))
        return model.view(np.float64)

    def evaluate(self, rows: Array, constants: Array) -> Array:
        """Rates (k, n) along rows [t, y…], or (n,) at one."""
        found = along(self._flow(constants), np.atleast_2d(rows))
        return found if rows.ndim > 1 else found[0]

    def solved(self, rows: Array, constants: Array) -> tuple[Array, Array]:
        """Rates (k, n) and multipliers (k, m)."""
        rates, multipliers = np.empty((len(rows), rows.shape[1] - 1)), np.empty((len(rows), len(self.rows.rows)))
        found = self.multipliers(constants)
        for k, row in enumerate(rows):
            rates[k] = along(self._flow(constants), row[None, :])[0]
            multipliers[k] = found if np.isfinite(rates[k]).all() else np.nan
        return rates, multipliers

    def multipliers(self, constants: Array) -> Array:
        """Those of the state that was evaluated last, in the memory of the loop; none without constraints."""
        return (
            np.zeros(0)
            if self.native is None
            else memory_at(int(closure_in(constants)["multipliers"][0]), len(self.rows.rows))
        )

    def _flow(self, constants: Array) -> Flow:
        return Flow(self.address, constants, len(self.rows.system.states), self)


def _release(_kept: object) -> None:
    """What a workspace needs lives as long as its words."""
