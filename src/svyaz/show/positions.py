"""A mechanism in several positions side by side, without a motion."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from svyaz.show.mechanism import draw_position, prepare_axes
from svyaz.show.plots import panel_size, save
from svyaz.show.scene import Scene, build_scene, flat
from svyaz.show.style import new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from svyaz.model import System

MOST_PANELS = 12
"""More positions than this are not drawn: the panels would be too small."""


def positions_scene(system: System, states: Sequence[Mapping[str, float]]) -> Scene:
    """The drawings of the system in each of the states, as rows of a scene."""
    from svyaz.motion.result import Motion

    names = (*system.coordinates, *system.rates)
    rows = np.array([[float(state.get(name, 0.0)) for name in names] for state in states])
    times = np.arange(len(rows), dtype=float)
    motion = Motion(system, "", "", None, None, "finished", "", times, rows, names)
    return flat(build_scene(motion))


@styled
def positions_figure(system: System, positions: Sequence[tuple[str, Mapping[str, float]]]) -> Figure:
    """A panel for each position under its title, all on one scale."""
    if not system.drawings:
        raise ValueError(f"'{system.name}' says nothing of its looks: add [[draw]] tables to the model")
    shown = list(positions)[:MOST_PANELS]
    scene = positions_scene(system, [state for _, state in shown])
    columns = min(len(shown), 4)
    rows = -(-len(shown) // columns)
    figure = new_figure(*panel_size(scene, columns, rows))
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for k, (title, _) in enumerate(shown):
        prepare_axes(panels[k], scene)
        draw_position(panels[k], scene, k)
        panels[k].set_title(title, fontweight="normal")
        panels[k].label_outer()
    for axes in panels[len(shown) :]:
        axes.set_axis_off()
    return figure


def plot_positions(
    system: System, positions: Sequence[tuple[str, Mapping[str, float]]], file: str | os.PathLike[str]
) -> Path:
    """Write the figure of the positions."""
    return save(positions_figure(system, positions), file)
