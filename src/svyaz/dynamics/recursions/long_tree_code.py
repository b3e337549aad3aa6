"""The loop over the bodies of a long tree: forward dynamics by articulated bodies, O(n).

What is done for one body is native code, made by ``step_programs``; here bodies are taken in order, from the ground to
the leaves, back, and out again. One compiled loop serves every tree, whose numbers and addresses it finds in the constants:

    c[0] number of bodies, c[1] spare numbers, c[2], c[3] function of applied forces and further rates and its constants (0:
    none), c[4:7] minus the acceleration of gravity, c[7] function of sines, c[8] record of the ground, c[9] number of
    coordinates, c[10] number of velocities, c[11] number of all states, c[12] number of joints of several velocities,
    c[13] where they are listed, then BODY_WORDS for each body: its base, its record, SOURCE,
    FURTHER, NEXT, the place of its coordinate, and address and constants of the functions outward, inward and motion. All
    but gravity are 64-bit integers.

A state is [t, q, v, z], its rates are [q̇, v̇, ż]: z are further states, such as currents of motors, whose rates the function
of applied forces gives behind the forces.

A body has one velocity: a joint of several is a row of them, its slices, that have no coordinates of their own (-1). It is
listed by JOINT_WORDS: its first slice, the places of the first of its coordinates and of its quaternion, functions of its place
and rates, how many records hold its place, numbers of coordinates and velocities. What is known of its place, way and
rotation, is written into the records of the slices, see ``slices`` of the recursions.

The functions take the record of a body together with the one before it, which is that of its base. Only one of the bodies
that a base carries can stand behind it; each of the others stands behind a record of its own that stands for the base:
ω and the motion are copied there from SOURCE (0: it is the base), and what the base feels of them is added up when its turn
comes, over FURTHER, the first of them, and the NEXT of each (-1: none).

A tree has one workspace: it is not for two threads at once.
"""

from __future__ import annotations

from functools import lru_cache

from svyaz.integrate import Callback, call, callback, copy, part, read, whole, write

HEAD, BODY_WORDS, JOINT_WORDS = 14, 12, 8
SINES, GROUND_RECORD, COORDINATES, VELOCITIES, STATES = 7, 8, 9, 10, 11
SEVERAL, LISTED = 12, 13
FIRST_SLICE, FIRST_COORDINATE, QUATERNION, JOINT_PLACE, JOINT_RATES, JOINT_RECORDS, JOINT_COORDINATES, JOINT_SPEEDS = (
    range(8)
)
BASE, RECORD, SOURCE, FURTHER, NEXT, COORDINATE, OUTWARD, INWARD, MOVING = 0, 1, 2, 3, 4, 5, 6, 8, 10
SPARE = 64
"""Numbers of the workspace that belong to no record, before the first one."""

ROOM = 62
"""Numbers of a record, see ``FIELDS`` of the programs."""
Q, PLACE, FORCE, SWEPT, OMEGA, FELT, PULL, SHARE, K, VALUE, MOTION = 0, 2, 4, 5, 17, 20, 47, 53, 54, 55, 56
_FELT_SIZE = 27
"""Bias and inertia, which the base feels."""


@part
def record_of(c: int, k: int) -> int:
    """The record of a body; the one before it stands for its base."""
    return whole(c, HEAD + BODY_WORDS * k + RECORD)


@part
def coordinate_of(c: int, k: int) -> int:
    """The place of the coordinate of a body among all; -1 for a slice."""
    return whole(c, HEAD + BODY_WORDS * k + COORDINATE)


@part
def listed_of(c: int, i: int) -> int:
    """The words of a joint of several velocities."""
    return whole(c, LISTED) + 8 * JOINT_WORDS * i


@part
def before(record: int) -> int:
    """The record before another."""
    return record - 8 * ROOM


@part
def _placed(n: int, x: int, c: int, spare: int) -> int:
    """Coordinates, velocities, sines and cosines of all joints, four at a time."""
    status, speeds = 0, x + 8 * (1 + whole(c, COORDINATES))
    for first in range(0, n, 4):
        for j in range(4):
            write(spare, j, read(x, 1 + max(coordinate_of(c, min(first + j, n - 1)), 0)))
        status |= call(whole(c, SINES), spare, spare, spare + 32)
        for k in range(first, min(first + 4, n)):
            own = record_of(c, k)
            write(own, Q, read(spare, k - first))
            write(own, Q + 1, read(speeds, k))
            write(own, PLACE, read(spare, 4 + 2 * (k - first)))
            write(own, PLACE + 1, read(spare, 5 + 2 * (k - first)))
    for i in range(whole(c, SEVERAL)):
        joint = listed_of(c, i)
        status |= call(whole(joint, JOINT_PLACE), x + 8 * (1 + whole(joint, FIRST_COORDINATE)), spare, spare)
        for j in range(whole(joint, JOINT_RECORDS)):
            own = record_of(c, whole(joint, FIRST_SLICE) + j)
            write(own, Q, read(spare, 3 * j))
            write(own, PLACE, read(spare, 3 * j + 1))
            write(own, PLACE + 1, read(spare, 3 * j + 2))
    return status


