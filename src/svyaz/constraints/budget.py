"""How long a judgement may take, in proportion to the run that is judged: what is cut, or takes longer, says so."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import thread_time

FACTOR = 10.0
"""A judgement may cost so many times the run it judges,"""

GRACE = 2.0
"""and so many seconds more."""


def clock() -> float:
    """Seconds of work of this thread: other work of the machine does not shorten a judgement."""
    return thread_time()


@dataclass(frozen=True)
class Budget:
    """Begun at ``begin``, for a judgement on a run that takes ``run`` seconds, as far as that is known."""

    begin: float
    run: float = 0.0

    @staticmethod
    def started() -> Budget:
        """A budget that begins now; how long the run takes is not known yet."""
        return Budget(clock())

    def for_run(self, seconds: float) -> Budget:
        """The same, now that it is known how long the run takes."""
        return replace(self, run=seconds)

    @property
    def limit(self) -> float:
        """Seconds that may be spent."""
        return FACTOR * self.run + GRACE

    @property
    def spent(self) -> float:
        """Seconds spent so far."""
        return clock() - self.begin

    @property
    def left(self) -> float:
        """Seconds that may still be spent."""
        return max(0.0, self.limit - self.spent)

    @property
    def over(self) -> bool:
        """Is nothing left?"""
        return self.left <= 0.0

    @property
    def told(self) -> str:
        """How much was spent, in proportion to what it is for."""
        times = f", {self.spent / self.run:.0f} times the run" if self.run > 0.01 * self.spent else ""
        return f"{self.spent:.2g} s of work{times}"


def spread(count: int) -> list[int]:
    """0 … count - 1 in an order in which the first ones are always spread evenly: halves, quarters, eighths …"""
    bits = max(1, (count - 1).bit_length())
    turned = [int(f"{k:0{bits}b}"[::-1], 2) for k in range(1 << bits)]
    return [k for k in turned if k < count]
