"""The words of a tree whose points are tied to each other, as ``closing_layout`` says what they are."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.dynamics.recursions.closing_layout import POSE, ROW, written_size
from svyaz.dynamics.recursions.closing_rows import ClosingRows
from svyaz.forms import place_records
from svyaz.model import GROUND, Tree


def closing_words(
    rows: ClosingRows,
    tree: Tree,
    addresses: NDArray[np.int64],
    code: tuple[int, Array],
    sides: int,
    *,
    everywhere: bool,
) -> tuple[NDArray[np.int64], tuple[object, ...]]:
    """The closing words of a tree, and the memory to which they point.

    ``addresses`` are those of the poses, ``code`` is the program of the rows with its constants, ``sides`` is how many numbers
    are given behind the states. ``everywhere``: all bodies are on ways.
    """
    program, constants = code
    n, m, points = len(tree.bodies), len(rows.rows), len(rows.points)
    tied = list(range(n)) if everywhere else _on_ways(rows, tree.parents)
    whole, places = _whole_numbers(rows, tree, addresses, tied)
    directions = [(*b.axis, *(0.0,) * 3) if b.kind.turns else (*(0.0,) * 3, *b.axis) for b in tree.bodies]
    states, inputs = len(rows.system.states), len(rows.inputs)
    fixed = [3 * points, inputs + m + sides, 3 * m + rows.gradients, POSE * n, 6 * m * (places + 1), 6 * n]
    sizes = [*fixed, n * m, m * m, 1 + states, ROW * m]
    room = np.zeros(sum(sizes))
    room[: 3 * points] = rows.places.ravel()
    room[sum(sizes[:5]) : sum(sizes[:6])] = np.array(directions, dtype=float).ravel()
    begins = (room.ctypes.data + 8 * np.concatenate([[0], np.cumsum(sizes)])).tolist()
    written = np.zeros(written_size(n, m, places), dtype=np.int64)
    head = [m, points, len(rows.pushes), len(rows.pulls), program, constants.ctypes.data, whole.ctypes.data]
    among = [begins[1] + 8 * (1 + states), begins[1] + 8 * (1 + states + len(rows.system.velocities))]
    solved = begins[1] + 8 * inputs
    words = [*head, *begins[:8], solved, begins[8], len(tied), begins[9], written.ctypes.data, *among, 0, 0, sides]
    return np.array(words, dtype=np.int64), (room, whole, written)


def _whole_numbers(
    rows: ClosingRows, tree: Tree, addresses: NDArray[np.int64], tied: Sequence[int]
) -> tuple[NDArray[np.int64], int]:
    """The whole numbers that the loop reads (see ``closing_layout``), and how many places of wrenches there are."""
    n, m = len(tree.bodies), len(rows.rows)
    taken, fresh, count = _wrench_places(tree, tied)
    pushes = [(rows.bodies[p], row, p, 3 * m + 3 * i) for i, (row, p) in enumerate(rows.pushes)]
    first = 3 * m + 3 * len(rows.pushes)
    pulls = [(freedom, row, first + i) for i, (row, freedom) in enumerate(rows.pulls)]
    pushes.sort()
    pulls.sort()
    touching = [[entry[0] for entry in table] for table in (pushes, pulls)]
    entries = []
    for k in range(n):
        own = [int(k in taken), *addresses[k].tolist(), taken.get(k, 0), int(k in fresh)]
        entries += own + [side(bodies, k) for bodies in touching for side in (bisect_left, bisect_right)]
        entries.append(place_records(tree.bodies[k].kind))
    flat = [e for push in pushes for e in push[1:]] + [e for pull in pulls for e in pull[1:]]
    carriers = [_carrier(_touched(rows, tree.parents, row), tree.parents) for row in range(m)]
    whole = [*tied, *[0] * (n - len(tied)), *entries, *rows.bodies, *flat, *carriers]
    return np.array(whole, dtype=np.int64), count


def _wrench_places(tree: Tree, tied: Sequence[int]) -> tuple[dict[int, int], set[int], int]:
    """Where the wrenches of each body are kept while they are passed inward: a base takes over the place of the first body
    that is done; the bodies whose place is new; how many places there are.
    """
    taken: dict[int, int] = {}
    fresh: set[int] = set()
    unused: list[int] = []
    count = 0
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


def _touched(rows: ClosingRows, parents: Sequence[int], row: int) -> list[int]:
    """The bodies that a row touches; one that names the coordinate of a joint touches what it joins."""
    own = rows.rows[row]
    pushed = [rows.bodies[p] for p in own.by_points if rows.bodies[p] != GROUND]
    return pushed + [body for k in own.by_freedoms for body in (k, parents[k])]


def _on_ways(rows: ClosingRows, parents: Sequence[int]) -> list[int]:
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
