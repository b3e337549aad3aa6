"""Many symmetric sparse matrices of one pattern at a time: determinants, solutions, extreme values, in native loops.

The matrices are [A Gᵀ; G 0] as a rule, A definite: an order of elimination that follows from the pattern is good for all of
them (see `svyaz.program.sparse_order`). Nothing is watched: this is for judgements, not for motions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.matrices import largest_values
from svyaz.program.functions import Entries
from svyaz.program.llvm_sparse import Factored, factored, substituted
from svyaz.program.native import Native, compile_program
from svyaz.program.sparse_order import Order, sparse_order
from svyaz.program.tape import Node, Program


class _Tape:
    """Writes operations as nodes of a tape."""

    def __init__(self, inputs: int) -> None:
        self.nodes: list[Node] = [("input", k) for k in range(inputs)]
        self._known: dict[Node, int] = {}

    def _node(self, *node: object) -> int:
        if node not in self._known:
            self._known[node] = len(self.nodes)
            self.nodes.append(node)
        return self._known[node]

    def literal(self, value: float) -> int:
        return self._node("const", value)

    def do(self, kind: str, *operands: int) -> int:
        if kind == "less":
            return self._node("sub", operands[2], self._node("mul", *operands[:2]))
        return self._node(kind, *operands)


@dataclass(frozen=True)
class Factors:
    """The order in which matrices with entries at these places (e,), both triangles of them, are eliminated."""

    size: int
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    order: Order

    def factored(self, values: Array) -> Array:
        """Pivots, their inverses and all factors (k, f) of the matrices with these values (k, e) of their entries."""
        return self._programs[0].evaluate(values, np.zeros(1))

    def log_determinants(self, factored: Array) -> tuple[Array, Array]:
        """(sign, log |det|)."""
        pivots = factored[:, : self.size]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.prod(np.sign(pivots), axis=1), np.sum(np.log(np.abs(pivots)), axis=1)

    def solved(self, factored: Array, sides: Array) -> Array:
        """The unknowns (k, n); not numbers where a matrix is singular."""
        return self._programs[1].evaluate(np.column_stack([factored[:, self.size :], sides]), np.zeros(1))

    @cached_property
    def _programs(self) -> tuple[Native, Native]:
        """From entries to factors, and from factors and a side to the unknowns."""
        tape = _Tape(len(self.rows))
        entries = {(int(i), int(j)): k for k, (i, j) in enumerate(zip(self.rows, self.columns, strict=True))}
        pivots, inverses, columns = factored(tape, entries, self.order)
        places = [(step, later) for step, column in enumerate(columns) for later in column]
        kept = [*inverses, *(columns[step][later] for step, later in places)]
        first = _program(tape, len(self.rows), [*pivots, *kept])
        tape = _Tape(len(kept) + self.size)
        factors: list[dict[int, int]] = [{} for _ in range(self.size)]
        for number, (step, later) in enumerate(places):
            factors[step][later] = self.size + number
        given: Factored = [], list(range(self.size)), factors
        side = list(range(len(kept), len(kept) + self.size))
        return first, _program(tape, len(kept) + self.size, substituted(tape, given, self.order, side))


def _program(tape: _Tape, inputs: int, outputs: list[int]) -> Native:
    names = tuple(f"given {k}" for k in range(inputs))
    found = tuple((f"found {k}", node) for k, node in enumerate(outputs))
    return compile_program(Program((), names, tuple(tape.nodes), found), longest=0)


@dataclass(frozen=True)
class Bordered:
    """Matrices [A Gᵀ; G 0] with n rows A and m rows G along rows of states: their factors and their entries (k, e)."""

    factors: Factors
    values: Array
    n: int
    m: int

    @cached_property
    def factored(self) -> Array:
        """The factors of each."""
        return self.factors.factored(self.values)

    def log_determinants(self) -> tuple[Array, Array]:
        """(sign, log |det|)."""
        return self.factors.log_determinants(self.factored)

    def solved(self, above: Array, below: Array) -> tuple[Array, Array]:
        """x and y of A x + Gᵀ y = above, G x = below, (k, n) and (k, m)."""
        found = self.factors.solved(self.factored, np.column_stack([above, below]))
        return found[:, : self.n], found[:, self.n :]

    def least_gradients(self) -> Array:
        """The least singular value of A^(-½) Gᵀ, with A = 1 that of G (k,); zero where the matrix is singular."""
        nothing = np.zeros((len(self.values), self.n))
        most = largest_values(lambda y: -self.solved(nothing, y)[1], len(self.values), self.m)
        return np.asarray(np.where(np.isfinite(most), 1.0 / np.sqrt(np.maximum(most, 1e-300)), 0.0))

    def least_inertia(self) -> Array:
        """The least root of A among the x with G x = 0 (k,); one where there is none but x = 0."""
        if self.n <= self.m:
            return np.ones(len(self.values))
        nothing = np.zeros((len(self.values), self.m))
        most = largest_values(lambda x: self.solved(x, nothing)[0], len(self.values), self.n)
        return np.asarray(np.where(np.isfinite(most), 1.0 / np.maximum(most, 1e-300), 0.0))


def bordered(a: Entries | None, g: Entries) -> Bordered | None:
    """[A Gᵀ; G 0] along rows of states, A = 1 unless given; None where no order of elimination is found."""
    k, (m, n) = len(g.values), g.shape
    if a is None:
        same = np.arange(n)
        a = Entries(np.ones((k, n)), same, same, (n, n))
    rows = np.concatenate([a.rows, g.rows + n, g.columns])
    columns = np.concatenate([a.columns, g.columns, g.rows + n])
    values = np.concatenate([a.values, g.values, g.values], axis=1)
    found = _factors(n + m, rows, columns, values)
    return None if found is None else Bordered(found, values, n, m)


def _factors(size: int, rows: NDArray[np.intp], columns: NDArray[np.intp], values: Array) -> Factors | None:
    key = (size, rows.tobytes(), columns.tobytes())
    if key not in _KEPT:
        sample = dict(zip(zip(rows.tolist(), columns.tolist(), strict=True), _typical(values).tolist(), strict=True))
        found = sparse_order(size, sample, symmetric=True)
        while len(_KEPT) >= MOST_KEPT:
            del _KEPT[next(iter(_KEPT))]
        _KEPT[key] = None
        if found is not None and found[0][0] == found[0][1]:
            _KEPT[key] = Factors(size, rows, columns, found[0])
    return _KEPT[key]


MOST_KEPT = 8
_KEPT: dict[tuple[int, bytes, bytes], Factors | None] = {}
"""The last few patterns."""


def _typical(values: Array) -> Array:
    """Entries at which the order is tried: the first row of finite ones, with ones where it has none."""
    finite = np.flatnonzero(np.isfinite(values).all(axis=1))
    return values[finite[0]] if len(finite) else np.ones(values.shape[1])
