"""Regulators about steady motions: what is fed back, and in which variables gains are told.

The design is made on the Routhian system, whose further states are the momenta p of driven cyclic coordinates (those of others
are conserved: no input moves them, and they are not in ξ = (x, ẋ, p)). Sensors measure speeds. With

    w - c = W_x x + W_v ẋ + W_p (p - p₀) + W_s z      to first order, w = γ',

ξ_L = (x, ẋ, w - c) = S ξ + D z, and z = 0 on the constraints. A cost ξ_Lᵀ Q ξ_L is ξᵀ SᵀQS ξ, gains for ξ_L are K S⁻¹; in
Lagrange's variables the control feeds back W_p⁻¹ (w - c - W_x x - W_v ẋ) for p - p₀, with the true speed w (the rows Γ, A₃, A₄
of the source).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.control.design import Design, measured_row
from svyaz.control.directions import Direction, directions
from svyaz.control.weights import Weights
from svyaz.expr import Expression, add_up, evaluate, gradient, velocity
from svyaz.forms import momenta, momentum_of
from svyaz.model import System
from svyaz.stability import FirstApproximation, SteadyChoice

LAGRANGE, ROUTH = "lagrange", "routh"


@dataclass(frozen=True)
class UniformVariables:
    """S and D (``shift``) of ξ_L = S ξ + D z, with the speed that stands in the place of each driven momentum."""

    plant: FirstApproximation
    choice: SteadyChoice
    change: Array
    shift: Array
    asked: str

    @property
    def driven(self) -> tuple[str, ...]:
        """The driven cyclic coordinates, in the order of the further states."""
        return tuple(name[2:] for name in self.plant.further if name in self.choice.motion.momenta)

    @property
    def renamed(self) -> FirstApproximation:
        """The first approximation in the variables asked for."""
        if self.asked == ROUTH:
            return self.plant
        names = {momentum_of(q): f"{q}'" for q in self.driven}
        matrix = self.change @ self.plant.A @ np.linalg.inv(self.change)
        return replace(
            self.plant,
            further=tuple(names.get(name, name) for name in self.plant.further),
            state={**self.plant.state, **self.choice.motion.speeds},
            A=matrix,
            B=self.change @ self.plant.B,
            Z=self.change @ self.plant.Z - matrix @ self.shift,
        )

    @property
    def back(self) -> Array:
        """ξ from the variables asked for."""
        return np.eye(len(self.change)) if self.asked == ROUTH else np.asarray(np.linalg.inv(self.change))

    def gains(self, gain: Array) -> Array:
        """K for the variables asked for."""
        return gain if self.asked == ROUTH else np.asarray(gain @ np.linalg.inv(self.change))

    def watched(self, gain: Array) -> Array:
        """Λ of an observer of the variables asked for."""
        return gain if self.asked == ROUTH else np.asarray(self.change @ gain)

    def weights(self, given: Weights) -> Weights:
        """Weights of the variables asked for as weights of ξ."""
        if self.asked == ROUTH:
            return given
        s, back = self.change, np.linalg.inv(self.change)
        return replace(given, state=s.T @ given.state @ s, process_noise=back @ given.process_noise @ back.T)

    def fed(self) -> dict[str, Expression]:
        """p - p₀ of each driven momentum from what Lagrange's variables tell; nothing where momenta themselves are fed."""
        if self.asked == ROUTH:
            return {}
        back = np.linalg.inv(self.change)
        plant, motion = self.plant, self.choice.motion
        names = self.plant.variables
        deviations = [se.Symbol(name) - plant.state.get(name, 0.0) for name in names]
        for q in self.driven:
            deviations[names.index(momentum_of(q))] = self.choice.speeds[q] - motion.speeds[f"{q}'"]
        rows = {momentum_of(q): back[names.index(momentum_of(q))] for q in self.driven}
        return {
            name: add_up(float(k) * e for k, e in zip(row, deviations, strict=True) if k != 0)
            for name, row in rows.items()
        }


def uniform_variables(choice: SteadyChoice, asked: str) -> UniformVariables:
    """The change of variables at a steady motion."""
    plant = choice.chosen.equilibrium.approximation
    assert plant is not None, "a chosen motion has a first approximation"
    change = np.eye(len(plant.variables))
    shift = np.zeros((len(change), len(plant.dependent)))
    redundant = [se.Symbol(s) for s in plant.dependent]
    values = {**plant.system.constants, **dict.fromkeys(plant.system.velocities, 0.0), **plant.state, **plant.inputs}
    for q, speed in choice.speeds.items():
        if momentum_of(q) in plant.further:
            row = plant.variables.index(momentum_of(q))
            change[row] = measured_row(plant, speed, values)
            shift[row] = [evaluate(e, values) for e in gradient(speed, redundant)]
    return UniformVariables(plant, choice, change, shift, asked)


