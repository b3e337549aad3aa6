"""Trees of the gallery against Pinocchio, and the quadruped as it lands."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from tree_oracle import pinocchio_model, random_state, their_coordinates, their_velocities

from svyaz import gallery, loads
from svyaz.forms.tree.numeric import NumericTree

TREES = ["scara", "two-armed-spatial", "puma-560", "stanford", "quadruped"]
LEGS = ("lf", "rf", "lh", "rh")


@pytest.mark.parametrize("name", TREES)
def test_tree_equals_pinocchio(name) -> None:
    system = loads(gallery.find(name), name)
    numeric = NumericTree(system.tree, system.parameters)
    model = pinocchio_model(numeric.tree)
    data = model.createData()
    q, v = random_state(system.tree, np.random.default_rng(2))
    theirs, places = q[their_coordinates(system.tree)], their_velocities(system.tree)
    pin.crba(model, data, theirs)
    mass = np.triu(data.M) + np.triu(data.M, 1).T
    assert np.abs(numeric.mass_matrix(q)[np.ix_(places, places)] - mass).max() <= 1e-12 * np.abs(mass).max()
    bias = pin.nonLinearEffects(model, data, theirs, v[places])
    assert np.abs(numeric.bias(q, v)[places] - bias).max() <= 1e-12 * np.abs(bias).max()


def test_quadruped_lands_on_its_feet_and_stands() -> None:
    system = loads(gallery.find("quadruped"), "quadruped")
    motion = system.simulate()
    assert motion.finished
    # The lowest foot touches after a fall of its height, exactly as it would fall alone: the legs move with the trunk.
    landings = [phase.t for phase in motion.phases[1:]]
    assert len(landings) == len(LEGS)
    assert landings == sorted(landings)
    foot = pin_foot_height(system)
    assert landings[0] == pytest.approx((2 * foot / 9.81) ** 0.5, rel=1e-9)
    for phase in motion.phases[1:]:
        assert phase.energy_after < phase.energy_before
    assert max(np.nanmax(np.abs(r)) for r in motion.residuals.values()) < 1e-9
    pushes = [motion.multipliers[f"{leg} ground"] for leg in LEGS]
    assert all(np.nanmin(push) > 0 for push in pushes)
    # At rest the ground carries the weight, and pulls and pushes along it cancel.
    weight = 9.81 * sum(value for name, value in total_masses(system).items())
    assert sum(push[-1] for push in pushes) == pytest.approx(weight, rel=1e-3)
    for axis in "xy":
        assert sum(motion.multipliers[f"{leg} grip {axis}"][-1] for leg in LEGS) == pytest.approx(0, abs=1e-3 * weight)
    assert np.abs(motion.states[-1][len(system.coordinates) : len(system.coordinates) + 18]).max() < 0.01


def total_masses(system) -> dict[str, float]:
    return {body.name: float(body.mass.subs(system.parameters)) for body in system.tree.bodies}


def pin_foot_height(system) -> float:
    """The height of the lowest foot at the start, by Pinocchio."""
    tree = NumericTree(system.tree, system.parameters).tree
    model = pinocchio_model(tree)
    data = model.createData()
    q = np.array(system.initial_state()[: len(system.coordinates)])
    pin.forwardKinematics(model, data, q[their_coordinates(system.tree)])
    tip = np.array([0, 0, -system.parameters["l"]])
    heights = [data.oMi[model.getJointId(b.name)].act(tip)[2] for b in tree.bodies if b.name.endswith("shank")]
    return min(heights)
