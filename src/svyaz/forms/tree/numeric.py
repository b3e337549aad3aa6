"""The recursions on numbers: one state, or a batch of states at once.

``q`` holds the coordinates in the order of ``tree.coordinates``, ``v`` the velocities in the order of ``tree.velocities``;
with two dimensions each row is a state, and so is each entry of the result.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from svyaz.arrays import Array
from svyaz.forms.tree.recursions import articulated, composite, newton_euler
from svyaz.forms.tree.recursions.algebra import FLOATS, Element, Elements, Vector, arrays
from svyaz.forms.tree.recursions.energies import energies_of
from svyaz.forms.tree.recursions.places import Placed, placed
from svyaz.forms.tree.short_formulas import poles
from svyaz.model import Body, Tree, numbers

STEP = 1e-30
"""The imaginary step of complex-step derivatives."""


class NumericTree:
    """A tree with numbers for its parameters.

    >>> import svyaz
    >>> system = svyaz.load("chain:2")
    >>> svyaz.NumericTree(system.tree, system.parameters).mass_matrix([0.1, 0.2]).shape
    (2, 2)
    """

    def __init__(self, tree: Tree, values: Mapping[str, float]) -> None:
        self.tree = numbers(tree, values)

    def mass_matrix(self, q: ArrayLike) -> Array:
        """M by composite bodies, (n, n) or (k, n, n)."""
        bodies, elements, batch = self._placed(q)
        return _stacked(composite.mass_matrix(bodies, elements), batch)

    def mass_matrix_by_poles(self, q: ArrayLike) -> Array:
        """The same by the formulas of poles and axes (revolute joints)."""
        _, elements, batch = self._placed(q)
        return _stacked(poles.inertia_by_poles(self.tree, self._named(q), elements), batch)

    def gravity_terms(self, q: ArrayLike) -> Array:
        """The generalised forces that hold the tree at rest, (n,) or (k, n)."""
        bodies, elements, batch = self._placed(q)
        return _stacked(newton_euler.inverse_dynamics(bodies, self._gravity, None, None, elements), batch)

    def gravity_slopes(self, q: ArrayLike) -> Array:
        """∂(gravity terms)/∂q (n, n) at one position, along the directions of the velocities, by complex steps."""
        q = np.asarray(q, dtype=float)
        moved = dict(zip(self.tree.coordinates, (q + 1j * STEP * self._directions(q)).T, strict=True))
        elements = arrays()
        forces = newton_euler.inverse_dynamics(placed(self.tree, moved, elements), self._gravity, None, None, elements)
        return np.array([np.broadcast_to(np.imag(f), (len(forces),)) for f in forces]) / STEP

    def bias(self, q: ArrayLike, v: ArrayLike) -> Array:
        """What is left of the inverse dynamics without accelerations: velocity and gravity terms."""
        bodies, elements, batch = self._placed(q)
        return _stacked(newton_euler.inverse_dynamics(bodies, self._gravity, _columns(v), None, elements), batch)

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, accelerations: ArrayLike) -> Array:
        """Generalised forces M v̇ + bias."""
        bodies, elements, batch = self._placed(q)
        forces = newton_euler.inverse_dynamics(bodies, self._gravity, _columns(v), _columns(accelerations), elements)
        return _stacked(forces, batch)

    def forward_dynamics(self, q: ArrayLike, v: ArrayLike, forces: ArrayLike) -> Array:
        """Accelerations v̇ by articulated bodies."""
        bodies, elements, batch = self._placed(q)
        found = articulated.forward_dynamics(bodies, self._gravity, _columns(v), _columns(forces), elements)
        return _stacked(found, batch)

    def energies(self, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        """(T, P), each () or (k,)."""
        bodies, elements, batch = self._placed(q)
        kinetic, potential = energies_of(bodies, self._gravity, _columns(v), elements)
        return _stacked(kinetic, batch), _stacked(potential, batch)

    def inverse_dynamics_slopes(self, q: ArrayLike, v: ArrayLike, accelerations: ArrayLike) -> tuple[Array, Array]:
        """(∂τ/∂q, ∂τ/∂v), n × n each, of the inverse dynamics at one state, exact to rounding.

        The slope along q is taken along the motion of each velocity by itself: q̇ = N(q) e_k (for free joints the
        directions of their velocities). By complex steps: Im f(x + i h)/h, h so small that nothing but rounding is left
        (W. Squire, G. Trapp, 1998); the recursions take complex numbers as they take any others.
        """
        q, v, a = (np.asarray(x, dtype=float) for x in (q, v, accelerations))
        moved = q + 1j * STEP * self._directions(q)
        along_q = self._complex_forces(moved, np.tile(v, (len(v), 1)), a)
        along_v = self._complex_forces(np.tile(q, (len(v), 1)), v + 1j * STEP * np.eye(len(v)), a)
        return along_q, along_v

    def forward_dynamics_slopes(self, q: ArrayLike, v: ArrayLike, forces: ArrayLike) -> tuple[Array, Array, Array]:
        """(∂v̇/∂q, ∂v̇/∂v, ∂v̇/∂τ) at one state: -M⁻¹ ∂τ/∂q, -M⁻¹ ∂τ/∂v at the accelerations found, and M⁻¹."""
        accelerations = self.forward_dynamics(q, v, forces)
        along_q, along_v = self.inverse_dynamics_slopes(q, v, accelerations)
        inverse: Array = np.linalg.inv(self.mass_matrix(q)).astype(float)
        return -inverse @ along_q, -inverse @ along_v, inverse

    def mass_matrix_slopes(self, q: ArrayLike) -> Array:
        """∂M/∂q_k as [k, i, j], along the directions of the velocities as above."""
        q = np.asarray(q, dtype=float)
        moved = dict(zip(self.tree.coordinates, (q + 1j * STEP * self._directions(q)).T, strict=True))
        elements = arrays()
        entries = composite.mass_matrix(placed(self.tree, moved, elements), elements)
        size = len(entries)
        full = [[np.broadcast_to(np.imag(e), (size,)) for e in row] for row in entries]
        return np.moveaxis(np.array(full, dtype=float), 2, 0) / STEP

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike) -> Array:
        """C with bias = C v + gravity terms and Ṁ - 2 C skew: C_ij = Σ_k c_ijk v_k, see ``_christoffel``."""
        return np.einsum("ijk,k->ij", self._christoffel(q), np.asarray(v, dtype=float))

    def bias_parts(self, q: ArrayLike, v: ArrayLike) -> dict[str, Array]:
        """The bias in parts.

        ``centrifugal``: terms in v_j²; ``coriolis``: terms in v_j v_k, j ≠ k; ``gravity``. Their sum is the bias.
        ``gyroscopic`` is the part (C - Ṁ/2) v of centrifugal and Coriolis terms together that does no work.
        """
        symbols, speeds = self._christoffel(q), np.asarray(v, dtype=float)
        terms = symbols * speeds[None, :, None] * speeds[None, None, :]
        squares = np.einsum("ijj->i", terms)
        rate = np.einsum("kij,k->ij", self.mass_matrix_slopes(q), speeds)
        matrix = np.einsum("ijk,k->ij", symbols, speeds)
        return {
            "centrifugal": squares,
            "coriolis": terms.sum(axis=(1, 2)) - squares,
            "gravity": self.gravity_terms(q),
            "gyroscopic": (matrix - rate / 2) @ speeds,
        }

    def _christoffel(self, q: ArrayLike) -> Array:
        """c_ijk = ½ (∂M_ij/∂q_k + ∂M_ik/∂q_j - ∂M_jk/∂q_i), Christoffel symbols of the first kind.

        Velocities of a free joint are no rates of coordinates: their fields do not commute, [E_a, E_b] = Σ b_abl E_l, and
        Koszul's formula adds ½ (b_kjl M_li - b_kil M_lj - b_jil M_lk).
        """
        slopes = self.mass_matrix_slopes(q)
        symbols = 0.5 * (np.einsum("kij->ijk", slopes) + np.einsum("jik->ijk", slopes) - slopes)
        if self.tree.by_rates:
            return symbols
        lowered = np.einsum("abl,lc->abc", self._brackets(), self.mass_matrix(q))
        added = np.einsum("kji->ijk", lowered) - np.einsum("kij->ijk", lowered) - np.einsum("jik->ijk", lowered)
        return symbols + 0.5 * added

    def _brackets(self) -> Array:
        """b_abl of all velocities."""
        size = len(self.tree.velocities)
        found = np.zeros((size, size, size))
        for body, first in zip(self.tree.bodies, self.tree.first_velocity, strict=True):
            for (a, b, c), entry in body.kind.brackets().items():
                found[first + a, first + b, first + c] = entry
        return found

    def _directions(self, q: Array) -> Array:
        """∂q̇/∂v_k in row k: how the coordinates move with each velocity alone."""
        rows = np.zeros((len(self.tree.velocities), len(q)))
        first = 0
        for body, velocity in zip(self.tree.bodies, self.tree.first_velocity, strict=True):
            own = slice(first, first + len(body.coordinates))
            rows[velocity : velocity + body.freedoms, own] = _own_directions(body, q[own])
            first = own.stop
        return rows

    def _complex_forces(self, q: NDArray[np.complex128], v: NDArray[np.complex128], accelerations: Array) -> Array:
        elements = arrays()
        bodies = placed(self.tree, dict(zip(self.tree.coordinates, q.T, strict=True)), elements)
        forces = newton_euler.inverse_dynamics(bodies, self._gravity, list(v.T), list(accelerations), elements)
        return np.array([np.broadcast_to(np.imag(f), (len(v),)) for f in forces]) / STEP

    @property
    def _gravity(self) -> Vector:
        return self.tree.gravity

    def _named(self, q: ArrayLike) -> dict[str, Element]:
        return dict(zip(self.tree.coordinates, _columns(q), strict=True))

    def _placed(self, q: ArrayLike) -> tuple[list[Placed], Elements, int | None]:
        batch = len(np.asarray(q)) if np.ndim(q) == 2 else None
        elements = FLOATS if batch is None else arrays()
        return placed(self.tree, self._named(q), elements), elements, batch


def by_coordinates(tree: Tree, rows: Array, q: Array) -> Array:
    """Slopes by the coordinates (m, coordinates) of what has the slopes ``rows`` (m, velocities) along velocities.

    With q̇ = N v they are rows N⁺, N⁺ = (NᵀN)⁻¹Nᵀ with NᵀN diagonal: nothing is told of quaternions that change their length.
    """
    found, first = np.zeros((len(rows), len(q))), 0
    for body, velocity in zip(tree.bodies, tree.first_velocity, strict=True):
        own = slice(first, first + len(body.coordinates))
        directions = _own_directions(body, q[own])
        lengths = np.sum(directions**2, axis=1)[:, None]
        found[:, own] = rows[:, velocity : velocity + body.freedoms] @ (directions / lengths)
        first = own.stop
    return found


def _own_directions(body: Body, q: Array) -> Array:
    """Rates of the coordinates of a joint for each unit velocity (velocities, coordinates)."""
    units = np.eye(body.freedoms).tolist()
    found = [body.kind.rates(q.tolist(), unit) for unit in units]
    return np.array(found, dtype=float).reshape(body.freedoms, len(q))


def _columns(values: ArrayLike) -> list[Element]:
    """One element for each name: a float, or the column of a batch."""
    array = np.asarray(values, dtype=float)
    return list(array.T) if array.ndim == 2 else array.tolist()


def _stacked(entries: Element, batch: int | None) -> Array:
    """Nested lists of elements as one array; a batch comes first."""
    if batch is None:
        return np.array(entries, dtype=float)
    if isinstance(entries, list):
        return np.stack([_stacked(entry, batch) for entry in entries], axis=1)
    return np.broadcast_to(np.asarray(entries, dtype=float), (batch,))
