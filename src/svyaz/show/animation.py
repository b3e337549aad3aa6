"""Motion as moving pictures: .gif and .mp4 films, drawn frame by frame, and an .html page with a player."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from svyaz.arguments import check_arguments
from svyaz.files import whole, write_text
from svyaz.show.files import check_folder_of, suffix_of
from svyaz.show.player import player_page
from svyaz.show.scene import (
    FEW_LINKS,
    Array,
    Item,
    Scene,
    bounds,
    build_scene,
    can_be_drawn,
    finite_span,
    flat,
    timing,
    zigzag,
)
from svyaz.show.style import COLOURS, GRID, INK, MUTED

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

    from svyaz.motion import Motion

SUFFIXES = (".gif", ".html", ".mp4")
LAST_FRAME = 1000  # milliseconds the last picture stands


def check_animation_file(file: str | os.PathLike[str]) -> str:
    """The suffix of a film that can be written here; ValueError or OSError otherwise, before anything is computed."""
    suffix = suffix_of(file, SUFFIXES, "an animation")
    if suffix == ".mp4" and shutil.which("ffmpeg") is None:
        raise ValueError("writing .mp4 needs the program ffmpeg, which is not installed; .gif and .html need nothing")
    check_folder_of(file)
    return suffix


@check_arguments
def animate(motion: Motion, file: str | os.PathLike[str]) -> Path:
    """Writes the motion as .gif, .html or, with ffmpeg, .mp4.

    >>> import svyaz, tempfile, pathlib
    >>> motion = svyaz.load("pendulum:1").simulate(until=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = svyaz.animate(motion, pathlib.Path(folder) / "film.html")
    ...     [path.name for path in pathlib.Path(folder).iterdir()]
    ['film.html']
    """
    suffix = check_animation_file(file)
    if not motion.system.drawings:
        raise ValueError(f"'{motion.system.name}' says nothing of its looks: add [[draw]] tables to the model")
    if not can_be_drawn(motion):
        raise ValueError(f"there is no motion of '{motion.system.name}' to show: {motion.reason or motion.status}")
    if suffix == ".html":
        return write_text(file, player_page(motion))
    plan = timing(*finite_span(motion))
    frames = draw_frames(build_scene(motion, plan.times), plan.note)
    with whole(file) as temporary:
        (_write_gif if suffix == ".gif" else _write_mp4)(frames, plan.delay, temporary)
    return Path(file)


def _write_gif(frames: list[Image], delay: int, path: Path) -> None:
    """All frames share one palette of the colours in use and their shades: no flicker, only differences are kept."""
    from PIL import Image

    palette = Image.new("P", (1, 1))
    palette.putpalette(shades())
    pictures = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    delays = [delay] * (len(pictures) - 1) + [LAST_FRAME]
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=delays, loop=0, optimize=False)


def _write_mp4(frames: list[Image], delay: int, path: Path) -> None:
    width, height = frames[0].size
    command = ["ffmpeg", "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}"]
    command += ["-r", f"1000/{delay}", "-i", "-", "-pix_fmt", "yuv420p", "-movflags", "+faststart", str(path)]
    result = subprocess.run(command, input=b"".join(f.tobytes() for f in frames), capture_output=True, check=False)
    if result.returncode:
        raise OSError(f"ffmpeg could not write the film: {result.stderr.decode(errors='replace').strip()}")


SMOOTH = 3  # pictures are drawn so many times larger and scaled down, which smooths the lines
LONG_SIDE, SHORTEST, FOOT = 560, 260, 34  # pixels; the foot holds the clock
SHADES = 8


@dataclass(frozen=True)
class PictureFrame:
    """Where the plane of the mechanism lies on the picture: pixel = origin + scale * (x, -y)."""

    width: int
    height: int
    scale: float
    origin: Array

    def place(self, points: Array) -> list[tuple[float, float]]:
        """Pixels, on the enlarged picture, of points (…, 2)."""
        x = (self.origin[0] + self.scale * points[..., 0]) * SMOOTH
        y = (self.origin[1] - self.scale * points[..., 1]) * SMOOTH
        return list(zip(np.ravel(x).tolist(), np.ravel(y).tolist(), strict=True))


def picture_frame(scene: Scene) -> PictureFrame:
    """A picture with the proportions of the motion, equal scales both ways; sides are even, as films want them."""
    low, high = bounds(scene)
    extent = high - low
    scale = LONG_SIDE / float(np.max(extent))
    size = np.maximum(extent * scale, SHORTEST)
    width, height = (int(-(-s // 2) * 2) for s in size)
    centre = (low + high) / 2
    origin = np.array([width / 2 - scale * centre[0], height / 2 + scale * centre[1]])
    return PictureFrame(width, height + FOOT, scale, origin)


def draw_frames(scene: Scene, note: str) -> list[Image]:
    """A picture for each moment of the scene; ``note`` stands beside the clock."""
    plane = flat(scene)
    frame = picture_frame(plane)
    font = _font(13 * SMOOTH)
    return [_draw_frame(plane, frame, row, note, font) for row in range(len(plane.times))]


def shades() -> list[int]:
    """The palette of all pictures, r, g, b, r, g, b …: white, the pale grid, and each colour in steps from white."""
    from PIL.ImageColor import getrgb

    steps = np.arange(1, SHADES + 1)[:, None] / SHADES
    rows = [np.array([getrgb("white"), getrgb(GRID)], dtype=float)]
    rows += [255 + steps * (np.array(getrgb(colour)[:3]) - 255) for colour in (INK, MUTED, *COLOURS)]
    return [int(v) for v in np.concatenate(rows).round().ravel()]


def _font(size: int) -> FreeTypeFont:
    from matplotlib import get_data_path
    from PIL import ImageFont

    return ImageFont.truetype(f"{get_data_path()}/fonts/ttf/DejaVuSans.ttf", size)


def _draw_frame(scene: Scene, frame: PictureFrame, row: int, note: str, font: FreeTypeFont) -> Image:
    from PIL import Image, ImageDraw

    large = Image.new("RGB", (frame.width * SMOOTH, frame.height * SMOOTH), "white")
    pen = ImageDraw.Draw(large)
    _draw_triad(pen, frame, scene, font)
    traced = [item for item in scene.items if item.trace]
    for k, item in enumerate(traced):
        path = frame.place(item.points[: row + 1, -1])
        if len(path) > 1:
            pen.line(path, fill=COLOURS[k % len(COLOURS)], width=SMOOTH, joint="curve")
    joints = sum(item.kind == "link" for item in scene.items) <= FEW_LINKS
    for item in sorted(scene.items, key=lambda item: item.kind == "point"):
        _draw_item(pen, frame, item, row, joints)
    edge = (frame.height - FOOT) * SMOOTH
    pen.line([(0, edge), (frame.width * SMOOTH, edge)], fill=GRID, width=SMOOTH)
    middle = edge + FOOT * SMOOTH / 2
    pen.text((12 * SMOOTH, middle), f"t = {scene.times[row]:.2f}", fill=INK, font=font, anchor="lm")
    pen.text(((frame.width - 12) * SMOOTH, middle), note, fill=MUTED, font=font, anchor="rm")
    return large.resize((frame.width, frame.height), Image.Resampling.BOX)


def _draw_triad(pen: ImageDraw, frame: PictureFrame, scene: Scene, font: FreeTypeFont) -> None:
    """The axes of space behind a spatial mechanism."""
    if scene.triad is None:
        return
    origin, *ends = frame.place(scene.triad)
    for name, end in zip("xyz", ends, strict=True):
        pen.line([origin, end], fill=GRID, width=2 * SMOOTH)
        pen.text((end[0] + 4 * SMOOTH, end[1]), name, fill=MUTED, font=font, anchor="lm")


def _draw_item(pen: ImageDraw, frame: PictureFrame, item: Item, row: int, joints: bool) -> None:
    places = frame.place(item.points[row])
    if item.kind == "circle":
        radius = 0.0 if item.radius is None else abs(float(item.radius[row])) * frame.scale * SMOOTH
        _disc(pen, places[0], radius, None, 2 * SMOOTH)
    elif item.kind == "point":
        _disc(pen, places[0], 5 * SMOOTH, COLOURS[1], 0)
    elif item.kind == "spring":
        for k in range(len(places) - 1):
            pen.line(frame.place(zigzag(item.points[row, k : k + 2])), fill=MUTED, width=2 * SMOOTH, joint="curve")
    else:
        pen.line(places, fill=INK, width=int(2.6 * SMOOTH), joint="curve")
        for place in places if joints else []:
            _disc(pen, place, 3.6 * SMOOTH, "white", int(1.6 * SMOOTH))


def _disc(pen: ImageDraw, centre: tuple[float, float], radius: float, fill: str | None, outline: int) -> None:
    x, y = centre
    box = (x - radius, y - radius, x + radius, y + radius)
    pen.ellipse(box, fill=fill, outline=INK if outline else None, width=outline)
