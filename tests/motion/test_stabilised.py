"""Stabilised runs: verdicts before them, what holds during them, and what is reported of them."""

from __future__ import annotations

import json
from math import pi

import numpy as np
import pytest

from svyaz import System, gallery, loads
from svyaz.commands.group import run
from svyaz.motion import check, simulate
from svyaz.show import as_json
from svyaz.stabilise.deviation import deviations

ACCURATE = {"method": "dop853", "rtol": 1e-12}
NINE = [
    "pendulum-xy",
    "sleigh",
    "ball-on-plane",
    "three-link",
    "slider-crank",
    "four-bar",
    "rolling-disc",
    "rocket-path",
    "sling-hooked",
]


def model(name: str, choices: dict[str, str] | None = None, **settings: object) -> System:
    text = gallery.find(name, choices)
    assert text is not None
    return loads(text, name).with_settings(settings)


# verdicts before the run


@pytest.mark.parametrize(
    ("kappa", "reason"), [(-2, "not asymptotically stable"), (2100, "allows gains up to 2000 = 2/step")]
)
def test_000_A4_gains_beyond_the_range_are_refused_and_diverge_when_forced(kappa, reason, tmp_path, capsys) -> None:
    file = tmp_path / "result.json"
    how = ["--method", "euler", "--step", "0.001", f"--stabilize={kappa}", "--json", str(file)]
    assert run(["check", "sleigh", *how]) == 1
    assert reason in capsys.readouterr().err
    assert json.loads(file.read_text())["gains"]["verdict"] == "unstable"
    assert run(["simulate", "sleigh", *how]) == 1
    assert reason in capsys.readouterr().err
    refused = json.loads(file.read_text())
    assert refused["status"] == "infeasible"
    assert refused["steps"] == 0
    assert refused["gains"]["verdict"] == "unstable"
    assert run(["simulate", "sleigh", *how, "--force"]) == 1
    assert "diverged" in capsys.readouterr().err
    forced = json.loads(file.read_text())
    assert forced["status"] == "diverged"
    assert forced["steps"] > 0
    assert any("'blade' was lost" in note for note in forced["notes"])


def test_000_A7_check_advises_a_smaller_step_where_the_tolerance_is_out_of_reach(tmp_path, capsys) -> None:
    """R = 9.22e-5 for the sleigh with the step 0.001: for 1e-6 the step must fall by about √(1e-6/9.22e-5) = 0.104."""
    file = tmp_path / "check.json"
    how = ["--method", "euler", "--step", "0.001", "--stabilize", "46", "--tolerance", "1e-6", "--json", str(file)]
    assert run(["check", "sleigh", *how]) == 1
    message = capsys.readouterr().err
    assert "infeasible, reduce the step" in message
    found = json.loads(file.read_text())["gains"]
    assert found["verdict"] == "infeasible"
    remainder = found["pilot"]["remainders"]["blade"]
    assert remainder == pytest.approx(9.22e-5, rel=0.05)
    assert f"{np.sqrt(1e-6 / remainder):.3g} times" in message


def test_000_A6_the_safe_range_of_the_sleigh_stands_in_the_result() -> None:
    found = check(model("sleigh"), method="euler", step=0.001, stabilize=1000, tolerance=1e-3)
    low, high = found.gains.limits
    assert low == pytest.approx(92.2, rel=0.05)
    assert high == pytest.approx(1907.8, rel=0.005)
    assert not found.wrong


def test_the_safe_range_is_sharp_on_the_weak_side() -> None:
    """Measured for the tolerance 1e-3: κ = 90.4 gives 1.017e-3, 94.0 gives 9.78e-4."""
    for kappa, published in ((90.4, 1.017e-3), (94.0, 9.78e-4)):
        motion = simulate(model("sleigh"), method="euler", step=0.001, stabilize=kappa)
        assert np.abs(motion.residuals["blade"]).max() == pytest.approx(published, rel=2e-3)


