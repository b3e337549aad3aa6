"""What was published is computed again, every slip is backed by a check, and the verdicts follow from the numbers."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import replace
from importlib import import_module

import pytest

from svyaz_published import CORRECTED, DIFFERS, IMPOSSIBLE, REPRODUCED, published, reproduce, subjects

ROWS = published()
ERRATA_MODULES = tuple(
    f"errata_{word}" for word in ("beam", "redundant", "steady", "forms", "gains", "models", "pendulum", "trees")
)
SEEN_IN_THE_TEXT = {"000-E10", "000-E28", "000-E36", "000-E37", "004-E6"} | {
    f"003-E{k}" for k in (22, 24, 25, 26, 27, 28)
}


def described(row) -> str:
    return f"{row.model}: {row.what}"


@pytest.mark.parametrize("row", [r for r in ROWS if r.check], ids=lambda r: r.erratum)
def test_the_printed_formula_is_wrong_and_the_corrected_one_right(row) -> None:
    outcome = reproduce(row)
    assert outcome.verdict == CORRECTED, outcome.computed


@pytest.mark.parametrize("row", [r for r in ROWS if not r.check and not r.missing], ids=described)
def test_what_was_published_is_computed_again(row) -> None:
    outcome = reproduce(row)
    assert outcome.verdict == REPRODUCED, outcome.computed


@pytest.mark.parametrize("row", [r for r in ROWS if r.missing], ids=described)
def test_what_cannot_be_had_says_what_is_missing(row) -> None:
    assert reproduce(row).verdict == IMPOSSIBLE


def test_verdicts_follow_from_the_numbers() -> None:
    row = next(r for r in ROWS if r.what.startswith("phi(6) and largest deviation"))
    wrong = replace(row, printed=[row.printed[0], row.printed[1] * 1.001])
    assert reproduce(row).verdict == REPRODUCED
    assert reproduce(wrong).verdict == DIFFERS
    assert not reproduce(wrong).expected
    assert reproduce(replace(wrong, missing="the step")).verdict == IMPOSSIBLE
    assert reproduce(replace(row, missing="the step")).verdict == REPRODUCED
    diverged = next(r for r in ROWS if r.ends == ["diverged"])
    assert reproduce(replace(diverged, ends=["finished"])).verdict == DIFFERS


def test_every_erratum_is_explained_and_every_check_is_used(root) -> None:
    text = (root / "docs" / "explanation" / "errata.md").read_text(encoding="utf-8")
    entries = dict(re.findall(r"^- \[\*\*(\d{3}-E\d+[ab]?)\*\*\](.*?)(?=^- |^## |\Z)", text, re.MULTILINE | re.DOTALL))
    checked = {row.erratum: row.check.split(".")[1] for row in ROWS if row.check}
    assert {f"000-E{k}" for k in range(1, 39)} <= set(entries)
    assert {f"002-E{k}" for k in range(1, 11)} <= set(entries)
    assert {f"003-E{k}" for k in [*range(1, 39), "29a", "29b"]} <= set(entries)
    assert set(entries) == set(checked) | SEEN_IN_THE_TEXT
    for erratum, check in checked.items():
        assert f"`{check}`" in entries[erratum], erratum
    written = {
        name
        for module in ERRATA_MODULES
        for name, _ in inspect.getmembers(import_module(f"svyaz_published.{module}"), inspect.isfunction)
        if re.match(r"e\d+[ab]?_", name)
    }
    assert written == set(checked.values())


def test_Q7_each_slip_about_steady_motions_is_refuted_by_computation() -> None:
    assert {f"003-E{k}" for k in range(30, 39)} <= {row.erratum for row in ROWS if row.check}


def test_rows_are_told_on_the_terminal(svyaz) -> None:
    done = svyaz("reproduce", "sling", "lawden")
    assert done.returncode == 0, done.stderr
    assert "(004-E3)" in done.stdout
    assert "4 reproduced, 6 corrected, 1 not reproducible" in done.stdout


def test_rows_are_written_as_json(svyaz) -> None:
    done = svyaz("reproduce", "three-link-10", "--json", "-")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert {row["model"] for row in result["rows"]} == {"three-link-10"}
    assert all({"what", "source", "computed", "verdict"} <= row.keys() for row in result["rows"])
    assert result["counts"]["differs"] == 0


def test_figures_of_the_ball_and_beam_are_drawn(monkeypatch, tmp_path) -> None:
    """Three of them here: with a linear curve, without, and of a run that fails."""
    from click.testing import CliRunner

    import svyaz_published as tables
    from svyaz.commands.reproduce import command
    from svyaz_published import figures

    assert [figure.name for figure in figures.FIGURES] == [f"B.{k}" for k in range(1, 25)]
    monkeypatch.setattr(figures, "FIGURES", [figures.FIGURES[k] for k in (4, 9, 20)])
    monkeypatch.setattr(tables, "published", lambda names=(): [row for row in ROWS if row.erratum == "003-E11"])
    done = CliRunner().invoke(command, ["ball-and-beam", "--out", str(tmp_path / "figures")])
    assert done.exit_code == 0, done.output
    assert "10 figures" in done.output
    written = {path.name for path in (tmp_path / "figures").iterdir()}
    names = ("3.1", "3.1-OC", "3.2", "3.3", "OC", "4.1", "4.2", "B.5", "B.10", "B.21")
    tables = {f"003-{name}.csv" for name in names if name not in ("3.1", "3.1-OC", "3.2", "3.3")}
    assert written == {f"003-{name}.png" for name in names} | tables
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in (tmp_path / "figures").glob("*.png"))


def test_figures_that_cannot_be_drawn_are_refused(svyaz, tmp_path) -> None:
    done = svyaz("reproduce", "suslov", "--out", str(tmp_path / "figures"))
    assert done.returncode == 2
    assert "sleigh" in done.stderr
    assert not (tmp_path / "figures").exists()


def test_an_unknown_name_is_refused(svyaz) -> None:
    done = svyaz("reproduce", "nothing")
    assert done.returncode == 2
    assert all(name in done.stderr.replace("\n", " ") for name in subjects())


def test_a_row_that_differs_is_a_negative_answer(monkeypatch) -> None:
    from click.testing import CliRunner

    import svyaz_published as tables
    from svyaz.commands.common import NegativeAnswer
    from svyaz.commands.reproduce import command

    row = next(r for r in ROWS if r.compute == "measures.pendulum_kinetic_energy")
    monkeypatch.setattr(tables, "published", lambda names=(): [replace(row, between=[[1.0, 2.0]])])
    done = CliRunner().invoke(command, ["sling"])
    assert isinstance(done.exception, NegativeAnswer)
    assert "formula (2)" in str(done.exception)
