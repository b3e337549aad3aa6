"""What the elimination of a sparse system accepts, on numbers: chains with large tensions, pivots that lose digits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import cos, sin

import numpy as np
import pytest

from svyaz.program.llvm_sparse import eliminated
from svyaz.program.sparse_order import minimum_degree
from svyaz.program.tape import LinearSystem, Sparse


class Numbers:
    """Carries the operations out as they are written."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def literal(self, value: float) -> int:
        if value in self.values:
            return self.values.index(value)
        self.values.append(value)
        return len(self.values) - 1

    def do(self, kind: str, *operands: int) -> int:
        u, v, w = (*(self.values[k] for k in operands), 0.0, 0.0)[:3]
        ways = {
            "add": lambda: u + v,
            "mul": lambda: u * v,
            "div": lambda: u / v,
            "abs": lambda: abs(u),
            "smaller": lambda: min(u, v),
            "less": lambda: w - u * v,
            "more": lambda: w + abs(u * v),
            "fewer": lambda: w - abs(u * v),
        }
        self.values.append(ways[kind]())
        return len(self.values) - 1

    @contextmanager
    def apart(self, _system: int) -> Iterator[None]:
        yield


def _solved(matrix: np.ndarray, side: np.ndarray, order: tuple[int, ...]) -> list[tuple[np.ndarray, float, float]]:
    """(unknowns, margin of pivots, exactness) of the elimination, then of the corrected one."""
    numbers, size = Numbers(), len(side)
    zero = numbers.literal(0.0)
    places = [(int(i), int(j)) for i, j in np.argwhere(matrix)]
    nodes = {place: len(numbers.values) + k for k, place in enumerate(places)}
    numbers.values += [float(matrix[place]) for place in places]
    sides = tuple(len(numbers.values) + k if b else zero for k, b in enumerate(side))
    numbers.values += side.tolist()
    entries = Sparse(size, zero, tuple((*place, node) for place, node in nodes.items()))
    done = eliminated(numbers, LinearSystem(size, entries, (sides,), True, (order, order)), 0, lambda node: node)
    assert done.corrected is not None
    return [
        (np.array([numbers.values[k] for k in one.unknowns]), numbers.values[one.margin], numbers.values[one.exactness])
        for one in (done, done.corrected)
    ]


def _hanging(count: int) -> tuple[np.ndarray, np.ndarray]:
    """[1 Gᵀ; G 0] and its side for a chain of unit masses that bends gently, at rest, under gravity."""
    angles = 1.0 + 0.3 * np.sin(np.linspace(0.0, 3.0, count))
    g = np.zeros((count, 2 * count))
    for k, a in enumerate(angles):
        g[k, 2 * k : 2 * k + 2] = sin(a), -cos(a)
        if k:
            g[k, 2 * k - 2 : 2 * k] = -sin(a), cos(a)
    matrix = np.block([[np.eye(2 * count), g.T], [g, np.zeros((count, count))]])
    side = np.concatenate([np.tile([0.0, -9.81], count), np.zeros(count)])
    return matrix, side


def test_L2_accelerations_between_large_tensions_are_accepted_as_they_are() -> None:
    """300 links: tensions of hundreds of weights; the equations hold to ten digits, the accelerations to those of LAPACK."""
    matrix, side = _hanging(300)
    order = minimum_degree(len(side), [(int(i), int(j)) for i, j in np.argwhere(matrix)])
    assert order is not None
    (unknowns, margin, exactness), _ = _solved(matrix, side, tuple(order))
    assert margin > 0.0
    assert exactness >= 0.0
    terms = np.abs(matrix) @ np.abs(unknowns) + np.abs(side)
    lost = np.abs(matrix @ unknowns - side) / terms
    assert lost.max() < 1e-10
    expected = np.linalg.solve(matrix, side)
    np.testing.assert_allclose(unknowns, expected, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("small", [1e-7, 1e-10])
def test_L2_unknowns_that_lose_their_digits_are_corrected(small: float) -> None:
    """A light mass on a rod: x₁ = 1.1 by the constraint, whatever the first pivot is."""
    matrix, side = np.array([[small, 1.0], [1.0, 0.0]]), np.array([1.3, 1.1])
    expected = np.linalg.solve(matrix, side)
    (rough, margin, exactness), (better, _, left) = _solved(matrix, side, (0, 1))
    assert margin > 0.0
    assert exactness < 0.0
    assert np.abs(rough - expected).max() > 1e-11
    assert left >= 0.0
    np.testing.assert_allclose(better, expected, rtol=1e-13)
