"""All equilibria of a system in a box, with the inputs that hold them and a verdict on their stability.

The search is a subdivision with interval bounds, so that the list is complete: parts of the box that were discarded are
proved to be empty. When the unknowns outnumber the equations, or the equations depend on each other, the equilibria form
a family: its dimension is told, and what may be prescribed to single out members.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svyaz import __version__
from svyaz.expr import ModelError
from svyaz.model import System
from svyaz.stability.boxes import Zeros, all_zeros, newton
from svyaz.stability.critical import UNDECIDED, Verdict, stability, words_for
from svyaz.stability.linearisation import FirstApproximation, first_approximation
from svyaz.stability.rest import RestEquations, rest_equations

Array = NDArray[np.float64]

SAMPLES = 60
"""Starts of Newton's method from which a family is recognised."""

DEPENDENT = 1e-8
"""A singular value below this part of the largest means that the equations depend on each other."""


@dataclass(frozen=True)
class Equilibrium:
    """A position of rest: values of coordinates and further states, of inputs, of the multipliers of the constraints.

    ``parameters`` are those that were unknown. ``verdict`` is missing where the first approximation has no split.
    """

    state: Mapping[str, float]
    inputs: Mapping[str, float]
    multipliers: Mapping[str, float]
    parameters: Mapping[str, float]
    approximation: FirstApproximation | None
    verdict: Verdict | None
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As the contract writes it."""
        verdict = self.verdict
        roots = [] if verdict is None else [[float(z.real), float(z.imag)] for z in verdict.roots]
        return {
            "state": dict(self.state),
            "inputs": dict(self.inputs),
            "multipliers": dict(self.multipliers),
            "parameters": dict(self.parameters),
            "roots": roots,
            "zero_roots": None if verdict is None else verdict.zero_roots,
            "constraint_roots": None if verdict is None else verdict.constraint_roots,
            "verdict": UNDECIDED if verdict is None else verdict.word,
            "theorem": "" if verdict is None else verdict.theorem,
            "hypotheses": [] if verdict is None else words_for(verdict.hypotheses),
            "notes": [*self.notes, *(verdict.notes if verdict else ())],
        }


@dataclass(frozen=True)
class Equilibria:
    """What was found. ``dimension`` is that of the set of equilibria: 0 for single points; of a family, ``members`` are
    examples and ``free`` the names any of which may be prescribed.
    """

    system: System
    equilibria: tuple[Equilibrium, ...]
    dimension: int
    complete: bool
    box: Mapping[str, tuple[float, float]]
    fixed: Mapping[str, float]
    free: tuple[str, ...] = ()
    members: tuple[Mapping[str, float], ...] = ()
    parts: int = 0
    notes: tuple[str, ...] = field(default=())

    @property
    def family(self) -> bool:
        return self.dimension > 0

    def reason(self) -> str:
        """Why the answer is negative, or an empty text."""
        if not self.family:
            return ""
        names = ", ".join(self.free)
        count = "one of them" if self.dimension == 1 else f"{self.dimension} of them"
        return f"the equilibria form a family of dimension {self.dimension}: prescribe {count} by --fix ({names})"

    def as_json(self) -> dict[str, Any]:
        return {
            "svyaz": __version__,
            "model": self.system.name,
            "equilibria": [e.as_json() for e in self.equilibria],
            "dimension": self.dimension,
            "complete": self.complete,
            "box": {name: list(sides) for name, sides in self.box.items()},
            "fixed": dict(self.fixed),
            "may_be_fixed": list(self.free),
            "members": [dict(m) for m in self.members],
            "reason": self.reason(),
            "notes": list(self.notes),
            "parameters": dict(self.system.constants),
            "initial": dict(zip(self.system.states, self.system.initial_state(), strict=True)),
        }


def equilibria(
    system: System,
    fix: Mapping[str, float] | None = None,
    box: Mapping[str, tuple[float, float]] | None = None,
    *,
    dependent: Sequence[str] | None = None,
    seed: int = 0,
) -> Equilibria:
    """All equilibria with the unknowns in their box.

    ``fix`` prescribes coordinates, inputs or parameters; inputs that are not prescribed are unknowns, and so is a
    parameter with a side in ``box``. ``seed`` varies the starts from which a family is recognised, nothing else.
    """
    rest = rest_equations(system, fix, box)
    searched = {name: rest.box[name] for name in rest.bounded}
    family = _family(rest, seed)
    if family is not None:
        dimension, free, members = family
        return Equilibria(system, (), dimension, False, searched, rest.fixed, free, members)
    zeros = all_zeros(rest.problem, rest.low, rest.high)
    points = _distinct(rest, zeros)
    found = tuple(_equilibrium(rest, point, dependent) for point in points)
    notes = _doubts(rest, zeros)
    return Equilibria(system, found, 0, not notes, searched, rest.fixed, parts=zeros.parts, notes=notes)


def _family(rest: RestEquations, seed: int) -> tuple[int, tuple[str, ...], tuple[dict[str, float], ...]] | None:
    """(dimension, names that may be prescribed, members) when solutions are not isolated."""
    random = np.random.default_rng(seed)
    excess = len(rest.unknowns) - rest.problem.equations
    members: list[Array] = []
    directions: list[Array] = []
    positions = random.uniform(rest.low, rest.high, (SAMPLES, len(rest.bounded)))
    starts, scale = _with_free(rest, positions)
    for zero in newton(rest.problem, starts, scale=scale):
        if np.isnan(zero).any() or not _inside(rest, zero, 1e-6):
            continue
        null = _null_space(rest, zero)
        if null.shape[1] and (excess > 0 or _goes_on(rest, zero, null)):
            members.append(zero)
            directions.append(null)
        if len(members) >= 3:
            break
    if not members and excess > 0:
        return excess, tuple(n for n in rest.unknowns if not n.startswith("multiplier of ")), ()
    if not members:
        return None
    dimension = min(null.shape[1] for null in directions)
    size = np.max([np.abs(null).max(axis=1) for null in directions], axis=0)
    named = [(name, s) for name, s in zip(rest.unknowns, size, strict=True) if not name.startswith("multiplier of ")]
    free = tuple(name for name, s in named if s > 1e-6)
    return dimension, free, tuple(_named(rest, m) for m in members)


def _with_free(rest: RestEquations, positions: Array) -> tuple[Array, Array]:
    """(q, y) with the best y for each q, and scales in which moving y costs little beside moving q."""
    free = np.zeros((len(positions), len(rest.free)))
    value, slope = rest.problem.value_and_slope(np.hstack([positions, free]))
    linear = slope[:, :, len(rest.bounded) :]
    usable = np.isfinite(value).all(axis=1) & np.isfinite(linear).all(axis=(1, 2))
    free[usable] = -np.einsum("nij,nj->ni", np.linalg.pinv(linear[usable], rcond=1e-10), value[usable])
    sizes = np.median(np.abs(free[usable]), axis=0) if usable.any() else np.zeros(len(rest.free))
    width = np.where(rest.high > rest.low, rest.high - rest.low, 1.0)
    return np.hstack([positions, free]), np.concatenate([width, 1e3 * (1 + sizes)])


def _null_space(rest: RestEquations, zero: Array) -> Array:
    """Directions in which the equations do not change, columns scaled by the sizes of the unknowns' effects."""
    slope = rest.problem.value_and_slope(zero[None, :])[1][0]
    columns = np.linalg.norm(slope, axis=0)
    scale = np.where(columns > 0, columns, 1.0)
    _, values, rows = np.linalg.svd(slope / scale)
    rank = int(np.count_nonzero(values > DEPENDENT * values.max(initial=0.0)))
    null = rows[rank:].T / scale[:, None]
    lengths = np.linalg.norm(null, axis=0)
    return np.asarray(null / np.where(lengths > 0, lengths, 1.0))


