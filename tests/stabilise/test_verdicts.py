"""Verdicts on gains: Hurwitz, the stability function of the method, safe ranges, and certificates."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import gallery, loads
from svyaz.integrate import method as find_method
from svyaz.stabilise import stabilisation
from svyaz.stabilise.gain_range import Held, farthest
from svyaz.stabilise.perturbations import perturbation
from svyaz.stabilise.verdicts import (
    Discretisation,
    box_certificate,
    judge,
    largest_gain,
    norm_certificate,
    safe_range,
)


def scheme(name: str, step: float | None) -> Discretisation:
    tableau = find_method(name)
    return Discretisation(name, tableau.order, *tableau.stability_fraction(), step)


def companion(alpha: float, beta: float) -> np.ndarray:
    """ÿ + αẏ + βy = 0 as a system of first order."""
    return np.array([[0.0, 1.0], [-beta, -alpha]])


def model(name: str, choices: dict[str, str] | None = None):
    text = gallery.find(name, choices)
    assert text is not None
    return loads(text, name)


# published cases


def test_000_A4_gains_of_the_sleigh_beyond_either_end_of_the_range() -> None:
    euler = scheme("euler", 0.001)
    growing = judge(np.array([[2.0]]), euler)
    assert not growing.stable
    assert "not asymptotically stable" in growing.reasons[0]
    beyond = judge(np.array([[-2100.0]]), euler)
    assert not beyond.stable
    assert "2000 = 2/step" in beyond.reasons[0]
    assert beyond.radius == pytest.approx(1.1, abs=1e-12)
    assert judge(np.array([[-46.0]]), euler).stable


def test_000_A6_safe_range_of_one_constraint() -> None:
    found = safe_range(scheme("euler", 0.001), 1e-3, 9.22e-5)
    assert found.feasible
    assert [found.low, found.high, found.centre] == pytest.approx([92.2, 1907.8, 1000.0], abs=0.1)


def test_000_A7_a_remainder_above_the_tolerance_asks_for_a_smaller_step() -> None:
    found = safe_range(scheme("euler", 0.001), 1e-3, 2e-3)
    assert not found.feasible
    assert "infeasible, reduce the step" in found.advice
    factor = np.sqrt(1e-3 / 2e-3)
    assert f"{factor:.3g} times" in found.advice
    assert f"{0.001 * factor:.3g} " in found.advice


@pytest.mark.parametrize(("k1", "stable"), [(-0.5, False), (-0.99, False), (-1.01, True), (-5, True)])
def test_000_A19_gain_matrix_of_the_ball(k1, stable) -> None:
    """tr K < 0 and det K = -k1 - 1 > 0, for k2 = k3 = k4 = -1."""
    equations = model("ball-on-plane", {"coordinates": "angles"}).derive()
    law = perturbation(equations, stabilisation({"E": [[k1, -1], [-1, -1]]}))
    assert np.linalg.det(law.matrix) == pytest.approx(-k1 - 1)
    assert judge(law.matrix, scheme("euler", 0.01)).stable is stable


def test_000_A24_the_fast_integral_of_lawden_exceeds_the_interval_of_euler() -> None:
    rates = np.diag([-1.0, -1000.0])
    assert not judge(rates, scheme("euler", 0.0021)).stable
    assert not judge(rates, scheme("euler", 0.00201)).stable
    assert judge(rates, scheme("euler", 0.00199)).stable


def test_000_A28_position_feedback_without_damping_is_flagged() -> None:
    stab = np.array([[-10.0, -100, 0], [0, -10, 0], [0, -100, -10]])
    law = perturbation(
        model("three-link-10", {"constraints": "printed"}).derive(),
        stabilisation({"A": stab.tolist(), "B": 0, "E": -10}),
    )
    found = judge(law.matrix, scheme("euler", 0.001))
    assert not found.stable
    assert "not asymptotically stable" in found.reasons[0]
    roots = np.sort_complex(np.array(found.roots))
    assert np.abs(roots.imag).max() == pytest.approx(3.162, abs=1e-3)
    assert roots.real.min() == pytest.approx(-10)


@pytest.mark.parametrize(
    ("gains", "stable"),
    [
        ({"alpha": 20, "beta": 100}, True),
        ({"alpha": -20, "beta": 100}, False),
        ({"alpha": 20, "beta": -100}, False),
        ({"mass": 1, "stiffness": 100, "damping": 20}, True),
        ({"mass": 1, "stiffness": -100, "damping": 20}, False),
        ({"mass": 1, "stiffness": 100, "damping": -20}, False),
    ],
)
def test_000_A30_unstable_gains_of_the_rocket_are_rejected(gains, stable) -> None:
    law = perturbation(model("rocket-path").derive(), stabilisation(gains))
    for name, step in [("euler", 0.001), ("rk4", 0.001), ("dop853", None)]:
        assert judge(law.matrix, scheme(name, step)).stable is stable


# the regions of the methods


def jury(alpha: float, beta: float, tau: float) -> bool:
    """The exact region of Euler's method for ÿ + αẏ + βy = 0."""
    return alpha > 0 and beta > 0 and beta * tau < alpha and 4 - 2 * alpha * tau + beta * tau**2 > 0


def test_euler_agrees_with_jury() -> None:
    rng = np.random.default_rng(1)
    for _ in range(2000):
        tau = 10 ** rng.uniform(-4, 0)
        alpha, beta = rng.uniform(-1, 4) / tau, rng.uniform(-1, 5) / tau**2
        assert judge(companion(alpha, beta), scheme("euler", tau)).stable is jury(alpha, beta, tau)