@pytest.mark.parametrize(("k1", "code"), [(-0.5, 1), (-5, 0)])
def test_000_A19_the_gain_matrix_of_the_ball_through_the_command_line(k1, code, capsys) -> None:
    gains = f"{{E = [[{k1}, -1], [-1, -1]]}}"
    choice = ["--with", "coordinates=angles", "--method", "euler", "--step", "0.01"]
    assert run(["check", "ball-on-plane", *choice, "--stabilize", gains]) == code
    assert ("not asymptotically stable" in capsys.readouterr().err) is (code == 1)


def test_000_A24_lawden_by_euler_is_flagged_beyond_its_limit(capsys) -> None:
    assert run(["check", "lawden", "--method", "euler", "--step", "0.0021"]) == 1
    message = capsys.readouterr().err
    assert "-1000" in message
    assert "2/step" in message
    assert simulate(model("lawden"), method="euler", step=0.0021).status == "infeasible"
    assert check(model("lawden"), method="euler", step=0.00199).wrong == ()


def test_000_A28_the_printed_gains_of_ten_coordinates_are_flagged(tmp_path, capsys) -> None:
    file = tmp_path / "check.json"
    assert run(["check", "three-link-10", "--with", "constraints=printed", "--json", str(file)]) == 1
    message = capsys.readouterr().err
    assert "not asymptotically stable" in message
    assert "3.162" in message
    assert "'edge' repeats 'path'" in message
    gains = json.loads(file.read_text())["gains"]
    assert gains["verdict"] == "unstable"
    assert max(im for _, im in gains["roots"]) == pytest.approx(np.sqrt(10), abs=1e-6)


@pytest.mark.parametrize("gains", ["{alpha = -20, beta = 100}", "{alpha = 20, beta = -100}"])
def test_000_A30_unstable_gains_of_the_rocket_are_refused(gains, capsys) -> None:
    assert run(["simulate", "rocket-path", "--method", "euler", "--step", "0.001", "--stabilize", gains]) == 1
    assert "not asymptotically stable" in capsys.readouterr().err


def test_000_A27_the_rank_of_the_printed_start_of_ten_coordinates() -> None:
    found = check(model("three-link-10", {"constraints": "printed"}))
    assert found.ranks.rank == 3
    assert set(found.ranks.redundant) == {"path", "edge"}


@pytest.mark.parametrize("k2", [0.25, 0.75, 1.0])
def test_000_A31_the_two_stage_family_is_of_order_two(k2) -> None:
    """k1 = 1 - k2, and the stage lies at 1/(2 k2) of the step; the printed 1/(2 k1) would give order one."""
    system = model("pendulum-xy")
    exact = simulate(system, **ACCURATE, until=1, every=1.0, stabilize="off").states[-1]
    errors = [
        np.abs(simulate(system, method=f"rk2:{k2}", step=h, until=1, stabilize=5).states[-1] - exact).max()
        for h in (0.004, 0.002, 0.001)
    ]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert 1.9 <= orders[-1] <= 2.1


# reports


def test_residuals_are_reported_by_largest_mean_last_and_moment() -> None:
    """f = 0.1 e^{-5t} over six seconds: rms = 0.1 √((1 - e^{-60})/60)."""
    system = model("sleigh", **{"initial.x'": "-0.1*sin(pi/3)", "initial.y'": "0.1*cos(pi/3)"})
    found = as_json(simulate(system, **ACCURATE, every=0.001, stabilize=5))["residuals"]["blade"]
    assert found["max"] == pytest.approx(0.1, abs=1e-9)
    assert found["time_of_max"] == 0.0
    assert found["final"] == pytest.approx(0.1 * np.exp(-30), abs=1e-12)
    assert found["rms"] == pytest.approx(0.1 * np.sqrt((1 - np.exp(-60)) / 60), rel=1e-5)


