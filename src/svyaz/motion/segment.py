"""One phase of a motion as native code: rates, their Jacobian, projection, and what is observed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from svyaz.constraints.perturbation import Perturbation

from svyaz.forms import Equations
from svyaz.forms.observed import observed_quantities
from svyaz.forms.programs import jacobian_program, observation_program, rates_program
from svyaz.motion.integrate import Flow, Path, integrate
from svyaz.motion.options import Options
from svyaz.program import Native, Program, choose_orders, compile_program

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Segment:
    """Native code for the equations of one phase, with the values of constants and gains put in."""

    equations: Equations
    perturbation: Perturbation
    rates: Flow
    observe: Native
    observe_constants: Floats
    jacobian: Flow | None = None
    projection: Flow | None = None


def prepare(equations: Equations, perturbation: Perturbation, options: Options, time: float, state: Floats) -> Segment:
    """Compile what a phase that begins at this time and state needs."""
    values = {**equations.system.constants, **perturbation.gains}
    extra = tuple(perturbation.gains)
    sample = {"t": time, **dict(zip(equations.states, map(float, state), strict=True))}

    def native(program: Program) -> Native:
        return compile_program(choose_orders(program, values, sample))

    def flow(program: Program) -> Flow:
        code = native(program)
        return Flow(code.address, code.constants(values), len(equations.states), code)

    observe = native(observation_program(equations, observed_quantities(equations), perturbation.correction, extra))
    projecting = options.stabilize == "projection" and bool(equations.deviations)
    return Segment(
        equations=equations,
        perturbation=perturbation,
        rates=flow(rates_program(equations, perturbation.correction, extra)),
        observe=observe,
        observe_constants=observe.constants(values),
        jacobian=flow(jacobian_program(equations, perturbation.correction, extra))
        if options.method == "radau"
        else None,
        projection=flow(_projection(equations)) if projecting else None,
    )


def advance(
    segment: Segment,
    state: Floats,
    span: tuple[float, float],
    options: Options,
    grid: Floats | None,
    progress: Callable[[float], object] | None,
) -> Path:
    """Integrate over the phase. On a grid of times the rows are moved onto the constraints as the steps were."""
    path = integrate(
        segment.rates,
        state,
        span,
        method=options.method,
        step=options.step,
        rtol=options.rtol,
        atol=options.atol,
        output=grid,
        project=segment.projection,
        jacobian=segment.jacobian,
        progress=progress,
    )
    return path


def observed(segment: Segment, times: Floats, states: Floats) -> Mapping[str, Floats]:
    """Multipliers, accelerations, residuals, energies and integrals along the rows, by name."""
    values = segment.observe.evaluate(np.column_stack([times, states]), segment.observe_constants)
    return {name: values[:, k] for k, (name, _) in enumerate(segment.observe.program.outputs)}


def _projection(equations: Equations) -> Program:
    from svyaz.constraints.states import projection_program

    return projection_program(equations)
