"""What came of members: a column for each measure, codes for how they ended and for whether their gains are stable."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array

Codes = NDArray[np.int8]
Scalar = TypeVar("Scalar", bound=np.generic)

LOST = "lost"
"""The status of a member to which no answer came."""
STATUSES = ("missing", "finished", "stopped", "diverged", "singular", "stalled", "infeasible", "left", LOST)
"""A code is a place in this list, also in files: it may only grow."""
MISSING, FINISHED = STATUSES.index("missing"), STATUSES.index("finished")
MARKS = ("not_judged", "stable", "unstable")
MARK: dict[bool | None, int] = {None: 0, True: 1, False: 2}
JUDGED: tuple[bool | None, ...] = (None, True, False)


@dataclass(frozen=True)
class Answer:
    """What came of one member: measures by name, None where there is no value; whether its gains are stable, where it told."""

    status: str
    reason: str
    measures: Mapping[str, float | None]
    stable: bool | None = None


@dataclass(frozen=True)
class Answers:
    """What came of k members: codes (k,) of ``STATUSES`` and ``MARKS``, reasons by place where there are any, measures (k,)."""

    status: Codes
    stable: Codes
    reasons: Mapping[int, str]
    measures: Mapping[str, Array]

    def __len__(self) -> int:
        return len(self.status)


def losses(reason: str, count: int = 1) -> Answers:
    """The answers to members for which nobody answers."""
    status = np.full(count, STATUSES.index(LOST), dtype=np.int8)
    return Answers(status, np.zeros(count, dtype=np.int8), dict.fromkeys(range(count), reason), {})


def no_answers(count: int, measures: Sequence[str]) -> Answers:
    """Members that are left for others."""
    nothing = {name: np.full(count, np.nan) for name in measures}
    return Answers(np.full(count, MISSING, dtype=np.int8), np.zeros(count, dtype=np.int8), {}, nothing)


def in_columns(answers: Sequence[Answer], measures: Sequence[str]) -> Answers:
    """Answers to single members, with the measures that are wanted; not a number where there is no value."""

    def column(name: str) -> Array:
        found = [answer.measures.get(name) for answer in answers]
        return np.array([np.nan if x is None else x for x in found], dtype=float)

    return Answers(
        np.array([STATUSES.index(str(answer.status)) for answer in answers], dtype=np.int8),
        np.array([MARK[answer.stable] for answer in answers], dtype=np.int8),
        {k: str(answer.reason) for k, answer in enumerate(answers) if answer.reason},
        {name: column(name) for name in measures},
    )


def join(parts: Sequence[Answers]) -> Answers:
    """Answers one after another; not a number where some have no such measure."""
    names = dict.fromkeys(name for part in parts for name in part.measures)
    begins = np.cumsum([0, *map(len, parts)])
    none = [np.full(len(part), np.nan) for part in parts]
    return Answers(
        np.concatenate([part.status for part in parts]),
        np.concatenate([part.stable for part in parts]),
        {int(b) + k: text for b, part in zip(begins, parts, strict=False) for k, text in part.reasons.items()},
        {n: np.concatenate([p.measures.get(n, gap) for p, gap in zip(parts, none, strict=True)]) for n in names},
    )


def answers_as_text(answers: Answers) -> str:
    """Answers on one line; the bits of numbers in letters."""
    return json.dumps(
        {
            "status": _letters(answers.status),
            "stable": _letters(answers.stable),
            "reasons": {str(k): text for k, text in answers.reasons.items()},
            "measures": {name: _letters(values) for name, values in answers.measures.items()},
        }
    )


def answers_from_text(text: str) -> Answers:
    """The answers that were written so."""
    words = json.loads(text)
    return Answers(
        _numbers(words["status"], np.int8),
        _numbers(words["stable"], np.int8),
        {int(k): reason for k, reason in words["reasons"].items()},
        {name: _numbers(letters, np.float64) for name, letters in words["measures"].items()},
    )


def columns_as_words(columns: Mapping[str, Array]) -> dict[str, str]:
    """Columns of numbers as JSON has them: their bits in letters."""
    return {name: _letters(values) for name, values in columns.items()}


def columns_from_words(words: Mapping[str, str]) -> dict[str, Array]:
    """The columns that were written so."""
    return {name: _numbers(letters, np.float64) for name, letters in words.items()}


def count_codes(codes: Iterable[Codes]) -> dict[str, int]:
    """How many members have each status, in the order in which they are met; missing ones are not counted."""
    found: dict[str, int] = {}
    for part in codes:
        seen, first, counts = np.unique(part, return_index=True, return_counts=True)
        for k in np.argsort(first):
            if seen[k] != MISSING:
                word = STATUSES[seen[k]]
                found[word] = found.get(word, 0) + int(counts[k])
    return found


def _letters(values: NDArray[np.generic]) -> str:
    return b64encode(np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<")).tobytes()).decode("ascii")


def _numbers(letters: str, kind: type[Scalar]) -> NDArray[Scalar]:
    return np.frombuffer(b64decode(letters), dtype=np.dtype(kind).newbyteorder("<")).astype(kind)
