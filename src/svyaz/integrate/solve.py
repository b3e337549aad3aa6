"""From rates and a start to a path: ẏ = f(t, y), y(t₀) = start, t₀ ≤ t ≤ t₁, in native code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, isfinite
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from svyaz.arrays import Array
from svyaz.integrate.methods import method as find_method
from svyaz.integrate.methods import methods_with_estimate
from svyaz.integrate.status import Status
from svyaz.integrate.tableau import Tableau

if TYPE_CHECKING:
    from svyaz.integrate.adaptive import Control
    from svyaz.integrate.calls import Native
    from svyaz.integrate.loops import Schedule
    from svyaz.integrate.runs import Run

MOST_ROWS = 200_000  # stored by itself; `every` asks for another number
MOST_STEPS = 10**9
LEAST_RTOL = 1e-14


@dataclass(frozen=True)
class Flow:
    """A native function out = f(x, c), x = [t, y…], with its constants.

    `size` is the number of entries of the state; `owner` is whatever must live as long as the address is used.
    """

    address: int
    constants: Array
    size: int
    owner: object = None


@dataclass(frozen=True)
class Path:
    """A computed motion: times (k,), states (k, n), and how it ended.

    `reason` says in words why it did not finish, and `singular_system` the number of the linear system that had no
    solution. The last row is the last good state. `events` are the conditions that ended it, (on or off, name of the
    constraint), where such were watched.
    """

    times: Array
    states: Array
    status: Status
    reason: str
    steps: int
    rejected: int
    evaluations: int
    seconds: float
    step_sizes: Array | None = None
    singular_system: int | None = None
    events: tuple[tuple[str, str], ...] = ()

    @property
    def finished(self) -> bool:
        """Did it reach its end?"""
        return self.status is Status.FINISHED


def integrate(
    rates: Flow,
    start: ArrayLike,
    span: tuple[float, float],
    *,
    method: str = "dopri5",
    step: float | None = None,
    rtol: float | None = None,
    atol: ArrayLike | None = None,
    output: Sequence[float] | Array | None = None,
    every: int | None = None,
    project: Flow | None = None,
    jacobian: Flow | None = None,
    progress: Callable[[float], object] | None = None,
    max_steps: int = MOST_STEPS,
) -> Path:
    """Integrate ẏ = f(t, y) from `start` over `span` = (t₀, t₁).

    Either `step` (fixed; the last one is shortened to meet t₁) or `rtol` (error per step below atol + rtol·|y|, `atol`
    a number or one for each state, equal to rtol unless given). `output`: the times at which the state is wanted, or
    None for every step (with a fixed step every `every`-th, chosen so that about 200 000 rows are stored unless given).
    `project` is applied to the state after each step. `jacobian` (n, n), ∂f/∂y by rows, is needed by `radau`.
    `progress` is called with the time reached, some tens of times a second; KeyboardInterrupt ends the run, and what
    was computed is returned with the status "stopped".
    """
    from svyaz.integrate.runs import adaptive_run, drive, fixed_radau_run, fixed_run, interrupts_kept, radau_run

    tableau = find_method(method)
    initial = _start(rates, start, span)
    grid = _grid(output, span)
    _one_of(tableau, step, rtol)
    if tableau.implicit and jacobian is None:
        raise ValueError(f"{tableau.name} is implicit and needs the Jacobian of the rates")
    f, after, slope = native_of(rates), native_of(project), native_of(jacobian)
    if step is not None:
        plan = schedule(span, step, every, max_steps)
        if tableau.implicit:
            run = fixed_radau_run(f, slope, after, initial, plan, grid)
        else:
            run = fixed_run(tableau, f, after, initial, plan, grid)
    else:
        assert rtol is not None
        control = control_of(tableau, span, rtol, atol, rates.size)
        if tableau.implicit:
            run = radau_run(f, slope, after, initial, control, grid, max_steps)
        else:
            run = adaptive_run(tableau, f, after, initial, control, grid, max_steps)
    with interrupts_kept():
        run.advance(0)  # no step: the loop is loaded, or compiled for the first time, outside of the time that is told
    begin = perf_counter()
    code = drive(run, progress)
    return _path(run, code, grid, step, perf_counter() - begin)


def _start(rates: Flow, start: ArrayLike, span: tuple[float, float]) -> Array:
    """[t₀, y₀…], checked."""
    state = np.asarray(start, dtype=np.float64)
    if state.shape != (rates.size,):
        raise ValueError(f"the start has the shape {state.shape}, the rates are those of {rates.size} states")
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
        atol=np.full(size, absolute),
        exponent=rule.exponent,
        memory=rule.memory,
        smallest=rule.smallest,
        largest=rule.largest,
        safety=rule.safety,
    )


def native_of(flow: Flow | None) -> Native:
    """What the loops call; nothing where there is no flow."""
    from svyaz.integrate.calls import Native

    if flow is None:
        return Native(0, np.zeros(1))
    constants = np.ascontiguousarray(flow.constants, dtype=np.float64)
    return Native(int(flow.address), constants if constants.size else np.zeros(1))


def _path(run: Run, code: int, grid: Array | None, step: float | None, seconds: float) -> Path:
    from svyaz.integrate.calls import FINISHED
    from svyaz.integrate.loops import DONE, EVALUATIONS, STATUS
    from svyaz.integrate.runs import REJECTED

    rows = run.stored()
    if grid is not None:
        rows[:, 0] = grid[: len(rows)]
    if code != FINISHED and (len(rows) == 0 or rows[-1, 0] < run.time):
        rows = np.vstack((rows, run.work[0]))
    status, reason = _verdict(run, code)
    failed = int(run.count[STATUS])
    return Path(
        times=rows[:, 0].copy(),
        states=rows[:, 1:] if 2 * len(rows) > len(run.rows) else rows[:, 1:].copy(),
        status=status,
        reason=reason,
        steps=int(run.count[DONE]),
        rejected=int(run.count[REJECTED]),
        evaluations=int(run.count[EVALUATIONS]),
        seconds=seconds,
        step_sizes=np.diff(rows[:, 0]) if step is None and grid is None else None,
        singular_system=failed - 1 if status is Status.SINGULAR and failed > 0 else None,
    )


def _verdict(run: Run, code: int) -> tuple[Status, str]:
    """Status and reason of a run."""
    from svyaz.integrate.calls import STALLED

    if code == STALLED and _explodes(run):
        return Status.DIVERGED, f"the motion diverged: it grows beyond all bounds at t = {run.time:.9g}"
    return outcome(code, run.time)


def outcome(code: int, time: float) -> tuple[Status, str]:
    """Status and reason, in words of mechanics, for the code with which a loop ended at a time."""
    from svyaz.integrate import calls
    from svyaz.integrate.runs import EXHAUSTED, STOPPED

    when = f"t = {time:.9g}"
    words: dict[int, tuple[Status, str]] = {
        calls.FINISHED: (Status.FINISHED, ""),
        STOPPED: (Status.STOPPED, f"stopped by the user at {when}"),
        EXHAUSTED: (Status.STALLED, f"all steps that were allowed are used up at {when}"),
        calls.DIVERGED: (Status.DIVERGED, f"the motion diverged: after {when} the state is no longer finite"),
        calls.SINGULAR: (Status.SINGULAR, f"the equations have no unique solution for the accelerations after {when}"),
        calls.PROJECTION: (Status.SINGULAR, f"the state could not be put back on the constraints after {when}"),
        calls.NEWTON: (
            Status.STALLED,
            f"the equations of the implicit step have not been solved after {when}: shorten it",
        ),
        calls.STALLED: (
            Status.STALLED,
            f"no step is short enough at {when}: the motion has a singularity there, or its rates jump or do not exist",
        ),
    }
    return words[code]


def _explodes(run: Run) -> bool:
    """Whether some state, grown large, doubles within a time that rounding cannot resolve any more."""
    state, n = np.abs(run.work[0, 1:]), run.work.shape[1] - 1
    start = np.abs(run.stored()[0, 1:]).max(initial=1.0)
    unresolved = 1e4 * np.spacing(max(1e-300, abs(run.time)))
    return bool(((state > 1e3 * start) & (state <= unresolved * np.abs(run.slopes[:n]))).any())
