"""Motion as moving pictures: .gif and .mp4 films, and an .html page with a player."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from svyaz.show.files import check_folder_of, suffix_of, whole, write_text
from svyaz.show.frames import draw_frames, shades
from svyaz.show.scene import Array, build_scene, can_be_drawn, finite_span

if TYPE_CHECKING:
    from PIL.Image import Image

    from svyaz.motion import Motion

SUFFIXES = (".gif", ".html", ".mp4")
MOST_FRAMES = 300
SHORTEST_FILM, LONGEST_FILM = 1.0, 30.0  # seconds; within these a film runs at the speed of the motion
QUICKEST = 3  # hundredths of a second a frame: browsers do not show GIFs faster than this evenly
LAST_FRAME = 1000  # milliseconds the last picture stands


@dataclass(frozen=True)
class Timing:
    """Moments to draw, milliseconds each stays, and how many times faster than the motion the film is."""

    times: Array
    delay: int
    speed: float

    @property
    def note(self) -> str:
        """The speed in words, nothing when it is that of the motion."""
        if self.speed == 1:
            return ""
        return f"{self.speed:g} times faster" if self.speed > 1 else f"{1 / self.speed:g} times slower"


def timing(start: float, end: float) -> Timing:
    """Real time for motions of 1 to 30 s; others are made faster or slower by 1, 2 or 5 times a power of ten."""
    duration = end - start
    speed = 1.0
    if duration > LONGEST_FILM:
        speed = _round_number(duration / LONGEST_FILM)
    elif 0 < duration < SHORTEST_FILM:
        speed = 1 / _round_number(SHORTEST_FILM / duration)
    shown = duration / speed
    hundredths = max(QUICKEST, int(np.ceil(100 * shown / (MOST_FRAMES - 1) - 1e-9)))
    count = int(np.ceil(100 * shown / hundredths - 1e-9)) + 1
    return Timing(np.minimum(start + speed * hundredths / 100 * np.arange(count), end), 10 * hundredths, speed)


def _round_number(least: float) -> float:
    """The least of 1, 2, 5, 10, 20, 50 … that is not below the given number."""
    power = 10.0 ** np.floor(np.log10(least))
    return float(next(m * power for m in (1, 2, 5, 10) if m * power >= least * (1 - 1e-12)))


def check_animation_file(file: str | os.PathLike[str]) -> str:
    """The suffix of a film that can be written here; ValueError or OSError otherwise, before anything is computed."""
    suffix = suffix_of(file, SUFFIXES, "an animation")
    if suffix == ".mp4" and shutil.which("ffmpeg") is None:
        raise ValueError("writing .mp4 needs the program ffmpeg, which is not installed; .gif and .html need nothing")
    check_folder_of(file)
    return suffix


def animate(motion: Motion, file: str | os.PathLike[str]) -> Path:
    """Writes the motion as .gif, .html or, with ffmpeg, .mp4."""
    suffix = check_animation_file(file)
    if not motion.system.drawings:
        raise ValueError(f"'{motion.system.name}' says nothing of its looks: add [[draw]] tables to the model")
    if not can_be_drawn(motion):
        raise ValueError(f"there is no motion of '{motion.system.name}' to show: {motion.reason or motion.status}")
    if suffix == ".html":
        from svyaz.show.player import player_page

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
