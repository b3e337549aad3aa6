"""The entries of the inertia matrix as explicit functions of the coordinates, with the physical parameters visible.

Each entry is a sum of linearly independent functions, cosines and sines of sums of angles and powers of slides; the
coefficients show masses, centres, inertias and lengths as the model names them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import symengine as se

from svyaz.expr import Expression, ModelError, Problem
from svyaz.forms.tree.conditions.harmonics import CONSTANT, Harmonics, Key, LongFormula, exact, lifted, unit_norm
from svyaz.forms.tree.conditions.unknown_masses import ELEMENTS, placed_with_unknowns, quaternions_of
from svyaz.forms.tree.recursions.algebra import expressions
from svyaz.forms.tree.recursions.composite import mass_matrix
from svyaz.forms.tree.recursions.welded import welded
from svyaz.model import Tree

HINT = "the sequence of named intermediates is written for any tree"

DEEPEST = 7
"""Axes of different directions, one carried by the other: with more of them entries have many thousands of terms."""


def explicit_inertia(tree: Tree) -> list[list[Expression]]:
    """H (n × n) in the parameters and coordinates of the model."""
    whole = welded(tree, expressions())
    _refuse_long_ways(whole)
    bodies, _ = placed_with_unknowns(whole, {})
    quaternions = quaternions_of(whole)
    values = _own_values(whole)
    try:
        matrix = mass_matrix(bodies, ELEMENTS)
    except LongFormula as error:
        raise ModelError([Problem("explicit entries of this tree are beyond reading", hint=HINT)]) from error
    return [
        [_written(unit_norm(lifted(entry), quaternions), values, whole.coordinates) for entry in row] for row in matrix
    ]


def _refuse_long_ways(tree: Tree) -> None:
    for k in range(len(tree.bodies)):
        way = tree.path(k)
        turns = sum(tree.bodies[i].axis != tree.bodies[j].axis for i, j in pairwise(way))
        if turns >= DEEPEST:
            message = f"explicit entries are written for at most {DEEPEST} directions of axes in a row"
            raise ModelError([Problem(message, hint=HINT)])


def _own_values(tree: Tree) -> list[Expression]:
    """Mass, first moment and inertia of each body, as the unknowns stand."""
    return [
        se.sympify(e) for body in tree.bodies for e in (body.mass, *(body.mass * c for c in body.center), *body.inertia)
    ]


def _written(entry: Harmonics, values: Sequence[Expression], coordinates: Sequence[str]) -> Expression:
    """Constant part first written out, each function with its coefficient collected."""
    terms = []
    for key, form in entry.parts.items():
        coefficient = se.expand(se.Add(*[exact(c) * values[place] for place, c in form.items()]))
        terms.append(coefficient if key == CONSTANT else coefficient * _function(key, coordinates))
    return se.Add(*terms)


def _function(key: Key, coordinates: Sequence[str]) -> Expression:
    angles, is_sine, powers = key
    found = se.Mul(*[se.Symbol(coordinates[number]) ** power for number, power in powers])
    if not angles:
        return found
    angle = se.Add(*[times * se.Symbol(coordinates[number]) for number, times in angles])
    return found * (se.sin(angle) if is_sine else se.cos(angle))
