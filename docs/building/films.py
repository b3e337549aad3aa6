"""Pictures of motions as SVG: still ones, and films that browsers play by themselves. A few kilobytes each, without scripts."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from svyaz.arrays import Array
from svyaz.motion import Motion
from svyaz.show.scene import Item, Scene, bounds, build_scene, can_be_drawn, finite_span, flat, zigzag
from svyaz.show.style import COLOURS, INK, MUTED

FRAMES = 48
SIZE = 240  # pixels of the longer side
SHORTEST, LONGEST = 2.0, 8.0  # seconds of a film
GHOSTS = 5  # earlier positions in a still picture
POINT = 4.0


def still(motion: Motion) -> str:
    """The last position over the path and some positions before, from faint to full."""
    scene = _scene(motion)
    return _picture(scene, [*_traces(scene), *_ghosts(scene), *_parts(scene, [len(scene.times) - 1])], "")


def film(motion: Motion) -> str:
    """All moments one after the other, again and again, at the speed of the motion where that is neither slow nor fast."""
    scene = _scene(motion)
    return _picture(scene, [*_traces(scene), *_parts(scene, range(len(scene.times)))], _clock(scene))


def portrait(motion: Motion) -> str:
    """A film over the path and earlier positions, on white: also seen on dark pages, and where films stand still."""
    scene = _scene(motion)
    shapes = [*_traces(scene), *_ghosts(scene), *_parts(scene, range(len(scene.times)))]
    white = ('rect width="100%" height="100%" fill="#fff"', dict[str, list[str]]())
    return _picture(scene, [white, *shapes], _clock(scene))


def _scene(motion: Motion) -> Scene:
    """The mechanism; where nothing is said of its looks, a point that runs along the curve of two of its states."""
    start, end = finite_span(motion)
    times = np.linspace(start, end, FRAMES)
    if can_be_drawn(motion):
        return flat(build_scene(motion, times))
    moving = [k for k in range(len(motion.state_names)) if np.ptp(motion.states[:, k]) > 0][:2]
    columns = np.column_stack([np.interp(times, motion.times, motion.states[:, k]) for k in moving])
    columns = columns if columns.shape[1] == 2 else np.column_stack([times, columns])
    low, high = columns.min(axis=0), columns.max(axis=0)
    return Scene(
        times, (Item("point", ((columns - low) / np.where(high > low, high - low, 1))[:, None, :], trace=True),)
    )


def _clock(scene: Scene) -> str:
    seconds = float(np.clip(scene.times[-1] - scene.times[0], SHORTEST, LONGEST))
    return f'dur="{seconds:.2f}s" repeatCount="indefinite"'


class _Paper:
    """Where the plane of the mechanism lies on the picture."""

    def __init__(self, scene: Scene) -> None:
        low, high = bounds(scene)
        extent = np.maximum(high - low, 0.25 * float(np.max(high - low)))
        self.scale = SIZE / float(np.max(extent))
        self.width, self.height = (round(float(side) * self.scale) for side in extent)
        self.corner = (low + high) / 2 + np.array([-0.5, 0.5]) * extent

    def points(self, places: Array) -> str:
        """Pixels of points (p, 2)."""
        pixels = (places - self.corner) * self.scale * np.array([1, -1])
        return " ".join(f"{x:.4g},{y:.4g}" for x, y in pixels)


def _picture(scene: Scene, shapes: Iterable[tuple[str, dict[str, list[str]]]], clock: str) -> str:
    paper = _Paper(scene)
    inside = []
    for shape, moving in shapes:
        name = shape.split()[0]
        given = "".join(f' {key}="{values[0 if clock else -1]}"' for key, values in moving.items())
        running = [
            f'<animate attributeName="{key}" values="{";".join(values)}" {clock}/>'
            for key, values in moving.items()
            if clock and len(set(values)) > 1
        ]
        inside.append(f"<{shape}{given}>{''.join(running)}</{name}>" if running else f"<{shape}{given}/>")
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {paper.width} {paper.height}" fill="none"'
    size = f'width="{paper.width}" height="{paper.height}" stroke-linejoin="round" stroke-linecap="round"'
    return "\n".join([f"{head} {size}>", *inside, "</svg>", ""])


def _traces(scene: Scene) -> list[tuple[str, dict[str, list[str]]]]:
    paper, traced = _Paper(scene), [item for item in scene.items if item.trace]
    return [
        (
            f'polyline stroke="{COLOURS[k % len(COLOURS)]}" stroke-opacity=".6"',
            {"points": [paper.points(item.points[:, -1])]},
        )
        for k, item in enumerate(traced)
    ]


def _ghosts(scene: Scene) -> list[tuple[str, dict[str, list[str]]]]:
    rows = np.linspace(0, len(scene.times) - 1, GHOSTS + 1).astype(int)[:-1]
    paper = _Paper(scene)
    return [
        (
            f'polyline stroke="{MUTED}" stroke-opacity="{0.15 + 0.1 * k:.2f}"',
            {"points": [paper.points(item.points[row])]},
        )
        for k, row in enumerate(rows)
        for item in scene.items
        if item.kind == "link"
    ]


def _parts(scene: Scene, rows: Sequence[int]) -> list[tuple[str, dict[str, list[str]]]]:
    paper = _Paper(scene)
    return [
        part for item in sorted(scene.items, key=lambda item: item.kind == "point") for part in _part(item, rows, paper)
    ]


def _part(item: Item, rows: Sequence[int], paper: _Paper) -> list[tuple[str, dict[str, list[str]]]]:
    if item.kind in ("circle", "point"):
        middles = [paper.points(item.points[row, :1]).split(",") for row in rows]
        radii = [POINT if item.radius is None else abs(float(item.radius[row])) * paper.scale for row in rows]
        style = f'fill="{COLOURS[1]}"' if item.kind == "point" else f'stroke="{INK}" stroke-width="1.6"'
        moving = {"cx": [x for x, _ in middles], "cy": [y for _, y in middles], "r": [f"{r:.4g}" for r in radii]}
        return [(f"circle {style}", moving)]
    if item.kind == "spring":
        pairs = pairwise(range(item.points.shape[1]))
        lines = [[zigzag(item.points[row, [a, b]]) for row in rows] for a, b in pairs]
        return [
            (f'polyline stroke="{MUTED}" stroke-width="1.4"', {"points": [paper.points(p) for p in line]})
            for line in lines
        ]
    return [(f'polyline stroke="{INK}" stroke-width="2"', {"points": [paper.points(item.points[row]) for row in rows]})]


if __name__ == "__main__":  # MODEL FILE: the picture of README
    import svyaz

    Path(sys.argv[2]).write_text(portrait(svyaz.load(sys.argv[1]).simulate()), encoding="utf-8")
