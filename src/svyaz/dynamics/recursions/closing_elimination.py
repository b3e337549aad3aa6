"""Constraints of a tree eliminated on its bodies: each as soon as the joints that it closes let it go.

From the leaves inward, what a body and all that it carries feels and what is left of the rows that touch them is

    f = I a + p - K λ,        r = Kᵀ a + l + L λ = 0

for an acceleration a of the body; where a point of it is touched, K is the wrench of a unit multiplier, l is ḧ with bodies
that do not accelerate, and L is zero. Crossing a joint with direction S, pull U = I S, D = Sᵀ U, q̈ = k - Uᵀ a/D + u λ/D for an
acceleration a of its base, with u = Sᵀ K + ∂h/∂q, gives

    K - U u/D,        l + Kᵀ c + u k,        L + u uᵀ/D.

A row that touches nothing but what the body carries can be solved for its multiplier, λ = -(Kᵀ a + l + …)/d with d its entry
of L: the body then feels I + K Kᵀ/d, p + K l/d, and rows that are left K - K_ρ L/d, l - L l_ρ/d, L - L Lᵀ/d. This is done
where d is no smaller than what it has to be beside the inertia that is there (else digits would be lost), so that a loop
costs what its own joints cost; what is left at the ground is solved there. (A. A. Popov, A. F. Vereshchagin, 1978; A. S.
Sathya, J. Carpentier, 2024.) The multipliers follow outward, with the accelerations.

All of a row is about the origin of the ground and in its axes.
"""

from __future__ import annotations

from svyaz.dynamics.recursions.closing_layout import (
    BODY_NUMBERS,
    DIRECTIONS,
    FOUND,
    GIVEN_ROW,
    L_ROW,
    MULTIPLIERS,
    ORDERED,
    PACKED,
    POINTS,
    POOLED,
    POSE,
    POSES,
    PULLS,
    PUSHES,
    RESPONSES,
    ROWS,
    SHARE_ROW,
    SPOTS,
    WHOLE,
    WRENCHES,
    WRITTEN,
    compliance_of,
    of_bodies,
    of_joints,
    of_lists,
    of_order,
    of_others,
    of_packed,
    of_pool,
    row_of,
)
from svyaz.dynamics.recursions.closing_points import about_ground, from_ground, product
from svyaz.dynamics.recursions.long_tree_code import (
    BODY_WORDS,
    FELT,
    GROUND_RECORD,
    HEAD,
    INWARD,
    MOTION,
    PULL,
    RECORD,
    SHARE,
    SWEPT,
    VALUE,
    K,
    before,
    gathered_of,
    motion_of,
    record_of,
)
from svyaz.integrate import call, copy, part, read, whole, whole_numbers, write

SIZE = 1 << 40
"""More than the loop writes of whole numbers: how many they are is known where they are made."""
SINGULAR = 1e-13
"""A pivot below this part of what all joints gave to its row: the rows depend on each other."""
EARLY = 1e-3
"""A row is eliminated before the ground where its pivot is no smaller a part, …"""
STIFFER = 1e4
"""… and what it adds to the inertia of the body is no larger than so many times what is there."""


@part
def _listed(n: int, t: int, place: int, row: int) -> int:
    """Where K of a row is kept in a place (-1: the ground); a row that is new there begins with zeros."""
    m, written = whole(t, ROWS), whole_numbers(whole(t, WRITTEN), SIZE)
    first, wrench = of_lists(n, m) + (place + 1) * (m + 1), whole(t, WRENCHES) + 48 * ((place + 1) * m + row)
    count = written[first]
    for i in range(count):
        if written[first + 1 + i] == row:
            return wrench
    written[first] = count + 1
    written[first + 1 + count] = row
    for j in range(6):
        write(wrench, j, 0.0)
    return wrench


@part
def _begun(n: int, t: int, column: int) -> None:
    """No row is listed, no joint crossed; l is that column of what the program found."""
    m, written = whole(t, ROWS), whole_numbers(whole(t, WRITTEN), SIZE)
    written[ORDERED] = written[POOLED] = written[PACKED] = 0
    written[of_lists(n, m)] = 0
    for row in range(m):
        own = row_of(t, row)
        write(own, L_ROW, read(whole(t, FOUND), 3 * row + column))
        write(own, GIVEN_ROW, 0.0)
        for other in range(row + 1):
            write(compliance_of(t, row, other), 0, 0.0)


