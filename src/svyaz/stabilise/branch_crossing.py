"""Through positions at which gradients of constraints become dependent, along the branch of the motion.

Where branches cross, s x = 0 to second order in coordinates s along the one and x along the other, accelerations are
quotients of quantities that vanish together, and a residual a ≠ 0 turns the motion off, s x = a. On the branch itself the
motion is smooth. So the moment is not stepped over: from a state before it, put onto the constraints, to one behind it the
motion is a polynomial whose rates agree with those of the equations at Gauss' nodes on both sides of the moment, each
state there put onto the constraints too (collocation: E. Hairer, G. Wanner, Solving Ordinary Differential Equations II,
IV.5). Velocities, and with them the energy, are continuous by construction. A mechanism that only comes near such a
position, or turns back, has no such polynomial, and is left to the method.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import islice

import numpy as np

from svyaz.arrays import Array
from svyaz.constraints import entered, examined, model_states
from svyaz.dynamics import Measure, RateCode, correct_once, inverse_roots, measure_of, plain_rates
from svyaz.forms import Equations
from svyaz.integrate import Path
from svyaz.stabilise.degeneracy import approaches, least_values
from svyaz.stabilise.segment import Segment

STAGES = (5, 6, 7, 8)
"""Numbers of Gauss' nodes, of which those are taken that stay farthest from the moment."""

SWEEPS, SETTLED = 60, 1e-14
"""So often the stages are computed anew, or until they change by no more than this part of the displacement."""

IN_VAIN = 6
"""Sweeps that bring the stages no nearer to each other, after which they are given up: a way through settles quickly."""

DEFECT = 1e-5
"""A polynomial whose stages lie farther off the constraints than this part of the displacement follows no branch."""

CORRECTIONS = 4
"""A state is put onto the constraints by so many steps of Newton's method."""

TRIALS = 6
"""So many lengths are tried."""

MOST_TRIED, ROWS_EACH = 20, 100
"""Along a path a way through is looked for from so many rows in vain, and from one more for so many rows that it has; what it
comes near to afterwards is left to the method, as where there is no way."""

VANISHING = 0.1
"""The least singular value must fall to this part of its first value on the way."""


@dataclass(frozen=True)
class SingularCrossing:
    """From the state before a branching position, at the ``row`` of a path, to the one behind it.

    ``moment`` is that of the position, ``moved`` how far the first state was moved onto the constraints, as a part of the
    way; ``times`` (k,) and ``states`` (k, n) are rows of the equations, the first one that before, the last one that
    behind; ``at`` gives the states between them. ``words`` tell of what is no branching position.
    """

    row: int
    moment: float
    moved: float
    times: Array
    states: Array
    at: Callable[[float], Array]
    words: str = ""

    @property
    def end(self) -> float:
        return float(self.times[-1])


def can_branch(segment: Segment) -> bool:
    """Are branching positions looked for: are there constraints, not by controls, and no jump of the user's own?"""
    full = examined(segment.equations)
    return bool(full.deviations) and not full.servo and not full.system.step_rule


