"""Events that follow each other faster and faster: gaps that then count as closed, and when a run is given up."""

from __future__ import annotations

from collections.abc import Sequence

from svyaz.integrate import Status
from svyaz.motion.events.contacts import CLOSED
from svyaz.motion.facts import Event
from svyaz.motion.phases import START, Chapter
from svyaz.stabilise import Refusal

MOST_QUICK, QUICK = 30, 1e-9
"""So many events (three for each constraint, if there are many) within this part of the run are chatter: it would never end."""

FEW_QUICK, CLOSEST = 8, 1e-6
"""After so many of them the gap that counts as closed doubles with each, up to this part of its size."""

MOST_EVENTS = 100_000


class Moments:
    """The latest moments of events in a run with so many ``constraints`` that lasts ``until`` a time."""

    def __init__(self, constraints: int, until: float) -> None:
        self._most, self._until = max(MOST_QUICK, 3 * constraints), until
        self._latest: list[float] = []

    def closeness(self, now: float) -> float:
        """The part of its size below which a gap is closed: it grows when events follow each other faster and faster."""
        self._latest = [*(t for t in self._latest if now - t <= QUICK * self._until), now]
        return float(min(CLOSED * 2.0 ** max(len(self._latest) - FEW_QUICK, 0), CLOSEST))

    def find_chatter(self, chapters: Sequence[Chapter], event: Event) -> Refusal | None:
        """Do events follow each other so fast that the run would never end?"""
        most, now = self._most, event.t
        count = len(chapters) + 1
        if count > MOST_EVENTS:
            return Refusal(
                Status.INFEASIBLE, f"there were {MOST_EVENTS} events up to t = {now:.9g}: the run is given up"
            )
        if count <= most:
            return None
        if now - chapters[1 - most].phase.start > QUICK * (self._until - START):
            return None
        late = [*(c.beginning.event for c in chapters[1 - most :] if c.beginning.event), event]
        names = sorted({name for e in late for name in (*e.on, *e.off)})
        told = ", ".join(f"'{name}'" for name in names)
        reason = (
            f"constraints are switched {most} times near t = {now:.9g} ({told}): their conditions chatter, "
            "time does not go on"
        )
        return Refusal(Status.INFEASIBLE, reason)
