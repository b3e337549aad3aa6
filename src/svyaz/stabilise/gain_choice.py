"""The choice of gains where "auto" is asked for.

It is made from trial runs of the run itself, over its whole span or, where that has very many steps, over the first part of it,
with gains κ spaced evenly in the logarithm between the inverse of the span and the limit of the method. Each gives a residual
(largest deviation in the constraint's own scale) and a trajectory error (largest distance from an accurate motion, every state
in its own scale). Of those that do not leave the constraints farther than no stabilisation at all, the weakest whose product of
both is about the least is taken. With a tolerance, only gains that keep the residual below it compete, and the step is halved
until there is one. With a fixed step the best gain is then refined, see ``gain_search``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, nan
from time import perf_counter

from svyaz.arrays import Array
from svyaz.integrate import Budget, Path, Status
from svyaz.stabilise.advancing import advance
from svyaz.stabilise.deviation import deviations
from svyaz.stabilise.gain_search import best_of, candidates, search
from svyaz.stabilise.options import Options
from svyaz.stabilise.pilot import scheme_of, seconds_left, spread
from svyaz.stabilise.request import Stabilisation, one_gain
from svyaz.stabilise.segment import Segment, integrated
from svyaz.stabilise.trial_runs import (
    NOISE,
    TrialGains,
    TrialRun,
    TrialRuns,
    Trials,
    accurate_motion,
    affordable,
    nodes_of,
    trial_span,
)

MOST_HALVINGS = 12

NOTED_ENERGY = 0.01
"""An energy that changes by more than this part of its scale over a run with a fixed step is reported before the run."""


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
    for halving in range(MOST_HALVINGS + 1):
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
    if not plain.finished or not best.error > max(plain.error, NOISE):
        return []
    sizes = f"{best.error:.3g} with these gains and {plain.error:.3g} without"
    told = f"stabilisation makes the motion worse: the trajectory error is {sizes}"
    return [f"{told}; they are chosen because they hold the constraints better"]


def _energy_note(runs: TrialRuns, best: TrialRun, part: float) -> list[str]:
    """Says how far the energy, where it is a first integral, drifts with a fixed step."""
    change = nan if runs.options.step is None else runs.energy_change(best.setting)
    if not abs(change) > NOTED_ENERGY * part:
        return []
    word, where = "gains" if change > 0 else "loses", "the run" if part == 1.0 else f"the first {part:.2g} of the run"
    drift = f"over {where} the energy {word} {abs(change):.2g} of max(|E₀|, max T) with these gains"
    return [f"{drift}: a shorter step or error control keeps it better"]
