"""The result of a sweep: columns over its members, as a table, as a Dataset over the axes, as JSON."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, prod
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, overload

import numpy as np
from numpy.typing import NDArray

from svyaz.arguments import check_arguments
from svyaz.arrays import Array
from svyaz.expr import NoSuchName
from svyaz.extras import extra
from svyaz.files import text_file
from svyaz.json_types import Json
from svyaz.model import System
from svyaz.shown import Shown
from svyaz.study.answers import FINISHED, JUDGED, LOST, MARK, MISSING, STATUSES, count_codes
from svyaz.study.folder import axis_name
from svyaz.study.kept import STABLE, STATUS, Members
from svyaz.study.vary import Axis, points_of

if TYPE_CHECKING:
    import pandas
    import xarray


@dataclass(frozen=True)
class Row:
    """One member: its number, the values of the axes, how it ended, whether its gains are stable, and its measures."""

    number: int
    point: tuple[float, ...]
    status: str
    reason: str
    stable: bool | None
    measures: Mapping[str, float]


COMMON = "gains"
"""Under this name the gains of all members are told."""


@dataclass(frozen=True, repr=False)
class Sweep(Shown):
    """Members in the order of the product of the axes (the last runs fastest); those not done are left out of ``rows``.

    ``members`` keeps what came of them, in memory or in the folder of the study, from where columns are read when they are
    asked for. ``stable`` is the list of intervals of the only axis in which the gains are stable, None where there is nothing
    to judge or more than one axis. ``status``: finished, stopped by the user, or incomplete: members are missing, or were
    lost with those who worked on them.

    >>> import svyaz
    >>> found = svyaz.load("pendulum:1").sweep({"L1": [1.0, 2.0]}, ["final.u1"], until=1, workers=1)
    >>> found.column("final.u1").shape, found.status
    ((2,), 'finished')
    """

    system: System
    axes: tuple[Axis, ...]
    measures: tuple[str, ...]
    members: Members = field(repr=False)
    asked: Mapping[str, Json]
    status: str = "finished"
    stable: tuple[tuple[float, float], ...] | None = None
    seconds: float = 0.0
    workers: str = ""
    notes: tuple[str, ...] = field(default=())

    @property
    def total(self) -> int:
        """The number of members that were asked for."""
        return prod(len(axis.values) for axis in self.axes)

    @property
    def gains(self) -> Json:
        """The gains that "auto" chose for all members, as ``stabilize`` takes them; None where each has its own, or none."""
        return self.asked.get(COMMON)

    @property
    def finished(self) -> bool:
        """Were all members done?"""
        return self.status == "finished"

    @property
    def answered(self) -> int:
        """The number of members that have an answer."""
        return self.members.answered()

    @property
    def rows(self) -> SweepRows:
        """The members that are done or lost, read as they are asked for."""
        return SweepRows(self)

    def points(self, numbers: Sequence[int]) -> list[Array]:
        """For each axis, its values for the members of these numbers."""
        return points_of(self.axes, numbers)

    @property
    def missing(self) -> tuple[int, ...]:
        """Numbers of the members that have no answer."""
        unanswered = np.isin(self.members.codes(STATUS), (MISSING, STATUSES.index(LOST)))
        return tuple(np.flatnonzero(unanswered).tolist())

    @property
    def table_names(self) -> tuple[str, ...]:
        """Columns of the table."""
        return (*(axis.name for axis in self.axes), "status", "stable", *self.measures, "reason")

    @check_arguments
    def column(self, name: str) -> Array:
        """A varied quantity or a measure, one entry a row."""
        there = np.flatnonzero(self.done())
        names = [axis.name for axis in self.axes]
        if name in names:
            return points_of(self.axes, there)[names.index(name)]
        if name not in self.measures:
            raise NoSuchName(f"the sweep has no column '{name}'")
        return self.members.column(name)[there]

    @check_arguments
    def grid(self, name: str) -> Array:
        """A measure over the product of the axes; not a number where a member is missing."""
        if name not in self.measures:
            raise NoSuchName(f"the sweep has no column '{name}'")
        return self.members.column(name).reshape([len(axis.values) for axis in self.axes])

    def marks(self, true: str) -> NDArray[np.bool_]:
        """Over the product of the axes: which members finished (``finished``), or have stable gains (``stable``)."""
        name, code = (STATUS, FINISHED) if true == "finished" else (STABLE, MARK[True])
        return (self.members.codes(name) == code).reshape([len(axis.values) for axis in self.axes])

    def done(self) -> NDArray[np.bool_]:
        """Over the product of the axes: which members are done, or lost."""
        return (self.members.codes(STATUS) != MISSING).reshape([len(axis.values) for axis in self.axes])

    @check_arguments
    def to_csv(self, file: str | Path | TextIO) -> None:
        """Write the table with full precision; a file appears complete or not at all."""
        with text_file(file) as out:
            writer = csv.writer(out)
            writer.writerow(self.table_names)
            writer.writerows(cells(row, self.measures) for row in self.rows)

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each member, in their order: what was varied, status, whether gains are stable, measures, the reason."""
        with extra("data"):
            import pandas

        codes = self.members.codes(STATUS)
        there = np.flatnonzero(codes != MISSING)
        numbers = dict(zip((axis.name for axis in self.axes), points_of(self.axes, there), strict=True))
        told = {"status": np.array(STATUSES, dtype=object)[codes[there]]}
        marks = np.array(JUDGED, dtype=object)[self.members.codes(STABLE)[there]]
        measures = {name: self.members.column(name)[there] for name in self.measures}
        reasons = self.members.reasons()
        reason = [reasons.get(k, "") for k in there.tolist()]
        return pandas.DataFrame({**numbers, **told, "stable": marks, **measures, "reason": reason})

    def to_xarray(self) -> xarray.Dataset:
        """Measures, status and mark over the axes."""
        with extra("data"):
            import xarray

        names = [axis_name(axis.name) for axis in self.axes]
        columns: dict[str, object] = {name: (names, self.grid(name)) for name in self.measures}
        shape = [len(axis.values) for axis in self.axes]
        columns["status"] = (names, np.array(STATUSES)[self.members.codes(STATUS)].reshape(shape))
        columns["stable"] = (names, self.marks("stable"))
        coordinates = {name: axis.values for name, axis in zip(names, self.axes, strict=True)}
        attributes: dict[str, object] = {"model": self.system.name, **{k: str(v) for k, v in self.asked.items()}}
        attributes |= {f"parameter {k}": v for k, v in self.system.constants.items()}
        return xarray.Dataset(columns, coords=coordinates, attrs=attributes)

    def outcomes(self) -> dict[str, int]:
        """How many members ended in which way."""
        return count_codes([self.members.codes(STATUS)])


