"""Closed loops on the full nonlinear ball and beam: published transients, wrong models, inconsistent starts, basins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from svyaz import System, gallery, loads
from svyaz.control import Regulation, placing, regulate
from svyaz.control.basin import basin, usual_ranges
from svyaz.control.design import designed
from svyaz.control.loop import closed_loop
from svyaz.control.trials import shifted_limit
from svyaz.expr import ModelError
from svyaz.show import as_json
from svyaz.stability.starts import consistent_start


def stand(**choices: str) -> System:
    return loads(gallery.find("ball-and-beam", {"energy": "dissertation", **choices}) or "", "ball-and-beam")


def regulation(dependent: str = "theta", settings: Mapping[str, float] | None = None, **choices: str) -> Regulation:
    system = stand(**choices)
    system = system.with_settings(dict(settings)) if settings else system
    return regulate(system, dependent=[dependent], against_linearised=True)


def started(found: Regulation, **deviation: float) -> dict[str, float]:
    rest = {**found.plant.state}
    return dict(consistent_start(found.system, rest, found.plant.dependent, deviation).state)


@pytest.mark.parametrize(
    ("where", "r", "alpha", "theta"),
    [
        ("zero", (1.86452e-2, 3.14959e-3, -7.36884e-3, -3.39309e-3, -3.82237e-5),
         (1.51554e-3, -4.35847e-3, -1.96938e-3, 3.57596e-4, 5.82216e-5), 0.142154),
        ("nonzero", (1.90247e-2, 5.33014e-3, -2.61863e-3, -7.74491e-4, -1.20898e-5), None, -0.087456),
    ],
)  # fmt: skip
def test_003_A27_transients_under_torque(
    where: str, r: Sequence[float], alpha: Sequence[float] | None, theta: float
) -> None:
    found = regulation(equilibrium=where)
    start = started(found, r=0.03, alpha=0.02)
    assert start["theta"] - found.plant.state["theta"] == pytest.approx(theta, abs=1e-6)
    run = found.loop().run(start, 5.0, rows=10)
    rows = [1, 2, 4, 6, 10]
    assert run.deviations["r"][rows] == pytest.approx(r, rel=1e-3)
    if alpha is not None:
        assert run.deviations["alpha"][rows] == pytest.approx(alpha, rel=1e-3)
    assert run.largest_residual < 1e-12


@pytest.mark.parametrize(
    ("where", "r"), [("zero", (0.0238454, 0.0104039, 3.7184e-4)), ("nonzero", (0.0222565, 0.00846804, 3.6434e-4))]
)
def test_003_A27_transients_from_a_level_beam(where: str, r: Sequence[float]) -> None:
    found = regulation(equilibrium=where)
    run = found.loop().run(started(found, r=0.03), 10.0, rows=10)
    assert run.deviations["r"][[1, 2, 5]] == pytest.approx(r, rel=1e-3)
    assert run.deviations["r"][10] == pytest.approx(3.3e-6 if where == "zero" else 2.5e-6, abs=6e-8)
    assert run.returned


@pytest.mark.parametrize(
    ("motor", "where", "r"),
    [
        ("numbers", "zero", (0.0289990, 0.0243357, 0.0030040, -0.0006541, 0.0001883)),
        ("numbers", "nonzero", (0.0275749, 0.0183035, -0.0026964, 0.0003904, -0.0000197)),
        ("printed-table", "zero", (0.0289898, 0.0242923, 0.0029213, -0.0006269, 0.0001805)),
        ("printed-table", "nonzero", (0.0275544, 0.0182284, -0.0027092, 0.0003825, -0.0000178)),
    ],
)
def test_003_A27_transients_under_voltage(motor: str, where: str, r: Sequence[float]) -> None:
    found = regulation("alpha", control="voltage", motor=motor, equilibrium=where)
    run = found.loop().run(started(found, r=0.03), 15.0, rows=15)
    assert run.deviations["r"][[1, 2, 5, 10, 15]] == pytest.approx(r, rel=1e-3, abs=6e-8)


@pytest.mark.parametrize(("where", "r", "theta"), [("zero", -2.745e-5, 0.049263), ("nonzero", -7.316e-5, 0.049655)])
def test_003_A28_an_inconsistent_start_does_not_return(where: str, r: float, theta: float) -> None:
    """F keeps its value, and the motion tends to the limit that was computed beforehand."""
    found = regulation(equilibrium=where)
    start = started(found, r=0.03, alpha=0.02)
    start["theta"] += 0.05
    run = found.loop().run(start, 40.0, rows=80)
    level = run.residuals["rod"]
    assert np.abs(level - level[0]).max() < 1e-6 * abs(level[0])
    assert not run.returned
    limit = shifted_limit(found.design, start)
    last = run.final
    for q in ("r", "alpha", "theta"):
        assert last[q] == pytest.approx(limit[q], abs=1e-6)
    assert last["r"] - 0.25 == pytest.approx(r, rel=2e-3)
    assert last["theta"] - found.plant.state["theta"] == pytest.approx(theta, rel=1e-3)


@pytest.mark.parametrize(("d", "wrong_returns"), [(0.09, True), (0.093, True), (0.0935, False), (0.095, False)])
def test_003_A29_gains_of_the_linearised_model_on_the_true_plant(d: float, wrong_returns: bool) -> None:
    found = regulation("alpha", {"d": d}, control="voltage", motor="numbers", equilibrium="nonzero")
    start = started(found, r=0.03)
    assert found.loop().run(start, 60.0).returned
    assert found.rival_loop().run(start, 60.0).returned is wrong_returns


@pytest.mark.parametrize(
    ("d", "lagrange", "shulgin"),
    [(0.06, -0.46227, -0.44548), (0.09, -0.45025, -0.48525), (0.0935, -0.05037, -0.36963), (0.095, 0.24357, -0.31003)],
)
def test_largest_real_parts_over_d(d: float, lagrange: float, shulgin: float) -> None:
    found = regulation("alpha", {"d": d}, control="voltage", motor="numbers", equilibrium="nonzero")
    assert found.rival.closed_roots(found.plant).real.max() == pytest.approx(lagrange, abs=2e-5)
    assert found.design.closed_roots(found.plant).real.max() == pytest.approx(shulgin, abs=2e-5)


def test_003_A30_the_radius_at_which_the_linearised_design_fails() -> None:
    found = regulation("alpha", control="voltage", motor="numbers", equilibrium="nonzero")
    assert found.margin("d", (0.05, 0.11)).first == pytest.approx(0.09379, abs=2e-5)


def test_003_A30a_with_an_observer_it_fails_earlier() -> None:
    system = stand(control="voltage", motor="numbers", equilibrium="nonzero")
    found = regulate(system, dependent=["alpha"], measure=["r"], against_linearised=True)
    critical = found.margin("d", (0.05, 0.09))
    assert critical.first == pytest.approx(0.07452, abs=1e-5)
    assert np.interp(0.06, critical.values, critical.largest) == pytest.approx(-0.2479, abs=1e-3)
    assert np.interp(0.08, critical.values, critical.largest) == pytest.approx(0.2138, abs=1e-3)
    for d, largest in [(0.06, -0.4455), (0.09, -0.4852), (0.0935, -0.3696)]:
        right = regulate(system.with_settings({"d": d}), dependent=["alpha"], measure=["r"])
        assert right.design.closed_roots(right.plant).real.max() == pytest.approx(largest, abs=1e-3)


@pytest.mark.parametrize("where", ["zero", "nonzero"])
def test_an_observer_from_the_position_of_the_ball_suffices(where: str) -> None:
    system = stand(control="voltage", motor="numbers", equilibrium=where)
    found = regulate(system, dependent=["alpha"], measure=["r"])
    run = found.loop().run(started(found, r=0.02), 40.0, rows=80)
    assert abs(run.deviations["r"][-1]) < 1.3e-7
    assert run.returned


@pytest.mark.parametrize("where", ["zero", "nonzero"])
def test_R4_multipliers_and_shulgin_agree_under_the_same_control(where: str) -> None:
    found = regulation(equilibrium=where)
    start = started(found, r=0.03, alpha=0.02)
    first = found.loop().run(start, 10.0, rtol=1e-11)
    second = closed_loop(found.design, form="multipliers").run(start, 10.0, rtol=1e-11)
    for name in found.plant.variables:
        assert np.abs(first.deviations[name] - second.deviations[name]).max() < 1e-7


def test_a_basin_counts_what_returns() -> None:
    found = regulation(equilibrium="nonzero")
    within = basin(found.loop(), {"r": (-0.03, 0.03), "alpha": (-0.02, 0.02)}, 100)
    assert (within.fraction, within.radius, within.outside) == (1.0, 1.0, 0)
    too_wide = basin(found.loop(), {"r": (-0.03, 0.03), "alpha": (-0.3, 0.3)}, 100)
    assert too_wide.outside > 0  # the rod does not reach such inclinations
    lost = regulation("alpha", {"d": 0.0935}, control="voltage", motor="numbers", equilibrium="nonzero")
    wrong = basin(lost.rival_loop(), {"r": (-0.06, 0.06)}, 60, until=200.0)
    assert 0.0 < wrong.fraction < 1.0
    assert 0.0 < wrong.radius < 1.0
    told = as_json(wrong)
    assert told["returned"] == sum(shell["returned"] for shell in told["shells"])


def test_a_regulation_takes_values_for_its_basin_as_for_its_runs() -> None:
    found = regulation(equilibrium="nonzero")
    at = found.plant.state
    values = {"r": (at["r"] - 0.03, at["r"] + 0.01), "r'": (-0.02, 0.04)}
    asked = found.basin(values, 20, 10.0)
    assert asked.ranges["r"] == pytest.approx((-0.03, 0.01))
    assert asked.ranges["r'"] == (-0.02, 0.04)
    same = basin(found.loop(), asked.ranges, 20, 10.0)
    assert np.array_equal(asked.starts, same.starts)
    assert np.array_equal(asked.returned, same.returned)
    with pytest.raises(ModelError, match="'alpha, r' cannot be chosen: a basin is spanned by r, "):
        found.basin({"alpha, r": (0.0, 1.0)}, 2)


def test_a_basin_that_is_not_spanned_reaches_over_the_box_or_a_tenth() -> None:
    words = {"coordinates": ["x", "y"], "kinetic": "(x'^2 + y'^2)/2", "inputs": {"f": 0.0, "h": 0.0}}
    system = System(**words, forces={"x": "f", "y": "h - sin(y)"}, box={"x": [-1, 2]})
    assert usual_ranges(regulate(system, fix={"x": 0.5, "h": 0.0}, near={"y": 0.1}).plant) == {
        "x": (-1.5, 1.5),
        "y": pytest.approx((-0.1, 0.1)),
    }


def test_an_input_is_cut_off_at_its_limits() -> None:
    words = dict(stand().words)
    system = System(**{**words, "inputs": {"nu": {"value": 0.02, "low": -0.05, "high": 0.05}}})
    found = regulate(system, dependent=["theta"])
    run = closed_loop(found.design).run(started(found, r=0.03), 20.0)
    assert run.inputs["nu"].max() <= 0.05 + 1e-15
    assert run.inputs["nu"].min() >= -0.05 - 1e-15
    assert run.returned


def test_the_linear_transient_is_that_of_the_matrix() -> None:
    found = regulation()
    run = found.loop().run(started(found, r=1e-5), 3.0, rows=30)
    assert run.linear["r"] == pytest.approx(run.deviations["r"], abs=1e-9)


def test_a_design_from_the_true_model_is_its_own_rival_where_the_rod_may_be_linearised() -> None:
    found = regulation()
    assert found.rival.regulator.gain == pytest.approx(found.design.regulator.gain, rel=1e-9)
    assert designed(found.plant).regulator.gain == pytest.approx(found.design.regulator.gain, rel=1e-12)
    assert found.valid


@pytest.mark.parametrize(("until", "returned"), [(1.0, False), (20.0, True)])
def test_V1_a_closed_loop_that_runs_on_says_which_limit_it_passed(until: float, returned: bool) -> None:
    """x = exp(-t) - exp(-2t) reaches 1/4 and passes 1/5 at exp(-t) = (1 + √0.2)/2, whatever becomes of it afterwards."""
    words = {
        "name": "cart",
        "coordinates": ["x"],
        "kinetic": "x'^2/2",
        "inputs": {"u": 0},
        "forces": {"x": "u"},
        "limits": {"x": [-3, 0.2], "x'": [-5, 5]},
    }
    found = regulate(System.from_words(words), method=placing([-1.0, -2.0]))
    trial = found.run({"x'": 1.0}, until, beyond=True)["regulator"]
    record = as_json(trial)
    assert record["returned"] is returned
    passed = -np.log((1 + np.sqrt(0.2)) / 2)
    assert record["limits"]["x"]["left"] == pytest.approx(passed, abs=1e-7)
    assert record["limits"]["x"]["greatest"] == pytest.approx(0.25, abs=1e-4)
    assert record["limits"]["x'"]["left"] is None
    (note,) = record["notes"]
    assert note.startswith(f"beyond its limits -3 ≤ x ≤ 0.2 from t = {passed:.6g}, as far as 0.2")
    ended = found.run({"x'": 1.0}, until)["regulator"]
    assert (ended.transient.status, ended.notes) == ("left", ())
