"""The inertia matrix of a tree of revolute joints by poles, axes and augmented bodies.

Source: A. I. Telegin, "Writing out inertial matrices of hinged tree-shaped systems", Bulletin of the South Ural State
University, 2025, 25(2), 33–45; the numbers of formulas are the paper's. With q_i the unit vector of the axis of body i,
L_k e_k the vector from the pole of the base of k to that of k, m_k the mass of body k and all it carries, d_k the first
moment of the augmented body k (1), and m_j = Σ d_k over body j and all it carries (4):

    H_ji = J^s_ji + J^o_j q_j·q_i + Σ_{k after i up to j} L_k (q_j·q_i m_j·e_k - m_j·q_i q_j·e_k)
           - Σ_{k carried by j} L_k [ e_k·q_j (m_k L_k e_k·q_i + m_k·q_i) + e_k·q_i m_k·q_j ]                       (2)

where bold m_k on the right of a product with a unit vector is the first moment. L_k e_k is written as one vector. Of a
planar tree, all axes of rotation equal, by formulas (10)–(12):

    H_ii = I^d_i + Σ_{j carried by i} ( H_jj + 2 U_jj ),    H_j,b = H_ji + U_ji  (b the base of i),
    U_ji = L_i e_i · Σ_{k from j upward} d_k,               I^d_i = I_i + Σ m_j L_j²

There everything is resolved in angles between two bodies, sums of joint angles, so that L_i e_i · d_k is
d (L·d cos + (L×d) sin) with constants in front. Bodies that slide take part as long as the tree stays planar: see ``terms``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from svyaz.expr import ModelError, Problem
from svyaz.forms.tree.recursions.algebra import (
    Element,
    Elements,
    Matrix,
    Vector,
    applied,
    cross,
    dot,
    plus,
    tensor_applied,
    times,
    transposed,
)
from svyaz.forms.tree.recursions.places import Placed, placed
from svyaz.model import GROUND, Tree


def inertia_by_poles(tree: Tree, coordinates: Mapping[str, Element], elements: Elements) -> list[list[Element]]:
    """H (n × n) by the general formulas (1)–(6), with the shortcuts (7) and (8) where neighbouring axes are parallel."""
    refuse_other_joints(tree)
    system = _Subsystems(tree, placed(tree, coordinates, elements), elements)
    count = len(tree.bodies)
    matrix = [[elements.zero] * count for _ in range(count)]
    for j in range(count - 1, -1, -1):
        for i in tree.path(j):
            matrix[j][i] = matrix[i][j] = _entry(tree, system, matrix, j, i)
    return matrix


def refuse_other_joints(tree: Tree) -> None:
    """The formulas are for revolute joints."""
    for body in tree.bodies:
        if not body.kind.turns:
            raise ModelError(
                [Problem(f"the formulas by poles want revolute joints; that of '{body.name}' is {body.joint}")]
            )


def _entry(tree: Tree, s: _Subsystems, matrix: Sequence[Sequence[Element]], j: int, i: int) -> Element:
    """H_ji for a body i that carries j (or is j), the shorter way."""
    if i == j:
        carried = tree.carried[i]
        if all(tree.bodies[k].axis == tree.bodies[i].axis for k in carried):
            return s.diagonal_of_parallels(i, [(k, matrix[k][k]) for k in carried])
        return s.diagonal(i)
    above = next(k for k in tree.path(j) if tree.parents[k] == i)
    if tree.bodies[above].axis == tree.bodies[i].axis:
        return s.below_parallel(j, above, matrix[j][above])
    return s.general(j, i)


class _Subsystems:
    """Axes, pole vectors, masses and first moments of the subsystems, in ground axes."""

    def __init__(self, tree: Tree, bodies: Sequence[Placed], elements: Elements) -> None:
        zero, one = elements.zero, elements.one
        units: Matrix = ((one, zero, zero), (zero, one, zero), (zero, zero, one))
        self.tree, self.bodies, self.elements = tree, bodies, elements
        turned: list[Matrix] = []
        for body in bodies:
            under = units if body.body.base == GROUND else turned[body.body.base]
            x, y, z = (applied(under, column) for column in body.back)
            turned.append(transposed((x, y, z)))
        self.turned = turned
        self.axes = [applied(a, b.body.axis) for a, b in zip(turned, bodies, strict=True)]
        self.ways = [applied(units if b.body.base == GROUND else turned[b.body.base], b.offset) for b in bodies]
        self.masses = [b.mass for b in bodies]
        for k in range(len(bodies) - 1, -1, -1):
            base = bodies[k].body.base
            if base != GROUND:
                self.masses[base] += self.masses[k]
        self.moments = [applied(a, self._augmented(k)) for k, a in enumerate(turned)]
        self.own: list[Element] = [zero] * len(bodies)
        for k in range(len(bodies) - 1, -1, -1):
            base = bodies[k].body.base
            if base != GROUND:
                self.moments[base] = plus(self.moments[base], self.moments[k])
                way = self.ways[k]
                self.own[base] += self.masses[k] * self._length2(k) + 2 * dot(way, self.moments[k]) + self.own[k]

    def _augmented(self, k: int) -> Vector:
        """d_k: its own first moment and the masses that it carries directly, put at their poles (1)."""
        moment = self.bodies[k].moment
        for j in self.tree.carried[k]:
            moment = plus(moment, times(self.masses[j], self.bodies[j].offset))
        return moment

    def _length2(self, k: int) -> Element:
        return dot(self.bodies[k].offset, self.bodies[k].offset)

    def _beneath(self, j: int) -> list[int]:
        """Body j and all it carries."""
        return [k for k in range(j, len(self.bodies)) if j in self.tree.path(k)]

    def _sum_of_moments(self, j: int, i: int) -> Element:
        """J^s_ji = Σ q_j · I_k q_i over body j and all it carries (6)."""
        total = self.elements.zero
        for k in self._beneath(j):
            back = transposed(self.turned[k])
            total += dot(
                applied(back, self.axes[j]), tensor_applied(self.bodies[k].inertia, applied(back, self.axes[i]))
            )
        return total

    def general(self, j: int, i: int) -> Element:
        """(2)."""
        q_j, q_i = self.axes[j], self.axes[i]
        cosine = dot(q_j, q_i)
        total = self._sum_of_moments(j, i) + self.own[j] * cosine
        for k in self.tree.path(j):
            if k == i:
                break
            way = self.ways[k]
            total += cosine * dot(self.moments[j], way) - dot(self.moments[j], q_i) * dot(q_j, way)
        return total - self._away(j, i)

    def _away(self, j: int, i: int) -> Element:
        """The last sum of (2)."""
        q_j, q_i = self.axes[j], self.axes[i]
        total = self.elements.zero
        for k in self._beneath(j)[1:]:
            way, moment = self.ways[k], self.moments[k]
            along_j, along_i = dot(way, q_j), dot(way, q_i)
            total += along_j * (self.masses[k] * along_i + dot(moment, q_i)) + along_i * dot(moment, q_j)
        return total

    def diagonal(self, i: int) -> Element:
        """(5)."""
        return self._sum_of_moments(i, i) + self.own[i] - self._away(i, i)

    def below_parallel(self, j: int, i: int, known: Element) -> Element:
        """(7): H_j,b from H_ji for the base b of i, whose axis is parallel to that of i."""
        q_j, q_i, way = self.axes[j], self.axes[i], self.ways[i]
        return known + dot(q_j, q_i) * dot(self.moments[j], way) - dot(q_j, way) * dot(self.moments[j], q_i)

    def diagonal_of_parallels(self, i: int, carried: Sequence[tuple[int, Element]]) -> Element:
        """(8): H_ii from the H_jj of the bodies that i carries, all with axes parallel to that of i."""
        axis = self.bodies[i].body.axis
        total = dot(axis, tensor_applied(self.bodies[i].inertia, axis))
        for j, known in carried:
            across = cross(axis, self.bodies[j].offset)
            way, moment = self.ways[j], self.moments[j]
            constant = self.masses[j] * dot(across, across)
            total += constant + known + 2 * (dot(way, moment) - dot(way, self.axes[j]) * dot(moment, self.axes[j]))
        return total


Name = Callable[[str, Element], Element]
"""Gives an intermediate its name: identity, or a table that keeps it."""


def plain(name: str, value: Element) -> Element:
    """No names: formulas are written into each other."""
    return value


def is_planar_arm(tree: Tree) -> bool:
    """Revolute joints only, all with the same axis (not its opposite)."""
    return all(b.kind.turns and b.axis == tree.bodies[0].axis for b in tree.bodies)


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
