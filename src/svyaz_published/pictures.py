"""The figures of the sources, drawn anew: each is data, a ``[[figure]]`` of the tables beside this file.

A figure shows columns of some runs, or what runs measure over a gain, the links of a mechanism at equal intervals, or a
mechanism in a position with its points and lengths marked. Beside a picture of curves stands a table with their numbers,
and with the residuals, multipliers and integrals of their runs. What the source leaves out and had to be chosen is said in
the note beneath the picture.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from svyaz.json_types import Json
from svyaz.motion import Motion, View, views_of, write_runs
from svyaz.show import Caption, save, views_figure
from svyaz_published.measures import run_of

HELD = ("residuals", "multipliers", "integrals", "deviations")
"""What is written into tables besides the curves."""


@dataclass(frozen=True)
class Run:
    """One run of a figure: a model with its variant and values, and the options of the run."""

    label: str = ""
    model: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, float | str] = field(default_factory=dict)
    run: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class Picture:
    """A figure of a source: ``name`` is that of the source with the number of the figure, ``note`` what was chosen."""

    model: str
    name: str
    caption: str
    note: str = ""
    runs: Sequence[Run] = ()
    show: Sequence[str] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    equal: bool = False
    log: bool = False

    @property
    def numbered(self) -> bool:
        """Is it a figure of the source, and not one of what the source only tells?"""
        return self.name.partition("-")[2][:1].isdigit()

    @property
    def told(self) -> Caption:
        """What is written about it."""
        source, _, number = self.name.partition("-")
        head = f"{source}, figure {number}: " if self.numbered else f"{source}: "
        return Caption(head + self.caption, self.note, self.names, self.units, self.equal, self.log)


def pictures_of(tables: Sequence[Mapping[str, object]]) -> list[Picture]:
    """The figures that the tables state; one that is ``like`` another has its runs."""
    found: dict[str, Picture] = {}
    for entry in tables:
        given: dict[str, Any] = dict(entry)
        like = found.get(str(given.pop("like", "")))
        runs = [Run(**run) for run in given.pop("run", [])] or (like.runs if like else [])
        picture = Picture(**given, runs=tuple(runs))
        found[picture.name] = picture
    return list(found.values())


def draw(picture: Picture, folder: Path) -> list[Path]:
    """The picture and, of curves, the table of their numbers."""
    runs = {run.label: motion_of(picture, run) for run in picture.runs}
    first = next(iter(runs.values()))
    views = views_of(first.system, picture.show)
    numbers = folder / f"{picture.name}.csv"
    write_runs(numbers, runs, [*views, *(View(group) for group in HELD)])
    return [save(views_figure(runs, views, picture.told), folder / f"{picture.name}.png"), numbers]


def motion_of(picture: Picture, run: Run) -> Motion:
    """The run of a figure; the same run of several figures is computed once."""
    return run_of(run.model or picture.model, json.dumps([dict(run.choices), dict(run.settings), dict(run.run)]))
