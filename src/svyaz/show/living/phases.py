"""The programs of the phases of a run, as a browser needs them: rates, what is observed, ways in and out of a form."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from math import prod

import numpy as np
import symengine as se

from svyaz.constraints import is_reduced
from svyaz.dynamics import in_unknowns, measure_of
from svyaz.expr import ZERO, substitute
from svyaz.forms import Equations, power_of, rates_of, rates_program
from svyaz.motion import Chapter, powers
from svyaz.program import Function, Native, Program, build_as_written, choose_orders
from svyaz.show.living.record import Geometry
from svyaz.stabilise import Segment, critical, hold

OBSERVED = ("multipliers", "residuals", "energies", "integrals")
GAIN_BLOCKS = {"beta": "A", "alpha": "B", "kappa": "E"}
"""The gains of a person, and the blocks of the perturbation equation that have them on their diagonals."""


@dataclass(frozen=True)
class PhasePrograms:
    """Programs by what they are for, all over (t, states of the equations) except ``enter``, over (t, states of the model).

    ``columns``: kind and name of each output of ``observe``. ``gains``: values of alpha, beta and kappa, as far as there
    are constraints for them; None where the gains are no such numbers. ``values``: further constants by name.
    """

    states: tuple[str, ...]
    programs: Mapping[str, Program]
    columns: tuple[tuple[str, str], ...]
    gains: Mapping[str, float] | None
    values: Mapping[str, float]
    quasi: bool


def phase_programs(chapter: Chapter, varied: Collection[str]) -> PhasePrograms:
    """The programs of a phase that was run; ``varied`` are the parameters that may change."""
    segment = chapter.segment
    assert segment is not None
    segment, rates, gains = _with_gains(segment, chapter)
    equations = segment.equations
    programs = {"rates": rates}
    if segment.projection is not None and isinstance(segment.projection.owner, Native):
        programs["after"] = segment.projection.owner.program
    measure = measure_of(equations).observing(segment.enforcement)
    kinds = [kind for kind in measure.function.shapes if kind in OBSERVED]
    columns = tuple((kind, name) for kind in kinds for name in measure.observed_names[kind])
    programs["observe"] = _some(measure.written, OBSERVED)
    programs |= _ways(equations)
    power = power_of(equations.system, varied)
    if power is not None and not power.vanishes:
        law = segment.perturbation.correction
        systems, tables = in_unknowns(equations, law, powers(power, equations))
        named = [("work", tables[0]), ("dissipated", tables[1])]
        parameters = tuple({**segment.values, **segment.perturbation.gains})
        inputs = ("t", *equations.states)
        programs["power"] = build_as_written(named, inputs=inputs, parameters=parameters, systems=systems)
    return PhasePrograms(equations.states, programs, columns, gains, segment.known, equations.quasi)


def _with_gains(segment: Segment, chapter: Chapter) -> tuple[Segment, Program, Mapping[str, float] | None]:
    """The segment and its rates with a gain for every constraint, zero where there was none, and what the gains are."""
    law, equations = segment.perturbation, segment.equations
    assert isinstance(segment.code, Native)
    same = segment, segment.code.program, None
    lawful = any(d.constraint.law is not None for d in equations.deviations)
    if not equations.deviations or lawful or segment.projection is not None or law.kind != "linear":
        return same
    full = critical(equations, 1.0)
    zeros = dict.fromkeys(full.gains, 0.0)
    if not set(law.gains) <= set(zeros):
        return same
    gains = {}
    for name, block in GAIN_BLOCKS.items():
        values = {law.gains.get(key, 0.0) for key in zeros if key.split()[1] == block}
        if len(values) > 1:
            return same
        if values:
            gains[name] = values.pop()
    if set(law.gains) == set(zeros):
        return segment, segment.code.program, gains
    path, constants = chapter.path, {**segment.known, **zeros}
    held = hold(equations, rates_of(equations, full.correction), segment.held, chapter.options.hold)
    extra = tuple(name for name in constants if name not in equations.constants)
    sample = dict(zip(("t", *equations.states), [float(path.times[0]), *map(float, path.states[0])], strict=True))
    program = choose_orders(rates_program(equations, held, extra), constants, sample)
    return replace(segment, perturbation=replace(full, gains={**zeros, **law.gains})), program, gains


def _ways(equations: Equations) -> dict[str, Program]:
    """From the states of the model into those of a reduced form, and back."""
    if not is_reduced(equations):
        return {}
    system, names = equations.system, tuple(equations.system.constants)
    out = [(name, equations.in_states(se.Symbol(name))) for name in system.states]
    ways = {"leave": build_as_written(out, inputs=("t", *equations.states), parameters=names)}
    if equations.quasi:
        still = dict.fromkeys(equations.velocities, ZERO)
        inputs = ("t", *(s for s in equations.states if s not in equations.accelerated))
        frame = [(f"N {q} {k}", e) for q, row in equations.directions.items() for k, e in enumerate(row)]
        frame += [(f"n {q}", substitute(equations.explicit[q], still)) for q in system.coordinates]
        return {**ways, "frame": build_as_written(frame, inputs=inputs, parameters=names)}
    entered = [(name, equations.entering.get(name, se.Symbol(name))) for name in equations.states]
    return {**ways, "enter": build_as_written(entered, inputs=("t", *system.states), parameters=names)}


def geometry_program(equations: Equations) -> tuple[Program, Geometry] | None:
    """M, G, h and (ḣ, f) at a state of the model, to move a start onto the constraints; None where nothing can be moved so.

    The record says how many there are, which constraints are on positions, and the places of what is moved.
    """
    system = equations.system
    if not equations.deviations or not set(equations.accelerated) <= set(system.coordinates):
        return None
    measure = measure_of(equations)
    tables = ("mass", "jacobian", "position", "velocity")
    places = np.array([system.states.index(name) for name in equations.states])
    return _some(measure.written, tables), {
        "size": len(measure.coordinates),
        "count": len(measure.holonomic),
        "holonomic": measure.holonomic.tolist(),
        "coordinates": places[list(measure.coordinates)].tolist(),
        "speeds": places[list(measure.speeds)].tolist(),
        "states": places.tolist(),
        "order": [name for name in measure.function.shapes if name in tables],
        "names": list(equations.multiplier_names),
    }


def _some(function: Function, tables: Collection[str]) -> Program:
    """The program of some tables of a function alone, in the order of the function."""
    outputs: list[tuple[str, int]] = []
    start = 0
    for name, shape in function.shapes.items():
        count = prod(shape)
        if name in tables:
            outputs += function.program.outputs[start : start + count]
        start += count
    return replace(function.program, outputs=tuple(outputs))
