"""What belongs to a set of constraints that events switch: equations, gains, conditions, the map of an impact.

Each is made when the set first acts and used again when it returns.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from svyaz.arrays import Array
from svyaz.forms import Equations, energy, free_equations, kinetic_and_potential, lagrange_terms, with_constraints
from svyaz.holding import Decision, HeldIntegral, Options, Segment, decide, perturbation, prepare
from svyaz.model import Constraint, System
from svyaz.motion.conditions import Conditions, Key, conditions
from svyaz.motion.contacts import Contacts, contacts_of
from svyaz.motion.events import advance_to_event
from svyaz.motion.phases import START, Phase, reached
from svyaz.program import Native, build, compile_program

SHORT = 0.01
"""Gains are chosen for a phase of at least this part of what is left of the run."""


@dataclass
class Stage:
    """What is known of the sets of constraints met so far: equations, gains and conditions, by the names of a set."""

    system: System
    options: Options
    free: Equations
    energy: Native
    energy_constants: Array
    equations: dict[tuple[str, ...], Equations] = field(default_factory=dict)
    decisions: dict[tuple[str, ...], Decision] = field(default_factory=dict)
    watched: dict[tuple[tuple[str, ...], tuple[str, ...]], Conditions] = field(default_factory=dict)

    def equations_with(self, active: Sequence[Constraint]) -> Equations:
        """The equations with these constraints acting."""
        names = tuple(c.name for c in active)
        if names not in self.equations:
            self.equations[names] = with_constraints(self.free, active)
        return self.equations[names]

    @cached_property
    def contacts(self) -> Contacts:
        """The one-sided constraints."""
        return contacts_of(self.free, self.system.constraints)

    def conditions_at_start(self, segment: Segment, active: Sequence[Constraint]) -> Conditions:
        """The conditions that are watched in the first phase."""
        return conditions(segment, self.system.constraints, active, START)

    def conditions_of(self, segment: Segment, active: Sequence[Constraint], time: float, state: Array) -> Conditions:
        """The conditions that are watched while these constraints act, after an event that led to this state."""
        over = tuple(c.name for c in self.system.constraints if c.end is not None and reached(time, c.end))
        key = (tuple(c.name for c in active), over)
        if key not in self.watched:
            self.watched[key] = conditions(segment, self.system.constraints, active, time, self.contacts)
        watched = self.watched[key]
        if not watched.depths:
            return watched
        depths = self.contacts.depths(time, state, self.options.until)
        gains = [abs(x) for d in self.decisions.values() for x in d.segment.perturbation.gains.values()]
        chosen = {name: depths[name] for name in watched.depths}
        return replace(watched, depths=chosen, gain=max(gains, default=0.0))

    def decide(
        self,
        phase: Phase,
        equations: Equations,
        held: tuple[HeldIntegral, ...],
        state: Array,
        continuing: Collection[Key],
    ) -> tuple[str, ...]:
        """Settle the gains of a set of constraints for the time up to the next event; what there is to be noted is returned."""
        end = self.next_event(phase, equations, held, state, continuing)
        names = tuple(c.name for c in phase.active)
        self.decisions[names] = decide(equations, held, self.options, state, (phase.start, end))
        return (*equations.notes, *self.decisions[names].notes)

    def next_event(
        self,
        phase: Phase,
        equations: Equations,
        held: tuple[HeldIntegral, ...],
        state: Array,
        continuing: Collection[Key],
    ) -> float:
        """When the phase would end without stabilisation, as far as gains ask for it; very short phases count as longer."""
        if self.options.stabilize in ("off", "projection") or not equations.deviations:
            return phase.end
        plain = replace(self.options, stabilize="off", every=None)
        segment = prepare(equations, perturbation(equations, "off"), held, plain, phase.start, state)
        watched = conditions(segment, self.system.constraints, phase.active, phase.start)
        span = (phase.start, phase.end)
        path = advance_to_event(segment, watched, continuing, state, span, plain, lambda end: None, None)
        least = phase.start + SHORT * (self.options.until - phase.start)
        return min(max(float(path.times[-1]), least), phase.end)

    def told_of_impact(self, time: float, before: Array, after: Array, impulses: Mapping[str, float]) -> dict[str, Any]:
        """Energies before and after an event, jumps of velocities, impulses."""
        energies = self.energy.evaluate(np.array([[time, *before], [time, *after]]), self.energy_constants)
        speeds = [(k, name) for k, name in enumerate(self.system.states) if name in self.system.velocities]
        return {
            "energy_before": float(energies[0, 0]),
            "energy_after": float(energies[1, 0]),
            "kinetic_before": float(energies[0, 1]),
            "kinetic_after": float(energies[1, 1]),
            "velocity_jump": {name: float(after[k] - before[k]) for k, name in speeds if after[k] != before[k]},
            "impulses": dict(impulses),
        }


def stage_of(system: System, options: Options) -> Stage:
    """A stage on which nothing has happened yet; the free part of the equations is derived once."""
    outputs = [("energy", energy(system)), ("kinetic", kinetic_and_potential(system)[0])]
    program = build(outputs, inputs=("t", *system.states), parameters=tuple(system.constants))
    native = compile_program(program)
    free = free_equations(system, "multipliers", *lagrange_terms(system))
    return Stage(system, options, free, native, native.constants(system.constants))


def first_phase(stage: Stage) -> tuple[Phase, Equations]:
    """The constraints that act at the beginning, to the first time at which one begins or ceases to act."""
    active = tuple(c for c in stage.system.constraints if c.acts_at(START))
    phase = Phase(START, next_time(stage, START), active, active)
    return phase, stage.equations_with(active)


def first_event(system: System, options: Options, held: tuple[HeldIntegral, ...], state: Array) -> float:
    """When the first phase ends, as far as gains ask for it."""
    stage = stage_of(system, options)
    return stage.next_event(*first_phase(stage), held, state, ())


def next_time(stage: Stage, now: float) -> float:
    """The next moment at which a time switches a constraint, or the end of the run."""
    times = (t for c in stage.system.constraints for t in (c.start, c.end) if t is not None and not reached(now, t))
    return min([*times, stage.options.until])
