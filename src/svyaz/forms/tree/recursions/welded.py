"""A tree without fixed joints: bodies that are fixed to their base are one body with it."""

from __future__ import annotations

from dataclasses import replace

from svyaz.forms.tree.recursions.algebra import Elements, offset_inertia, plus, point_inertia, tensor_plus, times
from svyaz.model import GROUND, Body, Tree


def welded(tree: Tree, elements: Elements) -> Tree:
    """The same motion with fewer bodies. Bodies fixed to the ground are left out, as nothing of them moves.

    The centre of a body is kept as mass times centre over mass; a massless body with a first moment cannot be.
    """
    if all(body.joint != "fixed" for body in tree.bodies):
        return tree
    zero = elements.zero
    kept: list[int] = []
    homes: list[tuple[int, tuple]] = []
    grown: dict[int, list[tuple[Body, tuple]]] = {}
    for k, body in enumerate(tree.bodies):
        base, way = (GROUND, (zero, zero, zero)) if body.base == GROUND else homes[body.base]
        if body.joint == "fixed":
            homes.append((base, plus(way, body.pole)))
            if base != GROUND:
                grown[base].append((body, plus(way, body.pole)))
        else:
            homes.append((len(kept), (zero, zero, zero)))
            grown[len(kept)] = [(replace(body, base=base, pole=plus(way, body.pole)), (zero, zero, zero))]
            kept.append(k)
    return Tree(tuple(_joined(grown[k]) for k in range(len(kept))), tree.gravity)


def _joined(parts: list[tuple[Body, tuple]]) -> Body:
    first = parts[0][0]
    if len(parts) == 1:
        return first
    mass, moment, inertia = first.mass, times(first.mass, first.center), first.inertia
    for body, way in parts[1:]:
        own = times(body.mass, body.center)
        xx, yy, zz, xy, xz, yz = tensor_plus(point_inertia(body.mass, way), offset_inertia(way, own))
        mass = mass + body.mass
        moment = plus(moment, plus(own, times(body.mass, way)))
        inertia = tensor_plus(tensor_plus(inertia, body.inertia), (xx, yy, zz, -xy, -xz, -yz))
    center = moment if mass == 0 else times(1 / mass, moment)
    return replace(first, mass=mass, center=center, inertia=inertia)
