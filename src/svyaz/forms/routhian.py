"""Systems in which cyclic coordinates are ignored: at given speeds, or at given momenta.

A steady motion of a system is an equilibrium of a smaller one. With γ cyclic, L = ½ γ̇ᵀ a γ̇ + γ̇ᵀ d(q, q̇) + L₀(q, q̇),

    p = a γ̇ + d,     R = L - pᵀ γ̇ = L₀ - ½ (p - d)ᵀ a⁻¹ (p - d),     ṗ = Q_γ,

    d/dt ∂R/∂q̇ - ∂R/∂q = Q + (∂γ̇/∂q̇)ᵀ ṗ + Gᵀ λ        (p held constant in d/dt on the left),     γ̇ = a⁻¹ (p - d),

which is a system in the other coordinates with the Lagrangian R. Momenta that are conserved are parameters of it, the others
further states. At given speeds the equations of rest are those of L with γ̇ = c put in, and Q_γ = 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import symengine as se

from svyaz.expr import (
    HALF,
    ZERO,
    Expression,
    ModelError,
    Problem,
    add_up,
    combine,
    differentiate,
    evaluate,
    gradient,
    names_in,
    substitute,
    velocity,
)
from svyaz.forms.cyclic import Cyclic
from svyaz.forms.named.lagrange import applied_forces
from svyaz.forms.named.shulgin import solved_for
from svyaz.forms.stated import lagrangian
from svyaz.model import Energies, System


def momentum_of(coordinate: str) -> str:
    """The name of the momentum that stands for the velocity of a coordinate."""
    return f"p_{coordinate}"


def momenta(system: System, coordinates: Sequence[str]) -> dict[str, Expression]:
    """∂L/∂γ' by the names of the momenta."""
    slopes = gradient(lagrangian(system), [velocity(q) for q in coordinates])
    return {momentum_of(q): slope for q, slope in zip(coordinates, slopes, strict=True)}


@dataclass(frozen=True)
class Ignored:
    """A system without some cyclic coordinates; ``speeds`` gives their velocities in its terms."""

    system: System
    speeds: Mapping[str, Expression]


def at_speeds(system: System, ignored: Sequence[Cyclic]) -> System:
    """The system whose equilibria are the steady motions at given speeds γ'.

    The speed of a coordinate on which no force acts is a parameter, with the value that the model gives it at first; that of
    another is a further state whose rate is the force. Only its equations of rest mean something: that it moves at constant
    speeds takes forces that are not there.
    """
    pushes = pushes_of(system)
    forced = {f"{c.name}'": pushes[c.name] for c in ignored if not c.conserved}
    free = {f"{c.name}'": float(system.initial.get(f"{c.name}'", 0.0)) for c in ignored if c.conserved}
    gone = [c.name for c in ignored]
    return without_coordinates(system, gone, lagrangian(system), pushes, forced, free)


def at_momenta(system: System, ignored: Sequence[Cyclic]) -> Ignored:
    """The system with the Lagrangian R in the other coordinates, which has the very motions of the given one."""
    gone = [c.name for c in ignored]
    speeds, routhian = routhian_of(system, gone)
    put = {velocity(q): speed for q, speed in speeds.items()}
    pushes = {q: substitute(push, put) for q, push in pushes_of(system).items()}
    for q in system.coordinates:
        if q not in gone:
            recoil = [differentiate(speed, velocity(q)) * pushes[g] for g, speed in speeds.items()]
            pushes[q] = add_up([pushes[q], *recoil])
    rates = {name: substitute(rate, put) for name, rate in system.rates.items()}
    forced = {momentum_of(c.name): pushes[c.name] for c in ignored if not c.conserved}
    free = initial_momenta(system, [c.name for c in ignored if c.conserved])
    found = without_coordinates(replace(system.plain(), rates=rates), gone, routhian, pushes, forced, free)
    initial = {**found.initial, **initial_momenta(system, [c.name for c in ignored if not c.conserved])}
    return Ignored(replace(found, initial=initial), speeds)


def initial_momenta(system: System, coordinates: Sequence[str]) -> dict[str, float]:
    """The momenta that the model's initial state has."""
    start = {**dict(zip(system.states, system.initial_state(), strict=True)), **system.constants, "t": 0.0}
    return {name: float(evaluate(e, start)) for name, e in momenta(system, coordinates).items()}


def routhian_of(system: System, ignored: Sequence[str]) -> tuple[dict[str, Expression], Expression]:
    """γ' in terms of the momenta, and R."""
    whole, v = lagrangian(system), [velocity(q) for q in ignored]
    still = dict.fromkeys(v, ZERO)
    slopes = gradient(whole, v)
    mass = [[combine(e) for e in gradient(slope, v)] for slope in slopes]
    if any(names_in(e) & {str(s) for s in v} for row in mass for e in row):
        message = "the kinetic energy is not quadratic in the velocities of " + ", ".join(f"'{q}'" for q in ignored)
        raise ModelError([Problem(f"{message}: their momenta cannot be solved for them")])
    rest = [se.Symbol(momentum_of(q)) - substitute(slope, still) for q, slope in zip(ignored, slopes, strict=True)]
    speeds = [row[0] for row in solved_for(mass, [[e] for e in rest])]
    energy = HALF * add_up(a * b for a, b in zip(rest, speeds, strict=True))
    return dict(zip(ignored, speeds, strict=True)), substitute(whole, still) - energy


def pushes_of(system: System) -> dict[str, Expression]:
    """Q - ∂D/∂q' by coordinate."""
    return {q: -e for q, e in zip(system.coordinates, applied_forces(system), strict=True)}


def without_coordinates(
    system: System,
    gone: Sequence[str],
    whole: Expression,
    pushes: Mapping[str, Expression],
    forced: Mapping[str, Expression],
    free: Mapping[str, float],
) -> System:
    """The system in the other coordinates with this Lagrangian, these forces, further states and parameters."""
    left = tuple(q for q in system.coordinates if q not in gone)
    lost = {*gone, *(f"{q}'" for q in gone)}
    return replace(
        system.plain(),
        law=Energies(whole, ZERO),
        coordinates=left,
        states=(*left, *(f"{q}'" for q in left), *system.rates, *forced),
        parameters={**system.parameters, **free},
        initial={name: value for name, value in system.initial.items() if name not in lost or name in forced},
        forces={q: pushes[q] for q in left if pushes[q] != ZERO},
        rates={**system.rates, **forced},
        quasi={},
        integrals=(),
        drawings=(),
        box={name: side for name, side in system.box.items() if name not in lost or name in forced},
        run={key: value for key, value in system.run.items() if key not in ("form", "momenta")},
        words={"parameters": system.words.get("parameters", {})},  # some are given in terms of others
    )
