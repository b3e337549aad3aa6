"""Equations with the terms that hold their constraints, and the programs that other languages make of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Unpack

import numpy as np

from svyaz.arguments import check_arguments
from svyaz.constraints import examine, independent
from svyaz.expr import Advice, ModelError, Problem
from svyaz.forms import Equations, derive, with_multipliers
from svyaz.model import System
from svyaz.motion.checking import check
from svyaz.motion.options import Stabilize, StepOptions
from svyaz.motion.phases import START
from svyaz.program import export, export_complete
from svyaz.stabilise import (
    AUTO,
    OFF,
    PROJECTION,
    Options,
    Stabilisation,
    Stabilised,
    export_equations,
    fixed_run,
    held_integrals,
    in_states_of,
    one_gain,
    options_for,
    stabilisation,
    stabilised,
)


class ExportOptions(StepOptions, total=False):
    """What is written of equations as code; the options of a run are those of a ``complete`` program."""

    complete: bool
    reactions: bool
    jacobian: bool


DEFAULTS: ExportOptions = {"complete": False, "reactions": False, "jacobian": False}


@check_arguments
def with_gains(
    system: System,
    form: str | None = None,
    *,
    stabilize: Stabilize | None = None,
    method: str | None = None,
    step: float | None = None,
    until: float | None = None,
) -> Stabilised:
    """The equations with stabilising terms, gains as named parameters; "auto" makes trial runs of the run that is described.

    What is left out is taken from the model's [run]. Unstable gains are written all the same, with a note.
    """
    options = options_for(system, {"stabilize": stabilize, "method": method, "step": step, "until": until})
    equations, chosen = derive(system, form), options.stabilize
    if not equations.deviations or chosen == OFF:
        return _noted(Stabilised(equations, chosen=chosen))
    if chosen == PROJECTION:
        message = "projection moves the state after each step: it adds no terms to the equations"
        raise ModelError([Problem(message, None, Advice("give gains", "written gains"))])
    equations = runnable(equations)
    notes: tuple[str, ...] = ()
    if chosen == AUTO:
        lawful = all(d.constraint.law is not None for d in equations.deviations)
        chosen, notes = (one_gain(0.0), ()) if lawful else trial_gains(system, form, options)
    else:
        from svyaz.stabilise import verdict_alone

        verdict = verdict_alone(equations, options, chosen)
        lost = verdict.reasons if verdict.word == "unstable" else ()
        notes = tuple(f"with these gains the constraints are lost: {reason}" for reason in lost)
    return _noted(replace(stabilised(equations, chosen), chosen=options.stabilize), notes)


def without_gains(system: System, form: str | None = None) -> Stabilised:
    """The equations alone, with a note where the runs of the model would add stabilising terms to them."""
    found = with_gains(system, form, stabilize="off")
    return _noted(found, gains_left_out(found.equations))


def gains_left_out(equations: Equations) -> tuple[str, ...]:
    """A note on what [run] or the constraints say of stabilisation, where equations without gains have constraints."""
    given = equations.system.run.get("stabilize")
    chosen = OFF if given is None else stabilisation(given)
    lawful = [f"'{d.name}'" for d in equations.deviations if d.constraint.law is not None]
    if not equations.deviations or (chosen == OFF and (given is not None or not lawful)):
        return ()
    if chosen == PROJECTION:
        return ('[run] stabilize = "projection" is no part of these equations: it moves the state after each step',)
    if given is None:
        left, value = f"the law of {', '.join(lawful)}", "auto"
    else:
        left, value = "[run] stabilize", "GAINS" if isinstance(given, Mapping) else f"{given}"
    text = f"{left} is not part of these equations"
    return (Advice(f"{text}; stabilize = {value} adds its terms", "left out gains", text, value),)


def runnable(equations: Equations) -> Equations:
    """Without constraints that follow from others at the start, as in a run: their rows would make the system singular.

    Of constraints that begin or cease to act, and are too many to act together, those that act at the start are left.
    """
    system, state = equations.system, np.array(equations.system.initial_state())
    if len(equations.deviations) < 2:
        return equations
    if not any(c.varying for c in system.constraints):
        return independent(equations, state, START)
    acting = tuple(c for c in system.constraints if c.acts_at(START))
    if (
        equations.form != "multipliers"
        or len(acting) == len(equations.deviations)
        or examine(equations, state, START).full
    ):
        return equations
    told = ", ".join(f"'{c.name}'" for c in acting) or "none"
    note = f"not all constraints can act together: those that act at the start are written, {told}"
    fewer = with_multipliers(system, acting)
    return replace(
        fewer,
        notes=(note, *equations.notes),
        spare=tuple(d for d in equations.deviations if d.constraint not in acting),
    )


def _noted(found: Stabilised, notes: tuple[str, ...] = ()) -> Stabilised:
    """With notes among those of the equations, also on integrals that are held by no term of them."""
    held = [f"'{i.name}'" for i in found.equations.system.integrals if i.hold and found.chosen.decay_rate != 0.0]
    if held:
        notes = (*notes, f"held by corrections of the rates, which only code contains: {', '.join(held)}")
    written = replace(found.equations, notes=(*found.equations.notes, *notes))
    return replace(found, equations=written)


def trial_gains(system: System, form: str | None, options: Options) -> tuple[Stabilisation, tuple[str, ...]]:
    """The gains that a run would choose for its first phase, and what is told of them."""
    gains = check(
        system,
        form=form,
        method=options.method,
        step=options.step,
        rtol=options.rtol,
        until=options.until,
        stabilize="auto",
        tolerance=options.tolerance,
    ).gains
    if gains is None or gains.choice is None or not gains.choice.feasible:
        message = "no gain could be chosen" + (
            "" if gains is None or gains.choice is None else f": {gains.choice.log[-1]}"
        )
        raise ModelError([Problem(message, None, Advice("give gains", "written gains"))])
    return gains.choice.gains, gains.choice.log


@check_arguments
def program_text(
    found: Stabilised,
    language: str,
    *,
    file: str | None = None,
    **asked: Unpack[ExportOptions],
) -> str:
    """Equations as code in one of the languages of ``export``; gains and held integrals included.

    ``reactions`` adds those of eliminated constraints, ``jacobian`` the derivatives of the rates by the states. A
    ``complete`` program integrates them with a fixed step from the initial state and writes the motion; of its run, what is
    left out is taken from the model's [run].
    """
    equations = found.equations if found.terms else runnable(found.equations)
    system, state = equations.system, np.array(equations.system.initial_state())
    how: ExportOptions = {**DEFAULTS, **asked}
    complete = how["complete"]
    options = options_for(system, {name: how.get(name) for name in StepOptions.__annotations__})
    run = fixed_run(equations, options, state) if complete else None
    held = in_states_of(equations, held_integrals(system, state, START, found.chosen.decay_rate), found.chosen)
    residuals = complete or bool(found.terms)
    parts = {"reactions": how["reactions"], "residuals": residuals, "jacobian": how["jacobian"]}
    program = export_equations(equations, held, options.hold, **parts)
    return export(program, language, file) if run is None else export_complete(program, language, run, file)
