"""A tree of rigid bodies, by [[body]] tables: each body with its joint and its mass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import symengine as se

from svyaz.expr import ONE, ZERO, Evaluator, Expression, ModelError, Problem, Scope, names_in
from svyaz.model.joints import all_joints
from svyaz.model.law import Mechanical
from svyaz.model.reading import words as vocabulary
from svyaz.model.reading.common import LawWords, Names, Path, Reader, Table
from svyaz.model.reading.tree_checks import read_mass, read_vector
from svyaz.model.reading.trees import Rows, declare_bodies, joint_of, read_tree
from svyaz.model.rotations import Vector
from svyaz.model.system import System
from svyaz.model.tree import GROUND, Body, Tree, constant, links_of_chain

NOT_WITH_BODIES = ("coordinates", "momenta", "kinetic", "potential", "lagrangian", "hamiltonian")
NO_AXIS = (ZERO, ZERO, ZERO)
PARALLEL = 1e-9
"""Sine of the angle between two axes that are one."""


@dataclass(frozen=True)
class Bodies(Mechanical):
    """A tree, whose energies follow from its bodies, and a Rayleigh function."""

    tree: Tree
    dissipation: Expression

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Those of the tree."""
        return self.tree.bodies

    def velocities(self, coordinates: Sequence[str]) -> tuple[str, ...]:
        """Those of the joints."""
        return self.tree.velocities

    def freedoms(self, coordinates: Sequence[str]) -> tuple[str, ...]:
        """The coordinate of a joint; the velocity where it is no rate of a coordinate."""
        return self.tree.freedoms

    def coordinate_rates(self, coordinates: Sequence[str]) -> dict[str, Expression]:
        """Those of the joints."""
        return self.tree.rates


def constant_tree(system: System, what: str) -> Tree:
    """The tree of a system whose masses do not change; ``what`` asks for it."""
    return constant(tree_of(system), system.parameters, what)


def tree_of(system: System) -> Tree:
    """The tree of a system that is one; any other is refused."""
    if not isinstance(system.law, Bodies):
        raise ModelError([Problem(f"'{system.name}' is not a tree of bodies: it has no [[body]] tables")])
    return system.law.tree


def read_bodies(reader: Reader, words: Table, names: Names) -> Bodies:
    """The tree that was read when it was found what moves; its energies are found when they are asked for."""
    assert names.tree is not None, "a tree is read before its law"
    return Bodies(names.tree, reader.energy("dissipation", words, names.scope(velocities=True, inputs=False)))


def _declare(reader: Reader, words: Table, names: Names) -> None:
    declare_bodies(reader, names, vocabulary.tables(words, "body"), ("body",), vocabulary.BODY, list(all_joints()))


def _moving(reader: Reader, words: Table, names: Names) -> None:
    scope, masses = names.constant_scope(), names.mass_scope()

    def build(rows: Rows) -> tuple[Tree, Rows]:
        bodies, owners, last = list[Body](), list[tuple[Path, Table, int]](), {GROUND: GROUND}
        for k, (path, table, base) in enumerate(rows):
            axes = _axes(reader, names, path, table)
            body = _body(reader, scope, masses, path, table, last[base])
            bodies += links_of_chain(body, axes, len(bodies))
            owners += [rows[k]] * (len(bodies) - len(owners))
            last[k] = len(bodies) - 1
        return Tree(tuple(bodies), NO_AXIS), owners

    read_tree(reader, names, words, ("body",), build)


def _body(reader: Reader, scope: Scope, masses: Scope, path: Path, words: Table, base: int) -> Body:
    mass, center, inertia = read_mass(reader, masses, path, words)
    return Body(
        name=vocabulary.text(words, "name"),
        base=base,
        kind=joint_of(words),
        coordinates=tuple(vocabulary.names(words, "coordinates")),
        velocities=tuple(vocabulary.names(words, "velocities")),
        axis=NO_AXIS,
        pole=read_vector(reader, scope, (*path, "pole"), words.get("pole", (0, 0, 0))),
        mass=mass,
        center=center,
        inertia=inertia,
    )


def _axes(reader: Reader, names: Names, path: Path, words: Table) -> list[Vector]:
    """The unit vectors of the axes of a joint, under 'axis' one, under 'axes' several."""
    kind, scope, found = joint_of(words), names.constant_scope(), list[Vector]()
    key, other = ("axes", "axis") if kind.axes > 1 else ("axis", "axes")
    for wrong in (other, *(() if kind.axes else (key,))):
        if wrong in words:
            reader.report((*path, wrong), f"a {kind.name} joint has no {wrong}", at_key=True)
    given, where = words.get(key, kind.axis), (*path, key)
    if not kind.axes:
        return found
    if given is None:
        reader.report(path, f"the {kind.name} joint of '{words['name']}' has no {key}", at_key=True)
        return [NO_AXIS] * kind.axes
    if kind.axes == 1:
        return [_unit(reader, scope, where, given, words)]
    if not isinstance(given, list | tuple) or len(given) != kind.axes:
        reader.report(where, f"'axes' of a {kind.name} joint are {kind.axes} vectors [[x, y, z], [x, y, z]]")
        return [NO_AXIS] * kind.axes
    found = [_unit(reader, scope, (*where, k), entry, words) for k, entry in enumerate(given)]
    if not reader.problems_at(where) and not reader.problems:
        a, b = ([Evaluator(names.parameters)(e) for e in axis] for axis in found)
        if max(abs(a[i] * b[j] - a[j] * b[i]) for i, j in ((0, 1), (1, 2), (2, 0))) < PARALLEL:
            reader.report(where, f"the axes of '{words['name']}' are parallel: the two angles turn it about one axis")
    return found


def _unit(reader: Reader, scope: Scope, path: Path, given: object, words: Table) -> Vector:
    """The unit vector of an axis; given components are divided by their length where it is not one."""
    axis = read_vector(reader, scope, path, given)
    square = se.expand(sum((a * a for a in axis), ZERO))
    if square == ONE:
        return axis
    if square == ZERO:
        if not reader.problems_at(path):
            reader.report(path, f"the axis of '{words['name']}' has no direction")
        return axis
    if not names_in(square) and abs(float(square) - 1.0) < 1e-12:
        return axis
    x, y, z = (a / se.sqrt(square) for a in axis)
    return x, y, z


LAW = LawWords(
    given_by="its bodies",
    rank=1,
    known_by=lambda words: "body" in words,
    lists=("body",),
    needed=(),
    refused=NOT_WITH_BODIES,
    declare=_declare,
    moving=_moving,
    read=read_bodies,
)
