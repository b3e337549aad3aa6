"""The loop over the bodies of a tree whose points are tied to each other: rates, a look at a state, projection, and what is
watched along a motion.

Where the bodies are and how fast is told outward, the rows of the constraints are evaluated with bodies that do not
accelerate, articulated bodies are formed inward, on which rows are eliminated (see ``closing_elimination``), and the
accelerations follow outward with the multipliers. The cost grows with the number of bodies, and with the square of the
number of rows that cross the same joint.
"""

from __future__ import annotations

from functools import lru_cache
from math import sqrt

from svyaz.dynamics.recursions.closing_elimination import closed_inward, closed_motions
from svyaz.dynamics.recursions.closing_layout import (
    ACCELERATED,
    FOUND,
    GIVEN,
    MULTIPLIERS,
    ROWS,
    SIDES,
    STATE,
    WATCHED,
    WATCHED_CONSTANTS,
)
from svyaz.dynamics.recursions.closing_points import evaluated, free_motions, poses, still
from svyaz.dynamics.recursions.long_tree_code import (
    BODY_WORDS,
    COORDINATES,
    FORCE,
    GROUND_RECORD,
    HEAD,
    MOTION,
    QUATERNION,
    SEVERAL,
    STATES,
    SWEPT,
    VELOCITIES,
    listed_of,
    outward_of,
    pressed_of,
    pushed_of,
    rates_of,
    record_of,
)
from svyaz.integrate import Callback, call, callback, copy, part, read, whole, write

CORRECTIONS, REACHING = 2, 3
"""Steps of Newton's method for positions, and for velocities: after a step of a run, and towards given residuals."""


@part
def _solved(n: int, x: int, c: int, t: int, spare: int, out: int) -> int:
    """Rates and multipliers."""
    status = pushed_of(n, x, c, out)
    status |= outward_of(n, x, c, spare)
    status |= poses(n, c, t, spare)
    still(n, c, t)
    status |= evaluated(n, x, c, t)
    status |= closed_inward(n, c, t, spare, 2)
    if status != 0:
        return 1
    accelerations = out + 8 * whole(c, COORDINATES)
    for k in range(n):
        write(accelerations, k, 0.0)
    return closed_motions(n, c, t, spare, accelerations)


def _closed_step(x: int, c: int, out: int) -> int:
    n, spare, t = whole(c, 0), whole(c, 1), c + 8 * (HEAD + BODY_WORDS * whole(c, 0))
    return 0 if _solved(n, x, c, t, spare, out) == 0 else 1


@part
def _told(x: int, c: int, t: int, out: int) -> int:
    """What is watched, where the inputs of the rows, multipliers and sides are known."""
    copy(x + 8 * (1 + whole(c, STATES)), whole(t, MULTIPLIERS) + 8 * whole(t, ROWS), whole(t, SIDES))
    return call(whole(t, WATCHED), whole(t, GIVEN), whole(t, WATCHED_CONSTANTS), out)


def _watched_reactions(x: int, c: int, out: int) -> int:
    """What is watched of the points of bodies and of multipliers."""
    n, spare, t = whole(c, 0), whole(c, 1), c + 8 * (HEAD + BODY_WORDS * whole(c, 0))
    status = _solved(n, x, c, t, spare, whole(t, STATE))
    if status == 0:
        status |= _told(x, c, t, out)
    return 0 if status == 0 else 1


def _watched_places(x: int, c: int, out: int) -> int:
    """What is watched of the points of bodies alone."""
    n, spare, t = whole(c, 0), whole(c, 1), c + 8 * (HEAD + BODY_WORDS * whole(c, 0))
    status = outward_of(n, x, c, spare)
    status |= poses(n, c, t, spare)
    still(n, c, t)
    status |= evaluated(n, x, c, t)
    status |= _told(x, c, t, out)
    return 0 if status == 0 else 1


def _closed_look(x: int, c: int, out: int) -> int:
    """Poses, free accelerations and rows at a state are left in their places; out has the rates of the free tree."""
    n, spare, t = whole(c, 0), whole(c, 1), c + 8 * (HEAD + BODY_WORDS * whole(c, 0))
    status = pressed_of(n, x, c, spare, out)
    status |= poses(n, c, t, spare)
    status |= free_motions(n, c, t)
    status |= evaluated(n, x, c, t)
    copy(whole(t, ACCELERATED), out + 8 * whole(c, COORDINATES), whole(c, VELOCITIES))
    return 0 if status == 0 else 1


