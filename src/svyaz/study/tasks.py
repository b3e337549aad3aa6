"""From a system and the members of a sweep to a task that can be sent anywhere, and plain data for each member."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from svyaz.expr import evaluate
from svyaz.forms import Equations, observed_quantities
from svyaz.holding import (
    Baumgarte,
    HeldIntegral,
    Off,
    Options,
    Perturbation,
    Segment,
    critical,
    decay_rate,
    held_integrals,
    inconsistent_start,
    observing,
    perturbation,
    prepare,
    stabilisation,
    word_of,
)
from svyaz.model import System, is_number
from svyaz.program import Program, build, to_text
from svyaz.study.measures import observed_for
from svyaz.study.vary import Member, Recipe

START = 0.0
LETTERS = {"A": "beta", "B": "alpha", "E": "kappa"}
"""Block of the perturbation equation → the gain that stands in it."""


@dataclass(frozen=True)
class Work:
    """A task and the data of its members, as ``svyaz.study.worker`` takes them."""

    task: dict[str, Any]
    members: list[dict[str, Any]] = field(repr=False)


def whole_work(system: System, asked: Mapping[str, Any], members: Sequence[Member]) -> Work:
    """Each member as a simulation of the model."""
    task = {"work": "whole", "words": _plain(system.words), "asked": dict(asked)}
    return Work(task, [{"settings": dict(m.settings), "asked": dict(m.asked)} for m in members])


def _plain(words: Any) -> Any:
    """Words of a model as JSON has them."""
    if isinstance(words, Mapping):
        return {str(key): _plain(value) for key, value in words.items()}
    if isinstance(words, list | tuple):
        return [_plain(value) for value in words]
    return words


def native_work(
    equations: Equations,
    options: Options,
    recipe: Recipe,
    members: Sequence[Member],
    measures: Sequence[str],
) -> Work:
    """Programs as text, and for each member the values of everything they take."""
    system = equations.system
    state = np.array(system.initial_state())
    law, gains_of = _law(equations, options, members)
    asked = [m.asked.get("stabilize", word_of(options.stabilize)) for m in members]
    rate = next((r for r in (decay_rate(stabilisation(word)) for word in asked) if r != 0.0), 0.0)
    held = held_integrals(system, state, START, rate)
    segment = prepare(equations, law, held, options, START, state)
    program, columns = _observation(segment, observed_for(measures))
    observed = list(columns)
    task = {
        "work": "native",
        "rates": _text(segment.rates.owner),
        "observe": to_text(program) if observed else "",
        "project": _text(segment.projection.owner) if segment.projection else "",
        "jacobian": _text(segment.jacobian.owner) if segment.jacobian else "",
        "observed": observed,
        "columns": list(columns.values()),
        "final": [f"final.{name}" for name in equations.states],
        "method": options.method,
        "until": options.until,
        "every": options.every,
        "stepped": options.step is not None,
        "halve": "error" in measures,
    }
    without = dict.fromkeys(program.parameters, 0.0)  # gains that a member does not have
    data = [_data(m, recipe, options, held, gains_of) for m in members]
    for member in data:
        member["refused"] = _refused(equations, options, member)
    return Work(task, [{**member, "values": without | member["values"]} for member in data])


def _observation(segment: Segment, wanted: Sequence[str]) -> tuple[Program, dict[str, int]]:
    """A program of what is wanted, "kind name", and the columns of its outputs.

    What depends on the state alone is observed without the systems of the multipliers: a member that is lost has it, and it
    is asked for in every step.
    """
    equations = segment.equations
    if any(quantity.startswith("multipliers ") for quantity in wanted):
        observe = observing(segment)
        known = {f"{kind} {name}": number for (kind, name), number in observe.columns.items()}
        return observe.function.program, {quantity: known[quantity] for quantity in wanted if quantity in known}
    tables = observed_quantities(equations)
    expressions = {f"{kind} {name}": e for kind, table in tables.items() for name, e in table.items()}
    entries = [(quantity, expressions[quantity]) for quantity in wanted if quantity in expressions]
    program = build(entries, inputs=("t", *equations.states), parameters=tuple(equations.system.constants))
    return program, {quantity: number for number, (quantity, _) in enumerate(entries)}


def _data(
    member: Member,
    recipe: Recipe,
    options: Options,
    held: Sequence[HeldIntegral],
    gains_of: Callable[[Any], Mapping[str, float]],
) -> dict[str, Any]:
    constants, start = recipe.values(member.settings)
    stabilize = member.asked.get("stabilize", word_of(options.stabilize))
    values = {**constants, **gains_of(stabilize)}
    if held:
        at_start = {**constants, **dict(zip(recipe.system.states, start, strict=True)), "t": START}
        rate = decay_rate(stabilisation(stabilize))
        for h in held:
            fixed = h.integral.value
            values[h.value_name] = evaluate(h.integral.expression, at_start) if fixed is None else fixed
            values[h.gain_name] = h.integral.gain if rate is None else rate
    own = {key: member.asked.get(key, getattr(options, key)) for key in ("step", "rtol", "atol")}
    return {"values": values, "start": start, **own}


def _refused(equations: Equations, options: Options, member: Mapping[str, Any]) -> str:
    """Why a member may not be run from its start; empty where it may."""
    start = np.array(member["start"])
    if not equations.deviations or not np.isfinite(start).all():
        return ""
    return inconsistent_start(equations, options, start, START, member["values"])


def _law(
    equations: Equations, options: Options, members: Sequence[Member]
) -> tuple[Perturbation, Callable[[Any], Mapping[str, float]]]:
    """A perturbation equation whose program serves all members, and the values of its gains for each of them."""
    asked = [m.asked["stabilize"] for m in members if "stabilize" in m.asked]
    if not asked:
        law = perturbation(equations, options.stabilize if equations.deviations else Off())
        return law, lambda stabilize: law.gains
    if is_number(asked[0]):
        unit = critical(equations, 1.0)
        orders = {name: 2 if name.split()[1] == "A" else 1 for name in unit.gains}
        return unit, lambda kappa: {name: value * kappa ** orders[name] for name, value in unit.gains.items()}
    pattern = perturbation(equations, Baumgarte(dict.fromkeys(LETTERS.values(), 1.0)))

    def gains(stabilize: Any) -> Mapping[str, float]:
        return {name: value * stabilize.get(LETTERS[name.split()[1]], 0.0) for name, value in pattern.gains.items()}

    return pattern, gains


def _text(owner: object) -> str:
    program: Program = owner.program  # type: ignore[attr-defined]
    return to_text(program)
