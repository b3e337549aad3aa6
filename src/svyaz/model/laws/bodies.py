"""A tree of rigid bodies, by [[body]] tables: each body with its joint and its mass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import symengine as se

from svyaz.expr import ONE, ZERO, Expression, ModelError, Problem, Scope, names_in
from svyaz.model.law import Mechanical
from svyaz.model.reading import words as vocabulary
from svyaz.model.reading.common import LawWords, Names, Path, Reader, Table
from svyaz.model.reading.tree_checks import read_mass, read_vector
from svyaz.model.reading.trees import Rows, declare_bodies, read_tree
from svyaz.model.system import System
from svyaz.model.tree import JOINTS, Body, Tree, Vector, constant

NOT_WITH_BODIES = ("coordinates", "momenta", "kinetic", "potential", "lagrangian", "hamiltonian")
NO_AXIS = (ZERO, ZERO, ZERO)


@dataclass(frozen=True)
class Bodies(Mechanical):
    """A tree, whose energies follow from its bodies, and a Rayleigh function."""

    tree: Tree
    dissipation: Expression

    def velocities(self, coordinates: Sequence[str]) -> tuple[str, ...]:
        """Those of the joints."""
        return self.tree.velocities

    def freedoms(self, coordinates: Sequence[str]) -> tuple[str, ...]:
        """The coordinate of a joint; for a free joint the velocities themselves."""
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
    declare_bodies(reader, names, vocabulary.tables(words, "body"), ("body",), vocabulary.BODY, JOINTS)


def _moving(reader: Reader, words: Table, names: Names) -> None:
    scope, masses = names.constant_scope(), names.mass_scope()

    def made(rows: Rows) -> Tree:
        return Tree(tuple(_body(reader, scope, masses, *row) for row in rows), NO_AXIS)

    read_tree(reader, names, words, ("body",), made)


def _body(reader: Reader, scope: Scope, masses: Scope, path: Path, words: Table, base: int) -> Body:
    mass, center, inertia = read_mass(reader, masses, path, words)
    return Body(
        name=vocabulary.text(words, "name"),
        base=base,
        joint=vocabulary.text(words, "joint"),
        coordinates=tuple(vocabulary.names(words, "coordinates")),
        velocities=tuple(vocabulary.names(words, "velocities")),
        axis=_axis(reader, scope, path, words),
        pole=read_vector(reader, scope, (*path, "pole"), words.get("pole", (0, 0, 0))),
        mass=mass,
        center=center,
        inertia=inertia,
    )


def _axis(reader: Reader, scope: Scope, path: Path, words: Table) -> Vector:
    """The unit vector of the axis; given components are divided by their length where it is not one."""
    if words["joint"] in ("fixed", "free"):
        if "axis" in words:
            reader.report((*path, "axis"), f"a {words['joint']} joint has no axis", at_key=True)
        return NO_AXIS
    if "axis" not in words:
        reader.report(path, f"the {words['joint']} joint of '{words['name']}' has no axis", at_key=True)
        return NO_AXIS
    axis = read_vector(reader, scope, (*path, "axis"), words["axis"])
    square = se.expand(sum((a * a for a in axis), ZERO))
    if square == ONE:
        return axis
    if square == ZERO:
        if not reader.problems_at((*path, "axis")):
            reader.report((*path, "axis"), f"the axis of '{words['name']}' has no direction")
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
