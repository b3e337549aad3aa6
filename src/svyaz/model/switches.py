"""Reading what switches a constraint on and off: events, impact, anchors."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import symengine as se

from svyaz.expr import Expression, Scope, evaluate, names_in
from svyaz.model import words as vocabulary
from svyaz.model.reader import Names, Path, Reader
from svyaz.model.system import Constraint, multiplier_symbol

IMPACTS = ("inelastic",)
NOT_A_LETTER = re.compile(r"\W")


def declare_anchors(reader: Reader, names: Names, given: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Declare the names that constraints freeze at the moment in which they begin to act."""
    found: list[str] = []
    for k, table in enumerate(given):
        path = ("constraint", k, "anchor")
        anchors = table.get("anchor", {})
        if not isinstance(anchors, Mapping):
            continue  # reported where the table is read
        found.extend(name for name in anchors if reader.declare_one(names, name, "anchor", (*path, name)))
    return tuple(found)


def switch_scope(names: Names, constraints: Sequence[str]) -> Scope:
    """What conditions may name: the whole state, time, inputs, and λ of a constraint as ``lambda_`` and its name."""
    scope = names.scope(velocities=True)
    multipliers: dict[str, Expression] = {multiplier_word(name): multiplier_symbol(name) for name in constraints}
    return Scope(symbols={**multipliers, **scope.symbols}, derivatives=scope.derivatives, forbidden=scope.forbidden)


def multiplier_word(name: str) -> str:
    """By which name conditions know the multiplier of a constraint."""
    return "lambda_" + NOT_A_LETTER.sub("_", name)


def read_switches(
    reader: Reader, path: Path, words: Mapping[str, Any], name: str, names: Names, scope: Scope
) -> dict[str, Any]:
    """The fields of a Constraint that say when it acts, apart from times."""
    _check_words(reader, path, words, name)
    found: dict[str, Any] = {}
    for key in ("on", "off"):
        if key in words:
            found[key] = _condition(reader, (*path, key), words[key], name, names, scope)
    found["impact"] = words.get("impact")
    found["active"] = bool(words.get("active", False))
    anchors = words.get("anchor", {})
    found["anchors"] = tuple(
        (key, reader.expression((*path, "anchor", key), value, _without_multipliers(scope)))
        for key, value in anchors.items()
        if reader.fits((*path, "anchor", key), value, vocabulary.EXPRESSION)
    )
    return found


def _without_multipliers(scope: Scope) -> Scope:
    kept = {word: meaning for word, meaning in scope.symbols.items() if not str(meaning).startswith("multiplier ")}
    return Scope(symbols=kept, derivatives=scope.derivatives, forbidden=scope.forbidden)


def _check_words(reader: Reader, path: Path, words: Mapping[str, Any], name: str) -> None:
    for event, time, what in (("on", "from", "begins"), ("off", "until", "ends")):
        if event in words and time in words:
            reader.report(
                (*path, event), f"the constraint '{name}' {what} '{time}' a time or '{event}' an event, not both"
            )
    impact = words.get("impact")
    if impact is not None and impact not in IMPACTS:
        hint = vocabulary.nearest(impact, IMPACTS)
        reader.report((*path, "impact"), f"an impact is '{IMPACTS[0]}', not '{impact}'", hint=hint)
    for key, why in (
        ("impact", "an impact happens when the constraint begins to act"),
        ("active", "a constraint without it acts from the beginning"),
    ):
        if key in words and "on" not in words and not (key == "impact" and "from" in words):
            reader.report((*path, key), f"'{key}' of the constraint '{name}' belongs to 'on': {why}", at_key=True)


def _condition(reader: Reader, path: Path, given: Any, name: str, names: Names, scope: Scope) -> Expression:
    before = len(reader.problems)
    expression = reader.expression(path, given, scope)
    if len(reader.problems) > before:
        return expression
    present = names_in(expression)
    if path[-1] == "on" and str(multiplier_symbol(name)) in present:
        message = f"'{name}' has a multiplier only while it acts: it cannot switch the constraint on"
        reader.report(path, message, hint="a multiplier may switch it off, or switch another constraint")
    moving = {*names.states, "t"} | {n for n in present if n.startswith("multiplier ")}
    if not present & moving:
        reader.report(path, f"the expression of '{path[-1]}' never changes: it cannot rise through zero")
    return expression


def initial_anchors(constraints: Sequence[Constraint], names: Names, initial: Mapping[str, float]) -> dict[str, float]:
    """Anchors at the initial state, where [initial] does not give them."""
    values = {**names.parameters, **{k: i.value for k, i in names.inputs.items()}, "t": 0.0}
    values |= dict.fromkeys(names.states, 0.0) | dict(initial)
    found = {name: evaluate(e, values) for c in constraints for name, e in c.anchors if name not in initial}
    return {**initial, **found}


def still(names: Names) -> dict[str, Expression]:
    """Rates of the anchors: they keep their values between events."""
    return dict.fromkeys(names.anchors, se.Integer(0))
