"""From the links and joints of a URDF to the words of a model.

The frames of a tree are parallel at zero coordinates, those of a URDF are not: with R the turn of a link's frame at zero
against that of the root, its axis becomes R n, its centre R c, its inertia at the centre R J Rᵀ, the way to a link on it
R p. The numbers of the file become parameters as they stand there, the entries of R factors in the expressions; what is
zero stays zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from svyaz.expr import RESERVED, Advice, ModelError
from svyaz.model.joints.free import JOINT as FREE
from svyaz.model.reading.places import Places
from svyaz.model.reading.trees import GROUND_NAME
from svyaz.model.reading.words import Table
from svyaz.model.rotations import (
    DUST,
    IDENTITY,
    Rows,
    Triple,
    Vector,
    across,
    nearly_quarters,
    product,
    quaternion,
    roll_pitch_yaw,
    rotate,
)
from svyaz.model.urdf.robot import Link, UrdfJoint, UrdfRobot
from svyaz.model.urdf.xml import Element

GRAVITY = 9.81
POSITION = ("x", "y", "z")
TENSOR = (("xx", 0, 0), ("yy", 1, 1), ("zz", 2, 2), ("xy", 0, 1), ("xz", 0, 2), ("yz", 1, 2))
MOST_NAMED = 4

Terms = dict[str, float]
"""A sum of parameters with factors."""


@dataclass
class _Writing:
    """The words as they grow, and the names that are taken."""

    places: Places
    bodies: list[dict[str, object]] = field(default_factory=list)
    parameters: dict[str, float] = field(default_factory=dict)
    forces: dict[str, str] = field(default_factory=dict)
    initial: dict[str, float] = field(default_factory=dict)
    box: dict[str, list[float]] = field(default_factory=dict)
    limits: dict[str, list[float | str]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    renamed: dict[str, str] = field(default_factory=dict)
    axes: list[Triple] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def name(self, wanted: str, shown: str | None = None) -> str:
        """A name for expressions that is new; ``shown`` is what it stands for, to be told if it is another."""
        base = tidy(wanted)
        name, number = base, 2
        while name in self.taken:
            name, number = f"{base}_{number}", number + 1
        self.taken.add(name)
        if shown is not None and name != shown:
            self.renamed[shown] = name
        return name

    def parameter(self, wanted: str, value: float) -> Terms:
        """A new parameter, or nothing for zero."""
        if value == 0.0:
            return {}
        name = self.name(wanted)
        self.parameters[name] = value
        return {name: 1.0}

    def vector(self, wanted: Sequence[str], values: Triple, rotation: Rows) -> list[Terms]:
        """R times a vector of new parameters."""
        own = [self.parameter(name, value) for name, value in zip(wanted, values, strict=True)]
        return [_sum((_times(r, terms) for r, terms in zip(row, own, strict=True))) for row in rotation]

    def body(self, element: Element, table: dict[str, object]) -> None:
        path = ("body", len(self.bodies))
        self.places.keys[path] = self.places.values[path] = element.offset
        self.bodies.append(table)

    def axis(self, vector: Triple) -> list[float]:
        """The vector, or one that it equals but for rounding, so that parallel axes are seen to be parallel."""
        for known in self.axes:
            for sign in (1.0, -1.0):
                if all(abs(a - sign * k) <= 10 * DUST for a, k in zip(vector, known, strict=True)):
                    return [_whole(sign * k) for k in known]
        self.axes.append(vector)
        return [_whole(a) for a in vector]

    def text(self, terms: Terms) -> str | int:
        """The sum as an expression; its parameters are used."""
        self.used.update(terms)
        text = ""
        for name, factor in terms.items():
            size = "" if abs(factor) == 1.0 else f"{abs(factor)!r}*"
            sign = (" - " if factor < 0 else " + ") if text else ("-" if factor < 0 else "")
            text += f"{sign}{size}{name}"
        return text or 0

    def remark(self, text: str) -> None:
        self.remarks.append(text)


@dataclass(frozen=True)
class _Seat:
    """Where a link is: the body it belongs to, the way there from the body's pole, its turn at zero."""

    body: str
    way: tuple[Terms, ...]
    turn: Rows


NOWHERE: tuple[Terms, ...] = ({}, {}, {})


