"""What is left of the time that a judgement on a run may take."""

from __future__ import annotations

from time import thread_time

from svyaz.constraints import Budget
from svyaz.program import MADE


def seconds_left(budget: Budget) -> float:
    """Seconds of work of this thread that may still be spent, by the clock of budgets: making code that is kept is free."""
    return budget.end - (thread_time() - MADE.seconds)
