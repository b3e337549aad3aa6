"""Which parts of a box touch, and what hangs together."""

from __future__ import annotations

from collections.abc import Callable
from math import pi

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array

SLACK = 1e-9
"""Parts nearer than this, beside their sizes, touch."""


def touching(low: Array, high: Array, k: int, turns: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which of the parts (N, d) touch the k-th? Coordinates that ``turns`` marks are angles."""
    middle, radius = 0.5 * (low + high), 0.5 * (high - low)
    gap = np.abs(middle - middle[k])
    gap = np.where(turns, np.abs((gap + pi) % (2 * pi) - pi), gap)
    return np.asarray(np.all(gap <= (radius + radius[k]) * (1 + 1e-6) + SLACK, axis=1))


def connected(count: int, neighbours: Callable[[int], NDArray[np.bool_]]) -> list[NDArray[np.intp]]:
    """The classes of things that hang together, given which are neighbours of each."""
    left = np.ones(count, dtype=bool)
    found = []
    for first in range(count):
        if not left[first]:
            continue
        left[first] = False
        waiting, together = [first], [first]
        while waiting:
            near = np.flatnonzero(neighbours(waiting.pop()) & left)
            left[near] = False
            waiting += near.tolist()
            together += near.tolist()
        found.append(np.array(sorted(together)))
    return found
