"""Verdicts on equilibria: which theorem applies, and the number of zero roots."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import System
from svyaz.stability.critical import stability
from svyaz.stability.energy import has_potential
from svyaz.stability.linearisation import first_approximation
from svyaz.stability.spectrum import signs, zero_roots

BEAD = {
    "coordinates": ["x", "y"],
    "kinetic": "m/2*(x'^2 + y'^2)",
    "potential": "m*g*y",
    "parameters": {"m": 1.0, "g": 9.81},
    "constraint": [{"name": "circle", "equation": "x^2 + y^2 = 1"}],
    "initial": {"y": -1},
}


def test_a_bead_at_the_bottom_is_stable_by_the_minimum_of_the_energy() -> None:
    found = stability(first_approximation(System(**BEAD), {"y": -1.0}))
    assert found.word == "stable"
    assert "Lagrange" in found.theorem
    assert found.zero_roots == found.constraint_roots == 1
    assert sorted(found.roots.imag) == pytest.approx([-np.sqrt(9.81), 0, np.sqrt(9.81)])


def test_friction_makes_it_asymptotic_and_the_top_is_unstable() -> None:
    rubbed = System(**BEAD, forces={"x": "-0.3*x'"})
    bottom = stability(first_approximation(rubbed, {"y": -1.0}))
    assert bottom.word == "asymptotic"
    assert "special case" in bottom.theorem
    assert all(h.holds for h in bottom.hypotheses)
    top = stability(first_approximation(rubbed, {"y": 1.0}))
    assert top.word == "unstable"
    assert top.zero_roots == 1


def test_a_wheel_that_may_turn_freely_has_more_zero_roots_than_constraints() -> None:
    system = System(**{**BEAD, "potential": "0"})
    found = stability(first_approximation(system, {"y": -1.0}))
    assert found.word == "undecided"
    assert found.zero_roots == 3
    assert "3 zero roots: 1 of constraints, 2 because x may be moved without any force" in found.notes[0]


def test_circulatory_forces_take_the_theorem_away() -> None:
    system = System(
        coordinates=["x", "y"], kinetic="(x'^2 + y'^2)/2", potential="(x^2 + 4*y^2)/2", forces={"x": "0.01*y"}
    )
    assert not has_potential(system)
    assert stability(first_approximation(system, {})).word == "undecided"


@pytest.mark.parametrize(
    ("forces", "dissipation", "answer"),
    [
        ({}, "0", True),
        ({"x": "y", "y": "x"}, "0", True),
        ({"x": "y", "y": "-x"}, "0", False),
        ({"x": "-0.1*x'"}, "0", True),
        ({"x": "0.1*x'"}, "0", False),
        ({"x": "-y'", "y": "x'"}, "0", True),
        ({"x": "-x'*x^2 - y'", "y": "x' - y'*abs(y')"}, "0", True),
        ({"x": "-y'", "y": "-x'"}, "0", False),
        ({}, "0.2*x'^2 + 0.1*y'^2", True),
        ({}, "0.2*x'^2 - 0.1*y'^2", False),
    ],
)
def test_forces_with_a_potential_are_told_from_others(forces: dict[str, str], dissipation: str, answer: bool) -> None:
    system = System(coordinates=["x", "y"], kinetic="(x'^2 + y'^2)/2", forces=forces, dissipation=dissipation)
    assert has_potential(system) is answer


@pytest.mark.parametrize(("size", "zeros"), [(3, 1), (4, 2), (6, 3)])
def test_zero_roots_are_counted_in_spite_of_long_chains_and_fast_roots(size: int, zeros: int) -> None:
    """A chain of zeros beside roots -1700 and -0.3, in variables mixed at random."""
    random = np.random.default_rng(size)
    chain = np.diag(np.ones(zeros - 1), 1)
    fast = np.diag([-1700.0, -0.3, -0.5, 0.7][: size - zeros])
    matrix = np.block([[chain, np.zeros((zeros, size - zeros))], [np.zeros((size - zeros, zeros)), fast]])
    mixing = np.linalg.qr(random.normal(size=(size, size)))[0] @ np.diag(random.uniform(0.3, 3, size))
    mixed = mixing @ matrix @ np.linalg.inv(mixing)
    assert zero_roots(mixed) == zeros


def test_signs_of_real_parts_are_counted() -> None:
    assert signs([[0, 1], [-4, 0]]) == (0, 2, 0)
    assert signs(np.diag([-1700.0, -0.3, 0.66, 0.0])) == (2, 1, 1)
    assert signs(np.zeros((0, 0))) == (0, 0, 0)
