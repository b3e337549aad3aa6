"""Q1: the first approximation of the Routhian system, brought to Lagrange's variables, equals the formulas of the source.

Q4: what can be moved and seen about steady motions, on the matrices of random systems and by regulators.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from steady_systems import SteadySystem, linearised, steady_system

from svyaz import System
from svyaz.control import controllability, observability
from svyaz.control.uniform import uniform_variables
from svyaz.show import as_json
from svyaz.stability import steady_near
from svyaz_published.steady_blocks import SteadyBlocks, lagrange_blocks, routh_blocks

ROUTES = [
    (1, 1, 1, (), ()),
    (2, 1, 2, (0,), ()),
    (1, 2, 1, (0, 1), (0,)),
    (2, 2, 1, (0,), (0,)),
    (1, 3, 1, (1,), (2,)),
    (3, 2, 1, (), (1,)),
    (2, 2, 3, (1,), ()),
    (3, 1, 3, (), (0,)),
]
"""k, l, m; cyclic coordinates with friction, with inputs."""


@pytest.mark.parametrize("case", ROUTES)
def test_Q1_formulas_equal_the_first_approximation_of_the_routhian_system(case: tuple) -> None:
    k, l, m, friction, driven = case  # noqa: E741
    given = steady_system(sum(case[:3]), k, l, m, friction=friction, driven=driven)
    fixed = {**given.state, **dict.fromkeys(given.system.inputs, 0.0)}
    choice = steady_near(given.system, {}, fixed, dependent=given.redundant)
    other = uniform_variables(choice, "lagrange").renamed
    found = routh_blocks(given.system, given.state, dependent=given.redundant)
    assert found.variables == other.variables
    for name, matrix in (("N", other.A), ("V", other.B), ("Z", other.Z)):
        assert float(np.abs(found[name] - matrix).max(initial=0.0)) < 1e-11, name


SIZES = [*product((1, 2, 3), repeat=3), (2, 3, 1), (3, 1, 2), (1, 3, 2)]


def with_a_soft_direction(given: SteadySystem) -> SteadySystem:
    """The same with such a spring on a1 that Φ is singular."""
    Phi = lagrange_blocks(given.system, given.state, dependent=given.redundant)["Phi"]
    spring = 1 / np.linalg.inv(Phi)[0, 0]
    words = dict(given.system.words)
    return replace(
        given, system=System(**{**words, "potential": f"{words['potential']} + ({float(spring) / 2!r})*a1^2"})
    )


def everywhere(found: SteadyBlocks) -> tuple[np.ndarray, np.ndarray]:
    """V_a and V_s with a force on every positional, on every redundant coordinate: M1 = E, M2 = E."""
    lever = np.linalg.inv(np.block([[found["A1"], found["A2"]], [found["A3"], found["A4"]]]))
    k = len(found["A1"])
    push = np.vstack([np.zeros((k, k)), lever[:, :k]])
    return push, push @ found["B"].T


@pytest.mark.parametrize("number", range(len(SIZES)))
def test_Q4_T1_T2_on_random_systems_without_forces_on_cyclic_coordinates(number: int) -> None:
    """Every third has a singular Φ."""
    k, l, m = SIZES[number]  # noqa: E741
    given = steady_system(100 + number, k, l, m)
    soft = number % 3 == 2
    given = with_a_soft_direction(given) if soft else given
    found = lagrange_blocks(given.system, given.state, dependent=given.redundant)
    N, pushes = (
        np.where(np.abs(found["N"]) < 1e-14, 0.0, found["N"]),
        everywhere(found),
    )  # Φ = 0 up to rounding where k = 1
    conserved = np.hstack([found["Gam"], found["A3"], found["A4"]])
    for V in (*pushes, np.hstack(pushes)):  # T1
        assert np.abs(conserved @ np.hstack([N, V])).max() < 1e-12
        assert not controllability(N, V).complete
    rigid = controllability(N, pushes[0])
    assert len(rigid.fixed_roots) == l
    assert max(abs(root) for root in rigid.fixed_roots) < 1e-6
    seen = [observability(N, np.eye(count, len(N), at)).complete for count, at in ((k, 0), (k, k), (l, 2 * k))]
    assert not seen[1]  # T2
    assert seen[0] == (np.linalg.matrix_rank(found["Ups"], tol=1e-9) == l) == (l <= k)
    assert np.linalg.matrix_rank(found["Phi"], tol=1e-9) == k - soft
    assert seen[2] == (not soft)
    # at fixed momenta
    reduced = routh_blocks(given.system, given.state, dependent=given.redundant)
    assert reduced.momenta == given.cyclic
    lever = np.linalg.inv(reduced["A1"])
    assert controllability(reduced["N"], np.vstack([np.zeros((k, k)), lever])).complete
    stiffness = reduced["C"] + reduced["CB"]
    regular = np.linalg.matrix_rank(stiffness, tol=1e-9) == k
    assert observability(reduced["N"], np.eye(k, 2 * k, k)).complete == regular


@pytest.mark.parametrize("case", [(50, 1, 1, 1), (43, 1, 1, 1), (50, 2, 1, 1), (44, 1, 2, 1)])
def test_Q4_the_design_at_fixed_momenta_converges(case: tuple[int, int, int, int]) -> None:
    """A force on a1 alone; the momenta are named as what cannot be moved.

    The second comes so near to rest that nothing but rounding of the rates is left, which is no reason to call it lost.
    """
    given = steady_system(*case)
    fixed = {**given.state, "u0": 0.0}
    found = given.system.regulate(near={}, fix=fixed, dependent=given.redundant, inputs="u0", variables="routh")
    moved = [direction["direction"] for direction in as_json(found)["uncontrollable"]]
    assert moved == [{f"p_{q}": 1.0} for q in given.cyclic]
    assert found.run({"a1": 0.005}, 60.0)["regulator"].answer == "returned"


@pytest.mark.parametrize("number", range(10))
def test_Q4_with_friction_on_cyclic_coordinates_the_pair_itself_decides(number: int) -> None:
    """Neither T1 nor T2 applies: against [A - λ, B] of the equations linearised directly. In odd cases a wheel turns apart."""
    k, l, m = SIZES[(11 * number) % 27]  # noqa: E741
    given = steady_system(60 + number, k, l, m, friction=range(l))
    given = with_a_wheel_apart(given) if number % 2 else given
    found, direct = lagrange_blocks(given.system, given.state, dependent=given.redundant), linearised(given).lagrange()

    def complete(A: np.ndarray, B: np.ndarray) -> bool:
        tests = (np.hstack([A - root * np.eye(len(A)), B]) for root in np.linalg.eigvals(A))
        return min(np.linalg.svd(test, compute_uv=False)[-1] for test in tests) > 1e-7

    sees = np.eye(k, len(found["N"]), k)
    assert controllability(found["N"], found["V"]).complete == complete(direct["N"], direct["V"]) == (number % 2 == 0)
    assert observability(found["N"], sees).complete == complete(direct["N"].T, sees.T) == (number % 2 == 0)
    assert np.abs(np.linalg.eigvals(found["N"])).min() > 1e-6  # no zero roots of momenta


def with_a_wheel_apart(given: SteadySystem) -> SteadySystem:
    """A further cyclic coordinate with friction that nothing else knows of."""
    words = dict(given.system.words)
    words |= {"coordinates": [*words["coordinates"], "w"], "kinetic": f"{words['kinetic']} + 0.7*w'^2"}
    words["forces"] = {**words["forces"], "w": "-0.3*(w' - 2)"}
    return replace(given, system=System(**words), cyclic=(*given.cyclic, "w"), state={**given.state, "w'": 2.0})


def test_Q4_regulators_about_motions_with_friction_are_designed_or_refused_as_the_pair_says() -> None:
    given = steady_system(61, 1, 1, 1, friction=[0])
    fixed = {**given.state, "u0": 0.0}
    found = given.system.regulate(near={}, fix=fixed, dependent=given.redundant)
    assert found.design.controllable.complete
    assert found.run({"a1": 0.02, "b1'": given.state["b1'"] * 1.01}, 60.0)["regulator"].answer == "returned"
    apart = with_a_wheel_apart(given)
    told = apart.system.regulate(near={}, fix={**apart.state, "u0": 0.0}, dependent=given.redundant)
    assert not told.design.controllable.complete
    assert "(direction p_w)" in told.reason
