"""How a run ended."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """How a run ended, in one word that is also its text.

    FINISHED: at its end. STOPPED: by the user. DIVERGED: the state is no longer finite. SINGULAR: the rates are not
    determined. STALLED: no step is short enough, or all that were allowed are used up. INFEASIBLE: refused before its
    first step, because what was asked of it cannot be had.
    """

    FINISHED = "finished"
    STOPPED = "stopped"
    DIVERGED = "diverged"
    SINGULAR = "singular"
    STALLED = "stalled"
    INFEASIBLE = "infeasible"

    @property
    def told(self) -> Status:
        """As a result tells it: a run that stalled has diverged for its reader."""
        return Status.DIVERGED if self is Status.STALLED else self
