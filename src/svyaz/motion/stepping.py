"""A motion step by step, with inputs that are chosen anew before each step and held through it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from svyaz.arguments import Positive, check_arguments, fit_argument
from svyaz.arrays import Array
from svyaz.constraints import entered, model_states
from svyaz.expr import ModelError, NoSuchName, Problem
from svyaz.forms import may_jump
from svyaz.holding import Decision, Refusal, Segment, Tolerance, advance, observed, options_for
from svyaz.integrate import Status
from svyaz.model import Mechanical, System, nearest
from svyaz.motion.options import Stabilize
from svyaz.motion.phases import START, is_switched
from svyaz.motion.running import start_of_run, structure_of
from svyaz.motion.self_check import check_now


class Simulator:
    """The state of a system and the time, moved on by ``step``; constraints are held as in a run.

    ``t``, k·dt after k steps, and ``state`` (in the order of ``states``) are where the motion is, ``status`` whether it can
    go on. Inputs keep their last values. Equations and gains are settled once, before the first step.

    >>> import svyaz
    >>> loop = svyaz.Simulator(svyaz.load("ball-and-beam"), dt=0.01)
    >>> while loop.t < 0.05:
    ...     state = loop.step({"nu": -20.0 * (loop["r"] - 0.2)})
    >>> str(loop.status), round(loop.t, 12)
    ('finished', 0.05)
    """

    @check_arguments
    def __init__(
        self,
        system: System,
        dt: Positive = 0.01,
        *,
        form: str | None = None,
        method: str | None = None,
        step: Positive | None = None,
        rtol: Positive | None = None,
        atol: float | None = None,
        stabilize: Stabilize | None = None,
        tolerance: Tolerance | None = None,
        start: Mapping[str, float] | None = None,
    ) -> None:
        _refuse_what_changes(system)
        asked = {"method": method, "step": step, "rtol": rtol, "atol": atol, "stabilize": stabilize}
        options = options_for(system, {**asked, "tolerance": tolerance})
        full = "multipliers" if system.constraints and isinstance(system.law, Mechanical) else None
        structure = structure_of(system.plain(), full if form is None else form, options)
        beginning = structure.begin(start_of_run(system, start))
        decision: Decision | Refusal = structure.settle(beginning, [], force=False)
        if isinstance(decision, Refusal):
            raise ModelError([Problem(f"the motion cannot begin: {decision.reason}")])
        if decision.segment.equations.charted:
            message = f"step by step a motion is computed in a form whose coordinates never change, not in '{form}'"
            raise ModelError([Problem(message)])
        self.system, self.dt = system, float(dt)
        self.status: Status = Status.FINISHED
        self._options, self._segment = decision.options, decision.segment
        self._first = self._own = entered(decision.segment.equations, beginning.state, START)
        self._steps = 0
        self._set_clock(START)

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
        """The state of the model now (n,)."""
        found: Array = model_states(self._segment.equations, np.array([self.t]), self._own[None, :])[0]
        return found

    @property
    def inputs(self) -> dict[str, float]:
        """The values at which the inputs are held."""
        return {name: self._segment.values[name] for name in self.system.inputs}

    def __getitem__(self, name: str) -> float:
        """A state, or an energy, an integral, the residual of a constraint, by its name; see ``multipliers``."""
        if name in self.states:
            return float(self.state[self.states.index(name)])
        tables = self._observed()
        for kind in ("energies", "integrals", "residuals"):
            if name in tables.get(kind, {}):
                return float(tables[kind][name][0])
        raise NoSuchName(
            f"the motion has no '{name}'; {nearest(name, self.states) or 'there are ' + ', '.join(self.states)}"
        )

    @property
    def multipliers(self) -> dict[str, float]:
        """The multipliers of the constraints now."""
        return {name: float(column[0]) for name, column in self._observed().get("multipliers", {}).items()}

    def _observed(self) -> dict[str, dict[str, Array]]:
        return observed(self._segment, np.array([self.t]), self._own[None, :])

    def step(self, u: Mapping[str, float] | ArrayLike | None = None, dt: float | None = None) -> Array:
        """Hold the inputs at these values (by name, or all in order) for the time ``dt``, and give the state after it.

        Where the motion cannot be continued ``status`` says so, and the state stays where it was lost.
        """
        whole = self._origin + (self._whole_steps + 1) * self.dt
        end = whole if dt is None else self.t + float(fit_argument("dt", dt, "Positive"))  # type: ignore[arg-type]
        self._segment = _held_at(self._segment, self._chosen(u))
        path = advance(self._segment, self._own, (self.t, end), self._options, None, None)
        self.status, self._own = path.status.told, path.states[-1]
        if dt is None and self.status is Status.FINISHED:
            self.t, self._whole_steps = end, self._whole_steps + 1
        else:
            self._set_clock(float(path.times[-1]))
        self._steps += 1
        if self._steps & (self._steps - 1) == 0:  # the first step, and whenever their number has doubled
            check_now(self._segment.equations.system, self._segment, self.t, self._own, "a Simulator")
        if self.status is Status.FINISHED and self.system.outside(dict(zip(self.states, self.state, strict=True))):
            self.status = Status.LEFT
        return self.state

    @check_arguments
    def reset(self, start: Mapping[str, float] | None = None) -> Array:
        """Back to the beginning, with the inputs as the model gives them; ``start`` replaces some of its values."""
        self.status, self._own = Status.FINISHED, self._first
        self._set_clock(START)
        if start is not None:
            self._own = entered(self._segment.equations, start_of_run(self.system, start), START)
        self._segment = _held_at(self._segment, {name: given.value for name, given in self.system.inputs.items()})
        return self.state

    def _chosen(self, u: Mapping[str, float] | ArrayLike | None) -> dict[str, float]:
        names = tuple(self.system.inputs)
        if u is None:
            return {}
        if not isinstance(u, Mapping):
            values = np.atleast_1d(np.asarray(fit_argument("u", u, "ArrayLike")))
            if values.shape != (len(names),):
                raise ModelError(
                    [Problem(f"'u': {len(names)} inputs expected ({', '.join(names)}); got {values.shape[0]}")]
                )
            u = dict(zip(names, values.tolist(), strict=True))
        strange = next((name for name in u if name not in names), None)
        if strange is not None:
            known = f"there are {', '.join(names)}" if names else "the model has no [inputs]"
            raise ModelError([Problem(f"there is no input '{strange}'; {known}", hint=nearest(strange, names))])
        given: Mapping[str, float] = fit_argument("u", u, "Mapping[str, float]")  # type: ignore[assignment]
        return {name: self._within(name, float(value)) for name, value in given.items()}

    def _within(self, name: str, value: float) -> float:
        given = self.system.inputs[name]
        low, high = (
            limit if limit is not None else other for limit, other in ((given.low, -np.inf), (given.high, np.inf))
        )
        return float(min(max(value, low), high))


def _held_at(segment: Segment, inputs: Mapping[str, float]) -> Segment:
    """The same native code with other values of the inputs."""
    return replace(segment, values={**segment.values, **inputs}).regained(segment.perturbation) if inputs else segment


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
