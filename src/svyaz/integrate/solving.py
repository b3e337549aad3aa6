"""From rates and a start to a path: ẏ = f(t, y), y(t₀) = start, t₀ ≤ t ≤ t₁, in native code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import ceil, isfinite
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from svyaz.arrays import Array
from svyaz.integrate.budget import COUNTED
from svyaz.integrate.methods import method as find_method
from svyaz.integrate.methods import methods_with_estimate
from svyaz.integrate.ode import Flow, Ode, PythonFlow, Rates, native
from svyaz.integrate.path import Path, path_of
from svyaz.integrate.tableau import Tableau

if TYPE_CHECKING:
    from svyaz.integrate.adaptive import Control
    from svyaz.integrate.loops import Schedule
    from svyaz.integrate.runs import Natives

MOST_ROWS = 200_000  # stored by itself; `every` asks for another number
MOST_STEPS = 10**9
MOST_TOGETHER = 1 << 22  # numbers of paths that are computed at once
LEAST_RTOL = 1e-14

PATH, EVALUATION, ENTRY, FULL = 1e-3, 1e-7, 1e-8, 40
"""Counted seconds of one path, of one evaluation of rates, and of each pair of states in it; of long systems not all pairs
count."""


def solve(
    ode: Ode | Flow | Rates,
    start: ArrayLike,
    span: tuple[float, float],
    *,
    method: str | Tableau = "dopri5",
    step: float | None = None,
    rtol: float | None = None,
    atol: ArrayLike | None = None,
    output: Sequence[float] | Array | None = None,
    every: int | None = None,
    progress: Callable[[float], object] | None = None,
    max_steps: int = MOST_STEPS,
    wary: bool = False,
) -> Path:
    """Solve ẏ = f(t, y), y(t₀) = start (n,), over `span` = (t₀, t₁).

    `ode`: the rates f, native or a Python function f(t, y) -> (n,), or an `Ode` that has more to say. `method`: a name
    of `method_names`, or a tableau of your own. Either `step` (fixed; the last one is shortened to meet t₁) or `rtol`
    (error per step below ``atol + rtol·|y|``, `atol` a number or one for each state (n,), equal to rtol unless given).

    What is saved: the states at the times `output` (k,), increasing, or, where that is None, every step; with a fixed
    step every `every`-th, chosen so that about 200 000 rows are stored unless given.

    `progress` is called with the time reached, some tens of times a second; KeyboardInterrupt ends the run, and what
    was computed is returned with the status "stopped". Not more than `max_steps` steps are tried; a `wary` run is given up
    ("stalled") once steps of the method's choice have become a thousand times shorter than they were.

    >>> solve(lambda t, y: -y, [1.0], (0.0, 1.0), method="rk4", step=0.1).states[-1].round(6)
    array([0.36788])
    """
    from svyaz.integrate.runs import STOPPED, drive, fixed_run, free_run, interrupts_kept

    tableau = method if isinstance(method, Tableau) else find_method(method)
    initial = _start(ode, start, span)
    grid = _grid(output, span)
    _one_of(tableau, step, rtol)
    asked = natives(ode, tableau, len(initial) - 1)
    if step is not None:
        run = fixed_run(tableau, asked, initial, schedule(span, step, every, max_steps), grid)
    else:
        assert rtol is not None
        run = free_run(tableau, asked, initial, control_of(tableau, span, rtol, atol, asked.size), grid, max_steps)
    with interrupts_kept():
        run.advance(0)  # no step: the loop is loaded, or compiled for the first time, outside of the time that is told
    begin = perf_counter()
    code = drive(run, progress, wary)
    raised = next((owner.raised for owner in asked.owners if isinstance(owner, PythonFlow) and owner.raised), None)
    if isinstance(raised, KeyboardInterrupt):
        code = STOPPED
    elif raised is not None:
        raise raised
    COUNTED.seconds += path_work(run.evaluations, len(initial) - 1)
    return path_of(run, code, grid, step, perf_counter() - begin)


def evaluation_work(states: int) -> float:
    """Counted seconds of one evaluation of the rates of so many states."""
    return EVALUATION + ENTRY * states * min(states, FULL)


def path_work(evaluations: int, states: int) -> float:
    """Counted seconds of a path."""
    return PATH + evaluations * evaluation_work(states)


def solve_each(
    ode: Ode,
    constants: Iterable[Array],
    start: ArrayLike,
    span: tuple[float, float],
    *,
    method: str,
    step: float | None,
    rtol: float | None,
    atol: ArrayLike | None,
    output: Array | None,
    max_steps: int,
    seconds: float,
) -> list[Path]:
    """Paths of one system for several rows of constants of its native rates, each as ``solve`` gives it.

    The first path is computed in any case, a further one while so many ``seconds`` of counted work are not used up and the
    paths are not too large together: the answer may be shorter than what was asked for.
    """
    assert isinstance(ode.rates, Flow), "constants are those of native rates"
    paths: list[Path] = []
    begin, room = COUNTED.seconds, MOST_TOGETHER
    for row in constants:
        one = replace(ode, rates=replace(ode.rates, constants=row))
        path = solve(
            one, start, span, method=method, step=step, rtol=rtol, atol=atol, output=output, max_steps=max_steps
        )
        paths.append(path)
        room -= path.states.size
        if room < 0 or COUNTED.seconds - begin >= seconds:
            break
    return paths


def refinement(method: str, step: float | None, rtol: float | None) -> tuple[float | None, float | None, float]:
    """Step, tolerance and factor for an estimate of the error of a path by a finer one (Richardson).

    The error is the factor times the difference: 2^p/(2^p - 1) with half the step; with error control the finer path allows
    1/32 of the error in each step, and the plain difference is taken.
    """
    if step is not None:
        weight = 2.0 ** find_method(method).order
        return step / 2, None, weight / (weight - 1)
    assert rtol is not None, "a run has a step or rtol"
    return None, max(rtol / 32, LEAST_RTOL), 1.0


def solve_many(
    ode: Ode | Flow | Rates,
    starts: Array,
    times: Array,
    *,
    method: str,
    rtol: float,
    atol: Array,
    max_steps: int,
    memories: Array | None = None,
) -> tuple[Array, NDArray[np.bool_], NDArray[np.bool_]]:
    """States (N, k, n) at k times, the first of which is the beginning, from N starts (N, n); did each run finish, or did
    the map after a step refuse a state of it?

    ``atol`` (N, n) is that of each start. A run that fails, or takes more trials than ``max_steps``, keeps the rows that
    it reached; the others are not numbers. The states are those that ``solve`` gives; what is common is prepared once.
    ``memories`` (N, ·) are the constants of the map after a step with which each run begins, where it remembers.
    """
    from svyaz.integrate.calls import FINISHED, PROJECTION, RUNNING, STORED
    from svyaz.integrate.radau_desk import StiffRuns
    from svyaz.integrate.radau_lanes import ALONE, radau_in_lanes
    from svyaz.integrate.runs import free_run

    count, n = starts.shape
    tableau, span = find_method(method), (float(times[0]), float(times[-1]))
    rows = np.full((count, len(times), n), np.nan)
    finished, refused = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    if not count:
        return rows, finished, refused
    control = control_of(tableau, span, rtol, atol[0], n)
    grid, called = np.ascontiguousarray(times, dtype=np.float64), natives(ode, tableau, n)
    own = called.after_step.constants
    begins = np.column_stack([np.full(count, span[0]), starts])
    members = StiffRuns(
        begins,
        np.ascontiguousarray(atol),
        np.tile(own, (count, 1)) if memories is None else memories,
        np.empty((count, len(grid), n + 1)),
        grid,
        np.zeros(count, dtype=np.int64),
        np.full(count, ALONE),
    )
    if tableau.loops:
        radau_in_lanes(called, control._replace(atol=control.atol[0]), members, max_steps)
    run = free_run(tableau, called, begins[0], control, grid, max_steps)
    for k in np.flatnonzero(members.codes == ALONE):
        run.restart(begins[k])
        own[:] = members.memories[k]
        control.atol[0] = atol[k]
        code = RUNNING
        while code == RUNNING:
            code = run.advance(max_steps)
        members.codes[k] = code
        members.stored[k] = reached = int(run.room.count[STORED])
        members.rows[k, :reached] = run.room.rows[:reached]
    kept = np.arange(len(grid)) < members.stored[:, None]
    rows[kept] = members.rows[kept][:, 1:]
    return rows, members.codes == FINISHED, members.codes == PROJECTION


def natives(ode: Ode | Flow | Rates, tableau: Tableau, size: int) -> Natives:
    """The functions of a system of that size as the loops call them; an implicit method needs the Jacobian."""
    from svyaz.integrate.runs import Natives, callee

    system = ode if isinstance(ode, Ode) else Ode(ode)
    if tableau.implicit and system.jacobian is None:
        raise ValueError(f"{tableau.name} is implicit and needs the Jacobian of the rates")
    rates = native(system.rates, size, size)
    jacobian = None if system.jacobian is None else native(system.jacobian, size, size, size)
    after_step = None if system.after_step is None else native(system.after_step, size, size)
    owners = tuple(flow.owner for flow in (rates, jacobian, after_step) if flow is not None)
    return Natives(callee(rates), callee(jacobian), callee(after_step), size, owners)


def _start(ode: Ode | Flow | Rates, start: ArrayLike, span: tuple[float, float]) -> Array:
    """[t₀, y₀…], checked."""
    state = np.asarray(start, dtype=np.float64)
    rates = ode.rates if isinstance(ode, Ode) else ode
    if isinstance(rates, Flow) and state.shape != (rates.size,):
        raise ValueError(f"the start has the shape {state.shape}, the rates are those of {rates.size} states")
    if state.ndim != 1 or not state.size:
        raise ValueError(f"the start has the shape {state.shape}; it must be a row of numbers, one for each state")
    if not np.isfinite(state).all():
        raise ValueError("the start must consist of finite numbers")
    t0, t1 = float(span[0]), float(span[1])
    if not (isfinite(t0) and isfinite(t1)):
        raise ValueError(f"the span must be finite, not from {t0} to {t1}")
    if t1 < t0:
        raise ValueError(f"the motion runs forwards in time: the span ends at {t1:g}, before it begins at {t0:g}")
    return np.concatenate(([t0], state))


def _grid(output: Sequence[float] | Array | None, span: tuple[float, float]) -> Array | None:
    if output is None:
        return None
    grid = np.ascontiguousarray(output, dtype=np.float64)
    if grid.ndim != 1 or not np.isfinite(grid).all() or (np.diff(grid) <= 0).any():
        raise ValueError("the times of output must increase")
    if grid.size and (grid[0] < span[0] or grid[-1] > span[1]):
        raise ValueError(f"times of output from {grid[0]:g} to {grid[-1]:g} lie outside of {span[0]:g} … {span[1]:g}")
    return grid


def _one_of(tableau: Tableau, step: float | None, rtol: float | None) -> None:
    if (step is None) == (rtol is None):
        raise ValueError("give either a fixed step or rtol, the error allowed in a step")
    if step is not None and not (isfinite(step) and step > 0):
        raise ValueError(f"the step must be a positive number, not {step}")
    if rtol is not None and not tableau.embedded:
        raise ValueError(
            f"{tableau.name} does not estimate its error, so rtol means nothing to it: give a step, or take a method "
            f"with an estimate ({', '.join(methods_with_estimate())})"
        )
    if rtol is not None and not LEAST_RTOL <= rtol < 1:
        raise ValueError(f"rtol must lie between {LEAST_RTOL:g} (rounding) and 1, not {rtol}")


def schedule(span: tuple[float, float], step: float, every: int | None = None, max_steps: int = MOST_STEPS) -> Schedule:
    """Equal steps, the last one shortened; a span that is a whole number of steps to 1e-9 is taken for one."""
    from svyaz.integrate.loops import Schedule

    t0, t1 = float(span[0]), float(span[1])
    ratio = (t1 - t0) / step
    if ratio > max_steps:
        raise ValueError(f"a step of {step:g} makes {ratio:.3g} steps, more than max_steps = {max_steps}")
    if every is not None and every < 1:
        raise ValueError(f"every must be a positive whole number, not {every}")
    total = round(ratio) if abs(ratio - round(ratio)) <= 1e-9 * max(1.0, ratio) else ceil(ratio)
    if t1 > t0:
        total = max(total, 1)
    last = t1 - (t0 + (total - 1) * step)
    if abs(last - step) <= 8 * np.spacing(max(abs(t0), abs(t1))):
        last = step  # only rounding: all steps are equal then
    return Schedule(t0, t1, float(step), float(last), total, every or max(1, ceil(total / MOST_ROWS)))


def control_of(tableau: Tableau, span: tuple[float, float], rtol: float, atol: ArrayLike | None, size: int) -> Control:
    """Tolerances, checked, and the rule of the next step."""
    from svyaz.integrate.adaptive import Control

    absolute = np.asarray(rtol if atol is None else atol, dtype=np.float64)
    if absolute.shape not in ((), (size,)):
        raise ValueError(f"atol must be one number or {size}, one for each state")
    if not (np.isfinite(absolute).all() and (absolute > 0).all()):
        raise ValueError("atol must be positive: a state that passes through zero has no relative error")
    rule = tableau.controller
    assert rule is not None
    return Control(
        t1=float(span[1]),
        rtol=float(rtol),
        atol=np.full((1, size), absolute),
        exponent=rule.exponent,
        memory=rule.memory,
        smallest=rule.smallest,
        largest=rule.largest,
        safety=rule.safety,
        most=MOST_STEPS,
        order=float(tableau.order),
    )
