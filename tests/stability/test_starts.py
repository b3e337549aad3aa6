"""Consistent perturbations: the published iteration tables of the ball and beam, velocities, several constraints."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import System, gallery, loads
from svyaz.expr.calculus import evaluate
from svyaz.gallery.random_mechanisms import random_mechanism
from svyaz.stability.starts import ConsistentStart, Refinement, consistent_start, dogleg, levenberg_marquardt


def start(where: str, alpha: float, **options: object) -> ConsistentStart:
    system = loads(gallery.find("ball-and-beam", {"equilibrium": where}) or "")
    rest = {"r": 0.25, "alpha": 0.0, "theta": system.parameters["theta0"]}
    return consistent_start(system, rest, ["theta"], {"alpha": alpha}, **options)


def residuals(refinement: Refinement) -> list[float]:
    return [step.residual for step in refinement.steps]


def test_003_A21_dogleg_at_zero() -> None:
    found = start("zero", 0.1)
    assert found.first_guess["theta"] == pytest.approx(0.708333, abs=1e-6)
    assert found.deviations["theta"] == pytest.approx(0.813199, abs=1e-6)
    assert residuals(found.refinement)[:3] == pytest.approx([9.56243e-7, 6.81881e-9, 7.81242e-13], rel=1e-5)
    assert residuals(found.refinement)[3] == pytest.approx(1.1247e-20, rel=1e-2)
    assert found.halvings == 0


def test_003_A22_dogleg_at_nonzero() -> None:
    found = start("nonzero", 0.05)
    assert found.first_guess["theta"] == pytest.approx(-0.2125, abs=1e-6)
    assert found.deviations["theta"] == pytest.approx(-0.232446, abs=1e-6)
    assert residuals(found.refinement)[:2] == pytest.approx([7.18649e-8, 5.96511e-12], rel=1e-4)
    assert residuals(found.refinement)[2] == pytest.approx(4.54991e-20, rel=1e-3)


@pytest.mark.parametrize(
    ("where", "alpha", "squares", "lengths"),
    [
        ("zero", 0.1, (9.56243e-7, 9.36349e-7, 7.6757e-7, 2.03361e-7, 4.1302e-9, 1.97399e-12),
         (0.000995165, 0.00898718, 0.0438032, 0.0434485, 0.00746375, 0.000167987)),
        ("nonzero", 0.05, (7.18649e-8, 6.9292e-8, 4.94641e-8, 6.29391e-9, 1.92756e-11, 6.398e-16),
         (0.000357064, 0.00301508, 0.0106324, 0.00561212, 0.000327801, 1.89871e-6)),
    ],
)  # fmt: skip
def test_003_A23_levenberg_and_marquardt(
    where: str, alpha: float, squares: tuple[float, ...], lengths: tuple[float, ...]
) -> None:
    found = start(where, alpha, refine=levenberg_marquardt).refinement
    assert residuals(found)[:6] == pytest.approx(squares, rel=1e-4)
    assert [step.length for step in found.steps[1:7]] == pytest.approx(lengths, rel=1e-4)


@pytest.mark.parametrize(
    ("where", "squares", "solution", "radius"),
    [
        ("zero", (1.01537e-4, 3.01177e-6, 4.0724e-8, 2.45192e-11), 0.813199, 1.35),
        ("nonzero", (8.62336e-5, 2.58584e-6, 3.24394e-8, 1.59152e-11), -0.570492, 1.27),
    ],
)
def test_003_A24_dogleg_from_a_start_that_ignores_the_slope(
    where: str, squares: tuple[float, ...], solution: float, radius: float
) -> None:
    found = start(where, 0.1, refine=lambda function, _, enough: dogleg(function, np.array([0.1]), enough))
    assert residuals(found.refinement)[:4] == pytest.approx(squares, rel=1e-4)
    assert found.deviations["theta"] == pytest.approx(solution, abs=1e-6)
    assert found.refinement.steps[1].parameter == pytest.approx(radius, abs=5e-3)


def test_003_A25_beyond_the_reach_of_the_rod_the_perturbation_is_halved() -> None:
    found = start("zero", 0.2)
    assert found.halvings == 1
    assert found.deviations["alpha"] == pytest.approx(0.1)
    assert found.deviations["theta"] == pytest.approx(0.813199, abs=1e-6)


def test_velocities_are_made_consistent_too() -> None:
    system = loads(gallery.find("ball-and-beam") or "")
    rest = {"r": 0.25, "alpha": 0.0, "theta": 0.0}
    found = consistent_start(system, rest, ["theta"], {"alpha": 0.05, "alpha'": 0.3, "r'": -0.1})
    rod = system.constraints[0].expression
    import symengine as se

    values = {**system.constants, **found.state}
    rate = sum(evaluate(rod.diff(se.Symbol(q)), values) * found.state[f"{q}'"] for q in ("alpha", "theta"))
    assert abs(rate) < 1e-14
    assert abs(evaluate(rod, values)) < 1e-15


@pytest.mark.parametrize("refine", [dogleg, levenberg_marquardt])
@pytest.mark.parametrize("redundant", [1, 2, 3])
def test_several_constraints_are_met(refine: object, redundant: int) -> None:
    mechanism = random_mechanism(2, 2, redundant, 1)
    system = mechanism.system
    dependent = [q for q in system.coordinates if q.startswith("s")]
    found = consistent_start(system, mechanism.state, dependent, {"r1": 0.15, "r2": -0.1, "I1": 0.3}, refine=refine)
    values = {**system.constants, **found.state}
    assert found.deviations["I1"] == pytest.approx(0.3)
    for c in system.constraints:
        assert abs(evaluate(c.expression, values)) < 1e-11


def test_a_system_without_constraints_needs_nothing() -> None:
    system = System(coordinates=["x"], kinetic="x'^2/2", potential="x^2")
    found = consistent_start(system, {"x": 0.0}, [], {"x": 0.2, "x'": 1.0})
    assert found.state == {"x": 0.2, "x'": 1.0}
