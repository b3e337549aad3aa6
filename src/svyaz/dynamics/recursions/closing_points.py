"""Points of the bodies of a tree and the rows of its constraints at a state, for the loops that close trees."""

from __future__ import annotations

from svyaz.dynamics.recursions.closing_layout import (
    ACCELERATED,
    BODY_NUMBERS,
    FOUND,
    GIVEN,
    PLACES,
    POINTS,
    POSE,
    POSES,
    PROGRAM,
    PROGRAM_CONSTANTS,
    SPOTS,
    TIED,
    WHOLE,
)
from svyaz.dynamics.recursions.long_tree_code import (
    BODY_WORDS,
    HEAD,
    MOTION,
    OMEGA,
    ROOM,
    STATES,
    VALUE,
    before,
    motion_of,
    record_of,
)
from svyaz.integrate import call, copy, part, read, whole, write


@part
def free_motions(n: int, c: int, t: int) -> int:
    """Accelerations and motions of the free tree, for the bodies on ways to points; those of joints go to the inputs."""
    status = 0
    table, accelerations, count = whole(t, WHOLE), whole(t, ACCELERATED), whole(t, TIED)
    for i in range(count):
        k = whole(table, i)
        status |= motion_of(c + 8 * (HEAD + BODY_WORDS * k))
        write(accelerations, k, read(record_of(c, k), VALUE))
    return status


@part
def still(n: int, c: int, t: int) -> None:
    """Bodies on ways to points without accelerations."""
    table, accelerations, count = whole(t, WHOLE), whole(t, ACCELERATED), whole(t, TIED)
    for i in range(count):
        k = whole(table, i)
        write(accelerations, k, 0.0)
        for j in range(6):
            write(record_of(c, k), MOTION + j, 0.0)


@part
def poses(n: int, c: int, t: int, spare: int) -> int:
    """Where the bodies on ways to points are, and how fast."""
    status = 0
    table, poses, count = whole(t, WHOLE), whole(t, POSES), whole(t, TIED)
    for i in range(count):
        k = whole(table, i)
        entry, own = table + 8 * (n + BODY_NUMBERS * k), record_of(c, k)
        base = whole(c, HEAD + BODY_WORDS * k)
        under = spare
        for j in range(whole(entry, 9)):
            copy(own + 8 * ROOM * j, under, 4)
            under += 32
        if base < 0:
            for j in range(18):
                write(under, j, 0.0)
            for j in range(3):
                write(under, 4 * j, 1.0)
        else:
            copy(poses + 8 * POSE * base, under, 12)
            copy(before(own) + 8 * OMEGA, under + 96, 3)
            copy(poses + 8 * (POSE * base + 12), under + 120, 3)
        status |= call(whole(entry, 1), spare, whole(entry, 2), poses + 8 * POSE * k)
    return status


@part
def _turned(pose: int, x: float, y: float, z: float, target: int) -> None:
    """R (x, y, z)."""
    for j in range(3):
        write(target, j, read(pose, 3 * j) * x + read(pose, 3 * j + 1) * y + read(pose, 3 * j + 2) * z)


@part
def about_ground(pose: int, six: int, x: int, target: int) -> None:
    """A pair of vectors in body axes, the one with number x bound to the pole, about the origin in ground axes."""
    _turned(pose, read(six, 0), read(six, 1), read(six, 2), target)
    _turned(pose, read(six, 3), read(six, 4), read(six, 5), target + 24)
    y = 3 - x
    px, py, pz = read(pose, 9), read(pose, 10), read(pose, 11)
    fx, fy, fz = read(target, x), read(target, x + 1), read(target, x + 2)
    write(target, y, read(target, y) + py * fz - pz * fy)
    write(target, y + 1, read(target, y + 1) + pz * fx - px * fz)
    write(target, y + 2, read(target, y + 2) + px * fy - py * fx)


@part
def from_ground(pose: int, six: int, target: int) -> None:
    """A wrench about the origin in ground axes, about the pole in body axes."""
    px, py, pz = read(pose, 9), read(pose, 10), read(pose, 11)
    fx, fy, fz = read(six, 3), read(six, 4), read(six, 5)
    mx, my, mz = read(six, 0) - py * fz + pz * fy, read(six, 1) - pz * fx + px * fz, read(six, 2) - px * fy + py * fx
    for j in range(3):
        a, b, c = read(pose, j), read(pose, 3 + j), read(pose, 6 + j)
        write(target, j, a * mx + b * my + c * mz)
        write(target, 3 + j, a * fx + b * fy + c * fz)


@part
def product(one: int, other: int) -> float:
    """The scalar product of six numbers each."""
    total = 0.0
    for j in range(6):
        total += read(one, j) * read(other, j)
    return total


@part
def _point(body: int, pose: int, place: int, own: int, c: int, target: int) -> None:
    """P, Ṗ and P̈ of a point in ground axes."""
    if body < 0:
        copy(place, target, 3)
        for j in range(6):
            write(target, 3 + j, 0.0)
        return
    x, y, z = read(place, 0), read(place, 1), read(place, 2)
    wx, wy, wz = read(own, OMEGA), read(own, OMEGA + 1), read(own, OMEGA + 2)
    _turned(pose, x, y, z, target)
    for j in range(3):
        write(target, j, read(target, j) + read(pose, 9 + j))
    vx, vy, vz = wy * z - wz * y, wz * x - wx * z, wx * y - wy * x
    _turned(pose, read(pose, 12) + vx, read(pose, 13) + vy, read(pose, 14) + vz, target + 24)
    ax, ay, az = read(own, MOTION), read(own, MOTION + 1), read(own, MOTION + 2)
    _turned(
        pose,
        read(own, MOTION + 3) + ay * z - az * y + wy * vz - wz * vy,
        read(own, MOTION + 4) + az * x - ax * z + wz * vx - wx * vz,
        read(own, MOTION + 5) + ax * y - ay * x + wx * vy - wy * vx,
        target + 48,
    )
    for j in range(3):
        write(target, 6 + j, read(target, 6 + j) - read(c, 4 + j))


@part
def evaluated(n: int, x: int, c: int, t: int) -> int:
    """The rows of the constraints at a state, with the motions that the bodies have."""
    given, table, points = whole(t, GIVEN), whole(t, WHOLE) + 8 * (1 + BODY_NUMBERS) * n, whole(t, POINTS)
    copy(x, given, 1 + whole(c, STATES))
    for p in range(points):
        k = whole(table, p)
        pose, own = whole(t, POSES) + 8 * POSE * k, record_of(c, max(k, 0))
        _point(k, pose, whole(t, PLACES) + 24 * p, own, c, whole(t, SPOTS) + 72 * p)
    return call(whole(t, PROGRAM), given, whole(t, PROGRAM_CONSTANTS), whole(t, FOUND))
