"""The loop over the bodies of a tree whose points are tied to each other, as code with workspaces of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from weakref import finalize

import numpy as np

from svyaz.arrays import Array
from svyaz.dynamics.recursions.closing_layout import CLOSING, MULTIPLIERS, ROW, ROW_NUMBERS, SHARE_ROW, numbers_at
from svyaz.dynamics.recursions.closing_rows import ClosingRows
from svyaz.dynamics.recursions.closing_words import closing_words
from svyaz.dynamics.recursions.long_tree_code import BODY_WORDS, HEAD, RECORD, ROOM, SHARE
from svyaz.dynamics.recursions.tree_words import Drive, pose_addresses, sliced_tree, tree_words
from svyaz.integrate import Callback, Flow, along
from svyaz.program import Native


@dataclass(frozen=True)
class ClosedCode:
    """The loop over bodies and rows as native code; each set of constants has a workspace of its own.

    ``native`` is the program of the rows, None where there are none. ``everywhere``: all bodies are looked at, not only those
    on ways from points to the ground.
    """

    rows: ClosingRows
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
        words, kept = tree_words(system, self.drive)
        if self.native is None:
            finalize(words, _release, (kept, alive))
            return words.view(np.float64)
        addresses, programs = pose_addresses(system)
        known = {**dict.fromkeys(self.native.program.parameters, 0.0), **values}
        own = self.native.constants(known)
        tree = sliced_tree(system)
        code, sides = (self.native.address, own), len(self.drive.given)
        closing, room = closing_words(self.rows, tree, addresses, code, sides, everywhere=self.everywhere)
        found = np.concatenate([words, closing])
        finalize(found, _release, (kept, own, room, programs, self.native, alive))
        return found.view(np.float64)

    def evaluate(self, rows: Array, constants: Array) -> Array:
        """Rates (k, n) along rows [t, y…], or (n,) at one."""
        found = along(self._flow(constants), np.atleast_2d(rows))
        return found if rows.ndim > 1 else found[0]

    def solved(self, rows: Array, constants: Array) -> tuple[Array, Array]:
        """Rates (k, n) and multipliers (k, m)."""
        count = len(self.rows.rows)
        address = self.multipliers(constants)
        rates, multipliers = np.empty((len(rows), rows.shape[1] - 1)), np.empty((len(rows), count))
        for k, row in enumerate(rows):
            rates[k] = along(self._flow(constants), row[None, :])[0]
            multipliers[k] = numbers_at(address, count) if np.isfinite(rates[k]).all() else np.nan
        return rates, multipliers

    def multipliers(self, constants: Array) -> int:
        """Where the multipliers are; nowhere without constraints."""
        return 0 if self.native is None else int(constants.view(np.int64)[MULTIPLIERS - CLOSING])

    def shares(self, constants: Array) -> tuple[Array, Array]:
        """1/D of all joints and 1/d of all rows at the state that was evaluated last (see ``closing_elimination``)."""
        words = constants.view(np.int64)
        bodies, rows = int(words[0]), len(self.rows.rows)
        records = words[HEAD + RECORD : HEAD + BODY_WORDS * bodies : BODY_WORDS]
        first = int(records.min()) - 8 * ROOM
        workspace = numbers_at(first, int(records.max() - first) // 8)
        numbers = numbers_at(int(words[ROW_NUMBERS - CLOSING]), ROW * rows)
        return workspace[(records - first) // 8 - ROOM + SHARE], numbers[SHARE_ROW::ROW]

    def _flow(self, constants: Array) -> Flow:
        return Flow(self.address, constants, len(self.rows.system.states), self)


def _release(_kept: object) -> None:
    """What a workspace needs lives as long as its words."""
