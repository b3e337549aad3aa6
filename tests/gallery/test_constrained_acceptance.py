"""Acceptance cases of the constrained models of the literature; the numbers are those of the sources' verification."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import System, gallery, loads
from svyaz.expr.calculus import evaluate
from svyaz.motion import simulate

ACCURATE = {"method": "dop853", "rtol": 1e-11}


def model(name: str, choices: dict[str, str] | None = None, **settings: object) -> System:
    """A gallery model with some values changed."""
    text = gallery.find(name, choices)
    assert text is not None
    return loads(text, name).with_settings(settings)


def end(motion, *names: str) -> list[float]:
    assert motion.finished, motion.reason
    return [float(motion.column(name)[-1]) for name in names]


def largest(motion, name: str) -> float:
    return float(np.abs(motion.residuals[name]).max())


def test_000_A1_sleigh_by_euler_with_its_published_gain() -> None:
    motion = simulate(model("sleigh"), method="euler", step=0.001, stabilize=46)
    assert end(motion, "x", "y", "phi") == pytest.approx([18.361270, -12.377938, 5.635322], rel=1e-5)
    assert largest(motion, "blade") == pytest.approx(1.980143e-3, rel=1e-5)


def test_000_A2_sleigh_by_euler_without_stabilisation() -> None:
    motion = simulate(model("sleigh"), method="euler", step=0.001, stabilize="off")
    assert end(motion, "phi") == pytest.approx([5.641326], rel=1e-5)
    assert largest(motion, "blade") == pytest.approx(3.141001e-2, rel=1e-5)


@pytest.mark.parametrize("stabilize", ["off", 5, 50])
def test_000_A3_sleigh_accurately_with_any_moderate_gain(stabilize) -> None:
    motion = simulate(model("sleigh"), method="dop853", rtol=1e-10, stabilize=stabilize)
    assert end(motion, "x", "y", "phi") == pytest.approx([18.401985, -12.403712, 5.635748], abs=1e-5)


def test_000_A5_the_mass_matrix_of_the_sleigh_is_singular_and_the_augmented_matrix_is_not() -> None:
    equations = model("sleigh").derive()
    values = {**equations.system.constants, "phi": 0.83, "phi'": 0.4, "x'": 0.2, "y'": 0.1}
    mass = np.array([[evaluate(e, values) for e in row] for row in equations.mass_matrix])
    row = np.array([[evaluate(e, values) for e in row] for row in equations.constraint_jacobian])
    augmented = np.block([[mass, row.T], [row, np.zeros((1, 1))]])
    assert abs(np.linalg.det(mass)) < 1e-12
    assert abs(np.linalg.det(augmented)) == pytest.approx(1.0, abs=1e-12)


SIDEWAYS = {"initial.x'": "-0.1*sin(pi/3)", "initial.y'": "0.1*cos(pi/3)"}


def test_000_A8_an_unstabilised_deviation_stays_as_it_was() -> None:
    motion = simulate(model("sleigh", **SIDEWAYS), **ACCURATE, stabilize="off")
    assert motion.residuals["blade"] == pytest.approx(0.1, abs=1e-9)


def test_000_A9_a_stabilised_deviation_decays_exponentially() -> None:
    motion = simulate(model("sleigh", **SIDEWAYS), **ACCURATE, stabilize=5)
    assert motion.residuals["blade"] == pytest.approx(0.1 * np.exp(-5 * motion.times), abs=1e-9)


def field_deviations(motion) -> np.ndarray:
    """(h1, h2, h3) at the nodes from which a step is made, as the published listing gathers them."""
    phi = motion.column("phi")
    h = [motion.column("vx") - np.cos(phi), motion.column("vy") - np.sin(phi), motion.column("vphi") - 1.0]
    return np.array(h)[:, :-1]


def test_000_A10_inverse_construction_with_the_values_of_the_listing() -> None:
    motion = simulate(model("inverse-cart"), stabilize="off")
    h = field_deviations(motion)
    assert np.sqrt((h.max(axis=1) ** 2).sum()) == pytest.approx(4.465035e-4, rel=1e-6)
    assert np.sqrt((h**2).sum(axis=0)).max() == pytest.approx(3.930662e-4, rel=1e-6)
    final = [0.649481858, 0.760985120, 15.002275677, -0.761280270, 0.648719077, 1.000122969]
    assert end(motion, "x", "y", "phi", "vx", "vy", "vphi") == pytest.approx(final, rel=1e-6)


def test_000_A11_inverse_construction_with_the_values_of_the_text() -> None:
    motion = simulate(model("inverse-cart"), step=0.01, until=10, stabilize="off")
    assert np.sqrt((field_deviations(motion).max(axis=1) ** 2).sum()) == pytest.approx(4.490464e-3, rel=1e-6)


@pytest.mark.parametrize("how", [{"method": "rk4", "step": 0.001}, ACCURATE])
def test_000_A17_slalom_cart_with_multipliers(how) -> None:
    motion = simulate(model("slalom-cart"), **how, stabilize="off")
    assert end(motion, "x", "x'") == pytest.approx([32.913641, 12.733020], abs=1e-5)


def test_000_A18_the_start_of_the_slalom_cart_is_consistent() -> None:
    from svyaz.constraints.states import residuals

    equations = model("slalom-cart").derive()
    for r in residuals(equations).values():
        assert r.met
        assert abs(r.value) < 1e-14
        assert abs(r.velocity) < 1e-14


@pytest.mark.parametrize("coordinates", ["quaternion", "angles", "printed"])
def test_000_A20_the_ball_moves_on_a_circle_with_the_rate_one_seventh(coordinates) -> None:
    motion = simulate(model("ball-on-plane", {"coordinates": coordinates}), **ACCURATE, every=0.1, stabilize="off")
    velocity = motion.column("x'") + 1j * motion.column("y'")
    place = motion.column("x") + 1j * motion.column("y")
    assert velocity == pytest.approx((1 + 0.2j) * np.exp(1j * motion.times / 7), abs=1e-6)
    centre = place[0] + 7j * velocity[0]
    assert np.abs(place - centre) == pytest.approx(7 * abs(1 + 0.2j), abs=1e-6)


@pytest.mark.parametrize("hold", ["bracket", "orthogonal"])
def test_000_A23_lawden_with_held_integrals(hold) -> None:
    system = model("lawden", eps=0.01, k1=1, k2=1000)
    motion = simulate(system, method="rk4", step=1e-4, until=3, every=1, hold=hold)
    size = np.hypot(motion.integrals["g1"] - 1.075, motion.integrals["g2"] - 3.4)
    assert size[[0, 1, 3]] == pytest.approx([1.0046e-2, 3.622e-3, 4.90e-4], rel=0.01)


def test_000_A25_lawden_without_stabilisation() -> None:
    words = dict(model("lawden", eps=0.01).words)
    system = System.from_words({**words, "integral": [{**table, "hold": False} for table in words["integral"]]})
    motion = simulate(system, **ACCURATE, until=5, stabilize="off")
    g1 = motion.integrals["g1"] - system.constants["C1"]
    g2 = motion.integrals["g2"] - system.constants["C2"]
    assert [system.constants["C1"], system.constants["C2"]] == pytest.approx([1.075, 3.4], abs=1e-12)
    assert np.hypot(g1[0], g2[0]) == pytest.approx(1.0046e-2, abs=1e-6)
    assert g1 == pytest.approx(g1[0], abs=1e-6)
    assert g2 == pytest.approx(g2[0] - 3 * g1[0] * motion.times, abs=1e-6)


@pytest.mark.parametrize(("potential", "x0"), [("simplified", 13.2642), ("full", 13.15775)])
def test_000_A26_three_links(potential, x0) -> None:
    gains = {"alpha": 20, "beta": 100, "kappa": 10}
    motion = simulate(model("three-link", {"potential": potential}), method="rk4", step=0.001, stabilize=gains)
    assert end(motion, "x0") == pytest.approx([x0], abs=1e-4)
    for name in ("psi1", "psi2"):
        assert np.abs(motion.column(name) - np.pi / 2).max() <= 0.1 + 1e-6


def test_000_A29_rocket_on_its_path() -> None:
    system = model("rocket-path", **{"initial.y": 0.01})
    motion = simulate(system, method="euler", step=0.001, until=2, stabilize={"alpha": 20, "beta": 100})
    assert motion.finished
    assert np.abs(motion.residuals["path"][motion.times >= 1]).max() < 5e-4
