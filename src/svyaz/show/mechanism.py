"""Parts of a mechanism drawn on the axes of a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from svyaz.show.scene import Array, Item, Scene, bounds, zigzag
from svyaz.show.style import COLOURS, GRID, INK, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW_LINKS = 15  # joints are marked on mechanisms of up to so many links; more would be a row of dots


def prepare_axes(axes: Axes, scene: Scene) -> None:
    """Equal scales, room for the whole motion; a projection has no numbers on its axes."""
    low, high = bounds(scene)
    axes.set_aspect("equal", adjustable="box")
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    if scene.projected:
        axes.set_xticks([])
        axes.set_yticks([])
        axes.spines[:].set_visible(False)
        _draw_triad(axes, scene)
    else:
        axes.set_xlabel("$x$")
        axes.set_ylabel("$y$")


def _draw_triad(axes: Axes, scene: Scene) -> None:
    """The axes of space, where they are in the picture."""
    if scene.triad is None:
        return
    origin = scene.triad[0]
    for name, end in zip("xyz", scene.triad[1:], strict=True):
        axes.plot(*np.column_stack([origin, end]), color=GRID, linewidth=1.4, zorder=1)
        axes.annotate(f"${name}$", end, color=MUTED, fontsize=8, clip_on=True, annotation_clip=True)


def draw_links(axes: Axes, scene: Scene, rows: NDArray[np.intp]) -> None:
    """Links at all these rows of the scene, from faint for the first to full for the last."""
    import matplotlib as mpl
    from matplotlib.collections import LineCollection

    colours = mpl.colormaps["YlGnBu"](np.linspace(0.25, 0.95, len(rows)))
    for item in scene.items:
        if item.kind == "link":
            lines = [item.points[k] for k in rows]
            axes.add_collection(LineCollection(lines, colors=colours, linewidths=0.9), autolim=False)


def draw_position(axes: Axes, scene: Scene, row: int) -> None:
    """The mechanism at one moment."""
    from matplotlib.patches import Circle

    joints = sum(item.kind == "link" for item in scene.items) <= FEW_LINKS
    for item in scene.items:
        if item.kind == "circle":
            radius = 0.0 if item.radius is None else float(item.radius[row])
            x, y = item.points[row, 0]
            axes.add_patch(Circle((x, y), radius, fill=False, edgecolor=INK, linewidth=1.6, zorder=4))
        elif item.kind == "point":
            axes.plot(*item.points[row, 0], "o", color=COLOURS[1], markersize=6, zorder=6)
        else:
            line = _polyline(item, row)
            axes.plot(line[:, 0], line[:, 1], color=INK if item.kind == "link" else MUTED, linewidth=1.8, zorder=4)
            if joints and item.kind == "link":
                ends = item.points[row]
                axes.plot(ends[:, 0], ends[:, 1], "o", color="white", markeredgecolor=INK, markersize=4, zorder=5)


def traced_paths(scene: Scene) -> list[tuple[str, Array]]:
    """Name and path (k, 2) of what leaves a trace: a point, the centre of a circle, the last point of a link."""
    return [(item.name, item.points[:, -1]) for item in scene.items if item.trace]


def _polyline(item: Item, row: int) -> Array:
    corners = item.points[row]
    if item.kind != "spring":
        return corners
    pieces = [zigzag(corners[k : k + 2]) for k in range(len(corners) - 1)]
    return np.concatenate(pieces)
