"""Recursions over trees on numbers, against Pinocchio and against each other."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from tree_oracle import pinocchio_model, random_state, their_coordinates, their_velocities

from svyaz import System
from svyaz.dynamics import Robot
from svyaz.forms.tree.numeric import NumericTree
from svyaz.gallery.random_mechanisms import random_tree
from svyaz.model.tree import Tree, numbers

ALL_JOINTS = ("revolute", "revolute", "revolute", "prismatic", "prismatic", "fixed", "free")
GROUPS = range(30)
EACH = 10


def close(ours, theirs, relative: float = 1e-10) -> None:
    scale = np.max(np.abs(theirs), initial=1e-300)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=relative * scale)


@cache
def drawn(seed: int, joints=ALL_JOINTS) -> Tree:
    size = 2 + seed % 11
    return System(**random_tree(size, seed, branching=1.0 + (seed % 4) * 0.5, joints=joints)).tree


def functions(ours: NumericTree | Robot) -> tuple:
    """M, gravity, bias, inverse and forward dynamics."""
    if isinstance(ours, Robot):
        return ours.mass, ours.gravity, ours.bias, ours.inverse, ours.forward
    return ours.mass_matrix, ours.gravity_terms, ours.bias, ours.inverse_dynamics, ours.forward_dynamics


def equal_pinocchio(ours: NumericTree | Robot, tree: Tree, seed: int) -> None:
    """M, gravity, bias, inverse and forward dynamics at a random state; ``tree`` holds numbers."""
    model = pinocchio_model(tree)
    data = model.createData()
    rng = np.random.default_rng(seed)
    q, v = random_state(tree, rng)
    their_q, order = q[their_coordinates(tree)], their_velocities(tree)
    their_v = v[order]
    a, tau = rng.uniform(-2, 2, len(v)), rng.uniform(-2, 2, len(v))
    upper = np.triu(pin.crba(model, data, their_q))
    mass = upper + np.triu(upper, 1).T
    own_mass, gravity, bias, inverse, forward = functions(ours)
    close(own_mass(q)[np.ix_(order, order)], mass)
    close(gravity(q)[order], pin.computeGeneralizedGravity(model, data, their_q))
    close(bias(q, v)[order], pin.nonLinearEffects(model, data, their_q, their_v))
    close(inverse(q, v, a)[order], pin.rnea(model, data, their_q, their_v, a[order]))
    close(forward(q, v, tau)[order], pin.aba(model, data, their_q, their_v, tau[order]))


@pytest.mark.parametrize("group", GROUPS)
def test_T1_random_trees_equal_pinocchio(group) -> None:
    for seed in range(group * EACH, (group + 1) * EACH):
        numeric = NumericTree(drawn(seed), {})
        equal_pinocchio(numeric, numeric.tree, seed)


@pytest.mark.parametrize("group", range(4))
def test_T1_forty_of_them_as_native_programs(group) -> None:
    """Those with few freedoms, which are the quickest to compile; all joint types are among them."""
    few = [seed for seed in range(len(GROUPS) * EACH) if len(drawn(seed).velocities) <= 7]
    chosen = few[:: len(few) // 40][:40]
    assert len(chosen) == 40
    assert {body.joint for seed in chosen for body in drawn(seed).bodies} == set(ALL_JOINTS)
    for seed in chosen[group::4]:
        equal_pinocchio(Robot(drawn(seed), {}), numbers(drawn(seed), {}), seed)


@pytest.mark.parametrize("axes", ["any", "coordinate", "parallel"])
def test_T1_formulas_by_poles_equal_composite_bodies(axes) -> None:
    for seed in range(100):
        words = random_tree(2 + seed % 11, seed, branching=1.0 + (seed % 4) * 0.5, axes=axes)
        system = System(**words)
        numeric = NumericTree(system.tree, system.parameters)
        q, _ = random_state(numeric.tree, np.random.default_rng(seed))
        close(numeric.mass_matrix_by_poles(q), numeric.mass_matrix(q), 1e-12)


def test_T1_batches_give_what_single_states_give() -> None:
    numeric = NumericTree(drawn(8), {})
    rng = np.random.default_rng(0)
    states = [random_state(numeric.tree, rng) for _ in range(5)]
    q, v = np.array([s[0] for s in states]), np.array([s[1] for s in states])
    tau = rng.uniform(-1, 1, v.shape)
    for name, arguments in {
        "mass_matrix": (q,),
        "gravity_terms": (q,),
        "bias": (q, v),
        "inverse_dynamics": (q, v, tau),
        "forward_dynamics": (q, v, tau),
    }.items():
        together = getattr(numeric, name)(*arguments)
        alone = np.array([getattr(numeric, name)(*(a[k] for a in arguments)) for k in range(5)])
        np.testing.assert_allclose(together, alone, rtol=1e-12, atol=1e-12)
