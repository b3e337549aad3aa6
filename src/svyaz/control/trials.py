"""The closed loop tried from a start: made consistent where it can be, with what will become of it where it is not.

What becomes of a start that does not satisfy the constraints: F is a first integral, and the motion tends elsewhere.

The limit is the position of rest of the closed loop on the surface F(q) = F(q(0)); it is found before anything is run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from svyaz.constraints import NoConsistentState, project
from svyaz.constraints import residuals as residuals_at
from svyaz.control.design import Design
from svyaz.control.loop import ClosedLoop, closed_loop
from svyaz.control.nonholonomic_loop import steady_near_end
from svyaz.control.transient import Transient
from svyaz.expr import ModelError, Problem
from svyaz.forms import derive
from svyaz.integrate import Status
from svyaz.matrices import lstsq
from svyaz.model import nearest
from svyaz.motion import Motion
from svyaz.shown import Shown
from svyaz.stability import ConstraintNumbers, FirstApproximation, Start

MOST_STEPS = 50


def shifted_limit(
    design: Design, state: Mapping[str, float], loop: ClosedLoop | None = None
) -> dict[str, float] | None:
    """Coordinates and further states to which the closed loop tends from this state; None if none was found.

    Newton's method on the rates of the loop, the estimates of an observer and limits of inputs among them, together
    with F(q) - F(q(0)).
    """
    system = design.model.system
    closed = loop or closed_loop(design)
    numbers = ConstraintNumbers(system, design.model.dependent)
    level = numbers.values(state)
    places = {name: k for k, name in enumerate(closed.states)}
    columns = [places[q] for q in system.coordinates]
    x = closed.at_rest.copy()
    for _ in range(MOST_STEPS):
        here = {q: float(x[places[q]]) for q in system.coordinates}
        rate, slope = closed.rates_at(x)
        jacobian = np.zeros((len(level), len(x)))
        jacobian[:, columns] = numbers.jacobian(here)
        rows = np.vstack([slope, jacobian])
        sides = np.concatenate([rate, numbers.values(here) - level])
        sizes = np.linalg.norm(rows, axis=1)
        good = sizes > 0
        step = lstsq(rows[good] / sizes[good, None], -sides[good] / sizes[good], rcond=1e-13)
        x = x + step
        if not np.isfinite(x).all():
            return None
        if np.abs(step).max() <= 1e-12 * (1 + np.abs(x).max()):
            return {name: float(x[places[name]]) for name in (*system.coordinates, *system.rates)}
    return None


PERTURBATION = 0.1
"""Without a start the first independent coordinate is moved by this part of its size (or by 0.01)."""


@dataclass(frozen=True, repr=False)
class Trial(Shown):
    """A transient from a start; ``limit`` is where one that is inconsistent, or has other conserved momenta (``shifted``), was
    foretold to end, if that was found.
    """

    start: Start
    transient: Transient
    limit: Mapping[str, float] | None
    shifted: bool = False

    @property
    def motion(self) -> Motion:
        """The motion of the closed loop, in the coordinates of the model."""
        return self.transient.motion

    @property
    def distance_from_limit(self) -> float | None:
        """The largest distance of the last state from the limit that was foretold."""
        if self.limit is None:
            return None
        final = self.transient.final
        return max(abs(final[name] - value) for name, value in self.limit.items())

    @property
    def answer(self) -> str:
        """In words, what became of it."""
        run = self.transient
        if run.status is Status.LEFT:
            return f"leaves its limits: {run.reason}"
        if run.status is not Status.FINISHED:
            return f"is lost at t = {run.times[-1]:.4g}: {run.reason or run.status}"
        if self.shifted:
            off = self.distance_from_limit
            return (
                "tends elsewhere"
                if off is None
                else f"tends to the shifted steady motion, {off:.2g} from the one foretold"
            )
        if run.returned and run.reached is not None:
            names = [name for name in run.design.model.variables if abs(run.reached[name]) > 0]
            told = ", ".join(f"{name} = {run.reached[name]:.6g}" for name in names) or "the one asked for"
            return f"tends to a steady motion nearby ({told})"
        if run.returned:
            passed = [f"{name} from t = {at.left:.4g}" for name, at in run.motion.limits.items() if at.left is not None]
            return "returned" + (f", beyond the limits of {', '.join(passed)}" if passed else "")
        if not self.start.consistent:
            off = self.distance_from_limit
            return "tends elsewhere" if off is None else f"tends elsewhere, {off:.2g} from the limit that was foretold"
        return "is still returning" if run.falling else "has not returned"

    @property
    def notes(self) -> tuple[str, ...]:
        """Which limits of the model it passed and ran on, from when, and how far beyond; whatever became of it."""
        from svyaz.motion import told_beyond

        return () if self.transient.status is Status.LEFT else tuple(told_beyond(self.motion.limits))

    @property
    def failed(self) -> bool:
        """Did it go astray, otherwise than was foretold?"""
        run = self.transient
        elsewhere = self.shifted or not self.start.consistent
        return run.status is not Status.FINISHED or not (run.returned or run.falling or elsewhere)


def started(plant: FirstApproximation, deviations: Mapping[str, float], keep: Sequence[str] = ()) -> Start:
    """The start with these deviations from the equilibrium; without any, the first independent coordinate is moved.

    Independent coordinates, their velocities and further states are completed by Algorithm 4.4.1. Redundant coordinates
    that are given are added as they are: such a start is, in general, not on the constraints. With states to ``keep``, all
    others are moved onto the constraints instead, to the nearest state that has these values.
    """
    if keep:
        return _kept(plant, deviations, keep)
    _check(plant, deviations)
    first = plant.variables[0]
    return plant.start(deviations or {first: PERTURBATION * abs(plant.state[first]) or 0.01})


def _kept(plant: FirstApproximation, deviations: Mapping[str, float], keep: Sequence[str]) -> Start:
    system = plant.system
    unknown = next((name for name in deviations if name not in system.states), None)
    if unknown is not None:
        message = f"'{unknown}' is not among the variables of the state: {', '.join(system.states)}"
        raise ModelError([Problem(message, hint=nearest(unknown, system.states))])
    given = {name: plant.state.get(name, 0.0) + deviations.get(name, 0.0) for name in system.states}
    equations = derive(system, "multipliers" if system.constraints else None)
    try:
        found = project(equations, given, keep=keep).state
    except NoConsistentState as refusal:
        raise ModelError([Problem(str(refusal))]) from refusal
    left = residuals_at(equations, found)
    state = dict(zip(system.states, map(float, found), strict=True))
    return Start(state, {name: r.value for name, r in left.items()}, all(r.met for r in left.values()), 0)


def _check(plant: FirstApproximation, deviations: Mapping[str, float]) -> None:
    known = plant.start_names
    for name in deviations:
        if name.endswith("'") and name[:-1] in plant.dependent:
            message = (
                f"{name} is no part of a start: the velocities of redundant coordinates follow from the constraints"
            )
            raise ModelError([Problem(message)])
        if name not in known:
            message = f"'{name}' is not among the variables of the state: {', '.join(known)}"
            raise ModelError([Problem(message, hint=nearest(name, known))])


def tried(loop: ClosedLoop, start: Start, until: float, *, beyond: bool = False, shifted: bool = False) -> Trial:
    """Run the closed loop from a start; for one that is not on the constraints, first say where it will end.

    A loop whose conserved momenta are ``shifted`` ends elsewhere too.
    """
    limit = shifted_limit(loop.design, start.state, loop) if shifted or not start.consistent else None
    run = loop.run(start.state, until, beyond=beyond)
    if loop.design.lasting is not None and run.status is Status.FINISHED:
        run = replace(run, reached=steady_near_end(loop, run))
    return Trial(start, run, limit, shifted)
