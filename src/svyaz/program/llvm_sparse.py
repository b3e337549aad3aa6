"""Elimination of sparse linear systems in a chosen order as operations of the interpreter, with watched pivots.

What is accepted is much as in `svyaz.program.unrolled`: pivots that are positive and have not lost too much of the diagonal
of a definite matrix; else pivots that have not lost too much by cancellation, and unknowns that satisfy each equation to
``RESIDUAL`` of the magnitude of its terms. Unknowns that do not are corrected once, by what their residuals give (iterative
refinement: N. J. Higham, Accuracy and Stability of Numerical Algorithms, §12.2).

``RESIDUAL`` leaves room here for what a large system loses without being at fault: an acceleration in the middle of a long
chain is the small difference of large tensions, and has their rounding. To correct it would take half the time of the
elimination again, and brings motions no nearer to the truth: the states that the matrix is made of are rounded as well.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from svyaz.program.tape import LinearSystem, cells
from svyaz.program.unrolled import DEFINITE_LOSS, PIVOT_LOSS

RESIDUAL = 2.0**-36
"""A power of two, so that numbers are compared with it exactly."""

Order = tuple[tuple[int, ...], tuple[int, ...]]
Value = Callable[[int], int]
"""From a node to the number of its value."""


class Writer(Protocol):
    """Takes operations on numbered values."""

    def do(self, kind: str, *operands: int) -> int: ...

    def literal(self, value: float) -> int: ...


class Conditional(Writer, Protocol):
    """Takes operations that are done only where what was done before does not suffice."""

    def apart(self, system: int) -> AbstractContextManager[None]: ...


@dataclass(frozen=True)
class Eliminated:
    """The unknowns, side by side, the least margin of the pivots (good above 0) and that of residuals (at least 0).

    Where these are not good, the ``corrected`` unknowns may be.
    """

    unknowns: tuple[int, ...]
    margin: int
    exactness: int
    corrected: Eliminated | None = None


def eliminated(writer: Conditional, system: LinearSystem, number: int, value: Value) -> Eliminated:
    """Eliminate and substitute back in the order of the system of this number."""
    zero = writer.literal(0.0)
    entries = {(row, column): entry for row, column, node in cells(system) if (entry := value(node)) != zero}
    sides = [[value(node) for node in side] for side in system.sides]
    assert system.order is not None
    work = _Elimination(writer, entries, system.order, symmetric=system.symmetric)
    unknowns = work.solved([list(side) for side in sides])
    margin = _least(writer, work.margins)
    if work.definite:
        return Eliminated(_flat(unknowns), margin, zero)
    equations = _Equations(writer, entries)
    sizes = [equations.sizes(*pair) for pair in zip(sides, unknowns, strict=True)]
    residuals = [equations.residuals(*pair) for pair in zip(sides, unknowns, strict=True)]
    with writer.apart(number):
        changes = [work.again(residual) for residual in residuals]
        pairs = zip(unknowns, changes, strict=True)
        better = [[writer.do("add", x, d) for x, d in zip(*pair, strict=True)] for pair in pairs]
        left = [equations.residuals(*pair) for pair in zip(sides, better, strict=True)]
        corrected = Eliminated(_flat(better), margin, _exactness(writer, sizes, left))
    return Eliminated(_flat(unknowns), margin, _exactness(writer, sizes, residuals), corrected)


def _flat(rows: list[list[int]]) -> tuple[int, ...]:
    return tuple(x for row in rows for x in row)


def _exactness(writer: Writer, sizes: list[list[int]], residuals: list[list[int]]) -> int:
    """The least of size - |residual|/RESIDUAL: what is left of the residuals that equations of such terms may have."""
    parts = writer.literal(1.0 / RESIDUAL)
    pairs = zip(_flat(sizes), _flat(residuals), strict=True)
    return _least(writer, [writer.do("fewer", parts, residual, size) for size, residual in pairs])


class _Elimination:
    """One elimination; only what is not zero for ever is kept, of a symmetric matrix what is right of the diagonal."""

    def __init__(
        self,
        writer: Writer,
        entries: dict[tuple[int, int], int],
        order: Order,
        *,
        symmetric: bool,
    ) -> None:
        self.writer = writer
        self.zero = writer.literal(0.0)
        self.rows, self.columns = order
        self.symmetric = symmetric and self.rows == self.columns
        size = len(self.rows)
        step_of_row = {row: step for step, row in enumerate(self.rows)}
        step_of_column = {column: step for step, column in enumerate(self.columns)}
        # from here on rows and columns are named by the step at which they are eliminated
        self.upper: list[dict[int, int]] = [{} for _ in range(size)]
        self.lower: list[dict[int, int]] = [{} for _ in range(size)]
        self.pivots = [self.zero] * size
        for (row, column), number in entries.items():
            i, j = step_of_row[row], step_of_column[column]
            if i == j:
                self.pivots[i] = number
            elif i < j:
                self.upper[i][j] = number
            elif not self.symmetric:
                self.lower[j][i] = number
        self.first = list(self.pivots)
        self.parts: dict[int, int] = {}
        self.definite = self.symmetric and self.zero not in self.pivots
        self.margins: list[int] = []
        self.inverses: list[int] = []
        self.factors: list[dict[int, int]] = []

    def solved(self, sides: list[list[int]]) -> list[list[int]]:
        """The unknowns of each side, by columns."""
        right = [[side[row] for row in self.rows] for side in sides]
        self.inverses, self.factors = self.eliminated(right)
        return [self._substituted(side, self.inverses, self.factors) for side in right]

    def again(self, side: list[int]) -> list[int]:
        """The unknowns of another side, once the matrix is eliminated."""
        right = [side[row] for row in self.rows]
        for step, factors in enumerate(self.factors):
            for later, factor in factors.items():
                right[later] = self._less(right[later], factor, right[step])
        return self._substituted(right, self.inverses, self.factors)

    def eliminated(self, right: list[list[int]]) -> tuple[list[int], list[dict[int, int]]]:
        """Inverses of the pivots and the factors of each step; the sides are eliminated too."""
        do, zero, size = self.writer.do, self.zero, len(self.rows)
        inverses, factors = [zero] * size, [dict[int, int]() for _ in range(size)]
        for step in range(size):
            self._watch(step)
            inverses[step] = inverse = do("div", self.writer.literal(1.0), self.pivots[step])
            upper = sorted(self.upper[step].items())
            lower = upper if self.symmetric else sorted(self.lower[step].items())
            for i, entry in lower:
                factor = factors[step][i] = do("mul", entry, inverse)
                for j, above in upper:
                    if not self.symmetric or j >= i:
                        self._subtract(i, j, factor, above)
                for side in right:
                    if side[step] != zero:
                        side[i] = self._less(side[i], factor, side[step])
        return inverses, factors

    def _subtract(self, i: int, j: int, factor: int, entry: int) -> None:
        """Entry (i, j) less a product; the parts of a pivot to come are summed by magnitude."""
        if i == j:
            old = self.pivots[i]
            if not self.definite:
                before = self.parts.get(i, self.writer.do("abs", old) if old != self.zero else self.zero)
                self.parts[i] = self.writer.do("more", factor, entry, before)
            self.pivots[i] = self._less(old, factor, entry)
        else:
            row, other = (self.upper[i], j) if i < j else (self.lower[j], i)
            row[other] = self._less(row.get(other, self.zero), factor, entry)

    def _less(self, value: int, a: int, b: int) -> int:
        """value - a b."""
        return self.writer.do("less", a, b, value)

    def _watch(self, step: int) -> None:
        """Note by how much a pivot is above what it must be."""
        do, literal, pivot = self.writer.do, self.writer.literal, self.pivots[step]
        if self.definite:
            self.margins.append(do("less", literal(DEFINITE_LOSS), self.first[step], pivot))
        elif step in self.parts:
            self.margins.append(do("less", literal(PIVOT_LOSS), self.parts[step], do("abs", pivot)))
        else:
            self.margins.append(do("abs", pivot))

    def _substituted(self, side: list[int], inverses: list[int], factors: list[dict[int, int]]) -> list[int]:
        do, size = self.writer.do, len(side)
        found, unknowns = [self.zero] * size, [self.zero] * size
        for step in range(size - 1, -1, -1):
            if self.symmetric:
                value = do("mul", side[step], inverses[step])
                for later, factor in factors[step].items():
                    value = self._less(value, factor, found[later])
            else:
                value = side[step]
                for later, entry in sorted(self.upper[step].items()):
                    value = self._less(value, entry, found[later])
                value = do("mul", value, inverses[step])
            found[step] = unknowns[self.columns[step]] = value
        return unknowns


class _Equations:
    """The rows of A x = b."""

    def __init__(self, writer: Writer, entries: dict[tuple[int, int], int]) -> None:
        self.do, self.zero = writer.do, writer.literal(0.0)
        self.rows: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for (row, column), entry in sorted(entries.items()):
            self.rows[row].append((column, entry))

    def residuals(self, side: list[int], unknowns: list[int]) -> list[int]:
        """b - Σ a x."""
        found = list(side)
        for row in range(len(side)):
            for column, entry in self.rows[row]:
                found[row] = self.do("less", entry, unknowns[column], found[row])
        return found

    def sizes(self, side: list[int], unknowns: list[int]) -> list[int]:
        """|b| + Σ|a x|."""
        found = [self.do("abs", b) if b != self.zero else self.zero for b in side]
        for row in range(len(side)):
            for column, entry in self.rows[row]:
                found[row] = self.do("more", entry, unknowns[column], found[row])
        return found


def _least(writer: Writer, values: list[int]) -> int:
    """The least of the values, in pairs."""
    while len(values) > 1:
        pairs = zip(values[::2], values[1::2], strict=False)
        values = [writer.do("smaller", a, b) for a, b in pairs] + values[len(values) // 2 * 2 :]
    return values[0]


Factored = tuple[list[int], list[int], list[dict[int, int]]]
"""L D Lᵀ of a symmetric matrix: pivots and their inverses, and (row, factor) of each column, by the steps of the order."""


def factored(writer: Writer, entries: dict[tuple[int, int], int], order: Order) -> Factored:
    """The factors of a symmetric matrix in a diagonal order; nothing is watched."""
    work = _Elimination(writer, entries, order, symmetric=True)
    work.definite = True  # what pivots are the sums of is not asked for
    inverses, factors = work.eliminated([])
    return work.pivots, inverses, factors


def substituted(writer: Writer, found: Factored, order: Order, side: list[int]) -> list[int]:
    """The unknowns for a side, by columns."""
    _, inverses, columns = found
    right = [side[row] for row in order[0]]
    for step, factors in enumerate(columns):
        for later, factor in factors.items():
            right[later] = writer.do("less", factor, right[step], right[later])
    unknowns, values = [0] * len(right), [0] * len(right)
    for step in range(len(right) - 1, -1, -1):
        value = writer.do("mul", right[step], inverses[step])
        for later, factor in columns[step].items():
            value = writer.do("less", factor, values[later], value)
        values[step] = unknowns[order[1][step]] = value
    return unknowns
