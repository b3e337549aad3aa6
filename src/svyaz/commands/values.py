"""Values on the command line: numbers or expressions of the model's parameters, and ranges LOW:HIGH."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from svyaz.arrays import Array
    from svyaz.model import System

Assignments = Sequence[tuple[str, str]]

LARGEST_TABLE = 500_000_000
"""Bytes of a CSV file."""


def value_of(text: str, system: System, what: str) -> float:
    """A number, or an expression of parameters such as 30*deg or l/2."""
    from svyaz import library

    return library.value_of(text, system, what)


def values_of(given: Assignments, system: System, option: str) -> dict[str, float]:
    """{name: value} of NAME=VALUE pairs."""
    return {name: value_of(text, system, f"{option} {name}") for name, text in given}


def ranges_of(given: Assignments, system: System, option: str) -> dict[str, tuple[float, float]]:
    """{name: (low, high)} of NAME=LOW:HIGH pairs."""
    found = {}
    for name, text in given:
        low, colon, high = text.partition(":")
        if not (colon and low.strip() and high.strip()):
            raise click.UsageError(f"{option} {name}={text}: a range is LOW:HIGH, such as {name}=-1:1.")
        found[name] = (value_of(low, system, f"{option} {name}"), value_of(high, system, f"{option} {name}"))
        if not found[name][0] < found[name][1]:
            raise click.UsageError(f"{option} {name}={text}: the range is empty.")
    return found


def names_of(text: str | None) -> tuple[str, ...]:
    """Names separated by commas."""
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def table_of(path: str) -> Array:
    """Times and values, the two columns of a CSV file; a first line of words is passed over."""
    import csv

    import numpy as np

    from svyaz.expr import ModelError, Problem
    from svyaz.model import read_named

    lines = read_named(path, "table", most=LARGEST_TABLE).splitlines()
    try:
        rows = [row for row in csv.reader(lines) if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise ModelError([Problem(f"cannot read the table '{path}': {error}")]) from error
    if rows and not _is_row(rows[0]):
        rows = rows[1:]
    wrong = next((k for k, row in enumerate(rows, 1) if not _is_row(row)), None)
    if wrong is not None:
        message = f"the table '{path}' has two columns of numbers, the time and the value; row {wrong} has not"
        raise ModelError([Problem(message)])
    return np.array([[float(cell) for cell in row] for row in rows])


def _is_row(cells: Sequence[str]) -> bool:
    try:
        return len([float(cell) for cell in cells]) == 2
    except ValueError:
        return False
