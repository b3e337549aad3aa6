"""Constraints that follow from others: which rows are kept, and what is not determined then.

Of rows that are dependent here and at the states nearby, and that do not contradict each other, as many as the rank are
kept: constraints on positions before those on velocities (which would let positions drift), the longest first, each after
what the rows before it span was taken away (QR with pivoting), the earlier one where they are about equal. The motion is
that of all rows; the reactions of those that take part in a dependency, Gᵀλ apart, are not determined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from svyaz.arrays import Array
from svyaz.constraints.dependence import scaled_rows
from svyaz.constraints.ranks import RankReport, examine
from svyaz.constraints.states import examined, listed
from svyaz.dynamics import measure_of
from svyaz.expr import ModelError
from svyaz.forms import Equations, derive, form_of, with_constraints, with_multipliers
from svyaz.model import Constraint, Mechanical, System

ABOUT = 0.5
"""An earlier row is kept before a longer one if it has at least this part of its length left."""


def independent(equations: Equations, state: Array, time: float) -> Equations:
    """The equations without constraints that follow from others at a state of the model; themselves where there are none.

    What was left out stands in ``spare``, all whose multipliers are not determined in ``undetermined``.
    """
    full = examined(equations)
    if not full.deviations:
        return equations
    report = examine(full, state, time)
    needed = {full.deviations[pull.number].name for pull in full.pulls} | set(full.loads)
    needed |= {d.name for d in full.deviations if d.constraint.servo}
    if not report.repetitive or needed & set(report.redundant):  # friction and controls are asked for one by one
        return equations
    kept = _choose_rows(full, report, state, time)
    return _without(equations, kept, report)


@dataclass(frozen=True)
class Fewer:
    """A system without the constraints ``left_out``, which follow from the others, and the ``note`` that tells it."""

    system: System
    left_out: tuple[Constraint, ...]
    undetermined: tuple[str, ...]
    note: str


def without_repeated(system: System) -> Fewer | None:
    """The system without constraints that follow from others near its initial state; None where there are none."""
    found = independent(with_multipliers(system), np.array(system.initial_state()), 0.0)
    if not found.spare:
        return None
    kept = tuple(d.constraint for d in found.deviations)
    return Fewer(
        replace(system.plain(), constraints=kept),
        tuple(d.constraint for d in found.spare),
        found.undetermined,
        found.notes[0],
    )


def derived(system: System, form: str, active: Sequence[Constraint] | None = None) -> Equations:
    """The equations in a form, with the constraints that act; those that follow from others at the start are left out
    where the form does not take them.
    """
    acting = system.constraints if active is None else tuple(active)
    if not isinstance(system.law, Mechanical):
        return derive(system, form)
    reduced = form_of(form).reduced
    try:
        if reduced is not None:
            return reduced(system, acting)
        found = derive(system, form)
        return found if acting == system.constraints else with_constraints(found, acting)
    except ModelError:
        if len(acting) < 2 or form_of(form).free:
            raise
        full = with_multipliers(system, acting)
        start = np.array(system.initial_state())
        report = examine(full, start, 0.0)
        if not report.repetitive:
            raise
        return _in_form(form, full, _choose_rows(full, report, start, 0.0), report)


def _choose_rows(full: Equations, report: RankReport, state: Array, time: float) -> list[int]:
    """Numbers of the rows that are kept, in order."""
    s = measure_of(full).at(np.asarray(state, dtype=float), time)
    left = scaled_rows(s)
    chosen: list[int] = []
    for holonomic in (True, False):
        own = s.holonomic == holonomic
        while len(chosen) < report.rank:
            lengths = np.where(own, np.linalg.norm(left, axis=1), 0.0)
            if lengths.max(initial=0.0) < 1e-6:
                break
            k = int(np.argmax(lengths >= ABOUT * lengths.max()))
            unit = left[k] / lengths[k]
            left = left - np.outer(left @ unit, unit)
            left[k] = 0.0
            chosen.append(k)
    return sorted(chosen)


def _without(equations: Equations, kept: Sequence[int], report: RankReport) -> Equations:
    if equations.origin is not None or equations.form not in ("multipliers", "articulated"):
        return _in_form(equations.form, examined(equations), kept, report)
    return _leave_out(equations.with_rows(kept), equations, kept, report)


def _in_form(form: str, full: Equations, kept: Sequence[int], report: RankReport) -> Equations:
    """The equations in a form, with some constraints of the full ones alone."""
    constraints = tuple(full.deviations[k].constraint for k in kept)
    reduced = form_of(form).reduced
    if reduced is not None:
        return _leave_out(reduced(full.system, constraints), full, kept, report)
    return _leave_out(derive(replace(full.system.plain(), constraints=constraints), form), full, kept, report)


def _leave_out(made: Equations, full: Equations, kept: Sequence[int], report: RankReport) -> Equations:
    spare = tuple(d for k, d in enumerate(full.deviations) if k not in kept)
    names = [d.name for d in spare]
    left = listed(names, range(len(names)))
    note = "; ".join(m for m in report.messages if "follows from" in m or "repeats" in m or "vanishes" in m)
    note += (
        f": {left} {'is' if len(spare) == 1 else 'are'} left out of the equations and watched, and the multipliers of "
    )
    note += f"{listed(report.redundant, range(len(report.redundant)))} are not determined one by one"
    return replace(made, spare=spare, undetermined=report.redundant, notes=(note, *made.notes))
