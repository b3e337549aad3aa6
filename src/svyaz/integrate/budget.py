"""How much work a judgement may take, in proportion to the run that is judged: what is cut, or takes more, says so.

Work is counted, in seconds of a machine of a stated speed, by those who do it: evaluations of rates, brackets of fields. So a
judgement depends neither on the machine, nor on its load, nor on what a cache holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import local

FACTOR = 10.0
"""A judgement may cost so many times the run it judges,"""

GRACE = 2.0
"""and so many seconds more."""


class CountedWork(local):
    """The work of a thread so far."""

    seconds = 0.0


COUNTED = CountedWork()


def clock() -> float:
    """Counted seconds of work of this thread."""
    return COUNTED.seconds


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
        return f"{spent:.2g} s of work, counted{times}"
