"""The inertia matrix of a planar tree: all axes of rotation equal, by formulas (10)–(12) of the source of ``poles``.

    H_ii = I^d_i + Σ_{j carried by i} ( H_jj + 2 U_jj ),    H_j,b = H_ji + U_ji  (b the base of i),
    U_ji = L_i e_i · Σ_{k from j upward} d_k,               I^d_i = I_i + Σ m_j L_j²

Everything is resolved in angles between two bodies, sums of joint angles, so that L_i e_i · d_k is
d (L·d cos + (L×d) sin) with constants in front. Bodies that slide take part as long as the tree stays planar: see ``terms``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from svyaz.forms.tree.recursions.algebra import Element, Elements, Vector, cross, dot, plus, tensor_applied, times
from svyaz.forms.tree.short_formulas.poles import refuse_other_joints
from svyaz.model import Tree

Name = Callable[[str, Element], Element]
"""Gives an intermediate its name: identity, or a table that keeps it."""


def plain(name: str, value: Element) -> Element:
    """No names: formulas are written into each other."""
    return value


def is_planar_arm(tree: Tree) -> bool:
    """Revolute joints only, all with the same axis (not its opposite)."""
    return all(b.joint == "revolute" and b.axis == tree.bodies[0].axis for b in tree.bodies)


def inertia_of_planar(
    tree: Tree, coordinates: Mapping[str, Element], elements: Elements, named: Name = plain
) -> list[list[Element]]:
    """H (n × n) of a planar tree of revolute joints."""
    refuse_other_joints(tree)
    bodies = tree.bodies
    axis = bodies[0].axis
    masses = [b.mass for b in bodies]
    for k in range(len(bodies) - 1, -1, -1):
        if bodies[k].base >= 0:
            masses[bodies[k].base] = masses[bodies[k].base] + masses[k]
    moments = [_augmented(tree, k, masses) for k in range(len(bodies))]
    matrix = [[elements.zero] * len(bodies) for _ in bodies]
    pulls: dict[tuple[int, int], Element] = {}
    for j in range(len(bodies) - 1, -1, -1):
        for i in tree.path(j):
            pulls[j, i] = _pull(tree, coordinates, elements, moments, pulls, j, i) if bodies[i].base >= 0 else None
            if pulls[j, i] is not None:
                pulls[j, i] = named(f"U{j + 1}{i + 1}", pulls[j, i])
    for j in range(len(bodies) - 1, -1, -1):
        total = dot(axis, tensor_applied(_tensor(bodies[j].inertia), axis))
        for k in tree.carried[j]:
            across = cross(axis, bodies[k].pole)
            total = total + masses[k] * dot(across, across)
        for k in tree.carried[j]:
            # H_kk + 2 U_kk = H_kj + U_kk, which needs no doubling
            total = total + matrix[k][j] + pulls[k, k]
        matrix[j][j] = named(f"H{j + 1}{j + 1}", total)
        for i in tree.path(j):
            base = bodies[i].base
            if base >= 0:
                matrix[j][base] = matrix[base][j] = named(f"H{j + 1}{base + 1}", matrix[j][i] + pulls[j, i])
    return matrix


def _pull(
    tree: Tree,
    coordinates: Mapping[str, Element],
    elements: Elements,
    moments: list[Vector],
    pulls: Mapping[tuple[int, int], Element],
    j: int,
    i: int,
) -> Element:
    """U_ji by (12): the first moment of body j alone, and what it carries."""
    angle = elements.zero
    for k in tree.path(j):
        angle = angle + coordinates[tree.bodies[k].coordinates[0]]
        if k == i:
            break
    axis, way, moment = tree.bodies[i].axis, tree.bodies[i].pole, moments[j]
    along = dot(way, moment) - dot(way, axis) * dot(moment, axis)
    across = dot(way, cross(axis, moment))
    total = along * elements.cos(angle) + across * elements.sin(angle)
    for k in tree.carried[j]:
        total = total + pulls[k, i]
    return total


def _augmented(tree: Tree, k: int, masses: list[Element]) -> Vector:
    moment = times(tree.bodies[k].mass, tree.bodies[k].center)
    for j in tree.carried[k]:
        moment = plus(moment, times(masses[j], tree.bodies[j].pole))
    return moment


def _tensor(inertia: tuple) -> tuple:
    xx, yy, zz, xy, xz, yz = inertia
    return (xx, yy, zz, -xy, -xz, -yz)
