"""``svyaz sweep`` as a person calls it."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time

import pytest

SLEIGH = ("sweep", "sleigh", "--method", "euler", "--step", "0.001", "--until", "0.5")


def test_files_are_written(svyaz, tmp_path) -> None:
    done = svyaz(*SLEIGH, "--vary", "stabilize=10:3000:6:log", "--out", "study", "--json", "copy.json")
    assert done.returncode == 0, done.stderr
    assert "stable by the verdict: 10 ≤ stabilize < 2000" in done.stdout
    assert sorted(p.name for p in (tmp_path / "study").iterdir()) == ["sweep.csv", "sweep.json", "sweep.png"]
    result = json.loads((tmp_path / "study" / "sweep.json").read_text())
    assert result == json.loads((tmp_path / "copy.json").read_text())
    with (tmp_path / "study" / "sweep.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["stabilize"]) for row in rows] == result["vary"]["stabilize"]
    assert [row["stable"] for row in rows] == ["yes"] * 5 + ["no"]


def test_three_axes_have_a_table_and_no_picture(svyaz, tmp_path) -> None:
    done = svyaz(*SLEIGH, "--vary", "J=1:2:2", "--vary", "m=1:2:2", "--vary", "kappa=5:6:2", "--out", "s")
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in (tmp_path / "s").iterdir()) == ["sweep.csv", "sweep.json"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "--vary"),
        (("--vary", "J=1:2"), "NAME=FROM:TO:COUNT"),
        (("--vary", "JJ=1:2:3"), "no parameter 'JJ'"),
        (("--vary", "J=1:2:3", "--vary", "J=1:2:3"), "twice"),
        (("--vary", "J=1:2:3", "--measure", "nothing"), "cannot be measured"),
        (("--vary", "J=1:2:3", "--workers", "0"), "--workers"),
        (("--vary", "J=1:2:3", "--workers", "2", "--scheduler", "x"), "one of them"),
    ],
)
def test_bad_input_exits_with_2_and_writes_nothing(svyaz, tmp_path, arguments, words) -> None:
    done = svyaz(*SLEIGH, *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent")
def test_ctrl_c_keeps_what_is_done(tmp_path, root) -> None:
    command = [sys.executable, "-m", "svyaz", *SLEIGH[:-3], "1e-4", "--until", "6", "--vary", "stabilize=1:100:5000"]
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    process = subprocess.Popen(
        [*command, "--out", "s"],
        cwd=tmp_path,
        env=environment,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    partial = tmp_path / "s" / "sweep.csv.partial"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not (partial.exists() and partial.stat().st_size > 2000):
        assert process.poll() is None, "it ended before it could be stopped"
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 1, errors
    assert "stopped by the user" in errors
    result = json.loads((tmp_path / "s" / "sweep.json").read_text())
    assert result["status"] == "stopped"
    assert 0 < result["done"] < result["members"] == 5000
    assert not partial.exists()
    with (tmp_path / "s" / "sweep.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == result["done"]
