"""The figures of the sources, drawn anew: each is data, a ``[[figure]]`` of the tables beside this file.

A figure shows columns of some runs, or what runs measure over a gain, the links of a mechanism at equal intervals, or a
mechanism in a position with its points and lengths marked. Beside a picture of curves stands a table with their numbers,
and with the residuals, multipliers and integrals of their runs. What the source leaves out and had to be chosen is said in
the note beneath the picture.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from svyaz.arrays import Array
from svyaz.json_types import Json
from svyaz.motion import Motion, View, views_of, write_runs
from svyaz.show import Caption, Line, add_caption, lines_figure, save, scheme_figure, traces_plot, views_figure
from svyaz.study import sweep
from svyaz_published.measures import run_of
from svyaz_published.numbers import gallery_model, write_table
from svyaz_published.schemes import Scheme, placed

ROOM = 0.5
"""Inches for the title and the note of a picture that has none by itself."""

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
class Gains:
    """What runs measure over a gain ``vary``: from, to and the number of values, spaced evenly or by their logarithms, of each
    range. The source's parameter is ``times`` the gain, and called ``across``; the measure is called ``up``.

    With runs of the figure, each gives a curve: by how much the measure differs from the last value that the run has.
    """

    vary: str
    measure: str
    across: str
    up: str
    even: Sequence[Sequence[float]] = ()
    logarithmic: Sequence[Sequence[float]] = ()
    times: float = -1.0
    run: Mapping[str, Any] = field(default_factory=dict)

    @property
    def values(self) -> Array:
        """The gains, in order."""
        parts = [np.linspace(low, high, int(count)) for low, high, count in self.even]
        parts += [np.geomspace(low, high, int(count)) for low, high, count in self.logarithmic]
        return np.unique(np.concatenate(parts))


@dataclass(frozen=True)
class Picture:
    """A figure of a source: ``name`` is that of the source with the number of the figure, ``note`` what was chosen.

    Runs are shown by the columns to ``show``, by traces up to ``moments``, or compared ``over`` a gain; a ``scheme`` shows the
    variant of the model by ``choices`` in a position.
    """

    model: str
    name: str
    caption: str
    note: str = ""
    runs: Sequence[Run] = ()
    show: Sequence[str] = ()
    moments: Sequence[float] = ()
    over: Gains | None = None
    scheme: Scheme | None = None
    choices: Mapping[str, str] = field(default_factory=dict)
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
        head = f"{source}, figure {number.partition('-')[0]}: " if self.numbered else f"{source}: "
        return Caption(head + self.caption, self.note, self.names, self.units, self.equal, self.log)


PARTS: Mapping[str, Callable[..., Gains | Scheme]] = {"over": Gains, "scheme": Scheme}


def pictures_of(tables: Sequence[Mapping[str, object]]) -> list[Picture]:
    """The figures that the tables state; one that is ``like`` another has its runs."""
    found: dict[str, Picture] = {}
    for entry in tables:
        given: dict[str, Any] = dict(entry)
        like = found.get(str(given.pop("like", "")))
        runs = [Run(**run) for run in given.pop("run", [])] or (like.runs if like else [])
        given |= {key: made(**given[key]) for key, made in PARTS.items() if key in given}
        picture = Picture(**given, runs=tuple(runs))
        found[picture.name] = picture
    return list(found.values())


def draw(picture: Picture, folder: Path) -> list[Path]:
    """The picture, and the table of its numbers."""
    runs = {run.label: motion_of(picture, run) for run in picture.runs}
    figure = folder / f"{picture.name}.png"
    numbers = folder / f"{picture.name}.csv"
    if picture.scheme is not None:
        shown = placed(gallery_model(picture.model, picture.choices), picture.scheme)
        return [save(scheme_figure(*shown, picture.told), figure)]
    if picture.over is not None:
        lines = lines_over(picture, picture.over, runs)
        across = next(iter(lines.values()))[0]
        names = {label or picture.over.up: up for label, (_, up) in lines.items()}
        write_table(numbers, {picture.over.across: across, **names})
        return [save(lines_figure(lines, picture.over.across, picture.over.up, picture.told), figure), numbers]
    first = next(iter(runs.values()))
    views = views_of(first.system, picture.show)
    write_runs(numbers, runs, [*views, *(View(group) for group in HELD)])
    if not picture.moments:
        return [save(views_figure(runs, views, picture.told), figure), numbers]
    traces = traces_plot(first, picture.moments)
    traces.set_figheight(traces.get_figheight() + ROOM)
    add_caption(traces, picture.told)
    return [save(traces, figure), numbers]


def lines_over(picture: Picture, gains: Gains, runs: Mapping[str, Motion]) -> dict[str, Line]:
    """What is measured over the gain, by the names of the runs from whose last values it is counted."""
    system = gallery_model(picture.model)
    found = sweep(system, {gains.vary: gains.values}, [gains.measure], workers=1, **gains.run)
    done = found.marks("finished")
    measured = np.where(done, found.column(gains.measure), np.nan)
    across = gains.times * gains.values
    column = gains.measure.partition(".")[2]
    lines = {label: (across, np.abs(measured - run.column(column)[-1])) for label, run in runs.items()}
    return lines or {"": (across, measured)}


def motion_of(picture: Picture, run: Run) -> Motion:
    """The run of a figure; the same run of several figures is computed once."""
    return run_of(run.model or picture.model, json.dumps([dict(run.choices), dict(run.settings), dict(run.run)]))
