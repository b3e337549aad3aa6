"""What the potential energy says of stability: a strict minimum on the surface of the constraints, or none.

Theorem (Lagrange, Dirichlet; Routh for redundant coordinates): at a strict minimum of W = Π - T₀ on the constraints the
equilibrium is stable if the kinetic energy is positive and all other forces give no power or take it. A minimum is shown by
the second differential, or, where that leaves one direction undecided and is positive across it, by the first power that
does not vanish along it; along several directions by the first form (``soft_directions``).

Without a minimum in these directions the equilibrium is unstable when nothing but the potential acts (W. T. Koiter 1965), and
with one degree of freedom also when power is taken: a motion from rest at W < 0 keeps to W < 0, where there is no rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import ZERO, Expression, add_up, differentiate, evaluate, names_in, quadratic, substitute, velocity
from svyaz.forms import is_nothing, lagrangian
from svyaz.matrices import eigh, eigvalsh
from svyaz.model import System
from svyaz.stability.admissible import is_symbolic
from svyaz.stability.hypotheses import Hypothesis
from svyaz.stability.linearisation import FirstApproximation
from svyaz.stability.reduction import ReducedForce
from svyaz.stability.soft_directions import SoftEnergy, soft_energy

NEARBY = (0.1, 0.01)
"""Spreads, beside 1 and the coordinate, of the random states at which power is examined."""

MINIMUM = "the potential energy on the constraints has a strict minimum"


@dataclass(frozen=True)
class Conservative:
    """The conditions on the forces, that of the minimum, and along how many soft directions the latter was decided."""

    forces: tuple[Hypothesis, ...]
    minimum: Hypothesis
    soft: int

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        return (*self.forces, self.minimum)


def conservative(approximation: FirstApproximation, reduced: ReducedForce | None, reach: float) -> Conservative:
    """The conditions of the theorem of Lagrange and Dirichlet at an equilibrium that is known to ``reach``."""
    system = approximation.system
    potential = has_potential(system, approximation.state) if _knows_speeds(system) else None
    alone = not system.rates
    light = not is_positive(approximation.inertia)
    written = is_symbolic(system)  # else there is no series of the energy
    together = bool(potential) and alone and written and not light
    minimum, soft = _minimum(approximation, reduced, reach, together=together)
    forces = Hypothesis(
        "the forces have a potential, or give no power (gyroscopic, dissipative; examined at random states nearby)",
        potential,
    )
    told = (Hypothesis("the kinetic energy is positive", False),) if light else ()
    return Conservative((*told, forces, Hypothesis("no further states take part", alone)), minimum, soft)


def is_positive(matrix: Array) -> bool:
    """Is the symmetric matrix positive, whatever the units of its rows?"""
    sizes = np.sqrt(np.abs(np.diag(matrix)))
    return bool(np.all(np.diag(matrix) > 0.0)) and bool(eigvalsh(matrix / np.outer(sizes, sizes))[0] > 0.0)


def _minimum(
    approximation: FirstApproximation, reduced: ReducedForce | None, reach: float, *, together: bool
) -> tuple[Hypothesis, int]:
    """Is there a minimum, and along how many soft directions was it decided? Several are examined with ``together``."""
    symmetric = 0.5 * (approximation.stiffness + approximation.stiffness.T)
    sizes = np.sqrt(np.maximum(np.diag(approximation.inertia), 1e-300))
    values = eigvalsh(symmetric / np.outer(sizes, sizes))
    small = 1e-10 * float(np.abs(values).max(initial=0.0))
    if np.all(values > small):
        return Hypothesis(f"{MINIMUM}: its second differential is positive", True), 0
    if values[0] < -small:
        return Hypothesis(f"{MINIMUM}: its second differential takes negative values", False), 0
    if np.count_nonzero(values <= small) > 1:
        energy = soft_energy(approximation, _soft(approximation, small), reach) if together else None
        if energy is not None and energy.positive is not None:
            return _of_form(energy), energy.count
    elif reduced is not None and reduced.power:
        return _of_power(reduced), 1
    return Hypothesis(f"{MINIMUM}: its second differential does not decide", None), 0


def _of_power(reduced: ReducedForce) -> Hypothesis:
    """What the first power of the energy along one soft direction says."""
    rises = reduced.power % 2 == 1 and reduced.coefficient * reduced.lever < 0
    order = reduced.power + 1
    text = f"{MINIMUM}: across its one soft direction the second differential is positive, along it the power {order} "
    return Hypothesis(f"{text}{'rises' if rises else 'falls'}, lower ones vanish to rounding", rises)


def _of_form(energy: SoftEnergy) -> Hypothesis:
    """What the first form of the energy along several soft directions says."""
    said = "is positive" if energy.positive else "takes negative values"
    return Hypothesis(
        f"{MINIMUM}: across its {energy.count} soft directions the second differential is positive, along them the form of "
        f"degree {energy.degree} {said}, lower ones vanish to rounding",
        energy.positive,
    )


def _soft(approximation: FirstApproximation, small: float) -> Array:
    """Displacements (n, k) with K r = 0 and rᵀ M r = 1, orthogonal in that sense."""
    symmetric = 0.5 * (approximation.stiffness + approximation.stiffness.T)
    spread = np.linalg.inv(np.linalg.cholesky(approximation.inertia)).T
    values, vectors = eigh(spread.T @ symmetric @ spread)
    largest = float(np.abs(values).max(initial=0.0))
    return np.asarray(spread @ vectors[:, np.abs(values) <= max(small, 1e-10 * largest)], dtype=float)


def all_motions_are_damped(approximation: FirstApproximation) -> Hypothesis:
    """Is the matrix of damping positive? By A = (0, 1; -M⁻¹K, -M⁻¹D).

    Beside gyroscopic terms and frequencies: what they leave to rounding is no damping.
    """
    n = len(approximation.independent)
    A, inertia = approximation.A[n : 2 * n], approximation.inertia
    sizes = np.sqrt(np.maximum(np.diag(inertia), 1e-300))
    terms = -(inertia @ A[:, n : 2 * n]) / np.outer(sizes, sizes)
    frequency = np.sqrt(np.abs(inertia @ A[:, :n] / np.outer(sizes, sizes)).max(initial=0.0))
    values = eigvalsh(0.5 * (terms + terms.T))
    positive = bool(values[0] > 1e-8 * max(np.abs(terms).max(), frequency))
    return Hypothesis("power is taken from every motion: the matrix of damping is positive", positive)


def without_minimum(approximation: FirstApproximation) -> Hypothesis | None:
    """Why a soft direction without a minimum is unstable here; none where no theorem says so."""
    if len(approximation.independent) == 1:
        return Hypothesis(
            "there is one degree of freedom: a motion from rest at a lower energy cannot stay nearby", True
        )
    if only_potential(approximation.system):
        return Hypothesis("no forces depend on velocities, and the kinetic energy is quadratic in them", True)
    return None


def only_potential(system: System) -> bool:
    """Do no forces depend on velocities, and is the kinetic energy quadratic in them?"""
    speeds = {f"{q}'" for q in system.coordinates}
    terms = quadratic(lagrangian(system), [velocity(q) for q in system.coordinates])
    linear = terms is None or any(len(key) == 1 and not is_nothing(e) for key, e in terms.items())
    values = {se.Symbol(name): se.RealDouble(x) for name, x in system.constants.items()}
    moving = any(names_in(substitute(force, values)) & speeds for force in system.forces.values())
    return not linear and not moving and system.dissipation == ZERO and not system.rates


def _knows_speeds(system: System) -> bool:
    """Do the forces contain no velocities but those of the coordinates? Speeds of ignored ones change with the position."""
    own = set(system.velocities)
    return all(name in own for force in system.forces.values() for name in names_in(force) if name.endswith("'"))


def has_potential(system: System, state: Mapping[str, float] | None = None) -> bool:
    """Do the given forces consist of a part with symmetric derivatives by position, and a rest that gives no power?

    The power of the rest Q(q, q̇) - Q(q, 0), and of the dissipation -∂R/∂q̇, is examined at random states near the one
    given: it must not be positive.
    """
    still = {velocity(q): ZERO for q in system.coordinates}
    given = {q: system.forces.get(q, ZERO) for q in system.coordinates}
    held = {q: substitute(force, still) for q, force in given.items()}
    moving = [q for q, force in given.items() if force.free_symbols & {*still}]
    lost = {q: differentiate(system.dissipation, velocity(q)) for q in system.coordinates}
    for power in (
        add_up((given[q] - held[q]) * velocity(q) for q in moving),
        add_up(-lost[q] * velocity(q) for q in system.coordinates),
    ):
        if not _never_positive(power, system, state):
            return False
    names = system.coordinates
    return all(_equal_slopes(held[a], b, held[b], a) for i, a in enumerate(names) for b in names[i + 1 :])


def _never_positive(power: Expression, system: System, state: Mapping[str, float] | None) -> bool:
    """By its values at random states, apart from rounding."""
    if power == ZERO or is_nothing(power):
        return True
    random = np.random.default_rng(3)
    names = sorted(names_in(power) - set(system.constants))
    centre = np.array([(state or {}).get(name, 0.0) for name in names])
    for spread in NEARBY if state is not None else (1.0,):
        rows = centre + spread * (1 + np.abs(centre)) * random.normal(size=(24, len(names)))
        points = ({**system.constants, **dict(zip(names, map(float, row), strict=True))} for row in rows)
        values = np.array([evaluate(power, point) for point in points])
        values = values[np.isfinite(values)]
        if not len(values) or values.max() > 1e-12 * np.abs(values).max():
            return False
    return True


def _equal_slopes(first: Expression, by_second: str, second: Expression, by_first: str) -> bool:
    difference = differentiate(first, se.Symbol(by_second)) - differentiate(second, se.Symbol(by_first))
    return bool(difference == ZERO) or is_nothing(difference)
