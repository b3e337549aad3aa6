"""Figures of a motion. Every function gives a matplotlib Figure of its own; ``save`` writes it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from svyaz.files import whole
from svyaz.model import Canonical
from svyaz.show.curves import axis_label, borders, curve, dense, fit, scale
from svyaz.show.files import check_folder_of, suffix_of
from svyaz.show.scene import (
    Array,
    Scene,
    bounds,
    build_scene,
    draw_links,
    draw_position,
    finite_span,
    flat,
    paths_of_traces,
    prepare_axes,
)
from svyaz.show.style import (
    MOST_CURVES,
    MUTED,
    SETTINGS,
    Looks,
    in_own_style,
    label,
    legend,
    limit_bands,
    logarithmic,
    look,
    new_figure,
    panels,
    plain_text,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from svyaz.motion import Motion

SUFFIXES = (".png", ".svg", ".pdf")
TRACE_ROWS = 2000
POSITIONS_A_PANEL = 10
USUAL = Looks()


def save(figure: Figure, path: str | os.PathLike[str]) -> Path:
    """Writes a figure as .png, .svg or .pdf; the file appears whole or not at all."""
    suffix = suffix_of(path, SUFFIXES, "a figure")
    with whole(path) as temporary:
        save_to(figure, temporary, suffix)
    return Path(path)


# Without a date in them, the same figure gives the same bytes.
_UNDATED: dict[str, dict[str, None]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {}}


def save_to(figure: Figure, target: Path | BinaryIO, suffix: str, transparent: bool = False) -> None:
    """Writes a figure to a file or an open stream in the style of this module."""
    import matplotlib as mpl

    with mpl.rc_context(SETTINGS):
        figure.savefig(target, format=suffix[1:], metadata=_UNDATED[suffix], transparent=transparent)


def chosen(names: Sequence[str], most: int = MOST_CURVES) -> list[str]:
    """At most so many names, the first and the last among them, evenly picked."""
    if len(names) <= most:
        return list(names)
    return [names[k] for k in np.unique(np.linspace(0, len(names) - 1, most).round().astype(int))]


def _count_note(names: Sequence[str], most: int = MOST_CURVES) -> str:
    return f" ({most} of {len(names)})" if len(names) > most else ""


def columns_panel(axes: Axes, motion: Motion, names: Sequence[str], title: str, looks: Looks) -> None:
    """The named columns against time, with the limits of the model."""
    shown = chosen(names)
    scales = {name: scale(motion.system, name, looks) for name in shown}
    drawn = [curve(motion, motion.times, scales[name].factor * motion.column(name)) for name in shown]
    units = {told.unit for told in scales.values()}
    alike = units if len(units) == 1 else set()
    for k, (name, line) in enumerate(zip(shown, drawn, strict=True)):
        axes.plot(*line, label=label(name) if alike else scales[name].told(label(name)), **look(k))
    cut = fit(axes, np.concatenate([line.up for line in drawn]), motion.finished) if drawn else ""
    bands = []
    for k, name in enumerate(shown):
        if name in motion.limits:
            reach, factor = motion.limits[name], scales[name].factor
            bands.append((factor * reach.low, factor * reach.high, look(k)["color"]))
    limit_bands(axes, bands)
    axes.set_title(title + _count_note(names) + cut)
    axes.set_ylabel("".join(alike))
    mark_time_axis(axes, motion)
    legend(axes)


def mark_time_axis(axes: Axes, motion: Motion) -> None:
    """The axis of time, with the moments at which something happens."""
    axes.set_xlabel(axis_label(motion.system, "t", USUAL))
    first, last = motion.times[0], motion.times[-1]
    room = 0.01 * (last - first) or 0.5
    axes.set_xlim(first - room, last + room)
    borders(axes, motion)


@in_own_style
def time_plot(motion: Motion, names: Sequence[str], title: str = "", looks: Looks = USUAL) -> Figure:
    """The named columns against time, a panel for those of each unit."""
    groups = by_unit(motion, names, looks)
    figure = looks.figure(8.0, 4.0 if len(groups) == 1 else 2.8 * len(groups) + 0.4)
    for axes, group in zip(panels(figure, len(groups), 1), groups, strict=True):
        columns_panel(axes, dense(motion), group, title, looks)
    return figure


def by_unit(motion: Motion, names: Sequence[str], looks: Looks) -> list[list[str]]:
    """The columns, those of one unit together."""
    units = {name: scale(motion.system, name, looks).unit for name in names}
    return [[name for name in names if units[name] == unit] for unit in dict.fromkeys(units.values())] or [[]]


def coordinates_plot(motion: Motion) -> Figure:
    """All coordinates against time (states, for a plain system of differential equations)."""
    return time_plot(motion, coordinate_names(motion), "Coordinates")


def velocities_plot(motion: Motion) -> Figure:
    """Everything in the state that is not a coordinate against time."""
    return time_plot(motion, velocity_names(motion), velocities_title(motion))


def velocities_title(motion: Motion) -> str:
    """What the states are that are no coordinates: velocities, momenta, further states."""
    names, speeds = velocity_names(motion), set(motion.system.velocities)
    momenta = set(motion.system.law.momenta) if isinstance(motion.system.law, Canonical) else set()
    kinds = {"velocities": speeds, "momenta": momenta, "further states": set(names) - speeds - momenta}
    return " and ".join(kind for kind, known in kinds.items() if known & set(names)).capitalize()


def coordinate_names(motion: Motion) -> list[str]:
    """Columns that are coordinates; all columns where the system has none."""
    return [name for name in motion.state_names if name in motion.system.coordinates] or list(motion.state_names)


def velocity_names(motion: Motion) -> list[str]:
    """The other columns, without anchors, which jump at events and rest between them."""
    anchors = {name for c in motion.system.constraints for name, _ in c.anchors}
    found = set(coordinate_names(motion)) | anchors
    return [name for name in motion.state_names if name not in found]


def magnitudes(axes: Axes, motion: Motion, series: Mapping[str, Array]) -> None:
    """Absolute values on a logarithmic axis; exact zeros have no place on it and are left out."""
    shown = chosen(list(series))
    empty = True
    for k, name in enumerate(shown):
        line = curve(motion, motion.times, np.abs(np.asarray(series[name], dtype=float)))
        size = np.where(line.up > 0, line.up, np.nan)
        zero = not np.isfinite(size).any()
        empty = empty and zero
        shown_name = f"{name} (zero)" if zero and name else name
        axes.plot(line.right, size, label=plain_text(shown_name) or None, linewidth=1.1, **look(k))
    axes.margins(x=0.01)
    if empty:
        axes.text(0.5, 0.5, "exactly zero", transform=axes.transAxes, ha="center", va="center", color=MUTED)
        axes.set_yticks([])
    else:
        logarithmic(axes)
    legend(axes)


@in_own_style
def residuals_plot(motion: Motion) -> Figure:
    """How far constraints are from being satisfied, and integrals from their values, on a logarithmic scale."""
    figure = new_figure()
    axes = figure.subplots()
    off = {**motion.residuals, **motion.deviations}
    magnitudes(axes, motion, off)
    kinds = {"residuals of the constraints": motion.residuals, "deviations of integrals": motion.deviations}
    axes.set_title(" and ".join(kind for kind, table in kinds.items() if table).capitalize() + _count_note(list(off)))
    axes.set_xlabel(axis_label(motion.system, "t", USUAL))
    return figure


@in_own_style
def multipliers_plot(motion: Motion) -> Figure:
    """The multipliers of the constraints against time."""
    figure = new_figure()
    axes = figure.subplots()
    multipliers_panel(axes, dense(motion))
    return figure


def multipliers_panel(axes: Axes, motion: Motion) -> None:
    """The multipliers that are known, against time."""
    known = [name for name, values in motion.multipliers.items() if np.isfinite(values).any()]
    for k, name in enumerate(chosen(known)):
        axes.plot(*curve(motion, motion.times, motion.multipliers[name]), label=plain_text(name), **look(k))
    axes.set_title("Multipliers" + _count_note(known) + _not_determined(motion))
    mark_time_axis(axes, motion)
    legend(axes)


def _not_determined(motion: Motion) -> str:
    names = chosen(list(motion.undetermined))
    more = ", …" if len(names) < len(motion.undetermined) else ""
    return f"; not determined: {', '.join(names)}{more}" if names else ""


@in_own_style
def phase_plot(motion: Motion) -> Figure:
    """Velocity against coordinate, a panel for each of up to six coordinates."""
    motion = dense(motion)
    names = [name for name in coordinate_names(motion) if name + "'" in motion.state_names]
    shown = chosen(names, 6)
    columns = min(3, max(len(shown), 1)) if len(shown) != 4 else 2
    figure = new_figure(3.2 * columns if columns > 1 else 4.6, 2.8 * -(-len(shown) // columns) + 0.3)
    for axes, name in zip(panels(figure, len(shown), columns), shown, strict=True):
        place, speed = motion.column(name), motion.column(name + "'")
        axes.plot(*curve(motion, place, speed), color=look(0)["color"], linewidth=1.1)
        axes.plot(*curve(motion, place[:1], speed[:1]), "o", color=look(1)["color"], markersize=5)
        axes.locator_params(nbins=5)
        axes.set_xlabel(axis_label(motion.system, name, USUAL))
        axes.set_ylabel(axis_label(motion.system, name + "'", USUAL))
    figure.suptitle("Phase plane" + _count_note(names, 6), x=0.01, ha="left", fontsize=11, fontweight="bold")
    return figure


def sample_scene(motion: Motion) -> Scene:
    """The scene at every stored moment, or at equal intervals where there are very many."""
    motion = dense(motion)
    if len(motion.times) <= TRACE_ROWS:
        return flat(build_scene(motion))
    return flat(build_scene(motion, np.linspace(*finite_span(motion), TRACE_ROWS)))


def path_panel(axes: Axes, scene: Scene) -> None:
    """Paths of the parts marked ``trace``, and the last position."""
    prepare_axes(axes, scene)
    for k, (name, path) in enumerate(paths_of_traces(scene)):
        axes.plot(path[:, 0], path[:, 1], label=plain_text(name) or None, linewidth=1.1, **look(k))
    if len(scene.times):
        draw_position(axes, scene, len(scene.times) - 1)
    axes.set_title("Path" if paths_of_traces(scene) else "Last position")
    legend(axes)


@in_own_style
def planar_path(motion: Motion) -> Figure:
    """Paths of the parts marked ``trace``, with the mechanism in its last position; equal scales."""
    scene = sample_scene(motion)
    figure = new_figure(*panel_size(scene, 1, 1))
    path_panel(figure.subplots(), scene)
    return figure


@in_own_style
def traces_plot(motion: Motion, moments: Iterable[float] | None = None) -> Figure:
    """Links at equal intervals of time from the start up to each moment, a panel for each; by default the quarters.

    The interval is a tenth of the first moment, the same in all panels; the last position is drawn strongly.
    """
    start, end = finite_span(motion)
    ends = start + (end - start) * np.arange(1, 5) / 4 if moments is None else np.array(sorted(moments), dtype=float)
    ends = ends[(ends > start) & (ends <= end * (1 + 1e-12))]
    if not len(ends):
        raise ValueError(f"none of the moments lies within the motion, which lasts from {start:g} to {end:g}")
    interval = (ends[0] - start) / POSITIONS_A_PANEL
    times = start + interval * np.arange(int((ends[-1] - start) / interval + 1e-9) + 1)
    scene = flat(build_scene(motion, times))
    columns = min(len(ends), 4 if len(ends) % 2 == 0 else 3)
    figure = new_figure(*panel_size(scene, columns, -(-len(ends) // columns)))
    for axes, moment in zip(panels(figure, len(ends), columns), ends, strict=True):
        last = int(np.searchsorted(times, moment * (1 + 1e-9), side="right")) - 1
        shown = np.arange(last + 1)
        prepare_axes(axes, scene)
        draw_links(axes, scene, shown)
        draw_position(axes, scene, last)
        axes.set_title(f"0 ≤ $t$ ≤ {moment:g}" if start == 0 else f"{start:g} ≤ $t$ ≤ {moment:g}", fontweight="normal")
        axes.label_outer()
    return figure


def panel_size(scene: Scene, columns: int, rows: int) -> tuple[float, float]:
    """Size of a figure whose panels have the proportions of the scene."""
    low, high = bounds(scene)
    ratio = float(np.clip((high[1] - low[1]) / (high[0] - low[0]), 0.4, 1.8))
    width = min(11.0 / columns, 6.5)
    height = min(width * ratio, 10.0 / rows)
    return max(height / ratio * columns, 4.0), height * rows + 0.8


def check_plot_file(file: str | os.PathLike[str]) -> str:
    """The suffix of a figure that can be written here; ValueError or OSError otherwise, before anything is computed."""
    suffix = suffix_of(file, SUFFIXES, "a figure")
    check_folder_of(file)
    return suffix
