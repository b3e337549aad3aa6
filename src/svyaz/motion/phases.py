"""Variable structure: the intervals of time in which the same constraints act."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from svyaz.model import Constraint, System

START = 0.0
"""Motions begin at t = 0."""

CLOSE = 1e-12
"""Moments that differ by no more than this, or this part of them, are the same."""


@dataclass(frozen=True)
class Phase:
    """From ``start`` to ``end`` the constraints ``active`` act; ``new`` are those that did not act just before."""

    start: float
    end: float
    active: tuple[Constraint, ...]
    new: tuple[Constraint, ...]


def phases(system: System, start: float, until: float) -> list[Phase]:
    """The phases of a run, in order. Switches at the very end do not count."""
    switches = {t for c in system.constraints for t in (c.start, c.end) if t is not None and start < t < until}
    borders = [start, *sorted(switches), until]
    found: list[Phase] = []
    before: Sequence[Constraint] = ()
    for left, right in pairwise(borders):
        active = tuple(c for c in system.constraints if c.acts_at(left))
        found.append(Phase(left, right, active, tuple(c for c in active if c not in before)))
        before = active
    return found


def reached(now: float, time: float) -> bool:
    """Is a time over, as far as rounding lets one say?"""
    return now >= time - CLOSE * max(1.0, abs(time))


def phase_log(begun: Sequence[Phase]) -> tuple[dict[str, Any], ...]:
    """What is told of phases that times alone divide; nothing where there is but one."""
    if len(begun) < 2:
        return ()
    before: Sequence[Constraint] = ()
    log = []
    for phase in begun:
        log.append(entry(phase.start, [c.name for c in phase.active], [c.name for c in before]))
        before = phase.active
    return tuple(log)


def entry(time: float, active: Sequence[str], before: Sequence[str]) -> dict[str, Any]:
    """One line of the log: the constraints that begin and cease to act, and all that act."""
    return {
        "t": time,
        "on": [name for name in active if name not in before],
        "off": [name for name in before if name not in active],
        "active": list(active),
    }
