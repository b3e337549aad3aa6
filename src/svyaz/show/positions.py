"""A mechanism in several positions side by side, without a motion."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from svyaz.show.plots import panel_size, save
from svyaz.show.scene import Scene, build_scene, draw_position, flat, prepare_axes
from svyaz.show.style import in_own_style, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from svyaz.model import System

MOST_PANELS = 12
"""More positions than this are not drawn: the panels would be too small."""


@dataclass(frozen=True)
class Position:
    """A system in a state, under a title; systems may differ in their parameters, not in their drawings."""

    title: str
    system: System
    state: Mapping[str, float]


def positions_scene(positions: Sequence[Position]) -> Scene:
    """The drawings in each of the positions, as rows of a scene."""
    scenes = [_scene(position.system, position.state) for position in positions]
    items = []
    for parts in zip(*(scene.items for scene in scenes), strict=True):
        radii = [part.radius for part in parts if part.radius is not None]
        points = np.concatenate([part.points for part in parts])
        items.append(replace(parts[0], points=points, radius=np.concatenate(radii) if radii else None))
    return flat(Scene(np.arange(len(scenes), dtype=float), tuple(items)))


def _scene(system: System, state: Mapping[str, float]) -> Scene:
    from svyaz.integrate import Status
    from svyaz.motion import Motion

    names = (*system.coordinates, *system.rates)
    row = np.array([[float(state.get(name, 0.0)) for name in names]])
    return build_scene(Motion(system, "", "", None, None, Status.FINISHED, "", np.zeros(1), row, names))


@in_own_style
def positions_figure(positions: Sequence[Position]) -> Figure:
    """A panel for each position under its title, all on one scale."""
    shown = list(positions)[:MOST_PANELS]
    scene = positions_scene(shown)
    columns = min(len(shown), 4)
    rows = -(-len(shown) // columns)
    figure = new_figure(*panel_size(scene, columns, rows))
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for k, position in enumerate(shown):
        prepare_axes(panels[k], scene)
        draw_position(panels[k], scene, k)
        panels[k].set_title(position.title, fontweight="normal")
        panels[k].label_outer()
    for axes in panels[len(shown) :]:
        axes.set_axis_off()
    return figure


def plot_positions(positions: Sequence[Position], file: str | os.PathLike[str]) -> Path:
    """Write the figure of the positions."""
    return save(positions_figure(positions), file)
