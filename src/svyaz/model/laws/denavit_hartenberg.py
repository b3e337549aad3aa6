"""Tables of Denavit and Hartenberg: the links of a robot by four numbers each, as bodies of a tree.

Standard (J. Denavit, R. S. Hartenberg, 1955): frame i sits at the far end of link i, its joint turns about z of frame i-1,

    T = Rz(θ) Tz(d) Tx(a) Rx(α).

Modified (W. Khalil, J.-F. Kleinfinger, 1986; J. J. Craig): frame i sits on its own joint and turns about its own z,

    T = Rx(α) Tx(a) Rz(θ) Tz(d),    α and a being those of the row of joint i.

For a revolute joint θ is the coordinate plus what is written, for a prismatic one d is. Centre and inertia are given in
the frame of the link, the inertia about its origin. The frames of a tree are parallel at zero coordinates: with the axes
x, y, z of a link there, its vectors become sums of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite

import symengine as se

from svyaz.expr import ONE, ZERO, Expression, Scope, names_in, real_value
from svyaz.model.joints import all_joints
from svyaz.model.laws.bodies import NOT_WITH_BODIES, read_bodies
from svyaz.model.reading import words as vocabulary
from svyaz.model.reading.common import LawWords, Names, Path, Reader, Table
from svyaz.model.reading.tree_checks import Mass, read_constant, read_mass
from svyaz.model.reading.trees import GROUND_NAME, Rows, declare_bodies, joint_of, read_tree
from svyaz.model.reading.words import nearest
from svyaz.model.rotations import QUARTER, Vector, from_quarter, nearly_quarters, sine_cosine
from svyaz.model.tree import GROUND, MOMENTS, Body, Frame, Tree
from svyaz.model.vectors import add, inner, scale

DH_JOINTS = [name for name, joint in all_joints().items() if joint.turns or joint.slides or not joint.coordinates]
PREFIX = ("dh", "link")
CONVENTIONS = ("standard", "modified")
NOWHERE = (ZERO, ZERO, ZERO)


GROUND_FRAME = Frame((ONE, ZERO, ZERO), (ZERO, ONE, ZERO), (ZERO, ZERO, ONE), NOWHERE)


def _convention(reader: Reader, given: Table) -> str:
    """How the table is meant: this must be said, as the two look alike."""
    convention = given.get("convention")
    if convention in CONVENTIONS:
        return str(convention)
    message = "[dh] says its convention: standard or modified"
    if convention is None:
        reader.report(("dh",), message, hint='convention = "standard"', at_key=True)
    else:
        reader.report(("dh", "convention"), message, hint=nearest(str(convention), CONVENTIONS))
    return CONVENTIONS[0]


def _declare(reader: Reader, words: Table, names: Names) -> None:
    """A row whose base is not named stands on the row before it and turns."""
    if "body" in words:
        reader.report(("dh",), "the bodies are given by [[body]] tables or by a [dh] table, not by both", at_key=True)
    given = vocabulary.table(words, "dh")
    links = vocabulary.tables(reader.known_words(given, vocabulary.DH, ("dh",)), "link")
    if not links and "link" not in given:
        reader.report(("dh",), "the [dh] table has no [[dh.link]] rows", at_key=True)
    rows: list[Table] = []
    base = GROUND_NAME
    for k, table in enumerate(links):
        rows.append({"name": str(k + 1), "base": base, "joint": "revolute", **table})
        base = str(rows[-1]["name"])
    declare_bodies(reader, names, rows, PREFIX, vocabulary.DH_LINK, DH_JOINTS)


def _moving(reader: Reader, words: Table, names: Names) -> None:
    scope = names.constant_scope()

    def build(rows: Rows) -> tuple[Tree, Rows]:
        convention = _convention(reader, vocabulary.table(words, "dh"))
        links = [_read_link(reader, scope, *row) for row in rows]
        bodies, frames = _bodies(convention, links)
        straight = Tree(tuple(_bodies(convention, [_straight(link) for link in links])[0]), NOWHERE)
        turned = straight if any(b.offset for b in straight.bodies) else None
        return Tree(tuple(bodies), NOWHERE, tuple(frames), turned), rows

    read_tree(reader, names, words, PREFIX, build)


@dataclass(frozen=True)
class _Link:
    """A row of the table: α and θ by sine and cosine, beside θ an angle that is absorbed in the coordinate."""

    words: Table
    base: int
    a: Expression
    d: Expression
    tilt: tuple[Expression, Expression]
    turn: tuple[Expression, Expression]
    angle: Expression
    mass: Mass
    offset: Expression = ZERO


def _read_link(reader: Reader, scope: Scope, path: Path, words: Table, base: int) -> _Link:
    a, d, angle = (read_constant(reader, scope, (*path, key), words.get(key, 0)) for key in ("a", "d", "theta"))
    tilt, turn = (_sine_cosine(reader, scope, (*path, key), words.get(key, 0)) for key in ("alpha", "theta"))
    return _Link(words, base, a, d, tilt, turn, angle, read_mass(reader, scope, path, words))


def _straight(link: _Link) -> _Link:
    """The row of a joint that turns, with its θ beside the coordinate unless it is a multiple of 90°."""
    if not joint_of(link.words).turns or all(e.is_Integer for e in link.turn):
        return link
    return replace(link, turn=(ZERO, ONE), offset=link.angle)


def _bodies(convention: str, links: Sequence[_Link]) -> tuple[list[Body], list[Frame]]:
    """The bodies of the rows, and the frames of the links."""
    frames: list[Frame] = []
    bodies = []
    for link in links:
        below = GROUND_FRAME if link.base == GROUND else frames[link.base]
        mass, center, inertia = link.mass
        if convention == "standard":
            frame = _about_x(_about_z(below, *link.turn), *link.tilt)
            axis, pole = below.z, add(below.origin, scale(link.d, below.z))
            frame = replace(frame, origin=scale(link.a, frame.x))
            center, inertia = _shift(link.a, mass, center, inertia)
        else:
            tilted = _about_x(below, *link.tilt)
            frame = _about_z(tilted, *link.turn)
            axis, pole = tilted.z, add(below.origin, scale(link.a, below.x), scale(link.d, tilted.z))
        frames.append(frame)
        body = _body(link.words, link.base, axis, pole, (mass, frame.vector(center), _turn_tensor(frame, inertia)))
        bodies.append(replace(body, offset=link.offset))
    return bodies, frames


def _about_x(frame: Frame, sine: Expression, cosine: Expression) -> Frame:
    """The axes turned about x; the origin in the pole."""
    y, z = frame.y, frame.z
    turned = add(scale(cosine, y), scale(sine, z)), add(scale(-sine, y), scale(cosine, z))
    return Frame(frame.x, *turned, NOWHERE)


def _about_z(frame: Frame, sine: Expression, cosine: Expression) -> Frame:
    """The axes turned about z; the origin in the pole."""
    x, y = frame.x, frame.y
    turned = add(scale(cosine, x), scale(sine, y)), add(scale(-sine, x), scale(cosine, y))
    return Frame(*turned, frame.z, NOWHERE)


def _body(words: Table, base: int, axis: Vector, pole: Vector, distribution: Mass) -> Body:
    mass, center, inertia = distribution
    return Body(
        name=vocabulary.text(words, "name"),
        base=base,
        kind=joint_of(words),
        coordinates=tuple(vocabulary.names(words, "coordinates")),
        velocities=tuple(vocabulary.names(words, "velocities")),
        axis=axis if joint_of(words).axes else NOWHERE,
        pole=pole,
        mass=mass,
        center=center,
        inertia=inertia,
    )


def _sine_cosine(reader: Reader, scope: Scope, path: Path, given: object) -> tuple[Expression, Expression]:
    """Sine and cosine of an angle, exact for multiples of 90° also when they are written as decimals."""
    angle = read_constant(reader, scope, path, given)
    if names_in(angle):
        return se.sin(angle), se.cos(angle)
    value = real_value(angle)
    if not isfinite(value):
        reader.report(path, f"'{given}' has no finite real value")
        return ZERO, ONE
    if from_quarter(value) <= QUARTER:
        sine, cosine = sine_cosine(value)
        return se.Integer(int(sine)), se.Integer(int(cosine))
    if nearly_quarters(value):
        reader.warn(
            path, f"{given} is nearly a multiple of 90° and taken as written; exact are expressions like -90*deg"
        )
    return se.sin(angle), se.cos(angle)


def _shift(
    a: Expression, mass: Expression, center: Vector, inertia: tuple[Expression, ...]
) -> tuple[Vector, tuple[Expression, ...]]:
    """Centre and inertia from a point that lies by a behind along x."""
    x, y, z = center
    xx, yy, zz, xy, xz, yz = inertia
    grown = mass * a * (a + 2 * x)
    return (a + x, y, z), (xx, yy + grown, zz + grown, xy + mass * a * y, xz + mass * a * z, yz)


def _turn_tensor(frame: Frame, inertia: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """R J Rᵀ of the tensor with the products of inertia negative, given and returned with them positive."""
    own = dict(zip(MOMENTS, inertia, strict=True))
    rows = (
        (own["xx"], -own["xy"], -own["xz"]),
        (-own["xy"], own["yy"], -own["yz"]),
        (-own["xz"], -own["yz"], own["zz"]),
    )
    # Columns of J Rᵀ are the tensor applied to the rows of R, which are the entries of the three axes.
    columns = [[inner(row, entries) for row in rows] for entries in zip(frame.x, frame.y, frame.z, strict=True)]
    full = [frame.vector(column) for column in columns]
    return (full[0][0], full[1][1], full[2][2], -full[0][1], -full[0][2], -full[1][2])


LAW = LawWords(
    given_by="its bodies",
    rank=0,
    known_by=lambda words: "dh" in words,
    lists=("dh",),
    needed=(),
    refused=NOT_WITH_BODIES,
    declare=_declare,
    moving=_moving,
    read=read_bodies,
)
