"""All equilibria of a system in a box, with the inputs that hold them and a verdict on their stability.

The search is a subdivision with interval bounds, so that the list is complete: parts of the box that were discarded are
proved to be empty. When the unknowns outnumber the equations, or the equations depend on each other, the equilibria form
a family: its dimension is told, and what may be prescribed to single out members.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import pi

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import Advice, ModelError
from svyaz.model import System
from svyaz.stability.boxes import LEAST_WIDTH, Zeros, all_zeros, among, newton, zeros_near
from svyaz.stability.critical import StabilityVerdict, stability
from svyaz.stability.derivatives import check_redundant
from svyaz.stability.families import EquilibriumFamily, family_among, family_of, rounded, with_free
from svyaz.stability.linearisation import FirstApproximation, first_approximation, formal_approximation
from svyaz.stability.reduction import EXACT
from svyaz.stability.rest import RestEquations, beyond_limits, rest_equations, what_fails, with_values
from svyaz.stability.rolling import completed_speeds, rolling_approximation
from svyaz.stability.rolling_rest import has_velocity_constraints, rolling_rest
from svyaz.stability.rolling_verdict import rolling_stability

SECONDS = 60.0
"""So long the box is searched unless asked otherwise."""

MOST_DOUBTS = 2000
"""So many undecided parts are told apart."""

TOUCHING = 1e-3
"""Undecided parts nearer to each other than this, relative to the box, belong to one position."""

MANY = 10
"""So many multiple equilibria may be points of a family that random starts did not meet."""

MULTIPLE = (
    "a multiple equilibrium, or several that rounding does not separate: the equations of rest are degenerate here"
)


@dataclass(frozen=True)
class Equilibrium:
    """A position of rest: values of coordinates and further states, of inputs, of the multipliers of the constraints.

    ``parameters`` are those that were unknown. ``verdict`` is missing where the first approximation has no split.
    ``outside`` are the model's limits beyond which it lies.
    """

    state: Mapping[str, float]
    inputs: Mapping[str, float]
    multipliers: Mapping[str, float]
    parameters: Mapping[str, float]
    approximation: FirstApproximation | None
    verdict: StabilityVerdict | None
    notes: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()


@dataclass(frozen=True)
class Equilibria:
    """What was found. ``dimension`` is that of the set of equilibria: 0 for single points; of a family, ``members`` are
    examples and ``free`` the names any of which may be prescribed. ``doubtful`` are positions that could not be decided,
    ``left`` the number of parts of the box that were not looked at, ``angles`` the unknowns searched over one turn.
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
    doubtful: tuple[Mapping[str, float], ...] = ()
    left: int = 0
    angles: tuple[str, ...] = ()

    @property
    def family(self) -> bool:
        return self.dimension > 0

    def reason(self) -> str:
        """Why the answer is negative, or an empty text."""
        if self.left:
            count = f"{self.left} part{'s' if self.left > 1 else ''} of the box {'are' if self.left > 1 else 'is'} left"
            return Advice(f"not decided: {count}; allow more seconds, or give a smaller box", "budget", count)
        if not self.family:
            return ""
        names = ", ".join(self.free)
        count = "one of them" if self.dimension == 1 else f"{self.dimension} of them"
        found = "" if self.members else "; none was found in the box from random starts"
        text = f"the equilibria form a family of dimension {self.dimension}: prescribe {count} ({names}){found}"
        return Advice(text, "family", str(self.dimension), count, names, found)


def equilibria(
    system: System,
    fix: Mapping[str, float] | None = None,
    box: Mapping[str, tuple[float, float]] | None = None,
    *,
    dependent: Sequence[str] | None = None,
    seed: int = 0,
    seconds: float = SECONDS,
    progress: Callable[[float], object] | None = None,
) -> Equilibria:
    """All equilibria with the unknowns in their box.

    ``fix`` prescribes coordinates, inputs or parameters; inputs that are not prescribed are unknowns, and so is a
    parameter with a side in ``box``. ``seed`` varies the starts from which a family is recognised, nothing else.
    After ``seconds`` of search the parts of the box that are left are counted (``left``); ``progress`` is told the part
    of the box that is done.
    """
    if has_velocity_constraints(system):
        rest = rolling_rest(system, fix, box)
    else:
        rest = rest_equations(system, fix, box)
        check_redundant(system, dependent)
    return searched_equilibria(rest, dependent, seed=seed, seconds=seconds, progress=progress)


