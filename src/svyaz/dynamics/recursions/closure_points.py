"""Points of the bodies of a tree and the rows of its constraints at a state, for the loops that close trees."""

from __future__ import annotations

from svyaz.arrays import Array
from svyaz.dynamics.recursions.tree_loop import move_body
from svyaz.dynamics.recursions.tree_records import (
    BodyClosure,
    BodyState,
    TreeModel,
    body_closure_of,
    body_of,
    closure_of,
    state_of,
)
from svyaz.integrate import call, copy, matrix, part, piece, place, whole_numbers, write


@part
def move_tied(tree: TreeModel) -> int:
    """Accelerations and motions of the free tree, for the bodies on ways to points; those of joints go to the inputs."""
    status, closure = 0, closure_of(tree)
    tied = whole_numbers(closure.tied_bodies, closure.tied)
    for i in range(closure.tied):
        body = body_of(tree, tied[i])
        status |= move_body(tree, body)
        write(closure.accelerations, tied[i], state_of(tree, body.state).value)
    return status


@part
def stop_tied(tree: TreeModel) -> None:
    """Bodies on ways to points without accelerations."""
    closure = closure_of(tree)
    tied = whole_numbers(closure.tied_bodies, closure.tied)
    for i in range(closure.tied):
        write(closure.accelerations, tied[i], 0.0)
        own = state_of(tree, body_of(tree, tied[i]).state)
        for j in range(6):
            own.motion[j] = 0.0


@part
def find_poses(tree: TreeModel) -> int:
    """Where the bodies on ways to points are, and how fast."""
    status, closure, given = 0, closure_of(tree), tree.given
    tied = whole_numbers(closure.tied_bodies, closure.tied)
    for i in range(closure.tied):
        k = tied[i]
        body, entry = body_of(tree, k), body_closure_of(tree, k)
        under = place(given) + 32 * entry.records
        for j in range(entry.records):
            copy(place(state_of(tree, body.state + j)), place(given) + 32 * j, 4)
        if body.base < 0:
            for j in range(18):
                write(under, j, 0.0)
            for j in range(3):
                write(under, 4 * j, 1.0)
        else:
            base = body_closure_of(tree, body.base)
            copy(place(base.rotation), under, 12)
            copy(place(state_of(tree, body.state - 1).omega), under + 96, 3)
            copy(place(base.velocity), under + 120, 3)
        status |= call(entry.pose.function, place(given), entry.pose.constants, place(entry.rotation))
    return status


@piece
def triple(vector: Array) -> tuple[float, float, float]:
    """Its entries."""
    return vector[0], vector[1], vector[2]


@piece
def _turn(pose: BodyClosure, x: float, y: float, z: float, target: Array, first: int) -> None:
    """R (x, y, z), from that place of the target."""
    turn = pose.rotation
    for j in range(3):
        target[first + j] = turn[3 * j] * x + turn[3 * j + 1] * y + turn[3 * j + 2] * z


@part
def move_to_ground(pose: BodyClosure, six: Array, bound: int, target: Array) -> None:
    """A pair of vectors in body axes, the one with number ``bound`` bound to the pole, about the origin in ground axes."""
    _turn(pose, six[0], six[1], six[2], target, 0)
    _turn(pose, six[3], six[4], six[5], target, 3)
    px, py, pz = triple(pose.pole)
    fx, fy, fz = target[bound], target[bound + 1], target[bound + 2]
    other = 3 - bound
    target[other] += py * fz - pz * fy
    target[other + 1] += pz * fx - px * fz
    target[other + 2] += px * fy - py * fx


@part
def move_to_body(pose: BodyClosure, six: Array, target: Array) -> None:
    """A wrench about the origin in ground axes, about the pole in body axes."""
    px, py, pz = triple(pose.pole)
    fx, fy, fz = six[3], six[4], six[5]
    mx, my, mz = six[0] - py * fz + pz * fy, six[1] - pz * fx + px * fz, six[2] - px * fy + py * fx
    turn = pose.rotation
    for j in range(3):
        a, b, c = turn[j], turn[3 + j], turn[6 + j]
        target[j] = a * mx + b * my + c * mz
        target[3 + j] = a * fx + b * fy + c * fz


@piece
def product(one: Array, other: Array) -> float:
    """The scalar product of six numbers each."""
    total = 0.0
    for j in range(6):
        total += one[j] * other[j]
    return total


@part
def _move_point(tree: TreeModel, pose: BodyClosure, own: BodyState, at: Array, spot: Array) -> None:
    """P, Ṗ and P̈ of a point of a body in ground axes."""
    x, y, z = triple(at)
    wx, wy, wz = triple(own.omega)
    _turn(pose, x, y, z, spot, 0)
    vx, vy, vz = wy * z - wz * y, wz * x - wx * z, wx * y - wy * x
    _turn(pose, pose.velocity[0] + vx, pose.velocity[1] + vy, pose.velocity[2] + vz, spot, 3)
    a = own.motion
    ax, ay, az = triple(a)
    bx, by, bz = (
        ay * z - az * y + wy * vz - wz * vy,
        az * x - ax * z + wz * vx - wx * vz,
        ax * y - ay * x + wx * vy - wy * vx,
    )
    _turn(pose, a[3] + bx, a[4] + by, a[5] + bz, spot, 6)
    for j in range(3):
        spot[j] += pose.pole[j]
        spot[6 + j] -= tree.gravity[j]


@part
def evaluate_rows(tree: TreeModel, x: int) -> int:
    """The rows of the constraints at a state, with the motions that the bodies have."""
    closure = closure_of(tree)
    copy(x, closure.inputs, 1 + tree.size)
    bodies, places = whole_numbers(closure.point_bodies, closure.points), matrix(closure.places, closure.points, 3)
    spots = matrix(closure.spots, closure.points, 9)
    for p in range(closure.points):
        k = bodies[p]
        if k >= 0:
            _move_point(tree, body_closure_of(tree, k), state_of(tree, body_of(tree, k).state), places[p], spots[p])
        else:
            for j in range(3):
                spots[p, j] = places[p, j]
                spots[p, 3 + j] = spots[p, 6 + j] = 0.0
    return call(closure.program.function, closure.inputs, closure.program.constants, closure.outputs)
