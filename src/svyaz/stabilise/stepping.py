"""A phase moved on from time to time with inputs that change between: each step is one native call, prepared once.

A step that does not come to its end natively, or that may pass a branching position or a pole of coordinates, is made again
by ``advance``, which says what becomes of it. Steps do not depend on those before: the same state and inputs give the same
next state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.constraints import examined, model_states
from svyaz.dynamics import RateCode, measure_of
from svyaz.integrate import (
    WIDTH,
    Flow,
    Group,
    Ode,
    Status,
    StepSolver,
    constants_writer,
    control_of,
    method,
    prepare_free_ensemble,
    prepare_steps,
)
from svyaz.program import Native
from svyaz.stabilise.advancing import advance, passes_poles
from svyaz.stabilise.branch_crossing import can_branch
from svyaz.stabilise.options import Options
from svyaz.stabilise.polar_crossing import FAR, has_poles
from svyaz.stabilise.poles import poles_of
from svyaz.stabilise.segment import Segment, tolerances

FALL = 0.25
"""Gradients of constraints come near to being dependent where log |det [M Gᵀ; G 0]| fell by more than this in a step: on the
way to a zero of G it falls by more than twice this, s² being left of it, in the last three steps."""

Mask = NDArray[np.bool_]
Which = NDArray[np.intp] | slice
ALL = slice(None)
FINISHED = Status.FINISHED


def code_of(flow: Flow) -> RateCode:
    """The native code of rates, or of a map after a step."""
    return cast("RateCode", flow.owner)


class BoundConstants:
    """Constants (count, c) of a native function, a row for each member, with inputs that are written in place."""

    def __init__(self, flow: Flow, known: Mapping[str, float], inputs: Sequence[str], count: int) -> None:
        self._code, self._known, self._inputs = code_of(flow), known, inputs
        self.rows = np.tile(flow.constants, (count, 1))
        self._alive: dict[int, object] = {-1: flow}
        self._write: Callable[[int], int] | None = None
        if isinstance(self._code, Native):
            names = self._code.program.parameters
            self._given = np.tile([float(known.get(name, 0.0)) for name in names], (count, 1))
            self._places = [(k, names.index(name)) for k, name in enumerate(inputs) if name in names]
            self._write = constants_writer(self._code.constants_address, self._given, self.rows)

    def write(self, values: Array) -> None:
        """Put values of the inputs (count, m) in."""
        if self._write is not None:
            for column, place in self._places:
                self._given[:, place] = values[:, column]
            if self._places:
                self._write(len(values))
            return
        for k, row in enumerate(values):  # each has a workspace of its own
            own = self._code.constants({**self._known, **dict(zip(self._inputs, row.tolist(), strict=True))})
            self.rows[k], self._alive[k] = own, own


class StepWatch:
    """Which steps are left to ``advance``: those near to branching positions and to poles of coordinates, and the first two."""

    def __init__(self, segment: Segment, options: Options, count: int) -> None:
        equations = segment.equations
        self._equations = equations
        self._measure = measure_of(examined(equations)) if can_branch(segment) else None
        poles = poles_of(equations) if passes_poles(segment, options) and has_poles(segment) else ()
        self._poles = [(pole, 1 + equations.states.index(pole.theta)) for pole in poles]
        self.needed = self._measure is not None or bool(poles)
        self._sizes, self._last, self._falls = (np.full(count, np.nan) for _ in range(3))

    def forget(self) -> None:
        """The motion begins anew."""
        self._sizes[:] = self._falls[:] = np.nan

    def before(self, which: Which, rows: Array) -> Mask:
        """Of some members at [t, y…] (k, n + 1)."""
        found = np.zeros(len(rows), dtype=bool) if self._measure is None else ~(self._falls[which] <= FALL)
        for pole, place in self._poles:
            found |= np.abs(pole.distance(rows[:, place])) < FAR
        self._last[which] = self._sizes[which]
        return found

    def after(self, which: Which, begins: Array, rows: Array) -> Mask:
        """Of members that were moved from some rows to others: those whose steps are to be made again."""
        found = np.zeros(len(rows), dtype=bool)
        if self._measure is not None:
            times = rows[:, 0]
            with np.errstate(all="ignore"):
                own = model_states(self._equations, times, rows[:, 1:])
                sizes = self._measure.augmented_determinants(times, own)[1]
            self._sizes[which], self._falls[which] = sizes, self._last[which] - sizes
            found |= ~np.isfinite(sizes)
        for pole, place in self._poles:
            ends = pole.distance(rows[:, place])
            found |= (np.abs(ends) < FAR) | (np.sign(ends) != np.sign(pole.distance(begins[:, place])))
        return found


class SingleStepper:
    """One state, ``row`` = [t, y…], moved on; ``state`` is a view of y, ``inputs`` names of constants that change between."""

    def __init__(self, segment: Segment, options: Options, length: float, inputs: Sequence[str]) -> None:
        self._segment, self._options, self._inputs = segment, options, tuple(inputs)
        self._values = np.array([segment.values[name] for name in self._inputs])
        size, flows = len(segment.equations.states), [segment.rates]
        flows += [] if segment.projection is None else [segment.projection]
        self._constants = [BoundConstants(flow, segment.known, self._inputs, 1) for flow in flows]
        self._solver, self.row = None, np.zeros(size + 1)
        if not method(options.method).implicit:
            own = [replace(flow, constants=c.rows[0]) for flow, c in zip(flows, self._constants, strict=True)]
            ode, atol = Ode(own[0], None, own[1] if own[1:] else None), tolerances(segment, options)
            self._solver = StepSolver(ode, size, options.method, options.step, options.rtol, atol)
            self.row, self._usual = self._solver.row, self._solver.over(length)
        watch = StepWatch(segment, options, 1)
        self._watch = watch if watch.needed else None
        self._before, self.state = self.row.copy(), self.row[1:]

    @property
    def segment(self) -> Segment:
        """The phase with the inputs as they are."""
        return self.segment_with(self._values)

    def segment_with(self, values: Array) -> Segment:
        """The phase with these values of the inputs (m,)."""
        own = dict(zip(self._inputs, values.tolist(), strict=True))
        if all(self._segment.values[name] == value for name, value in own.items()):
            return self._segment
        segment = replace(self._segment, values={**self._segment.values, **own})
        return segment.regained(segment.perturbation)

    def place(self, row: Array) -> None:
        """Begin at a state."""
        self.row[:] = row
        if self._watch is not None:
            self._watch.forget()

    def hold(self, values: Array) -> None:
        """Hold the inputs (m,) at these values."""
        self._values = values.copy()
        for constants in self._constants:
            constants.write(values[None, :])

    def move(self, begin: float, end: float, length: float | None = None) -> Status:
        """Move the row to a later time, which is the usual length away unless given; how the step ended."""
        row, before, watch = self.row, self._before, self._watch
        if self._solver is None:
            return self.advance(row, end, self.segment)
        before[:] = row
        if watch is None or not watch.before(ALL, row[None, :])[0]:
            steps = self._usual if length is None else self._solver.over(length)
            if steps(begin, end) and (watch is None or not watch.after(ALL, before[None, :], row[None, :])[0]):
                return FINISHED
            row[:] = before
        status = self.advance(row, end, self.segment)
        if watch is not None:
            watch.after(ALL, before[None, :], row[None, :])
        return status

    def move_natively(self, begin: float, end: float, length: float) -> bool:
        """Move the row without a look at where it goes: does it come to the end?"""
        return self._solver is not None and self._solver.over(length)(begin, end)

    def advance(self, row: Array, end: float, segment: Segment) -> Status:
        """Move a row as ``advance`` does."""
        path = advance(segment, row[1:].copy(), (float(row[0]), end), self._options, None, None)
        row[0], row[1:] = path.times[-1], path.states[-1]
        return path.status.told


class ManyStepper:
    """Many states, ``rows`` [t, y…] (count, n + 1), moved on together: in lanes where the method and the code of the phase have
    them, else one after another. A member that fails stays where it was lost, with its ``status``, until it is placed anew.
    """

    def __init__(self, segment: Segment, options: Options, length: float, inputs: Sequence[str], count: int) -> None:
        self._one, self._options, self._length = SingleStepper(segment, options, length, inputs), options, length
        self._segment = segment
        self.values = np.tile([segment.values[name] for name in inputs], (count, 1)).reshape(count, len(inputs))
        flows = [segment.rates, *([] if segment.projection is None else [segment.projection])]
        self._constants = [BoundConstants(flow, segment.known, tuple(inputs), count) for flow in flows]
        self.rows = np.zeros((count, len(segment.equations.states) + 1))
        self.status = np.full(count, FINISHED, dtype=object)
        self._watch = StepWatch(segment, options, count)
        self._live = np.arange(count)
        self._together = self._prepare()

    def place(self, rows: Array) -> None:
        """Begin at states (count, n + 1)."""
        self.rows[:] = rows
        self.status[:] = FINISHED
        self._watch.forget()
        if len(self._live) < len(rows):
            self._live = np.arange(len(rows))
            self._together = self._prepare()

    def hold(self, values: Array) -> None:
        """Hold the inputs (count, m) at these values."""
        self.values = values.copy()
        for constants in self._constants:
            constants.write(values)

    def segment_of(self, member: int) -> Segment:
        """The phase with the inputs of a member."""
        return self._one.segment_with(self.values[member])

    @property
    def live(self) -> NDArray[np.intp]:
        """The numbers of the members that have not failed."""
        return self._live

    @property
    def _which(self) -> Which:
        return ALL if len(self._live) == len(self.rows) else self._live

    def move(self, begin: float, end: float, length: float | None = None) -> None:
        """Move all members that have not failed to a later time, which is the usual length away unless given."""
        which, watch = self._which, self._watch
        if not len(self._live):
            return
        before = self.rows[which]
        careful = watch.before(which, before) if watch.needed else None
        ends, finished = self._together(before, begin, end, length or self._length)
        if careful is not None:
            finished &= ~(careful | watch.after(which, before, ends))
        if finished.all():
            self.rows[which] = ends
            return
        self.rows[self._live[finished]] = ends[finished]
        self._move_alone(self._live[~finished], end)

    def _move_alone(self, members: NDArray[np.intp], end: float) -> None:
        """Move members by ``advance``, which says what becomes of them."""
        before = self.rows[members]
        for k in members.tolist():
            self.status[k] = self._one.advance(self.rows[k], end, self.segment_of(k))
        if self._watch.needed:
            self._watch.after(members, before, self.rows[members])
        if any(self.status[k] is not FINISHED for k in members.tolist()):
            self._live = np.flatnonzero(self.status == FINISHED)
            self._together = self._prepare()

    def _prepare(self) -> Callable[[Array, float, float, float], tuple[Array, Mask]]:
        """What moves the live members natively: their ends (k, n + 1), and which of them came there."""
        count, options = len(self._live), self._options
        rule, group = method(options.method), self._group(count)
        codes = [code_of(flow) for flow in (self._segment.rates, self._segment.projection) if flow is not None]
        run: Callable[[float, float, float], object] | None = None
        if options.step is not None and not rule.implicit:
            run = prepare_steps(rule, (codes[0], codes[1] if codes[1:] else None), group, options.step)
        elif not rule.implicit and not codes[1:]:
            assert options.rtol is not None, "steps are given or chosen"
            atol, nothing, never = tolerances(self._segment, options), np.zeros(0, dtype=int), np.zeros(1, dtype=int)
            control = control_of(rule, (0.0, 0.0), options.rtol, atol, group.starts.shape[1] - 1)
            lanes = prepare_free_ensemble(rule, (codes[0], None), control, group, nothing, 0, never)
            run = None if lanes is None else (lambda _begin, end, _length, chosen=lanes[0]: chosen(end))
        if run is None:
            return self._one_by_one

        def together(before: Array, begin: float, end: float, length: float) -> tuple[Array, Mask]:
            for own, target in zip(self._constants, (group.constants, group.projected), strict=False):
                if target is not own.rows:
                    target[:] = own.rows[self._live]
            if group.starts is not self.rows:
                group.starts[:] = before
            run(begin, end, length)
            return group.ends, group.finished

        return together

    def _group(self, count: int) -> Group:
        """Room for members in a native loop; starts and constants are those of all members, where all are live."""
        every = count == len(self.rows)
        own = [c.rows if every else c.rows[self._live] for c in self._constants]
        return Group(
            constants=own[0],
            watched=np.zeros((count, 1)),
            projected=own[1] if own[1:] else np.zeros((count, 1)),
            starts=self.rows if every else np.zeros((count, self.rows.shape[1])),
            ends=np.zeros((count, self.rows.shape[1])),
            pace=np.zeros((count, 2)),
            counts=np.ones((count, 2), dtype=np.int64),
            answers=np.zeros((count, 2), dtype=np.int64),
            totals=np.zeros((count, 0, WIDTH)),
        )

    def _one_by_one(self, before: Array, begin: float, end: float, length: float) -> tuple[Array, Mask]:
        """Members one after another by the native call of one."""
        one, ends, finished = self._one, before.copy(), np.zeros(len(before), dtype=bool)
        for k, member in enumerate(self._live.tolist()):
            one.row[:] = before[k]
            if self.values.shape[1]:
                one.hold(self.values[member])
            finished[k] = one.move_natively(begin, end, length)
            ends[k] = one.row
        return ends, finished
