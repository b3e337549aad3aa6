"""A system in coordinates one of which goes along a symmetry, and is cyclic.

With the flow Φ of ξ = A q + b, q = Φ_ψ(σ(η)), where σ fixes one coordinate: nothing depends on ψ, and all is written at ψ = 0,

    q = σ(η),     q̇ = η̇ + ξ(σ(η)) ψ̇,     Q_ψ = ξ·Q.

A shift keeps the coordinate that it moves alone, and tells the others from it; a turn of planes has the polar coordinates of
the first of them, and the others in axes that turn with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import ZERO, Expression, add_up, substitute, to_text, velocity
from svyaz.forms.stated import lagrangian
from svyaz.forms.symmetry import Symmetry, number
from svyaz.forms.vanishing import is_nothing
from svyaz.model import Energies, System

SMALLEST = 1e-3
"""Polar coordinates are looked at from this part of the reach on: they are singular at ρ = 0."""


@dataclass(frozen=True)
class SymmetryPassage:
    """The system in new coordinates, of which ``cyclic`` goes along the symmetry and ``radius`` is that of a turn; ``text``
    says how they are taken.
    """

    system: System
    cyclic: str
    radius: str | None
    text: str


@dataclass(frozen=True)
class _Slice:
    """The coordinate that is fixed at zero, the one that becomes ρ (of a turn), and the field in units of ψ."""

    fixed: int
    radius: int | None
    matrix: Array
    shift: Array


def along_symmetry(system: System, symmetry: Symmetry) -> SymmetryPassage | None:
    """The passage to a coordinate along the symmetry: where it shifts a coordinate alone, or turns a plane of two."""
    cut = _slice(symmetry)
    if cut is None:
        return None
    names = _names(system, cut)
    moved = [q for k, q in enumerate(system.coordinates) if names[k] != q]
    psi = names[cut.fixed]
    sigma = [ZERO if k == cut.fixed else se.Symbol(name) for k, name in enumerate(names)]
    put: dict[Expression, Expression] = {}
    for k, q in enumerate(system.coordinates):
        along = _field(cut, sigma, k) * velocity(psi)
        put[se.Symbol(q)] = sigma[k]
        put[velocity(q)] = along if k == cut.fixed else velocity(names[k]) + along
    forces = {q: substitute(e, put) for q, e in system.forces.items()}
    pushes = {name: forces[q] for q, name in zip(system.coordinates, names, strict=True) if q in forces}
    whole = add_up(_field(cut, sigma, k) * forces.get(q, ZERO) for k, q in enumerate(system.coordinates))
    pushes[psi] = ZERO if is_nothing(whole) else whole
    states = (*names, *(f"{q}'" for q in names), *system.rates)
    passed = replace(
        system.plain(),
        law=Energies(substitute(lagrangian(system), put), substitute(system.dissipation, put)),
        coordinates=names,
        states=states,
        initial=_start(system, cut, names),
        forces={q: e for q, e in pushes.items() if e != ZERO},
        rates={name: substitute(rate, put) for name, rate in system.rates.items()},
        constraints=tuple(replace(c, expression=substitute(c.expression, put)) for c in system.constraints),
        quasi={},
        integrals=(),
        drawings=(),
        limits=(),
        box=_box(system, cut, names),
        run={},
        words={"parameters": system.words.get("parameters", {})},
    )
    radius = None if cut.radius is None else names[cut.radius]
    return SymmetryPassage(passed, psi, radius, _told(system, cut, names, moved))


def _slice(symmetry: Symmetry) -> _Slice | None:
    """A coordinate that is shifted by itself, or a plane that turns by itself."""
    matrix, shift = symmetry.matrix, symmetry.shift
    for k in range(len(shift)):
        if shift[k] and not matrix[k].any():
            return _Slice(k, None, matrix / shift[k], shift / shift[k])
    for i in range(len(shift)):
        j = int(np.argmax(np.abs(matrix[i])))
        rate = matrix[j, i]
        alone = np.count_nonzero(matrix[i]) == 1 == np.count_nonzero(matrix[j])
        if alone and i < j and abs(rate + matrix[i, j]) <= 1e-9 * abs(rate) and not (shift[i] or shift[j]):
            return _Slice(j, i, matrix / rate, shift / rate)
    return None


def _names(system: System, cut: _Slice) -> tuple[str, ...]:
    """The new names: what is not moved keeps its own."""
    taken = {*system.constants, *system.states}

    def free(name: str) -> str:
        while name in taken:
            name += "_"
        taken.add(name)
        return name

    old = system.coordinates
    new = list(old)
    if cut.radius is not None:
        plane = f"{old[cut.radius]}{old[cut.fixed]}"
        for k, name in ((cut.radius, "rho"), (cut.fixed, "psi")):
            new[k] = free(name if name not in taken else f"{name}_{plane}")
    for k, q in enumerate(old):
        if k in (cut.fixed, cut.radius) or not (cut.matrix[k].any() or cut.shift[k]):
            continue
        new[k] = free(f"{q}_turned" if cut.matrix[k].any() else f"{q}_from_{old[cut.fixed]}")
    return tuple(new)


def _field(cut: _Slice, sigma: list[Expression], k: int) -> Expression:
    """ξ_k at σ."""
    terms = [number(cut.matrix[k, j]) * sigma[j] for j in range(len(sigma)) if cut.matrix[k, j]]
    return add_up([number(cut.shift[k]), *terms])


def _start(system: System, cut: _Slice, names: tuple[str, ...]) -> dict[str, float]:
    """The initial state in the new coordinates: Φ_-ψ brings it to ψ = 0."""
    start = dict(zip(system.states, system.initial_state(), strict=True))
    q = np.array([start[name] for name in system.coordinates])
    v = np.array([start[f"{name}'"] for name in system.coordinates])
    psi = float(q[cut.fixed] if cut.radius is None else np.arctan2(q[cut.fixed], q[cut.radius]))
    size = len(q)
    affine = np.zeros((size + 1, size + 1))
    affine[:size, :size], affine[:size, size] = cut.matrix, cut.shift
    back = _exponential(-psi * affine)
    q, v = back[:size, :size] @ q + back[:size, size], back[:size, :size] @ v
    q[cut.fixed] = 0.0
    along = cut.matrix @ q + cut.shift
    speed = float(v[cut.fixed] / along[cut.fixed]) if along[cut.fixed] else 0.0
    v = v - speed * along
    q[cut.fixed], v[cut.fixed] = psi, speed
    own = {name: start[name] for name in system.rates}
    return dict(zip((*names, *(f"{name}'" for name in names)), map(float, (*q, *v)), strict=True)) | own


def _exponential(matrix: Array) -> Array:
    """e^X by its series, scaled and squared."""
    halvings = max(0, int(np.ceil(np.log2(max(1e-300, 4 * float(np.abs(matrix).sum(axis=1).max()))))))
    small = matrix / 2.0**halvings
    found = term = np.eye(len(matrix))
    for k in range(1, 20):
        term = term @ small / k
        found = found + term
    for _ in range(halvings):
        found = found @ found
    return found


def _box(system: System, cut: _Slice, names: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    """Where the new coordinates are when the old ones are in their box; unbounded ones are left to the user."""
    box = {name: side for name, side in system.box.items() if name not in system.coordinates or name in names}
    sides = [system.box.get(q) for q in system.coordinates]
    box.pop(system.coordinates[cut.fixed], None)
    for k, name in enumerate(names):
        if name == system.coordinates[k] or k == cut.fixed:
            continue
        if cut.matrix[k].any():
            meant = [sides[j] for j in {k, *np.flatnonzero(cut.matrix[k])}]
            reach = float(np.hypot.reduce([max(map(abs, side)) for side in meant if side]))
            if all(side is not None for side in meant) and reach > 0:
                box[name] = (SMALLEST * reach, reach) if k == cut.radius else (-reach, reach)
        elif sides[k] is not None and sides[cut.fixed] is not None:
            here, there = sides[k] or (), sides[cut.fixed] or ()
            ends = [x - cut.shift[k] * y for x in here for y in there]
            box[name] = (min(ends), max(ends))
    return box


def _told(system: System, cut: _Slice, names: tuple[str, ...], moved: list[str]) -> str:
    old = system.coordinates
    told = []
    if cut.radius is not None:
        rho, psi = names[cut.radius], names[cut.fixed]
        told.append(f"{old[cut.radius]} = {rho}*cos({psi}), {old[cut.fixed]} = {rho}*sin({psi}) are taken")
        moved = [q for q in moved if q not in (old[cut.radius], old[cut.fixed])]
    by_name = dict(zip(old, names, strict=True))
    turned = [q for q in moved if cut.matrix[old.index(q)].any()]
    if turned:
        axes = "axes that turn along" if cut.radius is None else f"axes that turn with {names[cut.fixed]}"
        told.append(f"{', '.join(turned)} are told in {axes} ({', '.join(by_name[q] for q in turned)})")
    for q in moved:
        if q not in turned:
            shift = number(cut.shift[old.index(q)]) * se.Symbol(old[cut.fixed])
            told.append(f"{by_name[q]} = {to_text(se.Symbol(q) - shift)}")
    return "; ".join(told)
