"""Equilibria of trees near a position, ball and free joints among them.

A body that turns freely has no box of attitudes: the search goes in the chart R₀ exp(rot) at the position, and what it finds is
linearised in the chart at the attitude found. There rot = 0, so that second derivatives of the chart, which multiply forces in
balance, do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import monotonic

import numpy as np

from svyaz.expr import ModelError, Problem
from svyaz.model import System
from svyaz.stability.attitudes import AttitudeChart, attitude_chart, has_attitudes
from svyaz.stability.derivatives import check_redundant
from svyaz.stability.long_rest import ASKED, SAME, NearRest, bare_equilibrium, describe_equilibrium, rest_near
from svyaz.stability.resting import Equilibrium
from svyaz.stability.tree_rest import RestingTree, resting_tree

MOST_CHARTS = 5
"""So often an equilibrium is looked for again in the chart at its attitude."""
REACH = 0.5
"""Farther from the middle of its chart an equilibrium is another one."""


def equilibria_near(
    system: System,
    position: Mapping[str, float],
    fix: Mapping[str, float] | None,
    box: Mapping[str, tuple[float, float]] | None,
    dependent: Sequence[str] | None,
    seconds: float,
) -> NearRest:
    """Where Newton's method and the falling energy lead from a position within so many seconds."""
    if not has_attitudes(system):
        check_redundant(system, dependent)
        return rest_near(system, position, fix, box, partial(describe_equilibrium, dependent=dependent), seconds)
    chart = attitude_chart(system, position)
    refuse_quaternions(chart, (*(fix or {}), *(box or {})))
    check_redundant(chart.system, dependent)
    end = monotonic() + seconds

    def search(there: AttitudeChart) -> NearRest:
        start = {q: x for q, x in there.system.initial.items() if q in there.system.coordinates}
        return rest_near(there.system, start, fix, box, bare_equilibrium, end - monotonic())

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
        told += describe_imbalance(resting_tree(chart.system, {**chart.system.constants, **chart.system.initial}))
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
        nearest = [e for e in search(chart).equilibria if _gap(e.state, chart.system.initial) <= REACH]
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


def describe_imbalance(tree: RestingTree) -> list[str]:
    """Coordinates along which a force acts that depends on nothing: no position balances it."""
    random, names = np.random.default_rng(7), tree.system.coordinates
    places = [tree, *(tree.moved(tree.q + random.normal(size=len(tree.q))) for _ in range(2))]
    found = []
    for k, q in enumerate(names):
        forces = [place.off[k] for place in places]
        helped = any(np.abs(place.jacobian[:, k]).max(initial=0.0) > 0 for place in places) or any(
            np.abs(place.forces.slopes[key][k]).max(initial=0.0) > 0 for place in places for key in "wu"
        )
        if not helped and abs(forces[0]) > 0 and np.ptp(forces) <= SAME * abs(forces[0]):
            found.append(f"there is no equilibrium: nothing balances the force {-forces[0]:.6g} along {q}")
    return found


def describe_chart(chart: AttitudeChart) -> str:
    """What the names of the turns mean."""
    names = ", ".join(sorted(chart.turns))
    return (
        f"{names} are turns about the axes of the body from the attitude R0 of the equilibrium, "
        "R = R0 exp(rot), to first order; their rates are the angular velocity in body axes"
    )


def refuse_quaternions(chart: AttitudeChart, names: Sequence[str]) -> None:
    """An attitude is prescribed by turns from that of the initial position."""
    for attitude in chart.attitudes:
        for name in names:
            if name in attitude.body.quaternion:
                turns = ", ".join(sorted(attitude.names))
                message = f"'{name}' alone cannot be prescribed: the attitude of '{attitude.body.name}' is {turns}"
                raise ModelError([Problem(message, hint="prescribe turns from the initial attitude, in radians")])
