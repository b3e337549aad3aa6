"""The surface of the constraints on which a system with constrained velocities moves.

Coordinates that no equation needs are left out (see ``ignorable``); what remains is the state x = (r, u, w) of the other
coordinates r, all velocities u (those of a plane in axes that turn with the heading) and further states, on the surface

    F(r) = 0,    f(r, u) = 0,    Ḟ(r, u) = 0,

which the motion does not leave.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.linalg import qr

from svyaz.arrays import Array
from svyaz.expr import ModelError
from svyaz.matrices import lstsq, singular_values, svd
from svyaz.model import System
from svyaz.stability.headings import Ignorable
from svyaz.stability.ignorable import ignorable
from svyaz.stability.moving import InMotion, MovingSystem, moving

INDEPENDENT = 1e-6
"""A column whose part across those taken before is below this is not taken as that of a dependent variable."""

STEP, CLOSE = 1e-3, 1e-9
NEWTON_STEPS = 30


class ConstraintSurface:
    """The rates of x and the equations of the surface in numbers, for a system at given values of inputs and parameters.

    ``ignored`` are the coordinates that no equation needs, unless others are given.
    """

    def __init__(self, system: System, values: Mapping[str, float], ignored: Ignorable | None = None) -> None:
        self.system = system
        self.moving: MovingSystem = moving(system).with_values(values)
        self.ignorable = ignorable(self.moving) if ignored is None else ignored
        self.n = len(system.coordinates)
        place = {q: k for k, q in enumerate(system.coordinates)}
        self.left = [k for q, k in place.items() if q not in self.ignorable.names]
        self.headings = [
            (place[h.name], place[h.plane[0]], place[h.plane[1]], h.drift) for h in self.ignorable.headings if h.plane
        ]
        coordinates = [system.coordinates[k] for k in self.left]
        self.names = (*coordinates, *(f"{q}'" for q in system.coordinates), *system.rates)
        self.columns = [*self.left, *range(self.n, 2 * self.n + len(system.rates))]

    def vector(self, state: Mapping[str, float]) -> Array:
        """x of a state; what is left out is zero."""
        return np.array([float(state.get(name, 0.0)) for name in self.names])

    def at(self, x: Array) -> InMotion:
        """Everything with the ignorable coordinates at zero."""
        q, k = np.zeros(self.n), len(self.left)
        q[self.left] = x[:k]
        return self.moving.at(q, x[k : k + self.n], x[k + self.n :])

    def rates(self, x: Array, here: InMotion) -> Array:
        """ẋ, in axes that turn with the headings."""
        k = len(self.left)
        v = x[k : k + self.n]
        turned = here.accelerations.copy()
        for psi, a, b, (da, db) in self.headings:
            turned[a] += v[psi] * (v[b] + db)
            turned[b] -= v[psi] * (v[a] + da)
        return np.concatenate([v[self.left], turned, here.rates])

    def slopes(self, x: Array, here: InMotion) -> tuple[Array, Array]:
        """∂ẋ/∂x and ∂ẋ/∂u."""
        k, n = len(self.left), self.n
        v, by = x[k : k + n], here.slopes[:, self.columns]
        for psi, a, b, (da, db) in self.headings:
            by[a, k + psi] += v[b] + db
            by[a, k + b] += v[psi]
            by[b, k + psi] -= v[a] + da
            by[b, k + a] -= v[psi]
        above = np.zeros((k, by.shape[1]))
        above[range(k), [k + i for i in self.left]] = 1.0
        return np.vstack([above, by]), np.vstack([np.zeros((k, here.by_inputs.shape[1])), here.by_inputs])

    def tangent(self, here: InMotion) -> Array:
        """Slopes of (F, f, Ḟ) by x."""
        return here.tangent[:, self.columns]

    def reached(self, x: Array, loose: Sequence[int], enough: float, reach: float = np.inf) -> tuple[Array, bool]:
        """The state on the surface to which Newton's method leads by shortest steps of the entries ``loose``, and whether these
        came to an end: below the part ``enough`` of the size of x, and nowhere farther than ``reach``. Raises ModelError where
        the system has no rates.
        """
        start, x = x, x.copy()
        for _ in range(NEWTON_STEPS):
            here = self.at(x)
            step = lstsq(self.tangent(here)[:, loose], -np.concatenate([here.positions, here.speeds]))
            x[loose] += step
            if not np.isfinite(x).all() or np.abs(x - start).max() > reach:
                return x, False
            if np.abs(step).max(initial=0.0) <= enough * (1 + np.abs(x).max()):
                return x, True
        return x, False

    def off(self, x: Array) -> tuple[Array, Array]:
        """Everything that must vanish in a steady motion, and its slope."""
        here = self.at(x)
        return (
            np.concatenate([here.positions, here.speeds, self.rates(x, here)]),
            np.vstack([self.tangent(here), self.slopes(x, here)[0]]),
        )


def complete_speeds(system: System, state: Mapping[str, float], values: Mapping[str, float]) -> dict[str, float]:
    """Velocities of the ignorable coordinates that satisfy f = 0 with those given in ``state``; all other coordinates rest."""
    surface = ConstraintSurface(system, values)
    k, x = len(surface.left), surface.vector(state)
    loose = [k + i for i, q in enumerate(system.coordinates) if q in surface.ignorable.names and f"{q}'" not in state]
    x = surface.reached(x, loose, 1e-14)[0]
    x[np.abs(x) <= 1e-15 * (1 + np.abs(x).max())] = 0.0
    return {surface.names[i]: float(x[i]) for i in range(k, k + surface.n)}


def independent_columns(matrix: Array, lots: Sequence[Sequence[int]]) -> list[int]:
    """Independent columns, as many as there are, those of earlier lots before others."""
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    left = matrix / np.where(lengths > 0, lengths, 1.0)
    taken: list[int] = []
    for lot in lots:
        columns = [i for i in lot if i not in taken]
        if not columns or len(taken) == len(matrix):
            continue
        basis, triangle, order = qr(left[:, columns], pivoting=True)
        rank = int(np.count_nonzero(np.abs(np.diag(triangle)) > INDEPENDENT))
        taken += [columns[i] for i in order[:rank]]
        left = left - basis[:, :rank] @ (basis[:, :rank].T @ left)
    return taken


def manifold_at(surface: ConstraintSurface, x: Array) -> int:
    """In how many independent directions steady motions go on from x, found by going there."""
    _, slope = surface.off(x)
    _, values, rows = svd(slope)
    rank = int(np.count_nonzero(values > CLOSE * values.max(initial=0.0)))
    moves = []
    for along in rows[rank:]:
        there = nearest_steady(surface, x + STEP * along, rank)
        if there is not None and np.linalg.norm(there - x) >= 0.3 * STEP:
            moves.append((there - x) / np.linalg.norm(there - x))
    if not moves:
        return 0
    return int(np.count_nonzero(singular_values(np.array(moves)) > 0.1))


def nearest_steady(surface: ConstraintSurface, x: Array, rank: int | None = None) -> Array | None:
    """The steady motion nearest to x, by Newton's method with so many independent equations; None where it finds none."""
    try:
        for _ in range(12):
            off, slope = surface.off(x)
            left, sizes, right = svd(slope, full_matrices=False)
            count = int(np.count_nonzero(sizes > 1e-6 * sizes.max(initial=0.0))) if rank is None else rank
            step = right[:count].T @ ((left[:, :count].T @ off) / sizes[:count])
            x = x - step
            if np.abs(step).max(initial=0.0) <= 1e-15 * (1 + np.abs(x).max()):
                break
        off, slope = surface.off(x)
    except ModelError:
        return None
    size = 1 + float(np.abs(slope).max()) * (1 + float(np.abs(x).max()))
    return x if np.abs(off).max() <= 1e-12 * size else None
