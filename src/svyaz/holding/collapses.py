"""What degenerates at a row of a run: the inertia, or the gradients of the constraints, compared with those along the run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.constraints import examined, model_states
from svyaz.dynamics import Measure, measure_of
from svyaz.forms import Equations
from svyaz.holding.segment import Segment
from svyaz.holding.verdicts import ROUNDING
from svyaz.matrices import eigvalsh, svd
from svyaz.program import bordered

COMPARED = 200
"""Rows of the run with which a singular point is compared."""


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
    def collapses(self) -> tuple[float, float]:
        """(inertia, gradients): the least inertia, of all motions or of those that the constraints allow, and the least
        singular value of the gradients, each at the row over the largest one along the run. Scales are those of the run.
        """
        if self.measure.large:
            relative = self._collapses_of_entries()
            if relative is not None:
                return relative
        numbers = self.measure.along(self.times, self.states)
        good = np.isfinite([m.sum() + g.sum() for m, g in zip(numbers.mass, numbers.jacobian, strict=True)])
        if not good[self.here] or good.sum() < 5:
            return 1.0, 1.0
        heaviest = np.max(np.diagonal(numbers.mass[good], axis1=1, axis2=2), axis=0)
        d = 1.0 / np.sqrt(np.where(heaviest > 0.0, heaviest, 1.0))
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

    def _collapses_of_entries(self) -> tuple[float, float] | None:
        """The same of large sparse matrices; None where they have no order of elimination."""
        mass, plain = self.measure.matrices(self.times, self.states)
        good = np.asarray(np.isfinite(mass.values).all(axis=1) & np.isfinite(plain.values).all(axis=1))
        if not good[self.here] or good.sum() < 5:
            return 1.0, 1.0
        heaviest = np.max(mass.diagonals()[good], axis=0)
        d = 1.0 / np.sqrt(np.where(heaviest > 0.0, heaviest, 1.0))
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
