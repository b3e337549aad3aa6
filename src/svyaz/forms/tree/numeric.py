"""The recursions on numbers: one state, or a batch of states at once.

``q`` holds the coordinates in the order of ``tree.coordinates``, ``v`` the velocities in the order of ``tree.velocities``;
with two dimensions each row is a state, and so is each entry of the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from svyaz.forms.tree import articulated, composite, newton_euler, poles
from svyaz.forms.tree.algebra import FLOATS, Elements, arrays
from svyaz.forms.tree.places import Placed, placed
from svyaz.model.tree import Tree, numbers

Floats = NDArray[np.float64]


class NumericTree:
    """A tree with numbers for its parameters."""

    def __init__(self, tree: Tree, values: Mapping[str, float]) -> None:
        self.tree = numbers(tree, values)

    def mass_matrix(self, q: ArrayLike) -> Floats:
        """M by composite bodies, (n, n) or (k, n, n)."""
        bodies, elements, batch = self._placed(q)
        return _stacked(composite.mass_matrix(bodies, elements), batch)

    def mass_matrix_by_poles(self, q: ArrayLike) -> Floats:
        """The same by the formulas of poles and axes (revolute joints)."""
        _, elements, batch = self._placed(q)
        return _stacked(poles.inertia_by_poles(self.tree, self._named(q), elements), batch)

    def gravity_terms(self, q: ArrayLike) -> Floats:
        """The generalised forces that hold the tree at rest, (n,) or (k, n)."""
        bodies, elements, batch = self._placed(q)
        return _stacked(newton_euler.inverse_dynamics(bodies, self._gravity, None, None, elements), batch)

    def bias(self, q: ArrayLike, v: ArrayLike) -> Floats:
        """What is left of the inverse dynamics without accelerations: velocity and gravity terms."""
        bodies, elements, batch = self._placed(q)
        return _stacked(newton_euler.inverse_dynamics(bodies, self._gravity, _columns(v), None, elements), batch)

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, accelerations: ArrayLike) -> Floats:
        """Generalised forces M v̇ + bias."""
        bodies, elements, batch = self._placed(q)
        forces = newton_euler.inverse_dynamics(bodies, self._gravity, _columns(v), _columns(accelerations), elements)
        return _stacked(forces, batch)

    def forward_dynamics(self, q: ArrayLike, v: ArrayLike, forces: ArrayLike) -> Floats:
        """Accelerations v̇ by articulated bodies."""
        bodies, elements, batch = self._placed(q)
        found = articulated.forward_dynamics(bodies, self._gravity, _columns(v), _columns(forces), elements)
        return _stacked(found, batch)

    @property
    def _gravity(self) -> tuple[Any, Any, Any]:
        return self.tree.gravity

    def _named(self, q: ArrayLike) -> dict[str, Any]:
        return dict(zip(self.tree.coordinates, _columns(q), strict=True))

    def _placed(self, q: ArrayLike) -> tuple[list[Placed], Elements, int | None]:
        batch = len(np.asarray(q)) if np.ndim(q) == 2 else None
        elements = FLOATS if batch is None else arrays()
        return placed(self.tree, self._named(q), elements), elements, batch


def _columns(values: ArrayLike) -> Sequence[Any]:
    """One element for each name: a float, or the column of a batch."""
    array = np.asarray(values, dtype=float)
    return list(array.T) if array.ndim == 2 else array.tolist()


def _stacked(entries: Any, batch: int | None) -> Floats:
    """Nested lists of elements as one array; a batch comes first."""
    if batch is None:
        return np.array(entries, dtype=float)
    if isinstance(entries, list):
        return np.stack([_stacked(entry, batch) for entry in entries], axis=1)
    return np.broadcast_to(np.asarray(entries, dtype=float), (batch,))
