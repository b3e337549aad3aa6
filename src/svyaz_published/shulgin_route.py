"""The matrices of the first approximation by a second route: Shulgin's equations themselves, differentiated as expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import evaluate, gradient
from svyaz.forms import redundancy, shulgin_equations, with_multipliers
from svyaz.model import System
from svyaz.stability import FirstApproximation, first_approximation


def linearise_shulgin(
    system: System,
    state: Mapping[str, float],
    inputs: Mapping[str, float] | None = None,
    dependent: Sequence[str] | None = None,
) -> FirstApproximation:
    """At rest r̈ = 0, so a_rr δr̈ = -∂bias/∂x δx.

    >>> import svyaz
    >>> linearise_shulgin(svyaz.load("pendulum:1"), {"u1": 0.0}).A.round(6).tolist()
    [[0.0, 1.0], [-9.81, 0.0]]
    """
    found = first_approximation(system, state, inputs, dependent)
    equations = shulgin_equations(system, dependent=found.dependent)
    values = {**system.constants, **found.state, **found.inputs}
    values |= {**{str(v): 0.0 for v in equations.velocities}, "t": 0.0}
    inertia = np.array([[evaluate(e, values) for e in row] for row in equations.mass_matrix])
    rates = [equations.explicit[name] for name in found.further]

    def slopes(names: Sequence[str]) -> Array:
        """∂(r̈, ẋ₃) by these names."""
        by = [se.Symbol(name) for name in names]
        rows = [[evaluate(e, values) for e in gradient(entry, by)] for entry in (*equations.bias, *rates)]
        whole = np.array(rows, dtype=float).reshape(-1, len(names))
        return np.vstack([-np.linalg.solve(inertia, whole[: len(inertia)]), whole[len(inertia) :]])

    by_x, by_s, by_u = slopes(found.variables), slopes(found.dependent), slopes(found.input_names)
    matrix = redundancy(with_multipliers(system), found.dependent).matrix
    slope = np.array([[evaluate(e, values) for e in row] for row in matrix]).reshape(len(found.dependent), -1)
    n = len(found.independent)
    by_x[:, :n] += by_s @ slope
    return replace(
        found,
        A=np.vstack([np.eye(n, by_x.shape[1], n), by_x]),
        B=np.vstack([np.zeros((n, by_u.shape[1])), by_u]),
        Z=np.vstack([np.zeros((n, by_s.shape[1])), by_s]),
        slope=slope,
        inertia=inertia,
        stiffness=-inertia @ by_x[:n, :n],
    )
