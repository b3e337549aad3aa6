"""The full nonlinear system under a control: its motions from a state, and its rates for many starts at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from svyaz.arguments import Count, Positive, check_arguments
from svyaz.arrays import Array
from svyaz.control.closed import closed_system
from svyaz.control.design import Design
from svyaz.control.transient import MOST_STEPS, Transient
from svyaz.dynamics import plain_rates
from svyaz.forms import (
    Equations,
    derive,
    jacobian_program,
    jumps,
    most_written,
    rates_of,
    rates_program,
    refuse_to_write,
    shulgin_equations,
)
from svyaz.integrate import Flow, Ode, Path, Status, solve
from svyaz.model import Constraint, System, refuse_unknown
from svyaz.program import Native, choose_orders, compile_program, function
from svyaz.shown import Shown
from svyaz.stability import ConstraintNumbers, has_velocity_constraints

if TYPE_CHECKING:
    from svyaz.motion import Fence, Motion

DRIFT = 1e-10
REPETITIONS = 3


@dataclass(frozen=True, repr=False)
class ClosedLoop(Shown):
    """The equations of the closed system; its states are those of the plant, then the estimates of an observer.

    ``switched`` is the closed system with all its constraints, where events switch some of them (its equations are then those
    of the constraints that act at the beginning), or where velocities are constrained: it is held to them by projection.

    >>> import svyaz
    >>> loop = svyaz.load("inverted-pendulum-xy").regulate().loop()
    >>> rates, _ = loop.rates_at(loop.at_rest)
    >>> bool(abs(rates).max() < 1e-9)
    True
    """

    design: Design
    equations: Equations
    switched: System | None = None

    @property
    def states(self) -> tuple[str, ...]:
        """Those of the plant, then the estimates."""
        return self.equations.states

    @cached_property
    def smooth(self) -> bool:
        """Do one set of equations hold all the time: does no event switch constraints, and do the rates not jump?"""
        return self.switched is None and not jumps(self.equations)

    @cached_property
    def natives(self) -> tuple[Native, Native]:
        """Rates and their Jacobian, of equations that are written out."""
        code = plain_rates(self.equations)
        if not isinstance(code, Native):
            refuse_to_write(
                self.design.model.system, "many starts are run with equations: ", "run it from single starts"
            )
        rates = rates_of(self.equations)
        sample = {"t": 0.0, **dict(zip(self.states, map(float, self.at_rest), strict=True))}
        programs = rates_program(self.equations, rates), jacobian_program(self.equations, rates)
        first, second = (choose_orders(p, self.equations.system.constants, sample) for p in programs)
        return compile_program(first), compile_program(second)

    @cached_property
    def ode(self) -> Ode:
        """ẋ = f(x) with ∂f/∂x."""
        values = self.equations.system.constants
        rates, jacobian = (
            Flow(native.address, native.constants(values), len(self.states), native) for native in self.natives
        )
        return Ode(rates, jacobian)

    def rates_at(self, state: Array) -> tuple[Array, Array]:
        """f (N,) and ∂f/∂x (N, N) of the closed loop ẋ = f(x)."""
        given, values = np.concatenate([[0.0], state]), self.equations.system.constants
        value, slope = (native.evaluate(given, native.constants(values)) for native in self.natives)
        return np.asarray(value), np.asarray(slope).reshape(len(state), len(state))

    @cached_property
    def _fence(self) -> Fence | None:
        from svyaz.motion import Fence

        rates = self.ode.rates
        assert isinstance(rates, Flow), "the loop is native"
        return Fence(self.equations, rates) if self.equations.system.limits else None

    def fence(self) -> Fence | None:
        """The limits of the model along the motions of the loop, for one thread; None where there are none."""
        return None if self._fence is None else self._fence.another()

    def path(self, start: Array, times: Array, rtol: float, max_steps: int, fence: Fence | None = None) -> Path:
        """States of the loop at these times, the first of which is the beginning, as long as its chart is good.

        Where it passes a ``fence`` it ends.
        """
        atol, span, ode = self.small(start[None, :], rtol)[0], (float(times[0]), float(times[-1])), self.ode
        if fence is not None:
            fence.begin(np.concatenate([[span[0]], start]))
            ode = replace(ode, after_step=fence.flow)
        return solve(ode, start, span, method="radau", rtol=rtol, atol=atol, output=times, max_steps=max_steps)

    @cached_property
    def at_rest(self) -> Array:
        """The equilibrium as a state of the loop."""
        return self.entered(self.design.model.state)

    def entered(self, state: Mapping[str, float]) -> Array:
        """A state of the loop from a state of the model; the observer begins with the deviation zero."""
        return np.array([float(state.get(name, 0.0)) for name in self.states])

    def all_deviations(self, states: Array) -> Array:
        """Deviations of all states of the plant, the redundant coordinates among them."""
        model = self.design.model
        return self.in_turned_axes(states) - np.array([model.state.get(name, 0.0) for name in self.own_states])

    @property
    def own_states(self) -> tuple[str, ...]:
        """Those of the plant that return with its variables."""
        return self.design.model.own_states(self.states)

    def in_turned_axes(self, states: Array) -> Array:
        """The states of the plant in these states of the loop, velocities in axes that turn with a heading."""
        names = self.own_states
        found = np.asarray(states[..., [self.states.index(name) for name in names]])
        if turned := self.design.model.turned:
            rows = np.concatenate([np.zeros((*states.shape[:-1], 1)), states], axis=-1).reshape(
                -1, states.shape[-1] + 1
            )
            values = function(turned, ("t", *self.states), self.equations.system.constants)(rows)
            for name, column in values.items():
                found[..., names.index(name)] = column.reshape(states.shape[:-1])
        return found

    def small(self, starts: Array, rtol: float) -> Array:
        """Errors that may be neglected in runs from these starts (N, states): parts of the sizes at rest and at first."""
        sizes = np.maximum(np.abs(self.at_rest), np.abs(starts))
        return np.asarray(rtol * np.maximum(sizes, 1e-3 * sizes.max(axis=1, initial=1e-3, keepdims=True)))

    def errors(self, starts: Array, rtol: float) -> Array:
        """What runs from these starts may be off by in each of ``all_deviations``; axes that turn mix those of a plane."""
        off = dict(zip(self.states, self.small(starts, rtol).T, strict=True))
        for heading in self.design.model.ignored.headings:
            plane = [f"{q}'" for q in heading.plane or ()]
            off |= dict.fromkeys(plane, np.max([off[name] for name in plane], axis=0)) if plane else {}
        return np.column_stack([off[name] for name in self.own_states])

    @check_arguments
    def run(
        self,
        state: Mapping[str, float],
        until: Positive,
        *,
        rtol: Positive = 1e-9,
        rows: Count = 400,
        progress: Callable[[float], object] | None = None,
        beyond: bool = False,
    ) -> Transient:
        """The nonlinear transient from a state of the model, and the linear one beside it.

        It ends where a limit of the model is passed, unless it is to go on ``beyond``.

        A run that lets the constraints drift by more than ``DRIFT`` of their slopes is repeated with tighter steps.
        """
        refuse_unknown("state", state, (*self.states, *self.design.model.system.states))
        times, model = np.linspace(0.0, until, rows + 1), self.design.model
        held = self.switched is not None
        allowed = 0.0 if held else DRIFT * ConstraintNumbers(model.system, model.dependent).size(state)
        for tighter in range(REPETITIONS):
            motion = self.motion(state, times, max(rtol * 1e-2**tighter, 1e-13), progress, beyond=beyond)
            found = Transient(self.design, motion, times)
            if held or found.status is not Status.FINISHED or found.drift <= allowed:
                break
        return found

    def motion(
        self,
        state: Mapping[str, float],
        times: Array,
        rtol: float,
        progress: Callable[[float], object] | None = None,
        max_steps: int = MOST_STEPS,
        *,
        beyond: bool = False,
    ) -> Motion:
        """By Radau's method, for the roots of a closed loop are far apart; a motion that needs more steps is lost."""
        system = self.equations.system
        small = dict(zip(self.states, self.small(self.entered(state)[None, :], rtol)[0].tolist(), strict=True))
        atol = {name: small.get(name, max(small.values())) for name in system.states}
        # a design that is not run needs no driver
        from svyaz.motion import Wishes, articulated, driven, structure_of
        from svyaz.stabilise import OFF, PROJECTION, Options

        options = Options("radau", float(times[-1]), rtol=rtol, atol=atol, stabilize=OFF, max_steps=max_steps)
        free = self.switched is None and not system.constraints
        structure = (articulated(system, None, options) if free else None) or structure_of(
            self.equations, None, options
        )
        if self.switched is not None:
            structure = structure_of(self.switched, "multipliers", replace(options, stabilize=PROJECTION))
        start = np.array([float(state.get(name, 0.0)) for name in system.states])
        # what becomes of a start off the constraints is foretold, and seen
        return driven(structure, start, Wishes(True, times, progress, beyond, road="a closed loop"))


