"""Positions of rest of trees of many bodies, near a position: no box of so many unknowns can be searched.

Steady motions, in which cyclic coordinates turn, are positions of rest of all others, with the effective energy W.

A chain of n links hangs or stands in 2ⁿ ways. Two of them are asked for: where Newton's method leads from the position, and
where the energy leads that falls from it,

    ∂W/∂q - Q(q, w, u) - Gᵀλ = 0,        F(q) = 0,        Q_γ(q, w, u) = 0,

the last where forces act on what turns; then its speed or momentum is w.

A body that turns freely has no box of attitudes: the search goes in the chart R₀ exp(rot) at the position, and what it finds is
linearised in the chart at the attitude found. There rot = 0, so that second derivatives of the chart, which multiply forces in
balance, do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import pi
from time import monotonic

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import Advice, ModelError, Problem
from svyaz.matrices import lstsq
from svyaz.model import System
from svyaz.stability.admissible import check_redundant, is_symbolic
from svyaz.stability.attitudes import AttitudeChart, attitude_chart, describe_chart
from svyaz.stability.descent import EXACT, SAME, Descent, gaps_of, turning_coordinates
from svyaz.stability.positional import judge, positional_verdict
from svyaz.stability.rest import beyond_limits, settled
from svyaz.stability.resting import Equilibrium
from svyaz.stability.tree_tables import TreeTables, tree_tables

ASKED = "; a box or a time limit that is given asks for the search"
MOST_CHARTS = 5
"""So often an equilibrium is looked for again in the chart at its attitude."""
NEAR = 0.5
"""Farther from the middle of its chart an equilibrium is another one."""


@dataclass(frozen=True)
class NearRest:
    """Equilibria near a position; where they form families, their ``dimension`` and the names ``free`` to be prescribed."""

    system: System
    equilibria: tuple[Equilibrium, ...]
    fixed: Mapping[str, float]
    notes: tuple[str, ...] = ()
    dimension: int = 0
    free: tuple[str, ...] = ()


def _rest_near(
    system: System,
    position: Mapping[str, float],
    fix: Mapping[str, float] | None,
    box: Mapping[str, tuple[float, float]] | None,
    describe: Callable[[System, Mapping[str, float]], Equilibrium],
    seconds: float,
) -> NearRest:
    """Where Newton's method and the falling energy lead from a position within so many seconds; ``describe`` tells what is
    known of an equilibrium.
    """
    system, fixed, sides, _ = settled(system, fix, box)
    _refuse_parameters(system, sides, fixed)
    held = [q for q in (*system.coordinates, *system.rates) if q in fixed]
    unknown = [name for name in (*system.rates, *system.inputs) if name not in fixed]
    more = len(unknown) - len(system.rates) - sum(q in fixed for q in system.coordinates)
    values = {**system.constants, **{w: float(system.initial.get(w, 0.0)) for w in system.rates}, **position, **fixed}
    search = Descent(tree_tables(system, values), held, unknown, monotonic() + seconds)
    if more > 0:
        return NearRest(system, (), fixed, dimension=more, free=search.free())
    found: list[Equilibrium] = []
    ways: list[Callable[[], tuple[Array, Array] | None]] = [search.newton]
    if search.may_descend:
        ways.append(search.descent)
    for way in ways:
        reached = way()
        if reached is not None:
            state = _tidy(system, reached[0])
            if all(np.abs(gaps_of(system, state, e.state)).max() > SAME for e in found):
                found.append(describe(system, search.values(state, reached[1])))
    if (
        more < 0 and not found and not search.late
    ):  # coordinates on which no force depends may be prescribed beside others
        fixed_turns = [w for w in system.rates if w in fixed]
        raise _too_much(
            [q for q in held if q in system.coordinates], fixed_turns, [u for u in unknown if u in system.inputs]
        )
    inside = [e for e in found if all(low <= e.state.get(q, low) <= high for q, (low, high) in sides.items())]
    return NearRest(system, tuple(inside), fixed, _told(system, search, len(found), len(inside)))


def _too_much(held: Sequence[str], turning: Sequence[str], inputs: Sequence[str]) -> ModelError:
    """More coordinates ``held``, and speeds or momenta of what is ``turning``, than the inputs that are left can hold."""
    left = f"{len(inputs)} input{'' if len(inputs) == 1 else 's'}"
    what = f"{len(held)} coordinates" if held else ""
    what += f"{' and ' if held else ''}{', '.join(turning)}" if turning else ""
    one = len(held) + len(turning) == 1
    message = (
        f"{what} {'is' if one and turning else 'are'} prescribed, and {left} left to hold {'it' if one else 'them'}"
    )
    return ModelError([Problem(message, hint="prescribe no more than there are inputs to be found")])


def _refuse_parameters(system: System, sides: Mapping[str, tuple[float, float]], fixed: Mapping[str, float]) -> None:
    freed = [name for name in system.parameters if name in sides and name not in fixed]
    if freed:
        sought = system.law.equilibrium_name
        message = f"'{freed[0]}' cannot be an unknown: of so many bodies, {sought} is found for given parameters"
        raise ModelError([Problem(message, hint=Advice("prescribe its value", "fix", freed[0]))])


def _told(system: System, search: Descent, found: int, inside: int) -> tuple[str, ...]:
    count, notes = len(system.coordinates), []
    energy, sought = system.law.energy_name, system.law.equilibrium_name
    if found > inside:
        notes.append(f"{found - inside} that Newton's method or the falling {energy} led to lie outside of the box")
    if search.late:
        notes.append("the time was up before a position of rest was reached")
    if not found and not search.late:
        notes.append(
            f"neither Newton's method nor the falling {energy} leads to a position of rest from the initial one"
        )
    told = f"a box of {count} unknowns is not searched: {sought} is told where Newton's method, or the falling "
    more = ASKED if is_symbolic(system) else ""
    return (
        f"{told}{energy}, leads to one from the initial position; other initial positions may lead to others{more}",
        *notes,
    )


def _tidy(system: System, q: Array) -> dict[str, float]:
    """Angles in (-π, π], and zero in place of what is no more than the last step."""
    within = np.where(turning_coordinates(system), pi - (pi - q) % (2 * pi), q)
    within = np.where(np.abs(within) <= EXACT * (1 + np.abs(within).max()), 0.0, within)
    return dict(zip(system.coordinates, within.tolist(), strict=True))


def bare_equilibrium(system: System, found: Mapping[str, float]) -> Equilibrium:
    """The equilibrium of a tree with coordinates, further states and inputs ``found``, not linearised."""
    place = tree_tables(system, found)
    pushes = lstsq(place.jacobian.T, place.bias) if system.constraints else np.zeros(0)
    named = {c.name: float(x) for c, x in zip(system.constraints, pushes, strict=True)}
    state = {name: found[name] for name in (*system.coordinates, *system.rates)}
    inputs = {name: found[name] for name in system.inputs}
    notes = tuple(beyond_limits(system, inputs))
    return Equilibrium(state, inputs, named, {}, None, None, notes, system.outside(state))


def describe_equilibrium(
    system: System, found: Mapping[str, float], dependent: Sequence[str] | None, judged: System | None = None
) -> Equilibrium:
    """The same linearised and judged; ``judged`` is the tree in other coordinates, which has the verdict where it is given."""
    bare = bare_equilibrium(system, found)
    if system.unreduced is not system:  # a steady motion is judged at its momenta, not at its speeds
        return bare
    state, inputs = bare.state, bare.inputs
    try:
        approximation, verdict = judge(system, state, inputs, dependent)
        there, at = system, state
        if judged is not None:
            there, at, dependent = judged, {q: state.get(q, 0.0) for q in (*judged.coordinates, *judged.rates)}, None
            verdict = judge(there, at, inputs, None)[1]
        verdict, drift = positional_verdict(there, system.parameters, verdict, at, inputs, dependent)
    except ModelError as error:
        return replace(bare, notes=(str(error), *bare.notes))
    notes = (*approximation.notes, *bare.notes)
    return replace(bare, approximation=approximation, verdict=verdict, drift=drift, notes=notes)


def equilibria_near(
    system: System,
    position: Mapping[str, float],
    fix: Mapping[str, float] | None,
    box: Mapping[str, tuple[float, float]] | None,
    dependent: Sequence[str] | None,
    seconds: float,
) -> NearRest:
    """Where Newton's method and the falling energy lead from a position within so many seconds."""
    if not system.turns_freely:
        check_redundant(system, dependent)
        return _rest_near(system, position, fix, box, partial(describe_equilibrium, dependent=dependent), seconds)
    chart = attitude_chart(system, position)
    refuse_quaternions(chart, (*(fix or {}), *(box or {})))
    check_redundant(chart.system, dependent)
    end = monotonic() + seconds

    def search(there: AttitudeChart) -> NearRest:
        start = {q: x for q, x in there.system.initial.items() if q in there.system.coordinates}
        return _rest_near(there.system, start, fix, box, bare_equilibrium, end - monotonic())

    found = search(chart)
    given = {name: x for name, x in found.system.parameters.items() if name in system.parameters}
    model = replace(system.plain(), parameters=given)
    turns_are_fixed = any(name in (fix or {}) for name in chart.turns)
    there = list[Equilibrium]()
    for e in found.equilibria:
        settled = (chart, e) if turns_are_fixed else _settle(model, chart, e, search)
        new = None if settled is None else _in_own_chart(model, *settled, dependent)
        if new is not None and all(_gap(new.state, other.state) > SAME for other in there):
            there.append(new)
    told = [note.removesuffix(ASKED) for note in found.notes]
    if not there and not found.dimension:
        told += describe_imbalance(tree_tables(chart.system, {**chart.system.constants, **chart.system.initial}))
    if there or found.dimension:
        told.append(describe_chart(chart))
    return replace(found, system=model, equilibria=tuple(there), notes=tuple(told))