def cyclic_drift(variables: UniformVariables, design: Design) -> dict[str, dict[str, float]]:
    """How far each cyclic coordinate ends beside c t, to first order, for a unit deviation of each variable asked for.

    ∫ (w - c) dt = -W (A - BK)⁻¹ ξ(0), conserved momenta unperturbed: the control holds the speeds, not the coordinates.
    """
    plant = variables.plant
    closed = design.closed_matrix(plant)
    values = {**plant.system.constants, **dict.fromkeys(plant.system.velocities, 0.0), **plant.state, **plant.inputs}
    told = variables.renamed.variables
    found = {}
    for q, speed in variables.choice.speeds.items():
        row = np.zeros(len(closed))
        row[: len(told)] = measured_row(plant, speed, values)
        away = -np.linalg.solve(closed.T, row)[: len(told)] @ variables.back
        found[q] = {name: float(x) for name, x in zip(told, away, strict=True)}
    return found


def conserved_directions(variables: UniformVariables) -> tuple[Direction, ...]:
    """The conserved momenta as what lasts: by their names, or in Lagrange's variables as combinations of x, ẋ and speeds.

    γ' = s(x, ẋ, p) solved for p has the slopes ∂p/∂γ' = (∂s/∂p)⁻¹ and ∂p/∂(x, ẋ) = -(∂s/∂p)⁻¹ ∂s/∂(x, ẋ).
    """
    choice, plant = variables.choice, variables.plant
    kept = [c.name for c in choice.cyclic if c.conserved]
    if variables.asked == ROUTH or not kept:
        return tuple(Direction({momentum_of(q): 1.0}, 0j) for q in kept)
    cyclic = [c.name for c in choice.cyclic]
    values = {**plant.system.constants, **dict.fromkeys(plant.system.velocities, 0.0), **choice.motion.momenta}
    values |= {**plant.state, **plant.inputs}

    def slopes(names: Sequence[str]) -> Array:
        by = [se.Symbol(name) for name in names]
        rows = [[evaluate(e, values) for e in gradient(choice.speeds[q], by)] for q in cyclic]
        return np.array(rows, dtype=float).reshape(len(cyclic), len(names))

    own = (*plant.independent, *(f"{q}'" for q in plant.independent))
    redundant = [slopes(plant.dependent) @ plant.slope, slopes([f"{s}'" for s in plant.dependent]) @ plant.slope]
    inertia = np.linalg.inv(slopes([momentum_of(q) for q in cyclic]))
    rows = np.hstack([-inertia @ (slopes(own) + np.hstack(redundant)), inertia])[[cyclic.index(q) for q in kept]]
    return directions((*own, *(f"{q}'" for q in cyclic)), [(0j, rows.astype(complex))])


def perturbed_momenta(
    model: System, choice: SteadyChoice, state: Mapping[str, float], start: Mapping[str, float]
) -> dict[str, float]:
    """The momenta of a start whose positions and velocities are ``state`` and some of whose cyclic speeds or momenta are given.

    What is not given keeps its momentum.
    """
    names = [c.name for c in choice.cyclic]
    given = {name: start[name] for q in names for name in (f"{q}'", momentum_of(q)) if name in start}
    if not given:
        return {}
    kept = {momentum_of(q): choice.motion.momenta[momentum_of(q)] for q in names} | {
        name: value for name, value in given.items() if not name.endswith("'")
    }
    values = {**model.constants, **state, "t": 0.0}
    expressions = momenta(model, names)
    v = [str(velocity(q)) for q in names]
    rest = _evaluated(expressions, {**values, **dict.fromkeys(v, 0.0)})
    units = [_evaluated(expressions, {**values, **dict.fromkeys(v, 0.0), s: 1.0}) - rest for s in v]
    mass = np.column_stack(units)
    speeds = speeds_with(names, rest, mass, {**kept, **given}, {s for s in v if s in given})
    found = rest + mass @ speeds
    return dict(zip(map(momentum_of, names), map(float, found), strict=True))


def speeds_with(
    names: Sequence[str], rest: Array, mass: Array, known: Mapping[str, float], given: Collection[str]
) -> Array:
    """γ' with p = d + a γ', ``rest`` d (m,) and ``mass`` a (m, m): the speeds ``given``, and else the momenta, are known."""
    turning = [k for k, q in enumerate(names) if f"{q}'" in given]
    others = [k for k in range(len(names)) if k not in turning]
    speeds = np.zeros(len(names))
    speeds[turning] = [known[f"{names[k]}'"] for k in turning]
    if others:
        wanted = np.array([known[momentum_of(names[k])] for k in others])
        side = wanted - rest[others] - mass[np.ix_(others, turning)] @ speeds[turning]
        speeds[others] = np.linalg.solve(mass[np.ix_(others, others)], side)
    return speeds


def _evaluated(expressions: Mapping[str, Expression], values: Mapping[str, float]) -> Array:
    return np.array([evaluate(e, values) for e in expressions.values()], dtype=float)


def told_momenta(names: Sequence[str]) -> str:
    """Words for momenta that no input moves."""
    one = len(names) == 1
    return (
        f"{', '.join(names)} {'is' if one else 'are'} conserved, whatever the inputs: the motion is asymptotically stable "
        f"where {'it is' if one else 'they are'} not perturbed; else it tends to a neighbouring steady motion"
    )


def with_feed(design: Design, variables: UniformVariables | None) -> Design:
    """The design with what is fed back for momenta."""
    return design if variables is None else replace(design, fed=variables.fed())
