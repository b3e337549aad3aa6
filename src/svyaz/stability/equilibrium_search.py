"""All equilibria of a system in a box, with the inputs that hold them and a verdict on their stability.

The search is a subdivision with interval bounds, so that the list is complete: parts of the box that were discarded are
proved to be empty. When the unknowns outnumber the equations, or the equations depend on each other, the equilibria form
a family: its dimension is told, and what may be prescribed to single out members.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isinf
from time import monotonic
from typing import Unpack

import numpy as np

from svyaz.arguments import check_arguments
from svyaz.arrays import Array
from svyaz.constraints import Fewer, weighed, without_repeated
from svyaz.dynamics import is_met
from svyaz.expr import Advice, ModelError, split
from svyaz.forms import applied_forces, linear_symmetries, may_jump, pseudo_cyclic, refuse_negative_mass
from svyaz.model import Mechanical, System
from svyaz.shown import Shown
from svyaz.stability.admissible import check_redundant, is_recursive, is_symbolic, refuse_unfit
from svyaz.stability.box_problem import BoxProblem
from svyaz.stability.boxes import Zeros, all_zeros, zeros_near
from svyaz.stability.connected_families import ConnectedFamily, connected_families
from svyaz.stability.corners import zeros_by_sides
from svyaz.stability.descent import gaps_of
from svyaz.stability.families import EquilibriumFamily, Repetition, family_among, family_of, sampled_zeros
from svyaz.stability.family_branches import FamilyBranch, with_verdicts
from svyaz.stability.first_order import is_taken, taken_rest
from svyaz.stability.long_rest import equilibria_near
from svyaz.stability.nonholonomic_rest import has_velocity_constraints, nonholonomic_rest
from svyaz.stability.options import DEFAULTS, SECONDS, EquilibriaOptions
from svyaz.stability.poles import Pole, poles_in
from svyaz.stability.rest import RestEquations, beyond_limits, rest_equations
from svyaz.stability.resting import Equilibrium, equilibrium_at, has_energy
from svyaz.stability.undecided import (
    SAME,
    distinct_points,
    inexactness,
    multiple_equilibria,
    undecided_places,
    unproved_points,
)

MOST_WORK, OWN_WORK = 1e8, 100
"""So much work is allowed without a time limit: parts, times the operations of the equations and these for the search itself.
That is about a minute."""

FIRST_PARTS = 6000
"""After so many parts a search that goes on asks whether it follows a family."""

MANY = 10
"""So many multiple equilibria may be points of a family that random starts did not meet."""

STICKING = (
    "forces jump with the direction of a velocity (dry friction): at rest they may balance others, and hold the system "
    "beside the equilibria told here, in which they are zero"
)

MULTIPLE = (
    "a multiple equilibrium, or several that rounding does not separate: the equations of rest are degenerate here"
)


@dataclass(frozen=True, repr=False)
class Equilibria(Shown):
    """What was found. ``dimension`` is that of the set of equilibria: 0 for single points; ``families`` are the branches of
    families and ``free`` the names any of which may be prescribed. ``doubtful`` are positions that could not be decided,
    ``poles`` enclose where nothing can be proved, ``left`` is the number of parts of the box that were not looked at,
    ``angles`` are the unknowns searched over one turn. ``complete``: is it proved that the list has every equilibrium in the
    box and nothing else? ``beside_poles``: is it proved outside of the parts that enclose the poles?

    >>> import svyaz
    >>> found = svyaz.load("pendulum:1").equilibria()
    >>> [round(found.state["u1"], 6) for found in found.equilibria]
    [0.0, 3.141593]
    """

    system: System
    equilibria: tuple[Equilibrium, ...]
    dimension: int
    complete: bool
    box: Mapping[str, tuple[float, float]]
    fixed: Mapping[str, float]
    free: tuple[str, ...] = ()
    families: tuple[FamilyBranch, ...] = ()
    parts: int = 0
    notes: tuple[str, ...] = field(default=())
    doubtful: tuple[Mapping[str, float], ...] = ()
    left: int = 0
    angles: tuple[str, ...] = ()
    poles: tuple[Pole, ...] = ()
    beside_poles: bool = False

    @property
    def family(self) -> bool:
        """Are they not single points?"""
        return self.dimension > 0

    @property
    def members(self) -> tuple[Mapping[str, float], ...]:
        """Examples of all families, by the values of all names."""
        return tuple({**e.state, **e.inputs, **e.parameters} for part in self.families for e in part.members)

    def reason(self) -> str:
        """Why the answer is negative, or an empty text."""
        if self.left:
            count = f"{self.left} part{'s' if self.left > 1 else ''} of the box {'are' if self.left > 1 else 'is'} left"
            return Advice(f"not decided: {count}; allow more seconds, or give a smaller box", "budget", count)
        if not self.family:
            return ""
        names = ", ".join(self.free)
        count = "one of them" if self.dimension == 1 else f"{self.dimension} of them"
        found = "" if self.members or not self.box else "; none was found in the box from random starts"
        text = f"the equilibria form a family of dimension {self.dimension}: prescribe {count} ({names}){found}"
        return Advice(text, "family", str(self.dimension), count, names, found)


@check_arguments
def equilibria(
    system: System,
    fix: Mapping[str, float] | None = None,
    box: Mapping[str, tuple[float, float]] | None = None,
    **options: Unpack[EquilibriaOptions],
) -> Equilibria:
    """All equilibria with the unknowns in their box.

    ``fix`` prescribes coordinates, inputs or parameters; inputs that are not prescribed are unknowns, and so is a
    parameter with a side in ``box``. ``seed`` varies the starts from which a family is recognised, nothing else.
    The work of the search is limited by counting it, or by ``seconds`` where a time limit is given; the parts of the box that
    are left then are counted (``left``). ``progress`` is told the part of the box that is done. Constraints that follow from
    others near the initial state are left out where they must be.

    >>> import svyaz
    >>> len(svyaz.equilibria(svyaz.load("pendulum:2")).equilibria)
    4
    """
    refuse_negative_mass(system, fix)
    how: EquilibriaOptions = {**DEFAULTS, **options}
    asked = how.get("dependent"), how["seed"], how["seconds"], how.get("progress")
    try:
        return _equilibria(system, fix, box, *asked)
    except Repetition:
        fewer = without_repeated(system)
        if fewer is None:
            raise
    found = _equilibria(fewer.system, fix, box, *asked)
    return _with_all(found, fewer)


SATISFIED = 1e-6
"""An equilibrium satisfies a constraint that was left out when it is off by no more than this part of its terms."""


def _with_all(found: Equilibria, fewer: Fewer) -> Equilibria:
    """Those that satisfy the constraints that were left out as well, without multipliers that are not determined."""
    good = []
    for e in found.equilibria:
        resting = {**dict.fromkeys(fewer.system.velocities, 0.0), **e.state, **e.parameters, **e.inputs, "t": 0.0}
        known = {**fewer.system.constants, **resting}
        values, sizes = weighed([c.expression for c in fewer.left_out], known)
        if is_met(values, sizes, SATISFIED).all():
            good.append(e)
    told = tuple(
        replace(e, multipliers={n: x for n, x in e.multipliers.items() if n not in fewer.undetermined}) for e in good
    )
    return replace(found, equilibria=told, notes=(fewer.note, *found.notes))


def _equilibria(
    system: System,
    fix: Mapping[str, float] | None,
    box: Mapping[str, tuple[float, float]] | None,
    dependent: Sequence[str] | None,
    seed: int,
    seconds: float,
    progress: Callable[[float], object] | None,
) -> Equilibria:
    if not is_symbolic(system):
        return _near_start(system, fix, box, dependent, seconds)
    rest = equilibrium_equations(system, fix, box)
    if not (is_taken(system) or has_velocity_constraints(system)):
        check_redundant(system, dependent)
    found = searched_equilibria(rest, dependent, seed=seed, seconds=seconds, progress=progress)
    if is_recursive(system) and (found.left or found.family):
        found = _with_nearest(found, system, fix, box, dependent, seconds)
    if isinstance(system.law, Mechanical) and split(applied_forces(system), system.velocities)[1]:
        found = replace(found, complete=False, beside_poles=False, notes=(*found.notes, STICKING))
    cyclic = [c.name for c in pseudo_cyclic(system)]
    if not cyclic:
        notes = [
            f"{s.text}: besides resting, it may move along that uniformly: steady motions"
            for s in linear_symmetries(system)
        ]
        return replace(found, notes=(*found.notes, *notes)) if notes else found
    they = ", ".join(cyclic)
    note = f"cyclic: {they}; besides resting, {'it' if len(cyclic) == 1 else 'they'} may turn uniformly: steady motions"
    return replace(found, notes=(*found.notes, note))


def equilibrium_equations(
    system: System, fixed: Mapping[str, float] | None, sides: Mapping[str, tuple[float, float]] | None
) -> RestEquations:
    """Those of the positions in which nothing moves."""
    if is_taken(system):
        return taken_rest(system, fixed, sides)
    if has_velocity_constraints(system):
        return nonholonomic_rest(system, fixed, sides)
    return rest_equations(system, fixed, sides)


def _near_start(
    system: System,
    fix: Mapping[str, float] | None,
    box: Mapping[str, tuple[float, float]] | None,
    dependent: Sequence[str] | None,
    seconds: float,
) -> Equilibria:
    """Of a tree of many bodies those to which its initial position leads: no box of so many unknowns can be searched."""
    refuse_unfit(system)
    start = {q: float(system.initial.get(q, 0.0)) for q in system.coordinates}
    found = equilibria_near(system, start, fix, box, dependent, seconds)
    notes = (*found.notes, STICKING) if may_jump(system) else found.notes
    return Equilibria(
        found.system, found.equilibria, found.dimension, False, {}, found.fixed, free=found.free, notes=notes
    )


def _with_nearest(
    found: Equilibria,
    system: System,
    fix: Mapping[str, float] | None,
    box: Mapping[str, tuple[float, float]] | None,
    dependent: Sequence[str] | None,
    seconds: float,
) -> Equilibria:
    """What a search that was not finished, or that met a family, has found; first that to which the initial position leads."""
    try:
        near = _near_start(system, fix, box, dependent, seconds).equilibria
    except ModelError:  # a parameter is unknown, or more is prescribed than recursions can hold
        return found
    if not near:
        return found
    others = [e for e in found.equilibria if all(np.abs(gaps_of(system, e.state, n.state)).max() > SAME for n in near)]
    note = "the first of the equilibria are those to which the initial position leads"
    return replace(found, equilibria=(*near, *others), notes=(*found.notes, note))


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
    met = sampled_zeros(rest, seed)
    family = family_of(rest, met)
    if family is not None:
        return _of_family(rest, family, searched, dependent, seconds)
    told = _forwards(progress)
    zeros, cornered = _searched(rest, FIRST_PARTS, seconds, told, met)
    if zeros.left and seconds > 0:
        if (family := _hidden_family(rest, seconds)) is not None:
            return _of_family(rest, family, searched, dependent, seconds)
        zeros, cornered = _searched(rest, _most_parts(rest, seconds), seconds, told, met)
    points, undefined = _with_energy(rest, distinct_points(rest, zeros.points, [zero.doubt for zero in zeros.zeros]))
    places, notes = undecided_places(rest, zeros)
    doubts = multiple_equilibria(rest, places, zeros) + (
        [] if not zeros.left else unproved_points(rest, met[:1], zeros)
    )
    if len(doubts) >= MANY and (family := family_among(rest, doubts[:: len(doubts) // MANY])) is not None:
        return _of_family(rest, replace(family, alone=tuple(points)), searched, dependent, seconds)
    multiple = [equilibrium_at(rest, point, dependent, inexactness(rest, zeros, point)) for point in doubts]
    found = (
        *(equilibrium_at(rest, point, dependent) for point in points),
        *cornered,
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
        notes=(*notes, *undefined, *_limit_reached(zeros, seconds)),
        doubtful=doubtful,
        left=zeros.left,
        angles=rest.angles,
        poles=poles_in(rest, zeros.unbounded),
        beside_poles=not zeros.undecided and not zeros.left,
    )


def _most_parts(rest: RestEquations, seconds: float) -> float:
    """How many parts may be looked at: counted work, unless a time limit takes its place."""
    return MOST_WORK // (OWN_WORK + len(rest.problem.program.nodes)) if isinf(seconds) else inf


def _limit_reached(zeros: Zeros, seconds: float) -> tuple[str, ...]:
    """A note when the search ended before its time."""
    if not zeros.left:
        return ()
    limit = (
        f"its time limit of {seconds:g} s" if not isinf(seconds) else "the most work that is done without a time limit"
    )
    return (f"the search ended after {zeros.parts} parts of the box: {limit}",)


def _searched(
    rest: RestEquations, most: float, seconds: float, progress: Callable[[float], object] | None, met: Array
) -> tuple[Zeros, list[Equilibrium]]:
    """The zeros in the box, and the equilibria at corners, with these seconds for all of it; those ``met`` are tried first."""
    end, met = monotonic() + seconds, met[~np.isnan(met).any(axis=1)]

    def search(problem: BoxProblem) -> Zeros:
        starts = met if problem.free == rest.problem.free else None
        return all_zeros(problem, rest.low, rest.high, most, end - monotonic(), progress, starts)

    return zeros_by_sides(rest, search)


def _forwards(progress: Callable[[float], object] | None) -> Callable[[float], object] | None:
    """Progress that never goes back, though the search begins anew."""
    if progress is None:
        return None
    done = 0.0

    def tell(part: float) -> None:
        nonlocal done
        done = max(done, part)
        progress(done)

    return tell


def _hidden_family(rest: RestEquations, seconds: float) -> EquilibriumFamily | None:
    """The family among what a fine cover of the box leaves, when random starts did not meet it."""
    found = connected_families(rest, seconds).found
    return family_among(rest, [branch.points[len(branch.points) // 2] for branch in found])


def _of_family(
    rest: RestEquations,
    family: EquilibriumFamily,
    searched: Mapping[str, tuple[float, float]],
    dependent: Sequence[str] | None,
    seconds: float,
) -> Equilibria:
    """Families with examples, and those of the equilibria beside them that were met on the way."""
    system = rest.system
    found = connected_families(rest, seconds)
    known = found.found or tuple(
        ConnectedFamily(family.dimension, m[None, :], (np.zeros((len(m), 0)),)) for m in family.members[:1]
    )
    families = tuple(part for branch in known for part in with_verdicts(rest, branch, dependent, family.free))
    beside = [*family.alone, *found.alone]
    alone = distinct_points(rest, zeros_near(rest.problem, np.array(beside)).points, SAME) if beside else []
    notes = [
        f"member {k + 1}: {text}"
        for k, e in enumerate(e for part in families for e in part.members)
        for text in beyond_limits(system, e.inputs)
    ]
    if families:
        notes.append(f"families were looked for in parts no wider than {found.width:.2g} of the box")
    if alone:
        notes.append("equilibria beside the family are those that were met; there may be others")
    return Equilibria(
        system,
        tuple(equilibrium_at(rest, point, dependent) for point in alone),
        max((part.dimension for part in families), default=family.dimension),
        False,
        searched,
        rest.fixed,
        family.free,
        families,
        notes=tuple(notes),
        angles=rest.angles,
    )


def _with_energy(rest: RestEquations, points: Sequence[Array]) -> tuple[list[Array], list[str]]:
    """The points at which the system is defined, and words for the others."""
    good = [has_energy(rest, point) for point in points]
    told = [
        ", ".join(f"{name} = {x:.5g}" for name, x in zip(rest.bounded, point, strict=False))
        for point, is_good in zip(points, good, strict=True)
        if not is_good
    ]
    words = [f"at {place} the forces would balance, but the energy has no value there" for place in told]
    return [point for point, is_good in zip(points, good, strict=True) if is_good], words
