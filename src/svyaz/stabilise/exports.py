"""What is written out for other programs: equations with stabilising terms, held integrals, and runs with a fixed step.

Gains are parameters that bear names:

    G q̈ + constraint_bias + F = 0:    F = 2κ ḣ + κ² h,  α ḣ + β h  on positions,   F = κ f  on velocities

(Kaspirovich (1.1.21), (1.4.5)). One gain is ``kappa``, Baumgarte's are ``alpha``, ``beta`` and ``kappa``; entries of matrices
are ``beta_NAME`` (h), ``alpha_NAME`` (ḣ), ``kappa_NAME`` (f) on the diagonal, ``beta_NAME_OTHER`` beside it, and enter with
minus as Baumgarte's do. A law is written as it was given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import symengine as se

from svyaz.arrays import Array
from svyaz.constraints import entered
from svyaz.expr import ONE, Advice, Expression, ModelError, Problem, is_zero, substitute
from svyaz.forms import (
    Equations,
    Further,
    export_program,
    rates_of,
    recovered_reactions,
    written_residuals,
    written_slopes,
)
from svyaz.integrate import method as find_method
from svyaz.model import System
from svyaz.program import FixedRun, Program
from svyaz.stabilise.integrals import HeldIntegral, constants_of, hold
from svyaz.stabilise.laws import ACTING, positions_of, velocities_of
from svyaz.stabilise.options import Options
from svyaz.stabilise.perturbations import perturbation
from svyaz.stabilise.request import OFF, Stabilisation


def export_equations(
    equations: Equations,
    held: Sequence[HeldIntegral] = (),
    how: str | None = None,
    *,
    reactions: bool = False,
    residuals: bool = False,
    jacobian: bool = False,
) -> Program:
    """The program of equations, stabilising terms included, whose rates hold integrals; with the values of its parameters.

    The value and the decay rate of a held integral are parameters too. ``how`` they are held is as for a run. The program
    gives accelerations, multipliers and rates, and on request reactions, residuals and the Jacobian of the rates.
    """
    rates = hold(equations, rates_of(equations), held, how)
    further: list[Further] = []
    further += [recovered_reactions(equations)] if reactions else []
    further += [written_residuals(equations)] if residuals else []
    further += [written_slopes(equations, rates)] if jacobian else []
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


GREEK = {"A": "beta", "B": "alpha", "C": "gamma", "D": "delta", "E": "kappa", "F": "epsilon"}
"""The gain of each block of the perturbation equation; all enter with minus."""


@dataclass(frozen=True)
class Stabilised:
    """Equations whose ``constraint_bias`` contains the stabilising ``terms``, by constraint; their system has the ``gains``
    among its parameters. ``chosen`` is what was asked for, of held integrals too.
    """

    equations: Equations
    terms: Mapping[str, Expression] = field(default_factory=dict)
    gains: Mapping[str, float] = field(default_factory=dict)
    described: str = "off"
    chosen: Stabilisation = OFF


def stabilised(equations: Equations, chosen: Stabilisation) -> Stabilised:
    """The equations with the terms of gains that are given."""
    law = perturbation(equations, chosen)
    signs, gains = _name_gains(equations, chosen, law.gains)
    terms = [substitute(term, signs) for term in law.correction]
    system = equations.system.plain()
    held = replace(
        equations,
        system=replace(system, parameters={**system.parameters, **gains}),
        constraint_bias=tuple(b + term for b, term in zip(equations.constraint_bias, terms, strict=True)),
    )
    written = {name: term for name, term in zip(equations.multiplier_names, terms, strict=True) if not is_zero(term)}
    return Stabilised(held, written, gains, law.described, chosen)


def _name_gains(
    equations: Equations, chosen: Stabilisation, entries: Mapping[str, float]
) -> tuple[dict[se.Symbol, Expression], dict[str, float]]:
    """What stands for the entries of the perturbation equation, in gains with names, and the values of these."""
    taken = _names_in_use(equations.system)
    signs: dict[se.Symbol, Expression] = {}
    gains: dict[str, float] = {}
    for entry, value in entries.items():
        if entry == ACTING:
            signs[se.Symbol(entry)] = ONE
            continue
        _, block, row, column = entry.split()
        if chosen.kind == "one gain":
            name, value = _free("kappa", taken), chosen.numbers["kappa"]
            kappa = se.Symbol(name)
            signs[se.Symbol(entry)] = {"A": kappa**2, "B": 2 * kappa, "E": kappa}[block]
        else:
            name = GREEK[block]
            if chosen.kind != "Baumgarte":
                name = "_".join([name, *_constraints(equations, block, int(row), int(column))])
            name = _free(name, taken if chosen.kind == "Baumgarte" else taken | set(gains))
            signs[se.Symbol(entry)] = se.Symbol(name)
        gains[name] = value
    return signs, gains


def _constraints(equations: Equations, block: str, row: int, column: int) -> Sequence[str]:
    """The constraint whose row an entry stands in, and that on which it depends if that is another one."""
    names = [re.sub(r"\W+", "_", name) for name in equations.multiplier_names]
    positions, velocities = positions_of(equations), velocities_of(equations)
    own = names[(positions if block in "ABC" else velocities)[row]]
    other = names[(positions if block in "ADBF" else velocities)[column]]
    return (own,) if own == other else (own, other)


def _names_in_use(system: System) -> set[str]:
    return {*system.coordinates, *system.states, *system.constants, "t"}


def _free(name: str, taken: set[str]) -> str:
    """The name, or one that the model does not use."""
    while name in taken:
        name = f"gain_{name}"
    return name
