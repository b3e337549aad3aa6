"""What is left of the work that a judgement on a run may take."""

from __future__ import annotations

from svyaz.integrate import COUNTED, Budget


def seconds_left(budget: Budget) -> float:
    """Counted seconds of work that may still be spent."""
    return budget.end - COUNTED.seconds
