"""Points of the bodies of long trees: places and velocities made from the ground outward against those made point by point."""

import numpy as np
import pytest
import symengine as se

from svyaz import System
from svyaz.expr import evaluate, total_derivative
from svyaz.gallery.random_mechanisms import random_tree
from svyaz.model.ground_places import GroundPlaces
from svyaz.model.reading.points import position


@pytest.mark.parametrize("axes", ["any", "parallel", "coordinate"])
def test_places_and_velocities_from_the_ground_outward_are_those_of_single_points(axes):
    words = random_tree(24, 5, branching=2.0, joints=("revolute", "revolute", "prismatic", "fixed"), axes=axes)
    tree = System(**words).tree
    at = (se.RealDouble(0.1), se.RealDouble(-0.2), se.RealDouble(0.3))
    rates = tree.rates
    random = np.random.default_rng(2)
    state = {name: float(random.uniform(-1, 1)) for q, v in rates.items() for name in (q, str(v))}
    places = GroundPlaces(tree, rates)
    for body in (0, 11, 23):
        place, velocity = places.point(body, at)
        alone = position(tree, body, at)
        moved = [total_derivative(e, {se.Symbol(q): v for q, v in rates.items()}) for e in alone]
        for found, expected in zip([*place, *velocity], [*alone, *moved], strict=True):
            assert evaluate(found, state) == pytest.approx(evaluate(expected, state), abs=1e-12)
