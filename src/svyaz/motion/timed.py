"""Phases by time: each constraint acts from its ``start`` to its ``end``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

from svyaz.arrays import Array
from svyaz.constraints import entered
from svyaz.forms import Equations, may_jump
from svyaz.model import Constraint, System, names_of
from svyaz.motion.phases import (
    START,
    Advance,
    Beginning,
    Chapter,
    Phase,
    Wishes,
    event_at,
    grid_of,
    without_repetitions,
)
from svyaz.stabilise import (
    Decision,
    Entry,
    HeldIntegral,
    Options,
    Refusal,
    Segment,
    advance,
    decide,
    held_integrals,
    settle,
)

MOST_KNOWN = 8
"""Decisions about so many phases are kept for further runs."""


@dataclass(frozen=True)
class Timed:
    """The phases of a run, all known in advance. Equations that are returned to within a phase keep what was decided.

    ``known`` is what runs before this one decided, by the equations, the span, the state and the integrals that are held.
    """

    system: System
    form: str
    options: Options
    phases: tuple[Phase, ...]
    decided: dict[tuple[int, float], tuple[Equations, Decision]] = field(
        default_factory=dict, repr=False, compare=False
    )
    known: dict[tuple[object, ...], tuple[Equations, Decision]] = field(default_factory=dict, repr=False, compare=False)

    def with_options(self, options: Options) -> Timed:
        return replace(self, options=options, decided={}, known=self.known if options == self.options else {})

    def begin(self, state: Array) -> Beginning:
        first = without_repetitions(self.phases[0], state)
        return Beginning(first, state, Entry.START, event_at(first.start, first.active, ()))

    def settle(self, beginning: Beginning, before: Sequence[Chapter], *, force: bool) -> Decision | Refusal:
        """Integrals are held at their values in the first state of the run."""
        initial = before[0].beginning.state if before else beginning.state
        held = held_integrals(self.system, initial, START, self.options.stabilize.decay_rate)
        phase, state = beginning.phase, beginning.state
        span, new = (phase.start, phase.end), names_of(phase.new)

        def gains(own: Array, held: tuple[HeldIntegral, ...]) -> Decision:
            key = (id(phase.equations), phase.end)
            if key in self.decided:
                return replace(self.decided[key][1], notes=())
            found = self._known(phase.equations, held, own, span)
            self.decided[key] = phase.equations, found
            return replace(found, notes=(*phase.equations.notes, *found.notes))

        return settle(
            phase.equations, held, self.options, state, span, entry=beginning.entry, new=new, force=force, gains=gains
        )

    def _known(
        self, equations: Equations, held: tuple[HeldIntegral, ...], state: Array, span: tuple[float, float]
    ) -> Decision:
        """Gains of a phase that begins so, as they were decided before where it was run before."""
        key = (id(equations), span, state.tobytes(), tuple((h.value, h.gain) for h in held))
        if key not in self.known:
            while len(self.known) >= MOST_KNOWN:
                self.known.pop(next(iter(self.known)))
            self.known[key] = equations, self._decided(equations, held, state, span)
        found = self.known[key][1]
        after = found.segment.projection
        if after is None:
            return found
        own = replace(after, constants=after.constants.copy())  # a map after a step may remember: each run has its own
        return replace(found, segment=replace(found.segment, projection=own))

    def _decided(
        self, equations: Equations, held: tuple[HeldIntegral, ...], state: Array, span: tuple[float, float]
    ) -> Decision:
        """Gains of a phase; its rates may jump."""
        if not self._may_jump:
            return decide(equations, held, self.options, state, span)
        from svyaz.motion.events.first_sides import decided_on_sides

        return decided_on_sides(equations, held, self.options, state, span)

    def foreseen(self, beginning: Beginning, held: tuple[HeldIntegral, ...]) -> float:
        return beginning.phase.end

    def advance(self, beginning: Beginning, segment: Segment, options: Options, wishes: Wishes) -> Advance:
        phase = beginning.phase
        span = (phase.start, phase.end)
        own = entered(phase.equations, beginning.state, phase.start)
        if self.system.limits or (self._may_jump and self._jumps(segment)):
            from svyaz.motion.events.stretches import within_limits

            return within_limits(segment, own, span, options, wishes)
        return Advance(advance(segment, own, span, options, grid_of(options, span, wishes.rows), wishes.progress))

    @cached_property
    def _may_jump(self) -> bool:
        return may_jump(self.system)

    def _jumps(self, segment: Segment) -> bool:
        """Do the rates of a phase jump somewhere?"""
        from svyaz.motion.events.sides import sides_of

        return bool(sides_of(segment).surfaces)

    def after(self, chapters: Sequence[Chapter]) -> Beginning | None:
        last = chapters[-1]
        following = next((p for p in self.phases if p.start >= last.phase.end), None)
        if following is None:
            return None
        event = event_at(following.start, following.active, last.phase.active)
        return Beginning(without_repetitions(following, last.last_state), last.last_state, Entry.TIME, event)


def intervals(system: System, until: float) -> list[tuple[float, float, tuple[Constraint, ...]]]:
    """(start, end, constraints that act), in order. Switches at the very end do not count."""
    switches = {t for c in system.constraints for t in (c.start, c.end) if t is not None and START < t < until}
    borders = [START, *sorted(switches), until]
    return [(a, b, tuple(c for c in system.constraints if c.acts_at(a))) for a, b in pairwise(borders)]


def one_phase(equations: Equations, until: float) -> tuple[Phase, ...]:
    """The only phase of equations that never change."""
    active = equations.system.constraints
    return (Phase(START, until, active, active, equations),)
