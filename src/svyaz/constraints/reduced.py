"""Between the state of a model (all coordinates, all velocities) and the state of a reduced form.

A reduced form keeps the coordinates and fewer velocities: q̇ = N v + n. Into it one comes by v, out of it by q̇.
"""

from __future__ import annotations

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import ZERO, substitute, velocity
from svyaz.forms import Equations
from svyaz.program import Function, function, remembered

STRAYING = 1e-9
"""Velocities that do not fit the constraints by more than this part of the largest speed are spoken of."""


def is_reduced(equations: Equations) -> bool:
    """Has it other states than the model?"""
    return equations.states != equations.system.states


def examined(equations: Equations) -> Equations:
    """The equations on which constraints are examined at a state of the model: those that were reduced, or themselves."""
    return equations.origin or equations


def entered(equations: Equations, state: Array, time: float) -> Array:
    """The state of the reduced form from a state of the model.

    Independent velocities are taken as they are; quasi-velocities are the least-squares solution of N v = q̇ - n.
    """
    if not is_reduced(equations):
        return np.array(state, dtype=float)
    system = equations.system
    known = dict(zip(system.states, map(float, state), strict=True))
    if not equations.quasi:
        return np.array([known[name] for name in equations.states])
    frame = _frame(equations)
    known["t"] = time
    here = frame(np.array([known[name] for name in frame.program.inputs]))
    speeds = np.array([known[str(velocity(q))] for q in system.coordinates])
    found = np.linalg.lstsq(here["directions"], speeds - here["drift"], rcond=None)[0]
    known |= dict(zip(equations.accelerated, map(float, found), strict=True))
    return np.array([known[name] for name in equations.states])


def model_states(equations: Equations, times: Array, states: Array) -> Array:
    """Rows of states of the model from rows of states of the equations."""
    if not is_reduced(equations):
        return states
    return _outgoing(equations)(np.column_stack([times, states]))["states"]


def straying(equations: Equations, state: Array, time: float) -> dict[str, tuple[float, float]]:
    """{velocity: (given, taken)} for initial velocities that the form replaces because they do not fit the constraints."""
    if not is_reduced(equations):
        return {}
    taken = model_states(equations, np.array([time]), entered(equations, state, time)[None, :])[0]
    names = equations.system.states
    speeds = [k for k, name in enumerate(names) if name in equations.system.velocities]
    size = float(np.max(np.abs(np.concatenate([state[speeds], taken[speeds]])), initial=0.0))
    return {names[k]: (float(state[k]), float(taken[k])) for k in speeds if abs(state[k] - taken[k]) > STRAYING * size}


@remembered
def _frame(equations: Equations) -> Function:
    """N (n, k) and n (n,) of q̇ = N v + n."""
    still = dict.fromkeys(equations.velocities, ZERO)
    drift = [substitute(equations.explicit[q], still) for q in equations.system.coordinates]
    inputs = ("t", *(s for s in equations.states if s not in equations.accelerated))
    tables = {"directions": list(equations.directions.values()), "drift": drift}
    return function(tables, inputs, equations.system.constants)


@remembered
def _outgoing(equations: Equations) -> Function:
    """The states of the model from those of the equations."""
    states = [equations.in_states(se.Symbol(name)) for name in equations.system.states]
    return function({"states": states}, ("t", *equations.states), equations.system.constants)
