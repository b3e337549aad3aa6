"""Gains: the verdict on those that are given, and the choice where "auto" is asked for.

The choice is made from rehearsals of the run itself over its whole span, with gains κ spaced evenly in the logarithm
between the inverse of the span and the limit of the method. Each gives a residual (largest deviation in the constraint's
own scale) and a trajectory error (largest distance from an accurate motion, every state in its own scale). Of those that
do not leave the constraints farther than no stabilisation at all, the weakest whose product of both is about the least is
taken: no other gain of the rehearsal is twice as good in both. With a tolerance, only gains that keep the residual below
it compete, and the step is halved until there is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, isnan, nan
from time import perf_counter

import numpy as np

from svyaz.arrays import Array
from svyaz.constraints import Budget, spread
from svyaz.forms import Equations
from svyaz.holding.advancing import Advancing, advance
from svyaz.holding.deviation import Deviations, Extent, deviations
from svyaz.holding.options import Options
from svyaz.holding.perturbations import Perturbation, critical, rescaled
from svyaz.holding.pilot import scheme_of
from svyaz.holding.segment import Segment, integrated
from svyaz.holding.sizes import Scale, state_scale
from svyaz.holding.verdicts import Discretisation, Verdict, judge, largest_gain
from svyaz.integrate import LEAST_RTOL, Path

CANDIDATES = 17
MOST_HALVINGS = 12
LARGEST_SHARE = 0.8
"""Gains above this part of the limit of the method are not proposed: the linear limit is necessary, not sufficient."""

MARGIN = 1.25
"""A rehearsed residual must stay below the tolerance by this factor."""

EQUAL = 1.5
"""Products of residual and error within this factor of the least count as equal, and the weakest gain of them is taken.

