"""Notes on conditions that do not count at the start of a run."""

from __future__ import annotations

from svyaz.arrays import Array
from svyaz.motion.events.conditions import LIMITS, Conditions
from svyaz.motion.events.locating import slopes
from svyaz.motion.phases import START
from svyaz.stabilise import Segment

AT_ONCE = 1e-6
"""What is looked at just after the start, as a part of the first phase."""


def describe_unarmed(watched: Conditions, segment: Segment, state: Array, span: float) -> list[str]:
    """Notes on conditions that are positive from the beginning, or become so without having been negative."""
    if not watched.keys:
        return []
    levels, overdue = watched.levels(segment, START, state), watched.overdue(segment, START, state)
    now = watched.at(segment, START, state)
    soon = watched.at(segment, AT_ONCE * span, state + AT_ONCE * span * slopes(segment, START, state))
    notes = []
    for key, value, later, level in zip(watched.keys, now, soon, levels, strict=True):
        kind, name = key
        if kind in LIMITS or (kind == "on" and name in watched.depths):
            continue
        if value > level and key not in overdue:
            told = "is positive at the start already: it counts when it rises through zero again"
            notes.append(f"'{kind}' of the constraint '{name}' {told}")
        elif abs(value) <= level and later > 10 * level and later > 0.0:
            told = "is zero at the start and rises: it has not risen through zero and does not count"
            hint = "; active = true lets the constraint act from the beginning" if kind == "on" else ""
            notes.append(f"'{kind}' of the constraint '{name}' {told}{hint}")
    return notes
