"""Where the loop over a tree whose points are tied to each other finds its numbers.

Behind the words of the tree (see ``long_tree_code``) the constants hold CLOSING words, all 64-bit integers, most of them
addresses:

    rows m, points, pushes, pulls, the program of the rows and its constants, whole numbers, places of points, inputs and
    outputs of the program, poses, wrenches, directions of joints, u, A, λ, a state, number of bodies on ways, numbers of
    rows, whole numbers that the loop writes, where among the inputs of the program accelerations and points begin, a program
    of what is watched and its constants, how many sides are given behind the states

A push is a gradient by a point (row, point, where the program puts it), a pull one by a freedom. λ stand behind the inputs of
the program of the rows, and the sides behind them: all together are the inputs of what is watched.
"""

from __future__ import annotations

import ctypes

import numpy as np

from svyaz.arrays import Array
from svyaz.integrate import part, piece, whole

CLOSING = 25
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
    COMPLIANCE,
    MULTIPLIERS,
    STATE,
    TIED,
    ROW_NUMBERS,
    WRITTEN,
    ACCELERATED,
    SPOTS,
    WATCHED,
    WATCHED_CONSTANTS,
    SIDES,
) = range(CLOSING)

BODY_NUMBERS = 10
"""Whole numbers of a body: is it on a way, function and constants of its pose, the place of its wrenches, is that place new,
first and last of its pushes, of its pulls, how many records hold the place of its joint. They follow the numbers of the
bodies on ways, and are followed by the bodies of the points, pushes, pulls, and for each row the outermost body that carries
all that it touches (-1: the ground)."""
POSE = 15
"""Numbers of a pose: rotation to the ground 0, place 9, velocity in body axes 12."""
ROW = 9
"""Numbers of a row: where it was eliminated K 0, l 6, 1/d 7; what all joints have given to its compliance 8."""
K_ROW, L_ROW, SHARE_ROW, GIVEN_ROW = 0, 6, 7, 8


@part
def compliance_of(t: int, one: int, other: int) -> int:
    """Where the entry of L of two rows is."""
    return whole(t, COMPLIANCE) + 8 * (max(one, other) * whole(t, ROWS) + min(one, other))


@part
def row_of(t: int, row: int) -> int:
    """The numbers of a row."""
    return whole(t, ROW_NUMBERS) + 8 * ROW * row


ORDERED, POOLED, PACKED = 0, 1, 2
"""How many rows are eliminated, and how much of the pool and of the packed rows is taken."""


@piece
def of_joints() -> int:
    """For each joint the first and last of the packed rows that cross it."""
    return 3


@piece
def of_bodies(n: int) -> int:
    """For each body, and the ground, the first and last of the order of elimination on it."""
    return 3 + 2 * n


@piece
def of_order(n: int) -> int:
    """The rows in the order in which they are eliminated."""
    return 5 + 4 * n


@piece
def of_others(n: int, m: int) -> int:
    """For each row where the pool has the rows that were left beside it, and how many."""
    return 5 + 4 * n + m


@piece
def of_pool(n: int, m: int) -> int:
    """Rows that were left when others were eliminated."""
    return 5 + 4 * n + 3 * m


@piece
def of_packed(n: int, m: int) -> int:
    """Rows that cross joints."""
    return 5 + 4 * n + 3 * m + m * m


@piece
def of_lists(n: int, m: int) -> int:
    """For the ground and each place the number of rows that are left, and which."""
    return 5 + 4 * n + 3 * m + m * m + n * m


def written_size(bodies: int, rows: int, places: int) -> int:
    """How many whole numbers the loop writes."""
    return 5 + 4 * bodies + (3 + rows + bodies) * rows + (places + 1) * (rows + 1)


def numbers_at(address: int, count: int) -> Array:
    """Numbers in the memory of a loop."""
    return np.array((ctypes.c_double * count).from_address(address)) if count else np.zeros(0)