A gain that is twice as good in both would have a product four times smaller.
"""

NOISE = 1e-12
"""Residuals and errors below this are rounding: they do not tell gains apart, and the weakest gain is taken."""

REFERENCE_RTOL = 1e-11
COMPARED = 401
"""The trajectory error is taken over about so many moments."""

LONGEST_REHEARSAL = 400_000
"""Runs with more steps than this are rehearsed with a coarser step and gains of the same κτ; a rehearsal that chooses
its steps is given up after about so many."""


@dataclass(frozen=True)
class Rehearsal:
    """One rehearsed gain: residual in the own scale of the constraints, by constraint, and trajectory error."""

    kappa: float
    residual: float
    residuals: tuple[float, ...]
    error: float
    finished: bool


@dataclass(frozen=True)
class Choice:
    """What was decided, on which trials, at what cost; ``log`` tells every decision.

    ``coarseness``: by how much the step of the rehearsals exceeded that of the run.
    """

    kappa: float
    step: float | None
    trials: tuple[Rehearsal, ...]
    log: tuple[str, ...]
    steps: int
    seconds: float
    feasible: bool = True
    coarseness: int = 1


def verdict_on(law: Perturbation, options: Options) -> Verdict:
    """The verdict on a perturbation equation with the method and step of a run."""
    return judge(law.matrix, scheme_of(options))


def choose(segment: Segment, options: Options, state: Array, span: tuple[float, float]) -> Choice:
    """The gain for "auto" in one phase, and the step where a tolerance asks for a smaller one."""
    begin, budget = perf_counter(), Budget.started()
    log: list[str] = []
    halved: list[str] = []
    steps = 0
    rehearsals = None
    for halving in range(MOST_HALVINGS + 1):
        now = options if options.step is None else replace(options, step=options.step / 2**halving)
        rehearsals = _rehearse(segment, now, state, span, budget, rehearsals)
        trials, budget = rehearsals.trials, rehearsals.budget
        steps += rehearsals.steps
        log.extend([rehearsals.cut] if rehearsals.cut else [])
        best = _best(trials, now.allowed(deviations(segment.equations).names))
        if best is not None:
            log.extend(_told_of_halving(options, halved))
            log.append(_told(best, trials, now))
            coarse = _coarseness(now, span)
            return Choice(best.kappa, now.step, trials, tuple(log), steps, perf_counter() - begin, coarseness=coarse)
        if options.tolerance is None or options.step is None or budget.over:
            break
        halved.append(f"{now.step:g}")
    log.extend(_told_of_halving(options, halved))
    log.append("no gain was found" + ("" if options.tolerance is None else f" that keeps {_limit(options)}"))
    return Choice(0.0, options.step, trials, tuple(log), steps, perf_counter() - begin, feasible=False)


def _told_of_halving(options: Options, halved: Sequence[str]) -> list[str]:
    if not halved:
        return []
    tried = f"the step {halved[0]}" if len(halved) == 1 else f"the steps {', '.join(halved)}"
    return [f"no gain keeps {_limit(options)} with {tried}: the step is halved"]


def _limit(options: Options) -> str:
    given = options.tolerance
    if isinstance(given, Mapping):
        return "the residuals below " + ", ".join(f"{limit:g} ('{name}')" for name, limit in given.items())
    return f"the residual below {given:g}"


def _reference(segment: Segment, options: Options, state: Array, span: tuple[float, float], most: int) -> Path:
    """An accurate motion at nodes of the run: dop853 at a strict tolerance, with gains slow compared with the motion."""
    rtol = REFERENCE_RTOL if options.rtol is None else max(LEAST_RTOL, min(REFERENCE_RTOL, options.rtol / 10))
    strict = replace(options, method="dop853", step=None, rtol=rtol, atol=None)
    gentle = segment.regained(critical(segment.equations, 1.0 / (span[1] - span[0])))
    return advance(gentle, state, span, strict, _nodes(options, span), None, most)


def _nodes(options: Options, span: tuple[float, float]) -> Array:
    """At most COMPARED moments that are nodes of every rehearsal with a fixed step."""
    if options.step is None:
        return np.linspace(*span, COMPARED)
    unit = options.step * _coarseness(options, span)
    count = int((span[1] - span[0]) / unit * (1 + 1e-12))
    stride = max(1, -(-count // COMPARED))
    return np.asarray(span[0] + unit * np.arange(0, count + 1, stride), dtype=float)


def _coarseness(options: Options, span: tuple[float, float]) -> int:
    """By how much the step of a rehearsal exceeds that of the run."""
    if options.step is None:
        return 1
    return max(1, -(-round((span[1] - span[0]) / options.step) // LONGEST_REHEARSAL))


@dataclass(frozen=True)
class _Rehearsals:
    """The trials of one step, the accurate motion they were compared with, and what is left of the budget."""

    trials: tuple[Rehearsal, ...]
    reference: Path
    steps: int
    budget: Budget
    cut: str


def _rehearse(
    segment: Segment,
    options: Options,
    state: Array,
    span: tuple[float, float],
    budget: Budget,
    before: _Rehearsals | None,
) -> _Rehearsals:
    """Rehearse the run with all gains, or with fewer, evenly spread, when the budget does not allow more.

    The first rehearsal, without gains, tells how long a run takes.
    """
    coarse = _coarseness(options, span)
    rehearsal = options if options.step is None else replace(options, step=options.step * coarse)
    pattern, gains = critical(segment.equations, 1.0), candidates(scheme_of(options), span)

    def run(kappa: float, grid: Array | None, way: Advancing = advance) -> Path:
        law = rescaled(pattern, kappa / coarse)
        return way(segment.regained(law), state, span, rehearsal, grid, None, 2 * LONGEST_REHEARSAL)

    grid = _nodes(options, span) if options.step is None else None
    started = budget.spent
    plain = run(0.0, grid)
    budget = budget.for_run((budget.spent - started) * coarse)
    reference = before.reference if before else _reference(segment, options, state, span, _affordable(budget, plain))
    if grid is not None and not reference.finished:
        grid, plain = None, run(0.0, None)
    look = _Look(segment.equations, deviations(segment.equations), reference)
    seen, steps = {0: look.at(plain)}, plain.steps
    # where neither has come to a branching position there is none to be looked for in the others
    way = advance if plain.bridged or reference.bridged or not plain.finished else integrated
    for k in spread(len(gains) - 1):
        if budget.over:
            break
        path = run(float(gains[1 + k]), grid, way)
        seen[1 + k], steps = look.at(path), steps + path.steps
    trials = look.compared({k: (float(gains[k]), seen[k]) for k in sorted(seen)})
    cut = f"rehearsals were cut at {len(seen)} of {len(gains)} gains, after {budget.told}"
    steps += 0 if before else reference.steps
    return _Rehearsals(trials, reference, steps, budget, cut if len(seen) < len(gains) else "")


def _affordable(budget: Budget, path: Path) -> int:
    """So many steps of the accurate motion, of twelve evaluations each, are in the budget."""
    each = max(path.seconds / max(path.evaluations, 1), 1e-9)
    return int(np.clip(budget.left / (12 * each), 1000, LONGEST_REHEARSAL))


@dataclass(frozen=True)
class _Look:
    """What is looked at in a rehearsal, so that it need not be kept."""

    equations: Equations
    measured: Deviations
    reference: Path

    @cached_property
    def scale(self) -> Scale:
        return state_scale(self.equations, self.reference.times, self.reference.states)

    def at(self, path: Path) -> tuple[Extent, float] | None:
        """How far deviations reach, and the error of the trajectory; None for a rehearsal that did not finish."""
        if not path.finished:
            return None
        error = trajectory_error(path, self.reference, self.scale) if self.reference.finished else nan
        return self.measured.extent(path.times, path.states), error

    def compared(self, seen: Mapping[int, tuple[float, tuple[Extent, float] | None]]) -> tuple[Rehearsal, ...]:
        """The trials, with residuals in the own scales of the constraints."""
        ended = [look[0] for _, look in seen.values() if look is not None]
        scales = iter(self.measured.scales_of(ended))
        entries, count = self.measured.reported, len(self.measured.names)
        return tuple(
            Rehearsal(kappa, inf, (inf,) * count, inf, False)
            if look is None
            else _rehearsed(kappa, look[0].largest[entries], next(scales)[entries], look[1])
            for kappa, look in seen.values()
        )


def _rehearsed(kappa: float, largest: Array, scales: Array, error: float) -> Rehearsal:
    relative = largest / np.where(scales > 0, scales, 1.0)
    return Rehearsal(kappa, float(np.max(relative, initial=0.0)), tuple(map(float, largest)), error, True)


def candidates(scheme: Discretisation, span: tuple[float, float]) -> Array:
    """0 (no stabilisation), then gains between 0.1/T and the limit of the method, evenly in the logarithm."""
    duration = span[1] - span[0]
    limit = largest_gain(scheme) * LARGEST_SHARE
    if not np.isfinite(limit):
        limit = 1e3 / duration if scheme.step is None else LARGEST_SHARE / scheme.step
    low = min(0.3 / duration, limit / 10)
    return np.concatenate([[0.0], np.geomspace(low, limit, CANDIDATES)]).astype(float)


def trajectory_error(path: Path, reference: Path, scale: Scale) -> float:
    """max over common moments and states of |x - x_ref| over the scale of the state."""
    rows = np.clip(np.searchsorted(path.times, reference.times), 0, len(path.times) - 1)
    before = np.clip(rows - 1, 0, None)
    nearer = np.abs(path.times[before] - reference.times) < np.abs(path.times[rows] - reference.times)
    rows = np.where(nearer, before, rows)
    common = np.abs(path.times[rows] - reference.times) <= 1e-9 * max(1e-300, abs(reference.times[-1]))
    return scale.difference(path.states[rows][common], reference.states[common])


def _best(trials: Sequence[Rehearsal], allowed: Array) -> Rehearsal | None:
    """The weakest gain whose product of residual and trajectory error is about the least of those that may compete.

    Where there is no accurate motion to compare with, the residual decides.
    """
    unstabilised = trials[0].residual
    able = [t for t in trials if t.finished and t.residual <= unstabilised and t.error != inf]
    able = [t for t in able if np.all(MARGIN * np.array(t.residuals) <= allowed)]
    if not able:
        return None
    products = [np.log(max(t.residual, NOISE)) + (0.0 if isnan(t.error) else np.log(max(t.error, NOISE))) for t in able]
    least = min(products)
    return next(t for t, p in zip(able, products, strict=True) if p <= least + np.log(EQUAL))


def _told(best: Rehearsal, trials: Sequence[Rehearsal], options: Options) -> str:
    how = f"the step {options.step:g}" if options.step is not None else f"rtol {options.rtol:g}"
    tried = sum(t.finished for t in trials)
    against = trials[0].residual
    error = "not known, since no accurate motion came to the end" if isnan(best.error) else f"{best.error:.3g}"
    return (
        f"κ = {best.kappa:.4g} chosen from {len(trials)} rehearsals ({tried} finished) with {options.method} and {how}: "
        f"residual {best.residual:.3g} of its scale ({against:.3g} without stabilisation), trajectory error {error}"
    )
