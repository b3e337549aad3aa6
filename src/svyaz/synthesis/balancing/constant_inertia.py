"""Mass distributions that make the inertia matrix of a tree constant: the linear conditions, found and reduced.

Every entry of the matrix is linear in the masses, first moments and inertias of the bodies. It is expanded in linearly
independent functions of the joint coordinates; the coefficients of all but the constant one must vanish (A. I. Telegin,
Writing out inertial matrices of hinged tree-shaped systems, 2025, example 3, there by hand). The matrix is built by
composite bodies from the leaves to the ground, and conditions are used as soon as they are found: so the expansions stay
short.

The unknowns of a body k are those of the source: the mass M_k of all that its joint carries, the first moment d_k of the
body augmented by the masses M_j in the poles of the bodies j it carries, d_k = m_k c_k + Σ M_j p_j, and its own inertia I_k
about its pole. A free joint has the velocities in body axes of its definition, and the matrix is that for these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from svyaz.forms import (
    EACH,
    FIRST,
    MASS,
    SECOND,
    Composite,
    Harmonics,
    LinearForm,
    Placed,
    Vector,
    accumulate,
    applied,
    cross,
    dot,
    joined,
    lifted,
    placed_with_unknowns,
    plus,
    quaternions_of,
    tensor_applied,
    times,
    unit_norm,
)
from svyaz.model import GROUND, Tree
from svyaz.synthesis.balancing.quantities import LinearConditions


@dataclass(frozen=True)
class Balance:
    """``conditions`` on the augmented bodies of a tree without fixed joints, the ``matrix`` under them (linear forms of the
    unknowns), and ``gravity``: further conditions under which it drops out, empty when it does of itself.
    """

    tree: Tree
    conditions: LinearConditions
    matrix: tuple[tuple[LinearForm, ...], ...]
    gravity: LinearConditions


def balance(tree: Tree, lengths: Mapping[str, float] | None = None) -> Balance:
    """The conditions for a tree without fixed joints; lengths with names stay names unless they are given a number."""
    bodies, gravity = placed_with_unknowns(tree, lengths or {})
    found = _CompositeSearch(tree, bodies, gravity)
    matrix = found.matrix()
    order = claiming_order(len(tree.bodies))
    own = found.conditions
    conditions = LinearConditions([_augment(tree, bodies, row) for row in own.rows.values()]).ordered(order)
    entries = tuple(
        tuple(conditions.reduced(_augment(tree, bodies, own.reduced(entry.constant))) for entry in row)
        for row in matrix
    )
    forms = [_augment(tree, bodies, own.reduced(form)) for form in found.potential().varying]
    weightless = LinearConditions([conditions.reduced(form) for form in forms]).ordered(order)
    return Balance(tree, conditions, entries, weightless)


def claiming_order(count: int) -> list[int]:
    """Rows claim inertias and first moments, those of the bodies next to the ground first; masses last."""
    moments = [SECOND + 1, SECOND, *range(SECOND + 2, EACH), *range(FIRST, SECOND)]
    return [EACH * k + c for k in range(count) for c in moments] + [EACH * k + MASS for k in range(count)]


class _CompositeSearch:
    """Composite bodies from the leaves to the ground; what varies in an entry of the matrix becomes a condition."""

    def __init__(self, tree: Tree, bodies: list[Placed], gravity: Vector) -> None:
        self.tree, self.bodies, self.gravity = tree, bodies, gravity
        self.conditions = LinearConditions()
        self.quaternions = quaternions_of(tree)
        self.composites: list[Composite] = [(b.mass, b.moment, b.inertia) for b in bodies]

    def matrix(self) -> list[list[Harmonics]]:
        size = len(self.tree.velocities)
        entries = [[lifted(0)] * size for _ in range(size)]
        for k in range(len(self.bodies) - 1, -1, -1):
            self.composites[k] = self._tidy_composite(self.composites[k])
            for column in range(len(self.bodies[k].turns)):
                self._column(k, column, entries)
            base = self.tree.parents[k]
            if base != GROUND:
                carried = self._tidy_composite(self.composites[k])
                self.composites[base] = joined(self.composites[base], carried, self.bodies[k])
        return entries

    def _column(self, k: int, column: int, entries: list[list[Harmonics]]) -> None:
        """The force and the moment of one unit acceleration, felt by all joints down to the ground."""
        mass, moment, inertia = self.composites[k]
        turn, slide = self.bodies[k].turns[column], self.bodies[k].slides[column]
        force = plus(times(mass, slide), cross(turn, moment))
        torque = plus(cross(moment, slide), tensor_applied(inertia, turn))
        first = self.tree.first_velocity
        own, i = first[k] + column, k
        while True:
            force, torque = self._tidy_vector(force), self._tidy_vector(torque)
            for row, (t, s) in enumerate(zip(self.bodies[i].turns, self.bodies[i].slides, strict=True)):
                entry = self._tidy(lifted(dot(t, torque) + dot(s, force)))
                for form in entry.varying:
                    self.conditions.add(form)
                entries[first[i] + row][own] = entries[own][first[i] + row] = entry
            base = self.tree.parents[i]
            if base == GROUND:
                return
            force = self._tidy_vector(applied(self.bodies[i].rotation, self._tidy_vector(force)))
            torque = applied(self.bodies[i].rotation, self._tidy_vector(torque))
            torque = plus(torque, cross(self.bodies[i].offset, force))
            i = base

    def potential(self) -> Harmonics:
        """The potential of gravity, -g · (first moment of everything about the origin)."""
        total = lifted(0)
        for k, body in enumerate(self.bodies):
            if self.tree.parents[k] == GROUND:
                mass, moment, _ = self._tidy_composite(self.composites[k])
                everything = plus(applied(body.rotation, moment), times(mass, body.offset))
                total = total - lifted(dot(self.gravity, everything))
        return self._tidy(total)

    def _tidy(self, function: Harmonics) -> Harmonics:
        return self.conditions.reduced_function(unit_norm(lifted(function), self.quaternions))

    def _tidy_vector(self, vector: Vector) -> Vector:
        x, y, z = (self._tidy(e) for e in vector)
        return x, y, z

    def _tidy_composite(self, composite: Composite) -> Composite:
        mass, moment, inertia = composite
        xx, yy, zz, xy, xz, yz = (self._tidy(e) for e in inertia)
        return self._tidy(mass), self._tidy_vector(moment), (xx, yy, zz, xy, xz, yz)


def _augment(tree: Tree, bodies: Sequence[Placed], form: LinearForm) -> LinearForm:
    """A linear form of own masses and first moments as one of carried masses and augmented moments.

    m_k = M_k - Σ M_j and m_k c_k = d_k - Σ M_j p_j over the bodies j that k carries.
    """
    found: LinearForm = {}
    for number, coefficient in form.items():
        k, c = divmod(number, EACH)
        accumulate(found, {number: coefficient}, 1)
        for j in tree.carried[k] if c < SECOND else ():
            way = 1 if c == MASS else bodies[j].body.pole[c - FIRST]
            if way != 0:
                accumulate(found, {EACH * j + MASS: coefficient}, -1 * way)
    return found
