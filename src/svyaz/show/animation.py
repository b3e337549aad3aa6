"""Motion as moving pictures: .gif and .mp4 films, and an .html page with a player."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from svyaz.show.files import check_folder_of, suffix_of, whole, write_text
from svyaz.show.frames import draw_frames, shades
from svyaz.show.player import player_page
from svyaz.show.scene import build_scene, can_be_drawn, finite_span, timing

if TYPE_CHECKING:
    from PIL.Image import Image

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


def animate(motion: Motion, file: str | os.PathLike[str]) -> Path:
    """Writes the motion as .gif, .html or, with ffmpeg, .mp4."""
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
