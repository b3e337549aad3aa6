"""Equations as functions of numbers: ẋ = f(t, x, u, p) as integrators take it, and the terms of the equations one by one.

    M q̈ + bias = Gᵀ λ,   G q̈ + constraint_bias = 0,   f = (q̇, q̈, further rates)

Everything takes one state or many: with x of the shape (k, n), t and the entries of u may be of the shape (k,).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import symengine as se
from numpy.typing import ArrayLike

from svyaz.arguments import short_text
from svyaz.arrays import Array
from svyaz.expr import ModelError, Problem
from svyaz.forms.equations import Equations
from svyaz.forms.programs import observation, rates_of, slopes_of
from svyaz.model import nearest
from svyaz.program import Function, Linear, SingularSystem, Table, function

Values: TypeAlias = Mapping[str, ArrayLike] | ArrayLike | None
"""Numbers by name, or all of them in order; what is left out has the value that the model gives it."""


WHOLE = ("rates", "multipliers", "by states", "by inputs")
"""Tables that want all states; others take coordinates alone for a position at rest."""


@dataclass(frozen=True)
class NumericEquations:
    """f(t, x, u, p): the rates of the states; ``states``, ``inputs`` and ``parameters`` tell the order of x, u and p.

    One state x (n,) gives (n,), k states (k, n) give (k, n).

    >>> import svyaz
    >>> f = svyaz.load("pendulum:1").derive().function()
    >>> f.states
    ('u1', "u1'")
    >>> f(0.0, [0.0, 1.0])
    array([ 1., -0.])
    """

    equations: Equations

    @property
    def states(self) -> tuple[str, ...]:
        """The order of x: coordinates, then velocities, then further states, as far as the form has them."""
        return self.equations.states

    @property
    def inputs(self) -> tuple[str, ...]:
        """The order of u."""
        return tuple(self.equations.system.inputs)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The order of p."""
        return tuple(self.equations.system.parameters)

    @property
    def initial(self) -> Array:
        """The initial state of the model, where all states of the form are states of the model."""
        given = dict(zip(self.equations.system.states, self.equations.system.initial_state(), strict=True))
        return np.array([given[name] for name in self.states])

    def __call__(self, t: ArrayLike, x: ArrayLike, u: Values = None, p: Values = None) -> Array:
        """ẋ at x: (n,), or (k, n) for k states; where accelerations are not determined it is not a number.

        All constraints act at once here, also those that the motion switches on and off.
        """
        return self._tables(self._solved, "rates", t, x, u, p)

    def multipliers(self, t: ArrayLike, x: ArrayLike, u: Values = None, p: Values = None) -> Array:
        """λ of the constraints, in the order of the model: (m,) or (k, m)."""
        return self._tables(self._solved, "multipliers", t, x, u, p)

    def jacobian(self, t: ArrayLike, x: ArrayLike, u: Values = None, p: Values = None) -> Array:
        """∂f/∂x, exact: (n, n) or (k, n, n)."""
        return self._tables(self._slopes, "by states", t, x, u, p)

    def input_jacobian(self, t: ArrayLike, x: ArrayLike, u: Values = None, p: Values = None) -> Array:
        """∂f/∂u, exact: (n, r) or (k, n, r)."""
        return self._tables(self._slopes, "by inputs", t, x, u, p)

    def mass_matrix(self, x: ArrayLike, t: ArrayLike = 0.0, u: Values = None, p: Values = None) -> Array:
        """M at a state, or at coordinates alone (velocities are zero then): (a, a) or (k, a, a)."""
        return self._tables(self._terms, "M", t, x, u, p)

    def bias(self, x: ArrayLike, t: ArrayLike = 0.0, u: Values = None, p: Values = None) -> Array:
        """What M q̈ is short of: minus the forces, with the quadratic terms: (a,) or (k, a)."""
        return self._tables(self._terms, "bias", t, x, u, p)

    def constraint_jacobian(self, x: ArrayLike, t: ArrayLike = 0.0, u: Values = None, p: Values = None) -> Array:
        """G: a row for each constraint, (m, a) or (k, m, a)."""
        return self._tables(self._terms, "G", t, x, u, p)

    def reactions(self, x: ArrayLike, t: ArrayLike = 0.0, u: Values = None, p: Values = None) -> Array:
        """R of M q̈ + bias = Rᵀ λ, as G but for the directions of controls; friction apart: (m, a) or (k, m, a)."""
        return self._tables(self._terms, "R" if self.equations.servo else "G", t, x, u, p)

    def constraint_bias(self, x: ArrayLike, t: ArrayLike = 0.0, u: Values = None, p: Values = None) -> Array:
        """What G q̈ is short of: (m,) or (k, m)."""
        return self._tables(self._terms, "constraint bias", t, x, u, p)

    def observed(
        self, x: ArrayLike, t: ArrayLike = 0.0, u: Values = None, p: Values = None
    ) -> dict[str, dict[str, Array]]:
        """``energies`` (kinetic, potential, energy), ``residuals`` of constraints, ``integrals``, by name."""
        rows, bound = self._row(t, x, u), self._bound(self._terms, p)
        names = {kind: tuple(table) for kind, table in self._quantities.items()}
        found = bound(rows, tuple(names))
        return {kind: {name: found[kind][..., k] for k, name in enumerate(own)} for kind, own in names.items() if own}

    def points(self, x: ArrayLike, t: ArrayLike = 0.0, u: Values = None, p: Values = None) -> list[tuple[str, Array]]:
        """Each part of the drawing, by its name or kind, with its points: (points, dimensions) or (k, points, dimensions)."""
        rows, bound = self._row(t, x, u), self._bound(self._terms, p)
        drawings = self.equations.system.drawings
        found = bound(rows, [f"points {k}" for k in range(len(drawings))])
        return [(d.name or d.kind, found[f"points {k}"]) for k, d in enumerate(drawings)]

    @cached_property
    def _order(self) -> tuple[str, ...]:
        return ("t", *self.states, *self.inputs)

    @cached_property
    def _quantities(self) -> dict[str, dict[str, se.Basic]]:
        _, found = observation(self.equations, None)
        return {kind: found[kind] for kind in ("energies", "residuals", "integrals")}

    @cached_property
    def _solved(self) -> Function:
        found = rates_of(self.equations)
        systems = list(found.systems)
        more, quantities = observation(self.equations, systems[0] if systems else None)
        tables: dict[str, Table] = {
            "rates": [rate for _, rate in found.rates],
            "multipliers": list(quantities["multipliers"].values()),
        }
        return self._compiled(tables, systems=[*systems, *more[len(systems) :]])

    @cached_property
    def _slopes(self) -> Function:
        systems, by = slopes_of(rates_of(self.equations), (*self.states, *self.inputs))
        n = len(self.states)
        tables: dict[str, Table] = {"by states": [row[:n] for row in by], "by inputs": [row[n:] for row in by]}
        return self._compiled(tables, systems=systems)

    @cached_property
    def _terms(self) -> Function:
        equations = self.equations
        tables: dict[str, Table] = {
            "M": equations.mass_matrix,
            "bias": equations.bias,
            "G": equations.constraint_jacobian,
            "constraint bias": equations.constraint_bias,
        }
        if equations.servo:
            tables["R"] = equations.smooth_reactions
        tables |= {kind: list(table.values()) for kind, table in self._quantities.items()}
        drawn = {f"points {k}": d.points for k, d in enumerate(equations.system.drawings)}
        shown: dict[str, Table] = {
            name: [[equations.in_states(e) for e in point] for point in points] for name, points in drawn.items()
        }
        return self._compiled(tables | shown)

    def _compiled(self, tables: Mapping[str, Table], systems: Sequence[Linear] = ()) -> Function:
        return function(tables, self._order, self.equations.system.parameters, systems=systems, often=True)

    def _tables(self, code: Function, name: str, t: ArrayLike, x: ArrayLike, u: Values, p: Values) -> Array:
        """A table at one state or many; what a singular system leaves open is not a number, in one state as in many."""
        rows, bound = self._row(t, x, u, whole=name in WHOLE), self._bound(code, p)
        try:
            return bound(rows, (name,))[name]
        except SingularSystem:
            return bound(rows[None, :], (name,))[name][0]

    def _row(self, t: ArrayLike, x: ArrayLike, u: Values, *, whole: bool = False) -> Array:
        """[t, x, u], or such rows; where x need not be ``whole``, coordinates alone will do."""
        state = _real("x", x)
        n, own = len(self.states), [q for q in self.equations.system.coordinates if q in self.states]
        if state.ndim not in (1, 2) or state.shape[-1] not in (n, n if whole else len(own)):
            message = f"x has {n} entries ({', '.join(self.states)}), or such rows; got the shape {state.shape}"
            raise ModelError([Problem(message)])
        row = np.zeros((*state.shape[:-1], len(self._order)))
        times = _real("t", t)
        if times.ndim and times.shape != state.shape[:-1]:
            raise ModelError([Problem(f"'t' must be one time, or one for each row of x; got the shape {times.shape}")])
        row[..., 0] = times
        row[..., 1 : 1 + state.shape[-1]] = state
        for k, value in enumerate(_in_order("u", u, self.inputs, self.equations.system.constants)):
            row[..., 1 + n + k] = value
        return row

    def _bound(self, code: Function, p: Values) -> Function:
        if p is None:
            return code
        given = _in_order("p", p, self.parameters, self.equations.system.constants)
        return code.with_values({name: _one(name, v) for name, v in zip(self.parameters, given, strict=True)})


