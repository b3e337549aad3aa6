"""One phase of a motion as native code: rates, their Jacobian, projection, and what is observed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from svyaz.arrays import Array
from svyaz.dynamics import Recursion, measure_of, own_gains, shared_values
from svyaz.forms import (
    Equations,
    RateCode,
    jacobian_program,
    rates_of,
    rates_program,
    shared_with,
)
from svyaz.holding.integrals import HeldIntegral, constants_of, hold
from svyaz.holding.options import Options
from svyaz.holding.perturbations import Perturbation
from svyaz.holding.projection import ITERATIONS, projection_program, rule_program
from svyaz.holding.request import PROJECTION
from svyaz.integrate import Flow, Ode, Path, Status, by_differences, solve, solve_each
from svyaz.integrate import method as find_method
from svyaz.model import System
from svyaz.program import (
    LARGEST_COMPILED,
    LARGEST_SELDOM,
    Native,
    Program,
    build,
    build_to_look,
    choose_orders,
    compile_program,
    once_for_each,
)

LONGEST_DIFFERENTIATED = 16
"""The rates of more accelerations than this are differentiated by differences: the exact program would take minutes."""


FEW_SWITCHED = 3
"""With more constraints that events switch, long code is written and compiled as quickly as can be for each set of them."""


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

    def regained(self, perturbation: Perturbation) -> Segment:
        """The same code with other values of the gains; a gain that is not named is zero."""
        known = {**self.values, **constants_of(self.held), **perturbation.gains}

        def constants(code: Native) -> Array:
            return code.constants({**dict.fromkeys(code.program.parameters, 0.0), **known})

        if isinstance(self.code, Native):
            own = constants(self.code)
        else:
            own = self.code.constants(known)
        slope = self.jacobian
        if slope is not None and isinstance(slope.owner, Native):
            slope = replace(slope, constants=constants(slope.owner))
        elif slope is not None:
            slope = by_differences(replace(self.rates, constants=own))
        after = self.projection
        if after is not None and isinstance(after.owner, Native):
            after = replace(after, constants=constants(after.owner))
        return replace(self, perturbation=perturbation, constants=own, jacobian=slope, projection=after)

    @property
    def gains_in_rates_alone(self) -> bool:
        """Do gains enter the rates, which are a native program, and nothing else?"""
        return self.jacobian is None and isinstance(self.code, Native)


def prepare(
    equations: Equations,
    perturbation: Perturbation,
    held: Sequence[HeldIntegral],
    options: Options,
    time: float,
    state: Array,
) -> Segment:
    """Compile what a phase that begins at this time and state needs."""
    if equations.recursion is not None:
        return _by_recursion(equations, equations.recursion, perturbation, held, options)
    constants = equations.system.constants
    values = {**constants, **perturbation.gains, **constants_of(held)}
    extra = (*perturbation.gains, *constants_of(held))
    sample = {"t": time, **dict(zip(equations.states, map(float, state), strict=True))}
    brief, implicit = is_brief(equations.system), find_method(options.method).implicit
    whole = shared_with(equations)
    if whole is not None and not (held or implicit or options.stabilize == PROJECTION):
        shared = SharedCode(_switched_code(whole), equations, whole)
        return Segment(equations, perturbation, (), constants, shared, shared.constants(values))
    rates = rates_of(equations, perturbation.correction)
    if held:
        rates = hold(equations, rates, held, options.hold)

    def compiled(program: Program) -> Native:
        return compile_program(
            choose_orders(program, values, sample), longest=LARGEST_SELDOM if brief else LARGEST_COMPILED
        )

    def flow(program: Program) -> Flow:
        code = compiled(program)
        return Flow(code.address, code.constants(values), len(equations.states), code)

    code, jacobian = compiled(rates_program(equations, rates, extra, build_to_look if brief else build)), None
    if implicit and len(equations.accelerated) > LONGEST_DIFFERENTIATED:
        jacobian = by_differences(Flow(code.address, code.constants(values), len(equations.states), code))
    elif implicit:
        jacobian = flow(jacobian_program(equations, rates, extra))
    return Segment(
        equations=equations,
        perturbation=perturbation,
        held=tuple(held),
        values=constants,
        code=code,
        constants=code.constants(values),
        jacobian=jacobian,
        projection=_after_step(equations, options, time, state, flow),
        hold=options.hold,
    )


@dataclass(frozen=True, eq=False)
class SharedCode:
    """The rates with some constraints by the code of equations with more, each with a switch."""

    native: Native
    part: Equations
    whole: Equations

    @property
    def address(self) -> int:
        return self.native.address

    def constants(self, values: Mapping[str, float]) -> Array:
        known = shared_values(self.part, self.whole, values)
        return self.native.constants({**dict.fromkeys(self.native.program.parameters, 0.0), **known})

    def evaluate(self, rows: Array, constants: Array) -> Array:
        return self.native.evaluate(rows, constants)


@once_for_each
def _switched_code(whole: Equations) -> Native:
    """The rates with switches and with a gain of each constraint for itself."""
    gains, correction = own_gains(whole)
    program = rates_program(whole, rates_of(whole, correction), gains, build_to_look)
    return compile_program(program, longest=LARGEST_SELDOM)


def is_brief(system: System) -> bool:
    """May so many sets of constraints act, each for a while, that long code for one of them is not worth a search?"""
    return sum(c.on is not None or c.off is not None for c in system.constraints) > FEW_SWITCHED


def _by_recursion(
    equations: Equations,
    recursion: Recursion,
    perturbation: Perturbation,
    held: Sequence[HeldIntegral],
    options: Options,
) -> Segment:
    """A phase whose equations are not written out."""
    values = {**equations.system.constants, **perturbation.gains, **constants_of(held)}
    code = rate_code(equations, perturbation, held)
    constants, count = code.constants(values), len(equations.states)
    after: Flow | None = None
    if options.stabilize == PROJECTION and equations.deviations:
        moving = recursion.projection(code)
        after = Flow(moving.address, moving.constants(values), count, moving)
    implicit = find_method(options.method).implicit
    return Segment(
        equations,
        perturbation,
        tuple(held),
        equations.system.constants,
        code,
        constants,
        by_differences(Flow(code.address, constants, count, code)) if implicit else None,
        after,
    )


def rate_code(equations: Equations, perturbation: Perturbation, held: Sequence[HeldIntegral]) -> RateCode:
    """The rates of equations that are not written out, with what holds integrals."""
    assert equations.recursion is not None, "recursions give the rates"
    code = equations.recursion.rate_code(perturbation.correction, tuple(perturbation.gains))
    if not held:
        return code
    from svyaz.holding.held_code import held_code

    return held_code(equations, code, held)


def _after_step(
    equations: Equations, options: Options, time: float, state: Array, flow: Callable[[Program], Flow]
) -> Flow | None:
    """What is done to the state after each step: projection onto the constraints, or a rule of the model."""
    if options.stabilize == PROJECTION and equations.deviations:
        return flow(projection_program(equations, mass=measure_of(equations).at(state, time).mass))
    if equations.system.step_rule is not None:
        return flow(rule_program(equations, equations.system.step_rule, options.step))
    return None


def projected_more(segment: Segment, time: float, state: Array) -> Segment:
    """The same phase with twice as many corrections after each step, for steps that lead far off the constraints."""
    equations = segment.equations
    mass = measure_of(equations).at(state, time).mass
    program = projection_program(equations, iterations=2 * ITERATIONS, mass=mass)
    sample = {"t": time, **dict(zip(equations.states, map(float, state), strict=True))}
    code = compile_program(choose_orders(program, equations.system.constants, sample))
    flow = Flow(code.address, code.constants(equations.system.constants), len(equations.states), code)
    return replace(segment, projection=flow)


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
