"""Mobility M⁻¹ of a system at a state, by the mass matrix or by recursions over bodies.

The mass matrix of a long tree is so nearly singular that few digits of M⁻¹ f are left where it is solved for as it stands;
recursions keep them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from svyaz.arrays import Array
from svyaz.dynamics.scales import least_correction
from svyaz.matrices import lstsq

TINY = float(np.finfo(float).tiny)


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

    def least(self, jacobian: Array, wanted: Array) -> tuple[Array, Array]:
        """(δ, Λ) with G δ = wanted, M δ = Gᵀ Λ."""

    def impulses(self, jacobian: Array, jump: Array) -> Array:
        """Λ (m,) of M δ = Gᵀ Λ for a jump δ of the velocities."""

    def ease(self, row: Array) -> float:
        """√(g M⁻¹ gᵀ) of a row g: how easily a unit impulse along it moves the bodies."""

    def mobilities(self, rows: Array) -> Array:
        """g M⁻¹ gᵀ of each row g, (k,)."""

    def accelerated(self, jacobian: Array, constraint_bias: Array) -> Array:
        """Accelerations with constraints acting, G q̈ + constraint_bias = 0."""


@dataclass(frozen=True)
class ByMassMatrix:
    """By M and the bias, M q̈ + bias = Gᵀ λ."""

    mass: Array
    bias: Array

    def pushed(self, forces: Array) -> Array:
        return lstsq(self.mass, forces, rcond=None)

    def least(self, jacobian: Array, wanted: Array) -> tuple[Array, Array]:
        found = least_correction(self.mass, jacobian, wanted)
        return found, self.impulses(jacobian, found)

    def impulses(self, jacobian: Array, jump: Array) -> Array:
        return lstsq(jacobian.T, self.mass @ jump, rcond=None)

    def ease(self, row: Array) -> float:
        least = least_correction(self.mass, row[None, :], np.ones(1))
        return float(1.0 / max(abs(float(least @ self.mass @ least)), TINY) ** 0.5)

    def mobilities(self, rows: Array) -> Array:
        found: Array = np.einsum("kn,nk->k", rows, lstsq(self.mass, rows.T))
        return found

    def accelerated(self, jacobian: Array, constraint_bias: Array) -> Array:
        count = len(jacobian)
        matrix = np.block([[self.mass, jacobian.T], [jacobian, np.zeros((count, count))]])
        return lstsq(matrix, np.concatenate([-self.bias, -constraint_bias]))[: len(self.mass)]


@dataclass(frozen=True)
class ByRecursion:
    """By the accelerations that forces give to bodies that nothing else moves."""

    response: Response

    def pushed(self, forces: Array) -> Array:
        found: Array = self.response.respond(forces[None, :])[0]
        return found

    def least(self, jacobian: Array, wanted: Array) -> tuple[Array, Array]:
        moved = self.response.respond(jacobian)
        compliance = jacobian @ moved.T
        unit = 1.0 / np.sqrt(np.maximum(np.diag(compliance), TINY))
        impulses = unit * lstsq(compliance * np.outer(unit, unit), unit * wanted)
        return moved.T @ impulses, impulses

    def impulses(self, jacobian: Array, jump: Array) -> Array:
        return self.least(jacobian, jacobian @ jump)[1]

    def ease(self, row: Array) -> float:
        return float(max(float(row @ self.pushed(row)), 0.0) ** 0.5)

    def mobilities(self, rows: Array) -> Array:
        found: Array = np.einsum("kn,kn->k", rows, self.response.respond(rows))
        return found

    def accelerated(self, jacobian: Array, constraint_bias: Array) -> Array:
        free = self.response.free
        return free + self.least(jacobian, -constraint_bias - jacobian @ free)[0] if len(jacobian) else free
