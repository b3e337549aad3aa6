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
from svyaz.show.scene import AZIMUTH, ELEVATION, Array, Item, Scene, bounds, build_scene, finite_span, timing

if TYPE_CHECKING:
    from svyaz.motion import Motion

FEWEST_FRAMES, MOST_FRAMES, FRAMES_A_SECOND = 120, 900, 60
MOST_NUMBERS = 400_000  # coordinates in a page: 800 kB; a mechanism of very many parts gets fewer frames

_PLAYER = """<div class="player card" tabindex="0" role="group" aria-label="{title}" style="--shape: {shape}">
<canvas data-part="canvas" role="img" aria-label="{title}"></canvas>
<div class="controls">
<button type="button" data-part="play" aria-label="Play">▶</button>
<input type="range" data-part="slider" min="0" max="1" step="any" value="0" aria-label="Time">
<output data-part="clock">t</output>
<label>Speed <select data-part="speed"></select></label>
<label><input type="checkbox" data-part="trail" checked> Trail</label>
</div>
<p class="keys quiet">Keys: space plays and pauses, ← → step, Home and End, + − change the speed, T hides the \
trail{turning}.</p>
{data}</div>
"""


def player(motion: Motion) -> str:
    """The player's part of a page; the page also needs ``player_script()`` once, at its end."""
    motion = dense(motion)
    start, end = finite_span(motion)
    scene = build_scene(motion, np.linspace(start, end, _frame_count(motion, end - start)))
    data = json.dumps(_encoded(scene, timing(start, end).speed), separators=(",", ":")).replace("<", "\\u003c")
    return _markup(motion.system.name, scene, f'<script type="application/json">{data}</script>\n')


def empty_player(motion: Motion) -> str:
    """A player without numbers, for a script that gives it scenes, one after the other, as ``scene_record`` makes them."""
    return _markup(motion.system.name, build_scene(motion, np.asarray(motion.times)), "")


def scene_record(motion: Motion) -> Record:
    """The mechanism at the rows of a motion, which lie at equal intervals, as the script takes it."""
    start, end = finite_span(motion)
    equal = motion.finished and len(motion.times) > 2
    scene = build_scene(motion, None if equal else np.linspace(start, end, max(len(motion.times), 2)))
    return _encoded(scene, timing(start, end).speed)


def _markup(name: str, scene: Scene, data: str) -> str:
    low, high = bounds(scene)
    shape = 1.5 if scene.spatial else float(np.clip((high[0] - low[0]) / (high[1] - low[1]), 0.9, 2.4))
    return _PLAYER.format(
        title=escape(f"Animation of {name}"),
        shape=f"{shape:.3f}",
        turning="; drag, or Shift with the arrows, turns the view" if scene.spatial else "",
        data=data,
    )


def player_script() -> str:
    """The script that brings all players of a page to life."""
    return asset("player.js")


def player_page(motion: Motion) -> str:
    """A page with nothing but the player."""
    heading = f"<h1>{escape(motion.system.name)}</h1>\n"
    focus = 'document.querySelector(".player").focus({preventScroll: true});\n'
    return page(motion.system.name, heading + player(motion), script=player_script() + focus)


def _frame_count(motion: Motion, duration: float) -> int:
    """Sixty a second of film, within limits of what a page should weigh."""
    if duration <= 0:
        return 1
    film = duration / timing(0.0, duration).speed
    numbers = sum(item.points.size for item in build_scene(motion, np.asarray(motion.times[:1])).items)
    most = min(MOST_FRAMES, MOST_NUMBERS // max(numbers, 1))
    return int(np.clip(FRAMES_A_SECOND * film, FEWEST_FRAMES, max(most, FEWEST_FRAMES)))


def _encoded(scene: Scene, speed: float) -> Record:
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
        "items": [_encoded_item(item, centre, half) for item in scene.items],
    }


def _encoded_item(item: Item, centre: Array, half: float) -> Record:
    frames, size, dim = item.points.shape
    return {
        "kind": item.kind,
        "frames": frames,
        "size": size,
        "dim": dim,
        "trace": item.trace,
        "points": _packed((item.points - centre[:dim]) / half),
        "radius": None if item.radius is None else _packed(item.radius / half),
    }


def _packed(values: Array) -> str:
    numbers = np.clip(np.round(values * 32767), -32767, 32767).astype("<i2")
    return base64.b64encode(numbers.tobytes()).decode("ascii")