def find_branch_crossing(
    segment: Segment, path: Path, end: float, step: float | None, grid: Array | None
) -> SingularCrossing | None:
    """The first branching position that a path comes to before ``end``.

    With a fixed ``step`` it is passed in whole steps. Rows are made for each of these, or for the times of a grid.
    """
    if not can_branch(segment):
        return None
    coming = ((row, moment) for row, moment in approaches(segment, path, step) if moment < end)
    for row, moment in islice(coming, MOST_TRIED + len(path.times) // ROWS_EACH):
        found = _pass_from(segment, path, row, moment, end, step, grid)
        if found is not None:
            return found
    return None


def _pass_from(
    segment: Segment, path: Path, row: int, moment: float, end: float, step: float | None, grid: Array | None
) -> SingularCrossing | None:
    """The crossing from a row, with a length that puts the position into its middle; None where there is none."""
    start = float(path.times[row])
    way = Way.of(segment, start, path.states[row])
    if way is None:
        return None
    for _ in range(TRIALS):
        length = 2.0 * (moment - start)
        if step is not None:
            length = step * max(2, round(length / step))
        length = min(length, end - start)
        share = (moment - start) / length
        if not 0.1 <= share <= 0.9:
            return None
        curve = way.curve(length, share)
        if curve is None:
            return None
        found = way.vanishing(curve)
        if found is None:
            return None
        if abs(found - share) < 0.05:
            return way.crossing(curve, start + found * length, row, step, grid)
        moment = start + found * length
    return None


@dataclass(frozen=True)
class Polynomial:
    """y(θ) = y₁ + H Σ F_j ∫ ℓ_j, 0 ≤ θ ≤ 1, with the rates F (s, n) at Gauss' nodes."""

    length: float
    start: Array
    rates: Array

    def at(self, parts: Array) -> Array:
        """States (k, n) at parts of the way."""
        return self.start + self.length * _integrals(len(self.rates), parts) @ self.rates


@cache
def _nodes(stages: int) -> Array:
    found: Array = 0.5 + 0.5 * np.polynomial.legendre.leggauss(stages)[0]
    return found


def _integrals(stages: int, parts: Array) -> Array:
    """∫₀^θ ℓ_j (k, s) of the polynomials that are 1 at one of Gauss' nodes and 0 at the others."""
    found: Array = np.polynomial.legendre.legvander(2 * parts - 1, stages) @ _antiderivatives(stages)
    return found


@cache
def _antiderivatives(stages: int) -> Array:
    """∫ ℓ_j (s + 1, s) as sums of Legendre's polynomials of 2θ - 1."""
    own = np.polynomial.legendre.legvander(2 * _nodes(stages) - 1, stages - 1)
    integrals = np.array([np.polynomial.legendre.legint(row, lbnd=-1) / 2 for row in np.eye(stages)])
    found: Array = (np.linalg.inv(own).T @ integrals).T
    return found


@dataclass(frozen=True)
class Way:
    """The way of a motion by ``written`` equations from a state of the model on the constraints, with the rates of all of its
    states.
    """

    written: Equations
    equations: Equations
    code: RateCode
    constants: Array
    time: float
    state: Array
    moved: Array

    @classmethod
    def of(cls, segment: Segment, time: float, own: Array) -> Way | None:
        equations = examined(segment.equations)
        begun = model_states(segment.equations, np.array([time]), own[None, :])
        state = _project(measure_of(equations), np.array([time]), begun)
        if not np.isfinite(state).all():
            return None
        if equations is segment.equations:
            return cls(equations, equations, segment.code, segment.constants, time, state[0], state[0] - begun[0])
        code = plain_rates(equations)  # without gains: on the constraints they add nothing
        constants = code.constants(equations.system.constants)
        return cls(segment.equations, equations, code, constants, time, state[0], state[0] - begun[0])

    def rates(self, times: Array, states: Array) -> Array:
        """(k, n)."""
        return self.code.evaluate(np.column_stack([times, states]), self.constants)

    def curve(self, length: float, share: float, first: Array | None = None) -> Polynomial | None:
        """The polynomial over a length of time, the singular moment at a share of it; None where there is none.

        ``first`` are rates to begin with, of which those of the coordinates count, where the state itself is singular.
        """
        stages = max(STAGES, key=lambda s: np.abs(_nodes(s) - share).min())
        times = self.time + length * _nodes(stages)
        weights = _integrals(stages, _nodes(stages))
        measure = measure_of(self.equations)
        first = self.rates(np.array([self.time]), self.state[None, :])[0] if first is None else first
        states = self.state + np.outer(length * _nodes(stages), first)
        size, last, least, vain = self.size(length * first), np.inf, np.inf, 0
        with np.errstate(all="ignore"):
            for _ in range(SWEEPS):
                rates = self.rates(times, correct_once(measure, times, states))
                before, states = states, self.state + length * weights @ rates
                change = np.max(np.abs(states - before) / size)
                least, vain = (change, 0) if change < least else (least, vain + 1)
                if not change < np.inf or (vain == IN_VAIN and change > 1e-9):
                    return None
                if change <= SETTLED or (change < 1e-9 and change >= 0.5 * last):
                    break
                last = change
            else:
                if change > 1e-9:
                    return None
            defect = np.max(np.abs(correct_once(measure, times, states) - states) / size)
        return Polynomial(length, self.state, rates) if defect <= DEFECT else None

    def size(self, displacement: Array) -> Array:
        """What each state is compared with: the displacements of coordinates and of velocities in the norm of M."""
        inertia = measure_of(self.equations).matrices(np.array([self.time]), self.state[None, :])[0].diagonals()[0]
        size = np.full(len(displacement), max(float(np.max(np.abs(displacement))), 1e-300))
        states = self.equations.states
        speeds = [states.index(str(v)) for v in self.equations.velocities]
        scale = inverse_roots(inertia)
        for places, values in (
            ([states.index(q) for q in self.equations.accelerated], displacement),
            (speeds, self.state),
        ):
            whole = float(np.linalg.norm(values[places] / scale))
            size[places] = np.maximum(whole, 1e-300) * scale
        return size

    def vanishing(self, curve: Polynomial) -> float | None:
        """The part of the way at which gradients become dependent; None where they do not."""
        parts = np.linspace(0.0, 1.0, 25)
        measure = measure_of(self.equations)
        times, states = self.time + curve.length * parts, curve.at(parts)
        rows = measure.scaled_gradients(times, states)
        if not np.isfinite(rows.values).all():
            return None
        lengths = np.max(rows.lengths(), axis=0)
        least = least_values(rows.divided(np.where(lengths > 0.0, lengths, 1.0)), large=measure.large)
        k = int(np.argmin(least))
        if not least[k] < VANISHING * least[0] or k in (0, len(parts) - 1):
            return None
        near = slice(max(0, k - 3), k + 4)
        bend, slope, _ = np.polyfit(parts[near], least[near] ** 2, 2)
        return float(np.clip(-slope / (2 * bend), 0.0, 1.0)) if bend > 0.0 else None

    def crossing(
        self, curve: Polynomial, moment: float, row: int, step: float | None, grid: Array | None
    ) -> SingularCrossing:
        """The crossing along a curve, with rows at the steps of a fixed length or at times of a grid; its last one is put onto
        the constraints.
        """
        equations, end = self.written, self.time + curve.length
        if grid is not None:
            times = np.concatenate([[self.time], grid[(grid > self.time) & (grid < end)], [end]])
        else:
            times = np.linspace(self.time, end, 1 + (1 if step is None else round(curve.length / step)))
        last = _project(measure_of(self.equations), np.array([end]), curve.at(np.ones(1)))[0]

        def at(time: float) -> Array:
            state = last if time >= end else curve.at(np.array([(time - self.time) / curve.length]))[0]
            return state if equations is self.equations else entered(equations, state, time)

        moved = float(np.max(np.abs(self.moved) / self.size(curve.at(np.ones(1))[0] - self.state)))
        return SingularCrossing(row, moment, moved, times, np.array([at(float(time)) for time in times]), at)


def _project(measure: Measure, times: Array, states: Array) -> Array:
    """States put onto the constraints."""
    with np.errstate(all="ignore"):
        for _ in range(CORRECTIONS):
            states = correct_once(measure, times, states)
    return states