def robot_words(
    robot: UrdfRobot, *, free_base: bool, damping: bool, points: Sequence[object] = ()
) -> tuple[dict[str, object], Places]:
    """The words of the model, and places of its bodies in the file; ``damping`` lets the joints' damping act.

    ``points`` are [[point]] tables that name links and give places in their frames.
    """
    writing = _Writing(robot.document.places)
    names = {joint.name: writing.name(joint.name, joint.name) for joint in robot.joints if joint.moves_one}
    gravity = [0, 0, f"-{writing.text(writing.parameter('g', GRAVITY))}"]
    seats = {robot.root: _Seat(GROUND_NAME, NOWHERE, IDENTITY)}
    if free_base and _floats_already(robot):
        writing.remark(f"'{robot.root}' carries the robot by a floating joint: it is free already")
    elif free_base:
        seats[robot.root] = _root(writing, robot)
    for joint in robot.joints:
        seats[joint.child] = _join(writing, robot, joint, seats[joint.parent], names.get(joint.name, ""), damping)
    if all(body["joint"] == "fixed" for body in writing.bodies):
        hint = None if free_base else Advice("a free base lets it float", "free base")
        raise ModelError([robot.document.problem("no joint of the robot moves", robot.document.root, "", hint)])
    located = [_locate(writing, seats, table) for table in points]
    _remarks(writing, robot, damping)
    words: dict[str, object] = {
        "name": robot.name,
        "body": writing.bodies,
        "parameters": {name: value for name, value in writing.parameters.items() if name in writing.used},
        "forces": writing.forces,
        "initial": writing.initial,
        "box": writing.box,
        "limits": writing.limits,
        "inertia_check": "warn",
        "remarks": writing.remarks,
        "gravity": gravity,
        "point": located,
    }
    return {key: value for key, value in words.items() if value}, writing.places


def _locate(writing: _Writing, seats: Mapping[str, _Seat], table: object) -> object:
    """A point of a link as one of the body to which the link belongs; what is no point is left as it is."""
    if not isinstance(table, Mapping):
        return table
    seat, at = seats.get(str(table.get("body"))), table.get("at", (0, 0, 0))
    if seat is None or not isinstance(at, list | tuple) or len(at) != len(POSITION):
        return table
    entries = []
    for way, row in zip(seat.way, seat.turn, strict=True):
        parts = [f"({writing.text(way)})"] if way else []
        parts += [f"{factor!r}*({entry})" for factor, entry in zip(row, at, strict=True) if factor]
        entries.append(" + ".join(parts) or 0)
    return {**table, "body": seat.body, "at": entries}


def _floats_already(robot: UrdfRobot) -> bool:
    on_root = [joint for joint in robot.joints if joint.parent == robot.root]
    return robot.links[robot.root].is_massless and bool(on_root) and all(j.kind.flies for j in on_root)


def _root(writing: _Writing, robot: UrdfRobot) -> _Seat:
    link = robot.links[robot.root]
    table = {"base": GROUND_NAME, **_free(writing, ""), **_mass(writing, link, IDENTITY)}
    name = _body_name(link.name)
    writing.body(link.element, {"name": name, **table})
    return _Seat(name, NOWHERE, IDENTITY)


def _join(writing: _Writing, robot: UrdfRobot, joint: UrdfJoint, seat: _Seat, coordinate: str, damping: bool) -> _Seat:
    """The body of a joint's child; a child without mass that is fixed, or is fixed to the ground, is none."""
    link = robot.links[joint.child]
    short = tidy(link.name)
    step = writing.vector([f"l{axis}_{short}" for axis in POSITION], joint.place, seat.turn)
    way = tuple(_sum(pair) for pair in zip(seat.way, step, strict=True))
    turn = product(seat.turn, roll_pitch_yaw(*joint.turn))
    if not joint.kind.coordinates and (link.is_massless or seat.body == GROUND_NAME):
        return _Seat(seat.body, way, turn)
    name = _body_name(link.name)
    table: dict[str, object] = {
        "name": name,
        "base": seat.body,
        "joint": "fixed",
        "pole": [writing.text(t) for t in way],
    }
    if joint.kind.flies:
        table |= _free(writing, f"_{short}", turn)
        turn = IDENTITY
    elif joint.kind.coordinates and not coordinate:
        table |= _planar(writing, joint, table, turn)
    elif coordinate:
        table |= {"joint": joint.kind.name, "coordinate": coordinate, "axis": writing.axis(rotate(turn, joint.axis))}
        if damping and joint.damping:
            factor = writing.text(writing.parameter(f"b_{coordinate}", joint.damping))
            writing.forces[coordinate] = f"-{factor}*{coordinate}'"
        if joint.limit_words:
            writing.limits[coordinate] = joint.limit_words
            if joint.kind.slides and "" not in joint.limit_words:
                writing.box[coordinate] = list(joint.limits)
    table |= _mass(writing, link, turn)
    writing.body(joint.element, table)
    return _Seat(name, NOWHERE, turn)


def _free(writing: _Writing, suffix: str, turn: Rows = IDENTITY) -> dict[str, object]:
    """A free joint, whose quaternion starts at the turn of the frame in the file."""
    coordinates = [writing.name(name + suffix) for name in FREE.coordinates]
    if turn != IDENTITY:
        writing.initial |= dict(zip(coordinates[3:], quaternion(turn), strict=True))
    velocities = [writing.name(name + suffix) for name in FREE.velocities]
    return {"joint": "free", "coordinates": coordinates, "velocities": velocities}


