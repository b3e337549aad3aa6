"""Orders of elimination for large sparse systems: little fill, pivots that were good at a sample state.

A symmetric matrix with a positive definite part, [M Gᵀ; G 0] above all, is eliminated along its diagonal: an unknown whose
diagonal entry is zero for ever (a multiplier) waits until all its neighbours are gone. Then every leading block is
regular wherever M is definite and the rows of G are independent, whatever the state (R. J. Vanderbei, Symmetric
quasidefinite matrices, 1995). Among those that need not wait the one with the fewest neighbours comes first (minimum degree).
Where that is not good, pivots are chosen by number and size (H. M. Markowitz, 1957), row by row of the shortest ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import heapify, heappop, heappush

Order = tuple[tuple[int, ...], tuple[int, ...]]
Entries = Mapping[tuple[int, int], float]

GOOD = 1e-6
"""A pivot must be left with this part of what it is the sum of, at the sample state."""
THRESHOLD = 0.1
"""A pivot must be at least this part of the largest entry of its row, in a matrix scaled by columns."""
SEARCHED = 4
"""So many of the shortest rows are searched for a pivot."""


def sparse_order(size: int, entries: Entries, *, symmetric: bool) -> tuple[Order, int] | None:
    """An order for a matrix with these entries, and how many products it takes; None where no pivots are good."""
    if symmetric:
        chosen = minimum_degree(size, entries)
        count = _products(size, entries, chosen) if chosen is not None else None
        if chosen is not None and count is not None:
            return (tuple(chosen), tuple(chosen)), count
    return _markowitz(size, entries)


def minimum_degree(size: int, entries: Iterable[tuple[int, int]]) -> list[int] | None:
    """A diagonal order; None where an unknown never gets a diagonal entry."""
    near: list[set[int]] = [set() for _ in range(size)]
    heavy = [False] * size
    for i, j in entries:
        if i == j:
            heavy[i] = True
        else:
            near[i].add(j)
            near[j].add(i)
    waits = [0 if heavy[k] else len(near[k]) for k in range(size)]
    watched: list[list[int]] = [[k for k in near[p] if not heavy[k]] for p in range(size)]
    queue = [(len(near[k]), k) for k in range(size) if heavy[k]]
    heapify(queue)
    chosen: list[int] = []
    gone = [False] * size
    while queue:
        degree, p = heappop(queue)
        if gone[p] or degree != len(near[p]):
            continue
        gone[p] = True
        chosen.append(p)
        around = near[p]
        for k in around:
            near[k] |= around
            near[k] -= {k, p}
        for k in watched[p]:
            waits[k] -= 1
        for k in around:
            if not gone[k] and waits[k] == 0:
                heappush(queue, (len(near[k]), k))
    return chosen if len(chosen) == size else None


def _products(size: int, entries: Entries, order: list[int]) -> int | None:
    """Products of the elimination along the diagonal; None where a pivot is not good."""
    step = {k: place for place, k in enumerate(order)}
    upper: list[dict[int, float]] = [{} for _ in range(size)]
    for (i, j), value in entries.items():
        if step[i] <= step[j]:
            upper[step[i]][step[j]] = value
    sizes = [abs(upper[k].get(k, 0.0)) for k in range(size)]
    count = 0
    for k in range(size):
        row = upper[k]
        pivot = row.pop(k, 0.0)
        if not abs(pivot) > GOOD * sizes[k]:
            return None
        later = sorted(row)
        for place, i in enumerate(later):
            factor = row[i] / pivot
            target = upper[i]
            for j in later[place:]:
                target[j] = target.get(j, 0.0) - factor * row[j]
            sizes[i] += abs(factor * row[i])
        count += len(later) * (len(later) + 3) // 2
    return count


def _markowitz(size: int, entries: Entries) -> tuple[Order, int] | None:
    """Rows and columns by few entries and by size."""
    largest: dict[int, float] = {}
    for (_, j), value in entries.items():
        largest[j] = max(largest.get(j, 0.0), abs(value))
    rows: list[dict[int, float]] = [{} for _ in range(size)]
    columns: list[set[int]] = [set() for _ in range(size)]
    for (i, j), value in entries.items():
        rows[i][j] = value / largest[j] if largest[j] > 0.0 else value
        columns[j].add(i)
    queue = [(len(rows[i]), i) for i in range(size)]
    heapify(queue)
    left = [True] * size
    chosen: tuple[list[int], list[int]] = ([], [])
    count = 0
    for _ in range(size):
        found = _pivot(queue, rows, columns, left)
        if found is None:
            return None
        i, j = found
        left[i] = False
        row = rows[i]
        pivot = row[j]
        below = columns[j] - {i}
        for column in row:
            columns[column].discard(i)
        for k in below:
            target = rows[k]
            factor = target.pop(j) / pivot
            for column, value in row.items():
                if column != j:
                    target[column] = target.get(column, 0.0) - factor * value
                    columns[column].add(k)
            heappush(queue, (len(target), k))
        columns[j].clear()
        count += len(below) * len(row)
        chosen[0].append(i)
        chosen[1].append(j)
    return (tuple(chosen[0]), tuple(chosen[1])), count


def _pivot(
    queue: list[tuple[int, int]], rows: list[dict[int, float]], columns: list[set[int]], left: list[bool]
) -> tuple[int, int] | None:
    """The cheapest pivot that is large enough, among those of the shortest rows."""
    best: tuple[float, float, int, int] | None = None
    seen: list[tuple[int, int]] = []
    while queue and len(seen) < SEARCHED:
        length, i = heappop(queue)
        if not left[i] or length != len(rows[i]) or (length, i) in seen:
            continue
        seen.append((length, i))
        row = rows[i]
        most = max(map(abs, row.values()), default=0.0)
        if most <= 1e-9:
            break
        for j, value in row.items():
            if abs(value) >= THRESHOLD * most:
                price = (length - 1) * (len(columns[j]) - 1)
                best = min(best or (price, -abs(value), i, j), (price, -abs(value), i, j))
    for pair in seen:
        heappush(queue, pair)
    return None if best is None else best[2:]