def _goes_on(rest: RestEquations, zero: Array, null: Array) -> bool:
    """Does the solution continue along each of its null directions? Else it is a multiple one, not a family."""
    for k in range(null.shape[1]):
        step = 1e-3 * (1 + float(np.abs(zero).max(initial=0.0)))
        near = newton(rest.problem, (zero + step * null[:, k])[None, :])[0]
        moved = float(np.abs(near - zero).max())
        if not moved >= 0.5 * step * float(np.abs(null[:, k]).max()):
            return False
        if not _null_space(rest, near).shape[1]:
            return False
    return True


def _inside(rest: RestEquations, zero: Array, slack: float) -> bool:
    q = zero[: len(rest.bounded)]
    margin = slack * (rest.high - rest.low)
    return bool(np.all(q >= rest.low - margin) and np.all(q <= rest.high + margin))


def _distinct(rest: RestEquations, zeros: Zeros) -> list[Array]:
    """Zeros in the box, angles in (-π, π], none twice; in the order of their coordinates."""
    found: list[Array] = []
    for zero in zeros.points:
        if not _inside(rest, zero, 1e-9):
            continue
        point = zero.copy()
        for k, name in enumerate(rest.bounded):
            if name in rest.angles and point[k] <= -pi + 1e-9:
                point[k] += 2 * pi
        if not any(np.all(np.abs(point - other) <= 1e-7 * (1 + np.abs(other))) for other in found):
            found.append(point)
    return sorted(found, key=lambda x: tuple(np.round(x[: len(rest.bounded)], 7)))


