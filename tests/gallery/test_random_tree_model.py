"""``random-tree:N``: a model file of any size to start from."""

from __future__ import annotations

import numpy as np
import pytest

from svyaz import ModelError, gallery, loads
from svyaz.forms.tree.numeric import NumericTree
from svyaz.gallery.models.random_tree import AXES, JOINTS


def tree(size: int, **choices: str):
    return loads(gallery.find(f"random-tree:{size}", choices), "random-tree")


@pytest.mark.parametrize("joints", JOINTS)
@pytest.mark.parametrize("axes", AXES)
def test_trees_are_clean_and_their_inertia_matrices_positive(joints, axes) -> None:
    for seed in range(3):
        system = tree(9, joints=joints, axes=axes, seed=str(seed))
        assert system.warnings == ()
        assert len(system.tree.bodies) == 9
        numeric = NumericTree(system.tree, system.parameters)
        assert np.linalg.eigvalsh(numeric.mass_matrix(system.initial_state()[: len(system.coordinates)])).min() > 0


def test_seed_makes_the_tree_and_size_its_beginning() -> None:
    assert gallery.find("random-tree:5", {"seed": "3"}) == gallery.find("random-tree:5", {"seed": "3"})
    assert gallery.find("random-tree:5", {"seed": "3"}) != gallery.find("random-tree:5", {"seed": "4"})
    assert tree(5).tree.bodies == tree(7).tree.bodies[:5]


def test_branching_and_taper() -> None:
    assert tree(8, branching="1").tree.parents == tuple(range(-1, 7))
    bushy = tree(40, branching="4").tree
    assert sum(not carried for carried in bushy.carried) > 8
    slim = tree(20, taper="0.7")
    assert slim.parameters["m20"] < 1e-3 * slim.parameters["m1"]


def test_many_bodies_can_be_run() -> None:
    motion = tree(40).simulate(until=0.2)
    assert motion.finished
    energy = motion.integrals["energy"]
    assert np.ptp(energy) < 1e-6 * np.abs(energy).max()


@pytest.mark.parametrize(
    ("name", "choices", "message"),
    [
        ("random-tree:0", {}, "a random-tree has from 1 to 500 bodies, not '0'"),
        ("random-tree:501", {}, "a random-tree has from 1 to 500 bodies, not '501'"),
        ("random-tree:3", {"taper": "9"}, "'taper' of 'random-tree' cannot be '9'"),
        ("random-tree:3", {"branching": "much"}, "'branching' of 'random-tree' cannot be 'much'"),
        ("random-tree:3", {"seed": "-1"}, "'seed' of 'random-tree' cannot be '-1'"),
        ("random-tree:3", {"axis": "any"}, "the model 'random-tree' has no variants 'axis'"),
    ],
)
def test_mistakes_are_told_in_words(name, choices, message) -> None:
    with pytest.raises(ModelError) as caught:
        gallery.find(name, choices)
    assert caught.value.problems[0].message == message
