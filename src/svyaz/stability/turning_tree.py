"""Numbers at a steady motion of trees of many bodies: by recursions, nothing is written out.

γ are the cyclic coordinates, x all others, P and S those of γ that are given by momenta and by speeds, c = γ̇, a = M_γγ,
D = ∂(a c)/∂x. Newton and Euler's recursion at ẋ = 0, γ̇ = c gives b = ∂Π/∂x - ½ cᵀ ∂a/∂x c, and its complex steps ∂b/∂x and
∂b/∂c = -Dᵀ. Then

    c_P = a_PP⁻¹ (p_P - a_PS c_S),     ∂c/∂x = -a_PP⁻¹ D_P,     ∂c/∂ẋ = -a_PP⁻¹ M_Px      (rows of S vanish),

    ∂W/∂x = b,     ∂²W/∂x² = ∂b/∂x - Dᵀ ∂c/∂x,     ∂²W/∂x∂w = -Dᵀ ∂c/∂w,

with w the momenta or speeds that are further states; M_xx + M_xγ ∂c/∂ẋ is the inertia and M_xγ c the part of Routh's function
that is linear in ẋ. All is exact to rounding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from svyaz.arrays import Array
from svyaz.forms import NumericTree, TurningBodies, momentum_of
from svyaz.model import System, tree_of
from svyaz.stability.rest_tables import AtRest, ForceTables, force_tables
from svyaz.stability.tree_rest import RestingTree, constraint_rows, resting_tree, with_parameters_among


def tree_at(system: System, values: Mapping[str, float]) -> RestingTree:
    """A tree at a position of rest, or a turning one at a steady motion, with all that is among the values."""
    return turning_tree(system, values) if isinstance(system.law, TurningBodies) else resting_tree(system, values)


def turning_tree(system: System, values: Mapping[str, float]) -> TurningTree:
    """The tree with its momenta, speeds, position and parameters among the values."""
    assert isinstance(system.law, TurningBodies)
    whole = with_parameters_among(system.law.whole, values)
    tree = NumericTree(tree_of(whole), whole.parameters)
    place = np.array([values[q] for q in system.coordinates], dtype=float)
    return TurningTree(system, tree, values, place, whole, system.law.by_momentum, system.law.ignored)


@dataclass(frozen=True)
class TurningTree(RestingTree):
    """The tree ``whole`` at the position q of what rests; momenta ``by_momentum`` and the other speeds are among the values."""

    whole: System
    by_momentum: tuple[str, ...]
    ignored: tuple[str, ...]

    @cached_property
    def still(self) -> list[int]:
        """Places of x in the tree."""
        return [self.whole.coordinates.index(q) for q in self.system.coordinates]

    @cached_property
    def turning(self) -> list[int]:
        """Places of γ in the tree."""
        return [self.whole.coordinates.index(q) for q in self.ignored]

    @cached_property
    def mass(self) -> Array:
        """M of the whole tree."""
        return self.tree.mass_matrix(self._placed(self.q))

    @cached_property
    def speeds(self) -> Array:
        """c (m,)."""
        found = np.array([0.0 if q in self.by_momentum else self.values[f"{q}'"] for q in self.ignored])
        wanted = np.array([self.values[momentum_of(q)] for q in self.by_momentum])
        found[self._given] = self._lever @ (wanted - (self._own @ found)[self._given])
        return found

    @cached_property
    def momenta(self) -> Array:
        """p = a c (m,): everything else rests."""
        return self._own @ self.speeds

    @cached_property
    def speed_by_position(self) -> Array:
        """∂c/∂x (m, n)."""
        return self._levered(-self._bent[self._given])

    @cached_property
    def speed_by_velocity(self) -> Array:
        """∂c/∂ẋ (m, n)."""
        return self._levered(-self.mass[np.ix_(self.turning, self.still)][self._given])

    def speed_by(self, names: Sequence[str]) -> Array:
        """∂c/∂w (m, k) by momenta and speeds of these names."""
        own, found = [momentum_of(q) for q in self.by_momentum], np.zeros((len(self.ignored), len(names)))
        for k, name in enumerate(names):
            if name in own:
                found[self._given, k] = self._lever[:, own.index(name)]
            else:
                turned = self.ignored.index(name.removesuffix("'"))
                found[turned, k] = 1.0
                found[self._given, k] -= self._lever @ self._own[self._given, turned]
        return found

    @cached_property
    def pull(self) -> Array:
        """∂W/∂x (n,)."""
        return self.tree.bias(self._placed(self.q), self._velocities)[self.still]

    @cached_property
    def stiffness(self) -> Array:
        """∂²W/∂x² (n, n)."""
        return self._bias_slopes[0][np.ix_(self.still, self.still)] - self._bent.T @ self.speed_by_position

    @cached_property
    def pull_by_further(self) -> Array:
        """∂²W/∂x∂w (n, k)."""
        return -self._bent.T @ self.speed_by(tuple(self.system.rates))

    @cached_property
    def forces(self) -> ForceTables:
        """Q of x with c put in, without what momenta on which forces act do to x; the rates of these momenta, or of speeds,
        are Q_γ.
        """
        own, all_of = self._slopes_of, self._all_forces.force
        return ForceTables(all_of[self.still], own(self.still), all_of[self._forced], own(self._forced))

    def at_rest(self) -> AtRest:
        """All numbers that a first approximation needs."""
        still, turning, place = self.still, self.turning, self._placed(self.q)
        across = self.mass[np.ix_(still, turning)]
        recoil = self.speed_by_velocity.T
        carried = self.tree.inverse_dynamics_slopes(place, np.zeros(len(place)), self._velocities)[0]
        carried = (carried - self.tree.gravity_slopes(place))[np.ix_(still, still)]
        own, theirs = (self._slopes_of(rows) for rows in (still, turning))
        return AtRest(
            inertia=self.mass[np.ix_(still, still)] + across @ self.speed_by_velocity,
            linear=across @ self.speeds,
            linear_slope=carried + across @ self.speed_by_position,
            pull=self.pull,
            stiffness=self.stiffness,
            pull_by_further=self.pull_by_further,
            force=self.forces.force + recoil @ self._all_forces.force[turning],
            force_slopes={key: own[key] + recoil @ theirs[key] for key in own},
            constraint=self.constraint,
            jacobian=self.jacobian,
            curvature=self.curvature,
            rate=self.rate,
            rate_slopes=self.rate_slopes,
        )

    def inertia_of_cyclic(self, places: Array) -> Array:
        """a (k, m, m) at k positions of x."""
        found = self.tree.mass_matrix(self._placed(places))
        return np.asarray(found[np.ix_(range(len(places)), self.turning, self.turning)])

    @cached_property
    def _given(self) -> list[int]:
        """Places of P in γ."""
        return [self.ignored.index(q) for q in self.by_momentum]

    @cached_property
    def _own(self) -> Array:
        """a (m, m)."""
        return np.asarray(self.mass[np.ix_(self.turning, self.turning)])

    @cached_property
    def _lever(self) -> Array:
        """a_PP⁻¹; no numbers where nothing has inertia."""
        block = self._own[np.ix_(self._given, self._given)]
        try:
            return np.asarray(np.linalg.inv(block))
        except np.linalg.LinAlgError:
            return np.full_like(block, np.nan)

    def _levered(self, rows: Array) -> Array:
        """a_PP⁻¹ rows in the places of P, zero elsewhere."""
        found = np.zeros((len(self.ignored), rows.shape[1]))
        found[self._given] = self._lever @ rows
        return found

    @cached_property
    def _velocities(self) -> Array:
        found = np.zeros(len(self.whole.coordinates))
        found[self.turning] = self.speeds
        return found

    @cached_property
    def _bias_slopes(self) -> tuple[Array, Array]:
        return self.tree.inverse_dynamics_slopes(
            self._placed(self.q), self._velocities, np.zeros(len(self._velocities))
        )

    @cached_property
    def _bent(self) -> Array:
        """D (m, n): momenta change so with x at constant speeds."""
        return np.asarray(self._bias_slopes[1][np.ix_(self.turning, self.still)])

    @cached_property
    def _all_forces(self) -> ForceTables:
        names = self.whole.coordinates
        place = dict(zip(names, self._placed(self.q).tolist(), strict=True))
        moving = {f"{q}'": x for q, x in zip(names, self._velocities.tolist(), strict=True)}
        return force_tables(self.whole, {**self.values, **place}, moving)

    @cached_property
    def _forced(self) -> list[int]:
        """Places in the tree of the cyclic coordinates on which forces act, in the order of the further states."""
        owner = {f"{q}'": q for q in self.ignored} | {momentum_of(q): q for q in self.by_momentum}
        return [self.whole.coordinates.index(owner[name]) for name in self.system.rates]

    def _slopes_of(self, rows: list[int]) -> dict[str, Array]:
        """Slopes of the forces in these rows of the tree by x, ẋ, w, u with c put in."""
        found = {key: table[rows] for key, table in self._all_forces.slopes.items()}
        turned = found["v"][:, self.turning]
        return {
            "q": found["q"][:, self.still] + turned @ self.speed_by_position,
            "v": found["v"][:, self.still] + turned @ self.speed_by_velocity,
            "w": turned @ self.speed_by(tuple(self.system.rates)),
            "u": found["u"],
        }

    def _placed(self, q: Array) -> Array:
        """Positions of the whole tree, with zero for γ."""
        found = np.zeros((*q.shape[:-1], len(self.whole.coordinates)))
        found[..., self.still] = q
        return found

    def _rows(self, places: Array) -> tuple[Array, Array]:
        """F (k, m) and ∂F/∂x (k, m, n) at k positions."""
        values, slopes = constraint_rows(self.whole, self._placed(places))
        return values, slopes[:, :, self.still]
