"""What the loops over the bodies of a tree read and write: one record for each thing, with named numbers.

An ``int`` that is said to be an address is that of records of the kind that is named there. A state is [t, q, v, z], its rates
are [q̇, v̇, ż]: z are actuator states, such as currents of motors.

A body has one velocity: a joint of several is a row of them, its slices (see ``slices`` of the recursions), of which the
``JointModel`` knows the place and the rates of the coordinates.

The programs of a body take its state together with the one before it, which is that of its base. Only one of the bodies that
a base carries can stand behind it; each of the others stands behind a state of its own that stands for the base.
"""

from __future__ import annotations

from typing import Annotated

from svyaz.arrays import Array
from svyaz.integrate import Routine, element_of, piece, record_at

NONE = -1
"""No body, no coordinate, no state."""


class TreeModel:
    """A tree with its workspace, which is not for two threads at once: the constants of all loops over its bodies."""

    count: int
    bodies: int
    """Address of ``count`` ``BodyModel``."""
    slots: int
    states: int
    """Address of ``slots`` ``BodyState``, the first of which is the ground's."""
    several: int
    joints: int
    """Address of ``several`` ``JointModel``, of joints with more than one velocity."""
    coordinates: int
    velocities: int
    size: int
    """How many numbers a state is made of, without t."""
    sines: Routine
    """From four angles their sines and cosines."""
    applied: Routine
    """From [t, state] the forces at the joints, then the rates of actuator states."""
    gravity: Annotated[Array, 3]
    """Minus the acceleration of gravity."""
    angles: Annotated[Array, 4]
    """Of joints, …"""
    sines_of: Annotated[Array, 8]
    """… and their sines and cosines."""
    given: Annotated[Array, 64]
    """What programs of joints take, and where they give places."""
    direction: Annotated[Array, 6]
    pull: Annotated[Array, 6]
    motion: Annotated[Array, 6]
    """That of a joint or a body about the origin of the ground, while a joint is crossed."""
    closure: int
    """Address of a ``Closure``; 0 where there is none."""


class BodyModel:
    """Where a body stands, and its programs."""

    base: int
    state: int
    """Number of its ``BodyState``."""
    source: int
    """Number of the state from which the one before its own copies the motion of the base; NONE where it is the base's."""
    further: int
    """The first of the bodies that it carries and that do not stand behind it."""
    next: int
    """The next of those that its base carries further."""
    coordinate: int
    """The place of its coordinate in q; NONE for a slice."""
    outward: Routine
    inward: Routine
    motion: Routine


class JointModel:
    """A joint of several velocities."""

    first: int
    """The body that is its first slice; the first of its velocities has the same number."""
    coordinate: int
    """The place of its first coordinate in q."""
    quaternion: int
    """The place of its quaternion in q."""
    place: int
    """Address of the program from its coordinates to its place."""
    rates: int
    """Address of the program from coordinates and velocities to the rates of coordinates."""
    records: int
    """How many states of bodies hold its place."""
    coordinates: int
    velocities: int


class BodyState:
    """What is known of a body at a state, as ``FIELDS`` of the programs names the numbers. What its programs find of the base
    (from felt_bias to free) stands in the state before its own.
    """

    q: float
    v: float
    place: Annotated[Array, 2]
    force: float
    swept: Annotated[Array, 6]
    bias: Annotated[Array, 6]
    omega: Annotated[Array, 3]
    felt_bias: Annotated[Array, 6]
    felt_inertia: Annotated[Array, 21]
    """The upper triangle, row by row."""
    pull: Annotated[Array, 6]
    share: float
    """1/D."""
    free: float
    """v̇ on a base that does not move."""
    motion: Annotated[Array, 6]
    """Acceleration: turning, then that of the pole."""
    value: float
    """v̇."""


