"""Reading trees of bodies: the names of their joints, then who carries whom, with mistakes in words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from svyaz.model.joint import Joint
from svyaz.model.joints import all_joints
from svyaz.model.reading import words as vocabulary
from svyaz.model.reading.common import Names, Path, Reader, Table
from svyaz.model.reading.tree_checks import check_masses, read_vector
from svyaz.model.tree import GROUND, Tree

GROUND_NAME = "ground"
COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven")

QUATERNION_TOLERANCE = 1e-9

Rows = Sequence[tuple[Path, Table, int]]
"""Of each body the path to its table, the table, and the number of its base; each body after its base."""


def joint_of(words: Table) -> Joint:
    """The kind of joint that a table names."""
    return all_joints()[vocabulary.text(words, "joint")]


def declare_bodies(
    reader: Reader, names: Names, tables: Sequence[Table], prefix: Path, known: Mapping[str, str], joints: Sequence[str]
) -> None:
    """Declare the coordinates and velocities of all joints; ``names.bodies`` are then the words of those that could be read.

    Under "coordinates" and "velocities" each table then holds the names of its joint.
    """
    kinds = [all_joints().get(str(table.get("joint"))) for table in tables]
    several = sum(1 for kind in kinds if kind is not None and kind.velocities) > 1
    for k, table in enumerate(tables):
        path = (*prefix, k)
        words = reader.known_words(table, known, path)
        words.setdefault("name", str(k + 1))
        if not _has_name_and_joint(reader, path, words, table, joints):
            continue
        coordinates = _coordinates(reader, path, words)
        velocities = _velocities(reader, path, words, coordinates, several)
        joint = joint_of(words)
        good = all(reader.declare_one(names, name, "coordinate", at) for name, at in coordinates)
        if joint.velocities:
            good = all(reader.declare_one(names, name, "velocity", at) for name, at in velocities) and good
        if good and len(coordinates) == len(joint.coordinates) and len(velocities) == joint.freedoms:
            words["coordinates"] = tuple(name for name, _ in coordinates)
            words["velocities"] = tuple(name for name, _ in velocities)
            names.bodies[k] = words


def read_tree(
    reader: Reader, names: Names, model: Table, prefix: Path, made: Callable[[Rows], tuple[Tree, Rows]]
) -> None:
    """The tree of the bodies that could be declared, with the other words of the model; mistakes are noted.

    ``made`` makes the tree, without its gravity, and gives the row of each of its bodies.
    """
    tables = names.bodies
    numbers = _numbers(reader, prefix, tables)
    order = _order(reader, prefix, tables, numbers)
    place = {k: i for i, k in enumerate(order)}
    place[GROUND] = GROUND
    bodies, rows = made([((*prefix, k), tables[k], place[numbers[k]]) for k in order])
    gravity = read_vector(reader, names.constant_scope(), ("gravity",), model.get("gravity", (0, 0, 0)))
    straight = None if bodies.straight is None else replace(bodies.straight, gravity=gravity)
    tree = replace(bodies, gravity=gravity, straight=straight)
    check_masses(reader, names.parameters, tree, [row[0] for row in rows], [row[1] for row in rows], model)
    names.tree, names.coordinates, names.rates, names.velocities = tree, tree.coordinates, tree.rates, tree.velocities


def _has_name_and_joint(
    reader: Reader, path: Path, words: dict[str, object], table: Table, joints: Sequence[str]
) -> bool:
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
    if isinstance(joint, str) and joint not in joints:
        message = f"body '{name}' cannot have a joint '{joint}'; there are {', '.join(joints)}"
        reader.report((*path, "joint"), message, hint=vocabulary.nearest(joint, joints))
        return False
    return joint is not None and "base" in words


def _coordinates(reader: Reader, path: Path, words: Table) -> list[tuple[str, Path]]:
    name, kind = words["name"], joint_of(words)
    joint, count = kind.name, len(kind.coordinates)
    if count > 1:
        given = vocabulary.names(words, "coordinates")
        if len(given) != count or "coordinate" in words:
            usual = ", ".join(f'"{q}"' for q in kind.coordinates)
            reader.report(
                (*path, "coordinates") if "coordinates" in words else path,
                f"the {joint} joint of '{name}' has {COUNTS[count]} coordinates: {kind.meaning}, such as [{usual}]",
                at_key="coordinates" not in words,
            )
            return []
        return [(q, (*path, "coordinates", i)) for i, q in enumerate(given)]
    if "coordinates" in words:
        several = " or ".join(other.name for other in all_joints().values() if len(other.coordinates) > 1)
        message = (
            f"the {joint} joint of '{name}' has at most one 'coordinate'; 'coordinates' belong to a {several} joint"
        )
        reader.report((*path, "coordinates"), message, at_key=True)
        return []
    if not count:
        if "coordinate" in words:
            reader.report((*path, "coordinate"), f"body '{name}' is fixed and has no coordinate", at_key=True)
        return []
    if "coordinate" not in words:
        reader.report(path, f"the {joint} joint of '{name}' has no coordinate", at_key=True)
        return []
    return [(vocabulary.text(words, "coordinate"), (*path, "coordinate"))]


def _velocities(
    reader: Reader, path: Path, words: Table, coordinates: Sequence[tuple[str, Path]], several: bool
) -> list[tuple[str, Path]]:
    kind = joint_of(words)
    if not kind.velocities:
        if "velocities" in words:
            named = " or ".join(other.name for other in all_joints().values() if other.velocities)
            message = f"only a {named} joint has names of its own for its velocities"
            reader.report((*path, "velocities"), message, at_key=True)
        return [(f"{q}'", at) for q, at in coordinates]
    suffix = f"_{words['name']}" if several else ""
    given = [name + suffix for name in kind.velocities]
    if "velocities" in words:
        given = list(vocabulary.names(words, "velocities"))
    if len(given) != kind.freedoms:
        message = f"a {kind.name} joint has {COUNTS[kind.freedoms]} velocities, not {len(given)}"
        reader.report((*path, "velocities"), message)
        return []
    if "velocities" in words:
        return [(v, (*path, "velocities", i)) for i, v in enumerate(given)]
    return [(v, (*path, "coordinates")) for v in given]


def _numbers(reader: Reader, prefix: Path, tables: Mapping[int, Table]) -> dict[int, int]:
    """For each body the number of its base; a base that is not there is reported and the ground put in its place."""
    known: dict[str, int] = {}
    for k, words in tables.items():
        name = vocabulary.text(words, "name")
        if name in known:
            reader.report((*prefix, k, "name"), f"two bodies have the name '{name}'")
        known.setdefault(name, k)
    found: dict[int, int] = {}
    for k, words in tables.items():
        base = vocabulary.text(words, "base")
        if base != GROUND_NAME and base not in known:
            message = f"body '{words['name']}' has no base: there is no body '{base}'"
            reader.report((*prefix, k, "base"), message, hint=vocabulary.nearest(base, [*known, GROUND_NAME]))
        found[k] = known.get(base, GROUND)
    return found


def _order(reader: Reader, prefix: Path, tables: Mapping[int, Table], bases: dict[int, int]) -> list[int]:
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


def upright(tree: Tree, given: Collection[str]) -> dict[str, float]:
    """e0 = 1 for each quaternion of which nothing is given."""
    quaternions = [body.quaternion for body in tree.bodies if body.quaternion]
    return {quaternion[0]: 1.0 for quaternion in quaternions if not any(e in given for e in quaternion)}


def with_upright_quaternions(reader: Reader, tree: Tree, initial: Mapping[str, float]) -> dict[str, float]:
    """The initial values, with e0 = 1 for a quaternion of which nothing was said, and of unit length."""
    complete = {**initial, **upright(tree, initial)}
    for body in (body for body in tree.bodies if body.quaternion):
        quaternion = body.quaternion
        length = sum(complete.get(e, 0.0) ** 2 for e in quaternion) ** 0.5
        if abs(length - 1.0) > QUATERNION_TOLERANCE:
            given = next(e for e in quaternion if e in initial)
            reader.report(("initial", given), f"the quaternion of '{body.name}' has the length {length:.9g}, not 1")
    return complete