@part
def _at_rest(n: int, x: int, c: int, t: int, spare: int) -> int:
    """The rows at a state, on bodies on a ground at rest that no force and no velocity moves."""
    ground = whole(c, GROUND_RECORD)
    status = outward_of(n, x, c, spare)
    status |= poses(n, c, t, spare)
    still(n, c, t)
    status |= evaluated(n, x, c, t)
    for j in range(3):
        write(ground, MOTION + 3 + j, 0.0)
    for k in range(n):
        own = record_of(c, k)
        write(own, FORCE, 0.0)
        for j in range(12):
            write(own, SWEPT + j, 0.0)
    return status


@part
def _displaced(n: int, x: int, c: int, t: int, spare: int) -> int:
    """Coordinates moved by what the rows ask for, those of free joints along their velocities, quaternions to unit length."""
    moves, change = whole(t, ACCELERATED), whole(t, GIVEN) + 8
    for k in range(n):
        write(moves, k, 0.0)
    status = closed_motions(n, c, t, spare, moves)
    status |= rates_of(n, x, c, moves, spare, change)
    for i in range(whole(c, COORDINATES)):
        write(x, 1 + i, read(x, 1 + i) + read(change, i))
    for i in range(whole(c, SEVERAL)):
        e = x + 8 * (1 + whole(listed_of(c, i), QUATERNION))
        length = sqrt(read(e, 0) ** 2 + read(e, 1) ** 2 + read(e, 2) ** 2 + read(e, 3) ** 2)
        for j in range(4):
            write(e, j, read(e, j) / length)
    return status


@part
def _corrected(n: int, x: int, c: int, t: int, spare: int, column: int) -> int:
    """Coordinates (column 0) or velocities (1) moved by the least correction for their residuals.

    It is the motion of bodies that rest, which only the rows move.
    """
    status = closed_inward(n, c, t, spare, column)
    if status == 0 and column == 0:
        status |= _displaced(n, x, c, t, spare)
    elif status == 0:
        status |= closed_motions(n, c, t, spare, x + 8 * (1 + whole(c, COORDINATES)))
    copy(c + 32, whole(c, GROUND_RECORD) + 8 * (MOTION + 3), 3)
    return status


@part
def _project(x: int, c: int, out: int, corrections: int) -> int:
    n, spare, t = whole(c, 0), whole(c, 1), c + 8 * (HEAD + BODY_WORDS * whole(c, 0))
    state = whole(t, STATE)
    copy(x, state, 1 + whole(c, STATES))
    for level in range(2):
        for _ in range(corrections):
            status = _at_rest(n, state, c, t, spare)
            if status | _corrected(n, state, c, t, spare, level) != 0:
                return 1
    copy(state + 8, out, whole(c, STATES))
    return 0


def _closed_projection(x: int, c: int, out: int) -> int:
    return _project(x, c, out, CORRECTIONS)


def _thorough_projection(x: int, c: int, out: int) -> int:
    return _project(x, c, out, 2 * CORRECTIONS)


def _closed_reach(x: int, c: int, out: int) -> int:
    """Behind the state x has what all rows shall be, h first, then their rates."""
    n, spare, t = whole(c, 0), whole(c, 1), c + 8 * (HEAD + BODY_WORDS * whole(c, 0))
    state, found, m = whole(t, STATE), whole(t, FOUND), whole(t, ROWS)
    copy(x, state, 1 + whole(c, STATES))
    for level in range(2):
        wanted = x + 8 * (1 + whole(c, STATES) + level * m)
        for _ in range(REACHING):
            status = _at_rest(n, state, c, t, spare)
            for row in range(m):
                write(found, 3 * row + level, read(found, 3 * row + level) - read(wanted, row))
            if status | _corrected(n, state, c, t, spare, level) != 0:
                return 1
    copy(state + 8, out, whole(c, STATES))
    return 0


@lru_cache(maxsize=1)
def closed_step_function() -> Callback:
    """The compiled loop."""
    return callback(_closed_step)


@lru_cache(maxsize=1)
def watched_reactions_function() -> Callback:
    """The compiled watch over places, velocities and multipliers."""
    return callback(_watched_reactions)


@lru_cache(maxsize=1)
def watched_places_function() -> Callback:
    """The compiled watch over places and velocities."""
    return callback(_watched_places)


@lru_cache(maxsize=1)
def closed_look_function() -> Callback:
    """The compiled look at a state, where all bodies are on ways."""
    return callback(_closed_look)


@lru_cache(maxsize=2)
def closed_projection_function(thorough: bool) -> Callback:
    """The compiled projection onto the constraints, for use after every step: positions first, then velocities.

    The correction is that of the least kinetic energy, M⁻¹Gᵀ (G M⁻¹Gᵀ)⁻¹ r; it is made twice as often where ``thorough``.
    """
    return callback(_thorough_projection if thorough else _closed_projection)


@lru_cache(maxsize=1)
def closed_reach_function() -> Callback:
    """The compiled way to the nearest state with given residuals of all rows, in the sense of the projection."""
    return callback(_closed_reach)
