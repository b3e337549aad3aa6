"""Where the energy of a motion went: the work of forces, dissipation and impacts along its rows (see ``forms.power``).

The integrals are taken along the path when they are asked for, with the accuracy with which it was computed; the motion
itself and its steps do not know of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from svyaz.arrays import Array
from svyaz.dynamics import dynamics_of
from svyaz.expr import Expression, add_up
from svyaz.forms import EnergyPower, Equations, power_of, rubbing_power
from svyaz.integrate import Flow, along
from svyaz.model import System, multiplier_symbol
from svyaz.motion.phases import Chapter, Mode
from svyaz.program import Native
from svyaz.stabilise import Entry, Segment, observed

EXACT = 1e-12
"""Integrals are known to this part of the energies at least, where the method chooses its steps, or to its tolerance."""

Powers = Callable[[Array], Array]
"""The powers of work and of dissipation (k, 2) along rows [t, states]."""

Meter = Callable[[Segment], Powers]
"""Those in the states of a segment."""

Account = Callable[[float], Array]
"""Gives work, dissipated and lost at impacts up to each row (k, 3), for a motion with energies of this size."""


def account_of(system: System, chapters: Sequence[Chapter], shown: Sequence[slice]) -> Account | None:
    """What is known of the energy along the rows that are shown of each chapter; None where it is an integral, or there
    is none.
    """
    impacts = any(c.impact is not None for c in system.constraints)
    power = power_of(system)
    if power is None or (power.vanishes and not impacts):
        return None

    meters: dict[int, Powers] = {}

    def meter(segment: Segment) -> Powers:
        if id(segment) not in meters:  # the chapters keep it
            meters[id(segment)] = _meter(power, segment)
        return meters[id(segment)]

    def found(size: float) -> Array:
        total, before, columns = np.zeros(3), None, []
        for chapter, rows in zip(chapters, shown, strict=True):
            none = np.zeros((len(chapter.path.times), 3))
            gained = none if power.vanishes else _along(meter, chapter, size)
            ends = _energies(chapter)
            if impacts and before is not None and ends is not None and chapter.beginning.entry is Entry.EVENT:
                total[2] += before - ends[0]
            columns.append((total + gained)[rows])
            total, before = total + gained[-1], None if ends is None else ends[1]
        return np.concatenate(columns)

    return found


def _energies(chapter: Chapter) -> tuple[float, float] | None:
    """The energy at both ends of a phase that was run."""
    if chapter.segment is None:
        return None
    path = chapter.path
    energy = observed(chapter.segment, path.times[[0, -1]], path.states[[0, -1]])["energies"]["energy"]
    return float(energy[0]), float(energy[1])


def _along(meter: Meter, chapter: Chapter, size: float) -> Array:
    """(k, 3): work, dissipated, 0 from the beginning of a phase to each of its rows."""
    path = chapter.path
    found = np.zeros((len(path.times), 3))
    if chapter.segment is None:
        return found
    modes = chapter.modes or (Mode(float(path.times[0]), path.states[0], chapter.segment),)
    total = np.zeros(2)
    for k, mode in enumerate(modes):
        after = modes[k + 1] if k + 1 < len(modes) else None
        own = np.flatnonzero((path.times >= mode.start) & (path.times < (np.inf if after is None else after.start)))
        inner = own[path.times[own] > mode.start]
        times, states = np.append(mode.start, path.times[inner]), np.vstack([mode.state, path.states[inner]])
        if after is not None:
            times, states = np.append(times, after.start), np.vstack([states, after.state])
        gained = total + _over(meter(mode.segment), mode.segment, times, states, chapter, size)
        begins = len(own) - len(inner)  # is the row at which it begins among them?
        found[own, :2] = gained[1 - begins : 1 + len(inner)]
        total = gained[-1]
    return found


def _over(powers: Powers, segment: Segment, times: Array, states: Array, chapter: Chapter, size: float) -> Array:
    """(k, 2): work and dissipated along rows of a phase on which the rates are those of the segment."""
    from svyaz.integrate import integrals_along  # few motions are asked for it

    options = chapter.options
    return integrals_along(
        lambda rows: segment.code.evaluate(rows, segment.constants),
        None if segment.jacobian is None else _slopes(segment.jacobian),
        powers,
        times,
        states,
        method=options.method,
        step=options.step,
        steps=chapter.path.steps,
        error=max(EXACT, options.rtol or 0.0) * size,
    )


def _slopes(jacobian: Flow) -> Callable[[Array], Array]:
    """∂ rates/∂ states along rows."""
    owner = jacobian.owner
    if isinstance(owner, Native):
        return lambda rows: owner.evaluate(rows, jacobian.constants)
    flow = Flow(jacobian.address, jacobian.constants, jacobian.size**2, owner)
    return lambda rows: along(flow, rows)


def _meter(power: EnergyPower, segment: Segment) -> Powers:
    """The powers of work and of dissipation as functions of the states of a phase, its gains among the values."""
    equations, values = segment.equations, {**segment.values, **segment.perturbation.gains}
    watch, _ = dynamics_of(equations).watch(segment, powers(power, equations), values)
    return lambda rows: watch(rows)["g"]


def powers(power: EnergyPower, equations: Equations) -> list[Expression]:
    """The powers of work and of dissipation in the states of a phase, in its multipliers, and in sides that hold it."""
    names = (*equations.multiplier_names, *(c.name for c in equations.eliminated))
    pushes: dict[str, Expression] = {name: multiplier_symbol(name) for name in names}
    works = [pushes[name] * equations.in_states(e) for name, e in power.slips.items() if name in pushes]
    gained, lost = rubbing_power(equations, pushes)
    return [
        add_up([equations.in_states(power.work), *works, gained]),
        add_up([equations.in_states(power.dissipated), lost]),
    ]