def _named(rest: RestEquations, point: Array) -> dict[str, float]:
    return {name: float(x) for name, x in zip(rest.unknowns, point, strict=True)} | dict(rest.fixed)


def _equilibrium(rest: RestEquations, point: Array, dependent: Sequence[str] | None) -> Equilibrium:
    system = rest.system
    point = np.where(np.abs(point) < 1e-14, 0.0, point)
    values = _named(rest, point)
    state = {name: values[name] for name in (*system.coordinates, *system.rates)}
    inputs = {name: values.get(name, system.inputs[name].value) for name in system.inputs}
    parameters = {name: values[name] for name in system.parameters if name in values}
    pushes = {c.name: values[f"multiplier of {c.name}"] for c in system.constraints}
    there = system.with_settings(parameters) if parameters else system
    notes: tuple[str, ...] = ()
    approximation, verdict = None, None
    try:
        approximation = first_approximation(there, state, inputs, dependent)
        verdict = stability(approximation)
        notes = approximation.notes
    except ModelError as error:
        notes = (str(error),)
    limits = [
        f"the input '{name}' = {inputs[name]:.6g} is beyond its limits"
        for name, given in system.inputs.items()
        if (given.low is not None and inputs[name] < given.low)
        or (given.high is not None and inputs[name] > given.high)
    ]
    return Equilibrium(state, inputs, pushes, parameters, approximation, verdict, (*notes, *limits))


def _doubts(rest: RestEquations, zeros: Zeros) -> tuple[str, ...]:
    """Words for parts of the box that could not be decided, joined where they touch."""
    if zeros.complete:
        return ()
    d = len(rest.bounded)
    centres = np.array([0.5 * (lo[:d] + hi[:d]) for lo, hi in zeros.undecided])
    width = np.where(rest.high > rest.low, rest.high - rest.low, 1.0)
    places: list[Array] = []
    for c in centres:
        if not any(np.all(np.abs(c - p) <= 1e-3 * width) for p in places):
            places.append(c)
    told = [", ".join(f"{name} = {x:.5g}" for name, x in zip(rest.bounded, p, strict=True)) for p in places[:5]]
    more = "" if len(places) <= 5 else f" and {len(places) - 5} more places"
    return (f"not decided near {'; '.join(told)}{more}: a multiple or degenerate equilibrium, or a singular position",)
