"""Matrices with their first and second derivatives by some variables: what products and inverses do to them.

(XY)ᵢⱼ = Xᵢⱼ Y + Xᵢ Yⱼ + Xⱼ Yᵢ + X Yᵢⱼ,     (X⁻¹)ᵢ = -X⁻¹ Xᵢ X⁻¹
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from svyaz.arrays import Array


@dataclass(frozen=True)
class Jet:
    """``value`` (r, c), ``first`` (r, c, n), ``second`` (r, c, n, n) of a matrix that depends on n variables."""

    value: Array
    first: Array
    second: Array

    def __add__(self, other: Jet) -> Jet:
        return Jet(self.value + other.value, self.first + other.first, self.second + other.second)

    def __sub__(self, other: Jet) -> Jet:
        return self + other.times(-1.0)

    def times(self, number: float) -> Jet:
        """Each entry multiplied."""
        return Jet(number * self.value, number * self.first, number * self.second)

    def __matmul__(self, other: Jet) -> Jet:
        x, y = self, other
        first = np.einsum("rki,kc->rci", x.first, y.value) + np.einsum("rk,kci->rci", x.value, y.first)
        mixed = np.einsum("rki,kcj->rcij", x.first, y.first)
        second = np.einsum("rkij,kc->rcij", x.second, y.value) + np.einsum("rk,kcij->rcij", x.value, y.second)
        return Jet(x.value @ y.value, first, second + mixed + mixed.swapaxes(2, 3))

    @property
    def T(self) -> Jet:
        """The transpose."""
        return Jet(*(np.swapaxes(part, 0, 1) for part in (self.value, self.first, self.second)))

    def part(self, rows: Sequence[int], columns: Sequence[int]) -> Jet:
        """Those rows and columns."""
        place = np.ix_(rows, columns)
        return Jet(self.value[place], self.first[place], self.second[place])

    def inverse(self) -> Jet:
        """X⁻¹ of a square matrix."""
        y: Array = np.asarray(np.linalg.inv(self.value), dtype=float)
        first = -np.einsum("rk,kli,lc->rci", y, self.first, y)
        mixed = -np.einsum("rki,klj,lc->rcij", first, self.first, y)
        return Jet(y, first, mixed + mixed.swapaxes(2, 3) - np.einsum("rk,klij,lc->rcij", y, self.second, y))

    def cut(self) -> Jet:
        """Without second derivatives."""
        return Jet(self.value, self.first, np.zeros_like(self.second))
