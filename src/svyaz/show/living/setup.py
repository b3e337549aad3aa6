"""What a person moves on a living page: parameters that are numbers, and the start; and what follows from them.

A parameter or an initial value that the model gives by an expression of others follows them in the browser too: the
expressions become a small program. What cannot be read back stays the number that it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isclose

import symengine as se

from svyaz.expr import Expression, ModelError, Scope, evaluate, names_in, parse, substitute
from svyaz.model import System
from svyaz.program import Program, build_as_written

CLOSE = 1e-12
WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class Setup:
    """``base``: the parameters and inputs that are moved, with their values. ``program``: its parameters are those of
    ``base``; its outputs ``parameter NAME`` (all that follow), ``start NAME`` and ``value NAME`` of held integrals.
    ``tied``: parameters on which numbers depend that the page keeps as they are (times, steps): they are not moved.
    """

    base: Mapping[str, float]
    program: Program
    tied: tuple[str, ...]


def setup_of(system: System, stated: System | None = None) -> Setup:
    """What may be moved in a system, and what follows from it, in the words of the system from which it was made."""
    if stated is not None:
        system = replace(system.plain(), words=stated.words)
    values = {name: float(value) for name, value in system.constants.items()}
    formulas = _parameters(system, values)
    base = {name: value for name, value in values.items() if name not in formulas}
    known = {se.Symbol(name): e for name, e in _resolve(formulas).items()}
    outputs = [(f"parameter {name}", known[se.Symbol(name)]) for name in formulas]
    starts = _starts(system, values) if stated is None else {}  # a closed loop starts from its equilibrium
    outputs += [(f"start {name}", substitute(e, known)) for name, e in starts.items()]
    outputs += [(f"value {name}", substitute(e, known)) for name, e in _values_of_integrals(system, values).items()]
    outputs = [(name, e) for name, e in outputs if names_in(e) <= base.keys()]
    tied = _tied(system, formulas) & base.keys()
    return Setup(base, build_as_written(outputs, inputs=(), parameters=tuple(base)), tuple(sorted(tied)))


def _parameters(system: System, values: Mapping[str, float]) -> dict[str, Expression]:
    """Parameters that the model gives by expressions of other parameters."""
    scope = Scope(symbols={name: se.Symbol(name) for name in values})
    found = {}
    for name, text in _table(system, "parameters").items():
        e = _read(text, scope)
        if e is not None and name in values and names_in(e) and _agrees(e, values, values[name]):
            found[name] = e
    return found


def _resolve(formulas: Mapping[str, Expression]) -> dict[str, Expression]:
    """The formulas in terms of parameters that have none."""
    found = dict(formulas)
    for _ in formulas:
        if not any(names_in(e) & found.keys() for e in found.values()):
            break
        found = {name: substitute(e, {se.Symbol(n): f for n, f in formulas.items()}) for name, e in found.items()}
    return found


def _starts(system: System, values: Mapping[str, float]) -> dict[str, Expression]:
    """Initial values that the model gives by expressions, in terms of parameters."""
    start = dict(zip(system.states, system.initial_state(), strict=True))
    formulas = {}
    for name, text in _table(system, "initial").items():
        e = _read(text, system.scope)
        if e is not None and name in start and names_in(e):
            formulas[name] = e
    known: dict[se.Symbol, Expression] = {
        se.Symbol(name): se.RealDouble(value) for name, value in start.items() if name not in formulas
    }
    found: dict[str, Expression] = {}
    for _ in range(len(formulas) + 1):
        for name, e in formulas.items():
            if name not in found and not names_in(e) & (formulas.keys() - found.keys()):
                found[name] = substitute(e, known)
                known[se.Symbol(name)] = found[name]
    return {name: e for name, e in found.items() if _agrees(e, values, start[name])}


def _values_of_integrals(system: System, values: Mapping[str, float]) -> dict[str, Expression]:
    """The values at which integrals are held, where the model gives them by expressions."""
    scope = Scope(symbols={name: se.Symbol(name) for name in values})
    found = {}
    tables = system.words.get("integral", [])
    for integral, words in zip(system.integrals, tables if isinstance(tables, list) else [], strict=False):
        e = _read(words.get("value"), scope) if isinstance(words, Mapping) else None
        if e is not None and integral.value is not None and names_in(e) and _agrees(e, values, integral.value):
            found[integral.name] = e
    return found


def _tied(system: System, formulas: Mapping[str, Expression]) -> set[str]:
    """Parameters that occur in numbers which were taken once: times of constraints, gains of integrals, the run."""
    texts = [str(value) for value in _table(system, "run").values()]
    for key, words in (("constraint", ("from", "until")), ("integral", ("gain",))):
        tables = system.words.get(key, [])
        for table in tables if isinstance(tables, list) else [tables]:
            if isinstance(table, Mapping):
                texts += [str(table[word]) for word in words if word in table]
    used = {word for text in texts for word in WORD.findall(text)}
    resolved = _resolve(formulas)
    for name in list(used & resolved.keys()):
        used |= names_in(resolved[name])
    return used


def _table(system: System, key: str) -> Mapping[str, object]:
    found = system.words.get(key, {})
    return found if isinstance(found, Mapping) else {}


def _read(text: object, scope: Scope) -> Expression | None:
    """An expression as the model's reader reads it; None for a number, or what is none here."""
    if not isinstance(text, str):
        return None
    try:
        found: Expression = parse(text, scope)
    except ModelError:
        return None
    return found


def _agrees(e: Expression, values: Mapping[str, float], value: float) -> bool:
    """Has the expression the value that the model has? Then it is what the model says."""
    if not names_in(e) <= values.keys():
        return False
    return isclose(evaluate(e, values), value, rel_tol=CLOSE, abs_tol=1e-300)
