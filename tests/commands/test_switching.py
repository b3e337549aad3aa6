"""Models whose constraints events switch, through the commands: phases in every output, sweeps, reports, refusals."""

from __future__ import annotations

import csv
import json
from math import sqrt
from xml.etree import ElementTree

import pytest

from svyaz.commands.group import run

STRING = """\
name = "weight on a string"
coordinates = ["x", "y"]
kinetic = "m/2*(x'^2 + y'^2)"
potential = "m*g*y"

[parameters]
m = 2
g = 9.81
l = 1

[[constraint]]
name = "string"
equation = "x^2 + y^2 = l^2"
on = "sqrt(x^2 + y^2) - l"
impact = "inelastic"

[initial]
x = 0.6

[[draw]]
link = [["0", "0"], ["x", "y"]]

[run]
until = 1
stabilize = "projection"
"""
MOMENT = sqrt(1.6 / 9.81)


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "string.toml").write_text(STRING)
    (tmp_path / "bare.toml").write_text(STRING.replace('impact = "inelastic"\n', ""))

    def made(*arguments: str) -> tuple[int, str, str]:
        code = run(list(arguments))
        out, err = capsys.readouterr()
        return code, out, err

    return made


def test_phases_are_in_the_json_the_table_and_the_text(call, tmp_path) -> None:
    code, out, _ = call(
        "simulate", "string.toml", "--json", "s.json", "--csv", "s.csv", "--plot", "s.png", "--animate", "s.gif"
    )
    assert code == 0
    assert "phases" in out
    assert "0.403855022" in out
    phases = json.loads((tmp_path / "s.json").read_text())["phases"]
    assert [phase["on"] for phase in phases] == [[], ["string"]]
    assert phases[1]["t"] == pytest.approx(MOMENT, abs=1e-12)
    assert phases[1]["energy_after"] < phases[1]["energy_before"]
    with (tmp_path / "s.csv").open() as file:
        rows = list(csv.DictReader(file))
    jump = [row for row in rows if float(row["t"]) == phases[1]["t"]]
    assert len(jump) == 2
    assert float(jump[1]["y'"]) - float(jump[0]["y'"]) == pytest.approx(phases[1]["velocity_jump"]["y'"])
    assert (tmp_path / "s.png").stat().st_size > 10_000
    assert (tmp_path / "s.gif").read_bytes()[:4] == b"GIF8"


def test_velocities_that_do_not_fit_are_a_negative_answer(call, tmp_path) -> None:
    code, _, err = call("simulate", "bare.toml", "--json", "s.json")
    assert code == 1
    assert (
        "infeasible at t = 0.403855: at t = 0.403855 the state does not satisfy the velocity level of 'string'" in err
    )
    result = json.loads((tmp_path / "s.json").read_text())
    assert (result["status"], result["phases"][1]["on"]) == ("infeasible", ["string"])


def test_sweeps_run_through_events(call, tmp_path) -> None:
    """The string takes 1 - (x/l)² of the kinetic energy m g (l² - x²)^½."""
    asked = ("--measure", "energy", "--measure", "residual")
    code, *_ = call("sweep", "string.toml", "--vary", "l=0.9:1:2", "--workers", "1", "--out", "swept", *asked)
    assert code == 0
    with (tmp_path / "swept" / "sweep.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["status"] for row in rows} == {"finished"}
    lost = [(1 - (0.6 / l) ** 2) * 2 * 9.81 * sqrt(l**2 - 0.36) for l in (0.9, 1.0)]  # noqa: E741
    assert [float(row["energy.impacts"]) for row in rows] == pytest.approx(lost, rel=1e-6)
    assert all(abs(float(row["energy.remainder"])) < 1e-6 for row in rows)
    assert all(float(row["residual.string"]) < 1e-12 for row in rows)


def test_a_sweep_measures_the_gait(call, tmp_path) -> None:
    """On a steeper slope the walker takes longer steps."""
    code, *_ = call(
        *("sweep", "biped", "--vary", "slope=0.04:0.06:2", "--until", "12", "--workers", "1", "--out", "swept"),
        *("--measure", "phases", "--measure", "period"),
    )
    assert code == 0
    with (tmp_path / "swept" / "sweep.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["phases"]) for row in rows] == [17, 17]
    shallow, steep = (float(row["period"]) for row in rows)
    assert 0.68 < shallow < steep < 0.78


def test_a_report_tells_the_phases(call, tmp_path) -> None:
    code, *_ = call("report", "string.toml", "--out", "told")
    assert code == 0
    page = (tmp_path / "told" / "report.html").read_text()
    table = page[page.index("<caption><span>Phases") :]
    body = table[table.index("<tbody>") : table.index("</tbody>") + 8]
    rows = [[cell.text or "" for cell in row] for row in ElementTree.fromstring(body)]
    assert [row[:2] for row in rows] == [["0", ""], ["0.403855022", "string"]]


def test_other_forms_refuse(call) -> None:
    code, _, err = call("simulate", "string.toml", "--form", "maggi")
    assert code == 2
    assert "cannot follow constraints that events switch" in err


def test_equilibria_are_those_of_constraints_that_always_act(call) -> None:
    code, _, err = call("equilibria", "string.toml")
    assert code == 2
    assert "events switch the constraint 'string'" in err
