"""Q1: the named matrices of steady motions by their formulas, against the equations of motion linearised directly."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest
from steady_systems import Linearised, SteadySystem, linearised, steady_system

from svyaz.expr import ModelError
from svyaz_published.steady_blocks import lagrange_blocks, routh_blocks

SIZES = [*product((1, 2, 3), repeat=3), (2, 3, 1), (3, 1, 2), (1, 3, 2)]
"""(k, l, m): 30 systems, 27 of them with k, l, m not all equal."""

FRICTION = [(), (0,), (0, 1, 2)]
DRIVEN = [(), (0,), (1,), (0, 2)]


@cache
def case(number: int) -> tuple[SteadySystem, Linearised, tuple[int, ...]]:
    """The system, its equations linearised, and the cyclic coordinates without forces.

    Every third has no forces on cyclic coordinates but inputs, others friction on some or on all of them.
    """
    k, l, m = SIZES[number]  # noqa: E741
    friction, driven = ([i for i in words[number % len(words)] if i < l] for words in (FRICTION, DRIVEN))
    pushed = "s1" if number % 2 else "a1"
    found = steady_system(number, k, l, m, friction=friction, driven=driven, pushed=pushed)
    return found, linearised(found), tuple(i for i in range(l) if i not in (*friction, *driven))


def gap(found: np.ndarray, expected: np.ndarray) -> float:
    assert found.shape == expected.shape
    return float(np.abs(found - expected).max(initial=0.0) / max(1.0, np.abs(expected).max(initial=0.0)))


@pytest.mark.parametrize("number", range(len(SIZES)))
def test_Q1_formulas_in_lagrange_variables(number: int) -> None:
    system, direct, _ = case(number)
    found = lagrange_blocks(system.system, system.state, dependent=system.redundant)
    for name, matrix in direct.lagrange().items():
        assert gap(found[name], matrix) < 1e-11, name
    k = len(system.positional)
    # the coefficients themselves, before they are solved for the accelerations; signs as on the left sides of 2.2
    left = {
        "a'": np.vstack([found["Psi"], found["Gam"] - found["G_ba"]]),
        "b'": -np.vstack([found["Ups"], found["G_bb"]]),
        "s": -np.vstack([found["S"], found["f_bs"]]),
    }
    for name, matrix in left.items():
        assert gap(matrix, direct.by[name]) < 1e-11, name
    along = direct.by["a"] + direct.by["s"] @ direct.slope
    assert gap(-np.vstack([found["Phi"], found["F_b"]]), along) < 1e-11
    assert gap(np.block([[found["A1"], found["A2"]], [found["A3"], found["A4"]]]), direct.mass) < 1e-11
    assert gap(found["Aba"], found["Aab"].T) < 1e-15
    conservative = found["Caa"] + found["Cas"] @ found["B"]
    for skew in (found["Aaa"], found["Kaa"]):
        assert gap(skew, -skew.T) < 1e-12
    assert gap(conservative, conservative.T) < 1e-12
    assert found["V"][:, 0] == pytest.approx((found["V_s" if number % 2 else "V_a"])[:, 0])
    assert found.variables[:k] == system.positional


@pytest.mark.parametrize("number", range(len(SIZES)))
def test_Q1_formulas_in_routh_variables(number: int) -> None:
    """The momenta of the cyclic coordinates on which nothing acts instead of their velocities; none of them, one, all."""
    system, direct, free = case(number)
    for ignored in {free, free[:1], ()}:
        names = [system.cyclic[i] for i in ignored]
        found = routh_blocks(system.system, system.state, dependent=system.redundant, momenta=names)
        for name, matrix in direct.routh(ignored).items():
            assert gap(found[name], matrix) < 1e-11, name
        assert gap(found["K1"], -found["K1"].T) < 1e-12
    default = routh_blocks(system.system, system.state, dependent=system.redundant)
    assert default.momenta == tuple(system.cyclic[i] for i in free)


def test_Q1_momenta_of_forced_coordinates_and_what_is_no_steady_motion_are_refused() -> None:
    forced = steady_system(0, 1, 2, 1, friction=[0])
    with pytest.raises(ModelError, match="the momentum of 'b1' is not conserved"):
        routh_blocks(forced.system, forced.state, dependent=forced.redundant, momenta=["b1"])
    with pytest.raises(ModelError, match="no steady motion: the forces are off by"):
        lagrange_blocks(forced.system, {**forced.state, "b2'": 3.0}, dependent=forced.redundant)
