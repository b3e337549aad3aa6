"""Which coordinates are redundant: those asked for, checked; those that the model declares; or the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from svyaz.expr import ModelError, Problem
from svyaz.forms import FORM, ordered_choices, position_rows, with_multipliers
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


def chosen_redundant(system: System, values: Mapping[str, float]) -> tuple[str, ...]:
    """The redundant coordinates that the model declares, or those with the best conditioned ∂F/∂s at these values."""
    if not system.constraints:
        return ()
    rows = position_rows(system.constraints, system.coordinates)
    origin = with_multipliers(system)
    return tuple(ordered_choices(FORM, rows, origin, {**values, "t": 0.0})[0])
