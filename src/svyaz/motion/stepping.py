"""A motion step by step, with inputs that are chosen anew before each step and held through it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar, Unpack, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from svyaz.arguments import Count, Positive, check_arguments, fit_argument
from svyaz.arrays import Array
from svyaz.constraints import entered, model_states
from svyaz.expr import ModelError, NoSuchName, Problem
from svyaz.forms import may_jump
from svyaz.integrate import Status
from svyaz.model import Mechanical, System, nearest
from svyaz.motion.options import SimulatorOptions
from svyaz.motion.phases import START, is_switched
from svyaz.motion.running import start_of_run, structure_of
from svyaz.motion.self_check import check_now
from svyaz.motion.step_inputs import InputValues, LimitCheck, fit_members
from svyaz.stabilise import Decision, ManyStepper, Refusal, SingleStepper, observed, options_for

FINISHED = Status.FINISHED

Value = TypeVar("Value", float, Array)
"""A number, or one for each of many members."""


class Simulator(Generic[Value]):
    """The state of a system and the time, moved on by ``step``; constraints are stabilised as in a run.

    ``t``, k·dt after k steps, and ``state`` (n,), in the order of ``states``, are where the motion is, ``status`` whether it
    can go on. Inputs keep their last values. Equations, gains and native code are prepared once, before the first step, which
    is one native call then. A step depends on the state, the time and the inputs alone, not on the steps before.

    With ``count`` so many members are stepped at once, in lanes of the vector registers where the method and the equations
    have them: ``state`` is (count, n), inputs and values by name are (count,), and ``status`` is an array of words. A member
    that fails stays where it was lost until ``reset``; the others go on.

    >>> import svyaz
    >>> loop = svyaz.Simulator(svyaz.load("ball-and-beam"), dt=0.01)
    >>> while loop.t < 0.05:
    ...     state = loop.step({"nu": -20.0 * (loop["r"] - 0.2)})
    >>> str(loop.status), round(loop.t, 12)
    ('finished', 0.05)
    >>> many = svyaz.Simulator(svyaz.load("ball-and-beam"), dt=0.01, count=64)
    >>> many.step({"nu": -20.0 * (many["r"] - 0.2)}).shape
    (64, 6)
    """

    @overload
    def __init__(
        self: Simulator[float],
        system: System,
        dt: Positive = 0.01,
        *,
        count: None = None,
        **options: Unpack[SimulatorOptions],
    ) -> None: ...
    @overload
    def __init__(
        self: Simulator[Array],
        system: System,
        dt: Positive = 0.01,
        *,
        count: Count,
        **options: Unpack[SimulatorOptions],
    ) -> None: ...
    @check_arguments
    def __init__(
        self,
        system: System,
        dt: Positive = 0.01,
        *,
        count: Count | None = None,
        **options: Unpack[SimulatorOptions],
    ) -> None:
        _refuse_what_changes(system)
        form, start = options.pop("form", None), options.pop("start", None)
        full_options = options_for(system, options)
        full = "multipliers" if system.constraints and isinstance(system.law, Mechanical) else None
        structure = structure_of(system.plain(), full if form is None else form, full_options)
        beginning = structure.begin(start_of_run(system, start))
        decision: Decision | Refusal = structure.settle(beginning, [], force=False)
        if isinstance(decision, Refusal):
            raise ModelError([Problem(f"the motion cannot begin: {decision.reason}")])
        segment = decision.segment
        if segment.equations.charted:
            message = f"step by step a motion is computed in a form whose coordinates never change, not in '{form}'"
            raise ModelError([Problem(message)])
        self.system, self.dt, self.count = system, float(dt), count
        self._equations, self._inputs = segment.equations, InputValues(system, count)
        self._limits, self._one, self._many = LimitCheck(system), None, None
        names = tuple(system.inputs)
        if count is None:
            self._one = SingleStepper(segment, decision.options, self.dt, names)
        else:
            self._many = ManyStepper(segment, decision.options, self.dt, names, count)
        self._steps, self._start = 0, beginning.state
        self._status, self._words = FINISHED, np.empty(0, dtype=np.str_)
        self._reduced = self._equations.states != self.states
        self.reset()

    def _set_clock(self, time: float) -> None:
        """Count steps of length dt from this time on: after k of them t is the time plus k·dt, without a sum's rounding."""
        self.t = self._origin = time
        self._whole_steps = 0

    @property
    def states(self) -> tuple[str, ...]:
        """The order of the state."""
        return self.system.states

    @property
    def state(self) -> Array:
        """The state of the model now, (n,) or (count, n)."""
        rows = self._rows
        found = model_states(self._equations, rows[:, 0], rows[:, 1:])
        return np.array(found[0] if self._many is None else found)

    @property
    def status(self) -> Status | NDArray[np.str_]:
        """Whether the motion can go on: "finished", "left" beyond a limit, or how it was lost; (count,) of many."""
        return self._status if self._many is None else self._words

    @property
    def inputs(self) -> dict[str, Value]:
        """The values at which the inputs are held, numbers or (count,)."""
        return cast(dict[str, Value], self._inputs.table())

    @property
    def _rows(self) -> Array:
        """[t, y…] of all members."""
        if self._many is not None:
            return self._many.rows
        assert self._one is not None, "there is one state or many"
        return self._one.row[None, :]

    def __getitem__(self, name: str) -> Value:
        """A state, or an energy, an integral, the residual of a constraint, by its name; see ``multipliers``."""
        if name in self.states:
            found = self.state.T[self.states.index(name)]
            return cast(Value, float(found) if self._many is None else found)
        tables = self._observed()
        for kind in ("energies", "integrals", "residuals"):
            if name in tables.get(kind, {}):
                return self._plain(tables[kind][name])
        raise NoSuchName(
            f"the motion has no '{name}'; {nearest(name, self.states) or 'there are ' + ', '.join(self.states)}"
        )

    @property
    def multipliers(self) -> dict[str, Value]:
        """The multipliers of the constraints now, numbers or (count,)."""
        return {name: self._plain(column) for name, column in self._observed().get("multipliers", {}).items()}

    def _plain(self, column: Array) -> Value:
        return cast(Value, float(column[0]) if self._many is None else column)

    def _observed(self) -> dict[str, dict[str, Array]]:
        rows = self._rows
        if self._many is None:
            assert self._one is not None, "there is one state or many"
            return observed(self._one.segment, rows[:, 0], rows[:, 1:])
        different, which = np.unique(self._many.values, axis=0, return_inverse=True)
        found: dict[str, dict[str, Array]] = {}
        for k in range(len(different)):
            members = np.flatnonzero(which.ravel() == k)
            own = observed(self._many.segment_of(int(members[0])), rows[members, 0], rows[members, 1:])
            for kind, columns in own.items():
                for name, column in columns.items():
                    whole = found.setdefault(kind, {}).setdefault(name, np.full(len(rows), np.nan))
                    whole[members] = column
        return found

    def step(self, u: Mapping[str, ArrayLike] | ArrayLike | None = None, dt: float | None = None) -> Array:
        """Hold the inputs at these values (by name, or all in order) for the time ``dt``, and give the state after it.

        Where the motion cannot be continued ``status`` says so, and the state stays where it was lost. A value of one of many
        members is a number for all, or (count,).
        """
        if u is not None:
            self._hold(self._inputs.take(u))
        if dt is not None:
            dt = float(fit_argument("dt", dt, "Positive"))  # type: ignore[arg-type]
        end = self._origin + (self._whole_steps + 1) * self.dt if dt is None else self.t + dt
        one = self._one
        if one is None:
            self._move_many(end, dt)
        else:
            self._status = status = one.move(self.t, end, dt)
            if status is FINISHED and dt is None:
                self.t = end
                self._whole_steps += 1
            else:
                self._set_clock(float(one.row[0]))
        self._steps = steps = self._steps + 1
        if steps & (steps - 1) == 0:  # the first step, and whenever their number has doubled
            self._check()
        if self._limits.needed:
            self._look_at_limits()
        return self.state if one is None or self._reduced else one.state.copy()

    def _move_many(self, end: float, dt: float | None) -> None:
        many = self._many
        assert many is not None, "there is one state or many"
        many.move(self.t, end, dt)
        if len(many.live) < len(self._words) or self._limits.needed:
            self._words = many.status.astype(str)
        if dt is None:
            self.t = end
            self._whole_steps += 1
        else:
            self._set_clock(end)

    def _look_at_limits(self) -> None:
        """Say which states are beyond a limit; they go on."""
        outside = self._limits(self.t, np.atleast_2d(self.state))
        if self._many is None:
            self._status = Status.LEFT if self._status is FINISHED and outside[0] else self._status
        else:
            self._words[outside & (self._words == str(FINISHED))] = str(Status.LEFT)

    def _check(self) -> None:
        """Put the rates at the state that was reached into the equations; of many members at the first and the last."""
        if self._one is not None:
            check_now(self._equations.system, self._one.segment, self.t, self._one.row[1:], "a Simulator")
            return
        assert self._many is not None, "there is one state or many"
        for k in {int(k) for k in self._many.live[[0, -1][: len(self._many.live)]]}:
            check_now(
                self._equations.system,
                self._many.segment_of(k),
                self.t,
                self._many.rows[k, 1:],
                "members of a Simulator",
            )

    def _hold(self, values: Array) -> None:
        if self._one is not None:
            self._one.hold(values[0])
        elif self._many is not None:
            self._many.hold(values)

    def reset(self, state: Mapping[str, ArrayLike] | ArrayLike | None = None) -> Array:
        """Back to the beginning, with the inputs as the model gives them, at this state: values by name, which replace some of
        the beginning, or all in order, (n,) or (count, n).
        """
        states = self._states_of(state)
        own = np.array([entered(self._equations, row, START) for row in states])
        rows = np.column_stack([np.full(len(own), START), own])
        if self._one is not None:
            self._one.place(rows[0])
        elif self._many is not None:
            self._many.place(np.broadcast_to(rows, self._many.rows.shape))
            self._words = self._many.status.astype("<U10")
        self._status = FINISHED
        self._set_clock(START)
        self._hold(self._inputs.reset())
        return self.state

    def _states_of(self, given: Mapping[str, ArrayLike] | ArrayLike | None) -> Array:
        """States of the model (1 or count, n)."""
        count, n = self.count or 1, len(self.states)
        if given is None:
            return self._start[None, :]
        if not isinstance(given, Mapping):
            values = np.asarray(fit_argument("state", given, "ArrayLike"), dtype=float)
            if values.shape not in ((n,), (count, n) if self.count else (n,)):
                wanted = f"({n},) or ({count}, {n})" if self.count else f"({n},)"
                raise ModelError([Problem(f"'state' must have the shape {wanted}, not {values.shape}")])
            return np.atleast_2d(values)
        table = cast("Mapping[str, ArrayLike]", fit_argument("state", given, "Mapping[str, ArrayLike]"))
        start_of_run(self.system, dict.fromkeys(table, 0.0))  # names that are not among the states
        found = np.tile(self._start, (count if any(map(np.ndim, table.values())) else 1, 1))
        for name, value in table.items():
            found[:, self.states.index(name)] = fit_members("state", name, value, self.count)
        return found


def _refuse_what_changes(system: System) -> None:
    """Refuse systems whose equations change on the way."""
    if is_switched(system) or any(c.varying for c in system.constraints):
        what = "constraints that begin and cease to act"
    elif may_jump(system):
        what = "rates that jump"
    else:
        return
    raise ModelError(
        [Problem(f"step by step no motion with {what} is computed", hint="simulate takes laws for inputs")]
    )