@pytest.mark.parametrize(
    ("name", "settings", "stabilize"),
    [
        ("pendulum-xy", {"initial.x": 1.05, "initial.x'": 0.4}, {"alpha": 6, "beta": 40}),
        ("slider-crank", {"initial.xB": 2.7, "initial.xA'": -2.5}, 8),
        ("four-bar", {"initial.yC'": 0.7}, 5),
        ("sleigh", {"initial.x'": 0.5}, 3),
    ],
)
def test_the_work_of_the_stabilising_forces_is_the_energy_they_change(name, settings, stabilize) -> None:
    """dE/dt = power of all reactions; without gains the reactions do the work of the disturbed constraint alone."""
    system = model(name, **settings)
    motion = simulate(system, **ACCURATE, until=2, every=0.0005, stabilize=stabilize)
    assert motion.finished
    power = motion.quantities["stabilising power"]
    through = {d.name: np.array(_through(d.name, motion)) for d in system.derive().deviations}
    total = sum(motion.multipliers[n] * through[n] for n in through)
    energy = motion.integrals["energy"]
    work = np.concatenate([[0.0], np.cumsum((total[1:] + total[:-1]) / 2 * np.diff(motion.times))])
    size = max(np.abs(energy - energy[0]).max(), 1e-6)
    np.testing.assert_allclose(energy - energy[0], work, atol=2e-4 * size)
    assert np.abs(power).max() > 0


def _through(name: str, motion) -> np.ndarray:
    """G q̇ by hand: the hidden residual of a position constraint, the residual of a homogeneous velocity constraint."""
    return motion.hidden[name] if name in motion.hidden else motion.residuals[name]


def test_the_stabilising_power_is_the_difference_to_the_unstabilised_energy() -> None:
    """Without gains a disturbed pendulum changes its energy at λ₀·ḣ; the gains add (λ - λ₀)·ḣ, λ from Newton's law."""
    alpha, beta = 6.0, 40.0
    motion = simulate(
        model("pendulum-xy", **{"initial.x": 1.05, "initial.x'": 0.4}),
        **ACCURATE,
        until=1,
        every=0.01,
        stabilize={"alpha": alpha, "beta": beta},
    )
    x, y = motion.column("x"), motion.column("y")
    h, g = motion.residuals["rod"], motion.hidden["rod"]
    # G M⁻¹ Gᵀ (λ - λ₀) = -(α ḣ + β h), G = (2x, 2y), M = 1
    expected = -(alpha * g + beta * h) / (4 * (x**2 + y**2)) * g
    np.testing.assert_allclose(motion.quantities["stabilising power"], expected, atol=1e-12)


def test_the_error_by_halving_is_the_error() -> None:
    """A pendulum on a circle, compared with a reference: the estimate is within a few per cent."""
    system = model("pendulum-xy")
    for name, step in (("euler", 0.0005), ("rk2", 0.01), ("rk4", 0.02)):
        motion = simulate(system, method=name, step=step, until=1, stabilize="off", halve=True)
        reference = simulate(system, **ACCURATE, until=1, every=step, stabilize="off")
        scale = np.abs(motion.states).max(axis=0)
        error = np.max(np.abs(motion.states - reference.states).max(axis=0) / scale)
        assert motion.trajectory_error == pytest.approx(error, rel=0.15)


def test_error_bound_of_euler_with_the_published_numbers() -> None:
    system = model("inverse-cart", gain=0)
    published = {1: (4.6e-3, 1.1e-2), 2: (1.4e-2, 5.6e-2), 5: (3.5e-2, 4.2), 10: (5.5e-2, 4.9e3)}
    for end, (actual, bound) in published.items():
        motion = simulate(system, method="euler", step=0.01, until=end)
        t = motion.times
        exact = np.column_stack([np.sin(t), -np.cos(t), t, np.cos(t), np.sin(t), np.ones_like(t)])
        error = np.abs(motion.states - exact).max()
        found = as_json(motion)["error_bound"]
        assert error == pytest.approx(actual, rel=0.015)
        assert found["value"] == pytest.approx(bound, rel=0.015)
        assert error <= found["value"]
        assert found["growth"] == pytest.approx(np.sqrt(2), rel=1e-4)
    assert "error_bound" not in as_json(simulate(system, method="rk4", step=0.01, until=1))


