"""A system under a linear control u = u₀ - K ξ, or u = u₀ - K ξ̂ with an observer beside it, as an ordinary system.

    ξ̂' = A ξ̂ + B (u - u₀) + Λ (σ(q, q̇, w) - σ₀ - C ξ̂)

Inputs with limits are cut off there. The law stands in the forces and in the rates of further states, the estimates of an
observer are further states, and gains, limits and the position of rest are parameters: other gains need no new code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import symengine as se

from svyaz.control.design import Design
from svyaz.expr import (
    TIME,
    ZERO,
    Expression,
    add_up,
    differentiate,
    gradient,
    names_in,
    substitute,
    velocity,
    with_corners,
)
from svyaz.model import Constraint, Drawing, System


def closed_system(
    design: Design,
    *,
    constraints: Sequence[Constraint] | None = None,
    parameters: Mapping[str, float] | None = None,
) -> System:
    """The system of the design under its control, at rest in the equilibrium.

    ``constraints`` are those of the design unless others are given, which may begin and cease to act. ``parameters``
    replace those of the plant: the control keeps its gains and its position of rest.
    """
    model, system = design.model, design.model.system
    values: dict[str, float] = {**system.parameters, **(parameters or {})}
    estimates = estimate_names(design)
    law, added = _control_law(design, estimates, values)
    held = {se.Symbol(name): e for name, e in law.items()}
    rates = {name: substitute(rate, held) for name, rate in system.rates.items()}
    rates |= _observer(design, estimates, added, values)
    fields = {
        "states": (*system.states, *estimates),
        "forces": _forces(system, held),
        "rates": rates,
        "parameters": values,
        "inputs": {n: replace(u, value=model.inputs[n]) for n, u in system.inputs.items() if n not in law},
        "constraints": system.constraints if constraints is None else tuple(constraints),
        "integrals": (),
        "drawings": tuple(_drawn(drawing, held) for drawing in system.drawings),
        "initial": dict(model.state),
        "run": {},
        "words": {},
        **_energies_at_rest(system, {se.Symbol(name): se.Symbol(f"held {name}") for name in law}),
    }
    return _with_fields(system, fields)


def estimate_names(design: Design) -> tuple[str, ...]:
    """The names of the estimates of an observer, one for each variable of the control; none without an observer."""
    return () if design.watcher is None else tuple(f"estimate {name}" for name in design.model.variables)


def _with_fields(system: System, fields: Mapping[str, object]) -> System:
    closed = object.__new__(System)
    for key, value in {**vars(system), **fields}.items():
        object.__setattr__(closed, key, value)
    return closed


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
    fed = [se.Symbol(name) for name in estimates] or [se.Symbol(name) - at for name, at in rest.items()]
    for i, name in enumerate(design.inputs):
        held = _named(values, f"held {name}", model.inputs[name])
        terms = [
            _named(values, f"gain {name} by {x}", design.regulator.gain[i, j]) * e
            for j, (x, e) in enumerate(zip(model.variables, fed, strict=True))
        ]
        u = held - add_up(terms)
        given = model.system.inputs[name]
        if given.high is not None:
            u = with_corners(se.Min)(u, _named(values, f"most {name}", given.high))
        if given.low is not None:
            u = with_corners(se.Max)(u, _named(values, f"least {name}", given.low))
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


def _forces(system: System, held: Mapping[se.Symbol, Expression]) -> dict[str, Expression]:
    """Forces under the control. What inputs in energies do beyond their values at rest is a force too:

    Q = ∂Δ/∂q - Σ ∂²Δ/∂q̇∂q_j q̇_j - ∂²Δ/∂q̇∂t - ∂ΔD/∂q̇,   Δ = L(u) - L(u₀),
    where u counts as given and not as a function of the state.
    """
    forces = {q: substitute(force, held) for q, force in system.forces.items()}
    if not _in_energies(system, held):
        return forces
    rest = {u: se.Symbol(f"held {u}") for u in held}
    more = system.lagrangian - substitute(system.lagrangian, rest)
    lost = system.dissipation - substitute(system.dissipation, rest)
    q, v = [se.Symbol(name) for name in system.coordinates], [velocity(name) for name in system.coordinates]
    for name, x, speed in zip(system.coordinates, q, v, strict=True):
        momentum = differentiate(more, speed)
        carried = add_up(slope * v_j for slope, v_j in zip(gradient(momentum, q), v, strict=True))
        force = differentiate(more, x) - carried - differentiate(momentum, TIME) - differentiate(lost, speed)
        if force != ZERO:
            forces[name] = forces.get(name, ZERO) + substitute(force, held)
    return forces


def _in_energies(system: System, held: Mapping[se.Symbol, Expression]) -> bool:
    """Do energies contain inputs of the control? Those of a tree contain none."""
    if system.tree is not None:
        return False
    return bool({str(u) for u in held} & (names_in(system.lagrangian) | names_in(system.dissipation)))


def _energies_at_rest(system: System, rest: Mapping[se.Symbol, Expression]) -> dict[str, Expression]:
    if not _in_energies(system, rest):
        return {}
    names = ("kinetic", "potential", "lagrangian", "dissipation")
    return {name: substitute(getattr(system, name), rest) for name in names}


def _drawn(drawing: Drawing, held: Mapping[se.Symbol, Expression]) -> Drawing:
    points = tuple(tuple(substitute(e, held) for e in point) for point in drawing.points)
    radius = None if drawing.radius is None else substitute(drawing.radius, held)
    return replace(drawing, points=points, radius=radius)