class Closure:
    """The constraints of a tree, in points of its bodies and in its coordinates, with their workspace."""

    rows: int
    points: int
    tied: int
    """How many bodies are on the way from a point to the ground."""
    sides: int
    """How many numbers are given behind the state."""
    program: Routine
    """From t, state, accelerations and points: h, h', h'' of each row, then the gradients by points and by coordinates."""
    watched: Routine
    """Conditions in the same numbers, then multipliers and sides."""
    inputs: int
    """Address of what the programs take; ``accelerations``, ``spots``, ``multipliers`` are inside."""
    accelerations: int
    spots: int
    """Address of P, Ṗ and P̈ of points in axes of the ground, (points, 9)."""
    multipliers: int
    outputs: int
    """Address of what the program gives."""
    tied_bodies: int
    """Address of the numbers of the bodies on ways, bases first."""
    bodies: int
    """Address of ``BodyClosure`` of all bodies and, behind them, of the ground."""
    point_bodies: int
    """Address of the numbers of the bodies of points; NONE: the ground."""
    places: int
    """Address of the places of points on them, (points, 3)."""
    gradients: int
    """Address of the ``Gradient`` of rows by points and by coordinates."""
    row_states: int
    """Address of ``rows`` ``RowState``."""
    compliance: int
    """Address of L, (rows · rows), of which the lower triangle is used."""
    slots: int
    """How many bodies hold wrenches at once, and the ground."""
    wrenches: int
    """Address of K, (slots · rows, 6)."""
    listed: int
    """Address of the numbers of rows that are left in each slot."""
    lists: int
    """Address of these rows, (slots, rows)."""
    order: int
    """Address of the rows in the order in which they are eliminated."""
    neighbours: int
    """Address of the rows that were left when others were eliminated."""
    crossing: int
    """Address of the rows that cross joints."""
    responses: int
    """Address of their u."""
    state: int
    """Address of a state [t, q, v, z]."""
    ordered: int
    """How many rows are eliminated, …"""
    pooled: int
    """… how many neighbours are known, …"""
    packed: int
    """… how many rows have crossed joints."""


class BodyClosure:
    """What constraints have to do with a body, and where it is."""

    rotation: Annotated[Array, 9]
    """To the ground."""
    pole: Annotated[Array, 3]
    velocity: Annotated[Array, 3]
    """Of the pole, in axes of the body."""
    tied: int
    """Is it on a way?"""
    pose: Routine
    slot: int
    """Where its wrenches are."""
    fresh: int
    """Is it the first in that slot?"""
    first_push: int
    end_push: int
    """The gradients by its points."""
    first_pull: int
    end_pull: int
    """Those by the coordinate of its joint."""
    records: int
    """How many states of bodies hold the place of its joint."""
    direction: Annotated[Array, 6]
    """Of its joint: turning, sliding."""
    first_crossing: int
    """The rows that cross its joint, …"""
    end_crossing: int
    first_row: int
    """… and those that are eliminated on it, in the order of elimination."""
    end_row: int


class Gradient:
    """That of a row by a point, or by the coordinate of a joint, and where the program gives it."""

    row: int
    point: int
    output: int


class RowState:
    """A row while it is eliminated, see ``closure_elimination``."""

    carrier: int
    """The outermost body that carries all that it touches; NONE: the ground."""
    wrench: Annotated[Array, 6]
    """K where it was eliminated."""
    needed: float
    """l."""
    share: float
    """1/d."""
    given: float
    """What all joints have given to its compliance."""
    first_neighbour: int
    neighbours: int


tree_at = record_at(TreeModel)
closure_at = record_at(Closure)
body_at = element_of(BodyModel)
state_at = element_of(BodyState)
joint_at = element_of(JointModel)
body_closure_at = element_of(BodyClosure)
gradient_at = element_of(Gradient)
row_at = element_of(RowState)


@piece
def body_of(tree: TreeModel, k: int) -> BodyModel:
    """A body."""
    return body_at(tree.bodies, tree.count, k)


@piece
def state_of(tree: TreeModel, number: int) -> BodyState:
    """The state with this number."""
    return state_at(tree.states, tree.slots, number)


@piece
def closure_of(tree: TreeModel) -> Closure:
    """The constraints of a tree."""
    return closure_at(tree.closure)


@piece
def body_closure_of(tree: TreeModel, k: int) -> BodyClosure:
    """What constraints have to do with a body; the last is the ground."""
    return body_closure_at(closure_at(tree.closure).bodies, tree.count + 1, k)


@piece
def row_of(closure: Closure, row: int) -> RowState:
    """A row."""
    return row_at(closure.row_states, closure.rows, row)