@part
def _touched(n: int, t: int, entry: int, place: int) -> None:
    """Wrenches of unit multipliers on a body, and the rows that its joint enters."""
    spots, found = whole(t, SPOTS), whole(t, FOUND)
    pushes = whole(t, WHOLE) + 8 * ((1 + BODY_NUMBERS) * n + whole(t, POINTS))
    for i in range(whole(entry, 5), whole(entry, 6)):
        at = found + 8 * whole(pushes, 3 * i + 2)
        spot = spots + 72 * whole(pushes, 3 * i + 1)
        fx, fy, fz = read(at, 0), read(at, 1), read(at, 2)
        px, py, pz = read(spot, 0), read(spot, 1), read(spot, 2)
        own = _listed(n, t, place, whole(pushes, 3 * i))
        write(own, 0, read(own, 0) + py * fz - pz * fy)
        write(own, 1, read(own, 1) + pz * fx - px * fz)
        write(own, 2, read(own, 2) + px * fy - py * fx)
        write(own, 3, read(own, 3) + fx)
        write(own, 4, read(own, 4) + fy)
        write(own, 5, read(own, 5) + fz)
    pulls = pushes + 24 * whole(t, PUSHES)
    for i in range(whole(entry, 7), whole(entry, 8)):
        _listed(n, t, place, whole(pulls, 2 * i))


@part
def _taken(n: int, t: int, place: int, slot: int) -> None:
    """A row, by its slot in the list of a place, is solved for its multiplier: out of the list, and out of the others that
    feel it; rows of bodies that stand on the ground by free joints feel only those of their neighbours.
    """
    m, written = whole(t, ROWS), whole_numbers(whole(t, WRITTEN), SIZE)
    first, wrenches = of_lists(n, m) + (place + 1) * (m + 1), whole(t, WRENCHES) + 48 * (place + 1) * m
    row, count = written[first + 1 + slot], written[first] - 1
    own, pooled = row_of(t, row), written[POOLED]
    share, wrench = 1.0 / read(compliance_of(t, row, row), 0), wrenches + 48 * row
    copy(wrench, own, 6)
    write(own, SHARE_ROW, share)
    written[first + 1 + slot] = written[first + 1 + count]
    written[first] = count
    written[of_order(n) + written[ORDERED]] = row
    written[ORDERED] += 1
    feeling, pool = 0, of_pool(n, m) + pooled
    for i in range(count):
        other = written[first + 1 + i]
        factor, numbers = share * read(compliance_of(t, row, other), 0), row_of(t, other)
        if factor == 0.0:
            continue
        written[pool + feeling] = other
        feeling += 1
        write(numbers, L_ROW, read(numbers, L_ROW) - factor * read(own, L_ROW))
        for j in range(6):
            left = wrenches + 48 * other
            write(left, j, read(left, j) - factor * read(wrench, j))
        for h in range(feeling):
            third = written[pool + h]
            entry = compliance_of(t, other, third)
            write(entry, 0, read(entry, 0) - factor * read(compliance_of(t, row, third), 0))
    written[of_others(n, m) + 2 * row] = pooled
    written[of_others(n, m) + 2 * row + 1] = feeling
    written[POOLED] = pooled + feeling


@part
def _stiffened(own: int, wrench: int, share: float, bias: float) -> bool:
    """Whether a body is let feel I + share K Kᵀ and p + share K l: not where what is there would be lost beside it."""
    felt, inertia = own + 8 * FELT, own + 8 * (FELT + 6)
    turning = read(inertia, 0) + read(inertia, 6) + read(inertia, 11)
    moving = read(inertia, 15) + read(inertia, 18) + read(inertia, 20)
    torque = read(wrench, 0) ** 2 + read(wrench, 1) ** 2 + read(wrench, 2) ** 2
    force = read(wrench, 3) ** 2 + read(wrench, 4) ** 2 + read(wrench, 5) ** 2
    if not (share * torque <= STIFFER * turning and share * force <= STIFFER * moving):
        return False
    place = 0
    for i in range(6):
        left = share * read(wrench, i)
        write(felt, i, read(felt, i) + left * bias)
        for j in range(i, 6):
            write(inertia, place, read(inertia, place) + left * read(wrench, j))
            place += 1
    return True


