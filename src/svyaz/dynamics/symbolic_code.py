"""Native code of symbolic equations: rates, their Jacobian, and the projection onto the constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from svyaz.arrays import Array
from svyaz.dynamics.code import Enforcement, RateCode, Response
from svyaz.dynamics.projection_program import ITERATIONS, projection_program
from svyaz.dynamics.shared_tables import shared_values
from svyaz.dynamics.tables import own_gains
from svyaz.expr import Expression
from svyaz.forms import (
    Equations,
    Rates,
    jacobian_program,
    multiplier_symbols,
    rates_of,
    rates_program,
    shared_with,
)
from svyaz.integrate import Flow, by_differences
from svyaz.model import System
from svyaz.program import (
    LARGEST_COMPILED,
    LARGEST_SELDOM,
    Native,
    Program,
    Table,
    build,
    build_to_look,
    choose_orders,
    compile_program,
    function,
    once_for_each,
)

if TYPE_CHECKING:
    from svyaz.dynamics.symbolic import SymbolicDynamics

LONGEST_DIFFERENTIATED = 16
"""The rates of more accelerations than this are differentiated by differences: the exact program would take minutes."""

FEW_SWITCHED = 3
"""With more constraints that events switch, long code is written and compiled as quickly as can be for each set of them."""


def is_brief(system: System) -> bool:
    """May so many sets of constraints act, each for a while, that long code for one of them is not worth a search?"""
    return sum(c.on is not None or c.off is not None for c in system.constraints) > FEW_SWITCHED


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


def rate_code(equations: Equations, enforcement: Enforcement, start: Array) -> RateCode:
    """One program of all rates, its order of elimination chosen at a row; that of more constraints where they share one."""
    whole = shared_with(equations)
    if whole is not None and enforcement.adjust is None:
        return SharedCode(_switched_code(whole), equations, whole)
    write = build_to_look if is_brief(equations.system) else build
    rates = _rates(equations, enforcement)
    return _compile(equations, enforcement, rates_program(equations, rates, tuple(enforcement.constants), write), start)


def jacobian(equations: Equations, enforcement: Enforcement, rates: Flow, start: Array) -> Flow:
    """∂ rates/∂ states: exact, or by differences where there are many."""
    if len(equations.accelerated) > LONGEST_DIFFERENTIATED:
        return by_differences(rates)
    program = jacobian_program(equations, _rates(equations, enforcement), tuple(enforcement.constants))
    code = _compile(equations, enforcement, program, start)
    values = {**equations.system.constants, **enforcement.constants}
    return Flow(code.address, code.constants(values), len(equations.states), code)


def respond(
    equations: Equations,
    enforcement: Enforcement,
    bounds: Sequence[Sequence[Expression]],
    values: Mapping[str, float],
) -> Response:
    """Rates, multipliers and bounds with sides, signs of multipliers and holding frictions among the constants."""
    rates = _rates(equations, enforcement)
    tables: dict[str, Table] = {"rates": [e for _, e in rates.rates]}
    if bounds or equations.loads:
        tables |= {
            "multipliers": multiplier_symbols(equations),
            "bounds": [[equations.in_states(e) for e in row] for row in bounds],
        }
    found = function(tables, ("t", *equations.states), values, systems=rates.systems)
    return lambda row, constants: found.with_values(constants)(row)


def projection(dynamics: SymbolicDynamics, start: Array, *, thorough: bool) -> Native:
    """Least corrections by the matrices of the incoming state, twice as many where it is ``thorough``."""
    equations, n = dynamics.equations, len(dynamics.equations.accelerated)
    mass = dynamics.tables.known(start[None, :], ("mass",))["mass"].reshape(n, n)
    program = projection_program(equations, iterations=2 * ITERATIONS if thorough else ITERATIONS, mass=mass)
    return _compile(equations, Enforcement(()), program, start)


def _rates(equations: Equations, enforcement: Enforcement) -> Rates:
    rates = rates_of(equations, enforcement.correction)
    return rates if enforcement.adjust is None else enforcement.adjust(rates)


def _compile(equations: Equations, enforcement: Enforcement, program: Program, start: Array) -> Native:
    """The program, systems eliminated in an order that suits a row [t, states…]."""
    sample = dict(zip(("t", *equations.states), np.asarray(start, dtype=float).tolist(), strict=True))
    values = {**equations.system.constants, **enforcement.constants}
    longest = LARGEST_SELDOM if is_brief(equations.system) else LARGEST_COMPILED
    return compile_program(choose_orders(program, values, sample), longest=longest)