@part
def outward_of(n: int, x: int, c: int, spare: int) -> int:
    """Places, angular velocities and bias of all bodies."""
    status = _placed(n, x, c, spare)
    for k in range(n):
        words = c + 8 * (HEAD + BODY_WORDS * k)
        own = whole(words, RECORD)
        source = whole(words, SOURCE)
        if source != 0:
            copy(source + 8 * OMEGA, before(own) + 8 * OMEGA, 3)
        status |= call(whole(words, OUTWARD), before(own), whole(words, OUTWARD + 1), own + 8 * SWEPT)
    return status


@part
def gathered_of(c: int, words: int) -> None:
    """What a body feels of those that it carries further is added to what it feels of the first."""
    own, other = whole(words, RECORD), whole(words, FURTHER)
    while other >= 0:
        felt = before(record_of(c, other)) + 8 * FELT
        for i in range(_FELT_SIZE):
            write(own, FELT + i, read(own, FELT + i) + read(felt, i))
        other = whole(c, HEAD + BODY_WORDS * other + NEXT)


@part
def _inward(n: int, c: int) -> int:
    status = 0
    for k in range(n - 1, -1, -1):
        words = c + 8 * (HEAD + BODY_WORDS * k)
        own = whole(words, RECORD)
        gathered_of(c, words)
        status |= call(whole(words, INWARD), before(own), whole(words, INWARD + 1), before(own) + 8 * FELT)
    return status


@part
def motion_of(words: int) -> int:
    """The motion of a body from that of its base, and the acceleration of its joint."""
    own, source = whole(words, RECORD), whole(words, SOURCE)
    if source != 0:
        copy(source + 8 * MOTION, before(own) + 8 * MOTION, 6)
    return call(whole(words, MOVING), before(own), whole(words, MOVING + 1), own + 8 * VALUE)


@part
def motions_of(n: int, c: int, target: int) -> int:
    """The motions of all bodies; the accelerations of their joints go to the target."""
    status = 0
    for k in range(n):
        words = c + 8 * (HEAD + BODY_WORDS * k)
        status |= motion_of(words)
        write(target, k, read(whole(words, RECORD), VALUE))
    return status


@part
def rates_of(n: int, x: int, c: int, speeds: int, spare: int, target: int) -> int:
    """The rates that velocities give to the coordinates of a state."""
    status = 0
    for k in range(n):
        at = coordinate_of(c, k)
        if at >= 0:
            write(target, at, read(speeds, k))
    for i in range(whole(c, SEVERAL)):
        joint = listed_of(c, i)
        first, size = whole(joint, FIRST_COORDINATE), whole(joint, JOINT_COORDINATES)
        copy(x + 8 * (1 + first), spare, size)
        copy(speeds + 8 * whole(joint, FIRST_SLICE), spare + 8 * size, whole(joint, JOINT_SPEEDS))
        status |= call(whole(joint, JOINT_RATES), spare, spare, target + 8 * first)
    return status


@part
def pushed_of(n: int, x: int, c: int, out: int) -> int:
    """Rates of the coordinates and of further states, and the forces that are applied, where accelerations will be."""
    first = whole(c, COORDINATES)
    status = rates_of(n, x, c, x + 8 * (1 + first), whole(c, 1), out)
    if whole(c, 2) != 0:
        status |= call(whole(c, 2), x, whole(c, 3), out + 8 * first)
        for k in range(n):
            write(record_of(c, k), FORCE, read(out, first + k))
    return status


@part
def pressed_of(n: int, x: int, c: int, spare: int, out: int) -> int:
    """Rates of coordinates and further states, and the articulated bodies of a state with the forces that are applied."""
    status = pushed_of(n, x, c, out)
    status |= outward_of(n, x, c, spare)
    return status | _inward(n, c)


def _step(x: int, c: int, out: int) -> int:
    n = whole(c, 0)
    status = pressed_of(n, x, c, whole(c, 1), out)
    status |= motions_of(n, c, out + 8 * whole(c, COORDINATES))
    return 0 if status == 0 else 1


@lru_cache(maxsize=1)
def step_function() -> Callback:
    """The compiled loop."""
    return callback(_step)
