"""The loop over the bodies of a long tree: forward dynamics by articulated bodies, O(n).

What is done for one body is native code, made by ``step_programs``; here bodies are taken in order, from the ground to the
leaves, back, and out again. One compiled loop serves every tree, whose ``TreeModel`` stands at its constants.
"""

from __future__ import annotations

from svyaz.dynamics.recursions.tree_records import (
    BodyModel,
    TreeModel,
    body_of,
    joint_at,
    state_of,
    tree_at,
)
from svyaz.integrate import call, copy, lazy_callback, part, piece, place, read, write


@part
def _place_joints(tree: TreeModel, x: int) -> int:
    """Coordinates, velocities, sines and cosines of all joints, four at a time."""
    status, n, q, angles, sines = 0, tree.count, x + 8, tree.angles, tree.sines_of
    speeds = q + 8 * tree.coordinates
    for first in range(0, n, 4):
        for j in range(4):
            angles[j] = read(q, max(body_of(tree, min(first + j, n - 1)).coordinate, 0))
        status |= call(tree.sines.function, place(angles), 0, place(sines))
        for j in range(min(4, n - first)):
            own = state_of(tree, body_of(tree, first + j).state)
            own.q = angles[j]
            own.v = read(speeds, first + j)
            own.place[0] = sines[2 * j]
            own.place[1] = sines[2 * j + 1]
    for i in range(tree.several):
        joint, found = joint_at(tree.joints, tree.several, i), tree.given
        status |= call(joint.place, q + 8 * joint.coordinate, 0, place(found))
        for j in range(joint.records):
            own = state_of(tree, body_of(tree, joint.first + j).state)
            own.q = found[3 * j]
            own.place[0] = found[3 * j + 1]
            own.place[1] = found[3 * j + 2]
    return status


@part
def go_outward(tree: TreeModel, x: int) -> int:
    """Places, angular velocities and bias of all bodies."""
    status = _place_joints(tree, x)
    for k in range(tree.count):
        body = body_of(tree, k)
        own, base = state_of(tree, body.state), state_of(tree, body.state - 1)
        if body.source >= 0:
            copy(place(state_of(tree, body.source).omega), place(base.omega), 3)
        status |= call(body.outward.function, place(base), body.outward.constants, place(own.swept))
    return status


@piece
def go_inward(tree: TreeModel, body: BodyModel) -> int:
    """What a body lets its base feel."""
    base = state_of(tree, body.state - 1)
    return call(body.inward.function, place(base), body.inward.constants, place(base.felt_bias))


@part
def gather_forces(tree: TreeModel, body: BodyModel) -> None:
    """What a body feels of those that it carries further is added to what it feels of the first."""
    own, other = state_of(tree, body.state), body.further
    while other >= 0:
        carried = body_of(tree, other)
        base = state_of(tree, carried.state - 1)
        for i in range(6):
            own.felt_bias[i] += base.felt_bias[i]
        for i in range(21):
            own.felt_inertia[i] += base.felt_inertia[i]
        other = carried.next


@part
def move_body(tree: TreeModel, body: BodyModel) -> int:
    """The motion of a body from that of its base, and the acceleration of its joint."""
    own, base = state_of(tree, body.state), state_of(tree, body.state - 1)
    if body.source >= 0:
        copy(place(state_of(tree, body.source).motion), place(base.motion), 6)
    return call(body.motion.function, place(base), body.motion.constants, place(own.motion))


@part
def find_coordinate_rates(tree: TreeModel, x: int, speeds: int, target: int) -> int:
    """The rates that velocities give to the coordinates of a state."""
    status = 0
    for k in range(tree.count):
        at = body_of(tree, k).coordinate
        if at >= 0:
            write(target, at, read(speeds, k))
    given = place(tree.given)
    for i in range(tree.several):
        joint = joint_at(tree.joints, tree.several, i)
        copy(x + 8 * (1 + joint.coordinate), given, joint.coordinates)
        copy(speeds + 8 * joint.first, given + 8 * joint.coordinates, joint.velocities)
        status |= call(joint.rates, given, 0, target + 8 * joint.coordinate)
    return status


@part
def apply_forces(tree: TreeModel, x: int, out: int) -> int:
    """Rates of the coordinates and of actuator states, and the forces that are applied, where accelerations will be."""
    accelerations = out + 8 * tree.coordinates
    status = find_coordinate_rates(tree, x, x + 8 * (1 + tree.coordinates), out)
    if tree.applied.function != 0:
        status |= call(tree.applied.function, x, tree.applied.constants, accelerations)
        for k in range(tree.count):
            state_of(tree, body_of(tree, k).state).force = read(accelerations, k)
    return status


@part
def articulate(tree: TreeModel, x: int, out: int) -> int:
    """Rates of coordinates and actuator states, and the articulated bodies of a state with the forces that are applied."""
    status = apply_forces(tree, x, out)
    status |= go_outward(tree, x)
    for k in range(tree.count - 1, -1, -1):
        body = body_of(tree, k)
        gather_forces(tree, body)
        status |= go_inward(tree, body)
    return status


def _step(x: int, c: int, out: int) -> int:
    tree = tree_at(c)
    status = articulate(tree, x, out)
    accelerations = out + 8 * tree.coordinates
    for k in range(tree.count):
        body = body_of(tree, k)
        status |= move_body(tree, body)
        write(accelerations, k, state_of(tree, body.state).value)
    return 0 if status == 0 else 1


step_function = lazy_callback(_step)
"""The compiled loop."""
