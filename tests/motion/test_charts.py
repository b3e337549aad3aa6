"""Charts of reduced forms along a run: left where they degenerate, the change is told."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from svyaz import ModelError, System, gallery, loads
from svyaz.motion import charts, simulate
from svyaz.program import building
from svyaz.show import as_json

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
    assert "with 'y' dependent degenerates near t = 0: from t = 0 " in told[0]  # its quality is cos(60°) at the start
    assert "the chart with 'x' is taken" in told[0]
    assert np.all(np.diff(motion.times) > 0)
    assert as_json(motion)["integrals"]["energy"]["drift"] < 1e-9
    assert np.abs(motion.residuals["blade"]).max() < 1e-9


def test_rows_stay_where_they_were_asked_for() -> None:
    motion = simulate(sleigh(), form="voronets", **ACCURATE, every=0.5)
    assert motion.times == pytest.approx(np.arange(0, 6.01, 0.5))


@pytest.mark.parametrize("how", [ACCURATE, {**ACCURATE, "every": 0.5}, {**ACCURATE, "method": "rk4", "step": 0.0005}])
def test_where_chaplygin_s_chart_ends_voronets_equations_take_over(how) -> None:
    """000-A3: with x dependent the Lagrangian knows a dependent coordinate, so Chaplygin's own equations have no chart."""
    if "step" in how:
        how = {key: value for key, value in how.items() if key != "rtol"}
    motion = simulate(sleigh(), form="chaplygin", **how)
    assert motion.finished, motion.reason
    end = [motion.column(name)[-1] for name in ("x", "y", "phi")]
    assert end == pytest.approx([18.401985, -12.403712, 5.635748], abs=1e-5)
    told = [note for note in motion.notes if "the chart with" in note]
    assert "chart of the form 'chaplygin' with 'y' dependent degenerates near t = 0." in told[0]
    assert "the chart with 'x' is taken, in the form 'voronets', for 'chaplygin' does not apply to it" in told[0]
    assert as_json(motion)["integrals"]["energy"]["drift"] < 1e-8


def test_a_chart_may_be_kept_and_its_singular_point_is_told() -> None:
    motion = simulate(sleigh(), form="chaplygin", method="euler", step=0.001, stabilize="off", charts="keep")
    assert any("with 'y' dependent is singular near t = 0.599, and was kept" in note for note in motion.notes)
    # 000 section 4.1: the heading of the Euler–Chaplygin run is off by 1.0e-2
    assert motion.column("phi")[-1] - 5.635748 == pytest.approx(-1.0e-2, abs=5e-4)
    with pytest.raises(ModelError, match="the charts of a form: 'change' or 'keep', not 'no'"):
        simulate(sleigh(), form="chaplygin", charts="no")


def coin(**words: object) -> System:
    """A coin on an incline whose rolling is solved for the turning of the coin: singular where it heads along y."""
    rows = [("along x", "x' = R*psi'*cos(phi)", "psi"), ("along y", "y' = R*psi'*sin(phi)", "y")]
    return System(
        **{
            "coordinates": ["x", "y", "phi", "psi"],
            "kinetic": "m/2*(x'^2 + y'^2) + A/2*phi'^2 + C/2*psi'^2",
            "potential": "-m*g*x",
            "parameters": {"m": 2.0, "A": 0.3, "C": 0.5, "R": 0.4, "g": 0.8},
            "constraint": [{"name": n, "equation": e, "dependent": d} for n, e, d in rows],
            "initial": {"phi'": 1.0, "psi'": 2.0, "x'": 0.8},
            **words,
        }
    )


