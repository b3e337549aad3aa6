"""Numbers of the equations with multipliers at a state in motion, and their exact derivatives.

    M q̈ + bias = Rᵀλ,    G q̈ + g = 0,    ẇ = …       at (q, q̇, w, u): q̈, λ, and by K δ(q̈, λ) = -∂(M q̈ + bias - Rᵀλ, G q̈ + g)

their slopes, with K = [M -Rᵀ; G 0]. R = G, but the row of a servo-constraint is the direction of its control. No reduced form
is needed, which of rolling bodies may be longer than can be written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import ModelError, Problem, add_up, gradient, names_in, velocity
from svyaz.forms import Equations, with_multipliers
from svyaz.matrices import cond
from svyaz.model import System
from svyaz.program import Function, function, remembered

DEPENDENT = 1e-12
"""A reciprocal condition number of K, rows of length one, below which the constraints depend on each other."""


@dataclass(frozen=True)
class InMotion:
    """Values at a state; a slope has a column for each of (q, q̇, w).

    ``accelerations`` q̈ (n,), ``multipliers`` λ (m,), ``rates`` ẇ (k,), ``slopes`` of (q̈, ẇ), ``by_inputs`` those by u;
    ``positions`` F of the geometric constraints, ``speeds`` f of the velocity constraints and Ḟ, ``rows`` G; ``tangent`` the
    slopes of (F, speeds). ``lever`` is the part of K⁻¹ that gives q̈ from forces (n, n).
    """

    accelerations: Array
    multipliers: Array
    rates: Array
    slopes: Array
    by_inputs: Array
    positions: Array
    speeds: Array
    rows: Array
    tangent: Array
    lever: Array


@dataclass(frozen=True)
class MovingSystem:
    """The equations of a system as one compiled function of (q, q̇, w, q̈, λ); inputs are among its values."""

    equations: Equations
    numbers: Function

    @property
    def system(self) -> System:
        return self.equations.system

    def with_values(self, values: Mapping[str, float]) -> MovingSystem:
        """The same with other values of parameters and inputs."""
        known = {name: x for name, x in values.items() if name in self.numbers.values}
        return MovingSystem(self.equations, self.numbers.with_values(known))

    def at(self, q: Array, v: Array, w: Array) -> InMotion:
        """Everything at the state (q, q̇, w)."""
        n, m = len(q), len(self.equations.deviations)
        still = np.concatenate([q, v, w, np.zeros(n + m)])
        first = self.numbers(still, ("mass", "bias", "rows", "directions", "row bias"))
        rows, directions = first["rows"].reshape(m, n), first["directions"].reshape(m, n)
        matrix = np.block([[first["mass"], -directions.T], [rows, np.zeros((m, m))]])
        sizes = np.linalg.norm(matrix, axis=1, keepdims=True)
        unit = matrix / np.where(sizes > 0, sizes, 1.0)
        if not np.isfinite(unit).all() or 1 / cond(unit) < DEPENDENT:
            message = (
                "the accelerations are not determined here: constraints depend on each other, controls do not suffice for "
                "those that they keep, or inertia is missing"
            )
            raise ModelError([Problem(message)])
        solution = np.linalg.solve(matrix, -np.concatenate([first["bias"], first["row bias"]]))
        found = self.numbers(np.concatenate([still[: -n - m], solution]))
        count = 2 * n + len(w)
        moved = -np.linalg.solve(matrix, found["residual by x"])[:n]
        whole = np.vstack([moved, found["rates by x"].reshape(len(w), moved.shape[1])])
        tangent = np.vstack(
            [
                np.hstack([found["positions by q"].reshape(-1, n), np.zeros((len(found["positions"]), n + len(w)))]),
                np.hstack([found["speeds by q"].reshape(m, n), rows, np.zeros((m, len(w)))]),
            ]
        )
        return InMotion(
            accelerations=solution[:n],
            multipliers=solution[n:],
            rates=found["rates"],
            slopes=whole[:, :count],
            by_inputs=whole[:, count:],
            positions=found["positions"],
            speeds=found["speeds"],
            rows=rows,
            tangent=tangent,
            lever=np.linalg.solve(matrix, np.eye(n + m, n))[:n],
        )


@remembered
def moving(system: System) -> MovingSystem:
    """Derived and compiled once; a system whose equations contain the time is refused."""
    equations = with_multipliers(system)
    deviations = equations.deviations
    q = [se.Symbol(name) for name in system.coordinates]
    v = [velocity(name) for name in system.coordinates]
    w = [se.Symbol(name) for name in system.rates]
    x = [*q, *v, *w, *(se.Symbol(name) for name in system.inputs)]
    a = [se.Symbol(f"{s}'") for s in v]
    pushes = [se.Symbol(f"multiplier of {d.name}") for d in deviations]
    rows, directions = equations.constraint_jacobian, equations.smooth_reactions
    residual = [
        add_up(
            [
                *(mass * s for mass, s in zip(line, a, strict=True)),
                rest,
                *(-row[i] * s for row, s in zip(directions, pushes, strict=True)),
            ]
        )
        for i, (line, rest) in enumerate(zip(equations.mass_matrix, equations.bias, strict=True))
    ]
    residual += [
        add_up([*(g * s for g, s in zip(row, a, strict=True)), rest])
        for row, rest in zip(rows, equations.constraint_bias, strict=True)
    ]
    held = [d.position for d in deviations if d.position is not None]
    rates = list(system.rates.values())
    tables = {
        "mass": equations.mass_matrix,
        "bias": equations.bias,
        "rows": rows,
        "directions": directions,
        "row bias": equations.constraint_bias,
        "positions": held,
        "positions by q": [gradient(e, q) for e in held],
        "speeds": [d.velocity for d in deviations],
        "speeds by q": [gradient(d.velocity, q) for d in deviations],
        "rates": rates,
        "rates by x": [gradient(e, x) for e in rates],
        "residual by x": [gradient(e, x) for e in residual],
    }
    if any("t" in names_in(e) for e in (*residual, *held, *rates, *tables["speeds"])):
        raise ModelError([Problem("the equations change with time: nothing rests, and no motion is steady")])
    names = [str(s) for s in (*q, *v, *w, *a, *pushes)]
    return MovingSystem(equations, function(tables, names, system.constants))


@remembered
def bent_reactions(system: System) -> Function:
    """∂(Rᵀλ)/∂x (n, 2n + k) with λ held, x = (q, q̇, w): what is lost where constraints are linearised beforehand."""
    equations = with_multipliers(system)
    q, v = [se.Symbol(name) for name in system.coordinates], [velocity(name) for name in system.coordinates]
    x = [*q, *v, *(se.Symbol(name) for name in system.rates)]
    pushes = [se.Symbol(f"multiplier of {d.name}") for d in equations.deviations]
    reactions = [
        add_up([row[i] * s for row, s in zip(equations.smooth_reactions, pushes, strict=True)]) for i in range(len(q))
    ]
    return function({"bent": [gradient(e, x) for e in reactions]}, [str(s) for s in (*x, *pushes)], system.constants)