def searched_equilibria(
    rest: RestEquations,
    dependent: Sequence[str] | None = None,
    *,
    seed: int = 0,
    seconds: float = SECONDS,
    progress: Callable[[float], object] | None = None,
) -> Equilibria:
    """All solutions of the equations of rest, or of a steady motion, with the unknowns in their box."""
    system = rest.system
    searched = {name: rest.box[name] for name in rest.bounded}
    family = family_of(rest, seed)
    if family is not None:
        return _of_family(rest, family, searched, dependent)
    zeros = all_zeros(rest.problem, rest.low, rest.high, seconds=seconds, progress=progress)
    points = _distinct(rest, zeros.points)
    places, notes = _doubts(rest, zeros)
    doubts = _multiple(rest, places, points)
    if len(doubts) >= MANY and (family := family_among(rest, doubts[:: len(doubts) // MANY])) is not None:
        return _of_family(rest, replace(family, alone=tuple(points)), searched, dependent)
    multiple = [equilibrium_at(rest, point, dependent, _inexactness(rest, zeros, point)) for point in doubts]
    found = (
        *(equilibrium_at(rest, point, dependent) for point in points),
        *(replace(e, notes=(*e.notes, MULTIPLE)) for e in multiple),
    )
    doubtful = tuple(dict(zip(rest.bounded, map(float, p), strict=True)) | dict(rest.fixed) for p in places)
    return Equilibria(
        system,
        found,
        0,
        zeros.complete,
        searched,
        rest.fixed,
        parts=zeros.parts,
        notes=notes,
        doubtful=doubtful,
        left=zeros.left,
        angles=rest.angles,
    )


def _of_family(
    rest: RestEquations,
    family: EquilibriumFamily,
    searched: Mapping[str, tuple[float, float]],
    dependent: Sequence[str] | None,
) -> Equilibria:
    """A family with examples, and those of the equilibria beside it that were met on the way."""
    system = rest.system
    alone = _distinct(rest, zeros_near(rest.problem, np.array(family.alone)).points) if family.alone else []
    members = tuple(rest.named(m) for m in family.members)
    notes = [f"member {k + 1}: {text}" for k, m in enumerate(members) for text in beyond_limits(system, m)]
    if alone:
        notes.append("equilibria beside the family are those that were met; there may be others")
    found = tuple(equilibrium_at(rest, point, dependent) for point in alone)
    return Equilibria(
        system,
        found,
        family.dimension,
        False,
        searched,
        rest.fixed,
        family.free,
        members,
        notes=tuple(notes),
        angles=rest.angles,
    )


def _distinct(rest: RestEquations, zeros: Sequence[Array]) -> list[Array]:
    """Zeros in the box, angles in (-π, π], none twice; in the order of their coordinates."""
    found: list[Array] = []
    for zero in zeros:
        if not rest.inside(zero, 1e-9):
            continue
        point = zero.copy()
        for k, name in enumerate(rest.bounded):
            if name in rest.angles and point[k] <= -pi + 1e-9:
                point[k] += 2 * pi
        if not found or not among(point, np.array(found), 1e-7):
            found.append(point)
    return sorted(found, key=lambda x: tuple(np.round(x[: len(rest.bounded)], 7)))


def _inexactness(rest: RestEquations, zeros: Zeros, point: Array) -> dict[str, float]:
    """How far the equilibrium may be from the point: the reach of the undecided parts around it, by unknowns."""
    low, high = (np.array(side) for side in zip(*zeros.undecided, strict=True))
    d = len(rest.bounded)
    slack, q = TOUCHING * rest.width, point[:d]
    near = np.all((low[:, :d] <= q + slack) & (high[:, :d] >= q - slack), axis=1)
    reach = np.maximum(np.abs(high[near] - point), np.abs(low[near] - point)).max(axis=0, initial=0.0)
    reach[:d] = np.maximum(reach[:d], LEAST_WIDTH * rest.width)
    return {
        name: float(r)
        for name, r in zip(rest.unknowns, reach, strict=True)
        if np.isfinite(r) and not name.startswith("multiplier of ")
    }


def equilibrium_at(
    rest: RestEquations, point: Array, dependent: Sequence[str] | None, inexact: Mapping[str, float] | None = None
) -> Equilibrium:
    """The equilibrium at a solution (q, y), its first approximation as far as a position known to ``inexact`` allows."""
    system = rest.system
    point = np.where(np.abs(point) < 1e-14, 0.0, point)
    values = rest.named(point)
    state = {name: values[name] for name in (*system.coordinates, *system.rates)}
    inputs = {name: values.get(name, system.inputs[name].value) for name in system.inputs}
    parameters = {name: values[name] for name in (*system.parameters, *rest.speeds) if name in rest.bounded}
    pushes = {c.name: values[f"multiplier of {c.name}"] for c in system.constraints}
    if has_velocity_constraints(system):
        verdict, failed = _rolling(rest, values, state)
        told = (*failed, *beyond_limits(system, inputs))
        return Equilibrium(state, inputs, pushes, parameters, None, verdict, told, system.outside(state, parameters))
    there = with_values(system, parameters) if parameters else system
    notes: tuple[str, ...] = ()
    approximation, verdict = None, None
    try:
        if inexact:  # the balance of forces that all but vanish says nothing here
            approximation = rounded(formal_approximation(there, state, inputs, dependent), inexact)
        else:
            approximation = first_approximation(there, state, inputs, dependent)
        verdict = stability(approximation, 10 * max((inexact or {}).values(), default=0.0) or EXACT)
        notes = approximation.notes
        if verdict.reduced is not None and verdict.reduced.power:  # known better now
            state, pushes = {**state, **verdict.reduced.state}, dict(verdict.reduced.multipliers)
            approximation = replace(approximation, state=state)
    except ModelError as error:
        notes = (str(error),)
    told = (*notes, *beyond_limits(system, inputs))
    return Equilibrium(state, inputs, pushes, parameters, approximation, verdict, told, there.outside(state))


def _rolling(
    rest: RestEquations, values: Mapping[str, float], state: Mapping[str, float]
) -> tuple[StabilityVerdict | None, tuple[str, ...]]:
    """The verdict where velocities are constrained: at rest, or in a steady motion with these speeds."""
    system, known = rest.system, {**rest.system.constants, **values}
    given = {name: values[name] for name in rest.speeds if name in values}
    try:
        moved = {**state, **(completed_speeds(system, {**state, **given}, known) if rest.speeds else {})}
        return rolling_stability(rolling_approximation(system, moved, known, tuple(given)), moved, known), ()
    except ModelError as error:
        return None, (str(error),)


def _doubts(rest: RestEquations, zeros: Zeros) -> tuple[list[Array], tuple[str, ...]]:
    """Positions in parts of the box that could not be decided, joined where they touch, and words for them."""
    if not zeros.undecided:
        return [], ()
    d = len(rest.bounded)
    centres = np.array([0.5 * (lo[:d] + hi[:d]) for lo, hi in zeros.undecided[:MOST_DOUBTS]])
    places: list[Array] = []
    for c in centres:
        if not any(np.all(np.abs(c - p) <= TOUCHING * rest.width) for p in places):
            places.append(c)
    told = [", ".join(f"{name} = {x:.5g}" for name, x in zip(rest.bounded, p, strict=True)) for p in places[:5]]
    more = "" if len(places) <= 5 else f" and {len(places) - 5} more places"
    failing = [text for text in (what_fails(rest, p) for p in places[:5]) if text]
    why = "; ".join(dict.fromkeys(failing)) or "a multiple or degenerate equilibrium, or a singular position"
    return places, (f"not decided near {'; '.join(told)}{more}: {why}",)


def _multiple(rest: RestEquations, places: Sequence[Array], known: Sequence[Array]) -> list[Array]:
    """Equilibria at positions that could not be decided: Newton's method goes there too, if slowly."""
    if not places:
        return []
    starts, _ = with_free(rest, np.array(places))
    found = []
    for place, zero in zip(places, newton(rest.problem, starts, 200), strict=True):
        near = np.all(np.abs(zero[: len(place)] - place) <= TOUCHING * rest.width)
        if near and not (len(known) and among(zero, np.array(known), 1e-7)):
            found.append(zero)
    return _distinct(rest, found)