def test_the_error_bound_counts_what_the_gains_do() -> None:
    system = model("sleigh", **{"initial.x'": 0.02})
    off, on = (
        as_json(simulate(system, method="euler", step=0.001, until=0.5, stabilize=how))["error_bound"]
        for how in ("off", 50)
    )
    assert on["growth"] == pytest.approx(off["growth"], rel=0.05)
    # κ |f| |∂q̈/∂f|: f = -0.02 sin(pi/3) at the start
    assert on["defect"] > off["defect"] + 0.5


# projection


def relative_residuals(motion, system: System) -> float:
    """The largest residual, position and velocity, over the own scale of its constraint, in the first phase."""
    from svyaz.motion import phases_of
    from svyaz.stabilise.options import options_for

    phase = phases_of(system, "multipliers", options_for(system, {}))[0]
    rows = motion.times <= phase.end
    measured = deviations(phase.equations)
    times, states = motion.times[rows], motion.states[rows]
    y = np.abs(measured.at(times, states))[1:]
    return float(np.max(np.max(y, axis=0) / measured.scales(times, states)))


@pytest.mark.parametrize("name", NINE)
def test_C3_projection_keeps_every_residual_below_1e12_of_its_scale(name) -> None:
    system = model(name)
    runs = [{"method": m, "step": 0.005} for m in ("rk4", "dopri5", "dop853")]
    runs += [{"method": m, "rtol": 1e-7} for m in ("dopri5", "dop853")]
    for how in runs:
        motion = simulate(system, **how, stabilize="projection", every=None if "step" in how else 0.01)
        assert motion.finished, motion.reason
        assert relative_residuals(motion, system) < 1e-12, how


def test_projection_leaves_the_order_of_the_method() -> None:
    system = model("slider-crank")
    reference = simulate(system, **ACCURATE, until=1, every=1.0, stabilize="off").states[-1]
    errors = [
        np.abs(simulate(system, method="rk4", step=h, until=1, stabilize="projection").states[-1] - reference).max()
        for h in (0.02, 0.01)
    ]
    assert errors[0] / errors[1] == pytest.approx(16, rel=0.25)


# tolerance


@pytest.mark.parametrize("name", ["pendulum-xy", "sleigh", "rocket-path", "rolling-disc"])
@pytest.mark.parametrize("tolerance", [1e-3, 1e-6])
def test_C4_with_a_tolerance_the_residual_stays_below_or_the_run_is_refused(name, tolerance) -> None:
    motion = simulate(model(name), method="rk2", step=0.01, until=2, stabilize="auto", tolerance=tolerance)
    if motion.status == "infeasible":
        assert "below" in motion.reason or "tolerance" in motion.reason
        return
    assert motion.finished
    for values in motion.residuals.values():
        assert np.abs(values).max() <= tolerance
    assert motion.gains.choice.log


def test_C4_a_tolerance_out_of_reach_is_refused() -> None:
    motion = simulate(model("sleigh"), method="euler", step=0.01, until=2, stabilize="auto", tolerance=1e-13)
    assert motion.status == "infeasible"
    assert "1e-13" in motion.reason


def test_C4_given_gains_are_refused_when_they_leave_more_than_the_tolerance() -> None:
    motion = simulate(model("sleigh"), method="euler", step=0.001, stabilize=20, tolerance=1e-3)
    assert motion.status == "infeasible"
    assert "'blade' is predicted to reach" in motion.reason


# units


