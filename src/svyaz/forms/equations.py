"""The equations of motion as expressions: what every form returns, and what a form declares of itself.

    M(q, t) q̈ + bias(q, q̇, t) = Gᵀ λ,        G q̈ + constraint_bias = 0

``bias`` holds minus the forces. For a position constraint h(q, t) = 0 the row of G is ∂h/∂q and the second line is
ḧ = 0; for a velocity constraint f(q, q̇, t) = 0 the row is ∂f/∂q̇ (Chetaev's reading where f is not linear) and the
second line is ḟ = 0. The force of a constraint on the system is +Gᵀ λ, with λ for the equation as it was written.

A servo-constraint has the row of G like any other, but λ is a control u that acts along its direction b: the column of
Gᵀ is replaced by b, and what multiplies λ is Rᵀ, R = ``reactions``. [M Rᵀ; G 0] has an inverse exactly when the
directions suffice (G M⁻¹ Rᵀ has one, where M has).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol, TypeVar

import symengine as se

from svyaz.expr import (
    ONE,
    ZERO,
    Expression,
    Surface,
    gradients,
    interpolate,
    select,
    substitute,
    velocities_of,
    with_corners,
)
from svyaz.model import Constraint, Friction, System

T = TypeVar("T")


@dataclass(frozen=True)
class Deviation:
    """How far a constraint is from being satisfied: h and ḣ for positions, f for velocities."""

    constraint: Constraint
    position: Expression | None
    velocity: Expression

    @cached_property
    def name(self) -> str:
        return self.constraint.name


@dataclass(frozen=True)
class Pull:
    """A friction in equations: the force -T ``along``, T = ``side``·sliding·|λ| + ``holding``, of a constraint by number.

    |λ| is ``load``·λ. ``side`` is the sign of the slip, or that of a surface; where a motion is held, it is zero and
    ``holding`` is what holds it.
    """

    number: int
    friction: Friction
    load: Expression
    side: Expression
    holding: Expression = ZERO


LEAST = se.RealDouble(1e-300)
"""Beside squares of slips: zero slips have no direction, and no force that is not a number."""


def slip_sides(frictions: Sequence[Friction]) -> list[Expression]:
    """The sign of each slip; for those of a plane the components of its direction, s/|s|."""
    found: list[Expression] = [with_corners(se.sign)(f.slip) for f in frictions]
    for i, j in plane_pairs(frictions):
        length = se.sqrt(frictions[i].slip ** 2 + frictions[j].slip ** 2 + LEAST)
        found[i], found[j] = frictions[i].slip / length, frictions[j].slip / length
    return found


def plane_pairs(frictions: Sequence[Friction]) -> list[tuple[int, int]]:
    """The numbers of those that are one friction in a plane."""
    both = [k for k, f in enumerate(frictions) if f.plane]
    return list(zip(both[::2], both[1::2], strict=True))


@dataclass(frozen=True, eq=False)
class Equations:
    """Equations of motion in some form. ``explicit`` gives the rates of all states that need no linear system.

    The states are those of ``explicit`` and the velocities of ``accelerated``, the coordinates whose accelerations the
    linear system determines. With ``quasi`` these are names of quasi-velocities, which are states themselves.

    A form without multipliers of the velocity constraints names those that it uses up in ``eliminated``; ``observed``
    gives the velocities that are no states (``y'``) as expressions of the states, and ``origin`` the equations with
    multipliers that were reduced. ``entering`` gives states that the model has not, such as momenta, in terms of those that
    it has. ``dependent`` are the coordinates for whose velocities the constraints were solved
    (a chart, which may degenerate). ``gibbs`` is the function of the accelerations from which Appell's equations come.
    ``notes`` tell what was decided on the way. ``sides`` are surfaces at which rates
    jump, with the symbols of their sides in these equations; along ``sliding`` ones the motion is held: theirs are unknowns.
    ``pulls`` are frictions by the reactions of constraints, ``loads`` the signs of multipliers whose sizes |λ| act.
    ``spare`` are constraints that follow from those that act: they are watched only, and the multipliers of the
    ``undetermined`` ones are one choice of many. In equations of a tree that are named, not written, there is no M and no G,
    deviations are symbols, and ``bias`` is what acts beside the inertia and the weight of bodies.
    ``given`` are names of numbers that stand behind the states where rates are asked for.
    ``switches`` are constants that let the constraints act; the programs of equations with them serve those ``within``.
    """

    form: str
    system: System
    states: tuple[str, ...]
    explicit: Mapping[str, Expression]
    accelerated: tuple[str, ...] = ()
    mass_matrix: tuple[tuple[Expression, ...], ...] = ()
    bias: tuple[Expression, ...] = ()
    deviations: tuple[Deviation, ...] = ()
    constraint_jacobian: tuple[tuple[Expression, ...], ...] = ()
    constraint_bias: tuple[Expression, ...] = ()
    observed: Mapping[str, Expression] = field(default_factory=dict)
    entering: Mapping[str, Expression] = field(default_factory=dict)
    quasi: bool = False
    eliminated: tuple[Constraint, ...] = ()
    dependent: tuple[str, ...] = ()
    origin: Equations | None = None
    gibbs: Expression | None = None
    notes: tuple[str, ...] = ()
    sides: tuple[Surface, ...] = ()
    sliding: tuple[Surface, ...] = ()
    pulls: tuple[Pull, ...] = ()
    loads: Mapping[str, Expression] = field(default_factory=dict)
    spare: tuple[Deviation, ...] = ()
    undetermined: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    switches: tuple[se.Symbol, ...] = ()
    within: Equations | None = None

    @cached_property
    def constants(self) -> tuple[str, ...]:
        """Names of everything that is constant during a run, in a fixed order."""
        return (*self.system.constants, *map(str, self.switches))

    @cached_property
    def multiplier_names(self) -> tuple[str, ...]:
        """One multiplier for each constraint that acts, under the name of the constraint."""
        return tuple(d.name for d in self.deviations)

    @cached_property
    def servo(self) -> bool:
        """Is a constraint among those that act kept by a control?"""
        return any(d.constraint.servo for d in self.deviations)

    @property
    def reactions(self) -> tuple[tuple[Expression, ...], ...]:
        """R (m, n): the direction in which each multiplier acts; the row of G, or that of a control, with drag and friction."""
        rows = list(self.smooth_reactions)
        for k, d in enumerate(self.deviations):
            for drag in d.constraint.drags:
                sign = self.loads.get(d.name, ONE) if drag.absolute else ONE
                rows[k] = tuple(e + sign * self.in_states(x) for e, x in zip(rows[k], drag.along, strict=True))
        for p in self.pulls:
            size = p.side * p.load * self.in_states(p.friction.sliding)
            along = map(self.in_states, p.friction.along)
            rows[p.number] = tuple(e - size * x for e, x in zip(rows[p.number], along, strict=True))
        return tuple(rows)

    @property
    def smooth_reactions(self) -> tuple[tuple[Expression, ...], ...]:
        """R without drag and friction: the row of G, or the direction of a control."""
        pairs = zip(self.deviations, self.constraint_jacobian, strict=True)
        return tuple(d.constraint.direction or row for d, row in pairs)

    @cached_property
    def ideal(self) -> bool:
        """Are all reactions along the gradients of their constraints, R = G?"""
        return all(d.constraint.ideal for d in self.deviations)

    @property
    def named_basis(self) -> bool:
        """Are the velocities the quasi-velocities that the model names?"""
        return self.quasi and self.accelerated == tuple(self.system.quasi)

    @property
    def charted(self) -> bool:
        """May what the velocities were solved for degenerate: dependent coordinates, or quasi-velocities of the model?"""
        return bool(self.dependent) or self.named_basis

    @property
    def pushing(self) -> tuple[Deviation, ...]:
        """The constraints whose multipliers are in the equations; those of eliminated constraints are not."""
        gone = {c.name for c in self.eliminated}
        return tuple(d for d in self.deviations if d.name not in gone)

    @cached_property
    def accelerations(self) -> tuple[se.Symbol, ...]:
        """The symbols of the accelerations that the linear system determines."""
        return tuple(se.Symbol(f"{v}'") for v in self.velocities)

    @cached_property
    def velocities(self) -> tuple[se.Symbol, ...]:
        """The symbols of the velocities of the accelerated coordinates, or the quasi-velocities."""
        return tuple([se.Symbol(q) for q in self.accelerated]) if self.quasi else velocities_of(self.accelerated)

    def with_rows(self, kept: Sequence[int]) -> Equations:
        """The same with some of the constraints."""

        def chosen(rows: Sequence[T]) -> tuple[T, ...]:
            return tuple(rows[k] for k in kept if rows)

        return replace(
            self,
            deviations=chosen(self.deviations),
            constraint_jacobian=chosen(self.constraint_jacobian),
            constraint_bias=chosen(self.constraint_bias),
            pulls=tuple(replace(pull, number=list(kept).index(pull.number)) for pull in self.pulls),
        )

    @property
    def directions(self) -> dict[str, list[Expression]]:
        """∂q̇/∂v for each coordinate q and all velocities v: in which directions it can move (a unit row in full forms)."""
        q = self.system.coordinates
        return dict(zip(q, gradients([self.explicit[name] for name in q], self.velocities), strict=True))

    def in_states(self, expression: Expression) -> Expression:
        """An expression of coordinates and velocities in terms of the states, on the sides of surfaces where these are."""
        found = substitute(expression, {se.Symbol(name): value for name, value in self.observed.items()})
        for surface in self.sides:
            found = select(found, surface.expression, surface.side)
            if (
                surface in self.sliding or self.system.parameters.get(str(surface.side)) == 0.0
            ):  # it lies on the surface
                found = interpolate(found, surface.side)
        return found


class Reduction(Protocol):
    """(system, constraints that act, dependent coordinates) → equations; all constraints and the best chart unless given."""

    def __call__(
        self, system: System, active: Sequence[Constraint] | None = None, dependent: Sequence[str] | None = None
    ) -> Equations: ...


@dataclass(frozen=True)
class Form:
    """A form of the equations, by the name under which it is asked for.

    ``derive`` makes the equations of a system. A form that uses up the velocity constraints and needs no multipliers for
    them also declares how it is ``reduced`` with other constraints acting or other coordinates dependent, and which
    ``wider`` form takes over where it applies to no better chart. A ``free`` form takes no constraints at all.
    """

    name: str
    derive: Callable[[System], Equations]
    reduced: Reduction | None = None
    wider: str = ""
    free: bool = False
