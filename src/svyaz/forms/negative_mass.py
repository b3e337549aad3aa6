"""Negative masses: parameters that make a stated kinetic energy negative where a motion begins.

What counts is the quadratic form M of the velocities that the constraints allow. A form that is negative whatever the signs of
the parameters are (T = (x'² - y'²)/2) is left to the verdicts and notes, which say what it means.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import Expression, ModelError, Problem, evaluate, gradient, names_in, velocity
from svyaz.matrices import eigh, svd
from svyaz.model import Energies, System

CLEARLY = 1e-9
"""Eigenvalues below minus this part of the largest are negative beyond rounding."""


def refuse_negative_mass(system: System, values: Mapping[str, float] | None = None) -> None:
    """Raise ModelError where a negative mass makes the kinetic energy negative; values replace those of the start."""
    found = find_negative_mass(system, values)
    if found is not None:
        raise ModelError([found])


def find_negative_mass(system: System, values: Mapping[str, float] | None = None) -> Problem | None:
    """What is wrong with the kinetic energy at the start, if negative parameters make it negative there."""
    law, given = system.law, values or {}
    kinetic = law.kinetic if isinstance(law, Energies) else None
    below = [name for name, value in system.parameters.items() if given.get(name, value) < 0]
    if kinetic is None or not below or not (present := names_in(kinetic).intersection(below)):
        return None
    start = dict(zip(system.states, system.initial_state(), strict=True))
    at = {"t": 0.0, **system.constants, **start, **given}
    tangent = _tangent_space(system, at)
    direction = None if tangent is None else _negative_direction(kinetic, system, at, tangent)
    if tangent is None or direction is None:
        return None
    turned = {name: {**at, name: -at[name]} for name in sorted(present)}
    own = _energy(kinetic, system, at, direction)
    guilty = [name for name, other in turned.items() if _energy(kinetic, system, other, direction) > own]
    right = {**at, **{name: -at[name] for name in guilty}}
    if not guilty or _negative_direction(kinetic, system, right, tangent) is not None:
        return None
    return _describe(system, direction, {name: at[name] for name in guilty}, given)


def _describe(system: System, direction: Array, masses: Mapping[str, float], given: Mapping[str, float]) -> Problem:
    least = 1e-6 * float(np.abs(direction).max())
    names = ", ".join(f"{q}'" for q, x in zip(system.coordinates, direction, strict=True) if abs(x) > least)
    told = ", ".join(f"{name} = {value:g}" for name, value in masses.items())
    first = next(iter(masses))
    return Problem(
        f"the kinetic energy is negative for {names} at the start: mass {told}",
        None if first in given else system.place("parameters", first),
        "masses and moments of inertia are not negative",
    )


def _velocities(system: System) -> list[se.Symbol]:
    return [velocity(q) for q in system.coordinates]


def _tangent_space(system: System, at: dict[str, float]) -> Array | None:
    """Columns that span the velocities which the constraints that always act allow; None where these have no values."""
    positions, speeds = [se.Symbol(q) for q in system.coordinates], _velocities(system)
    always = [c for c in system.constraints if not c.varying]
    rows = [gradient(c.expression, speeds if c.order else positions) for c in always]
    matrix = np.array([[evaluate(a, at) for a in row] for row in rows]).reshape(-1, len(speeds))
    if not np.isfinite(matrix).all():
        return None
    if not len(matrix):
        return np.eye(len(speeds))
    _, singular, right = svd(matrix, full_matrices=True)
    rank = int(np.sum(singular > CLEARLY * singular.max(initial=0.0)))
    return np.asarray(right[rank:].T)


def _negative_direction(kinetic: Expression, system: System, at: dict[str, float], tangent: Array) -> Array | None:
    """Velocities of clearly negative kinetic energy, or None."""
    speeds = _velocities(system)
    matrix = np.array([[evaluate(e, at) for e in gradient(p, speeds)] for p in gradient(kinetic, speeds)])
    if not tangent.size or not np.isfinite(matrix).all():
        return None
    scale = np.sqrt(np.abs(np.diagonal(matrix)))
    unit = np.where(scale > 0.0, scale, 1.0)
    basis = np.linalg.qr(unit[:, None] * tangent)[0]  # so that units of the coordinates do not decide
    roots, vectors = eigh(basis.T @ (matrix / np.outer(unit, unit)) @ basis)
    if not roots[0] < -CLEARLY * np.abs(roots).max():
        return None
    return np.asarray(basis @ vectors[:, 0] / unit)


def _energy(kinetic: Expression, system: System, at: dict[str, float], direction: Array) -> float:
    """The part of the kinetic energy that is quadratic in the velocities, doubled."""
    moving = dict(zip(map(str, _velocities(system)), direction.tolist(), strict=True))
    forwards, backwards = (evaluate(kinetic, at | {name: s * v for name, v in moving.items()}) for s in (1.0, -1.0))
    return forwards + backwards - 2.0 * evaluate(kinetic, at | dict.fromkeys(moving, 0.0))
