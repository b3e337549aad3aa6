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

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

import symengine as se

from svyaz.expr import ONE, ZERO, Expression, Scope, names_in, real_value
from svyaz.model.reader import Path, Reader
from svyaz.model.tree import GROUND, MOMENTS, Body, Frame, Vector
from svyaz.model.tree_mass import Mass, read_constant, read_mass
from svyaz.model.turns import QUARTER, from_quarter, nearly_quarters, sine_cosine
from svyaz.model.words import nearest

CONVENTIONS = ("standard", "modified")
NOWHERE = (ZERO, ZERO, ZERO)


GROUND_FRAME = Frame((ONE, ZERO, ZERO), (ZERO, ONE, ZERO), (ZERO, ZERO, ONE), NOWHERE)


def read_convention(reader: Reader, given: Mapping[str, Any]) -> str:
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


def dh_bodies(
    reader: Reader,
    scope: Scope,
    convention: str,
    paths: Sequence[Path],
    tables: Sequence[Mapping[str, Any]],
    bases: Sequence[int],
) -> tuple[list[Body], list[Frame]]:
    """The bodies of the rows, each after its base, and the frames of the links."""
    frames: list[Frame] = []
    bodies = []
    for path, words, base in zip(paths, tables, bases, strict=True):
        below = GROUND_FRAME if base == GROUND else frames[base]
        a, d = (read_constant(reader, scope, (*path, key), words.get(key, 0)) for key in ("a", "d"))
        tilt, turn = (_sine_cosine(reader, scope, (*path, key), words.get(key, 0)) for key in ("alpha", "theta"))
        mass, center, inertia = read_mass(reader, scope, path, words)
        if convention == "standard":
            frame = _about_x(_about_z(below, *turn), *tilt)
            axis, pole = below.z, _sum(below.origin, _times(d, below.z))
            frame = replace(frame, origin=_times(a, frame.x))
            center, inertia = _moved(a, mass, center, inertia)
        else:
            tilted = _about_x(below, *tilt)
            frame = _about_z(tilted, *turn)
            axis, pole = tilted.z, _sum(below.origin, _times(a, below.x), _times(d, tilted.z))
        frames.append(frame)
        bodies.append(_body(words, base, axis, pole, (mass, frame.vector(center), _turned(frame, inertia))))
    return bodies, frames


def _about_x(frame: Frame, sine: Expression, cosine: Expression) -> Frame:
    """The axes turned about x; the origin in the pole."""
    y, z = frame.y, frame.z
    turned = _sum(_times(cosine, y), _times(sine, z)), _sum(_times(-sine, y), _times(cosine, z))
    return Frame(frame.x, *turned, NOWHERE)


def _about_z(frame: Frame, sine: Expression, cosine: Expression) -> Frame:
    """The axes turned about z; the origin in the pole."""
    x, y = frame.x, frame.y
    turned = _sum(_times(cosine, x), _times(sine, y)), _sum(_times(-sine, x), _times(cosine, y))
    return Frame(*turned, frame.z, NOWHERE)


def _body(words: Mapping[str, Any], base: int, axis: Vector, pole: Vector, distribution: Mass) -> Body:
    mass, center, inertia = distribution
    return Body(
        name=words["name"],
        base=base,
        joint=words["joint"],
        coordinates=words["coordinates"],
        velocities=words["velocities"],
        axis=NOWHERE if words["joint"] == "fixed" else axis,
        pole=pole,
        mass=mass,
        center=center,
        inertia=inertia,
    )


def _sine_cosine(reader: Reader, scope: Scope, path: Path, given: Any) -> tuple[Expression, Expression]:
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


def _moved(
    a: Expression, mass: Expression, center: Vector, inertia: tuple[Expression, ...]
) -> tuple[Vector, tuple[Expression, ...]]:
    """Centre and inertia from a point that lies by a behind along x."""
    x, y, z = center
    xx, yy, zz, xy, xz, yz = inertia
    grown = mass * a * (a + 2 * x)
    return (a + x, y, z), (xx, yy + grown, zz + grown, xy + mass * a * y, xz + mass * a * z, yz)


def _turned(frame: Frame, inertia: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """R J Rᵀ of the tensor with the products of inertia negative, given and returned with them positive."""
    own = dict(zip(MOMENTS, inertia, strict=True))
    rows = (
        (own["xx"], -own["xy"], -own["xz"]),
        (-own["xy"], own["yy"], -own["yz"]),
        (-own["xz"], -own["yz"], own["zz"]),
    )
    # Columns of J Rᵀ are the tensor applied to the rows of R, which are the entries of the three axes.
    columns = [[_inner(row, entries) for row in rows] for entries in zip(frame.x, frame.y, frame.z, strict=True)]
    full = [frame.vector(column) for column in columns]
    return (full[0][0], full[1][1], full[2][2], -full[0][1], -full[0][2], -full[1][2])


def _inner(a: Sequence[Expression], b: Sequence[Expression]) -> Expression:
    return sum((p * q for p, q in zip(a, b, strict=True)), ZERO)


def _times(factor: Expression, vector: Vector) -> Vector:
    x, y, z = (factor * v for v in vector)
    return x, y, z


def _sum(*vectors: Vector) -> Vector:
    x, y, z = (sum(entries, ZERO) for entries in zip(*vectors, strict=True))
    return x, y, z
