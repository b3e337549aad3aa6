"""Changing single values of a model: ``m=2``, ``initial.x=0.1``, ``run.step=1e-3``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from svyaz.expr import ModelError, Problem
from svyaz.model.words import is_number, nearest

DOTTED = ("parameters", "initial", "run", "inputs", "box", "bypass")


def changed_words(words: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The words of the model with the settings written into them; every unknown name is reported."""
    changed = {key: dict(value) if isinstance(value, Mapping) else value for key, value in words.items()}
    problems = [p for name, value in settings.items() if (p := _set(changed, name, value)) is not None]
    if problems:
        raise ModelError(problems)
    return changed


def _set(words: dict[str, Any], name: str, value: Any) -> Problem | None:
    if not (is_number(value) or isinstance(value, str | Mapping | list)):
        return Problem(f"the value of '{name}' must be a number or an expression")
    table, dot, key = name.partition(".")
    if dot:
        if table not in DOTTED:
            return Problem(f"there is no '{table}' to set '{key}' in", hint=nearest(table, DOTTED) or _dotted_hint())
        words.setdefault(table, {})[key] = value
        return None
    for known in ("parameters", "inputs"):
        if name in words.get(known, {}):
            given = words[known][name]
            words[known][name] = {**given, "value": value} if isinstance(given, Mapping) else value
            return None
    voltages = [motor.get("voltage") for motor in words.get("motor", ())]
    if name in voltages:
        words.setdefault("inputs", {})[name] = value
        return None
    names = [*words.get("parameters", {}), *words.get("inputs", {}), *voltages]
    hint = nearest(name, names)
    if hint is None and name.rstrip("'") in (*words.get("coordinates", ()), *words.get("states", ())):
        hint = f"an initial value is set by initial.{name}"
    return Problem(f"the model has no parameter '{name}'", hint=hint)


def _dotted_hint() -> str:
    return "dotted names begin with " + ", ".join(DOTTED)
