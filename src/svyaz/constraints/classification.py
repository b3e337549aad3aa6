"""What the constraints are: from positions or not, moving with time or not, linear in the velocities or not.

A velocity constraint is *holonomic* when, together with all the other velocity constraints, it follows from equations
between positions: it lies in the largest integrable part of their forms (see ``frobenius``). ``row_wise`` says whether
it would be integrable alone. Position constraints do not take part: a blade stays a blade on a rail that leaves it one
motion. Whether a velocity constraint becomes integrable on what the position constraints leave (their differentials
added to the forms, at points that satisfy them) is asked separately and answered in the remark.

A constraint that is not linear in the velocities is called nonholonomic and takes no part in the joint test; its
reaction is Chetaev's, along ∂f/∂q̇.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.constraints.frobenius import (
    Ideal,
    Integrability,
    constant_combinations,
    integrability,
    sample_points,
    start_point,
)
from svyaz.constraints.integrals import follows_at, integral_of_row, readable_number
from svyaz.constraints.potentials import flattened, potential, vanishes
from svyaz.expr import TIME, ZERO, Expression, add_up, differentiate, gradient, is_zero, substitute, velocity
from svyaz.model import Constraint, System


@dataclass(frozen=True)
class Classification:
    """One constraint.

    ``kind`` is holonomic or nonholonomic; ``time_dependent`` (rheonomic) when time occurs in the equation or in its
    integral; ``order`` 0 for positions and 1 for velocities; ``integral`` is P(q, t) with P = constant equivalent to a
    holonomic velocity constraint (together with the others), when it was found; ``remark`` says what else there is.
    """

    name: str
    kind: str
    time_dependent: bool
    linear: bool
    order: int
    integral: Expression | None
    row_wise: bool
    remark: str = ""


@dataclass(frozen=True)
class _Row:
    """A constraint, as it is ``stated`` in rates of coordinates, with its form: coefficients of dq, then that of dt."""

    constraint: Constraint
    stated: Expression
    linear: bool
    form: tuple[Expression, ...]


def classify(system: System, active: Sequence[Constraint] | None = None) -> tuple[Classification, ...]:
    """Classify the constraints of a mechanical system (all, or those that are active together)."""
    constraints = system.constraints if active is None else tuple(active)
    q, by_rates = [se.Symbol(name) for name in system.coordinates], _by_rates(system)
    moving = [r for r in (_row(c, q, by_rates) for c in constraints if c.order == 1) if r.linear]
    held = [c for c in constraints if c.order == 0]
    told: dict[str, Classification] = {}
    if moving:
        ideal = _ideal(system, q, moving)
        start, points = start_point(ideal, (), system.initial), sample_points(ideal, (), system.initial)
        verdict = integrability(ideal, points)
        extra = _combination_remark(ideal, moving, verdict, points)
        if verdict.told and not any(verdict.undecided):
            extra.append(verdict.told)
        restricted = (
            _on_positions(system, q, moving, [_row(c, q, by_rates) for c in held])
            if held and not all(verdict.joint)
            else {}
        )
        for k, row in enumerate(moving):
            told[row.constraint.name] = _velocity(row, k, ideal, verdict, start, [*restricted.get(k, []), *extra])
    told |= {c.name: _position(c) for c in held}
    return tuple(told.get(c.name) or _nonlinear(c) for c in constraints)


def _by_rates(system: System) -> dict[se.Symbol, Expression]:
    """Velocities of free joints by rates of their coordinates, and quaternions e by e/|e|.

    So forms are those of the positions of the joint, whatever |e| is: they are integrable in its coordinates where they are.
    """
    found: dict[se.Symbol, Expression] = {}
    for body in (body for body in system.bodies if body.quaternion):
        e = [se.Symbol(name) for name in body.quaternion]
        q, rates = list(map(se.Symbol, body.coordinates)), list(map(velocity, body.coordinates))
        length = se.sqrt(add_up(x * x for x in e))
        found |= {x: x / length for x in e} | dict(
            zip(map(se.Symbol, body.velocities), body.kind.speeds(q, rates), strict=True)
        )
    return found


def _ideal(system: System, q: Sequence[se.Symbol], rows: Sequence[_Row]) -> Ideal:
    """The forms of the rows, with time among the variables where it occurs or a row is inhomogeneous."""
    with_time = any(r.form[-1] != ZERO or any(TIME in a.free_symbols for a in r.form) for r in rows)
    variables = (*q, TIME) if with_time else tuple(q)
    return Ideal(variables, tuple(r.form[: len(variables)] for r in rows), dict(system.constants))


def _on_positions(
    system: System, q: Sequence[se.Symbol], moving: Sequence[_Row], held: Sequence[_Row]
) -> dict[int, list[str]]:
    """{row: remark} for the velocity constraints that are integrable on what the position constraints leave."""
    ideal = _ideal(system, q, [*moving, *held])
    equations = [r.stated for r in held]
    start, points = start_point(ideal, equations, system.initial), sample_points(ideal, equations, system.initial)
    verdict = integrability(ideal, points)
    told = {}
    for k in range(len(moving)):
        if verdict.joint[k]:
            integral = _integral(moving[k], ideal, k)
            found = "" if integral is None else f" (to {integral} = constant)"
            told[k] = [f"integrable on what the position constraints leave{found}"]
            if not follows_at(ideal, integral, start, points):
                told[k] = [f"{told[k][0]} {_rank_words(integral)}"]
        elif verdict.undecided[k]:
            told[k] = [f"whether it is integrable on what the position constraints leave is open: {verdict.told}"]
    return told


def _row(constraint: Constraint, q: Sequence[se.Symbol], by_rates: Mapping[se.Symbol, Expression]) -> _Row:
    f = substitute(constraint.expression, by_rates) if by_rates else constraint.expression
    if constraint.order == 0:
        return _Row(constraint, f, True, (*gradient(f, q), differentiate(f, TIME)))
    v = [velocity(str(x)) for x in q]
    speeds = set(v)
    coefficients = [_without(a, speeds) for a in gradient(f, v)]
    if any(a is None for a in coefficients):
        return _Row(constraint, f, False, ())
    rest = flattened(substitute(f, dict.fromkeys(v, ZERO)))
    return _Row(constraint, f, True, (*[a for a in coefficients if a is not None], rest))


def _without(a: Expression, speeds: set[se.Symbol]) -> Expression | None:
    """The coefficient with velocities that only seem to be there removed; None when they are there."""
    if not a.free_symbols & speeds:
        return a
    flat = flattened(a)
    if not flat.free_symbols & speeds:
        return flat
    if all(vanishes(differentiate(flat, s)) for s in flat.free_symbols & speeds):
        return substitute(flat, {s: se.Integer(1) for s in flat.free_symbols & speeds})
    return None


def _position(c: Constraint) -> Classification:
    return Classification(c.name, "holonomic", c.moves_with_time, True, 0, None, True)


def _nonlinear(c: Constraint) -> Classification:
    remark = "not linear in the velocities: its reaction acts along the gradient by velocities (Chetaev's reading)"
    return Classification(c.name, "nonholonomic", c.moves_with_time, False, 1, None, False, remark)


def _velocity(
    row: _Row, r: int, ideal: Ideal, verdict: Integrability, start: Array, extra: Sequence[str]
) -> Classification:
    c = row.constraint
    moving = c.moves_with_time
    affine = not is_zero(row.form[-1])
    if not verdict.joint[r]:
        remarks = ["it has an inhomogeneous term"] if affine else []
        if verdict.alone[r]:
            remarks.append("integrable alone")
        if verdict.undecided[r]:
            remarks.append(
                f"whether it is integrable together with the other velocity constraints is open: {verdict.told}"
            )
        remarks.extend(extra)
        return Classification(c.name, "nonholonomic", moving, True, 1, None, verdict.alone[r], "; ".join(remarks))
    integral = _integral(row, ideal, r)
    moving = moving or (integral is not None and TIME in integral.free_symbols)
    remarks = [] if verdict.alone[r] else ["integrable only together with the other velocity constraints"]
    if integral is not None and not follows_at(ideal, integral, start, start[None, :]):
        remarks.append(f"integrable to {integral} = constant {_rank_words(integral)}")
        integral = None
    return Classification(c.name, "holonomic", moving, True, 1, integral, verdict.alone[r], "; ".join(remarks))


def _rank_words(integral: Expression | None) -> str:
    """Where an integral holds that does not at the start."""
    change = "" if integral is None else f", and {integral} may change there"
    return f"where the constraints are independent; at the start they are not{change}"


def _integral(row: _Row, ideal: Ideal, r: int) -> Expression | None:
    """P(q, t) of a row; none is looked for among fractions of quaternions, which are too long for it."""
    return integral_of_row(ideal, r) if row.stated == row.constraint.expression else None


def _combination_remark(ideal: Ideal, rows: Sequence[_Row], verdict: Integrability, points: Array) -> list[str]:
    """Combinations of the rows that come from positions though no single row of them does."""
    single = [r for r, whole in enumerate(verdict.joint) if whole]
    missing = verdict.combinations - len(single)
    if missing <= 0:
        return []
    number = "one independent combination" if missing == 1 else f"{missing} independent combinations"
    text = f"{number} of the velocity constraints {'comes' if missing == 1 else 'come'} from positions"
    found: list[str] = []
    if any(row.stated != row.constraint.expression for row in rows):
        return [text]
    for c in constant_combinations(ideal, points):
        if np.count_nonzero(c) < 2 or all(verdict.joint[r] for r in np.flatnonzero(c)):
            continue
        columns = zip(*ideal.forms, strict=True)
        whole = [add_up(readable_number(x) * a for x, a in zip(c, column, strict=True)) for column in columns]
        integral = potential(whole, ideal.variables)
        if integral is not None:
            found.append(f"{_written(c, [r.constraint.name for r in rows])} integrates to {integral} = constant")
    return [text + (": " + ", ".join(found) if found else "")]


def _written(c: Array, names: Sequence[str]) -> str:
    """'left' - 2 'right' in words of the model."""
    parts: list[str] = []
    for x, name in zip(c, names, strict=True):
        if x:
            size = "" if abs(x) == 1.0 else f"{abs(x):.6g} "
            sign = "-" if x < 0 else "+"
            parts.append(f"{sign} {size}'{name}'" if parts else (f"-{size}'{name}'" if x < 0 else f"{size}'{name}'"))
    return " ".join(parts)
