"""Articulated bodies one body at a time: straight-line programs that a loop over the bodies calls.

A kind of joint (revolute or prismatic; axis x, y, z or any) has three programs, with the numbers of the body as parameters:

    outward    q, v, ω of the base           → PLACE (2), ω (3), swept (6), bias (6), inertia (21)
    inward     what outward gave, and τ      → pressed (6), 1/D, u, bias (6) and inertia (21) as the base feels them
    motion     PLACE, swept, pressed, 1/D, u, motion of the base (6) → acceleration of the joint, motion (6)

Constraints between points of bodies take one more:

    pose       PLACE, v, and of the base R (9), p, ω, its velocity V → R, p, V, with R p in ground axes, ω V in body axes

PLACE is sine and cosine of the angle, or the way slid and zero. They are the recursion of ``articulated`` on symbols.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import symengine as se

from svyaz.expr import ONE, ZERO, Expression
from svyaz.forms.tree.recursions.algebra import Vector, applied, cross, dot, plus, tensor_applied, times
from svyaz.forms.tree.recursions.articulated import carried_inertia, carried_wrench, released, rigid
from svyaz.forms.tree.recursions.places import Placed
from svyaz.forms.tree.recursions.regroup import UNITS
from svyaz.model import Body, axis_rotation
from svyaz.program import Program, build

AXES = ("x", "y", "z", "any")
BODY = ("nx", "ny", "nz", "px", "py", "pz", "m", "dx", "dy", "dz", "xx", "yy", "zz", "xy", "xz", "yz")
"""Parameters of the programs: axis, pole, mass, first moment, inertia tensor (its entries)."""

TRIANGLE = [(i, j) for i in range(6) for j in range(i, 6)]


@lru_cache(maxsize=8)
def step_programs(joint: str, axis: str) -> tuple[Program, Program, Program]:
    """The programs outward, inward and motion for a kind of joint."""
    return _outward(joint, axis), _inward(joint, axis), _motion(joint, axis)


@lru_cache(maxsize=8)
def pose_programs(joint: str, axis: str) -> tuple[Program]:
    """The program pose for a kind of joint."""
    return (_pose(joint, axis),)


def axis_kind(axis: Sequence[float]) -> str:
    """x, y, z for a positive coordinate axis, else any."""
    for k in range(3):
        if all(axis[i] == float(i == k) for i in range(3)):
            return AXES[k]
    return "any"


def _symbols(*names: str) -> list[se.Symbol]:
    return [se.Symbol(name) for name in names]


def _numbered(prefix: str, count: int) -> list[se.Symbol]:
    return [se.Symbol(f"{prefix}{k}") for k in range(count)]


def _body(joint: str, axis: str, first: Expression, second: Expression) -> Placed:
    """The body with sine and cosine (or the way slid) as symbols."""
    nx, ny, nz, px, py, pz, m, dx, dy, dz, *inertia = _symbols(*BODY)
    unit: Vector = (nx, ny, nz) if axis == "any" else UNITS[AXES.index(axis)]
    none: Vector = (ZERO, ZERO, ZERO)
    pole: Vector = (px, py, pz)
    if joint == "revolute":
        rotation, offset, turns, slides = axis_rotation(unit, first, second), pole, (unit,), (none,)
    else:
        rotation, offset, turns, slides = UNITS, plus(pole, times(first, unit)), (none,), (unit,)
    body = Body("", -1, joint, (), (), unit, pole, m, none, ())
    xx, yy, zz, xy, xz, yz = inertia
    return Placed(body, rotation, offset, m, (dx, dy, dz), (xx, yy, zz, xy, xz, yz), turns, slides)


def _outward(joint: str, axis: str) -> Program:
    q, v, *omega_b = _symbols("q", "v", "wx", "wy", "wz")
    place = (se.sin(q), se.cos(q)) if joint == "revolute" else (q, ZERO)
    body = _body(joint, axis, *place)
    below: Vector = (omega_b[0], omega_b[1], omega_b[2])
    carried = applied(body.back, below)
    omega_j, v_j = times(v, body.turns[0]), times(v, body.slides[0])
    omega = plus(carried, omega_j)
    centripetal = applied(body.back, cross(below, cross(below, body.offset)))
    swept = [*cross(carried, omega_j), *plus(centripetal, cross(plus(carried, omega), v_j))]
    momentum = tensor_applied(body.inertia, omega)
    bias = [*cross(omega, momentum), *cross(omega, cross(omega, body.moment))]
    outputs = [*place, *omega, *swept, *bias, *_triangle(rigid(body))]
    return _program(outputs, ["q", "v", "wx", "wy", "wz"])


def _inward(joint: str, axis: str) -> Program:
    first, second, tau = _symbols("s", "c", "tau")
    omega, swept, bias, entries = _numbered("w", 3), _numbered("a", 6), _numbered("b", 6), _numbered("A", 21)
    body = _body(joint, axis, first, second)
    inertia = [[ZERO] * 6 for _ in range(6)]
    for (i, j), entry in zip(TRIANGLE, entries, strict=True):
        inertia[i][j] = inertia[j][i] = entry
    direction = [*body.turns[0], *body.slides[0]]
    pressed = [_inner(row, direction) for row in inertia]
    share = ONE / _inner(direction, pressed)
    u = tau - _inner(direction, bias)
    left = released(inertia, [pressed], [[share]])
    rest = [b + _inner(row, swept) + p * share * u for b, row, p in zip(bias, left, pressed, strict=True)]
    felt = carried_inertia(left, body.rotation, body.offset)
    outputs = [*pressed, share, u, *carried_wrench(rest, body.rotation, body.offset), *_triangle(felt)]
    return _program(outputs, [str(s) for s in (first, second, *omega, *swept, *bias, *entries, tau)])


def _motion(joint: str, axis: str) -> Program:
    first, second, share, u = _symbols("s", "c", "share", "u")
    swept, pressed, below = _numbered("a", 6), _numbered("p", 6), _numbered("m", 6)
    body = _body(joint, axis, first, second)
    alpha, a = (below[0], below[1], below[2]), (below[3], below[4], below[5])
    motion = [*applied(body.back, alpha), *applied(body.back, plus(a, cross(alpha, body.offset)))]
    motion = [x + y for x, y in zip(motion, swept, strict=True)]
    value = share * (u - _inner(pressed, motion))
    direction = [*body.turns[0], *body.slides[0]]
    outputs = [value, *(x + value * d for x, d in zip(motion, direction, strict=True))]
    return _program(outputs, [str(s) for s in (first, second, *swept, *pressed, share, u, *below)])


def _pose(joint: str, axis: str) -> Program:
    first, second, v = _symbols("s", "c", "v")
    turned, place, omega, speed = _numbered("R", 9), _numbered("P", 3), _numbered("w", 3), _numbered("V", 3)
    body = _body(joint, axis, first, second)
    rows = [(turned[3 * i], turned[3 * i + 1], turned[3 * i + 2]) for i in range(3)]
    carried = applied(body.back, plus(_triple(speed), cross(_triple(omega), body.offset)))
    found = [*(dot(row, column) for row in rows for column in zip(*body.rotation, strict=True))]
    found += [p + dot(row, body.offset) for p, row in zip(place, rows, strict=True)]
    outputs = [*found, *plus(carried, times(v, body.slides[0]))]
    return _program(outputs, [str(s) for s in (first, second, v, *turned, *place, *omega, *speed)])


def _triple(entries: Sequence[Expression]) -> Vector:
    return entries[0], entries[1], entries[2]


def _triangle(matrix: Sequence[Sequence[Expression]]) -> list[Expression]:
    return [matrix[i][j] for i, j in TRIANGLE]


def _inner(a: Sequence[Expression], b: Sequence[Expression]) -> Expression:
    return se.Add(*[x * y for x, y in zip(a, b, strict=True)])


def _program(outputs: Sequence[Expression], inputs: Sequence[str]) -> Program:
    named = [(f"{k}", e) for k, e in enumerate(outputs)]
    return build(named, inputs=inputs, parameters=BODY)
