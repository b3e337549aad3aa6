"""Curves along which a system rests but for a few forces: q(s), λ(s), w(s) and the forces σ(s) as power series.

    forces + e σ = 0,     F(q) = 0,     c (q - q₀, …) = u s,

with as many columns of e as rows of c; u says in which direction the curve sets out.
"""

from __future__ import annotations

import numpy as np

from svyaz.arrays import Array
from svyaz.matrices import cond, lstsq
from svyaz.model import System
from svyaz.program import Program, build, remembered
from svyaz.stability.implicit import Residual, implicit_series, jacobian
from svyaz.stability.linearisation import FirstApproximation
from svyaz.stability.rest import multiplier_symbols, rest_expressions
from svyaz.stability.series import Coefficients, series
from svyaz.stability.spectrum import NEGLIGIBLE

SAMPLES = 5
"""So often the coefficients are computed with disturbed intermediate results."""

CLEAR = 1e3
"""A coefficient that is so many times its scatter is not zero; below its scatter it may be."""

EXACT = 1e-6
"""So far, beside 1 and the coordinates, a position that is not multiple may be from the equilibrium."""


@remembered
def _program(system: System) -> Program:
    """The equations of rest as a program of coordinates, multipliers and further states."""
    names = (*system.coordinates, *(str(s) for s in multiplier_symbols(system)), *system.rates)
    outputs = [(str(k), e) for k, e in enumerate(rest_expressions(system))]
    return build(outputs, inputs=names, parameters=tuple(system.constants))


class RestCurve:
    """The curves through an equilibrium for c = ``across`` (k, unknowns) and e = ``against`` (equations, k)."""

    def __init__(self, approximation: FirstApproximation, across: Array, against: Array) -> None:
        self.approximation, self.across, self.against = approximation, across, against
        system = approximation.system
        self.values = {**system.constants, **approximation.inputs}
        self.program = _program(system)
        self.rows = len(system.coordinates), len(system.constraints)
        self.start = self._start()

    def _start(self) -> Array:
        """The position with the multipliers that balance it best."""
        n, m = self.rows
        state = self.approximation.state
        x = np.array([state.get(name, 0.0) for name in self.program.inputs])
        if m:
            value = self._equations(x[:, None])[:n, 0]
            pushes = [self._equations((x + unit)[:, None])[:n, 0] - value for unit in np.eye(len(x))[n : n + m]]
            x[n : n + m] = lstsq(np.array(pushes).T, -value, rcond=None)
        return x

    def _equations(self, x: Coefficients, random: np.random.Generator | None = None) -> Coefficients:
        return series(self.program, self.values, list(x), random)

    def _residual(self, directions: Array, base: Array, random: np.random.Generator | None = None) -> Residual:
        """For one direction (k,), or many (k, …)."""
        k = len(self.across)

        def residual(x: Coefficients) -> Coefficients:
            forces = self._equations(x[:-k], random) + np.tensordot(self.against, x[-k:], axes=1)
            displaced = x[:-k].copy()
            displaced[..., 0] -= base.reshape(-1, *(1 for _ in directions.shape[1:]))
            along = np.tensordot(self.across, displaced, axes=1)
            along[..., 1:2] -= directions[..., None]
            return np.concatenate([forces, along])

        return residual

    def slope(self, base: Array) -> Array | None:
        """∂R/∂x of the equations at the base; none where forces and displacements do not belong together."""
        start = np.append(base, np.zeros(len(self.across)))
        found = jacobian(self._residual(np.zeros(len(self.across)), base), start)
        return found if np.isfinite(found).all() and cond(found) <= 1 / NEGLIGIBLE else None

    def along(
        self, directions: Array, base: Array, length: int, random: np.random.Generator | None = None
    ) -> list[Coefficients]:
        """(q, λ, w, σ) as series in s about the base, for each direction; not numbers where there is no slope."""
        start, slope = np.append(base, np.zeros(len(self.across))), self.slope(base)
        if slope is None:
            return [np.full((len(start), length), np.nan) for _ in directions]
        if len(directions) == 1:
            return [implicit_series(self._residual(directions[0], base, random), start, slope, length)]
        residual = self._residual(directions.T, base, random)
        return list(np.moveaxis(implicit_series(residual, start, slope, length, (len(directions),)), 1, 0))


def in_order(approximation: FirstApproximation, rows: Array) -> Array:
    """Rows for independent and redundant coordinates, in the order of the model."""
    names = (*approximation.independent, *approximation.dependent)
    return rows[[names.index(q) for q in approximation.system.coordinates]]
