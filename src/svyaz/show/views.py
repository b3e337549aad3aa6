"""One or several runs in one picture: a panel for each view, a colour for each run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import is_name
from svyaz.motion import GROUPS, along, deviation_of, multiplier_of, residual_of
from svyaz.show import style
from svyaz.show.curves import borders, curve, dense, fit, scale
from svyaz.show.plots import USUAL, check_plot_file, chosen, save
from svyaz.show.style import (
    COLOURS,
    DASHES,
    MOST_CURVES,
    MUTED,
    Look,
    Looks,
    in_own_style,
    in_style,
    ink,
    label,
    legend,
    limit_bands,
    look,
    new_figure,
    plain_text,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from svyaz.motion import Motion, View

HIGHEST = 3.0
"""Runs that fail are shown up to so many times the height of those that do not."""

MOST_OF_A_RUN = 6
"""So many columns of each of several runs are drawn into a panel."""

PANEL = 2.6
"""Height of a panel, in inches."""

FEW_POINTS = 80
"""Curves of so many points show them."""

WIDE = 5.0
"""Numbers whose largest is so many times their median are spread by powers of ten."""

LETTERS, TITLE_LETTERS = 15, 10
"""So many letters of a note, and of a title, stand on an inch."""


@dataclass(frozen=True)
class Caption:
    """What is written about a picture: its title, a note beneath it, names of the axes other than those of their columns,
    units by name, whether lengths to the right and upwards are the same, and whether powers of ten are."""

    title: str = ""
    note: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    equal: bool = False
    log: bool = False

    def axis(self, text: str) -> str:
        """How a quantity is written at its axis: as in formulas, with its unit."""
        plain = text in GROUPS or not is_name(text.rstrip("'"))
        told = self.names.get(text, plain_text(text) if plain else label(text))
        return f"{told}, {self.units[text]}" if text in self.units else told


@in_own_style
def views_figure(
    runs: Mapping[str, Motion], views: Sequence[View], caption: Caption | None = None, looks: Looks = USUAL
) -> Figure:
    """A panel for each view. Runs of a single column differ in colour; of several columns, runs differ in their dashes."""
    runs = {run: dense(motion) for run, motion in runs.items()}
    told = caption or _usual_caption(next(iter(runs.values())), views, looks)
    timed = all(view.across == "t" for view in views)
    width = 6.2 if told.equal else 8.0
    figure = looks.figure(width, PANEL * len(views) * (1.6 if told.equal else 1.0) + 1.0)
    grid = list(figure.subplots(len(views), 1, sharex=timed, squeeze=False)[:, 0])
    for axes, view in zip(grid, views, strict=True):
        _panel(axes, runs, view, told, looks)
        if view is views[-1] or not timed:
            axes.set_xlabel(told.axis(view.across))
    _legends(grid)
    add_caption(figure, told)
    return figure


Line = tuple[Array, Array]
"""Numbers to the right and upwards."""


@in_own_style
def lines_figure(lines: Mapping[str, Line], across: str, up: str, caption: Caption) -> Figure:
    """Curves by their names over one axis; what spans powers of ten to the right is spread by them, on both sides of zero."""
    figure = new_figure(8.0, PANEL + 1.0)
    axes = figure.subplots()
    axes.margins(x=0.01)
    for k, (name, (right, upwards)) in enumerate(lines.items()):
        marker = "o" if len(right) <= FEW_POINTS else None
        axes.plot(right, upwards, label=name or None, marker=marker, markersize=3, **_of_run(k, 0, 1))
    sizes = np.abs(np.concatenate([right for right, _ in lines.values()]))
    if sizes.max() > WIDE * np.median(sizes):
        axes.set_xscale("symlog", linthresh=1.0)
    if caption.log:
        axes.set_yscale("log")
    axes.set(xlabel=caption.axis(across), ylabel=caption.axis(up))
    legend(axes)
    add_caption(figure, caption)
    return figure


def add_caption(figure: Figure, caption: Caption) -> None:
    """Title above and note beneath a figure, which has room for both."""
    if caption.title:
        title = fill(caption.title, int(TITLE_LETTERS * figure.get_figwidth()))
        figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold", color=ink())
    if caption.note:
        note = fill(caption.note, int(LETTERS * figure.get_figwidth()))
        figure.supxlabel(note, x=0.01, ha="left", fontsize=8.5, color=MUTED)


def _usual_caption(motion: Motion, views: Sequence[View], looks: Looks) -> Caption:
    """The name of the system, and units as far as they are known."""
    names = {name for view in views for name in (view.across, view.up, *view.columns(motion))}
    units = {name: scale(motion.system, name, looks).unit for name in names if is_name(name.rstrip("'"))}
    return Caption(plain_text(motion.system.name), units={name: unit for name, unit in units.items() if unit})


def _panel(axes: Axes, runs: Mapping[str, Motion], view: View, caption: Caption, looks: Looks) -> None:
    logarithmic = view.small or caption.log
    names = list(dict.fromkeys(name for motion in runs.values() for name in view.columns(motion)))
    shown = chosen(names, MOST_CURVES if len(runs) == 1 else MOST_OF_A_RUN)
    axes.margins(x=0.01)
    for k, (run, motion) in enumerate(runs.items()):
        columns = view.columns(motion)
        across = scale(motion.system, view.across, looks).factor * along(motion, view.across)
        for j, name in enumerate(name for name in shown if name in columns):
            values = np.abs(columns[name]) if logarithmic else scale(motion.system, name, looks).factor * columns[name]
            right, values = curve(motion, across, values)
            values = np.where(values > 0, values, np.nan) if logarithmic else values
            words = [plain_text(run) if len(names) == 1 and len(runs) > 1 else ""]
            words += [_own(name, caption)] if len(names) > 1 and k == 0 else []
            words += ["zero"] if any(words) and logarithmic and not np.isfinite(values).any() else []
            own = look(j) if len(runs) == 1 else _of_run(k, j, len(names))
            axes.plot(right, values, label=", ".join(filter(None, words)) or None, **own)
        if len(names) > 1 and len(runs) > 1:
            axes.plot([], [], label=plain_text(run), color=MUTED, linestyle=DASHES[k % len(DASHES)])
        if view.across == "t" and len(runs) == 1:
            borders(axes, motion)
    if len(runs) > 1:
        _scale(axes, [motion for motion in runs.values() if motion.finished], view, logarithmic, looks)
    else:
        _fit(axes, next(iter(runs.values())), view, shown, logarithmic, looks)
    told = caption.axis(view.up if len(names) > 1 else next(iter(names), view.up))
    axes.set_ylabel(told if len(shown) == len(names) else f"{told} ({len(shown)} of {len(names)})")
    if caption.equal:
        axes.set_aspect("equal", adjustable="datalim")


def _own(name: str, caption: Caption) -> str:
    """The name of a column within its group: of ``residual blade`` the blade."""
    of = next((of("") for of in (residual_of, multiplier_of, deviation_of) if name.startswith(of(""))), None)
    return caption.axis(name) if of is None else plain_text(name.removeprefix(of))


def _of_run(run: int, column: int, columns: int) -> Look:
    """Colours tell single columns of several runs apart; where there are several columns, dashes tell the runs apart."""
    return {"color": COLOURS[(column if columns > 1 else run) % len(COLOURS)], "linestyle": DASHES[run % len(DASHES)]}


def _legends(grid: Sequence[Axes]) -> None:
    """A legend at each panel whose names differ from those of the panel above it."""
    above: list[str] = []
    for axes in grid:
        names = axes.get_legend_handles_labels()[1]
        if names != above:
            legend(axes)
        above = names or above


def _fit(axes: Axes, motion: Motion, view: View, shown: Sequence[str], logarithmic: bool, looks: Looks) -> None:
    """Heights at which all curves of one run are seen, and the limits of the model."""
    lines = [
        np.asarray(line.get_ydata(), dtype=float) for line in axes.get_lines() if line.get_transform() == axes.transData
    ]
    drawn = np.concatenate(lines)
    if logarithmic:
        if np.isfinite(drawn).any():
            style.logarithmic(axes)
        return
    fit(axes, drawn, motion.finished)
    factors = {name: scale(motion.system, name, looks).factor for name in shown}
    found = [(name, motion.limits[name], look(j)["color"]) for j, name in enumerate(shown) if name in motion.limits]
    limit_bands(
        axes, [(factors[name] * reach.low, factors[name] * reach.high, colour) for name, reach, colour in found]
    )


def _scale(axes: Axes, shown: Sequence[Motion], view: View, logarithmic: bool, looks: Looks) -> None:
    """A logarithmic axis for sizes; runs that failed must not hide the others."""
    lines = {
        "x": [scale(m.system, view.across, looks).factor * along(m, view.across) for m in shown],
        "y": [scale(m.system, name, looks).factor * c for m in shown for name, c in view.columns(m).items()],
    }
    for side, columns in lines.items():
        found = np.concatenate([column[np.isfinite(column)] for column in columns]) if columns else np.empty(0)
        if side == "y" and logarithmic:
            if (found != 0).any():
                style.logarithmic(axes)
            continue
        bottom, top = axes.get_xlim() if side == "x" else axes.get_ylim()
        if len(found):
            low, high = float(found.min()), float(found.max())
            room = HIGHEST * max(high - low, 1e-300)
            ends = (bottom if bottom > low - room else low - room / 6, top if top < high + room else high + room / 6)
            if ends != (bottom, top):
                axes.set(**{f"{side}lim": ends})


def plot_views(
    runs: Mapping[str, Motion], views: Sequence[View], file: str | os.PathLike[str], looks: Looks = USUAL
) -> Path:
    """Write the figure of the views."""
    check_plot_file(file)
    with in_style(looks):
        return save(views_figure(runs, views, looks=looks), file)
