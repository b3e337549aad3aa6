"""Which members have gains that the method and step keep stable, and where along an axis the stable interval ends."""

from __future__ import annotations

import cmath
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.forms import Equations
from svyaz.holding import ROUNDING, Discretisation, Options, perturbation, positions_of, scheme_of, velocities_of
from svyaz.model import is_number

Roots = NDArray[np.complex128]
Judge = Callable[[Sequence[tuple[Any, float | None]]], list[bool | None]]
"""(stabilize, step) of runs → stable, unstable, or nothing to judge."""

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

    def judge(runs: Sequence[tuple[Any, float | None]]) -> list[bool | None]:
        judged = [k for k, (s, _) in enumerate(runs) if (first or second) and not isinstance(s, str) and s is not None]
        marks: list[bool | None] = [None] * len(runs)
        if judged:
            steps = np.array([np.nan if runs[k][1] is None else runs[k][1] for k in judged], dtype=float)
            found = stable(np.array([roots(runs[k][0]) for k in judged]), scheme, steps)
            for k, mark in zip(judged, found, strict=True):
                marks[k] = bool(mark)
        return marks

    return judge


def _roots(alpha: float, beta: float, kappa: float, first: bool, second: bool) -> Roots:
    """Roots of λ² + αλ + β where there are position constraints, and -κ where there are velocity constraints."""
    found: list[complex] = [-kappa] if first else []
    if second:
        spread = cmath.sqrt(alpha**2 / 4 - beta)
        found += [-alpha / 2 + spread, -alpha / 2 - spread]
    return np.array(found, dtype=complex)


def stable(roots: Roots, scheme: Discretisation, steps: Array) -> NDArray[np.bool_]:
    """Re λ < 0 and |S(τλ)| < 1 for all roots (k, ·) of each run, by the margins of the verdict on a single run.

    A step that is not a number is chosen by error control, which keeps it stable.
    """
    size = np.maximum(1.0, np.max(np.abs(roots), axis=1))
    damped = np.max(roots.real, axis=1) < -ROUNDING * size
    factor = np.max(np.abs(scheme.factor(np.nan_to_num(steps)[:, None] * roots)), axis=1)
    return np.asarray(damped & (np.isnan(steps) | (factor < 1.0 - ROUNDING)))


def stable_intervals(
    values: Array, marks: Sequence[bool | None], judged: Callable[[float], bool | None]
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
