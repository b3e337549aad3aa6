"""A run is a fold over phases: what a phase is, how one begins, how it went, and who says which one comes next."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from svyaz.arrays import Array
from svyaz.constraints import independent, model_states
from svyaz.forms import Equations
from svyaz.integrate import Path
from svyaz.model import Constraint, System, names_of
from svyaz.motion.facts import Event
from svyaz.stabilise import Decision, Entry, HeldIntegral, Options, Refusal, Segment

START = 0.0
"""Motions begin at t = 0."""

CLOSE = 1e-12
"""Moments that differ by no more than this, or this part of them, are the same."""

Progress = Callable[[float], object]
"""Called with the time reached."""


@dataclass(frozen=True)
class Phase:
    """From ``start``, to ``end`` at most, these equations hold, with the constraints ``active``.

    ``new`` are the constraints that did not act just before; impacts of those ``settling`` accumulate at the end.
    """

    start: float
    end: float
    active: tuple[Constraint, ...]
    new: tuple[Constraint, ...]
    equations: Equations
    settling: tuple[Constraint, ...] = ()

    @property
    def acting(self) -> tuple[Constraint, ...]:
        """The constraints that act in the equations: without those that follow from others."""
        spare = {d.name for d in self.equations.spare}
        return tuple(c for c in self.active if c.name not in spare)


@dataclass(frozen=True)
class Beginning:
    """A phase and the state of the model in which it begins, or why it cannot.

    ``entry`` tells how the state came about: after an event it may differ from the last one before, and both are kept.
    ``event`` is what is told of this moment, ``continuing`` are the conditions, ("on" or "off", constraint), that were
    watched before as well. ``idle`` are those that were met at once and changed nothing: the motion goes on before they are
    met again. ``notes`` tell what was decided about it. ``stay`` is how long the charts before this one were good.
    """

    phase: Phase
    state: Array
    entry: Entry = Entry.START
    event: Event | None = None
    continuing: Collection[tuple[str, str]] = ()
    idle: frozenset[tuple[str, str]] = frozenset()
    refusal: Refusal | None = None
    notes: tuple[str, ...] = ()
    stay: float = np.inf


@dataclass(frozen=True)
class Mode:
    """From ``start``, in a ``state`` of the equations, the rates of a phase are those of this segment, held on surfaces at
    which they jump (``sliding``).
    """

    start: float
    state: Array
    segment: Segment
    sliding: tuple[str, ...] = ()


@dataclass(frozen=True)
class Advance:
    """A path to where the phase ends. Where the chart of its equations degenerated, others go ``onward`` if there are any.

    ``modes`` tell of stretches with rates of their own, where those of the phase jump.
    """

    path: Path
    note: str = ""
    onward: Equations | None = None
    modes: tuple[Mode, ...] = ()


@dataclass(frozen=True)
class Chapter:
    """A phase as it was run (or not: then without a segment), with what was decided about its gains, and its notes.

    ``onward``: the equations that take over since the chart degenerated. ``joint``: the last row, at which they do, was
    not asked for. ``modes``: stretches with rates of their own.
    """

    beginning: Beginning
    path: Path
    options: Options
    segment: Segment | None = None
    decision: Decision | None = None
    notes: tuple[str, ...] = ()
    onward: Equations | None = None
    joint: bool = False
    modes: tuple[Mode, ...] = ()

    @property
    def phase(self) -> Phase:
        return self.beginning.phase

    @property
    def over_at_once(self) -> bool:
        """Did an event end it before its first step?"""
        return bool(self.path.events) and not self.path.steps and len(self.path.times) == 1

    @property
    def end(self) -> float:
        """The moment at which it ended."""
        return float(self.path.times[-1])

    @property
    def last_state(self) -> Array:
        """The state of the model at its end."""
        found: Array = model_states(self.phase.equations, self.path.times[-1:], self.path.states[-1:])[0]
        return found


@dataclass(frozen=True)
class Wishes:
    """What is asked of a run besides its options.

    ``force`` runs in spite of an unstable verdict on the gains; ``rows`` are the times at which the state is wanted, else
    the options decide; ``progress`` is called with the time reached; ``beyond`` runs on where a limit is passed;
    ``initial_error`` is the largest error of the initial state, with which the bound on the error begins;
    ``road`` names what is run in errors of the self-check.
    """

    force: bool = False
    rows: Array | None = None
    progress: Progress | None = None
    beyond: bool = False
    initial_error: float = 0.0
    road: str = ""


class Structure(Protocol):
    """When the equations of a run change, and into which. One object serves one run."""

    @property
    def system(self) -> System: ...

    @property
    def form(self) -> str: ...

    @property
    def options(self) -> Options: ...

    def with_options(self, options: Options) -> Structure:
        """The same for another run."""

    def begin(self, state: Array) -> Beginning:
        """The first phase, from a state of the model."""

    def settle(self, beginning: Beginning, before: Sequence[Chapter], *, force: bool) -> Decision | Refusal:
        """Native code and gains of a phase, or why it may not be run; ``force`` runs in spite of a verdict."""

    def foreseen(self, beginning: Beginning, held: tuple[HeldIntegral, ...]) -> float:
        """When a phase will end, as far as the choice of gains asks for it."""

    def advance(self, beginning: Beginning, segment: Segment, options: Options, wishes: Wishes) -> Advance:
        """Integrate a phase to where it ends."""

    def after(self, chapters: Sequence[Chapter]) -> Beginning | None:
        """What follows the last of the chapters, which was run to its end; None at the end of the run."""


def without_repetitions(phase: Phase, state: Array) -> Phase:
    """The phase without constraints in its equations that follow from others in its first state, a state of the model."""
    equations = independent(phase.equations, state, phase.start)
    return phase if equations is phase.equations else replace(phase, equations=equations)


def is_switched(system: System) -> bool:
    """Do events decide which constraints act?"""
    return any(c.switched for c in system.constraints)


def reached(now: float, time: float) -> bool:
    """Is a time over, as far as rounding lets one say?"""
    return now >= time - CLOSE * max(1.0, abs(time))


def switched(system: System, phase: Phase, events: Collection[tuple[str, str]], now: float) -> tuple[Constraint, ...]:
    """The constraints that act after a moment: events and times switch them."""
    at_time, acting = reached(now, phase.end), set(names_of(phase.active))
    found = []
    for c in system.constraints:
        acts = c.name in acting
        if ("on", c.name) in events or (at_time and c.start == phase.end):
            acts = True
        if ("off", c.name) in events or (at_time and c.end == phase.end):
            acts = False
        if acts:
            found.append(c)
    return tuple(found)


def event_at(time: float, active: Sequence[Constraint], before: Sequence[Constraint]) -> Event:
    """The moment at which other constraints act than before."""
    now, earlier = names_of(active), names_of(before)
    new, gone = (tuple(name for name in a if name not in b) for a, b in ((now, earlier), (earlier, now)))
    return Event(time, new, gone, now)


def grid_of(options: Options, span: tuple[float, float], rows: Array | None) -> Array | None:
    """Times of the rows of a phase: its ends, and the given ones or the multiples of ``every`` between them."""
    start, end = span
    if rows is None:
        if options.every is None:
            return None
        rows = np.arange(np.floor(start / options.every), np.ceil(end / options.every) + 1) * options.every
    close = 1e-9 * (end - start)
    inner = rows[(rows > start + close) & (rows < end - close)]
    return np.concatenate([[start], inner, [end]])


def only(path: Path, grid: Array | None) -> Path:
    """The path with the rows of the grid alone, and the first and the last one."""
    if grid is None:
        return path
    kept = np.isin(path.times, grid)
    kept[[0, -1]] = True
    return replace(path, times=path.times[kept], states=path.states[kept])
