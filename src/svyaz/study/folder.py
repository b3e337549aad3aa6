"""The folder of a study: which study it holds, how it grows, and that one program at a time writes to it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from svyaz import __version__
from svyaz.arrays import Array
from svyaz.expr import Advice, ModelError, Problem
from svyaz.files import with_path
from svyaz.json_types import Json
from svyaz.study import chunk_files
from svyaz.study.answers import MARKS, STATUSES
from svyaz.study.kept import REASON, STABLE, STATUS, Members
from svyaz.study.layout import chunks_for, grown, layout_of
from svyaz.study.measures import SINGLE
from svyaz.study.vary import Axis

UNFINISHED = Advice("resume it, or keep this study elsewhere", "unfinished study")
ELSEWHERE = Advice("keep this study elsewhere", "other study")
VALUES = 16384
"""Values of an axis in a chunk of its array."""
TOLD = "study"
"""The attribute of the group that says which study it is."""


@dataclass(frozen=True)
class Head:
    """Which study it is: ``same`` must be the same for members to belong to it, by what it is called in messages; ``told`` is
    kept beside it for readers. ``program``: the hash of the equations, empty where each member is a simulation of its own."""

    same: Mapping[str, str]
    program: str
    told: Mapping[str, Json]


def head_of(model: Json, asked: Json, program: str, told: Mapping[str, Json]) -> Head:
    """The head of a study of a model in words, of what is asked of its runs, and of the program of its equations."""
    same = {"svyaz": __version__, "the model": _hash(model), "what is asked of the runs": _hash(asked)}
    return Head(same, _hash(program) if program else "", told)


def _hash(words: object) -> str:
    return sha256(json.dumps(words, sort_keys=True, default=repr).encode()).hexdigest()


@dataclass(frozen=True)
class Holdings:
    """What a folder says that it holds."""

    words: Mapping[str, Any]
    told: Mapping[str, Any]
    axes: Mapping[str, Array]
    measures: tuple[str, ...]
    chunks: tuple[int, ...]


def axis_name(name: str) -> str:
    """The name of an axis among arrays: a parameter that is called as a measure is gets its table."""
    return f"parameters.{name}" if name in (*SINGLE, STATUS, STABLE, REASON) else name


def holdings_of(path: Path) -> Holdings | None:
    """What a folder holds, None where there is no study; a folder whose description is damaged is refused."""
    try:
        found = chunk_files.about(path)
        if found is None:
            return None
        told = found["attributes"]
        words = told.pop(TOLD)
        axes = {name: _values(path, name, count) for name, count in words["axes"]}
        return Holdings(words, told, axes, tuple(words["measures"]), tuple(words["chunks"]))
    except (ValueError, KeyError, TypeError) as error:
        text = f"the description of the study in '{path}' is damaged: what its members belong to is not known"
        raise _refusal(text, ELSEWHERE) from error


def _values(path: Path, name: str, count: int) -> Array:
    array = path / chunk_files.folder_name(axis_name(name))
    parts = [chunk_files.read_numbers(array, (k,), np.float64, VALUES) for k in range(-(-count // VALUES))]
    whole = [part for part in parts if part is not None]
    if len(whole) < len(parts):
        raise ValueError(f"values of {name} are missing")
    return np.concatenate(whole)[:count]


def measures_in(path: Path | None) -> tuple[str, ...]:
    """What a study in a folder measures; nothing where there is none."""
    held = None if path is None else holdings_of(path)
    return () if held is None else held.measures


def progress_of(path: str | Path) -> tuple[int, int]:
    """How many members of the study in a folder are done, and how many it has; none where there is no study."""
    held = holdings_of(Path(path))
    if held is None:
        return 0, 0
    values = tuple(held.axes.values())
    members = Members(layout_of(values, values, held.chunks), held.measures, Path(path))
    total = members.layout.total
    return total - sum(1 for _ in members.missing()), total


@contextmanager
def open_members(
    path: Path | None, head: Head, axes: Sequence[Axis], measures: Sequence[str], resume: bool
) -> Iterator[Members]:
    """The members of a study that are done, to which others are put; without a path they are kept in memory.

    A folder with a study is continued only if that is wanted (``resume``); it must be of the same model, asked the same of
    its runs, and varied over the same quantities. Values and measures that it does not have are added to it.
    """
    shape = [len(axis.values) for axis in axes]
    values = [axis.values for axis in axes]
    if path is None:
        held = [grown(np.zeros(0), own) for own in values]
        yield Members(layout_of(held, values, chunks_for(shape)), measures, None)
        return
    if path.exists() and not resume:
        _refuse_to_overwrite(path)
    with with_path(path):
        if path.exists() and not path.is_dir():
            raise _refusal(f"'{path}' is no folder of a study; rows of an earlier svyaz cannot be continued", ELSEWHERE)
        path.mkdir(parents=True, exist_ok=True)  # only now: a mistake in what is asked for leaves nothing behind
    with _lock(path):
        found = holdings_of(path)
        if found is not None:
            _check(path, found, head, axes)
        chunks = chunks_for(shape) if found is None else found.chunks
        held = [grown(np.zeros(0) if found is None else found.axes[a.name], a.values) for a in axes]
        program = head.program or (found.words["program"] if found is not None else "")
        _describe(path, head, program, {a.name: own for a, own in zip(axes, held, strict=True)}, measures, chunks)
        members = Members(layout_of(held, values, chunks), measures, path)
        try:
            yield members
        finally:
            members.close()


def _refuse_to_overwrite(path: Path) -> None:
    if not path.is_dir() or holdings_of(path) is None:
        return  # a file is refused for what it is
    done, total = progress_of(path)
    state = "a whole study" if done == total else "a study that is not finished"
    raise _refusal(f"'{path}' holds {state}", UNFINISHED)


def _check(path: Path, found: Holdings, head: Head, axes: Sequence[Axis]) -> None:
    """Refuse to go on with another study."""
    differs = [name for name, own in head.same.items() if found.words["same"].get(name) != own]
    if head.program and found.words["program"] and head.program != found.words["program"]:
        differs.append("the program of the equations")
    if list(found.axes) != [axis.name for axis in axes]:
        differs.append("which quantities are varied")
    if differs:
        raise _refusal(f"'{path}' holds another study: {', '.join(differs)} differs", ELSEWHERE)


def _describe(
    path: Path, head: Head, program: str, axes: Mapping[str, Array], measures: Sequence[str], chunks: Sequence[int]
) -> None:
    """Write the values of the axes, then what the folder holds, and what follows from that: the descriptions of arrays."""
    for name, values in axes.items():
        padded = np.full(-(-len(values) // VALUES) * VALUES, np.nan)
        padded[: len(values)] = values
        array = path / chunk_files.folder_name(axis_name(name))
        for k, part in enumerate(padded.reshape(-1, VALUES)):
            there = chunk_files.read_numbers(array, (k,), np.float64, VALUES)
            if there is None or there.tobytes() != part.tobytes():
                chunk_files.write_numbers(array, (k,), part)
    told: dict[str, Json] = {
        "same": dict(head.same),
        "program": program,
        "axes": [[name, len(values)] for name, values in axes.items()],
        "measures": list(measures),
        "chunks": list(chunks),
    }
    arrays = _arrays(axes, measures, chunks)
    chunk_files.tell(path, chunk_files.group_about({**head.told, TOLD: told}, arrays))
    for name, about in arrays.items():
        chunk_files.tell(path / name, about)


def _arrays(axes: Mapping[str, Array], measures: Sequence[str], chunks: Sequence[int]) -> dict[str, dict[str, Json]]:
    """The descriptions of all arrays, by the names of their folders."""
    kinds: dict[str, tuple[str, dict[str, Json]]] = {name: ("float64", {"long_name": name}) for name in measures}
    for name, words in ((STATUS, STATUSES), (STABLE, MARKS)):
        kinds[name] = "int8", {"flag_values": list(range(len(words))), "flag_meanings": " ".join(words)}
    kinds[REASON] = "string", {}
    shape, dimensions = [len(values) for values in axes.values()], [axis_name(name) for name in axes]
    about = {
        name: chunk_files.array_about(kind, shape, chunks, dimensions, told) for name, (kind, told) in kinds.items()
    }
    for name, values in axes.items():
        own = axis_name(name)
        about[own] = chunk_files.array_about("float64", [len(values)], [VALUES], [own], {"long_name": name})
    return {chunk_files.folder_name(name): words for name, words in about.items()}


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """One study, one program."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ImportError:
        yield
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        try:
            flock(handle, LOCK_EX | LOCK_NB)
        except BlockingIOError as error:
            raise _refusal(f"another program is computing the study in '{path}'", ELSEWHERE) from error
        except OSError:
            pass  # not every file system knows locks
        yield
    finally:
        os.close(handle)


def _refusal(text: str, hint: Advice) -> ModelError:
    return ModelError([Problem(text, None, hint)])


def discard(path: str | Path) -> None:
    """Let a study go."""
    holdings_of(Path(path))  # what is damaged is not ours to take away
    with with_path(Path(path)):
        shutil.rmtree(path)
