"""The loop over the bodies of a tree whose points are tied to each other: articulated bodies, then the multipliers.

With the articulated bodies of the free tree known (see ``long_tree_code``), a row g of G gives by one pass inward the numbers
u_k, for each joint on its way to the ground, with which

    G M⁻¹ Gᵀ = Σ_k u_k u_kᵀ / D_k,        G M⁻¹ Gᵀ λ = -(ḧ at the free accelerations + what gains add),

and the motion with λ is that of the same pass outward with Σ λ u_k beside the u_k of the free tree (the factors of M⁻¹: G.
Rodriguez, A. Jain, K. Kreutz-Delgado, 1991). The cost grows with the lengths of the ways, and with the square of the number of
rows that share joints.

Behind the words of the tree the constants hold CLOSING words, all 64-bit integers, most of them addresses:

    rows m, points, pushes, pulls, the program of the rows and its constants, whole numbers, places of points, inputs and
    outputs of the program, poses, wrenches, directions of joints, u, A, λ, a state, number of bodies on ways, pivots, width

A push is a gradient by a point (row, point, where the program puts it), a pull one by a freedom.
"""

from __future__ import annotations

from functools import lru_cache

from svyaz.integrate import Callback, add_four, call, callback, copy, part, pass_four, read, whole, write
from svyaz.motion.long_tree_code import (
    BODY_WORDS,
    GROUND_RECORD,
    HEAD,
    MOTION,
    OMEGA,
    PULL,
    SHARE,
    SWEPT,
    VALUE,
    K,
    before,
    motion_of,
    motions_of,
    outward_of,
    pressed_of,
    record_of,
)

CLOSING = 20
(
    ROWS,
    POINTS,
    PUSHES,
    PULLS,
    PROGRAM,
    PROGRAM_CONSTANTS,
    WHOLE,
    PLACES,
    GIVEN,
    FOUND,
    POSES,
    WRENCHES,
    DIRECTIONS,
    RESPONSES,
    GRAM,
    MULTIPLIERS,
    STATE,
    TIED,
    PIVOTS,
    WIDTH,
) = range(CLOSING)

BODY_NUMBERS = 10
"""Whole numbers of a body: function and constants of its pose, first and last row that reach it, the place of its wrenches,
is that place new, first and last of its pushes, of its pulls. They follow the numbers of the bodies on ways."""
POSE = 15
"""Numbers of a pose: rotation to the ground 0, place 9, velocity in body axes 12."""
SINGULAR = 1e-13
"""A pivot of G M⁻¹ Gᵀ below this part of its diagonal: the rows depend on each other."""
CORRECTIONS = 3


@part
def _free_motions(n: int, c: int, t: int) -> int:
    """Accelerations and motions of the free tree, for the bodies on ways to points; those of joints go to the inputs."""
    status = 0
    table, given, count = whole(t, WHOLE), whole(t, GIVEN), whole(t, TIED)
    for i in range(count):
        k = whole(table, i)
        status |= motion_of(c + 8 * (HEAD + BODY_WORDS * k))
        write(given, 1 + 2 * n + k, read(record_of(c, k), VALUE))
    return status


@part
def _still(n: int, c: int, t: int) -> None:
    """Bodies on ways to points without accelerations."""
    table, given, count = whole(t, WHOLE), whole(t, GIVEN), whole(t, TIED)
    for i in range(count):
        k = whole(table, i)
        write(given, 1 + 2 * n + k, 0.0)
        for j in range(6):
            write(record_of(c, k), MOTION + j, 0.0)


@part
def _poses(n: int, c: int, t: int, spare: int) -> int:
    """Where the bodies on ways to points are, and how fast."""
    status = 0
    table, poses, count = whole(t, WHOLE), whole(t, POSES), whole(t, TIED)
    for i in range(count):
        k = whole(table, i)
        entry, own = table + 8 * (n + BODY_NUMBERS * k), record_of(c, k)
        base = whole(c, HEAD + BODY_WORDS * k)
        copy(own, spare, 4)
        if base < 0:
            for j in range(18):
                write(spare, 4 + j, 0.0)
            for j in range(3):
                write(spare, 4 + 4 * j, 1.0)
        else:
            copy(poses + 8 * POSE * base, spare + 32, 12)
            copy(before(own) + 8 * OMEGA, spare + 128, 3)
            copy(poses + 8 * (POSE * base + 12), spare + 152, 3)
        status |= call(whole(entry, 0), spare, whole(entry, 1), poses + 8 * POSE * k)
    return status


@part
def _turned(pose: int, x: float, y: float, z: float, target: int) -> None:
    """R (x, y, z)."""
    for j in range(3):
        write(target, j, read(pose, 3 * j) * x + read(pose, 3 * j + 1) * y + read(pose, 3 * j + 2) * z)


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
def _evaluated(n: int, x: int, c: int, t: int) -> int:
    """The rows of the constraints at a state, with the motions that the bodies have."""
    given, table, points = whole(t, GIVEN), whole(t, WHOLE) + 8 * (1 + BODY_NUMBERS) * n, whole(t, POINTS)
    copy(x, given, 1 + 2 * n)
    for p in range(points):
        k = whole(table, p)
        pose, own = whole(t, POSES) + 8 * POSE * k, record_of(c, max(k, 0))
        _point(k, pose, whole(t, PLACES) + 24 * p, own, c, given + 8 * (1 + 3 * n + 9 * p))
    return call(whole(t, PROGRAM), given, whole(t, PROGRAM_CONSTANTS), whole(t, FOUND))


