"""Can bodies have such mass distributions? Checked on the numbers of the parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

import symengine as se

from svyaz.expr import ZERO, Evaluator, Expression, Scope, names_in
from svyaz.model.reading import words as vocabulary
from svyaz.model.reading.common import Path, Reader, Table
from svyaz.model.reading.words import nearest, text
from svyaz.model.reading.words import table as words_of
from svyaz.model.rotations import Vector
from svyaz.model.tree import GROUND, MOMENTS, Body, Tree

INERTIA_KEYS = ("inertia", "central_inertia")
"""About the pole; at the centre of mass, about parallel axes."""

OUT_OF_RANGE = "inertia of '{}' at its centre of mass runs out of range"

Mass = tuple[Expression, Vector, tuple[Expression, ...]]


def read_mass(reader: Reader, scope: Scope, path: Path, words: Table) -> Mass:
    """(mass, centre from the pole, inertia about the pole) of a table with these words.

    Where no inertia is given the mass stands in its centre: a point.
    """
    mass = read_constant(reader, scope, (*path, "mass"), words.get("mass", 0))
    center = read_vector(reader, scope, (*path, "center"), words.get("center", (0, 0, 0)))
    if all(key in words for key in INERTIA_KEYS):
        message = "give the inertia about the pole or at the centre of mass, not both"
        reader.report((*path, "central_inertia"), message, at_key=True)
    key = inertia_key(words)
    moments = reader.known_words(vocabulary.table(words, key), vocabulary.INERTIA, (*path, key))
    inertia = tuple(read_constant(reader, scope, (*path, key, m), moments.get(m, 0)) for m in MOMENTS)
    return mass, center, inertia if "inertia" in words else about_pole(mass, center, inertia)


def inertia_key(words: Table) -> str:
    """Under which key the inertia stands."""
    return "central_inertia" if "central_inertia" in words and "inertia" not in words else "inertia"


def about_pole(mass: Expression, center: Vector, central: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """The inertia about a point from which the centre of mass is at ``center`` (Huygens, Steiner)."""
    x, y, z = center
    shift = (y * y + z * z, x * x + z * z, x * x + y * y, x * y, x * z, y * z)
    return tuple(own + mass * square for own, square in zip(central, shift, strict=True))


def read_constant(reader: Reader, scope: Scope, path: Path, value: object) -> Expression:
    """An expression of the parameters; a whole number stays exact."""
    expression = reader.expression(path, value, scope)
    return se.Integer(int(value)) if isinstance(value, float) and value.is_integer() else expression


def read_vector(reader: Reader, scope: Scope, path: Path, given: object) -> Vector:
    """Three expressions of the parameters."""
    if not isinstance(given, list | tuple) or len(given) != 3:
        reader.report(path, f"'{path[-1]}' is a vector [x, y, z]")
        return ZERO, ZERO, ZERO
    entries = [
        read_constant(reader, scope, (*path, i), e) if reader.fits((*path, i), e, vocabulary.EXPRESSION) else ZERO
        for i, e in enumerate(given)
    ]
    return entries[0], entries[1], entries[2]


TOLERANCE = 1e-9
"""Part of the largest moment by which a moment may be negative, or a triangle inequality be broken, in rounding."""

DIAGONAL = ("xx", "yy", "zz")
CHECKS = ("refuse", "warn")
"""What is done about an inertia that no body can have; a warning suits files of others, whose numbers are often so."""

TURNS_NOTHING = (
    "{} has no moment of inertia about the axis of its joint, which turns nothing: the inertia matrix is singular; give "
    "'inertia' (about the pole), 'central_inertia', or a 'center' off the axis"
)

MOST_WARNED = 3
"""So many bodies are named in a warning."""


def check_masses(
    reader: Reader,
    values: Mapping[str, float],
    tree: Tree,
    paths: Sequence[Path],
    tables: Sequence[Table],
    model: Table,
) -> None:
    """Masses not negative; the moments at the centres of mass not negative and in the triangle inequality.

    In a planar tree the moments that were not given do not matter; elsewhere they are zero and a warning says so.
    """
    how = text(model, "inertia_check", CHECKS[0])
    if how not in CHECKS:
        message = f"'inertia_check' cannot be '{how}'; there are {', '.join(CHECKS)}"
        reader.report(("inertia_check",), message, hint=nearest(how, CHECKS))
    planar = is_planar(tree)
    doubtful: dict[str, list[str]] = {}
    heavy = []
    at_first = {**values, "t": 0.0}
    evaluate = Evaluator(at_first)
    for body, path, table in zip(tree.bodies, paths, tables, strict=True):
        _check_directions(reader, at_first, evaluate, path, body)
        numbers = _numbers(reader, at_first, evaluate, path, body)
        heavy.append(numbers is None or numbers[0] > 0 or any(numbers[2].values()))
        if numbers is None:
            continue
        fault = _check_mass(reader, path, table, body, numbers, planar)
        if fault is not None and how == "warn":
            doubtful.setdefault(fault[1], []).append(f"'{body.name}'")
        elif fault is not None:
            reader.report(fault[0], f"{fault[1].format(body.name)}", hint=fault[2])
    for what, names in doubtful.items():
        reader.warn((), what.replace("'{}'", _list(names)))
    if not any(body.freedoms for body in tree.bodies) and tree.bodies and not reader.problems:
        reader.report(paths[0], "no joint of the tree moves", at_key=True)
    _check_moving(reader, tree, paths, heavy)


Numbers = tuple[float, list[float], dict[str, float]]
"""Mass, centre, moments about the pole."""

Fault = tuple[Path, str, str | None]
"""Where, what (with {} for the name of the body), hint."""


def _numbers(
    reader: Reader, values: Mapping[str, float], evaluate: Evaluator, path: Path, body: Body
) -> Numbers | None:
    """Mass distribution as numbers, at first where it changes with time; None where it changes with states, and, with the
    mistake noted, where one is not finite.
    """
    if body.varies(values):
        return None
    mass = evaluate(body.mass)
    center = [evaluate(c) for c in body.center]
    inertia = {name: evaluate(e) for name, e in zip(MOMENTS, body.inertia, strict=True)}
    if all(map(isfinite, [mass, *center, *inertia.values()])):
        return mass, center, inertia
    entries = {"mass": (body.mass,), "center": body.center, "inertia": body.inertia}
    _check_finite(reader, values, evaluate, path, body.name, entries)
    return None


def _check_directions(reader: Reader, values: Mapping[str, float], evaluate: Evaluator, path: Path, body: Body) -> None:
    """The pole must be somewhere, and the axis of a joint point somewhere, for the numbers of the parameters."""
    _check_finite(reader, values, evaluate, path, body.name, {"pole": body.pole})
    if reader.problems_at((*path, "axis")):
        return
    # an axis of parameters is divided by its length: one without a length is not finite
    if not all(isfinite(evaluate(a)) for a in body.axis) and _all_finite(values, body.axis):
        reader.report((*path, "axis"), f"the axis of '{body.name}' has no direction")


def _check_finite(
    reader: Reader,
    values: Mapping[str, float],
    evaluate: Evaluator,
    path: Path,
    name: str,
    entries: Mapping[str, Sequence[Expression]],
) -> None:
    for key, expressions in entries.items():
        finite = all(isfinite(evaluate(e)) for e in expressions)
        if not finite and _all_finite(values, expressions):
            reader.report((*path, key), f"'{key}' of '{name}' has no finite real value")
            return


def _all_finite(values: Mapping[str, float], expressions: Sequence[Expression]) -> bool:
    """Have the parameters themselves values? Else their mistake is told elsewhere."""
    return all(isfinite(values.get(name, 0.0)) for e in expressions for name in names_in(e))


def _check_mass(reader: Reader, path: Path, table: Table, body: Body, numbers: Numbers, planar: bool) -> Fault | None:
    """Report a negative mass; return what is impossible about the inertia."""
    mass, center, inertia = numbers
    if mass < 0:
        reader.report((*path, "mass"), f"the mass of '{body.name}' is negative: {mass:g}")
        return None
    key = inertia_key(table)
    given = [name for name in DIAGONAL if name in words_of(table, key)]
    if 0 < len(given) < len(DIAGONAL) and not planar:
        missing = " and ".join(name for name in DIAGONAL if name not in given)
        reader.warn((*path, key), f"the inertia of '{body.name}' gives no {missing}: taken as zero")
    where = (*path, key) if key in table else path
    if len(given) == len(DIAGONAL):
        scale = max(abs(value) for value in inertia.values())
        return _fault(where, _at_center(mass, center, inertia), TOLERANCE * scale)
    about = {"xx": (1, 2), "yy": (0, 2), "zz": (0, 1)}
    for name in given:
        least = mass * sum(center[k] * center[k] for k in about[name])
        if not isfinite(least):
            return (*where, name), OUT_OF_RANGE, None
        if inertia[name] - least < -TOLERANCE * max(abs(inertia[name]), least):
            message = (
                f"the inertia {name} of '{{}}' about its pole, {inertia[name]:g}, is less than that of its mass "
                f"in its centre, {least:g}"
            )
            return (*where, name), message, None
    return None


def _check_moving(reader: Reader, tree: Tree, paths: Sequence[Path], heavy: Sequence[bool]) -> None:
    """Warn of joints beyond which nothing has mass: their accelerations are not determined."""
    carries = list(heavy)
    for k in range(len(tree.bodies) - 1, -1, -1):
        if carries[k] and tree.parents[k] != GROUND:
            carries[tree.parents[k]] = True
    idle = [k for k, body in enumerate(tree.bodies) if body.freedoms and not carries[k]]
    slim = [k for k, body in enumerate(tree.bodies) if carries[k] and not tree.carried[k] and _turns_nothing(body)]
    for found, message in (
        (idle, "the joint of {} moves nothing that has mass or inertia: the inertia matrix is singular"),
        (slim, TURNS_NOTHING),
    ):
        if found and not reader.problems:
            reader.warn(paths[found[0]], message.format(_list([f"'{tree.bodies[k].name}'" for k in found])))


def _turns_nothing(body: Body) -> bool:
    """Is a revolute joint the axis of points of mass alone, whatever the parameters are?"""
    if not body.kind.turns:
        return False
    xx, yy, zz, xy, xz, yz = body.inertia
    x, y, z = body.axis
    about = x * x * xx + y * y * yy + z * z * zz - 2 * (x * y * xy + x * z * xz + y * z * yz)
    return bool(about == 0)


def is_planar(tree: Tree) -> bool:
    """Do all bodies turn about one direction only (and slide across it or along it)?"""
    axes = [body.axis for body in tree.bodies if body.kind.turns]
    if any(body.quaternion for body in tree.bodies):
        return False
    return all(axis in (axes[0], tuple(-a for a in axes[0])) for axis in axes)


def _at_center(mass: float, center: list[float], inertia: Mapping[str, float]) -> list[list[float]]:
    """The inertia tensor at the centre of mass, from that about the pole (Huygens, Steiner)."""
    x, y, z = center
    xx = inertia["xx"] - mass * (y * y + z * z)
    yy = inertia["yy"] - mass * (x * x + z * z)
    zz = inertia["zz"] - mass * (x * x + y * y)
    xy, xz, yz = inertia["xy"] - mass * x * y, inertia["xz"] - mass * x * z, inertia["yz"] - mass * y * z
    return [[xx, -xy, -xz], [-xy, yy, -yz], [-xz, -yz, zz]]


def _fault(path: Path, tensor: list[list[float]], allowed: float) -> Fault | None:
    from svyaz.matrices import eigvalsh

    if not all(isfinite(entry) for row in tensor for entry in row):
        return path, OUT_OF_RANGE, None
    least, middle, largest = eigvalsh(tensor).tolist()
    hint = f"its principal moments there are {least:.6g}, {middle:.6g} and {largest:.6g}"
    if least < -allowed:
        return path, "inertia of '{}' at its centre of mass is negative about an axis", hint
    if largest - least - middle > allowed:
        return path, "inertia of '{}' at its centre of mass breaks the triangle inequality", hint
    return None


def _list(names: Sequence[str]) -> str:
    more = len(names) - MOST_WARNED
    return ", ".join(names[:MOST_WARNED]) + (f" and {more} more" if more > 0 else "")
