"""Values given beside a model: numbers, or expressions of its parameters."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from svyaz.expr import ModelError, Problem

if TYPE_CHECKING:
    from svyaz.model import System


def value_of(text: str, system: System, what: str) -> float:
    """A number, or an expression of parameters such as 30*deg or l/2; ``what`` is named in messages."""
    import symengine as se

    from svyaz.expr import Scope, evaluate, parse, start_of

    scope = Scope(symbols={name: se.Symbol(name) for name in system.parameters}, derivatives={}, forbidden={})
    value = evaluate(parse(text, scope, start_of(text, what)), system.parameters)
    if not isfinite(value):
        raise ModelError([Problem(f"{what}: '{text}' has no finite value")])
    return value
