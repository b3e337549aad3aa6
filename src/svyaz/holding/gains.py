"""Gains: the verdict on those that are given, and the choice where "auto" is asked for.

The choice is made from rehearsals of the run itself over its whole span, with gains κ spaced evenly in the logarithm
between the inverse of the span and the limit of the method. Each gives a residual (largest deviation in the constraint's
own scale) and a trajectory error (largest distance from an accurate motion, every state in its own scale). Of those that
do not leave the constraints farther than no stabilisation at all, the weakest whose product of both is about the least is
taken: no other gain of the rehearsal is twice as good in both. With a tolerance, only gains that keep the residual below
it compete, and the step is halved until there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from time import perf_counter

import numpy as np

from svyaz.arrays import Array
from svyaz.holding.deviation import Deviations, Extent, deviations, state_sizes
from svyaz.holding.options import Options
from svyaz.holding.perturbations import Perturbation, critical, rescaled
from svyaz.holding.pilot import scheme_of
from svyaz.holding.segment import Segment, advance
from svyaz.holding.verdicts import Discretisation, Verdict, judge, largest_gain
from svyaz.integrate import Path, Status

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
    """What was decided, on which trials, at what cost; ``log`` tells every decision."""

    kappa: float
    step: float | None
    trials: tuple[Rehearsal, ...]
    log: tuple[str, ...]
    steps: int
    seconds: float
    feasible: bool = True


def verdict_on(law: Perturbation, options: Options) -> Verdict:
    """The verdict on a perturbation equation with the method and step of a run."""
    return judge(law.matrix, scheme_of(options))


def choose(segment: Segment, options: Options, state: Array, span: tuple[float, float]) -> Choice:
    """The gain for "auto" in one phase, and the step where a tolerance asks for a smaller one."""
    begin = perf_counter()
    measured = deviations(segment.equations)
    reference = _reference(segment, options, state, span)
    steps = reference.steps
    log: list[str] = []
    for halving in range(MOST_HALVINGS + 1):
        now = options if options.step is None else replace(options, step=options.step / 2**halving)
        trials = _rehearse(segment, measured, now, state, span, reference)
        steps += sum(_steps(now, span) for _ in trials)
        best = _best(trials, now)
        if best is not None:
            log.append(_told(best, trials, now))
            return Choice(best.kappa, now.step, tuple(trials), tuple(log), steps, perf_counter() - begin)
        if options.tolerance is None or options.step is None:
            break
        log.append(
            f"no gain keeps the residual below {options.tolerance:g} with the step {now.step:g}: the step is halved"
        )
    log.append(
        "no gain was found"
        + ("" if options.tolerance is None else f" that keeps the residual below {options.tolerance:g}")
    )
    return Choice(0.0, options.step, tuple(trials), tuple(log), steps, perf_counter() - begin, feasible=False)


def _steps(options: Options, span: tuple[float, float]) -> int:
    return 0 if options.step is None else min(LONGEST_REHEARSAL, round((span[1] - span[0]) / options.step))


def _reference(segment: Segment, options: Options, state: Array, span: tuple[float, float]) -> Path:
    """An accurate motion at nodes of the run: dop853 at a strict tolerance, with gains slow compared with the motion."""
    strict = replace(options, method="dop853", step=None, rtol=REFERENCE_RTOL, atol=None)
    gentle = segment.regained(critical(segment.equations, 1.0 / (span[1] - span[0])))
    return advance(gentle, state, span, strict, _nodes(options, span), None, LONGEST_REHEARSAL)


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


def _rehearse(
    segment: Segment, measured: Deviations, options: Options, state: Array, span: tuple[float, float], reference: Path
) -> list[Rehearsal]:
    coarse = _coarseness(options, span)
    rehearsal = options if options.step is None else replace(options, step=options.step * coarse)
    grid = reference.times if options.step is None and reference.status is Status.FINISHED else None
    sizes = state_sizes(segment.equations, reference.times, reference.states)
    pattern = critical(segment.equations, 1.0)
    gains = candidates(scheme_of(options), span)
    looks: dict[int, Extent] = {}
    errors = np.full(len(gains), inf)
    for k, kappa in enumerate(gains):
        law = rescaled(pattern, kappa / coarse)
        path = advance(segment.regained(law), state, span, rehearsal, grid, None, 2 * LONGEST_REHEARSAL)
        if path.status is Status.FINISHED:
            looks[k] = measured.extent(path.times, path.states)
            errors[k] = trajectory_error(path, reference, sizes)
    scales = dict(zip(looks, measured.scales_of(list(looks.values())), strict=True))
    return [
        _rehearsed(float(kappa), looks[k].largest[measured.reported], scales[k][measured.reported], float(errors[k]))
        if k in looks
        else Rehearsal(float(kappa), inf, (inf,) * len(measured.names), inf, False)
        for k, kappa in enumerate(gains)
    ]


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


def trajectory_error(path: Path, reference: Path, scale: Array) -> float:
    """max over common moments and states of |x - x_ref| over the scale of the state; 1 where there is no reference."""
    if reference.status is not Status.FINISHED:
        return 1.0
    rows = np.clip(np.searchsorted(path.times, reference.times), 0, len(path.times) - 1)
    before = np.clip(rows - 1, 0, None)
    nearer = np.abs(path.times[before] - reference.times) < np.abs(path.times[rows] - reference.times)
    rows = np.where(nearer, before, rows)
    common = np.abs(path.times[rows] - reference.times) <= 1e-9 * max(1e-300, abs(reference.times[-1]))
    moving = scale > 0
    distance = np.abs(path.states[rows] - reference.states)[common]
    return float(np.max(distance[:, moving] / scale[moving], initial=0.0))


def _best(trials: Sequence[Rehearsal], options: Options) -> Rehearsal | None:
    """The weakest gain whose product of residual and trajectory error is about the least of those that may compete."""
    unstabilised = trials[0].residual
    able = [t for t in trials if t.finished and t.residual <= unstabilised and np.isfinite(t.error)]
    if options.tolerance is not None:
        able = [t for t in able if max(t.residuals, default=0.0) * MARGIN <= options.tolerance]
    if not able:
        return None
    products = [np.log(max(t.residual, NOISE)) + np.log(max(t.error, NOISE)) for t in able]
    least = min(products)
    return next(t for t, p in zip(able, products, strict=True) if p <= least + np.log(EQUAL))


def _told(best: Rehearsal, trials: Sequence[Rehearsal], options: Options) -> str:
    how = f"the step {options.step:g}" if options.step is not None else f"rtol {options.rtol:g}"
    tried = sum(t.finished for t in trials)
    against = trials[0].residual
    return (
        f"κ = {best.kappa:.4g} chosen from {len(trials)} rehearsals ({tried} finished) with {options.method} and {how}: "
        f"residual {best.residual:.3g} of its scale ({against:.3g} without stabilisation), trajectory error {best.error:.3g}"
    )
