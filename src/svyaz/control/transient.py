"""A motion of a closed loop as a transient about the equilibrium: deviations, inputs, and whether it returned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import expm

from svyaz.arrays import Array
from svyaz.control.closed import estimate_names
from svyaz.control.design import Design
from svyaz.expr import Expression
from svyaz.integrate import Status
from svyaz.program import function

if TYPE_CHECKING:
    from svyaz.motion import Motion

MOST_STEPS = 100_000
"""A motion that returns needs some thousands; one that whirls away faster and faster would need any number."""

ROUNDING = 1e-9
"""A deviation that stays below this part of the largest is not looked at."""

RETURNED = 1e-3
"""A motion has returned when its deviation, each variable over its largest size, has fallen to this part."""


@dataclass(frozen=True)
class Transient:
    """A motion of the closed loop as a transient about the equilibrium; ``asked`` are the times that were asked for.

    ``reached`` is the neighbouring steady motion near its end, where there are such.
    """

    design: Design
    motion: Motion
    asked: Array
    reached: Mapping[str, float] | None = None

    @property
    def times(self) -> Array:
        return self.motion.times

    @property
    def status(self) -> Status:
        return self.motion.status

    @property
    def reason(self) -> str:
        """Why it did not finish; steps that are used up mean that the motion grows faster than it can be followed."""
        spent = self.motion.steps + self.motion.rejected >= MOST_STEPS
        return "it moves faster and faster" if spent and not self.motion.finished else self.motion.reason

    @property
    def residuals(self) -> dict[str, Array]:
        """F of the constraints over time."""
        return dict(self.motion.residuals)

    @cached_property
    def deviations(self) -> dict[str, Array]:
        """ξ, the variables of the control beside their values at rest."""
        rest = self.design.model.state
        return {name: self.column(name) - rest.get(name, 0.0) for name in self.design.model.variables}

    def column(self, name: str) -> Array:
        """A state over time, velocities in axes that turn with a heading where the model has such."""
        return self._turned[name] if name in self._turned else self.motion.column(name)

    @cached_property
    def _turned(self) -> dict[str, Array]:
        turned = self.design.model.turned
        return self._evaluated(turned) if turned else {}

    def _evaluated(self, expressions: Mapping[str, Expression]) -> dict[str, Array]:
        system = self.motion.system
        rows = np.column_stack([self.times, *(self.motion.column(name) for name in system.states)])
        return dict(function(dict(expressions), ("t", *system.states), system.constants)(rows))

    @cached_property
    def inputs(self) -> dict[str, Array]:
        """u = u₀ - K ξ, or u₀ - K ξ̂, cut off at its limits."""
        fed = [self.motion.column(name) for name in estimate_names(self.design)] or self._fed_back()
        found = {}
        for name, gain in zip(self.design.inputs, self.design.regulator.gain, strict=True):
            given, held = self.design.model.system.inputs[name], self.design.model.inputs[name]
            u = held - sum(k * x for k, x in zip(gain, fed, strict=True))
            found[name] = np.clip(u, given.low, given.high)
        return found

    def _fed_back(self) -> list[Array]:
        """The deviations as the control takes them: some are fed back as expressions that equal them to first order."""
        columns = dict(self.deviations)
        if self.design.fed:
            columns |= self._evaluated(self.design.fed)
        return list(columns.values())

    @cached_property
    def linear(self) -> dict[str, Array]:
        """ξ of the first approximation from the same start, at the times that were asked for."""
        start = np.array([column[0] for column in self.deviations.values()])
        rows = linear_transient(self.design, start, self.asked)
        return dict(zip(self.deviations, rows.T, strict=True))

    @property
    def largest_residual(self) -> float:
        return max((float(np.abs(r).max()) for r in self._acting), default=0.0)

    @property
    def drift(self) -> float:
        """The largest change of a residual: constraints are first integrals, whatever the start."""
        return max((float(np.abs(r - r[0]).max()) for r in self._acting), default=0.0)

    @property
    def _acting(self) -> list[Array]:
        """The residuals while their constraints act."""
        acting = (r[np.isfinite(r)] for r in self.motion.residuals.values())
        return [r for r in acting if len(r)]

    @cached_property
    def plant(self) -> dict[str, Array]:
        """The states of the plant: all coordinates, independent velocities, further states."""
        return {name: self.column(name) for name in self.design.model.own_states(self.motion.state_names)}

    @property
    def final(self) -> dict[str, float]:
        """The last state, by name; the velocities of redundant coordinates follow from the others."""
        watched = [*self.plant, *estimate_names(self.design)]
        return {name: float(self.column(name)[-1]) for name in watched}

    @cached_property
    def _sizes(self) -> Array:
        """|deviation| of all states of the plant (rows, states)."""
        rest = self.design.model.state if self.reached is None else self.reached
        return np.abs(np.column_stack([column - rest.get(name, 0.0) for name, column in self.plant.items()]))

    @property
    def returned(self) -> bool:
        """Has the deviation fallen to a small part of its largest size, also over the last twentieth of the time?"""
        size = self._sizes.max(axis=0)
        size = np.maximum(size, ROUNDING * size.max(initial=0.0))  # what is zero but for rounding
        scaled = self._sizes / np.where(size > 0, size, 1.0)
        tail = scaled[-max(1, len(scaled) // 20) :]
        return self.motion.finished and bool(np.isfinite(tail).all() and tail.max(initial=0.0) <= RETURNED)

    @property
    def falling(self) -> bool:
        """Is the deviation, each variable over its largest size, less in the last quarter than in the one before?"""
        size = self._sizes.max(axis=0)
        scaled = (self._sizes / np.maximum(size, max(ROUNDING * size.max(initial=0.0), 1e-300))).max(axis=1)
        quarter = max(1, len(scaled) // 4)
        return self.motion.finished and bool(scaled[-quarter:].max() < 0.9 * scaled[-2 * quarter : -quarter].max())


def linear_transient(design: Design, start: Array, times: Array) -> Array:
    """ξ of the first approximation under the control from ξ(0) = start, at equally spaced times."""
    closed = design.closed_matrix(design.model)
    state = np.zeros(len(closed))
    state[: len(start)] = start
    step = expm(closed * (times[1] - times[0])) if len(times) > 1 else np.eye(len(closed))
    rows = [state]
    for _ in times[1:]:
        rows.append(step @ rows[-1])
    return np.array(rows)[:, : len(start)]
