"""The player: a canvas with controls that shows a motion in a page, in the plane or in space."""

from __future__ import annotations

import base64
import json
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from svyaz.json_types import Record
from svyaz.show.curves import dense
from svyaz.show.files import asset, page
from svyaz.show.scene import (
    AZIMUTH,
    ELEVATION,
    Array,
    Item,
    Scene,
    bounds,
    build_scene,
    finite_span,
    spatial_drawings,
    timing,
)

if TYPE_CHECKING:
    from svyaz.motion import Motion

FEWEST_FRAMES, MOST_FRAMES, FRAMES_A_SECOND = 120, 900, 60
MOST_NUMBERS = 400_000  # coordinates in a page: 800 kB; a mechanism of very many parts gets fewer frames


def player(motion: Motion) -> str:
    """The player's part of a page, which needs ``player_script()`` once, at its end, and ``player_style()``.

    Where a browser can compute the motion it is alive, with sliders below; else it plays the motion as it was computed.
    """
    from svyaz.show.living.living import NotLiving, living_model
    from svyaz.show.living.widget import model_script, panel, stage

    try:
        found = living_model(motion)
    except NotLiving:
        return player_html(motion)
    key, scripts = model_script(found)
    spatial = spatial_drawings(motion.system)
    inside = stage(_title(motion), shape_of(motion), spatial, draggable=True, live=key)
    moved = panel(found, motion, address=False)
    folded = f"<details><summary>Start and parameters</summary>\n{moved}</details>\n"
    return f'<div class="living" data-model="{key}">\n{inside}{folded}{scripts}</div>\n'


def player_html(motion: Motion) -> str:
    """The player of a motion as it was computed."""
    motion = dense(motion)
    start, end = finite_span(motion)
    scene = build_scene(motion, np.linspace(start, end, _frame_count(motion, end - start)))
    data = json.dumps(_encode(scene, timing(start, end).speed), separators=(",", ":")).replace("<", "\\u003c")
    kept = f'<script type="application/json">{data}</script>\n'
    return _markup(motion, scene, kept)


def empty_player(motion: Motion) -> str:
    """A player without numbers, for a script that gives it scenes, one after the other, as ``scene_record`` makes them."""
    return _markup(motion, build_scene(motion, np.asarray(motion.times)), "")


def scene_record(motion: Motion) -> Record:
    """The mechanism at the rows of a motion, which lie at equal intervals, as the script takes it."""
    start, end = finite_span(motion)
    equal = motion.finished and len(motion.times) > 2
    scene = build_scene(motion, None if equal else np.linspace(start, end, max(len(motion.times), 2)))
    return _encode(scene, timing(start, end).speed)


def _markup(motion: Motion, scene: Scene, inside: str) -> str:
    from svyaz.show.living.widget import stage

    return stage(_title(motion), _shape(scene), scene.spatial, inside=inside)


def _title(motion: Motion) -> str:
    return f"Animation of {motion.system.name}"


def shape_of(motion: Motion) -> float:
    """Width over height of the picture of a motion."""
    return _shape(build_scene(motion))


def _shape(scene: Scene) -> float:
    low, high = bounds(scene)
    return 1.5 if scene.spatial else float(np.clip((high[0] - low[0]) / (high[1] - low[1]), 0.9, 2.4))


def player_script() -> str:
    """The script that brings all players of a page to life."""
    from svyaz.show.living.widget import living_script

    return living_script()


def player_style() -> str:
    """The style of what stands below a player that is alive."""
    return asset("living/living.css")


def player_page(motion: Motion) -> str:
    """A page with nothing but the player."""
    heading = f"<h1>{escape(motion.system.name)}</h1>\n"
    focus = 'document.querySelector(".player").focus({preventScroll: true});\n'
    return page(motion.system.name, heading + player(motion), player_style(), player_script() + focus)


def _frame_count(motion: Motion, duration: float) -> int:
    """Sixty a second of film, within limits of what a page should weigh."""
    if duration <= 0:
        return 1
    film = duration / timing(0.0, duration).speed
    numbers = sum(item.points.size for item in build_scene(motion, np.asarray(motion.times[:1])).items)
    most = min(MOST_FRAMES, MOST_NUMBERS // max(numbers, 1))
    return int(np.clip(FRAMES_A_SECOND * film, FEWEST_FRAMES, max(most, FEWEST_FRAMES)))


def _encode(scene: Scene, speed: float) -> Record:
    """Numbers of the scene as 16-bit integers about the centre: a 65535th of the picture, finer than any screen."""
    low, high = bounds(scene)
    centre, half = (low + high) / 2, float(np.max(high - low)) / 2
    return {
        "span": [float(scene.times[0]), float(scene.times[-1])],
        "frames": len(scene.times),
        "dim": 3 if scene.spatial else 2,
        "up": scene.up,
        "low": low.tolist(),
        "high": high.tolist(),
        "centre": centre.tolist(),
        "half": half,
        "speed": speed,
        "azimuth": AZIMUTH,
        "elevation": ELEVATION,
        "items": [_encode_item(item, centre, half) for item in scene.items],
    }


def _encode_item(item: Item, centre: Array, half: float) -> Record:
    frames, size, dim = item.points.shape
    return {
        "kind": item.kind,
        "frames": frames,
        "size": size,
        "dim": dim,
        "trace": item.trace,
        "points": _pack((item.points - centre[:dim]) / half),
        "radius": None if item.radius is None else _pack(item.radius / half),
    }


def _pack(values: Array) -> str:
    numbers = np.clip(np.round(values * 32767), -32767, 32767).astype("<i2")
    return base64.b64encode(numbers.tobytes()).decode("ascii")
