"""One phase of a motion as native code: rates, their Jacobian, projection, and what is observed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.dynamics import Enforcement, RateCode, dynamics_of
from svyaz.expr import ModelError, Problem, names_in, substitute
from svyaz.forms import Equations, rates_of
from svyaz.integrate import Flow, Ode, Path, Status, by_differences, solve, solve_each
from svyaz.integrate import method as find_method
from svyaz.model import STEP, StepRule
from svyaz.program import Native, build, choose_orders, compile_program
from svyaz.stabilise.integrals import HeldIntegral, constants_of, hold
from svyaz.stabilise.options import Options
from svyaz.stabilise.perturbations import Perturbation
from svyaz.stabilise.request import PROJECTION


@dataclass(frozen=True, eq=False)
class Segment:
    """Native code for the equations of one phase, with the values of constants and gains put in.

    ``values`` are those of the constants of the system; ``code`` gives the rates, with ``constants``. Integrals are ``held``
    in the way that ``hold`` names, else in their natural one.
    """

    equations: Equations
    perturbation: Perturbation
    held: tuple[HeldIntegral, ...]
    values: Mapping[str, float]
    code: RateCode
    constants: Array
    jacobian: Flow | None = None
    projection: Flow | None = None
    hold: str | None = None

    @cached_property
    def rates(self) -> Flow:
        """The rates of the states, for loops."""
        return Flow(self.code.address, self.constants, len(self.equations.states), self.code)

    @property
    def known(self) -> dict[str, float]:
        """The values of all constants of the code: of the system, of held integrals, of gains."""
        return {**self.values, **constants_of(self.held), **self.perturbation.gains}

    @cached_property
    def enforcement(self) -> Enforcement:
        """What enforces the constraints and the integrals that are held."""
        return enforcement(self.equations, self.perturbation, self.held, self.hold)

    def regained(self, perturbation: Perturbation) -> Segment:
        """The same code with other values of the gains; a gain that is not named is zero."""
        known = {**self.values, **constants_of(self.held), **perturbation.gains}
        own = _constants(self.code, known)
        slope, after = self.jacobian, self.projection
        if slope is not None and isinstance(slope.owner, Native):
            slope = replace(slope, constants=_constants(slope.owner, known))
        elif slope is not None:
            slope = by_differences(replace(self.rates, constants=own))
        if after is not None and isinstance(after.owner, Native):
            after = replace(after, constants=_constants(after.owner, known))
        return replace(self, perturbation=perturbation, constants=own, jacobian=slope, projection=after)

    @property
    def gains_in_rates_alone(self) -> bool:
        """Do gains enter the rates, which are a native program, and nothing else?"""
        return self.jacobian is None and isinstance(self.code, Native)


def _constants(code: RateCode, values: Mapping[str, float]) -> Array:
    """Constants of code with these values; what a program takes beside them is zero."""
    missing = dict.fromkeys(code.program.parameters, 0.0) if isinstance(code, Native) else {}
    return code.constants({**missing, **values})


def prepare(
    equations: Equations,
    perturbation: Perturbation,
    held: Sequence[HeldIntegral],
    options: Options,
    time: float,
    state: Array,
) -> Segment:
    """Compile what a phase that begins at this time and state needs."""
    dynamics, start = dynamics_of(equations), np.concatenate([[time], state])
    law = enforcement(equations, perturbation, held, options.hold)
    code, values = dynamics.rate_code(law, start), equations.system.constants
    constants = code.constants({**values, **law.constants})
    segment = Segment(equations, perturbation, tuple(held), values, code, constants, hold=options.hold)
    implicit = find_method(options.method).implicit
    return replace(
        segment,
        jacobian=dynamics.jacobian(law, segment.rates, start) if implicit else None,
        projection=_after_step(segment, options, start),
    )


def enforcement(
    equations: Equations, perturbation: Perturbation, held: Sequence[HeldIntegral], how: str | None
) -> Enforcement:
    """What enforces constraints and integrals, these in the way that ``how`` names, else in their natural one."""
    adjust = (lambda rates: hold(equations, rates, held, how)) if held else None
    return Enforcement(
        perturbation.correction, perturbation.gains, perturbation.kind == "linear", adjust, constants_of(held)
    )


def _after_step(segment: Segment, options: Options, start: Array) -> Flow | None:
    """What is done to the state after each step: projection onto the constraints, or a rule of the model."""
    equations = segment.equations
    if options.stabilize == PROJECTION and equations.deviations:
        return _flow(segment, dynamics_of(equations).projection(segment.code, start))
    if equations.system.step_rule is not None:
        return _flow(segment, _rule_code(segment, equations.system.step_rule, options.step, start))
    return None


def _flow(segment: Segment, code: RateCode) -> Flow:
    return Flow(code.address, code.constants(segment.known), len(segment.equations.states), code)


def projected_more(segment: Segment, time: float, state: Array) -> Segment:
    """The same phase with twice as many corrections after each step, for steps that lead far off the constraints."""
    start = np.concatenate([[time], state])
    code = dynamics_of(segment.equations).projection(segment.code, start, thorough=True)
    return replace(segment, projection=_flow(segment, code))


def _rule_code(segment: Segment, rule: StepRule, step: float | None, start: Array) -> Native:
    """The state after a step as the rule leaves it."""
    equations = segment.equations
    if step is None:
        raise ModelError([Problem(f"{rule.title} needs a fixed step", None, "give a step instead of rtol")])
    value = substitute(rule.value, {STEP: se.RealDouble(step)})
    own = {"t", *equations.states}
    unknown = names_in(value) - own - {f"{v}'" for v in equations.velocities}
    if unknown:
        message = f"{rule.title} needs {', '.join(sorted(unknown))}, which the form '{equations.form}' has not"
        raise ModelError([Problem(message, hint="use the form 'multipliers'")])
    outputs = [(state, value if state == rule.state else se.Symbol(state)) for state in equations.states]
    systems = () if names_in(value) <= own else rates_of(equations).systems
    program = build(outputs, inputs=("t", *equations.states), parameters=equations.constants, systems=systems)
    sample = dict(zip(program.inputs, start.tolist(), strict=True))
    return compile_program(choose_orders(program, segment.known, sample))


def integrated(
    segment: Segment,
    state: Array,
    span: tuple[float, float],
    options: Options,
    grid: Array | None,
    progress: Callable[[float], object] | None,
    max_steps: int | None = None,
    wary: bool = False,
) -> Path:
    """The path of a method over a span, on a grid of times with rows on the constraints; too many equal steps are not begun."""
    most = options.max_steps if max_steps is None else max_steps
    if options.step is not None and span[1] - span[0] > most * options.step:
        reason = f"the step {options.step:g} up to t = {span[1]:g} makes more than the {most} steps that are allowed"
        return Path(np.array([span[0]]), state[None, :].copy(), Status.INFEASIBLE, reason, 0, 0, 0, 0.0)
    atol = tolerances(segment, options)
    return solve(
        Ode(segment.rates, segment.jacobian, segment.projection),
        state,
        span,
        method=options.method,
        step=options.step,
        rtol=options.rtol,
        atol=atol,
        output=grid,
        progress=progress,
        max_steps=most,
        wary=wary,
    )


def integrated_each(
    segment: Segment,
    gains: Sequence[Mapping[str, float]],
    state: Array,
    span: tuple[float, float],
    options: Options,
    grid: Array | None,
    max_steps: int,
    seconds: float,
) -> list[Path]:
    """The paths with several other values of the gains, as many as so many seconds of work allow, the first in any case."""
    code, atol = segment.code, tolerances(segment, options)
    assert isinstance(code, Native), "gains enter the rates alone"
    known = {**dict.fromkeys(code.program.parameters, 0.0), **segment.values, **constants_of(segment.held)}
    rows = code.constants_each([{**known, **one} for one in gains])
    return solve_each(
        Ode(segment.rates, None, segment.projection),
        rows,
        state,
        span,
        method=options.method,
        step=options.step,
        rtol=options.rtol,
        atol=atol,
        output=grid,
        max_steps=max_steps,
        seconds=seconds,
    )


def tolerances(segment: Segment, options: Options) -> Sequence[float] | float | None:
    """The absolute tolerance, or one for each state of the equations."""
    given = options.atol
    return [given[name] for name in segment.equations.states] if isinstance(given, Mapping) else given
