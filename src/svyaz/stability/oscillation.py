"""Lyapunov's first coefficient of an equilibrium with a pair of imaginary roots and all others to the left.

With ξ' = Aξ + ½B(ξ, ξ) + ⅙C(ξ, ξ, ξ) + … on the surface of the constraints, Aq = iωq, Aᵀp = -iωp, p̄ᵀq = 1,

    l₁ = (1/2ω) Re[ p̄ᵀC(q, q, q̄) - 2 p̄ᵀB(q, A⁻¹B(q, q̄)) + p̄ᵀB(q̄, (2iω - A)⁻¹B(q, q)) ]

(Lyapunov 1892; the form of Kuznetsov 2004, 5.4). The amplitude obeys ȧ = ω l₁ a³ + … on the centre manifold: l₁ < 0 makes the
equilibrium asymptotically stable, l₁ > 0 unstable, l₁ = 0 leaves it open.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import symengine as se
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.expr import add_up
from svyaz.forms import with_multipliers
from svyaz.matrices import svd
from svyaz.model import System
from svyaz.program import Program, build, remembered
from svyaz.stability.implicit import Residual, implicit_series, jacobian
from svyaz.stability.linearisation import FirstApproximation
from svyaz.stability.series import Coefficients, series
from svyaz.stability.spectrum import roots

SAMPLES = 4
"""So often the coefficient is computed with disturbed intermediate results."""

CLEAR = 1e3
"""A coefficient that is so many times its scatter is not zero."""


@dataclass(frozen=True)
class FirstCoefficient:
    """l₁ with its scatter by rounding, and the frequency ω of the pair; q has unit length."""

    value: float
    scatter: float
    frequency: float

    @property
    def sure(self) -> bool:
        """Is it certainly not zero?"""
        return bool(abs(self.value) > CLEAR * self.scatter)


def first_coefficient(approximation: FirstApproximation) -> FirstCoefficient | None:
    """l₁; none unless two roots are imaginary to rounding and all others are not, or where the motion is not analytic."""
    found = roots(approximation.A)
    pair = found[(found.real == 0) & (found.imag != 0)]
    if len(pair) != 2 or np.count_nonzero(found.real < 0) != len(found) - 2:
        return None
    vectors = _Field(approximation)
    frequency = float(abs(pair[0].imag))
    value, size = _coefficient(vectors, approximation.A, frequency, None)
    random = np.random.default_rng(5)
    others = [_coefficient(vectors, approximation.A, frequency, random)[0] for _ in range(SAMPLES)]
    if not np.isfinite([value, *others]).all():
        return None
    # disturbed results may cancel as exactly as the others: terms of this size are not known better than to their rounding
    scatter = max(float(np.abs(np.array(others) - value).max()), float(np.finfo(float).eps) * size)
    return FirstCoefficient(value, scatter, frequency)


def _coefficient(field: _Field, a: Array, frequency: float, random: np.random.Generator | None) -> tuple[float, float]:
    """l₁, and the size of the terms that make it up."""
    q, p = _eigenvectors(a, frequency)

    def powers(d: Coefficients) -> Coefficients:
        return field.along(d, random)

    def second(u: Coefficients, v: Coefficients) -> Coefficients:
        return np.asarray((powers(u + v)[:, 2] - powers(u - v)[:, 2]) / 2)

    both, less, other = powers(q + q.conj()), powers(q - q.conj()), powers(q.conj())
    cubic = both[:, 3] - less[:, 3] - 2 * other[:, 3]
    mixed = (both[:, 2] - less[:, 2]) / 2
    double = 2 * other[:, 2].conj()
    unit = np.eye(len(a))
    slow = np.linalg.solve(a, mixed)
    fast = np.linalg.solve(2j * frequency * unit - a, double)
    terms = [cubic, -2 * second(q, slow), second(q.conj(), fast)]
    total, size = np.vdot(p, sum(terms)), np.abs(p) @ np.sum(np.abs(terms), axis=0)
    return float(total.real / (2 * frequency)), float(size / (2 * frequency))


def _eigenvectors(a: Array, frequency: float) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """q and p of the root iω."""
    u, _, vt = svd(a - 1j * frequency * np.eye(len(a)))
    q, p = vt[-1].conj(), u[:, -1]
    return q, p / (p.conj() @ q).conj()


@remembered
def _program(system: System) -> Program:
    """F, Gq̇, Mq̈ + bias - Gᵀλ, Gq̈ + …, and the rates of the further states."""
    equations = with_multipliers(system)
    q, m = system.coordinates, len(system.constraints)
    v, a = equations.velocities, equations.accelerations
    pushes = [se.Symbol(f"multiplier {k}") for k in range(m)]
    g = equations.constraint_jacobian

    def dot(row: tuple[se.Basic, ...], vector: tuple[se.Symbol, ...]) -> se.Basic:
        return add_up(x * y for x, y in zip(row, vector, strict=True))

    outputs = [c.expression for c in system.constraints]
    outputs += [dot(row, v) for row in g]
    outputs += [
        add_up([dot(row, a), bias, *(-g[j][i] * pushes[j] for j in range(m))])
        for i, (row, bias) in enumerate(zip(equations.mass_matrix, equations.bias, strict=True))
    ]
    outputs += [add_up([dot(row, a), bias]) for row, bias in zip(g, equations.constraint_bias, strict=True)]
    outputs += [equations.explicit[name] for name in system.rates]
    inputs = (*q, *map(str, v), *map(str, a), *map(str, pushes), *system.rates)
    named = [(str(k), e) for k, e in enumerate(outputs)]
    return build(named, inputs=inputs, parameters=tuple(system.constants))


class _Field:
    """ξ' as a function of ξ = (r, ṙ, w) near the equilibrium: s, ṡ, r̈, s̈ and λ follow from the constraints."""

    def __init__(self, approximation: FirstApproximation) -> None:
        self.approximation, system = approximation, approximation.system
        self.program = _program(system)
        self.values = {**system.constants, **approximation.inputs}
        names = self.program.inputs
        n, free, bound = len(system.coordinates), approximation.independent, approximation.dependent
        place = {q: k for k, q in enumerate(system.coordinates)}
        self.given = [place[q] for q in free] + [n + place[q] for q in free]
        self.given += list(range(len(names) - len(system.rates), len(names)))
        self.unknown = [place[q] for q in bound] + [n + place[q] for q in bound]
        self.unknown += list(range(2 * n, len(names) - len(system.rates)))
        self.faster = [2 * n + place[q] for q in free]
        self.rest = np.array([approximation.state.get(name, 0.0) for name in names])
        balance = self._residual(np.zeros(len(self.given)), None)
        self.slope = jacobian(balance, self.rest[self.unknown])
        value = balance(self.rest[self.unknown][:, None])[:, 0]
        self.rest[self.unknown] -= np.linalg.solve(self.slope, value)  # the multipliers: the system is linear in them
        self.slope = jacobian(self._residual(np.zeros(len(self.given)), None), self.rest[self.unknown])

    def _whole(self, x: Coefficients, direction: NDArray[np.inexact]) -> Coefficients:
        whole = np.zeros((len(self.rest), x.shape[1]), dtype=complex)
        whole[self.given, 0] = self.rest[self.given]
        if x.shape[1] > 1:
            whole[self.given, 1] = direction
        whole[self.unknown] = x
        return whole

    def _outputs(self, whole: Coefficients, random: np.random.Generator | None) -> Coefficients:
        rows = whole if np.abs(whole.imag).max() > 0 else np.asarray(whole.real)
        return series(self.program, self.values, list(rows), random)

    def _residual(self, direction: NDArray[np.inexact], random: np.random.Generator | None) -> Residual:
        def residual(x: Coefficients) -> Coefficients:
            return self._outputs(self._whole(x, direction), random)[: len(self.unknown)]

        return residual

    def along(self, direction: NDArray[np.inexact], random: np.random.Generator | None) -> Coefficients:
        """The coefficients of ξ' for ξ = ξ₀ + s d, up to s³."""
        residual = self._residual(direction, random)
        x = implicit_series(residual, self.rest[self.unknown], self.slope, 4)
        whole = self._whole(x, direction)
        rates = self._outputs(whole, random)[len(self.unknown) :]
        n = len(self.approximation.independent)
        return np.vstack([whole[self.given[n : 2 * n]], whole[self.faster], rates])
