"""Runs in which nothing is decided: ẋ = f(t, x, c) over one span, from any start and with any values of the constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import Expression, names_in
from svyaz.forms import energy, may_jump
from svyaz.integrate import Path, RepeatedSolver, method
from svyaz.model import System
from svyaz.motion.phases import START, Structure, grid_of
from svyaz.program import Native
from svyaz.stabilise import Options, Refusal, Segment, has_poles

BOUNDED = (se.Add, se.Mul, se.sin, se.cos, se.Symbol, se.Abs)
"""Parts of expressions that have a finite value wherever their arguments have."""


@dataclass(frozen=True, eq=False)
class DirectRun:
    """The native rates of a system without constraints, jumps, limits and poles, and the loop that integrates them."""

    form: str
    options: Options
    segment: Segment
    solve: RepeatedSolver

    def path(self, start: Array, values: Mapping[str, float]) -> Path:
        """The path from a start with these values of the constants."""
        code = self.segment.code
        known = isinstance(code, Native) and values
        constants = code.constants({**self.segment.known, **values}) if known else self.segment.constants
        return self.solve(start, constants)


def direct_run(system: System, structure: Structure, rows: Array | None) -> DirectRun | None:
    """The run of a structure as one native loop; None where something is decided or looked at on the way."""
    options = structure.options
    if system.constraints or system.limits or system.step_rule or may_jump(system) or method(options.method).implicit:
        return None
    if options.step is not None and options.until > options.max_steps * options.step:
        return None
    if not system.bodies and not is_defined(energy(system), frozenset(system.constants)):
        return None
    beginning = structure.begin(np.array(system.initial_state()))
    decision = structure.settle(beginning, [], force=True)
    if isinstance(decision, Refusal):
        return None
    segment, phase = decision.segment, beginning.phase
    equations, span = segment.equations, (START, options.until)
    pure = isinstance(segment.code, Native) and segment.projection is None and not segment.held
    if not pure or equations.states != system.states or equations.charted or has_poles(segment):
        return None
    atol = options.atol
    solve = RepeatedSolver(
        segment.rates,
        span,
        method=options.method,
        step=options.step,
        rtol=options.rtol,
        atol=np.array([atol[name] for name in equations.states]) if isinstance(atol, Mapping) else atol,
        output=grid_of(options, (phase.start, phase.end), rows),
        max_steps=options.max_steps,
    )
    return DirectRun(structure.form, options, segment, solve)


def is_defined(expression: Expression | None, constants: frozenset[str]) -> bool:
    """Has an expression a finite value at every finite state, as far as its form says: sums, products, sines, whole powers?"""
    if expression is None or expression.is_Number:
        return True
    if isinstance(expression, se.Pow):
        base, exponent = expression.args
        if names_in(base) <= constants and exponent.is_Integer:
            return True
        return bool(exponent.is_Integer) and int(exponent) >= 0 and is_defined(base, constants)
    return isinstance(expression, BOUNDED) and all(is_defined(part, constants) for part in expression.args)
