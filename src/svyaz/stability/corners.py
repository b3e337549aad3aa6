"""Rest at corners of the potential energy, |x| and the like, where the forces of both sides hold each other.

On a surface s(q) = 0 at which the equations of rest jump, A + σ B = 0 with the side σ = ±1, a system rests where they hold with
a σ between -1 and 1: an unknown that enters linearly, as a multiplier does, and s = 0 is its equation. With c from
B = c ∂s/∂q,

    Π = W + c (|s| - σ s),     ∂W/∂q = 0 on the constraints,     c (|s| - σ s) ≥ c (1 - |σ|) |s| if c > 0.

c > 0 and a positive second differential of W along the surface give Π a strict minimum: Π is continuous, and the proof of
Lagrange and Dirichlet asks no more of it. If c < 0, and nothing else jumps, the equilibrium is unstable: from rest at any
s > 0 the acceleration of s stays above a positive number as long as the motion is near and slow. Without a minimum along the
surface of corners with c > 0 the motions on it, which are motions of the system, lead away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import (
    Expression,
    Surface,
    differentiate,
    evaluate,
    interpolate,
    put_in,
    split,
    to_text,
    unfold,
    velocity,
)
from svyaz.forms import applied_forces, lagrangian
from svyaz.matrices import eigvalsh, singular_values, svd
from svyaz.program import Interval
from svyaz.stability.box_problem import BoxProblem
from svyaz.stability.boxes import Zeros
from svyaz.stability.critical import LAGRANGE_DIRICHLET, STABLE, UNDECIDED, UNSTABLE, StabilityVerdict
from svyaz.stability.energy import MINIMUM, has_potential, only_potential
from svyaz.stability.hypotheses import Hypothesis
from svyaz.stability.krawczyk import narrowed
from svyaz.stability.rest import RestEquations, beyond_limits, box_problem, linear_unknowns, with_values
from svyaz.stability.resting import Equilibrium, tidied

CONCAVE = "a concave corner of the potential energy: the force away from it does not vanish with the distance"
ON_THE_CORNER = "Lyapunov, first approximation of the motions along the corner"
NO_CORNER_THEOREM = "no theorem decides at this corner"
INSIDE = 1e-9
"""Sides this near to ±1, and smooth equilibria this near to a surface, are not told apart: nothing is decided there."""

MOST_SURFACES = 4
"""With more surfaces, 3 to this power searches would be made: parts through which they pass are left undecided then."""


@dataclass(frozen=True)
class Corner:
    """Surfaces through one place, and the equations of rest with their sides as unknowns."""

    surfaces: tuple[Surface, ...]
    expressions: tuple[Expression, ...]
    problem: BoxProblem
    free: tuple[str, ...]

    @property
    def sides(self) -> list[int]:
        """The places of the sides among the free unknowns."""
        return [k for k, name in enumerate(self.free) if name.startswith("side ")]


Search = Callable[[BoxProblem], Zeros]


def zeros_by_sides(rest: RestEquations, search: Search) -> tuple[Zeros, list[Equilibrium]]:
    """The smooth equilibria, and those at corners: one search for each choice of sides, on a surface or beside it.

    So all that is searched is smooth, and everything that holds for such a search holds for all of them together.
    """
    written, surfaces = split(rest.expressions, rest.bounded)
    if not 0 < len(surfaces) <= MOST_SURFACES:
        return search(rest.problem), []
    whole, cornered = Zeros(), list[Equilibrium]()
    for pattern in product((1, -1, 0), repeat=len(surfaces)):
        corner = _corner(rest, written, surfaces, pattern)
        if corner is None:
            if _meet(rest, surfaces, pattern, search):
                return search(rest.problem), []
            continue
        if _has_pole(corner):
            continue
        found = search(corner.problem)
        whole.parts += found.parts
        whole.left += found.left
        whole.cleared &= found.cleared
        whole.unbounded += [_without_sides(rest, part) for part in found.unbounded]
        whole.undecided += [_one(rest, *part) for part in found.undecided]
        for zero in found.zeros:
            point = zero.point
            if not rest.inside(point, 1e-9) or (belongs := _belongs(rest, corner, pattern, point)) is False:
                continue
            if belongs is None:
                whole.undecided.append(_one(rest, zero.low, zero.high))
            elif corner.surfaces:
                cornered.append(_equilibrium(rest, corner, point))
            else:
                whole.zeros.append(zero)
    return whole, sorted(cornered, key=lambda e: tuple(np.round([*e.state.values()], 7)))


def _meet(rest: RestEquations, surfaces: Sequence[Surface], pattern: Sequence[int], search: Search) -> bool:
    """May the surfaces whose side is 0 pass through one place?"""
    through = [s.expression for s, side in zip(surfaces, pattern, strict=True) if not side]
    problem = box_problem(rest.system, through, rest.bounded, (), rest.fixed, rest.box)
    found = search(problem)
    doubtful = any(len(narrowed(problem, (low[None, :], high[None, :])).low) for low, high in found.undecided)
    return doubtful or bool(found.points or found.unbounded or found.left)


def _has_pole(corner: Corner) -> bool:
    """Is something divided by the expression of a surface, so that nothing has a value on it?"""
    powers = set().union(*(e.atoms(se.Pow) for e in corner.expressions))
    divisors = {p.args[0] for p in powers if p.args[1].is_Number and float(p.args[1]) < 0}
    return any(s.expression in divisors or -s.expression in divisors for s in corner.surfaces)


def _without_sides(rest: RestEquations, part: Interval) -> Interval:
    count = len(rest.unknowns)
    return part[0][:, :count], part[1][:, :count]


def _one(rest: RestEquations, low: Array, high: Array) -> Interval:
    return low[: len(rest.unknowns)], high[: len(rest.unknowns)]


def _belongs(rest: RestEquations, corner: Corner, pattern: Sequence[int], point: Array) -> bool | None:
    """Does the zero lie on the sides for which its equations hold, and are the sides of its surfaces between ±1?

    None where rounding does not tell.
    """
    d = len(rest.bounded)
    lean = np.abs(point[d:][corner.sides]) - 1
    room = INSIDE * ((rest.problem.unit + np.abs(point[: len(rest.unknowns)]))[:d])
    beside = np.array(pattern) * rest.problem.sides((point[:d] - room)[None, :], (point[:d] + room)[None, :])[0]
    if np.any(lean > INSIDE) or np.any(beside < 0):
        return False
    if np.any(lean >= -INSIDE) or np.any((beside == 0) & (np.array(pattern) != 0)):
        return None
    return True


def _corner(
    rest: RestEquations, written: Sequence[Expression], surfaces: Sequence[Surface], pattern: Sequence[int]
) -> Corner | None:
    """The equations on these sides, and at the surfaces whose side is 0; none where sides do not enter linearly."""
    through = tuple(s for s, side in zip(surfaces, pattern, strict=True) if not side)
    names, current = [str(s.side) for s in through], list(written)
    for s, side in zip(surfaces, pattern, strict=True):
        current = [unfold(e, s.expression, s.side) for e in current]
        current = [put_in(e, {s.side: se.Integer(side)}) if side else interpolate(e, s.side) for e in current]
    expressions = (*current, *(s.expression for s in through))
    free = (*rest.free, *names)
    if set(linear_unknowns(expressions, free)) != set(free):
        return None
    problem = box_problem(rest.system, expressions, rest.bounded, free, rest.fixed, rest.box)
    problem = replace(problem, surfaces=rest.problem.surfaces, wanted=tuple(pattern))
    return Corner(through, expressions, problem, free)


def _equilibrium(rest: RestEquations, corner: Corner, point: Array) -> Equilibrium:
    """The equilibrium at a corner, with a verdict where a theorem gives one; it has no first approximation."""
    system = rest.system
    there = replace(rest, free=corner.free, problem=corner.problem)
    values = there.named(tidied(there, point))
    state = {name: values[name] for name in (*system.coordinates, *system.rates)}
    inputs = {name: values.get(name, system.inputs[name].value) for name in system.inputs}
    parameters = {name: values[name] for name in system.parameters if name in rest.bounded}
    pushes = {c.name: values[f"multiplier of {c.name}"] for c in system.constraints}
    verdict = _verdict(rest, corner, values)
    places = " and ".join(f"{to_text(s.expression)} = 0" for s in corner.surfaces)
    note = f"a corner of the potential energy, where {places}: there is no first approximation"
    beyond = beyond_limits(system, inputs)
    at = with_values(system, parameters) if parameters else system
    return Equilibrium(state, inputs, pushes, parameters, None, verdict, (note, *beyond), at.outside(state))


def _verdict(rest: RestEquations, corner: Corner, values: dict[str, float]) -> StabilityVerdict:
    """What the theorems above say."""
    system, n = rest.system, len(rest.system.coordinates)
    problem = box_problem(system, corner.expressions, system.coordinates, corner.free, values)
    point = np.array([values[name] for name in (*system.coordinates, *corner.free)])
    slope = problem.value_and_slope(point[None, :])[1][0]
    normals, held = slope[-len(corner.surfaces) :, :n], slope[n : n + len(system.constraints), :n]
    columns = slope[:n, [n + k for k in corner.sides]]
    depths = np.einsum("ki,ik->k", normals, columns) / np.einsum("ki,ki->k", normals, normals)
    stated = np.allclose(columns, (normals * depths[:, None]).T, rtol=1e-9, atol=1e-9 * np.abs(columns).max())
    from_energy = stated and not split(applied_forces(system), system.coordinates)[1]
    along = _along(np.vstack([held, normals]))
    curves = eigvalsh(along.T @ (0.5 * (slope[:n, :n] + slope[:n, :n].T)) @ along)
    heavy = Hypothesis(
        "the corners are those of the potential energy, and the kinetic energy is positive",
        from_energy and _is_heavy(rest, values),
    )
    word, theorem, hypotheses = _decision(rest, values, depths, curves)
    if not heavy.holds or word == UNDECIDED:
        word, theorem = UNDECIDED, NO_CORNER_THEOREM
    return StabilityVerdict(word, theorem, (heavy, *hypotheses), np.zeros(0, dtype=complex), 0, 0)


def _decision(
    rest: RestEquations, values: dict[str, float], depths: Array, curves: Array
) -> tuple[str, str, tuple[Hypothesis, ...]]:
    """Of corners with these c, and second differentials of W along them."""
    system = rest.system
    if np.all(depths > 0):
        forces = Hypothesis(
            "the forces have a potential, or give no power (gyroscopic, dissipative; examined at random states nearby)",
            has_potential(system, values),
        )
        alone = Hypothesis("no further states take part", not system.rates)
        small = 1e-10 * float(np.abs(curves).max(initial=0.0))
        if np.all(curves > small):
            along = ", its second differential is positive along it" if len(curves) else ""
            minimum = Hypothesis(f"{MINIMUM}: it rises on both sides of the corner{along}", True)
            return STABLE if forces.holds and alone.holds else UNDECIDED, LAGRANGE_DIRICHLET, (forces, alone, minimum)
        falls = bool(curves[0] < -small)
        minimum = Hypothesis(f"{MINIMUM}: its second differential along the corner", False if falls else None)
        only = Hypothesis(
            "no forces depend on velocities, and the kinetic energy is quadratic in them", only_potential(system)
        )
        unstable = falls and only.holds and forces.holds
        return UNSTABLE if unstable else UNDECIDED, ON_THE_CORNER, (forces, alone, minimum, only)
    single = Hypothesis("the potential energy falls on both sides of its one corner here", len(depths) == 1)
    return UNSTABLE if single.holds else UNDECIDED, CONCAVE, (single,)


def _along(rows: Array) -> Array:
    """Displacements (n, k) that leave the rows unchanged."""
    values = singular_values(rows)
    rank = np.count_nonzero(values > 1e-10 * values.max(initial=0.0))
    return np.asarray(svd(rows)[2][rank:].T, dtype=float)


def _is_heavy(rest: RestEquations, values: dict[str, float]) -> bool:
    """Is the matrix of the kinetic energy positive?"""
    system = rest.system
    speeds = [velocity(q) for q in system.coordinates]
    known = {**system.constants, **dict.fromkeys(map(str, speeds), 0.0), **values}
    energy = lagrangian(system)
    momenta = [differentiate(energy, v) for v in speeds]
    matrix = np.array([[evaluate(differentiate(p, v), known) for v in speeds] for p in momenta])
    return bool(eigvalsh(matrix)[0] > 0)