@part
def _seeded(n: int, t: int, entry: int, wrench: int, u: int) -> None:
    """Wrenches on a body about the origin of the ground, and forces in its joint, of unit multipliers are added."""
    m, points = whole(t, WIDTH), whole(t, POINTS)
    given, found = whole(t, GIVEN), whole(t, FOUND)
    pushes = whole(t, WHOLE) + 8 * ((1 + BODY_NUMBERS) * n + points)
    for i in range(whole(entry, 6), whole(entry, 7)):
        at = found + 8 * whole(pushes, 3 * i + 2)
        place = given + 8 * (1 + 3 * n + 9 * whole(pushes, 3 * i + 1))
        fx, fy, fz = read(at, 0), read(at, 1), read(at, 2)
        px, py, pz = read(place, 0), read(place, 1), read(place, 2)
        own = wrench + 8 * whole(pushes, 3 * i)
        write(own, 0, read(own, 0) + py * fz - pz * fy)
        write(own, m, read(own, m) + pz * fx - px * fz)
        write(own, 2 * m, read(own, 2 * m) + px * fy - py * fx)
        write(own, 3 * m, read(own, 3 * m) + fx)
        write(own, 4 * m, read(own, 4 * m) + fy)
        write(own, 5 * m, read(own, 5 * m) + fz)
    pulls = pushes + 24 * whole(t, PUSHES)
    for i in range(whole(entry, 8), whole(entry, 9)):
        row = whole(pulls, 2 * i)
        write(u, row, read(u, row) + read(found, whole(pulls, 2 * i + 1)))


@part
def _about_ground(pose: int, six: int, x: int, target: int) -> None:
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
def _responses(n: int, c: int, t: int, spare: int) -> None:
    """u of every row at every joint, from the outermost bodies inward, and A = Σ u uᵀ/D.

    All wrenches are about the origin of the ground and in its axes: a base feels them as they are. A base takes over the
    place of the wrenches of one of the bodies that it carries; those of the others are added.
    """
    m, table, count, a = whole(t, WIDTH), whole(t, WHOLE), whole(t, TIED), whole(t, GRAM)
    wrenches, directions = whole(t, WRENCHES), whole(t, DIRECTIONS)
    for i in range(m * m):
        write(a, i, 0.0)
    for i in range(count - 1, -1, -1):
        k = whole(table, i)
        entry, under = table + 8 * (n + BODY_NUMBERS * k), before(record_of(c, k))
        base, poses = whole(c, HEAD + BODY_WORDS * k), whole(t, POSES)
        wrench, u = wrenches + 48 * m * whole(entry, 4), whole(t, RESPONSES) + 8 * m * k
        for j in range(m):
            write(u, j, 0.0)
        if whole(entry, 5) != 0:
            for j in range(6 * m):
                write(wrench, j, 0.0)
        _seeded(n, t, entry, wrench, u)
        _about_ground(poses + 8 * POSE * k, directions + 48 * k, 0, spare)
        if base < 0:
            copy(under + 8 * PULL, spare + 48, 6)
        else:
            _about_ground(poses + 8 * POSE * base, under + 8 * PULL, 3, spare + 48)
        share, low, high = read(under, SHARE), whole(entry, 2), whole(entry, 3)
        for r in range(low, high, 4):
            pass_four(wrench + 8 * r, m, u + 8 * r, spare)
        for r in range(low, high):
            left = read(u, r) * share
            for q in range(low, r + 1, 4):
                add_four(a + 8 * (r * m + q), left, u + 8 * q)
        if base >= 0:
            below = wrenches + 48 * m * whole(table, n + BODY_NUMBERS * base + 4)
            if below != wrench:
                for j in range(6 * m):
                    write(below, j, read(below, j) + read(wrench, j))


@part
def _factored(t: int) -> int:
    """A as L D Lᵀ; 1 where it is singular."""
    count, m, a, pivots = whole(t, ROWS), whole(t, WIDTH), whole(t, GRAM), whole(t, PIVOTS)
    for j in range(count):
        diagonal = read(a, j * m + j)
        for k in range(j):
            entry = read(a, j * m + k)
            for q in range(k):
                entry -= read(a, j * m + q) * read(a, k * m + q) * read(pivots, q)
            write(a, j * m + k, entry / read(pivots, k))
        pivot = diagonal
        for k in range(j):
            pivot -= read(a, j * m + k) ** 2 * read(pivots, k)
        if not pivot > SINGULAR * diagonal:
            return 1
        write(pivots, j, pivot)
    return 0


