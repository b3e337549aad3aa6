"""URDF files: links and joints as they are written, every mistake with its line; how they hang together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from math import hypot, inf, isfinite

from svyaz.expr import ModelError, Problem
from svyaz.model.joint import Joint
from svyaz.model.joints import all_joints
from svyaz.model.reading.words import nearest
from svyaz.model.rotations import Triple
from svyaz.model.urdf.xml import Document, Element, read_xml

TYPES = {name: joint for joint in all_joints().values() for name in joint.urdf}
MOMENTS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
ZERO: Triple = (0.0, 0.0, 0.0)
X_AXIS: Triple = (1.0, 0.0, 0.0)
INFINITE = ("inf", "infinity")
BOUNDED = ("revolute", "prismatic")
"""Joints that may have limits."""


@dataclass(frozen=True)
class Link:
    """A link: mass, place of its centre of mass, turn of the axes in which its inertia tensor at the centre is given."""

    name: str
    element: Element
    mass: float = 0.0
    center: Triple = ZERO
    turn: Triple = ZERO
    inertia: tuple[float, ...] = (0.0,) * len(MOMENTS)

    @property
    def is_massless(self) -> bool:
        """Does it move without any force?"""
        return not self.mass and not any(self.inertia)


@dataclass(frozen=True)
class UrdfJoint:
    """A joint: where the frame of the child is in that of the parent at zero (``place``, ``turn``), and its axis there."""

    name: str
    type: str
    parent: str
    child: str
    element: Element
    place: Triple
    turn: Triple
    axis: Triple
    damping: float
    friction: float
    limits: tuple[float, float]
    mimics: str | None

    @property
    def kind(self) -> Joint:
        """The kind of joint of a tree."""
        return TYPES[self.type]

    @property
    def moves_one(self) -> bool:
        """Has it one coordinate?"""
        return len(self.kind.coordinates) == 1

    @property
    def has_empty_range(self) -> bool:
        """Does its range leave nothing, as URDF's default (from 0 to 0) does?"""
        return self.type in BOUNDED and not self.limits[0] < self.limits[1]

    @property
    def limit_words(self) -> list[float | str]:
        """The range as a model states it, with "" for an open side; empty where nothing bounds the joint."""
        if self.type not in BOUNDED or self.has_empty_range or not any(map(isfinite, self.limits)):
            return []
        return [side if isfinite(side) else "" for side in self.limits]


@dataclass(frozen=True)
class UrdfRobot:
    """The links by name, the joints in an order in which each comes after those that carry it."""

    name: str
    document: Document
    links: dict[str, Link]
    joints: tuple[UrdfJoint, ...]
    root: str
    has_transmissions: bool = False
    without_inertial: tuple[str, ...] = ()


@dataclass
class _Reading:
    document: Document
    problems: list[Problem] = field(default_factory=list)

    def report(self, message: str, element: Element, attribute: str = "", hint: str | None = None) -> None:
        self.problems.append(self.document.problem(message, element, attribute, hint))

    def numbers(self, element: Element | None, attribute: str, default: Sequence[float], what: str) -> list[float]:
        """The numbers of an attribute, as many as the default has; the default where there is no attribute."""
        if element is None or attribute not in element.attributes:
            return list(default)
        text = element.attributes[attribute]
        wanted = "a number" if len(default) == 1 else f"{len(default)} numbers"
        found = []
        for word in text.split():
            value = _number(word)
            if value is None:
                hint = "a decimal point, not a comma" if "," in word and _number(word.replace(",", ".")) else None
                self.report(f"'{attribute}' of {what} must be {wanted}; '{word}' is none", element, attribute, hint)
                return list(default)
            found.append(value)
        if len(found) != len(default):
            self.report(f"'{attribute}' of {what} must be {wanted}, not {len(found)}", element, attribute)
            return list(default)
        return found

    def triple(self, element: Element | None, attribute: str, default: Triple, what: str) -> Triple:
        x, y, z = self.numbers(element, attribute, default, what)
        return x, y, z

    def number(self, element: Element | None, attribute: str, what: str) -> float:
        return self.numbers(element, attribute, (0.0,), what)[0]


