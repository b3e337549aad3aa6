"""Mechanisms as arrays of points, for a page to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from svyaz.model import System
    from svyaz.motion import Motion
    from svyaz.show import Scene

FRAMES = 361
MOST_NUMBERS = 300_000
"""Coordinates in a picture that moves; a mechanism of very many parts gets fewer frames."""


def motion_drawn(motion: Motion) -> object:
    """The mechanism along a motion at equal intervals; None where it cannot be drawn."""
    from svyaz.show import build_scene, can_be_drawn, finite_span

    if not can_be_drawn(motion):
        return None
    start, end = finite_span(motion)
    numbers = sum(np.size(d.points) for d in motion.system.drawings)
    count = int(np.clip(MOST_NUMBERS // max(numbers, 1), 24, FRAMES)) if end > start else 1
    return _record(build_scene(motion, np.linspace(start, end, count)))


def positions_drawn(positions: Sequence[tuple[System, Mapping[str, float]]]) -> object:
    """The mechanism in several positions, as frames of one picture; None where it is nowhere."""
    from svyaz.show import Position, positions_scene

    scene = positions_scene([Position("", system, state) for system, state in positions])
    finite = all(np.isfinite(item.points).all() for item in scene.items)
    return _record(scene) if finite and len(scene.times) else None


def _record(scene: Scene) -> Mapping[str, object]:
    from svyaz.show import bounds, timing

    low, high = bounds(scene)
    start, end = float(scene.times[0]), float(scene.times[-1])
    return {
        "times": [start, end],
        "frames": len(scene.times),
        "spatial": scene.spatial,
        "up": scene.up,
        "low": low.tolist(),
        "high": high.tolist(),
        "speed": timing(start, end).speed if end > start else 1.0,
        "items": [
            {
                "kind": item.kind,
                "name": item.name,
                "trace": item.trace,
                "points": item.points,
                "radius": item.radius,
            }
            for item in scene.items
        ],
    }
