"""What is varied: parameters, initial values, numbers of the run and gains, on axes whose product is the sweep.

Values of a member: the parameters and initial values of the model that follow from the ones that are set.

Reading the whole model anew for each member would take longer than a short motion. The formulas of the model that
depend on what is varied are read once and evaluated for each member, as reading the model would evaluate them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, prod
from typing import Any

import numpy as np
import symengine as se
from numpy.typing import ArrayLike, NDArray

from svyaz.arrays import Array
from svyaz.expr import Advice, Expression, ModelError, Problem, Scope, evaluate, names_in, parse, real_value
from svyaz.model import System, in_order, nearest

PREFIX = {"value": "", "initial": "initial."}
"""Of the names of settings of the model, by the kind of an axis."""
GAINS = ("stabilize", "kappa", "alpha", "beta")
RUN_NUMBERS = ("step", "rtol", "atol")
LARGEST = 100_000_000
"""Members of a sweep."""


@dataclass(frozen=True)
class Axis:
    """One varied quantity: ``kind`` is value (a parameter or input), initial, run or gain; ``key`` its name there."""

    name: str
    kind: str
    key: str
    values: Array


def parse_axis(text: str) -> tuple[str, Array]:
    """``NAME=FROM:TO:COUNT`` evenly, ``NAME=FROM:TO:COUNT:log`` evenly in the logarithm → (name, values)."""
    name, equals, rest = text.partition("=")
    words = [word.strip() for word in rest.split(":")]
    if not (equals and name.strip()) or not 3 <= len(words) <= 4 or not all(words):
        raise _bad(f"'{text}' is not of the form NAME=FROM:TO:COUNT or NAME=FROM:TO:COUNT:log")
    if len(words) == 4 and words[3] != "log":
        raise _bad(f"in '{text}' the spacing can be 'log' or be left out; it is '{words[3]}'")
    low, high = (_number(word, text) for word in words[:2])
    if not words[2].isascii() or not words[2].isdigit() or not 1 <= int(words[2]) <= LARGEST:
        raise _bad(f"in '{text}' the count must be a whole number between 1 and {LARGEST}, not '{words[2]}'")
    count = int(words[2])
    if count == 1 and low != high:
        raise _bad(f"'{text}' asks for one value between two different ones: a count of at least 2 is needed")
    if len(words) == 3:
        return name.strip(), np.linspace(low, high, count)
    if low <= 0 or high <= 0:
        raise _bad(f"'{text}' spaces values in the logarithm: both ends must be positive")
    return name.strip(), np.geomspace(low, high, count)


def _number(word: str, text: str) -> float:
    """A number, or an expression of numbers such as 30*deg."""
    try:
        value = real_value(parse(word, Scope(symbols={}, derivatives={}, forbidden={})))
    except ModelError as error:
        raise _bad(f"in '{text}' the end '{word}' cannot be read: {error.problems[0].message}") from error
    if not isfinite(value):
        raise _bad(f"in '{text}' the end '{word}' is not a finite number")
    return value


def axes_for(system: System, vary: Mapping[str, ArrayLike]) -> tuple[Axis, ...]:
    """The axes of a sweep, every name found in the model and every value checked."""
    if not vary:
        raise _bad(
            Advice("'vary' is empty, and a sweep varies something: give at least one name with its values", "vary")
        )
    axes = tuple(_axis(system, name, np.atleast_1d(np.asarray(values, dtype=float))) for name, values in vary.items())
    places = [(axis.kind, axis.key) for axis in axes]
    for k, axis in enumerate(axes):
        if places[k] in places[:k]:
            raise _bad(f"'{axis.name}' is varied twice")
    gains = [axis.key for axis in axes if axis.kind == "gain"]
    if "stabilize" in gains and len(gains) > 1:
        raise _bad(f"'stabilize' sets all gains at once and cannot be varied together with '{gains[-1]}'")
    if {("run", "step"), ("run", "rtol")} <= set(places):
        raise _bad("a run has either a step or rtol: they cannot be varied together")
    total = int(np.prod([float(len(axis.values)) for axis in axes]))
    if total > LARGEST:
        raise _bad(f"the product of what is varied has {total} members, more than {LARGEST}")
    return axes


def _axis(system: System, name: str, values: Array) -> Axis:
    kind, key = _place(system, name)
    if values.ndim != 1 or not len(values):
        raise _bad(f"'{name}' is varied over a list of numbers")
    if not np.isfinite(values).all():
        raise _bad(f"'{name}' is varied over finite numbers only")
    if kind == "run" and not (values > 0).all():
        raise _bad(f"'{name}' must be positive; it would be varied from {values.min():g} to {values.max():g}")
    return Axis(name, kind, key, values)


def _place(system: System, name: str) -> tuple[str, str]:
    """Where a name belongs. A parameter of the model hides a gain of the same name, which is run.stabilize.NAME then."""
    table, _, key = name.partition(".")
    constants = system.constants
    if name in constants or (table in ("parameters", "inputs") and key in constants):
        return "value", name.removeprefix("parameters.").removeprefix("inputs.")
    gain = name.removeprefix("run.").removeprefix("stabilize.")
    if gain in GAINS:
        return "gain", gain
    if table == "initial":
        if key in system.states:
            return "initial", key
        raise _bad(f"'{key}' is not among the variables of the state", nearest(key, system.states))
    if table == "run":
        if key in RUN_NUMBERS:
            return "run", key
        raise _bad(f"'run.{key}' cannot be varied", nearest(key, RUN_NUMBERS) or f"there are {', '.join(RUN_NUMBERS)}")
    hint = nearest(name, [*constants, *GAINS])
    if name in system.states:
        hint = f"an initial value is varied as initial.{name}"
    elif name in RUN_NUMBERS:
        hint = f"did you mean 'run.{name}'?"
    raise _bad(f"the model has no parameter '{name}' to vary, and there is no such gain", hint)


@dataclass(frozen=True)
class Member:
    """One run of a sweep: settings of the model by their names and what is asked of the run."""

    settings: Mapping[str, float]
    asked: Mapping[str, Any]


def points_of(axes: Sequence[Axis], numbers: Sequence[int] | NDArray[np.int64]) -> list[Array]:
    """For each axis, its values for these members of the product; the last axis runs fastest."""
    places = np.unravel_index(np.asarray(numbers, dtype=np.int64), [len(axis.values) for axis in axes])
    return [axis.values[place] for axis, place in zip(axes, places, strict=True)]


@dataclass(frozen=True)
class Plan:
    """The members of a study, by number; ``stabilize`` is what is asked for apart from the gains that are varied."""

    axes: tuple[Axis, ...]
    stabilize: object

    @property
    def total(self) -> int:
        """How many members there are."""
        return prod(len(axis.values) for axis in self.axes)

    def members(self, numbers: Sequence[int]) -> list[Member]:
        """These members."""
        points = np.column_stack(points_of(self.axes, numbers)).tolist()
        return members_of(self.axes, points, self.stabilize)

    def settings(self, numbers: Sequence[int]) -> dict[str, Array]:
        """The settings of the model, a column (k,) each."""
        columns = zip(self.axes, points_of(self.axes, numbers), strict=True)
        return {PREFIX[axis.kind] + axis.key: values for axis, values in columns if axis.kind in PREFIX}

    def run(self, numbers: Sequence[int]) -> dict[str, Array]:
        """The numbers of the run that are varied, a column (k,) each."""
        columns = zip(self.axes, points_of(self.axes, numbers), strict=True)
        return {axis.key: values for axis, values in columns if axis.kind == "run"}

    def varies(self, *kinds: str) -> bool:
        """Is an axis of one of these kinds?"""
        return any(axis.kind in kinds for axis in self.axes)


def members_of(axes: Sequence[Axis], points: Iterable[Sequence[float]], stabilize: object) -> list[Member]:
    """The members; varied gains are put into the gains that are asked for otherwise."""
    base = dict(stabilize) if isinstance(stabilize, Mapping) else {}
    found = []
    for point in points:
        settings = {PREFIX[a.kind] + a.key: v for a, v in zip(axes, point, strict=True) if a.kind in PREFIX}
        asked: dict[str, Any] = {a.key: v for a, v in zip(axes, point, strict=True) if a.kind == "run"}
        gains = {a.key: v for a, v in zip(axes, point, strict=True) if a.kind == "gain"}
        if "stabilize" in gains:
            asked["stabilize"] = gains["stabilize"]
        elif gains:
            asked["stabilize"] = {**base, **gains}
        found.append(Member(settings, asked))
    return found


def _bad(message: str, hint: str | None = None) -> ModelError:
    return ModelError([Problem(message, None, hint)])


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
        constants = dict(self.system.constants)
        initial = dict(self.system.initial)
        for name, value in settings.items():
            if name.startswith("initial."):
                initial[name.removeprefix("initial.")] = value
            else:
                constants[name] = value
        for name, formula in (*self.parameters, *self.inputs):
            constants[name] = evaluate(formula, constants)
        start = {**dict.fromkeys(self.system.states, 0.0), **initial}
        for name, formula in self.initial:
            initial[name] = start[name] = evaluate(formula, {**constants, **start, "t": 0.0})
        return constants, [float(initial.get(state, 0.0)) for state in self.system.states]

    def columns(self, settings: Mapping[str, Array], count: int) -> tuple[dict[str, Array], Array]:
        """(constants that differ from member to member, each (k,), initial states (k, n)) of ``count`` members."""
        if self.parameters or self.inputs or self.initial:
            names = [
                *(n for n in settings if not n.startswith("initial.")),
                *(n for n, _ in (*self.parameters, *self.inputs)),
            ]
            found = [self.values({n: float(c[k]) for n, c in settings.items()}) for k in range(count)]
            values = {name: np.array([constants[name] for constants, _ in found]) for name in names}
            return values, np.array([start for _, start in found]).reshape(count, -1)
        _, first = self.values({})
        starts = np.tile(np.array(first), (count, 1))
        for name, column in settings.items():
            if name.startswith("initial."):
                starts[:, self.system.states.index(name.removeprefix("initial."))] = column
        return {name: column for name, column in settings.items() if not name.startswith("initial.")}, starts


def recipe(system: System, varied: Iterable[str]) -> Recipe:
    """What has to be evaluated again when the values called ``varied`` are changed."""
    names = set(varied)
    words = system.words
    scope = Scope(symbols={name: se.Symbol(name) for name in system.parameters}, derivatives={}, forbidden={})

    def formulas(table: Mapping[str, Any], prefix: str = "", scope: Scope = scope) -> dict[str, Expression]:
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
        _of_start(system, formulas(words.get("initial", {}), "initial.", system.scope), {*names, *changing}),
        frozenset(changing),
    )


def _of_start(system: System, formulas: Mapping[str, Expression], changing: set[str]) -> Formulas:
    """Initial values that may change, each after those that its definitions contain."""
    moving = changing | set(system.states)
    inside = {n: names_in(formula) for n, formula in formulas.items()}
    return tuple((n, formulas[n]) for n in in_order(inside)[0] if inside[n] & moving)


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
