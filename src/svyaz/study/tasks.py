"""From a system and the members of a sweep to a task that can be sent anywhere, and the data of each member.

A task says what all members share, the data of a member what is its own, and an answer what came out. All three can be
written as text: a ``NativeTask`` carries programs, which are compiled where it is done or found in the cache of compiled code
there; a ``WholeTask`` carries the words of the model, and each member is one simulation.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from svyaz.arrays import Array
from svyaz.dynamics import measure_of
from svyaz.expr import evaluate
from svyaz.forms import Equations, observed_quantities
from svyaz.json_types import Json
from svyaz.model import System, is_number
from svyaz.motion import past_limits
from svyaz.program import Program, build, to_text
from svyaz.stabilise import (
    AUTO,
    OFF,
    HeldIntegral,
    Options,
    Perturbation,
    Segment,
    baumgarte,
    critical,
    held_integrals,
    in_states_of,
    inconsistent_start,
    perturbation,
    places_of,
    prepare,
    stabilisation,
    weights_program,
)
from svyaz.study.answers import Answers, columns_as_words, columns_from_words
from svyaz.study.measures import quantities_for
from svyaz.study.member_check import check_members
from svyaz.study.vary import Member, Plan, Recipe

START = 0.0
LIMIT = "limit"
"""The kind of what is positive beyond a limit, among observed quantities."""
LETTERS = {"A": "beta", "B": "alpha", "E": "kappa"}
"""Block of the perturbation equation → the gain that stands in it."""


@dataclass(frozen=True)
class NativeTask:
    """Programs as text (empty where there is none), what is observed with its columns, and how all members are run.

    ``values`` are those of what the programs take, ``step``, ``rtol`` and ``atol`` those of the run, where a member has none of
    its own. ``weights`` and ``places`` are what the scale of the states is found from, for the error by halving. Where it is
    ``fenced``, how far limits are is observed too, and members that come near to one are left for whole simulations.
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
    halve: bool
    weights: str
    places: Mapping[str, Any]
    values: Mapping[str, float]
    step: float | None
    rtol: float | None
    atol: Any
    measures: Sequence[str]
    fenced: bool = False


@dataclass(frozen=True)
class WholeTask:
    """The words of a model, what is asked of every simulation of it, what is measured, and whether its energy balance is."""

    words: Mapping[str, Any]
    asked: Mapping[str, Any]
    energy: bool = False
    measures: Sequence[str] = ()


@dataclass(frozen=True)
class NativeData:
    """Members: columns (k,) of the values that the programs take and of numbers of the run, where members have their own;
    their starts (k, n); why some may not be run, by place.
    """

    values: Mapping[str, Array]
    run: Mapping[str, Array]
    starts: Array
    refused: Mapping[int, str]

    def __len__(self) -> int:
        return len(self.starts)

    def only(self, place: int) -> NativeData:
        """The member of one place."""
        values, run = ({n: c[place : place + 1] for n, c in part.items()} for part in (self.values, self.run))
        refused = {0: self.refused[place]} if place in self.refused else {}
        return NativeData(values, run, self.starts[place : place + 1], refused)


@dataclass(frozen=True)
class WholeData:
    """Members: for each the settings of the model, and what is asked of its simulation."""

    members: Sequence[Member]

    def __len__(self) -> int:
        return len(self.members)

    def only(self, place: int) -> WholeData:
        """The member of one place."""
        return WholeData([self.members[place]])


Task: TypeAlias = NativeTask | WholeTask
Data: TypeAlias = NativeData | WholeData


@dataclass(frozen=True)
class Work:
    """A task, the data of those of its members whose numbers are given, as ``svyaz.study.worker`` takes them, and the
    ``check`` of what came of them.
    """

    task: Task
    data: Callable[[Sequence[int]], Data] = field(repr=False)
    check: Callable[[Sequence[int], Answers], None] = field(default=lambda numbers, found: None, repr=False)


def task_as_text(task: Task) -> str:
    """A task on one line."""
    return json.dumps({"native": isinstance(task, NativeTask), **vars(task)})


def task_from_text(text: str) -> Task:
    """The task that was written so."""
    words = json.loads(text)
    return NativeTask(**words) if words.pop("native") else WholeTask(**words)


