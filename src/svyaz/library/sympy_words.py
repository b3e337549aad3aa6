"""Expressions of SymPy and SymEngine as words of a model, and equations as matrices of SymPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import symengine as se

from svyaz.expr import Expression, ModelError, Problem, to_text, velocity
from svyaz.extras import extra

if TYPE_CHECKING:
    import sympy

    from svyaz.forms import Equations


def as_words(value: object) -> object:
    """Words of a model in which expressions of SymPy and SymEngine, and numbers of NumPy, may stand: plain ones.

    A function of the time stands for a coordinate, its derivative for the velocity: θ(t) is theta, dθ/dt is theta'.
    """
    if isinstance(value, se.Basic):
        return to_text(value)
    if _is_sympy(value):
        return _text(value)
    if isinstance(value, Mapping):
        return {str(as_words(key)): as_words(entry) for key, entry in value.items()}
    if isinstance(value, np.generic | np.ndarray):
        return as_words(value.tolist())
    if isinstance(value, list | tuple):
        return [as_words(entry) for entry in value]
    return value


def _is_sympy(value: object) -> bool:
    """Is it an expression of SymPy? Nobody else's objects come from there, and SymPy itself need not be loaded to see it."""
    return hasattr(value, "free_symbols") and hasattr(value, "atoms")


def _text(expression: sympy.Basic) -> str:
    """An expression of SymPy as the model files write it."""
    from sympy import Derivative, Symbol
    from sympy.core.function import AppliedUndef

    rates, moving = {}, {}
    for rate in expression.atoms(Derivative):
        (_, order), *more = rate.variable_count
        if more or order != 1 or not isinstance(rate.expr, AppliedUndef):
            message = f"'{rate}' has no place in a model: a coordinate is differentiated once, by the time"
            raise ModelError([Problem(message)])
        rates[rate] = Symbol(str(velocity(rate.expr.func.__name__)))
    plain = expression.subs(rates)
    for function in plain.atoms(AppliedUndef):
        moving[function] = Symbol(function.func.__name__)
    try:
        return to_text(se.sympify(plain.subs(moving)))
    except (se.SympifyError, TypeError, ValueError, RuntimeError) as error:
        raise ModelError([Problem(f"'{expression}' cannot be written as an expression of a model: {error}")]) from error


@dataclass(frozen=True)
class SympyEquations:
    """M q̈ + bias = Rᵀ λ and G q̈ + constraint_bias = 0 as matrices of SymPy; R (``reactions``) is G but for the directions of
    controls, friction apart.

    ``coordinates`` are those that accelerate with their ``velocities``; ``parameters`` are the symbols of everything that is
    constant. ``forcing`` is -bias, as ``KanesMethod`` and ``LagrangesMethod`` have it.
    """

    time: sympy.Symbol
    coordinates: tuple[sympy.Basic, ...]
    velocities: tuple[sympy.Basic, ...]
    parameters: tuple[sympy.Symbol, ...]
    mass_matrix: sympy.Matrix
    bias: sympy.Matrix
    constraint_jacobian: sympy.Matrix
    constraint_bias: sympy.Matrix
    reactions: sympy.Matrix

    @property
    def forcing(self) -> sympy.Matrix:
        """The right-hand side of M q̈ = forcing + Rᵀ λ."""
        return -self.bias


def in_sympy(equations: Equations, *, functions: bool) -> SympyEquations:
    """Equations for SymPy, with plain symbols or with ``functions`` of the time and their derivatives."""
    with extra("sympy"):
        import sympy

    time = sympy.Symbol("t")
    names, speeds = equations.accelerated, [str(v) for v in equations.velocities]
    moving = {sympy.Symbol(name): sympy.Symbol(name) for name in (*equations.states, *names, *speeds)}
    if functions:
        for state in equations.states:
            moving[sympy.Symbol(state)] = sympy.Function(state)(time)
        for q in equations.system.coordinates:
            if str(velocity(q)) in equations.states:
                moving[sympy.Symbol(str(velocity(q)))] = sympy.Derivative(sympy.Function(q)(time), time)

    def matrix(rows: Sequence[Sequence[Expression]], width: int) -> sympy.Matrix:
        entries = [entry._sympy_().xreplace(moving) for row in rows for entry in row]  # never read as text
        return sympy.Matrix(len(rows), width, entries)

    return SympyEquations(
        time=time,
        coordinates=tuple(moving[sympy.Symbol(name)] for name in names),
        velocities=tuple(moving[sympy.Symbol(name)] for name in speeds),
        parameters=tuple(sympy.Symbol(name) for name in equations.constants),
        mass_matrix=matrix(equations.mass_matrix, len(names)),
        bias=matrix([[entry] for entry in equations.bias], 1),
        constraint_jacobian=matrix(equations.constraint_jacobian, len(names)),
        constraint_bias=matrix([[entry] for entry in equations.constraint_bias], 1),
        reactions=matrix(equations.smooth_reactions, len(names)),
    )
