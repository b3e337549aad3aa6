"""How long a judgement may take, in proportion to the run that is judged: what is cut, or takes longer, says so."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import thread_time

from svyaz.program import MADE

FACTOR = 10.0
"""A judgement may cost so many times the run it judges,"""

GRACE = 2.0
"""and so many seconds more."""


def clock() -> float:
    """Seconds of work of this thread: neither other work of the machine nor a cold cache shortens a judgement."""
    return thread_time() - MADE.seconds


@dataclass(frozen=True)
class Budget:
    """Begun at ``begin``, for a judgement on a run that takes ``run`` seconds, as far as that is known; nothing is left when
    the clock says ``end``.
    """

    begin: float
    end: float
    run: float = 0.0

    @staticmethod
    def started() -> Budget:
        """A budget that begins now; how long the run takes is not known yet."""
        now = clock()
        return Budget(now, now + GRACE)

    def for_run(self, seconds: float) -> Budget:
        """The same, now that it is known how long the run takes."""
        return replace(self, end=self.begin + FACTOR * seconds + GRACE, run=seconds)

    @property
    def told(self) -> str:
        """How much was spent, in proportion to what it is for."""
        spent = clock() - self.begin
        times = f", {spent / self.run:.0f} times the run" if self.run > 0.01 * spent else ""
        return f"{spent:.2g} s of work{times}"
