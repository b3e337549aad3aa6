"""The value of a parameter at which a control fails: the largest real part of the closed loop passes through zero there.

Along the parameter the equilibrium is followed, the plant is linearised anew (exactly), and the control is either found
anew from a model of the plant, right or wrong, or kept as it was designed for the nominal value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from svyaz.arrays import Array
from svyaz.control.design import Design, designed
from svyaz.control.regulators import NotSolvable
from svyaz.expr import ModelError, Problem
from svyaz.model import System, with_settings
from svyaz.stability import Equilibrium, FirstApproximation, RestEquations, motion_equations, newton

SAMPLES = 41
FINE = 1e-10
"""The crossing is found to this part of the range."""


@dataclass(frozen=True)
class Margin:
    """Largest real parts of the true closed loop over the range of a parameter, and where they pass through zero.

    NaN stands where there is no equilibrium or no design; ``crossings`` are (value, does it become unstable there?).
    """

    name: str
    values: Array
    largest: Array
    crossings: tuple[tuple[float, bool], ...]

    @property
    def first(self) -> float | None:
        """The first value at which the loop becomes unstable, or None."""
        return next((value for value, worse in self.crossings if worse), None)


Control = Callable[[FirstApproximation, FirstApproximation], Design]
"""(true model, model with linearised constraints) at a value of the parameter → control."""


def redesigned_from_linearised(design: Design) -> Control:
    """The control found anew from the model with linearised constraints."""
    return lambda true, wrong: designed(wrong, design.inputs, design.weights, design.measurement, design.method)


def kept(design: Design) -> Control:
    """The control as it is, whatever the parameter."""
    return lambda true, wrong: design


def margin(
    system: System,
    equilibrium: Equilibrium,
    fixed: Mapping[str, float],
    name: str,
    span: tuple[float, float],
    control: Control,
) -> Margin:
    """Follow the closed loop over the range of a parameter and find where it loses or gains stability."""
    if name not in system.parameters:
        raise ModelError([Problem(f"'{name}' is no parameter of the model: its critical value has no meaning")])
    message = "critical values of parameters are not looked for about a steady motion of so many bodies"
    system.law.require_equations(message, f"design at single values of '{name}'")
    others = {key: value for key, value in fixed.items() if key != name}
    sides = {x: (value - 1.0, value + 1.0) for x, value in {**equilibrium.state, **equilibrium.inputs}.items()}
    sides = {x: side for x, side in sides.items() if x not in others}
    plant = equilibrium.approximation
    assert plant is not None, "a control was designed for it"
    needed = {x: side for x, side in sides.items() if x not in plant.ignored.names}
    rest, _ = motion_equations(system, others, needed)
    course = _Course(system, equilibrium, rest, plant.at, name)
    values = np.linspace(*span, SAMPLES)
    nominal = system.parameters[name]
    largest = np.full(SAMPLES, np.nan)
    points: dict[int, Array] = {}
    start = int(np.argmin(np.abs(values - nominal)))
    for direction in (range(start, SAMPLES), range(start - 1, -1, -1)):
        guess = points.get(start, course.nominal)
        for k in direction:
            largest[k], found = course.largest_real_part(float(values[k]), guess, control)
            guess = found if found is not None else guess
            points[k] = guess
    crossings = []
    for k in range(SAMPLES - 1):
        if largest[k] * largest[k + 1] < 0:
            at = _crossing(course, control, (float(values[k]), float(values[k + 1])), float(largest[k]), points[k])
            crossings.append((at, bool(largest[k + 1] > 0)))
    return Margin(name, values, largest, tuple(crossings))


def _crossing(course: _Course, control: Control, span: tuple[float, float], left: float, guess: Array) -> float:
    """By bisection: the real part has a corner where another root becomes the largest."""
    low, high = span
    while high - low > FINE * max(abs(low), abs(high)):
        middle = 0.5 * (low + high)
        value, found = course.largest_real_part(middle, guess, control)
        guess = found if found is not None else guess
        if value * left > 0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


Named = Mapping[str, float]
Models = tuple[FirstApproximation, FirstApproximation]
"""The true model, and that with linearised constraints."""


class _Course:
    """An equilibrium followed along a parameter, what was prescribed staying as it is."""

    def __init__(
        self,
        system: System,
        equilibrium: Equilibrium,
        rest: RestEquations,
        linearise: Callable[[Named, Named, Named], Models],
        name: str,
    ) -> None:
        self.system, self.name, self.rest, self.linearise = system, name, rest, linearise
        self.fixed = dict(rest.fixed)
        pushes = {f"multiplier of {c}": value for c, value in equilibrium.multipliers.items()}
        self.nominal = np.array([{**equilibrium.state, **equilibrium.inputs, **pushes}[n] for n in rest.unknowns])

    def largest_real_part(self, value: float, guess: Array, control: Control) -> tuple[float, Array | None]:
        """The largest real part of the true closed loop, and the equilibrium it belongs to."""
        try:
            constants = with_settings(self.system, {self.name: value}).parameters
        except ModelError:  # the model has no such variant: a ratio by zero, a root of a negative number
            return float("nan"), None
        problem = replace(self.rest.problem, values={**self.rest.problem.values, **constants, **self.fixed})
        zero = newton(problem, guess[None, :])[0]
        if np.isnan(zero).any():
            return float("nan"), None
        named = {**dict(zip(self.rest.unknowns, map(float, zero), strict=True)), **self.fixed}
        inputs = {u: named.get(u, given.value) for u, given in self.system.inputs.items()}
        try:
            true, wrong = self.linearise(named, inputs, constants)
            found = control(true, wrong)
            roots = found.closed_roots(true)
        except (ModelError, NotSolvable):
            return float("nan"), zero
        still = np.argsort(np.abs(roots))[: found.lasting_roots]  # of lasting directions, zero
        return float(np.delete(roots, still).real.max()), zero
