"""The watch over contacts: whatever events decided, no body enters another and no contact pulls.

It knows nothing of events. Along the steps of a stretch it looks at ``on`` (the gap with the minus sign) of every one-sided
constraint that does not act, at the rows and between them, and at the reactions of those that act.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from svyaz.arrays import Array
from svyaz.dynamics import measure_of
from svyaz.integrate import Path, Status
from svyaz.motion.events.contacts import Contacts
from svyaz.stabilise import Options, Segment, multipliers_along

BETWEEN = np.arange(1, 8) / 8
"""Where within a step ``on`` is looked at, by a cubic polynomial."""

PULL = 1e-6
"""Reactions that pull with less than this part of the largest one of their contact are not looked at."""

LEAST, FACTOR, FIXED = 1e-5, 10.0, 1e-3
"""The tolerance is this part of the sizes of the terms, but not less than this factor times rtol; and with fixed steps."""

Again = Callable[[int], Callable[[float], Array | None]]
"""From the number of a row to the states at later times."""


def contact_tolerance(options: Options) -> float:
    """By which part of the sizes of its terms a gap may be negative, or a reaction pull."""
    return FIXED if options.rtol is None else max(LEAST, FACTOR * options.rtol)


def check_contacts(contacts: Contacts, segment: Segment, path: Path, again: Again) -> Path:
    """The path, up to where a contact is entered or pulls: there it ends, and says so."""
    if not contacts.constraints or path.status is not Status.FINISHED:
        return path
    found = _first_entered(contacts, segment, path, again) or _first_pull(contacts, segment, path)
    if found is None:
        return path
    row, reason = found
    times, states = path.times[: max(row, 1)], path.states[: max(row, 1)]
    ended = replace(path, times=times, states=states, step_sizes=None, events=())
    return replace(ended, status=Status.INFEASIBLE, reason=reason)


def _first_entered(contacts: Contacts, segment: Segment, path: Path, again: Again) -> tuple[int, str] | None:
    """The row after which a contact that does not act has a negative gap, and that in words."""
    acting = set(segment.equations.multiplier_names)
    columns = [k for k, c in enumerate(contacts.constraints) if c.name not in acting]
    if not columns:
        return None
    parts = contacts.numbers(np.column_stack([path.times, path.states]))
    value, rate = parts["position"][:, columns], parts["velocity"][:, columns]
    room = contacts.tolerance * contacts.after(path).seen[columns]
    entered = value > room
    found = [(int(np.argmax(entered[:, k])), k) for k in np.flatnonzero(entered.any(axis=0))]
    if found:
        row, k = min(found)
        return row, _describe_gap(contacts, columns[k], float(path.times[row]), float(value[row, k]), float(room[k]))
    step = np.diff(path.times)[:, None]
    s = BETWEEN[:, None, None]
    inner = (
        (1 + 2 * s) * (1 - s) ** 2 * value[:-1]
        + s * (1 - s) ** 2 * step * rate[:-1]
        + s**2 * (3 - 2 * s) * value[1:]
        - s**2 * (1 - s) * step * rate[1:]
    )
    for row, k in np.argwhere((inner > room).any(axis=0)):
        time = float(path.times[row] + BETWEEN[int(np.argmax(inner[:, row, k]))] * step[row, 0])
        state = again(int(row))(time)
        gap = None if state is None else contacts.at(time, state).value[columns[k]]
        if gap is not None and gap > room[k]:
            return int(row) + 1, _describe_gap(contacts, columns[k], time, float(gap), float(room[k]))
    return None


def _first_pull(contacts: Contacts, segment: Segment, path: Path) -> tuple[int, str] | None:
    """The row at which a contact that acts pulls, and that in words."""
    names = segment.equations.multiplier_names
    columns = [k for k, c in enumerate(contacts.constraints) if c.pushes and c.name in names]
    if not columns:
        return None
    reactions = multipliers_along(segment, path.times, path.states)
    for k in columns:
        c = contacts.constraints[k]
        push = c.pushes * reactions[c.name]
        row = int(np.argmin(np.nan_to_num(push, nan=np.inf)))
        if not push[row] < -PULL * np.nanmax(np.abs(push)):
            continue
        here = measure_of(segment.equations).at(path.states[row], float(path.times[row]))
        compliance = here.mobility
        ease = float(compliance.eases(here.jacobian[[names.index(c.name)]])[0])
        forces = float(np.sqrt(abs(here.bias @ compliance.pushed(here.bias))))
        size = max(float(contacts.at(here.time, here.state).second_size[k]), ease * forces)
        if -push[row] * ease**2 > contacts.tolerance * size:
            when = f"at t = {here.time:.9g}"
            return row, f"the contact '{c.name}' pulls {when}: its reaction is {push[row]:.4g}, and it can only push"
    return None


def _describe_gap(contacts: Contacts, number: int, time: float, value: float, room: float) -> str:
    name = contacts.constraints[number].name
    told = f"the gap of the contact '{name}' is {-value:.4g} at t = {time:.9g}"
    return f"{told}: bodies would lie within each other by more than the tolerance {room:.2g}"
