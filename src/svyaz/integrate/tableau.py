"""Runge–Kutta methods as data: y₁ = y₀ + h Σ bᵢ kᵢ, kᵢ = f(t₀ + cᵢ h, y₀ + h Σ aᵢⱼ kⱼ).

Each method stands in its own file of `svyaz.integrate.methods`, where `method(name)` finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from svyaz.arrays import Array

Exact = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class Controller:
    """Rule of the next step, h·safety·err^(-exponent)·err_before^memory, kept in [smallest, largest]·h.

    `exponent` and `memory` are those of Gustafsson's PI control as Hairer and Wanner use it (II.4 and IV.2).
    """

    exponent: float
    memory: float
    smallest: float
    largest: float
    safety: float = 0.9


@dataclass(frozen=True, eq=False)
class Tableau:
    """A Runge–Kutta method of s stages.

    a (s, s), b (s,), c (s,): the scheme. `errors`: none, one or two rows of s + 1 weights over the stages and the
    slope at the end of the step; h Σ eᵢ kᵢ estimates the error. `dense` (s + 1 + e, d) gives
    y(t₀ + θh) = y₀ + h Σᵢ kᵢ Σⱼ denseᵢⱼ φⱼ(θ), φ = θ, θ(1 - θ), θ²(1 - θ), θ²(1 - θ)², …, the nested basis of Hairer,
    in which nothing cancels; `extra_a` (e, s + 1 + e) and `extra_c` (e,) give the stages that only dense output needs.
    A method with a `controller` can choose its steps; it gives errors and dense, or `loops`: the name of a module with native
    code for this method alone, as `svyaz.integrate.radau` is.
    """

    name: str
    order: int
    a: Array
    b: Array
    c: Array
    errors: tuple[Array, ...] = ()
    dense: Array | None = None
    dense_order: int = 0
    extra_a: Array | None = None
    extra_c: Array | None = None
    controller: Controller | None = None
    loops: str = ""

    @cached_property
    def stages(self) -> int:
        return len(self.b)

    @cached_property
    def implicit(self) -> bool:
        """Whether a stage depends on itself or on later ones."""
        return bool(np.triu(self.a).any())

    @property
    def embedded(self) -> bool:
        """Whether the method estimates its own error, so that rtol may be asked for."""
        return self.controller is not None

    @property
    def fsal(self) -> bool:
        """Whether the error estimate uses the slope at the end of the step (first same as last)."""
        return any(row[-1] != 0 for row in self.errors)

    def stability_polynomial(self) -> Array:
        """Coefficients of S(z) = 1 + Σ zʲ bᵀAʲ⁻¹1, lowest power first; y₁ = S(hλ) y₀ for y' = λy."""
        if self.implicit:
            raise ValueError(f"{self.name} is implicit: its stability function is a fraction, not a polynomial")
        coefficients, vector = [1.0], np.ones(self.stages)
        for _ in range(self.stages):
            coefficients.append(float(self.b @ vector))
            vector = self.a @ vector
        return np.array(coefficients)

    def stability_fraction(self) -> tuple[Array, Array]:
        """S(z) = P(z)/Q(z) with P = det(1 - zA + z1bᵀ), Q = det(1 - zA); coefficients lowest power first.

        Hairer and Wanner II, IV.3 (3.3).
        """
        if not self.implicit:
            return self.stability_polynomial(), np.ones(1)
        # det(1 - zB) has the coefficients of det(λ - B) in reversed order: np.poly gives them as they are wanted
        numerator = np.real(np.poly(self.a - self.b[None, :]))
        denominator = np.real(np.poly(self.a))
        numerator[np.abs(numerator) < 1e-14] = 0.0
        return numerator, denominator

    def stability(self, z: ArrayLike) -> NDArray[np.complex128]:
        """S(z) for an array of complex z = hλ; the method damps where |S| < 1."""
        points = np.asarray(z, dtype=np.complex128)
        numerator, denominator = self.stability_fraction()
        value = np.polynomial.polynomial.polyval(points, numerator)
        return np.asarray(value / np.polynomial.polynomial.polyval(points, denominator), dtype=np.complex128)


@dataclass(frozen=True)
class Family:
    """Methods in one file: `member` gives the one of a choice, the text behind the colon; `example` says how to choose."""

    member: Callable[[str], Tableau]
    example: str


def fractions(text: str) -> Exact:
    """Rows of numbers, as they are printed in a book, read exactly."""
    return tuple(tuple(Fraction(word) for word in line.split()) for line in text.strip().splitlines())


def nested(powers: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Factors of θ, θ(1 - θ), θ²(1 - θ), … of a polynomial that is given by its factors of θ, θ², θ³, …"""
    rest, factors = list(powers), []
    for place in range(len(powers)):
        if place % 2 == 0:  # rest = value(1) + (1 - θ)·next: next has minus the sums of the higher factors
            factors.append(sum(rest, Fraction(0)))
            rest = [-sum(rest[i + 1 :], Fraction(0)) for i in range(len(rest) - 1)]
        else:  # rest = value(0) + θ·next
            factors.append(rest[0])
            rest = rest[1:]
    return tuple(factors)


def _vector(text: str) -> Array:
    return np.array([float(value) for value in fractions(text)[0]])


def _matrix(rows: Sequence[Sequence[Fraction]], columns: int) -> Array:
    full = np.zeros((len(rows), columns))
    for i, row in enumerate(rows):
        full[i, : len(row)] = [float(value) for value in row]
    return full


def printed(
    *,
    name: str,
    order: int,
    a: str,
    b: str,
    c: str,
    error: tuple[str, ...] = (),
    dense: str | None = None,
    dense_order: int = 4,
    controller: Controller | None = None,
) -> Tableau:
    """A method from its printed tableau, explicit or implicit.

    Zeros after the last entry of a row of `a` are left out, but no row is empty: the first one of an explicit method is
    "0". The rows of `dense` are factors of θ, θ², θ³, …, one row a stage.
    """
    weights = _vector(b)
    interpolant = None
    if dense is not None:
        rows = [nested(row) for row in fractions(dense)]
        interpolant = _matrix(rows, len(rows[0]))
    return Tableau(
        name=name,
        order=order,
        a=_matrix(fractions(a), len(weights)),
        b=weights,
        c=_vector(c),
        errors=tuple(_vector(row) for row in error),
        dense=interpolant,
        dense_order=dense_order if interpolant is not None else 0,
        controller=controller,
    )
