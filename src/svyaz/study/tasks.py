"""From a system and the members of a sweep to a task that can be sent anywhere, and the data of each member.

A task says what all members share, the data of a member what is its own, and an answer what came out. All three can be
written as text: a ``NativeTask`` carries programs, which are compiled where it is done or found in the cache of compiled code
there; a ``WholeTask`` carries the words of the model, and each member is one simulation.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

import numpy as np

from svyaz.arrays import Array
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
    in_states_of,
    inconsistent_start,
    observing,
    perturbation,
    places_of,
    prepare,
    stabilisation,
    weights_program,
    word_of,
)
from svyaz.json_types import Json
from svyaz.model import System, is_number
from svyaz.program import Program, build, to_text
from svyaz.study.measures import observed_for
from svyaz.study.result import LOST
from svyaz.study.vary import Member, Recipe

START = 0.0
LETTERS = {"A": "beta", "B": "alpha", "E": "kappa"}
"""Block of the perturbation equation → the gain that stands in it."""


@dataclass(frozen=True)
class NativeTask:
    """Programs as text (empty where there is none), what is observed with its columns, and how all members are run.

    ``weights`` and ``places`` are what the scale of the states is found from, for the error by halving.
    """

    rates: str
    observe: str
    project: str
    jacobian: str
    observed: Sequence[str]
    columns: Sequence[int]
    final: Sequence[str]
    method: str
    until: float
    every: float | None
    stepped: bool
    halve: bool
    weights: str
    places: Mapping[str, Any]


@dataclass(frozen=True)
class WholeTask:
    """The words of a model, what is asked of every simulation of it, and whether its energy balance is."""

    words: Mapping[str, Any]
    asked: Mapping[str, Any]
    energy: bool = False


@dataclass(frozen=True)
class NativeData:
    """The values of all that the programs of a member take, its start and its steps; why it may not be run, or nothing."""

    values: Mapping[str, float]
    start: Sequence[float]
    step: float | None
    rtol: float | None
    atol: Any
    refused: str = ""


@dataclass(frozen=True)
class WholeData:
    """Settings of the model and what is asked of the simulation of a member."""

    settings: Mapping[str, float]
    asked: Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """What came of a member: measures by name, None where there is no value; whether its gains are stable, where it told."""

    status: str
    reason: str
    measures: Mapping[str, float | None]
    stable: bool | None = None


Task: TypeAlias = NativeTask | WholeTask
Data: TypeAlias = NativeData | WholeData


@dataclass(frozen=True)
class Work:
    """A task and the data of its members, as ``svyaz.study.worker`` takes them."""

    task: Task
    members: Sequence[Data] = field(repr=False)


def lost(reason: str) -> Answer:
    """The answer to a member for which nobody answers."""
    return Answer(LOST, reason, {})


def task_as_text(task: Task) -> str:
    """A task on one line."""
    return json.dumps({"native": isinstance(task, NativeTask), **vars(task)})


def task_from_text(text: str) -> Task:
    """The task that was written so."""
    words = json.loads(text)
    return NativeTask(**words) if words.pop("native") else WholeTask(**words)


def data_as_text(members: Sequence[Data]) -> str:
    """The data of members on one line."""
    return json.dumps([vars(member) for member in members])


def data_from_text(task: Task, text: str) -> list[Data]:
    """The data that were written so, of a task."""
    kind = NativeData if isinstance(task, NativeTask) else WholeData
    return [kind(**words) for words in json.loads(text)]


def answers_as_text(answers: Sequence[Answer]) -> str:
    """Answers on one line."""
    return json.dumps([vars(answer) for answer in answers])


def answers_from_text(text: str) -> list[Answer]:
    """The answers that were written so."""
    return [Answer(**words) for words in json.loads(text)]


def whole_work(system: System, asked: Mapping[str, Json], members: Sequence[Member], *, balance: bool = False) -> Work:
    """Each member as a simulation of the model, with its energy ``balance`` where that is asked for."""
    task = WholeTask(plain(system.words), dict(asked), balance)
    return Work(task, [WholeData(m.settings, m.asked) for m in members])


def plain(words: Any) -> Any:
    """Words of a model as JSON has them."""
    if isinstance(words, Mapping):
        return {str(key): plain(value) for key, value in words.items()}
    if isinstance(words, list | tuple):
        return [plain(value) for value in words]
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
    held = in_states_of(equations, held_integrals(system, state, START, rate), options.stabilize)
    segment = prepare(equations, law, held, options, START, state)
    program, columns = _observation(segment, observed_for(measures))
    task = NativeTask(
        rates=_text(segment.rates.owner),
        observe=to_text(program) if columns else "",
        project=_text(segment.projection.owner) if segment.projection else "",
        jacobian=_text(segment.jacobian.owner) if segment.jacobian else "",
        observed=list(columns),
        columns=list(columns.values()),
        final=[f"final.{name}" for name in equations.states],
        method=options.method,
        until=options.until,
        every=options.every,
        stepped=options.step is not None,
        halve="error" in measures,
        weights=to_text(weights_program(equations)) if "error" in measures and equations.mass_matrix else "",
        places=asdict(places_of(equations)),
    )
    without = dict.fromkeys(program.parameters, 0.0)  # gains that a member does not have
    return Work(task, [_data(m, equations, recipe, options, held, gains_of, without) for m in members])


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
    equations: Equations,
    recipe: Recipe,
    options: Options,
    held: Sequence[HeldIntegral],
    gains_of: Callable[[Any], Mapping[str, float]],
    without: Mapping[str, float],
) -> NativeData:
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
    refused = _refused(equations, options, np.array(start), values)
    return NativeData({**without, **values}, start, **own, refused=refused)


def _refused(equations: Equations, options: Options, start: Array, values: Mapping[str, float]) -> str:
    """Why a member may not be run from its start; empty where it may."""
    if not np.isfinite(start).all():
        return "the initial state has no finite value"
    return inconsistent_start(equations, options, start, START, values) if equations.deviations else ""


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
