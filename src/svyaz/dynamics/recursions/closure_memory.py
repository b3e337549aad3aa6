"""The memory of a tree whose points are tied to each other: its ``Closure``."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.dynamics.recursions.closure_rows import ClosureRows
from svyaz.dynamics.recursions.tree_memory import fill_routines
from svyaz.dynamics.recursions.tree_records import (
    NONE,
    BodyClosure,
    BodyModel,
    BodyState,
    Closure,
    Gradient,
    RowState,
    TreeModel,
)
from svyaz.forms import place_records, pose_programs
from svyaz.integrate import memory_at, record_type
from svyaz.model import GROUND, Tree


def closure_memory(
    rows: ClosureRows, tree: Tree, code: tuple[int, Array], sides: int, *, everywhere: bool
) -> tuple[NDArray[np.void], tuple[object, ...]]:
    """The ``Closure`` of a tree, (1,), and what must live on.

    ``code`` is the program of the rows with its constants, ``sides`` is how many numbers are given behind the states.
    ``everywhere``: all bodies are on ways.
    """
    program, constants = code
    system, n, m = rows.system, len(tree.bodies), len(rows.rows)
    tied = list(range(n)) if everywhere else _on_ways(rows, tree.parents)
    bodies, slots = _bodies(rows, tree, tied)
    programs = fill_routines(tree, pose_programs, [bodies["pose"][:n]])
    states = np.zeros(m, record_type(RowState))
    states["carrier"] = [_carrier(_touched(rows, tree.parents, row), tree.parents) for row in range(m)]
    memory = {
        "inputs": np.zeros(len(rows.inputs) + m + sides),
        "outputs": np.zeros(3 * m + rows.gradients),
        "tied_bodies": np.array(tied, dtype=np.int64),
        "bodies": bodies,
        "point_bodies": np.array(rows.bodies, dtype=np.int64),
        "places": np.array(rows.places, dtype=float),
        "gradients": np.array([entry[1:] for entries in _gradients(rows) for entry in entries], record_type(Gradient)),
        "row_states": states,
        "compliance": np.zeros((m, m)),
        "wrenches": np.zeros((slots, m, 6)),
        "listed": np.zeros(slots, np.int64),
        "lists": np.zeros((slots, m), np.int64),
        "order": np.zeros(m, np.int64),
        "neighbours": np.zeros((m, m), np.int64),
        "crossing": np.zeros((n, m), np.int64),
        "responses": np.zeros((n, m)),
        "state": np.zeros(1 + len(system.states)),
    }
    closure = np.zeros(1, record_type(Closure))
    for name, array in memory.items():
        closure[name] = array.ctypes.data
    closure["rows"], closure["points"], closure["tied"] = m, len(rows.points), len(tied)
    closure["sides"], closure["slots"] = sides, slots
    closure["program"] = (program, constants.ctypes.data)
    closure["accelerations"] = closure["inputs"] + 8 * (1 + len(system.states))
    closure["spots"] = closure["accelerations"] + 8 * len(system.velocities)
    closure["multipliers"] = closure["inputs"] + 8 * len(rows.inputs)
    return closure, (memory, programs)


def model_in(constants: Array) -> NDArray[np.void]:
    """The ``TreeModel`` in the constants of a loop, (1,)."""
    return constants.view(record_type(TreeModel))


def closure_in(constants: Array) -> NDArray[np.void]:
    """The ``Closure`` in the constants of a loop, (1,)."""
    return memory_at(int(model_in(constants)["closure"][0]), 1, record_type(Closure))


def shares_in(constants: Array) -> tuple[Array, Array]:
    """1/D of all joints and 1/d of all rows at the state that was evaluated last (see ``closure_elimination``)."""
    (model,) = model_in(constants)
    bodies = memory_at(int(model["bodies"]), int(model["count"]), record_type(BodyModel))
    states = memory_at(int(model["states"]), int(model["slots"]), record_type(BodyState))
    joints = states["share"][bodies["state"] - 1]
    if model["closure"] == 0:
        return joints, np.zeros(0)
    (closure,) = closure_in(constants)
    return joints, memory_at(int(closure["row_states"]), int(closure["rows"]), record_type(RowState))["share"]


def _gradients(rows: ClosureRows) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """(body, row, point, output) of all gradients by points, and of those by coordinates, in the order of the bodies."""
    first = 3 * len(rows.rows)
    pushes = [(rows.bodies[p], row, p, first + 3 * i) for i, (row, p) in enumerate(rows.pushes)]
    first += 3 * len(pushes)
    return sorted(pushes), sorted((freedom, row, NONE, first + i) for i, (row, freedom) in enumerate(rows.pulls))


def _bodies(rows: ClosureRows, tree: Tree, tied: Sequence[int]) -> tuple[NDArray[np.void], int]:
    """The ``BodyClosure`` of all bodies and of the ground, without programs; how many slots there are for wrenches."""
    taken, fresh, count = _wrench_slots(tree, tied)
    found = np.zeros(len(tree.bodies) + 1, record_type(BodyClosure))
    pushed, pulled = ([entry[0] for entry in table] for table in _gradients(rows))
    for k, (entry, body) in enumerate(zip(found, tree.bodies, strict=False)):
        entry["tied"], entry["slot"], entry["fresh"] = k in taken, taken.get(k, 0), k in fresh
        entry["first_push"], entry["end_push"] = bisect_left(pushed, k), bisect_right(pushed, k)
        entry["first_pull"], entry["end_pull"] = (len(pushed) + side(pulled, k) for side in (bisect_left, bisect_right))
        entry["records"] = place_records(body.kind)
        first = 0 if body.kind.turns else 3
        entry["direction"][first : first + 3] = body.axis
    return found, count


def _wrench_slots(tree: Tree, tied: Sequence[int]) -> tuple[dict[int, int], set[int], int]:
    """Where the wrenches of each body are while they are passed inward: a base takes over the slot of the first body that is
    done, the first slot is that of the ground; the bodies whose slot is new; how many slots there are.
    """
    taken: dict[int, int] = {}
    fresh: set[int] = set()
    unused: list[int] = []
    count = 1
    for k in reversed(tied):
        if k not in taken:
            fresh.add(k)
            if not unused:
                unused.append(count)
                count += 1
            taken[k] = unused.pop()
        base = tree.parents[k]
        if base == GROUND or base in taken:
            unused.append(taken[k])
        else:
            taken[base] = taken[k]
    return taken, fresh, count


def _touched(rows: ClosureRows, parents: Sequence[int], row: int) -> list[int]:
    """The bodies that a row touches; one that names the coordinate of a joint touches what it joins."""
    own = rows.rows[row]
    pushed = [rows.bodies[p] for p in own.by_points if rows.bodies[p] != GROUND]
    return pushed + [body for k in own.by_freedoms for body in (k, parents[k])]


def _on_ways(rows: ClosureRows, parents: Sequence[int]) -> list[int]:
    """The bodies from all that rows touch, and from all points, to the ground."""
    found: set[int] = set()
    touched = [body for row in range(len(rows.rows)) for body in _touched(rows, parents, row)]
    for body in [*touched, *rows.bodies]:
        while body != GROUND and body not in found:
            found.add(body)
            body = parents[body]
    return sorted(found)


def _carrier(bodies: Sequence[int], parents: Sequence[int]) -> int:
    """The outermost body that carries all of these, or is one of them; bases have smaller numbers than what they carry."""
    found = bodies[0] if bodies else GROUND
    for body in bodies:
        while found != body:
            found, body = (parents[found], body) if found > body else (found, parents[body])
    return found
