"""Numbers of trees of bodies in equilibrium or in a steady motion: by recursions, nothing is written out.

Gravity and its slopes come from Newton and Euler's recursion and its complex steps, ∂F/∂q from the points of constraints; the
curvature of constraints is taken by differences of ∂F/∂q of the fourth order.

In a steady motion γ are the cyclic coordinates, x all others, P and S those of γ that are given by momenta and by speeds,
c = γ̇, a = M_γγ, D = ∂(a c)/∂x. The recursion at ẋ = 0, γ̇ = c gives h = ∂Π/∂x - ½ cᵀ ∂a/∂x c, and its complex steps ∂h/∂x and
∂h/∂c = -Dᵀ. Then

    c_P = a_PP⁻¹ (p_P - a_PS c_S),     ∂c/∂x = -a_PP⁻¹ D_P,     ∂c/∂ẋ = -a_PP⁻¹ M_Px      (rows of S vanish),

    ∂W/∂x = h,     ∂²W/∂x² = ∂h/∂x - Dᵀ ∂c/∂x,     ∂²W/∂x∂w = -Dᵀ ∂c/∂w,

with w the momenta or speeds that are further states; M_xx + M_xγ ∂c/∂ẋ is the inertia and M_xγ c the part of Routh's function
that is linear in ẋ. Forces on γ act on x by (∂c/∂ẋ)ᵀ. All is exact to rounding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from svyaz.arrays import Array
from svyaz.forms import NumericTree, momentum_of
from svyaz.model import System, tree_of
from svyaz.motion import constraint_tables
from svyaz.stability.admissible import is_recursive, refuse_unfit
from svyaz.stability.tables import EquilibriumTables, ForceTables, force_tables, sizes_of, symbolic_tables

WIDTH = 1e-3
"""The step of differences: its fourth power, and rounding over it, are both about 1e-13."""
STENCIL = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}


def equilibrium_tables(system: System, values: Mapping[str, float]) -> EquilibriumTables:
    """All numbers of a system at rest; ``values`` gives coordinates, further states, inputs and parameters."""
    refuse_unfit(system)
    return tree_tables(system, values) if is_recursive(system) else symbolic_tables(system, values)


def tree_tables(system: System, values: Mapping[str, float]) -> TreeTables:
    """Those of a tree, or of one without its cyclic coordinates, at the position and parameters among the values."""
    whole = _with_parameters(system.unreduced, values)
    tree = NumericTree(tree_of(whole), whole.parameters)
    place = np.array([values[q] for q in system.coordinates], dtype=float)
    if system.unreduced is system:
        return TreeTables(whole, tree, values, place)
    return RotatingTreeTables(system, tree, values, place, whole)


def _with_parameters(system: System, values: Mapping[str, float]) -> System:
    """The system with these values of its parameters; itself where it has them."""
    given = {name: values[name] for name in system.parameters}
    return system if given == dict(system.parameters) else replace(system.plain(), parameters=given)


@dataclass(frozen=True)
class TreeTables:
    """A tree at the position q with its inputs and parameters among ``values``; all is computed when first asked for."""

    system: System
    tree: NumericTree
    values: Mapping[str, float]
    q: Array

    def moved(self, q: Array, given: Mapping[str, float] | None = None) -> TreeTables:
        """The same at another position, with other inputs and further states."""
        return replace(self, q=q, values={**self.values, **(given or {})})

    @cached_property
    def inertia(self) -> Array:
        """A (n, n)."""
        return self.tree.mass_matrix(self.q)

    @cached_property
    def potential_gradient(self) -> Array:
        """∂W/∂q (n,)."""
        return self.tree.gravity_terms(self.q)

    @cached_property
    def potential_slopes(self) -> dict[str, Array]:
        """∂²W/∂q² (n, n), ∂²W/∂q∂w (n, k) and the gyroscopic matrix (n, n)."""
        n = len(self.q)
        return {
            "q": self.tree.gravity_slopes(self.q),
            "w": np.zeros((n, len(self.system.rates))),
            "v": np.zeros((n, n)),
        }

    @cached_property
    def forces(self) -> ForceTables:
        """Q, the rates g of further states, and their slopes."""
        known = {**self.values, **dict(zip(self.system.coordinates, self.q.tolist(), strict=True))}
        return force_tables(self.system, known)

    @cached_property
    def bias(self) -> Array:
        """b (n,), which the constraints must balance."""
        return self.potential_gradient - self.forces.force

    @cached_property
    def bias_slopes(self) -> dict[str, Array]:
        """Those of b by q, v, w, u."""
        own, given = self.potential_slopes, self.forces.slopes
        return {key: own[key] - given[key] for key in own} | {"u": -given["u"]}

    @cached_property
    def sizes(self) -> tuple[float, float]:
        """|∂W/∂q| + |Q| and |∂²W/∂q²|."""
        return sizes_of(self.potential_gradient, self.forces.force, self.potential_slopes["q"])

    @property
    def rate(self) -> Array:
        """g (k,)."""
        return self.forces.rate

    @property
    def rate_slopes(self) -> Mapping[str, Array]:
        """Those of g by q, v, w, u."""
        return self.forces.rate_slopes

    @cached_property
    def constraint(self) -> Array:
        """F (m,)."""
        return self._constraints[0][0]

    @cached_property
    def jacobian(self) -> Array:
        """∂F/∂q (m, n)."""
        return self._constraints[1][0]

    @cached_property
    def _constraints(self) -> tuple[Array, Array]:
        return self._rows(self.q[None, :])

    @cached_property
    def curvature(self) -> Array:
        """∂²F/∂q² (m, n, n)."""
        n, m = len(self.q), len(self.system.constraints)
        found = np.zeros((n, m, n))
        for step, weight in STENCIL.items() if m else ():
            found += weight / WIDTH * self._rows(self.q + step * WIDTH * np.eye(n))[1]
        bent = found.transpose(1, 2, 0)
        return np.asarray((bent + bent.transpose(0, 2, 1)) / 2)

    def _rows(self, places: Array) -> tuple[Array, Array]:
        """F (k, m) and ∂F/∂q (k, m, n) at k positions."""
        return _constraint_rows(self.system, places)


def _constraint_rows(system: System, places: Array) -> tuple[Array, Array]:
    """F (k, m) and ∂F/∂q (k, m, n) of a tree at k positions."""
    count, n = places.shape
    if not system.constraints:
        return np.zeros((count, 0)), np.zeros((count, 0, n))
    states = np.hstack([np.zeros((count, 1)), places, np.zeros((count, n))])
    found = constraint_tables(system)(states, ("position", "jacobian"))
    return found["position"], found["jacobian"]


@dataclass(frozen=True)
class RotatingTreeTables(TreeTables):
    """The tree ``whole`` at the position q of x; momenta and speeds of γ are among the values."""

    whole: System

    @property
    def by_momentum(self) -> tuple[str, ...]:
        """P, of which the system has the momenta: parameters, or further states."""
        own = {*self.system.parameters, *self.system.rates}
        return tuple(q for q in self.ignored if momentum_of(q) in own)

    @property
    def ignored(self) -> tuple[str, ...]:
        """γ."""
        return tuple(q for q in self.whole.coordinates if q not in self.system.coordinates)

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
        found[self._given] = self._mobility @ (wanted - (self._own @ found)[self._given])
        return found

    @cached_property
    def momenta(self) -> Array:
        """p = a c (m,): everything else rests."""
        return self._own @ self.speeds

    @cached_property
    def speed_by_position(self) -> Array:
        """∂c/∂x (m, n)."""
        return self._by_mobility(-self._bent[self._given])

    @cached_property
    def speed_by_velocity(self) -> Array:
        """∂c/∂ẋ (m, n)."""
        return self._by_mobility(-self.mass[np.ix_(self.turning, self.still)][self._given])

    def speed_by(self, names: Sequence[str]) -> Array:
        """∂c/∂w (m, k) by momenta and speeds of these names."""
        own, found = [momentum_of(q) for q in self.by_momentum], np.zeros((len(self.ignored), len(names)))
        for k, name in enumerate(names):
            if name in own:
                found[self._given, k] = self._mobility[:, own.index(name)]
            else:
                turned = self.ignored.index(name.removesuffix("'"))
                found[turned, k] = 1.0
                found[self._given, k] -= self._mobility @ self._own[self._given, turned]
        return found

    @cached_property
    def inertia(self) -> Array:
        """M_xx + M_xγ ∂c/∂ẋ."""
        return self.mass[np.ix_(self.still, self.still)] + self._across @ self.speed_by_velocity

    @cached_property
    def potential_gradient(self) -> Array:
        """∂W/∂x (n,)."""
        return self.tree.bias(self._placed(self.q), self._velocities)[self.still]

    @cached_property
    def potential_slopes(self) -> dict[str, Array]:
        """∂²W/∂x² (n, n), ∂²W/∂x∂w (n, k), and the gyroscopic matrix of ∂(M_xγ c)/∂x (n, n)."""
        place, here = self._placed(self.q), np.ix_(self.still, self.still)
        carried = self.tree.inverse_dynamics_slopes(place, np.zeros(len(place)), self._velocities)[0]
        linear = (carried - self.tree.gravity_slopes(place))[here] + self._across @ self.speed_by_position
        return {
            "q": self._whole_slopes[0][here] - self._bent.T @ self.speed_by_position,
            "w": -self._bent.T @ self.speed_by(tuple(self.system.rates)),
            "v": linear - linear.T,
        }

    @cached_property
    def forces(self) -> ForceTables:
        """Q of x and of γ with c put in; the rates of momenta on which forces act, or of speeds, are Q_γ."""
        names, recoil = self.whole.coordinates, self.speed_by_velocity.T
        place = dict(zip(names, self._placed(self.q).tolist(), strict=True))
        moving = {f"{q}'": x for q, x in zip(names, self._velocities.tolist(), strict=True)}
        found = force_tables(self.whole, {**self.values, **place}, moving)
        by_turning = found.slopes["v"][:, self.turning]
        slopes = {
            "q": found.slopes["q"][:, self.still] + by_turning @ self.speed_by_position,
            "v": found.slopes["v"][:, self.still] + by_turning @ self.speed_by_velocity,
            "w": by_turning @ self.speed_by(tuple(self.system.rates)),
            "u": found.slopes["u"],
        }

        def own(rows: Array) -> Array:
            return np.asarray(rows[self.still] + recoil @ rows[self.turning])

        return ForceTables(
            own(found.force),
            {key: own(rows) for key, rows in slopes.items()},
            found.force[self._forced],
            {key: rows[self._forced] for key, rows in slopes.items()},
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
    def _across(self) -> Array:
        """M_xγ (n, m)."""
        return np.asarray(self.mass[np.ix_(self.still, self.turning)])

    @cached_property
    def _mobility(self) -> Array:
        """a_PP⁻¹; no numbers where nothing has inertia."""
        block = self._own[np.ix_(self._given, self._given)]
        try:
            return np.asarray(np.linalg.inv(block))
        except np.linalg.LinAlgError:
            return np.full_like(block, np.nan)

    def _by_mobility(self, rows: Array) -> Array:
        """a_PP⁻¹ rows in the places of P, zero elsewhere."""
        found = np.zeros((len(self.ignored), rows.shape[1]))
        found[self._given] = self._mobility @ rows
        return found

    @cached_property
    def _velocities(self) -> Array:
        found = np.zeros(len(self.whole.coordinates))
        found[self.turning] = self.speeds
        return found

    @cached_property
    def _whole_slopes(self) -> tuple[Array, Array]:
        """∂h by positions and velocities of the whole tree."""
        return self.tree.inverse_dynamics_slopes(
            self._placed(self.q), self._velocities, np.zeros(len(self._velocities))
        )

    @cached_property
    def _bent(self) -> Array:
        """D (m, n): momenta change so with x at constant speeds."""
        return np.asarray(self._whole_slopes[1][np.ix_(self.turning, self.still)])

    @cached_property
    def _forced(self) -> list[int]:
        """Places in the tree of the cyclic coordinates on which forces act, in the order of the further states."""
        owner = {f"{q}'": q for q in self.ignored} | {momentum_of(q): q for q in self.by_momentum}
        return [self.whole.coordinates.index(owner[name]) for name in self.system.rates]

    def _placed(self, q: Array) -> Array:
        """Positions of the whole tree, with zero for γ."""
        found = np.zeros((*q.shape[:-1], len(self.whole.coordinates)))
        found[..., self.still] = q
        return found

    def _rows(self, places: Array) -> tuple[Array, Array]:
        """F (k, m) and ∂F/∂x (k, m, n) at k positions."""
        values, slopes = _constraint_rows(self.whole, self._placed(places))
        return values, slopes[:, :, self.still]