@part
def _closed_on(n: int, c: int, t: int, k: int, place: int, spare: int) -> None:
    """The rows that touch nothing but what a body carries are eliminated on it, as far as they can be."""
    m, written = whole(t, ROWS), whole_numbers(whole(t, WRITTEN), SIZE)
    first, wrenches = of_lists(n, m) + (place + 1) * (m + 1), whole(t, WRENCHES) + 48 * (place + 1) * m
    carriers = whole(t, WHOLE) + 8 * (
        (1 + BODY_NUMBERS) * n + whole(t, POINTS) + 3 * whole(t, PUSHES) + 2 * whole(t, PULLS)
    )
    written[of_bodies(n) + 2 * k] = written[ORDERED]
    for slot in range(written[first] - 1, -1, -1):
        row = written[first + 1 + slot]
        pivot, own = read(compliance_of(t, row, row), 0), row_of(t, row)
        if k <= whole(carriers, row) and pivot > EARLY * read(own, GIVEN_ROW):
            from_ground(whole(t, POSES) + 8 * POSE * k, wrenches + 48 * row, spare)
            if _stiffened(record_of(c, k), spare, 1.0 / pivot, read(own, L_ROW)):
                _taken(n, t, place, slot)
    written[of_bodies(n) + 2 * k + 1] = written[ORDERED]


@part
def _crossed(n: int, c: int, t: int, k: int, entry: int, place: int, spare: int) -> None:
    """K, l and L of all rows that are left on a body, on the other side of its joint."""
    m, written = whole(t, ROWS), whole_numbers(whole(t, WRITTEN), SIZE)
    own, base, poses = record_of(c, k), whole(c, HEAD + BODY_WORDS * k), whole(t, POSES)
    under, first, packed = before(own), of_lists(n, m) + (place + 1) * (m + 1), written[PACKED]
    count, rows, u = written[first], of_packed(n, m) + packed, whole(t, RESPONSES) + 8 * packed
    wrenches, found = whole(t, WRENCHES) + 48 * (place + 1) * m, whole(t, FOUND)
    written[of_joints() + 2 * k] = packed
    written[of_joints() + 2 * k + 1] = written[PACKED] = packed + count
    if count == 0:
        return
    pull, swept = spare + 48, spare + 96
    about_ground(poses + 8 * POSE * k, whole(t, DIRECTIONS) + 48 * k, 0, spare)
    about_ground(poses + 8 * POSE * k, own + 8 * SWEPT, 0, swept)
    if base < 0:
        copy(under + 8 * PULL, pull, 6)
    else:
        about_ground(poses + 8 * POSE * base, under + 8 * PULL, 3, pull)
    for i in range(count):
        written[rows + i] = written[first + 1 + i]
        write(u, i, product(spare, wrenches + 48 * written[rows + i]))
    pulls = whole(t, WHOLE) + 8 * ((1 + BODY_NUMBERS) * n + whole(t, POINTS) + 3 * whole(t, PUSHES))
    for p in range(whole(entry, 7), whole(entry, 8)):
        for i in range(count):
            if written[rows + i] == whole(pulls, 2 * p):
                write(u, i, read(u, i) + read(found, whole(pulls, 2 * p + 1)))
    share, free = read(under, SHARE), read(under, K)
    for i in range(count):
        row, value = written[rows + i], read(u, i)
        wrench, numbers = wrenches + 48 * row, row_of(t, row)
        write(numbers, L_ROW, read(numbers, L_ROW) + product(swept, wrench) + value * free)
        write(numbers, GIVEN_ROW, read(numbers, GIVEN_ROW) + share * value * value)
        for j in range(6):
            write(wrench, j, read(wrench, j) - read(pull, j) * value)
        for h in range(i + 1):
            at = compliance_of(t, row, written[rows + h])
            write(at, 0, read(at, 0) + share * value * read(u, h))


@part
def _handed_on(n: int, c: int, t: int, k: int, place: int) -> None:
    """The rows that are left are those of the base."""
    base, m, written = whole(c, HEAD + BODY_WORDS * k), whole(t, ROWS), whole_numbers(whole(t, WRITTEN), SIZE)
    first, wrenches = of_lists(n, m) + (place + 1) * (m + 1), whole(t, WRENCHES) + 48 * (place + 1) * m
    below = -1 if base < 0 else whole(whole(t, WHOLE), n + BODY_NUMBERS * base + 3)
    if below == place:
        return
    for i in range(written[first]):
        row = written[first + 1 + i]
        wrench, target = wrenches + 48 * row, _listed(n, t, below, row)
        for j in range(6):
            write(target, j, read(target, j) + read(wrench, j))


