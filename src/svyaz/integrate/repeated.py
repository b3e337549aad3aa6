"""One differential equation solved again and again: what all solutions share is prepared once."""

from __future__ import annotations

from dataclasses import replace
from threading import Lock
from time import perf_counter

import numpy as np

from svyaz.arrays import Array
from svyaz.integrate.methods import method as find_method
from svyaz.integrate.ode import Flow, Ode
from svyaz.integrate.path import Path, path_of
from svyaz.integrate.solving import control_of, natives, schedule


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
