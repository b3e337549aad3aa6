"""The rows of a study that is under way, in a file that survives its end.

The first line says which study it is; each further line is a row. A line begins with the CRC-32 of the rest, so that one that
was torn or damaged is seen: such a row is computed again. Rows are appended as they come, a few at a time, and the file goes
when the tables of the whole study are there: a file that is there belongs to a study that is not finished.
"""

from __future__ import annotations

import json
import os
from binascii import crc32
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from math import isfinite, prod
from pathlib import Path
from typing import BinaryIO

from svyaz import __version__
from svyaz.expr import Advice, ModelError, Problem
from svyaz.files import named
from svyaz.json_types import Json
from svyaz.study.result import Row
from svyaz.study.vary import Axis

UNFINISHED = Advice("resume it, or keep the rows of this study elsewhere", "unfinished study")
ELSEWHERE = Advice("keep the rows of this study elsewhere", "other study")

Append = Callable[[Sequence[Row]], None]
Head = dict[str, Json]


def head_of(model: Json, asked: Json, axes: Sequence[Axis], measures: Sequence[str], programs: str) -> Head:
    """Which study it is: what must be the same for rows to belong to it."""
    values = [[axis.name, [float(value).hex() for value in axis.values]] for axis in axes]
    return {
        "members": prod(len(axis.values) for axis in axes),
        "svyaz": __version__,
        "the model": _hash([model, programs]),
        "what is asked of the runs": _hash(asked),
        "what is varied": _hash(values),
        "what is measured": _hash(list(measures)),
    }


def _hash(words: object) -> str:
    return sha256(json.dumps(words, sort_keys=True, default=repr).encode()).hexdigest()


@contextmanager
def kept_rows(
    path: str | Path | None, head: Head, points: Sequence[tuple[float, ...]], resume: bool
) -> Iterator[tuple[dict[int, Row], Append]]:
    """Rows of this study that are in the file, and a function that appends more. Without a path nothing is kept.

    A file with rows is continued only if that is wanted (``resume``); it must be of the same study.
    """
    if path is None:
        yield {}, lambda rows: None
        return
    file = Path(path)
    if file.exists() and not resume and (told := _study_in(file)):
        raise _refusal(told, UNFINISHED)
    with named(file):
        file.parent.mkdir(parents=True, exist_ok=True)  # only now: a mistake in what is asked for leaves nothing behind
        stream = file.open("r+b" if file.exists() else "x+b", buffering=0)
    with stream:
        _lock(stream, file)
        known, end = _read(stream, file, head, points)
        with named(file):
            stream.truncate(end)
            stream.seek(end)
            if not end:
                stream.write(_line(head))

        def append(rows: Sequence[Row]) -> None:
            with named(file):
                _written(stream, b"".join(_line(_words(row)) for row in rows))

        yield known, append


def _study_in(file: Path) -> str:
    """What to say of a study in the file; nothing where it was left before its first line was written."""
    with named(file), file.open("rb") as stream:
        first = stream.readline()
        rows = sum(_content(line) is not None for line in stream)
    if not first.endswith(b"\n"):
        return ""
    head = _content(first)
    if isinstance(head, dict) and head.get("members") == rows:
        return f"'{file}' holds the rows of a whole study"
    return f"'{file.parent}' holds a study that is not finished"


def _read(stream: BinaryIO, file: Path, head: Head, points: Sequence[tuple[float, ...]]) -> tuple[dict[int, Row], int]:
    """The sound rows, and where the last whole line ends; nothing where there is no first line."""
    first = stream.readline()
    if not first.endswith(b"\n"):
        return {}, 0
    there = _content(first)
    if not isinstance(there, dict):
        raise _refusal(f"the first line of '{file}' is damaged: which study its rows belong to is not known", ELSEWHERE)
    differs = [name for name in head if name != "members" and there.get(name) != head[name]]
    if differs:
        raise _refusal(f"the rows in '{file}' are of another study: {', '.join(differs)} differs", ELSEWHERE)
    rows, end = {}, len(first)
    for line in stream:
        if line.endswith(b"\n"):
            end += len(line)
            row = _row(_content(line), points)
            if row is not None:
                rows[row.number] = row
    return rows, end


def _line(content: object) -> bytes:
    text = json.dumps(content, ensure_ascii=True).encode()
    return b"%08x %s\n" % (crc32(text), text)


def _content(line: bytes) -> object:
    """What a line holds; None where it is torn or damaged."""
    mark, _, text = line.rstrip(b"\n").partition(b" ")
    with suppress(ValueError):
        if line.endswith(b"\n") and int(mark, 16) == crc32(text):
            found: object = json.loads(text)
            return found
    return None


def _words(row: Row) -> list[Json]:
    measures = {name: x if x is None or isfinite(x) else repr(float(x)) for name, x in row.measures.items()}
    return [row.number, list(row.point), row.status, row.reason, row.stable, measures]


def _row(content: object, points: Sequence[tuple[float, ...]]) -> Row | None:
    """The row, if it is that of the member of this number."""
    if not isinstance(content, list) or len(content) != 6:
        return None
    number, point, status, reason, stable, measures = content
    if not 0 <= number < len(points) or tuple(point) != points[number]:
        return None
    return Row(
        number,
        points[number],
        status,
        reason,
        stable,
        {name: float(x) if isinstance(x, str) else x for name, x in measures.items()},
    )


def _written(stream: BinaryIO, content: bytes) -> None:
    """Write all of it; a disk that fills up takes a part and then says so."""
    while content:
        content = content[stream.write(content) :]


def _lock(stream: BinaryIO, file: Path) -> None:
    """One study, one program."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ImportError:
        return
    try:
        flock(stream.fileno(), LOCK_EX | LOCK_NB)
    except BlockingIOError as error:
        raise _refusal(f"another program is computing the study in '{file.parent}'", ELSEWHERE) from error
    except OSError:
        return  # not every file system knows locks


def _refusal(text: str, hint: Advice) -> ModelError:
    return ModelError([Problem(text, None, hint)])


def discard(path: str | Path) -> None:
    """Let the rows of a finished study go."""
    with named(Path(path)):
        os.remove(path)
