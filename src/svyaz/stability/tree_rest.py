"""Numbers at a position of rest of trees of many bodies: by recursions, nothing is written out.

Gravity and its slopes come from Newton and Euler's recursion and its complex steps, ∂F/∂q from the points of constraints; the
curvature of constraints is taken by differences of ∂F/∂q of the fourth order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from svyaz.arrays import Array
from svyaz.forms import NumericTree
from svyaz.model import System, tree_of
from svyaz.motion import constraint_tables
from svyaz.stability.rest_tables import AtRest, ForceTables, force_tables

WIDTH = 1e-3
"""The step of differences: its fourth power, and rounding over it, are both about 1e-13."""
STENCIL = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}


@dataclass(frozen=True)
class RestingTree:
    """A tree at the position q with its inputs and parameters among ``values``; all is computed when first asked for."""

    system: System
    tree: NumericTree
    values: Mapping[str, float]
    q: Array

    def moved(self, q: Array, given: Mapping[str, float] | None = None) -> RestingTree:
        """The same at another position, with other inputs and further states."""
        return replace(self, q=q, values={**self.values, **(given or {})})

    @cached_property
    def pull(self) -> Array:
        """∂W/∂q (n,)."""
        return self.tree.gravity_terms(self.q)

    @cached_property
    def stiffness(self) -> Array:
        """∂²W/∂q² (n, n)."""
        return self.tree.gravity_slopes(self.q)

    @cached_property
    def forces(self) -> ForceTables:
        """Q and its slopes."""
        known = {**self.values, **dict(zip(self.system.coordinates, self.q.tolist(), strict=True))}
        return force_tables(self.system, known)

    @property
    def off(self) -> Array:
        """∂W/∂q - Q (n,), which the constraints must balance."""
        return self.pull - self.forces.force

    @cached_property
    def pull_by_further(self) -> Array:
        """∂²W/∂q∂w (n, k) of further states."""
        return np.zeros((len(self.q), len(self.system.rates)))

    @cached_property
    def rate(self) -> Array:
        """The rates (k,) of further states."""
        return self.forces.rate

    @cached_property
    def rate_slopes(self) -> Mapping[str, Array]:
        """The slopes of these by q, q̇, w, u."""
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
        return constraint_rows(self.system, places)

    def at_rest(self) -> AtRest:
        """All numbers that a first approximation needs."""
        n = len(self.q)
        return AtRest(
            inertia=self.tree.mass_matrix(self.q),
            linear=np.zeros(n),
            linear_slope=np.zeros((n, n)),
            pull=self.pull,
            stiffness=self.stiffness,
            pull_by_further=self.pull_by_further,
            force=self.forces.force,
            force_slopes=self.forces.slopes,
            constraint=self.constraint,
            jacobian=self.jacobian,
            curvature=self.curvature,
            rate=self.rate,
            rate_slopes=self.rate_slopes,
        )


def constraint_rows(system: System, places: Array) -> tuple[Array, Array]:
    """F (k, m) and ∂F/∂q (k, m, n) of a tree at k positions."""
    count, n = places.shape
    if not system.constraints:
        return np.zeros((count, 0)), np.zeros((count, 0, n))
    states = np.hstack([np.zeros((count, 1)), places, np.zeros((count, n))])
    found = constraint_tables(system)(states, ("position", "jacobian"))
    return found["position"], found["jacobian"]


def resting_tree(system: System, values: Mapping[str, float]) -> RestingTree:
    """The tree at the position that is among the values, with the parameters that are."""
    system = with_parameters_among(system, values)
    tree = NumericTree(tree_of(system), system.parameters)
    return RestingTree(system, tree, values, np.array([values[q] for q in system.coordinates], dtype=float))


def with_parameters_among(system: System, values: Mapping[str, float]) -> System:
    """The system with these values of its parameters; itself where it has them."""
    given = {name: values[name] for name in system.parameters}
    return system if given == dict(system.parameters) else replace(system.plain(), parameters=given)
