"""Between the state of a model (all coordinates, all velocities) and the state of a reduced form.

A reduced form keeps the coordinates and fewer velocities: q̇ = N v + n. Into it one comes by v, out of it by q̇.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import ZERO, substitute, velocity
from svyaz.forms import Equations
from svyaz.program import Native, build, compile_program

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
    matrix, drift = frame.at(np.array([known[name] for name in frame.names]), time)
    speeds = np.array([known[str(velocity(q))] for q in system.coordinates])
    found = np.linalg.lstsq(matrix, speeds - drift, rcond=None)[0]
    known |= dict(zip(equations.accelerated, map(float, found), strict=True))
    return np.array([known[name] for name in equations.states])


def model_states(equations: Equations, times: Array, states: Array) -> Array:
    """Rows of states of the model from rows of states of the equations."""
    if not is_reduced(equations):
        return states
    native = _outgoing(equations)
    constants = native.constants(equations.system.constants)
    return native.evaluate(np.column_stack([times, states]), constants)


def straying(equations: Equations, state: Array, time: float) -> dict[str, tuple[float, float]]:
    """{velocity: (given, taken)} for initial velocities that the form replaces because they do not fit the constraints."""
    if not is_reduced(equations):
        return {}
    taken = model_states(equations, np.array([time]), entered(equations, state, time)[None, :])[0]
    names = equations.system.states
    speeds = [k for k, name in enumerate(names) if name in equations.system.velocities]
    size = float(np.max(np.abs(np.concatenate([state[speeds], taken[speeds]])), initial=0.0))
    return {names[k]: (float(state[k]), float(taken[k])) for k in speeds if abs(state[k] - taken[k]) > STRAYING * size}


@dataclass(frozen=True)
class _Frame:
    """N (n, k) and n (n,) of q̇ = N v + n as native code; ``names`` are its inputs besides time."""

    native: Native
    constants: Array
    names: tuple[str, ...]
    shape: tuple[int, int]

    def at(self, values: Array, time: float) -> tuple[Array, Array]:
        found = self.native.evaluate(np.concatenate([[time], values]), self.constants)
        count = self.shape[0] * self.shape[1]
        return found[:count].reshape(self.shape), found[count:]


def _frame(equations: Equations) -> _Frame:
    known = _recent_frames.get(equations)
    return known or _recent_frames.put(equations, _made_frame(equations))


def _made_frame(equations: Equations) -> _Frame:
    rows = list(equations.directions.values())
    still = dict.fromkeys(equations.velocities, ZERO)
    drift = [substitute(equations.explicit[q], still) for q in equations.system.coordinates]
    outputs = [(str(k), e) for k, e in enumerate([*(e for row in rows for e in row), *drift])]
    names = tuple(s for s in equations.states if s not in equations.accelerated)
    native = compile_program(build(outputs, inputs=("t", *names), parameters=equations.constants))
    shape = (len(rows), len(equations.velocities))
    return _Frame(native, native.constants(equations.system.constants), names, shape)


def _outgoing(equations: Equations) -> Native:
    known = _recent_outgoing.get(equations)
    if known is not None:
        return known
    outputs = [(name, equations.in_states(se.Symbol(name))) for name in equations.system.states]
    program = build(outputs, inputs=("t", *equations.states), parameters=equations.constants)
    return _recent_outgoing.put(equations, compile_program(program))


Made = TypeVar("Made")


class _Recent(Generic[Made]):
    """What was made for the last few equations: compiling takes longer than using."""

    def __init__(self) -> None:
        self._kept: list[tuple[Equations, Made]] = []

    def get(self, equations: Equations) -> Made | None:
        return next((made for known, made in self._kept if known is equations), None)

    def put(self, equations: Equations, made: Made) -> Made:
        self._kept.insert(0, (equations, made))
        del self._kept[8:]
        return made


_recent_frames: _Recent[_Frame] = _Recent()
_recent_outgoing: _Recent[Native] = _Recent()
