"""Where members in lanes are worked on by Radau's method."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array, aligned_zeros
from svyaz.integrate.calls import COUNTERS, Address, Counters, read, write
from svyaz.integrate.compiling import part
from svyaz.integrate.implicit import Located
from svyaz.integrate.radau_kernels import places


class StiffRuns(NamedTuple):
    """Runs: starts [t, y…] (N, n + 1), tolerances (N, n), constants of the map after a step (N, ·); rows (N, k, n + 1) at the
    times of ``grid``, how many of them were ``stored``, and the ``codes`` of the loops.
    """

    starts: Array
    atol: Array
    memories: Array
    rows: Array
    grid: Array
    stored: NDArray[np.int64]
    codes: NDArray[np.int64]


class Calls(NamedTuple):
    """Native functions: rates of all lanes and of one member, J, the map after a step (0: none)."""

    wide: Located
    rates: Located
    jacobian: Located
    after_step: Address


class StiffDesk(NamedTuple):
    """The room of the kernels; clocks and counters of each lane as in `radau`, its member and what has become of it, whether
    this is its last step; iterations, whether they have converged, their rate and last size, the error of the step; and
    room for a member alone: work (6, n + 1), slopes or J, stages.
    """

    room: Array
    clock: Array
    counters: Counters
    member: NDArray[np.int64]
    ended: NDArray[np.int64]
    final: NDArray[np.int64]
    iterations: NDArray[np.int64]
    found: NDArray[np.int64]
    rate: Array
    before: Array
    error: Array
    work: Array
    slopes: Array
    z: Array


def desk_for(n: int, width: int, rtol: float) -> StiffDesk:
    """A desk for members of n states."""
    at = places(n)
    room = aligned_zeros(at.size * width)
    room[at.rtol * width : (at.rtol + 1) * width] = rtol
    member, ended, final, iterations, found = np.zeros((5, width), dtype=np.int64)
    rate, before, error = np.zeros((3, width))
    return StiffDesk(
        room,
        np.zeros((width, 4)),
        np.zeros((width, COUNTERS), dtype=np.int64),
        member,
        ended,
        final,
        iterations,
        found,
        rate,
        before,
        error,
        np.zeros((6, n + 1)),
        np.zeros(max(2 * n, n * n)),
        np.zeros((3, n)),
    )


@part
def spread(source: Address, target: Address, lane: int, width: int, count: int) -> None:
    """A row of numbers into a lane."""
    for i in range(count):
        write(target, i * width + lane, read(source, i))


@part
def gathered(source: Address, target: Address, lane: int, width: int, count: int) -> None:
    """A lane as a row of numbers."""
    for i in range(count):
        write(target, i, read(source, i * width + lane))
