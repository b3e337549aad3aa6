"""One-sided constraints: those that can push and not pull, and what tells whether they would be entered.

A constraint is one-sided when ``off`` is a linear form of multipliers (``-lambda_foot``), so that it is let go when its
reaction vanishes, and when ``on`` is a function of positions and time: a distance with the minus sign. Where ``on`` is zero
the bodies touch; after the constraint was let go they must part,

    on' < 0,   or   on' = 0 and on'' ≤ 0,        on' = ∂on/∂q q̇ + ∂on/∂t.

A constraint that breaks at a given reaction (``abs(lambda_rod) - F``) and one that slips is not one-sided: it may be passed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.dynamics import (
    dynamics_of,
    measure_of,
    typical_accelerations,
    typical_sizes,
    typical_speeds,
    with_floor,
)
from svyaz.expr import ZERO
from svyaz.forms import Equations
from svyaz.integrate import Path
from svyaz.model import Constraint, is_one_sided
from svyaz.program import Function, function

Derivatives = Callable[[Array], dict[str, Array]]
"""From rows [t, states, slopes of the states] to ``on`` with its derivatives, the sizes of their terms and ∂on'/∂v."""

TOUCHING = 1e-5
"""Constraints that acted up to now touch while ``on`` is within this part of its size."""

CLOSED = 1e-9
"""Constraints that do not act touch while ``on`` is not below minus this part of its size."""

RISING = 1e-6
"""``on`` rises when its rate, or at rest its second derivative, is above this part of the size of its terms."""

DEEP = 1e-6
"""A constraint that was let go is entered, however slowly, when ``on`` is this part of its size."""

SHALLOW = 1e-8
"""Hops that are lower than this part of the size of ``on`` end: lower ones could not be told from rounding."""

MOST_LOOKED_AT = 50
"""Rows of a path from which the sizes of constraints are taken."""

MOST_KNOWN = 4
"""States of which the values of all contacts are remembered: impacts at one moment ask for them again."""

MOMENT = 1e-3
"""A small part of a run."""


@dataclass(frozen=True)
class Gaps:
    """``on`` of the one-sided constraints with its two derivatives in time and the sizes of all three, each (k,).

    ``terms`` is the sum of the magnitudes of the terms of ``on`` here, ``size`` the largest in the run so far.
    ``usual_rate`` is how fast it would change with the kinetic energy that there is, ``rows`` is ∂on'/∂v (k, n); ``rate``
    belongs to the ``speeds``, ``second`` to the ``accelerations``.
    """

    value: Array
    rate: Array
    second: Array
    terms: Array
    size: Array
    rate_size: Array
    second_size: Array
    usual_rate: Array
    rows: Array
    speeds: Array
    accelerations: Array

    def at_speeds(self, speeds: Array) -> Gaps:
        """At the same place with other velocities."""
        moving = self.rate - self.rows @ self.speeds
        terms = np.abs(self.rows) @ np.abs(speeds) + np.abs(moving)
        sizes = np.maximum(terms, np.sqrt(self.size * self.second_size))
        return replace(self, rate=self.rows @ speeds + moving, rate_size=sizes, speeds=speeds)

    @property
    def slowest(self) -> Array:
        """Thrown back with less than these speeds, their hops would be lower than can be seen."""
        found: Array = np.sqrt(2.0 * SHALLOW * self.size * self.second_size)
        return found

    @property
    def slow(self) -> NDArray[np.bool_]:
        """Which are slower than that."""
        found: NDArray[np.bool_] = np.abs(self.rate) <= self.slowest
        return found

    def second_with(self, accelerations: Array) -> Array:
        """on'' with other accelerations."""
        found: Array = self.second + self.rows @ (accelerations - self.accelerations)
        return found


