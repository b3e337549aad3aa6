"""What was published is computed again, every slip is backed by a check, and the verdicts follow from the numbers."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import replace
from importlib import import_module

import pytest

from svyaz.gallery.published import CORRECTED, DIFFERS, IMPOSSIBLE, REPRODUCED, published, reproduce, subjects

ROWS = published()
ERRATA_MODULES = ("errata_forms", "errata_gains", "errata_models", "errata_pendulum")
SEEN_IN_THE_TEXT = {"000-E10", "000-E28", "000-E36", "000-E37", "004-E6"}


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
    text = (root / "docs" / "errata.md").read_text(encoding="utf-8")
    entries = dict(re.findall(r"^- \*\*(\d{3}-E\d+)\*\*(.*?)(?=^- |^## |\Z)", text, re.MULTILINE | re.DOTALL))
    checked = {row.erratum: row.check.split(".")[1] for row in ROWS if row.check}
    assert {f"000-E{k}" for k in range(1, 39)} <= set(entries)
    assert set(entries) == set(checked) | SEEN_IN_THE_TEXT
    for erratum, check in checked.items():
        assert f"`{check}`" in entries[erratum], erratum
    written = {
        name
        for module in ERRATA_MODULES
        for name, _ in inspect.getmembers(import_module(f"svyaz.gallery.published.{module}"), inspect.isfunction)
        if re.match(r"e\d+_", name)
    }
    assert written == set(checked.values())


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


def test_an_unknown_name_is_refused(svyaz) -> None:
    done = svyaz("reproduce", "nothing")
    assert done.returncode == 2
    assert all(name in done.stderr.replace("\n", " ") for name in subjects())


def test_a_row_that_differs_is_a_negative_answer(monkeypatch) -> None:
    from click.testing import CliRunner

    import svyaz.gallery.published as tables
    from svyaz.commands.common import NegativeAnswer
    from svyaz.commands.reproduce import command

    row = next(r for r in ROWS if r.compute == "measures.pendulum_kinetic_energy")
    monkeypatch.setattr(tables, "published", lambda names=(): [replace(row, between=[[1.0, 2.0]])])
    done = CliRunner().invoke(command, ["sling"])
    assert isinstance(done.exception, NegativeAnswer)
    assert "formula (2)" in str(done.exception)