@part
def _solved(t: int, column: int) -> None:
    """A λ = -r, r that column (of h, rate, wanted) of what the program found."""
    count, m, a = whole(t, ROWS), whole(t, WIDTH), whole(t, GRAM)
    found, solution, pivots = whole(t, FOUND), whole(t, MULTIPLIERS), whole(t, PIVOTS)
    for j in range(count):
        entry = -read(found, 3 * j + column)
        for k in range(j):
            entry -= read(a, j * m + k) * read(solution, k)
        write(solution, j, entry)
    for j in range(count):
        write(solution, j, read(solution, j) / read(pivots, j))
    for j in range(count - 1, -1, -1):
        entry = read(solution, j)
        for k in range(j + 1, count):
            entry -= read(a, k * m + j) * read(solution, k)
        write(solution, j, entry)


@part
def _added(t: int, k: int) -> float:
    """Σ λ u of a joint."""
    m, u, solution = whole(t, WIDTH), whole(t, RESPONSES), whole(t, MULTIPLIERS)
    total = 0.0
    for row in range(whole(t, ROWS)):
        total += read(solution, row) * read(u, k * m + row)
    return total


@part
def _moved(n: int, c: int, t: int, target: int) -> int:
    """target += M⁻¹ Gᵀ λ: the motion under these forces alone, on a ground at rest."""
    status, ground = 0, whole(c, GROUND_RECORD)
    for j in range(3):
        write(ground, MOTION + 3 + j, 0.0)
    for k in range(n):
        own = record_of(c, k)
        for j in range(6):
            write(own, SWEPT + j, 0.0)
        write(before(own), K, read(before(own), SHARE) * _added(t, k))
        status |= motion_of(c + 8 * (HEAD + BODY_WORDS * k))
        write(target, k, read(target, k) + read(own, VALUE))
    copy(c + 32, ground + 8 * (MOTION + 3), 3)
    return status


def _closed_step(x: int, c: int, out: int) -> int:
    n, spare, t = whole(c, 0), whole(c, 1), c + 8 * (HEAD + BODY_WORDS * whole(c, 0))
    status = pressed_of(n, x, c, spare, out)
    status |= _poses(n, c, t, spare)
    status |= _free_motions(n, c, t)
    status |= _evaluated(n, x, c, t)
    _responses(n, c, t, spare)
    status |= _factored(t)
    if status != 0:
        return 1
    _solved(t, 2)
    table, count = whole(t, WHOLE), whole(t, TIED)
    for i in range(count):
        k = whole(table, i)
        under = before(record_of(c, k))
        write(under, K, read(under, K) + read(under, SHARE) * _added(t, k))
    status = motions_of(n, c, out)
    return 0 if status == 0 else 1


def _closed_look(x: int, c: int, out: int) -> int:
    """Poses, free accelerations and rows at a state are left in their places; out has the rates of the free tree."""
    n, spare, t = whole(c, 0), whole(c, 1), c + 8 * (HEAD + BODY_WORDS * whole(c, 0))
    status = pressed_of(n, x, c, spare, out)
    status |= _poses(n, c, t, spare)
    status |= _free_motions(n, c, t)
    status |= _evaluated(n, x, c, t)
    copy(whole(t, GIVEN) + 8 * (1 + 2 * n), out + 8 * n, n)
    return 0 if status == 0 else 1


@part
def _prepared(n: int, x: int, c: int, t: int, spare: int, out: int) -> int:
    """The factors at a state."""
    status = pressed_of(n, x, c, spare, out)
    status |= _poses(n, c, t, spare)
    _still(n, c, t)
    status |= _evaluated(n, x, c, t)
    _responses(n, c, t, spare)
    return status | _factored(t)


@part
def _corrected(n: int, x: int, c: int, t: int, spare: int, column: int) -> int:
    """Coordinates (column 0) or velocities (1) moved by the least correction for the residuals that were found."""
    _solved(t, column)
    status = _moved(n, c, t, x + 8 * (1 + column * n))
    status |= outward_of(n, x, c, spare)
    status |= _poses(n, c, t, spare)
    _still(n, c, t)
    return status | _evaluated(n, x, c, t)


def _closed_projection(x: int, c: int, out: int) -> int:
    n, spare, t = whole(c, 0), whole(c, 1), c + 8 * (HEAD + BODY_WORDS * whole(c, 0))
    state = whole(t, STATE)
    copy(x, state, 1 + 2 * n)
    status = 0
    for level in range(2):
        status |= _prepared(n, state, c, t, spare, out)
        if status != 0:
            return 1
        for _ in range(CORRECTIONS):
            status |= _corrected(n, state, c, t, spare, level)
    copy(state + 8, out, 2 * n)
    return 0 if status == 0 else 1


@lru_cache(maxsize=1)
def closed_step_function() -> Callback:
    """The compiled loop."""
    return callback(_closed_step)


@lru_cache(maxsize=1)
def closed_look_function() -> Callback:
    """The compiled look at a state, where all bodies are on ways."""
    return callback(_closed_look)


@lru_cache(maxsize=1)
def closed_projection_function() -> Callback:
    """The compiled projection onto the constraints, for use after every step: positions first, then velocities.

    The correction is that of the least kinetic energy, M⁻¹Gᵀ (G M⁻¹Gᵀ)⁻¹ r.
    """
    return callback(_closed_projection)
