"""From where does the closed loop return? Many consistent starts at random, each run on the full nonlinear system.

Closed loops in several charts: where the redundant coordinates of a control are badly chosen, others take over.

The lots of a basin run in one chart, in native code; a run that fails is followed here, from chart to chart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, pairwise
from os import cpu_count
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.constraints import entered, model_states
from svyaz.control.loop import ClosedLoop
from svyaz.control.nonholonomic_loop import deviations_from_reached
from svyaz.dynamics import inverse_roots
from svyaz.expr import ModelError, Problem, evaluate
from svyaz.forms import shulgin_equations
from svyaz.integrate import Status, solve_many
from svyaz.shown import Shown
from svyaz.stability import ConstraintNumbers, FirstApproximation


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
        return inverse_roots(inertia)

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

    def followed(self, start: Array, times: Array, rtol: float, most: int, *, fenced: bool) -> tuple[Array, bool]:
        """States (k, n) of the loop at k times, the first of which is the beginning; not numbers after the run is lost.
        Did it pass a limit (looked at if it is ``fenced``)?

        ``most`` trials are made in all. A chart is left where no step is short enough in it and another one is better.
        """
        found = np.full((len(times), len(start)), np.nan)
        loop, state, time = self.loop, start, float(times[0])
        while True:
            fence = loop.fence() if fenced else None
            path = loop.path(state, np.union1d(time, times[times > time]), rtol, most, fence)
            full = model_states(loop.equations, path.times, path.states)
            asked = np.isin(path.times, times)
            found[np.isin(times, path.times)] = full[asked][:, self._own]
            most -= path.steps + path.rejected
            if fence is not None and fence.passed:
                return found, True
            if path.status not in (Status.STALLED, Status.SINGULAR) or most <= 0 or not np.isfinite(full[-1]).all():
                return found, False
            time = float(path.times[-1])
            better = self.best_at(full[-1])
            if better is loop:
                return found, False
            loop, state = better, entered(better.equations, full[-1], time)

    @property
    def _own(self) -> list[int]:
        """Where the states of the loop stand among those of the model."""
        return [self.loop.equations.system.states.index(name) for name in self.loop.states]


Ranges = dict[str, tuple[float, float]]

SHELLS = 10
PATIENCE = 10
"""A run counts as lost when it needs this many times the steps of one from close by."""
LEAST_LOT, LOT = 50, 256
"""So many runs are done by a thread at a time: enough for lanes to be full, and so few that all threads have some."""

REACH = 0.1
"""Ranges that are not given are this part of the size of a coordinate (or of 1), unless the model has a box for it."""

FALLEN, ERRORS = 0.05, 10
"""A run has returned when each deviation has fallen to this part of its largest, or to so many times the errors of the run."""

LOOKS = 41
"""So often a run is looked at: what begins at zero and swings has its largest size somewhere on the way."""


@dataclass(frozen=True, repr=False)
class Basin(Shown):
    """What became of the starts: ``starts`` (N, variables of the control) and whether each ``returned``, or ``left`` the
    limits of the model (then it has not returned, unless it was let go on beyond them).

    ``radius``: all starts within this part of the ranges (largest deviation over its range) returned. ``outside`` starts
    could not be made consistent: the mechanism does not reach them.
    """

    names: tuple[str, ...]
    ranges: Mapping[str, tuple[float, float]]
    starts: Array
    returned: NDArray[np.bool_]
    left: NDArray[np.bool_]
    outside: int
    until: float
    seconds: float

    @property
    def fraction(self) -> float:
        return float(self.returned.mean()) if len(self.returned) else 0.0

    @property
    def radius(self) -> float:
        """The largest part of the ranges within which every start returned."""
        if not len(self.returned):
            return 0.0
        reach = self._reach()
        lost = reach[~self.returned]
        return float(min(lost.min(), 1.0)) if len(lost) else 1.0

    @property
    def nearest(self) -> float:
        """The part of the ranges at which the nearest start lies: below it nothing was tried."""
        return float(self._reach().min(initial=np.inf)) if len(self.returned) else np.inf

    def _reach(self) -> Array:
        sizes = np.array([max(abs(low), abs(high)) for low, high in (self.ranges[n] for n in self.names)])
        return np.asarray(np.abs(self.starts / np.where(sizes > 0, sizes, 1.0)).max(axis=1))

    def shells(self) -> list[tuple[float, int, int]]:
        """(part of the ranges, starts between this one and the part before it, how many of them returned)."""
        reach = self._reach() if len(self.returned) else np.zeros(0)
        found = []
        for low, high in pairwise(np.linspace(0, 1, SHELLS + 1)):
            inside = (reach > low) & (reach <= high)
            found.append((float(high), int(inside.sum()), int(self.returned[inside].sum())))
        return found


def ranges_about(plant: FirstApproximation, values: Mapping[str, tuple[float, float]]) -> Ranges:
    """Ranges of values of variables as ranges of deviations from the equilibrium, where velocities are zero."""
    unknown = [name for name in values if name not in plant.variables]
    if unknown:
        spanned = ", ".join(plant.variables)
        raise ModelError([Problem(f"'{unknown[0]}' cannot be chosen: a basin is spanned by {spanned}")])
    rest = {name: plant.state.get(name, 0.0) for name in values}
    return {name: (low - rest[name], high - rest[name]) for name, (low, high) in values.items()}


def usual_ranges(plant: FirstApproximation) -> Ranges:
    """The sides of the model's box about the equilibrium, or a part of the size of each independent coordinate."""
    ranges = {}
    for q in plant.independent or plant.variables:
        at = plant.state[q]
        reach = REACH * max(abs(at), 1.0)
        low, high = plant.system.box.get(q, (at - reach, at + reach))
        ranges[q] = (low - at, high - at)
    return ranges


