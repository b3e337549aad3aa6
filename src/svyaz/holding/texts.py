"""What is written out for other programs: rates with stabilising terms and held integrals, and runs with a fixed step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from svyaz.arrays import Array
from svyaz.constraints import entered
from svyaz.expr import Advice, ModelError, Problem
from svyaz.forms import (
    Equations,
    Further,
    export_program,
    rates_of,
    recovered_reactions,
    written_residuals,
    written_slopes,
)
from svyaz.holding.integrals import HeldIntegral, constants_of, hold
from svyaz.holding.options import Options
from svyaz.integrate import method as find_method
from svyaz.program import FixedRun, Program


@dataclass(frozen=True)
class Wanted:
    """What a text is to give beside the terms, the accelerations, the multipliers and the rates."""

    reactions: bool = False
    residuals: bool = False
    jacobian: bool = False


def written_program(
    equations: Equations, wanted: Wanted, held: Sequence[HeldIntegral] = (), how: str | None = None
) -> Program:
    """The program of equations, stabilising terms included, whose rates hold integrals; with the values of its parameters.

    The value and the decay rate of a held integral are parameters too. ``how`` they are held is as for a run.
    """
    rates = hold(equations, rates_of(equations), held, how)
    further: list[Further] = []
    further += [recovered_reactions(equations)] if wanted.reactions else []
    further += [written_residuals(equations)] if wanted.residuals else []
    further += [written_slopes(equations, rates)] if wanted.jacobian else []
    program = export_program(equations, rates, further, tuple(constants_of(held)))
    values = {**equations.system.constants, **constants_of(held)}
    return replace(program, defaults=tuple(float(values[name]) for name in program.parameters))


def fixed_run(equations: Equations, options: Options, state: Array) -> FixedRun:
    """The run of equations from a state of the model, as a program in another language makes it."""
    system, tableau = equations.system, find_method(options.method)
    varying = [c.name for c in system.constraints if c.varying]
    if varying:
        names = ", ".join(f"'{name}'" for name in varying)
        raise _unfit(f"a complete program keeps the same constraints; {names} begin or cease to act")
    rubbing = [f"'{c.name}'" for c in system.constraints if c.frictions]
    if rubbing:
        raise _unfit(f"a complete program does not stick and slide, as friction at {', '.join(rubbing)} asks for")
    if system.step_rule is not None:
        raise _unfit(f"a complete program does not contain {system.step_rule.title}")
    if equations.charted and options.charts == "change":
        message = (
            f"a complete program keeps its chart, and that of the form '{equations.form}' may degenerate on the way"
        )
        raise _unfit(message, "use the form 'multipliers', or charts = \"keep\" in [run] where it does not")
    if tableau.implicit:
        raise _unfit(f"a complete program is written with an explicit method; '{tableau.name}' is implicit")
    if options.step is None:
        raise _unfit("a complete program has a fixed step", Advice("give a step, here or in [run]", "step"))
    stride = max(1, round((options.every or 0.0) / options.step))
    if options.every is not None and abs(stride * options.step - options.every) > 1e-9 * options.step:
        raise _unfit(f"rows of a complete program lie on its steps: 'every' must be a multiple of {options.step:g}")
    return FixedRun(
        method=tableau.name,
        a=tuple(tuple(map(float, row[:k])) for k, row in enumerate(tableau.a)),
        b=tuple(map(float, tableau.b)),
        c=tuple(map(float, tableau.c)),
        start=tuple(map(float, entered(equations, state, 0.0))),
        step=float(options.step),
        until=float(options.until),
        every=stride,
    )


def _unfit(message: str, hint: str | None = None) -> ModelError:
    return ModelError([Problem(message, None, hint)])
