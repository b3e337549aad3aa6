"""A tree as a mechanical system like any other: M and bias as expressions.

Small planar trees are written in the short forms of the books: M by the planar formulas, the bias by Christoffel symbols.
All others go by composite bodies and Newton–Euler; their expressions share their parts, so that they are short as programs
and long as text.
"""

from __future__ import annotations

from collections.abc import Sequence

import symengine as se

from svyaz.expr import ZERO, Expression, ModelError, Problem, combine, differentiate
from svyaz.forms.christoffel import quadratic_bias
from svyaz.forms.tree.recursions.algebra import expressions
from svyaz.forms.tree.recursions.composite import mass_matrix
from svyaz.forms.tree.recursions.energies import energies
from svyaz.forms.tree.recursions.newton_euler import inverse_dynamics
from svyaz.forms.tree.recursions.places import Placed, placed, welded
from svyaz.forms.tree.recursions.regroup import links_of, placed_link, with_base_parameters, with_poles_shifted
from svyaz.forms.tree.short_formulas.poles import inertia_of_planar, is_planar_arm
from svyaz.model import System, Tree, tree_of

MOST_WRITTEN = 150
"""Larger trees have no equations: their mass matrix alone would fill pages and memory."""

MOST_IN_BOOK_FORM = 10
"""Planar trees of more bodies than this are left to the recursions."""


def tree_terms(system: System) -> tuple[list[list[Expression]], list[Expression]]:
    """(M, bias) of a tree without constraints; the forces and the dissipation of the model are in the bias."""
    tree = tree_of(system)
    others = [
        differentiate(system.dissipation, se.Symbol(v)) - system.forces.get(name, ZERO)
        for v, name in zip(tree.velocities, tree.freedoms, strict=True)
    ]
    if len(tree.bodies) > MOST_WRITTEN:
        message = (
            f"the equations of a tree of {len(tree.bodies)} bodies are not written out; at most {MOST_WRITTEN} are"
        )
        raise ModelError([Problem(message, hint="'simulate' runs long trees without writing their equations")])
    if is_planar_arm(tree) and len(tree.bodies) <= MOST_IN_BOOK_FORM:
        return _in_book_form(tree, others)
    elements = expressions()
    bodies = bodies_of(tree)
    velocities = [se.Symbol(v) for v in tree.velocities]
    bias = inverse_dynamics(bodies, tree.gravity, velocities, None, elements)
    return mass_matrix(bodies, elements), [b + other for b, other in zip(bias, others, strict=True)]


def bodies_of(tree: Tree) -> list[Placed]:
    """The bodies for recursions on expressions: over base parameters, which have many zeros, unless joints are free."""
    elements = expressions()
    whole = welded(tree, elements)
    if any(body.joint == "free" for body in whole.bodies):
        return placed(whole, {q: se.Symbol(q) for q in whole.coordinates}, elements)
    links = with_base_parameters(with_poles_shifted(links_of(whole), ()), balanced=False)
    return [placed_link(whole, link) for link in links]


def _in_book_form(tree: Tree, others: Sequence[Expression]) -> tuple[list[list[Expression]], list[Expression]]:
    q = [se.Symbol(name) for name in tree.coordinates]
    v = [se.Symbol(name) for name in tree.velocities]
    elements = expressions()
    matrix = inertia_of_planar(tree, dict(zip(tree.coordinates, q, strict=True)), elements)
    mass = [[combine(entry) for entry in row] for row in matrix]
    potential = combine(energies(tree)[1])
    return mass, quadratic_bias(-potential, [ZERO] * len(q), mass, q, v, others)
