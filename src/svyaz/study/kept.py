"""The members of a study, kept as they are done: in memory, or in a folder that survives any end of the program.

The folder is a Zarr group that xarray and others read, also while the study runs: an array over the axes for each measure,
for the status (0 where a member is not done), the mark of its gains and the reason. Its ``zarr.json`` says which study it
is, how many values each axis has, and what is measured; all else follows from it. The measures of a chunk are written before
its status, so that a member is done only when all of it is there. Numbers of members are those of the asked product.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from svyaz.arrays import Array
from svyaz.study import chunk_files
from svyaz.study.answers import LOST, MISSING, STATUSES, Answers, Codes
from svyaz.study.chunk_files import Place
from svyaz.study.layout import MemberLayout, Numbers

STATUS, STABLE, REASON = "status", "stable", "reason"
FEW = 100_000
"""So many members are held in memory when their study is done."""
LOST_CODE = STATUSES.index(LOST)
OFTEN = 0.5
"""Seconds after which what has been done of a chunk is written though it is not whole."""


@dataclass
class Chunk:
    """Members of a chunk, to be filled: codes (size,), reasons by place, measures (size,)."""

    status: Codes
    stable: Codes
    reasons: dict[int, str]
    measures: dict[str, Array]
    written: float = field(default_factory=monotonic)
    dirty: bool = False
    again: bool = False
    """A measure is not there yet: what is in the folder counts as missing, and that is written first."""


class Members:
    """The members of a study that are done, by their numbers; ``folder`` is None where they are kept in memory alone."""

    def __init__(self, layout: MemberLayout, measures: Sequence[str], folder: Path | None) -> None:
        self.layout, self.measures, self.folder = layout, tuple(measures), folder
        self._open: dict[Place, Chunk] = {}

    def missing(self) -> Iterator[int]:
        """Members that are not done, chunk by chunk."""
        for place in self.layout.places():
            numbers, offsets = self.layout.inside(place)
            status = self._read(place, (*self.measures, REASON)).status[offsets]
            _, first = np.unique(offsets, return_index=True)  # a value that is asked for twice is run once
            wanted = np.sort(first)
            yield from numbers[wanted[np.isin(status[wanted], (MISSING, LOST_CODE))]].tolist()

    def put(self, numbers: Sequence[int], answers: Answers) -> None:
        """Take answers in; chunks that are whole then are written, others when some time has passed."""
        places, offsets = self.layout.where(np.asarray(numbers, dtype=np.int64))
        rows, which = np.unique(places, axis=0, return_inverse=True)
        for k, row in enumerate(rows.tolist()):
            place, own = tuple(row), np.flatnonzero(which.ravel() == k)
            chunk = self._chunk(place)
            _fill(chunk, offsets[own], own, answers)
            if self.folder is not None:
                whole = not (chunk.status[self.layout.inside(place)[1]] == MISSING).any()
                if whole or monotonic() > chunk.written + OFTEN:
                    self._write(place, chunk)
                if whole:
                    del self._open[place]

    def at_hand(self) -> Members:
        """The members as they are now, in memory where they are few; what is made from many is read from the folder."""
        if self.folder is None or self.layout.total > FEW:
            return self
        found = Members(self.layout, self.measures, None)
        found._open = {place: self._read(place, (*self.measures, REASON)) for place in self.layout.places()}
        return found

    def answered(self) -> int:
        """How many members have an answer."""
        return sum(int(np.isin(found[STATUS], (MISSING, LOST_CODE), invert=True).sum()) for _, found in self.parts(()))

    def status_of(self, numbers: Numbers) -> Codes:
        """How members of these numbers ended."""
        places, offsets = self.layout.where(numbers)
        found = np.zeros(len(numbers), dtype=np.int8)
        rows, which = np.unique(places, axis=0, return_inverse=True)
        for k, row in enumerate(rows.tolist()):
            own = np.flatnonzero(which.ravel() == k)
            found[own] = self._read(tuple(row), ()).status[offsets[own]]
        return found

    def close(self) -> None:
        """Write what has not been written."""
        for place, chunk in self._open.items():
            if self.folder is not None and chunk.dirty:
                self._write(place, chunk)
        if self.folder is not None:
            self._open.clear()

    def parts(self, names: Sequence[str]) -> Iterator[tuple[Numbers, dict[str, Any]]]:
        """Chunk by chunk: numbers of members, and columns for them; reasons by number."""
        for place in self.layout.places():
            numbers, offsets = self.layout.inside(place)
            chunk = self._read(place, names)
            found: dict[str, Any] = {name: chunk.measures[name][offsets] for name in names if name in chunk.measures}
            found[STATUS], found[STABLE] = chunk.status[offsets], chunk.stable[offsets]
            if REASON in names:
                told = zip(numbers.tolist(), offsets.tolist(), strict=True) if chunk.reasons else ()
                found[REASON] = {n: chunk.reasons[k] for n, k in told if k in chunk.reasons}
            yield numbers, found

    def codes(self, name: str) -> Codes:
        """Status or mark of all members, in their order."""
        found = np.zeros(self.layout.total, dtype=np.int8)
        for numbers, columns in self.parts(()):
            found[numbers] = columns[name]
        return found

    def column(self, name: str) -> Array:
        """A measure of all members, in their order; not a number where there is none."""
        found = np.full(self.layout.total, np.nan)
        for numbers, columns in self.parts((name,)):
            found[numbers] = columns[name]
        return found

    def reasons(self) -> dict[int, str]:
        """The reasons that were told, by number."""
        return {k: text for _, columns in self.parts((REASON,)) for k, text in columns[REASON].items()}

    def _path(self, name: str) -> Path:
        assert self.folder is not None, "members in memory have no files"
        return self.folder / chunk_files.folder_name(name)

    def _chunk(self, place: Place) -> Chunk:
        if place not in self._open:
            self._open[place] = self._read(place, (*self.measures, REASON))
        return self._open[place]

    def _read(self, place: Place, names: Sequence[str]) -> Chunk:
        """A chunk with these measures; where one is not there or damaged, none of its members is done."""
        known = self._open.get(place)
        if known is not None:
            return known
        size = self.layout.size
        if self.folder is None:
            return _empty(size, self.measures)
        if not all(chunk_files.chunk_file(self._path(name), place).exists() for name in self.measures):
            there = chunk_files.chunk_file(self._path(STATUS), place).exists()
            return _empty(size, self.measures, again=there)
        codes = [chunk_files.read_numbers(self._path(name), place, np.int8, size) for name in (STATUS, STABLE)]
        measures = {
            name: chunk_files.read_numbers(self._path(name), place, np.float64, size)
            for name in names
            if name in self.measures
        }
        reasons = chunk_files.read_texts(self._path(REASON), place, size) if REASON in names else {}
        whole = {name: values for name, values in measures.items() if values is not None}
        status, stable = codes
        if status is None or stable is None or reasons is None or len(whole) < len(measures):
            return _empty(size, self.measures, again=status is not None)
        return Chunk(status, stable, reasons, whole)

    def _write(self, place: Place, chunk: Chunk) -> None:
        if chunk.again:
            chunk_files.write_numbers(self._path(STATUS), place, np.zeros(self.layout.size, dtype=np.int8))
            chunk.again = False
        for name, values in chunk.measures.items():
            chunk_files.write_numbers(self._path(name), place, values)
        chunk_files.write_texts(self._path(REASON), place, chunk.reasons, self.layout.size)
        chunk_files.write_numbers(self._path(STABLE), place, chunk.stable)
        chunk_files.write_numbers(self._path(STATUS), place, chunk.status)
        chunk.written, chunk.dirty = monotonic(), False


def _empty(size: int, measures: Sequence[str], again: bool = False) -> Chunk:
    status, stable = (np.zeros(size, dtype=np.int8) for _ in range(2))
    return Chunk(status, stable, {}, {name: np.full(size, np.nan) for name in measures}, again=again)


def _fill(chunk: Chunk, offsets: Numbers, own: Numbers, answers: Answers) -> None:
    """Answers of these places, at these places of a chunk."""
    chunk.status[offsets], chunk.stable[offsets] = answers.status[own], answers.stable[own]
    for name, values in chunk.measures.items():
        values[offsets] = answers.measures[name][own] if name in answers.measures else np.nan
    for offset, k in zip(offsets.tolist(), own.tolist(), strict=True) if answers.reasons or chunk.reasons else ():
        if k in answers.reasons:
            chunk.reasons[offset] = answers.reasons[k]
        else:
            chunk.reasons.pop(offset, None)
    chunk.dirty = True
