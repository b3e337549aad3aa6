"""[initial]: values at the start, as expressions of parameters and of definitions at the start.

A definition that contains coordinates or velocities has the value that their initial values give it, so that an entry is
evaluated after those on which it depends; what is left out is zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from math import isfinite

import symengine as se

from svyaz.expr import Expression, Scope, evaluate, names_in
from svyaz.model.reading import words as vocabulary
from svyaz.model.reading.common import NO_TIME, Names, Reader, Table
from svyaz.model.reading.trees import upright, with_upright_quaternions


def read_initial(reader: Reader, words: Table, names: Names) -> dict[str, float]:
    """The initial values that are given, and those of quaternions of which nothing is said."""
    formulas: dict[str, Expression] = {}
    scope = _scope(names)
    for name, text in vocabulary.table(words, "initial").items():
        path = ("initial", name)
        if name not in names.states:
            hint = vocabulary.nearest(name, names.states)
            reader.report(path, f"'{name}' is not among the variables of the state", hint=hint, at_key=True)
        elif reader.fits(path, text, vocabulary.EXPRESSION):
            formulas[name] = reader.expression(path, text, scope)
    initial = _evaluate(reader, words, formulas, names)
    return initial if names.tree is None else with_upright_quaternions(reader, names.tree, initial)


def _scope(names: Names) -> Scope:
    forbidden = {
        name: f"a value may be an expression of parameters and definitions; '{name}' is a {what}"
        for name, what in names.known.items()
        if what != "parameter" and name not in names.definitions
    } | {"t": NO_TIME}
    symbols: dict[str, Expression] = {name: se.Symbol(name) for name in names.parameters}
    return Scope(symbols=symbols | names.definitions, derivatives=dict(names.definition_rates), forbidden=forbidden)


def _evaluate(reader: Reader, words: Table, formulas: Mapping[str, Expression], names: Names) -> dict[str, float]:
    contained = {name: names_in(formula) for name, formula in formulas.items()}
    order, circle = in_order(contained)
    for name in circle:
        told = ", ".join(f"'{n}'" for n in circle)
        reader.report(("initial", name), f"the initial values {told} depend on each other in a circle")
    start = dict.fromkeys(names.states, 0.0) | ({} if names.tree is None else upright(names.tree, formulas))
    values = {**names.parameters, **{name: given.value for name, given in names.inputs.items()}, **start, "t": 0.0}
    found: dict[str, float] = dict.fromkeys(formulas, float("nan"))
    for name in order:
        path, used = ("initial", name), contained[name]
        for anchor in sorted(used & (set(names.anchors) - formulas.keys())):
            reader.report(path, f"'{anchor}' is an anchor, whose value is taken when its constraint begins to act")
        found[name] = values[name] = evaluate(formulas[name], values)
        if not isfinite(found[name]) and all(isfinite(values[n]) for n in used) and not reader.problems_at(path):
            reader.report(path, f"'{vocabulary.table(words, 'initial')[name]}' has no finite real value")
    return found


def in_order(contained: Mapping[str, Set[str]]) -> tuple[list[str], list[str]]:
    """Names with each after those of the others that its formula contains, and the names that form circles."""
    waiting = {name: inside & contained.keys() for name, inside in contained.items()}
    order: list[str] = []
    while ready := [name for name, needed in waiting.items() if not needed & waiting.keys()]:
        order += ready
        for name in ready:
            del waiting[name]
    # what only depends on a circle is none of it
    while outer := [name for name in waiting if not any(name in needed for needed in waiting.values())]:
        for name in outer:
            del waiting[name]
    return order, list(waiting)
