"""What ``simulate`` and ``report`` share: progress bars, and how the outcome of a run is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from math import isfinite
from typing import TYPE_CHECKING

from svyaz.commands.common import NegativeAnswer, StoppedByUser
from svyaz.commands.hints import with_flags
from svyaz.commands.terminal import Page

if TYPE_CHECKING:
    from svyaz.motion import Event, Motion

MOST_PHASES = 30
"""So many phases are printed one by one."""

MOST_IMPACTS = 12
"""So many impacts of one moment are printed."""


def not_finished(motion: Motion, run: str = "") -> NegativeAnswer:
    """Why a run did not come to its end; of several, which one."""
    told = f"{run}: " if run else ""
    reason = f"{told}{motion.status} at t = {motion.times[-1]:g}: {with_flags(motion.reason)}"
    return StoppedByUser(reason) if motion.status == "stopped" else NegativeAnswer(reason)


def outcome(motion: Motion) -> str:
    """How the run ended, in one sentence."""
    how = f"step {motion.step:g}" if motion.step is not None else f"rtol {motion.rtol:g}"
    told = f"{motion.steps} steps, {motion.evaluations} evaluations, {motion.seconds:.3g} s"
    end = f"{motion.status} at t = {motion.times[-1]:g}"
    return f"{motion.system.name}: {end} ({motion.form}, {motion.method}, {how}; {told})"


def tables(motion: Motion, run: str = "") -> None:
    """Print the final state, the deviations from the constraints and the integrals; of several runs, of which."""
    names = motion.table_names[1:]
    columns = dict(zip(names, map(motion.column, names), strict=True))
    sizes, drifts, multipliers = motion.residual_sizes(), motion.drifts(), motion.last_multipliers()
    steered, balance = motion.control_sizes(), motion.balance
    page = Page()
    page.say(f"{run}: {outcome(motion)}" if run else outcome(motion))
    if motion.reason:
        page.say(with_flags(motion.reason))
    rows = [(name, _number(column[0], 9), _number(column[-1], 9)) for name, column in columns.items()]
    page.table("state", ("variable", "initial", "final"), rows)
    if sizes:
        kept = []
        for name, size in sizes.items():
            numbers = map(_number, (size.largest, size.mean_square, size.final, size.time_of_largest))
            push = "not determined" if name in motion.undetermined else _number(multipliers.get(name))
            kept.append((name, *numbers, push))
        page.table("constraints", ("constraint", "max", "rms", "final", "time of max", "multiplier"), kept)
    controls = [(name, *map(_number, astuple(size))) for name, size in steered.items()]
    if controls:
        page.table("controls of servo-constraints", ("control", "max", "rms", "final", "time of max"), controls)
    free = [(n, *map(_number, (d.initial, d.final, d.drift))) for n, d in drifts.items() if d.deviation is None]
    if free:
        page.table("integrals", ("integral", "initial", "final", "drift"), free)
    off = [(n, *map(_number, astuple(d.deviation))) for n, d in drifts.items() if d.deviation is not None]
    if off:
        page.table("deviations of integrals from their values", ("integral", "initial", "final", "max"), off)
    if balance is not None:
        totals = balance.totals
        terms = [(name, _number(value, 3 if name == "remainder" else 9)) for name, value in totals.items()]
        page.table("energy: final = initial + work - dissipated - impacts + remainder", ("term", "value"), terms)
    if motion.jumps:
        jumps = [
            (_number(j.t, 9), j.coordinate, *map(_number, (j.before, j.after, j.violation)), _number(j.recovery))
            for j in motion.jumps[:MOST_PHASES]
        ]
        more = f" ({MOST_PHASES} of {len(motion.jumps)})" if len(motion.jumps) > MOST_PHASES else ""
        columns_of_jumps = ("t", "what", "from", "to", "violation", "healed to a tenth after")
        page.table(f"jumps over singular points{more}", columns_of_jumps, jumps)
    if motion.phases:
        struck = any(event.impacts for event in motion.phases)
        heads = (
            "t",
            "begin to act",
            "cease to act",
            *(("impacts",) if struck else ()),
            "energy before",
            "energy after",
        )
        page.table("phases", heads, _phases(motion.phases, struck=struck))
    for note in motion.notes:
        page.say(note)


def _phases(phases: Sequence[Event], *, struck: bool) -> list[tuple[str, ...]]:
    """When constraints began and ceased to act, and what an impact took away."""
    rows: list[tuple[str, ...]] = []
    shown = phases if len(phases) <= MOST_PHASES else [*phases[: MOST_PHASES - 1], phases[-1]]
    for k, event in enumerate(shown):
        if len(phases) > MOST_PHASES and k == MOST_PHASES - 1:
            rows.append(("…", f"{len(phases) - MOST_PHASES} more", *[""] * (4 if struck else 3)))
        energies = (_number(e, 9) for e in (event.energy_before, event.energy_after))
        impacts = [", ".join(name for names in event.impacts[:MOST_IMPACTS] for name in names)] if struck else []
        rows.append((_number(event.t, 9), ", ".join(event.on), ", ".join(event.off), *impacts, *energies))
    return rows


def _number(value: float | None, digits: int = 4) -> str:
    return "–" if value is None or not isfinite(value) else f"{value + 0.0:.{digits}g}"  # no -0
