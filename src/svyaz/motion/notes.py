"""What is noted of the phases of a run, told once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable

ALIKE, MANY = 2, 50
"""So many notes on decisions, and on anything, that differ in numbers alone are told one by one."""

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")


def told_once(notes: Iterable[str], decisions: Collection[str]) -> tuple[str, ...]:
    """The notes without repetitions; of too many that differ in numbers alone the first, and how many there are.

    Of ``decisions`` more than ALIKE are too many, of others more than MANY.
    """
    different = list(dict.fromkeys(notes))
    shapes = [(_NUMBER.sub("#", note), note in decisions) for note in different]
    counts, told, summed = Counter(shapes), list[str](), set[tuple[str, bool]]()
    for note, shape in zip(different, shapes, strict=True):
        if counts[shape] <= (ALIKE if shape[1] else MANY):
            told.append(note)
        elif shape not in summed:
            summed.add(shape)
            told += [note, f"… and {counts[shape] - 1} more notes like this one, with other numbers"]
    return tuple(told)
