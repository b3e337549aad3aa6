"""The ball and beam of the literature: geometry, first approximations, gains and roots, as printed and as corrected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import symengine as se

from svyaz import System, gallery, loads
from svyaz.control import regulate
from svyaz.control.design import designed
from svyaz.control.pairs import controllability, kalman_matrix, observability
from svyaz.control.regulators import establish, lqr, observer, transported
from svyaz.expr.calculus import Expression, evaluate, gradient
from svyaz.forms.derivation import derive
from svyaz.forms.named.shulgin import redundancy
from svyaz.stability.choice import NoEquilibrium
from svyaz.stability.linearisation import FirstApproximation, first_approximation, with_linearised_constraints
from svyaz.stability.spectrum import signs, zero_roots
from svyaz.stability.starts import consistent_start


def stand(**choices: str) -> System:
    chosen = {"energy": "dissertation", **choices}
    return loads(gallery.find("ball-and-beam", chosen) or "", "ball-and-beam")


def equilibrium(system: System) -> dict[str, float]:
    return {"alpha": 0.0, **system.initial, "r": system.parameters["r0"]}


def matrices(dependent: str = "theta", **choices: str) -> FirstApproximation:
    system = stand(**choices)
    return first_approximation(system, equilibrium(system), dependent=[dependent])


def wrong(dependent: str = "theta", **choices: str) -> FirstApproximation:
    system = stand(**choices)
    return with_linearised_constraints(system, equilibrium(system), dependent=[dependent])


def within_last_digit(found: Sequence[float], printed: Sequence[str]) -> None:
    """Within 0.6 units of the last digit that was printed."""
    for value, text in zip(found, printed, strict=True):
        digits = len(text.partition(".")[2])
        assert abs(value - float(text)) <= 0.6 * 10.0**-digits, (value, text)


def sorted_roots(values: Sequence[complex]) -> np.ndarray:
    return np.array(sorted(values, key=lambda z: (round(z.real, 6), z.imag)))


def same_roots(found: Sequence[complex], expected: Sequence[complex], rel: float = 1e-4) -> None:
    for a, b in zip(sorted_roots(found), sorted_roots(expected), strict=True):
        assert abs(a - b) <= rel * max(1.0, abs(b)), (a, b)


def test_003_A1_geometry() -> None:
    """θ₁, and α_max: the wheel reaches inclinations just below it and none above."""
    system = stand(equilibrium="nonzero")
    assert system.parameters["theta0"] == pytest.approx(2.2142974, abs=1e-7)
    assert system.parameters["alpha_max"] == pytest.approx(0.1196981, abs=1e-7)
    assert system.parameters["alpha_min"] == pytest.approx(-0.208669, abs=1e-6)
    rest = equilibrium(stand())
    for alpha, halvings in [(0.1196980, 0), (0.1196982, 1)]:
        assert consistent_start(stand(), rest, ["theta"], {"alpha": alpha}).halvings == halvings


def rod_slope(where: str) -> tuple[Expression, dict[str, float]]:
    """dθ/dα as an expression, and the values at the equilibrium."""
    system = stand(equilibrium=where)
    split = redundancy(derive(system, "multipliers"), ["theta"])
    return split.matrix[0][split.independent.index("alpha")], {**system.constants, **equilibrium(system)}


@pytest.mark.parametrize(("where", "ratio"), [("zero", 85 / 12), ("nonzero", -4.25)])
def test_003_A2_slope_of_the_rod(where: str, ratio: float) -> None:
    slope, values = rod_slope(where)
    assert evaluate(slope, values) == pytest.approx(ratio, abs=1e-9)
    assert matrices(equilibrium=where).slope[0, 1] == pytest.approx(ratio, abs=1e-9)


@pytest.mark.parametrize(("where", "slopes"), [("zero", (0, 0)), ("nonzero", (-10.388889, 0))])
def test_003_A3_derivatives_of_the_slope(where: str, slopes: tuple[float, float]) -> None:
    slope, values = rod_slope(where)
    found = [evaluate(e, values) for e in gradient(slope, [se.Symbol("alpha"), se.Symbol("theta")])]
    assert found == pytest.approx(slopes, abs=1e-6)


def test_003_A5_first_approximation_under_torque_at_zero() -> None:
    found = matrices()
    within_last_digit(found.A[2], ["-1.6187", "-6.9561", "0", "-38.8074"])
    within_last_digit(found.A[3], ["-64.1936", "0.0118", "0", "-1539.0019"])
    within_last_digit(found.B[2:, 0], ["18.2623", "724.2362"])


def test_003_A6_open_roots() -> None:
    expected = sorted_roots([-1539.0009, -0.33132 + 0.57342j, -0.33132 - 0.57342j, 0.66159])
    assert np.abs(sorted_roots(np.linalg.eigvals(matrices().A)) - expected).max() < 1e-4


def test_003_A9_closed_roots() -> None:
    regulator = lqr(matrices().A, matrices().B)
    same_roots(regulator.roots, [-1700.9924, -1.1693 + 1.3082j, -1.1693 - 1.3082j, -0.9658])


@pytest.mark.parametrize("where", ["zero", "nonzero"])
def test_003_A7_controllability_matrix(where: str) -> None:
    """All printed entries; the zero case with the two lost signs, the nonzero one with its two slips of one digit."""
    printed = {
        "zero": [[0, 18.2623, -28105.7492, 43249734.6481], [0, 724.2362, -1114600.8997, 1715371761.6573],
                 [18.2623, -28105.7492, 43249734.6481, -66561379529.4002],
                 [724.2362, -1114600.8997, 1715371761.6573, -2639958644829.29]],
        "nonzero": [[0, -17.6228, 15702.9975, -13987455.3054], [0, -698.8731, 622740.0319, -554898889.4843],
                    [-17.6228, 15702.9975, -13987455.3054, 12463665429.1266],
                    [-698.8731, 622740.0319, -554898889.4843, 494448344060.28]],
    }[where]  # fmt: skip
    found = matrices() if where == "zero" else wrong(equilibrium="nonzero")
    assert kalman_matrix(found.A, found.B) == pytest.approx(np.array(printed), rel=2e-6, abs=1e-12)
    assert controllability(found.A, found.B).complete


def test_003_A8_gains_under_torque_at_zero() -> None:
    gain = lqr(matrices().A, matrices().B).gain[0]
    within_last_digit(-gain, ["1.0926", "-7.7938", "1.8026", "-0.2737"])


def test_003_A10_the_printed_nonzero_case_is_the_one_with_a_linearised_rod() -> None:
    found = wrong(equilibrium="nonzero")
    within_last_digit(found.A[2], ["-2.6034", "-6.9559", "0", "-22.469"])
    within_last_digit(found.A[3], ["-103.2425", "0.019", "0", "-891.0632"])
    within_last_digit(found.B[2:, 0], ["-17.6228", "-698.8731"])
    regulator = lqr(found.A, found.B)
    within_last_digit(-regulator.gain[0], ["-1.1586", "6.3023", "-1.6827", "0.3935"])
    opened, closed = sorted_roots(np.linalg.eigvals(found.A)), sorted_roots(regulator.roots)
    within_last_digit(opened.real, ["-891.06", "-0.4661", "-0.4661", "0.9293"])
    within_last_digit(opened.imag, ["0", "-0.8062", "0.8062", "0"])
    within_last_digit(closed.real, ["-1132.5732", "-1.4361", "-1.4361", "-0.9946"])
    within_last_digit(closed.imag, ["0", "-1.51667", "1.51667", "0"])


def test_003_A11_the_true_nonzero_case() -> None:
    found = matrices(equilibrium="nonzero")
    assert found.A[2, 1] == pytest.approx(-5.36495, rel=1e-4)
    assert found.A[3, 1] == pytest.approx(63.11161, rel=1e-4)
    regulator = lqr(found.A, found.B)
    assert -regulator.gain[0] == pytest.approx([-1.15858, 6.39102, -1.68146, 0.39358], rel=1e-4)
    same_roots(regulator.roots, [-1132.62887, -1.43464 + 1.51541j, -1.43464 - 1.51541j, -0.99639])


@pytest.mark.parametrize("control", ["torque", "voltage"])
@pytest.mark.parametrize("dependent", ["theta", "alpha"])
def test_003_A12_where_the_rod_may_be_linearised(control: str, dependent: str) -> None:
    zero = matrices(dependent, control=control)
    assert zero.linearisation_defect < 1e-12
    assert zero.may_linearise_constraints
    nonzero = matrices(dependent, control=control, equilibrium="nonzero")
    assert nonzero.linearisation_defect > 1e-2
    assert not nonzero.may_linearise_constraints


@pytest.mark.parametrize("control", ["torque", "voltage"])
@pytest.mark.parametrize("where", ["zero", "nonzero"])
@pytest.mark.parametrize("dependent", ["theta", "alpha"])
@pytest.mark.parametrize("motor", ["numbers", "printed-table"])
def test_003_A13_one_zero_root_in_every_closed_loop(control: str, where: str, dependent: str, motor: str) -> None:
    found = matrices(dependent, control=control, equilibrium=where, motor=motor)
    gain = lqr(found.A, found.B).gain
    closed = found.full_matrix
    n = len(found.A)
    closed[:n, :n] -= found.B @ gain
    assert zero_roots(closed) == 1
    assert np.count_nonzero(np.abs(np.linalg.eigvals(closed)) < 1e-7) == 1
    assert signs(closed) == (n, 1, 0)


NUMBERS = {"control": "voltage", "motor": "numbers"}


def test_003_A14_voltage_at_zero() -> None:
    found = matrices(**NUMBERS)
    assert found.A[2] == pytest.approx([-1.89054, -6.92805, 0, -45.32463, 0.16360], rel=1e-4, abs=1e-9)
    assert found.A[3] == pytest.approx([-75.27473, 0.02143, 0, -1804.66593, 6.51378], rel=1e-4, abs=5e-6)
    assert found.A[4] == pytest.approx([0, 0, 0, -4427.0833, -1625], rel=1e-6)
    assert found.B[:, 0] == pytest.approx([0, 0, 0, 0, 4.225], rel=1e-9)


def test_003_A15_gains_under_voltage_at_zero() -> None:
    regulator = lqr(matrices(**NUMBERS).A, matrices(**NUMBERS).B)
    assert regulator.gain[0] == pytest.approx([-8893.036, 142066.42, -13503.44, 416.945, 0.31305], rel=1e-4)
    assert regulator.residual < 1e-11


def test_003_A16_the_printed_gains_come_from_two_exchanged_columns() -> None:
    found = matrices(**NUMBERS)
    slipped = found.A.copy()
    slipped[3, 1], slipped[3, 2] = 0.0, 0.02143
    gain = lqr(slipped, found.B).gain[0]
    assert np.abs(gain[:3]) == pytest.approx([8893.03, 142014.19, 13494.82], rel=1e-5)
    within_last_digit(np.abs(gain[3:]), ["416.70", "0.3129"])
    within_last_digit(np.abs(gain), ["8893", "142014.2", "13494.8", "416.7", "0.3"])


def test_003_A17_gains_under_voltage_at_nonzero() -> None:
    found = matrices(**NUMBERS, equilibrium="nonzero")
    gain = lqr(found.A, found.B).gain[0]
    assert gain == pytest.approx([14824.33, -122462.98, 15700.47, -497.797, 0.44825], rel=1e-4)


@pytest.mark.parametrize(
    ("where", "dependent", "gains", "roots"),
    [
        ("zero", "theta", (-73.09223, 1160.0787, -110.63987, 3.41878, 0.18779),
         (-1801.531, -1744.180, -0.66076, -0.33095 + 0.5727j, -0.33095 - 0.5727j)),
        ("nonzero", "theta", (121.82588, -1000.0491, 128.60155, -4.08236, 0.18871),
         (-1740.832, -1167.739, -0.94738, -0.44687 + 0.8048j, -0.44687 - 0.8048j)),
        ("zero", "alpha", (-73.09283, 163.78331, -110.64240, 0.48461, 0.18783), None),
        ("nonzero", "alpha", (121.82664, 235.31329, 128.60373, 0.96286, 0.18874), None),
    ],
)  # fmt: skip
def test_gains_with_the_motor_of_the_table(
    where: str, dependent: str, gains: Sequence[float], roots: Sequence[complex] | None
) -> None:
    found = matrices(dependent, control="voltage", motor="printed-table", equilibrium=where)
    regulator = lqr(found.A, found.B)
    assert regulator.gain[0] == pytest.approx(gains, rel=1e-4)
    if roots is not None:
        same_roots(regulator.roots, roots)


@pytest.mark.parametrize("where", ["zero", "nonzero"])
def test_003_A18_the_two_choices_of_the_redundant_coordinate_are_similar(where: str) -> None:
    first = matrices("theta", **NUMBERS, equilibrium=where)
    second = matrices("alpha", **NUMBERS, equilibrium=where)
    ratio = first.slope[0, 1]
    change = np.diag([1, ratio, 1, ratio, 1])
    difference = second.A - change @ first.A @ np.linalg.inv(change)
    assert np.abs(difference).max() < 1e-9


def test_weights_transported_between_the_choices_give_the_same_feedback() -> None:
    first, second = matrices("theta"), matrices("alpha")
    change = np.diag([1, first.slope[0, 1], 1, first.slope[0, 1]])
    same = lqr(second.A, second.B, transported(np.eye(4), change)).gain @ change
    assert same[0] == pytest.approx(lqr(first.A, first.B).gain[0], rel=1e-9)
    plain = lqr(second.A, second.B)
    assert -plain.gain[0] == pytest.approx([1.09256, -2.46249, 2.45653, -0.75324], rel=1e-4)
    same_roots(plain.roots, [-5355.91, -0.98055, -0.68711 + 0.70068j, -0.68711 - 0.70068j])


def test_003_A19_the_linearised_model_differs_in_two_entries_only() -> None:
    zero_true, zero_wrong = matrices("alpha", **NUMBERS), wrong("alpha", **NUMBERS)
    assert np.abs(zero_true.A - zero_wrong.A).max() < 1e-9
    true, linear = matrices("alpha", **NUMBERS, equilibrium="nonzero"), wrong("alpha", **NUMBERS, equilibrium="nonzero")
    assert [linear.A[2, 1], linear.A[3, 1]] == pytest.approx([1.63003, 0.03852], rel=1e-4)
    assert [true.A[2, 1], true.A[3, 1]] == pytest.approx([1.23923, 66.1696], rel=1e-4)
    different = np.argwhere(np.abs(true.A - linear.A) > 1e-9)
    assert different.tolist() == [[2, 1], [3, 1]]


@pytest.mark.parametrize(
    ("motor", "where", "gains", "roots"),
    [
        ("numbers", "zero", (2.422713, -1.334144, 2.434768, -0.708301, 0.272186),
         (-1714.83 + 144.11j, -1714.83 - 144.11j, -1.00922, -0.70726 + 0.71389j, -0.70726 - 0.71389j)),
        ("numbers", "nonzero", (2.812668, 1.718748, 3.455551, 1.466106, -0.563354),
         (-1579.75, -1212.78, -1.28529, -0.73707 + 0.93194j, -0.73707 - 0.93194j)),
        ("printed-table", "zero", (2.423092, -1.337796, 2.435688, -0.715319, 0.002108), None),
        ("printed-table", "nonzero", (2.814377, 1.726916, 3.460360, 1.481694, -0.004367), None),
    ],
)  # fmt: skip
def test_003_A20_observer_from_the_position_of_the_ball(
    motor: str, where: str, gains: Sequence[float], roots: Sequence[complex] | None
) -> None:
    found = matrices("alpha", control="voltage", motor=motor, equilibrium=where)
    sigma = [[1, 0, 0, 0, 0]]
    assert observability(found.A, sigma).complete
    watcher = observer(found.A, sigma)
    assert watcher.gain[:, 0] == pytest.approx(gains, rel=1e-4, abs=5e-7)
    assert (watcher.roots.real < 0).all()
    if roots is not None:
        same_roots(watcher.roots, roots)


@pytest.mark.parametrize(
    ("motor", "current", "voltage"), [("numbers", 2.31124, 888.940), ("printed-table", 2.62237, 6.81817)]
)
def test_003_A26_currents_and_voltages_that_hold_the_ball(motor: str, current: float, voltage: float) -> None:
    system = stand(control="voltage", motor=motor)
    assert system.initial["I"] == pytest.approx(current, rel=1e-5)
    assert system.inputs["e"].value == pytest.approx(voltage, rel=1e-5)
    first_approximation(system, equilibrium(system))  # refuses what is no equilibrium


def test_003_A31_establishment_and_schur_give_the_same_gains() -> None:
    found = matrices()
    assert establish(found.A, found.B, duration=10.0).gain == pytest.approx(lqr(found.A, found.B).gain, abs=1e-6)


def test_003_A34_controllable_although_the_naive_rank_says_two() -> None:
    report = controllability(matrices(**NUMBERS).A, matrices(**NUMBERS).B)
    assert report.complete
    assert report.naive_rank == 2
    assert report.minimal == 1


@pytest.mark.parametrize(
    ("where", "printed"),
    [("zero", (8893, 142014.2, -13494.8, 416.7, 0.3)), ("nonzero", (14824, -118649, 15717.3, -495, 0.4))],
)
def test_003_A35_the_printed_voltage_laws_are_unstable_as_they_stand(where: str, printed: Sequence[float]) -> None:
    """u = printed x, literally: the regulator with these gains is said not to stabilise."""
    found = matrices(**NUMBERS, equilibrium=where)
    design = designed(found)
    literal = replace(design, regulator=replace(design.regulator, gain=-np.array([printed])))
    assert design.stabilises(found)
    assert not literal.stabilises(found)
    positive = sorted((z.real for z in literal.closed_roots(found) if z.real > 0), reverse=True)
    assert positive == pytest.approx([1.727, 0.252] if where == "zero" else [2.79], rel=2e-3)


@pytest.mark.parametrize("control", ["torque", "voltage"])
def test_R6_a_radius_as_long_as_the_rod_leaves_no_torque_that_holds_the_ball(control: str) -> None:
    """With d = l the slope B vanishes at the second position: it is refused there, not divided by."""
    system = stand(equilibrium="nonzero", control=control).with_settings({"d": 0.12})
    with pytest.raises(NoEquilibrium, match="a singular position, ∂F/∂alpha = 0"):
        regulate(system)
