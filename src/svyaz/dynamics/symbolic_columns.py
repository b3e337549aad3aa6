"""What is observed along motions of symbolic equations, and what is watched: multipliers are unknowns of linear systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from svyaz.arrays import Array
from svyaz.dynamics.code import Columns, CompiledRates, ConditionCode, Enforcement, Sizes
from svyaz.dynamics.scales import magnitude
from svyaz.dynamics.tables import added_name
from svyaz.expr import Expression, substitute, symbols_in
from svyaz.forms import (
    Equations,
    multiplier_symbols,
    observation,
    observed_quantities,
    rates_of,
    reaction_system,
)
from svyaz.model import multiplier_symbol
from svyaz.program import LARGEST_WHOLE, Function, Linear, Tabulated, function, once_for_each

if TYPE_CHECKING:
    from svyaz.dynamics.symbolic import SymbolicDynamics


def observe(dynamics: SymbolicDynamics, run: CompiledRates, rows: Array) -> Columns:
    """Multipliers, accelerations, residuals, energies, integrals along rows.

    With gains also the power Σ (λ - λ₀)_k (G q̇)_k of the forces that only stabilise, λ₀ the multipliers without them.
    """
    equations, enforcement = dynamics.equations, run.enforcement
    free = not (equations.deviations or equations.eliminated or equations.sliding or enforcement.adjust)
    if free and len(equations.accelerated) > LARGEST_WHOLE:
        return _observe_rates(equations, run, rows)
    plain, kinds, gains = dynamics.tables, dynamics.observed_names, enforcement.gains
    inputs = {name: x for name, x in run.values.items() if equations.system.constants[name] != x}
    if inputs:  # they are held at other values
        plain = plain.with_values(inputs)
    if enforcement.adjust or has_gains(plain, enforcement):
        tables = observing(dynamics, enforcement).with_values({**inputs, **gains})(rows, tuple(kinds))
    else:  # whatever the law is: the run tells what it does
        tables = _observe_driven(equations, plain, run, rows, tuple(kinds))
    undetermined = np.isnan(tables["accelerations"]).any(axis=1)
    if undetermined.any():  # at a singular position, what depends on the state alone has its values still
        of_states = [kind for kind in kinds if kind not in ("multipliers", "accelerations")]
        for kind, table in plain.known(rows[undetermined], of_states).items():
            tables[kind][undetermined] = table
    found = {kind: dict(zip(names, tables[kind].T, strict=True)) for kind, names in kinds.items()}
    if gains:
        without = plain(rows, ("multipliers",))["multipliers"]
        alone, power = dict(zip(kinds["multipliers"], without.T, strict=True)), np.zeros(len(rows))
        for name, through in found["through"].items():
            power += (found["multipliers"][name] - alone[name]) * through
        found["power"] = {"stabilising power": power}
    return found


def has_gains(tables: Tabulated, enforcement: Enforcement) -> bool:
    """Are the gains parameters of these tables?"""
    return enforcement.own and set(enforcement.gains) <= set(tables.values)


@lru_cache(maxsize=32)
def observing(dynamics: SymbolicDynamics, enforcement: Enforcement) -> Tabulated:
    """The tables of what is observed: a law of the user, or gains that couple constraints, need their own."""
    if has_gains(dynamics.tables, enforcement):
        return dynamics.tables
    equations = dynamics.equations
    systems, quantities = observation(equations, rates_of(equations, enforcement.correction).systems[0])
    tables = {kind: list(table.values()) for kind, table in quantities.items()}
    values = {**equations.system.constants, **enforcement.gains}
    return function(tables, ("t", *equations.states), values, systems=systems)


def _observe_driven(
    equations: Equations, tables: Tabulated, run: CompiledRates, rows: Array, only: Sequence[str]
) -> dict[str, Array]:
    """Tables where a law makes the accelerations of the run: G q̈ + constraint_bias is what it adds."""
    assert isinstance(tables, Function), "what laws add enters a program of its own"
    speeds = [equations.states.index(str(v)) for v in equations.velocities]
    accelerations = run.code.evaluate(rows, run.constants)[:, speeds]
    here = tables.known(rows, ("jacobian", "constraint_bias"))
    count = len(equations.deviations)
    gradients = here["jacobian"].reshape(len(rows), count, len(speeds))
    added = -(np.einsum("kij,kj->ki", gradients, accelerations) + here["constraint_bias"])
    return tables.each(rows, dict(zip(map(added_name, range(count)), added.T, strict=True)), only)


def _observe_rates(equations: Equations, run: CompiledRates, rows: Array) -> Columns:
    """What is observed without constraints, accelerations by the program of the run."""
    rates, tables = run.code.evaluate(rows, run.constants), _of_states(equations)(rows)
    places = [equations.states.index(str(v)) for v in equations.velocities]
    names = [str(a) for a in equations.accelerations]
    found = {
        kind: dict(zip(table, tables[kind].T, strict=True)) for kind, table in observed_quantities(equations).items()
    }
    return {"multipliers": {}, "accelerations": dict(zip(names, rates[:, places].T, strict=True)), **found}


@once_for_each
def _of_states(equations: Equations) -> Function:
    """What is observed of the states alone."""
    tables = {kind: list(table.values()) for kind, table in observed_quantities(equations).items()}
    return function(tables, ("t", *equations.states), equations.system.constants)


def in_unknowns(
    equations: Equations, correction: Sequence[Expression], expressions: Sequence[Expression]
) -> tuple[list[Linear], list[Expression]]:
    """Expressions in multipliers and in sides that hold, by the unknowns of linear systems; and these systems."""
    signs, asked = multiplier_symbols(equations), symbols_in(expressions)
    known = dict(zip(map(multiplier_symbol, equations.multiplier_names), signs, strict=True))
    eliminated = not asked.isdisjoint(multiplier_symbol(c.name) for c in equations.eliminated)
    if not (equations.sliding or eliminated) and asked.isdisjoint(known):
        return [], list(expressions)
    systems = list(rates_of(equations, correction).systems[:1])
    if eliminated:
        linear, recovered = reaction_system(equations, signs)
        systems.append(linear)
        known |= {multiplier_symbol(name): push for name, push in recovered.items()}
    return systems, [substitute(e, known) for e in expressions]


def watch(
    dynamics: SymbolicDynamics, run: CompiledRates, conditions: Sequence[Expression], values: Mapping[str, float]
) -> tuple[ConditionCode, Sizes]:
    """Conditions as functions of the states; the multipliers are those of the linear system."""
    equations = dynamics.equations
    systems, written = in_unknowns(equations, run.enforcement.correction, conditions)
    inputs, signs = ("t", *equations.states), multiplier_symbols(equations)
    code = function({"g": written}, inputs, values, systems=systems, often=True, brief=True)
    # the multipliers are known from what is observed: no need to solve for them in one more program
    pushes = [str(-s) for s in signs] if systems and not (equations.sliding or equations.eliminated) else []
    sizes, own = [magnitude(e) for e in written], () if pushes else systems
    terms = function({"g": sizes}, (*inputs, *pushes), values, systems=own, brief=True)

    def find_sizes(here: CompiledRates, constants: Mapping[str, float], row: Array) -> Array:
        given = row
        if pushes:
            found = dynamics.observe(here, row[None, :])["multipliers"]
            given = np.concatenate([row, *(-found[name] for name in equations.multiplier_names)])
        return terms.with_values(constants)(given)["g"]

    return code, find_sizes
