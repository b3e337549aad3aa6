"""``svyaz sweep`` as a person calls it."""

from __future__ import annotations

import csv
import json

import pytest

from svyaz.commands.group import run

SLEIGH = ("sweep", "sleigh", "--method", "euler", "--step", "0.001", "--until", "0.5")


def test_files_are_written(svyaz, tmp_path) -> None:
    done = svyaz(*SLEIGH, "--vary", "stabilize=10:3000:6:log", "--out", "study", "--json", "copy.json")
    assert done.returncode == 0, done.stderr
    assert "stable by the verdict: 10 ≤ stabilize < 2000" in done.stdout
    assert sorted(p.name for p in (tmp_path / "study").iterdir()) == [
        "study.zarr",
        "sweep.csv",
        "sweep.json",
        "sweep.png",
    ]
    result = json.loads((tmp_path / "study" / "sweep.json").read_text())
    assert result == json.loads((tmp_path / "copy.json").read_text())
    with (tmp_path / "study" / "sweep.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["stabilize"]) for row in rows] == result["vary"]["stabilize"]
    assert [row["stable"] for row in rows] == ["yes"] * 5 + ["no"]


def test_V1_ends_of_stable_ranges_that_are_rows_are_stable_themselves(tmp_path, capsys) -> None:
    """Euler's method holds a velocity constraint for 0 < gain < 2/step = 2000: of ends, only one between rows is left out."""
    short = ["sweep", "sleigh", "--method", "euler", "--step", "0.001", "--until", "0.01", "--out", str(tmp_path / "s")]
    for rows, told in (("10:50:3", "10 ≤ stabilize ≤ 50"), ("50:2050:2", "50 ≤ stabilize < 2000")):
        assert run([*short, "--vary", f"stabilize={rows}", "--workers", "1"]) == 0
        assert f"gains stable by the verdict: {told}\n" in capsys.readouterr().out


def test_three_axes_have_a_table_and_no_picture(svyaz, tmp_path) -> None:
    done = svyaz(*SLEIGH, "--vary", "J=1:2:2", "--vary", "m=1:2:2", "--vary", "kappa=5:6:2", "--out", "s")
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in (tmp_path / "s").iterdir()) == ["study.zarr", "sweep.csv", "sweep.json"]


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


def test_a_whole_study_makes_room_for_a_new_one_only_once_that_has_begun(svyaz, tmp_path) -> None:
    """A mistake in the next command leaves it as it is; a file in its place is told for what it is."""
    study = tmp_path / "s" / "study.zarr"

    def content() -> dict[str, bytes]:
        return {str(file): file.read_bytes() for file in study.rglob("*") if file.is_file()}

    assert svyaz(*SLEIGH, "--stabilize", "5", "--vary", "J=1:2:3", "--out", "s").returncode == 0
    before = content()
    assert svyaz(*SLEIGH, "--vary", "J=1:2:3", "--measure", "nothing", "--out", "s").returncode == 2
    assert content() == before
    assert svyaz(*SLEIGH, "--stabilize", "5", "--vary", "m=1:2:2", "--out", "s").returncode == 0
    assert not (study / "J").exists()
    assert sorted(p.name for p in (tmp_path / "s").iterdir()) == ["study.zarr", "sweep.csv", "sweep.json", "sweep.png"]
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "study.zarr").touch()
    refused = svyaz(*SLEIGH, "--stabilize", "5", "--vary", "J=1:2:3", "--out", "f")
    assert refused.returncode == 2
    assert "is no folder of a study" in refused.stderr
