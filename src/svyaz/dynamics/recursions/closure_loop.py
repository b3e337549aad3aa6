"""The loop over the bodies of a tree whose points are tied to each other: rates, a look at a state, projection, and what is
watched along a motion.

Where the bodies are and how fast is found outward, the rows of the constraints are evaluated with bodies that do not
accelerate, articulated bodies are formed inward, on which rows are eliminated (see ``closure_elimination``), and the
accelerations follow outward with the multipliers. The cost grows with the number of bodies, and with the square of the
number of rows that cross the same joint.
"""

from __future__ import annotations

from math import sqrt

from svyaz.dynamics.recursions.closure_elimination import close_inward, close_outward
from svyaz.dynamics.recursions.closure_points import evaluate_rows, find_poses, move_tied, stop_tied
from svyaz.dynamics.recursions.tree_loop import apply_forces, articulate, find_coordinate_rates, go_outward
from svyaz.dynamics.recursions.tree_records import TreeModel, body_of, closure_of, joint_at, state_of, tree_at
from svyaz.integrate import call, copy, lazy_callback, numbers, part, read, write

CORRECTIONS, REACHING = 2, 3
"""Steps of Newton's method for positions, and for velocities: after a step of a run, and towards given residuals."""


@part
def _see_rows(tree: TreeModel, x: int) -> int:
    """The rows at a state, with bodies that do not accelerate."""
    status = go_outward(tree, x)
    status |= find_poses(tree)
    stop_tied(tree)
    return status | evaluate_rows(tree, x)


@part
def _solve(tree: TreeModel, x: int, out: int) -> int:
    """Rates and multipliers."""
    status = apply_forces(tree, x, out)
    status |= _see_rows(tree, x)
    status |= close_inward(tree, 2)
    if status != 0:
        return 1
    accelerations = out + 8 * tree.coordinates
    for k in range(tree.count):
        write(accelerations, k, 0.0)
    return close_outward(tree, accelerations)


def _closed_step(x: int, c: int, out: int) -> int:
    return 0 if _solve(tree_at(c), x, out) == 0 else 1


@part
def _watch(tree: TreeModel, x: int, out: int) -> int:
    """What is watched, where the inputs of the rows, multipliers and sides are known."""
    closure = closure_of(tree)
    copy(x + 8 * (1 + tree.size), closure.multipliers + 8 * closure.rows, closure.sides)
    return call(closure.watched.function, closure.inputs, closure.watched.constants, out)


def _watched_reactions(x: int, c: int, out: int) -> int:
    """What is watched of the points of bodies and of multipliers."""
    tree = tree_at(c)
    status = _solve(tree, x, closure_of(tree).state)
    if status == 0:
        status |= _watch(tree, x, out)
    return 0 if status == 0 else 1


def _watched_places(x: int, c: int, out: int) -> int:
    """What is watched of the points of bodies alone."""
    tree = tree_at(c)
    status = _see_rows(tree, x)
    return 0 if status | _watch(tree, x, out) == 0 else 1


def _closed_look(x: int, c: int, out: int) -> int:
    """Poses, free accelerations and rows at a state are left in their places; out has the rates of the free tree."""
    tree = tree_at(c)
    status = articulate(tree, x, out)
    status |= find_poses(tree)
    status |= move_tied(tree)
    status |= evaluate_rows(tree, x)
    copy(closure_of(tree).accelerations, out + 8 * tree.coordinates, tree.velocities)
    return 0 if status == 0 else 1


@part
def _see_at_rest(tree: TreeModel, x: int) -> int:
    """The rows at a state, on bodies on a ground at rest that no force and no velocity moves."""
    status = _see_rows(tree, x)
    ground = state_of(tree, 0).motion
    for j in range(3):
        ground[3 + j] = 0.0
    for k in range(tree.count):
        own = state_of(tree, body_of(tree, k).state)
        own.force = 0.0
        for j in range(6):
            own.swept[j] = own.bias[j] = 0.0
    return status


@part
def _displace(tree: TreeModel, x: int) -> int:
    """Coordinates moved by what the rows ask for, those of free joints along their velocities, quaternions to unit length."""
    closure, q = closure_of(tree), numbers(x + 8, tree.coordinates)
    moves, change = closure.accelerations, closure.inputs + 8
    for k in range(tree.count):
        write(moves, k, 0.0)
    status = close_outward(tree, moves)
    status |= find_coordinate_rates(tree, x, moves, change)
    for i in range(tree.coordinates):
        q[i] += read(change, i)
    for i in range(tree.several):
        e = numbers(x + 8 * (1 + joint_at(tree.joints, tree.several, i).quaternion), 4)
        length = sqrt(e[0] ** 2 + e[1] ** 2 + e[2] ** 2 + e[3] ** 2)
        for j in range(4):
            e[j] /= length
    return status


@part
def _correct(tree: TreeModel, x: int, column: int) -> int:
    """Coordinates (column 0) or velocities (1) moved by the least correction for their residuals.

    It is the motion of bodies that rest, which only the rows move.
    """
    status = close_inward(tree, column)
    if status == 0 and column == 0:
        status |= _displace(tree, x)
    elif status == 0:
        status |= close_outward(tree, x + 8 * (1 + tree.coordinates))
    ground = state_of(tree, 0).motion
    for j in range(3):
        ground[3 + j] = tree.gravity[j]
    return status


@part
def _project(x: int, c: int, out: int, corrections: int) -> int:
    tree = tree_at(c)
    state = closure_of(tree).state
    copy(x, state, 1 + tree.size)
    for level in range(2):
        for _ in range(corrections):
            status = _see_at_rest(tree, state)
            if status | _correct(tree, state, level) != 0:
                return 1
    copy(state + 8, out, tree.size)
    return 0


def _closed_projection(x: int, c: int, out: int) -> int:
    return _project(x, c, out, CORRECTIONS)


def _thorough_projection(x: int, c: int, out: int) -> int:
    return _project(x, c, out, 2 * CORRECTIONS)


def _closed_reach(x: int, c: int, out: int) -> int:
    """Behind the state x has what all rows shall be, h first, then their rates."""
    tree = tree_at(c)
    closure = closure_of(tree)
    copy(x, closure.state, 1 + tree.size)
    for level in range(2):
        wanted = x + 8 * (1 + tree.size + level * closure.rows)
        for _ in range(REACHING):
            status = _see_at_rest(tree, closure.state)
            for row in range(closure.rows):
                at = 3 * row + level
                write(closure.outputs, at, read(closure.outputs, at) - read(wanted, row))
            if status | _correct(tree, closure.state, level) != 0:
                return 1
    copy(closure.state + 8, out, tree.size)
    return 0


closed_step_function = lazy_callback(_closed_step)
"""The compiled loop."""

watched_reactions_function = lazy_callback(_watched_reactions)
"""The compiled watch over places, velocities and multipliers."""

watched_places_function = lazy_callback(_watched_places)
"""The compiled watch over places and velocities."""

closed_look_function = lazy_callback(_closed_look)
"""The compiled look at a state, where all bodies are on ways."""

closed_projection_function = lazy_callback(_closed_projection)
"""The compiled projection onto the constraints, for use after every step: positions first, then velocities.

The correction is that of the least kinetic energy, M⁻¹Gᵀ (G M⁻¹Gᵀ)⁻¹ r.
"""

thorough_projection_function = lazy_callback(_thorough_projection)
"""The same with twice as many corrections."""

closed_reach_function = lazy_callback(_closed_reach)
"""The compiled way to the nearest state with given residuals of all rows, in the sense of the projection."""
