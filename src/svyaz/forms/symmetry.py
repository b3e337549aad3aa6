"""Linear symmetries that are no coordinates: fields ξ(q) = A q + b along which nothing changes.

    ∂L/∂q·ξ + ∂L/∂q̇·(A q̇) = 0   identically, the same for the Rayleigh function, the constraints F and further rates, and

    ∂Q/∂q·ξ + ∂Q/∂q̇·(A q̇) + Aᵀ Q = 0   for the forces, which turn with the coordinates:

then dp/dt = Q·ξ - ∂D/∂q̇·ξ for p = ∂L/∂q̇·ξ, a first integral where nothing pushes along ξ (E. Noether 1918). The conditions are
linear in A and b: they are asked at random states, and the fields that are left are proved on the expressions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import symengine as se
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.expr import ZERO, Expression, add_up, at_points, differentiate, gradient, substitute, to_text, velocity
from svyaz.forms.cyclic import pseudo_cyclic
from svyaz.forms.named.lagrange import applied_forces
from svyaz.forms.stated import kinetic_and_potential, lagrangian
from svyaz.forms.vanishing import is_nothing
from svyaz.matrices import svd
from svyaz.model import Mechanical, System

MOST_COORDINATES = 12
"""There are n² + n unknown entries: of larger systems only absent coordinates are found."""

NEGLIGIBLE = 1e-9


@dataclass(frozen=True)
class Symmetry:
    """ξ = ``matrix`` q + ``shift``, by coordinate ``field``; the ``momentum`` along it, and what pushes it."""

    matrix: Array
    shift: Array
    field: dict[str, Expression]
    momentum: Expression
    push: Expression

    @property
    def conserved(self) -> bool:
        """Is the momentum a first integral?"""
        return bool(self.push == ZERO)

    @property
    def text(self) -> str:
        """What does not change, and what is constant for it."""
        moved = ", ".join(f"{q} by {to_text(e)}" for q, e in self.field.items())
        kept = "is constant" if self.conserved else "changes by forces along it alone"
        return f"moving {moved} changes nothing, so that {to_text(self.momentum)} {kept}"


def linear_symmetries(system: System, free: Sequence[str] = ()) -> tuple[Symmetry, ...]:
    """The fields along which nothing changes, whatever the values of the ``free`` parameters, other than those of absent
    coordinates alone.
    """
    n = len(system.coordinates)
    if not isinstance(system.law, Mechanical) or n > MOST_COORDINATES:
        return ()
    if system.freedoms != system.coordinates:  # velocities of free joints are no rates of coordinates
        return ()
    if any(c.servo or c.order for c in system.constraints):  # controls and rolling push along fields too
        return ()
    scalars, forces = _stated(system, free)
    absent = np.array([q in {c.name for c in pseudo_cyclic(system)} for q in system.coordinates])
    # entries by which a field would depend on an absent coordinate are eliminated first: the others leave it absent
    first = np.append(np.tile(absent, n), np.zeros(n, dtype=bool))
    rows = _null_space(_conditions(system, scalars, forces), np.argsort(~first, kind="stable"))
    left = [row for row in rows if not np.abs(row[first]).max(initial=0.0) > NEGLIGIBLE]
    read = (_read(system, row[: n * n].reshape(n, n), row[n * n :], forces) for row in left)
    return tuple(s for s in read if s is not None and _is_proved(system, s, scalars, forces))


def _stated(system: System, free: Sequence[str]) -> tuple[list[Expression], list[Expression]]:
    """What must not change, and the forces Q - ∂D/∂q' by coordinate; with the numbers of parameters that are not free.

    A linear field changes what moves in L and what is there at rest each into its like: asked apart, neither is lost in the
    rounding of the other, which may be larger by any number of digits (planets, atoms).
    """
    numbers = {se.Symbol(name): se.RealDouble(x) for name, x in system.constants.items() if name not in free}
    kinetic, potential = kinetic_and_potential(system)
    at_rest = substitute(kinetic, {velocity(q): ZERO for q in system.coordinates})
    energies = [kinetic - at_rest, at_rest - potential]
    scalars = [*energies, *(c.expression for c in system.constraints), *system.rates.values()]
    return (
        [substitute(e, numbers) for e in scalars],
        [substitute(-e, numbers) for e in applied_forces(system)],
    )


def _conditions(system: System, scalars: Sequence[Expression], forces: Sequence[Expression]) -> Array:
    """A row for each condition at each of many random states, in the entries of A and of b."""
    q = [se.Symbol(name) for name in system.coordinates]
    v = [velocity(name) for name in system.coordinates]
    acting = [k for k, e in enumerate(forces) if e != ZERO]
    everything = [*scalars, *(forces[k] for k in acting)]
    n, count = len(q), len(everything)
    names = [*map(str, [*q, *v])]
    names += sorted({str(s) for e in everything for s in e.free_symbols} - set(names))
    random = np.random.default_rng(5)
    states = random.uniform(0.3, 1.1, (n * n + n + 10, len(names)))
    states[:, n : 2 * n] = random.uniform(-1.0, 1.0, (len(states), n))
    entries = [e for each in everything for e in (*gradient(each, q), *gradient(each, v))]
    found = at_points([*entries, *forces], names)(states)
    slopes, pushes = found[:, : len(entries)].reshape(-1, count, 2, n), found[:, len(entries) :]
    by_place, by_speed = slopes[:, :, 0], slopes[:, :, 1]
    place, speed = states[:, None, None, :n], states[:, None, None, n : 2 * n]
    matrices = by_place[..., None] * place + by_speed[..., None] * speed
    for row, k in enumerate(acting, len(scalars)):
        matrices[:, row, :, k] += pushes
    return np.concatenate([matrices.reshape(-1, n * n), by_place.reshape(-1, n)], axis=1)


def _null_space(conditions: Array, order: NDArray[np.intp]) -> Array:
    """A basis with as many zeros as elimination in this order of the columns gives."""
    finite = conditions[np.isfinite(conditions).all(axis=1)]
    if not len(finite):
        return np.zeros((0, conditions.shape[1]))
    sizes = np.linalg.norm(finite, axis=1, keepdims=True)
    _, values, vectors = svd(finite / np.where(sizes > 0, sizes, 1.0))
    basis = vectors[int(np.sum(values > NEGLIGIBLE * values[0])) :].copy()
    pivot = 0
    for column in order:
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


def _read(system: System, matrix: Array, shift: Array, forces: Sequence[Expression]) -> Symmetry | None:
    """The field with its numbers, whole ones as such; None where it moves one absent coordinate alone."""
    names, absent = system.coordinates, {c.name for c in pseudo_cyclic(system)}
    present = [q not in absent for q in names]
    turning = matrix[present][np.abs(matrix[present]) > NEGLIGIBLE]
    # -1 where a rotation of what is not absent begins, as is usual
    unit = -turning[0] if len(turning) else 1.0
    matrix, shift = _rounded(matrix / unit), _rounded(shift / unit)
    field = {}
    for i, name in enumerate(names):
        terms = [number(matrix[i, j]) * se.Symbol(q) for j, q in enumerate(names) if matrix[i, j]]
        terms += [number(shift[i])] if shift[i] else []
        if terms:
            field[name] = add_up(terms)
    if not field or (len(field) == 1 and not matrix.any()):
        return None
    slopes = dict(zip(names, gradient(lagrangian(system), [velocity(q) for q in names]), strict=True))
    push = add_up(field[q] * e for q, e in zip(names, forces, strict=True) if q in field)
    return Symmetry(
        matrix,
        shift,
        field,
        add_up(se.expand(e * slopes[q]) for q, e in field.items()),
        ZERO if is_nothing(push) else push,
    )


def _rounded(numbers: Array) -> Array:
    """The entries, simple fractions as such."""
    simple = np.array([float(Fraction(float(x)).limit_denominator(1000)) for x in numbers.ravel()])
    near: Array = np.where(np.abs(numbers.ravel() - simple) < NEGLIGIBLE, simple, numbers.ravel())
    return near.reshape(numbers.shape) + 0.0


def number(x: float) -> Expression:
    """A whole number, a simple fraction or another one."""
    simple = Fraction(x).limit_denominator(1000)
    return se.Rational(simple.numerator, simple.denominator) if float(simple) == x else se.RealDouble(x)


def _is_proved(system: System, found: Symmetry, scalars: Sequence[Expression], forces: Sequence[Expression]) -> bool:
    """The conditions on the expressions themselves."""
    names = system.coordinates
    v = [velocity(q) for q in names]
    rates = {
        velocity(q): add_up(number(found.matrix[i, j]) * v[j] for j in range(len(v)) if found.matrix[i, j])
        for i, q in enumerate(names)
    }

    def change(e: Expression) -> Expression:
        by_place = [differentiate(e, se.Symbol(q)) * along for q, along in found.field.items()]
        return add_up([*by_place, *(differentiate(e, s) * rate for s, rate in rates.items())])

    turned = [
        add_up([change(e), *(number(found.matrix[i, k]) * forces[i] for i in range(len(v)) if found.matrix[i, k])])
        for k, e in enumerate(forces)
    ]
    return all(is_nothing(e) for e in (*map(change, scalars), *turned))
