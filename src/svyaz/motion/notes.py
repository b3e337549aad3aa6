"""What is noted of the phases of a run, told once."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

ALIKE = 2
"""So many notes that differ in numbers alone are told one by one."""

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")


def told_once(notes: Iterable[str], decisions: Collection[str]) -> tuple[str, ...]:
    """The notes without repetitions; of more than ALIKE ``decisions`` among them that differ in numbers alone the first, and
    how many there are.
    """
    different = list(dict.fromkeys(notes))
    shapes = [_NUMBER.sub("#", note) if note in decisions else note for note in different]
    told: list[str] = []
    for k, (note, shape) in enumerate(zip(different, shapes, strict=True)):
        count = shapes.count(shape)
        if count <= ALIKE:
            told.append(note)
        elif shapes.index(shape) == k:
            told += [note, f"… and {count - 1} more notes like this one, with other numbers"]
    return tuple(told)