def data_as_text(data: Data) -> str:
    """The data of members on one line."""
    if isinstance(data, WholeData):
        return json.dumps([vars(member) for member in data.members])
    columns = [columns_as_words(part) for part in (data.values, data.run, {"starts": data.starts.ravel()})]
    return json.dumps([*columns, len(data), {str(k): reason for k, reason in data.refused.items()}])


def data_from_text(task: Task, text: str) -> Data:
    """The data that were written so, of a task."""
    words = json.loads(text)
    if isinstance(task, WholeTask):
        return WholeData([Member(**member) for member in words])
    *columns, count, refused = words
    values, run, starts = map(columns_from_words, columns)
    return NativeData(
        values, run, starts["starts"].reshape(count, -1), {int(k): reason for k, reason in refused.items()}
    )


def whole_work(
    system: System,
    asked: Mapping[str, Json],
    plan: Plan,
    measures: Sequence[str],
    refused: Callable[[Member], bool],
    *,
    balance: bool = False,
) -> Work:
    """Each member as a simulation of the model, with its energy ``balance`` where that is asked for.

    Those that are ``refused`` with gains by "auto" do not get the gains that serve the others, and say why.
    """
    task = WholeTask(plain(system.words), dict(asked), balance, tuple(measures))

    def data(numbers: Sequence[int]) -> WholeData:
        own = {"stabilize": AUTO.word}
        return WholeData([Member(m.settings, {**m.asked, **own}) if refused(m) else m for m in plan.members(numbers)])

    return Work(task, data)


def plain(words: object) -> Any:
    """Words of a model as JSON has them."""
    if isinstance(words, Mapping):
        return {str(key): plain(value) for key, value in words.items()}
    if isinstance(words, list | tuple):
        return [plain(value) for value in words]
    return words


def native_work(
    equations: Equations,
    options: Options,
    begun: Options,
    recipe: Recipe,
    plan: Plan,
    measures: Sequence[str],
    *,
    fenced: bool = False,
) -> Work:
    """Programs as text, and for members the values of everything they take.

    ``begun`` says which starts are refused; ``fenced``: limits are to be kept.
    """
    system = equations.system
    state = np.array(system.initial_state())
    law, gains_of = _law(equations, options, plan)
    asked = plan.members([0])[0].asked.get("stabilize", options.stabilize.word)
    if plan.varies("gain"):  # what decays in any of the members has a place in the program
        words = (plan.members([k])[0].asked["stabilize"] for k in range(plan.total))
        asked = next((word for word in words if stabilisation(word).decay_rate != 0.0), asked)
    rate = stabilisation(asked).decay_rate
    held = in_states_of(equations, held_integrals(system, state, START, rate), options.stabilize)
    segment = prepare(equations, law, held, options, START, state)
    program, columns = _observation(segment, quantities_for(measures), fenced=fenced)
    without = dict.fromkeys(program.parameters, 0.0)  # gains that a member does not have
    values = {**without, **system.constants, **gains_of(asked)}
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
        halve="error" in measures,
        weights=to_text(weights_program(equations)) if "error" in measures and equations.mass_matrix else "",
        places=asdict(places_of(equations)),
        values=values,
        step=options.step,
        rtol=options.rtol,
        atol=options.atol,
        measures=tuple(measures),
        fenced=fenced,
    )
    data = _natively(equations, options, begun, recipe, plan, held, gains_of)
    return Work(task, data, partial(check_members, segment, task, data))


