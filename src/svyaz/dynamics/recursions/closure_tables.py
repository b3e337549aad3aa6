"""M, bias, G and residuals of a tree with constraints between points of its bodies, along rows of states.

The native loop tells of each state the poses of the bodies, the accelerations a of the free tree and the rows of the
constraints with their gradients by points. With p_j the pole of a joint and a_j its axis, in ground axes, a point P of a body
moves with the joint j on its way to the ground by a_j × (P - p_j) where j turns, by a_j where it slides; and bias = -M a,
since M a + bias = 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.dynamics.code import RateCode
from svyaz.dynamics.recursions.closure_memory import closure_in
from svyaz.dynamics.recursions.closure_rows import ClosureRows
from svyaz.dynamics.recursions.tree_memory import velocity_columns
from svyaz.dynamics.recursions.tree_records import BodyClosure
from svyaz.forms import FLOATS, sliced, welded
from svyaz.integrate import memory_at, record_type
from svyaz.model import GROUND, Tree, numbers, tree_of
from svyaz.program import Entries


@dataclass(frozen=True)
class TreeNumbers:
    """Tables by name along rows [t, states], as a ``Function`` of written equations gives them; ``looking`` is native code."""

    rows: ClosureRows
    values: Mapping[str, float]
    looking: RateCode

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Of all tables."""
        n, m = len(self.rows.system.velocities), len(self.rows.rows)
        vectors = ("constraint_bias", "position", "velocity", "position_terms", "velocity_terms")
        matrices = ("jacobian", "jacobian_terms")
        return {
            "mass": (n, n),
            "bias": (n,),
            "free": (n,),
            **dict.fromkeys(matrices, (m, n)),
            **dict.fromkeys(vectors, (m,)),
        }

    @property
    def sparse(self) -> dict[str, NDArray[np.intp]]:
        """None of them is looked at by its entries."""
        return {}

    def with_values(self, values: Mapping[str, float]) -> TreeNumbers:
        """The same with other values of some parameters."""
        return replace(self, values={**self.values, **values})

    def __call__(self, x: Array, only: Sequence[str] | None = None) -> dict[str, Array]:
        """All tables, or some, at one row, or at many."""
        wanted = list(self.shapes) if only is None else only
        if x.ndim == 1:
            return {name: table[0] for name, table in self(x[None, :], wanted).items()}
        seen, m = self._seen(x), len(self.rows.rows)
        columns = seen["outputs"][:, : 3 * m].reshape(len(x), m, 3)
        found: dict[str, Array] = {"position": columns[:, :, 0], "velocity": columns[:, :, 1], "free": seen["free"]}
        if {"mass", "bias"} & set(wanted):
            found["mass"] = self._mass(seen)
            found["bias"] = -np.einsum("kij,kj->ki", found["mass"], seen["free"])
        if {"jacobian", "constraint_bias"} & set(wanted):
            found["jacobian"] = self._jacobian(seen, np.positive)
            found["constraint_bias"] = columns[:, :, 2] - np.einsum("kij,kj->ki", found["jacobian"], seen["free"])
        if "jacobian_terms" in wanted:
            found["jacobian_terms"] = self._jacobian(seen, np.absolute)
        if {"position_terms", "velocity_terms"} & set(wanted):
            found |= self.rows.terms.with_values(self.values)(seen["inputs"])
        return {name: found[name] for name in wanted}

    def known(self, x: Array, only: Sequence[str]) -> dict[str, Array]:
        """The same: no table needs a linear system."""
        return self(x, only)

    def entries(self, x: Array, *names: str) -> tuple[Entries, ...]:
        """All entries of matrices along rows."""
        found = []
        tables = self(x, names)
        for table in [tables[name] for name in names]:
            rows, columns = np.divmod(np.arange(table.shape[1] * table.shape[2]), max(1, table.shape[2]))
            found.append(Entries(table.reshape(len(table), -1), rows, columns, (table.shape[1], table.shape[2])))
        return tuple(found)

    @cached_property
    def _tree(self) -> Tree:
        """The bodies that move, with numbers and one velocity each."""
        return sliced(welded(numbers(tree_of(self.rows.system), self.values), FLOATS))

    @cached_property
    def _constants(self) -> Array:
        return self.looking.constants(self.values)

    @cached_property
    def _axes(self) -> Array:
        return np.array([body.axis for body in self._tree.bodies], dtype=float)

    @cached_property
    def _turns(self) -> NDArray[np.bool_]:
        return np.array([body.kind.turns for body in self._tree.bodies])

    def _seen(self, x: Array) -> dict[str, Array]:
        """At k states: poles and axes of joints (k, n, 3), rotations (k, n, 3, 3), free accelerations (k, n), inputs and
        outputs of the program of the rows.
        """
        rows, n = self.rows, len(self._tree.bodies)
        (closure,) = closure_in(self._constants)
        sizes = {"inputs": len(rows.inputs), "outputs": 3 * len(rows.rows) + rows.gradients}
        memory = {name: memory_at(int(closure[name]), size) for name, size in sizes.items()}
        bodies = memory_at(int(closure["bodies"]), n, record_type(BodyClosure))
        tables = {name: np.empty((len(x), size)) for name, size in sizes.items()}
        free, poses = np.empty((len(x), n)), np.empty((len(x), n), record_type(BodyClosure))
        for k in range(len(x)):
            free[k] = self.looking.evaluate(x[k], self._constants)[velocity_columns(rows.system)]
            poses[k] = bodies
            for name, table in tables.items():
                table[k] = memory[name]
        rotations = poses["rotation"].reshape(len(x), n, 3, 3)
        axes = np.einsum("knab,nb->kna", rotations, self._axes)
        return {"poles": poses["pole"], "axes": axes, "rotations": rotations, "free": free, **tables}

    @cached_property
    def _ways(self) -> NDArray[np.bool_]:
        """Whether the joint i is on the way from the body j to the ground, (n, n)."""
        found = np.eye(len(self._tree.bodies), dtype=bool)
        for j, base in enumerate(self._tree.parents):
            if base != GROUND:
                found[j] |= found[base]
        return found.T

    @cached_property
    def _inertias(self) -> tuple[Array, Array, Array]:
        """Masses (n,), first moments (n, 3) and tensors about the poles (n, 3, 3), in body axes."""
        bodies = self._tree.bodies
        masses = np.array([float(b.mass) for b in bodies])
        tensors = np.empty((len(bodies), 3, 3))
        for tensor, body in zip(tensors, bodies, strict=True):
            xx, yy, zz, xy, xz, yz = body.inertia
            tensor[:] = [[xx, -xy, -xz], [-xy, yy, -yz], [-xz, -yz, zz]]
        return masses, masses[:, None] * np.array([b.center for b in bodies], dtype=float), tensors

    def _mass(self, seen: dict[str, Array]) -> Array:
        """M_ij = s_iᵀ C_j s_j for joints i on the way of j, C_j the inertia of all that j carries, about the origin."""
        masses, moments, tensors = self._inertias
        p, turn, ways = seen["poles"], seen["rotations"], self._ways.astype(float)
        d = np.einsum("knab,nb->kna", turn, moments)
        both = np.einsum("kna,knb->knab", p, d)
        square = np.einsum("n,kna,knb->knab", masses, p, p) + both + both.transpose(0, 1, 3, 2)
        about = turn @ tensors @ turn.transpose(0, 1, 3, 2)
        about += np.trace(square, axis1=2, axis2=3)[..., None, None] * np.eye(3) - square
        mass, first = ways @ masses, np.einsum("jn,kna->kja", ways, d + masses[:, None] * p)
        about = np.einsum("jn,knab->kjab", ways, about)
        spin = np.where(self._turns[:, None], seen["axes"], 0.0)
        shift = np.where(self._turns[:, None], _cross(p, seen["axes"]), seen["axes"])
        force = mass[:, None] * shift + _cross(spin, first)
        torque = np.einsum("kjab,kjb->kja", about, spin) + _cross(first, shift)
        upper = spin @ torque.transpose(0, 2, 1) + shift @ force.transpose(0, 2, 1)
        upper *= self._ways
        return np.asarray(upper + upper.transpose(0, 2, 1) - upper * np.eye(len(masses)))

    @cached_property
    def _crossings(self) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """(push, joint on the way of its point to the ground, where their entry of G is among all m n), by that place."""
        rows, n = self.rows, len(self._tree.bodies)
        ways = {body: np.array(self._tree.path(body), dtype=np.intp) for body in rows.bodies if body != GROUND}
        touching = [(i, row, ways[rows.bodies[p]]) for i, (row, p) in enumerate(rows.pushes) if rows.bodies[p] in ways]
        sizes = [len(way) for _, _, way in touching]
        pushes = np.repeat(np.array([i for i, _, _ in touching], dtype=np.intp), sizes)
        joints = np.concatenate([np.zeros(0, dtype=np.intp), *(way for _, _, way in touching)])
        places = joints + n * np.repeat(np.array([row for _, row, _ in touching], dtype=np.intp), sizes)
        order = np.argsort(places, kind="stable")
        return pushes[order], joints[order], places[order]

    def _jacobian(self, seen: dict[str, Array], kind: np.ufunc) -> Array:
        """Σ ∂h/∂P · ∂P/∂q + ∂h/∂q, with factors as they are or by magnitude: only for joints on the ways of points."""
        m, n = len(self.rows.rows), len(self._tree.bodies)
        found = np.zeros((len(seen["inputs"]), m * n))
        pushes, joints, places = self._crossings
        if len(pushes):
            forces, spots = kind(self._forces(seen))[:, pushes], self._spots(seen)[:, self._pushed[pushes], :3]
            axes, poles = seen["axes"][:, joints], seen["poles"][:, joints]
            moves = kind(np.where(self._turns[joints, None], _cross(axes, spots - poles), axes))
            begins = np.flatnonzero(np.diff(places, prepend=-1))
            found[:, places[begins]] = np.add.reduceat(np.sum(forces * moves, axis=2), begins, axis=1)
        pulls = self.rows.pulls
        for i, (row, freedom) in enumerate(pulls):
            found[:, row * n + freedom] += kind(seen["outputs"][:, seen["outputs"].shape[1] - len(pulls) + i])
        return found.reshape(len(seen["inputs"]), m, n)

    @cached_property
    def _pushed(self) -> NDArray[np.intp]:
        """The points of the pushes."""
        return np.array([p for _, p in self.rows.pushes], dtype=np.intp)

    def _forces(self, seen: dict[str, Array]) -> Array:
        """∂h/∂P of the pushes, (k, pushes, 3)."""
        first = 3 * len(self.rows.rows)
        return seen["outputs"][:, first : first + 3 * len(self.rows.pushes)].reshape(len(seen["outputs"]), -1, 3)

    def _spots(self, seen: dict[str, Array]) -> Array:
        """P, Ṗ and P̈ of the points, (k, points, 9)."""
        first = len(self.rows.inputs) - 9 * len(self.rows.points)
        return seen["inputs"][:, first:].reshape(len(seen["inputs"]), -1, 9)

    def through(self, x: Array) -> Array:
        """G q̇ along rows, (k, m): by the velocities of points, Σ ∂h/∂P · Ṗ + ∂h/∂q · q̇."""
        seen, found = self._seen(x), np.zeros((len(self.rows.rows), len(x)))
        speeds = self._spots(seen)[:, self._pushed, 3:6]
        np.add.at(found, [row for row, _ in self.rows.pushes], np.sum(self._forces(seen) * speeds, axis=2).T)
        pulls, velocities = self.rows.pulls, x[:, 1:][:, velocity_columns(self.rows.system)]
        pulled = seen["outputs"][:, seen["outputs"].shape[1] - len(pulls) :] * velocities[:, [k for _, k in pulls]]
        np.add.at(found, [row for row, _ in pulls], pulled.T)
        return found.T


def _cross(a: Array, b: Array) -> Array:
    """a × b along the last axis."""
    x, y, z = (a[..., k] for k in range(3))
    u, v, w = (b[..., k] for k in range(3))
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=-1)
