"""Which members have gains that the method and step keep stable, and where along an axis the stable interval ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svyaz.constraints.perturbation import perturbation, positions_of, velocities_of
from svyaz.constraints.verdicts import ROUNDING, Discretisation
from svyaz.forms import Equations
from svyaz.model.words import is_number
from svyaz.motion.options import Options
from svyaz.motion.pilot import scheme_of

Roots = NDArray[np.complex128]
Judge = Callable[[Any, float | None], bool | None]
"""(stabilize, step) → stable, unstable, or nothing to judge."""

BISECTIONS = 50


def judge_for(equations: Equations, options: Options) -> Judge:
    """The verdict of Hurwitz and of |S(τλ)| < 1, for gains and steps that vary from member to member."""
    first, second = bool(velocities_of(equations)), bool(positions_of(equations))
    scheme = scheme_of(options)
    known: dict[str, Roots] = {}

    def roots(stabilize: Any) -> Roots:
        if is_number(stabilize):
            return _roots(2.0 * stabilize, float(stabilize) ** 2, float(stabilize), first, second)
        if isinstance(stabilize, Mapping) and set(stabilize) <= {"alpha", "beta", "kappa"}:
            alpha, beta, kappa = (float(stabilize.get(key, 0.0)) for key in ("alpha", "beta", "kappa"))
            return _roots(alpha, beta, kappa, first, second)
        key = repr(stabilize)
        if key not in known:
            known[key] = np.linalg.eigvals(perturbation(equations, stabilize).matrix).astype(complex)
        return known[key]

    def judge(stabilize: Any, step: float | None) -> bool | None:
        if not (first or second) or stabilize in ("off", "projection", "auto", None):
            return None
        return stable(roots(stabilize), scheme, step)

    return judge


def _roots(alpha: float, beta: float, kappa: float, first: bool, second: bool) -> Roots:
    """Roots of λ² + αλ + β where there are position constraints, and -κ where there are velocity constraints."""
    found: list[complex] = [-kappa] if first else []
    if second:
        spread = np.sqrt(complex(alpha**2 / 4 - beta))
        found += [-alpha / 2 + spread, -alpha / 2 - spread]
    return np.array(found, dtype=complex)


def stable(roots: Roots, scheme: Discretisation, step: float | None) -> bool:
    """Re λ < 0 and |S(τλ)| < 1 for all roots, by the same margins as the verdict on a single run."""
    size = max(1.0, float(np.max(np.abs(roots), initial=0.0)))
    if len(roots) and float(np.max(roots.real)) >= -ROUNDING * size:
        return False
    if step is None:
        return True
    return bool(np.max(np.abs(scheme.factor(step * roots)), initial=0.0) < 1.0 - ROUNDING)


def stable_intervals(
    values: NDArray[np.float64], marks: Sequence[bool | None], judged: Callable[[float], bool | None]
) -> list[tuple[float, float]]:
    """The intervals of stable values along one axis, their ends between two members found by bisection."""
    order = np.argsort(values)
    line = [(float(values[k]), marks[k]) for k in order]
    found: list[tuple[float, float]] = []
    begin: float | None = line[0][0] if line[0][1] else None
    for (before, was), (after, now) in pairwise(line):
        if bool(was) == bool(now):
            continue
        border = _border(before, after, bool(was), judged)
        if now:
            begin = border
        elif begin is not None:
            found.append((begin, border))
            begin = None
    if begin is not None:
        found.append((begin, line[-1][0]))
    return found


def _border(low: float, high: float, was: bool, judged: Callable[[float], bool | None]) -> float:
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if bool(judged(middle)) == was else (low, middle)
    return 0.5 * (low + high)
