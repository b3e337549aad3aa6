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

from svyaz.arrays import Array
from svyaz.dynamics.recursions.closure_points import move_to_body, move_to_ground, product, triple
from svyaz.dynamics.recursions.tree_loop import gather_forces, go_inward, move_body
from svyaz.dynamics.recursions.tree_records import (
    BodyClosure,
    BodyState,
    Closure,
    TreeModel,
    body_closure_of,
    body_of,
    closure_of,
    gradient_at,
    row_of,
    state_of,
)
from svyaz.integrate import matrix, numbers, part, piece, read, whole_matrix, whole_numbers, write

SINGULAR = 1e-13
"""A pivot below this part of what all joints gave to its row: the rows depend on each other."""
EARLY = 1e-3
"""A row is eliminated before the ground where its pivot is no smaller a part, …"""
STIFFER = 1e4
"""… and what it adds to the inertia of the body is no larger than so many times what is there."""


@piece
def _entry(closure: Closure, one: int, other: int) -> int:
    """Where the entry of L of two rows is."""
    return max(one, other) * closure.rows + min(one, other)


@piece
def _compliance(closure: Closure, one: int, other: int) -> float:
    """The entry of L of two rows."""
    return read(closure.compliance, _entry(closure, one, other))


@piece
def _add_compliance(closure: Closure, one: int, other: int, value: float) -> None:
    """Added to the entry of L of two rows."""
    write(closure.compliance, _entry(closure, one, other), _compliance(closure, one, other) + value)


@piece
def _wrench(closure: Closure, slot: int, row: int) -> int:
    """Address of K of a row in a slot (0: the ground)."""
    return closure.wrenches + 48 * (slot * closure.rows + row)


@part
def _list_row(closure: Closure, slot: int, row: int) -> int:
    """Address of K of a row in a slot; a row that is new there begins with zeros."""
    listed, lists = (
        whole_numbers(closure.listed, closure.slots),
        whole_matrix(closure.lists, closure.slots, closure.rows),
    )
    count, wrench = listed[slot], _wrench(closure, slot, row)
    for i in range(count):
        if lists[slot, i] == row:
            return wrench
    listed[slot] = count + 1
    lists[slot, count] = row
    for j in range(6):
        write(wrench, j, 0.0)
    return wrench


@part
def _begin(closure: Closure, column: int) -> None:
    """No row is listed, no joint crossed; l is that column of what the program found."""
    closure.ordered = closure.pooled = closure.packed = 0
    whole_numbers(closure.listed, closure.slots)[0] = 0
    for row in range(closure.rows):
        own = row_of(closure, row)
        own.needed = read(closure.outputs, 3 * row + column)
        own.given = 0.0
        for other in range(row + 1):
            write(closure.compliance, _entry(closure, row, other), 0.0)


@part
def _touch(closure: Closure, entry: BodyClosure) -> None:
    """Wrenches of unit multipliers on a body, and the rows that its joint enters."""
    spots = matrix(closure.spots, closure.points, 9)
    for i in range(entry.first_push, entry.end_push):
        gradient = gradient_at(closure.gradients, entry.end_push, i)
        force, spot = numbers(closure.outputs + 8 * gradient.output, 3), spots[gradient.point]
        fx, fy, fz = triple(force)
        px, py, pz = triple(spot)
        wrench = numbers(_list_row(closure, entry.slot, gradient.row), 6)
        wrench[0] += py * fz - pz * fy
        wrench[1] += pz * fx - px * fz
        wrench[2] += px * fy - py * fx
        for j in range(3):
            wrench[3 + j] += force[j]
    for i in range(entry.first_pull, entry.end_pull):
        _list_row(closure, entry.slot, gradient_at(closure.gradients, entry.end_pull, i).row)


