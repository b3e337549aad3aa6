"""Values on the command line: numbers or expressions of the model's parameters, and ranges LOW:HIGH."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from svyaz.model import System

Assignments = Sequence[tuple[str, str]]


def value_of(text: str, system: System, what: str) -> float:
    """A number, or an expression of parameters such as 30*deg or l/2."""
    import symengine as se

    from svyaz.expr import Scope, evaluate, parse, start_of

    scope = Scope(symbols={name: se.Symbol(name) for name in system.parameters}, derivatives={}, forbidden={})
    value = evaluate(parse(text, scope, start_of(text, what)), system.parameters)
    if not isfinite(value):
        raise click.UsageError(f"{what}: '{text}' has no finite value.")
    return value


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
