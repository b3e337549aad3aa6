"""Numbers at a steady motion: the kinetic energy, the forces and the constraints with their derivatives.

    L = ½ q̇ᵀ A(x) q̇ + a(x)ᵀ q̇ + T₀(x) - Π(x),   Q(x, q̇, I, u),   F(x) = 0,   İ = g(x, q̇, I, u)

q = (x, cyclic coordinates): x are those that rest in a steady motion, positional and redundant ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import ZERO, Expression, ModelError, Problem, differentiate, evaluate, gradient, quadratic, velocity
from svyaz.forms import applied_forces, lagrangian, pseudo_cyclic
from svyaz.model import System
from svyaz.program import remembered
from svyaz.stability import refuse_unfit
from svyaz_published.jets import Jet


@dataclass(frozen=True)
class SteadyNumbers:
    """Rows and columns in the order (x, cyclic); derivatives are by x.

    ``inertia`` A, ``linear`` a (a column), ``still`` T₀ - Π; ``turning`` is L with the speeds of the steady motion put in,
    ½ c'A c + c'a + T₀ - Π. Second derivatives of A and a are taken for cyclic coordinates only: those of others do not
    enter. ``force`` holds Q, then the rates of further states, with their ``slopes`` by x (q), q̇ (v), I (w), u.
    """

    still_coordinates: tuple[str, ...]
    cyclic: tuple[str, ...]
    inertia: Jet
    linear: Jet
    still: Jet
    turning: Jet
    force: Array
    slopes: Mapping[str, Array]
    constraint: Array
    jacobian: Jet


Rows = Sequence[Sequence[Expression]]


@dataclass(frozen=True)
class _Formed:
    """The expressions whose numbers are taken, formed once for a system."""

    x: tuple[str, ...]
    cyclic: tuple[str, ...]
    tables: Mapping[str, Rows]
    jets: Mapping[str, tuple[Rows, list[list[list[Expression]]], dict[tuple[int, ...], Expression]]]


def steady_numbers(system: System, values: Mapping[str, float]) -> SteadyNumbers:
    """All numbers at these coordinates, cyclic velocities, further states, inputs and parameters."""
    refuse_unfit(system)
    formed = _formed(system)
    known = {**values, **{f"{q}'": 0.0 for q in formed.x}}
    n, everything = len(formed.x), len(system.coordinates) + len(system.rates)

    def number(e: Expression) -> float:
        return 0.0 if e == ZERO else evaluate(e, known)

    def table(name: str, columns: int) -> Array:
        rows = formed.tables[name]
        return np.array([[number(e) for e in row] for row in rows], dtype=float).reshape(len(rows), columns)

    def jet(name: str, columns: int) -> Jet:
        rows, slopes, curves = formed.jets[name]
        value = np.array([[number(e) for e in row] for row in rows], dtype=float).reshape(len(rows), columns)
        first = np.array([[[number(e) for e in entry] for entry in row] for row in slopes], dtype=float)
        second = np.zeros((*value.shape, n, n))
        for place, e in curves.items():
            i, j, p, r = place
            second[i, j, p, r] = second[i, j, r, p] = number(e)
        return Jet(value, first.reshape(*value.shape, n), second)

    sizes = {"q": n, "v": len(system.coordinates), "w": len(system.rates), "u": len(system.inputs)}
    inertia, linear, still = jet("inertia", len(system.coordinates)), jet("linear", 1), jet("still", 1)
    c = np.array([0.0] * n + [known[f"{q}'"] for q in formed.cyclic])
    parts = zip(*((j.value, j.first, j.second) for j in (inertia, linear, still)), strict=True)
    turning = [
        0.5 * np.einsum("a,ab...,b->...", c, whole, c) + np.einsum("a,ab...->b...", c, slope)[0] + rest[0, 0]
        for whole, slope, rest in parts
    ]
    return SteadyNumbers(
        still_coordinates=formed.x,
        cyclic=formed.cyclic,
        inertia=inertia,
        linear=linear,
        still=still,
        turning=Jet(*(np.asarray(part)[None, None] for part in turning)),
        force=table("force", 1).reshape(everything, 1),
        slopes={key: table(f"force by {key}", size) for key, size in sizes.items()},
        constraint=table("constraint", 1)[:, 0],
        jacobian=jet("jacobian", n),
    )


@remembered
def _formed(system: System) -> _Formed:
    """Formed once: a system has many steady motions."""
    cyclic = tuple(c.name for c in pseudo_cyclic(system))
    if not cyclic:
        raise ModelError([Problem("no coordinate is cyclic: steady motions are those of cyclic coordinates")])
    still = tuple(q for q in system.coordinates if q not in cyclic)
    names = (*still, *cyclic)
    x, v = [se.Symbol(q) for q in still], [velocity(q) for q in names]
    terms = quadratic(lagrangian(system), v)
    if terms is None:
        raise ModelError([Problem("the kinetic energy is not quadratic in the velocities: the blocks are not defined")])
    inertia = [[terms.get((min(i, j), max(i, j)), ZERO) for j in range(len(v))] for i in range(len(v))]
    place = dict(zip(system.coordinates, applied_forces(system), strict=True))
    forces = [*(-place[q] for q in names), *system.rates.values()]
    by = {"q": x, "v": v, "w": [se.Symbol(w) for w in system.rates], "u": [se.Symbol(u) for u in system.inputs]}
    constraints = [c.expression for c in system.constraints]
    turning = range(len(still), len(names))
    tables = {"force": [[e] for e in forces], "constraint": [[e] for e in constraints]}
    tables |= {f"force by {key}": [gradient(e, symbols) for e in forces] for key, symbols in by.items()}
    jets = {
        "inertia": _jet(inertia, x, [(i, j) for i in turning for j in turning]),
        "linear": _jet([[terms.get((i,), ZERO)] for i in range(len(v))], x, [(i, 0) for i in turning]),
        "still": _jet([[terms.get((), ZERO)]], x, [(0, 0)]),
        "jacobian": _jet([gradient(e, x) for e in constraints], x, []),
    }
    return _Formed(still, cyclic, tables, jets)


def _jet(
    rows: Rows, x: Sequence[se.Symbol], twice: Sequence[tuple[int, int]]
) -> tuple[Rows, list[list[list[Expression]]], dict[tuple[int, ...], Expression]]:
    """The entries, their derivatives, and the second derivatives that do not vanish of the entries ``twice``."""
    slopes = [[gradient(e, x) for e in row] for row in rows]
    curves = {
        (i, j, p, r): differentiate(slopes[i][j][p], x[r])
        for i, j in twice
        for p in range(len(x))
        for r in range(p + 1)
    }
    return rows, slopes, {place: e for place, e in curves.items() if e != ZERO}
