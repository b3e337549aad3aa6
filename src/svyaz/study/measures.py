"""What is measured of each member: names such as final.x, residual.blade, drift.energy, and their values.

Which members have gains that the method and step keep stable, and where along an axis the stable interval ends.
"""

from __future__ import annotations

import cmath
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.expr import ModelError, Problem
from svyaz.forms import Equations, keeps_energy
from svyaz.matrices import eigvals
from svyaz.model import Canonical, Mechanical, is_number, nearest
from svyaz.motion import Motion
from svyaz.stabilise import (
    ROUNDING,
    Discretisation,
    Options,
    perturbation,
    positions_of,
    scheme_of,
    stabilisation,
    velocities_of,
)

KINDS = ("final", "residual", "drift", "multiplier", "energy")
_WHAT = {
    "final": "state",
    "residual": "constraint",
    "drift": "integral",
    "multiplier": "constraint",
    "energy": "term of an energy balance",
}
ENERGY = ("initial", "final", "work", "dissipated", "impacts", "remainder")
SINGLE = ("t", "steps", "evaluations", "error", "phases", "period")
FIRST, SIZE, CHANGE, TOP, LAST = range(5)
"""Columns of the totals of an observed quantity: first value, largest size, largest change, largest value, last value."""


def measure_names(equations: Equations, integrals: Sequence[str], varied: Collection[str]) -> dict[str, list[str]]:
    """Kind → names that can be measured of this system, whatever the values of the parameters that are ``varied``."""
    system = equations.system
    changes = isinstance(system.law, Mechanical | Canonical) and not keeps_energy(system, varied)
    names = list(dict.fromkeys([*equations.multiplier_names, *(c.name for c in equations.eliminated)]))
    return {
        "final": list(system.states),
        "residual": names,
        "drift": list(integrals),
        "multiplier": names,
        "energy": list(ENERGY) if changes else [],
    }


def measures_for(known: Mapping[str, Sequence[str]], asked: Sequence[str]) -> tuple[str, ...]:
    """The full names; a kind alone means all of it, and nothing asked for means residuals, final state, and the drift of the
    energy where that is an integral.
    """
    if not asked:
        drift = ["drift.energy"] if "energy" in known["drift"] else []
        return (*(f"residual.{n}" for n in known["residual"]), *drift, *(f"final.{n}" for n in known["final"]))
    found: dict[str, None] = {}
    for word in asked:
        found.update(dict.fromkeys(_expand(known, word)))
    missing = [word for word in asked if word in KINDS and not known[word]]
    if missing and not found:
        raise _bad(f"'{missing[0]}' cannot be measured: the model has no {_WHAT[missing[0]]}", None)
    return tuple(found)


def _expand(known: Mapping[str, Sequence[str]], word: str) -> list[str]:
    kind, dot, name = word.partition(".")
    if word in SINGLE:
        return [word]
    if word == "status":  # always recorded
        return []
    if word == "energy" and "energy" in known["drift"]:
        return ["drift.energy"]
    if kind not in KINDS:
        words = [*KINDS, *SINGLE, "status"]
        raise _bad(f"'{word}' cannot be measured", nearest(word, words) or f"there are {', '.join(words)}")
    if not dot:
        return [f"{kind}.{n}" for n in known[kind]]
    if word == "drift.energy" and known["energy"]:
        raise _bad("'drift.energy' cannot be measured: something changes the energy", "energy.remainder is its error")
    if name not in known[kind]:
        hint = nearest(name, known[kind]) or (f"there are {', '.join(known[kind])}" if known[kind] else None)
        raise _bad(f"'{word}' cannot be measured: there is no {_WHAT[kind]} '{name}' for it", hint)
    return [word]


def quantities_for(measures: Sequence[str]) -> list[str]:
    """Quantities of the observation program that the measures are made of."""
    kinds = {"residual": "residuals", "drift": "integrals", "multiplier": "multipliers"}
    found: dict[str, None] = {}
    for measure in measures:
        kind, _, name = measure.partition(".")
        if kind in kinds:
            found[f"{kinds[kind]} {name}"] = None
        if measure == "drift.energy":
            found["energies kinetic"] = None
    return list(found)


def totals_along(values: Array) -> Array:
    """(columns, 5) totals of observed quantities along rows (k, columns), as the native loop gathers them."""
    totals = np.full((values.shape[1], 5), np.nan)
    for j, column in enumerate(values.T):
        finite = np.abs(column[np.isfinite(column)])
        good = column[np.isfinite(column)]
        totals[j] = (
            column[0],
            np.max(finite, initial=0.0) if len(finite) else np.nan,
            np.max(np.abs(column - column[0])),
            np.max(column),
            good[-1] if len(good) else np.nan,
        )
    return totals


