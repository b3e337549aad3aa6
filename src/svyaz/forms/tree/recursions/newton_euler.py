"""Inverse dynamics, outward with velocities and accelerations, inward with forces (J. Y. S. Luh et al., 1980).

With R from body to base, p from pole to pole, ω and v of the joint itself in body axes (ω_J, v_J, zero or n q̇):

    ω = Rᵀ ω_b + ω_J,    α = Rᵀ α_b + α_J + Rᵀ ω_b × ω_J
    a = Rᵀ (a_b + α_b × p + ω_b × (ω_b × p)) + 2 Rᵀ ω_b × v_J + ω_J × v_J + a_J        (acceleration of the pole)
    f = m a + α × d + ω × (ω × d),    N = I α + ω × I ω + d × a                          (about the pole)

Gravity is an upward acceleration of the ground.
"""

from __future__ import annotations

from collections.abc import Sequence

from svyaz.forms.tree.recursions.algebra import (
    Element,
    Elements,
    Vector,
    applied,
    cross,
    dot,
    plus,
    tensor_applied,
    times,
)
from svyaz.forms.tree.recursions.places import Placed
from svyaz.model import GROUND


def inverse_dynamics(
    bodies: Sequence[Placed],
    gravity: Vector,
    velocities: Sequence[Element] | None,
    accelerations: Sequence[Element] | None,
    elements: Elements,
) -> list[Element]:
    """The generalised forces that give these accelerations at these velocities (None: all zero).

    With no accelerations they are the bias, M v̇ apart; with no velocities either, the gravity terms.
    """
    none: Vector = (elements.zero,) * 3
    ground: Vector = (-gravity[0], -gravity[1], -gravity[2])
    turning: list[Vector] = []
    speeding: list[tuple[Vector, Vector]] = []
    wrenches: list[tuple[Vector, Vector]] = []
    first = 0
    for body in bodies:
        base = body.body.base
        omega_b = none if base == GROUND else turning[base]
        alpha_b, a_b = (none, ground) if base == GROUND else speeding[base]
        count = len(body.turns)
        omega_j, v_j = joint_motion(body, velocities, first, none)
        alpha_j, a_j = joint_motion(body, accelerations, first, none)
        first += count
        carried = applied(body.back, omega_b)
        omega = plus(carried, omega_j)
        alpha = plus(plus(applied(body.back, alpha_b), alpha_j), cross(carried, omega_j))
        p = body.offset
        swept = plus(a_b, plus(cross(alpha_b, p), cross(omega_b, cross(omega_b, p))))
        own = plus(a_j, cross(plus(plus(carried, carried), omega_j), v_j))
        a = plus(applied(body.back, swept), own)
        turning.append(omega)
        speeding.append((alpha, a))
        d = body.moment
        force = plus(times(body.mass, a), plus(cross(alpha, d), cross(omega, cross(omega, d))))
        momentum = tensor_applied(body.inertia, omega)
        torque = plus(plus(tensor_applied(body.inertia, alpha), cross(omega, momentum)), cross(d, a))
        wrenches.append((force, torque))
    return projected(bodies, wrenches)


def projected(bodies: Sequence[Placed], wrenches: list[tuple[Vector, Vector]]) -> list[Element]:
    """Forces on the joints from the (force, moment about the pole) that each body needs; from the leaves to the ground."""
    found: list[list[Element]] = [[] for _ in bodies]
    for k in range(len(bodies) - 1, -1, -1):
        body = bodies[k]
        force, torque = wrenches[k]
        found[k] = [dot(t, torque) + dot(s, force) for t, s in zip(body.turns, body.slides, strict=True)]
        base = body.body.base
        if base != GROUND:
            turned = applied(body.rotation, force)
            moment = plus(applied(body.rotation, torque), cross(body.offset, turned))
            wrenches[base] = (plus(wrenches[base][0], turned), plus(wrenches[base][1], moment))
    return [force for forces in found for force in forces]


def joint_motion(body: Placed, values: Sequence[Element] | None, first: int, none: Vector) -> tuple[Vector, Vector]:
    """(angular, linear) motion that the joint adds, in body axes."""
    if values is None:
        return none, none
    angular, linear = none, none
    for k, (turn, slide) in enumerate(zip(body.turns, body.slides, strict=True)):
        angular = plus(angular, times(values[first + k], turn))
        linear = plus(linear, times(values[first + k], slide))
    return angular, linear