def _natively(
    equations: Equations,
    options: Options,
    begun: Options,
    recipe: Recipe,
    plan: Plan,
    held: Sequence[HeldIntegral],
    gains_of: Callable[[object], Mapping[str, float]],
) -> Callable[[Sequence[int]], NativeData]:
    """The data of members of these numbers."""
    common = options.stabilize.word

    def data(numbers: Sequence[int]) -> NativeData:
        values, starts = recipe.columns(plan.settings(numbers), len(numbers))
        own = [m.asked["stabilize"] for m in plan.members(numbers)] if plan.varies("gain") else [common] * len(numbers)
        if plan.varies("gain"):
            gains = [gains_of(stabilize) for stabilize in own]
            values |= {name: np.array([one[name] for one in gains]) for name in gains[0]}
        varied = dict(values)

        def constants(place: int) -> dict[str, float]:
            return {**equations.system.constants, **{name: float(column[place]) for name, column in varied.items()}}

        for h in held:
            found = [_value_and_gain(h, recipe, constants(k), start, own[k]) for k, start in enumerate(starts.tolist())]
            values |= zip((h.value_name, h.gain_name), np.array(found).T, strict=True)
        unsure = np.isfinite(starts).all(axis=1) <= bool(equations.deviations)
        refused = {k: refusal(equations, begun, starts[k], constants(k)) for k in np.flatnonzero(unsure).tolist()}
        return NativeData(values, plan.run(numbers), starts, {k: reason for k, reason in refused.items() if reason})

    return data


def _value_and_gain(
    held: HeldIntegral, recipe: Recipe, constants: Mapping[str, float], start: Sequence[float], stabilize: object
) -> tuple[float, float]:
    """The value at which an integral of a member is held, and its gain."""
    at_start = {**constants, **dict(zip(recipe.system.states, start, strict=True)), "t": START}
    fixed, rate = held.integral.value, stabilisation(stabilize).decay_rate
    value = evaluate(held.integral.expression, at_start) if fixed is None else fixed
    return value, held.integral.gain if rate is None else rate


def _observation(segment: Segment, wanted: Sequence[str], *, fenced: bool) -> tuple[Program, dict[str, int]]:
    """A program of what is wanted, "kind name", and the columns of its outputs; with all limits where it is ``fenced``.

    What depends on the state alone is observed without the systems of the multipliers: a member that is lost has it, and it
    is asked for in every step.
    """
    equations = segment.equations
    if any(quantity.startswith("multipliers ") for quantity in wanted):
        observe = measure_of(equations).observing(segment.enforcement)
        known = {f"{kind} {name}": number for (kind, name), number in observe.columns.items()}
        return observe.written.program, {quantity: known[quantity] for quantity in wanted if quantity in known}
    tables = observed_quantities(equations)
    expressions = {f"{kind} {name}": e for kind, table in tables.items() for name, e in table.items()}
    entries = [(quantity, expressions[quantity]) for quantity in wanted if quantity in expressions]
    entries += [(f"{LIMIT} {k}", e) for k, e in enumerate(past_limits(equations))] if fenced else []
    program = build(entries, inputs=("t", *equations.states), parameters=tuple(equations.system.constants))
    return program, {quantity: number for number, (quantity, _) in enumerate(entries)}


def refusal(equations: Equations, options: Options, start: Array, values: Mapping[str, float]) -> str:
    """Why a member may not be run from its start; empty where it may."""
    if not np.isfinite(start).all():
        return "the initial state has no finite value"
    return inconsistent_start(equations, options, start, START, values) if equations.deviations else ""


def _law(
    equations: Equations, options: Options, plan: Plan
) -> tuple[Perturbation, Callable[[object], Mapping[str, float]]]:
    """A perturbation equation whose program serves all members, and the values of its gains for each of them."""
    if not plan.varies("gain"):
        law = perturbation(equations, options.stabilize if equations.deviations else OFF)
        return law, lambda stabilize: law.gains
    if is_number(plan.members([0])[0].asked["stabilize"]):
        unit = critical(equations, 1.0)
        orders = {name: 2 if name.split()[1] == "A" else 1 for name in unit.gains}
        return unit, lambda kappa: {name: value * kappa ** orders[name] for name, value in unit.gains.items()}
    pattern = perturbation(equations, baumgarte(**dict.fromkeys(LETTERS.values(), 1.0)))

    def gains(stabilize: object) -> Mapping[str, float]:
        assert isinstance(stabilize, Mapping), "gains were given by their letters"
        return {name: value * stabilize.get(LETTERS[name.split()[1]], 0.0) for name, value in pattern.gains.items()}

    return pattern, gains


def _text(owner: object) -> str:
    program: Program = owner.program  # type: ignore[attr-defined]
    return to_text(program)
