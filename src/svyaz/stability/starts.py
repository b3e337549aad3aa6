"""Consistent perturbations of an equilibrium: F(r₀ + x*, s₀ + y*) = 0 with a given x* (Algorithm 4.4.1 of Ilyina 2019).

    1. y := B(0) x*;   2. if F is not small enough there, refine y by a trust-region dogleg (Powell) or by Levenberg and
    Marquardt;   3. if there is no solution, x* := x*/2 and again.

The velocities follow from ṡ = B(q) ṙ at the perturbed position.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import symengine as se
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.expr import ModelError, Problem, gradient
from svyaz.matrices import lstsq
from svyaz.model import System
from svyaz.program import build, compile_program, remembered
from svyaz.stability.tables import CompiledTables, compile_tables, slopes_table

Residual = Callable[[Array], tuple[Array, Array]]
"""y → (F, ∂F/∂y)."""

FIRST_RADIUS = 1.0
FIRST_DAMPING = 0.01
MOST_STEPS = 60
HALVINGS = 12

ON_THE_SURFACE = 1e-9
"""|F| over |∂F/∂q| of a start that satisfies the constraints."""


@dataclass(frozen=True)
class Step:
    """One row of the table of an iteration: F², the length of the step that led here, the radius or the damping."""

    number: int
    residual: float
    length: float | None
    parameter: float


@dataclass(frozen=True)
class Refinement:
    """y with F(y) = 0 as far as it went, and how."""

    solution: Array
    steps: tuple[Step, ...]
    solved: bool


@dataclass(frozen=True)
class ConsistentStart:
    """Deviations of all coordinates, velocities and further states from the equilibrium, consistent with the constraints.

    ``halvings`` tells how often the perturbation was halved; ``first_guess`` is B(0) x*.
    """

    deviations: Mapping[str, float]
    state: Mapping[str, float]
    first_guess: Mapping[str, float]
    refinement: Refinement
    halvings: int


@dataclass(frozen=True)
class Start:
    """A start of the closed loop: ``state`` of all coordinates and velocities, ``residuals`` F of the constraints.

    ``halvings`` tells how often the perturbation was halved until the mechanism could reach it, ``steps`` are the rows of the
    iteration that found the redundant coordinates.
    """

    state: Mapping[str, float]
    residuals: Mapping[str, float]
    consistent: bool
    halvings: int
    steps: tuple[Step, ...] = ()


def consistent_start(
    system: System,
    equilibrium: Mapping[str, float],
    dependent: Sequence[str],
    perturbation: Mapping[str, float],
    *,
    refine: Callable[[Residual, Array, float], Refinement] | None = None,
    accuracy: float = 1e-13,
) -> ConsistentStart:
    """The whole initial state for a perturbation of independent coordinates, their velocities and further states.

    ``accuracy`` is the sum of |F| that is small enough, relative to the size of ∂F/∂q.
    """
    position = {q: float(equilibrium[q]) for q in system.coordinates}
    given = dict(perturbation)
    work = ConstraintNumbers(system, dependent)
    solve = refine or dogleg
    halvings = 0
    while True:
        moved = {q: position[q] + given.get(q, 0.0) for q in system.coordinates if q not in dependent}
        guess = work.slope(position) @ np.array([given.get(q, 0.0) for q in work.independent])
        base = np.array([position[s] for s in dependent])
        function = work.residual_of(moved, base)
        enough = accuracy * max(work.size(position), 1e-300)
        refinement = solve(function, guess, enough)
        if refinement.solved:
            break
        if halvings == HALVINGS:
            names = ", ".join(f"{name}={value:g}" for name, value in perturbation.items())
            raise ModelError([Problem(f"no position near the equilibrium satisfies the constraints with {names}")])
        halvings += 1
        given = {name: value / 2 for name, value in given.items()}
    place = {**moved, **dict(zip(dependent, map(float, base + refinement.solution), strict=True))}
    state = {q: place[q] for q in system.coordinates}
    speeds = np.array([given.get(f"{q}'", 0.0) for q in work.independent])
    state |= {f"{q}'": float(v) for q, v in zip(work.independent, speeds, strict=True)}
    state |= {f"{s}'": float(v) for s, v in zip(dependent, work.slope(state) @ speeds, strict=True)}
    state |= {name: float(equilibrium.get(name, 0.0)) + given.get(name, 0.0) for name in system.rates}
    deviations = {name: value - float(equilibrium.get(name, 0.0)) for name, value in state.items()}
    first = dict(zip(dependent, map(float, guess), strict=True))
    return ConsistentStart(deviations, {n: state[n] for n in system.states}, first, refinement, halvings)


@remembered
def _compiled_constraints(system: System) -> CompiledTables:
    """F and ∂F/∂q."""
    constraints = [c.expression for c in system.constraints]
    by = [se.Symbol(q) for q in system.coordinates]
    return compile_tables({"F": ((len(constraints),), constraints), "jacobian": slopes_table(constraints, by)})


NEWTON_STEPS = 30

BRANCH = 2.0
"""A solution farther than this from y = B(0) x lies on another branch of the mechanism."""


def complete_redundant(
    system: System,
    inputs: Mapping[str, float],
    names: Sequence[str],
    dependent: Sequence[str],
    slope: Array,
    equilibrium: Mapping[str, float],
    values: Array,
) -> NDArray[np.bool_]:
    """Put redundant coordinates on the constraints in rows of ``values`` of these names, by Newton's method from y = B(0) x.

    Returns in which rows that was done.
    """
    if not dependent:
        return np.ones(len(values), dtype=bool)
    s = [se.Symbol(q) for q in dependent]
    entries = [c.expression for c in system.constraints]
    entries += [e for c in system.constraints for e in gradient(c.expression, s)]
    outputs = [(str(k), e) for k, e in enumerate(entries)]
    native = compile_program(build(outputs, inputs=system.coordinates, parameters=tuple(system.constants)))
    constants = native.constants({**system.constants, **inputs})
    place = {name: k for k, name in enumerate(names)}
    coordinates, redundant = ([place[q] for q in group] for group in (system.coordinates, dependent))
    own = [q for q in system.coordinates if q not in dependent]
    moved = values[:, [place[q] for q in own]] - [equilibrium[q] for q in own]
    guess, m = moved @ slope.T + [equilibrium[q] for q in dependent], len(s)
    values[:, redundant] = guess
    with np.errstate(all="ignore"):
        for _ in range(NEWTON_STEPS):
            found = native.evaluate(values[:, coordinates], constants)
            slopes = found[:, m:].reshape(-1, m, m) + 0.0
            good = np.isfinite(slopes).all(axis=(1, 2)) & (np.abs(np.linalg.det(slopes)) > 0)
            change = np.full((len(values), m), np.nan)
            change[good] = np.linalg.solve(slopes[good], found[good, :m, None])[:, :, 0]
            values[:, redundant] -= change
    residual = np.abs(native.evaluate(values[:, coordinates], constants)[:, :m]).max(axis=1)
    size = float(np.abs(slopes[np.isfinite(slopes).all(axis=(1, 2))]).max(initial=1e-300))
    near = np.abs(values[:, redundant] - guess).max(axis=1) <= BRANCH
    return np.asarray(np.isfinite(values).all(axis=1) & (residual <= 1e-12 * size) & near)


class ConstraintNumbers:
    """F and its slopes in numbers."""

    def __init__(self, system: System, dependent: Sequence[str]) -> None:
        self.tables, self.constants = _compiled_constraints(system), system.constants
        self.independent = tuple(q for q in system.coordinates if q not in dependent)
        self.dependent = tuple(dependent)
        place = {q: k for k, q in enumerate(system.coordinates)}
        self.r, self.s = ([place[q] for q in names] for names in (self.independent, self.dependent))

    def at(self, position: Mapping[str, float]) -> tuple[Array, Array]:
        """F and ∂F/∂q in the order of the coordinates."""
        found = self.tables.at({**self.constants, **position})
        return found["F"], found["jacobian"]

    def values(self, position: Mapping[str, float]) -> Array:
        """F."""
        return self.at(position)[0]

    def jacobian(self, position: Mapping[str, float]) -> Array:
        """∂F/∂q in the order of the coordinates."""
        return self.at(position)[1]

    def slope(self, position: Mapping[str, float]) -> Array:
        """B = -(∂F/∂s)⁻¹ ∂F/∂r."""
        slopes = self.jacobian(position)
        return np.asarray(-np.linalg.solve(slopes[:, self.s], slopes[:, self.r]), dtype=float)

    def size(self, position: Mapping[str, float]) -> float:
        """The largest entry of ∂F/∂q."""
        return float(np.abs(self.jacobian(position)).max(initial=0.0))

    def residual_of(self, moved: Mapping[str, float], base: Array) -> Residual:
        def function(y: Array) -> tuple[Array, Array]:
            place = {**moved, **dict(zip(self.dependent, map(float, base + y), strict=True))}
            value, slopes = self.at(place)
            return value, slopes[:, self.s]

        return function


def dogleg(function: Residual, start: Array, enough: float) -> Refinement:
    """Powell's dogleg within a trust region whose first radius is 1; a good step makes it 2.5 times the step."""
    y, radius = np.array(start, dtype=float), FIRST_RADIUS
    value, slope = function(y)
    steps = [Step(0, _square(value), None, radius)]
    for number in range(1, MOST_STEPS + 1):
        if np.abs(value).sum() <= enough:
            break
        step = _dogleg_step(value, slope, radius)
        if step is None:
            return Refinement(y, tuple(steps), False)
        trial, trial_slope = function(y + step)
        length = float(np.linalg.norm(step))
        predicted = _square(value) - _square(value + slope @ step)
        ratio = (_square(value) - _square(trial)) / predicted if predicted > 0 else -1.0
        radius = max(radius, 2.5 * length) if ratio >= 0.75 else radius if ratio >= 0.25 else length / 4
        if ratio > 0:
            y, value, slope = y + step, trial, trial_slope
            steps.append(Step(number, _square(value), length, radius))
        if length <= 1e-15 * (1 + float(np.linalg.norm(y))):
            break
    return Refinement(y, tuple(steps), bool(np.abs(value).sum() <= 10 * enough))


