"""The own scale of a constraint: how large its residual would be if its terms did not cancel.

The scale of h = Σ terms is the sum of the magnitudes of its terms, taken through sums, products and powers:

    |a + b|, |max(a, b)|, |min(a, b)| → |a| + |b|,    |a b| → |a| |b|,    |aⁿ| → |a|ⁿ,    |sin a|, |cos a| → 1,

and |f(a)| for any other f.

It multiplies with the equation, and it does not see in which units a coordinate, the time or an angle is measured,
because each term stays what it is. Where all terms vanish (a system at rest) the gradient times typical sizes takes
over, as far as it goes: with E = Σ M_jj q_j² the typical size of q_i is √(E / M_ii), which again has the unit of q_i.
"""

from __future__ import annotations

import numpy as np
import symengine as se
from numpy.typing import NDArray
from symengine.lib.symengine_wrapper import Abs, Cos, Max, Min, Sin

from svyaz.arrays import Array
from svyaz.expr import ONE, Expression, add_up
from svyaz.forms import Equations

ZERO_RELATIVE = 1e-9
"""A residual below this part of the scale of its constraint is taken for zero."""

FLOOR = 1e-4
"""The least scale, as a part of the gradient times typical sizes."""


def magnitude(expression: Expression) -> Expression:
    """The sum of the magnitudes of the terms of an expression, as an expression."""
    if expression.is_Add or isinstance(expression, Abs | Max | Min):
        return add_up(magnitude(a) for a in expression.args)
    if expression.is_Mul:
        return se.Mul(*[magnitude(a) for a in expression.args])
    if expression.is_Pow:
        base, power = expression.args
        if power.is_Integer and int(power) > 0:
            return magnitude(base) ** power
        return Abs(expression)
    if isinstance(expression, Sin | Cos):
        return ONE
    return Abs(expression)


def scale_expressions(equations: Equations) -> tuple[tuple[Expression | None, Expression], ...]:
    """For each constraint the scales of its residual in position (None when it has none) and in velocity.

    These are the sums of terms alone; they may vanish at rest.
    """
    return tuple(
        (None if d.position is None else magnitude(d.position), magnitude(d.velocity)) for d in equations.deviations
    )


def typical_sizes(mass: Array, q: Array) -> Array:
    """√(Σ_j M_jj q_j² / M_ii) for each coordinate with inertia, |q_i| for one without; of one state or of many."""
    diagonal = np.diagonal(mass, axis1=-2, axis2=-1)
    return _sizes(diagonal, _energy(diagonal, q), q)


def typical_speeds(mass: Array, bias: Array, q: Array, v: Array) -> Array:
    """√(E / M_ii) with E = Σ M_jj v_j² + Σ |bias_j| size_j: of the motion, or what the forces would give."""
    diagonal = np.diagonal(mass, axis1=-2, axis2=-1)
    work = np.sum(np.abs(bias) * typical_sizes(mass, q), axis=-1, keepdims=True)
    return _sizes(diagonal, _energy(diagonal, v) + work, v)


def _energy(diagonal: Array, z: Array) -> Array:
    """Σ M_jj z_j² over what has inertia, (…, 1)."""
    total: Array = np.sum(np.where(diagonal > 0.0, diagonal, 0.0) * z**2, axis=-1, keepdims=True)
    return total


def _sizes(diagonal: Array, total: Array, own: Array) -> Array:
    heavy = diagonal > 0.0
    return np.where(heavy, np.sqrt(total / np.where(heavy, diagonal, 1.0)), np.abs(own))


def with_floor(terms: Array, gradient: Array, sizes: Array) -> Array:
    """max(sum of terms, FLOOR · Σ_i |gradient_i| size_i) for each row of the gradient."""
    return np.maximum(terms, FLOOR * (np.abs(gradient) @ sizes[..., None])[..., 0])


def is_met(residual: Array | float, scale: Array | float, tolerance: float = ZERO_RELATIVE) -> NDArray[np.bool_]:
    """Is the residual zero, measured by the scale of its constraint?"""
    return np.abs(np.asarray(residual)) <= tolerance * np.asarray(scale)
