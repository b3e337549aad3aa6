"""What a browser needs to follow the equilibrium of a regulated system when a parameter is moved: the plant as a program.

The program gives at a state and inputs the rates f of Shulgin's equations, the constraints h, and the derivatives of both by
states and inputs. The equilibrium solves f = 0, h = 0 at rest with the prescribed values; ``assets/living/regulator.js`` does
this. The gains are those that were designed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import symengine as se

from svyaz.control import Regulation
from svyaz.expr import gradient
from svyaz.forms import Equations, rates_of, shulgin_equations, slopes_of
from svyaz.model import System
from svyaz.program import Program, build, choose_orders
from svyaz.show.living.record import RegulatorRecord
from svyaz.stability import has_velocity_constraints


@dataclass(frozen=True)
class Regulated:
    """A regulation whose closed loop a page shows, the model as it was stated, and the values from which it was started."""

    stated: System
    regulation: Regulation
    start: Mapping[str, float]


class FixedEquilibrium(Exception):
    """Why the equilibrium stays as it is when a parameter is moved, in words."""


def regulator_record(regulated: Regulated) -> tuple[RegulatorRecord, Program]:
    """The plant and what is known of its regulator; FixedEquilibrium with the reason where a page cannot find it anew."""
    found = regulated.regulation
    design, plant = found.design, found.plant
    _refuse(found)
    system = plant.system
    equations = shulgin_equations(system, dependent=plant.dependent or None)
    targets = {name: float(value) for name, value in found.chosen.fixed.items() if name not in system.parameters}
    unknowns = (*system.coordinates, *plant.further, *system.inputs)
    if len(targets) != len(system.inputs) or not set(targets) <= set(unknowns):
        raise FixedEquilibrium("what is prescribed and what is unknown at rest are not the same number")
    return {
        "states": list(equations.states),
        "inputs": list(system.inputs),
        "coordinates": list(system.coordinates),
        "dependent": list(plant.dependent),
        "further": list(plant.further),
        "variables": list(plant.variables),
        "acting": list(design.inputs),
        "constraints": len(system.constraints),
        "targets": targets,
        "rest": {name: float(plant.state.get(name, 0.0)) for name in equations.states}
        | {name: float(value) for name, value in plant.inputs.items()},
        "start": dict(regulated.start),
    }, _plant_program(equations, plant.state, plant.inputs)


def _refuse(found: Regulation) -> None:
    design, plant = found.design, found.plant
    if found.uniform is not None or has_velocity_constraints(plant.system):
        raise FixedEquilibrium("it is regulated about a steady motion, or with constrained velocities")
    if design.watcher is not None or design.lasting is not None or design.fed:
        raise FixedEquilibrium("its regulator is not one of all variables")
    if any(c.switched for c in found.constraints):
        raise FixedEquilibrium("events switch its constraints")
    if found.chosen.equilibrium.parameters:
        raise FixedEquilibrium("the equilibrium determines parameters")


def _plant_program(equations: Equations, state: Mapping[str, float], inputs: Mapping[str, float]) -> Program:
    """(t, states, inputs) → f, h, then ∂f and ∂h by states and inputs, row by row."""
    system, by = equations.system, (*equations.states, *inputs)
    rates = rates_of(equations)
    systems, slopes = slopes_of(rates, by)
    levels = [c.expression for c in system.constraints]
    outputs = [*rates.rates, *((f"constraint {k}", h) for k, h in enumerate(levels))]
    rows = [*slopes, *(gradient(h, [se.Symbol(name) for name in by]) for h in levels)]
    outputs += [(f"{i} by {x}", e) for i, row in enumerate(rows) for x, e in zip(by, row, strict=True)]
    parameters = tuple(name for name in equations.constants if name not in inputs)
    program = build(outputs, inputs=("t", *by), parameters=parameters, systems=systems)
    sample = {"t": 0.0, **{name: float(state.get(name, 0.0)) for name in equations.states}, **inputs}
    return choose_orders(program, system.constants, sample)