def _in_order(argument: str, given: Values, names: Sequence[str], known: Mapping[str, float]) -> list[ArrayLike]:
    """Values of u or p in the order of the names; those of the model where none are given."""
    what = {"u": "input", "p": "parameter"}[argument]
    if given is None:
        return [known[name] for name in names]
    if isinstance(given, Mapping):
        strange = next((name for name in given if name not in names), None)
        if strange is not None:
            message = f"there is no {what} '{strange}'; there are {', '.join(names) or 'none'}"
            raise ModelError([Problem(message, hint=nearest(strange, names))])
        return [_real(name, given.get(name, known[name])) for name in names]
    values = np.atleast_1d(_real(argument, given))
    if values.shape[-1] != len(names):
        expected = f"{len(names)} values expected, one for each {what} ({', '.join(names)})"
        message = f"'{argument}': {expected}; got {values.shape[-1]}"
        raise ModelError([Problem(message)])
    return [values[..., k] for k in range(len(names))]


def _real(name: str, value: ArrayLike) -> Array:
    """An array of real numbers; those of an integrator that went astray need not be finite."""
    found = np.asarray(value)
    if found.dtype.kind not in "iuf":
        raise ModelError([Problem(f"'{name}' must hold real numbers, not {short_text(value)}")])
    return found.astype(float, copy=False)


def _one(name: str, value: ArrayLike) -> float:
    if np.ndim(value):
        raise ModelError([Problem(f"the parameter '{name}' must be one number, not {short_text(value)}")])
    return float(np.asarray(value))
