"""Phases by events: each lasts until a condition rises through zero or a time is reached.

At an event constraints begin and cease to act; those that begin take their anchors from the state, and the velocities are
made to fit. What belongs to a set of constraints (equations, native code, gains) is made when the set is first met and used
again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from svyaz.arrays import Array
from svyaz.constraints import examine, independent
from svyaz.dynamics import dynamics_of
from svyaz.expr import Expression, ModelError, Problem
from svyaz.forms import Equations, shared_with
from svyaz.integrate import Path, Status
from svyaz.model import Constraint, System, multiplier_symbol, names_of
from svyaz.motion.events.accumulation import Bounces, accumulated
from svyaz.motion.events.chatter import Moments
from svyaz.motion.events.complementarity import Collision
from svyaz.motion.events.conditions import Conditions, Key, conditions
from svyaz.motion.events.contact_watch import contact_tolerance
from svyaz.motion.events.contacts import contacts_of
from svyaz.motion.events.first_sides import decided_on_sides, on_first_sides
from svyaz.motion.events.impacts import Impact, anchored, asked_multipliers, collision_of, fitted, may_repeat
from svyaz.motion.events.locating import advance_to_event
from svyaz.motion.events.resting import acting_after
from svyaz.motion.events.restitution import rebound
from svyaz.motion.events.rubbing import Frictions, frictions_of
from svyaz.motion.events.sharing import SharedPrograms
from svyaz.motion.events.stretches import advance_in_stretches
from svyaz.motion.events.unarmed import describe_unarmed
from svyaz.motion.facts import Event
from svyaz.motion.phases import START, Advance, Beginning, Chapter, Phase, Wishes, event_at, reached, switched
from svyaz.stabilise import (
    OFF,
    PROJECTION,
    Decision,
    Entry,
    HeldIntegral,
    Options,
    Refusal,
    Segment,
    Stabilisation,
    decide,
    held_integrals,
    is_foretold,
    perturbation,
    prepare,
    settle,
)

FIXED = 1e-6
"""The relative error of moments that fixed steps are taken to leave."""

SHORT = 0.01
"""Gains are chosen for a phase of at least this part of what is left of the run."""

Names = tuple[str, ...]
"""A set of constraints, by their names."""


def refuse_unfit(system: System, form: str) -> None:
    """Refuse forms and words that do not go with constraints that events switch."""
    if form != "multipliers":
        message = f"the form '{form}' cannot follow constraints that events switch on and off"
        raise ModelError([Problem(message, hint="use the form 'multipliers'")])
    if system.step_rule is not None:
        raise ModelError([Problem(f"{system.step_rule.title} does not go with constraints that events switch")])


class Switched:
    """The sets of constraints met so far in a run: equations, gains and conditions of each are made once.

    ``free`` are the equations without constraints.
    """

    def __init__(self, free: Equations, options: Options) -> None:
        self.free, self.options, self.system, self.form = free, options, free.system, free.form
        self._dynamics = dynamics_of(free)
        self._equations: dict[Names, Equations] = {}
        self._kept: dict[Names, Equations] = {}
        self._decisions: dict[Names, Decision] = {}
        self._shared_gain: Stabilisation | None = None
        self._largest_gain = 0.0
        self._watched: dict[tuple[Names, Names, tuple[Expression, ...]], Conditions] = {}
        shortest = 8.0 * options.step if options.method == "euler" and options.step else 0.0
        rounding = options.rtol or FIXED
        self._moments = Moments(len(self.system.constraints), options.until)
        self._bounces = Bounces(self.system.constants, options.until, shortest, rounding)
        self._contacts = contacts_of(self.free, self.system.constraints, contact_tolerance(options))
        self._here = (START, np.array(self.system.initial_state()))
        self._independent = False
        self._sharing = SharedPrograms(free, options, lambda: self._contacts.nearest(*self._here))

    def with_options(self, options: Options) -> Switched:
        return Switched(self.free, options)

    def begin(self, state: Array) -> Beginning:
        """The constraints that act at the beginning, to the first time at which one begins or ceases to act."""
        active = tuple(c for c in self.system.constraints if c.acts_at(START))
        self._here = (START, state)
        phase = self._without_repetitions(self._phase(START, active, ()), state)
        return Beginning(phase, state, Entry.START, event_at(START, active, ()))

    def settle(self, beginning: Beginning, before: Sequence[Chapter], *, force: bool) -> Decision | Refusal:
        """Gains are settled when a set of constraints first acts; integrals are held as each phase finds them."""
        phase, state, names = beginning.phase, beginning.state, names_of(beginning.phase.active)
        held = held_integrals(self.system, state, phase.start, self.options.stabilize.decay_rate)

        def gains(own: Array, held: tuple[HeldIntegral, ...]) -> Decision:
            if names in self._decisions:
                return replace(self._decisions[names], notes=())
            if shared_with(phase.equations) is not None and self._shared_gain is not None:
                known = replace(self.options, stabilize=self._shared_gain, foresee=False)
                found = decide(phase.equations, held, known, own, (phase.start, phase.end))
                return self._keep_decision(names, replace(found, options=self.options))
            lasting = self._phase(phase.start, phase.active, ())  # also where impacts that accumulate end it soon
            longer = replace(beginning, phase=replace(phase, end=lasting.end))
            span = (phase.start, self.foreseen(longer, held))
            found = decided_on_sides(phase.equations, held, self.options, own, span)
            self._keep_decision(names, found)
            if shared_with(phase.equations) is not None and found.gains is not None and found.gains.choice is not None:
                choice = found.gains.choice
                self._shared_gain = choice.gains if choice.kappa else OFF
            return replace(found, notes=(*phase.equations.notes, *found.notes))

        span, entry = (phase.start, phase.end), beginning.entry
        found = settle(phase.equations, held, self.options, state, span, entry=entry, force=force, gains=gains)
        if isinstance(found, Refusal) or before:
            return found
        watched = self._conditions(beginning, found.segment)
        asleep = describe_unarmed(watched, found.segment, state, phase.end - phase.start)
        return replace(found, notes=(*found.notes, *asleep))

    def _keep_decision(self, names: Names, decision: Decision) -> Decision:
        gains, self._decisions[names] = decision.segment.perturbation.gains, decision
        self._largest_gain = max([self._largest_gain, *map(abs, gains.values())])
        return decision

    def advance(self, beginning: Beginning, segment: Segment, options: Options, wishes: Wishes) -> Advance:
        """Up to the event that ends the phase."""
        span = (beginning.phase.start, beginning.phase.end)

        def watch(here: Segment, sides: Sequence[tuple[Key, Expression]], margins: Mapping[str, float]) -> Conditions:
            watched = self._conditions(beginning, here, sides, margins)
            return replace(watched, passing=wishes.beyond)

        return advance_in_stretches(segment, watch, beginning.continuing, beginning.state, span, options, wishes)

    def after(self, chapters: Sequence[Chapter]) -> Beginning | None:
        """The constraints that act after an event, and the state with which they begin."""
        last, path = chapters[-1].phase, chapters[-1].path
        now, before = float(path.times[-1]), path.states[-1]
        if reached(now, self.options.until):
            return None
        self._contacts, self._here = self._contacts.after(path), (now, before)
        active, state, impact = self._impact(switched(self.system, last, path.events, now), last, path)
        phase = self._phase(now, active, last.active)
        rests = {} if isinstance(impact, Refusal) else impact.rests
        settling = tuple(c for c in active if not reached(now, rests.get(c.name, now)))
        if settling:
            phase = replace(phase, end=min(phase.end, *(rests[c.name] for c in settling)), settling=settling)
        event = event_at(now, _without(active, settling), _without(last.active, last.settling))
        if isinstance(impact, Refusal):
            return Beginning(phase, state, Entry.EVENT, event, refusal=impact)
        refusal = self._moments.find_chatter(chapters, event)
        if refusal is None:
            event = self._told(event, before, impact)
        still = frozenset(_keys(self.system, last.active)) - frozenset(path.events)
        notes = self._bounces.once([*impact.notes, *accumulated(now, rests, self._bounces.errors)])
        phase = self._without_repetitions(phase, impact.state)
        idle = frozenset[Key]()
        if not path.steps and phase.active == last.active and np.array_equal(impact.state, before):
            idle = chapters[-1].beginning.idle | frozenset(path.events)
        return Beginning(phase, impact.state, Entry.EVENT, event, still, idle, refusal, notes)

    def foreseen(self, beginning: Beginning, held: tuple[HeldIntegral, ...]) -> float:
        """When the phase would end without stabilisation, as far as gains ask for it; very short phases count as longer."""
        phase, equations, state = beginning.phase, beginning.phase.equations, beginning.state
        if self.options.stabilize in (OFF, PROJECTION) or not equations.deviations:
            return phase.end
        plain = replace(self.options, stabilize=OFF, every=None)
        given = self.options.stabilize if self.options.stabilize.numbers else OFF
        lawful = any(d.constraint.law is not None for d in equations.deviations) or any(h.integral.law for h in held)
        if given != OFF and not lawful and not is_foretold(self.options):
            return phase.end  # nothing is asked of the states ahead
        segment = prepare(equations, perturbation(equations, given), held, plain, phase.start, state)
        if given != OFF:  # the code of the phase itself, without its gains
            still = dict.fromkeys(segment.perturbation.gains, 0.0)
            segment = segment.regained(replace(segment.perturbation, gains=still))
        smooth = on_first_sides(segment, plain, phase.start, state)
        if smooth is equations:
            watched = self._conditions(beginning, segment)
        else:
            segment = prepare(smooth, segment.perturbation, held, plain, phase.start, state)
            watched = conditions(segment, self.system.constraints, phase.active, phase.start)
        span = (phase.start, phase.end)
        path = advance_to_event(segment, watched, beginning.continuing, state, span, plain, lambda end: None, None)
        least = phase.start + SHORT * (self.options.until - phase.start)
        return min(max(float(path.times[-1]), least), phase.end)

    def _without_repetitions(self, phase: Phase, state: Array) -> Phase:
        """The phase without constraints that follow from others; which of them are kept is decided once for each set."""
        names, full, now = names_of(phase.active), phase.equations, phase.start
        if names not in self._kept:
            own = {str(multiplier_symbol(name)) for name in full.multiplier_names}
            repeats = not own <= asked_multipliers(full) and may_repeat(full, examine(full, state, now))
            self._kept[names] = independent(full, state, now) if repeats else full
        return replace(phase, equations=self._kept[names])

    def equations_with(self, active: Sequence[Constraint]) -> Equations:
        """The equations with these constraints acting."""
        names = names_of(active)
        if names not in self._equations:
            found = self._dynamics.with_constraints(active)
            self._equations[names] = self._sharing.share(found) if active else found
        return self._equations[names]

    def _phase(self, now: float, active: tuple[Constraint, ...], before: Sequence[Constraint]) -> Phase:
        """From now to the next moment at which a time switches a constraint, or to the end of the run."""
        times = (t for c in self.system.constraints for t in (c.start, c.end) if t is not None and not reached(now, t))
        new = _without(active, before)
        return Phase(now, min([*times, self.options.until]), active, new, self.equations_with(active))

    def _impact(
        self, active: tuple[Constraint, ...], phase: Phase, path: Path
    ) -> tuple[tuple[Constraint, ...], Array, Impact | Refusal]:
        """The constraints that act after an event, the state with its anchors, and what an impact makes of it.

        An impact keeps those contacts that it does not pull, and lets none be entered.
        """
        now, before = float(path.times[-1]), path.states[-1]
        given = (active, phase, path, self._frictions, self._moments.closeness(now))
        collision = collision_of(self.system, self._contacts, self._all_acting, *given)
        impact = Impact(before)
        if collision is not None:
            collided = self._collide(collision, active, phase, before)
            if isinstance(collided, Refusal):
                return active, before, collided
            active, impact = collided
        new = _without(active, phase.active)
        equations = self.equations_with(active)
        state = anchored(equations, new, impact.state, now)
        self._independent = collision is not None and not equations.servo and collision.independent(active)
        touching = () if collision is None else collision.touching
        fit = fitted(equations, new, state, path, touching, self._independent)
        if isinstance(fit, Refusal):
            return active, state, fit
        impulses = impact.impulses if any(impact.impulses.values()) else fit.impulses
        return active, state, replace(impact, state=fit.state, impulses=impulses)

    def _collide(
        self, collision: Collision, active: Sequence[Constraint], phase: Phase, before: Array
    ) -> tuple[tuple[Constraint, ...], Impact] | Refusal:
        """The constraints that act after a collision, and what it makes of the state."""
        lively, rests = self._bounces.lively(collision, names_of(phase.active))
        found = rebound(collision, lively, names_of(phase.active))
        if isinstance(found, str):
            return Refusal(Status.INFEASIBLE, found)
        kept = found.kept & {*names_of(active), *(name for name, x in found.impulses.items() if x)}
        decided = acting_after(collision, found, kept)
        if decided is None:
            told = f"no reactions of the contacts {collision.contact_names} that only push keep them apart"
            return Refusal(Status.INFEASIBLE, f"{told} at t = {collision.snapshot.time:.9g}")
        acting = collision.chosen(decided[0])
        rests |= self._bounces.rocked(collision, acting)
        stages = found.stages or ((tuple(rests),) if rests else ())
        state = collision.measure.moved(before, v=decided[1])
        return acting, Impact(state, found.impulses, stages, rests, found.notes)

    @cached_property
    def _all_acting(self) -> Equations:
        """The equations with all constraints: one program for all impacts."""
        return self._dynamics.with_constraints(self.system.constraints)

    @cached_property
    def _frictions(self) -> Frictions:
        """Those of one-sided constraints."""
        return frictions_of(self.free, self.system.constraints)

    def _conditions(
        self,
        beginning: Beginning,
        segment: Segment,
        sides: Sequence[tuple[Key, Expression]] = (),
        margins: Mapping[str, float] | None = None,
    ) -> Conditions:
        """The conditions that are watched in a phase, the limits among them; those of contacts have a depth.

        ``sides`` are those of surfaces at which its rates jump.
        """
        phase, constraints, time = beginning.phase, self.system.constraints, beginning.phase.start
        over = tuple(c.name for c in constraints if c.end is not None and reached(time, c.end))
        whole = shared_with(segment.equations)
        key = (names_of(phase.active), over, segment.perturbation.correction)
        key = key if whole is None else (whole.multiplier_names, (), ())
        watched = None if sides else self._watched.get(key)
        if watched is None:
            contacts, limits = self._contacts, self.system.limits
            watched = conditions(
                segment, constraints, phase.active, time, contacts, limits, sides=sides, margins=margins
            )
            if not sides:
                self._watched[key] = watched
        depths = self._contacts.depths(time, beginning.state, self.options.until)
        acting = names_of(phase.active)
        chosen = {name: depths[name] for name in watched.depths if name not in acting}
        return replace(
            watched,
            contacts=self._contacts,
            depths=chosen,
            gain=self._largest_gain,
            idle=beginning.idle,
            independent=self._independent and beginning.entry is Entry.EVENT,
        )

    def _told(self, event: Event, before: Array, impact: Impact) -> Event:
        """The event with energies before and after it, jumps of velocities, impulses."""
        after = impact.state
        found = self._dynamics.energies(np.array([[event.t, *before], [event.t, *after]]))
        energies, kinetic = found["energy"].tolist(), found["kinetic"].tolist()
        speeds = [(k, name) for k, name in enumerate(self.system.states) if name in self.system.velocities]
        return replace(
            event,
            energy_before=energies[0],
            energy_after=energies[1],
            kinetic_before=kinetic[0],
            kinetic_after=kinetic[1],
            velocity_jump={name: float(after[k] - before[k]) for k, name in speeds if after[k] != before[k]},
            impulses=impact.impulses,
            impacts=impact.stages,
            accumulating={name: time for name, time in impact.rests.items() if not reached(event.t, time)},
        )


def _without(constraints: Sequence[Constraint], others: Sequence[Constraint]) -> tuple[Constraint, ...]:
    gone = set(names_of(others))
    return tuple(c for c in constraints if c.name not in gone)


def _keys(system: System, active: Sequence[Constraint]) -> list[Key]:
    """Conditions that are watched while these constraints act."""
    acting = set(names_of(active))
    return [("off" if c.name in acting else "on", c.name) for c in system.constraints]
