"""From the words of a model to a System: everything is read, every mistake is collected, all are reported at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import symengine as se

from svyaz.expr import ZERO, Expression, ModelError, Problem, names_in, total_derivative, velocity
from svyaz.model import words as vocabulary
from svyaz.model.given import (
    SECOND_ORDER,
    field_energies,
    read_equations,
    read_field,
    read_free,
    read_quasi,
    read_rayleigh,
)
from svyaz.model.motors import add_voltages, declare_motors, drive_forces, read_motors
from svyaz.model.parts import read_constraints, read_drawings, read_inputs, read_integrals
from svyaz.model.places import Places
from svyaz.model.points import read_points
from svyaz.model.reader import Names, Reader
from svyaz.model.run_words import read_bypass, read_run, read_source
from svyaz.model.switches import declare_anchors, initial_anchors, still
from svyaz.model.system import OF_SECOND_ORDER
from svyaz.model.tree_drawing import tree_drawings
from svyaz.model.tree_read import declare_bodies, read_tree, with_upright_quaternions

ENERGIES = ("kinetic", "potential", "lagrangian", "hamiltonian", "dissipation")


def read_words(given: Mapping[str, Any], file: str | None, places: Places | None) -> dict[str, Any]:
    """The fields of a System from the words of a model file; raises ModelError with all mistakes."""
    reader = Reader(file, places)
    words = reader.known_words(given, vocabulary.MODEL)
    for remark in words.get("remarks", ()):
        reader.warn((), remark)
    kind = _kind(reader, given)
    if not _all_listed(reader, words, kind):
        raise ModelError(sorted(reader.problems, key=_by_place))
    names = _declare(reader, words, kind)
    fields: dict[str, Any] = {"kind": names.kind, "name": words.get("name", "system")}
    fields["coordinates"] = names.coordinates
    fields["momenta"] = names.momenta
    fields["states"] = names.states
    fields["parameters"] = names.parameters
    fields["inputs"] = names.inputs
    fields["tree"] = names.tree
    fields["velocity_field"] = {}
    fields["free"] = read_free(reader, words, names)
    fields["rayleigh"] = read_rayleigh(reader, words.get("rayleigh"), names) if kind == "field" else ()
    fields["quasi"] = read_quasi(reader, words.get("quasi", {}), names)
    fields["equations"] = read_equations(reader, words, names)
    if names.tree is None:
        fields.update(_energies(reader, words, names, kind))
    else:
        fields.update(_tree_energies(reader, words, names))
    motors = read_motors(reader, words.get("motor", ()), names)
    fields["motors"] = motors
    fields["forces"] = drive_forces(motors, _forces(reader, words, names))
    currents = {motor.current: motor.rate for motor in motors}
    fields["rates"] = _rates(reader, words, names, kind) | currents | still(names)
    fields["constraints"] = read_constraints(reader, words.get("constraint", ()), names, kind)
    fields["integrals"] = read_integrals(reader, words.get("integral", ()), names)
    fields["drawings"] = read_drawings(reader, words.get("draw", ()), names)
    if names.tree is not None and not words.get("draw"):
        fields["drawings"] = tree_drawings(names.tree)
    fields["initial"] = initial_anchors(fields["constraints"], names, _initial(reader, words, names))
    fields["box"] = _box(reader, words, names)
    fields["run"] = read_run(reader, words.get("run", {}), names)
    fields["bypass"] = read_bypass(reader, words.get("bypass", {}), names)
    fields["source"] = read_source(reader, words.get("source", {}), names)
    if kind == "mechanical":
        _check_inertia(reader, words, names, fields)
    _check_unused(reader, names)
    if reader.problems:
        raise ModelError(sorted([*reader.problems, *_lasting(reader)], key=_by_place))
    fields["words"] = dict(given)
    fields["warnings"] = tuple(reader.warnings)
    fields["file"] = file
    return fields


def _lasting(reader: Reader) -> list[Problem]:
    """Warnings that remain when the mistakes are mended: a parameter whose name was mistyped elsewhere is used after all."""
    hints = " ".join(problem.hint or "" for problem in reader.problems)
    return [
        warning for warning in reader.warnings if not any(f"'{name}'" in hints for name in _quoted(warning.message))
    ]


def _quoted(message: str) -> list[str]:
    return message.split("'")[1::2]


def _by_place(problem: Problem) -> tuple[int, int]:
    return (problem.place.line, problem.place.column) if problem.place else (0, 0)


def _all_listed(reader: Reader, words: Mapping[str, Any], kind: str) -> bool:
    """Are the lists of names there? Without them every expression would be one long mistake."""
    lists = {
        "mechanical": ("coordinates",),
        "rates": ("states",),
        "canonical": ("coordinates", "momenta"),
        "tree": ("dh" if "dh" in words else "body",),
        **dict.fromkeys((*SECOND_ORDER, "field"), ("coordinates",)),
    }[kind]
    for key in lists:
        if key in words and not words[key]:
            reader.report((key,), f"the list '{key}' is empty")
    return all(words.get(key) for key in lists)


def _kind(reader: Reader, words: Mapping[str, Any]) -> str:
    if {"body", "dh"} & words.keys():
        kind = "tree"
    elif "hamiltonian" in words or "momenta" in words:
        kind = "canonical"
    elif ("states" in words or "rates" in words) and not {"kinetic", "lagrangian"} & words.keys():
        kind = "rates"
    elif "equations" in words or "accelerations" in words:
        kind = "equations" if "equations" in words else "accelerations"
    elif "free" in words or ("rayleigh" in words and "field" not in words):
        kind = "field"
    else:
        kind = "mechanical"
    wrong = {
        **dict.fromkeys(SECOND_ORDER, (*ENERGIES, "momenta", "forces", "constraint", "motor", "gravity", "quasi")),
        "field": (*ENERGIES, "momenta", "forces", "motor", "gravity", "quasi"),
        "tree": ("coordinates", "momenta", "kinetic", "potential", "lagrangian", "hamiltonian"),
        "mechanical": ("momenta", "hamiltonian", "gravity"),
        "rates": (
            "coordinates",
            "momenta",
            "kinetic",
            "potential",
            "lagrangian",
            "hamiltonian",
            "forces",
            "constraint",
            "motor",
            "gravity",
        ),
        "canonical": ("kinetic", "potential", "lagrangian", "forces", "constraint", "motor", "gravity"),
    }
    what = {
        "tree": "its bodies",
        "mechanical": "energies",
        "rates": "[rates]",
        "canonical": "a Hamiltonian",
        "equations": "[equations]",
        "accelerations": "[accelerations]",
        "field": "constraints for which a velocity field is wanted",
    }
    for key in wrong[kind]:
        if key in words:
            reader.report((key,), f"'{key}' does not go with a model that is given by {what[kind]}", at_key=True)
    needed = {
        **dict.fromkeys(SECOND_ORDER, ("coordinates",)),
        "field": ("coordinates", "constraint"),
        "tree": (),
        "mechanical": ("coordinates",),
        "rates": ("states", "rates"),
        "canonical": ("coordinates", "momenta", "hamiltonian"),
    }
    for key in needed[kind]:
        if key not in words:
            reader.report((), f"the model has no '{key}'")
    return kind


def _declare(reader: Reader, words: Mapping[str, Any], kind: str) -> Names:
    """Declare the names of the model, each once, and find the values of the parameters."""
    names = Names()
    bodies = declare_bodies(reader, names, words) if kind == "tree" else {}
    coordinates = tuple(reader.declare(names, words, "coordinates", "coordinate"))
    momenta = tuple(reader.declare(names, words, "momenta", "momentum"))
    states = tuple(reader.declare(names, words, "states", "state"))
    if kind == "canonical" and len(momenta) != len(coordinates):
        reader.report(("momenta",), f"there are {len(coordinates)} coordinates and {len(momenta)} momenta")
    parameters = words.get("parameters", {})
    for name in parameters:
        reader.declare_one(names, name, "parameter", ("parameters", name))
    for name in words.get("inputs", {}):
        reader.declare_one(names, name, "input", ("inputs", name))
    drives = words.get("motor", ())
    names.currents = declare_motors(reader, names, drives)
    names.anchors = declare_anchors(reader, names, words.get("constraint", ()))
    states += names.currents
    names.momenta = momenta
    names.further = states
    names.kind = "mechanical" if kind == "tree" else kind
    names.parameters = reader.parameter_values(parameters)
    if kind == "tree":
        names.tree = read_tree(reader, names, bodies, words)
        coordinates, names.rates, names.velocities = names.tree.coordinates, names.tree.rates, names.tree.velocities
    elif kind in OF_SECOND_ORDER:
        names.rates = {q: velocity(q) for q in coordinates}
        names.velocities = tuple(map(str, names.rates.values()))
    names.coordinates = coordinates
    names.states = states if kind == "rates" else coordinates + (names.velocities or momenta) + states + names.anchors
    names.inputs = read_inputs(reader, words.get("inputs", {}), names)
    add_voltages(names, drives)
    _define(reader, words, names)
    return names


def _define(reader: Reader, words: Mapping[str, Any], names: Names) -> None:
    """Points of bodies and named expressions of the coordinates. Their time derivatives may be used as well: x1' for x1."""
    given = words.get("definitions", {})
    rates = {se.Symbol(q): rate for q, rate in names.rates.items()} | {se.Symbol("t"): se.Integer(1)}
    for name, expression in read_points(reader, words.get("point", ()), names).items():
        names.definitions[name] = expression
        names.definition_rates[name] = total_derivative(expression, rates)
    for name, text in given.items():
        path = ("definitions", name)
        if not reader.declare_one(names, name, "definition", path) or not reader.fits(
            path, text, vocabulary.EXPRESSION
        ):
            continue
        expression = reader.expression(path, text, names.scope(velocities=True))
        names.definitions[name] = expression
        if not names_in(expression) & {*names.velocities, *names.further}:
            names.definition_rates[name] = total_derivative(expression, rates)


