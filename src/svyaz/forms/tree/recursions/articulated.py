"""Forward dynamics in O(n) by articulated bodies (R. Featherstone, 1983).

Each body with all that hangs on it freely resists a motion (α, a) of its pole with a wrench Â (α, a) + b. Going inward,
a joint with directions S is released,

    D = Sᵀ Â S,   u = τ - Sᵀ b,   Â' = Â - Â S D⁻¹ Sᵀ Â,   b' = b + Â' c + Â S D⁻¹ u,

and Â', b' are carried to the pole and axes of the base; going outward v̇ = D⁻¹ (u - Sᵀ Â (carried acceleration + c)).
Here c is the acceleration that velocities alone give, and b holds m, d, I with ω as in Newton–Euler. Rows and columns
of Â: three of rotation, then three of translation.
"""

from __future__ import annotations

from collections.abc import Sequence

from svyaz.forms.tree.recursions.algebra import Element, Elements, Matrix, Vector, applied, cross, plus, tensor_applied
from svyaz.forms.tree.recursions.newton_euler import joint_motion
from svyaz.forms.tree.recursions.places import Placed
from svyaz.model import GROUND

Six = list
"""Six elements: rotation, then translation."""
SixBySix = list

LOOSE = 1e-10
"""Part of the largest moment (or mass) below which the inertia about (or along) an axis is taken for none."""


def forward_dynamics(
    bodies: Sequence[Placed],
    gravity: Vector,
    velocities: Sequence[Element],
    forces: Sequence[Element],
    elements: Elements,
) -> list[Element]:
    """The accelerations v̇ under generalised forces."""
    none: Vector = (elements.zero,) * 3
    inertias = [rigid(body) for body in bodies]
    swept, biases = _velocity_terms(bodies, velocities, none)
    parts: list[tuple[list[Six], list[Six], Six]] = [([], [], [])] * len(bodies)
    ends = _ends(bodies)
    for k in range(len(bodies) - 1, -1, -1):
        body = bodies[k]
        directions = [[*turn, *slide] for turn, slide in zip(body.turns, body.slides, strict=True)]
        pressed = [_product(inertias[k], s) for s in directions]
        inverse = _inverse([[_inner(s, column) for column in pressed] for s in directions], elements)
        own = [tau - _inner(s, biases[k]) for tau, s in zip(forces[ends[k][0] : ends[k][1]], directions, strict=True)]
        answer = [_inner(row, own) for row in inverse]
        parts[k] = (pressed, inverse, own)
        base = body.body.base
        if base == GROUND:
            continue
        left = released(inertias[k], pressed, inverse)
        rest = _sum(biases[k], _product(left, swept[k]))
        for column, value in zip(pressed, answer, strict=True):
            rest = _sum(rest, [value * entry for entry in column])
        inertias[base] = _added(inertias[base], carried_inertia(left, body.rotation, body.offset))
        biases[base] = _sum(biases[base], carried_wrench(rest, body.rotation, body.offset))
    return _outward(bodies, gravity, swept, parts, none)


def loose_joint(bodies: Sequence[Placed]) -> int | None:
    """The number of a body whose joint meets no inertia, what it carries being free; of floats only.

    D = Sᵀ Â S is compared with the largest moment (or mass) in Â. It vanishes beyond links that have no inertia, or
    where such links line up. The freedoms of a joint are released one after another.
    """
    inertias = [rigid(body) for body in bodies]
    for k in range(len(bodies) - 1, -1, -1):
        body, base = bodies[k], bodies[k].body.base
        left = inertias[k]
        for turn, slide in zip(body.turns, body.slides, strict=True):
            first = 0 if any(turn) else 3
            direction = [*turn, *slide]
            pressed = _product(left, direction)
            inertia = _inner(direction, pressed)
            if inertia <= LOOSE * max(inertias[k][i][i] for i in range(first, first + 3)):
                return k
            left = released(left, [pressed], [[1.0 / inertia]])
        if base != GROUND:
            inertias[base] = _added(inertias[base], carried_inertia(left, body.rotation, body.offset))
    return None


def released(inertia: SixBySix, pressed: Sequence[Six], inverse: SixBySix) -> SixBySix:
    """Â - Â S D⁻¹ Sᵀ Â; a fixed joint releases nothing."""
    if not pressed:
        return inertia
    weighted = [[_inner(row, [column[i] for column in pressed]) for row in inverse] for i in range(6)]
    return [
        [entry - _inner(weighted[i], [column[j] for column in pressed]) for j, entry in enumerate(row)]
        for i, row in enumerate(inertia)
    ]


