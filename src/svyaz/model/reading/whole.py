"""From the words of a model to a System: everything is read, every mistake is collected, all are reported at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import symengine as se

from svyaz.expr import (
    ONE,
    RESERVED,
    TIME,
    ZERO,
    Expression,
    ModelError,
    Problem,
    total_derivative,
    uncollected,
)
from svyaz.model.law import Law, Mechanical
from svyaz.model.laws import all_laws
from svyaz.model.reading import words as vocabulary
from svyaz.model.reading.common import WORD, LawWords, Names, Reader, Table
from svyaz.model.reading.constraints import (
    constraint_name,
    declare_anchors,
    initial_anchors,
    reaction_scope,
    read_constraints,
    still,
)
from svyaz.model.reading.directions import with_controls
from svyaz.model.reading.frictions import by_reactions
from svyaz.model.reading.limits import read_limits
from svyaz.model.reading.motors import add_voltages, declare_motors, drive_forces, read_motors
from svyaz.model.reading.parts import (
    Choices,
    read_drawings,
    read_inputs,
    read_integrals,
    read_run,
    read_source,
)
from svyaz.model.reading.places import Places
from svyaz.model.reading.points import read_points, tree_drawings
from svyaz.model.reading.rules import read_rule, rule_tables
from svyaz.model.reading.stabilising import with_laws
from svyaz.model.reading.starts import read_initial
from svyaz.model.reading.streams import mass_limits, read_streams, with_momenta
from svyaz.model.reading.units import read_units, with_units
from svyaz.model.system import Constraint, System, names_of


@uncollected
def system_of(
    given: Table, file: str | None = None, places: Places | None = None, choices: Choices | None = None
) -> System:
    """The system stated by the words of a model; raises ModelError with all mistakes, each at its place in the file.

    ``choices`` are the words known for ``form``, ``method`` … of [run]; without them these are judged when they are used.
    """
    reader = Reader(file, places)
    words = reader.known_words(given, {**vocabulary.MODEL, **dict.fromkeys(rule_tables(), vocabulary.TABLE)})
    for remark in vocabulary.names(words, "remarks"):
        reader.warn((), remark)
    stating = _law_of(reader, {**given, **words})
    if not _all_listed(reader, words, stating):
        raise ModelError(sorted(reader.problems, key=_by_place))
    names = _declare(reader, words, stating)
    stated = _build_system(reader, words, names, stating, choices or {})
    system = with_controls(reader, replace(stated, words=cast(vocabulary.ModelWords, dict(given))))
    system = replace(system, units=with_units(reader, system, read_units(reader, words, names)))
    _check_unused(reader, names)
    if reader.problems:
        raise ModelError(sorted([*reader.problems, *reader.lasting_warnings()], key=_by_place))
    return replace(system, warnings=tuple(reader.warnings))


def _build_system(reader: Reader, words: Table, names: Names, stating: LawWords, choices: Choices) -> System:
    """All that is said of a system whose names are declared."""
    quasi = _quasi(reader, vocabulary.table(words, "quasi"), names)
    law = stating.read(reader, words, names)
    motors = read_motors(reader, vocabulary.tables(words, "motor"), names)
    forces = drive_forces(motors, _forces(reader, words, names) if isinstance(law, Mechanical) else {})
    if isinstance(law, Mechanical):
        forces |= {q: forces.get(q, ZERO) + force for q, force in law.own_forces.items()}
    currents = {motor.current: motor.rate for motor in motors}
    rates = _rates(reader, words, names) | currents | still(names)
    streams = _streams(reader, words, stating, law)
    forces, masses = read_streams(reader, streams, names, rates, with_momenta(law, names, rates, forces))
    constraints = read_constraints(reader, vocabulary.tables(words, "constraint"), names, stating, forces)
    forces, constraints = by_reactions(reader, names, forces, constraints)
    integrals = read_integrals(reader, vocabulary.tables(words, "integral"), names)
    constraints, integrals = with_laws(reader, words, names, constraints, integrals)
    drawings = read_drawings(reader, vocabulary.tables(words, "draw"), names)
    if names.tree is not None and not words.get("draw"):
        marked = [vocabulary.text(point, "name") for point in vocabulary.tables(words, "point")]
        drawings = tree_drawings(names.tree, marked, names.definitions)
    system = System(
        name=vocabulary.text(words, "name", "system"),
        law=law,
        coordinates=names.coordinates,
        states=names.states,
        parameters=names.parameters,
        inputs=names.inputs,
        initial=initial_anchors(constraints, names, read_initial(reader, words, names)),
        forces=forces,
        rates=rates,
        quasi=quasi,
        motors=motors,
        constraints=constraints,
        integrals=integrals,
        drawings=drawings,
        box=_box(reader, words, names),
        limits=(*read_limits(reader, vocabulary.table(words, "limits"), names), *masses, *mass_limits(names)),
        outputs=_outputs(reader, words, names, constraints),
        units={},
        run=read_run(reader, vocabulary.table(words, "run"), names, choices),
        step_rule=read_rule(reader, words, names),
        source=read_source(reader, vocabulary.table(words, "source"), names),
        words={},
        warnings=(),
        file=reader.file,
        places=reader.places,
        scope=names.scope(velocities=True),
        points=names.points,
    )
    stating.check(reader, names, law, constraints)
    return system


def _by_place(problem: Problem) -> tuple[int, int]:
    return (problem.place.line, problem.place.column) if problem.place else (0, 0)


def _law_of(reader: Reader, words: Table) -> LawWords:
    """By which law the model is given; what does not go with it, and what it lacks, is reported."""
    law = next(law for law in all_laws() if law.known_by(words.keys()))
    for key in (key for key in law.refused if key in words):
        reader.report((key,), f"'{key}' does not go with a model that is given by {law.given_by}", at_key=True)
        reader.mentions(vocabulary.text(words, key))
    for key in (key for key in law.needed if key not in words):
        reader.report((), f"the model has no '{key}'")
    return law


def _all_listed(reader: Reader, words: Table, law: LawWords) -> bool:
    """Are the lists of names there? Without them every expression would be one long mistake."""
    for key in law.lists:
        if key in words and not words[key]:
            reader.report((key,), f"the list '{key}' is empty")
    return all(words.get(key) for key in law.lists)


def _declare(reader: Reader, words: Table, law: LawWords) -> Names:
    """Declare the names of the model, each once, and find the values of the parameters."""
    names = Names()
    law.declare(reader, words, names)
    names.coordinates = tuple(reader.declare(names, words, "coordinates", "coordinate"))
    names.momenta = tuple(reader.declare(names, words, "momenta", "momentum"))
    names.further = tuple(reader.declare(names, words, "states", "state"))
    parameters = vocabulary.table(words, "parameters")
    for name in parameters:
        reader.declare_one(names, name, "parameter", ("parameters", name))
    for name in vocabulary.table(words, "inputs"):
        reader.declare_one(names, name, "input", ("inputs", name))
    drives = vocabulary.tables(words, "motor")
    names.currents = declare_motors(reader, names, drives)
    names.anchors = declare_anchors(reader, names, vocabulary.tables(words, "constraint"))
    names.further += names.currents
    names.parameters = reader.parameter_values(parameters)
    _define_masses(reader, words, names)
    law.moving(reader, words, names)
    names.states = names.coordinates + (names.velocities or names.momenta) + names.further + names.anchors
    names.inputs = read_inputs(reader, vocabulary.table(words, "inputs"), names)
    add_voltages(names, drives)
    _define(reader, words, names)
    return names


def _define(reader: Reader, words: Table, names: Names) -> None:
    """Points of bodies and named expressions of the coordinates. Their time derivatives may be used as well: x1' for x1."""
    given = vocabulary.table(words, "definitions")
    rates = {se.Symbol(q): rate for q, rate in names.rates.items()} | {TIME: ONE}
    without_rates = {se.Symbol(name) for name in (*names.velocities, *names.further)}
    read_points(reader, vocabulary.tables(words, "point"), names)
    for name, text in given.items():
        path = ("definitions", name)
        if name not in names.definitions and (
            not reader.declare_one(names, name, "definition", path)
            or not reader.fits(path, text, vocabulary.EXPRESSION)
        ):
            continue
        if name not in names.definitions:
            names.definitions[name] = reader.expression(path, text, names.scope(velocities=True))
        expression = names.definitions[name]
        if without_rates.isdisjoint(expression.free_symbols):
            names.definition_rates[name] = total_derivative(expression, rates)


