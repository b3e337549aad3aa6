"""From a system to its motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from svyaz.arguments import check_arguments
from svyaz.arrays import Array
from svyaz.constraints import NoConsistentState, derived, examined
from svyaz.constraints import project as onto_constraints
from svyaz.expr import ModelError, Problem
from svyaz.forms import (
    Equations,
    form_name,
    form_of,
    free_equations,
    lagrange_terms,
    refuse_negative_mass,
    with_constraints,
)
from svyaz.integrate import Status
from svyaz.model import Constraint, Mechanical, System, angles, is_number
from svyaz.motion.charts import Charted
from svyaz.motion.direct import DirectRun, direct_run
from svyaz.motion.driver import collected, driven, error_by_halving, unborn
from svyaz.motion.inputs import Controlled, Laws, along, controlled
from svyaz.motion.limits import told_controls
from svyaz.motion.long_trees import articulated, written_though_long
from svyaz.motion.options import DEFAULTS, PreparedOptions, RunOptions, run_words
from svyaz.motion.phases import START, Phase, Structure, Wishes, is_switched
from svyaz.motion.plausible import doubts
from svyaz.motion.result import Motion
from svyaz.motion.starts import moves, named, refuse_error, told_moves
from svyaz.motion.timed import Timed, intervals, one_phase
from svyaz.program import remembered
from svyaz.stabilise import Options, Refusal, not_integrals, options_for

SUSPECT = 1e-6
"""A declared integral that changed by more than this part of its size is looked at."""

MOST_PREPARED = 4
"""So many ways to run one system are kept prepared."""

DECIDING = ("inputs", "project", "keep", "halve", "force", "beyond", "initial_error")
"""Options with which a run is more than the native loop."""

MANY_TURNS = 3
"""An angle that begins farther away than so many turns is asked about."""


@check_arguments
def simulate(system: System | Equations, **options: Unpack[RunOptions]) -> Motion:
    """The motion of a system from its initial state, or from ``start``, which replaces some of its values.

    Of method, step or rtol (and atol), until, every, stabilize, tolerance, hold and charts, what is left out is taken from
    the model's [run]. ``project`` first moves the initial state onto the constraints; the states called ``keep`` ("u',v", or a
    list; it implies ``project``) stay as they are, to the last bit. The bound on the error of Euler's method begins with
    ``initial_error``, the largest of any state. ``halve`` estimates the error of the
    trajectory by a second run with half the step, ``force`` runs in spite of an unstable verdict on the gains, of a start
    off the constraints, and where the energy has no value; ``beyond`` runs on where a limit of the model is passed, and a
    note tells it. ``rows`` are the times at which the state is wanted; a phase that takes more than ``max_steps`` is lost.
    Without ``foresee`` given gains are judged by themselves: no pilot predicts, before the run, how far constraints will stray.
    ``progress`` is called with the time reached. ``inputs`` are laws u(t, x) in place of inputs, by name: a text or an
    expression of the time, the states and the parameters, a number, or a function of the time and the states. Equations are
    run as they are, unless constraints begin or cease to act.

    ``times`` is (k,), ``states`` (k, n) in the order of ``state_names``, every column (k,).

    >>> import svyaz
    >>> motion = svyaz.simulate(svyaz.load("pendulum:1"), until=1, every=0.25)
    >>> motion.times.shape, motion.states.shape
    ((5,), (5, 2))
    """
    how: RunOptions = {**DEFAULTS, **options}
    start, rows, initial_error = how.get("start"), how.get("rows"), how["initial_error"]
    run = _asked_for(system, how.get("form"), how.get("inputs"), run_words(how), how.get("max_steps"), how["foresee"])
    refuse_error(initial_error, run.options)
    given, kept = start_of_run(run.system, start), named(how["keep"])
    project = how["project"] or bool(kept)
    refuse_negative_mass(run.system, dict(zip(run.system.states, given.tolist(), strict=True)))
    try:
        state = _moved(run.structure, given, kept) if project else given
    except NoConsistentState as refusal:
        return _refused(run, given, str(refusal))
    wanted = None if rows is None else _times_of_rows(rows, run.options.until)
    motion = driven(
        run.structure, state, Wishes(how["force"], wanted, how.get("progress"), how["beyond"], initial_error)
    )
    if project:
        moved = moves(run.system.states, given, state)
        motion = replace(motion, moved=moved, notes=(told_moves(moved, kept), *motion.notes))
    if how["halve"] and motion.finished:
        motion = replace(motion, trajectory_error=error_by_halving(run.structure, state, motion))
    notes = (
        *run.notes,
        *_no_start(run.system, start),
        *_many_turns(run.system, start),
        *doubts(motion, run.options),
        *told_controls(motion),
    )
    notes += _falsely_declared(run.structure, state, motion)
    if notes:
        motion = replace(motion, notes=(*notes, *motion.notes))
    return motion if run.control is None else _with_laws(motion, run.control)


def _times_of_rows(rows: ArrayLike, until: float) -> Array:
    """The times at which rows are wanted, in their order; all lie in the run."""
    times = np.asarray(rows, dtype=float)
    if times.ndim != 1:
        raise ModelError([Problem(f"'rows' must be a list of times, not an array of shape {times.shape}")])
    if times.size and not (times.min() >= START and times.max() <= until * (1 + 1e-9)):
        message = f"'rows' must lie between t = {START:g} and the end of the run, t = {until:g}"
        raise ModelError([Problem(f"{message}; they reach from {times.min():g} to {times.max():g}")])
    return np.unique(times)


@check_arguments
def prepare(system: System, **options: Unpack[PreparedOptions]) -> DirectRun | None:
    """Derive and compile what runs of a system need, as far as it is the same for all starts, and keep it for ``simulate``.

    Where nothing is decided in such runs, what comes back integrates them without anything else.
    """
    how: PreparedOptions = {**DEFAULTS, **options}
    if any(how.get(name) for name in DECIDING):
        return None
    run = _asked_for(system, how.get("form"), None, run_words(how), how.get("max_steps"), how["foresee"])
    rows = how.get("rows")
    times = None if rows is None else _times_of_rows(rows, run.options.until)
    return direct_run(run.system, run.structure.with_options(run.options), times)


@dataclass(frozen=True)
class _AskedFor:
    """What is to be run: a system, with laws for inputs where there are such, when its equations change, and how."""

    system: System
    structure: Structure
    options: Options
    control: Controlled | None
    notes: tuple[str, ...] = ()


@remembered
def _prepared_of(system: System | Equations) -> dict[str, _AskedFor]:
    """What was prepared for runs of a system, by what was asked of them."""
    return {}


def _asked_for(
    system: System | Equations,
    form: str | None,
    inputs: Laws | None,
    asked: Mapping[str, object],
    max_steps: int | None,
    foresee: bool,
) -> _AskedFor:
    """What is to be run; where it was prepared before, with a structure for another run."""
    if inputs:  # laws may be functions that remember
        return _newly_prepared(system, form, inputs, asked, max_steps, foresee)
    known, key = _prepared_of(system), repr((form, asked, max_steps, foresee))
    if key in known:
        found = known[key]
        return replace(found, structure=found.structure.with_options(found.options))
    while len(known) >= MOST_PREPARED:
        known.pop(next(iter(known)))
    known[key] = _newly_prepared(system, form, inputs, asked, max_steps, foresee)
    return known[key]


def _newly_prepared(
    system: System | Equations,
    form: str | None,
    inputs: Laws | None,
    asked: Mapping[str, object],
    max_steps: int | None,
    foresee: bool,
) -> _AskedFor:
    stated = system.system if isinstance(system, Equations) else system
    control = controlled(stated, inputs) if inputs else None
    if control is not None:
        form = form if isinstance(system, System) else system.form
        system = stated = control.system
    options = replace(options_for(stated, asked), foresee=foresee)
    if max_steps is not None:
        options = replace(options, max_steps=max_steps)
    structure = articulated(system, form, options) or structure_of(system, form, options)
    return _AskedFor(stated, structure, options, control, written_though_long(system, form, options))


def _moved(structure: Structure, state: Array, kept: Sequence[str]) -> Array:
    """The state moved onto the constraints; raises NoConsistentState."""
    return onto_constraints(examined(structure.begin(state).phase.equations), state, START, kept).state


def _refused(run: _AskedFor, state: Array, reason: str) -> Motion:
    """The motion that did not begin, since no state near its start satisfies the constraints."""
    first = run.structure.begin(state)
    return collected(run.structure, [unborn(first, run.options, Refusal(Status.INFEASIBLE, reason))])


def _with_laws(motion: Motion, control: Controlled) -> Motion:
    """The motion with the values that laws gave to inputs, also where it is run once more."""
    control.raise_failure()
    laws = along(control.system, control.laws, motion.times, motion.states)
    once_more = motion.again
    again = None if once_more is None else lambda rows: _with_laws(once_more(rows), control)
    return replace(motion, inputs={**motion.inputs, **laws}, again=again)


def _no_start(system: System, start: Mapping[str, float] | None) -> tuple[str, ...]:
    """Words for a model that says nothing of its start."""
    if "initial" in system.words or start:
        return ()
    return ("the model has no [initial]: the motion begins with all coordinates and velocities zero",)


def _many_turns(system: System, start: Mapping[str, float] | None) -> tuple[str, ...]:
    """Words for angles that begin many turns away, as degrees do that are taken for radians."""
    stated = {**dict(system.words.get("initial", {})), **(start or {})}
    large = {q: x for q in system.coordinates if is_number(x := stated.get(q)) and abs(x) > MANY_TURNS * 2 * np.pi}
    turning = angles(system) if large else frozenset()
    return tuple(
        f"'{q}' begins at {x:g} rad, which is {abs(x) / (2 * np.pi):.0f} turns; did you mean {x:g}*deg?"
        for q, x in large.items()
        if q in turning
    )


def _falsely_declared(structure: Structure, state: Array, motion: Motion) -> tuple[str, ...]:
    """Words for quantities that the model declares to be integrals, that changed, and that are none."""
    suspect = []
    for integral in structure.system.integrals:
        values = motion.integrals.get(integral.name)
        if values is not None and not integral.hold and np.ptp(values) > SUSPECT * np.abs(values).max():
            suspect.append(integral)
    if not suspect:
        return ()
    first = structure.begin(state).phase.equations
    return not_integrals(examined(first), suspect, state, START)


def start_of_run(system: System, given: Mapping[str, float] | None) -> Array:
    """The initial state, some of its values replaced."""
    unknown = [name for name in given or {} if name not in system.states]
    if unknown:
        raise ModelError([Problem(f"'{unknown[0]}' is not among the states: {', '.join(system.states)}")])
    values = {**dict(zip(system.states, system.initial_state(), strict=True)), **(given or {})}
    return np.array([float(values[name]) for name in system.states])


def structure_of(system: System | Equations, form: str | None, options: Options) -> Structure:
    """When the equations change in the course of a run."""
    if isinstance(system, Equations):
        if not any(c.varying for c in system.system.constraints):
            return Charted(Timed(system.system, system.form, options, one_phase(system, options.until)))
        form, system = "multipliers" if is_switched(system.system) else system.form, system.system
    name = form_name(system, form)
    if is_switched(system):
        return _by_events(system, name, options)
    return Charted(Timed(system, name, options, tuple(phases_of(system, name, options))))


def _by_events(system: System, form: str, options: Options) -> Structure:
    from svyaz.motion.events.switching import Switched, refuse_unfit

    refuse_unfit(system, form)
    return Switched(free_equations(system, "multipliers", *lagrange_terms(system)), options)


def phases_of(system: System, form: str, options: Options) -> list[Phase]:
    """The phases that times divide, with their equations, derived once. Where events decide, only the first is known."""
    if is_switched(system):
        return [_by_events(system, form, options).begin(np.array(system.initial_state())).phase]
    found = intervals(system, options.until)
    reduced = form_of(form).reduced if isinstance(system.law, Mechanical) else None
    if reduced is not None:
        if system.step_rule is not None:
            raise ModelError([Problem(f"{system.step_rule.title} is made in the form 'multipliers', not in '{form}'")])
        equations = [derived(system, form, active) for _, _, active in found]
    else:
        full, all_of_them = derived(system, form), system.constraints
        equations = [full if active == all_of_them else with_constraints(full, active) for _, _, active in found]
    before: list[tuple[Constraint, ...]] = [(), *(active for _, _, active in found)]
    return [
        Phase(start, end, active, tuple(c for c in active if c not in earlier), e)
        for (start, end, active), earlier, e in zip(found, before, equations, strict=False)
    ]
