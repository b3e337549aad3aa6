"""Linear systems in LLVM text: unrolled in a chosen order with watched pivots, or handed to the pivoted solver.

The unrolled elimination knows which entries are zero for ever and leaves them out. It is accepted only when it has
been good:

* a symmetric matrix in the diagonal order: every pivot is positive and has not lost more than ``DEFINITE_LOSS`` of its
  diagonal entry. Then the matrix is positive definite, and elimination without exchanges is stable (N. J. Higham,
  Accuracy and Stability of Numerical Algorithms, §10.1);
* otherwise: no pivot has lost more than ``PIVOT_LOSS`` by cancellation, and the unknowns satisfy each equation to
  ``RESIDUAL`` of the magnitude of its terms, which bounds the backward error whatever the growth (theorem 7.3).

What is not accepted is solved again by the pivoted solver, which also judges whether the system is singular.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from svyaz.program.llvm_function import FunctionText, literal, padded, row_length
from svyaz.program.tape import LinearSystem, system_nodes

DEFINITE_LOSS = 2.0**-40
PIVOT_LOSS = 2.0**-30
RESIDUAL = 2.0**-46
ZERO = literal(0.0)

Name = Callable[[int], str]
"""From a node to its value in the function."""


@dataclass(frozen=True)
class Storage:
    """Where a system is stored for the solvers: numbers from ``start`` on, row by row."""

    start: int
    size: int
    sides: int

    @property
    def first_side(self) -> int:
        """The column of the first side."""
        return padded(self.size)

    @property
    def width(self) -> int:
        """Numbers in a row."""
        return row_length(self.size, self.sides)

    @property
    def numbers(self) -> int:
        """Numbers of the system itself."""
        return self.size * self.width

    def places(self, system: LinearSystem) -> Iterator[tuple[int, int]]:
        """(node, place) of every entry of the matrix and of the sides."""
        for index, node in enumerate(system.matrix):
            row, column = divmod(index, self.size)
            yield node, self.start + row * self.width + column
        for number, side in enumerate(system.sides):
            for row, node in enumerate(side):
                yield node, self.start + row * self.width + self.first_side + number


def storages(systems: Sequence[LinearSystem]) -> tuple[list[Storage], int]:
    """Storage of each system, one after the other (twice: the symmetric solver works in a copy), and the total."""
    result, start = [], 0
    for system in systems:
        result.append(Storage(start, system.size, len(system.sides)))
        start += 2 * result[-1].numbers
    return result, start


def emit_looped(function: FunctionText, system: LinearSystem, number: int, storage: Storage, name: Name) -> list[str]:
    """Solve a system that is already stored; the values of its unknowns, side by side."""
    unknowns = _call_solver(function, system, number, storage, name)
    function.do(f"br label %solved{number}")
    function.begin(f"solved{number}")
    return unknowns


def emit_unrolled(function: FunctionText, system: LinearSystem, number: int, storage: Storage, name: Name) -> list[str]:
    """Solve a system in its order, and once more with pivoting when that was not good; the unknowns, side by side."""
    # Everything is loaded here, before the ways part: a value must be known on each way that uses it.
    for node in system_nodes(system):
        name(node)
    elimination = Unrolled(function, system, name)
    fast = elimination.unknowns()
    good = elimination.accepted(fast)
    fast_block = function.block
    function.do(f"br i1 {good}, label %solved{number}, label %again{number}, !prof !0")
    function.begin(f"again{number}")
    clear(function, storage)
    for node, place in storage.places(system):
        if name(node) != ZERO:
            function.store(name(node), "%work", place)
    slow = _call_solver(function, system, number, storage, name)
    slow_block = function.block
    function.do(f"br label %solved{number}")
    function.begin(f"solved{number}")
    return [
        function.value(f"phi double [ {a}, %{fast_block} ], [ {b}, %{slow_block} ]")
        for a, b in zip(fast, slow, strict=True)
    ]


def clear(function: FunctionText, storage: Storage) -> None:
    """Fill the storage with zeros, the padding too."""
    at = function.value(f"getelementptr double, ptr %work, i64 {storage.start}")
    function.do(f"call void @llvm.memset.p0.i64(ptr {at}, i8 0, i64 {8 * storage.numbers}, i1 false)")


def _call_solver(function: FunctionText, system: LinearSystem, number: int, storage: Storage, name: Name) -> list[str]:
    """Call a solver, leave the function when the system is singular, load the unknowns."""
    solver = "svyaz_solve_symmetric" if _may_be_definite(system, name) else "svyaz_solve_pivoted"
    at = function.value(f"getelementptr double, ptr %work, i64 {storage.start}")
    sizes = f"i64 {storage.size}, i64 {storage.first_side}, i64 {storage.width}"
    status = function.value(f"call i32 @{solver}(ptr {at}, ptr %factors, {sizes})")
    bad = function.value(f"icmp ne i32 {status}, 0")
    function.do(f"br i1 {bad}, label %singular{number}, label %pivoted{number}, !prof !1")
    function.begin(f"pivoted{number}")
    return [
        function.load("%work", storage.start + row * storage.width + storage.first_side + side)
        for side in range(storage.sides)
        for row in range(storage.size)
    ]


def _may_be_definite(system: LinearSystem, name: Name) -> bool:
    """Symmetric, and no diagonal entry is zero for ever."""
    return system.symmetric and all(name(system.matrix[k * (system.size + 1)]) != ZERO for k in range(system.size))


class Unrolled:
    """Straight-line elimination in the order of the system; entries that are zero for ever do not occur."""

    def __init__(self, function: FunctionText, system: LinearSystem, name: Name) -> None:
        assert system.order is not None
        self.function = function
        self.size = system.size
        self.rows, self.columns = system.order
        self.diagonal = system.symmetric and self.rows == self.columns
        self.entries = {
            (row, column): value
            for row in range(system.size)
            for column in range(system.size)
            if (value := name(system.matrix[row * system.size + column])) != ZERO
        }
        self.sides = [[name(node) for node in side] for side in system.sides]
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
        pivot = work.get((row, column), ZERO)
        self._watch((row, column), pivot)
        inverse = function.div(literal(1.0), pivot)
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
                if side[row] != ZERO:
                    side[below] = self._less(side[below], function.mul(factor, side[row]))
        return factors

    def _updated(self, work: dict[tuple[int, int], str], place: tuple[int, int], product: str) -> str:
        """An entry less a product; the parts of a pivot to come are summed by magnitude."""
        old = work.get(place, ZERO)
        if place in self.pivots and not self.definite:
            size = self.function.magnitude(product)
            before = self.parts.get(place) or (self.function.magnitude(old) if old != ZERO else None)
            self.parts[place] = size if before is None else self.function.add(before, size)
        return self._less(old, product)

    def _less(self, value: str, product: str) -> str:
        """value - product."""
        return self.function.value(f"fneg double {product}") if value == ZERO else self.function.sub(value, product)

    def _watch(self, place: tuple[int, int], pivot: str) -> None:
        """Note by how much a pivot is above what it must be."""
        function = self.function
        if self.definite:
            allowed = function.mul(literal(DEFINITE_LOSS), self.entries[place])
            self.margins.append(function.sub(pivot, allowed))
        elif place in self.parts:
            allowed = function.mul(literal(PIVOT_LOSS), self.parts[place])
            self.margins.append(function.sub(function.magnitude(pivot), allowed))
        else:
            self.margins.append(function.magnitude(pivot))

    def _substitute(
        self, work: dict[tuple[int, int], str], side: list[str], factors: list[dict[int, str]]
    ) -> list[str]:
        """Unknowns of one side from the last pivot to the first."""
        function = self.function
        unknowns = [ZERO] * self.size
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
        good = function.value(f"fcmp ogt double {self._least(self.margins)}, 0.0")
        if self.definite:
            return good
        margins = []
        for number, side in enumerate(self.sides):
            solution = unknowns[number * self.size : (number + 1) * self.size]
            sizes = [function.magnitude(x) for x in solution]
            margins += [self._residual_margin(row, side[row], solution, sizes) for row in range(self.size)]
        exact = function.value(f"fcmp oge double {self._least(margins)}, 0.0")
        return function.value(f"and i1 {good}, {exact}")

    def _residual_margin(self, row: int, side: str, solution: list[str], sizes: list[str]) -> str:
        """RESIDUAL · (|b| + Σ|a x|) - |b - Σ a x| of one equation, each product on its own so that it fuses with its sum."""
        function = self.function
        residual, size = side, function.magnitude(side)
        for column in range(self.size):
            if (row, column) in self.entries:
                entry = self.entries[row, column]
                residual = function.sub(residual, function.mul(entry, solution[column]))
                size = function.add(size, function.mul(function.magnitude(entry), sizes[column]))
        return function.sub(function.mul(literal(RESIDUAL), size), function.magnitude(residual))

    def _least(self, values: list[str]) -> str:
        """The least of the values, in pairs, so that the processor need not wait for one after the other."""
        while len(values) > 1:
            pairs = zip(values[::2], values[1::2], strict=False)
            values = [self.function.smaller(a, b) for a, b in pairs] + values[len(values) // 2 * 2 :]
        return values[0]
