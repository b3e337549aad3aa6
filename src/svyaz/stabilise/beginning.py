"""Before a phase is run: may it begin, can its integrals be enforced, and with which gains.

A run, a closed loop and ``check`` ask the same questions in the same order, and this is where they are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from math import isfinite

import numpy as np

from svyaz.arrays import Array
from svyaz.constraints import Residual, entered, examine, examined, model_states, residuals, straying
from svyaz.expr import Advice
from svyaz.forms import Equations
from svyaz.integrate import Status
from svyaz.stabilise.advancing import departure
from svyaz.stabilise.decision import Decision, Refusal, without_constraints
from svyaz.stabilise.declared_integrals import cannot_be_held, not_integrals
from svyaz.stabilise.integrals import HeldIntegral, in_states_of
from svyaz.stabilise.options import Options
from svyaz.stabilise.request import AUTO, MOST_LISTED, PROJECTION

SWITCH_TOLERANCE = 1e-5
"""A constraint may begin to act when its residual is below this part of its own scale."""


class Entry(Enum):
    """How the state came about in which a phase begins.

    START: it was given; what it does not satisfy is noted. TIME: a run has led to it; constraints that begin to act must
    be met up to the error of the run. EVENT: it was made to fit the constraints, and they were examined, when the event
    was found.
    """

    START = "start"
    TIME = "time"
    EVENT = "event"


Settling = Callable[[Array, tuple[HeldIntegral, ...]], Decision]
"""From the state in the variables of the equations and the held integrals to gains."""


def settle(
    equations: Equations,
    held: Sequence[HeldIntegral],
    options: Options,
    state: Array,
    span: tuple[float, float],
    *,
    entry: Entry = Entry.START,
    new: Collection[str] = (),
    force: bool = False,
    gains: Settling | None = None,
) -> Decision | Refusal:
    """Native code and gains of a phase that begins in a state of the model, or why it may not be run.

    ``held``: integrals as functions of the states of the model; ``new`` names the constraints that did not act just
    before. ``force`` runs in spite of an unstable verdict, of what cannot be held, and of a start off the constraints that
    are to be kept for the caller (by "auto" or by projection; with gains of one's own such a start is a question like any
    other). ``gains`` finds them where the
    caller knows more than the span (a set of constraints that returns keeps its own).
    """
    found = () if entry is Entry.EVENT else _examine_start(equations, state, span[0], entry, new)
    if isinstance(found, Refusal):
        left = departure(equations, state, span, options.step) if entry is Entry.START else None
        if left is None:
            return found
        # it is judged by what comes behind the position
        state, span, found = model_states(equations, left.times[-1:], left.states[-1:])[0], (left.end, span[1]), ()
    if found and not force:
        reason = inconsistent_start(equations, options, state, span[0])
        if reason:
            return Refusal(Status.INFEASIBLE, reason)
    own, kept = entered(equations, state, span[0]), in_states_of(equations, held, options.stabilize)
    unfit = () if force else unfit_to_hold(equations, kept, options, own, span[0])
    if unfit:
        return Refusal(Status.INFEASIBLE, "; ".join(unfit))
    if gains is not None:
        decision = gains(own, kept)
    else:
        decision = decide(equations, kept, options, own, span)
        decision = replace(decision, notes=(*equations.notes, *decision.notes))
    if not decision.allowed and not force:
        return Refusal(Status.INFEASIBLE, decision.reason, decision)
    if decision.segment.held != kept:  # the gains are those of an earlier phase, the values held are not
        again = replace(decision.segment, held=kept).regained(decision.segment.perturbation)
        decision = replace(decision, segment=again)
    replaced = _note_velocities(equations, state, span[0])
    return replace(decision, unmet=found, notes=(*found, *replaced, *decision.notes))


def decide(
    equations: Equations, held: tuple[HeldIntegral, ...], options: Options, state: Array, span: tuple[float, float]
) -> Decision:
    """Settle the gains of one phase: given ones are judged, others are chosen, and deviations are predicted.

    Where nothing is to be kept there is nothing to judge, and what judges gains is not loaded.
    """
    if not equations.deviations and not held:
        return without_constraints(equations, held, options, state, span)
    from svyaz.stabilise.judgement import decide_what_is_kept

    return decide_what_is_kept(equations, held, options, state, span)


def _examine_start(
    equations: Equations, state: Array, time: float, entry: Entry, new: Collection[str]
) -> tuple[str, ...] | Refusal:
    """Notes on constraints that the state does not satisfy, or why the phase cannot begin with it."""
    full = examined(equations)
    if not full.deviations:
        return ()
    report = examine(full, state, time)
    if report.singular or not report.full:
        return Refusal(Status.SINGULAR, "; ".join(report.messages) or f"the constraints are singular at t = {time:g}")
    off = {name: r for name, r in residuals(full, state, time).items() if not r.met}
    if entry is Entry.START:
        notes = [f"the initial state does not satisfy {_describe(name, r)}" for name, r in off.items()]
        return tuple(Advice(note, "project", note) for note in notes)
    broken = [_describe(name, r) for name, r in off.items() if name in new and not _nearly_met(r)]
    if broken:
        told = " and ".join(broken)
        return Refusal(Status.INFEASIBLE, f"at t = {time:g} the state does not satisfy {told}, which begins to act")
    return ()


def inconsistent_start(
    equations: Equations, options: Options, state: Array, time: float, values: Mapping[str, float] | None = None
) -> str:
    """Why a run may not begin in a state of the model: constraints that are kept for the caller ("auto", projection) are
    not satisfied there, by more than the tolerance where there is one; empty where it may.

    A reduced form begins with velocities that satisfy the constraints it has used up, and these are judged. ``values``
    are those of parameters that differ from the model's.
    """
    if options.stabilize not in (AUTO, PROJECTION):
        return ""
    begun = model_states(equations, np.array([time]), entered(equations, state, time)[None, :])[0]
    lawful = {c.name for c in equations.system.constraints if c.law is not None}
    own = lawful if options.stabilize == AUTO else set()  # what has a law of its own dies out by it
    found = residuals(examined(equations), begun, time, values)
    off = {name: r for name, r in found.items() if not r.met and name not in own}
    allowed = dict(zip(off, options.limits(list(off)), strict=True))
    least = {name: limit if isfinite(limit) else 0.0 for name, limit in allowed.items()}
    told = [_describe(name, r) for name, r in off.items() if max(abs(r.position or 0.0), abs(r.velocity)) > least[name]]
    if not told:
        return ""
    more = f" (and {len(told) - MOST_LISTED} more)" if len(told) > MOST_LISTED else ""
    words = f"the initial state does not satisfy {' and '.join(told[:MOST_LISTED])}{more}"
    return Advice(f"{words}; move it onto the constraints first, or ask for the run in spite of it", "start", words)


def _nearly_met(residual: Residual) -> bool:
    """Met up to what an integration leaves: a switch is reached with the error of the run."""
    speed = abs(residual.velocity) <= SWITCH_TOLERANCE * residual.velocity_scale
    return speed and (
        residual.position is None or abs(residual.position) <= SWITCH_TOLERANCE * (residual.position_scale or 0.0)
    )


def _describe(name: str, residual: Residual) -> str:
    if not residual.position_met:
        return f"the constraint '{name}': its residual is {residual.position:.4g}"
    if residual.position is not None:
        return f"the velocity level of '{name}': its rate is {residual.velocity:.4g}"
    return f"the constraint '{name}': its residual is {residual.velocity:.4g}"


def unfit_to_hold(
    equations: Equations, held: tuple[HeldIntegral, ...], options: Options, state: Array, time: float
) -> tuple[str, ...]:
    """Words for integrals that are to be held and cannot be: holding what is no integral would falsify the motion."""
    false = not_integrals(equations, [h.integral for h in held], state, time)
    return (*false, *cannot_be_held(equations, held, options.hold, state, time))


def _note_velocities(equations: Equations, state: Array, time: float) -> tuple[str, ...]:
    """Notes on velocities that do not fit the constraints and that the form computes from the others."""
    told = [
        f"{name} = {taken:.4g} instead of {given:.4g}"
        for name, (given, taken) in straying(equations, state, time).items()
    ]
    return (f"the form '{equations.form}' takes {', '.join(told)}, as the constraints demand",) if told else ()