def _outward(
    bodies: Sequence[Placed],
    gravity: Vector,
    swept: Sequence[Six],
    parts: Sequence[tuple[list[Six], list[Six], Six]],
    none: Vector,
) -> list[Element]:
    found: list[Element] = []
    motions: list[Six] = []
    ground = [*none, *(-g for g in gravity)]
    for k, body in enumerate(bodies):
        base = body.body.base
        alpha, a = _halves(ground if base == GROUND else motions[base])
        motion = [*applied(body.back, alpha), *applied(body.back, plus(a, cross(alpha, body.offset)))]
        motion = _sum(motion, swept[k])
        pressed, inverse, own = parts[k]
        missing = [u - _inner(column, motion) for u, column in zip(own, pressed, strict=True)]
        values = [_inner(row, missing) for row in inverse]
        for value, turn, slide in zip(values, body.turns, body.slides, strict=True):
            motion = _sum(motion, [value * entry for entry in (*turn, *slide)])
        found.extend(values)
        motions.append(motion)
    return found


def _velocity_terms(
    bodies: Sequence[Placed], velocities: Sequence[Element], none: Vector
) -> tuple[list[Six], list[Six]]:
    """For each body: the acceleration that velocities give it beyond its base's, and the wrench they need."""
    turning: list[Vector] = []
    swept, wrenches = [], []
    first = 0
    for body in bodies:
        base = body.body.base
        omega_b = none if base == GROUND else turning[base]
        omega_j, v_j = joint_motion(body, velocities, first, none)
        first += len(body.turns)
        carried = applied(body.back, omega_b)
        omega = plus(carried, omega_j)
        turning.append(omega)
        centripetal = applied(body.back, cross(omega_b, cross(omega_b, body.offset)))
        own = cross(plus(plus(carried, carried), omega_j), v_j)
        swept.append([*cross(carried, omega_j), *plus(centripetal, own)])
        momentum = tensor_applied(body.inertia, omega)
        wrenches.append([*cross(omega, momentum), *cross(omega, cross(omega, body.moment))])
    return swept, wrenches


def _ends(bodies: Sequence[Placed]) -> list[tuple[int, int]]:
    ends, place = [], 0
    for body in bodies:
        ends.append((place, place + len(body.turns)))
        place += len(body.turns)
    return ends


def rigid(body: Placed) -> SixBySix:
    """[I  [d×]; -[d×]  m 1]: the wrench that a motion of the pole needs."""
    xx, yy, zz, xy, xz, yz = body.inertia
    x, y, z = body.moment
    zero = xx * 0
    m = body.mass
    return [
        [xx, xy, xz, zero, -z, y],
        [xy, yy, yz, z, zero, -x],
        [xz, yz, zz, -y, x, zero],
        [zero, z, -y, m, zero, zero],
        [-z, zero, x, zero, m, zero],
        [y, -x, zero, zero, zero, m],
    ]


def carried_wrench(wrench: Six, rotation: Matrix, offset: Vector) -> Six:
    torque, force = _halves(wrench)
    turned = applied(rotation, force)
    return [*plus(applied(rotation, torque), cross(offset, turned)), *turned]


def carried_inertia(inertia: SixBySix, rotation: Matrix, offset: Vector) -> SixBySix:
    """X Â Xᵀ for the change of axes and pole: column by column as a wrench, then row by row."""
    columns = [carried_wrench([row[j] for row in inertia], rotation, offset) for j in range(6)]
    return [carried_wrench([columns[j][i] for j in range(6)], rotation, offset) for i in range(6)]


def _inverse(matrix: SixBySix, elements: Elements) -> SixBySix:
    """The inverse of a positive definite matrix of any elements, by elimination without exchanges."""
    size = len(matrix)
    work = [[*row, *(elements.one if i == j else elements.zero for j in range(size))] for i, row in enumerate(matrix)]
    for k in range(size):
        pivot = elements.one / work[k][k]
        work[k] = [entry * pivot for entry in work[k]]
        for i in range(size):
            if i != k:
                factor = work[i][k]
                work[i] = [a - factor * b for a, b in zip(work[i], work[k], strict=True)]
    return [row[size:] for row in work]


def _halves(six: Six) -> tuple[Vector, Vector]:
    return (six[0], six[1], six[2]), (six[3], six[4], six[5])


def _inner(a: Sequence[Element], b: Sequence[Element]) -> Element:
    total = a[0] * b[0]
    for x, y in zip(a[1:], b[1:], strict=True):
        total = total + x * y
    return total


def _product(matrix: SixBySix, a: Six) -> Six:
    return [_inner(row, a) for row in matrix]


def _sum(a: Six, b: Six) -> Six:
    return [x + y for x, y in zip(a, b, strict=True)]


def _added(a: SixBySix, b: SixBySix) -> SixBySix:
    return [_sum(row, other) for row, other in zip(a, b, strict=True)]