def _settle(
    model: System, chart: AttitudeChart, found: Equilibrium, search: Callable[[AttitudeChart], NearRest]
) -> tuple[AttitudeChart, Equilibrium] | None:
    """The chart at the attitude found, and the equilibrium there; none where forces balanced only in a singular chart."""
    for _ in range(MOST_CHARTS):
        if chart.is_middle(found.state):
            return chart, found
        chart = attitude_chart(model, chart.position(found.state))
        nearest = [e for e in search(chart).equilibria if _gap(e.state, chart.system.initial) <= NEAR]
        if not nearest:
            return None
        found = min(nearest, key=lambda e: _gap(e.state, chart.system.initial))
        if _gap(found.state, chart.system.initial) <= SAME:
            return chart, found
    return None


def _gap(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    """The largest difference between two positions."""
    return max((abs(x - b[name]) for name, x in a.items()), default=0.0)


def _in_own_chart(
    model: System, chart: AttitudeChart, found: Equilibrium, dependent: Sequence[str] | None
) -> Equilibrium:
    """The equilibrium linearised at its own attitude, by its quaternions."""
    position = chart.position(found.state)
    own = chart if chart.is_middle(found.state) else attitude_chart(model, position)
    upright = attitude_chart(model, position, upright=True)
    moved = {name: 0.0 if name in own.turns else position[name] for name in (*own.system.coordinates, *model.rates)}
    values = {**own.system.constants, **moved, **found.inputs}
    judged = upright.system if upright.system.coordinates != own.system.coordinates else None
    e = describe_equilibrium(own.system, values, dependent, judged)
    about = [f"{name} is the turn about the vertical" for name in e.drift if name not in own.system.coordinates]
    return replace(e, state=position, multipliers=found.multipliers, notes=(*e.notes, *about))


def describe_imbalance(tree: TreeTables) -> list[str]:
    """Coordinates along which a force acts that depends on nothing: no position balances it."""
    random, names = np.random.default_rng(7), tree.system.coordinates
    places = [tree, *(tree.moved(tree.q + random.normal(size=len(tree.q))) for _ in range(2))]
    found = []
    for k, q in enumerate(names):
        forces = [place.bias[k] for place in places]
        helped = any(np.abs(place.jacobian[:, k]).max(initial=0.0) > 0 for place in places) or any(
            np.abs(place.bias_slopes[key][k]).max(initial=0.0) > 0 for place in places for key in "wu"
        )
        if not helped and abs(forces[0]) > 0 and np.ptp(forces) <= SAME * abs(forces[0]):
            force = f"the force {-forces[0]:.6g} along {q}"
            found.append(
                f"no equilibrium was found: {force} is the same at all positions tried, and nothing balances it"
            )
    return found


def refuse_quaternions(chart: AttitudeChart, names: Sequence[str]) -> None:
    """An attitude is prescribed by turns from that of the initial position."""
    for attitude in chart.attitudes:
        for name in names:
            if name in attitude.body.quaternion:
                turns = ", ".join(sorted(attitude.names))
                message = f"'{name}' alone cannot be prescribed: the attitude of '{attitude.body.name}' is {turns}"
                raise ModelError([Problem(message, hint="prescribe turns from the initial attitude, in radians")])
