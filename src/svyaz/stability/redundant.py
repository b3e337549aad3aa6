"""Redundant coordinates that were asked for, checked."""

from __future__ import annotations

from collections.abc import Sequence

from svyaz.expr import ModelError, Problem
from svyaz.model import System, nearest


def check_redundant(system: System, dependent: Sequence[str] | None) -> None:
    """Refuse names that are no coordinates, and more or fewer of them than constraints; none is a free choice."""
    if not dependent:
        return
    for q in dependent:
        if q not in system.coordinates:
            hint = nearest(q, system.coordinates)
            raise ModelError([Problem(f"'{q}' cannot be redundant: it is no coordinate of the model", hint=hint)])
    count = len(system.constraints)
    if len(set(dependent)) != count or len(dependent) != count:
        names = ", ".join(f"'{q}'" for q in dependent)
        told = f"{count} constraint{'' if count == 1 else 's'}"
        message = f"there is one redundant coordinate for each constraint: {names} and {told} do not fit"
        raise ModelError([Problem(message)])
