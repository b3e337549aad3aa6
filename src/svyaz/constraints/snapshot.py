"""Everything that the examination of constraints needs to know at one state, from one native program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.constraints.scales import magnitude, scale_expressions, typical_sizes, typical_speeds, with_floor
from svyaz.expr import ZERO, Expression, ModelError, Problem
from svyaz.forms import Equations
from svyaz.program import build, compile_program

State = Mapping[str, float] | Sequence[float] | Array

GROUPS = (
    "mass",
    "bias",
    "jacobian",
    "jacobian_terms",
    "constraint_bias",
    "position",
    "velocity",
    "position_terms",
    "velocity_terms",
)


@dataclass(frozen=True)
class Snapshot:
    """M (n, n), bias (n,), G (m, n), constraint_bias (m,), residuals and their scales (m,) at one state.

    Residuals in position and their scales are zero for constraints on velocities (``holonomic`` is False there).
    ``jacobian_terms`` are the entries of G with every term taken by its magnitude.
    """

    time: float
    state: Array
    q: Array
    v: Array
    holonomic: NDArray[np.bool_]
    mass: Array
    bias: Array
    jacobian: Array
    jacobian_terms: Array
    constraint_bias: Array
    position: Array
    velocity: Array
    position_terms: Array
    velocity_terms: Array

    @cached_property
    def position_scale(self) -> Array:
        """The own scale of each constraint in position."""
        sizes = typical_sizes(self.mass, self.q)
        return np.where(self.holonomic, with_floor(self.position_terms, self.jacobian, sizes), 0.0)

    @cached_property
    def velocity_scale(self) -> Array:
        """The own scale of each constraint in velocity."""
        sizes = typical_speeds(self.mass, self.bias, self.q, self.v)
        return with_floor(self.velocity_terms, self.jacobian, sizes)

    @property
    def finite(self) -> bool:
        """Are the constraints and their gradients numbers here?"""
        return all(bool(np.isfinite(a).all()) for a in (self.jacobian, self.position, self.velocity))


class Measure:
    """``measure.at(state, time)`` evaluates equations with constraints; made once for many states."""

    def __init__(self, equations: Equations) -> None:
        self.equations = equations
        names = list(equations.states)
        self._q = [names.index(q) for q in equations.accelerated]
        self._v = [names.index(str(v)) for v in equations.velocities]
        self._holonomic = np.array([d.position is not None for d in equations.deviations], dtype=bool)
        groups = self._groups()
        self._shapes = [(name, len(groups[name])) for name in GROUPS]
        outputs = [(f"{name} {k}", e) for name in GROUPS for k, e in enumerate(groups[name])]
        program = build(outputs, inputs=("t", *names), parameters=equations.constants)
        self._native = compile_program(program)
        self._constants = self._native.constants(equations.system.constants)

    def _groups(self) -> dict[str, list[Expression]]:
        eq = self.equations
        scales = scale_expressions(eq)
        jacobian = [entry for row in eq.constraint_jacobian for entry in row]
        return {
            "mass": [entry for row in eq.mass_matrix for entry in row],
            "bias": list(eq.bias),
            "jacobian": jacobian,
            "jacobian_terms": [magnitude(entry) for entry in jacobian],
            "constraint_bias": list(eq.constraint_bias),
            "position": [ZERO if d.position is None else d.position for d in eq.deviations],
            "velocity": [d.velocity for d in eq.deviations],
            "position_terms": [ZERO if p is None else p for p, _ in scales],
            "velocity_terms": [v for _, v in scales],
        }

    def at(self, state: Array, time: float) -> Snapshot:
        """The snapshot at a state, given in the order of the states of the equations."""
        values = self._native.evaluate(np.concatenate(([time], state)), self._constants)
        parts: dict[str, Array] = {}
        start = 0
        for name, count in self._shapes:
            parts[name] = values[start : start + count]
            start += count
        n, m = len(self._q), len(self._holonomic)
        parts["mass"] = parts["mass"].reshape(n, n)
        parts["jacobian"] = parts["jacobian"].reshape(m, n)
        parts["jacobian_terms"] = parts["jacobian_terms"].reshape(m, n)
        return Snapshot(time=time, state=state, q=state[self._q], v=state[self._v], holonomic=self._holonomic, **parts)

    def augmented_determinants(self, times: Array, states: Array) -> tuple[Array, Array]:
        """(sign, log |det [M Gᵀ; G 0]|) along rows of states; NaN where the matrix is not defined."""
        values = self._native.evaluate(np.column_stack([times, states]), self._constants)
        n, m = len(self._q), len(self._holonomic)
        first = n * n + n  # behind the mass matrix and the bias
        matrices = np.zeros((len(times), n + m, n + m))
        matrices[:, :n, :n] = values[:, : n * n].reshape(len(times), n, n)
        matrices[:, n:, :n] = values[:, first : first + m * n].reshape(len(times), m, n)
        matrices[:, :n, n:] = matrices[:, n:, :n].transpose(0, 2, 1)
        defined = np.isfinite(matrices).all(axis=(1, 2))
        sign, size = np.full(len(times), np.nan), np.full(len(times), np.nan)
        sign[defined], size[defined] = np.linalg.slogdet(matrices[defined])
        return sign, size

    def moved(self, state: Array, q: Array | None = None, v: Array | None = None) -> Array:
        """The state with other coordinates or other velocities."""
        new = state.copy()
        if q is not None:
            new[self._q] = q
        if v is not None:
            new[self._v] = v
        return new


def state_vector(equations: Equations, state: State | None = None) -> Array:
    """A state in the order of the equations; what a mapping leaves out is as the model starts."""
    initial = [float(equations.system.initial.get(name, 0.0)) for name in equations.states]
    if state is None:
        return np.array(initial)
    if isinstance(state, Mapping):
        unknown = [name for name in state if name not in equations.states]
        if unknown:
            raise ModelError([Problem(f"'{name}' is no coordinate, velocity or other state") for name in unknown])
        return np.array([float(state.get(name, value)) for name, value in zip(equations.states, initial, strict=True)])
    given = np.array(state, dtype=float)
    if given.shape != (len(equations.states),):
        raise ModelError([Problem(f"a state has {len(equations.states)} values: {', '.join(equations.states)}")])
    return given


_recent: list[Measure] = []


def measure_of(equations: Equations) -> Measure:
    """The measure of these equations; the last few are kept, since compiling takes longer than measuring."""
    for known in _recent:
        if known.equations is equations:
            return known
    made = Measure(equations)
    _recent.insert(0, made)
    del _recent[8:]
    return made
