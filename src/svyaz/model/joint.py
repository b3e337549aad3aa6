"""What a kind of joint says of itself; the kinds stand in ``joints``, one file each.

With coordinates q and velocities v a joint gives the rotation R(q) from body to base and the way d(q) from the pole at q = 0,
in base axes; the motion ω = Σ turnₖ vₖ and Σ slideₖ vₖ of the body relative to its base, in body axes (R. Featherstone, Rigid
Body Dynamics Algorithms, 2008, chapter 4); and the rates q̇ = N(q) v. All of it is for any elements: floats, arrays and
expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import symengine as se

from svyaz.expr import ONE, ZERO, Expression, add_up
from svyaz.model.rotations import Rotation, Vector, quaternion_rotation

LINEAR, ANGULAR = ("vx", "vy", "vz"), ("wx", "wy", "wz")
QUATERNION = ("e0", "e1", "e2", "e3")

Vectors = tuple[Vector, ...]
Link = tuple[str, "Joint", Vector]
"""A joint of a chain: a name for the body behind it, its kind, its axis."""


@dataclass(frozen=True)
class Elements:
    """Zero and one of the numbers that are used, and the functions that joints need."""

    zero: Expression
    one: Expression
    sin: Callable[[Expression], Expression]
    cos: Callable[[Expression], Expression]


SYMBOLS = Elements(ZERO, ONE, se.sin, se.cos)


def units(elements: Elements) -> Rotation:
    """The unit matrix."""
    zero, one = elements.zero, elements.one
    return (one, zero, zero), (zero, one, zero), (zero, zero, one)


def still(elements: Elements) -> Vector:
    """The vector zero."""
    return (elements.zero,) * 3


@dataclass(frozen=True)
class Joint:
    """A kind of joint that moves nothing: others say what they move.

    ``rank`` orders the kinds in messages. ``coordinates`` are usual names, ``meaning`` says what they are. ``velocities`` are
    usual names where these are no rates of coordinates. ``axes`` is how many axes a model gives, ``axis`` the usual one where
    it may be left out. ``turns`` and ``slides``: the only freedom is about, or along, the axis. ``quaternion_at`` is where a
    unit quaternion begins among the coordinates. ``urdf`` are the types of URDF files.
    """

    name: str
    rank: int
    coordinates: tuple[str, ...] = ()
    meaning: str = ""
    velocities: tuple[str, ...] = ()
    axes: int = 0
    axis: tuple[int, int, int] | None = None
    turns: bool = False
    slides: bool = False
    quaternion_at: int | None = None
    urdf: tuple[str, ...] = ()

    @property
    def freedoms(self) -> int:
        """Number of velocities."""
        return len(self.velocities or self.coordinates)

    @property
    def quaternion(self) -> slice:
        """Where a unit quaternion stands among the coordinates."""
        first = self.quaternion_at
        return slice(0, 0) if first is None else slice(first, first + len(QUATERNION))

    @property
    def flies(self) -> bool:
        """Does nothing hold the pole to the base?"""
        return self.quaternion.start > 0

    def pose(self, axis: Vector, values: Sequence[Expression], elements: Elements) -> tuple[Rotation, Vector]:
        """R and d at values of the coordinates."""
        return units(elements), still(elements)

    def directions(self, axis: Vector, elements: Elements) -> tuple[Vectors, Vectors]:
        """turnₖ and slideₖ of each velocity."""
        return (), ()

    def rates(self, values: Sequence[Expression], speeds: Sequence[Expression]) -> list[Expression]:
        """q̇ at values of coordinates and velocities."""
        return list(speeds)

    def speeds(self, values: Sequence[Expression], rates: Sequence[Expression]) -> list[Expression]:
        """v by the rates of the coordinates."""
        return list(rates)

    def brackets(self) -> dict[tuple[int, int, int], float]:
        """b_abl in [E_a, E_b] = Σ b_abl E_l of the motions E of each velocity alone; none for rates of coordinates."""
        return {}

    def chain(self, axes: Sequence[Vector]) -> tuple[Link, ...]:
        """Joints of one freedom that make the same motion, the first at the base; none where it is one by itself."""
        return ()


@dataclass(frozen=True)
class QuaternionJoint(Joint):
    """A joint that turns freely: coordinates end with a unit quaternion e, body to base and scalar first, velocities with ω in
    body axes. Where it moves freely too, place and velocity of the pole come first, the velocity in body axes.
    """

    @property
    def _ways(self) -> int:
        """Number of coordinates before the quaternion."""
        return int(self.quaternion.start)

    def pose(self, axis: Vector, values: Sequence[Expression], elements: Elements) -> tuple[Rotation, Vector]:
        """R(e), and the place of the pole."""
        way = tuple(values[: self._ways])
        return quaternion_rotation(tuple(values[self.quaternion])), (way[0], way[1], way[2]) if way else still(elements)

    def directions(self, axis: Vector, elements: Elements) -> tuple[Vectors, Vectors]:
        """The axes of the body, to slide along and to turn about."""
        none = (still(elements),)
        return none * self._ways + units(elements), units(elements)[: self._ways] + none * 3

    def rates(self, values: Sequence[Expression], speeds: Sequence[Expression]) -> list[Expression]:
        """(x, y, z)˙ = R(e) v and ė = ½ e ∘ (0, ω)."""
        e0, e1, e2, e3 = values[self.quaternion]
        v, (wx, wy, wz) = speeds[: self._ways], speeds[self._ways :]
        rows = quaternion_rotation((e0, e1, e2, e3))[: self._ways]
        return [
            *(sum((r * s for r, s in zip(row, v, strict=True)), 0) for row in rows),
            -(e1 * wx + e2 * wy + e3 * wz) / 2,
            (e0 * wx + e2 * wz - e3 * wy) / 2,
            (e0 * wy + e3 * wx - e1 * wz) / 2,
            (e0 * wz + e1 * wy - e2 * wx) / 2,
        ]

    def speeds(self, values: Sequence[Expression], rates: Sequence[Expression]) -> list[Expression]:
        """v = Rᵀ (x, y, z)˙ and (0, ω) = 2 e⁻¹ ∘ ė, R that of e/|e|."""
        e = e0, e1, e2, e3 = tuple(values[self.quaternion])
        square = add_up(x * x for x in e)
        columns = zip(*quaternion_rotation(tuple(x / se.sqrt(square) for x in e)), strict=True)
        rows = ((-e1, e0, e3, -e2), (-e2, -e3, e0, e1), (-e3, e2, -e1, e0))
        way, turn = rates[: self._ways], rates[self._ways :]
        found = [add_up(r * s for r, s in zip(column, way, strict=True)) for column in columns if way]
        return found + [2 * add_up(r * s for r, s in zip(row, turn, strict=True)) / square for row in rows]

    def brackets(self) -> dict[tuple[int, int, int], float]:
        """[ω_x, ω_y] = ω_z, [ω_x, v_y] = v_z and so on in turn."""
        found, first = dict[tuple[int, int, int], float](), self._ways
        for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            for x, y, sign in ((a, b, 1.0), (b, a, -1.0)):
                found[first + x, first + y, first + c] = sign
                if first:
                    found[first + x, y, c], found[y, first + x, c] = sign, -sign
        return found
