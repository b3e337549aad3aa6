"""What a motion of the closed loop says about its control: deviations, inputs, the linear motion beside it, a return."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import expm

from svyaz.arrays import Array
from svyaz.control.closed import estimate_names
from svyaz.control.design import Design
from svyaz.integrate import Status
from svyaz.motion import Motion

MOST_STEPS = 100_000
"""A motion that returns needs some thousands; one that whirls away faster and faster would need any number."""

RETURNED = 1e-3
"""A motion has returned when its deviation, each variable over its largest size, has fallen to this part."""


@dataclass(frozen=True)
class Transient:
    """A motion of the closed loop as a transient about the equilibrium; ``asked`` are the times that were asked for."""

    design: Design
    motion: Motion
    asked: Array

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
        return {name: self.motion.column(name) - rest.get(name, 0.0) for name in self.design.model.variables}

    @cached_property
    def inputs(self) -> dict[str, Array]:
        """u = u₀ - K ξ, or u₀ - K ξ̂, cut off at its limits."""
        fed = [self.motion.column(name) for name in estimate_names(self.design)] or list(self.deviations.values())
        found = {}
        for name, gain in zip(self.design.inputs, self.design.regulator.gain, strict=True):
            given, held = self.design.model.system.inputs[name], self.design.model.inputs[name]
            u = held - sum(k * x for k, x in zip(gain, fed, strict=True))
            found[name] = np.clip(u, given.low, given.high)
        return found

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
        gone = {*estimate_names(self.design), *(f"{q}'" for q in self.design.model.dependent)}
        return {name: self.motion.column(name) for name in self.motion.state_names if name not in gone}

    @property
    def final(self) -> dict[str, float]:
        """The last state, by name; the velocities of redundant coordinates follow from the others."""
        watched = [*self.plant, *estimate_names(self.design)]
        return {name: float(self.motion.column(name)[-1]) for name in watched}

    @cached_property
    def _sizes(self) -> Array:
        """|deviation| of all states of the plant (rows, states)."""
        rest = self.design.model.state
        return np.abs(np.column_stack([column - rest.get(name, 0.0) for name, column in self.plant.items()]))

    @property
    def returned(self) -> bool:
        """Has the deviation fallen to a small part of its largest size, also over the last twentieth of the time?"""
        size = self._sizes.max(axis=0)
        scaled = self._sizes / np.where(size > 0, size, 1.0)
        tail = scaled[-max(1, len(scaled) // 20) :]
        return self.motion.finished and bool(np.isfinite(tail).all() and tail.max(initial=0.0) <= RETURNED)

    @property
    def falling(self) -> bool:
        """Is the deviation, each variable over its largest size, less in the last quarter than in the one before?"""
        scaled = (self._sizes / np.maximum(self._sizes.max(axis=0), 1e-300)).max(axis=1)
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
