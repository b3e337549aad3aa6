"""The choice of gains: "auto" is not beaten by a constant, never worse than nothing, and tells why."""

from __future__ import annotations

import itertools
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from svyaz import System, gallery, load, loads
from svyaz.integrate import budget, solving
from svyaz.motion import check, simulate
from svyaz.show import as_json
from svyaz.stabilise import segment
from svyaz.stabilise.deviation import StatePlaces, state_scale
from svyaz.stabilise.gain_choice import candidates
from svyaz.stabilise.pilot import scheme_of, spread
from svyaz.stabilise.search_table import TABLE
from svyaz.stabilise.trial_runs import TrialGains, TrialRuns

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _benches(monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def bench(name: str):
    return import_module(f"bench.{name}")


def model(name: str, **settings: object) -> System:
    text = gallery.find(name)
    assert text is not None
    return loads(text, name).with_settings(settings)


@pytest.mark.parametrize(
    ("name", "method", "step"),
    [
        ("pendulum-xy", "rk4", 0.01),
        ("pendulum-xy", "euler", 0.005),
        ("sleigh", "euler", 0.01),
        ("sleigh", "rk2", 0.01),
        ("ball-on-plane", "rk2", 0.01),
        ("slider-crank", "rk4", 0.01),
        ("four-bar", "rk2", 0.005),
        ("rolling-disc", "rk4", 0.01),
        ("rocket-path", "rk4", 0.005),
        ("sling-hooked", "rk4", 0.01),
        ("three-link", "rk4", 0.005),
    ],
)
def test_C4_K6_no_constant_gain_is_twice_as_good_in_error_and_residual(name, method, step) -> None:
    """Nor is √(error · residual) more than 1.3 times that of the least error and the least residual of 25 gains."""
    study = bench("gains.choice")
    made = bench("tools.nine").rig(name)
    case = study.case(made, method, step, study.reference(made, step))
    assert case.scored
    assert case.chosen.finished
    assert case.beaten <= 2.0
    assert case.residual_ratio <= 1.2
    assert case.score <= 1.3 or method == "euler"


def test_K6_gains_vary_where_that_wins_and_the_log_says_so() -> None:
    study = bench("gains.choice")
    made = bench("tools.nine").rig("rolling-disc")
    case = study.case(made, "rk2", 0.005, study.reference(made, 0.005))
    assert case.varied
    assert case.score < 0.5 * case.constant_score
    system = model("rolling-disc")
    motion = simulate(system, method="rk2", step=0.005)
    choice = motion.gains.choice
    assert motion.finished
    assert any(
        "gains vary from κ" in line and "times smaller than with the best constant" in line for line in choice.log
    )
    told = as_json(motion)["gains"]["auto"]["gains"]
    again = simulate(system, method="rk2", step=0.005, stabilize=told)
    np.testing.assert_array_equal(motion.states, again.states)
    kept = simulate(model("sleigh"), method="rk2", step=0.01).gains.choice
    assert any("the gain is kept constant" in line for line in kept.log)


@pytest.mark.parametrize(("at", "given"), [(1e-3, True), (5e-14, False)])
def test_gains_that_vary_within_rounding_are_not_chosen(at, given) -> None:
    made = bench("tools.nine").rig("pendulum-xy")
    options = made.options(method="rk4", step=0.001, stabilize="auto")
    exact = bench("gains.choice").reference(made, 0.001)
    runs = TrialRuns(made.segment, options, made.state, made.span, accurate=exact)
    assert runs.may_be_given(TrialGains(6.0, 0.7, 3.0, at)) is given


def test_C4_auto_is_neither_a_constant_nor_the_inverse_of_the_step() -> None:
    chosen = {}
    for method, step in (("euler", 0.001), ("rk4", 0.001), ("rk4", 0.01)):
        motion = simulate(model("pendulum-xy"), method=method, step=step, until=5)
        chosen[method, step] = motion.gains.proposed
    assert chosen["rk4", 0.001] < 0.05 / 0.001
    assert chosen["euler", 0.001] > 10 * chosen["rk4", 0.001]


def test_every_decision_is_logged() -> None:
    motion = simulate(model("sleigh"), method="euler", step=0.01, until=2, tolerance=2e-4)
    assert motion.finished
    auto = motion.gains.choice
    assert any("the step is halved" in line for line in auto.log)
    assert any("chosen from" in line for line in auto.log)
    assert set(auto.log) <= set(motion.notes)
    assert motion.step == auto.step < 0.01
    assert len(auto.trials) >= TABLE.candidates + 1
    assert auto.seconds > 0


def test_candidates_lie_between_the_span_and_the_limit_of_the_method() -> None:
    from svyaz.stabilise.options import options_for

    scheme = scheme_of(options_for(model("sleigh"), {"method": "euler", "step": 0.01}))
    found = candidates(scheme, (0.0, 6.0))
    assert found[0] == 0.0
    assert found[1] <= 1 / 6.0
    assert found[-1] == pytest.approx(TABLE.largest_share * 200, rel=1e-9)
    assert np.all(np.diff(found) > 0)


def test_error_controlled_runs_have_a_choice_too() -> None:
    motion = simulate(model("four-bar"), method="dopri5", rtol=1e-6, until=2, stabilize="auto")
    off = simulate(model("four-bar"), method="dopri5", rtol=1e-6, until=2, stabilize="off")
    assert motion.finished
    for name in motion.residuals:
        assert np.abs(motion.residuals[name]).max() <= 1.2 * np.abs(off.residuals[name]).max() + 1e-12


@pytest.mark.parametrize("unit", [1.0, 1e3])
def test_states_at_zero_take_the_scale_of_their_like(unit) -> None:
    """Two equal masses, one of them at rest; a length in other units changes all sizes alike."""
    system = System(
        name="two points",
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        constraint=[{"name": "rest", "equation": "y = 0"}],
        initial={"x": unit},
    )
    times = np.linspace(0, 1, 11)
    states = np.zeros((11, 4))
    states[:, 0], states[:, 2] = unit * (1 + times), unit
    sizes = state_scale(system.derive(), times, states).size
    assert sizes == pytest.approx(unit * np.array([2, 2e-3, 1, 1e-3]), rel=1e-12)


def test_states_of_no_size_hardly_count_in_differences() -> None:
    a = np.array([[1.0, 1e-16], [2.0, 0.0]])
    b = np.array([[1.1, 5e-16], [2.0, 0.0]])
    bare, times, none = StatePlaces((), (), False), np.array([0.0, 1.0]), np.zeros((0, 0))
    assert bare.scale(none, times, a).difference(a, b) == pytest.approx(0.05)
    nothing = np.zeros((2, 2))
    assert bare.scale(none, times, nothing).difference(nothing, nothing) == 0.0


def errors_told(system: System, **how: object) -> list[float]:
    """The errors of the trajectory with which gains were compared."""
    choice = simulate(system, **how).gains.choice
    return [trial.error for trial in choice.trials if trial.finished]


AT_ZERO = {
    "heavy top": ("heavy-top", {"until": 1}),
    "bicycle at rest": ("bicycle", {"until": 1}),
    "pendulum in a plane of space": (
        {
            "name": "pendulum",
            "coordinates": ["x", "y", "z"],
            "kinetic": "(x'^2 + y'^2 + z'^2)/2",
            "potential": "9.81*z",
            "constraint": [
                {"name": "rod", "equation": "x^2 + y^2 + z^2 = 1"},
                {"name": "plane", "equation": "0.6*x = 0.8*y"},
            ],
            "initial": {"x": 0.8, "y": 0.6},
        },
        {"until": 1, "rtol": 1e-10},
    ),
    "hanging": (
        {
            "name": "hanging",
            "coordinates": ["x", "y"],
            "kinetic": "(x'^2 + y'^2)/2",
            "potential": "9.81*y",
            "constraint": [{"name": "rod", "equation": "x^2 + y^2 = 1"}],
            "initial": {"x": 1e-17, "y": -1},
        },
        {"method": "rk4", "step": 0.01, "until": 1},
    ),
    "block on a table": (
        {
            "name": "block",
            "coordinates": ["x", "z"],
            "kinetic": "(x'^2 + z'^2)/2",
            "potential": "9.81*z",
            "constraint": [{"name": "table", "equation": "z = 1e-3*x"}, {"name": "stop", "equation": "x = 0"}],
        },
        {"method": "rk4", "step": 0.01, "until": 1},
    ),
}


@pytest.mark.parametrize("name", AT_ZERO)
def test_N1_1_5_states_that_stay_at_zero_make_no_errors(name, case) -> None:
    """Rounding of the size of 1e-17 in states that do not move is no error of the trajectory."""
    model, how = AT_ZERO[name]
    system = load(case(model)) if isinstance(model, str) else System.from_words(model)
    errors = errors_told(system, **how)
    assert len(errors) > 10
    assert max(errors) < 1e-6
    assert min(errors) < 1e-9


def test_N1_1_5_gains_are_not_chosen_on_noise(case) -> None:
    """Nothing is to be won for the heavy top at rtol 1e-12: the weakest gain that is as good as any is none."""
    motion = simulate(load(case("heavy-top")), until=1)
    assert motion.gains.proposed == 0.0
    assert not [note for note in motion.notes if "trajectory error 1" in note]


def test_N1_1_5_the_error_by_halving_does_not_divide_by_noise(case) -> None:
    """A coordinate that only a coarse method moves is measured by what its like can do."""
    system = load(case("heavy-top"))
    motion = simulate(system, method="rk2", step=5e-4, until=0.1, halve=True, stabilize="off")
    exact = simulate(system, method="dop853", rtol=1e-12, until=0.1, every=5e-4, stabilize="off")
    rotation = [motion.state_names.index(n) for n in ("e0", "e1", "e2", "e3", "wx", "wz")]
    true = np.max(np.abs(motion.states - exact.states)[:, rotation] / np.abs(exact.states[:, rotation]).max(axis=0))
    assert motion.trajectory_error == pytest.approx(true, rel=1.0)


def test_W8_auto_keeps_the_energy_of_ten_thousand_swings() -> None:
    """A pendulum keeps its energy, here 0; strong gains add to it with rk4 (κ = 20: more than 0.1 m g l)."""
    motion = simulate(model("pendulum-xy"), method="rk4", step=0.02, until=23700, every=23.7)
    assert motion.finished
    assert motion.energy is not None
    assert -0.01 < motion.energy[-1] / 9.81 < 0.001
    assert not [note for note in motion.notes if "the energy" in note]


@pytest.mark.parametrize(("until", "part"), [(2370, 1.0), (10000, 0.5)])
def test_W8_a_drift_of_the_energy_is_reported_before_the_run(until: float, part: float) -> None:
    """What the note says of the first part is what the run does there."""
    pendulum, how = model("pendulum-xy"), {"method": "rk4", "step": 0.05, "until": until}
    (note,) = [note for note in check(pendulum, **how).gains.choice.log if "the energy" in note]
    assert ("over the run" in note) == (part == 1.0)
    motion = simulate(pendulum, **how, every=until / 100)
    assert note in motion.notes
    assert motion.energy is not None
    lost = -motion.energy[round(100 * part)] / motion.energy_scale
    assert f"the energy loses {lost:.2g} of" in note


def test_C4_cases_in_which_every_gain_diverges_are_listed_and_not_scored() -> None:
    study = bench("gains.choice")
    failed = study.Outcome(1.0, np.inf, np.inf)
    case = study.Case(failed, failed, (failed,) * 25, 0.1)
    assert not case.scored
    good = study.Outcome(2.0, 1e-3, 1e-5)
    better = study.Outcome(3.0, 1e-4, 2e-6)
    assert study.Case(good, failed, (better, failed), 0.1).beaten == pytest.approx(5.0)
    samples = {
        study.job("sleigh", False).name: [
            {"euler 0.01 scored": 0.0} | {f"{m} {s:g} scored": 0.0 for m in study.METHODS for s in study.STEPS}
        ]
    }
    rows = study.rows(samples, False)
    assert len(rows) == 9
    assert all("every gain diverges" in row.name and row.verdict == "reported" for row in rows)


def test_trial_runs_that_share_code_are_run_together(monkeypatch) -> None:
    """The integrator is asked a dozen times, not once for each of the gains."""
    asked, solve_each = [], segment.solve_each

    def counted(ode, constants, *given, **named):
        asked.append(len(constants))
        return solve_each(ode, constants, *given, **named)

    monkeypatch.setattr(segment, "solve_each", counted)
    choice = simulate(model("sleigh"), until=2).gains.choice
    assert sum(asked) == len(choice.trials) - 1  # the first, without gains, tells how long a run takes
    assert len(asked) <= 12
    assert max(asked) >= TABLE.candidates


def test_N1_2_6_trial_runs_stay_in_their_budget_and_say_when_they_were_cut(monkeypatch) -> None:
    """Every path counts for half of what is allowed for a run of no length: two gains are tried, spread."""
    monkeypatch.setattr(solving, "PATH", 0.9)
    monkeypatch.setattr(budget, "FACTOR", 0.0)
    motion = simulate(model("sleigh"), method="euler", step=0.01, until=2)
    choice = motion.gains.choice
    assert 2 <= len(choice.trials) < TABLE.candidates + 1
    assert any("trial runs were cut at" in line and "s of work" in line for line in choice.log)
    assert set(choice.log) <= set(motion.notes)
    assert motion.finished
    found = check(model("sleigh"), method="euler", step=0.01, until=2, stabilize=30.0, tolerance=0.1).gains
    assert any("the range of gains was looked for at" in reason for reason in found.reasons)
    low, high = found.limits
    assert low <= 30.0 <= high


def test_V1_judgements_do_not_depend_on_the_clock_of_the_machine(monkeypatch) -> None:
    """A machine on which every look at a clock takes an hour chooses the same gains after the same trial runs."""
    import time

    def chosen() -> object:
        choice = simulate(model("sleigh"), method="euler", step=0.01, until=2).gains.choice
        return choice.kappa, [(t.setting, t.residual, t.error) for t in choice.trials], choice.log

    quick, ticks = chosen(), itertools.count()
    for name in ("thread_time", "process_time"):
        monkeypatch.setattr(time, name, lambda: 3600.0 * next(ticks))
    assert chosen() == quick


def test_N1_2_6_judgements_within_their_budget_do_not_speak_of_it() -> None:
    notes = simulate(model("sleigh"), method="euler", step=0.01, until=2).notes
    assert not [note for note in notes if "cut" in note]


def test_gains_are_tried_in_an_order_that_is_spread_from_the_first() -> None:
    assert sorted(spread(17)) == list(range(17))
    assert spread(8) == [0, 4, 2, 6, 1, 5, 3, 7]


def sleigh_rates(state: np.ndarray, kappa: float) -> np.ndarray:
    """The rates of Chaplygin's sleigh with f' = -kappa f for its blade, by hand (m = a = J = 1, weight 9.8 sin 30°)."""
    phi, vx, vy, turn = state[2:]
    c, s = np.cos(phi), np.sin(phi)
    deviation, drift = vy * c - vx * s, -(vy * s + vx * c) * turn
    matrix = np.array([[1, 0, -s, -s], [0, 1, c, c], [-s, c, 1, 0], [-s, c, 0, 0]])
    sides = [4.9 + turn**2 * c, turn**2 * s, 0.0, -drift - kappa * deviation]
    return np.concatenate([state[3:], np.linalg.solve(matrix, sides)[:3]])


def sleigh_error(kappa: float, step: float, until: float) -> float:
    """The largest distance of Euler's run from that of SciPy, each state in the size that it has there."""
    count, start = round(until / step), np.array([0.0, 1.0, np.pi / 3, 0.0, 0.0, 1.0])
    rows = list(itertools.accumulate(range(count), lambda y, _: y + step * sleigh_rates(y, kappa), initial=start))
    times = np.minimum(step * np.arange(count + 1), until)
    exact = solve_ivp(lambda _, y: sleigh_rates(y, 0.0), (0, until), start, "DOP853", times, rtol=1e-12, atol=1e-12).y.T
    return float(np.max(np.abs(rows - exact) / np.abs(exact).max(axis=0)))


def test_V1_auto_tells_the_trajectory_error_with_gains_and_without() -> None:
    """Both are those of Euler's runs written by hand; a motion that stabilisation makes worse is called so."""
    found = check(model("sleigh"), method="euler", step=0.01, until=2, stabilize="auto")
    auto = as_json(found)["gains"]["auto"]
    assert auto["gains"] == auto["kappa"] > 0.0
    assert auto["error"]["without"] == pytest.approx(sleigh_error(0.0, 0.01, 2.0), rel=1e-6)
    assert auto["error"]["with"] == pytest.approx(sleigh_error(auto["kappa"], 0.01, 2.0), rel=1e-6)
    assert auto["residual"]["with"] < auto["residual"]["without"]
    worse = auto["error"]["with"] > auto["error"]["without"]
    assert worse
    told = "\n".join(auto["log"])
    assert (
        f"trajectory error {auto['error']['with']:.3g} ({auto['error']['without']:.3g} without stabilisation)" in told
    )
    assert "stabilisation makes the motion worse" in told


def test_V1_auto_finds_no_fault_with_gains_that_help() -> None:
    found = check(model("pendulum-xy"), method="rk4", step=0.01, until=2, stabilize="auto")
    auto = as_json(found)["gains"]["auto"]
    assert auto["error"]["with"] < auto["error"]["without"]
    assert not [line for line in auto["log"] if "worse" in line]


def test_V1_auto_reports_what_no_gain_gives_as_null() -> None:
    """No gain keeps the tolerance: there are no gains to tell of, and the run without them is told all the same."""
    found = check(model("sleigh"), method="dopri5", rtol=1e-3, until=2, stabilize="auto", tolerance=1e-30)
    auto = as_json(found)["gains"]["auto"]
    assert auto["error"]["with"] is None
    assert auto["residual"]["with"] is None
    assert auto["error"]["without"] > 0.0
