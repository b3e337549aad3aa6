"""The deviation predicted before a run, from a pilot over the whole span.

A step of the method turns the deviations y into S(τW) y + R(t), with the one-step remainder R. The pilot finds R:

1. the method itself runs over the span with a coarser step mτ and gains κ/m, so that κτ, which decides on stability and
   on the loss of order, is the same;
2. from states along this path single steps of the true size τ with the true gains are made, first from the constraints
   (y = 0), then from the deviations that the first pass predicts: R = y(after) - S(τW) y(before);
3. the recursion y ← S(τW) y + R(t) is carried through the span and gives the largest deviation of each constraint.

Where two pilots of different coarseness agree, the finer one counts; where they do not, the path of the method depends
on the step so strongly that a finer pilot is made, at last one with the step of the run itself, which then is the run.
That one is made, too, where a tolerance lies within SAFETY of the prediction, so that the verdict is that of the run; and
for runs that no pilot foretells (error control, implicit methods) when a tolerance asks for a verdict. The bound is SAFETY
times the predicted deviation. Kaspirovich (2.1.5) introduces R and does not say how to find it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from time import perf_counter

import numpy as np

from svyaz.arrays import Array
from svyaz.integrate import COUNTED, Budget, Path, Status, Tableau, path_work
from svyaz.integrate import method as find_method
from svyaz.stabilise.advancing import Advancing, advance
from svyaz.stabilise.deviation import ROUNDED, Deviations, deviations
from svyaz.stabilise.gain_range import applied, factors_along, recursion, rounding_walk
from svyaz.stabilise.options import Options
from svyaz.stabilise.perturbations import critical, rescale
from svyaz.stabilise.segment import Segment, integrated, prepare
from svyaz.stabilise.singular_points import singular_point
from svyaz.stabilise.verdicts import Discretisation, largest_gain

COARSENESS = (8, 4, 2)
"""Steps of the pilots in multiples of the step of the run; after the last of them the step itself is taken."""

AGREEMENT = 1.5
"""Two pilots agree when their predictions differ by less than this factor."""

SAFETY = 3.0
"""The bound is this many times the predicted deviation: remainders vary between the sampled states."""

SAMPLES, NUMBERS = 2000, 40_000
"""Single steps are made from at most so many states of a path, with about so many deviations in all."""

OTHERS, FEW, STAGES = 14, 200, 12
"""Other gains at which remainders are measured for the range of gains, from so many states of the pilot."""

COARSE_RTOL = 1e-5
"""Runs with error control are looked ahead with no smaller one."""

LOST = 0.1
"""A pilot in which a deviation exceeds this part of the scale of its constraint says nothing about a finer one."""

GONE = 0.5
"""A constraint that comes to deviate by this part of its scale, which grows with it, is lost."""


@dataclass(frozen=True)
class Prediction:
    """What is predicted of each constraint, and what it cost to find it.

    ``expected`` are the largest deviations, ``bounds`` what they may be at most (SAFETY times, and rounding), ``remainders``
    the largest of one step (none known: empty). ``rest`` are these with those of rates, in the order of y, and ``start`` is
    |y| at the beginning. ``lost`` are constraints that are expected to deviate as far as they reach themselves. ``others``
    are gains κ with the remainders (gains, count) that they would make along the pilot; ``cut`` says that some were left out,
    ``ended`` why the run does not come to its end. ``seen`` are times and states along the pilot.
    """

    expected: Mapping[str, float]
    bounds: Mapping[str, float]
    remainders: Mapping[str, float]
    coarseness: int
    steps: int
    seconds: float
    finished: bool
    rest: Array = field(default_factory=lambda: np.zeros(0))
    start: Array = field(default_factory=lambda: np.zeros(0))
    lost: tuple[str, ...] = ()
    others: tuple[Array, Array] = field(default_factory=lambda: (np.zeros(0), np.zeros((0, 0))))
    cut: str = ""
    ended: str = ""
    seen: tuple[Array, Array] = field(default_factory=lambda: (np.zeros(0), np.zeros((0, 0))))


def seconds_left(budget: Budget) -> float:
    """Counted seconds of work that may still be spent."""
    return budget.end - COUNTED.seconds


def spread(count: int) -> list[int]:
    """0 … count - 1 in an order in which the first ones are always spread evenly: halves, quarters, eighths …"""
    bits = max(1, (count - 1).bit_length())
    turned = [int(f"{k:0{bits}b}"[::-1], 2) for k in range(1 << bits)]
    return [k for k in turned if k < count]


def scheme_of(options: Options) -> Discretisation:
    """The method and step of a run as the verdicts see them."""
    return _scheme(options.method, options.step)


@lru_cache(maxsize=8)
def _scheme(method: str, step: float | None) -> Discretisation:
    tableau = find_method(method)
    return Discretisation(method, tableau.order, *tableau.stability_fraction(), step)


def is_foretold(options: Options) -> bool:
    """Are deviations foretold for such a run, or a verdict on its tolerance asked for?"""
    return options.tolerance is not None or (options.step is not None and not find_method(options.method).implicit)


def predict(segment: Segment, options: Options, state: Array, span: tuple[float, float]) -> Prediction | None:
    """The prediction for one phase; None where there is nothing to be foretold.

    Nothing is predicted for projection, which keeps the constraints by itself; and of runs with error control or an
    implicit method only whether they keep a tolerance, by making them.
    """
    tableau = find_method(options.method)
    if not segment.equations.deviations or segment.projection is not None or not is_foretold(options):
        return None
    foretold = options.step is not None and not tableau.implicit
    begin = perf_counter()
    measured = deviations(segment.equations)
    allowed = options.limits(measured.names)
    steps = 0
    before: Array | None = None
    initial = measured.at(np.array(span[:1]), state[None, :])[0]
    way: Advancing = advance
    for m in (*(COARSENESS if foretold else ()), 1):
        path = _pilot_path(segment, options, state, span, m, measured.count, way)
        # where the first has come to no branching position there is none to be looked for in the others
        way = advance if path.bridged or path.status is not Status.FINISHED else integrated
        steps += path.steps
        if path.status is not Status.FINISHED:
            before = None
            continue
        found, rest = _from_path(segment, measured, options, tableau, path, span, None if m == 1 else initial)
        scales = measured.scales(path.times, path.states)
        if m == 1 or (
            before is not None
            and _agree(before, found, measured, scales)
            and not _doubtful(found[measured.reported], allowed)
        ):
            made = _prediction(segment, measured, options, path, found, rest, scales, np.abs(initial), (m, steps))
            if foretold and (options.tolerance is not None or made.lost):
                made = _with_other_gains(made, segment, measured, options, state, path, span)
            return replace(made, seconds=perf_counter() - begin)
        before = found
    unbounded, cost = dict.fromkeys(measured.names, float("inf")), perf_counter() - begin
    singular = singular_point(segment, path, options.step)
    ended, lost, seen = path.reason if singular is None else singular[1], tuple(measured.names), _some(path)
    return Prediction(unbounded, unbounded, {}, 1, steps, cost, False, lost=lost, ended=ended, seen=seen)


def states_ahead(
    segment: Segment, options: Options, state: Array, span: tuple[float, float], prediction: Prediction | None
) -> tuple[Array, Array]:
    """Times and states along the pilot; where none was made, along a run with a coarser error control."""
    if prediction is not None:
        return prediction.seen
    coarse = options if options.rtol is None else replace(options, rtol=max(options.rtol, COARSE_RTOL))
    return _some(advance(segment, state, span, coarse, None, None))


def _some(path: Path) -> tuple[Array, Array]:
    rows = np.flatnonzero(np.isfinite(path.states).all(axis=1))
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, FEW).astype(int))]
    return path.times[rows], path.states[rows]


def _doubtful(found: Array, allowed: Array) -> bool:
    """Could the run be on the other side of a tolerance than the pilot, since both differ by less than SAFETY?"""
    within, beyond = SAFETY * found <= allowed, found > SAFETY * allowed
    return not (bool(within.all()) or bool(beyond.any()))


def _prediction(
    segment: Segment,
    measured: Deviations,
    options: Options,
    path: Path,
    found: Array,
    rest: Array,
    scales: Array,
    start: Array,
    cost: tuple[int, int],
) -> Prediction:
    names, bounds = measured.names, SAFETY * found
    if options.step is not None:
        walk = rounding_walk(scheme_of(options).matrix(segment.perturbation.matrix), scales, path.steps)
        bounds = bounds + SAFETY * walk

    def told(values: Array) -> dict[str, float]:
        return dict(zip(names, map(float, values[measured.reported]), strict=True))

    gone = ((found > GONE * scales) & (found > AGREEMENT * start))[measured.reported]
    return Prediction(
        told(found),
        told(bounds),
        told(rest) if options.step is not None else {},
        *cost,
        0.0,
        True,
        rest,
        start,
        tuple(name for name, far in zip(names, gone, strict=True) if far),
        seen=_some(path),
    )


def _with_other_gains(
    made: Prediction,
    segment: Segment,
    measured: Deviations,
    options: Options,
    state: Array,
    path: Path,
    span: tuple[float, float],
) -> Prediction:
    """The prediction with the remainders of other gains, up to the limit of the method, from states of the path."""
    states = path.states.shape[1]
    each = path_work(STAGES * FEW, states)
    budget = Budget.started().for_run(path_work(path.evaluations, states) * made.coarseness)
    scheme, tableau = scheme_of(options), find_method(options.method)
    limit = largest_gain(scheme) if np.isfinite(largest_gain(scheme)) else 1.0 / (options.step or 1.0)
    low = min(0.3 / (span[1] - span[0]), limit / 10)
    gains = np.concatenate([np.geomspace(low, 0.8 * limit, OTHERS), limit * np.array([0.9, 0.96, 0.99, 0.999])])
    pattern = prepare(segment.equations, critical(segment.equations, 1.0), segment.held, options, span[0], state)
    few = np.unique(np.linspace(0, len(path.times) - 1, FEW).astype(int))
    some = replace(path, times=path.times[few], states=path.states[few])
    rest: dict[int, Array] = {}
    initial = measured.at(path.times[:1], path.states[:1])[0]
    for k in spread(len(gains)):
        if seconds_left(budget) <= 0.0:
            break
        COUNTED.seconds += each
        with_gain = pattern.regained(rescale(pattern.perturbation, gains[k]))
        rest[k] = _from_path(with_gain, measured, options, tableau, some, span, initial)[1]
    known = sorted(k for k, values in rest.items() if np.isfinite(values).all())
    cut = f"the range of gains was looked for at {len(rest)} of {len(gains)} gains, cut after {budget.told}"
    found = (gains[known], np.array([rest[k] for k in known]).reshape(len(known), measured.count))
    return replace(made, others=found, cut=cut if len(rest) < len(gains) else "")


def _pilot_path(
    segment: Segment, options: Options, state: Array, span: tuple[float, float], m: int, count: int, way: Advancing
) -> Path:
    """The path with m times the step, at moments for about NUMBERS numbers of ``count`` each; with the step itself, all."""
    if m == 1:
        return way(segment, state, span, options, None, None, None)
    assert options.step is not None, "pilots are made for fixed steps"
    coarse = replace(options, step=options.step * m)
    gentle = segment.regained(rescale(segment.perturbation, 1.0 / m))
    most = int(np.clip(NUMBERS // count, FEW, SAMPLES))
    samples = min(most, round((span[1] - span[0]) / options.step)) + 1
    return way(gentle, state, span, coarse, np.linspace(*span, max(samples, 2)), None, None)


def _from_path(
    segment: Segment,
    measured: Deviations,
    options: Options,
    tableau: Tableau,
    path: Path,
    span: tuple[float, float],
    initial: Array | None,
) -> tuple[Array, Array]:
    """Largest predicted |y| and largest |R|, y being ``initial`` first; None: the path is the run and keeps its deviations."""
    if initial is None:
        return np.max(np.abs(measured.at(path.times, path.states)), axis=0), _remainders_along(
            segment, measured, options, path
        )
    assert options.step is not None, "pilots are made for fixed steps"
    times, states = path.times, path.states
    s = factors_along(segment.perturbation, scheme_of(options), times, states)
    y = np.zeros((len(times), measured.count))
    largest = remainder = np.zeros(measured.count)
    for _ in range(2):
        placed = measured.moved_to(times, states, y)
        after = _single_steps(segment, tableau, times, placed, options.step)
        moments = np.concatenate([times + options.step, times])
        ends, starts = np.split(measured.at(moments, np.concatenate([after, placed])), 2)
        r = ends - applied(s, starts)
        y, last = recursion(s, initial, r, times, options.step, span[1])
        largest = np.maximum(np.max(np.abs(y), axis=0), np.abs(last))
        remainder = np.max(np.abs(r), axis=0)
    return largest, remainder


def _remainders_along(segment: Segment, measured: Deviations, options: Options, path: Path) -> Array:
    if options.step is None:
        return np.zeros(measured.count)
    y = measured.at(path.times, path.states)
    before = np.flatnonzero(np.isclose(np.diff(path.times), options.step, rtol=1e-6))
    if not len(before):
        return np.zeros(measured.count)
    before = before[:: -(-len(before) // SAMPLES)] if segment.perturbation.varying else before
    s = factors_along(segment.perturbation, scheme_of(options), path.times[before], path.states[before])
    return np.max(np.abs(y[before + 1] - applied(s, y[before])), axis=0)


def _single_steps(segment: Segment, tableau: Tableau, times: Array, states: Array, step: float) -> Array:
    """One step of an explicit method from every row."""
    slopes: list[Array] = []
    for i in range(tableau.stages):
        stage = states
        for j in range(i):
            if tableau.a[i, j] != 0.0:
                stage = stage + step * tableau.a[i, j] * slopes[j]
        slopes.append(segment.code.evaluate(np.column_stack([times + tableau.c[i] * step, stage]), segment.constants))
    total = states
    for weight, slope in zip(tableau.b, slopes, strict=True):
        if weight != 0.0:
            total = total + step * weight * slope
    return total


def _agree(a: Array, b: Array, measured: Deviations, all_scales: Array) -> bool:
    """Do two pilots tell the same? Deviations as large as the constraint itself tell nothing."""
    scales = all_scales[measured.reported]
    floor = ROUNDED * scales
    one, two = (np.maximum(v[measured.reported], floor) for v in (a, b))
    if not (np.all(one < LOST * scales) and np.all(two < LOST * scales)):
        return False
    return bool(np.all(one <= AGREEMENT * two) and np.all(two <= AGREEMENT * one))
