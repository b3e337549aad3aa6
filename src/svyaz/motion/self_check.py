"""Every run checks itself: the rates and multipliers of some rows are put into the equations as the model states them.

At the first, middle and last row of the first phase of a kind, and of every fiftieth after it (of every fiftieth of any new
kind, where there are many), what is left of the equations is compared with the sizes of their terms. More than rounding leaves
there is a fault of the program: the run ends with an error that names the road by which its rates were computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np

from svyaz.arrays import Array
from svyaz.dynamics import dynamics_of
from svyaz.integrate import Status
from svyaz.model import System
from svyaz.motion.consistency import check_samples
from svyaz.motion.phases import Chapter
from svyaz.motion.samples import Sample, on_unit_quaternions
from svyaz.program import Native
from svyaz.stabilise import Segment, observed

_CHECKED: WeakKeyDictionary[Segment, bytes] = WeakKeyDictionary()
"""The rows of a segment that were checked last: a run that is repeated with the same code meets them again."""

EVERY = 50
"""After the first phase of a kind every so many of them are looked at."""

MOST_KINDS = 32
"""After so many kinds only every so many new ones are looked at: contacts of many bodies make hundreds of them."""


Due = tuple[Array, Array, Mapping[str, Array], Array]
"""Times, states and multipliers at some rows, and which of these are ends of a phase."""


def sample_of(
    segment: Segment, times: Array, states: Array, multipliers: Mapping[str, Array], road: str = ""
) -> Sample:
    """Rows of a segment, with the rates that its native code gives there."""
    there, states = states, on_unit_quaternions(segment.equations, states)
    if states is not there:
        multipliers = observed(segment, times, states).get("multipliers", {})
    own, known = road_of(segment), segment.known
    rates = segment.code.evaluate(np.column_stack([times, states]), segment.constants)
    return Sample(
        f"{road} ({own})" if road else own,
        segment.equations,
        times,
        states,
        rates,
        multipliers,
        known,
        segment.perturbation.correction,
        segment.held,
        segment.hold,
    )


def road_of(segment: Segment) -> str:
    """How the rates of a segment are computed, in words."""
    equations = segment.equations
    found = dynamics_of(equations).description
    parts = (
        ("friction by reactions", bool(equations.pulls)),
        ("sides", bool(equations.sides) and not equations.pulls),
        ("held integrals", bool(segment.held)),
    )
    named = " and ".join(name for name, met in parts if met)
    joined = " and " if " with " in found else " with "
    return f"{found}{joined}{named}" if named else found


class RunCheck:
    """The rows of a run that are to be checked, gathered phase by phase; those of one code are looked at together."""

    def __init__(self, system: System, road: str = "") -> None:
        self._system, self._road = system, road
        self._met: Counter[object] = Counter()
        self._due: dict[int, tuple[Segment, list[Due]]] = {}

    def add(self, chapter: Chapter, shown: slice, multipliers: Mapping[str, Array]) -> None:
        """Choose rows of a phase; ``multipliers`` were observed along those that are ``shown``."""
        times, states = chapter.path.times[shown], chapter.path.states[shown]
        if chapter.segment is None or not len(times) or chapter.path.status in (Status.SINGULAR, Status.DIVERGED):
            return
        if not chapter.modes:
            self._choose(chapter.segment, chapter.phase.active, (times, states, multipliers), slice(0, len(times)))
            return
        begins = np.searchsorted(times, [mode.start for mode in chapter.modes])
        for mode, first, last in zip(chapter.modes, begins, [*begins[1:], len(times)], strict=True):
            rows = slice(0 if mode is chapter.modes[0] else first, last)
            self._choose(mode.segment, (*chapter.phase.active, mode.sliding), (times, states, multipliers), rows)

    def _choose(
        self, segment: Segment, kind: object, table: tuple[Array, Array, Mapping[str, Array]], rows: slice
    ) -> None:
        if rows.stop <= rows.start:
            return
        known = segment.equations.system.parameters
        key = (kind, tuple(known.get(str(s.side)) for s in segment.equations.sides))
        self._met[key] += 1
        usual = len(self._met) <= MOST_KINDS or self._met[key] > 1 or len(self._met) % EVERY == 0
        if usual and self._met[key] % EVERY == 1:
            chosen = sorted({rows.start, (rows.start + rows.stop - 1) // 2, rows.stop - 1})
            times, states, multipliers = table
            ends = np.array([k in (rows.start, rows.stop - 1) for k in chosen])
            due = times[chosen], states[chosen], {name: column[chosen] for name, column in multipliers.items()}, ends
            self._due.setdefault(id(segment), (segment, []))[1].append(due)

    def finish(self) -> None:
        """Raise InconsistentRun where the rates at a row do not satisfy the equations of the model."""
        samples: list[Sample] = []
        sound: dict[Segment, bytes] = {}
        for segment, due in self._due.values():
            times, states, ends = (np.concatenate([one[k] for one in due]) for k in (0, 1, 3))
            rows = np.column_stack([times, states]).tobytes()
            if _CHECKED.get(segment) == rows:
                continue
            sound[segment] = rows
            multipliers = {name: np.concatenate([one[2][name] for one in due]) for name in due[0][2]}
            samples.append(replace(sample_of(segment, times, states, multipliers, self._road), ends=ends))
        check_samples(self._system, samples)
        _CHECKED.update(sound)


def check_now(system: System, segment: Segment, time: float, state: Array, road: str) -> None:
    """Check the state that a motion has reached, with the rates of its segment."""
    times, states = np.array([time]), state[None, :]
    multipliers = observed(segment, times, states).get("multipliers", {})
    check_samples(system, [sample_of(segment, times, states, multipliers, road)])


def check_lanes(sample: Sample, code: Native) -> None:
    """Check rows that were reached in lanes, with the rates that lanes give; ``values`` may differ from row to row."""
    from svyaz.program import lanes_of  # a single run has none

    sample = replace(sample, states=on_unit_quaternions(sample.equations, sample.states))
    lanes, count, names = lanes_of(code), len(sample.times), code.program.parameters
    given = np.array([np.broadcast_to(sample.values[name], count) for name in names]).reshape(-1, count)
    rows, constants = np.column_stack([sample.times, sample.states]), code.constants_of(given.T)
    if lanes is None:
        rates = np.array([code.evaluate(row, own) for row, own in zip(rows, constants, strict=True)])
    else:
        rates = lanes.evaluate_each(rows, constants)
    check_samples(sample.equations.system, [replace(sample, rates=rates)])