def basin(
    loop: ClosedLoop,
    ranges: Mapping[str, tuple[float, float]],
    count: int,
    until: float = 20.0,
    *,
    rtol: float = 1e-6,
    seed: int = 0,
    workers: int | None = None,
    beyond: bool = False,
    progress: Callable[[int], object] | None = None,
) -> Basin:
    """Run the closed loop from ``count`` starts within the ranges of deviations; what has no range starts at rest.

    A motion ends where it passes a limit of the model, unless it is to go on ``beyond``.
    """
    begin = perf_counter()
    names = tuple(name for name in loop.design.model.variables if name in ranges)
    random = np.random.default_rng(seed)
    sides = np.array([ranges[name] for name in names]).reshape(len(names), 2)
    deviations = random.uniform(sides[:, 0], sides[:, 1], (count, len(names)))
    starts, met = consistent_starts(loop, names, deviations)
    deviations = deviations[met]
    returned, left = np.zeros(len(starts), dtype=bool), np.zeros(len(starts), dtype=bool)
    most = _patience(loop, names, sides, until, rtol)  # also compiles the loop, once, before the threads
    charts = Charts(loop)
    # the general driver, which follows events, is not native all through: threads would only get in its way
    threads = workers or cpu_count() or 1 if loop.smooth else 1
    lots = np.array_split(
        np.arange(len(starts)), max(1, min(len(starts) // LEAST_LOT, max(len(starts) // LOT, 4 * threads)))
    )
    crew = ThreadPoolExecutor(threads)
    try:
        done = 0
        for lot, answer in zip(
            lots, crew.map(lambda k: _returns(loop, charts, starts[k], until, rtol, most, beyond), lots), strict=True
        ):
            returned[lot], left[lot] = answer
            done += len(lot)
            if progress is not None:
                progress(done)
    finally:
        crew.shutdown(cancel_futures=True)  # interrupted, the rest is not begun
    spans = {name: ranges[name] for name in names}
    return Basin(names, spans, deviations, returned, left, count - len(starts), until, perf_counter() - begin)


def _patience(loop: ClosedLoop, names: Sequence[str], sides: Array, until: float, rtol: float) -> int:
    """How many steps a run may take: a motion that whirls away faster and faster would take any number."""
    close, _ = consistent_starts(loop, names, 1e-2 * np.abs(sides).max(axis=1, initial=0.0)[None, :])
    start = close[0] if len(close) else loop.at_rest
    path = loop.path(start, np.array([0.0, until]), rtol, max_steps=10_000)
    return PATIENCE * (100 + path.steps)


def _returns(
    loop: ClosedLoop, charts: Charts, starts: Array, until: float, rtol: float, most: int, beyond: bool
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Is every deviation at the end small beside its largest size, and the whole no larger than halfway? Was a limit passed?"""
    times = np.linspace(0.0, until, LOOKS)
    run = _lot if loop.smooth else _events
    states, left = run(loop, charts, starts, times, rtol, most, True)
    if beyond and left.any():
        states[left] = run(loop, charts, starts[left], times, rtol, most, False)[0]
    finished = np.isfinite(states[:, -1]).all(axis=1)
    sizes = np.abs(
        loop.all_deviations(states) if loop.design.lasting is None else deviations_from_reached(loop, states)
    )
    # what never exceeds the errors of the run is no deviation: y' of a wheel in its own axes
    unseen = ERRORS * loop.errors(starts, rtol)[:, None, :]
    largest = np.maximum(np.nanmax(sizes, axis=1, keepdims=True), unseen / FALLEN)
    halfway, last = ((sizes[:, k] / largest[:, 0]).max(axis=1) for k in (LOOKS // 2, -1))
    small = (sizes[:, -1] <= unseen[:, 0]).all(axis=1)
    falling = (last <= FALLEN) & (last <= halfway)
    return np.asarray(finished & (small | falling)), left


def _lot(
    loop: ClosedLoop, charts: Charts, starts: Array, times: Array, rtol: float, most: int, fenced: bool
) -> tuple[Array, NDArray[np.bool_]]:
    """States of the loop (N, k, n) at these times, and which runs passed a limit, if they are ``fenced``.

    Runs that fail in its chart are followed into others.
    """
    fence, ode, memories = loop.fence() if fenced else None, loop.ode, None
    begun = np.zeros(len(starts), dtype=bool)
    if fence is not None:
        begins = np.column_stack([np.full(len(starts), times[0]), starts])
        ode, memories, begun = replace(ode, after_step=fence.flow), fence.begun(begins), fence.outside(begins)
    atol = loop.small(starts, rtol)
    states, finished, left = solve_many(
        ode, starts, times, method="radau", rtol=rtol, atol=atol, max_steps=most, memories=memories
    )
    _check_lot(loop, states, times, finished)
    left |= begun
    if loop.equations.charted:
        for k in np.flatnonzero(~finished & ~left):
            states[k], left[k] = charts.followed(starts[k], times, rtol, most, fenced=fenced)
            finished[k] = np.isfinite(states[k, -1]).all()
    states[left | ~finished, -1] = np.nan
    return states, left


def _check_lot(loop: ClosedLoop, states: Array, times: Array, finished: NDArray[np.bool_]) -> None:
    """Check the first run of a lot that came to its end, and every fiftieth after it, at its beginning, middle and end."""
    from svyaz.motion import Sample, check_lanes

    done, looks = np.flatnonzero(finished)[::50], [0, len(times) // 2, len(times) - 1]
    if len(done):
        rows = states[done][:, looks].reshape(-1, states.shape[2])
        at, values = np.tile(times[looks], len(done)), loop.equations.system.constants
        road = "a closed loop in lanes of a basin"
        check_lanes(Sample(road, loop.equations, at, rows, np.empty(0), {}, values), loop.natives[0])


def _events(
    loop: ClosedLoop, charts: Charts, starts: Array, times: Array, rtol: float, most: int, fenced: bool
) -> tuple[Array, NDArray[np.bool_]]:
    """The same by the general driver, one after another, for constraints that events switch and rates that jump."""
    found, left = np.full((len(starts), len(times), starts.shape[1]), np.nan), np.zeros(len(starts), dtype=bool)
    for k, full in enumerate(model_states(loop.equations, np.zeros(len(starts)), starts)):
        start = dict(zip(loop.equations.system.states, map(float, full), strict=True))
        motion = loop.motion(start, times, rtol, max_steps=most, beyond=not fenced)
        reached = times[times <= motion.times[-1]]
        rows = np.searchsorted(motion.times, reached, side="right") - 1  # at an event the state after it
        found[k, : len(reached)] = np.column_stack([motion.column(name) for name in loop.states])[rows]
        left[k] = motion.status is Status.LEFT
        if not motion.finished:
            found[k, -1] = np.nan
    return found, left


def consistent_starts(loop: ClosedLoop, names: Sequence[str], deviations: Array) -> tuple[Array, NDArray[np.bool_]]:
    """States of the loop for deviations of these variables: redundant coordinates by Newton's method from y = B(0) x.

    Returns the states that exist, and which of the deviations they belong to.
    """
    columns, values, met = loop.design.model.complete_each(names, deviations)
    states = np.tile(loop.at_rest, (len(values), 1))
    states[:, [loop.states.index(name) for name in columns]] = values
    return states, met