@part
def _eliminate(closure: Closure, slot: int, which: int) -> None:
    """A row, by its place in the list of a slot, is solved for its multiplier: out of the list, and out of the others that
    feel it; rows of bodies that stand on the ground by free joints feel only those of their neighbours.
    """
    m = closure.rows
    listed, lists = whole_numbers(closure.listed, closure.slots), whole_matrix(closure.lists, closure.slots, m)
    neighbours = whole_numbers(closure.neighbours, m * m)
    row, count = lists[slot, which], listed[slot] - 1
    own, wrench, first = row_of(closure, row), numbers(_wrench(closure, slot, row), 6), closure.pooled
    share = 1.0 / _compliance(closure, row, row)
    for j in range(6):
        own.wrench[j] = wrench[j]
    own.share = share
    lists[slot, which] = lists[slot, count]
    listed[slot] = count
    whole_numbers(closure.order, m)[closure.ordered] = row
    closure.ordered += 1
    feeling = 0
    for i in range(count):
        other = lists[slot, i]
        factor = share * _compliance(closure, row, other)
        if factor == 0.0:
            continue
        neighbours[first + feeling] = other
        feeling += 1
        row_of(closure, other).needed -= factor * own.needed
        left = numbers(_wrench(closure, slot, other), 6)
        for j in range(6):
            left[j] -= factor * wrench[j]
        for h in range(feeling):
            third = neighbours[first + h]
            _add_compliance(closure, other, third, -factor * _compliance(closure, row, third))
    own.first_neighbour = first
    own.neighbours = feeling
    closure.pooled = first + feeling


@part
def _stiffen(own: BodyState, wrench: Array, share: float, bias: float) -> bool:
    """Whether a body is let feel I + share K Kᵀ and p + share K l: not where what is there would be lost beside it."""
    inertia = own.felt_inertia
    turning, moving = inertia[0] + inertia[6] + inertia[11], inertia[15] + inertia[18] + inertia[20]
    torque = wrench[0] ** 2 + wrench[1] ** 2 + wrench[2] ** 2
    force = wrench[3] ** 2 + wrench[4] ** 2 + wrench[5] ** 2
    if not (share * torque <= STIFFER * turning and share * force <= STIFFER * moving):
        return False
    entry = 0
    for i in range(6):
        left = share * wrench[i]
        own.felt_bias[i] += left * bias
        for j in range(i, 6):
            inertia[entry] += left * wrench[j]
            entry += 1
    return True


@part
def _close_on_body(tree: TreeModel, k: int) -> None:
    """The rows that touch nothing but what a body carries are eliminated on it, as far as they can be."""
    closure, entry, wrench = closure_of(tree), body_closure_of(tree, k), tree.direction
    lists = whole_matrix(closure.lists, closure.slots, closure.rows)
    entry.first_row = closure.ordered
    for which in range(whole_numbers(closure.listed, closure.slots)[entry.slot] - 1, -1, -1):
        row = lists[entry.slot, which]
        pivot, own = _compliance(closure, row, row), row_of(closure, row)
        if k <= own.carrier and pivot > EARLY * own.given:
            move_to_body(entry, numbers(_wrench(closure, entry.slot, row), 6), wrench)
            if _stiffen(state_of(tree, body_of(tree, k).state), wrench, 1.0 / pivot, own.needed):
                _eliminate(closure, entry.slot, which)
    entry.end_row = closure.ordered


@part
def _cross_joint(tree: TreeModel, k: int) -> None:
    """K, l and L of all rows that are left on a body, on the other side of its joint."""
    closure, entry, body = closure_of(tree), body_closure_of(tree, k), body_of(tree, k)
    first, m = closure.packed, closure.rows
    count, u = whole_numbers(closure.listed, closure.slots)[entry.slot], closure.responses + 8 * first
    entry.first_crossing = first
    entry.end_crossing = closure.packed = first + count
    if count == 0:
        return
    under = state_of(tree, body.state - 1)
    direction, pull, motion = tree.direction, tree.pull, tree.motion
    move_to_ground(entry, entry.direction, 0, direction)
    move_to_ground(entry, state_of(tree, body.state).swept, 0, motion)
    if body.base < 0:
        for j in range(6):
            pull[j] = under.pull[j]
    else:
        move_to_ground(body_closure_of(tree, body.base), under.pull, 3, pull)
    rows, listed = whole_numbers(closure.crossing + 8 * first, count), whole_matrix(closure.lists, closure.slots, m)
    for i in range(count):
        rows[i] = listed[entry.slot, i]
        write(u, i, product(direction, numbers(_wrench(closure, entry.slot, rows[i]), 6)))
    for p in range(entry.first_pull, entry.end_pull):
        gradient = gradient_at(closure.gradients, entry.end_pull, p)
        for i in range(count):
            if rows[i] == gradient.row:
                write(u, i, read(u, i) + read(closure.outputs, gradient.output))
    for i in range(count):
        value, wrench, own = read(u, i), numbers(_wrench(closure, entry.slot, rows[i]), 6), row_of(closure, rows[i])
        own.needed += product(motion, wrench) + value * under.free
        own.given += under.share * value * value
        for j in range(6):
            wrench[j] -= pull[j] * value
        for h in range(i + 1):
            _add_compliance(closure, rows[i], rows[h], under.share * value * read(u, h))


