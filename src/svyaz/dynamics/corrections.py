"""The nearest state on the constraints, measured by the mass matrix.

    minimise ½ (z - z₀)ᵀ M (z - z₀)   subject to   r(z) = 0,     z the coordinates, then the velocities.

First r = 0 is reached by Newton's method with the least correction in the norm of M and a line search on the scaled
residual; then the point slides along r = 0 to the nearest one (sequential quadratic programming with M for the
Hessian). M may be singular: M + GᵀG gives the same correction, since G δ is prescribed, and is positive definite
whenever the augmented matrix is regular.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.dynamics.measure import Measure, Snapshot
from svyaz.dynamics.scales import ZERO_RELATIVE, least_correction
from svyaz.model import Tree, tree_of

ITERATIONS = 60
AIM = 1e-15
"""Newton's method goes on until the residual is below this part of the scale, or does not fall any more."""


@dataclass(frozen=True)
class Rows:
    """Residuals r (m,), their Jacobian (m, n) and their scales (m,) at one point z."""

    residual: Array
    jacobian: Array
    scale: Array

    @property
    def relative(self) -> Array:
        """|r| / scale, zero for 0 / 0."""
        size = np.abs(self.residual)
        return np.where(size > 0.0, size / np.where(self.scale > 0.0, self.scale, np.maximum(size, 1e-300)), 0.0)

    @property
    def met(self) -> bool:
        """Is every residual zero, as far as its scale tells?"""
        return bool(self.relative.max(initial=0.0) <= ZERO_RELATIVE)


@dataclass(frozen=True)
class Approach:
    """Where the search ended: the point, its rows, whether r = 0 was met, and how many steps it took."""

    z: Array
    rows: Rows
    met: bool
    iterations: int


Evaluate = Callable[[Array], Rows | None]
"""Rows at a point; None where the constraints are not defined."""

Least = Callable[[Array, Array], Array]
"""From G and what is wanted to the least δ with G δ = wanted."""


def velocity_rows(measure: Measure, state: Array, time: float) -> Evaluate:
    """ḣ and f as functions of the velocities."""

    def at(v: Array) -> Rows | None:
        s = measure.at(measure.moved(state, v=v), time)
        return Rows(s.velocity, s.jacobian, s.velocity_scale) if s.finite else None

    return at


def displacement_rows(measure: Measure, state: Array, time: float, directions: Array) -> Evaluate:
    """h as a function of a displacement N δ along the velocities of a form, q̇ = N v + n, that all constraints allow."""

    def at(displacement: Array) -> Rows | None:
        s = measure.at(measure.displaced(state, directions @ displacement), time)
        return Rows(s.position, s.jacobian, s.position_scale) if s.finite else None

    return at


