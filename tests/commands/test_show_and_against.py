"""``simulate --show`` and ``--against``: what plot and CSV show, and runs side by side."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from svyaz import load
from svyaz.expr import ModelError
from svyaz.motion import along, views_of


def table(text: str) -> dict[str, list[str]]:
    rows = list(csv.DictReader(io.StringIO(text)))
    return {name: [row[name] for row in rows] for name in rows[0]}


def test_K7_residuals_multipliers_and_held_integrals_over_time(svyaz) -> None:
    shown = "residuals, multipliers, integrals, x'*cos(phi) + y'*sin(phi)"
    done = svyaz(
        "simulate", "sleigh", "--method", "euler", "--step", "0.001", "--stabilize", "46", "--show", shown,
        "--csv", "-",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    columns = table(done.stdout)
    assert list(columns) == ["t", "residual blade", "multiplier blade", "energy", "x'*cos(phi) + y'*sin(phi)"]
    residual, multiplier, speed = (np.array(columns[k], float) for k in list(columns)[1:5:1] if k != "energy")
    assert np.abs(residual).max() == pytest.approx(1.980143e-3, rel=1e-6)
    # J phi'' = -m a (lambda's part): at rest the blade takes the weight across it, m g sin(30°) sin(phi)
    assert multiplier[0] == pytest.approx(9.8 * 0.5 * np.sin(np.pi / 3), rel=1e-9)
    assert speed[-1] == pytest.approx(13.466234, rel=2e-3)  # along the blade, by quasi-velocities
    held = svyaz("simulate", "lawden", "--until", "0.1", "--show", "deviations", "--csv", "-")
    assert list(table(held.stdout)) == ["t", "deviation of g1", "deviation of g2"]


def test_K7_two_forms_and_two_gains_in_one_picture(svyaz, tmp_path) -> None:
    picture, numbers, result = (tmp_path / name for name in ("both.png", "both.csv", "both.json"))
    done = svyaz(
        "simulate", "sleigh", "--until", "2", "--every", "0.5", "--stabilize", "off", "--show", "phi,multipliers",
        "--against", "form=chaplygin", "--against", "stabilize=20; step=0.01; J=2",
        "--plot", str(picture), "--csv", str(numbers), "--json", str(result),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    columns = table(numbers.read_text(encoding="utf-8"))
    assert list(columns) == ["run", "t", "phi", "multiplier blade"]
    runs = dict.fromkeys(columns["run"])
    assert list(runs) == ["as given", "form=chaplygin", "stabilize=20; step=0.01; J=2"]
    phi = np.array(columns["phi"], float).reshape(3, 5)
    assert phi[0] == pytest.approx(phi[1], abs=1e-8)
    assert phi[0, 2] == pytest.approx(1.767289, abs=1e-6)  # t = 1, by quasi-velocities
    assert abs(phi[2, -1] - phi[0, -1]) > 0.1
    found = json.loads(result.read_text(encoding="utf-8"))
    assert [run["form"] for run in (found, *found["against"])] == ["multipliers", "chaplygin", "multipliers"]
    assert found["against"][1]["changes"] == {"stabilize": "20", "step": "0.01", "J": "2"}
    assert found["against"][1]["parameters"]["J"] == 2
    assert "form=chaplygin: Chaplygin sleigh" in done.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_run_of_several_that_fails_is_a_negative_answer(svyaz, tmp_path) -> None:
    done = svyaz(
        "simulate", "sleigh", "--method", "euler", "--stabilize", "46", "--until", "3", "--force",
        "--against", "stabilize=2100", "--plot", str(tmp_path / "both.png"),
    )  # fmt: skip
    assert done.returncode == 1
    assert "stabilize=2100: diverged" in done.stderr
    assert (tmp_path / "both.png").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--show", "psi"), "unknown name 'psi'"),
        (("--show", "deviations"), "the model has no deviations"),
        (("--show", "y over nothing"), "unknown name 'nothing'"),
        (("--show", " , "), "names nothing"),
        (("--show", "phi +"), "show:1"),
        (("--against", "form"), "not of the form NAME=VALUE"),
        (("--against", "mass=1"), "no parameter 'mass'"),
        (("--against", "step=-1"), "step"),
        (("--against", ";"), "nothing is changed"),
        (("--against", "step=0.1", "--against", "step=0.1"), "twice"),
    ],
)
def test_what_cannot_be_shown_or_changed_is_refused_before_the_run(svyaz, options, told) -> None:
    done = svyaz("simulate", "sleigh", "--until", "0.01", *options)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_definitions_and_their_rates_can_be_looked_at() -> None:
    system = load("ball-and-beam")
    motion = system.simulate(until=0.2)
    alpha, rate, length = motion.column("alpha"), motion.column("alpha'"), system.parameters["L"]
    assert along(motion, "yA") == pytest.approx(length * np.sin(alpha), abs=1e-15)
    assert along(motion, "yA'") == pytest.approx(length * np.cos(alpha) * rate, abs=1e-15)
    assert along(motion, "2*L") == pytest.approx(np.full(len(alpha), 2 * length))
    with pytest.raises(ModelError):
        views_of(system, ["zA"])


def test_motions_are_compared_from_python(tmp_path) -> None:
    system = load("sleigh")
    one, two = (system.simulate(until=0.1, stabilize=gain) for gain in (5, 50))
    picture = one.plot("phi", "residuals", "y over x", against={"κ = 50": two}, file=tmp_path / "both.png")
    assert len(picture.figure.axes) == 3
    assert (tmp_path / "both.png").stat().st_size > 0
    assert len(one.plot(against={"κ = 50": two}).figure.axes) == 5
