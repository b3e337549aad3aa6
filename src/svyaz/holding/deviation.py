"""Deviations from the constraints along rows of states, in the order of the perturbation equation: h, ḣ, f."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.constraints import magnitude, residuals
from svyaz.expr import Expression, gradient
from svyaz.forms import Equations
from svyaz.holding.perturbations import positions_of, velocities_of
from svyaz.program import Native, build, compile_program

RIDGE = 1e-13

SAMPLED = 5
"""States along a motion at which the typical sizes of its coordinates are looked at."""


@dataclass(frozen=True)
class Deviations:
    """y = (h, ḣ, f), its scale and its gradient as native code."""

    equations: Equations
    names: tuple[str, ...]
    positions: int
    values: Native
    slopes: Native
    values_constants: Array
    slopes_constants: Array

    @property
    def count(self) -> int:
        """Number of entries of y."""
        return len(self.values.program.outputs) // 2

    @property
    def reported(self) -> list[int]:
        """Entries of y that are reported as residuals, in the order of ``names``: h for positions, f for velocities."""
        p = self.positions
        return [*range(p), *range(2 * p, self.count)]

    def at(self, times: Array, states: Array) -> Array:
        """y along the rows, (k, count)."""
        return self.values.evaluate(np.column_stack([times, states]), self.values_constants)[:, : self.count]

    def scales(self, times: Array, states: Array) -> Array:
        """The largest own scale of each entry along the rows, (count,): what its terms would sum up to in magnitude.

        Where all terms vanish along the motion (x = 0) the typical sizes of the coordinates give the scale.
        """
        sizes = self.values.evaluate(np.column_stack([times, states]), self.values_constants)[:, self.count :]
        return np.maximum(np.max(sizes, axis=0, initial=0.0), self._typical(times, states))

    def _typical(self, times: Array, states: Array) -> Array:
        """The scales of a few states, with their floor."""
        few = np.unique(np.linspace(0, len(times) - 1, SAMPLED).astype(int))
        found = [residuals(self.equations, states[k], float(times[k])) for k in few]
        p = self.positions
        position = [max(r[name].position_scale or 0.0 for r in found) for name in self.names[:p]]
        speed = [max(r[name].velocity_scale for r in found) for name in self.names]
        return np.array([*position, *speed[:p], *speed[p:]])

    def moved_to(self, times: Array, states: Array, wanted: Array, iterations: int = 3) -> Array:
        """The nearest states (Euclidean) with the wanted deviations, by Newton's method; NaN where it leaves the domain."""
        for _ in range(iterations):
            rows = np.column_stack([times, states])
            slopes = self.slopes.evaluate(rows, self.slopes_constants).reshape(len(rows), self.count, -1)
            missing = wanted - self.at(times, states)
            defined = np.isfinite(slopes).all(axis=(1, 2)) & np.isfinite(missing).all(axis=1)
            moved = np.full_like(states, np.nan)
            moved[defined] = states[defined] + _shortest(slopes[defined], missing[defined])
            states = moved
        return states


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


_recent: list[Deviations] = []


def deviations(equations: Equations) -> Deviations:
    """The deviations of the constraints that act; the last few are kept, since compiling takes longer than measuring."""
    for known in _recent:
        if known.equations is equations:
            return known
    made = _made(equations)
    _recent.insert(0, made)
    del _recent[8:]
    return made


def _made(equations: Equations) -> Deviations:
    position, speed = positions_of(equations), velocities_of(equations)
    d = equations.deviations
    entries: list[Expression] = [d[k].position for k in position]
    entries += [d[k].velocity for k in position]
    entries += [d[k].velocity for k in speed]
    states = [se.Symbol(s) for s in equations.states]
    values = _compiled(equations, [*entries, *(magnitude(e) for e in entries)])
    slopes = _compiled(equations, [s for e in entries for s in gradient(e, states)])
    constants = equations.system.constants
    return Deviations(
        equations=equations,
        names=tuple(d[k].name for k in [*position, *speed]),
        positions=len(position),
        values=values,
        slopes=slopes,
        values_constants=values.constants(constants),
        slopes_constants=slopes.constants(constants),
    )


def _compiled(equations: Equations, entries: Sequence[Expression]) -> Native:
    outputs = [(str(k), e) for k, e in enumerate(entries)]
    return compile_program(build(outputs, inputs=("t", *equations.states), parameters=equations.constants))