def _planar(writing: _Writing, joint: UrdfJoint, table: Table, turn: Rows) -> dict[str, object]:
    """Two massless slides in the plane, written at once; what is left for the body itself is to turn about the normal."""
    first, second = (_floats(axis) for axis in across(joint.axis))
    base, pole = table["base"], table["pole"]
    for letter, axis in (("x", first), ("y", second)):
        name = f"{table['name']} {letter}"
        coordinate = writing.name(f"{joint.name}_{letter}")
        slide = {"joint": "prismatic", "coordinate": coordinate, "axis": writing.axis(rotate(turn, axis))}
        writing.body(joint.element, {"name": name, "base": base, "pole": pole, **slide})
        base, pole = name, [0, 0, 0]
    coordinate = writing.name(f"{joint.name}_angle")
    writing.remark(f"the planar joint '{joint.name}' is two slides, {joint.name}_x and {joint.name}_y, and a turn")
    turning = {"joint": "revolute", "coordinate": coordinate, "axis": writing.axis(rotate(turn, joint.axis))}
    return {"base": base, "pole": pole, **turning}


def _floats(vector: Vector) -> Triple:
    x, y, z = map(float, vector)
    return x, y, z


def _mass(writing: _Writing, link: Link, turn: Rows) -> dict[str, object]:
    """Mass, centre and inertia at the centre of a link in the axes of its body."""
    short = tidy(link.name)
    if link.is_massless:
        return {}
    found: dict[str, object] = {"mass": writing.text(writing.parameter(f"m_{short}", link.mass))}
    if link.mass:
        center = writing.vector([f"{axis}_{short}" for axis in POSITION], link.center, turn)
        found["center"] = [writing.text(terms) for terms in center]
    axes = product(turn, roll_pitch_yaw(*link.turn))
    moments = [
        writing.parameter(f"I{name}_{short}", value) for (name, _, _), value in zip(TENSOR, link.inertia, strict=True)
    ]
    inertia = {}
    for name, i, j in TENSOR:
        sign = 1.0 if i == j else -1.0  # a product of inertia is an entry of the tensor with a minus
        entry = _sum(_times(sign * _factor(axes, i, j, a, b), m) for (_, a, b), m in zip(TENSOR, moments, strict=True))
        if entry or i == j:
            inertia[name] = writing.text(entry)
    return {**found, "central_inertia": inertia}


def _factor(rotation: Rows, i: int, j: int, a: int, b: int) -> float:
    """What the entry (a, b) of a symmetric tensor J contributes to the entry (i, j) of R J Rᵀ."""
    factor = rotation[i][a] * rotation[j][b]
    return factor if a == b else factor + rotation[i][b] * rotation[j][a]


def _remarks(writing: _Writing, robot: UrdfRobot, damping: bool) -> None:
    """What a reader of the file should know of the model."""
    if renamed := [f"{name} for '{shown}'" for shown, name in writing.renamed.items()]:
        writing.remark(f"names that cannot stand in expressions are changed: {_list(renamed)}")
    mimics = [f"'{joint.name}' ('{joint.mimics}')" for joint in robot.joints if joint.mimics is not None]
    if mimics:
        writing.remark(f"joints that mimic others stay free; tie them by a [[constraint]]: {_list(mimics)}")
    if empty := [f"'{joint.name}'" for joint in robot.joints if joint.has_empty_range]:
        writing.remark(f"limits of joints that leave nothing (lower is not below upper) do not act: {_list(empty)}")
    if robot.has_transmissions:
        writing.remark("transmissions are not read: rotors and gears have no inertia")
    moving = [joint for joint in robot.joints if joint.moves_one]
    damped = [f"'{joint.name}'" for joint in moving if joint.damping]
    if damped and not damping:
        text = f"the damping of joints is left out unless it is asked for: {_list(damped)}"
        writing.remark(Advice(text, "damping", _list(damped)))
    if rubbing := [f"'{joint.name}'" for joint in moving if joint.friction]:
        writing.remark(f"the dry friction of joints is left out: {_list(rubbing)}")
    oblique = [f"'{joint.name}'" for joint in robot.joints if any(map(nearly_quarters, joint.turn))]
    if oblique:
        writing.remark(
            "joints turned by nearly 90° or 180° are taken as written, which makes formulas long "
            f"(90° is 1.5707963267948966): {_list(oblique)}"
        )


def _list(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def tidy(name: str) -> str:
    """A name that can stand in expressions, as near as possible to the one given."""
    letters = "".join(c if c == "_" or c.isalnum() else "_" for c in name)
    if not letters[:1].isalpha() and not letters.startswith("_"):
        letters = f"q_{letters}"
    if not letters.isidentifier():
        letters = "".join(c if c.isascii() else "_" for c in letters)
    return f"{letters}_" if letters in RESERVED else letters


def _body_name(name: str) -> str:
    return f"{name} link" if name == GROUND_NAME else name


def _times(factor: float, terms: Terms) -> Terms:
    return {name: factor * own for name, own in terms.items()} if abs(factor) > DUST else {}


def _sum(parts: Iterable[Terms]) -> Terms:
    total: Terms = {}
    for terms in parts:
        for name, factor in terms.items():
            total[name] = total.get(name, 0.0) + factor
    return {name: factor for name, factor in total.items() if abs(factor) > DUST}


def _whole(value: float) -> float:
    """Whole numbers as such: they stay exact."""
    return int(value) if value == int(value) else value
