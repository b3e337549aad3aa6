"""Gains: the verdict on those that are given, and the choice where "auto" is asked for.

The choice is made from rehearsals of the run itself, over its whole span or, where that has very many steps, over the first
part of it, with gains κ spaced evenly in the logarithm
between the inverse of the span and the limit of the method. Each gives a residual (largest deviation in the constraint's
own scale) and a trajectory error (largest distance from an accurate motion, every state in its own scale). Of those that
do not leave the constraints farther than no stabilisation at all, the weakest whose product of both is about the least is
taken. With a tolerance, only gains that keep the residual below it compete, and the step is halved until there is one.

With a fixed step the best gain may leave the residual, or the error, well above the least that is seen. Then other damping
of positions, ḧ + 2ζκ ḣ + κ²h = 0, is rehearsed as well, what is best is refined, and gains that vary are tried: κ at the
constraints and up to another gain away from them, so that a remainder meets the gain it calls for (Kaspirovich, end of 2.1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, nan
from time import perf_counter

from svyaz.arrays import Array
from svyaz.holding.advancing import advance
from svyaz.holding.deviation import deviations
from svyaz.holding.options import Gains, OneGain, Options
from svyaz.holding.perturbations import Perturbation
from svyaz.holding.pilot import scheme_of, spread
from svyaz.holding.rehearsals import (
    NOISE,
    Rehearsal,
    Seen,
    Setting,
    Theatre,
    Viewpoint,
    accurate_motion,
    affordable,
    nodes_of,
    rehearsed_span,
)
from svyaz.holding.searching import best_of, candidates, searched
from svyaz.holding.segment import Segment, integrated
from svyaz.holding.verdicts import Verdict, judge
from svyaz.integrate import Budget, Status

MOST_HALVINGS = 12

NOTED_ENERGY = 0.01
"""An energy that changes by more than this part of its scale over a run with a fixed step is reported before the run."""


@dataclass(frozen=True)
class Choice:
    """What was decided, on which trials, at what cost; ``log`` tells every decision.

    ``chosen`` is the rehearsal that was taken, ``gains`` are those of the run, as they may be asked for; ``kappa`` is their
    rate at the constraints, ``code`` what they were rehearsed with where they vary. ``part`` of the run was rehearsed.
    """

    kappa: float
    step: float | None
    trials: tuple[Rehearsal, ...]
    log: tuple[str, ...]
    steps: int
    seconds: float
    feasible: bool = True
    part: float = 1.0
    chosen: Rehearsal | None = None
    gains: Gains = field(default_factory=lambda: OneGain(0.0))
    code: Segment | None = None

    @property
    def unstabilised(self) -> Rehearsal | None:
        """The rehearsal without gains, to compare with; None where there was none."""
        return next((t for t in self.trials if t.setting == Setting(0.0)), None)


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
    rehearsed = rehearsed_span(options, span)
    part = (rehearsed[1] - rehearsed[0]) / (span[1] - span[0])
    for halving in range(MOST_HALVINGS + 1):
        now = options if options.step is None else replace(options, step=options.step / 2**halving)
        first = rehearsals is None
        rehearsals = _rehearse(segment, now, state, rehearsed, part, budget, rehearsals)
        theatre, seen, budget = rehearsals.theatre, rehearsals.seen, rehearsals.budget
        steps += theatre.reference.steps if first else 0
        log.extend([rehearsals.cut] if rehearsals.cut else [])
        allowed = now.allowed(deviations(segment.equations).names)
        trials = theatre.trials(seen)
        if best_of(trials, allowed) is not None:
            log.extend(_told_of_halving(options, halved))
            found = searched(theatre, seen, allowed, budget)
            trials = theatre.trials(found.seen)
            steps += sum(one.steps for one in found.seen.values())
            log += [_told(found.best, trials, now), *found.log, *_losses(found.best, trials[0])]
            log += _energy_note(theatre, found.best, part)
            return Choice(
                found.best.kappa,
                now.step,
                trials,
                tuple(log),
                steps,
                perf_counter() - begin,
                part=part,
                chosen=found.best,
                gains=theatre.gains(found.best.setting),
                code=theatre.code_for(found.best.setting),
            )
        steps += sum(one.steps for one in seen.values())
        if options.tolerance is None or options.step is None or budget.left <= 0.0:
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


@dataclass(frozen=True)
class _Rehearsals:
    """The rehearsals of one step, where they were made, and what is left of the budget."""

    theatre: Theatre
    seen: Seen
    budget: Budget
    cut: str


def _rehearse(
    segment: Segment,
    options: Options,
    state: Array,
    span: tuple[float, float],
    part: float,
    budget: Budget,
    before: _Rehearsals | None,
) -> _Rehearsals:
    """Rehearse a part of the run with all gains, or with fewer, evenly spread, when the budget does not allow more.

    The first rehearsal, without gains, tells how long a run takes.
    """
    none, gains = Setting(0.0), [Setting(float(k)) for k in candidates(scheme_of(options), span)[1:]]
    grid = nodes_of(options, span) if options.step is None else None
    theatre = Theatre(segment, options, state, span, grid=grid)
    before_run = budget.left
    plain = theatre.run(none)
    budget = budget.for_run((before_run - budget.left) / part)
    if before is not None:
        reference = before.theatre.reference
    else:
        reference = accurate_motion(segment, options, state, span, affordable(budget, plain))
    if grid is not None and reference.status is not Status.FINISHED:
        theatre = replace(theatre, grid=None)
        plain = theatre.run(none)
    # where neither has come to a branching position there is none to be looked for in the others
    branching = plain.bridged or reference.bridged or plain.status is not Status.FINISHED
    way = advance if branching else integrated
    theatre = replace(theatre, look=Viewpoint(segment.equations, deviations(segment.equations), reference), way=way)
    seen = theatre.played([gains[k] for k in spread(len(gains))], {none: theatre.seen([plain])[0]}, budget)
    ordered = {setting: seen[setting] for setting in sorted(seen, key=lambda one: one.kappa)}
    whole = len(seen) > len(gains)
    cut = "" if whole else f"rehearsals were cut at {len(seen)} of {len(gains) + 1} gains, after {budget.told}"
    return _Rehearsals(theatre, ordered, budget, cut)


def _told(best: Rehearsal, trials: Sequence[Rehearsal], options: Options) -> str:
    how = f"the step {options.step:g}" if options.step is not None else f"rtol {options.rtol:g}"
    tried = sum(t.finished for t in trials)
    plain = trials[0]
    if not plain.finished:
        residual = error = "without stabilisation no run came to the end"
    else:
        residual, error = (f"{size:.3g} without stabilisation" for size in (plain.residual, plain.error))
    known = f"{best.error:.3g} ({error})"
    return (
        f"κ = {best.kappa:.4g} (damping ratio {best.setting.damping:.4g}) chosen from {len(trials)} rehearsals "
        f"({tried} finished) with {options.method} and {how}: residual {best.residual:.3g} of its scale ({residual}), "
        f"trajectory error {'not known, since no accurate motion came to the end' if isnan(best.error) else known}"
    )


def _losses(best: Rehearsal, plain: Rehearsal) -> list[str]:
    """Says where the motion is followed worse with the gains than without, by more than rounding."""
    if not plain.finished or not best.error > max(plain.error, NOISE):
        return []
    sizes = f"{best.error:.3g} with these gains and {plain.error:.3g} without"
    told = f"stabilisation makes the motion worse: the trajectory error is {sizes}"
    return [f"{told}; they are chosen because they hold the constraints better"]


def _energy_note(theatre: Theatre, best: Rehearsal, part: float) -> list[str]:
    """Says how far the energy, where it is a first integral, drifts with a fixed step."""
    change = nan if theatre.options.step is None else theatre.energy_change(best.setting)
    if not abs(change) > NOTED_ENERGY * part:
        return []
    word, where = "gains" if change > 0 else "loses", "the run" if part == 1.0 else f"the first {part:.2g} of the run"
    drift = f"over {where} the energy {word} {abs(change):.2g} of max(|E₀|, max T) with these gains"
    return [f"{drift}: a shorter step or error control keeps it better"]
