"""The equations of rest: which names are unknown, which of them enter linearly, and where the others are looked for.

-∂L₀/∂q - Q(q, 0, w, u) = Gᵀλ,     F(q) = 0,     g(q, 0, w, u) = 0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, pi

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import (
    ZERO,
    Advice,
    Expression,
    ModelError,
    Problem,
    add_up,
    differentiate,
    evaluate,
    from_leaves,
    gradient,
    names_in,
    split,
    substitute,
    velocity,
)
from svyaz.forms import applied_forces, lagrangian
from svyaz.matrices import pinv, singular_values
from svyaz.model import Mechanical, System, nearest, with_settings
from svyaz.program import build
from svyaz.stability.admissible import refuse_unfit
from svyaz.stability.box_problem import BoxProblem, measured

VANISHING = 1e-5
"""A singular value below this part of the largest counts as zero so close to an undecided position."""

NEARBY, FLAT = 1e-2, 1e-3
"""At this part of the box around a position matrices have their common sizes; this part of them counts as zero there."""

UNBALANCED = 1e-3
"""A force counts as unbalanced when this part of the largest is left."""


@dataclass(frozen=True)
class RestEquations:
    """f(q, y) = 0: ``bounded`` unknowns q with a box each, ``free`` unknowns y that enter linearly.

    ``angles`` are the bounded ones with the period 2π that are looked for over one turn. Of a steady motion with
    constrained velocities ``speeds`` are those of the coordinates that no equation needs. ``expressions`` are the left sides
    where corners of the potential energy are to be looked at.
    """

    system: System
    fixed: Mapping[str, float]
    bounded: tuple[str, ...]
    free: tuple[str, ...]
    box: Mapping[str, tuple[float, float]]
    angles: tuple[str, ...]
    problem: BoxProblem
    speeds: tuple[str, ...] = ()
    expressions: tuple[Expression, ...] = ()

    @property
    def unknowns(self) -> tuple[str, ...]:
        return (*self.bounded, *self.free)

    @property
    def low(self) -> Array:
        return np.array([self.box[name][0] for name in self.bounded], dtype=float)

    @property
    def high(self) -> Array:
        return np.array([self.box[name][1] for name in self.bounded], dtype=float)

    @property
    def width(self) -> Array:
        """Sides of the box, to measure by."""
        return np.where(self.high > self.low, self.high - self.low, 1.0)

    def inside(self, zero: Array, slack: float) -> bool:
        """Does the point (q, y) lie in the box, to this part of its sides?"""
        q = zero[: len(self.bounded)]
        margin = slack * (self.high - self.low)
        return bool(np.all(q >= self.low - margin) and np.all(q <= self.high + margin))

    def named(self, point: Array) -> dict[str, float]:
        """The values of the unknowns at the point (q, y), and the prescribed ones."""
        return {name: float(x) for name, x in zip(self.unknowns, point, strict=True)} | dict(self.fixed)


def beyond_limits(system: System, values: Mapping[str, float]) -> list[str]:
    """Words for each input whose value here is beyond its limits."""
    return [
        f"the input '{name}' = {values[name]:.6g} is beyond its limits"
        for name, given in system.inputs.items()
        if name in values
        and (
            (given.low is not None and values[name] < given.low)
            or (given.high is not None and values[name] > given.high)
        )
    ]


def rest_equations(
    system: System, fix: Mapping[str, float] | None = None, box: Mapping[str, tuple[float, float]] | None = None
) -> RestEquations:
    """The equations of rest with some names prescribed; a parameter with a box of its own becomes an unknown.

    Parameters that are given in terms of others follow those that are prescribed or unknown.
    """
    refuse_unfit(system)
    system, fixed, sides, following = settled(system, fix, box)
    expressions = [substitute(e, following) for e in rest_expressions(system)]
    return pose(
        system,
        expressions,
        fixed,
        sides,
        unknowns=[*system.coordinates, *system.rates, *system.inputs],
        linear=[*map(str, multiplier_symbols(system)), *system.rates, *system.inputs],
        periodic=lambda q: q in system.coordinates and is_angle(system, q),
    )


def pose(
    system: System,
    expressions: Sequence[Expression],
    fixed: Mapping[str, float],
    sides: Mapping[str, tuple[float, float]],
    *,
    unknowns: Sequence[str],
    linear: Sequence[str],
    periodic: Callable[[str], bool],
    speeds: Sequence[str] = (),
) -> RestEquations:
    """The equations with what is not prescribed as unknowns: multipliers and others that enter in a ``linear`` way are free,
    the rest, and parameters and ``speeds`` with a side, have a box; ``periodic`` ones without a side go over one turn.
    """
    free = linear_unknowns(expressions, [name for name in linear if name not in fixed])
    freed = [name for name in sides if name in (*system.parameters, *speeds) and name not in fixed]
    bounded = [*(name for name in unknowns if name not in (*fixed, *free)), *freed]
    boxed = {**system.box, **sides}
    angles = tuple(name for name in bounded if name not in (*boxed, *freed) and periodic(name))
    limits = {**within_limits(system), **boxed, **dict.fromkeys(angles, (-pi, pi))}
    missing_sides([name for name in bounded if name not in limits])
    problem = box_problem(system, expressions, bounded, free, fixed, limits)
    return RestEquations(
        system, fixed, tuple(bounded), tuple(free), limits, angles, problem, tuple(speeds), tuple(expressions)
    )


def settled(
    system: System,
    fix: Mapping[str, float] | None,
    box: Mapping[str, tuple[float, float]] | None,
    speeds: Sequence[str] = (),
) -> tuple[System, dict[str, float], dict[str, tuple[float, float]], dict[se.Symbol, Expression]]:
    """The system with the prescribed parameters, what is prescribed, the sides of the box, and the parameters that follow
    unknown ones. Names that the model does not have are refused; it may have ``speeds``.
    """
    fixed, sides = dict(fix or {}), dict(box or {})
    _check_names(system, fixed, sides, speeds)
    given = {name: value for name, value in fixed.items() if name in system.parameters}
    system = with_settings(system, given) if given else system
    freed = [name for name in system.parameters if name in sides and name not in fixed]
    return system, fixed, sides, _following(system, freed)


def missing_sides(missing: Sequence[str]) -> None:
    """Refuse unknowns without a side in the box."""
    if missing:
        names = ", ".join(f"'{name}'" for name in missing)
        message = (
            f"equilibria are looked for in a box, and {names} {'has' if len(missing) == 1 else 'have'} no side in it"
        )
        text = f"give '{missing[0]}' a side in the box, here or in the [box] of the model, or prescribe it"
        raise ModelError([Problem(message, hint=Advice(text, "box", missing[0]))])


def with_values(system: System, values: Mapping[str, float]) -> System:
    """The system with other values of some parameters, and of those that are given in terms of them."""
    known = {**system.parameters, **values}
    following = {str(name): evaluate(e, known) for name, e in _following(system, tuple(values)).items()}
    return replace(system.plain(), parameters={**known, **following})


def _following(system: System, freed: Sequence[str]) -> dict[se.Symbol, Expression]:
    """Parameters that are given in terms of unknown ones, as expressions of these."""
    from svyaz.expr import Scope, parse

    if not freed:
        return {}
    scope = Scope(symbols={name: se.Symbol(name) for name in system.parameters}, derivatives={}, forbidden={})
    texts = {name: text for name, text in system.words.get("parameters", {}).items() if isinstance(text, str)}
    written = {name: parse(text, scope) for name, text in texts.items() if name not in freed}
    moving = set(freed)
    while more := {name for name, e in written.items() if name not in moving and names_in(e) & moving}:
        moving |= more
    following = {se.Symbol(name): written[name] for name in moving if name in written}
    for _ in following:
        following = {name: substitute(e, following) for name, e in following.items()}
    return following


def within_limits(system: System) -> dict[str, tuple[float, float]]:
    """Sides for what has no box: states, and inputs that do not enter linearly, are looked for between their limits."""
    inputs = {
        name: (given.low, given.high)
        for name, given in system.inputs.items()
        if given.low is not None and given.high is not None and given.low < given.high
    }
    own = {str(limit.expression): limit.sides(system.parameters) for limit in system.limits}
    return inputs | {name: own[name] for name in system.states if name in own and all(map(isfinite, own[name]))}


def _check_names(
    system: System, fixed: Mapping[str, float], sides: Mapping[str, tuple[float, float]], speeds: Sequence[str]
) -> None:
    own = system.coordinates if isinstance(system.law, Mechanical) else system.states
    known = tuple(dict.fromkeys((*own, *system.rates, *system.inputs, *system.parameters, *speeds)))
    what = "coordinate, speed, input or parameter" if speeds else "coordinate, input or parameter"
    for name in (*fixed, *sides):
        if name not in known:
            message = f"'{name}' is no {what} of the model"
            raise ModelError([Problem(message, hint=nearest(name, known))])
    for name, (low, high) in sides.items():
        if not low < high:
            raise ModelError([Problem(f"the side of the box for '{name}' is empty: {low:g} is not below {high:g}")])


def multiplier_symbols(system: System) -> list[se.Symbol]:
    return [se.Symbol(f"multiplier of {c.name}") for c in system.constraints]


def rest_expressions(system: System) -> list[Expression]:
    """Left sides of the equations of rest."""
    q = [se.Symbol(name) for name in system.coordinates]
    still = {velocity(name): ZERO for name in system.coordinates}
    potential = substitute(lagrangian(system), still)
    slopes = gradient(potential, q)
    others = [substitute(e, still) for e in applied_forces(system)]
    jacobian = [gradient(c.expression, q) for c in system.constraints]
    forces = [
        add_up([-slope, other, *(-row[i] * s for row, s in zip(jacobian, multiplier_symbols(system), strict=True))])
        for i, (slope, other) in enumerate(zip(slopes, others, strict=True))
    ]
    return [
        *forces,
        *(c.expression for c in system.constraints),
        *(substitute(rate, still) for rate in system.rates.values()),
    ]


def linear_unknowns(expressions: Sequence[Expression], candidates: Sequence[str]) -> list[str]:
    """The candidates in which all equations together are linear, multipliers first."""
    chosen: list[str] = []
    for name in candidates:
        trial = {*chosen, name}
        slopes = [differentiate(e, se.Symbol(name)) for e in expressions]
        if not any(names_in(slope) & trial for slope in slopes):
            chosen.append(name)
    return chosen


def box_problem(
    system: System,
    expressions: Sequence[Expression],
    bounded: Sequence[str],
    free: Sequence[str],
    fixed: Mapping[str, float],
    box: Mapping[str, tuple[float, float]] | None = None,
) -> BoxProblem:
    """The equations in numbers and intervals; measured in the ``box``, if that is given."""
    q, y = [se.Symbol(n) for n in bounded], [se.Symbol(n) for n in free]
    without = dict.fromkeys(y, ZERO)
    e0 = [substitute(e, without) for e in expressions]
    e1 = [[differentiate(e, s) for s in y] for e in expressions]
    d0 = [gradient(e, q) for e in e0]
    d1 = [[gradient(e, q) for e in row] for row in e1]
    flat = [*e0, *(e for row in e1 for e in row), *(e for row in d0 for e in row)]
    flat += [e for row in d1 for entry in row for e in entry]
    values = {**system.constants, **fixed}
    parameters = tuple(name for name in values if name not in bounded)
    program = build([(str(k), e) for k, e in enumerate(flat)], inputs=tuple(bounded), parameters=parameters)
    _, surfaces = split(expressions, bounded)
    jumps = [(str(k), surface.expression) for k, surface in enumerate(surfaces)]
    sides = build(jumps, inputs=tuple(bounded), parameters=parameters) if jumps else None
    angles = sorted(set().union(*(e.atoms(se.atan2) for e in expressions)), key=str)
    arguments = [(f"{k} {i}", a) for k, e in enumerate(angles) for i, a in enumerate(e.args)]
    cuts = build(arguments, inputs=tuple(bounded), parameters=parameters) if angles else None
    problem = BoxProblem(program, values, len(expressions), len(bounded), len(free), sides, cuts=cuts)
    if box is None:
        return problem
    low, high = (np.array([box[name][k] for name in bounded], dtype=float) for k in (0, 1))
    return measured(problem, low, high)


def is_angle(system: System, q: str) -> bool:
    """Does the coordinate occur only in sines and cosines, with whole multiples?"""
    everything = [
        lagrangian(system),
        system.dissipation,
        *system.forces.values(),
        *system.rates.values(),
        *(c.expression for c in system.constraints),
    ]
    return only_in_waves(everything, q)


def only_in_waves(everything: Sequence[Expression], q: str) -> bool:
    """Does the name occur only in sines and cosines, with whole multiples?"""
    symbol = se.Symbol(q)
    plain = {symbol}
    for e, arguments in from_leaves(everything):
        inside = not plain.isdisjoint(arguments)
        if inside and isinstance(e, se.sin | se.cos):
            slope = differentiate(arguments[0], symbol)
            if not slope.is_Number or float(slope) != round(float(slope)):
                return False
        elif inside:
            plain.add(e)
    return plain.isdisjoint(everything)


def what_fails(rest: RestEquations, place: Array) -> str:
    """Which force nothing balances at q = ``place`` because E₁ of E₀(q) + E₁(q) y = 0 is singular there; or no words."""
    if not isinstance(rest.system.law, Mechanical):
        return ""
    problem, coordinates = rest.problem, rest.system.coordinates
    free = np.zeros(problem.free)
    e0, slope = (x[0] for x in problem.value_and_slope(np.concatenate([place, free])[None, :]))
    e1 = slope[:, problem.bounded :]
    if not problem.free or not np.isfinite(e0).all() or not np.isfinite(e1).all():
        return ""
    sizes, least = _sizes_nearby(rest, place)
    scaled = e1 / np.maximum(np.where(sizes > 0, sizes, 1.0), np.linalg.norm(e1, axis=0))
    values = singular_values(scaled)
    lost = max(VANISHING * values[0], FLAT * least)
    if values[-1] > lost:
        return ""
    left = (e0 - scaled @ pinv(scaled, rcond=min(1.0, 1.01 * lost / max(values[0], lost))) @ e0)[: len(coordinates)]
    forces = np.abs(e0[: len(coordinates)])
    stuck = [k for k in range(len(coordinates)) if abs(left[k]) > UNBALANCED * forces.max(initial=0.0)]
    if not stuck:
        return ""
    names = ", ".join(coordinates[k] for k in stuck)
    gone = [coordinates[k] for k in stuck if np.abs(scaled[k]).max() <= FLAT]
    slopes = "".join(f", ∂F/∂{q} = 0 (B loses its rank)" for q in gone) if rest.system.constraints else ""
    level = np.ones(len(left)) if problem.level is None else problem.level
    pull = ", ".join(f"{abs(left[k]) * level[k]:.4g}" for k in stuck)
    return f"a singular position{slopes}: no input and no multiplier balances the force {pull} on {names}"


def _sizes_nearby(rest: RestEquations, place: Array) -> tuple[Array, float]:
    """Sizes of the columns of E₁ at positions around a place, and the least singular value that it has there scaled by them."""
    problem, d = rest.problem, len(place)
    ways = np.vstack([np.eye(d), -np.eye(d), np.ones((1, d)), -np.ones((1, d))])
    points = np.hstack([place + NEARBY * rest.width * ways, np.zeros((len(ways), problem.free))])
    found = problem.value_and_slope(points)[1][:, :, problem.bounded :]
    found = found[np.isfinite(found).all(axis=(1, 2))]
    if not len(found):
        return np.zeros(problem.free), 0.0
    sizes = np.linalg.norm(found, axis=1).max(axis=0)
    scaled = found / np.where(sizes > 0, sizes, 1.0)
    return sizes, float(max(singular_values(one)[-1] for one in scaled))