def read_urdf(text: str, file: str | None) -> UrdfRobot:
    """The robot of a URDF text; raises ModelError with all mistakes.

    Lines of a text that holds no robot are not shown: a model may name any file of this machine.
    """
    if "<robot" not in text:
        raise ModelError([Problem(f"'{file or 'this text'}' is no URDF: there is no <robot> in it")])
    document = read_xml(text, file)
    reading = _Reading(document)
    root = document.root
    if root.name != "robot":
        raise ModelError([document.problem(f"a URDF file holds a <robot>, this one a <{root.name}>", root)])
    macros = [element for element in root.children if element.name.startswith("xacro:")]
    if macros:
        hint = "expand the macros first: xacro FILE.xacro > FILE.urdf"
        raise ModelError([document.problem("this is a xacro file, not yet a URDF", macros[0], "", hint)])
    links, without = _links(reading)
    joints = _joints(reading, links)
    if not links and not reading.problems:
        reading.report("the robot has no links", root)
    if reading.problems:
        raise ModelError(reading.problems)
    top = _root(reading, links, joints)
    if reading.problems:
        raise ModelError(reading.problems)
    return UrdfRobot(
        name=root.attributes.get("name", "robot"),
        document=document,
        links=links,
        joints=tuple(_by_branches(top, joints)),
        root=top,
        has_transmissions=root.first("transmission") is not None,
        without_inertial=tuple(without),
    )


def _name_among(reading: _Reading, element: Element, known: Collection[str]) -> str | None:
    name = element.attributes.get("name", "").strip()
    if not name:
        reading.report(f"a {element.name} has no name", element)
    elif name in known:
        reading.report(f"two {element.name}s have the name '{name}'", element, "name")
    else:
        return name
    return None


def _links(reading: _Reading) -> tuple[dict[str, Link], list[str]]:
    """All links, and the names of those of which no inertia is given."""
    links: dict[str, Link] = {}
    without = []
    for element in reading.document.root.all("link"):
        name = _name_among(reading, element, links)
        if name is None:
            continue
        inertial = element.first("inertial")
        if inertial is None:
            without.append(name)
            links[name] = Link(name, element)
        else:
            links[name] = _link(reading, name, element, inertial)
    return links, without


def _link(reading: _Reading, name: str, element: Element, inertial: Element) -> Link:
    what = f"link '{name}'"
    mass, origin, inertia = inertial.first("mass"), inertial.first("origin"), inertial.first("inertia")
    if mass is None or "value" not in mass.attributes:
        reading.report(f"the inertial of {what} gives no mass", mass or inertial, "", '<mass value="…"/>')
    value = reading.number(mass, "value", f"the mass of {what}")
    if value < 0:
        reading.report(f"the mass of {what} is negative: {value:g}", mass or inertial, "value")
    moments = tuple(reading.number(inertia, moment, f"the inertia of {what}") for moment in MOMENTS)
    center = reading.triple(origin, "xyz", ZERO, f"the centre of {what}")
    turn = reading.triple(origin, "rpy", ZERO, f"the inertial of {what}")
    return Link(name, inertial, value, center, turn, moments)


def _joints(reading: _Reading, links: dict[str, Link]) -> list[UrdfJoint]:
    joints: list[UrdfJoint] = []
    names: set[str] = set()
    for element in reading.document.root.all("joint"):
        name = _name_among(reading, element, names)
        if name is None:
            continue
        names.add(name)
        joint = _joint(reading, name, element, links)
        if joint is not None:
            joints.append(joint)
    return joints


