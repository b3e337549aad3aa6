"""How the bodies of a tree give way to forces at a position, by articulated bodies: M⁻¹ f without M."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.dynamics.recursions.closing_numbers import TreeNumbers
from svyaz.dynamics.recursions.long_tree_code import BODY_WORDS, FORCE, HEAD, MOTION, RECORD, ROOM, SPARE, step_function
from svyaz.dynamics.recursions.tree_words import tree_words, velocity_columns
from svyaz.integrate import Flow, along
from svyaz.model import System


@dataclass(frozen=True)
class WeightlessTree:
    """The bodies of a tree at rest and without weight, on which nothing acts but forces at their joints."""

    system: System

    def respond(self, row: Array, forces: Array) -> Array:
        """M⁻¹ f (k, n) of forces (k, n) at a row [t, states]."""
        still, speeds = row.copy(), velocity_columns(self.system)
        still[1:][speeds] = 0.0
        words, room, places, kept = self._made
        flow = Flow(step_function().address, words.view(np.float64), len(self.system.states), kept)
        found = np.empty_like(forces)
        for k, force in enumerate(forces):
            room[places] = force
            found[k] = along(flow, still[None, :])[0, speeds]
        return found

    @cached_property
    def _made(self) -> tuple[NDArray[np.int64], Array, NDArray[np.int64], object]:
        """Words for the loop, the workspace to which they point, where in it the forces at joints are; what must live on."""
        words, kept = tree_words(self.system)
        words[2] = 0  # no applied forces
        words[4:7] = np.zeros(3).view(np.int64)
        records = words[HEAD + RECORD :: BODY_WORDS]
        size = (int(records.max()) - int(words[1])) // 8 + ROOM
        room = np.ctypeslib.as_array((ctypes.c_double * size).from_address(int(words[1])))
        room[SPARE + MOTION : SPARE + MOTION + 6] = 0.0
        return words, room, (records - words[1]) // 8 + FORCE, kept


@dataclass(frozen=True)
class TreeGiving:
    """How the bodies give way at a row [t, states]."""

    tree: WeightlessTree
    numbers: TreeNumbers
    row: Array

    @cached_property
    def free(self) -> Array:
        """Their accelerations (n,) without constraints."""
        return self.numbers(self.row, ("free",))["free"]

    def respond(self, forces: Array) -> Array:
        """M⁻¹ f (k, n)."""
        return self.tree.respond(self.row, forces)
