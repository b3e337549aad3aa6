"""Deviations from the constraints along rows of states, in the order of the perturbation equation: h, ḣ, f."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate

import numpy as np
import symengine as se
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.constraints import DEVIATIONS, Measure, balanced, coordinate_scales, measure_of
from svyaz.expr import Expression, gradients, symbols_in
from svyaz.forms import Equations
from svyaz.holding.perturbations import positions_of, velocities_of
from svyaz.program import Entries, Table, Tabulated, bordered, function, largest_magnitudes, once_for_each, row_entries

RIDGE = 1e-13

SAMPLED = 5
"""States along a motion at which the own scales of constraints are looked at."""

MOVED = 1e-14
"""Newton's method ends where no state is moved by more than this part of the largest along the rows."""


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

    def moved_to(self, times: Array, states: Array, wanted: Array, iterations: int = 3) -> Array:
        """The nearest states with the wanted deviations, by Newton's method; NaN where it leaves the domain.

        Positions are moved first, then velocities, each by the least distance in scaled variables: in which units lengths,
        angles and times are measured does not matter. Recursions measure by the kinetic energy.
        """
        if self.equations.recursion is not None:
            return self.equations.recursion.reached(np.column_stack([times, states]), *self._by_rows(wanted))
        speeds = [self.equations.states.index(str(v)) for v in self.equations.velocities]
        places = [k for k in range(len(self.equations.states)) if k not in speeds]
        p, sizes = self.positions, _steps(self, float(times[0]), tuple(states[0]))
        once = 1 if self._linear_in_velocities else iterations
        for entries, columns, most in ((slice(0, p), places, iterations), (slice(p, None), speeds, once)):
            for _ in range(most if wanted[:, entries].shape[1] else 0):
                if "slopes" in self.slopes.sparse:
                    moves = self._sparse_moves(times, states, wanted[:, entries], entries, columns, sizes)
                    if moves is not None:
                        states = states + moves
                        continue
                here = self.slopes(np.column_stack([times, states]))
                slopes = here["slopes"][:, entries][:, :, columns] * sizes[columns]
                missing = wanted[:, entries] - here["y"][:, entries]
                defined = np.isfinite(slopes).all(axis=(1, 2)) & np.isfinite(missing).all(axis=1)
                moved = np.full_like(states, np.nan)
                moved[defined] = states[defined]
                moves = _shortest(slopes[defined], missing[defined]) * sizes[columns]
                moved[np.ix_(np.flatnonzero(defined), np.array(columns))] += moves
                states = moved
                if np.all(np.abs(moves) <= MOVED * np.max(np.abs(moved[defined][:, columns]), axis=0, initial=0.0)):
                    break
        return states

    def _by_rows(self, wanted: Array) -> tuple[Array, Array]:
        """Entries of y as columns of constraints, in position and in velocity: what ``ordered`` is given."""
        position, velocity = np.zeros((2, len(wanted), len(self.equations.deviations)))
        position[:, list(self.places)], velocity[:, [*self.places, *self.speeds]] = np.split(
            wanted, [self.positions], axis=1
        )
        return position, velocity

    def _sparse_moves(
        self, times: Array, states: Array, wanted: Array, entries: slice, columns: list[int], sizes: Array
    ) -> Array | None:
        """Displacements (k, n) of all states, as ``_shortest`` finds them, where gradients are large and sparse.

        Nothing is moved where the gradients depend on each other.
        """
        rows = np.column_stack([times, states])
        whole = self.slopes.entries(rows, "slopes")[0].block(range(self.count)[entries], columns)
        matrices = bordered(None, whole.scaled(np.ones(whole.shape[0]), sizes[columns]))
        if matrices is None:
            return None
        missing = wanted - self.slopes.known(rows, ("y",))["y"][:, entries]
        found = matrices.solved(np.zeros((len(times), len(columns))), missing)[0]
        moves = np.zeros_like(states)
        moves[:, columns] = found * sizes[columns]
        undefined = ~(np.isfinite(whole.values).all(axis=1) & np.isfinite(missing).all(axis=1))
        moves[~np.isfinite(moves).all(axis=1)] = 0.0
        moves[undefined] = np.nan
        return moves

    @cached_property
    def _linear_in_velocities(self) -> bool:
        """Are ḣ and f linear in the velocities, so that one step of Newton's method gives these?"""
        rows = self.equations.constraint_jacobian
        entries = [e for row in rows for _, e in row_entries(row)]
        return symbols_in(entries).isdisjoint(self.equations.velocities)

    @property
    def _has_gradients(self) -> bool:
        """Is G all that there is of gradients: are the states coordinates and their velocities, and few?"""
        plain = not self.equations.quasi and len(self.equations.states) == 2 * len(self.equations.accelerated)
        return plain and not self.measure.large

    @cached_property
    def slopes(self) -> Tabulated:
        """y and its gradients by the states."""
        d = self.equations.deviations
        if self._has_gradients:
            return _Gradients(self)
        entries: list[Expression] = [d[k].position for k in self.places]
        entries += [d[k].velocity for k in (*self.places, *self.speeds)]
        states = [se.Symbol(s) for s in self.equations.states]
        tables: dict[str, Table] = {"y": entries, "slopes": gradients(entries, states)}
        return function(tables, ("t", *self.equations.states), self.equations.system.constants)


