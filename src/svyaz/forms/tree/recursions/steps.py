"""Articulated bodies one body at a time: straight-line programs that a loop over the bodies calls.

A body has a record of numbers (``FIELDS``) and stands behind the record of its base. A kind of joint (revolute or
prismatic; axis x, y, z or any; the numbers of the body that are zero) has three programs, with the numbers of the body as
parameters. Their inputs are both records, their outputs go to neighbouring fields of one of them:

    outward    place, v, ω of the base → swept acceleration, bias, ω              of the body
    inward     swept, bias, τ, felt bias and inertia → felt, Xp/D, 1/D, k         of the base
    motion     place, swept, Xp/D, k, motion of the base → motion, value          of the body

Constraints between points of bodies take one more:

    pose       q, v, place, and of the base R (9), p, ω, its velocity V → R, p, V, with R p in ground axes, ω V in body axes

Place is sine and cosine of the angle, or the way slid. A joint of several velocities is as many slices (see ``slices``), each
with programs of its own; the place of the joint stands in the fields q, s, c of the first of them, the way, if any, and the
rows of the rotation.

It is the recursion of ``articulated`` on symbols. With X the change to axes and pole of the base, S the direction of the
joint, p = Â S, D = Sᵀ p, the acceleration of the joint is

    v̇ = k - (X p/D)ᵀ m,        k = (u - pᵀ c)/D,

for a motion m of the base: what the base does enters by one scalar product only, for along a chain each body waits for
the motion of the one before it. A rotation about a coordinate axis, with sine s and cosine c, takes the entries
[a b; d e] of a block across it to [a - s w, c w - d; c w - b, e + s w] with w = s (a - e) + c (b + d).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import symengine as se

from svyaz.expr import ONE, ZERO, Expression
from svyaz.forms.tree.recursions.algebra import (
    Vector,
    applied,
    cross,
    dot,
    expressions,
    plus,
    tensor_applied,
    times,
)
from svyaz.forms.tree.recursions.articulated import rigid
from svyaz.forms.tree.recursions.places import Placed
from svyaz.forms.tree.recursions.regroup import UNITS
from svyaz.forms.tree.recursions.slices import place_records, placing_joint
from svyaz.forms.tree.short_formulas.sheet import FormulaSheet
from svyaz.model import Body, Joint, axis_rotation
from svyaz.program import Program, build, build_sequence, operations

AXES = ("x", "y", "z", "any")
BODY = ("nx", "ny", "nz", "px", "py", "pz", "m", "dx", "dy", "dz", "xx", "yy", "zz", "xy", "xz", "yz")
"""Parameters of the programs: axis, pole, mass, first moment, inertia tensor (its entries)."""


def _numbered(prefix: str, count: int) -> list[str]:
    return [f"{prefix}{k}" for k in range(count)]


TRIANGLE = [(i, j) for i in range(6) for j in range(i, 6)]
SWEPT, BIAS, TURNING = _numbered("a", 6), _numbered("b", 6), _numbered("w", 3)
FELT_BIAS, FELT_INERTIA, PULL, MOTION = (_numbered(p, n) for p, n in (("f", 6), ("A", 21), ("p", 6), ("m", 6)))
FIELDS = (
    *("q", "v", "s", "c", "tau"),
    *(*SWEPT, *BIAS, *TURNING),
    *(*FELT_BIAS, *FELT_INERTIA, *PULL, "share", "k"),
    *(*MOTION, "value"),
)
"""The numbers of a record; the rows are filled by the loop, and by the programs outward, inward and motion. What inward
gives of a body stands in the record before its own."""
INPUTS = [*(f"base {name}" for name in FIELDS), *FIELDS, *(f"{name} of {k}" for k in range(2, 7) for name in FIELDS)]
"""Behind the record of the first slice of a free joint those of the others are seen too."""


@lru_cache(maxsize=64)
def step_programs(joint: Joint, axis: str, zeros: frozenset[str]) -> tuple[Program, Program, Program]:
    """The programs outward, inward and motion for a kind of joint."""
    return _outward(joint, axis, zeros), _inward(joint, axis, zeros), _motion(joint, axis, zeros)


@lru_cache(maxsize=64)
def pose_programs(joint: Joint, axis: str, zeros: frozenset[str]) -> tuple[Program]:
    """The program pose for a kind of joint."""
    return (_pose(joint, axis, zeros),)


@lru_cache(maxsize=1)
def sines_program() -> Program:
    """Sines and cosines of four angles, in turn."""
    angles = _symbols(_numbered("q", 4))
    named = [(f"{f.__name__}{k}", f(q)) for k, q in enumerate(angles) for f in (se.sin, se.cos)]
    return build(named, inputs=list(map(str, angles)), parameters=())


def axis_kind(axis: Sequence[float]) -> str:
    """x, y, z for a positive coordinate axis, else any."""
    for k in range(3):
        if all(axis[i] == float(i == k) for i in range(3)):
            return AXES[k]
    return "any"


def _symbols(names: Sequence[str]) -> list[se.Symbol]:
    return [se.Symbol(name) for name in names]


def _vector(entries: Sequence[Expression]) -> Vector:
    x, y, z = entries
    return x, y, z


def _triple(names: Sequence[str]) -> Vector:
    return _vector(_symbols(names))


class _Joint:
    """The body behind a joint, with its place as symbols, and how it turns vectors and blocks."""

    def __init__(self, joint: Joint, axis: str, zeros: frozenset[str]) -> None:
        nx, ny, nz, px, py, pz, m, dx, dy, dz, xx, yy, zz, xy, xz, yz = (
            ZERO if name in zeros else se.Symbol(name) for name in BODY
        )
        self.joint, self.along = placing_joint(joint), AXES.index(axis)
        unit: Vector = (nx, ny, nz) if axis == "any" else UNITS[self.along]
        none, pole = (ZERO, ZERO, ZERO), (px, py, pz)
        self.sheet = FormulaSheet(BODY, {})
        q, self.sine, self.cosine = _symbols(["q", "s", "c"])
        rotation, offset = UNITS, pole
        if self.several:
            seen = [f" of {k}" if k > 1 else "" for k in range(1, 1 + place_records(joint))]
            *way, x, y, z = (_triple([name + behind for name in ("q", "s", "c")]) for behind in seen)
            rotation, offset = (x, y, z), plus(pole, way[0]) if way else pole
        elif self.joint is not None:
            if joint.turns:
                rotation = axis_rotation(unit, self.sine, self.cosine)
            else:
                offset = plus(pole, times(q, unit))
        turns = joint.turns
        body = Body("", -1, joint, (), (), unit, pole, m, none, ())
        x, y, z = (self.named(row) for row in rotation)
        directions = ((unit,), (none,)) if turns else ((none,), (unit,))
        inertia = (xx, yy, zz, xy, xz, yz)
        self.placed = Placed(body, (x, y, z), self.named(offset), m, (dx, dy, dz), inertia, *directions)
        self.direction = [*directions[0][0], *directions[1][0]]
        self.free = self.along + (0 if turns else 3) if axis != "any" else None

    @property
    def several(self) -> bool:
        """Does it bring the place of a joint of several velocities?"""
        return self.joint is not None and bool(self.joint.velocities)

    @property
    def slides(self) -> bool:
        """Does it bring a way and no rotation?"""
        return self.joint is not None and self.joint.slides

    def name(self, value: Expression) -> Expression:
        """The value under a name."""
        return self.sheet.name("_", value)

    def named(self, vector: Vector) -> Vector:
        """Its entries under names."""
        x, y, z = (self.name(e) for e in vector)
        return x, y, z

    def swept(self) -> list[Expression]:
        """The acceleration that velocities give, without what is zero for ever."""
        found: list[Expression] = list(_symbols(SWEPT))
        never = range(6) if self.joint is None else () if self.several else range(3) if self.slides else [self.free]
        return [ZERO if i in never else entry for i, entry in enumerate(found)]

    def turned(self, vector: Vector) -> Vector:
        """R v."""
        return self.named(applied(self.placed.rotation, vector))

    def turned_block(self, block: Sequence[Sequence[Expression]]) -> Sequence[Sequence[Expression]]:
        """R B Rᵀ."""
        if self.joint is None or self.slides:
            return block
        if self.free is None or self.several:
            columns = [self.turned(column) for column in zip(*block, strict=True)]
            return [self.turned(row) for row in zip(*columns, strict=True)]
        i, j, k = self.along, (self.along + 1) % 3, (self.along + 2) % 3
        s, c = self.sine, self.cosine
        found = [list(row) for row in block]
        for one, other in ((j, k), (k, j)):
            sign = 1 if one == k else -1
            found[i][one] = self.name(c * block[i][one] + sign * s * block[i][other])
            found[one][i] = self.name(c * block[one][i] + sign * s * block[other][i])
        part = self.name(s * self.name(block[j][j] - block[k][k]) + c * self.name(block[j][k] + block[k][j]))
        found[j][j], found[k][k] = self.name(block[j][j] - s * part), self.name(block[k][k] + s * part)
        found[j][k], found[k][j] = self.name(c * part - block[k][j]), self.name(c * part - block[j][k])
        return found

    def carried(self, wrench: Sequence[Expression]) -> list[Expression]:
        """A wrench in axes of the base, about its pole."""
        torque, force = self.turned(_vector(wrench[:3])), self.turned(_vector(wrench[3:]))
        return [*plus(torque, cross(self.placed.offset, force)), *force]

    def program(self, outputs: Sequence[Expression], inputs: Sequence[str] = INPUTS) -> Program:
        """Of all that was named."""
        named = [(f"{k}", e) for k, e in enumerate(outputs)]
        return build_sequence(self.sheet.definitions, named, inputs=inputs, parameters=BODY, cost=_operations)


def _operations(program: Program) -> float:
    return sum(operations(program).values())


def _outward(joint: Joint, axis: str, zeros: frozenset[str]) -> Program:
    own = _Joint(joint, axis, zeros)
    body, below = own.placed, _triple([f"base {name}" for name in TURNING])
    carried = applied(body.back, below)
    omega_j, v_j = _own_motion(own)
    omega = own.named(plus(carried, omega_j))
    centripetal = applied(body.back, cross(below, cross(below, body.offset)))
    swept = [*cross(carried, omega_j), *plus(centripetal, cross(plus(carried, omega), v_j))]
    momentum = tensor_applied(body.inertia, omega)
    bias = [*cross(omega, momentum), *cross(omega, cross(omega, body.moment))]
    return own.program([*swept, *bias, *omega])


def _own_motion(own: _Joint) -> tuple[Vector, Vector]:
    """ω and v of a joint itself; those of several velocities belong to its first slice, and to none of the others."""
    omega, v = (ZERO, ZERO, ZERO), (ZERO, ZERO, ZERO)
    if own.joint is not None:
        unit = own.placed.body.axis
        for k, (turn, slide) in enumerate(zip(*own.joint.directions(unit, expressions()), strict=True)):
            speed = se.Symbol(f"v of {k + 1}" if k else "v")
            omega, v = plus(omega, times(speed, turn)), plus(v, times(speed, slide))
    return omega, v


def _inward(joint: Joint, axis: str, zeros: frozenset[str]) -> Program:
    own = _Joint(joint, axis, zeros)
    name, free = own.name, own.free
    inertia, stiff = [[ZERO] * 6 for _ in range(6)], rigid(own.placed)
    for (i, j), entry in zip(TRIANGLE, _symbols(FELT_INERTIA), strict=True):
        inertia[i][j] = inertia[j][i] = name(entry + stiff[i][j])
    bias = [name(b + f) for b, f in zip(_symbols(BIAS), _symbols(FELT_BIAS), strict=True)]
    swept, tau = own.swept(), se.Symbol("tau")
    pressed = [name(_inner(row, own.direction)) for row in inertia]
    share = name(ONE / _inner(own.direction, pressed))
    parts = [ONE if i == free else name(p * share) for i, p in enumerate(pressed)]
    left = [[ZERO] * 6 for _ in range(6)]
    for i, j in TRIANGLE:
        if free not in (i, j):
            left[i][j] = left[j][i] = name(inertia[i][j] - pressed[i] * parts[j])
    u = name(tau - _inner(own.direction, bias))
    rest = [tau if i == free else name(bias[i] + _inner(left[i], swept) + parts[i] * u) for i in range(6)]
    outputs = [*own.carried(rest), *_felt(own, left), *own.carried(parts), share, share * u - _inner(parts, swept)]
    return own.program(outputs)


def _felt(own: _Joint, left: Sequence[Sequence[Expression]]) -> list[Expression]:
    """The triangle of X Â Xᵀ: blocks are turned, then the pole is changed, J + o × Hᵀ + (H + o × M) [o×]ᵀ, H + o × M, M."""
    corners = ((0, 0), (0, 3), (3, 3))
    first, mixed, mass = (own.turned_block([row[b : b + 3] for row in left[a : a + 3]]) for a, b in corners)
    offset = own.placed.offset
    mass = [[mass[min(i, j)][max(i, j)] for j in range(3)] for i in range(3)]
    shifts = [cross(offset, _vector(row)) for row in mass]
    moved = [[own.name(mixed[i][j] + shifts[j][i]) for j in range(3)] for i in range(3)]
    found = [[ZERO] * 6 for _ in range(6)]
    for i in range(3):
        for j in range(3):
            found[i][3 + j], found[3 + i][3 + j] = moved[i][j], mass[i][j]
            found[i][j] = first[i][j] + cross(offset, _vector(mixed[j]))[i] + cross(offset, _vector(moved[i]))[j]
    return [found[i][j] for i, j in TRIANGLE]


def _motion(joint: Joint, axis: str, zeros: frozenset[str]) -> Program:
    own = _Joint(joint, axis, zeros)
    below = _symbols([f"base {name}" for name in MOTION])
    pull = _symbols([f"base {name}" for name in PULL])
    alpha, a = (below[0], below[1], below[2]), (below[3], below[4], below[5])
    body, swept = own.placed, own.swept()
    value = own.name(own.name(se.Symbol("base k") - _inner(pull[:3], alpha)) - own.name(_inner(pull[3:], a)))
    shifted = own.named(plus(a, cross(alpha, body.offset)))
    carried = [*applied(body.back, alpha), *applied(body.back, shifted)]
    return own.program([*(x + y + value * d for x, y, d in zip(carried, swept, own.direction, strict=True)), value])


def _pose(joint: Joint, axis: str, zeros: frozenset[str]) -> Program:
    own = _Joint(joint, axis, zeros)
    body = own.placed
    turned, place, omega, speed = (_numbered(f"base {name}", n) for name, n in (("R", 9), ("P", 3), ("w", 3), ("V", 3)))
    seen = [f"{name} of {k}" for k in range(2, 1 + place_records(joint)) for name in FIELDS[:4]]
    inputs = [*FIELDS[:4], *seen, *turned, *place, *omega, *speed]
    rows = [_triple(turned[3 * i : 3 * i + 3]) for i in range(3)]
    carried = applied(body.back, plus(_triple(speed), cross(_triple(omega), body.offset)))
    found = [*(dot(row, column) for row in rows for column in zip(*body.rotation, strict=True))]
    found += [p + dot(row, body.offset) for p, row in zip(_symbols(place), rows, strict=True)]
    outputs = [*found, *plus(carried, times(se.Symbol("v"), body.slides[0]))]
    return own.program(outputs, inputs)


def _inner(a: Sequence[Expression], b: Sequence[Expression]) -> Expression:
    return se.Add(*[x * y for x, y in zip(a, b, strict=True)])