class SweepRows(Sequence[Row]):
    """The rows of a sweep in their order, which are made when they are asked for."""

    def __init__(self, sweep: Sweep) -> None:
        self._sweep = sweep
        self._numbers = np.flatnonzero(sweep.done())

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        if isinstance(index, slice):
            return list(self._rows(self._numbers[index]))
        return next(self._rows(self._numbers[[index]]))

    def __iter__(self) -> Iterator[Row]:
        return self._rows(self._numbers)

    def _rows(self, numbers: NDArray[np.int64]) -> Iterator[Row]:
        """SweepRows of these members; the whole of their columns is read before."""
        members, names = self._sweep.members, self._sweep.measures
        status, stable = (members.codes(name)[numbers] for name in (STATUS, STABLE))
        columns = [members.column(name)[numbers] for name in names]
        reasons = members.reasons()
        for begin in range(0, len(numbers), PART):
            part = slice(begin, begin + PART)
            points = np.column_stack(points_of(self._sweep.axes, numbers[part])).tolist()
            values = np.column_stack([*(c[part] for c in columns), np.zeros(len(points))]).tolist()
            codes = zip(numbers[part].tolist(), status[part].tolist(), stable[part].tolist(), strict=True)
            for (number, ended, mark), point, own in zip(codes, points, values, strict=True):
                measures = {n: int(x) if n in COUNTS and isfinite(x) else x for n, x in zip(names, own, strict=False)}
                yield Row(number, tuple(point), STATUSES[ended], reasons.get(number, ""), JUDGED[mark], measures)


COUNTS = ("steps", "evaluations", "phases")
"""Measures that are whole numbers."""
PART = 4096
"""So many rows are made at a time."""


def cells(row: Row, measures: Sequence[str]) -> list[str]:
    """A row as the table has it."""
    mark = "" if row.stable is None else "yes" if row.stable else "no"
    numbers = [_text(row.measures.get(name)) for name in measures]
    return [*map(repr, row.point), row.status, mark, *numbers, row.reason]


def _text(value: float | None) -> str:
    return "" if value is None or not np.isfinite(value) else repr(value)
