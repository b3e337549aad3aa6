"""How far a motion is off: deviations from the constraints along rows of states, and the sizes of states for errors.

Deviations y = (h, ḣ, f) are in the order of the perturbation equation. The own scale of a state is its largest size along a
motion. A coordinate or velocity that stays at zero (by a symmetry, by a constraint, in equilibrium) has none; it is measured by
what it and its like can do: a small part of the size that the energy of all would give it alone,

    √(Σ_j M_jj q_j² / M_ii) for coordinates,    √((Σ_j M_jj v_j² + Σ_j |bias_j q_j|) / M_ii) for velocities,

the second with the work of the forces, for systems in equilibrium. Both have the unit of the state and do not see the units of
the others. Coordinates whose rates are combinations q̇ = N u of quasi-velocities take |N| times the sizes of ∫ u dt. And what
rounding of the forces alone builds up in the time of the run, ε A T and ε A T², is no difference at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np

from svyaz.arrays import Array
from svyaz.dynamics import DEVIATIONS, Measure, measure_of
from svyaz.expr import gradient
from svyaz.forms import Equations
from svyaz.program import Function, Program, build, function, largest_magnitudes, once_for_each
from svyaz.stabilise.laws import positions_of, velocities_of

SAMPLED = 5
"""States along a motion at which the own scales of constraints, masses and forces are evaluated."""


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
        return self.in_order(found["position"], found["velocity"])

    def with_terms(self, times: Array, states: Array) -> tuple[Array, Array]:
        """y along the rows and the sums of the magnitudes of its terms, (k, count) each."""
        found = self.measure.function.known(np.column_stack([times, states]), DEVIATIONS)
        y, terms = (self.in_order(found[f"position{kind}"], found[f"velocity{kind}"]) for kind in ("", "_terms"))
        return y, terms

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
        scales = np.maximum(self.in_order(reach["position_terms"], reach["velocity_terms"]), self.in_order(*own))
        return [Extent(*each) for each in zip(self.in_order(reach["position"], reach["velocity"]), scales, strict=True)]

    def in_order(self, position: Array, velocity: Array) -> Array:
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


LEAST_PART = 1e-3
"""The least scale of a state, as a part of what it could be."""

NO_SIZE = 1e-9
"""The least scale as a part of the largest state, where nothing is known of masses."""

ROUNDED = 64 * np.finfo(float).eps
"""Rounding of forces and of deviations, as a part of their scale."""


@dataclass(frozen=True)
class StateScale:
    """Of each state its size, and the difference that rounding makes."""

    size: Array
    noise: Array

    def difference(self, a: Array, b: Array) -> float:
        """max over rows and states of |a - b| over the size of the state; states of no size do not count."""
        apart = np.maximum(np.max(np.abs(a - b), axis=0, initial=0.0) - self.noise, 0.0)
        moving = self.size > 0.0
        return float(np.max(apart[moving] / self.size[moving], initial=0.0))


@dataclass(frozen=True)
class StatePlaces:
    """Columns of the states: the velocities; the coordinates that belong to them one by one, or, with ``quasi``, those whose
    rates are combinations of them.
    """

    speeds: tuple[int, ...]
    coordinates: tuple[int, ...]
    quasi: bool

    def scale(self, weights: Array, times: Array, states: Array) -> StateScale:
        """The scale of the states along a motion. ``weights`` (rows, …) are M_jj, bias_j, and with ``quasi`` the rows of N at
        the rows that are ``sampled``.
        """
        size, noise = np.max(np.abs(states), axis=0, initial=0.0), np.zeros(states.shape[1])
        size = np.maximum(size, NO_SIZE * np.max(size, initial=0.0))
        n, speeds, places = len(self.speeds), list(self.speeds), list(self.coordinates)
        weights = weights[np.isfinite(weights).all(axis=1)]
        if not n or not len(weights):
            return StateScale(size, noise)
        mass, bias = np.max(weights[:, :n], axis=0), np.max(np.abs(weights[:, n : 2 * n]), axis=0)
        heavy = mass > 0.0
        root = np.sqrt(np.where(heavy, mass, 1.0))
        moved = _integrate(times, states[:, speeds]) if self.quasi else states[:, places]
        reach = np.sqrt(np.max(np.sum(np.where(heavy, mass, 0.0) * moved**2, axis=1), initial=0.0)) / root
        work = 0.0 if self.quasi else float(np.sum(bias * np.where(heavy, reach, 0.0)))
        energy = np.max(np.sum(np.where(heavy, mass, 0.0) * states[:, speeds] ** 2, axis=1), initial=0.0) + work
        pace = np.sqrt(energy) / root
        span = float(times[-1] - times[0])
        rounding = np.where(heavy, ROUNDED * span * np.sqrt(np.sum(np.where(heavy, bias / root, 0.0) ** 2)) / root, 0.0)
        directions = np.max(np.abs(weights[:, 2 * n :]), axis=0).reshape(len(places), n) if self.quasi else np.eye(n)
        for columns, floor, noisy in (
            (speeds, np.where(heavy, pace, 0.0), rounding),
            (places, directions @ np.where(heavy, reach, 0.0), directions @ (span * rounding)),
        ):
            size[columns] = np.maximum(size[columns], LEAST_PART * floor)
            noise[columns] = noisy
        return StateScale(size, noise)


def sampled(times: Array) -> Array:
    """Numbers of the rows at which masses and forces are looked at."""
    few: Array = np.unique(np.linspace(0, len(times) - 1, SAMPLED).astype(int))
    return few


def _integrate(times: Array, rates: Array) -> Array:
    """∫ u dt along the rows, by trapezia."""
    parts = 0.5 * (rates[1:] + rates[:-1]) * np.diff(times)[:, None]
    return np.concatenate([np.zeros((1, rates.shape[1])), np.cumsum(parts, axis=0)])


def places_of(equations: Equations) -> StatePlaces:
    """Where the velocities and coordinates of equations stand among their states."""
    names = list(equations.states)
    if not equations.mass_matrix:
        return StatePlaces((), (), False)
    speeds = tuple(names.index(str(v)) for v in equations.velocities)
    if equations.quasi:
        return StatePlaces(speeds, tuple(names.index(q) for q in _quasi_coordinates(equations)), True)
    return StatePlaces(speeds, tuple(names.index(q) for q in equations.accelerated), False)


def _quasi_coordinates(equations: Equations) -> list[str]:
    """The states whose rates depend on the quasi-velocities."""
    moving = set(equations.velocities)
    return [q for q, rate in equations.explicit.items() if rate.free_symbols & moving]


def weights_program(equations: Equations) -> Program:
    """A program of the weights that ``StatePlaces.scale`` takes, from t and the states."""
    n = len(equations.accelerated)
    entries = [*(equations.mass_matrix[k][k] for k in range(n)), *equations.bias]
    if equations.quasi:
        entries += [
            a for q in _quasi_coordinates(equations) for a in gradient(equations.explicit[q], equations.velocities)
        ]
    outputs = [(f"weight {k}", entry) for k, entry in enumerate(entries)]
    return build(outputs, inputs=("t", *equations.states), parameters=equations.constants)


def state_scale(equations: Equations, times: Array, states: Array) -> StateScale:
    """The scale of the states of equations along a motion."""
    places, few = places_of(equations), sampled(times)
    if not places.speeds:
        return places.scale(np.zeros((0, 0)), times, states)
    measure, rows = measure_of(equations), np.column_stack([times[few], states[few]])
    here = measure.numbers(states[few], measure.function.known(rows, measure.parts))
    weights = [np.diagonal(here.mass, axis1=1, axis2=2), here.bias]
    if places.quasi:
        found = _directions(equations)(rows)["directions"]
        weights.append(found.reshape(len(few), -1))
    return places.scale(np.concatenate(weights, axis=1), times, states)


@once_for_each
def _directions(equations: Equations) -> Function:
    """N of q̇ = N u, for the coordinates whose rates depend on the quasi-velocities."""
    rows = [gradient(equations.explicit[q], equations.velocities) for q in _quasi_coordinates(equations)]
    return function({"directions": rows}, ("t", *equations.states), equations.system.constants)
