"""Films have the right number of frames, sizes and speed; the player's page needs nothing from outside."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from svyaz.show.animation import animate
from svyaz.show.scene import bounds, build_scene, timing


@pytest.mark.parametrize(
    ("duration", "speed", "film"),
    [(1.0, 1, 1.0), (20.0, 1, 20.0), (100.0, 5, 20.0), (3600.0, 200, 18.0), (0.01, 0.01, 1.0)],
)
def test_speed_is_that_of_the_motion_where_it_can_be(duration: float, speed: float, film: float) -> None:
    plan = timing(0.0, duration)
    assert plan.speed == pytest.approx(speed)
    assert len(plan.times) <= 300
    assert plan.times[0] == 0
    assert plan.times[-1] == duration
    assert (len(plan.times) - 1) * plan.delay / 1000 == pytest.approx(film, abs=plan.delay / 1000)
    assert plan.delay % 10 == 0  # GIF counts hundredths of a second


def test_gif_has_frames_and_proportions(sling, tmp_path: Path) -> None:
    path = animate(sling, tmp_path / "sling.gif")
    low, high = bounds(build_scene(sling))
    with Image.open(path) as film:
        assert film.n_frames == len(timing(0, 1).times)
        assert film.info["duration"] == 30
        assert film.info["loop"] == 0
        width, height = film.size
        assert (height - 34) / width == pytest.approx((high[1] - low[1]) / (high[0] - low[0]), rel=0.02)
        first = np.asarray(film.convert("RGB"))
        film.seek(film.n_frames - 1)
        last = np.asarray(film.convert("RGB"))
    assert (first[0, 0] == 255).all()  # white stays white in the palette
    assert (first != last).any()
    assert path.stat().st_size < 500_000


def test_gif_shows_the_mechanism_where_it_is(constrained, tmp_path: Path) -> None:
    path = animate(constrained, tmp_path / "pendulum.gif")
    low, high = bounds(build_scene(constrained))
    with Image.open(path) as film:
        picture = np.asarray(film.convert("RGB")).astype(int)
    scale = 560 / max(high - low)
    x, y = constrained.states[0, :2]
    column, row = round((x - low[0]) * scale), round((high[1] - y) * scale)
    red, _, blue = picture[row, column]
    assert red - blue > 120  # the orange dot of the bob


def test_spatial_motion_as_film(spatial, tmp_path: Path) -> None:
    with Image.open(animate(spatial, tmp_path / "cone.gif")) as film:
        assert film.n_frames > 90


def test_page_is_self_contained_and_carries_the_motion(constrained, tmp_path: Path) -> None:
    text = animate(constrained, tmp_path / "pendulum.html").read_text()
    assert not re.search(r"https?://|src=|href=|@import|url\(", text)
    data = json.loads(re.search(r'<script type="application/json">(.*?)</script>', text, re.DOTALL)[1])
    assert data["span"] == [0, 4]
    assert data["frames"] == 240
    point = next(item for item in data["items"] if item["kind"] == "point")
    packed = np.frombuffer(base64.b64decode(point["points"]), "<i2").reshape(-1, 2) / 32767
    path = np.array(data["centre"]) + data["half"] * packed
    u = 0.5 * np.cos(3 * np.linspace(0, 4, 240))
    assert path == pytest.approx(np.column_stack([np.sin(u), -np.cos(u)]), abs=1e-4)


def test_names_cannot_break_out_of_the_page(constrained, tmp_path: Path) -> None:
    system = type(constrained.system)(**{**vars(constrained.system), "name": '</script><script>alert("x")</script>'})
    text = animate(replace(constrained, system=system), tmp_path / "page.html").read_text()
    assert "<script>alert" not in text


def test_unknown_suffix_names_the_possible_ones(constrained, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\.gif, \.html, \.mp4"):
        animate(constrained, tmp_path / "motion.avi")


def test_mp4_needs_ffmpeg(constrained, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(ValueError, match="ffmpeg"):
        animate(constrained, tmp_path / "motion.mp4")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(shutil.which("ffprobe") is None, reason="no ffmpeg on this machine")
def test_mp4(constrained, tmp_path: Path) -> None:
    path = animate(constrained, tmp_path / "motion.mp4")
    command = ["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", str(path)]
    length = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert length == pytest.approx(4, abs=0.1)


def test_a_model_without_looks(constrained, tmp_path: Path) -> None:
    system = type(constrained.system)(**{**vars(constrained.system), "drawings": ()})
    with pytest.raises(ValueError, match="draw"):
        animate(replace(constrained, system=system), tmp_path / "motion.gif")


def test_S10_a_missing_folder_is_an_error_before_any_drawing(constrained, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("svyaz.show.animation.draw_frames", lambda *_: pytest.fail("drawn in vain"))
    with pytest.raises(OSError, match="nowhere"):
        animate(constrained, tmp_path / "nowhere" / "motion.gif")
