"""What a notebook shows of each result: tables, formulas and pictures without a network; and the line of a terminal."""

from __future__ import annotations

import re

import pytest
from chromium import Browser, executable

import svyaz
from svyaz.shown import Shown


@pytest.fixture(scope="module")
def results() -> dict[str, Shown]:
    """A result of each kind, of small systems."""
    pendulum = svyaz.load("pendulum:1")
    top = svyaz.System(
        name="top",
        coordinates=["theta", "psi"],
        kinetic="A/2*(theta'^2 + psi'^2*sin(theta)^2)",
        potential="P*cos(theta)",
        parameters={"A": 1, "P": -1},
        box={"theta": [0.1, 3]},
    )
    blade = svyaz.load("sleigh")
    driven = svyaz.System(
        name="cart",
        coordinates=["x"],
        kinetic="x'^2/2",
        potential="0",
        forces={"x": "F"},
        inputs={"F": 0.0},
        box={"x": [-1, 1]},
    )
    field = svyaz.System(
        name="field", coordinates=["x"], field={"x": "-x"}, rayleigh=[["2"]], parameters={}, initial={"x": 1}
    )
    oscillator = svyaz.System(name="given", coordinates=["x"], accelerations={"x": "-x"})
    found = pendulum.equilibria()
    steady = top.steady({"psi'": 2.0})
    return {
        "system": blade,
        "equations": blade.derive(),
        "motion": pendulum.simulate(until=0.5),
        "check": blade.check(until=0.1),
        "equilibria": found,
        "equilibrium": found.equilibria[0],
        "approximation": found.equilibria[0].approximation,
        "steady": steady,
        "steady motion": steady.motions[0],
        "regulation": driven.regulate(fix={"x": 0.0}),
        "linear": driven.linearise(),
        "sweep": pendulum.sweep({"L1": [0.5, 1.0]}, ["final.u1"], until=0.5, workers=1),
        "inverse": field.invert(),
        "helmholtz": oscillator.helmholtz(),
        "inertia": svyaz.load("planar-2r").inertia(),
    }


def test_every_result_shows_itself(results) -> None:
    for kind, result in results.items():
        piece = result._repr_html_()
        assert len(piece) > 40, kind
        assert not re.search(r"""(?:src|href)=["'](?!data:|#)""", piece.replace("&quot;", '"')), kind
        assert piece.count("<table") == piece.count("</table>"), kind
        line = repr(result)
        assert line.startswith(f"<{type(result).__name__} "), kind
        assert "\n" not in line, kind
        assert len(line) < 160, kind


def test_formulas_are_mathml_and_latex(results) -> None:
    for kind in ("system", "equations", "inertia", "inverse"):
        latex = results[kind]._repr_latex_()
        assert latex.startswith("$$"), kind
        assert latex.endswith("$$"), kind
        assert "<math" in results[kind]._repr_html_() or kind == "inverse"
    assert results["sweep"]._repr_latex_() is None


def test_pictures_and_the_player_stand_in_the_piece(results) -> None:
    assert "<iframe srcdoc=" in results["motion"]._repr_html_()
    for kind in ("system", "equilibria", "sweep"):
        assert "data:image/png;base64," in results[kind]._repr_html_(), kind


@pytest.mark.skipif(executable() is None, reason="no Chromium on this machine: a frame cannot be looked at")
def test_P3_players_are_dark_where_the_notebook_is(results, tmp_path) -> None:
    piece = results["motion"]._repr_html_()
    asked = "document.querySelector('iframe').contentWindow.matchMedia('(prefers-color-scheme: dark)').matches"
    with Browser(tmp_path / "profile") as browser:
        for host, dark in (
            ("data-jp-theme-light='false'", True),
            ("data-jp-theme-light='true'", False),
            ("data-theme='dark'", True),
        ):
            page = tmp_path / f"page{dark}.html"
            page.write_text(f"<!DOCTYPE html><meta charset='utf-8'><body {host}>{piece}</body>", encoding="utf-8")
            tab = browser.open()
            tab.go(page.as_uri())
            tab.wait("document.querySelector('iframe').style.colorScheme !== ''")
            assert tab.run(asked) is dark, host
            tab.close()


def test_verdicts_are_told(results) -> None:
    assert repr(results["equilibrium"]) == "<Equilibrium u1 = 0: stable>"
    assert "2; there are no others in the box" in repr(results["equilibria"])
    assert "nonholonomic" in results["check"]._repr_html_()
    assert "rank 1 of 1, nothing is wrong" in repr(results["check"])
    assert "<td>H7</td>" in results["helmholtz"]._repr_html_()


def test_a_result_without_a_piece_of_its_own_is_a_table_of_its_json() -> None:
    from svyaz.show.notebooks import html

    event = svyaz.load("bouncing-ball").simulate(until=1.0).phases[0]
    assert html(event).startswith("<table><tbody><tr><td>t</td>")


def test_names_are_text_and_not_markup() -> None:
    hostile = svyaz.System(name="<script>x</script>", coordinates=["x"], kinetic="x'^2/2", potential="x^2/2")
    assert "<script>" not in hostile._repr_html_()
    assert "<script>" not in hostile.equilibria(box={"x": (-1, 1)})._repr_html_()
