"""Charts of reduced forms along a run: left where they degenerate, the change is told."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import System, gallery
from svyaz.model import loads
from svyaz.motion import simulate

ACCURATE = {"method": "dop853", "rtol": 1e-11, "stabilize": "off"}


def sleigh(**settings: object) -> System:
    return loads(gallery.find("sleigh"), "sleigh").with_settings(settings)


@pytest.mark.parametrize("form", ["voronets", "voronets:carried"])
@pytest.mark.parametrize(
    "how", [ACCURATE, {**ACCURATE, "every": 0.5}, {"method": "rk4", "step": 0.001, "stabilize": "off"}]
)
def test_the_sleigh_turns_through_both_singular_headings(form, how) -> None:
    """000-A3 in Voronets' form: from 60° to 323°, where ẏ = ẋ tan φ ends at 90° and 270°."""
    motion = simulate(sleigh(), form=form, **how)
    assert motion.finished, motion.reason
    end = [motion.column(name)[-1] for name in ("x", "y", "phi")]
    assert end == pytest.approx([18.401985, -12.403712, 5.635748], abs=1e-5)
    told = [note for note in motion.notes if "the chart with" in note]
    assert len(told) >= 2
    assert "with 'y' dependent degenerates near t = 0.3" in told[0]
    assert "the chart with 'x' is taken" in told[0]
    assert np.all(np.diff(motion.times) > 0)
    assert motion.summary()["integrals"]["energy"]["drift"] < 1e-9
    assert np.abs(motion.residuals["blade"]).max() < 1e-9


def test_rows_stay_where_they_were_asked_for() -> None:
    motion = simulate(sleigh(), form="voronets", **ACCURATE, every=0.5)
    assert motion.times == pytest.approx(np.arange(0, 6.01, 0.5))


def test_chaplygin_s_chart_of_the_sleigh_has_no_other_and_says_so() -> None:
    """With x dependent the Lagrangian would know a dependent coordinate."""
    motion = simulate(sleigh(), form="chaplygin", method="euler", step=0.001, stabilize="off")
    assert any("with 'y' dependent is singular near t = 0.599" in note for note in motion.notes)
    # 000 section 4.1: the heading of the Euler–Chaplygin run is off by 1.0e-2
    assert motion.column("phi")[-1] - 5.635748 == pytest.approx(-1.0e-2, abs=5e-4)


def test_a_free_choice_takes_the_best_block_at_the_start() -> None:
    words = dict(sleigh(**{"initial.phi": "85*deg"}).words)
    free = [{key: value for key, value in c.items() if key != "dependent"} for c in words["constraint"]]
    equations = System.from_words({**words, "constraint": free}).derive("voronets")
    assert equations.dependent == ("x",)
    assert sleigh().derive("voronets").dependent == ("y",)


def test_sweeps_and_exports_work_in_every_form() -> None:
    from svyaz.forms.programs import export_program
    from svyaz.program import export
    from svyaz.study import sweep

    for form in ("chaplygin", "voronets", "maggi", "appell"):
        text = export(export_program(sleigh().derive(form)), "python")
        assert "def " in text
    found = sweep(
        sleigh(), {"J": [1.0, 2.0]}, form="maggi", method="rk4", step=0.01, until=1, workers=1, stabilize="off"
    )
    ends = [row.measures["final.y'"] for row in found.rows]
    expected = [
        simulate(sleigh(J=j), form="multipliers", method="rk4", step=0.001, until=1, stabilize="off").column("y'")[-1]
        for j in (1.0, 2.0)
    ]
    assert ends == pytest.approx(expected, abs=1e-6)
