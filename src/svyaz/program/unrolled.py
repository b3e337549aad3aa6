"""Elimination written out: a linear system in a chosen order as straight-line code, with watched pivots.

The unrolled elimination knows which entries are zero for ever and leaves them out. It is accepted only when it has
been good:

* a symmetric matrix in the diagonal order: every pivot is positive and has not lost more than ``DEFINITE_LOSS`` of its
  diagonal entry. Then the matrix is positive definite, and elimination without exchanges is stable (N. J. Higham,
  Accuracy and Stability of Numerical Algorithms, §10.1);
* otherwise: no pivot has lost more than ``PIVOT_LOSS`` by cancellation, and the unknowns satisfy each equation to
  ``RESIDUAL`` of the magnitude of its terms, which bounds the backward error whatever the growth (theorem 7.3).

Native code and texts in other languages are written by the same class: only their arithmetic differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

DEFINITE_LOSS = 2.0**-40
PIVOT_LOSS = 2.0**-30
RESIDUAL = 2.0**-46


class Arithmetic(Protocol):
    """How a language writes one operation: each method appends it and answers with the name of its value."""

    def number(self, value: float) -> str: ...

    def add(self, a: str, b: str) -> str: ...

    def sub(self, a: str, b: str) -> str: ...

    def mul(self, a: str, b: str) -> str: ...

    def div(self, a: str, b: str) -> str: ...

    def negated(self, a: str) -> str: ...

    def magnitude(self, a: str) -> str: ...

    def smaller(self, a: str, b: str) -> str: ...

    def is_positive(self, a: str) -> str: ...

    def is_not_negative(self, a: str) -> str: ...

    def both(self, a: str, b: str) -> str: ...


class Unrolled:
    """Straight-line elimination in the order of the system; entries that are zero for ever do not occur."""

    def __init__(
        self,
        function: Arithmetic,
        matrix: Sequence[Sequence[str]],
        sides: Sequence[Sequence[str]],
        order: tuple[tuple[int, ...], tuple[int, ...]],
        *,
        symmetric: bool,
    ) -> None:
        self.function = function
        self.zero = function.number(0.0)
        self.size = len(matrix)
        self.rows, self.columns = order
        self.diagonal = symmetric and self.rows == self.columns
        self.entries = {
            (row, column): value
            for row, values in enumerate(matrix)
            for column, value in enumerate(values)
            if value != self.zero
        }
        self.sides = [list(side) for side in sides]
        self.definite = self.diagonal and all((k, k) in self.entries for k in range(self.size))
        self.inverses: list[str] = []
        self.margins: list[str] = []
        self.pivots = set(zip(self.rows, self.columns, strict=True))
        self.parts: dict[tuple[int, int], str] = {}

    def unknowns(self) -> list[str]:
        """Eliminate and substitute back; the unknowns side by side."""
        work = dict(self.entries)
        sides = [list(side) for side in self.sides]
        factors = [self._eliminate(work, sides, step) for step in range(self.size)]
        return [value for side in sides for value in self._substitute(work, side, factors)]

    def _eliminate(self, work: dict[tuple[int, int], str], sides: list[list[str]], step: int) -> dict[int, str]:
        """One pivot: subtract its row from those below. Returns the factor of each row."""
        function, row, column = self.function, self.rows[step], self.columns[step]
        pivot = work.get((row, column), self.zero)
        self._watch((row, column), pivot)
        inverse = function.div(function.number(1.0), pivot)
        self.inverses.append(inverse)
        factors: dict[int, str] = {}
        right = [c for c in self.columns[step + 1 :] if (row, c) in work]
        for place in range(step + 1, self.size):
            below = self.rows[place]
            # Of a symmetric matrix only the upper triangle is kept: what is left of the pivot stands above it too.
            entry = work.get((row, below) if self.diagonal else (below, column))
            if entry is None:
                continue
            factor = factors[below] = function.mul(entry, inverse)
            for c in right:
                if not self.diagonal or c in self.columns[place:]:
                    work[below, c] = self._updated(work, (below, c), function.mul(factor, work[row, c]))
            for side in sides:
                if side[row] != self.zero:
                    side[below] = self._less(side[below], function.mul(factor, side[row]))
        return factors

    def _updated(self, work: dict[tuple[int, int], str], place: tuple[int, int], product: str) -> str:
        """An entry less a product; the parts of a pivot to come are summed by magnitude."""
        old = work.get(place, self.zero)
        if place in self.pivots and not self.definite:
            size = self.function.magnitude(product)
            before = self.parts.get(place) or (self.function.magnitude(old) if old != self.zero else None)
            self.parts[place] = size if before is None else self.function.add(before, size)
        return self._less(old, product)

    def _less(self, value: str, product: str) -> str:
        """value - product."""
        return self.function.negated(product) if value == self.zero else self.function.sub(value, product)

    def _watch(self, place: tuple[int, int], pivot: str) -> None:
        """Note by how much a pivot is above what it must be."""
        function = self.function
        if self.definite:
            allowed = function.mul(function.number(DEFINITE_LOSS), self.entries[place])
            self.margins.append(function.sub(pivot, allowed))
        elif place in self.parts:
            allowed = function.mul(function.number(PIVOT_LOSS), self.parts[place])
            self.margins.append(function.sub(function.magnitude(pivot), allowed))
        else:
            self.margins.append(function.magnitude(pivot))

    def _substitute(
        self, work: dict[tuple[int, int], str], side: list[str], factors: list[dict[int, str]]
    ) -> list[str]:
        """Unknowns of one side from the last pivot to the first."""
        function = self.function
        unknowns = [self.zero] * self.size
        for step in range(self.size - 1, -1, -1):
            row, column = self.rows[step], self.columns[step]
            if self.diagonal:
                value = function.mul(side[row], self.inverses[step])
                for later, factor in factors[step].items():
                    value = function.sub(value, function.mul(factor, unknowns[later]))
            else:
                value = side[row]
                for later in self.columns[step + 1 :]:
                    if (row, later) in work:
                        value = self._less(value, function.mul(work[row, later], unknowns[later]))
                value = function.mul(value, self.inverses[step])
            unknowns[column] = value
        return unknowns

    def accepted(self, unknowns: list[str]) -> str:
        """Has the elimination been good?"""
        function = self.function
        good = function.is_positive(self._least(self.margins))
        if self.definite:
            return good
        margins = []
        for number, side in enumerate(self.sides):
            solution = unknowns[number * self.size : (number + 1) * self.size]
            sizes = [function.magnitude(x) for x in solution]
            margins += [self._residual_margin(row, side[row], solution, sizes) for row in range(self.size)]
        return function.both(good, function.is_not_negative(self._least(margins)))

    def _residual_margin(self, row: int, side: str, solution: list[str], sizes: list[str]) -> str:
        """RESIDUAL · (|b| + Σ|a x|) - |b - Σ a x| of one equation, each product on its own so that it fuses with its sum."""
        function = self.function
        residual, size = side, function.magnitude(side)
        for column in range(self.size):
            if (row, column) in self.entries:
                entry = self.entries[row, column]
                residual = function.sub(residual, function.mul(entry, solution[column]))
                size = function.add(size, function.mul(function.magnitude(entry), sizes[column]))
        return function.sub(function.mul(function.number(RESIDUAL), size), function.magnitude(residual))

    def _least(self, values: list[str]) -> str:
        """The least of the values, in pairs, so that the processor need not wait for one after the other."""
        while len(values) > 1:
            pairs = zip(values[::2], values[1::2], strict=False)
            values = [self.function.smaller(a, b) for a, b in pairs] + values[len(values) // 2 * 2 :]
        return values[0]