def _joint(reading: _Reading, name: str, element: Element, links: dict[str, Link]) -> UrdfJoint | None:
    what = f"joint '{name}'"
    kind = element.attributes.get("type", "")
    if kind not in TYPES:
        message = f"{what} cannot have the type '{kind}'; there are {', '.join(TYPES)}"
        reading.report(message, element, "type", nearest(kind, list(TYPES)))
        return None
    ends = [_end(reading, what, element, end, links) for end in ("parent", "child")]
    origin, dynamics = element.first("origin"), element.first("dynamics")
    axis = reading.triple(element.first("axis"), "xyz", X_AXIS, f"the axis of {what}")
    if not any(axis) and TYPES[kind].axes:
        reading.report(f"the axis of {what} has no direction", element.first("axis") or element, "xyz")
    if ends[0] is None or ends[1] is None:
        return None
    mimic = element.first("mimic")
    return UrdfJoint(
        name=name,
        type=kind,
        parent=ends[0],
        child=ends[1],
        element=element,
        place=reading.triple(origin, "xyz", ZERO, f"the origin of {what}"),
        turn=reading.triple(origin, "rpy", ZERO, f"the origin of {what}"),
        axis=_unit(axis),
        damping=reading.number(dynamics, "damping", f"the dynamics of {what}"),
        friction=reading.number(dynamics, "friction", f"the dynamics of {what}"),
        limits=_limits(reading, what, element.first("limit")),
        mimics=None if mimic is None else mimic.attributes.get("joint", ""),
    )


def _end(reading: _Reading, what: str, element: Element, end: str, links: dict[str, Link]) -> str | None:
    """The name of the parent or child of a joint."""
    tag = element.first(end)
    name = "" if tag is None else tag.attributes.get("link", "").strip()
    if tag is None or not name:
        reading.report(f"{what} has no {end}", tag or element, "", f'<{end} link="…"/>')
    elif name not in links:
        reading.report(f"{what}: there is no link '{name}'", tag, "link", nearest(name, links))
    else:
        return name
    return None


def _limits(reading: _Reading, what: str, limit: Element | None) -> tuple[float, float]:
    """The range of a joint; a side that is not there, or is written as infinite, is open."""
    low, high = -inf, inf
    if limit is not None:
        is_open = [
            limit.attributes.get(side, "").strip().lstrip("+-").lower() in INFINITE for side in ("lower", "upper")
        ]
        low = low if is_open[0] else reading.number(limit, "lower", f"the limit of {what}")
        high = high if is_open[1] else reading.number(limit, "upper", f"the limit of {what}")
    return low, high


def _root(reading: _Reading, links: dict[str, Link], joints: Sequence[UrdfJoint]) -> str:
    """The one link that nothing carries; loops, and links that hang on nothing, are mistakes."""
    carrier: dict[str, UrdfJoint] = {}
    for joint in joints:
        if joint.child in carrier:
            message = (
                f"the joints '{carrier[joint.child].name}' and '{joint.name}' both carry link '{joint.child}': "
                "a loop, and a URDF is a tree"
            )
            hint = 'leave one out and close the loop by a [[constraint]] in a model file with urdf = "…"'
            reading.report(message, joint.element, "", hint)
        carrier.setdefault(joint.child, joint)
    roots = [name for name in links if name not in carrier]
    if len(roots) > 1:
        told = ", ".join(f"'{name}'" for name in roots[:5]) + (" …" if len(roots) > 5 else "")
        message = f"the robot has {len(roots)} roots, links that no joint carries: {told}"
        reading.report(message, links[roots[1]].element)
    reached = (
        {joint.child for joint in _by_branches(roots[0], joints)} if len(roots) == 1 and not reading.problems else set()
    )
    circle = [name for name in links if name not in reached and name in carrier]
    if circle and len(roots) < 2 and not reading.problems:
        told = ", ".join(f"'{name}'" for name in circle[:5]) + (" …" if len(circle) > 5 else "")
        reading.report(f"the links {told} carry each other in a circle", carrier[circle[0]].element)
    return roots[0] if roots else ""


def _by_branches(root: str, joints: Sequence[UrdfJoint]) -> list[UrdfJoint]:
    """The joints, each branch together, as they are written otherwise."""
    on: dict[str, list[UrdfJoint]] = {}
    for joint in joints:
        on.setdefault(joint.parent, []).append(joint)
    order: list[UrdfJoint] = []
    waiting = on.get(root, [])[::-1]
    while waiting:
        joint = waiting.pop()
        order.append(joint)
        waiting.extend(on.get(joint.child, [])[::-1])
    return order


def _unit(axis: Triple) -> Triple:
    x, y, z = axis
    length = hypot(x, y, z)
    return (x, y, z) if length == 0.0 or abs(length - 1.0) < 1e-15 else (x / length, y / length, z / length)


def _number(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if isfinite(value) and "_" not in word else None
