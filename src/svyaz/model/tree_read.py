"""Reading [[body]] and [[dh.link]] tables: each body with its joint, then the tree, with mistakes in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import symengine as se

from svyaz.expr import ONE, ZERO, Scope, names_in
from svyaz.model import words as vocabulary
from svyaz.model.dh import dh_bodies, read_convention
from svyaz.model.reader import Names, Path, Reader
from svyaz.model.tree import FREEDOMS, GROUND, JOINTS, Body, Frame, Tree
from svyaz.model.tree_checks import check_masses
from svyaz.model.tree_mass import read_mass, read_vector

GROUND_NAME = "ground"
DH_JOINTS = ("revolute", "prismatic", "fixed")
FREE_COORDINATES = 7
FREE_VELOCITIES = ("vx", "vy", "vz", "wx", "wy", "wz")

QUATERNION_TOLERANCE = 1e-9
NO_AXIS = (ZERO, ZERO, ZERO)


def declare_bodies(reader: Reader, names: Names, model: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
    """Declare the coordinates and velocities of all joints; returns the words of the bodies that could be read.

    Under "coordinates" and "velocities" each table then holds the names of its joint.
    """
    given, prefix, known = _rows(reader, model)
    joints = DH_JOINTS if "dh" in model else JOINTS
    free = sum(1 for table in given if table.get("joint") == "free")
    found: dict[int, dict[str, Any]] = {}
    for k, table in enumerate(given):
        path = (*prefix, k)
        words = reader.known_words(table, known, path)
        if not _named_and_joined(reader, path, words, table, joints):
            continue
        coordinates = _coordinates(reader, path, words)
        velocities = _velocities(reader, path, words, coordinates, free)
        good = all(reader.declare_one(names, name, "coordinate", at) for name, at in coordinates)
        if words["joint"] == "free":
            good = all(reader.declare_one(names, name, "velocity", at) for name, at in velocities) and good
        complete = words["joint"] != "free" or len(coordinates) == FREE_COORDINATES
        if good and complete and len(velocities) == FREEDOMS[words["joint"]]:
            words["coordinates"] = tuple(name for name, _ in coordinates)
            words["velocities"] = tuple(name for name, _ in velocities)
            found[k] = words
    return found


def _rows(reader: Reader, model: Mapping[str, Any]) -> tuple[Sequence[Mapping[str, Any]], Path, Mapping[str, str]]:
    """The tables of the bodies, the path to them, and their words.

    A row of a table of Denavit and Hartenberg whose base is not named stands on the row before it and turns.
    """
    if "dh" not in model:
        return model["body"], ("body",), vocabulary.BODY
    if "body" in model:
        reader.report(("dh",), "the bodies are given by [[body]] tables or by a [dh] table, not by both", at_key=True)
    rows: list[Mapping[str, Any]] = []
    base = GROUND_NAME
    links = reader.known_words(model["dh"], vocabulary.DH, ("dh",)).get("link", ())
    if not links and "link" not in model["dh"]:
        reader.report(("dh",), "the [dh] table has no [[dh.link]] rows", at_key=True)
    for k, table in enumerate(links):
        rows.append({"name": str(k + 1), "base": base, "joint": "revolute", **table})
        base = str(rows[-1]["name"])
    return rows, ("dh", "link"), vocabulary.DH_LINK


def _named_and_joined(
    reader: Reader, path: Path, words: dict[str, Any], table: Mapping[str, Any], joints: Sequence[str]
) -> bool:
    words.setdefault("name", str(path[-1] + 1))
    name = words["name"]
    if name == GROUND_NAME:
        reader.report((*path, "name"), "'ground' is the name of what stands still; no body can have it")
        return False
    if "base" not in table:
        reader.report(
            path, f"body '{name}' has no base", hint='write base = "ground" or the name of a body', at_key=True
        )
        words["base"] = GROUND_NAME
    if "joint" not in table:
        reader.report(path, f"body '{name}' has no joint; there are {', '.join(joints)}", at_key=True)
        return False
    joint = words.get("joint")
    if joint is not None and joint not in joints:
        message = f"body '{name}' cannot have a joint '{joint}'; there are {', '.join(joints)}"
        reader.report((*path, "joint"), message, hint=vocabulary.nearest(joint, joints))
        return False
    return joint is not None and "base" in words


def _coordinates(reader: Reader, path: Path, words: Mapping[str, Any]) -> list[tuple[str, Path]]:
    name, joint = words["name"], words["joint"]
    if joint == "free":
        given = words.get("coordinates", ())
        if len(given) != FREE_COORDINATES or "coordinate" in words:
            reader.report(
                (*path, "coordinates") if "coordinates" in words else path,
                f"the free joint of '{name}' has seven coordinates: position, then a unit quaternion with its scalar "
                'first, such as ["x", "y", "z", "e0", "e1", "e2", "e3"]',
                at_key="coordinates" not in words,
            )
            return []
        return [(q, (*path, "coordinates", i)) for i, q in enumerate(given)]
    if "coordinates" in words:
        message = f"the {joint} joint of '{name}' has at most one 'coordinate'; 'coordinates' belong to a free joint"
        reader.report((*path, "coordinates"), message, at_key=True)
        return []
    if joint == "fixed":
        if "coordinate" in words:
            reader.report((*path, "coordinate"), f"body '{name}' is fixed and has no coordinate", at_key=True)
        return []
    if "coordinate" not in words:
        reader.report(path, f"the {joint} joint of '{name}' has no coordinate", at_key=True)
        return []
    return [(words["coordinate"], (*path, "coordinate"))]


def _velocities(
    reader: Reader, path: Path, words: Mapping[str, Any], coordinates: Sequence[tuple[str, Path]], free: int
) -> list[tuple[str, Path]]:
    if words["joint"] != "free":
        if "velocities" in words:
            reader.report(
                (*path, "velocities"), "only a free joint has names of its own for its velocities", at_key=True
            )
        return [(f"{q}'", at) for q, at in coordinates]
    suffix = f"_{words['name']}" if free > 1 else ""
    given = words.get("velocities", [name + suffix for name in FREE_VELOCITIES])
    if len(given) != len(FREE_VELOCITIES):
        reader.report((*path, "velocities"), f"a free joint has six velocities, not {len(given)}")
        return []
    if "velocities" in words:
        return [(v, (*path, "velocities", i)) for i, v in enumerate(given)]
    return [(v, (*path, "coordinates")) for v in given]


def read_tree(reader: Reader, names: Names, tables: Mapping[int, Mapping[str, Any]], model: Mapping[str, Any]) -> Tree:
    """The tree of the bodies that could be declared, with the other words of the model; mistakes are noted."""
    scope = names.constant_scope()
    prefix = ("dh", "link") if "dh" in model else ("body",)
    numbers = _numbers(reader, prefix, tables)
    order = _order(reader, prefix, tables, numbers)
    place = {k: i for i, k in enumerate(order)}
    place[GROUND] = GROUND
    rows, paths, bases = [tables[k] for k in order], [(*prefix, k) for k in order], [place[numbers[k]] for k in order]
    frames: list[Frame] = []
    if "dh" in model:
        bodies, frames = dh_bodies(reader, scope, read_convention(reader, model["dh"]), paths, rows, bases)
    else:
        bodies = [_body(reader, scope, *row) for row in zip(paths, rows, bases, strict=True)]
    gravity = read_vector(reader, scope, ("gravity",), model.get("gravity", (0, 0, 0)))
    tree = Tree(tuple(bodies), gravity, tuple(frames))
    check_masses(reader, names.parameters, tree, paths, rows, model)
    return tree


def with_upright_quaternions(reader: Reader, tree: Tree, initial: Mapping[str, float]) -> dict[str, float]:
    """The initial values, with e0 = 1 for a free joint of whose quaternion nothing was said, and of unit length."""
    complete = dict(initial)
    for body in tree.bodies:
        if body.joint != "free":
            continue
        quaternion = body.coordinates[3:]
        if not any(e in initial for e in quaternion):
            complete[quaternion[0]] = 1.0
        length = sum(complete.get(e, 0.0) ** 2 for e in quaternion) ** 0.5
        if abs(length - 1.0) > QUATERNION_TOLERANCE:
            given = next(e for e in quaternion if e in initial)
            reader.report(("initial", given), f"the quaternion of '{body.name}' has the length {length:.9g}, not 1")
    return complete


def _numbers(reader: Reader, prefix: Path, tables: Mapping[int, Mapping[str, Any]]) -> dict[int, int]:
    """For each body the number of its base; a base that is not there is reported and the ground put in its place."""
    known: dict[str, int] = {}
    for k, words in tables.items():
        if words["name"] in known:
            reader.report((*prefix, k, "name"), f"two bodies have the name '{words['name']}'")
        known.setdefault(words["name"], k)
    found: dict[int, int] = {}
    for k, words in tables.items():
        base = words["base"]
        if base != GROUND_NAME and base not in known:
            message = f"body '{words['name']}' has no base: there is no body '{base}'"
            reader.report((*prefix, k, "base"), message, hint=vocabulary.nearest(base, [*known, GROUND_NAME]))
        found[k] = known.get(base, GROUND)
    return found


def _order(reader: Reader, prefix: Path, tables: Mapping[int, Mapping[str, Any]], bases: dict[int, int]) -> list[int]:
    """The bodies as written, each moved behind its base."""
    order: list[int] = []
    placed = {GROUND}
    waiting = list(tables)
    while waiting:
        ready = [k for k in waiting if bases[k] in placed]
        if not ready:
            circle = ", ".join(f"'{tables[k]['name']}'" for k in waiting)
            reader.report((*prefix, waiting[0], "base"), f"the bodies {circle} carry each other in a circle")
            bases.update(dict.fromkeys(waiting, GROUND))
            continue
        # one at a time, so that the order stays as close as possible to the written one
        order.append(ready[0])
        placed.add(ready[0])
        waiting.remove(ready[0])
    return order


def _body(reader: Reader, scope: Scope, path: Path, words: Mapping[str, Any], base: int) -> Body:
    mass, center, inertia = read_mass(reader, scope, path, words)
    return Body(
        name=words["name"],
        base=base,
        joint=words["joint"],
        coordinates=words["coordinates"],
        velocities=words["velocities"],
        axis=_axis(reader, scope, path, words),
        pole=read_vector(reader, scope, (*path, "pole"), words.get("pole", (0, 0, 0))),
        mass=mass,
        center=center,
        inertia=inertia,
    )


def _axis(reader: Reader, scope: Scope, path: Path, words: Mapping[str, Any]) -> tuple:
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
    return tuple(a / se.sqrt(square) for a in axis)
