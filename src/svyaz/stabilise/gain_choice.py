"""The choice of gains where "auto" is asked for.

It is made from trial runs of the run itself, over its whole span or, where that has very many steps, over the first part of it,
with gains κ spaced evenly in the logarithm between the inverse of the span and the limit of the method. Each gives a residual
(largest deviation in the constraint's own scale) and a trajectory error (largest distance from an accurate motion, every state
in its own scale). Of those that do not leave the constraints farther than no stabilisation at all, the weakest whose product of
both is about the least is taken. With a tolerance, only gains that keep the residual below it compete, and the step is halved
until there is one. With a fixed step the best gain is then refined, and variable gains may take its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isnan, log, nan, sqrt
from time import perf_counter

import numpy as np

from svyaz.arrays import Array
from svyaz.integrate import Budget, Path, Status
from svyaz.integrate import method as find_method
from svyaz.stabilise.advancing import advance
from svyaz.stabilise.deviation import deviations
from svyaz.stabilise.laws import positions_of
from svyaz.stabilise.options import Options
from svyaz.stabilise.pilot import scheme_of, seconds_left, spread
from svyaz.stabilise.request import Stabilisation, one_gain
from svyaz.stabilise.search_table import TABLE
from svyaz.stabilise.segment import Segment, integrated
from svyaz.stabilise.trial_runs import (
    TrialGains,
    TrialRun,
    TrialRuns,
    Trials,
    accurate_motion,
    affordable,
    nodes_of,
    trial_span,
)
from svyaz.stabilise.verdicts import Discretisation, largest_gain

NEAR = "the gain is kept constant: residual and error are both about the least that was seen with any gain"


def candidates(scheme: Discretisation, span: tuple[float, float]) -> Array:
    """0 (no stabilisation), then gains between 0.3/T and the limit of the method, evenly in the logarithm."""
    duration = span[1] - span[0]
    limit = largest_gain(scheme) * TABLE.largest_share
    if not np.isfinite(limit):
        limit = 1e3 / duration if scheme.step is None else TABLE.largest_share / scheme.step
    low = min(0.3 / duration, limit / 10)
    return np.concatenate([[0.0], np.geomspace(low, limit, TABLE.candidates)]).astype(float)


def best_of(trials: Sequence[TrialRun], allowed: Array, equal: float = TABLE.equal_steps) -> TrialRun | None:
    """The weakest gain whose product of residual and trajectory error is about the least of those that may compete.

    Where there is no accurate motion to compare with, the residual decides.
    """
    able = sorted(_able(trials, allowed), key=lambda t: t.kappa)
    least = min((t.product for t in able), default=inf)
    return next((t for t in able if t.product <= least + log(equal)), None)


def _able(trials: Sequence[TrialRun], allowed: Array) -> list[TrialRun]:
    """Those that may compete: none that leaves the constraints farther than no stabilisation, or than they may be."""
    unstabilised = trials[0].residual
    able = [t for t in trials if t.finished and t.residual <= unstabilised and t.error != inf]
    return [t for t in able if np.all(TABLE.margin * np.array(t.residuals) <= allowed)]


def search(runs: TrialRuns, first: Trials, allowed: Array, budget: Budget) -> tuple[Trials, TrialRun, tuple[str, ...]]:
    """All trials, the best of them, and notes on the search.

    With a fixed step the best of the first trials is varied in steps that grow shorter. Where it still leaves residual or error
    well above the least that any gain leaves, variable gains are tried about it and refined in the same way.
    """
    known, options = first, runs.options
    trials = tuple(known.values())
    best = best_of(trials, allowed, TABLE.equal if options.step is None else TABLE.equal_steps)
    assert best is not None, "one of the gains may be taken"
    if options.step is None or find_method(options.method).implicit or runs.reference.status is not Status.FINISHED:
        return known, best, ()
    scheme, positions = scheme_of(options), bool(positions_of(runs.segment.equations))
    gains = candidates(scheme, runs.span)[1:]
    most = len(known) + TABLE.most_steps // max(1, *(one.steps for one in trials))

    def extend(settings: Iterable[TrialGains]) -> tuple[TrialRun, ...]:
        nonlocal known
        new = [one for one in dict.fromkeys(settings) if one not in known and _fits(scheme, one)]
        known = runs.extend(known, new[: most - len(known)], budget)
        return tuple(known.values())

    near = _gap(trials, best) <= TABLE.gap
    for width in TABLE.widths:
        if width <= 0.7 or (positions and not near):
            leader = min(_able(trials, allowed), key=lambda t: t.product)
            trials = extend(_around(leader.setting, width, gains, positions and not near))
    constant = best_of(trials, allowed) or best
    if seconds_left(budget) <= 0.0:
        return known, constant, (f"the search for better gains was cut after {budget.told}",)
    if near or _gap(trials, constant) <= TABLE.gap:
        return known, constant, (NEAR,)
    trials = extend(_variable(constant, trials, float(gains[0]), positions))
    for count, factor in zip(TABLE.leaders, TABLE.factors, strict=True):
        trials = extend(one for t in _leaders(trials, allowed, count) for one in _beside(t.setting, factor))
    variable = min(_leaders(trials, allowed, 1), key=lambda t: t.product, default=None)
    better = variable is not None and variable.product + 2 * log(TABLE.gap) <= constant.product
    better = better and variable is not None and runs.may_be_given(variable.setting)
    cut = (f"the search for gains that vary was cut after {budget.told}",) if seconds_left(budget) <= 0.0 else ()
    note = _describe_variable(constant, variable, better=better)
    return known, variable if better and variable is not None else constant, (note, *cut)


def _leaders(trials: Sequence[TrialRun], allowed: Array, count: int) -> list[TrialRun]:
    """The best of the gains that vary with deviations, and of those that vary with rates."""
    able = sorted((t for t in _able(trials, allowed) if t.setting.strong), key=lambda t: t.product)
    return [t for by_rate in (False, True) for t in [t for t in able if t.setting.by_rate == by_rate][:count]]


def _gap(trials: Sequence[TrialRun], best: TrialRun) -> float:
    """√(residual · error) of the best over that of the least residual and the least error of any."""
    ended = [t for t in trials if t.finished and not isnan(t.error)]
    least = sum(
        log(max(min(values), TABLE.noise)) for values in zip(*((t.residual, t.error) for t in ended), strict=True)
    )
    return float(np.exp(0.5 * (best.product - least)))


def _fits(scheme: Discretisation, setting: TrialGains) -> bool:
    """Do the roots lie within the interval of the method, with the share that is kept free?"""
    zeta, tau = setting.damping, scheme.step or 0.0
    root = zeta - 1j * sqrt(1 - zeta**2) if zeta < 1 else complex(zeta + sqrt(zeta**2 - 1))
    factors = [
        np.abs(scheme.factor(-tau * kappa / TABLE.largest_share * np.array([root, 1.0], dtype=np.complex128)))
        for kappa in (setting.kappa, setting.strong)
        if kappa > 0.0
    ]
    return bool(factors) and float(np.max(factors)) < 1.0


def _around(setting: TrialGains, width: float, gains: Array, positions: bool) -> Iterator[TrialGains]:
    """Settings about one of them."""
    ratio = float((gains[-1] / gains[0]) ** (width / (len(gains) - 1)))
    for kappa in (ratio, 1 / ratio):
        yield TrialGains(_plain(setting.kappa * kappa), setting.damping)
    if positions:
        for zeta in (2.0**width, 2.0**-width):
            yield TrialGains(setting.kappa, _plain(setting.damping * zeta))
            # the same slow root, or the same fast one
            yield TrialGains(_plain(setting.kappa * zeta), _plain(setting.damping * zeta))
            yield TrialGains(_plain(setting.kappa / zeta), _plain(setting.damping * zeta))


def _variable(constant: TrialRun, trials: Sequence[TrialRun], weakest: float, positions: bool) -> Iterator[TrialGains]:
    """Gains that vary between those that are good for the error and those that are good for the residual."""
    ended = [t for t in trials if t.finished and not t.setting.strong]
    right, tight = min(ended, key=lambda t: t.error).setting, min(ended, key=lambda t: t.residual).setting
    reach, own = max(constant.residual, TABLE.noise), max(constant.kappa, weakest)
    for damping in dict.fromkeys((constant.setting.damping, 1.0)):
        for low in dict.fromkeys((max(right.kappa, weakest), own, 0.5 * own)):
            for high in dict.fromkeys((tight.kappa, 4 * own, own)):
                if high > 0.0 and high != low:
                    yield from (TrialGains(low, damping, high, part * reach) for part in (0.1, 0.4, 1.0))
            for part in (1.0, 2.0, 4.0, 8.0) if positions else ():
                # about the damping of the best constant where rates are of the size of residuals
                strengths = (0.5 * part**2 * own, 2 * part**2 * own)
                yield from (TrialGains(low, damping, high, part * reach, by_rate=True) for high in strengths)


def _beside(setting: TrialGains, factor: float) -> Iterator[TrialGains]:
    """Gains that vary a little otherwise."""
    for by in (factor, 1 / factor):
        yield replace(setting, strong=_plain(setting.strong * by))
        yield replace(setting, at=_plain(setting.at * by))
        yield replace(setting, kappa=_plain(setting.kappa * by))


def _plain(value: float) -> float:
    """A number with few digits: neighbours of neighbours are to be the same."""
    return float(f"{value:.5g}")


def _describe_variable(constant: TrialRun, variable: TrialRun | None, *, better: bool) -> str:
    if variable is None:
        return "no trial run with gains that vary with the deviation came to its end: the gain is kept constant"
    times = np.exp(0.5 * (constant.product - variable.product))
    about = f"from κ = {variable.kappa:.4g} at the constraints to {variable.setting.strong:.4g} away from them"
    if better:
        return f"gains vary {about}: √(residual · error) is {times:.3g} times smaller than with the best constant"
    told = f"√(residual · error) is {1 / times:.3g} times that of the constant, which is kept"
    return f"gains that vary {about} were tried: {told}"


@dataclass(frozen=True)
class Choice:
    """What was decided, on which trials, at what cost; ``log`` tells every decision.

    ``chosen`` is the trial run that was taken, ``gains`` are those of the run, as they may be asked for; ``kappa`` is their
    rate at the constraints. ``part`` of the run was tried.
    """

    kappa: float
    step: float | None
    trials: tuple[TrialRun, ...]
    log: tuple[str, ...]
    steps: int
    seconds: float
    feasible: bool = True
    part: float = 1.0
    chosen: TrialRun | None = None
    gains: Stabilisation = field(default_factory=lambda: one_gain(0.0))

    @property
    def unstabilised(self) -> TrialRun | None:
        """The trial run without gains, to compare with; None where there was none."""
        return next((t for t in self.trials if t.setting == TrialGains(0.0)), None)


def choose(segment: Segment, options: Options, state: Array, span: tuple[float, float]) -> Choice:
    """The gain for "auto" in one phase, and the step where a tolerance asks for a smaller one."""
    begin, budget = perf_counter(), Budget.started()
    log: list[str] = []
    halved: list[str] = []
    steps = 0
    reference = None
    trial = trial_span(options, span)
    part = (trial[1] - trial[0]) / (span[1] - span[0])
    allowed = options.limits(deviations(segment.equations).names)
    for halving in range(TABLE.most_halvings + 1):
        now = options if options.step is None else replace(options, step=options.step / 2**halving)
        runs, trials, budget, cut = _try_candidates(segment, now, state, trial, part, budget, reference)
        steps += runs.reference.steps if reference is None else 0
        reference = runs.reference
        log.extend([cut] if cut else [])
        found = best_of(tuple(trials.values()), allowed) is not None
        if found:
            break
        steps += sum(one.steps for one in trials.values())
        if options.tolerance is None or options.step is None or seconds_left(budget) <= 0.0:
            break
        halved.append(f"{now.step:g}")
    if halved:
        tried = f"the step {halved[0]}" if len(halved) == 1 else f"the steps {', '.join(halved)}"
        log.append(f"no gain keeps {_limit(options)} with {tried}: the step is halved")
    if not found:
        log.append("no gain was found" + ("" if options.tolerance is None else f" that keeps {_limit(options)}"))
        every = tuple(trials.values())
        return Choice(0.0, options.step, every, tuple(log), steps, perf_counter() - begin, feasible=False)
    trials, best, notes = search(runs, trials, allowed, budget)
    every = tuple(trials.values())
    log += [_describe(best, every, now), *notes, *_losses(best, every[0]), *_energy_note(runs, best, part)]
    return Choice(
        best.kappa,
        now.step,
        every,
        tuple(log),
        steps + sum(one.steps for one in every),
        perf_counter() - begin,
        part=part,
        chosen=best,
        gains=runs.gains(best.setting),
    )


def _limit(options: Options) -> str:
    given = options.tolerance
    if isinstance(given, Mapping):
        return "the residuals below " + ", ".join(f"{limit:g} ('{name}')" for name, limit in given.items())
    return f"the residual below {given:g}"


def _try_candidates(
    segment: Segment,
    options: Options,
    state: Array,
    span: tuple[float, float],
    part: float,
    budget: Budget,
    reference: Path | None,
) -> tuple[TrialRuns, Trials, Budget, str]:
    """Trial runs over a part of the run with all gains, or with fewer, evenly spread, when the budget does not allow more;
    what is left of the budget; and a note where it was not enough.

    The first trial run, without gains, tells how long a run takes. ``reference`` is the accurate motion where it is known.
    """
    none, gains = TrialGains(0.0), [TrialGains(float(k)) for k in candidates(scheme_of(options), span)[1:]]
    grid = nodes_of(options, span) if options.step is None else None
    runs = TrialRuns(segment, options, state, span, grid)
    before_run = seconds_left(budget)
    plain = runs.path(none)
    budget = budget.for_run((before_run - seconds_left(budget)) / part)
    if reference is None:
        reference = accurate_motion(segment, options, state, span, affordable(budget, plain))
    if grid is not None and reference.status is not Status.FINISHED:
        runs = replace(runs, grid=None)
        plain = runs.path(none)
    # where neither has come to a branching position there is none to be looked for in the others
    branching = plain.bridged or reference.bridged or plain.status is not Status.FINISHED
    runs = replace(runs, accurate=reference, way=advance if branching else integrated)
    trials = runs.extend(runs.compare([none], [plain]), [gains[k] for k in spread(len(gains))], budget)
    whole = len(trials) > len(gains)
    cut = "" if whole else f"trial runs were cut at {len(trials)} of {len(gains) + 1} gains, after {budget.told}"
    return runs, {one: trials[one] for one in sorted(trials, key=lambda one: one.kappa)}, budget, cut


def _describe(best: TrialRun, trials: Sequence[TrialRun], options: Options) -> str:
    how = f"the step {options.step:g}" if options.step is not None else f"rtol {options.rtol:g}"
    tried = sum(t.finished for t in trials)
    plain = trials[0]
    if not plain.finished:
        residual = error = "without stabilisation no run came to the end"
    else:
        residual, error = (f"{size:.3g} without stabilisation" for size in (plain.residual, plain.error))
    known = f"{best.error:.3g} ({error})"
    return (
        f"κ = {best.kappa:.4g} (damping ratio {best.setting.damping:.4g}) chosen from {len(trials)} trial runs "
        f"({tried} finished) with {options.method} and {how}: residual {best.residual:.3g} of its scale ({residual}), "
        f"trajectory error {'not known, since no accurate motion came to the end' if isnan(best.error) else known}"
    )


def _losses(best: TrialRun, plain: TrialRun) -> list[str]:
    """Says where the motion is followed worse with the gains than without, by more than rounding."""
    if not plain.finished or not best.error > max(plain.error, TABLE.noise):
        return []
    sizes = f"{best.error:.3g} with these gains and {plain.error:.3g} without"
    told = f"stabilisation makes the motion worse: the trajectory error is {sizes}"
    return [f"{told}; they are chosen because they hold the constraints better"]


def _energy_note(runs: TrialRuns, best: TrialRun, part: float) -> list[str]:
    """Says how far the energy, where it is a first integral, drifts with a fixed step."""
    change = nan if runs.options.step is None else runs.energy_change(best.setting)
    if not abs(change) > TABLE.noted_energy * part:
        return []
    word, where = "gains" if change > 0 else "loses", "the run" if part == 1.0 else f"the first {part:.2g} of the run"
    drift = f"over {where} the energy {word} {abs(change):.2g} of max(|E₀|, max T) with these gains"
    return [f"{drift}: a shorter step or error control keeps it better"]
