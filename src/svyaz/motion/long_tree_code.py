"""The loop over the bodies of a long tree: forward dynamics by articulated bodies, O(n).

What is done for one body is native code, made by ``step_programs``; here bodies are taken in order, from the ground to
the leaves, back, and out again. One compiled loop serves every tree, whose numbers and addresses it finds in the constants:

    c[0] number of bodies, c[1] workspace, c[2], c[3] function of applied forces and its constants (0: none),
    c[4:7] minus the acceleration of gravity, then BODY_WORDS for each body: its base, and address and constants of the
    functions outward, inward and motion. All but gravity are 64-bit integers.

A tree has one workspace: it is not for two threads at once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from svyaz.integrate import call, callback, copy, part, read, whole, write

HEAD, BODY_WORDS = 7, 7
ROOM = 53
"""Numbers of a body in the workspace: place 0, ω 2, swept 5, bias 11, inertia 17, τ 38, pressed 39, 1/D 45, u 46, motion 47."""
SPARE = 80
"""Numbers of the workspace that belong to no body, before the first one."""

_OMEGA, _SWEPT, _BIAS, _FORCE, _PRESSED, _MOTION = 2, 5, 11, 38, 39, 47
_FELT = 27
"""Bias and inertia, which the base feels."""


@part
def outward_of(n: int, x: int, c: int, bodies: int, spare: int) -> int:
    """Places, angular velocities and bias of all bodies."""
    status = 0
    for k in range(n):
        words, own = c + 8 * (HEAD + BODY_WORDS * k), bodies + 8 * ROOM * k
        base = whole(words, 0)
        write(spare, 0, read(x, 1 + k))
        write(spare, 1, read(x, 1 + n + k))
        if base < 0:
            for i in range(3):
                write(spare, 2 + i, 0.0)
        else:
            copy(bodies + 8 * (ROOM * base + _OMEGA), spare + 16, 3)
        status |= call(whole(words, 1), spare, whole(words, 2), own)
    return status


@part
def _inward(n: int, c: int, bodies: int, spare: int) -> int:
    status = 0
    for k in range(n - 1, -1, -1):
        words, own = c + 8 * (HEAD + BODY_WORDS * k), bodies + 8 * ROOM * k
        status |= call(whole(words, 3), own, whole(words, 4), spare)
        copy(spare, own + 8 * _PRESSED, 8)
        base = whole(words, 0)
        if base >= 0:
            felt = bodies + 8 * (ROOM * base + _BIAS)
            for i in range(_FELT):
                write(felt, i, read(felt, i) + read(spare, 8 + i))
    return status


@part
def motion_of(words: int, own: int, c: int, bodies: int, spare: int) -> int:
    """The motion of a body from that of its base; the acceleration of its joint is left at 40 of the spare words."""
    base = whole(words, 0)
    copy(own, spare, 2)
    copy(own + 8 * _SWEPT, spare + 16, 6)
    copy(own + 8 * _PRESSED, spare + 64, 8)
    if base < 0:
        for i in range(3):
            write(spare, 16 + i, 0.0)
        copy(c + 32, spare + 152, 3)
    else:
        copy(bodies + 8 * (ROOM * base + _MOTION), spare + 128, 6)
    status = call(whole(words, 5), spare, whole(words, 6), spare + 320)
    copy(spare + 328, own + 8 * _MOTION, 6)
    return status


@part
def motions_of(n: int, c: int, bodies: int, spare: int, out: int) -> int:
    """Accelerations of the joints, and the motions of all bodies."""
    status = 0
    for k in range(n):
        words, own = c + 8 * (HEAD + BODY_WORDS * k), bodies + 8 * ROOM * k
        status |= motion_of(words, own, c, bodies, spare)
        write(out, n + k, read(spare, 40))
    return status


@part
def pressed_of(n: int, x: int, c: int, bodies: int, spare: int, out: int) -> int:
    """Rates of the coordinates, and the articulated bodies of a state with the forces that are applied."""
    status = 0
    copy(x + 8 * (1 + n), out, n)
    if whole(c, 2) != 0:
        status |= call(whole(c, 2), x, whole(c, 3), out + 8 * n)
    else:
        for k in range(n):
            write(out, n + k, 0.0)
    status |= outward_of(n, x, c, bodies, spare)
    for k in range(n):
        write(bodies, ROOM * k + _FORCE, read(out, n + k))
    return status | _inward(n, c, bodies, spare)


def _step(x: int, c: int, out: int) -> int:
    n, spare = whole(c, 0), whole(c, 1)
    bodies = spare + 8 * SPARE
    status = pressed_of(n, x, c, bodies, spare, out)
    status |= motions_of(n, c, bodies, spare, out)
    return 0 if status == 0 else 1


@lru_cache(maxsize=1)
def step_function() -> Any:
    """The compiled loop."""
    return callback(_step)
