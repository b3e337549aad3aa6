"""Forces of long trees that jump: sides and sliding motions where recursions run them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from svyaz import Motion, System
from svyaz.gallery.random_mechanisms import random_tree

PRECISE: dict[str, Any] = {"method": "dop853", "rtol": 1e-11, "until": 0.1, "every": 0.05}


def rubbing(size: int, **options: Any) -> dict[str, Any]:
    """A random tree from rest, with dry friction in joints, one of it stated as dissipation, and a switching control."""
    words: dict[str, Any] = dict(random_tree(size, 4, branching=1.4, taper=1.0, **options))
    words["forces"] = {"q5": "-6*sign(q5' - q4')", "q4": "6*sign(q5' - q4')"}
    words |= {"dissipation": "2*abs(q3')", "states": ["w"], "rates": {"w": "-sign(w - q1)"}}
    words["forces"]["q2"] = "0.5*abs(q2) + max(q1, 0) - 5*sign(q2' + 2*q2 - 0.1)"
    return words | {"initial": {"q2": 0.05, "q1'": 0.3, "q5'": 0.2}}


def told(motion: Motion) -> list[str]:
    """What is said of surfaces that held the motion, without the times."""
    return [note.split(" is held from")[0] for note in motion.notes if " is held from" in note]


@pytest.mark.parametrize("tied", [False, True])
def test_L4_trees_with_forces_that_jump_move_as_their_written_equations_say(tied: bool) -> None:
    """States, surfaces along which the motion slides, and the balance of the energy; short trees, to be quick."""
    words = rubbing(5, axes="parallel" if tied else "coordinate")
    if tied:
        words["constraint"] = [{"name": "gear", "equation": "q4 = 2*q5 + 0.1*sin(t)"}]
    system = System(**words)
    fast = system.simulate(**PRECISE, project=tied, form="articulated")
    written = system.simulate(**PRECISE, project=tied, form="multipliers" if tied else "lagrange")
    assert (fast.form, fast.status) == ("articulated", "finished")
    assert told(fast)
    assert told(fast) == told(written)
    np.testing.assert_allclose(fast.states, written.states, rtol=0, atol=1e-8)
    assert fast.balance is not None
    assert written.balance is not None
    for name in ("work", "dissipated"):
        np.testing.assert_allclose(getattr(fast.balance, name), getattr(written.balance, name), rtol=0, atol=1e-8)
    assert np.abs(fast.balance.remainder).max() < 1e-8


def test_L4_a_block_on_a_long_tree_sticks_while_friction_can_hold_it() -> None:
    """A slide beside a long tree, pushed by 3t against friction of 2: it starts at t = 2/3, and then 3t - 2 moves it."""
    words: dict[str, Any] = dict(random_tree(17, 1, axes="parallel"))
    block = {"name": "block", "base": "ground", "joint": "prismatic", "coordinate": "x", "axis": [1, 0, 0]}
    block |= {"pole": [0, 0, 0], "mass": 2, "center": [0, 0, 0], "inertia": {"xx": 1, "yy": 1, "zz": 1}}
    words |= {"gravity": [0, 0, 0], "body": [*words["body"], block], "forces": {"x": "3*t - 2*sign(x')"}}
    motion = System(**words).simulate(method="dop853", rtol=1e-11, until=1.0)
    late = motion.times[-1] - 2 / 3
    assert motion.form == "articulated"
    assert motion.column("x'")[-1] == pytest.approx(0.75 * late**2, abs=1e-10)
    assert motion.column("x")[-1] == pytest.approx(0.25 * late**3, abs=1e-10)
    assert any("x' = 0 is held from t = 0 to t = 0.666666667" in note for note in motion.notes)


def test_L4_dry_friction_in_joints_of_three_hundred_bodies() -> None:
    """More than are written out: what friction takes away is what the energy loses."""
    words: dict[str, Any] = dict(random_tree(300, 5, branching=1.2, taper=1.0, axes="coordinate"))
    words["forces"] = {f"q{k}": f"-0.5*sign(q{k}')" for k in range(1, 300, 50)}
    motion = System(**words).simulate(method="dop853", rtol=1e-8, until=0.05)
    assert motion.finished
    assert motion.balance is not None
    assert motion.balance.dissipated[-1] > 0.0
    assert abs(motion.balance.remainder[-1]) < 1e-6 * motion.balance.scale