def evaluate_measures(totals: Mapping[str, Array]) -> dict[str, Array]:
    """Measures (k,) from the totals (k, 5) of observed quantities of k members, by full name; as ``simulate`` reports them."""
    found: dict[str, Array] = {}
    for quantity, total in totals.items():
        kind, _, name = quantity.partition(" ")
        if kind == "residuals":
            found[f"residual.{name}"] = total[:, SIZE]
        elif kind == "multipliers":
            found[f"multiplier.{name}"] = total[:, LAST]
        elif kind == "integrals":
            change = total[:, CHANGE]
            if name == "energy":
                first = np.abs(total[:, FIRST])
                kinetic = totals["energies kinetic"][:, TOP] if "energies kinetic" in totals else np.zeros(len(first))
                scale = np.where(kinetic > first, kinetic, first)
                change = np.divide(change, scale, out=change.copy(), where=scale > 0)
            found[f"drift.{name}"] = change
    return found


def energy_failures(totals: Mapping[str, Array]) -> dict[int, tuple[str, str]]:
    """Status and reason of the members whose energy was observed and is not always a number, by place."""
    total = totals.get("integrals energy", np.zeros((0, LAST + 1)))
    found = {}
    for k in np.flatnonzero(~np.isfinite(total[:, CHANGE])).tolist():
        if not np.isfinite(total[k, FIRST]):
            found[k] = "infeasible", "the energy has no value in the initial state: the motion is not defined there"
        else:
            found[k] = "singular", "the energy has no value somewhere along the run: the motion is not defined there"
    return found


def of_motion(motion: Motion) -> dict[str, float | None]:
    """All measures of a whole simulation; None for what has no number."""
    found: dict[str, float] = {
        f"final.{n}": float(x) for n, x in zip(motion.state_names, motion.states[-1], strict=True)
    }
    found |= {f"residual.{n}": size.largest for n, size in motion.residual_sizes().items()}
    found |= {f"drift.{n}": drift.drift for n, drift in motion.drifts().items()}
    found |= {f"multiplier.{n}": value for n, value in motion.last_multipliers().items()}
    found |= {"t": float(motion.times[-1]), "steps": motion.steps, "evaluations": motion.evaluations}
    found["error"] = np.nan if motion.trajectory_error is None else motion.trajectory_error
    moments = [event.t for event in motion.phases]
    found["phases"] = max(len(moments), 1)
    found["period"] = moments[-1] - moments[-2] if len(moments) > 1 else np.nan
    return {name: value if np.isfinite(value) else None for name, value in found.items()}


def energy_terms(motion: Motion) -> dict[str, float | None]:
    """The terms of the energy balance of a whole simulation; an energy that nothing changes has a remainder alone."""
    found = dict.fromkeys(ENERGY, 0.0)
    if motion.balance is not None:
        found = motion.balance.totals
    elif motion.energy is not None:
        first, last = float(motion.energy[0]), float(motion.energy[-1])
        found |= {"initial": first, "final": last, "remainder": last - first}
    return {f"energy.{name}": value if np.isfinite(value) else None for name, value in found.items()}


def _bad(message: str, hint: str | None) -> ModelError:
    return ModelError([Problem(message, None, hint)])


Roots = NDArray[np.complex128]
Judge = Callable[[Sequence[tuple[object, float | None]]], list[bool | None]]
"""(stabilize, step) of runs → stable, unstable, or nothing to judge."""

BISECTIONS = 50


def judge_for(equations: Equations, options: Options) -> Judge:
    """The verdict of Hurwitz and of |S(τλ)| < 1, for gains and steps that vary from member to member."""
    first, second = bool(velocities_of(equations)), bool(positions_of(equations))
    scheme = scheme_of(options)
    known: dict[str, Roots] = {}

    lawful = any(d.constraint.law is not None for d in equations.deviations)

    def roots(stabilize: object) -> Roots:
        if is_number(stabilize) and not lawful:
            return _roots(2.0 * stabilize, float(stabilize) ** 2, float(stabilize), first, second)
        if isinstance(stabilize, Mapping) and set(stabilize) <= {"alpha", "beta", "kappa"} and not lawful:
            alpha, beta, kappa = (float(stabilize.get(key, 0.0)) for key in ("alpha", "beta", "kappa"))
            return _roots(alpha, beta, kappa, first, second)
        key = repr(stabilize)
        if key not in known:
            known[key] = eigvals(perturbation(equations, stabilisation(stabilize)).matrix).astype(complex)
        return known[key]

    def judge(runs: Sequence[tuple[object, float | None]]) -> list[bool | None]:
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
