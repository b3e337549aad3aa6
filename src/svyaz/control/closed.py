"""A system under a linear control u = u₀ - K ξ, or u = u₀ - K ξ̂ with an observer beside it, as an ordinary system.

    ξ̂' = A ξ̂ + B (u - u₀) + Λ (σ(q, q̇, w) - σ₀ - C ξ̂)

Inputs with limits are cut off there. The law stands in the forces and in the rates of further states, the estimates of an
observer are further states, and gains, limits and the position of rest are parameters: other gains need no new code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import symengine as se

from svyaz.control.design import Design
from svyaz.expr import (
    ZERO,
    Expression,
    add_up,
)
from svyaz.model import Constraint, System
from svyaz.motion import limited, under_laws


def closed_system(design: Design, constraints: Sequence[Constraint] | None = None) -> System:
    """The system of the design under its control, at rest in the equilibrium.

    ``constraints`` are those of the design unless others are given, which may begin and cease to act.
    """
    model, system = design.model, design.model.system
    values: dict[str, float] = dict(system.parameters)
    estimates = estimate_names(design)
    law, added = _control_law(design, estimates, values)
    at_rest = {name: replace(given, value=model.inputs[name]) for name, given in system.inputs.items()}
    closed = under_laws(replace(system.plain(), inputs=at_rest), law, values)
    return replace(
        closed,
        states=(*system.states, *estimates),
        rates={**closed.rates, **_observer(design, estimates, added, values)},
        parameters={**closed.parameters, **values},
        constraints=closed.constraints if constraints is None else tuple(constraints),
        integrals=(),
        initial=dict(model.state),
        run={},
        words={},
    )


def estimate_names(design: Design) -> tuple[str, ...]:
    """The names of the estimates of an observer, one for each variable of the control; none without an observer."""
    return () if design.watcher is None else tuple(f"estimate {name}" for name in design.model.variables)


def settled(system: System) -> System:
    """The system with the constraints that act at the beginning, as if nothing switched them; itself if nothing does."""
    if not any(c.switched for c in system.constraints):
        return system
    acting = (c for c in system.constraints if c.acts_at(0.0))
    always = tuple(c if c.anchors else replace(c, on=None, off=None, impact=None, active=False) for c in acting)
    return replace(system.plain(), constraints=always)


def _named(values: dict[str, float], name: str, value: float) -> se.Symbol:
    """A parameter with its value."""
    values[name] = float(value)
    return se.Symbol(name)


def _control_law(
    design: Design, estimates: Sequence[str], values: dict[str, float]
) -> tuple[dict[str, Expression], list[Expression]]:
    """u by name, cut off at its limits, and u - u₀ in the order of the inputs."""
    model, law, added = design.model, {}, []
    rest = {name: _named(values, f"rest {name}", model.state.get(name, 0.0)) for name in model.variables}
    fed = [se.Symbol(name) for name in estimates] or [
        design.fed.get(name, se.Symbol(name) - at) for name, at in rest.items()
    ]
    for i, name in enumerate(design.inputs):
        held = _named(values, f"held {name}", model.inputs[name])
        terms = [
            _named(values, f"gain {name} by {x}", design.regulator.gain[i, j]) * e
            for j, (x, e) in enumerate(zip(model.variables, fed, strict=True))
        ]
        u = held - add_up(terms)
        u = limited(model.system, name, u, values)
        law[name] = u
        added.append(u - held)
    return law, added


def _observer(
    design: Design, estimates: Sequence[str], added: Sequence[Expression], values: dict[str, float]
) -> dict[str, Expression]:
    """The rates of the estimates."""
    if design.watcher is None or design.measurement is None:
        return {}
    look, c = design.watcher.gain, design.measurement.matrix
    model = design.model
    guess = [se.Symbol(name) for name in estimates]
    surprise = []
    for k, e in enumerate(design.measurement.expressions):
        rest = _named(values, f"measured {k} at rest", design.measurement.at_rest[k])
        expected = add_up(_named(values, f"C {k} {j}", c[k, j]) * x for j, x in enumerate(guess))
        surprise.append(e - rest - expected)
    rates = {}
    for i, name in enumerate(estimates):
        terms = [_named(values, f"A {i} {j}", model.A[i, j]) * x for j, x in enumerate(guess) if model.A[i, j] != 0]
        terms += [
            _named(values, f"B {i} {j}", b) * u
            for j, (b, u) in enumerate(zip(design.B[i], added, strict=True))
            if b != 0
        ]
        terms += [_named(values, f"look {i} {k}", look[i, k]) * s for k, s in enumerate(surprise)]
        rates[name] = add_up(terms) if terms else ZERO
    return rates
