"""``svyaz equilibria``: what is printed, written and answered."""

from __future__ import annotations

import json

import pytest


def test_equilibria_are_printed_and_written(svyaz, tmp_path) -> None:
    done = svyaz("equilibria", "ball-and-beam", "--fix", "r=0.25", "--json", "found.json")
    assert done.returncode == 0, done.stderr
    assert "2 equilibria; there are no others in the box" in done.stdout
    result = json.loads((tmp_path / "found.json").read_text())
    assert result["dimension"] == 0
    assert result["complete"]
    assert [e["verdict"] for e in result["equilibria"]] == ["unstable", "unstable"]
    assert [e["zero_roots"] for e in result["equilibria"]] == [1, 1]
    assert {"state", "inputs", "roots", "zero_roots", "verdict", "theorem"} <= result["equilibria"][0].keys()
    assert result["equilibria"][0]["inputs"]["nu"] == pytest.approx(0.0221591, abs=1e-7)


def test_a_family_is_a_negative_answer(svyaz) -> None:
    done = svyaz("equilibria", "ball-and-beam", "--json", "-")
    assert done.returncode == 1
    assert "family of dimension 1" in done.stderr
    result = json.loads(done.stdout)
    assert result["dimension"] == 1
    assert set(result["may_be_fixed"]) == {"r", "nu"}


def test_no_equilibrium_is_a_negative_answer(svyaz) -> None:
    done = svyaz("equilibria", "ball-and-beam", "--fix", "r=0.25", "--fix", "nu=0")
    assert done.returncode == 1
    assert "there is no equilibrium in the box" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ball-and-beam", "--fix", "rr=1"), "did you mean 'r'?"),
        (("ball-and-beam", "--fix", "r"), "not of the form NAME=VALUE"),
        (("ball-and-beam", "--fix", "r=sqrt(-1)"), "must be zero or positive"),
        (("ball-and-beam", "--box", "theta=1"), "a range is LOW:HIGH"),
        (("ball-and-beam", "--box", "theta=2:1"), "the range is empty"),
        (("four-bar",), "have no side in it"),
        (("ball-on-plane",), "have no side in it"),
        (("rocket-path",), "change with time"),
    ],
)
def test_bad_questions_are_refused(svyaz, arguments: tuple[str, ...], message: str) -> None:
    done = svyaz("equilibria", *arguments)
    assert done.returncode == 2
    assert message in done.stderr


FRAME = """
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[constraint]]
name = "left rod"
equation = "x^2 + y^2 = 1"
[[constraint]]
name = "right rod"
equation = "(x - 1)^2 + y^2 = 1"
[box]
x = [-2, 2]
y = [-2, 2]
"""


def test_a_structure_without_freedom_is_said_not_to_move(svyaz, tmp_path) -> None:
    (tmp_path / "frame.toml").write_text(FRAME)
    done = svyaz("equilibria", "frame.toml")
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert "equilibrium 1: cannot move" in told
    assert "equilibrium 2: cannot move" in told
    assert "undecided" not in told
    assert told.count("nothing is left that could move") == 2


def test_a_search_that_is_cut_is_a_negative_answer(svyaz) -> None:
    done = svyaz("equilibria", "pendulum:3", "--budget", "1e-9", "--json", "-")
    assert done.returncode == 1
    assert "not decided: 1 part of the box is left" in done.stderr
    result = json.loads(done.stdout)
    assert (result["complete"], result["left"]) == (False, 1)
    assert result["reason"] in done.stderr


def test_an_angle_is_shown_with_its_half_open_turn(svyaz) -> None:
    done = svyaz("equilibria", "pendulum:1")
    assert done.returncode == 0, done.stderr
    assert "u1 in (-pi, pi]" in done.stdout