def reach(evaluate: Evaluate, least: Least, start: Array, iterations: int = ITERATIONS, aim: float = AIM) -> Approach:
    """A zero of the residuals by Newton's method with a line search; the best point when there is none.

    ``aim`` is the part of their scales below which residuals are left as they are.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return _newton(evaluate, least, start, iterations, aim)


def _newton(evaluate: Evaluate, least: Least, start: Array, iterations: int, aim: float) -> Approach:
    z, rows = start, evaluate(start)
    if rows is None:
        raise FloatingPointError("the constraints are not defined at the given state")
    for k in range(iterations):
        if rows.relative.max(initial=0.0) <= aim:
            return Approach(z, rows, True, k)
        step = least(rows.jacobian, -rows.residual)
        found = _line_search(evaluate, z, rows, step)
        if found is None:
            return Approach(z, rows, rows.met, k)
        z, rows = found
    return Approach(z, rows, rows.met, iterations)


def _line_search(evaluate: Evaluate, z: Array, rows: Rows, step: Array) -> tuple[Array, Rows] | None:
    """The first of the points z + s step, s = 1, ½, ¼ …, at which the scaled residual is smaller.

    The scale of a row is never below the sum of what the step adds to its terms: at rest the terms themselves are zero, and
    rounding would count as a violation.
    """
    scale = np.maximum(rows.scale, np.abs(rows.jacobian) @ np.abs(step))
    scale = np.where(scale > 0.0, scale, np.maximum(np.abs(rows.residual), 1e-300))
    before = float(np.linalg.norm(rows.residual / scale))
    length = 1.0
    for _ in range(2 if rows.met else 24):  # what is met to rounding falls by a whole step or not at all
        trial = z + length * step
        at = evaluate(trial) if np.isfinite(trial).all() else None
        if at is not None:
            after = float(np.linalg.norm(at.residual / scale))
            if after <= (1.0 - 1e-4 * length) * before:
                return trial, at
        length *= 0.5
    return None


def nearest(evaluate: Evaluate, mass: Array, start: Array) -> Approach:
    """The zero of the residuals that is nearest to the start in the norm of M (a local minimum)."""
    here = reach(evaluate, partial(least_correction, mass), start)
    if not here.met:
        return here
    count = here.iterations
    for _ in range(ITERATIONS):
        moved = here.z - start
        wanted = here.rows.jacobian @ moved - here.rows.residual
        change = least_correction(mass, here.rows.jacobian, wanted) - moved
        size = _length(mass, moved)
        if _length(mass, change) <= max(1e-14 * size, 2.0 * np.finfo(float).eps * _length(mass, here.z)) or size == 0.0:
            break
        slid = _slide(evaluate, mass, start, here, change)
        count += 1
        if slid is None:
            break
        here = slid
    return Approach(here.z, here.rows, here.met, count)


def _slide(evaluate: Evaluate, mass: Array, start: Array, here: Approach, change: Array) -> Approach | None:
    """Go some way along the change and back onto the constraints, if that is nearer to the start."""
    before = _length(mass, here.z - start)
    part = 1.0
    for _ in range(8):
        trial = here.z + part * change
        if evaluate(trial) is not None:
            back = reach(evaluate, partial(least_correction, mass), trial, 20)
            if back.met and _length(mass, back.z - start) <= before * (1.0 + 1e-15):
                return back
        part *= 0.5
    return None


def _length(mass: Array, d: Array) -> float:
    return float(np.sqrt(max(float(d @ mass @ d), 0.0)))


@dataclass(frozen=True)
class Positions:
    """What may be moved so that h = 0 at a state: the values z ``start`` at the ``places`` of the state, measured by ``mass``.

    They are the coordinates that the velocities belong to. Velocities of free joints belong to none: all coordinates are
    moved, and beside h the lengths of the quaternions, |e|² - 1, are to vanish.
    """

    measure: Measure
    state: Array
    time: float
    places: list[int]
    mass: Array

    @property
    def start(self) -> Array:
        return self.state[self.places]

    def put(self, z: Array) -> Array:
        """The state with these values."""
        new = self.state.copy()
        new[self.places] = z
        return new

    def rows(self, z: Array) -> Rows | None:
        """h with its slopes, and the lengths of quaternions behind it."""
        s = self.measure.at(self.put(z), self.time)
        if not s.finite:
            return None
        h, tree = s.holonomic, _free_tree(self.measure)
        if tree is None:
            return Rows(s.position[h], s.jacobian[h], s.position_scale[h])
        from svyaz.forms import by_coordinates, quaternions_of

        units = quaternions_of(tree)
        lengths, slopes = np.zeros(len(units)), np.zeros((len(units), len(z)))
        for k, (scalar, others) in enumerate(units.items()):
            own = [scalar, *others]
            lengths[k], slopes[k, own] = z[own] @ z[own] - 1.0, 2.0 * z[own]
        return Rows(
            np.concatenate([s.position[h], lengths]),
            np.vstack([by_coordinates(tree, s.jacobian[h], z), slopes]),
            np.concatenate([s.position_scale[h], np.ones(len(units))]),
        )

    def reach(self, start: Array, iterations: int = ITERATIONS) -> Approach:
        """Values with h = 0 near others."""
        return reach(self.rows, partial(least_correction, self.mass), start, iterations)

    def nearest(self, keep: Collection[int] = ()) -> Approach:
        """The nearest values; those at the places ``keep`` of the state stay as they are."""
        return _nearest_with(self.rows, self.mass, self.start, self.free(keep))

    def free(self, keep: Collection[int]) -> NDArray[np.bool_]:
        """Which of them may be moved."""
        return np.array([place not in keep for place in self.places], dtype=bool)


def positions_at(measure: Measure, snapshot: Snapshot, state: Array | None = None) -> Positions:
    """What may be moved at the state of a snapshot, or at another one near to it, measured by the inertia of the snapshot."""
    tree, state = _free_tree(measure), snapshot.state if state is None else state
    if tree is None:
        return Positions(measure, state, snapshot.time, list(measure.coordinates), snapshot.mass)
    from svyaz.forms import by_coordinates

    places = [measure.equations.states.index(q) for q in tree.coordinates]
    half = by_coordinates(tree, snapshot.mass, snapshot.state[places])
    return Positions(measure, state, snapshot.time, places, by_coordinates(tree, half.T, snapshot.state[places]))


def _free_tree(measure: Measure) -> Tree | None:
    """The tree of bodies some of whose joints are free; None for other systems."""
    system = measure.equations.system
    return tree_of(system) if measure.equations.quasi and system.bodies else None


def on_velocities(
    measure: Measure, state: Array, time: float, snapshot: Snapshot, keep: Collection[int] = ()
) -> Approach:
    """The nearest velocities with ḣ = 0 and f = 0 at the coordinates of the state, likewise."""
    free = np.array([place not in keep for place in measure.speeds], dtype=bool)
    return _nearest_with(velocity_rows(measure, state, time), snapshot.mass, snapshot.v, free)


def _nearest_with(evaluate: Evaluate, mass: Array, start: Array, free: NDArray[np.bool_]) -> Approach:
    """The nearest zero that differs from the start in free entries alone; columns of the others are zero in its rows."""

    def whole(part: Array) -> Array:
        z = start.copy()
        z[free] = part
        return z

    def of_free(part: Array) -> Rows | None:
        rows = evaluate(whole(part))
        return None if rows is None else replace(rows, jacobian=rows.jacobian[:, free])

    if free.all():
        return nearest(evaluate, mass, start)
    if not free.any():
        rows = evaluate(start)
        assert rows is not None, "the constraints are defined at the start"
        return Approach(start, replace(rows, jacobian=np.zeros_like(rows.jacobian)), rows.met, 0)
    ended = nearest(of_free, mass[np.ix_(free, free)], start[free])
    jacobian = np.zeros((len(ended.rows.residual), len(start)))
    jacobian[:, free] = ended.rows.jacobian
    return Approach(whole(ended.z), replace(ended.rows, jacobian=jacobian), ended.met, ended.iterations)
