"""Conditions that are watched along the motion of a tree, in the places of its points and the multipliers of its constraints.

g(t, q, q̇, P, Ṗ, λ) are short formulas however long the tree is: P, Ṗ and λ come from the loop over its bodies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from svyaz.arrays import Array
from svyaz.dynamics import magnitude
from svyaz.dynamics.recursions.closure_memory import closure_in
from svyaz.expr import Expression
from svyaz.integrate import Flow, along, memory_at
from svyaz.program import Function, Native, build, compile_program, function

if TYPE_CHECKING:
    from svyaz.dynamics.recursions.closed_trees import ClosedCode


@dataclass(frozen=True)
class TreeWatch:
    """g (m,) along rows [t, q, q̇] as native code, and the sizes of its terms; ``code`` is that of the constraints that act.

    What was made of the last values is kept in ``made``: a watch serves one run at a time.
    """

    code: ClosedCode
    native: Native
    terms: Function
    values: Mapping[str, float]
    made: dict[tuple[float, ...], Array] = field(default_factory=dict, repr=False, compare=False)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Of the only table."""
        return {"g": (len(self.native.program.outputs),)}

    @property
    def address(self) -> int:
        """Of the native code, which lives as long as this object."""
        return self.code.address

    @property
    def constants(self) -> Array:
        """What the native code takes as ``c``: its own workspace."""
        key = tuple(self.values[name] for name in sorted(self.values))
        if key not in self.made:
            self.made.clear()
            own = self.native.constants(self.values)
            found = self.code.constants(self.values, own)
            closure_in(found)["watched"] = (self.native.address, own.ctypes.data)
            self.made[key] = found
        return self.made[key]

    def with_values(self, values: Mapping[str, float]) -> TreeWatch:
        """The same with other values of some parameters."""
        return replace(self, values={**self.values, **values})

    def __call__(self, rows: Array) -> dict[str, Array]:
        """g at one row or at many; not a number where the multipliers are not determined."""
        found = along(Flow(self.address, self.constants, self.shapes["g"][0], self), np.atleast_2d(rows))
        return {"g": found if rows.ndim > 1 else found[0]}

    def sizes(self, row: Array) -> Array:
        """The magnitudes of the terms of g (m,) at one row."""
        self(row)
        given = memory_at(int(closure_in(self.constants)["inputs"][0]), len(self.terms.program.inputs)).copy()
        return self.terms.with_values(self.values)(given)["g"]


def tree_watch(
    code: ClosedCode,
    inputs: Sequence[str],
    reactions: Sequence[str],
    conditions: Sequence[Expression],
    values: Mapping[str, float],
) -> TreeWatch:
    """Conditions in the ``inputs`` of the rows of constraints, points among them, and in ``reactions``, with these values."""
    given = (*inputs, *reactions)
    labelled = [(str(k), e) for k, e in enumerate(conditions)]
    native = compile_program(build(labelled, inputs=given, parameters=tuple(values)))
    return TreeWatch(code, native, function({"g": [magnitude(e) for e in conditions]}, given, values), dict(values))
