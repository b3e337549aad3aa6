"""Linear symmetries that are no coordinates: fields ξ(q) = A q + b along which L and the constraints do not change.

    ∂L/∂q·ξ + ∂L/∂q̇·(A q̇) = 0,     ∂F/∂q·ξ = 0   identically   ⟹   p = ∂L/∂q̇·ξ is a first integral (E. Noether 1918)

where no force acts on the coordinates that ξ moves. The conditions are linear in A and b: they are asked at random states, and
the fields that are left are told with whole entries.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import ZERO, Expression, add_up, evaluate, gradient, substitute, to_text, velocity
from svyaz.forms.stated import lagrangian
from svyaz.matrices import svd
from svyaz.model import Energies, Mechanical, System

MOST_COORDINATES = 8
"""There are n² + n unknown entries: of larger systems only absent coordinates are found."""

NEGLIGIBLE = 1e-9

SMALLEST = 1e-3
"""Polar coordinates are looked at from this part of the reach on: they are singular at ρ = 0."""


@dataclass(frozen=True)
class Symmetry:
    """ξ by coordinate, and the momentum along it."""

    field: dict[str, Expression]
    momentum: Expression

    @property
    def text(self) -> str:
        """What does not change, and what is constant for it."""
        moved = ", ".join(f"{q} by {to_text(e)}" for q, e in self.field.items())
        return f"moving {moved} changes nothing, so that {to_text(self.momentum)} is constant"

    @property
    def plane(self) -> tuple[str, str] | None:
        """The coordinates of the one plane in which it turns, if it does."""
        if len(self.field) != 2:
            return None
        (x, along_x), (y, along_y) = self.field.items()
        return (x, y) if (along_x, along_y) == (-se.Symbol(y), se.Symbol(x)) else None


def linear_symmetries(system: System) -> tuple[Symmetry, ...]:
    """The fields that no force disturbs, other than those of absent coordinates alone."""
    n = len(system.coordinates)
    if not isinstance(system.law, Mechanical) or n > MOST_COORDINATES or system.dissipation != ZERO:
        return ()
    found = []
    for row in _null_space(_conditions(system)):
        symmetry = _read(system, row[: n * n].reshape(n, n), row[n * n :])
        if symmetry is not None and not set(symmetry.field) & set(system.forces):
            found.append(symmetry)
    return tuple(found)


def _conditions(system: System) -> Array:
    """A row for each condition at each of many random states, in the entries of A and of b."""
    q = [se.Symbol(name) for name in system.coordinates]
    v = [velocity(name) for name in system.coordinates]
    whole = lagrangian(system)
    slopes = [gradient(whole, q), gradient(whole, v)]
    rows_of = [gradient(c.expression, q) for c in system.constraints]
    random = np.random.default_rng(5)
    n, rows = len(q), []
    for _ in range(2 * (n * n + n)):
        place, speed = random.uniform(0.3, 1.1, n), random.uniform(-1.0, 1.0, n)
        values = {**system.constants, "t": 0.3}
        values |= dict(zip(map(str, [*q, *v]), map(float, [*place, *speed]), strict=True))
        by_place, by_speed = (np.array([evaluate(e, values) for e in each]) for each in slopes)
        rows.append(np.concatenate([(np.outer(by_place, place) + np.outer(by_speed, speed)).ravel(), by_place]))
        for entries in rows_of:
            row = np.array([evaluate(e, values) for e in entries])
            rows.append(np.concatenate([np.outer(row, place).ravel(), row]))
    return np.array(rows)


def _null_space(conditions: Array) -> Array:
    """A basis with as many zeros as elimination gives."""
    finite = conditions[np.isfinite(conditions).all(axis=1)]
    if not len(finite):
        return np.zeros((0, conditions.shape[1]))
    sizes = np.linalg.norm(finite, axis=1, keepdims=True)
    _, values, vectors = svd(finite / np.where(sizes > 0, sizes, 1.0))
    basis = vectors[int(np.sum(values > NEGLIGIBLE * values[0])) :].copy()
    pivot = 0
    for column in range(basis.shape[1]):
        if pivot == len(basis):
            break
        best = pivot + int(np.argmax(np.abs(basis[pivot:, column])))
        if abs(basis[best, column]) < 1e-7:
            continue
        basis[[pivot, best]] = basis[[best, pivot]]
        basis[pivot] /= basis[pivot, column]
        others = np.arange(len(basis)) != pivot
        basis[others] -= np.outer(basis[others, column], basis[pivot])
        pivot += 1
    return basis


def _read(system: System, matrix: Array, shift: Array) -> Symmetry | None:
    """The field with whole entries; None where it has others, or moves one absent coordinate alone."""
    if np.abs(np.round(matrix) - matrix).max() > 1e-6 or np.abs(np.round(shift) - shift).max() > 1e-6:
        return None
    # elimination leaves -1 where a rotation begins: the other sense is the usual one
    first = next((x for x in np.round(matrix).ravel() if x != 0), 1.0)
    sign = -1 if first > 0 else 1
    names = system.coordinates
    field = {}
    for i, name in enumerate(names):
        terms = [int(sign * round(matrix[i, j])) * se.Symbol(q) for j, q in enumerate(names) if round(matrix[i, j])]
        terms += [se.Integer(round(float(shift[i])))] if round(shift[i]) else []
        if terms:
            field[name] = add_up(terms)
    if not field or (len(field) == 1 and not np.round(matrix).any()):
        return None
    slopes = dict(zip(names, gradient(lagrangian(system), [velocity(q) for q in names]), strict=True))
    return Symmetry(field, add_up(se.expand(e * slopes[q]) for q, e in field.items()))


def along_the_turn(system: System, x: str, y: str) -> System:
    """The system in polar coordinates of a plane in which turning changes nothing: the angle is cyclic.

    With x = ρ cos ψ, y = ρ sin ψ nothing depends on ψ, so that all is written at ψ = 0: x = ρ, y = 0, x' = ρ', y' = ρ ψ'.
    """
    taken = {*system.constants, *system.states}
    rho, psi = (name if name not in taken else f"{name}_{x}{y}" for name in ("rho", "psi"))
    put = {se.Symbol(x): se.Symbol(rho), se.Symbol(y): ZERO, velocity(x): velocity(rho)}
    put |= {velocity(y): se.Symbol(rho) * velocity(psi)}
    names = tuple({x: rho, y: psi}.get(q, q) for q in system.coordinates)
    start = dict(zip(system.states, system.initial_state(), strict=True))
    box = {name: side for name, side in system.box.items() if name not in (x, y)}
    reach = max((abs(end) for name in (x, y) for end in system.box.get(name, ())), default=0.0)
    if reach > 0:
        box[rho] = (SMALLEST * reach, reach)
    return replace(
        system.plain(),
        law=Energies(substitute(lagrangian(system), put), ZERO),
        coordinates=names,
        states=(*names, *(f"{q}'" for q in names), *system.rates),
        initial={
            **{name: start[name] for name in start if name.rstrip("'") not in (x, y)},
            **_polar(start, x, y, rho, psi),
        },
        forces={q: substitute(force, put) for q, force in system.forces.items()},
        rates={name: substitute(rate, put) for name, rate in system.rates.items()},
        constraints=tuple(replace(c, expression=substitute(c.expression, put)) for c in system.constraints),
        quasi={},
        integrals=(),
        drawings=(),
        limits=(),
        box=box,
        run={},
        words={"parameters": system.words.get("parameters", {})},
    )


def _polar(start: dict[str, float], x: str, y: str, rho: str, psi: str) -> dict[str, float]:
    a, b, u, v = start[x], start[y], start[f"{x}'"], start[f"{y}'"]
    radius = float(np.hypot(a, b))
    if radius == 0.0:
        return {rho: 0.0, psi: 0.0, f"{rho}'": float(np.hypot(u, v)), f"{psi}'": 0.0}
    along, across = (a * u + b * v) / radius, (a * v - b * u) / radius
    return {rho: radius, psi: float(np.arctan2(b, a)), f"{rho}'": along, f"{psi}'": across / radius}