@part
def _closed_on_ground(n: int, c: int, t: int) -> int:
    """The rows that are left at the ground, whose acceleration is known; 1 where they depend on each other."""
    m, written = whole(t, ROWS), whole_numbers(whole(t, WRITTEN), SIZE)
    first, motion = of_lists(n, m), whole(c, GROUND_RECORD) + 8 * MOTION
    for i in range(written[first]):
        own, wrench = row_of(t, written[first + 1 + i]), whole(t, WRENCHES) + 48 * written[first + 1 + i]
        write(own, L_ROW, read(own, L_ROW) + product(wrench, motion))
        for j in range(6):
            write(wrench, j, 0.0)
    written[of_bodies(n) + 2 * n] = written[ORDERED]
    for slot in range(written[first] - 1, -1, -1):
        row = written[first + 1 + slot]
        if not read(compliance_of(t, row, row), 0) > SINGULAR * read(row_of(t, row), GIVEN_ROW):
            return 1
        _taken(n, t, -1, slot)
    written[of_bodies(n) + 2 * n + 1] = written[ORDERED]
    return 0


@part
def closed_inward(n: int, c: int, t: int, spare: int, column: int) -> int:
    """Articulated bodies with their rows, whose l is that column (h, rate, wanted) of what the program found."""
    status, table, m = 0, whole(t, WHOLE), whole(t, ROWS)
    written = whole_numbers(whole(t, WRITTEN), SIZE)
    _begun(n, t, column)
    for k in range(n - 1, -1, -1):
        words, entry = c + 8 * (HEAD + BODY_WORDS * k), table + 8 * (n + BODY_NUMBERS * k)
        gathered_of(c, words)
        own, place, tied = whole(words, RECORD), whole(entry, 3), whole(entry, 0) != 0
        if tied:
            if whole(entry, 4) != 0:
                written[of_lists(n, m) + (place + 1) * (m + 1)] = 0
            _touched(n, t, entry, place)
            _closed_on(n, c, t, k, place, spare)
        status |= call(whole(words, INWARD), before(own), whole(words, INWARD + 1), before(own) + 8 * FELT)
        if tied:
            _crossed(n, c, t, k, entry, place, spare)
            _handed_on(n, c, t, k, place)
    return status | _closed_on_ground(n, c, t)


@part
def _found(n: int, t: int, body: int, motion: int) -> None:
    """The multipliers of the rows that were eliminated on a body, from its motion (n: those at the ground)."""
    m, written, solution = whole(t, ROWS), whole_numbers(whole(t, WRITTEN), SIZE), whole(t, MULTIPLIERS)
    begin, end = written[of_bodies(n) + 2 * body], written[of_bodies(n) + 2 * body + 1]
    for i in range(end - 1, begin - 1, -1):
        row = written[of_order(n) + i]
        own = row_of(t, row)
        total, pooled = read(own, L_ROW), of_pool(n, m) + written[of_others(n, m) + 2 * row]
        if body < n:
            total += product(own, motion)
        for h in range(written[of_others(n, m) + 2 * row + 1]):
            other = written[pooled + h]
            total += read(compliance_of(t, row, other), 0) * read(solution, other)
        write(solution, row, -total * read(own, SHARE_ROW))


@part
def closed_motions(n: int, c: int, t: int, spare: int, target: int) -> int:
    """Multipliers and accelerations, from the ground outward; the latter are added to the target."""
    status, table, solution = 0, whole(t, WHOLE), whole(t, MULTIPLIERS)
    m, written = whole(t, ROWS), whole_numbers(whole(t, WRITTEN), SIZE)
    _found(n, t, n, spare)
    for k in range(n):
        words, own = c + 8 * (HEAD + BODY_WORDS * k), record_of(c, k)
        tied, under = whole(table, n + BODY_NUMBERS * k) != 0, before(own)
        if tied:
            total = 0.0
            for i in range(written[of_joints() + 2 * k], written[of_joints() + 2 * k + 1]):
                total += read(solution, written[of_packed(n, m) + i]) * read(whole(t, RESPONSES), i)
            write(under, K, read(under, K) + read(under, SHARE) * total)
        status |= motion_of(words)
        write(target, k, read(target, k) + read(own, VALUE))
        if tied and written[of_bodies(n) + 2 * k] != written[of_bodies(n) + 2 * k + 1]:
            about_ground(whole(t, POSES) + 8 * POSE * k, own + 8 * MOTION, 0, spare)
            _found(n, t, k, spare)
    return status
