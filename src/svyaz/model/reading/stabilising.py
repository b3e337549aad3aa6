"""Stabilising laws: F in ḧ = F, ḟ = F, dg̃/dt = F, a function of the state, of time and of deviations.

A law names its own deviation ``deviation`` (``deviation'`` its rate, for positions) and those of others ``deviation_NAME``;
what is no letter, digit or _ in a name is written _. Kaspirovich (1.1.20), (1.2.5), (1.3.6): F is any function that
vanishes with all deviations and makes their zero asymptotically stable; the first is asked here, the second before a run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from random import Random

import symengine as se

from svyaz.expr import (
    ZERO,
    Expression,
    Scope,
    combine,
    differentiate,
    evaluate,
    is_zero,
    jumping_parts,
    substitute,
    to_text,
)
from svyaz.model.reading import words as vocabulary
from svyaz.model.reading.common import Names, Path, Reader, Table
from svyaz.model.system import Constraint, Integral, deviation_rate_symbol, deviation_symbol

NOT_A_LETTER = re.compile(r"\W")
TRIES, ROUNDING = 8, 1e-11
"""States at which a law that is not zero as it stands is looked at, and what it may leave, as a part of its size without."""


BESIDE, CORNER = 1e-15, 1e-5
"""A deviation that is hardly one, and by how much a slope may differ there."""


def word_for(prefix: str, name: str) -> str:
    """By which word expressions know something of a constraint: ``lambda_`` or ``deviation_`` and its name."""
    return prefix + NOT_A_LETTER.sub("_", name)


def law_scope(scope: Scope, own: str, orders: Mapping[str, int]) -> Scope:
    """What the law of ``own`` may name, beside the scope of the model: deviations, with rates for those of order 0.

    What belongs to no constraint (``own`` is empty) has no deviation without a name.
    """
    symbols: dict[str, Expression] = {}
    derivatives: dict[str, Expression] = {}
    forbidden = dict(scope.forbidden)
    words = [(word_for("deviation_", name), name) for name in orders]
    if own:
        words += [("deviation", own), *([("y", own)] if "y" not in scope.symbols else [])]
    for word, name in words:
        if sum(w == word for w, _ in words) > 1:
            forbidden[word] = f"more than one constraint is known by '{word}': give them other names"
        symbols[word] = deviation_symbol(name)
        if orders[name] == 0:
            derivatives[word] = deviation_rate_symbol(name)
        else:
            forbidden[f"{word}'"] = (
                f"'{name}' is no constraint on positions: the rate of its deviation is what its law says"
            )
    return Scope({**scope.symbols, **symbols}, {**scope.derivatives, **derivatives}, forbidden=forbidden, what="a law")


def fault_of(law: Expression, name: str) -> str:
    """Why an expression cannot be the law of a constraint; empty where it can."""
    deviations = {s: ZERO for s in law.free_symbols if str(s).startswith("deviation ")}
    if any(deviations.keys() & part.free_symbols for part in jumping_parts([law])):
        return (
            f"the law for '{name}' jumps with a deviation: it has no linear part by which its stability could be judged"
        )
    left = substitute(law, deviations)
    if not (is_zero(se.expand(left)) or is_zero(combine(left)) or _is_rounding(law, left)):
        told = to_text(left)
        shown = f": with deviations of zero it is {told}" if len(told) < 60 else ""
        return f"the law for '{name}' must vanish when the constraint is satisfied{shown}"
    if not all(_is_smooth(differentiate(law, s), deviations) for s in deviations):
        return f"the law for '{name}' has no linear part where the constraint is satisfied, by which it could be judged"
    return ""


def _is_rounding(law: Expression, left: Expression) -> bool:
    """Is what is left of a law where deviations vanish zero at some states, up to rounding, although not as it stands?"""
    draw, seen = Random(1), 0
    names = sorted(str(s) for s in law.free_symbols)
    for _ in range(TRIES):
        at = {name: draw.uniform(0.1, 2.0) * draw.choice((-1.0, 1.0)) for name in names}
        value, size = (_number(e, at) for e in (left, law))
        if not isfinite(value) or not isfinite(size):
            continue
        if abs(value) > ROUNDING * max(abs(size), 1.0):
            return False
        seen += 1
    return seen > 0


def _is_smooth(slope: Expression, zero: Mapping[Expression, Expression]) -> bool:
    """Has a slope of a law a value where deviations vanish, and nearly the same beside it? Looked at in some states."""
    draw, seen = Random(2), 0
    names = sorted({str(s) for s in slope.free_symbols} - {str(s) for s in zero})
    for _ in range(TRIES):
        at = {name: draw.uniform(0.1, 2.0) * draw.choice((-1.0, 1.0)) for name in names}
        here = _number(slope, {**at, **{str(s): 0.0 for s in zero}})
        beside = _number(slope, {**at, **{str(s): BESIDE * draw.choice((-1.0, 1.0)) for s in zero}})
        if isfinite(here) and abs(beside - here) > CORNER * max(abs(here), 1.0):
            return False
        seen += isfinite(here)
    return seen > 0


def _number(expression: Expression, at: Mapping[str, float]) -> float:
    try:
        return evaluate(expression, at)
    except (ArithmeticError, ValueError, RuntimeError):
        return float("nan")


def with_laws(
    reader: Reader,
    words: Table,
    names: Names,
    constraints: Sequence[Constraint],
    integrals: Sequence[Integral],
) -> tuple[tuple[Constraint, ...], tuple[Integral, ...]]:
    """Constraints and integrals with the laws that the model gives them.

    The law of an integral may name constraints, that of a constraint no integrals: what holds these leaves it alone.
    """
    if not any("law" in table for key in ("constraint", "integral") for table in vocabulary.tables(words, key)):
        return tuple(constraints), tuple(integrals)
    scope = names.scope(velocities=True, inputs=False)
    held = {c.name: c.order for c in constraints}
    all_of_them = {**{i.name: 1 for i in integrals if i.hold}, **held}

    def read(path: Path, text: object, name: str, orders: Mapping[str, int]) -> Expression | None:
        before = len(reader.problems)
        law = reader.expression(path, text, law_scope(scope, name, orders))
        fault = "" if len(reader.problems) > before else fault_of(law, name)
        if fault:
            reader.report(path, fault)
        return law if len(reader.problems) == before else None

    found = {c.name: c for c in constraints}
    for k, table in enumerate(vocabulary.tables(words, "constraint")):
        name = str(table.get("name", f"constraint {k + 1}"))
        if "law" in table and name in found:
            found[name] = replace(found[name], law=read(("constraint", k, "law"), table["law"], name, held))
    kept = {i.name: i for i in integrals}
    for k, table in enumerate(vocabulary.tables(words, "integral")):
        name = str(table.get("name", f"integral {k + 1}"))
        if "law" not in table or name not in kept:
            continue
        path = ("integral", k, "law")
        if not kept[name].hold or "gain" in table:
            why = "the gain is a law already" if "gain" in table else "it is not held: hold = true"
            reader.report(path, f"the integral '{name}' takes no law: {why}", at_key=True)
        else:
            kept[name] = replace(kept[name], law=read(path, table["law"], name, {**all_of_them, name: 1}))
    return tuple(found[c.name] for c in constraints), tuple(kept[i.name] for i in integrals)
