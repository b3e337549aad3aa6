"""Points of the bodies of long trees: places and velocities made from the ground outward against those made point by point."""

from typing import Any

import numpy as np
import pytest
import symengine as se

from svyaz import System
from svyaz.expr import ModelError, evaluate, occurs, total_derivative
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
    places = GroundPlaces(tree)
    for body in (0, 11, 23):
        place, velocity = places.place(body, at), places.velocity(body, at)
        alone = position(tree, body, at)
        moved = [total_derivative(e, {se.Symbol(q): v for q, v in rates.items()}) for e in alone]
        for found, expected in zip([*place, *velocity], [*alone, *moved], strict=True):
            assert evaluate(found, state) == pytest.approx(evaluate(expected, state), abs=1e-12)


def flat(equation: str) -> None:
    """A chain of twenty links in the plane of x and y, with a constraint on the points a and b of its ends."""
    words: dict[str, Any] = dict(random_tree(20, 1, branching=1.0, axes="parallel"))
    ends = [words["body"][k]["name"] for k in (4, 19)]
    words["point"] = [{"name": n, "body": b, "at": [0.1, 0.2, 0.3]} for n, b in zip("ab", ends, strict=True)]
    System(**words, constraint=[{"name": "held", "equation": equation}])


@pytest.mark.parametrize("equation", ["a_z = 0.3", "b_z' = 0", "a_z = b_z + t", "a_x = a_x"])
def test_what_moves_no_point_of_a_long_tree_is_no_constraint(equation: str) -> None:
    with pytest.raises(ModelError, match="'held'"):
        flat(equation)
    flat(equation.replace("_z", "_x").replace("a_x = a_x", "a_x = a_y"))


def test_names_are_found_in_formulas_that_share_parts() -> None:
    """Each part is looked at once, though the tree of parts has 2^200 leaves."""
    x, y = se.symbols("x y")
    shared = x
    for _ in range(200):
        shared = se.sin(shared + se.cos(shared))
    assert occurs({x, y}, shared)
    assert not occurs({y}, shared)


def test_velocities_of_points_of_long_trees_are_made_where_they_are_named() -> None:
    words: dict[str, Any] = dict(random_tree(20, 1, branching=1.0))
    words["point"] = [{"name": "a", "body": words["body"][19]["name"], "at": [0.1, 0.2, 0.3]}]
    system = System(**words, constraint=[{"name": "held", "equation": "a_x' = a_y*a_z'"}])
    (held,) = system.constraints
    places = GroundPlaces(system.tree)
    place, velocity = (made(19, system.points["a"].at) for made in (places.place, places.velocity))
    assert held.order == 1
    random = np.random.default_rng(2)
    state = {name: float(random.uniform(-1, 1)) for name in (*system.coordinates, *system.velocities)}
    x, y, z = (evaluate(e, state) for e in (velocity[0], place[1], velocity[2]))
    assert evaluate(held.expression, state) == pytest.approx(x - y * z, abs=1e-12)
