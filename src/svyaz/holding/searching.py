"""The search for gains among rehearsals: which are tried, and which is the best."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, isnan, log, sqrt

import numpy as np

from svyaz.arrays import Array
from svyaz.holding.perturbations import positions_of
from svyaz.holding.pilot import scheme_of
from svyaz.holding.rehearsals import NOISE, Rehearsal, Seen, Setting, Theatre
from svyaz.holding.verdicts import Discretisation, largest_gain
from svyaz.integrate import Budget, Status
from svyaz.integrate import method as find_method

CANDIDATES = 17
LARGEST_SHARE = 0.8
"""Gains above this part of the limit of the method are not proposed: the linear limit is necessary, not sufficient."""

MARGIN = 1.25
"""A rehearsed residual must stay below the tolerance by this factor."""

EQUAL, EQUAL_STEPS = 1.5, 1.02
"""Products of residual and error within this factor of the least count as equal, and the weakest gain of them is taken:
with error control, where strong gains cost steps, and with fixed steps.
"""

GAP, FAR = 1.1, 1.25
"""What √(residual · error) of the best gain must exceed the least of both by, before more, or much more, is looked for."""

MOST_STEPS, LEAST_SEARCHED = 1_000_000, 12
"""What is looked for in all takes no more steps, or so many rehearsals."""

DAMPINGS = (0.6, 4.0, 16.0)
COARSE_GAINS = 8
"""Damping ratios ζ of positions that are tried beside 1, each with so many gains."""

LEADERS = 2
WIDTHS = (0.7, 0.4, 0.2, 0.1, 0.05)
"""So many of the best settings are refined, by these parts of the distance between candidates, one after another."""

NEAR = "the gain is kept constant: residual and error are both about the least that was seen with any gain"

VARIED, FACTORS = 2, (2.0, 1.4, 1.2, 1.08)
"""So many of the best gains that vary with deviations, and as many with rates, are refined by these factors in turn."""

WON = 1.02
"""Gains that vary must be better than the best constant by this factor in √(residual · error)."""


def candidates(scheme: Discretisation, span: tuple[float, float]) -> Array:
    """0 (no stabilisation), then gains between 0.1/T and the limit of the method, evenly in the logarithm."""
    duration = span[1] - span[0]
    limit = largest_gain(scheme) * LARGEST_SHARE
    if not np.isfinite(limit):
        limit = 1e3 / duration if scheme.step is None else LARGEST_SHARE / scheme.step
    low = min(0.3 / duration, limit / 10)
    return np.concatenate([[0.0], np.geomspace(low, limit, CANDIDATES)]).astype(float)


def best_of(trials: Sequence[Rehearsal], allowed: Array, equal: float = EQUAL_STEPS) -> Rehearsal | None:
    """The weakest gain whose product of residual and trajectory error is about the least of those that may compete.

    Where there is no accurate motion to compare with, the residual decides.
    """
    able = sorted(_able(trials, allowed), key=lambda t: t.kappa)
    least = min((t.product for t in able), default=inf)
    return next((t for t in able if t.product <= least + log(equal)), None)


def _able(trials: Sequence[Rehearsal], allowed: Array) -> list[Rehearsal]:
    """Those that may compete: none that leaves the constraints farther than no stabilisation, or than they may be."""
    unstabilised = trials[0].residual
    able = [t for t in trials if t.finished and t.residual <= unstabilised and t.error != inf]
    return [t for t in able if np.all(MARGIN * np.array(t.residuals) <= allowed)]


@dataclass(frozen=True)
class Found:
    """All that was seen, the best of it, and what came of the search."""

    seen: Seen
    best: Rehearsal
    log: tuple[str, ...]


def searched(theatre: Theatre, seen: Seen, allowed: Array, budget: Budget) -> Found:
    """The best of what was seen; with a fixed step also of other damping, finer gains, and gains that vary.

    Where the best gain leaves residual and error, together, about as small as any gain leaves either of them, it is only
    refined.
    """
    trials, options = theatre.trials(seen), theatre.options
    best = best_of(trials, allowed, EQUAL if options.step is None else EQUAL_STEPS)
    assert best is not None, "one of the gains may be taken"
    if options.step is None or find_method(options.method).implicit or theatre.reference.status is not Status.FINISHED:
        return Found(seen, best, ())
    scheme, positions = scheme_of(options), bool(positions_of(theatre.segment.equations))
    gains = candidates(scheme, theatre.span)[1:]
    longest = max(one.steps for one in seen.values())
    most = len(seen) + max(LEAST_SEARCHED, MOST_STEPS // max(longest, 1))

    def played(settings: Iterable[Setting]) -> tuple[Rehearsal, ...]:
        nonlocal seen
        fit = [one for one in settings if (one.kappa > 0.0 or one.strong) and _fits(scheme, one)]
        new = list(dict.fromkeys(one for one in fit if one not in seen))
        seen = theatre.played(new[: most - len(seen)], seen, budget)
        return theatre.trials(seen)

    near = _gap(trials, best) <= GAP
    if positions and not near:
        trials = played(Setting(float(k), zeta) for zeta in DAMPINGS for k in _spaced(gains, zeta))
    for width in WIDTHS:
        leaders = sorted(_able(trials, allowed), key=lambda t: t.product)[: 1 if near else LEADERS]
        trials = played(one for t in leaders for one in _around(t.setting, width, gains, positions and not near))
    constant = best_of(trials, allowed) or best
    if budget.left <= 0.0:
        return Found(seen, constant, (f"the search for better gains was cut after {budget.told}",))
    if near or _gap(trials, constant) <= GAP:
        return Found(seen, constant, (NEAR,))
    trials = played(_varied(constant, trials, float(gains[0]), positions))
    count = VARIED if _gap(trials, constant) < FAR else 2 * VARIED
    for factor in FACTORS:
        trials = played(one for t in _leaders(trials, allowed, count) for one in _beside(t.setting, factor))
    varied = min(_leaders(trials, allowed, 1), key=lambda t: t.product, default=None)
    won = varied is not None and varied.product + 2 * log(WON) <= constant.product
    cut = (f"the search for gains that vary was cut after {budget.told}",) if budget.left <= 0.0 else ()
    return Found(seen, varied if won and varied is not None else constant, (_told_of(constant, varied, won), *cut))


def _leaders(trials: Sequence[Rehearsal], allowed: Array, count: int) -> list[Rehearsal]:
    """The best of the gains that vary with deviations, and of those that vary with rates."""
    able = sorted((t for t in _able(trials, allowed) if t.setting.strong), key=lambda t: t.product)
    return [t for by_rate in (False, True) for t in [t for t in able if t.setting.by_rate == by_rate][:count]]


def _gap(trials: Sequence[Rehearsal], best: Rehearsal) -> float:
    """√(residual · error) of the best over that of the least residual and the least error of any."""
    ended = [t for t in trials if t.finished and not isnan(t.error)]
    least = sum(log(max(min(values), NOISE)) for values in zip(*((t.residual, t.error) for t in ended), strict=True))
    return float(np.exp(0.5 * (best.product - least)))


def _fits(scheme: Discretisation, setting: Setting) -> bool:
    """Do the roots lie within the interval of the method, with the share that is kept free?"""
    zeta, tau = setting.damping, scheme.step or 0.0
    root = zeta - 1j * sqrt(1 - zeta**2) if zeta < 1 else complex(zeta + sqrt(zeta**2 - 1))
    for kappa in (setting.kappa, setting.strong):
        factor = np.abs(scheme.factor(-tau * kappa / LARGEST_SHARE * np.array([root, 1.0], dtype=np.complex128)))
        if kappa > 0.0 and np.max(factor) >= 1.0:
            return False
    return True


def _spaced(gains: Array, zeta: float) -> Array:
    """Gains for a damping ratio: from the weakest to what its roots allow."""
    high = max(gains[-1] / (zeta + sqrt(max(zeta**2 - 1, 0.0))), gains[0])
    return np.geomspace(gains[0], high, COARSE_GAINS)


def _around(setting: Setting, width: float, gains: Array, positions: bool) -> Iterator[Setting]:
    """Settings about one of them."""
    ratio = float((gains[-1] / gains[0]) ** (width / (len(gains) - 1)))
    for kappa in (ratio, 1 / ratio):
        yield Setting(_plain(setting.kappa * kappa), setting.damping)
    if positions:
        for zeta in (2.0**width, 2.0**-width):
            yield Setting(setting.kappa, _plain(setting.damping * zeta))
            # the same slow root, or the same fast one
            yield Setting(_plain(setting.kappa * zeta), _plain(setting.damping * zeta))
            yield Setting(_plain(setting.kappa / zeta), _plain(setting.damping * zeta))


def _varied(constant: Rehearsal, trials: Sequence[Rehearsal], weakest: float, positions: bool) -> Iterator[Setting]:
    """Gains that vary between those that are good for the error and those that are good for the residual."""
    ended = [t for t in trials if t.finished and not t.setting.strong]
    right, tight = min(ended, key=lambda t: t.error).setting, min(ended, key=lambda t: t.residual).setting
    reach, own = max(constant.residual, NOISE), max(constant.kappa, weakest)
    for damping in dict.fromkeys((constant.setting.damping, 1.0)):
        for low in dict.fromkeys((max(right.kappa, weakest), own, 0.5 * own)):
            for high in dict.fromkeys((tight.kappa, 4 * own, own)):
                if high > 0.0 and high != low:
                    yield from (Setting(low, damping, high, part * reach) for part in (0.1, 0.4, 1.0))
            for part in (1.0, 2.0, 4.0, 8.0) if positions else ():
                # about the damping of the best constant where rates are of the size of residuals
                strengths = (0.5 * part**2 * own, 2 * part**2 * own)
                yield from (Setting(low, damping, high, part * reach, by_rate=True) for high in strengths)


def _beside(setting: Setting, factor: float) -> Iterator[Setting]:
    """Gains that vary a little otherwise."""
    for by in (factor, 1 / factor):
        yield replace(setting, strong=_plain(setting.strong * by))
        yield replace(setting, at=_plain(setting.at * by))
        yield replace(setting, kappa=_plain(setting.kappa * by))


def _plain(value: float) -> float:
    """A number with few digits: neighbours of neighbours are to be the same."""
    return float(f"{value:.5g}")


def _told_of(constant: Rehearsal, varied: Rehearsal | None, won: bool) -> str:
    if varied is None:
        return "gains that vary with the deviation were not rehearsed to the end: the gain is kept constant"
    times = np.exp(0.5 * (constant.product - varied.product))
    about = f"from κ = {varied.kappa:.4g} at the constraints to {varied.setting.strong:.4g} away from them"
    if won:
        return f"gains vary {about}: √(residual · error) is {times:.3g} times smaller than with the best constant"
    told = f"√(residual · error) is {1 / times:.3g} times that of the constant, which is kept"
    return f"gains that vary {about} were rehearsed: {told}"
