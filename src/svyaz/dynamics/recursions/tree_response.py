"""How the bodies of a tree give way to forces at a position, by articulated bodies: M⁻¹ f without M."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.dynamics.recursions.closure_tables import TreeNumbers
from svyaz.dynamics.recursions.tree_loop import step_function
from svyaz.dynamics.recursions.tree_memory import tree_memory, velocity_columns
from svyaz.dynamics.recursions.tree_records import BodyModel, BodyState
from svyaz.integrate import Flow, along, memory_at, record_type
from svyaz.model import System

Weightless = tuple[NDArray[np.void], NDArray[np.void], NDArray[np.int64], object]
"""The ``TreeModel`` of bodies at rest on which nothing acts but forces at joints, its states and which is whose; what must
live on.
"""


def weightless_tree(system: System) -> Weightless:
    """The memory of the bodies without weight and applied forces."""
    model, alive = tree_memory(system)
    model["applied"] = model["gravity"] = 0
    bodies = memory_at(int(model["bodies"][0]), int(model["count"][0]), record_type(BodyModel))
    states = memory_at(int(model["states"][0]), int(model["slots"][0]), record_type(BodyState))
    states["motion"][0] = 0.0
    return model, states, bodies["state"].copy(), alive


@dataclass(frozen=True)
class TreeResponse:
    """The accelerations that forces give to the bodies at a row [t, states]."""

    system: System
    tree: Weightless
    numbers: TreeNumbers
    row: Array

    @cached_property
    def free(self) -> Array:
        """Those without constraints (n,)."""
        return self.numbers(self.row, ("free",))["free"]

    def respond(self, forces: Array) -> Array:
        """M⁻¹ f (k, n)."""
        still, speeds = self.row.copy(), velocity_columns(self.system)
        still[1:][speeds] = 0.0
        model, states, places, alive = self.tree
        flow = Flow(step_function().address, model.view(np.float64), len(self.system.states), alive)
        found = np.empty_like(forces)
        for k, force in enumerate(forces):
            states["force"][places] = force
            found[k] = along(flow, still[None, :])[0, speeds]
        return found