@part
def _hand_on(tree: TreeModel, k: int) -> None:
    """The rows that are left are those of the base."""
    closure, base, own = closure_of(tree), body_of(tree, k).base, body_closure_of(tree, k).slot
    slot = 0 if base < 0 else body_closure_of(tree, base).slot
    if slot == own:
        return
    lists = whole_matrix(closure.lists, closure.slots, closure.rows)
    for i in range(whole_numbers(closure.listed, closure.slots)[own]):
        row = lists[own, i]
        wrench, target = numbers(_wrench(closure, own, row), 6), numbers(_list_row(closure, slot, row), 6)
        for j in range(6):
            target[j] += wrench[j]


@part
def _close_on_ground(tree: TreeModel) -> int:
    """The rows that are left at the ground, whose acceleration is known; 1 where they depend on each other."""
    closure, ground, entry = closure_of(tree), state_of(tree, 0), body_closure_of(tree, tree.count)
    lists = whole_matrix(closure.lists, closure.slots, closure.rows)
    count = whole_numbers(closure.listed, closure.slots)[0]
    for i in range(count):
        row = lists[0, i]
        wrench = numbers(_wrench(closure, 0, row), 6)
        row_of(closure, row).needed += product(wrench, ground.motion)
        for j in range(6):
            wrench[j] = 0.0
    entry.first_row = closure.ordered
    for which in range(count - 1, -1, -1):
        row = lists[0, which]
        if not _compliance(closure, row, row) > SINGULAR * row_of(closure, row).given:
            return 1
        _eliminate(closure, 0, which)
    entry.end_row = closure.ordered
    return 0


@part
def close_inward(tree: TreeModel, column: int) -> int:
    """Articulated bodies with their rows, whose l is that column (h, rate, wanted) of what the program found."""
    status, closure = 0, closure_of(tree)
    listed = whole_numbers(closure.listed, closure.slots)
    _begin(closure, column)
    for k in range(tree.count - 1, -1, -1):
        body, entry = body_of(tree, k), body_closure_of(tree, k)
        gather_forces(tree, body)
        if entry.tied != 0:
            if entry.fresh != 0:
                listed[entry.slot] = 0
            _touch(closure, entry)
            _close_on_body(tree, k)
        status |= go_inward(tree, body)
        if entry.tied != 0:
            _cross_joint(tree, k)
            _hand_on(tree, k)
    return status | _close_on_ground(tree)


@part
def _solve_rows(closure: Closure, entry: BodyClosure, motion: Array) -> None:
    """The multipliers of the rows that were eliminated on a body, from its motion."""
    neighbours, order = whole_numbers(closure.neighbours, closure.pooled), whole_numbers(closure.order, closure.rows)
    multipliers = numbers(closure.multipliers, closure.rows)
    for i in range(entry.end_row - 1, entry.first_row - 1, -1):
        row = order[i]
        own = row_of(closure, row)
        total = own.needed + product(own.wrench, motion)
        for h in range(own.first_neighbour, own.first_neighbour + own.neighbours):
            other = neighbours[h]
            total += _compliance(closure, row, other) * multipliers[other]
        multipliers[row] = -total * own.share


@part
def close_outward(tree: TreeModel, target: int) -> int:
    """Multipliers and accelerations, from the ground outward; the latter are added to the target."""
    status, closure, motion = 0, closure_of(tree), tree.motion
    multipliers = numbers(closure.multipliers, closure.rows)
    crossing = whole_numbers(closure.crossing, closure.packed)
    _solve_rows(closure, body_closure_of(tree, tree.count), state_of(tree, 0).motion)
    for k in range(tree.count):
        body, entry = body_of(tree, k), body_closure_of(tree, k)
        own, under = state_of(tree, body.state), state_of(tree, body.state - 1)
        if entry.tied != 0:
            total = 0.0
            for i in range(entry.first_crossing, entry.end_crossing):
                total += multipliers[crossing[i]] * read(closure.responses, i)
            under.free += under.share * total
        status |= move_body(tree, body)
        write(target, k, read(target, k) + own.value)
        if entry.tied != 0 and entry.first_row != entry.end_row:
            move_to_ground(entry, own.motion, 0, motion)
            _solve_rows(closure, entry, motion)
    return status
