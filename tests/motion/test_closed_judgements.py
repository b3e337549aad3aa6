"""What is judged along motions of trees with loops: by the elimination on bodies, against the matrices themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from svyaz import System, check
from svyaz.dynamics import Dynamics, dynamics_of, measure_of
from svyaz.dynamics.recursions.closed_trees import closed_equations
from svyaz.gallery.random_mechanisms import random_tree
from svyaz.stabilise import deviations


def looped(size: int, seed: int, joints: tuple[str, ...] = ("revolute", "revolute", "prismatic")) -> System:
    """A random tree with a rod, a pin, a moved point, a gear and a point that may not move along x."""
    words: dict[str, Any] = dict(random_tree(size, seed, branching=1.3, joints=joints, axes="any"))
    random = np.random.default_rng(seed)
    chosen = random.choice(np.arange(size // 3, size), 6, replace=False)
    words["point"] = [
        {"name": f"p{k}", "body": words["body"][b]["name"], "at": random.uniform(-0.5, 0.5, 3).tolist()}
        for k, b in enumerate(chosen)
    ]
    moving = [b["coordinate"] for b in words["body"] if "coordinate" in b]
    equations = ["(p0_x - p1_x)^2 + (p0_y - p1_y)^2 + (p0_z - p1_z)^2 = 2", *(f"p2_{a} = p3_{a}" for a in "xyz")]
    equations += ["p4_x = 0.1*sin(3*t)", f"{moving[0]} = 2*{moving[-1]} + 0.1", f"p5_x' = {moving[1]}'*p5_y"]
    words["constraint"] = [{"name": f"c{k}", "equation": e} for k, e in enumerate(equations)]
    return System(**words)


def recursion_of(system: System) -> Dynamics:
    return dynamics_of(closed_equations(system, system.constraints))


def some_rows(system: System, count: int) -> np.ndarray:
    n, random = len(system.coordinates), np.random.default_rng(2)
    return np.column_stack(
        [np.linspace(0, 1, count), random.uniform(-1, 1, (count, n)), random.uniform(-1, 1, (count, n))]
    )


@pytest.mark.parametrize(("size", "seed"), [(18, 1), (40, 2)])
def test_L4_determinants_by_the_pivots_of_the_elimination(size: int, seed: int) -> None:
    """log |det [M Gᵀ; G 0]| and its sign are those of the whole matrix."""
    system = looped(size, seed)
    rows, tree = some_rows(system, 4), recursion_of(system)
    sign, log = tree.log_determinants(rows)
    tables = tree.tables(rows, ("mass", "jacobian"))
    for k, (mass, jacobian) in enumerate(zip(tables["mass"], tables["jacobian"], strict=True)):
        whole = np.block([[mass, jacobian.T], [jacobian, np.zeros((len(jacobian),) * 2)]])
        expected = np.linalg.slogdet(whole)
        assert sign[k] == expected[0]
        assert log[k] == pytest.approx(expected[1], abs=1e-7)
    rows[0, 1] = np.nan
    assert np.isnan(tree.log_determinants(rows)[1]).tolist() == [True, False, False, False]


def test_L4_states_with_given_deviations_are_the_nearest_in_the_metric_of_the_kinetic_energy() -> None:
    """All rows have what is wanted, and M (x - x₀) is along the gradients: no shorter way leads there."""
    system = looped(30, 3)
    tree = recursion_of(system)
    n, m, row = len(system.coordinates), len(system.constraints), some_rows(system, 1)
    here = tree.tables(row, ("position", "velocity"))
    random = np.random.default_rng(4)
    places = np.array([c.order == 0 for c in system.constraints])
    position = np.where(places, here["position"] + 1e-5 * random.normal(size=m), 0.0)
    rate = here["velocity"] + 1e-5 * random.normal(size=m)
    found = np.column_stack([row[:, 0], tree.move_states(row, position, rate)])
    there = tree.tables(found, ("position", "velocity"))
    np.testing.assert_allclose(there["position"], position, rtol=0, atol=1e-12)
    np.testing.assert_allclose(there["velocity"], rate, rtol=0, atol=1e-12)
    tables = {name: table[0] for name, table in tree.tables(row, ("mass", "jacobian")).items()}
    pushed = tables["mass"] @ (found - row)[0, 1 : 1 + n]
    multipliers = np.linalg.lstsq(tables["jacobian"].T, pushed, rcond=None)[0]
    np.testing.assert_allclose(tables["jacobian"].T @ multipliers, pushed, rtol=0, atol=1e-4 * np.abs(pushed).max())


def test_L4_gradients_are_slopes_and_turn_velocities_into_rates() -> None:
    """∂h/∂q by differences of h; G q̇ by points is that of the gradients; h is reached in the order of deviations."""
    system = looped(24, 5, joints=("revolute", "prismatic", "fixed"))
    equations = closed_equations(system, system.constraints)
    tree, measured = recursion_of(system), deviations(equations)
    n, rows = len(system.coordinates), some_rows(system, 2)
    tables = tree.tables(rows)
    through: Any = tree.tables
    np.testing.assert_allclose(
        through.through(rows), np.einsum("kmn,kn->km", tables["jacobian"], rows[:, 1 + n :]), rtol=0, atol=1e-12
    )
    width = 1e-6
    steps = np.vstack([rows[0] + sign * width * np.eye(len(rows[0]))[1 + j] for j in range(n) for sign in (1, -1)])
    moved = tree.tables(steps, ("position",))["position"].reshape(n, 2, -1)
    slopes = (moved[:, 0] - moved[:, 1]).T / (2 * width)
    holonomic = measure_of(equations).holonomic
    np.testing.assert_allclose(tables["jacobian"][0][holonomic], slopes[holonomic], rtol=0, atol=1e-7)
    assert np.all(np.abs(tables["jacobian"]) <= tables["jacobian_terms"] + 1e-12)
    wanted = measured.at(rows[:, 0], rows[:, 1:]) + 1e-6
    reached = measured.moved_to(rows[:, 0], rows[:, 1:], wanted)
    np.testing.assert_allclose(measured.at(rows[:, 0], reached), wanted, rtol=0, atol=1e-11)


def cart(equations: list[str]) -> System:
    """Twenty links on a cart that slides along x, which nothing pulls."""
    words: dict[str, Any] = dict(random_tree(20, 3, branching=1.0, axes="coordinate"))
    words["body"][0] |= {"joint": "prismatic", "axis": [1, 0, 0]}
    words["gravity"] = [0, 0, -9.81]
    words["point"] = [
        {"name": f"p{k}", "body": words["body"][b]["name"], "at": [0.1, 0.2, 0]} for k, b in enumerate((5, 12))
    ]
    words["constraint"] = [{"name": f"c{k}", "equation": e} for k, e in enumerate(equations)]
    return System(**words)


ROD = "(p0_x - p1_x)^2 + (p0_y - p1_y)^2 + (p0_z - p1_z)^2 = {}"


@pytest.mark.parametrize(("held", "kept"), [("p0_z = 0.1", True), ("p0_x = 0.3", False), (None, True)])
def test_L4_momenta_are_kept_where_no_constraint_pulls(held: str | None, kept: bool) -> None:
    """A rod between two bodies and a point at a height leave the momentum of the cart; a point held along x does not."""
    found = cart([held or ROD.format(1.5)]).simulate(
        until=0.05, step=0.005, stabilize="off", project=True, form="articulated"
    )
    assert found.finished
    (name,) = cart([]).coordinates[:1]
    assert (f"momentum of {name}" in found.integrals) is kept
    if kept:
        momentum = np.asarray(found.integrals[f"momentum of {name}"])
        assert np.ptp(momentum) < 1e-8


def test_L4_check_classifies_constraints_between_points_of_long_trees_at_once() -> None:
    """Those on positions are holonomic by what they are: nothing is written out for it, also beside others."""
    found = check(cart([ROD.format(1.5), "p0_z = 0.1*t + 0.2"]), until=0.01, step=0.005, stabilize="off")
    assert [(kind.kind, kind.time_dependent) for kind in found.kinds] == [("holonomic", False), ("holonomic", True)]
