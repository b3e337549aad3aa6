"""Changing single values of a model: ``m=2``, ``initial.x=0.1``, ``run.step=1e-3``."""

from __future__ import annotations

from collections.abc import Mapping

from svyaz.expr import ModelError, Problem
from svyaz.model.reading.run import Choices
from svyaz.model.reading.whole import system_of
from svyaz.model.reading.words import Table, is_number, names, nearest, table, tables, text
from svyaz.model.system import System

DOTTED = ("parameters", "initial", "run", "inputs", "box", "bypass")


def with_settings(system: System, settings: Table, choices: Choices | None = None) -> System:
    """The same system with some values changed: a parameter, or ``initial.x``, ``run.step`` by a dotted name."""
    return system_of(_changed(system.words, settings), system.file, choices=choices)


def _changed(words: Table, settings: Table) -> dict[str, object]:
    """The words of the model with the settings written into them; every unknown name is reported."""
    changed = {key: dict(value) if isinstance(value, Mapping) else value for key, value in words.items()}
    problems = [p for name, value in settings.items() if (p := _set(changed, name, value)) is not None]
    if problems:
        raise ModelError(problems)
    return changed


def _set(words: dict[str, object], name: str, value: object) -> Problem | None:
    if not (is_number(value) or isinstance(value, str | Mapping | list)):
        return Problem(f"the value of '{name}' must be a number or an expression")
    head, dot, key = name.partition(".")
    if dot:
        if head not in DOTTED:
            return Problem(f"there is no '{head}' to set '{key}' in", hint=nearest(head, DOTTED) or _dotted_hint())
        words[head] = {**table(words, head), key: value}
        return None
    voltages = [text(motor, "voltage") for motor in tables(words, "motor")]
    for known in ("parameters", "inputs"):
        given = table(words, known)
        if name in given or (known == "inputs" and name in voltages):
            own = given.get(name)
            words[known] = {**given, name: {**own, "value": value} if isinstance(own, Mapping) else value}
            return None
    hint = nearest(name, [*table(words, "parameters"), *table(words, "inputs"), *voltages])
    if hint is None and name.rstrip("'") in (*names(words, "coordinates"), *names(words, "states")):
        hint = f"an initial value is set by initial.{name}"
    return Problem(f"the model has no parameter '{name}'", hint=hint)


def _dotted_hint() -> str:
    return "dotted names begin with " + ", ".join(DOTTED)
