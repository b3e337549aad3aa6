"""Expressions as named numbers of a state: native code with its values bound, one row or many, tables as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from math import prod
from typing import TypeAlias, TypeVar

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import Expression
from svyaz.program.building import Linear, build_to_look
from svyaz.program.elimination import choose_orders
from svyaz.program.native import Native, compile_program
from svyaz.program.tape import Program

Table: TypeAlias = Expression | Sequence["Table"]
"""An expression, or a row of tables of one shape."""

TOGETHER = 1 << 19
"""So many numbers are computed at once when only some tables of many rows are wanted."""

MOST_KEPT = 32
"""A run meets a dozen sets of constraints and more, and comes back to each of them at its end."""


@dataclass(frozen=True)
class Function:
    """f(x) → {name: array of its shape}, with the values of its parameters bound.

    ``address`` is that of ``int32_t f(const double *x, const double *c, double *out)`` for loops; ``c`` is ``constants``.
    """

    native: Native
    shapes: Mapping[str, tuple[int, ...]]
    values: Mapping[str, float]
    constants: Array

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

    def known(self, x: Array, only: Sequence[str]) -> dict[str, Array]:
        """Tables that need no linear system, also where one is singular."""
        if x.ndim == 1:
            return {name: rows[0] for name, rows in self.known(x[None, :], only).items()}
        return self._along(x, only, self.native.evaluate_in_part)

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
        found, start = {}, 0
        for name, shape in self.shapes.items():
            count = prod(shape)
            if only is None or name in only:
                found[name] = rows[..., start : start + count].reshape((*rows.shape[:-1], *shape))
            start += count
        return found


def function(
    tables: Mapping[str, Table],
    inputs: Sequence[str],
    values: Mapping[str, float],
    *,
    systems: Sequence[Linear] = (),
    sample: Mapping[str, float] | None = None,
) -> Function:
    """Tables of expressions in the inputs, in the parameters that ``values`` names, and in the unknowns of systems.

    With a ``sample`` of the inputs the systems are eliminated in an order that suits it; without one they are pivoted
    each time. Tables without unknowns are computed first (see ``Function.known``).
    """
    unknowns = {symbol for system in systems for side in system.unknowns for symbol in side}
    entries = {name: list(_entries(table)) for name, table in tables.items()}
    solved = {name for name, found in entries.items() if any(unknowns & e.free_symbols for e in found)}
    ordered = sorted(entries, key=lambda name: name in solved)
    outputs = [(f"{name} {k}", e) for name in ordered for k, e in enumerate(entries[name])]
    first = sum(len(entries[name]) for name in ordered if name not in solved)
    program = build_to_look(outputs, inputs=inputs, parameters=tuple(values), systems=systems, first=first)
    if sample is not None:
        program = choose_orders(program, values, sample)
    native = compile_program(program)
    shapes = {name: _shape(tables[name]) for name in ordered}
    return Function(native, shapes, dict(values), native.constants(values))


def _entries(table: Table) -> Iterator[Expression]:
    if isinstance(table, Sequence):
        for part in table:
            yield from _entries(part)
    else:
        yield table


def _shape(table: Table) -> tuple[int, ...]:
    if not isinstance(table, Sequence):
        return ()
    return (len(table), *(_shape(table[0]) if table else ()))


Key = TypeVar("Key")
Made = TypeVar("Made")


def remembered(make: Callable[[Key], Made]) -> Callable[[Key], Made]:
    """A function that keeps what it made of the last few arguments, each known by its identity.

    For what takes longer to form and compile than to use, and is asked for in many places.
    """
    kept: list[tuple[Key, Made]] = []

    @wraps(make)
    def remembering(key: Key) -> Made:
        place = next((k for k, (known, _) in enumerate(kept) if known is key), None)
        found = (key, make(key)) if place is None else kept.pop(place)
        kept.insert(0, found)
        del kept[MOST_KEPT:]
        return found[1]

    return remembering
