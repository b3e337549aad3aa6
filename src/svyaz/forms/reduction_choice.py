"""Which coordinates to take as dependent: the best conditioned block of α at a state, unless the model says so.

The quality of a choice D is |det α_D| / √det(α αᵀ), α with its columns scaled by 1/√M_ii. By the formula of Cauchy and
Binet the squares of all qualities add up to 1: it is 1 when the constraints concern D alone, and 0 where the chart is
singular. Its reciprocal is taken as the condition number of the chart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import ModelError, Problem, evaluate
from svyaz.forms.equations import Equations
from svyaz.forms.reduction import Chart, VelocityRows, solved

MOST_CHOICES = 3000
"""More combinations than this are not compared one by one."""

GOOD = 0.2
"""Choices whose quality is at least this part of the best are taken as equally good; the simplest of them wins."""

SINGULAR_CHART = 1e-9


def values_at(origin: Equations, state: Sequence[float] | None = None, time: float = 0.0) -> dict[str, float]:
    """Numbers for every name at a state of the full system (its initial state unless given)."""
    given = origin.system.initial_state() if state is None else state
    return {**origin.system.constants, **dict(zip(origin.states, map(float, given), strict=True)), "t": time}


def scaled_rows(rows: VelocityRows, origin: Equations, values: Mapping[str, float]) -> Array:
    """α in numbers, its columns scaled by 1/√M_ii (1 for a coordinate without inertia), its rows to length one."""
    alpha = np.array([[evaluate(e, values) for e in row] for row in rows.matrix]).reshape(
        len(rows.matrix), len(rows.coordinates)
    )
    inertia = np.array([evaluate(row[k], values) for k, row in enumerate(origin.mass_matrix)])
    alpha = alpha * np.where(inertia > 0.0, 1.0 / np.sqrt(np.where(inertia > 0.0, inertia, 1.0)), 1.0)
    lengths = np.linalg.norm(alpha, axis=1, keepdims=True)
    return alpha / np.where(lengths > 0.0, lengths, 1.0)


def qualities(alpha: Array, choices: Sequence[Sequence[int]]) -> Array:
    """|det α_D| / √det(α αᵀ) of each choice of columns; zero when α itself has no full rank, or no value."""
    if not np.isfinite(alpha).all():
        return np.zeros(len(choices))
    whole = float(np.linalg.det(alpha @ alpha.T)) if alpha.size else 1.0
    if not whole > 0.0:
        return np.zeros(len(choices))
    return np.array([abs(float(np.linalg.det(alpha[:, list(c)]))) for c in choices]) / np.sqrt(whole)


def declared(rows: VelocityRows) -> tuple[str, ...]:
    """The coordinates that the constraints name as dependent."""
    return tuple(dict.fromkeys(q for c in rows.constraints for q in c.dependent))


def ordered_choices(
    form: str,
    rows: VelocityRows,
    origin: Equations,
    values: Mapping[str, float],
    asked: Sequence[str] | None = None,
) -> list[tuple]:
    """All choices of dependent coordinates that can be made at the state, the best first.

    Coordinates that are asked for, unless others those that the model declares as dependent, are in every one of them.
    """
    m, n = len(rows.matrix), len(rows.coordinates)
    asked = declared(rows) if asked is None else asked
    if len(asked) > m:
        names = ", ".join(f"'{q}'" for q in asked)
        message = f"{names} are declared dependent, but there are only {m} velocity constraints"
        raise ModelError([Problem(message, rows.constraints[0].place if rows.constraints else None)])
    alpha = scaled_rows(rows, origin, values)
    for c, row in zip(rows.constraints, alpha, strict=True):
        if not np.isfinite(row).all():
            raise ModelError([Problem(f"'{c.name}' has no real value at the initial state", c.place)])
    fixed = [rows.coordinates.index(q) for q in asked]
    left = [k for k in range(n) if k not in fixed]
    if comb(len(left), m - len(fixed)) > MOST_CHOICES:
        sets = [tuple(sorted((*fixed, *_greedy(alpha, fixed, left, m - len(fixed)))))]
    else:
        sets = [tuple(sorted((*fixed, *more))) for more in combinations(left, m - len(fixed))]
    quality = dict(zip(sets, qualities(alpha, sets), strict=True))
    usable = [s for s in sets if quality[s] > SINGULAR_CHART]
    if not usable:
        raise _no_chart(form, rows, asked)
    best = max(quality.values())
    usable.sort(key=lambda s: (quality[s] < GOOD * best, _complexity(rows, s), -quality[s]))
    return [tuple(rows.coordinates[k] for k in s) for s in usable]


def _greedy(alpha: Array, fixed: Sequence[int], left: Sequence[int], count: int) -> list[int]:
    """Columns by elimination with the largest remaining column first."""
    work = alpha.copy()
    chosen: list[int] = []
    order = [*fixed]
    while len(chosen) < count:
        if order:
            k = order.pop(0)
        else:
            k = max((j for j in left if j not in chosen), key=lambda j: float(np.linalg.norm(work[:, j])))
            chosen.append(k)
        size = float(np.linalg.norm(work[:, k]))
        if size > 0.0:
            direction = work[:, k] / size
            work = work - np.outer(direction, direction @ work)
    return chosen


def _complexity(rows: VelocityRows, choice: Sequence[int]) -> int:
    """Entries of the block that are no numbers, those of sums counting more; signs and factors are nothing."""
    entries = [row[k] for row in rows.matrix for k in choice if row[k] != 0]
    return sum(len(e.free_symbols) + sum(not part.is_Number for part in e.args) for e in entries)


def _no_chart(form: str, rows: VelocityRows, asked: Sequence[str]) -> ModelError:
    names = ", ".join(f"'{c.name}'" for c in rows.constraints)
    if asked:
        which = ", ".join(f"'{q}'" for q in asked)
        message = (
            f"at the initial state {names} cannot be solved for the velocities of {which}: the chart is singular there"
        )
        hint = "declare other coordinates as dependent, or leave the choice to svyaz"
    else:
        message = (
            f"at the initial state the constraints {names} are not independent: the form '{form}' has no chart there"
        )
        hint = "'svyaz check' tells which of them repeat others"
    return ModelError([Problem(message, rows.constraints[0].place, hint)])


def first_chart(form: str, rows: VelocityRows, origin: Equations, dependent: Sequence[str] | None) -> Chart:
    """The chart with the dependent coordinates asked for, or the best one at the initial state."""
    choices = [tuple(dependent)] if dependent is not None else ordered_choices(form, rows, origin, values_at(origin))
    for choice in choices:
        chart = solved(rows, choice)
        if chart is not None:
            return chart
    raise _no_chart(form, rows, choices[0])


def some_chart(form: str, rows: VelocityRows, origin: Equations, dependent: Sequence[str] | None) -> Chart:
    """As ``first_chart``; where the declared dependent coordinates give none at the start, the best of all."""
    if dependent is None and declared(rows):
        values = values_at(origin)
        best = ordered_choices(form, rows, origin, values, ())
        wanted = [choice for choice in best if set(declared(rows)) <= set(choice)]
        dependent = (wanted or best)[0]
    return first_chart(form, rows, origin, dependent)


def told_choice(rows: VelocityRows, origin: Equations, dependent: Sequence[str] | None, chart: Chart) -> list[str]:
    """A note on dependent coordinates that nobody has declared: which were taken, and how good they are at the start."""
    if dependent is not None or not chart.dependent or set(declared(rows)) == set(chart.dependent):
        return []
    alpha = scaled_rows(rows, origin, values_at(origin))
    quality = float(qualities(alpha, [[rows.coordinates.index(q) for q in chart.dependent]])[0])
    names = ", ".join(f"'{q}'" for q in chart.dependent)
    return [f"dependent: {names}, chosen for a well conditioned block of the constraints (quality {quality:.2g} of 1)"]
