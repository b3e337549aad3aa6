"""Closed loops where velocities are constrained: the steady motion that is reached, and the theorem.

A closed loop is a system again, so that the verdict on its steady motion is that of any system with constrained velocities.
"""

from __future__ import annotations

import numpy as np

from svyaz.arrays import Array
from svyaz.control.closed import closed_system, estimate_names
from svyaz.control.design import PAIR, Design, accuracy_hypotheses
from svyaz.control.loop import ClosedLoop
from svyaz.control.transient import Transient
from svyaz.stability import (
    ConstraintSurface,
    FirstApproximation,
    Hypothesis,
    StabilityVerdict,
    nearest_steady,
    nonholonomic_linearisation,
    nonholonomic_stability,
)


def closed_surface(design: Design, plant: FirstApproximation) -> ConstraintSurface:
    """The surface of the closed loop, the estimates of an observer among its states."""
    closed = closed_system(design)
    return ConstraintSurface(closed, closed.constants, plant.ignored)


def steady_near_end(loop: ClosedLoop, run: Transient) -> dict[str, float] | None:
    """The steady motion of the closed loop nearest to the last state; None if none was found."""
    plant = loop.design.model
    surface = closed_surface(loop.design, plant)
    last = {name: float(run.column(name)[-1]) for name in (*loop.own_states, *estimate_names(loop.design))}
    x = nearest_steady(surface, surface.vector(last))
    if x is None:
        return None
    x = np.where(np.abs(x) > 1e-12 * (1 + np.abs(x).max()), x, 0.0)
    return {name: float(value) for name, value in zip(surface.names, x, strict=True)}


def deviations_from_reached(loop: ClosedLoop, states: Array) -> Array:
    """Deviations (N, k, x) of runs (N, k, states) from the steady motion nearest to the end of each; NaN where none is."""
    plant = loop.design.model
    surface, found = closed_surface(loop.design, plant), loop.in_turned_axes(states)
    guesses = [loop.states.index(name) for name in estimate_names(loop.design)]
    for k, run in enumerate(found):
        end = np.concatenate([run[-1], states[k, -1, guesses]])
        reached = nearest_steady(surface, end) if np.isfinite(end).all() else None
        found[k] = np.nan if reached is None else run - reached[: run.shape[1]]
    return found


def nonholonomic_theorem(design: Design, plant: FirstApproximation) -> tuple[StabilityVerdict, tuple[Hypothesis, ...]]:
    """The verdict on the steady motion of the closed loop, and all hypotheses as they stand here."""
    closed = closed_system(design)
    state = {name: plant.state.get(name, 0.0) for name in closed.states}
    here = nonholonomic_linearisation(closed, state, closed.constants, plant.variables, plant.ignored)
    verdict = nonholonomic_stability(here, state, closed.constants)
    across = "" if design.lasting is None else f", across {design.lasting.count} that last,"
    own = [Hypothesis(f"the pair (A, B){across} is controllable", design.controllable.complete, PAIR)]
    if design.observable is not None:
        own.append(Hypothesis("the pair (A, C) is observable", design.observable.complete, PAIR))
    return verdict, (*verdict.hypotheses, *own, *accuracy_hypotheses(design, plant))
