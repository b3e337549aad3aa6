"""One differential equation solved again and again: what all solutions share is prepared once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from svyaz.arrays import Array
from svyaz.integrate.budget import COUNTED
from svyaz.integrate.methods import method as find_method
from svyaz.integrate.ode import Flow, Ode
from svyaz.integrate.path import Path, path_of
from svyaz.integrate.solving import control_of, natives, path_work, schedule, solve

if TYPE_CHECKING:
    from svyaz.integrate.loops import Schedule


class RepeatedSolver:
    """ẏ = f(t, y, c) over a span by an explicit method, from any start and with any constants c of the native rates.

    The paths are those of ``solve`` to the last bit; arrays and the native loop are made once.
    """

    def __init__(
        self,
        rates: Flow,
        span: tuple[float, float],
        *,
        method: str,
        step: float | None,
        rtol: float | None,
        atol: Array | float | None,
        output: Array | None,
        max_steps: int,
    ) -> None:
        from svyaz.integrate.runs import fixed_run, free_run

        tableau = find_method(method)
        assert not tableau.implicit, "steps of implicit methods remember"
        self._constants, self._grid, self._step = rates.constants.copy(), output, step
        self._natives = natives(Ode(Flow(rates.address, self._constants, rates.size, rates)), tableau, rates.size)
        self._begin = np.concatenate([[float(span[0])], np.zeros(rates.size)])
        if step is not None:
            plan = schedule(span, step, None, max_steps)
            self._run = fixed_run(tableau, self._natives, self._begin, plan, output)
        else:
            assert rtol is not None, "a run has a step or rtol"
            control = control_of(tableau, span, rtol, atol, rates.size)
            self._run = free_run(tableau, self._natives, self._begin, control, output, max_steps)
        self._run.advance(0)
        self._using = Lock()

    def __call__(self, start: Array, constants: Array) -> Path:
        """The path from a start (n,)."""
        from svyaz.integrate.runs import drive

        with self._using:
            self._begin[1:], self._constants[:] = start, constants
            self._run.kept.clear()
            self._run.restart(self._begin)
            clock = perf_counter()
            code = drive(self._run, None)
            path = path_of(self._run, code, self._grid, self._step, perf_counter() - clock)
            # the rows of the loop are written anew by the next solution
            return path if path.states.base is None else replace(path, states=path.states.copy())


class StepSolver:
    """ẏ = f(t, y) from a state to a later time by an explicit method, again and again: one native call each.

    ``row`` is [t, y…], written by the caller and moved on by a call; constants of native functions are those in their arrays
    at that time. A fixed ``step`` (inf: as long as the way) divides the way, else the method chooses its steps by ``rtol``;
    what came before has no influence.
    """

    def __init__(
        self, ode: Ode, size: int, method: str, step: float | None, rtol: float | None, atol: ArrayLike | None
    ) -> None:
        from svyaz.integrate.runs import step_loop

        tableau, control = find_method(method), None
        assert not tableau.implicit, "steps of implicit methods remember"
        if step is None:
            assert rtol is not None, "steps are given or chosen"
            control = control_of(tableau, (0.0, 0.0), rtol, atol, size)
        self.row, self._step = np.zeros(size + 1), step
        self._called = natives(ode, tableau, size)
        self._plan: Schedule | None = None
        self._loop, self._problem = step_loop(tableau, self._called, self.row, control)

    def over(self, length: float) -> Callable[[float, float], bool]:
        """What moves the row over a way of this length, from one time to another: does it come to the end?"""
        from svyaz.integrate.calls import FINISHED

        loop, group, clear = self._loop, self._problem.group, self._problem.state.queue.fill
        if self._step is None:

            def chosen(_begin: float, end: float) -> bool:
                clear(0)
                return loop(end) == FINISHED

            return chosen
        plan = schedule((0.0, length), min(self._step, length))
        pace, counts = (plan.h, plan.last), (plan.total, plan.every)

        def equal(begin: float, end: float) -> bool:
            clear(0)
            if self._plan is not plan:
                self._plan, group.pace[0], group.counts[0] = plan, pace, counts
            return loop(begin, end) == FINISHED

        return equal


class StepsFrom:
    """The states (n,) at times after a row by one step of the method from there (where ``fixed``), or by several with the
    error ``rtol`` where that fails; None where these fail too. An explicit method is prepared once for all rows.
    """

    def __init__(self, ode: Ode, size: int, method: str, rtol: float | None, *, fixed: bool = True) -> None:
        tableau = find_method(method)
        self._ode, self._method, self._rtol, self._fixed = ode, method, rtol, fixed
        self._quick: StepSolver | None = None
        if fixed and not tableau.implicit and isinstance(ode.rates, Flow):
            self._quick = StepSolver(ode, size, method, np.inf, None, None)
        self._work = path_work(tableau.stages, size)
        self._using = Lock()

    def after(self, time: float, start: Array) -> Callable[[float], Array | None]:
        """The states at times after a row."""

        def state_at(end: float) -> Array | None:
            if end <= time:
                return start
            found = self._stepped(time, start, end) if self._fixed else None
            return (
                self._solved(time, start, end, None, self._rtol) if found is None and self._rtol is not None else found
            )

        return state_at

    def _stepped(self, time: float, start: Array, end: float) -> Array | None:
        if self._quick is None:
            return self._solved(time, start, end, end - time, None)
        COUNTED.seconds += self._work
        with self._using:
            row = self._quick.row
            row[0], row[1:] = time, start
            return row[1:].copy() if self._quick.over(end - time)(time, end) else None

    def _solved(self, time: float, start: Array, end: float, step: float | None, error: float | None) -> Array | None:
        path = solve(self._ode, start, (time, end), method=self._method, step=step, rtol=error)
        return path.states[-1] if path.finished else None
