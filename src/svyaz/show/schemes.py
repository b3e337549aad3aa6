"""A mechanism in one position as a textbook draws it: points, lengths and angles with their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from svyaz.arrays import Array
from svyaz.show.plots import panel_size
from svyaz.show.positions import Position, positions_scene
from svyaz.show.scene import draw_position, prepare_axes
from svyaz.show.style import COLOURS, INK, MUTED, in_own_style, new_figure
from svyaz.show.views import Caption, add_caption

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SLANTED = 0.6
"""Cosine of the direction beyond which the name of an angle begins or ends beside its arc."""

NEAR = 11.0
"""Points of the printer between a point and its name."""


@dataclass(frozen=True)
class Named:
    """A point under a name, which stands in the direction ``side`` (degrees, counted from the right)."""

    name: str
    at: Array
    side: float = 90.0


@dataclass(frozen=True)
class Length:
    """A length between two points; its line is moved to the left of the way from the first to the second by ``aside``."""

    name: str
    ends: Array
    aside: float = 0.0


@dataclass(frozen=True)
class Angle:
    """An angle about a point from one direction to another (radians)."""

    name: str
    at: Array
    start: float
    end: float
    radius: float


@dataclass(frozen=True)
class Marks:
    """What is written into a scheme; ``lines`` are thin helping lines, with names at their ends."""

    points: Sequence[Named] = ()
    lengths: Sequence[Length] = ()
    angles: Sequence[Angle] = ()
    lines: Sequence[tuple[str, Array]] = ()


@in_own_style
def scheme_figure(position: Position, marks: Marks, caption: Caption) -> Figure:
    """The mechanism with its marks, without numbers on the axes."""
    scene = positions_scene([position])
    width, height = panel_size(scene, 1, 1)
    figure = new_figure(max(width, 7.0), height + 1.2)
    axes = figure.subplots()
    prepare_axes(axes, scene)
    axes.set_axis_off()
    draw_position(axes, scene, 0)
    for name, ends in marks.lines:
        axes.plot(*ends.T, color=MUTED, linewidth=0.9, linestyle=(0, (5, 4)), zorder=1)
        axes.annotate(name, ends[1], (4, 4), textcoords="offset points", color=MUTED, fontsize=12)
    for length in marks.lengths:
        _length(axes, length)
    for angle in marks.angles:
        _angle(axes, angle)
    for point in marks.points:
        away = NEAR * np.array([np.cos(np.radians(point.side)), np.sin(np.radians(point.side))])
        axes.plot(*point.at, "o", color=INK, markersize=3.5, zorder=6)
        axes.annotate(
            point.name, _pair(point.at), _pair(away), textcoords="offset points", ha="center", va="center", fontsize=12
        )
    axes.relim()
    axes.autoscale(tight=False)
    axes.margins(0.08)
    add_caption(figure, caption)
    return figure


def _pair(point: Array) -> tuple[float, float]:
    return float(point[0]), float(point[1])


def _length(axes: Axes, length: Length) -> None:
    """A line with arrows at both ends, and the name upon it."""
    way = length.ends[1] - length.ends[0]
    across = np.array([-way[1], way[0]]) / np.linalg.norm(way)
    ends = length.ends + length.aside * across
    for stated, moved in zip(length.ends, ends, strict=True):
        axes.plot(*np.array([stated, moved]).T, color=MUTED, linewidth=0.6, zorder=1)
    arrow = {
        "arrowstyle": "<|-|>",
        "color": COLOURS[0],
        "linewidth": 0.9,
        "shrinkA": 0,
        "shrinkB": 0,
        "mutation_scale": 8,
    }
    axes.annotate("", ends[1], ends[0], arrowprops=arrow, zorder=3)
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1.2}
    axes.text(
        *_pair(ends.mean(axis=0)),
        length.name,
        color=COLOURS[0],
        fontsize=12,
        ha="center",
        va="center",
        bbox=box,
        zorder=7,
    )


def _angle(axes: Axes, angle: Angle) -> None:
    """An arc with an arrow at its end, and the name beside its middle."""
    turn = np.linspace(angle.start, angle.end, 60)
    arc = angle.at + angle.radius * np.column_stack([np.cos(turn), np.sin(turn)])
    axes.plot(*arc.T, color=COLOURS[1], linewidth=1.1, zorder=3)
    arrow = {
        "arrowstyle": "-|>",
        "color": COLOURS[1],
        "linewidth": 1.1,
        "shrinkA": 0,
        "shrinkB": 0,
        "mutation_scale": 8,
    }
    axes.annotate("", arc[-1], arc[-4], arrowprops=arrow, zorder=3)
    middle = (angle.start + angle.end) / 2
    away = (0.6 * NEAR * np.cos(middle), 0.6 * NEAR * np.sin(middle))
    side = "left" if np.cos(middle) > SLANTED else "right" if np.cos(middle) < -SLANTED else "center"
    axes.annotate(
        angle.name, arc[30], away, textcoords="offset points", color=COLOURS[1], fontsize=12, ha=side, va="center"
    )