def centimetres(system: System) -> System:
    """The pendulum with lengths in centimetres."""
    return system.with_settings({"l": 100, "g": 981, "initial.x": 100})


def in_degrees(angle: float = 180 / pi) -> System:
    """The sleigh with its heading in degrees: phi = psi/angle."""
    words = dict(model("sleigh").words)
    text = json.dumps(words)
    for old, new in (("phi'", "(psi'/s)"), ("(phi)", "(psi/s)"), ("phi", "psi")):
        text = text.replace(old, new)
    changed = json.loads(text)
    changed["parameters"]["s"] = angle
    changed["initial"] = {"y": 1, "psi": f"{angle}*pi/3", "psi'": angle}
    return System.from_words({k: v for k, v in changed.items() if k != "source"})


HOWS = [
    {"method": "rk4", "step": 0.01, "stabilize": 20},
    {"method": "rk4", "step": 0.01, "stabilize": "auto"},
    {"method": "euler", "step": 0.001, "stabilize": "auto"},
    {"method": "rk4", "step": 0.01, "stabilize": "projection"},
    {"method": "rk4", "step": 0.01, "stabilize": {"alpha": 30, "beta": 100, "kappa": 400}},
]


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("lengths", ["metres and centimetres", "radians and degrees"])
def test_C6_units_change_neither_verdicts_nor_motion(how, lengths) -> None:
    if lengths == "metres and centimetres":
        one, other = model("pendulum-xy"), centimetres(model("pendulum-xy"))
        factors = np.full(4, 100.0)
    else:
        one, other = model("sleigh"), in_degrees()
        factors = np.array([1, 1, 180 / pi, 1, 1, 180 / pi])
    first, second = (simulate(system, **how, until=2) for system in (one, other))
    assert first.status == second.status
    assert first.gains.word == second.gains.word
    if how["stabilize"] == "auto":
        assert first.gains.proposed == pytest.approx(second.gains.proposed, rel=1e-9)
    size = np.abs(first.states).max(axis=0)
    size = np.where(size > 0, size, 1.0)
    np.testing.assert_allclose(second.states / factors / size, first.states / size, atol=1e-9)
    checks = [as_json(check(system, **how, until=2)) for system in (one, other)]
    assert checks[0]["rank"] == checks[1]["rank"]
    assert checks[0]["condition"] == pytest.approx(checks[1]["condition"], rel=1e-9)
    assert checks[0]["gains"].get("reasons") == checks[1]["gains"].get("reasons")


def test_C3_projection_corrects_more_often_where_steps_are_coarse() -> None:
    system = loads(gallery.find("three-link"), "three-link")
    motion = simulate(system, method="rk4", step=0.02, stabilize="projection")
    assert motion.finished
    assert any("twice as many corrections" in note for note in motion.notes)
    assert max(np.max(np.abs(values)) for values in motion.residuals.values()) < 1e-12
    assert max(np.max(np.abs(values)) for values in motion.hidden.values()) < 1e-12


def test_the_result_writes_gains_as_the_blocks_that_were_given() -> None:
    """d/dt(h, ḣ, f) = [0 1 0; A B C; 0 D E](h, ḣ, f), with plus: -β = A, -α = B, -κ = E."""
    text = gallery.find("three-link")
    assert text is not None
    system = loads(text, "three-link")
    gains = {"alpha": 20, "beta": 100, "kappa": 10}
    values = as_json(simulate(system, method="rk4", step=0.001, until=0.01, stabilize=gains))["gains"]["values"]
    assert values == {"A": (-100 * np.eye(4)).tolist(), "B": (-20 * np.eye(4)).tolist(), "E": [[-10.0]]}
    blocks = {"A": -100.0, "B": -20.0, "C": [[1.0]] * 4, "E": -10.0}
    again = as_json(simulate(system, method="rk4", step=0.001, until=0.01, stabilize=blocks))["gains"]["values"]
    assert again == {**values, "C": [[1.0]] * 4}