def _define_masses(reader: Reader, words: Table, names: Names) -> None:
    """Definitions that masses of bodies may use, which are read before anything moves: of time, states and parameters."""
    for name, text in vocabulary.table(words, "definitions").items() if names.bodies else ():
        known = RESERVED | {"t", *names.parameters, *names.further, *names.definitions}
        if not isinstance(text, str) or "'" in text or not set(WORD.findall(text)) <= known:
            continue
        if reader.declare_one(names, name, "definition", ("definitions", name)):
            names.definitions[name] = reader.expression(("definitions", name), text, names.mass_scope())


def _quasi(reader: Reader, given: Table, names: Names) -> dict[str, Expression]:
    """Quasi-velocities: functions of the velocities under names of their own."""
    found: dict[str, Expression] = {}
    for name, text in given.items():
        path = ("quasi", name)
        if reader.declare_one(names, name, "quasi-velocity", path) and reader.fits(path, text, vocabulary.EXPRESSION):
            found[name] = reader.expression(path, text, names.scope(velocities=True, inputs=False))
    return found


def _outputs(reader: Reader, words: Table, names: Names, constraints: Sequence[Constraint]) -> dict[str, Expression]:
    """Named expressions of the state, the time, inputs and multipliers (``lambda_NAME``) that are shown along motions."""
    found: dict[str, Expression] = {}
    if not (given := vocabulary.table(words, "outputs")):
        return found
    scope = reaction_scope(names, names_of(constraints))
    for name, text in given.items():
        path = ("outputs", name)
        if reader.declare_one(names, name, "output", path) and reader.fits(path, text, vocabulary.EXPRESSION):
            found[name] = reader.expression(path, text, scope)
    return found


