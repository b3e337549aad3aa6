"""What constraints pull at the joints of a tree at the ground, told by ∂h/∂P: short however long the tree is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import symengine as se

from svyaz.expr import ZERO, Expression, add_up, gradient, names_in
from svyaz.model import System, Tree, tree_of


def tied_names(system: System) -> set[str]:
    """Names that stand in constraints, with the coordinates of joints at the ground along or about which they pull points."""
    stated = [c.expression if c.order else c.stated for c in system.constraints]
    found = set().union(*map(names_in, stated))
    tree = tree_of(system)
    for c in (c for c in system.constraints if not c.order):
        pulls = defaultdict[int, list[Expression]](list)
        for name in {word.rpartition("_")[0] for word in names_in(c.stated)} & system.points.keys():
            way = [k for k in tree.path(system.points[name].body) if tree.bodies[k].freedoms]
            if way and len(tree.bodies[way[-1]].coordinates) == 1:
                place = [se.Symbol(f"{name}_{axis}") for axis in "xyz"]
                pulls[way[-1]].append(_pull(tree, way[-1], place, gradient(c.stated, place)))
        found |= {tree.bodies[root].coordinates[0] for root, own in pulls.items() if add_up(own) != ZERO}
    return found


def _pull(tree: Tree, root: int, place: Sequence[Expression], force: Sequence[Expression]) -> Expression:
    """What a joint at the ground feels of a force at a place: the force along its axis, or the moment about it."""
    joint = tree.bodies[root]
    if joint.kind.slides:
        return add_up(a * f for a, f in zip(joint.axis, force, strict=True))
    poles = [tree.bodies[k].pole for k in tree.path(root)]
    x, y, z = (p - add_up(along) for p, *along in zip(place, *poles, strict=True))
    u, v, w = force
    return add_up(a * m for a, m in zip(joint.axis, (y * w - z * v, z * u - x * w, x * v - y * u), strict=True))
