"""The search for gains among trial runs: which are tried, and which is the best."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, isnan, log, sqrt

import numpy as np

from svyaz.arrays import Array
from svyaz.integrate import Budget, Status
from svyaz.integrate import method as find_method
from svyaz.stabilise.laws import positions_of
from svyaz.stabilise.pilot import scheme_of, seconds_left
from svyaz.stabilise.trial_runs import NOISE, TrialGains, TrialRun, TrialRuns, Trials
from svyaz.stabilise.verdicts import Discretisation, largest_gain


@dataclass(frozen=True)
class SearchTable:
    """The constants of the search, each with its origin. Those that are *chosen* follow from no theory: ``svyaz bench gains``
    judges them together, against 25 constant gains on nine systems.
    """

    candidates: int = 17
    """Gains of the first round. Chosen."""
    largest_share: float = 0.8
    """Of the limit of the method, above which no gain is proposed. Chosen: the linear limit is necessary, not sufficient."""
    margin: float = 1.25
    """By which a residual stays below the tolerance. Chosen."""
    equal: float = 1.5
    """Products of residual and error within this factor of the least count as equal under error control, where strong gains
    cost steps, and the weakest gain of them is taken. Chosen."""
    equal_steps: float = 1.02
    """The same with fixed steps, where gains cost nothing. Chosen."""
    gap: float = 1.1
    """What √(residual · error) of the best gain exceeds the least of both by, before more is looked for; and by which variable
    gains must be better than the best constant. Chosen."""
    most_steps: int = 1_000_000
    """Steps of all further trial runs together. Chosen."""
    widths: tuple[float, ...] = (4.0, 2.0, 1.0, 0.7, 0.4, 0.2, 0.1, 0.05)
    """Parts of the distance between candidates, and powers of two of the damping ratio, by which the best is varied in turn;
    those above 0.7 belong to the search for another damping. Each is about half of the one before."""
    leaders: tuple[int, ...] = (4, 3, 2, 1)
    """Variable gains that are refined in turn, as many by deviations as by rates: fewer each time, as they come together.
    The first is chosen: 2 lose 10 % on the four-bar linkage."""
    factors: tuple[float, ...] = (2.0, 1.4, 1.2, 1.08)
    """By which they are varied: each about the root of the one before."""


TABLE = SearchTable()

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
    least = sum(log(max(min(values), NOISE)) for values in zip(*((t.residual, t.error) for t in ended), strict=True))
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
    reach, own = max(constant.residual, NOISE), max(constant.kappa, weakest)
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
