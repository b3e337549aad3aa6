"""``svyaz regulate``: what is printed, written and answered, for good questions and bad ones."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from svyaz.commands.group import run
from svyaz.commands.regulate_report import _basin_text
from svyaz.control.basin import Basin

KEYS = {
    "state", "inputs", "variables", "A", "B", "K", "open_roots", "closed_roots", "zero_roots", "controllable",
    "observable", "observer", "riccati_residual", "linearisation_defect", "theorem", "hypotheses", "parameters", "initial",
}  # fmt: skip

TWINS = """
coordinates = ["p", "q"]
kinetic = "p'^2/2 + q'^2/2"
potential = "-p^2/2 - q^2/2"
[inputs]
f = 0
[forces]
p = "f"
q = "f"
[box]
p = [-1, 1]
q = [-1, 1]
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, where one is."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_answer_has_all_its_parts(svyaz, tmp_path: Path) -> None:
    done = svyaz(
        *("regulate", "ball-and-beam", "--dependent", "theta", "--measure", "r", "--against", "linearised"),
        *("--critical", "d=0.05:0.06", "--run", "--until", "40", "--start", "r=0.26", "--start", "r'=0.02"),
        *("--basin", "6", "--start", "r=0.24:0.26", "--plot", "run.png", "--json", "out.json"),
    )
    assert done.returncode == 0, done.stderr
    assert "u = u0 - K x" in done.stdout
    assert (tmp_path / "run.png").stat().st_size > 10_000
    result = json.loads((tmp_path / "out.json").read_text())
    assert result.keys() >= KEYS
    assert result["variables"] == ["r", "alpha", "r'", "alpha'"]
    a, b, k = (np.array(result[key]) for key in ("A", "B", "K"))
    assert (a.shape, b.shape, k.shape) == ((4, 4), (4, 1), (1, 4))
    look, c = np.array(result["observer"]["gain"]), np.array(result["observer"]["C"])
    separate = np.concatenate([np.linalg.eigvals(a - b @ k), np.linalg.eigvals(a - look @ c)])
    told = np.array([complex(*root) for root in result["closed_roots"]])
    assert np.sort(told.real) == pytest.approx(np.sort(separate.real), rel=1e-6)
    assert result["zero_roots"] == 1
    assert (result["controllable"], result["observable"]) == (True, True)
    assert result["riccati_residual"] < 1e-10
    assert all(h["holds"] for h in result["hypotheses"])
    assert result["critical"]["name"] == "d"
    assert result["basin"]["count"] == 6
    assert result["basin"]["returned"] == 6
    assert result["runs"]["regulator"]["start"]["r'"] == 0.02
    assert result["runs"]["regulator"]["start"]["r"] == pytest.approx(0.26)
    assert set(result["runs"]) == {"regulator", "linearised constraints"}


def test_an_inconsistent_start_is_foretold(svyaz) -> None:
    done = svyaz("regulate", "ball-and-beam", "--dependent", "theta", "--run", "--start", "theta=0.05", "--json", "-")
    assert done.returncode == 0, done.stderr
    assert "does not satisfy the constraints (rod = " in done.stderr
    assert "it will not return, but tend to" in done.stderr
    motion = json.loads(done.stdout)["runs"]["regulator"]
    assert not motion["returned"]
    assert motion["distance_from_limit"] < 1e-6
    assert motion["residuals"]["rod"] == pytest.approx(-7.107e-4, rel=1e-3)


def test_R6_a_pair_that_is_not_controllable_is_a_negative_answer(svyaz, tmp_path: Path) -> None:
    (tmp_path / "twins.toml").write_text(TWINS)
    done = svyaz("regulate", "twins.toml", "--json", "-")
    assert done.returncode == 1
    assert done.stderr == "not controllable: the root 1 cannot be moved by f (direction p - q)\n"
    result = json.loads(done.stdout)
    assert result["controllable"] is False
    assert "not controllable" in result["reason"]


def test_R6_a_measurement_that_does_not_see_everything_is_a_negative_answer(svyaz, tmp_path: Path) -> None:
    (tmp_path / "pair.toml").write_text(TWINS.replace('q = "f"\n', 'q = "2*f - q"\n'))
    done = svyaz("regulate", "pair.toml", "--measure", "q", "--json", "-")
    assert done.returncode == 1
    assert done.stderr.startswith("not observable: the root 1 cannot be seen in q")
    assert json.loads(done.stdout)["observable"] is False


