"""The result of a sweep: one row a member, as a table, as a Dataset over the axes, as JSON."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.extras import extra
from svyaz.files import text_file
from svyaz.json_types import Json
from svyaz.model import System
from svyaz.shown import Shown
from svyaz.study.vary import Axis, points_of

if TYPE_CHECKING:
    import pandas
    import xarray

LOST = "lost"
"""The status of a member to which no answer came."""


@dataclass(frozen=True)
class Row:
    """One member: its number, the values of the axes, how it ended, whether its gains are stable, and its measures."""

    number: int
    point: tuple[float, ...]
    status: str
    reason: str
    stable: bool | None
    measures: Mapping[str, float]


@dataclass(frozen=True, repr=False)
class Sweep(Shown):
    """Members in the order of the product of the axes (the last runs fastest); those not done are left out.

    ``stable`` is the list of intervals of the only axis in which the gains are stable, None where there is nothing to
    judge or more than one axis. ``status``: finished, stopped by the user, or incomplete: members are missing, or were lost
    with those who worked on them.

    >>> import svyaz
    >>> found = svyaz.load("pendulum:1").sweep({"L1": [1.0, 2.0]}, ["final.u1"], until=1, workers=1)
    >>> found.column("final.u1").shape, found.status
    ((2,), 'finished')
    """

    system: System
    axes: tuple[Axis, ...]
    measures: tuple[str, ...]
    rows: tuple[Row, ...]
    asked: Mapping[str, Json]
    status: str = "finished"
    stable: tuple[tuple[float, float], ...] | None = None
    seconds: float = 0.0
    workers: str = ""
    notes: tuple[str, ...] = field(default=())

    @property
    def total(self) -> int:
        """The number of members that were asked for."""
        return int(np.prod([len(axis.values) for axis in self.axes]))

    @property
    def finished(self) -> bool:
        """Were all members done?"""
        return self.status == "finished"

    @property
    def answered(self) -> int:
        """The number of members that have an answer."""
        return sum(row.status != LOST for row in self.rows)

    def points(self) -> list[tuple[float, ...]]:
        """The values of all axes for every member that was asked for."""
        return points_of(self.axes)

    @property
    def missing(self) -> tuple[int, ...]:
        """Numbers of the members that have no answer."""
        answered = {row.number for row in self.rows if row.status != LOST}
        return tuple(k for k in range(self.total) if k not in answered)

    @property
    def table_names(self) -> tuple[str, ...]:
        """Columns of the table."""
        return (*(axis.name for axis in self.axes), "status", "stable", *self.measures, "reason")

    def column(self, name: str) -> Array:
        """A varied quantity or a measure, one entry a row."""
        names = [axis.name for axis in self.axes]
        if name in names:
            return np.array([row.point[names.index(name)] for row in self.rows])
        if name not in self.measures:
            raise KeyError(f"the sweep has no column '{name}'")
        return np.array([row.measures.get(name, np.nan) for row in self.rows])

    def grid(self, name: str) -> Array:
        """A measure over the product of the axes; not a number where a member is missing."""
        values = np.full(self.total, np.nan)
        values[[row.number for row in self.rows]] = self.column(name)
        return values.reshape([len(axis.values) for axis in self.axes])

    def marks(self, true: str) -> NDArray[np.bool_]:
        """Over the product of the axes: which members finished (``finished``), or have stable gains (``stable``)."""
        flags = np.zeros(self.total, dtype=bool)
        for row in self.rows:
            flags[row.number] = row.status == "finished" if true == "finished" else bool(row.stable)
        return flags.reshape([len(axis.values) for axis in self.axes])

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

        numbers = {axis.name: self.column(axis.name) for axis in self.axes}
        measures = {name: self.column(name) for name in self.measures}
        told = {"status": [row.status for row in self.rows], "stable": [row.stable for row in self.rows]}
        return pandas.DataFrame({**numbers, **told, **measures, "reason": [row.reason for row in self.rows]})

    def to_xarray(self) -> xarray.Dataset:
        """Measures, status and mark over the axes."""
        with extra("data"):
            import xarray

        names = [axis.name for axis in self.axes]
        shape = [len(axis.values) for axis in self.axes]
        columns: dict[str, Any] = {name: (names, self.grid(name)) for name in self.measures}
        status = np.full(self.total, "missing", dtype=object)
        status[[row.number for row in self.rows]] = [row.status for row in self.rows]
        columns["status"] = (names, status.reshape(shape).astype(str))
        columns["stable"] = (names, self.marks("stable"))
        coordinates = {axis.name: axis.values for axis in self.axes}
        attributes: dict[str, Any] = {"model": self.system.name, **{k: str(v) for k, v in self.asked.items()}}
        attributes |= {f"parameter {k}": v for k, v in self.system.constants.items()}
        return xarray.Dataset(columns, coords=coordinates, attrs=attributes)

    def outcomes(self) -> dict[str, int]:
        """How many members ended in which way."""
        found: dict[str, int] = {}
        for row in self.rows:
            found[row.status] = found.get(row.status, 0) + 1
        return found


def cells(row: Row, measures: Sequence[str]) -> list[str]:
    """A row as the table has it."""
    mark = "" if row.stable is None else "yes" if row.stable else "no"
    numbers = [_text(row.measures.get(name)) for name in measures]
    return [*map(repr, row.point), row.status, mark, *numbers, row.reason]


def _text(value: float | None) -> str:
    return "" if value is None or not np.isfinite(value) else repr(value)
