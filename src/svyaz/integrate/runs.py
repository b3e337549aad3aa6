"""Runs of the native loops: the arrays a loop works on, and what it has stored so far.

A run is advanced in shares of some tens of milliseconds, so that progress can be shown and the user can stop it; all
that a loop knows stands in its arrays, hence a run that was interrupted anywhere still holds what was computed.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from threading import current_thread, main_thread
from time import perf_counter

import numpy as np

from svyaz.arrays import Array
from svyaz.integrate import adaptive, loops
from svyaz.integrate.adaptive import Control, embedded
from svyaz.integrate.calls import (
    COUNTERS,
    DONE,
    EVALUATED,
    EVALUATIONS,
    EXHAUSTED,
    FINISHED,
    HOPELESS,
    REJECTED,
    RUNNING,
    STOPPED,
    STORED,
    Callee,
    Counters,
)
from svyaz.integrate.compiling import bound, rebound
from svyaz.integrate.loops import Schedule
from svyaz.integrate.ode import Flow
from svyaz.integrate.stages import scheme
from svyaz.integrate.state import Functions, GroupRun, Output, lane_state, one_member
from svyaz.integrate.tableau import Tableau

MOST_AT_ONCE = 65_536  # steps of one call that nobody can interrupt
SHARE = 0.03  # seconds of native work between two looks at the outside world
BUFFER = 4096  # rows that a loop with steps of its own choice fills before they are put away
LOOK = 2048  # trials between two looks at the pace of such a loop
MOST_KEPT = 500_000  # rows that are kept; beyond, every second one is let go
# trials over which it is seen how fast the time goes on, and how many times more than allowed its end may need then
PACES = ((100_000, 1e3), (1_000_000, 1.0))
MOST_AHEAD, SLOW = 2e7, 1e-3  # a run that has become so slow, and would need so many more trials, is given up
WARY, WORTH = 2_000, 20_000  # … a wary one when it was so slow over so many trials, and needs so many more


@dataclass(frozen=True)
class Natives:
    """The functions of a system of `size` differential equations as the loops call them, and what keeps them alive."""

    rates: Callee
    jacobian: Callee
    after_step: Callee
    size: int
    owners: tuple[object, ...]


@dataclass(frozen=True)
class Room:
    """The arrays of a run of n states: work (6, n + 1), row 0 is [t, y…] now; whole numbers; clock; rows stored."""

    work: Array
    count: Counters
    clock: Array
    rows: Array


@dataclass(frozen=True)
class Run:
    """A motion under way. `loop(chunk)` takes at most that many steps; with steps of the method's own choice (`chosen`) not
    more than `most` are tried up to the time `end`, and `first()` proposes the first one where the loop does not.

    `slopes` begin with the slope of the state that such steps have reached; `implicit` are the constants of implicit
    steps, where there are such; `kept` are rows that were put away, by the number of steps done.
    """

    room: Room
    loop: Callable[[int], int]
    slopes: Array
    implicit: Array | None = None
    chosen: bool = False
    first: Callable[[], int] | None = None
    end: float = 0.0
    most: int = 0
    every_step: bool = False
    problem: GroupRun | None = None
    kept: dict[int, Array] = field(default_factory=dict)

    def advance(self, chunk: int) -> int:
        """Take at most so many steps; the answer is the code of the loop."""
        if not self.chosen:
            return self.loop(chunk)
        if self.problem is None and self.time >= self.end:
            return FINISHED
        if self.trials == 0 and self.first is not None:
            code = self.first()
            if code != RUNNING:
                return code
        if self.trials >= self.most:
            return EXHAUSTED
        code = self.loop(min(chunk, BUFFER, self.most - self.trials))
        if self.every_step:
            self.put_away()
        return code

    @property
    def time(self) -> float:
        return float(self.room.work[0, 0])

    @property
    def trials(self) -> int:
        return int(self.room.count[DONE] + self.room.count[REJECTED])

    @property
    def evaluations(self) -> int:
        """Evaluations of the rates, those inside of implicit steps included."""
        inside = 0.0 if self.implicit is None else self.implicit[EVALUATED]
        return int(self.room.count[EVALUATIONS] + inside)

    def restart(self, start: Array) -> None:
        """Begin anew at [t, y…], which is the first row that is wanted; nothing of the run before remains."""
        for array in (self.room.work, self.room.count, self.room.clock, self.slopes):
            array.fill(0)
        self.room.work[0] = self.room.rows[0] = start
        self.room.count[STORED] = 1
        if self.problem is not None:
            self.problem.state.restart()
            self.problem.group.starts[0] = start

    def put_away(self) -> None:
        """Make room for further rows; the number of steps done tells which rows are put away already."""
        stored = self.room.count[STORED]
        if stored:
            self.kept[int(self.room.count[DONE])] = self.room.rows[:stored].copy()
            self.room.count[STORED] = 0

    def thin_out(self) -> None:
        """Let every second row go where there are too many."""
        if sum(map(len, self.kept.values())) > MOST_KEPT:
            rows = np.vstack([*self.kept.values()])
            self.kept.clear()
            self.kept[int(self.room.count[DONE])] = np.vstack([rows[:-1:2], rows[-1:]])

    def is_hopeless(self, pace: float, best: float, patience: float) -> bool:
        """With this ``pace`` (time per trial), would the end need more trials than are allowed, or than are worth while now
        that the pace has fallen so far below its ``best``, ``patience`` times more?
        """
        ahead = self.end - self.time
        return ahead > patience * pace * self.most or (pace < SLOW * best and ahead > patience * pace * MOST_AHEAD)

    def creeps(self, pace: float, best: float) -> bool:
        """Has the pace fallen so far below its ``best`` that a look at where the run came to is worth its while?"""
        return pace < SLOW * best and self.end - self.time > pace * WORTH

    def stored(self) -> Array:
        """All rows [t, y…] stored so far: a view where none were put away, for copying costs more than many a run."""
        if not self.kept:
            return self.room.rows[: self.room.count[STORED]]
        self.put_away()
        return np.vstack([*self.kept.values(), self.room.rows[:0]])


@contextmanager
def interrupts_kept() -> Iterator[None]:
    """An interrupt that comes meanwhile is raised at the end: within a callback of LLVM it would be lost."""
    before = signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or before is not signal.default_int_handler:
        yield
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt


def drive(run: Run, progress: Callable[[float], object] | None, wary: bool = False) -> int:
    """Advance a run to its end; KeyboardInterrupt stops it between two shares and keeps what was computed.

    A ``wary`` run is given up as soon as it creeps. The clock decides how long a share is; a run with steps of its own choice
    is judged after given numbers of trials, so that no answer depends on the clock.
    """
    chunk, code, pace = 64, RUNNING, PaceWatch(run, wary)
    try:
        while code == RUNNING:
            begin = perf_counter()
            code = run.advance(min(chunk, pace.next_look - run.trials) if run.chosen else chunk)
            elapsed = perf_counter() - begin
            if elapsed < SHARE / 2:
                chunk *= 2
            elif elapsed > 2 * SHARE:
                chunk = max(1, chunk // 2)
            if progress is not None:
                progress(run.time)
            if run.chosen and code == RUNNING and run.trials >= pace.next_look and pace.is_too_slow():
                return HOPELESS
    except KeyboardInterrupt:
        return STOPPED if code == RUNNING else code
    return code


class PaceWatch:
    """Looks at how fast the time of a run goes on, after 64, 192, 448 … trials, then after every LOOK of them."""

    def __init__(self, run: Run, wary: bool) -> None:
        self.run, self.best, self.next_look = run, 0.0, run.trials + 64
        here = (run.trials, run.time)
        self.last, self.late = here, here if wary else None
        self.seen = dict.fromkeys(PACES, here)

    def is_too_slow(self) -> bool:
        """Look at the run: is it to be given up?"""
        run, here = self.run, (self.run.trials, self.run.time)
        self.next_look += min(here[0] - self.last[0], LOOK // 2) * 2
        self.best, self.last = max(self.best, self._pace_since(self.last)), here
        run.thin_out()
        if self.late is not None and here[0] - self.late[0] >= WARY:
            if run.creeps(self._pace_since(self.late), self.best):
                return True
            self.late = here
        for (count, patience), then in list(self.seen.items()):
            if here[0] - then[0] >= count:
                if run.is_hopeless(self._pace_since(then), self.best, patience):
                    return True
                self.seen[count, patience] = here
        return False

    def _pace_since(self, then: tuple[int, float]) -> float:
        return (self.run.time - then[1]) / max(self.run.trials - then[0], 1)


def callee(flow: Flow | None) -> Callee:
    """What the loops call; address 0 where there is no flow."""
    if flow is None:
        return Callee(0, np.zeros(1))
    constants = np.ascontiguousarray(flow.constants, dtype=np.float64)
    return Callee(int(flow.address), constants if constants.size else np.zeros(1))


def fixed_run(tableau: Tableau, natives: Natives, start: Array, plan: Schedule, grid: Array | None) -> Run:
    """A method with a fixed step; `start` is [t, y…]."""
    problem, memory = _problem(tableau, natives, start, grid, plan.total // plan.every + 2)
    problem.group.pace[0], problem.group.counts[0] = (plan.h, plan.last), (plan.total, plan.every)
    loop = bound(loops.fixed, plan.t0, plan.t1, problem, np.zeros(1, dtype=np.int64))
    return Run(_room_of(problem), loop, problem.state.slopes, memory, problem=problem)


def _problem(
    tableau: Tableau, natives: Natives, start: Array, grid: Array | None, rows: int
) -> tuple[GroupRun, Array | None]:
    """A run alone from [t, y…], with room for so many rows; and the constants of implicit steps, where there are such."""
    height = tableau.stages if tableau.dense is None else len(tableau.dense)
    step, slopes = _implicit_step(tableau, natives, height * len(start))
    group = one_member(start.copy(), natives.rates, natives.after_step)
    state = lane_state(1, 0, group, 0)._replace(slopes=slopes)
    state.x[:] = start
    times, stored = np.zeros(0) if grid is None else grid, rows if grid is None else len(grid)
    output = Output(np.empty((1, stored, len(start))), times, grid is not None, np.zeros(0, dtype=np.int64))
    functions = Functions(natives.rates.address, 0, natives.after_step.address, step)
    return GroupRun(functions, scheme(tableau), group, output, state), step.constants


def _room_of(problem: GroupRun) -> Room:
    s = problem.state
    return Room(s.x.reshape(1, -1), s.counters[0], s.clocks[0], problem.output.rows[0])


def step_loop(
    tableau: Tableau, natives: Natives, start: Array, control: Control | None
) -> tuple[Callable[..., int], GroupRun]:
    """A loop of an explicit method from [t, y…], which is moved on; nothing is stored.

    It is called with the times of begin and end, or with that of the end where ``control`` chooses the steps.
    """
    problem, _ = _problem(tableau, natives, start, np.zeros(0), 0)
    row, never = start.reshape(1, -1), np.zeros(1, dtype=np.int64)
    problem = problem._replace(group=problem.group._replace(starts=row, ends=row))
    if control is None:
        return rebound(loops.fixed, 1, 2, MOST_AT_ONCE, 0.0, 0.0, problem, never), problem
    return rebound(adaptive.adaptive, 1, 1, MOST_AT_ONCE, control, embedded(tableau), problem, never), problem


def free_run(
    tableau: Tableau, natives: Natives, start: Array, control: Control, grid: Array | None, max_steps: int
) -> Run:
    """A method that keeps its error within tolerances; `start` is [t, y…]."""
    if tableau.loops:
        return _own_run(tableau, natives, start, control, grid, max_steps)
    problem, memory = _problem(tableau, natives, start, grid, BUFFER + 1)
    loop = bound(adaptive.adaptive, control, embedded(tableau), problem, np.zeros(1, dtype=np.int64))
    slopes, every = problem.state.slopes, grid is None
    return Run(_room_of(problem), loop, slopes, memory, True, None, control.t1, max_steps, every, problem)


def _own_run(
    tableau: Tableau, natives: Natives, start: Array, control: Control, grid: Array | None, max_steps: int
) -> Run:
    """A method with native code of its own."""
    from svyaz.integrate.radau import StoredRows
    from svyaz.integrate.radau_first import first_step

    room, own = _room(start, grid, BUFFER + 1), import_module(tableau.loops)
    out = StoredRows(room.rows, np.zeros(0) if grid is None else grid, grid is not None)
    rates, after_step, work, clock, count = natives.rates, natives.after_step, room.work, room.clock, room.count
    control = control._replace(atol=control.atol[0])
    memory, jacobian, slopes = np.zeros(own.memory_size(natives.size)), natives.jacobian, np.zeros(2 * natives.size)
    loop = bound(own.free, rates, jacobian, after_step, control, out, work, slopes, memory, clock, count)

    def first() -> int:
        return first_step(rates, control, own.POWER, work, slopes, clock, count)

    return Run(room, loop, slopes, None, True, first, control.t1, max_steps, grid is None)


def _implicit_step(tableau: Tableau, natives: Natives, slopes: int) -> tuple[Callee, Array]:
    """What makes a step of an implicit method, chosen by what its tableau gives; and room for so many numbers of slopes."""
    if not tableau.implicit:
        return Callee(0, np.zeros(2)), np.zeros(slopes)
    from svyaz.integrate import implicit

    rates, jacobian = natives.rates, natives.jacobian
    if not tableau.loops:
        memory, room = implicit.step_constants(tableau, rates, jacobian, natives.size, slopes)
        return Callee(implicit.step_function().address, memory), room
    own = import_module(tableau.loops)
    memory = np.zeros(own.memory_size(natives.size))
    implicit.write_head(memory, rates, jacobian, natives.size)
    return Callee(own.step_function().address, memory), np.zeros(slopes)


def _room(start: Array, grid: Array | None, rows: int) -> Room:
    """Arrays of a run, the start stored if it is wanted."""
    size = len(start)
    stored = np.empty((rows if grid is None else len(grid), size))
    room = Room(np.zeros((6, size)), np.zeros(COUNTERS, dtype=np.int64), np.zeros(4), stored)
    room.work[0] = start
    if grid is None or (len(grid) > 0 and grid[0] <= start[0]):
        room.rows[0] = start
        room.count[STORED] = 1
    return room
