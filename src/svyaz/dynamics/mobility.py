"""Mobility M⁻¹ of a system at a state, by the mass matrix or by recursions over bodies.

The mass matrix of a long tree is so nearly singular that few digits of M⁻¹ f are left where it is solved for as it stands;
recursions keep them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Protocol

import numpy as np

from svyaz.arrays import Array
from svyaz.dynamics.constrained import augmented_matrix
from svyaz.dynamics.scales import least_correction, row_lengths, scaled_mass
from svyaz.matrices import eigvalsh, is_large, lstsq

TINY = float(np.finfo(float).tiny)

REGULAR = 1e-8
"""A mass matrix with a unit diagonal is regular while its roots are not below this."""

DEPENDENT = 1e-9
"""Rows whose singular values are below this part of the largest depend on each other."""


class Response(Protocol):
    """What forces do to the bodies of a tree at a state."""

    @property
    def free(self) -> Array:
        """Accelerations (n,) without constraints."""

    def respond(self, forces: Array) -> Array:
        """M⁻¹ f (k, n) of forces (k, n)."""


class Mobility(Protocol):
    """What impulses and forces do to a system at a state."""

    def pushed(self, forces: Array) -> Array:
        """M⁻¹ f (n,)."""

    def responses(self, rows: Array) -> Array | None:
        """M⁻¹ gᵀ of each row g, (k, n); None where M is nearly singular."""

    def least(self, jacobian: Array, wanted: Array) -> tuple[Array, Array]:
        """(δ, Λ) with G δ = wanted, M δ = Gᵀ Λ."""

    def correction(self, jacobian: Array, wanted: Array) -> Array:
        """The least δ with G δ = wanted, in the metric of M, in the sense of least squares."""

    def impulses(self, jacobian: Array, jump: Array) -> Array:
        """Λ (m,) of M δ = Gᵀ Λ for a jump δ of the velocities."""

    def eases(self, rows: Array) -> Array:
        """√(g M⁻¹ gᵀ) of each row g, (k,): how easily a unit impulse along it moves the bodies."""

    def mobilities(self, rows: Array) -> Array:
        """g M⁻¹ gᵀ of each row g, (k,)."""

    def accelerated(self, jacobian: Array, constraint_bias: Array) -> Array:
        """Accelerations with constraints acting, G q̈ + constraint_bias = 0."""


@dataclass(frozen=True)
class ByMassMatrix:
    """By M and the bias, M q̈ + bias = Gᵀ λ. A regular M = (D⁻¹ L) (D⁻¹ L)ᵀ, D = 1/√diag M, is factorised once."""

    mass: Array
    bias: Array

    @cached_property
    def _inverse_root(self) -> Array | None:
        return _inverse_root(self.mass.tobytes(), len(self.mass))

    def pushed(self, forces: Array) -> Array:
        root = self._inverse_root
        return lstsq(self.mass, forces, rcond=None) if root is None else root.T @ (root @ forces)

    def responses(self, rows: Array) -> Array | None:
        root = self._inverse_root
        return None if root is None else (rows @ root.T) @ root

    def least(self, jacobian: Array, wanted: Array) -> tuple[Array, Array]:
        root = self._inverse_root
        if root is None or is_large(jacobian):
            found = least_correction(self.mass, jacobian, wanted)
        else:
            found = self._shortest(root, jacobian, wanted)
        return found, self.impulses(jacobian, found)

    def correction(self, jacobian: Array, wanted: Array) -> Array:
        return least_correction(self.mass, jacobian, wanted)

    def _shortest(self, root: Array, jacobian: Array, wanted: Array) -> Array:
        """δ = (L⁻¹ D)ᵀ y with the shortest y of G (L⁻¹ D)ᵀ y = wanted, each row in units of its length."""
        rows = jacobian @ root.T
        lengths = row_lengths(rows)
        unit = np.where(lengths > 0.0, 1.0 / np.where(lengths > 0.0, lengths, 1.0), 0.0)
        return root.T @ lstsq(rows * unit[:, None], wanted * unit, rcond=DEPENDENT)

    def impulses(self, jacobian: Array, jump: Array) -> Array:
        return lstsq(jacobian.T, self.mass @ jump, rcond=None)

    def eases(self, rows: Array) -> Array:
        root = self._inverse_root
        if root is not None:
            return row_lengths(rows @ root.T)
        least = [least_correction(self.mass, row[None, :], np.ones(1)) for row in rows]
        return np.array([1.0 / max(abs(float(x @ self.mass @ x)), TINY) ** 0.5 for x in least])

    def mobilities(self, rows: Array) -> Array:
        found: Array = np.einsum("kn,nk->k", rows, self.pushed(rows.T))
        return found

    def accelerated(self, jacobian: Array, constraint_bias: Array) -> Array:
        root, count = self._inverse_root, len(jacobian)
        if root is not None:
            free = -self.pushed(self.bias)
            return free + self._shortest(root, jacobian, -constraint_bias - jacobian @ free) if count else free
        matrix = augmented_matrix(self.mass, jacobian, jacobian)
        return lstsq(matrix, np.concatenate([-self.bias, -constraint_bias]))[: len(self.mass)]


@lru_cache(maxsize=8)
def _inverse_root(entries: bytes, count: int) -> Array | None:
    """L⁻¹ D, so that M⁻¹ = (L⁻¹ D)ᵀ (L⁻¹ D); None where M is nearly singular. What happens at one position asks for it again
    and again.
    """
    mass = np.frombuffer(entries).reshape(count, count)
    diagonal = np.diag(mass)
    if not (np.isfinite(mass).all() and (diagonal > 0.0).all()):
        return None
    scales = 1.0 / np.sqrt(diagonal)
    scaled = scaled_mass(mass, scales)
    if not np.isfinite(scaled).all() or eigvalsh(scaled).min(initial=1.0) < REGULAR:
        return None
    found: Array = np.linalg.inv(np.linalg.cholesky(scaled)) * scales
    return found


@dataclass(frozen=True)
class ByRecursion:
    """By the accelerations that forces give to bodies that nothing else moves."""

    response: Response

    def pushed(self, forces: Array) -> Array:
        found: Array = self.response.respond(forces[None, :])[0]
        return found

    def responses(self, rows: Array) -> Array | None:
        return self.response.respond(rows)

    def least(self, jacobian: Array, wanted: Array) -> tuple[Array, Array]:
        moved = self.response.respond(jacobian)
        compliance = jacobian @ moved.T
        unit = 1.0 / np.sqrt(np.maximum(np.diag(compliance), TINY))
        impulses = unit * lstsq(compliance * np.outer(unit, unit), unit * wanted)
        return moved.T @ impulses, impulses

    def correction(self, jacobian: Array, wanted: Array) -> Array:
        return self.least(jacobian, wanted)[0]

    def impulses(self, jacobian: Array, jump: Array) -> Array:
        return self.least(jacobian, jacobian @ jump)[1]

    def eases(self, rows: Array) -> Array:
        return np.sqrt(np.maximum(self.mobilities(rows), 0.0))

    def mobilities(self, rows: Array) -> Array:
        found: Array = np.einsum("kn,kn->k", rows, self.response.respond(rows))
        return found

    def accelerated(self, jacobian: Array, constraint_bias: Array) -> Array:
        free = self.response.free
        return free + self.least(jacobian, -constraint_bias - jacobian @ free)[0] if len(jacobian) else free
