"""Values of a member: the parameters and initial values of the model that follow from the ones that are set.

Reading the whole model anew for each member would take longer than a short motion. The formulas of the model that
depend on what is varied are read once and evaluated for each member, as reading the model would evaluate them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import symengine as se

from svyaz.expr import Expression, Scope, evaluate, names_in, parse
from svyaz.model import System

Formulas = tuple[tuple[str, Expression], ...]


@dataclass(frozen=True)
class Recipe:
    """Formulas of parameters (each after those it needs), inputs and initial values that depend on what is varied."""

    system: System
    parameters: Formulas
    inputs: Formulas
    initial: Formulas
    changing: frozenset[str]

    def values(self, settings: Mapping[str, float]) -> tuple[dict[str, float], list[float]]:
        """(constants, initial state) with the settings of a member; not a number where a formula has no value."""
        constants = self.system.constants
        initial = dict(self.system.initial)
        for name, value in settings.items():
            if name.startswith("initial."):
                initial[name.removeprefix("initial.")] = value
            else:
                constants[name] = value
        for name, formula in (*self.parameters, *self.inputs):
            constants[name] = evaluate(formula, constants)
        for name, formula in self.initial:
            initial[name] = evaluate(formula, constants)
        return constants, [float(initial.get(state, 0.0)) for state in self.system.states]


def recipe(system: System, varied: Iterable[str]) -> Recipe:
    """What has to be evaluated again when the values called ``varied`` are changed."""
    names = set(varied)
    words = system.words
    scope = Scope(symbols={name: se.Symbol(name) for name in system.parameters}, derivatives={}, forbidden={})

    def formulas(table: Mapping[str, Any], prefix: str = "") -> dict[str, Expression]:
        texts = {n: v["value"] if isinstance(v, Mapping) and "value" in v else v for n, v in table.items()}
        return {n: parse(v, scope) for n, v in texts.items() if isinstance(v, str) and prefix + n not in names}

    waiting = formulas(words.get("parameters", {}))
    changing = names & set(system.parameters)
    ordered: list[tuple[str, Expression]] = []
    while ready := [n for n, e in waiting.items() if names_in(e) & changing and not _waits(e, waiting, changing)]:
        ordered.extend((n, waiting.pop(n)) for n in ready)
        changing |= set(ready)

    def dependent(table: dict[str, Expression]) -> Formulas:
        return tuple((n, e) for n, e in table.items() if names_in(e) & changing)

    return Recipe(
        system,
        tuple(ordered),
        dependent(formulas(words.get("inputs", {}))),
        dependent(formulas(words.get("initial", {}), "initial.")),
        frozenset(changing),
    )


def _waits(formula: Expression, waiting: Mapping[str, Expression], changing: set[str]) -> bool:
    """Does a formula need a parameter that will change and has not been found yet?"""
    return any(_changes(name, waiting, changing) for name in names_in(formula) if name in waiting)


def _changes(name: str, waiting: Mapping[str, Expression], changing: set[str]) -> bool:
    needed = names_in(waiting[name])
    return bool(needed & changing) or any(_changes(n, waiting, changing) for n in needed if n in waiting)


def structure_depends(system: System, changing: Iterable[str]) -> bool:
    """Do times of switching, values of integrals or numbers of the run depend on what is varied?"""
    names = set(changing)
    scope = Scope(symbols={name: se.Symbol(name) for name in system.parameters}, derivatives={}, forbidden={})
    tables: list[tuple[Mapping[str, Any], tuple[str, ...]]] = [
        (c, ("from", "until")) for c in system.words.get("constraint", ())
    ]
    tables += [(i, ("gain", "value")) for i in system.words.get("integral", ())]
    tables.append((system.words.get("run", {}), ("step", "rtol", "atol", "until", "every")))
    texts = [table[key] for table, keys in tables for key in keys if isinstance(table.get(key), str)]
    return any(names_in(parse(text, scope)) & names for text in texts)