@pytest.mark.parametrize("form", ["chaplygin", "voronets", "voronets:carried", "maggi", "appell"])
@pytest.mark.parametrize("free", [False, True])
def test_a_coin_turns_past_the_singular_heading_in_every_form(form, free) -> None:
    """φ = t. With u = R ψ̇ the rolling speed, (m + C/R²) u̇ = m g cos φ; x and y follow by quadrature."""
    words = coin().words
    rows = [{key: value for key, value in row.items() if key != "dependent"} for row in words["constraint"]]
    system = coin(constraint=rows) if free else coin()
    motion = simulate(system, form=form, **ACCURATE, until=5)
    assert motion.finished, motion.reason
    pull = 2.0 * 0.8 / (2.0 + 0.5 / 0.4**2)
    t = motion.times
    assert motion.column("phi") == pytest.approx(t, abs=1e-9)
    assert 0.4 * motion.column("psi'") == pytest.approx(0.8 + pull * np.sin(t), abs=1e-8)
    x = 0.8 * np.sin(t) + pull / 2 * np.sin(t) ** 2
    y = 0.8 * (1 - np.cos(t)) + pull / 2 * (t - np.sin(t) * np.cos(t))
    assert motion.column("x") == pytest.approx(x, abs=1e-8)
    assert motion.column("y") == pytest.approx(y, abs=1e-8)
    if form == "chaplygin":
        assert any("in the form 'voronets'" in note for note in motion.notes)
    if free and form != "maggi" and form != "appell":
        assert any("chosen for a well conditioned block" in note for note in motion.notes)


KNIFE = {
    "coordinates": ["x", "y", "phi"],
    "kinetic": "(x'^2 + y'^2 + phi'^2)/2",
    "potential": "-x",
    "constraint": [{"name": "edge", "equation": "y'*cos(phi) = x'*sin(phi) + w*sin(t)"}],
    "initial": {"x'": 0.5, "phi'": 1.2},
}


@pytest.mark.parametrize("form", ["maggi", "appell"])
def test_quasi_velocities_of_the_model_are_left_where_they_degenerate(form) -> None:
    """u = x' says nothing about a knife edge that heads along y, at 90° and 270°."""
    words = {**KNIFE, "parameters": {"w": 0.0}, "quasi": {"u": "x'", "w1": "phi'"}}
    system = System(**words)
    found = simulate(system, form=form, **ACCURATE, until=5)
    expected = simulate(system, form="multipliers", **ACCURATE, until=5)
    assert found.states[-1] == pytest.approx(expected.states[-1], abs=1e-8)
    told = [note for note in found.notes if "degenerates" in note]
    assert f"the basis of the form '{form}' with the quasi-velocities 'u', 'w1' degenerates near t = 0.8" in told[0]
    with pytest.raises(ModelError, match="at the initial state the quasi-velocities and the constraints do not"):
        system.with_settings({"initial.phi": "pi/2"}).derive(form)


@pytest.mark.parametrize("form", ["chaplygin", "voronets", "maggi", "appell"])
def test_a_drift_that_has_a_denominator_is_watched_too(form) -> None:
    """The edge on a moving belt: (cos φ, sin φ) is regular, the part of the velocity that the belt gives is not."""
    system = System(**{**KNIFE, "potential": 0}, parameters={"w": 0.5})
    found = simulate(system, form=form, **ACCURATE, until=5)
    expected = simulate(system, form="multipliers", **ACCURATE, until=5)
    assert found.states[-1] == pytest.approx(expected.states[-1], abs=1e-8)
    assert len([note for note in found.notes if "degenerates" in note]) >= 2


@pytest.mark.parametrize("every", [None, 1.0, 2.5])
@pytest.mark.parametrize("form", ["chaplygin", "voronets", "voronets:carried"])
def test_charts_change_between_the_rows_that_were_asked_for(form, every) -> None:
    """The edge turns through 86° or more between two rows, so that each chart degenerates within them, again and again."""
    system = System(**{**KNIFE, "initial": {"phi'": 1.5}}, parameters={"w": 0.0})
    motion = simulate(system, form=form, method="rk4", step=0.005, until=10, every=every, stabilize="off")
    assert motion.finished, motion.reason
    if every is not None:
        assert motion.times == pytest.approx(np.arange(0, 10.01, every))
    assert np.all(np.diff(motion.times) > 0)
    assert len([note for note in motion.notes if "the chart with" in note]) >= 8
    t, w = motion.times, 1.5  # v' = cos(w t) along the edge, from rest
    speed = np.sin(w * t) / w
    assert motion.column("x'") == pytest.approx(speed * np.cos(w * t), abs=1e-6)
    assert motion.column("y") == pytest.approx((t / 2 - np.sin(2 * w * t) / (4 * w)) / w, abs=1e-6)


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


