"""How far the numbers of a report can be trusted: residuals, integrals, energy, multipliers, phases, the last state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from svyaz.arrays import Array
from svyaz.show.formulas import name_in_text
from svyaz.show.results import finite
from svyaz.show.tables import number, rows_table, table

if TYPE_CHECKING:
    from svyaz.motion import Event, Motion

RESIDUALS = "Left side minus right side of each constraint over the time in which it acts; zero would be exact."
INTEGRALS = "Quantities that the exact motion keeps; the drift is the largest distance from the first value."
DEVIATIONS = "How far integrals are from the values that the model prescribes."
ENERGY = "The remainder is what the balance leaves over: the error of the computation."
MULTIPLIERS = "λ of each constraint as it was written; the force on the system is +Gᵀλ."
PHASES = "When constraints begin and cease to act; the energy before and after."


def trust_part(motion: Motion) -> str:
    """Residuals, integrals, multipliers and the final state as tables."""
    tables = []
    sizes = {name: astuple(size) for name, size in motion.residual_sizes().items()}
    if sizes:
        heads = ["constraint", "largest", "root mean square", "final", "time of largest"]
        tables.append(rows_table("Residuals of the constraints", heads, sizes, 3, RESIDUALS))
    drifts = {name: (d.initial, d.final, d.drift) for name, d in motion.drifts().items() if d.deviation is None}
    if drifts:
        tables.append(rows_table("First integrals", ["integral", "initial", "final", "drift"], drifts, 8, INTEGRALS))
    off = {name: astuple(d.deviation) for name, d in motion.drifts().items() if d.deviation is not None}
    if off:
        heads = ["integral", "initial", "final", "largest"]
        tables.append(rows_table("Deviations of integrals from their values", heads, off, 3, DEVIATIONS))
    if motion.balance is not None:
        terms = [[escape(name), number(finite(value), 8)] for name, value in motion.balance.totals.items()]
        tables.append(table("Energy: final = initial + work − dissipated − impacts + remainder", [], terms, ENERGY))
    if motion.multipliers:
        spans = {name: _span(values) for name, values in motion.multipliers.items() if name not in motion.undetermined}
        tables.append(rows_table("Multipliers", ["constraint", "least", "greatest", "final"], spans, 8, MULTIPLIERS))
    if motion.phases:
        tables.append(
            table("Phases", ["t", "begin to act", "cease to act", "energy"], _phase_rows(motion.phases), PHASES)
        )
    final = [
        [name_in_text(n), number(finite(x), 10)] for n, x in zip(motion.state_names, motion.states[-1], strict=True)
    ]
    words = f"At t = {number(finite(motion.times[-1]))}, in the order of the states."
    tables.append(table("Final state", [], final, words))
    return "".join(tables)


def _phase_rows(phases: Sequence[Event]) -> list[list[str]]:
    """When constraints began and ceased to act, and the energy before and after."""
    rows = []
    for event in phases:
        energies = [number(e, 8) for e in (event.energy_before, event.energy_after) if e is not None]
        names = [escape(", ".join(names)) for names in (event.on, event.off)]
        rows.append([number(event.t, 9), *names, " → ".join(energies)])
    return rows


def _span(values: Array) -> tuple[float, ...]:
    """Least, greatest and last value over the time in which the constraint acts."""
    acting = values[np.isfinite(values)]
    if not len(acting):
        return np.nan, np.nan, np.nan
    return float(acting.min()), float(acting.max()), float(acting[-1])
