"""The numbers of equations with constraints at states, one or many, from one native program.

The program holds what the examination of constraints, the measure of deviations and the record of a motion have in
common: M, bias, G, h, ḣ, f with the magnitudes of their terms, multipliers, accelerations, energies, integrals. Gains of
each constraint for itself (ḧ + B ḣ + A h = 0, ḟ + E f = 0) are parameters of it, and so is what any other law adds to the
row of a constraint; all are zero unless values are given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.dynamics.code import Enforcement
from svyaz.dynamics.mobility import Mobility
from svyaz.dynamics.protocol import Dynamics, dynamics_of
from svyaz.dynamics.scales import inverse_roots, typical_sizes, typical_speeds, with_floor
from svyaz.dynamics.shared_tables import BY_CONSTRAINT
from svyaz.expr import ModelError, Problem
from svyaz.forms import Equations
from svyaz.program import Entries, Function, Tabulated, once_for_each

State = Mapping[str, float] | Sequence[float] | Array

MOST_KEPT = 4
"""Snapshots of the latest states that are kept: an event asks for the same one many times."""

PARTS = ("mass", "bias", *BY_CONSTRAINT)
"""Tables of a snapshot."""

DEVIATIONS = ("position", "velocity", "position_terms", "velocity_terms")
"""Tables of residuals and of the magnitudes of their terms."""


@dataclass(frozen=True)
class Numbers:
    """M (n, n), bias (n,), G and R (m, n), constraint_bias (m,), residuals and their scales (m,); of many states, with
    their number in front.

    Residuals in position and their scales are zero for constraints on velocities (``holonomic`` is False there).
    ``jacobian_terms`` are the entries of G with every term taken by its magnitude.
    """

    q: Array
    v: Array
    holonomic: NDArray[np.bool_]
    mass: Array
    bias: Array
    jacobian: Array
    jacobian_terms: Array
    reactions: Array
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
        """Are the constraints, their gradients and the directions of controls numbers here?"""
        parts = (self.jacobian, self.reactions, self.position, self.velocity)
        return all(bool(np.isfinite(a).all()) for a in parts)


@dataclass(frozen=True)
class Snapshot(Numbers):
    """The numbers at one state of a system."""

    time: float
    state: Array
    dynamics: Dynamics

    @cached_property
    def mobility(self) -> Mobility:
        """M⁻¹ here."""
        return self.dynamics.mobility(np.concatenate([[self.time], self.state]), self.mass, self.bias)

    def of_rows(self, rows: Sequence[int]) -> Snapshot:
        """That of some of the constraints."""
        kept = list(rows)
        names = ("holonomic", "jacobian", "jacobian_terms", "constraint_bias", *DEVIATIONS)
        return replace(self, **{name: getattr(self, name)[kept] for name in names})


@dataclass(frozen=True)
class Measure:
    """The numbers of equations along their states; ``function`` takes t and the states, ``parts`` are the tables of a
    snapshot that it gives.
    """

    equations: Equations
    dynamics: Dynamics
    function: Tabulated
    parts: tuple[str, ...]
    observed_names: Mapping[str, tuple[str, ...]]
    holonomic: NDArray[np.bool_]
    coordinates: tuple[int, ...]
    speeds: tuple[int, ...]

    def at(self, state: Array, time: float) -> Snapshot:
        """The snapshot at a state, given in the order of the states of the equations; the latest ones are kept."""
        key = (time, state.tobytes())
        found = self._latest.get(key)
        if found is None and self.large:
            return self._take(state, time)
        if found is None:
            if len(self._latest) >= MOST_KEPT:
                del self._latest[next(iter(self._latest))]
            found = self._latest[key] = self._take(state.copy(), time)
        return found

    def _take(self, state: Array, time: float) -> Snapshot:
        found = self._snapshot(np.array([time]), state[None, :])
        parts = {name: table[0] for name, table in found.items()}
        q, v = state[self._q], state[self._v]
        return Snapshot(q=q, v=v, holonomic=self.holonomic, time=time, state=state, dynamics=self.dynamics, **parts)

    @cached_property
    def _latest(self) -> dict[tuple[float, bytes], Snapshot]:
        return {}

    def along(self, times: Array, states: Array) -> Numbers:
        """The numbers at many states."""
        return self.numbers(states, self.function.known(np.column_stack([times, states]), self.parts))

    def numbers(self, states: Array, parts: dict[str, Array]) -> Numbers:
        """The numbers at many states from tables that ``function`` gave of them."""
        found = self._whole_tables(len(states), parts, PARTS)
        return Numbers(q=states[:, self._q], v=states[:, self._v], holonomic=self.holonomic, **found)

    def observing(self, enforcement: Enforcement) -> Measure:
        """The same with what observes a motion under an enforcement."""
        return replace(self, function=self.dynamics.observing(enforcement))

    @property
    def columns(self) -> dict[tuple[str, str], int]:
        """Numbers of the outputs of ``function`` that are observed, by kind and name."""
        found, start = {}, 0
        for kind, shape in self.function.shapes.items():
            for k, name in enumerate(self.observed_names.get(kind, ())):
                found[kind, name] = start + k
            start += prod(shape)
        return found

    @property
    def written(self) -> Function:
        """The native program of equations that are written out."""
        assert isinstance(self.function, Function), "recursions have no program"
        return self.function

    @cached_property
    def large(self) -> bool:
        """Are M and G large and sparse, so that they are better looked at by their entries?"""
        return "mass" in self.function.sparse and "jacobian" in self.function.sparse

    def matrices(self, times: Array, states: Array) -> tuple[Entries, Entries]:
        """M and G along rows of states."""
        mass, jacobian = self.function.entries(np.column_stack([times, states]), "mass", "jacobian")
        return mass, jacobian

    def gradients(self, times: Array, states: Array) -> Entries:
        """G along rows of states."""
        return self.function.entries(np.column_stack([times, states]), "jacobian")[0]

    def scaled_gradients(self, times: Array, states: Array) -> Entries:
        """G along rows of states in scaled coordinates, by the inertia of the first row."""
        masses, plain = self.matrices(times, states)
        return plain.scaled(np.ones(plain.shape[0]), inverse_roots(masses.diagonals()[0]))

    def augmented_determinants(self, times: Array, states: Array) -> tuple[Array, Array]:
        """(sign, log |det [M Rᵀ; G 0]|) along rows of states; NaN where the matrix is not defined."""
        return self.dynamics.log_determinants(np.column_stack([times, states]))

    def moved(self, state: Array, q: Array | None = None, v: Array | None = None) -> Array:
        """The state with other coordinates or other velocities."""
        new = state.copy()
        if q is not None:
            new[self._q] = q
        if v is not None:
            new[self._v] = v
        return new

    def displaced(self, state: Array, displacement: Array) -> Array:
        """The state with all coordinates of the model moved."""
        names, new = self.equations.states, state.copy()
        new[[names.index(q) for q in self.equations.system.coordinates]] += displacement
        return new

    @cached_property
    def _q(self) -> list[int]:
        return list(self.coordinates)

    @cached_property
    def _v(self) -> list[int]:
        return list(self.speeds)

    def _snapshot(self, times: Array, states: Array, only: Sequence[str] = PARTS) -> dict[str, Array]:
        own = [name for name in only if name in self.function.shapes]
        return self._whole_tables(len(times), self.function.known(np.column_stack([times, states]), own), only)

    def _whole_tables(self, k: int, found: dict[str, Array], only: Sequence[str]) -> dict[str, Array]:
        """Tables of k states; reactions that are along G have none of their own."""
        if "reactions" in only:
            found.setdefault("reactions", found["jacobian"])
        n, m = len(self.coordinates), len(self.holonomic)
        for name in found.keys() & {"mass", "jacobian", "jacobian_terms", "reactions"}:  # those without rows are flat
            found[name] = found[name].reshape((k, n if name == "mass" else m, n))
        return found


@once_for_each
def measure_of(equations: Equations) -> Measure:
    """The measure of these equations."""
    dynamics, names = dynamics_of(equations), list(equations.states)
    return Measure(
        equations=equations,
        dynamics=dynamics,
        function=dynamics.tables,
        parts=tuple(name for name in PARTS if name in dynamics.tables.shapes),
        observed_names=dynamics.observed_names,
        holonomic=np.array([d.position is not None for d in equations.deviations], dtype=bool),
        coordinates=tuple(names.index(q) for q in equations.accelerated),
        speeds=tuple(names.index(str(v)) for v in equations.velocities),
    )


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