def test_of_equally_simple_choices_the_better_conditioned_one_is_taken() -> None:
    """At 0.3 rad the edge is solved for y' (quality cos 0.3), not for x', whichever side of the equation they stand on."""
    for equation in ("x'*sin(phi) = y'*cos(phi)", "y'*cos(phi) = x'*sin(phi)", "-3*x'*sin(phi) + 3*y'*cos(phi) = 0"):
        words = {**KNIFE, "constraint": [{"name": "edge", "equation": equation}], "initial": {"phi": 0.3}}
        assert System(**words, parameters={"w": 0.0}).derive("voronets").dependent == ("y",)


def test_a_run_that_is_stopped_does_not_go_on_in_another_chart() -> None:
    """The chart is left where cos(1.5 t) = 0.6, at t = 0.618; the user stops the run when it is far beyond."""

    def stop(time: float) -> None:
        if time > 20.0:
            raise KeyboardInterrupt

    system = System(**{**KNIFE, "initial": {"phi'": 1.5}}, parameters={"w": 0.0})
    how = {"method": "rk4", "step": 1e-5, "until": 300, "every": 0.01, "stabilize": "off"}
    motion = simulate(system, form="voronets", **how, progress=stop)
    assert motion.status == "stopped"
    assert motion.times[-1] < 1.0
    assert "stopped by the user after t = 0.61" in motion.reason


def whirled(speed: float, friction: float, **words: object) -> System:
    """A pendulum in x, y that goes round: Shulgin's charts with x and with y dependent take turns, four times a turn."""
    return System(
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        potential="9.8*y",
        dissipation="b*(x'^2 + y'^2)/2",
        parameters={"b": friction},
        constraint=[{"name": "rod", "equation": "x^2 + y^2 = 1"}],
        initial={"y": -1.0, "x'": speed},
        run={"form": "shulgin", "method": "dop853", "rtol": 1e-9},
        **words,
    )


def test_N1_2_6_a_chart_that_is_returned_to_is_built_once(monkeypatch) -> None:
    """Eighty changes between two charts need no more programs than twelve, and the motion is that of the angle."""
    built = []
    read = building._Request.read
    monkeypatch.setattr(building._Request, "read", lambda *args, **words: (built.append(1), read(*args, **words))[1])
    counts, motions = [], []
    for until in (1.0, 7.0):
        motions.append(simulate(whirled(20.0, 0.0), until=until, every=0.5))
        counts.append(len(built))
        built.clear()
    changes = [sum("the chart with" in note for note in m.notes) for m in motions]
    assert changes[0] == 12
    assert changes[1] >= 80
    assert 0 < counts[1] <= counts[0] + 2
    start, times = [0.0, 20.0], motions[1].times
    swing = solve_ivp(lambda _, y: [y[1], -9.8 * np.sin(y[0])], (0, 7), start, "DOP853", times, rtol=1e-11, atol=1e-11)
    assert motions[1].column("x") == pytest.approx(np.sin(swing.y[0]), abs=1e-3)


def test_N2_a_motion_that_runs_away_through_its_charts_is_given_up_in_words(monkeypatch) -> None:
    """With resistance that drives the speed grows as exp(100 t). A fast motion that slows down is none of these."""
    monkeypatch.setattr(charts, "PACES", ((20, 200.0),))
    motion = simulate(whirled(20.0, -100.0), until=3.0)
    assert motion.status == "infeasible"
    assert "runs through the charts of the form 'shulgin', 20 of them between t = 0." in motion.reason
    assert "the form 'multipliers' needs no charts" in motion.reason
    assert len(motion.notes) <= 45
    slowed = simulate(whirled(400.0, 20.0), until=3.0)
    assert slowed.finished, slowed.reason
    assert abs(slowed.column("x'")[-1]) < 1.0


def test_N2_all_charts_of_a_phase_share_its_steps() -> None:
    motion = simulate(whirled(20.0, 0.0), until=100.0, max_steps=400)
    assert motion.status == "diverged"
    assert "all steps that were allowed are used up" in motion.reason
    assert motion.steps <= 400
    assert motion.times[-1] > 1.0