@check_arguments
def closed_loop(
    design: Design, *, form: str | None = None, constraints: Sequence[Constraint] | None = None
) -> ClosedLoop:
    """The system of the design under its control; in Shulgin's equations unless another form is asked for.

    ``constraints`` are those of the design unless others are given, which events may switch.

    >>> import svyaz
    >>> design = svyaz.load("inverted-pendulum-xy").regulate().design
    >>> len(svyaz.closed_loop(design).states) > 0
    True
    """
    _refuse_turning(design)
    closed = closed_system(design)
    if form is not None:
        return ClosedLoop(design, derive(closed, form))
    if has_velocity_constraints(closed):
        return ClosedLoop(design, derive(closed, "multipliers"), closed)
    if _is_too_long(design) and not closed.constraints:
        from svyaz.dynamics import closed_equations

        return ClosedLoop(design, closed_equations(closed, ()))
    equations = shulgin_equations(closed, dependent=design.model.dependent or None)
    switched = constraints is not None and any(c.switched for c in constraints)
    return ClosedLoop(design, equations, closed_system(design, constraints) if switched else None)


def _is_too_long(design: Design) -> bool:
    """Is it a tree of so many bodies that equations are not written out?"""
    system = design.model.system
    return len(system.bodies) > most_written(system)


def _refuse_turning(design: Design) -> None:
    system = design.model.system
    count = len(system.unreduced.bodies)
    message = f"the closed loop about a steady motion of {count} bodies has no equations that are written out"
    system.law.require_equations(message, "run it from single starts")


def with_momenta(loop: ClosedLoop, values: Mapping[str, float]) -> ClosedLoop:
    """The same loop at other conserved momenta."""
    if not values:
        return loop
    system = loop.equations.system
    moved = replace(system, parameters={**system.parameters, **values})
    return ClosedLoop(loop.design, shulgin_equations(moved, dependent=loop.design.model.dependent or None))
