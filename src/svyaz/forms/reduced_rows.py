"""What the forms without multipliers of the velocity constraints have in common: the rest of the equations.

With q̇ = N v + n, where v are the independent velocities or quasi-velocities, a position constraint h(q, t) = 0 gives

    ḣ = h_q (N v + n) + h_t,     ḧ = (h_q N) v̇ + …,

so its row in the reduced system is G = h_q N. Where this row has a single entry c that vanishes at the start, ḣ = c v_j
says c(q, t) = 0 as soon as the system moves: h is held as c = 0. (A path y = f(x) for a cart whose heading gives dy/dx
becomes an equation between heading and x.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import symengine as se

from svyaz.expr import (
    ONE,
    TIME,
    ZERO,
    Expression,
    combine,
    evaluate,
    gradient,
    is_zero,
    substitute,
    to_text,
    total_derivative,
    velocity,
)
from svyaz.forms.equations import Deviation, Equations
from svyaz.forms.named.multipliers import with_constraints
from svyaz.forms.reduction_choice import values_at
from svyaz.forms.vanishing import is_nothing
from svyaz.model import Constraint


@dataclass(frozen=True)
class Kinematics:
    """q̇ of every coordinate as an expression of the coordinates and of the velocities that are left."""

    rates: Mapping[str, Expression]
    velocities: tuple[se.Symbol, ...]

    @property
    def flow(self) -> dict[se.Symbol, Expression]:
        """Rates of the coordinates and of time, for total derivatives."""
        return {se.Symbol(q): rate for q, rate in self.rates.items()} | {TIME: ONE}

    def substituted(self, expression: Expression) -> Expression:
        """The expression with every velocity replaced."""
        return substitute(expression, {velocity(q): rate for q, rate in self.rates.items()})


def assembled(
    form: str,
    origin: Equations,
    kinematics: Kinematics,
    mass: Sequence[Sequence[Expression]],
    bias: Sequence[Expression],
    *,
    names: Sequence[str],
    quasi: bool = False,
    dependent: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Equations:
    """The equations in a reduced form: M and bias are given, the rest follows from the kinematics.

    ``names`` are the coordinates or quasi-velocities in the order of the rows of M.
    """
    system = origin.system
    held = [d for d in origin.deviations if d.position is not None]
    deviations, told, start = [], list(notes), values_at(origin)
    for d in held:
        reduced, note = reduced_deviation(d, kinematics, start)
        deviations.append(reduced)
        told += [note] if note else []
    if any(d.constraint is not r.constraint for d, r in zip(held, deviations, strict=True)):
        moving = [d.constraint for d in origin.deviations if d.position is None]
        origin = with_constraints(origin, [*moving, *(d.constraint for d in deviations)])
    rows = [gradient(d.velocity, kinematics.velocities) for d in deviations]
    rests = [total_derivative(d.velocity, kinematics.flow) for d in deviations]
    left = [str(v) for v in kinematics.velocities]
    further = {name: kinematics.substituted(rate) for name, rate in system.rates.items()}
    return Equations(
        form=form,
        system=system,
        states=(*system.coordinates, *left, *system.rates),
        explicit={**kinematics.rates, **further},
        accelerated=tuple(names),
        mass_matrix=tuple(tuple(row) for row in mass),
        bias=tuple(bias),
        deviations=tuple(deviations),
        constraint_jacobian=tuple(tuple(row) for row in rows),
        constraint_bias=tuple(rests),
        observed={str(velocity(q)): rate for q, rate in kinematics.rates.items() if f"{q}'" not in left},
        quasi=quasi,
        dependent=tuple(dependent),
        eliminated=tuple(d.constraint for d in origin.deviations if d.position is None),
        origin=origin,
        notes=tuple(told),
    )


def reduced_deviation(d: Deviation, kinematics: Kinematics, start: Mapping[str, float]) -> tuple[Deviation, str | None]:
    """h with ḣ in the velocities that are left; or the constraint that h comes to, with a note."""
    rate = total_derivative(d.position, kinematics.flow)
    slopes = [combine(s) for s in gradient(rate, kinematics.velocities)]
    slopes = [ZERO if is_nothing(s) else s for s in slopes]
    rest = substitute(rate, dict.fromkeys(kinematics.velocities, ZERO))
    present = [(v, s) for v, s in zip(kinematics.velocities, slopes, strict=True) if not is_zero(s)]
    if len(present) == 1 and is_nothing(rest) and _vanishes_at(present[0][1], start):
        ((v, slope),) = present
        return _rewritten(d.constraint, v, slope, kinematics)
    return replace(d, velocity=rate), None


def _vanishes_at(slope: Expression, values: Mapping[str, float]) -> bool:
    terms = slope.args if slope.is_Add else (slope,)
    size = sum(abs(evaluate(term, values)) for term in terms)
    return bool(abs(evaluate(slope, values)) <= 1e-9 * max(size, 1e-300))


def _rewritten(
    constraint: Constraint, v: se.Symbol, slope: Expression, kinematics: Kinematics
) -> tuple[Deviation, str]:
    """ḣ = slope · v becomes slope = 0."""
    text = f"{to_text(slope)} = 0"
    note = (
        f"the derivative of '{constraint.name}' is ({to_text(slope)})*{v}, whose factor is zero at the start: "
        f"for a moving system it is held as {text}"
    )
    rewritten = replace(constraint, text=text, expression=slope, in_points=None)
    return Deviation(rewritten, slope, total_derivative(slope, kinematics.flow)), note
