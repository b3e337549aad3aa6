"""Where the inertia, or the gradients of the constraints, degenerate along a run: what does at a row, and when the next such
position would be reached.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.constraints import examined, model_states
from svyaz.dynamics import Measure, inverse_roots, measure_of
from svyaz.forms import Equations
from svyaz.integrate import Path
from svyaz.matrices import eigvalsh, svd
from svyaz.program import Entries, bordered
from svyaz.stabilise.segment import Segment
from svyaz.stabilise.verdicts import ROUNDING

COMPARED = 200
"""Rows of a run with which its end, or a singular point, is compared."""


@dataclass(frozen=True)
class RunExcerpt:
    """Some rows of a run, those about its row ``here`` among them, in the states of the model; ``few`` are their numbers."""

    equations: Equations
    times: Array
    states: Array
    here: int
    few: NDArray[np.intp]

    @cached_property
    def measure(self) -> Measure:
        return measure_of(self.equations)

    @property
    def names(self) -> tuple[str, ...]:
        """The first few coordinates."""
        return tuple(self.equations.system.coordinates[:6])

    @cached_property
    def sizes(self) -> Array:
        """How far coordinates go along the run."""
        return np.max(np.abs(self.states[:, list(self.measure.coordinates)]), axis=0)

    @cached_property
    def degeneracies(self) -> tuple[float, float]:
        """(inertia, gradients): the least inertia, of all motions or of those that the constraints allow, and the least
        singular value of the gradients, each at the row over the largest one along the run. Scales are those of the run.
        """
        if self.measure.large:
            relative = self._degeneracies_of_entries()
            if relative is not None:
                return relative
        numbers = self.measure.along(self.times, self.states)
        good = np.isfinite([m.sum() + g.sum() for m, g in zip(numbers.mass, numbers.jacobian, strict=True)])
        if not good[self.here] or good.sum() < 5:
            return 1.0, 1.0
        heaviest = np.max(np.diagonal(numbers.mass[good], axis1=1, axis2=2), axis=0)
        d = inverse_roots(heaviest)
        g = numbers.jacobian * d
        longest = np.max(np.linalg.norm(g[good], axis=2), axis=0)
        g = g / np.where(longest > 0.0, longest, 1.0)[:, None]
        count = g.shape[1]
        found = np.ones((3, len(g)))
        for k in np.flatnonzero(good):
            mass = (numbers.mass[k] * d[:, None]) * d
            _, singular, right = svd(g[k])
            free = right[count:] @ mass @ right[count:].T
            found[:, k] = [
                eigvalsh(mass)[0],
                eigvalsh(free)[0] if len(free) else 1.0,
                singular[-1] if count else 1.0,
            ]
        return self._relative(found, good)

    def _relative(self, found: Array, good: NDArray[np.bool_]) -> tuple[float, float]:
        """(inertia, gradients) of least values (3, k) at the row over the largest."""
        largest = np.max(found[:, good], axis=1)
        # a matrix M that is singular everywhere is no reason for what happens here
        relative = np.where(largest > ROUNDING, found[:, self.here] / np.where(largest > 0.0, largest, 1.0), 1.0)
        return float(min(relative[0], relative[1])), float(relative[2])

    def _degeneracies_of_entries(self) -> tuple[float, float] | None:
        """The same of large sparse matrices; None where they have no order of elimination."""
        mass, plain = self.measure.matrices(self.times, self.states)
        good = np.asarray(np.isfinite(mass.values).all(axis=1) & np.isfinite(plain.values).all(axis=1))
        if not good[self.here] or good.sum() < 5:
            return 1.0, 1.0
        heaviest = np.max(mass.diagonals()[good], axis=0)
        d = inverse_roots(heaviest)
        g = plain.scaled(np.ones(plain.shape[0]), d)
        longest = np.max(g.lengths()[good], axis=0)
        g = g.divided(np.where(longest > 0.0, longest, 1.0))
        m = mass.scaled(d, d)
        found = [bordered(m, g.without_rows()), bordered(m, g), bordered(None, g)]
        if any(matrices is None for matrices in found):
            return None
        free, held, alone = (matrices for matrices in found if matrices is not None)
        return self._relative(np.array([free.least_inertia(), held.least_inertia(), alone.least_gradients()]), good)


def run_about(segment: Segment, times: Array, states: Array, row: int) -> RunExcerpt:
    few = np.unique([*np.linspace(0, len(times) - 1, COMPARED).astype(int), row])
    few = few[np.isfinite(states[few]).all(axis=1)]
    own = model_states(segment.equations, times[few], states[few])
    return RunExcerpt(examined(segment.equations), times[few], own, int(np.searchsorted(few, row)), few)


ZONE = 0.05
"""Gradients are nearly dependent when their least singular value is below this part of its largest so far."""

AHEAD = 1.2
"""… or when it would vanish within so many rows."""

LOOKED_AT, EVERY = (400, 10_000), 5
"""So many rows of a path are looked at, at least and at most; every fifth of those with a fixed step, which is short."""

VARYING = 0.2
"""Gradients whose log det varies by less than this along a coarse path are nowhere near."""

ROWS = 6
"""From so many rows of one approach a way through is looked for, at most: each at half the time from it of the one before."""


@dataclass(frozen=True)
class _Along:
    """Gradients in scaled coordinates at some rows of a path, each over its largest length so far."""

    measure: Measure
    numbers: NDArray[np.intp]
    times: Array
    states: Array
    scales: Array
    lengths: Array
    rows: Entries
    sizes: Array
    """log det of the products of the gradients, half of which is the sum of the logarithms of their singular values."""

    @classmethod
    def of(cls, segment: Segment, path: Path, step: float | None) -> _Along | None:
        good = np.isfinite(path.states).all(axis=1)
        count = len(path.times) if good.all() else int(np.argmin(good))
        if count < 2:
            return None
        numbers = _choose_rows(path.times[:count], 1 if step is None else EVERY)
        times = path.times[numbers]
        states = model_states(segment.equations, times, path.states[numbers])
        measure = measure_of(examined(segment.equations))
        with np.errstate(all="ignore"):
            masses, plain = measure.matrices(times, states)
            inertia = np.sort(masses.diagonals(), axis=0)[len(times) // 2]
            scales = inverse_roots(inertia)
            scaled = plain.scaled(np.ones(plain.shape[0]), scales)
            lengths = np.maximum.accumulate(scaled.lengths(), axis=0)
            lengths = np.where(lengths > 0.0, lengths, 1.0)
            rows = scaled.divided(lengths)
            if not np.isfinite(rows.values).all():
                return None
            matrices = bordered(None, rows) if measure.large else None
            if matrices is not None:
                sizes = matrices.log_determinants()[1]
            else:
                whole = rows.whole()
                sizes = np.linalg.slogdet(whole @ whole.transpose(0, 2, 1))[1]
        return cls(measure, numbers, times, states, scales, lengths, rows, sizes)

    def later(self, few: NDArray[np.intp], ahead: Array) -> Entries:
        """The gradients at some rows a little later."""
        states = self.states[few].copy()
        places, speeds = list(self.measure.coordinates), list(self.measure.speeds)
        states[:, places] += ahead[:, None] * self.states[few][:, speeds]
        plain = self.measure.gradients(self.times[few] + ahead, states)
        return plain.scaled(np.ones(plain.shape[0]), self.scales).divided(self.lengths[few])


def least_values(entries: Entries, *, large: bool) -> Array:
    """The least singular value of each of many matrices (k, m, n); of large ones by their entries."""
    matrices = bordered(None, entries) if large else None
    if matrices is not None:
        return matrices.least_gradients()
    rows = entries.whole()
    values = eigvalsh(rows @ rows.transpose(0, 2, 1))[:, 0]
    return np.asarray(np.sqrt(np.maximum(values, 0.0)), dtype=float)


def varies(segment: Segment, path: Path) -> bool:
    """Could the gradients have been near to dependent between the rows of a path?"""
    along = _Along.of(segment, path, None)
    return along is None or bool(np.ptp(along.sizes) > VARYING)


def approaches(segment: Segment, path: Path, step: float | None) -> Iterator[tuple[int, float]]:
    """(row, moment): rows from which a position comes near at which gradients would be dependent, and when that is.

    Rows that follow one another are of one approach, and steps may grow short without end in it: few of them are given.
    """
    along = _Along.of(segment, path, step)
    if along is None:
        return
    size = along.sizes
    low = np.flatnonzero(size < np.maximum.accumulate(size) - 1.0)
    if not len(low):
        return
    times = along.times
    some = np.unique([*np.linspace(0, len(times) - 1, 50).astype(int), *low])
    least = np.zeros(len(times))
    least[some] = least_values(along.rows.at(some), large=along.measure.large)
    largest = np.maximum.accumulate(least)
    gaps = np.diff(times, append=2 * times[-1] - times[-2])
    later = along.later(low, 0.01 * gaps[low])
    if not np.isfinite(later.values).all():
        return
    rates = (least_values(later, large=along.measure.large) - least[low]) / (0.01 * gaps[low])
    left = np.where(rates < 0.0, -least[low] / np.where(rates < 0.0, rates, -1.0), np.inf)
    near = (left < np.inf) & ((least[low] < ZONE * largest[low]) | (left < AHEAD * gaps[low]))
    rows = np.flatnonzero(near)
    for approach in np.split(rows, 1 + np.flatnonzero(np.diff(low[rows]) > 1)):
        for k in approach[_spread(left[approach])]:
            yield int(along.numbers[low[k]]), float(times[low[k]] + left[k])


def _spread(left: Array) -> NDArray[np.intp]:
    """Some rows of an approach: where the time that is left first falls to a half, a quarter, … of the first one."""
    if len(left) <= ROWS:
        return np.arange(len(left))
    below = left <= left[:1] / 2.0 ** np.arange(ROWS)[:, None]
    return np.unique(np.argmax(below, axis=1)[below.any(axis=1)])


def _choose_rows(times: Array, stride: int) -> NDArray[np.intp]:
    """Some rows of a path, spread over the rows and over the time: steps grow short without end before some positions."""
    most = int(np.clip(len(times) // stride, *LOOKED_AT))
    if len(times) <= most:
        return np.arange(len(times))
    evenly = np.searchsorted(times, np.linspace(times[0], times[-1], most // 2))
    return np.unique([*np.arange(0, len(times), -(-2 * len(times) // most)), *evenly, len(times) - 1])