def _dogleg_step(value: Array, slope: Array, radius: float) -> Array | None:
    downhill = slope.T @ value
    bend = slope @ downhill
    if not bend.any():
        return None
    cauchy = -(downhill @ downhill) / (bend @ bend) * downhill
    newton = lstsq(slope, -value, rcond=1e-14)
    if np.linalg.norm(newton) <= radius:
        return newton
    if np.linalg.norm(cauchy) >= radius:
        return np.asarray(cauchy * radius / np.linalg.norm(cauchy))
    along = newton - cauchy
    a, b, c = along @ along, 2 * cauchy @ along, cauchy @ cauchy - radius**2
    return np.asarray(cauchy + (-b + np.sqrt(b * b - 4 * a * c)) / (2 * a) * along)


def levenberg_marquardt(function: Residual, start: Array, enough: float) -> Refinement:
    """(JᵀJ + λE) step = -JᵀF, λ = 0.01 at first, a tenth of it after a success, ten times it after a failure."""
    y, damping = np.array(start, dtype=float), FIRST_DAMPING
    value, slope = function(y)
    steps = [Step(0, _square(value), None, damping)]
    for number in range(1, 4 * MOST_STEPS + 1):
        if np.abs(value).sum() <= enough:
            break
        step = np.linalg.solve(slope.T @ slope + damping * np.eye(len(y)), -slope.T @ value)
        trial, trial_slope = function(y + step)
        if _square(trial) < _square(value):
            y, value, slope, damping = y + step, trial, trial_slope, damping / 10
            steps.append(Step(number, _square(value), float(np.linalg.norm(step)), damping))
        else:
            damping *= 10
        if np.linalg.norm(step) <= 1e-15 * (1 + float(np.linalg.norm(y))):
            break
    return Refinement(y, tuple(steps), bool(np.abs(value).sum() <= 10 * enough))


def _square(value: Array) -> float:
    return float(value @ value)
