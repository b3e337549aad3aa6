"""Recursions over trees on numbers, against Pinocchio and against each other."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from tree_oracle import pinocchio_model, random_state, their_coordinates, their_velocities

from svyaz import System
from svyaz.forms.tree.numeric import NumericTree
from svyaz.gallery.random_trees import random_tree

ALL_JOINTS = ("revolute", "revolute", "revolute", "prismatic", "prismatic", "fixed", "free")
GROUPS = range(30)
EACH = 10


def close(ours, theirs, relative: float = 1e-10) -> None:
    scale = np.max(np.abs(theirs), initial=1e-300)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=relative * scale)


def drawn(seed: int, joints=ALL_JOINTS) -> NumericTree:
    size = 2 + seed % 11
    words = random_tree(size, seed, branching=1.0 + (seed % 4) * 0.5, joints=joints)
    system = System(**words)
    return NumericTree(system.tree, system.parameters)


@pytest.mark.parametrize("group", GROUPS)
def test_T1_random_trees_equal_pinocchio(group) -> None:
    for seed in range(group * EACH, (group + 1) * EACH):
        numeric = drawn(seed)
        tree = numeric.tree
        model = pinocchio_model(tree)
        data = model.createData()
        rng = np.random.default_rng(seed)
        q, v = random_state(tree, rng)
        their_q, order = q[their_coordinates(tree)], their_velocities(tree)
        their_v = v[order]
        a, tau = rng.uniform(-2, 2, len(v)), rng.uniform(-2, 2, len(v))
        upper = np.triu(pin.crba(model, data, their_q))
        mass = upper + np.triu(upper, 1).T
        close(numeric.mass_matrix(q)[np.ix_(order, order)], mass)
        close(numeric.gravity_terms(q)[order], pin.computeGeneralizedGravity(model, data, their_q))
        close(numeric.bias(q, v)[order], pin.nonLinearEffects(model, data, their_q, their_v))
        close(numeric.inverse_dynamics(q, v, a)[order], pin.rnea(model, data, their_q, their_v, a[order]))
        theirs = pin.aba(model, data, their_q, their_v, tau[order])
        close(numeric.forward_dynamics(q, v, tau)[order], theirs)


@pytest.mark.parametrize("axes", ["any", "coordinate", "parallel"])
def test_T1_formulas_by_poles_equal_composite_bodies(axes) -> None:
    for seed in range(100):
        words = random_tree(2 + seed % 11, seed, branching=1.0 + (seed % 4) * 0.5, axes=axes)
        system = System(**words)
        numeric = NumericTree(system.tree, system.parameters)
        q, _ = random_state(numeric.tree, np.random.default_rng(seed))
        close(numeric.mass_matrix_by_poles(q), numeric.mass_matrix(q), 1e-12)


def test_T1_batches_give_what_single_states_give() -> None:
    numeric = drawn(8)
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