@pytest.mark.parametrize(
    ("name", "limit"), [("euler", 2.0), ("rk2", 2.0), ("rk2:0.25", 2.0), ("rk4", 2.7852936), ("dopri5", 3.3066)]
)
def test_intervals_of_the_real_axis(name, limit) -> None:
    for tau in (1e-4, 0.3):
        assert largest_gain(scheme(name, tau)) * tau == pytest.approx(limit, abs=2e-4)
        for share, stable in ((0.999, True), (1.001, False)):
            omega = share * limit / tau
            assert judge(companion(2 * omega, omega**2), scheme(name, tau)).stable is stable


def test_error_control_only_needs_asymptotic_stability() -> None:
    assert judge(companion(2e6, 1e12), scheme("dop853", None)).stable
    assert not judge(companion(0, 1), scheme("dop853", None)).stable
    assert largest_gain(scheme("dop853", None)) == np.inf


def test_radau_damps_any_stable_gain() -> None:
    assert judge(companion(2e6, 1e12), scheme("radau", 1.0)).stable
    assert largest_gain(scheme("radau", 1.0)) == np.inf


def test_verdict_is_the_same_in_another_basis() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        w = -np.diag(rng.uniform(0.1, 2.5, 4))
        t = rng.normal(size=(4, 4))
        stable = bool(np.all(np.diag(w) > -2))
        assert judge(t @ w @ np.linalg.inv(t), scheme("euler", 1.0)).stable is stable


# prediction and steps


def test_predicted_deviation_of_the_sleigh_from_its_remainder() -> None:
    euler = scheme("euler", 0.001)
    kappa, known = np.array([10.0, 46.0, 500.0, 1000.0, 2100.0]), np.array([1.0, 3000.0])
    found = farthest(euler, kappa, Held(np.inf, known, np.full(2, 9.22e-5)))
    assert found[:-1] == pytest.approx([9.25e-3, 2.01e-3, 1.84e-4, 9.22e-5], rel=5e-3)
    assert found[-1] == np.inf


def test_largest_step_for_a_tolerance() -> None:
    """τ ≤ √(2ε / max|ÿ|), from R = τ²/2 max|ÿ| (Euler)."""
    found = safe_range(scheme("euler", 0.01), 1e-3, 0.5 * 0.01**2 * 184.4)
    assert f"a step of about {np.sqrt(2e-3 / 184.4):.3g}" in found.advice


@pytest.mark.parametrize("name", ["euler", "rk2", "rk4", "dopri5"])
@pytest.mark.parametrize("share", [0.02, 0.3, 0.45])
def test_ends_of_the_safe_range_just_keep_the_tolerance(name, share) -> None:
    s = scheme(name, 0.01)
    found = safe_range(s, 1.0, share)
    for kappa in (found.low, found.high):
        assert abs(s.factor(complex(-0.01 * kappa))) + share == pytest.approx(1.0, abs=1e-6)
    inside = np.linspace(found.low, found.high, 101)[1:-1]
    assert np.all(np.abs(s.factor(-0.01 * inside.astype(complex))) + share <= 1.0 + 1e-9)


def test_heun_never_damps_below_one_half_in_a_step() -> None:
    found = safe_range(scheme("rk2", 0.01), 1.0, 0.6)
    assert not found.feasible
    assert "no gain damps enough" in found.advice


# certificates


def test_entry_by_entry_range_is_not_sufficient() -> None:
    """1 + τK = -0.9 everywhere: K is Hurwitz, every entry is within the published range, and the run explodes."""
    k = -0.9 * np.ones((2, 2)) - np.eye(2)
    assert np.all(np.linalg.eigvals(k).real < 0)
    found = judge(k, scheme("euler", 1.0))
    assert not found.stable
    assert found.radius == pytest.approx(1.8)
    assert not box_certificate(k, scheme("euler", 1.0), [1, 1], [0, 0]).holds


def test_box_for_a_velocity_constraint_is_the_safe_range() -> None:
    euler = scheme("euler", 0.001)
    for kappa, holds in [(92.0, False), (92.4, True), (1907.0, True), (1908.0, False)]:
        found = box_certificate(np.array([[-kappa]]), euler, [1e-3], [9.22e-5])
        assert found.holds is holds


def test_no_box_exists_for_a_position_constraint_under_euler() -> None:
    for omega in (1.0, 50.0, 100.0, 150.0):
        found = box_certificate(companion(2 * omega, omega**2), scheme("euler", 0.01), [1, 1], [0, 0])
        assert not found.holds
        assert "cannot exist" in found.reason


def test_heun_has_a_box_for_the_special_damping() -> None:
    """α = 2/τ makes S(τW) = (1 - βτ²/2)·1: a box exists for 0 < β < 4/τ²."""
    tau = 0.01
    for share, holds in [(0.5, True), (3.9, True), (4.1, False)]:
        w = companion(2 / tau, share / tau**2)
        assert scheme("rk2", tau).matrix(w) == pytest.approx((1 - share / 2) * np.eye(2), abs=1e-12)
        assert box_certificate(w, scheme("rk2", tau), [1, 1], [0, 0]).holds is holds


@pytest.mark.parametrize("name", ["euler", "rk2", "rk4"])
def test_an_adapted_norm_exists_exactly_where_the_verdict_is_stable(name) -> None:
    rng = np.random.default_rng(2)
    for _ in range(100):
        omega = rng.uniform(0.1, 3.5)
        w = companion(2 * omega * rng.uniform(0.5, 2), omega**2)
        s = scheme(name, 1.0)
        verdict, found = judge(w, s), norm_certificate(w, s)
        assert found.holds is verdict.stable
        if found.holds:
            assert verdict.radius is not None
            assert verdict.radius <= found.value + 1e-12 < 1 + 1e-12