def _forces(reader: Reader, words: Table, names: Names) -> dict[str, Expression]:
    forces: dict[str, Expression] = {}
    if not (given := vocabulary.table(words, "forces")):
        return forces
    freedoms = names.coordinates if names.tree is None else names.tree.freedoms
    stated = [constraint_name(table, k) for k, table in enumerate(vocabulary.tables(words, "constraint"))]
    scope = reaction_scope(names, stated)
    for name, text in given.items():
        path = ("forces", name)
        if name not in freedoms:
            hint = vocabulary.nearest(name, freedoms)
            reader.report(path, f"a generalised force acts on a coordinate; '{name}' is none", hint=hint, at_key=True)
        elif reader.fits(path, text, vocabulary.EXPRESSION):
            forces[name] = reader.expression(path, text, scope)
    return forces


def _streams(reader: Reader, words: Table, stating: LawWords, law: Law) -> Sequence[Table]:
    """The tables of streams; of a law that is not a mechanical one they are reported, and left out."""
    streams = vocabulary.tables(words, "stream")
    if not streams or isinstance(law, Mechanical):
        return streams
    reader.report(("stream",), f"'stream' does not go with a model that is given by {stating.given_by}", at_key=True)
    return ()


def _rates(reader: Reader, words: Table, names: Names) -> dict[str, Expression]:
    rates = {}
    given = vocabulary.table(words, "rates")
    for name, text in given.items():
        path = ("rates", name)
        if name not in names.further:
            hint = vocabulary.nearest(name, names.further)
            reader.report(path, f"there is no state '{name}'", hint=hint, at_key=True)
        elif reader.fits(path, text, vocabulary.EXPRESSION):
            rates[name] = reader.expression(path, text, names.scope(velocities=True))
    for name in names.further:
        if name in names.currents:
            if name in given:
                reader.report(("rates", name), f"the rate of '{name}' follows from its motor", at_key=True)
        elif name not in given:
            reader.report(("states",), f"the state '{name}' has no rate in [rates]")
    return rates


def _box(reader: Reader, words: Table, names: Names) -> dict[str, tuple[float, float]]:
    box = {}
    for name, pair in vocabulary.table(words, "box").items():
        path = ("box", name)
        if name not in names.known and name not in names.states:
            reader.report(path, f"'{name}' is not a name of the model", at_key=True)
        elif not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            reader.report(path, "a side of the box is [low, high]")
        else:
            low, high = (reader.value((*path, k), entry, names) for k, entry in enumerate(pair))
            if not low < high:
                reader.report(path, f"the side of the box for '{name}' is empty: {low:g} is not below {high:g}")
            box[name] = (low, high)
    return box


def _check_unused(reader: Reader, names: Names) -> None:
    if reader.is_faulty("body") or reader.is_faulty("dh"):
        return  # a body that is refused is not read to its end: what it uses is not known
    used = reader.used()
    for name in names.parameters:
        if name not in used and names.known.get(name) == "parameter":
            reader.warn(("parameters", name), f"the parameter '{name}' is not used", about=name)