@dataclass(frozen=True)
class Contacts:
    """The one-sided constraints of a model, and their ``on`` with derivatives as native code.

    The inputs are t, the states and their slopes; ``explicit`` gives the rates that need no accelerations. It belongs to no
    set of constraints that act. ``seen`` (k,) are the largest sizes of ``on`` in the run so far: bodies that lie side by
    side at the origin, where all terms vanish, touch by that measure. The ``tolerance`` is the part of that size by which
    constraints that act may be away from zero. ``known`` are the latest values, by time, state and slopes; ``later`` are the
    states of the last path and the contacts after it.
    """

    constraints: tuple[Constraint, ...]
    numbers: Derivatives
    explicit: Function
    free: Equations
    seen: Array
    tolerance: float = TOUCHING
    known: dict[tuple[float, bytes, bytes | None], Gaps] = field(default_factory=dict, compare=False, repr=False)
    later: list[tuple[Array, Contacts]] = field(default_factory=list, compare=False, repr=False)

    @cached_property
    def numbered(self) -> dict[str, int]:
        """The number of each by its name."""
        return {c.name: k for k, c in enumerate(self.constraints)}

    def at(self, time: float, state: Array, slopes: Array | None = None) -> Gaps:
        """Values at a state; without ``slopes`` the second derivatives are those of the motion without constraints."""
        key = (time, state.tobytes(), None if slopes is None else slopes.tobytes())
        found = self.known.get(key)
        if found is None:
            while len(self.known) >= MOST_KNOWN:
                del self.known[next(iter(self.known))]
            found = self.known[key] = self._evaluate(time, state, slopes)
        return found

    def _evaluate(self, time: float, state: Array, slopes: Array | None) -> Gaps:
        here = measure_of(self.free).at(state, time)
        if slopes is None:
            free = here.mobility.accelerated(np.zeros((0, len(here.v))), np.zeros(0))
            slopes = self.slopes(time, state, free)
        else:
            free = slopes[list(measure_of(self.free).speeds)]
        parts = self.numbers(np.concatenate([[time], state, slopes]))
        size = with_floor(parts["value_terms"], parts["rows"], typical_sizes(here.mass, here.q))
        size = np.maximum(size, self.seen)
        second = with_floor(parts["second_terms"], parts["rows"], typical_accelerations(here.mass, here.bias))
        fallen = np.sqrt(size * second)
        return Gaps(
            value=parts["value"],
            rate=parts["rate"],
            second=parts["second"],
            terms=parts["value_terms"],
            size=size,
            rate_size=np.maximum(parts["rate_terms"], fallen),
            second_size=second,
            usual_rate=with_floor(
                parts["rate_terms"], parts["rows"], typical_speeds(here.mass, here.bias, here.q, here.v)
            ),
            rows=parts["rows"],
            speeds=here.v,
            accelerations=free,
        )

    def after(self, path: Path) -> Contacts:
        """The same, with what was seen along a path."""
        if not self.constraints:
            return self
        if self.later and self.later[0][0] is path.states:
            return self.later[0][1]
        stride = -(-len(path.times) // MOST_LOOKED_AT)
        times, states = path.times[::-stride], path.states[::-stride]
        parts = self.numbers(np.column_stack([times, states, np.zeros_like(states)]))
        here = measure_of(self.free).along(times, states)
        sizes = with_floor(parts["value_terms"], parts["rows"], typical_sizes(here.mass, here.q))
        seen = np.fmax(self.seen, np.fmax.reduce(sizes, axis=0))
        self.later[:] = [(path.states, replace(self, seen=seen, known={}, later=[]))]
        return self.later[0][1]

    def slopes(self, time: float, state: Array, accelerations: Array) -> Array:
        """The rates of all states with these accelerations of the free equations."""
        rates: Array = self.explicit(np.concatenate([[time], state]))["rates"]
        return measure_of(self.free).moved(rates, v=accelerations)

    def touching(self, time: float, state: Array, tolerance: float) -> frozenset[str]:
        """Those whose ``on`` is zero, up to a part of its size."""
        if not self.constraints:
            return frozenset()
        gaps = self.at(time, state)
        near = np.abs(gaps.value) <= tolerance * gaps.size
        return frozenset(c.name for c, touches in zip(self.constraints, near, strict=True) if touches)

    def nearest(self, time: float, state: Array) -> list[str]:
        """Their names, those with the smallest gaps first."""
        if not self.constraints:
            return []
        return [self.constraints[k].name for k in np.argsort(-self.at(time, state).value)]

    def depths(self, time: float, state: Array, until: float) -> dict[str, float]:
        """How far ``on`` may rise above zero before a constraint that was let go counts as entered, by name.

        Where all coordinates are zero, the way of a small part of the run takes the place of their sizes.
        """
        if not self.constraints:
            return {}
        gaps = self.at(time, state)
        touch = np.abs(gaps.value) <= self.tolerance * gaps.size
        size = np.maximum(gaps.size, MOMENT * until * gaps.rate_size)
        found = np.maximum(SHALLOW * size, np.where(touch, 2.0 * gaps.value, 0.0))
        least = float(np.finfo(float).tiny)
        return {c.name: max(float(depth), least) for c, depth in zip(self.constraints, found, strict=True)}

    def reactions(self, time: float, state: Array) -> dict[str, float]:
        """By name: the reaction that would make up for the accelerations that there are."""
        gaps, here = self.at(time, state), measure_of(self.free).at(state, time)
        mobilities = np.abs(here.mobility.mobilities(gaps.rows))
        found = gaps.second_size / np.where(mobilities > 0.0, mobilities, np.inf)
        return {c.name: float(size) for c, size in zip(self.constraints, found, strict=True)}

    def shortest_rise(self, time: float, state: Array, slopes: Array, open_ones: Collection[str]) -> float:
        """How long the first of the ``open_ones`` that part and come back goes on parting: -on'/on''."""
        if not self.constraints or not np.isfinite(slopes).all():
            return float("inf")
        gaps = self.at(time, state, slopes)
        back = (np.abs(gaps.value) <= self.tolerance * gaps.size) & (gaps.rate < 0.0) & (gaps.second > 0.0)
        back &= np.array([c.name in open_ones for c in self.constraints])
        return float(np.min(-gaps.rate[back] / gaps.second[back], initial=np.inf))

    def sinking(self, span: tuple[float, float], state: Array, slopes: Array, gain: float) -> set[str]:
        """Those that touch and would be entered at once if they did not act.

        What would not be entered by a depth that counts before the end of the span is at rest. Stabilisation with
        gains up to ``gain`` lets a constraint go with an acceleration of the order of its deviation.
        """
        if not self.constraints or not np.isfinite(slopes).all():
            return set()
        gaps, left = self.at(span[0], state, slopes), span[1] - span[0]
        touch = (gaps.value >= -CLOSED * gaps.size) & (gaps.value <= self.tolerance * gaps.size)
        deep = DEEP * np.maximum(gaps.size, MOMENT * left * gaps.usual_rate)
        touch &= left * np.maximum(gaps.rate, 0.0) + left**2 * np.maximum(gaps.second, 0.0) > deep
        enter = gaps.rate > RISING * gaps.rate_size
        least = RISING * gaps.second_size + 2.0 * gain * (np.abs(gaps.value) + np.abs(gaps.rate))
        bend = (np.abs(gaps.rate) <= RISING * gaps.rate_size) & (gaps.second > least)
        return {c.name for c, sinks in zip(self.constraints, touch & (enter | bend), strict=True) if sinks}


def contacts_of(free: Equations, constraints: Sequence[Constraint], tolerance: float = TOUCHING) -> Contacts:
    """The one-sided ones among the constraints; ``free`` are the equations without constraints."""
    chosen = tuple(c for c in constraints if is_one_sided(c, free.velocities))
    explicit = function(
        {"rates": [free.explicit.get(s, ZERO) for s in free.states]}, ("t", *free.states), free.system.constants
    )
    return Contacts(chosen, _derivatives(free, chosen), explicit, free, np.zeros(len(chosen)), tolerance)


GAP_TABLES = ("position", "velocity", "jacobian", "constraint_bias", "position_terms")
"""What gaps need of the tables of constraints."""


def _derivatives(free: Equations, chosen: Sequence[Constraint]) -> Derivatives:
    """As constraints that nothing keeps: on' = G v + ∂on/∂t, on'' = G v̇ + what there is without v̇.

    The terms of on' and on'' are the entries of these sums, and in ``on`` a coordinate of a point is one term: how large they
    are does not depend on how the equations are written, so events come to the same decisions for every form.
    """
    gaps = [replace(c, expression=c.on, in_points=c.on_in_points, order=0) for c in chosen if c.on is not None]
    tables, count = dynamics_of(free).tables_of(gaps), len(free.states)
    speeds = [free.states.index(str(v)) for v in free.velocities]

    def found(given: Array) -> dict[str, Array]:
        if given.ndim == 1:
            return {name: table[0] for name, table in found(given[None, :]).items()}
        here = tables(given[:, : 1 + count], GAP_TABLES)
        v, accelerations = given[:, 1 : 1 + count][:, speeds], given[:, 1 + count :][:, speeds]
        rows, bias = here["jacobian"], here["constraint_bias"]
        moving = here["velocity"] - np.einsum("kij,kj->ki", rows, v)
        return {
            "value": here["position"],
            "rate": here["velocity"],
            "second": np.einsum("kij,kj->ki", rows, accelerations) + bias,
            "value_terms": here["position_terms"],
            "rate_terms": np.einsum("kij,kj->ki", np.abs(rows), np.abs(v)) + np.abs(moving),
            "second_terms": np.einsum("kij,kj->ki", np.abs(rows), np.abs(accelerations)) + np.abs(bias),
            "rows": rows,
        }

    return found