def _energies(reader: Reader, words: Mapping[str, Any], names: Names, kind: str) -> dict[str, Any]:
    if "field" in words:
        return _field(reader, words, names)
    moving = names.scope(velocities=names.kind == "mechanical", inputs=False)
    still = names.scope(velocities=False, inputs=False, why="the potential energy depends on positions (and time) only")
    read = dict.fromkeys(("kinetic", "potential", "lagrangian", "dissipation", "hamiltonian"), ZERO)
    for key in read:
        if key in words:
            read[key] = reader.expression((key,), words[key], still if key == "potential" else moving)
    given = "lagrangian" not in words
    if kind == "mechanical":
        if given and "kinetic" not in words:
            reader.report((), "the model has neither 'kinetic' nor 'lagrangian'")
        if not given and ("kinetic" in words or "potential" in words):
            reader.report(
                ("lagrangian",), "'lagrangian' stands instead of 'kinetic' and 'potential'; give one or the other"
            )
        if given:
            read["lagrangian"] = read["kinetic"] - read["potential"]
    for key in [key for key in read if key in words]:
        reader.no_further(names, (key,), read[key], "an energy")
    return {**read, "energies_given": given}


def _field(reader: Reader, words: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """The energies of a velocity field that is to attract."""
    for key in (*ENERGIES, "constraint", "free"):
        if key in words:
            reader.report((key,), f"'{key}' does not go with a velocity field", at_key=True)
    field = read_field(reader, words, names)
    rayleigh = read_rayleigh(reader, words.get("rayleigh"), names)
    read: dict[str, Any] = dict.fromkeys(("kinetic", "potential", "lagrangian", "dissipation", "hamiltonian"), ZERO)
    if len(field) == len(names.coordinates):
        read["lagrangian"], read["dissipation"] = field_energies(field, rayleigh)
    return {**read, "energies_given": False, "velocity_field": field, "rayleigh": rayleigh}


def _tree_energies(reader: Reader, words: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """What a tree of bodies states of energies; its own are found from the bodies when they are asked for."""
    moving = names.scope(velocities=True, inputs=False)
    dissipation = reader.expression(("dissipation",), words["dissipation"], moving) if "dissipation" in words else ZERO
    return {"dissipation": dissipation, "hamiltonian": ZERO, "energies_given": True}


def _forces(reader: Reader, words: Mapping[str, Any], names: Names) -> dict[str, Expression]:
    forces: dict[str, Expression] = {}
    if names.kind != "mechanical":
        return forces
    freedoms = names.coordinates if names.tree is None else names.tree.freedoms
    for name, text in words.get("forces", {}).items():
        path = ("forces", name)
        if name not in freedoms:
            hint = vocabulary.nearest(name, freedoms)
            reader.report(path, f"a generalised force acts on a coordinate; '{name}' is none", hint=hint, at_key=True)
        elif reader.fits(path, text, vocabulary.EXPRESSION):
            forces[name] = reader.expression(path, text, names.scope(velocities=True))
    return forces


def _rates(reader: Reader, words: Mapping[str, Any], names: Names, kind: str) -> dict[str, Expression]:
    rates = {}
    given = words.get("rates", {})
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


def _initial(reader: Reader, words: Mapping[str, Any], names: Names) -> dict[str, float]:
    initial = {}
    for name, text in words.get("initial", {}).items():
        path = ("initial", name)
        if name not in names.states:
            hint = vocabulary.nearest(name, names.states)
            reader.report(path, f"'{name}' is not among the variables of the state", hint=hint, at_key=True)
        elif reader.fits(path, text, vocabulary.EXPRESSION):
            initial[name] = reader.value(path, text, names)
    return initial if names.tree is None else with_upright_quaternions(reader, names.tree, initial)


def _box(reader: Reader, words: Mapping[str, Any], names: Names) -> dict[str, tuple[float, float]]:
    box = {}
    for name, pair in words.get("box", {}).items():
        path = ("box", name)
        if name not in names.known:
            reader.report(path, f"'{name}' is not a name of the model", at_key=True)
        elif not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            reader.report(path, "a side of the box is [low, high]")
        else:
            low, high = (reader.value((*path, k), entry, names) for k, entry in enumerate(pair))
            if not low < high:
                reader.report(path, f"the side of the box for '{name}' is empty: {low:g} is not below {high:g}")
            box[name] = (low, high)
    return box


def _check_inertia(reader: Reader, words: Mapping[str, Any], names: Names, fields: Mapping[str, Any]) -> None:
    """A coordinate must have inertia, or at least be tied to others by a constraint."""
    if any(p.place is not None or "kinetic" in p.message for p in reader.problems_at(("kinetic",), ("lagrangian",))):
        return
    moving = names_in(fields["lagrangian"])
    tied = set().union(*(names_in(c.expression) for c in fields["constraints"])) if fields["constraints"] else set()
    for k, q in enumerate(names.coordinates):
        if str(velocity(q)) not in moving and q not in tied and str(velocity(q)) not in tied:
            reader.report(
                ("coordinates", k), f"the coordinate '{q}' has no inertia: its velocity is not in the kinetic energy"
            )


def _check_unused(reader: Reader, names: Names) -> None:
    if reader.is_faulty("body") or reader.is_faulty("dh"):
        return  # a body that is refused is not read to its end: what it uses is not known
    for name in names.parameters:
        if name not in reader.used and names.known.get(name) == "parameter":
            reader.warn(("parameters", name), f"the parameter '{name}' is not used")
