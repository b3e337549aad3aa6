"""From one position of a tree to a position of rest: Newton's method, and the falling energy.

The descent goes in the tangent space of the constraints, by Newton's steps with |eigenvalues| of the second differential
in place of the eigenvalues: saddles repel it (Y. N. Dauphin et al., 2014).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import pi
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.expr import names_in
from svyaz.matrices import eigh, lstsq, svd
from svyaz.model import System, tree_of
from svyaz.stability.tree_tables import TreeTables

REACH = 0.5
"""No coordinate is moved farther in one step: an angle by half a radian, a way by this part of itself and of 1."""
STEPS = 300
EXACT, SETTLED = 1e-11, 1e-3
"""A step is the last when it is shorter than this part of the position; from a descent that has come to steps this short
Newton's method goes on."""
SOFT = 1e-7
"""Of the largest curvature; softer directions are moved along as if they had this one."""
BALANCED = 1e-8
"""What is left of the forces, as a part of them, at a position of rest."""
SAME = 1e-6


class Descent:
    """From one position; ``held`` coordinates stay, and further states and inputs ``names`` are found."""

    def __init__(self, start: TreeTables, held: Sequence[str], names: Sequence[str], end: float) -> None:
        system = start.system
        self.start, self.end, self.late = start, end, False
        self.moving = [k for k, q in enumerate(system.coordinates) if q not in held]
        self.further = [k for k, w in enumerate(system.rates) if w in names]
        self.inputs = [k for k, u in enumerate(system.inputs) if u in names]
        self.names = list(names)
        self.turns = turning_coordinates(system)

    def values(self, position: Mapping[str, float], y: Array) -> dict[str, float]:
        """All names at a position with the further states and inputs found."""
        return {**self.start.values, **dict(zip(self.names, y.tolist(), strict=True)), **position}

    @property
    def may_descend(self) -> bool:
        """Does nothing that is unknown push what rests?"""
        pushing = set().union(*map(names_in, self.start.system.forces.values()))
        return len(self.moving) == len(self.start.q) and not self.further and not pushing & set(self.names)

    def newton(self, begin: TreeTables | None = None) -> tuple[Array, Array] | None:
        """Unknowns q, λ and y = (w, u) together; (q, y) where it ends at a position of rest."""
        here, n, m = begin or self.start, len(self.start.q), len(self.start.system.constraints)
        y = np.array([here.values[name] for name in self.names])
        multipliers = lstsq(here.jacobian.T, here.bias) if m else np.zeros(0)
        for _ in range(STEPS):
            if self._is_late():
                return None
            forces = here.bias - here.jacobian.T @ multipliers
            matrix = self._slopes(here, multipliers)
            if not np.isfinite(matrix).all():
                return None
            step = -lstsq(matrix, np.concatenate([forces, here.constraint, here.rate]), rcond=1e-13)
            change = np.zeros(n)
            change[self.moving] = step[: len(self.moving)]
            share = self._share(here.q, change)
            multipliers = multipliers + share * step[len(self.moving) : len(self.moving) + m]
            y = y + share * step[len(self.moving) + m :]
            last = share == 1.0 and np.abs(change).max(initial=0.0) <= EXACT * (1 + np.abs(here.q).max())
            here = here.moved(here.q + share * change, dict(zip(self.names, y.tolist(), strict=True)))
            if last:
                return (here.q, y) if self._rests(here) else None
        return None

    def free(self) -> tuple[str, ...]:
        """Coordinates, further states and inputs that move along the family through the position, to first order."""
        here = self.start
        matrix = self._slopes(here, lstsq(here.jacobian.T, here.bias) if len(here.jacobian) else np.zeros(0))
        _, values, rows = svd(matrix)
        rank = int(np.count_nonzero(values > 1e-10 * values[0]))
        sizes = np.linalg.norm(rows[rank:], axis=0)
        names = [self.start.system.coordinates[k] for k in self.moving]
        unknowns = [*names, *("" for _ in here.jacobian), *self.names]
        return tuple(name for name, size in zip(unknowns, sizes, strict=True) if name and size > SAME)

    def _slopes(self, here: TreeTables, multipliers: Array) -> Array:
        """Of the forces, constraints and rates by the coordinates that move, the multipliers, further states and inputs."""
        m, bent = len(multipliers), np.einsum("m,mij->ij", multipliers, here.curvature)
        forces, rates = here.bias_slopes, here.rate_slopes
        top = [(forces["q"] - bent)[:, self.moving], -here.jacobian.T]
        top += [forces["w"][:, self.further], forces["u"][:, self.inputs]]
        middle = [here.jacobian[:, self.moving], np.zeros((m, m + len(self.names)))]
        below = [rates["q"][:, self.moving], np.zeros((len(here.rate), m))]
        below += [rates["w"][:, self.further], rates["u"][:, self.inputs]]
        return np.vstack([np.hstack(top), np.hstack(middle), np.hstack(below)])

    def descent(self) -> tuple[Array, Array] | None:
        """Downhill on the surface of the constraints to a minimum, then Newton's method."""
        here = self.start
        for _ in range(STEPS):
            if self._is_late():
                return None
            tangent, normal = self._tangent(here)
            multipliers = lstsq(here.jacobian.T, here.bias) if len(normal) else np.zeros(0)
            slope = tangent.T @ here.bias
            bent = here.bias_slopes["q"] - np.einsum("m,mij->ij", multipliers, here.curvature)
            if not np.isfinite(bent).all():
                return None
            values, vectors = eigh(tangent.T @ (bent + bent.T) @ tangent / 2)
            sizes = np.maximum(np.abs(values), SOFT * np.abs(values).max(initial=0.0))
            way = -tangent @ (vectors @ ((vectors.T @ slope) / np.where(sizes > 0, sizes, 1.0)))
            back = -lstsq(here.jacobian, here.constraint) if len(normal) else np.zeros(len(here.q))
            if np.abs(way + back).max(initial=0.0) <= SETTLED and values[0] > -SOFT * np.abs(values).max():
                return self.newton(here)  # along a family of equilibria the energy does not change
            if np.abs(way + back).max(initial=0.0) <= EXACT:
                if here is self.start or not values[0] < -SOFT * np.abs(values).max():
                    return None  # a position of rest that is no minimum: Newton's method has told it
                way = REACH * tangent @ vectors[:, 0]  # a symmetry of the start had led to a saddle
            here = self._lower(here, way, back)
        return None

    def _lower(self, here: TreeTables, way: Array, back: Array) -> TreeTables:
        """A step along the way as far as the energy falls on it, judged by its slope there alone."""
        fall, share = -float(here.bias @ way), self._share(here.q, way + back)
        while share > 1e-6:
            trial = here.moved(here.q + share * way + min(1.0, 2 * share) * back)
            if float(trial.bias @ way) <= 0.5 * fall:
                return trial
            share /= 2
        return here.moved(here.q + share * way + share * back)

    def _tangent(self, here: TreeTables) -> tuple[Array, Array]:
        """Orthonormal directions that the constraints leave (n, f), and the rest of them as rows."""
        if not len(here.jacobian):
            return np.eye(len(here.q)), here.jacobian
        _, values, rows = svd(here.jacobian)
        rank = int(np.count_nonzero(values > 1e-10 * values[0]))
        return rows[rank:].T, rows[:rank]

    def _share(self, q: Array, change: Array) -> float:
        most = np.where(self.turns, REACH, REACH * (1 + np.abs(q)))
        return float(min(1.0, 1.0 / max(np.max(np.abs(change) / most, initial=0.0), 1e-300)))

    def _rests(self, here: TreeTables) -> bool:
        left = here.bias - (here.jacobian.T @ lstsq(here.jacobian.T, here.bias) if len(here.jacobian) else 0.0)
        size = sum(here.sizes)
        rows = np.linalg.norm(here.jacobian, axis=1)
        met = np.all(np.abs(here.constraint) <= BALANCED * (rows + 1e-12))
        known = {key: [abs(here.values[name]) for name in names] for key, names in self._pushing.items()}
        sizes = [np.abs(here.rate_slopes[key]) @ np.array(known[key], dtype=float) for key in known]
        steady = np.all(np.abs(here.rate) <= BALANCED * (np.sum(sizes, axis=0) + 1e-12))
        return bool(np.linalg.norm(left) <= BALANCED * size and met and steady)

    @property
    def _pushing(self) -> dict[str, tuple[str, ...]]:
        """Names of w and u."""
        return {"w": tuple(self.start.system.rates), "u": tuple(self.start.system.inputs)}

    def _is_late(self) -> bool:
        self.late = self.late or monotonic() > self.end
        return self.late


def gaps_of(system: System, a: Mapping[str, float], b: Mapping[str, float]) -> Array:
    """How far two positions are apart in each coordinate, angles by less than a turn."""
    gaps = np.array([b[q] - a[q] for q in system.coordinates])
    return np.where(turning_coordinates(system), (gaps + pi) % (2 * pi) - pi, gaps)


def turning_coordinates(system: System) -> NDArray[np.bool_]:
    """Is a coordinate the angle of a joint?"""
    angles = {q for body in tree_of(system.unreduced).bodies if body.kind.turns for q in body.coordinates}
    return np.array([q in angles for q in system.coordinates], dtype=bool)
