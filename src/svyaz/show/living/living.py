"""From a motion to what a browser needs to compute it again: a record of plain data, and programs.

The record is described at the head of ``assets/living/engine.js``, which reads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from symengine.lib.symengine_wrapper import Cos, Sin

from svyaz.constraints import examined
from svyaz.expr import names_in, unicode_name
from svyaz.forms import may_jump
from svyaz.integrate import method as find_method
from svyaz.json_types import Json
from svyaz.model import Drawing, System
from svyaz.motion import Chapter, Motion
from svyaz.program import Native, Program, build_as_written
from svyaz.show.living.phases import geometry_program, phase_programs
from svyaz.show.living.record import DrawingRecord, LivingRecord, Moved, PhaseRecord, RegulatorRecord
from svyaz.show.living.regulated import FixedEquilibrium, Regulated, regulator_record
from svyaz.show.living.setup import Setup, setup_of
from svyaz.show.living.steps import Pace, pace_of
from svyaz.show.living.switching import cannot_follow, condition_programs, sets_of, switching_record
from svyaz.show.scene import upward_axis

MOST_ROWS = 1500
"""Rows of a motion that a page stores: enough for any screen."""

HEAVIEST = 100_000
"""Operations of all programs together beyond which a page would weigh more than it should."""

LONGEST = 2e8
"""Operations of a run beyond which it takes seconds in a browser: nobody would wait for it at every move of a slider."""


@dataclass(frozen=True)
class Living:
    """The record of a model that lives, and its programs by name; why the equilibrium of a regulator is fixed, if it is."""

    record: LivingRecord
    programs: Mapping[str, Program]
    fixed_equilibrium: str = ""


class NotLiving(Exception):
    """Why a browser cannot repeat a motion, in words."""


def living_model(motion: Motion, loop: Regulated | None = None) -> Living:
    """What a browser needs to compute the motion again; NotLiving with the reason where it cannot.

    ``loop`` is the regulation of which the motion is the closed loop: the browser follows its equilibrium, where it can.
    """
    stated = None if loop is None else loop.stated
    chapters = motion.chapters
    _refuse(motion, chapters)
    pace = pace_of(chapters, float(motion.times[-1]))
    if pace is None:
        raise NotLiving("no explicit method with a bearable fixed step repeats this motion")
    setup, sets = setup_of(motion.system, stated), sets_of(motion.system, chapters)
    programs: dict[str, Program] = {"setup": setup.program, "draw": _drawing(motion.system)}
    watch, events = _observation_program(motion.system), switching_record(motion.system)
    programs |= {"watch": watch} if watch.outputs else {}
    programs |= events[1] if events is not None else {}
    regulator, fixed_equilibrium = _regulator(loop)
    programs |= {} if regulator is None else {"plant": regulator[1]}
    geometry = geometry_program(examined(chapters[0].phase.equations))
    programs |= {"geometry": geometry[0]} if geometry is not None else {}
    phases = [_phase(chapter, k, setup, programs, switched=events is not None) for k, chapter in enumerate(sets)]
    if sum(len(program.nodes) for program in programs.values()) > HEAVIEST:
        raise NotLiving("its equations are too long for a page")
    if _work(programs, pace, float(motion.times[-1])) > LONGEST:
        raise NotLiving("it would take seconds at every move of a slider")
    record = _record(motion, setup, pace, programs)
    record["phases"] = phases
    record["geometry"] = None if geometry is None else geometry[1]
    record["switched"] = None if events is None else events[0]
    record["regulator"] = None if regulator is None else regulator[0]
    return Living(record, programs, fixed_equilibrium)


def _regulator(loop: Regulated | None) -> tuple[tuple[RegulatorRecord, Program] | None, str]:
    """What finds the equilibrium of a regulator anew, or why nothing does."""
    if loop is None:
        return None, ""
    try:
        return regulator_record(loop), ""
    except FixedEquilibrium as reason:
        return None, str(reason)


def _refuse(motion: Motion, chapters: Sequence[Chapter]) -> None:
    """Say why a motion is not repeated in a browser."""
    system = motion.system
    if not chapters or any(c.segment is None for c in chapters) or len(motion.times) < 2:
        raise NotLiving("it was read from a file, or not run at all")
    if motion.status not in ("finished", "left"):
        raise NotLiving(f"the run ended early: {motion.status}")
    events = cannot_follow(system, chapters)
    if events:
        raise NotLiving(events)
    if may_jump(system) or any(c.modes for c in chapters):
        raise NotLiving("its rates jump")
    if system.step_rule is not None:
        raise NotLiving(f"{system.step_rule.title} is not made in the browser")
    if any(c.onward is not None and c.onward.dependent != c.phase.equations.dependent for c in chapters):
        raise NotLiving("the chart of its equations changes on the way")
    if any(not isinstance(c.segment.code, Native) for c in chapters if c.segment is not None):
        raise NotLiving("its equations are formed anew in each step, by recursions over its bodies")
    if motion.inputs and not any(c.control for c in system.constraints):
        raise NotLiving("laws of its own act as inputs")
    codes = [c.segment.code for c in chapters if c.segment is not None]
    if any(node[0] == "outside" for code in codes if isinstance(code, Native) for node in code.program.nodes):
        raise NotLiving("functions of Python take part in it")


def _work(programs: Mapping[str, Program], pace: Pace, until: float) -> float:
    """Operations of a run: those of the rates, with n³/3 for each linear system, in every stage of every step."""
    rates = [program for name, program in programs.items() if name.startswith("rates ")]
    most = max(len(p.nodes) + sum(s.size**3 for s in p.systems) / 3 for p in rates)
    return most * find_method(pace.method).stages * until / pace.step


def _drawing(system: System) -> Program:
    """All points of all drawings, then the radii."""
    entries = [(f"point {k}", e) for k, d in enumerate(system.drawings) for point in d.points for e in point]
    entries += [(f"radius {k}", d.radius) for k, d in enumerate(system.drawings) if d.radius is not None]
    return build_as_written(entries, inputs=("t", *system.states), parameters=tuple(system.constants))


def _observation_program(system: System) -> Program:
    """Outputs that the model names, and its limits: what is limited, low and high."""
    known = {"t", *system.states, *system.constants}
    entries = [(f"output {name}", e) for name, e in system.outputs.items() if names_in(e) <= known]
    for limit in system.limits:
        sides = {"limited": limit.expression, "low": limit.low, "high": limit.high}
        entries += [(f"{side} {limit.name}", e) for side, e in sides.items() if e is not None]
    return build_as_written(entries, inputs=("t", *system.states), parameters=tuple(system.constants))


def _record(
    motion: Motion,
    setup: Setup,
    pace: Pace,
    programs: Mapping[str, Program],
) -> LivingRecord:
    system, chapters = motion.system, motion.chapters
    tableau, used, names = find_method(pace.method), _used(programs), system.states
    held = chapters[0].segment.held if chapters[0].segment else ()
    return {
        "name": system.name,
        "states": list(names),
        "coordinates": [names.index(q) for q in system.coordinates if q in names],
        "rates": [names.index(f"{name}'") if f"{name}'" in names else -1 for name in names],
        "angles": [name for name in system.coordinates if _is_angle(system, name)],
        "shown": {name: unicode_name(name) for name in (*names, *setup.base)},
        "moved": [_slider(system, name, value) for name, value in setup.base.items() if name in used],
        "tied": list(setup.tied),
        "constants": {name: float(value) for name, value in system.constants.items()},
        "start": [float(value) for value in chapters[0].beginning.state],
        "span": (float(motion.times[0]), float(chapters[-1].phase.end)),
        "method": {
            "name": tableau.name,
            "a": [[float(x) for x in row[:k]] for k, row in enumerate(tableau.a)],
            "b": [float(x) for x in tableau.b],
            "c": [float(x) for x in tableau.c],
        },
        "step": pace.step,
        "difference": pace.difference,
        "rows": MOST_ROWS,
        "stabilize": _stabilize(motion),
        "form": motion.form,
        "phases": [],
        "drawings": [_drawing_record(drawing) for drawing in system.drawings],
        "up": upward_axis(system),
        "held": [h.name for h in held],
        "own": [h.name for h in held if h.integral.value is None],
        "geometry": None,
        "switched": None,
        "regulator": None,
        "programs": {
            name: {
                "parameters": list(program.parameters),
                "inputs": list(program.inputs),
                "outputs": [output for output, _ in program.outputs],
            }
            for name, program in programs.items()
        },
    }


def _drawing_record(drawing: Drawing) -> DrawingRecord:
    return {
        "kind": drawing.kind,
        "size": len(drawing.points),
        "dim": len(drawing.points[0]),
        "trace": drawing.trace,
        "radius": drawing.radius is not None,
        "name": drawing.name,
    }


def _phase(chapter: Chapter, number: int, setup: Setup, programs: dict[str, Program], *, switched: bool) -> PhaseRecord:
    """The record of a phase, or of a set of constraints that events switch; its programs are added to the others."""
    phase, own = phase_programs(chapter, setup.base), None
    keys: list[tuple[str, str]] = []
    added = dict(phase.programs)
    if switched:
        keys, more = condition_programs(chapter)
        own = geometry_program(chapter.phase.equations)
        added |= {**more, **({"geometry": own[0]} if own is not None else {})}
    programs |= {f"{name} {number}": program for name, program in added.items()}
    return {
        "start": float(chapter.phase.start),
        "end": float(chapter.phase.end),
        "states": list(phase.states),
        "quasi": phase.quasi,
        "columns": list(phase.columns),
        "gains": None if phase.gains is None else dict(phase.gains),
        "values": {name: float(value) for name, value in phase.values.items()},
        "active": [c.name for c in chapter.phase.active],
        "keys": keys,
        "geometry": None if own is None else own[1],
    }


def _used(programs: Mapping[str, Program]) -> set[str]:
    """Names of the parameters on which any of the programs depends."""
    return {p.parameters[node[1]] for p in programs.values() for node in p.nodes if node[0] == "parameter"}


def _slider(system: System, name: str, value: float) -> Moved:
    """A slider: a number, and the range in which it is moved."""
    given = system.inputs.get(name)
    low, high = (0.2 * value, 2.0 * value) if value > 0 else (2.0 * value, 0.2 * value) if value < 0 else (-1.0, 1.0)
    if given is not None:
        low = given.low if given.low is not None and isfinite(given.low) else min(-1.0, 2 * value)
        high = given.high if given.high is not None and isfinite(given.high) else max(1.0, 2 * value)
    return {"name": name, "value": value, "low": low, "high": high, "input": given is not None}


def _is_angle(system: System, name: str) -> bool:
    """Does a coordinate occur under the sines and cosines of the picture?"""
    stack = [e for d in system.drawings for point in d.points for e in point]
    while stack:
        part = stack.pop()
        if isinstance(part, Sin | Cos) and name in names_in(part):
            return True
        stack += part.args
    return False


def _stabilize(motion: Motion) -> Json:
    """The word with which a run has these gains, whatever its step."""
    decision = motion.chapters[0].decision
    choice = decision.gains.choice if decision is not None and decision.gains is not None else None
    if choice is not None:
        word = choice.gains.word
        return "off" if word == 0.0 else word
    return motion.chapters[0].options.stabilize.word
