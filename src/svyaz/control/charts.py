"""Closed loops in several charts: where the redundant coordinates of a control are badly chosen, others take over.

The lots of a basin run in one chart, in native code; a run that fails is followed here, from chart to chart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np

from svyaz.arrays import Array
from svyaz.constraints import entered, model_states
from svyaz.control.loop import ClosedLoop
from svyaz.expr import evaluate
from svyaz.forms import shulgin_equations
from svyaz.integrate import Status
from svyaz.stability import ConstraintNumbers


@dataclass(frozen=True)
class Charts:
    """A closed loop in the charts that were met so far, by the redundant coordinates of each."""

    loop: ClosedLoop
    known: dict[tuple[str, ...], ClosedLoop] = field(default_factory=dict)

    @cached_property
    def _numbers(self) -> ConstraintNumbers:
        return ConstraintNumbers(self.loop.equations.system, self.loop.equations.dependent)

    @cached_property
    def _scale(self) -> Array:
        """1/√M_ii of each coordinate at rest (1 for one without inertia)."""
        origin = self.loop.equations.origin
        assert origin is not None, "Shulgin's equations have an origin"
        values = {**origin.system.constants, **dict(zip(origin.states, origin.system.initial_state(), strict=True))}
        inertia = np.array([evaluate(row[k], values) for k, row in enumerate(origin.mass_matrix)])
        return np.where(inertia > 0.0, 1.0 / np.sqrt(np.where(inertia > 0.0, inertia, 1.0)), 1.0)

    def best_at(self, state: Array) -> ClosedLoop:
        """The loop in the chart with the largest |det ∂F/∂s| at a state of the model, in scaled coordinates."""
        system = self.loop.equations.system
        slopes = self._numbers.jacobian(dict(zip(system.states, map(float, state), strict=True))) * self._scale
        choices = combinations(range(len(system.coordinates)), len(slopes))
        found = max(choices, key=lambda columns: abs(float(np.linalg.det(slopes[:, columns]))))
        best = tuple(system.coordinates[k] for k in found)
        if set(best) == set(self.loop.equations.dependent):
            return self.loop
        if best not in self.known:
            self.known[best] = ClosedLoop(self.loop.design, shulgin_equations(system, dependent=best))
        return self.known[best]

    def followed(self, start: Array, times: Array, rtol: float, most: int) -> Array:
        """States (k, n) of the loop at k times, the first of which is the beginning; not numbers after the run is lost.

        ``most`` trials are made in all. A chart is left where no step is short enough in it and another one is better.
        """
        found = np.full((len(times), len(start)), np.nan)
        loop, state, time = self.loop, start, float(times[0])
        while True:
            path = loop.path(state, np.union1d(time, times[times > time]), rtol, max_steps=most)
            full = model_states(loop.equations, path.times, path.states)
            asked = np.isin(path.times, times)
            found[np.isin(times, path.times)] = full[asked][:, self._own]
            most -= path.steps + path.rejected
            if path.status not in (Status.STALLED, Status.SINGULAR) or most <= 0 or not np.isfinite(full[-1]).all():
                return found
            time = float(path.times[-1])
            better = self.best_at(full[-1])
            if better is loop:
                return found
            loop, state = better, entered(better.equations, full[-1], time)

    @property
    def _own(self) -> list[int]:
        """Where the states of the loop stand among those of the model."""
        return [self.loop.equations.system.states.index(name) for name in self.loop.states]
