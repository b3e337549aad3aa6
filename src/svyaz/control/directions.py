"""Directions that no input moves, or no measurement sees, in the coordinates of the model.

    lᵀA = λ lᵀ, lᵀB = 0:   lᵀξ obeys (lᵀξ)' = λ lᵀξ whatever the input         (uncontrollable)
    A v = λ v,  C v = 0:   the motion ξ = v e^(λt) leaves the measurement zero   (unobservable)

For a mechanical system l = (…, k, …) with the velocities multiplied by k: the combination kᵀr of coordinates is what cannot
be moved; and v = (d, λd, …): the displacement d cannot be seen, with ds = B₀ d of the redundant coordinates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from svyaz.control.pairs import PairReport
from svyaz.stability import FirstApproximation

NEGLIGIBLE = 1e-7
"""A weight below this part of the largest is not told."""


@dataclass(frozen=True)
class Direction:
    """Weights by name, the largest of them 1, and the root that belongs to it.

    A complex direction is told as its real part with the root, and its imaginary part with the conjugate root.
    """

    weights: Mapping[str, float]
    root: complex

    def __str__(self) -> str:
        told = ""
        for name, weight in self.weights.items():
            size = "" if abs(abs(weight) - 1) < 1e-6 else f"{abs(weight):.4g}*"
            sign = ("-" if weight < 0 else "") if not told else (" - " if weight < 0 else " + ")
            told += f"{sign}{size}{name}"
        return told


def uncontrollable(model: FirstApproximation, report: PairReport) -> tuple[Direction, ...]:
    """The combinations of coordinates and further states that the inputs cannot move."""
    n = len(model.independent)
    rows = [(root, vectors[:, n:]) for root, vectors in report.fixed]
    return directions((*model.independent, *model.further), rows)


def unobservable(model: FirstApproximation, report: PairReport) -> tuple[Direction, ...]:
    """The displacements, of redundant coordinates and further states too, that the measurement does not see."""
    n = len(model.independent)
    names = (*model.independent, *model.dependent, *model.further)
    slope = np.array([model.following[s] for s in model.dependent]).reshape(len(model.dependent), len(model.variables))
    rows = [(root, np.hstack([v[:, :n], v @ slope.T, v[:, 2 * n :]])) for root, v in report.fixed]
    return directions(names, rows)


def directions(names: Sequence[str], fixed: Sequence[tuple[complex, NDArray[np.inexact]]]) -> tuple[Direction, ...]:
    """Fixed roots with their vectors, a row each, as directions; several rows are made as sparse as they can be."""
    found = []
    for root, rows in fixed:
        basis = _sparse(np.asarray(rows, dtype=complex))
        found += [Direction(_weights(names, row, root), root) for row in basis] or [Direction({}, root)]
    return tuple(found)


def _weights(names: Sequence[str], row: NDArray[np.complex128], root: complex) -> dict[str, float]:
    """The first of the largest weights is 1."""
    part = row.imag if root.imag < 0 and np.abs(row.imag).max() > NEGLIGIBLE else row.real
    sizes = np.abs(part)
    first = part[np.flatnonzero(sizes > (1 - 1e-6) * sizes.max())[0]]
    return {name: float(x / first) for name, x in zip(names, part, strict=True) if abs(x) > NEGLIGIBLE * sizes.max()}


def _sparse(rows: NDArray[np.complex128]) -> list[NDArray[np.complex128]]:
    """A basis of the rows in reduced form, the largest entry of each 1; rows that depend on others are left out."""
    left = rows.copy()
    basis: list[NDArray[np.complex128]] = []
    size = np.abs(rows).max(initial=0.0)
    for _ in range(len(rows)):
        i, j = np.unravel_index(int(np.argmax(np.abs(left))), left.shape)
        if not np.abs(left[i, j]) > 1e-6 * size:
            break
        row = left[i] / left[i, j]
        left = left - np.outer(left[:, j], row)
        basis = [other - other[j] * row for other in basis] + [row]
    return [row / row[np.argmax(np.abs(row))] for row in basis]