def test_R6_a_wheel_as_large_as_its_rod_has_no_second_equilibrium(svyaz) -> None:
    done = svyaz("regulate", "ball-and-beam", "--set", "d=0.12", "--near", "theta=1.5")
    assert done.returncode == 1
    assert "singular position" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--dependent", "alpha,theta"), "'alpha', 'theta' and 1 constraint do not fit"),
        (("--dependent", "beta"), "'beta' cannot be redundant"),
        (("--variables", "routh"), "those of steady motions, in which a cyclic coordinate turns uniformly"),
        (("--near", "nu=1"), "'nu' is no coordinate"),
        (("--input", "tau"), "'tau' is no input of the model; there are nu"),
        (("--measure", "sin("), "'(' is never closed"),
        (("--weights", "none.toml"), "cannot read the weights"),
        (("--poles", "-1,-2"), "4 roots to be placed, and 2 were given"),
        (("--poles", "-1,-2,-3,4"), "would not be stable"),
        (("--poles", "-1,-2,x,-4"), "roots are numbers"),
        (("--poles", "-1,-2,-3,-4", "--solver", "schur"), "exclude each other"),
        (("--start", "r=0.01"), "a value belongs to --run"),
        (("--run", "--start", "r=0:1"), "a range belongs to --basin"),
        (("--run", "--start", "theta'=1"), "follow from the constraints"),
        (("--basin", "5", "--start", "theta=0:1"), "a basin is spanned by"),
        (("--critical", "nu=0:1"), "'nu' is no parameter"),
        (("--critical", "d=0.1"), "a range is LOW:HIGH"),
        (("--until", "-1"), "--until must be positive"),
        (("--run", "--plot", "run.doc"), "run.doc"),
    ],
)
def test_R6_bad_questions_are_refused(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    assert run(["regulate", "ball-and-beam", *arguments, "--json", "out.json"]) == 2
    assert message in capsys.readouterr().err
    assert not (here / "out.json").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[state]\nr = -1\n", "w.toml:2:1: weights must be positive or zero: [state] r = -1"),
        ("[input]\nnu = 0\n", "w.toml:2:1: weights must be positive: [input] nu = 0"),
        ("R = [[-2.0]]\n", "w.toml:1:1: weights must be positive definite: R has the root -2"),
        ("[state]\nq = 1\n", "w.toml:2:1: [state] has no variable 'q'"),
        ("[state\n", "w.toml:1:7: this is not TOML"),
    ],
)
def test_R6_weights_that_do_not_fit_are_shown_at_their_place(
    here: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    (here / "w.toml").write_text(text)
    assert run(["regulate", "ball-and-beam", "--weights", "w.toml"]) == 2
    assert message in capsys.readouterr().err


def test_solvers_and_poles_change_the_method(here: Path) -> None:
    def asked(*arguments: str) -> dict[str, Any]:
        assert run(["regulate", "ball-and-beam", *arguments, "--json", "out.json"]) == 0
        return json.loads((here / "out.json").read_text())

    schur, slow, placed = asked(), asked("--solver", "establishment"), asked("--poles", "-1,-2,-3+1i,-3-1i")
    assert [result["method"] for result in (schur, slow, placed)] == ["schur", "establishment", "placement"]
    assert np.array(slow["K"]) == pytest.approx(np.array(schur["K"]), rel=1e-6)
    assert slow["gain_error"] < 1e-5
    roots = np.sort_complex([complex(*root) for root in placed["closed_roots"]])
    assert roots == pytest.approx(np.array([-3 - 1j, -3 + 1j, -2, -1]), abs=1e-6)
    assert placed["riccati_residual"] is None


def test_a_basin_is_told_in_parts_of_its_ranges() -> None:
    starts = np.array([[0.1], [-0.2], [0.3], [-0.8], [0.5]])
    returned, left = np.array([True, True, True, True, False]), np.zeros(5, dtype=bool)
    some = Basin(("r",), {"r": (-1.0, 1.0)}, starts, returned, left, 3, 20.0, 1.25)
    told = "basin: 4 of 5 starts returned; every start within 50 % of the ranges returned; 3 out of reach; 1.25 s"
    assert _basin_text(some) == told
    every = replace(some, returned=np.ones(5, dtype=bool), outside=0)
    assert _basin_text(every) == "basin: all 5 starts returned; 0 out of reach; 1.25 s"
    gone = replace(some, left=~some.returned)
    assert "returned; 1 passed a limit; 3 out of reach" in _basin_text(gone)
    none = replace(some, starts=starts[:0], returned=np.zeros(0, dtype=bool))
    assert _basin_text(none) == "basin: there was no start that the mechanism reaches; 3 out of reach; 1.25 s"