@dataclass(frozen=True)
class _Gradients:
    """y and its slopes by the measure: ∂h/∂q, ∂ḣ/∂q̇ and ∂f/∂q̇ are G; others are not asked for, and left zero."""

    of: Deviations

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {"y": (self.of.count,), "slopes": (self.of.count, len(self.of.equations.states))}

    @property
    def sparse(self) -> dict[str, NDArray[np.intp]]:
        return {}

    @property
    def values(self) -> Mapping[str, float]:
        return self.of.measure.function.values

    def with_values(self, values: Mapping[str, float]) -> _Gradients:
        measure = replace(self.of.measure, function=self.of.measure.function.with_values(values))
        return _Gradients(replace(self.of, measure=measure))

    def __call__(self, x: Array, only: Sequence[str] | None = None) -> dict[str, Array]:
        measure, p = self.of.measure, self.of.positions
        rows = list(self.of.places) + list(self.of.speeds)
        found = measure.function.known(x, ("jacobian", "position", "velocity"))
        jacobian = found["jacobian"][:, rows]
        slopes = np.zeros((len(x), self.of.count, x.shape[1] - 1))
        slopes[:, :p, list(measure.coordinates)] = jacobian[:, :p]
        slopes[:, p:, list(measure.speeds)] = jacobian
        return {"y": self.of.ordered(found["position"], found["velocity"]), "slopes": slopes}

    def known(self, x: Array, only: Sequence[str]) -> dict[str, Array]:
        return self(x, only)

    def entries(self, x: Array, *names: str) -> tuple[Entries, ...]:
        raise NotImplementedError("slopes of recursions are taken whole")


@lru_cache(maxsize=8)
def _steps(of: Deviations, time: float, start: tuple[float, ...]) -> Array:
    """Comparable steps of the states: 1/√M_ii; for coordinates of quasi-velocities what balances the gradients.

    Pilots begin where the run begins, and more than once.
    """
    equations, state = of.equations, np.array(start)
    here, names = of.measure.at(state, time), list(equations.states)
    scales = np.ones(len(names))
    own = coordinate_scales(here.mass, here.jacobian)
    scales[[names.index(str(v)) for v in equations.velocities]] = own
    if not equations.quasi:
        scales[[names.index(q) for q in equations.accelerated]] = own
    elif of.positions:
        slopes = of.slopes(np.concatenate([[time], state])[None, :])["slopes"][0, : of.positions]
        scales = np.where(slopes.any(axis=0), balanced(slopes)[2], scales)
    return np.where(np.isfinite(scales), scales, 1.0)


def _shortest(slopes: Array, wanted: Array) -> Array:
    """The shortest δ with slopes δ = wanted in every row of states, δ = Sᵀ(S Sᵀ)⁻¹ wanted with S scaled to unit rows."""
    lengths = np.linalg.norm(slopes, axis=2)
    lengths = np.where(lengths > 0, lengths, 1.0)
    unit = slopes / lengths[:, :, None]
    # the addition keeps the solution finite where rows depend on each other
    gram = unit @ unit.transpose(0, 2, 1) + RIDGE * np.eye(slopes.shape[1])
    weights = np.linalg.solve(gram, (wanted / lengths)[:, :, None])
    shortest: Array = (unit.transpose(0, 2, 1) @ weights)[:, :, 0]
    return shortest


@once_for_each
def deviations(equations: Equations) -> Deviations:
    """The deviations of the constraints that act."""
    places, speeds = tuple(positions_of(equations)), tuple(velocities_of(equations))
    return Deviations(equations, measure_of(equations), places, speeds)
