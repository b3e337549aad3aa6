"""Bodies prepared for short formulas: frames along the axes, poles that need no way along them, base parameters.

A rigid body that is carried by a revolute joint may give to its base whatever turning about the joint does not change: its
mass and the part of its first moment along the axis, put on the axis, and equal moments of inertia about all directions
across the axis. Behind a prismatic joint the whole inertia can be given away. What is left are base parameters: the
motion is the same (M. Gautier, W. Khalil, 1990; here for trees, in vectors).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import symengine as se

from svyaz.expr import HALF, ONE, ZERO, Expression
from svyaz.forms.tree.recursions.algebra import (
    Symmetric,
    Vector,
    applied,
    expressions,
    offset_inertia,
    plus,
    point_inertia,
    tensor_plus,
    tensor_turned,
    times,
    transposed,
)
from svyaz.forms.tree.recursions.places import Placed
from svyaz.forms.tree.recursions.zeros import UNITS, Zero, aligned, product, sample_points, tidy, tidy_vector
from svyaz.model import GROUND, MOMENTS, Joint, Tree

PAIRS = {(0, 1): 3, (0, 2): 4, (1, 2): 5}


@dataclass(frozen=True)
class RegroupedLink:
    """A body in a frame of which its joint axis is the coordinate axis number ``axis`` (0, 1, 2), times ``sign``.

    ``turn`` takes vectors of this frame at zero coordinate to the frame of the base (constant; the unit matrix where the
    axis is a coordinate axis of the base's frame too); ``pole`` is in the frame of the base. A revolute joint turns by its
    coordinate plus ``offset``, a constant: frames lie as it is short, not as the zero of the coordinate wants it.
    """

    number: int
    base: int
    kind: Joint
    coordinate: str
    axis: int
    sign: int
    turn: tuple
    pole: Vector
    mass: Expression
    moment: Vector
    inertia: Symmetric
    offset: Expression = ZERO

    @property
    def angle(self) -> Expression:
        """By which the joint turns about its coordinate axis, in the positive direction of that."""
        return self.sign * (se.Symbol(self.coordinate) + self.offset)


def links_of(tree: Tree) -> list[RegroupedLink]:
    """The bodies of a tree of revolute and prismatic joints in such frames."""
    if tree.straight is not None:
        tree = tree.straight
    frames: list[tuple] = []
    links = []
    points = sample_points(tree)
    for number, body in enumerate(tree.bodies):
        under = UNITS if body.base == GROUND else frames[body.base]
        seen = tidy_vector(applied(transposed(under), body.axis), points)
        axis, sign = _coordinate_axis(seen)
        frame = under
        if axis is None:
            frame, axis, sign = _frame_along(body.axis), 2, 1
        zero = Zero(ZERO, frame)
        if body.kind.turns:
            zero = aligned(tree, number, frame, axis, points)
        frames.append(zero.frame)
        back = transposed(zero.frame)
        xx, yy, zz, xy, xz, yz = body.inertia
        links.append(
            RegroupedLink(
                number,
                body.base,
                body.kind,
                body.coordinates[0],
                axis,
                sign,
                UNITS if frame is under else tidy(product(transposed(under), frame), points),
                tidy_vector(applied(transposed(under), body.pole), points),
                body.mass,
                tidy_vector(applied(back, times(body.mass, body.center)), points),
                tidy_vector(tensor_turned(back, (xx, yy, zz, -xy, -xz, -yz)), points),
                body.offset + sign * zero.angle,
            )
        )
    return links


def _coordinate_axis(vector: Vector) -> tuple[int | None, int]:
    for k in range(3):
        if all(vector[i] == 0 for i in range(3) if i != k) and vector[k] in (1, -1):
            return k, int(vector[k])
    return None, 0


def _frame_along(axis: Vector) -> tuple:
    """A rotation whose third column is the axis."""
    least = min(range(3), key=lambda k: abs(_size(axis[k])))
    helper = UNITS[least]
    x = _cross(helper, axis)
    length = se.sqrt(sum((e * e for e in x), ZERO))
    x = tuple(e / length for e in x)
    y = _cross(axis, x)
    return tuple(zip(x, y, axis, strict=True))


def _size(entry: Expression) -> float:
    return float(entry) if entry.is_Number else 1.0


def _cross(a: Vector, b: Vector) -> Vector:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def shiftable(links: list[RegroupedLink]) -> list[int]:
    """The bodies that are carried along their own axis, as seen from the pole of their base."""
    return [
        link.number
        for link in links
        if link.kind.turns
        and link.base != GROUND
        and se.expand(applied(transposed(link.turn), link.pole)[link.axis]) != 0
    ]


def with_poles_shifted(links: list[RegroupedLink], chosen: Collection[int]) -> list[RegroupedLink]:
    """The chosen poles moved along their axes to where the way from the base's pole has no part along the axis.

    The pole of a revolute joint may be any point of the axis. A prismatic joint gets its pole on that of its base.
    """
    shifts: list[Vector] = []
    found = []
    for link in links:
        pole = link.pole
        if link.base != GROUND:
            pole = plus(pole, times(-ONE, shifts[link.base]))
        back = transposed(link.turn)
        if link.kind.slides:
            along = applied(back, pole)
            left: Vector = (ZERO, ZERO, ZERO)
        elif link.number not in chosen:
            along, left = (ZERO, ZERO, ZERO), pole
        else:
            unit = UNITS[link.axis]
            inside = applied(back, pole)
            along = times(inside[link.axis], unit)
            left = plus(pole, times(-ONE, applied(link.turn, along)))
        # the old pole lies at ``along`` from the new one, in the frame of the link
        shift = times(-ONE, along)
        shifts.append(shift)
        found.append(_moved(link, _expanded(left), along))
    return found


def _moved(link: RegroupedLink, pole: Vector, along: Vector) -> RegroupedLink:
    if all(entry == 0 for entry in along):
        return RegroupedLink(**{**link.__dict__, "pole": pole})
    shifted = tensor_plus(point_inertia(link.mass, along), offset_inertia(along, link.moment))
    return RegroupedLink(
        **{
            **link.__dict__,
            "pole": pole,
            "moment": plus(link.moment, times(link.mass, along)),
            "inertia": tensor_plus(link.inertia, shifted),
        }
    )


def _expanded(vector: Vector) -> Vector:
    x, y, z = (se.expand(e) for e in vector)
    return x, y, z


def with_base_parameters(
    links: list[RegroupedLink], *, balanced: bool, named: dict[se.Symbol, Expression] | None = None
) -> list[RegroupedLink]:
    """Every body with what its joint does not feel given to its base, from the leaves to the ground.

    Written out for many bodies the sums grow without measure: in ``named`` what a body has before it gives away is put under
    names of its own, each in terms of those before it.

    Of the two moments across a revolute axis, a and b, either b is given away (a - b is left), or their mean (``balanced``:
    half the difference is left in the one, minus that in the other).
    """
    masses = [link.mass for link in links]
    moments = [link.moment for link in links]
    inertias = [link.inertia for link in links]

    def kept(hint: str, value: Expression) -> Expression:
        if named is None or value.is_Number or value.is_Symbol:
            return value
        named[symbol := se.Symbol(f"{hint} given")] = value
        return symbol

    for link in reversed(links):
        k = link.number
        masses[k] = kept(f"m{k + 1}", masses[k])
        moments[k] = tuple(kept(f"m{x}{k + 1}", e) for x, e in zip("xyz", moments[k], strict=True))
        inertias[k] = tuple(kept(f"{x}{k + 1}", e) for x, e in zip(MOMENTS, inertias[k], strict=True))
        if link.kind.slides:
            given = (ZERO, (ZERO,) * 3, inertias[k])
            inertias[k] = (ZERO,) * 6
        else:
            given, masses[k], moments[k], inertias[k] = _split(link.axis, masses[k], moments[k], inertias[k], balanced)
        if link.base == GROUND:
            continue
        mass, moment, inertia = given
        turned = applied(link.turn, moment)
        shifted = tensor_plus(point_inertia(mass, link.pole), offset_inertia(link.pole, turned))
        base = link.base
        masses[base] = masses[base] + mass
        moments[base] = plus(moments[base], plus(turned, times(mass, link.pole)))
        inertias[base] = tensor_plus(inertias[base], tensor_plus(tensor_turned(link.turn, inertia), shifted))
    return [
        RegroupedLink(**{**link.__dict__, "mass": masses[k], "moment": moments[k], "inertia": inertias[k]})
        for k, link in enumerate(links)
    ]


def _split(axis: int, mass: Expression, moment: Vector, inertia: Symmetric, balanced: bool) -> tuple:
    """(what is given away, mass left, moment left, inertia left) of a body on a revolute joint."""
    a, b = (axis + 1) % 3, (axis + 2) % 3
    across = HALF * (inertia[a] + inertia[b]) if balanced else inertia[b]
    along = tuple(moment[axis] if i == axis else ZERO for i in range(3))
    given = tuple(ZERO if i == axis else across for i in range(3)) + (ZERO,) * 3
    rest = list(inertia)
    rest[a], rest[b] = inertia[a] - across, inertia[b] - across
    if not balanced:
        rest[b] = ZERO
    left = tuple(ZERO if i == axis else moment[i] for i in range(3))
    return (mass, along, given), ZERO, left, tuple(rest)


def placed_link(tree: Tree, link: RegroupedLink) -> Placed:
    """A link over base parameters as a body for the recursions."""
    elements, unit = expressions(), times(se.Integer(link.sign), UNITS[link.axis])
    own, way = link.kind.pose(unit, [se.Symbol(link.coordinate) + link.offset], elements)
    turns, slides = link.kind.directions(unit, elements)
    x, y, z = (applied(link.turn, column) for column in transposed(own))
    return Placed(
        body=tree.bodies[link.number],
        rotation=transposed((x, y, z)),
        offset=plus(link.pole, applied(link.turn, way)),
        mass=link.mass,
        moment=link.moment,
        inertia=link.inertia,
        turns=turns,
        slides=slides,
    )
