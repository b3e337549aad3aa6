"""Expressions as named numbers of a state: native code with its values bound, one row or many, tables as arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, wraps
from itertools import accumulate
from math import prod
from typing import Protocol, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.expr import ZERO, Expression, symbols_in
from svyaz.program.building import LONG, SMALL, build_to_look
from svyaz.program.compiled import LARGEST_SELDOM
from svyaz.program.elimination import choose_orders
from svyaz.program.lower import SPARSE, Linear
from svyaz.program.native import Native, compile_program
from svyaz.program.tape import Program

Table: TypeAlias = Expression | Sequence["Table"]
"""An expression, or a row of tables of one shape."""

TOGETHER = 1 << 19
"""So many numbers are computed at once when only some tables of many rows are wanted."""

LARGEST_TABLE = 16
"""A table of more entries than a square one of so many rows is kept by those that are not zero when these are few: what looks
at states by them costs less from here on, whole matrices of states cost several times as much at 40 rows."""

MOST_KEPT = 32
"""A run meets a dozen sets of constraints and more, and comes back to each of them at its end."""


@dataclass(frozen=True)
class Entries:
    """The entries of matrices (k, rows, columns) that are not zero for ever: values (k, e) at places (e,) in order."""

    values: Array
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    shape: tuple[int, int]

    def at(self, which: NDArray[np.intp]) -> Entries:
        """Those of some rows of states."""
        return replace(self, values=self.values[which])

    def scaled(self, rows: Array, columns: Array) -> Entries:
        """Each row and each column times a number; one for all states (n,), or one for each (k, n)."""
        values = self.values * rows[..., self.rows] * columns[..., self.columns]
        return replace(self, values=values)

    def block(self, rows: Sequence[int], columns: Sequence[int]) -> Entries:
        """Some rows and columns, numbered anew."""
        places = [np.full(count, -1, dtype=np.intp) for count in self.shape]
        for place, kept in zip(places, (rows, columns), strict=True):
            place[list(kept)] = np.arange(len(kept))
        i, j = places[0][self.rows], places[1][self.columns]
        own = np.flatnonzero((i >= 0) & (j >= 0))
        own = own[np.lexsort((j[own], i[own]))]
        return Entries(self.values[:, own], i[own], j[own], (len(rows), len(columns)))

    def divided(self, lengths: Array) -> Entries:
        """Each row over a number (k, rows)."""
        return replace(self, values=self.values / lengths[..., self.rows])

    def without_rows(self) -> Entries:
        """Matrices with as many columns and no rows."""
        none = np.zeros(0, dtype=np.intp)
        return Entries(self.values[:, :0], none, none, (0, self.shape[1]))

    def whole(self) -> Array:
        """The matrices with all their zeros."""
        found = np.zeros((len(self.values), *self.shape))
        found[:, self.rows, self.columns] = self.values
        return found

    def lengths(self) -> Array:
        """Euclidean lengths of the rows (k, rows)."""
        found: Array = np.sqrt(self.row_sums(self.values**2))
        return found

    def row_sums(self, values: Array) -> Array:
        """Sums (k, rows) of values at the places of the entries."""
        begins = np.searchsorted(self.rows, np.arange(self.shape[0]))
        padded = np.concatenate([values, np.zeros((len(values), 1))], axis=1)
        sums: Array = np.add.reduceat(padded, begins, axis=1) if self.shape[0] else padded[:, :0]
        sums[:, np.bincount(self.rows, minlength=self.shape[0]) == 0] = 0.0
        return sums

    def diagonals(self) -> Array:
        """(k, rows) of square ones."""
        found, own = np.zeros((len(self.values), self.shape[0])), self.rows == self.columns
        found[:, self.rows[own]] = self.values[:, own]
        return found


class Tabulated(Protocol):
    """Tables by name along rows of inputs, however they are computed; see ``Function``."""

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]: ...

    @property
    def sparse(self) -> Mapping[str, NDArray[np.intp]]: ...

    @property
    def values(self) -> Mapping[str, float]: ...

    def with_values(self, values: Mapping[str, float]) -> Tabulated: ...

    def __call__(self, x: Array, only: Sequence[str] | None = None) -> dict[str, Array]: ...

    def known(self, x: Array, only: Sequence[str]) -> dict[str, Array]: ...

    def entries(self, x: Array, *names: str) -> tuple[Entries, ...]: ...


@dataclass(frozen=True)
class Function:
    """f(x) → {name: array of its shape}, with the values of its parameters bound.

    Of tables in ``sparse`` only the entries at these places, counted row by row, are computed; the others are zero.
    ``address`` is that of ``int32_t f(const double *x, const double *c, double *out)`` for loops; ``c`` is ``constants``.
    """

    native: Native
    shapes: Mapping[str, tuple[int, ...]]
    values: Mapping[str, float]
    constants: Array
    sparse: Mapping[str, NDArray[np.intp]] = field(default_factory=dict)

    @property
    def address(self) -> int:
        """Of the native code, which lives as long as this object."""
        return self.native.address

    @property
    def program(self) -> Program:
        """What was compiled."""
        return self.native.program

    def with_values(self, values: Mapping[str, float]) -> Function:
        """The same with other values of some parameters."""
        known = {**self.values, **values}
        return replace(self, values=known, constants=self.native.constants(known))

    def __call__(self, x: Array, only: Sequence[str] | None = None) -> dict[str, Array]:
        """All tables, or ``only`` some, at one row of inputs, or at many (k, n): then with k before their shapes.

        One row at which a linear system is singular raises SingularSystem, of many such rows are not numbers.
        """
        if x.ndim == 1:
            return self._shaped(self.native.evaluate(x, self.constants), only)
        return self._along(x, only, self.native.evaluate)

    def each(self, x: Array, values: Mapping[str, Array], only: Sequence[str]) -> dict[str, Array]:
        """Some tables at many rows of inputs (k, n), some parameters with a value (k,) for each of them."""
        given = np.tile([self.values[name] for name in self.program.parameters], (len(x), 1))
        for name, column in values.items():
            given[:, self.program.parameters.index(name)] = column
        return self._shaped(self.native.evaluate(x, self.native.constants_of(given)), only)

    def known(self, x: Array, only: Sequence[str]) -> dict[str, Array]:
        """Tables that need no linear system, also where one is singular."""
        if x.ndim == 1:
            return {name: rows[0] for name, rows in self.known(x[None, :], only).items()}
        return self._along(x, only, self.native.evaluate_in_part)

    def entries(self, x: Array, *names: str) -> tuple[Entries, ...]:
        """The entries of tables of rows, which need no linear system, along rows of inputs."""
        share = max(1, TOGETHER // max(1, len(self.program.outputs)))
        wanted = np.concatenate([self._outputs(name) for name in names])
        pieces = [
            self.native.evaluate_in_part(x[k : k + share], self.constants)[:, wanted] for k in range(0, len(x), share)
        ]
        values = np.concatenate(pieces) if pieces else np.zeros((0, len(wanted)))
        found, start = [], 0
        for name in names:
            shape, count = self.shapes[name], self._count(name)
            rows, columns = np.divmod(self.sparse.get(name, np.arange(prod(shape))), max(1, shape[1]))
            found.append(Entries(values[:, start : start + count], rows, columns, (shape[0], shape[1])))
            start += count
        return tuple(found)

    def _outputs(self, name: str) -> NDArray[np.intp]:
        """The numbers of the outputs that a table has."""
        before = sum(self._count(other) for other in list(self.shapes)[: list(self.shapes).index(name)])
        return np.arange(before, before + self._count(name))

    def _count(self, name: str) -> int:
        """How many outputs a table has."""
        return len(self.sparse[name]) if name in self.sparse else prod(self.shapes[name])

    def _along(
        self, x: Array, only: Sequence[str] | None, evaluate: Callable[[Array, Array], Array]
    ) -> dict[str, Array]:
        """In pieces: what is not wanted of one row is not kept while the next are computed."""
        share = max(1, TOGETHER // max(1, len(self.program.outputs)))
        if len(x) <= share:
            return self._shaped(evaluate(x, self.constants), only)
        pieces = []
        for k in range(0, len(x), share):
            tables = self._shaped(evaluate(x[k : k + share], self.constants), only)
            pieces.append({name: table.copy() for name, table in tables.items()})
        return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}

    def _shaped(self, rows: Array, only: Sequence[str] | None) -> dict[str, Array]:
        found, before = {}, rows.shape[:-1]
        for name, place in self._places.items():
            if only is not None and name not in only:
                continue
            own, shape = rows[..., place], self.shapes[name]
            if name in self.sparse:
                whole = np.zeros((*before, prod(shape)))
                whole[..., self.sparse[name]] = own
                own = whole
            found[name] = own.reshape((*before, *shape))
        return found

    @cached_property
    def _places(self) -> dict[str, slice]:
        """The outputs of each table."""
        ends = list(accumulate(map(self._count, self.shapes)))
        return {name: slice(end - self._count(name), end) for name, end in zip(self.shapes, ends, strict=True)}


def function(
    tables: Mapping[str, Table],
    inputs: Sequence[str],
    values: Mapping[str, float],
    *,
    systems: Sequence[Linear] = (),
    sample: Mapping[str, float] | None = None,
    often: bool = False,
    brief: bool = False,
) -> Function:
    """Tables of expressions in the inputs, in the parameters that ``values`` names, and in the unknowns of systems.

    With a ``sample`` of the inputs the systems are eliminated in an order that suits it; without one they are pivoted
    each time. Tables without unknowns are computed first (see ``Function.known``).

    What is evaluated ``often``, in loops or for a user, is worth optimised code. The rest is compiled as quickly as can be.
    What serves for a ``brief`` time is not worth a search for the shortest program, unless it is small.
    """
    unknowns = {symbol for system in systems for side in system.unknowns for symbol in side}
    entries = {name: _entries(table) for name, table in tables.items()}
    shapes = {name: _shape(tables[name]) for name in tables}
    sparse = {name: places for name in tables if (places := _places(entries[name], shapes[name])) is not None}
    entries |= {name: [entries[name][k] for k in places] for name, places in sparse.items()}
    solved = {name for name, found in entries.items() if unknowns and not unknowns.isdisjoint(symbols_in(found))}
    ordered = sorted(entries, key=lambda name: name in solved)
    outputs = [(f"{name} {k}", e) for name in ordered for k, e in enumerate(entries[name])]
    first = sum(len(entries[name]) for name in ordered if name not in solved)
    parameters, longest = tuple(values), SMALL if brief else LONG
    program = build_to_look(
        outputs, inputs=inputs, parameters=parameters, systems=systems, first=first, longest=longest
    )
    if sample is not None:
        program = choose_orders(program, values, sample)
    native = compile_program(program, longest=LARGEST_SELDOM, seldom=not often)
    ordered_shapes = {name: shapes[name] for name in ordered}
    return Function(native, ordered_shapes, dict(values), native.constants(values), sparse)


def _places(entries: Sequence[Expression], shape: tuple[int, ...]) -> NDArray[np.intp] | None:
    """Where a large table has entries that are not zero, if these are few."""
    if len(shape) != 2 or len(entries) <= LARGEST_TABLE**2:
        return None
    found = np.array([k for k, e in enumerate(entries) if e is not ZERO], dtype=np.intp)
    return found if len(found) < SPARSE * len(entries) else None


def _entries(table: Table) -> list[Expression]:
    if not isinstance(table, list | tuple | Sequence):
        return [table]
    if table and not isinstance(table[0], list | tuple | Sequence):
        return list(table)
    return [entry for part in table for entry in _entries(part)]


def _shape(table: Table) -> tuple[int, ...]:
    if not isinstance(table, Sequence):
        return ()
    return (len(table), *(_shape(table[0]) if table else ()))


Key = TypeVar("Key")
Made = TypeVar("Made")


def once_for_each(make: Callable[[Key], Made]) -> Callable[[Key], Made]:
    """A function that caches what it made of the last few arguments, which are equal to themselves alone, as equations are.

    For what takes longer to form and compile than to use, and is asked for in many places.
    """
    return cast("Callable[[Key], Made]", lru_cache(maxsize=MOST_KEPT)(make))


def remembered(make: Callable[[Key], Made]) -> Callable[[Key], Made]:
    """``once_for_each`` where other arguments may be equal and are long to compare, as systems and programs are."""
    kept: list[tuple[Key, Made]] = []

    @wraps(make)
    def remembering(key: Key) -> Made:
        place = next((k for k, (known, _) in enumerate(kept) if known is key), None)
        found = (key, make(key)) if place is None else kept.pop(place)
        kept.insert(0, found)
        del kept[MOST_KEPT:]
        return found[1]

    return remembering
