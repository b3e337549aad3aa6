"""Deviations from the constraints along rows of states, in the order of the perturbation equation: h, ḣ, f."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np

from svyaz.arrays import Array
from svyaz.dynamics import DEVIATIONS, Measure, measure_of
from svyaz.forms import Equations
from svyaz.holding.perturbations import positions_of, velocities_of
from svyaz.program import largest_magnitudes, once_for_each

SAMPLED = 5
"""States along a motion at which the own scales of constraints are looked at."""


@dataclass(frozen=True)
class Extent:
    """How far y reaches along a motion, and its own scales there, (count,)."""

    largest: Array
    scales: Array


@dataclass(frozen=True, eq=False)
class Deviations:
    """y = (h, ḣ, f), its scale and its gradient; ``places`` and ``speeds`` are the numbers of the constraints on each."""

    equations: Equations
    measure: Measure
    places: tuple[int, ...]
    speeds: tuple[int, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The constraints in the order of the entries that are reported."""
        return tuple(self.equations.deviations[k].name for k in (*self.places, *self.speeds))

    @cached_property
    def positions(self) -> int:
        """Number of constraints on positions."""
        return len(self.places)

    @cached_property
    def count(self) -> int:
        """Number of entries of y."""
        return 2 * len(self.places) + len(self.speeds)

    @cached_property
    def reported(self) -> list[int]:
        """Entries of y that are reported as residuals, in the order of ``names``: h for positions, f for velocities."""
        p = self.positions
        return [*range(p), *range(2 * p, self.count)]

    def at(self, times: Array, states: Array) -> Array:
        """y along the rows, (k, count)."""
        found = self.measure.function.known(np.column_stack([times, states]), DEVIATIONS[:2])
        return self.ordered(found["position"], found["velocity"])

    def scales(self, times: Array, states: Array) -> Array:
        """The largest own scale of each entry along the rows, (count,): what its terms would sum up to in magnitude.

        Where all terms vanish along the motion (x = 0) the typical sizes of the coordinates give the scale.
        """
        return self.extents([(times, states)])[0].scales

    def extents(self, motions: Sequence[tuple[Array, Array]]) -> list[Extent]:
        """How far y reaches along each motion, given by its times and states; its scales are those of its terms, not below
        those of a few of its states.
        """
        if not motions:
            return []
        few = [np.unique(np.linspace(0, len(times) - 1, SAMPLED).astype(int)) for times, _ in motions]
        chosen = np.concatenate([times[some] for (times, _), some in zip(motions, few, strict=True)])
        states = np.concatenate([rows[some] for (_, rows), some in zip(motions, few, strict=True)])
        begins = [0, *accumulate(map(len, few[:-1]))]
        reach = largest_magnitudes(self.measure.function, motions, DEVIATIONS)
        parts = self.measure.function.known(np.column_stack([chosen, states]), self.measure.parts)
        here = self.measure.numbers(states, parts)
        own = [np.fmax(np.fmax.reduceat(scale, begins), 0.0) for scale in (here.position_scale, here.velocity_scale)]
        scales = np.maximum(self.ordered(reach["position_terms"], reach["velocity_terms"]), self.ordered(*own))
        return [Extent(*each) for each in zip(self.ordered(reach["position"], reach["velocity"]), scales, strict=True)]

    def ordered(self, position: Array, velocity: Array) -> Array:
        """Columns of constraints, in position and in velocity, as entries of y."""
        places, speeds = list(self.places), list(self.speeds)
        return np.concatenate([position[:, places], velocity[:, [*places, *speeds]]], axis=1)

    def moved_to(self, times: Array, states: Array, wanted: Array) -> Array:
        """The nearest states with the wanted deviations; NaN where there are none."""
        rows = np.column_stack([times, states])
        return self.measure.dynamics.move_states(rows, *self._by_rows(wanted))

    def _by_rows(self, wanted: Array) -> tuple[Array, Array]:
        """Entries of y as columns of constraints, in position and in velocity: what ``ordered`` is given."""
        position, velocity = np.zeros((2, len(wanted), len(self.equations.deviations)))
        position[:, list(self.places)], velocity[:, [*self.places, *self.speeds]] = np.split(
            wanted, [self.positions], axis=1
        )
        return position, velocity


@once_for_each
def deviations(equations: Equations) -> Deviations:
    """The deviations of the constraints that act."""
    places, speeds = tuple(positions_of(equations)), tuple(velocities_of(equations))
    return Deviations(equations, measure_of(equations), places, speeds)
