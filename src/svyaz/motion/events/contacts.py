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
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.dynamics import (
    FLOOR,
    Snapshot,
    dynamics_of,
    measure_of,
    typical_accelerations,
    typical_sizes,
    typical_speeds,
    with_floor,
)
from svyaz.forms import Equations
from svyaz.integrate import Path
from svyaz.model import Constraint, is_one_sided

Tables = Callable[[Array], dict[str, Array]]
"""From rows [t, states…] to ``on``, its rate, ∂on'/∂v, what on'' has without accelerations, and the sizes of its terms."""

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

ROOM = 1e-7
"""A constraint that is not approached fast, with ``on`` above zero, counts as entered when that has grown by this part: one
that returns again and again stays within the tolerance."""

MOST_LOOKED_AT = 50
"""Rows of a path from which the sizes of constraints are taken."""

MOST_KNOWN = 4
"""States of which the values of all contacts are remembered: impacts at one moment ask for them again."""

MOMENT = 1e-3
"""A small part of a run."""


@dataclass(frozen=True)
class Gaps:
    """``on`` of the one-sided constraints with its two derivatives in time and the sizes of all three, each (k,).

        on' = G v + ∂on/∂t,    on'' = G v̇ + bias.

    ``terms`` is the sum of the magnitudes of the terms of ``on`` here, ``size`` the largest in the run so far. ``rows`` is
    G (k, n), ``magnitudes`` is |G|, ``moving`` is ∂on/∂t. ``weight`` is what all forces ``here`` together would give on''.
    """

    value: Array
    terms: Array
    size: Array
    rows: Array
    magnitudes: Array
    moving: Array
    bias: Array
    speeds: Array
    accelerations: Array
    weight: Array
    here: Snapshot

    def at_speeds(self, speeds: Array) -> Gaps:
        """At the same place with other velocities."""
        return replace(self, speeds=speeds)

    def at_accelerations(self, accelerations: Array) -> Gaps:
        """At the same place with other accelerations."""
        return replace(self, accelerations=accelerations)

    def of(self, numbers: Sequence[int]) -> Gaps:
        """Those of some of the constraints."""
        names = ("value", "terms", "size", "rows", "magnitudes", "moving", "bias", "weight")
        return replace(self, **{name: getattr(self, name)[list(numbers)] for name in names})

    @cached_property
    def rate(self) -> Array:
        """on'."""
        return np.asarray(self.rows @ self.speeds + self.moving)

    @cached_property
    def rate_size(self) -> Array:
        """The terms of on', or what a fall over the size of ``on`` gives."""
        terms = self.magnitudes @ np.abs(self.speeds) + np.abs(self.moving)
        return np.maximum(terms, np.sqrt(self.size * self.second_size))

    @cached_property
    def usual_rate(self) -> Array:
        """How fast ``on`` would change with the kinetic energy that there is."""
        terms, here = self.magnitudes @ np.abs(self.speeds) + np.abs(self.moving), self.here
        return np.maximum(terms, FLOOR * (self.magnitudes @ typical_speeds(here.mass, here.bias, here.q, here.v)))

    @cached_property
    def second(self) -> Array:
        """on''."""
        return np.asarray(self.rows @ self.accelerations + self.bias)

    @cached_property
    def second_size(self) -> Array:
        """The terms of on''."""
        terms = self.magnitudes @ np.abs(self.accelerations) + np.abs(self.bias)
        return np.maximum(terms, self.weight)

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


@dataclass(frozen=True)
class Contacts:
    """The one-sided constraints of a model, and their ``on`` with derivatives as native code.

    It belongs to no set of constraints that act. ``seen`` (k,) are the largest sizes of ``on`` in the run so far: bodies
    that lie side by side at the origin, where all terms vanish, touch by that measure. The ``tolerance`` is the part of that
    size by which constraints that act may be away from zero. ``known`` are the latest values, by time and state; ``later``
    are the states of the last path and the contacts after it.
    """

    constraints: tuple[Constraint, ...]
    numbers: Tables
    free: Equations
    seen: Array
    tolerance: float = TOUCHING
    known: dict[tuple[float, bytes], Gaps] = field(default_factory=dict, compare=False, repr=False)
    later: list[tuple[Array, Contacts]] = field(default_factory=list, compare=False, repr=False)

    @cached_property
    def numbered(self) -> dict[str, int]:
        """The number of each by its name."""
        return {c.name: k for k, c in enumerate(self.constraints)}

    def at(self, time: float, state: Array) -> Gaps:
        """Values at a state, with the accelerations of the motion without constraints."""
        key = (time, state.tobytes())
        found = self.known.get(key)
        if found is None:
            while len(self.known) >= MOST_KNOWN:
                del self.known[next(iter(self.known))]
            found = self.known[key] = self._evaluate(time, state)
        return found

    def terms(self, time: float, state: Array) -> Array:
        """The sums of the magnitudes of the terms of ``on`` at a state (k,)."""
        found = self.known.get((time, state.tobytes()))
        if found is not None:
            return found.terms
        return self.numbers(np.concatenate([[time], state])[None])["position_terms"][0]

    def along(self, time: float, state: Array, slopes: Array) -> Gaps:
        """Values at a state with these rates of all states."""
        return self.at(time, state).at_accelerations(slopes[list(measure_of(self.free).speeds)])

    def _evaluate(self, time: float, state: Array) -> Gaps:
        here, row = measure_of(self.free).at(state, time), np.concatenate([[time], state])
        parts = {name: table[0] for name, table in self.numbers(row[None]).items()}
        magnitudes = np.abs(parts["jacobian"])
        size = np.maximum(parts["position_terms"], FLOOR * (magnitudes @ typical_sizes(here.mass, here.q)))
        return Gaps(
            value=parts["position"],
            terms=parts["position_terms"],
            size=np.maximum(size, self.seen),
            rows=parts["jacobian"],
            magnitudes=magnitudes,
            moving=parts["velocity"] - parts["jacobian"] @ here.v,
            bias=parts["constraint_bias"],
            speeds=here.v,
            accelerations=here.mobility.accelerated(here.jacobian[:0], here.constraint_bias[:0]),
            weight=FLOOR * (magnitudes @ typical_accelerations(here.mass, here.bias)),
            here=here,
        )

    def after(self, path: Path) -> Contacts:
        """The same, with what was seen along a path."""
        if not self.constraints:
            return self
        if self.later and self.later[0][0] is path.states:
            return self.later[0][1]
        stride = -(-len(path.times) // MOST_LOOKED_AT)
        times, states = path.times[::-stride], path.states[::-stride]
        parts = self.numbers(np.column_stack([times, states]))
        here = measure_of(self.free).along(times, states)
        sizes = with_floor(parts["position_terms"], parts["jacobian"], typical_sizes(here.mass, here.q))
        seen = np.fmax(self.seen, np.fmax.reduce(sizes, axis=0))
        known = self.known if np.array_equal(seen, self.seen) else {}
        self.later[:] = [(path.states, replace(self, seen=seen, known=known, later=[]))]
        return self.later[0][1]

    def touching(self, time: float, state: Array, tolerance: float) -> frozenset[str]:
        """Those whose ``on`` is zero, up to a part of its size."""
        if not self.constraints:
            return frozenset()
        gaps = self.at(time, state)
        near = np.flatnonzero(np.abs(gaps.value) <= tolerance * gaps.size)
        return frozenset(self.constraints[k].name for k in near.tolist())

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
        gentle = gaps.rate <= 100.0 * gaps.slowest
        more = np.where(gentle, np.minimum(gaps.value, ROOM * size), gaps.value)
        found = np.maximum(SHALLOW * size, np.where(touch, gaps.value + more, 0.0))
        return dict(zip(self.numbered, np.maximum(found, np.finfo(float).tiny).tolist(), strict=True))

    def reactions(self, time: float, state: Array) -> dict[str, float]:
        """By name: the reaction that would make up for the accelerations that there are."""
        gaps, here = self.at(time, state), measure_of(self.free).at(state, time)
        mobilities = np.abs(here.mobility.mobilities(gaps.rows))
        found = gaps.second_size / np.where(mobilities > 0.0, mobilities, np.inf)
        return dict(zip(self.numbered, found.tolist(), strict=True))

    def shortest_rise(self, time: float, state: Array, slopes: Array, open_ones: Collection[str]) -> float:
        """How long the first of the ``open_ones`` that part and come back goes on parting: -on'/on''."""
        if not self.constraints or not np.isfinite(slopes).all():
            return float("inf")
        gaps = self.along(time, state, slopes)
        back = (np.abs(gaps.value) <= self.tolerance * gaps.size) & (gaps.rate < 0.0) & (gaps.second > 0.0)
        found = [k for k in np.flatnonzero(back).tolist() if self.constraints[k].name in open_ones]
        return float(np.min(-gaps.rate[found] / gaps.second[found], initial=np.inf))

    def sinking(self, span: tuple[float, float], state: Array, slopes: Array, gain: float) -> set[str]:
        """Those that touch and would be entered at once if they did not act.

        What would not be entered by a depth that counts before the end of the span is at rest. Stabilisation with
        gains up to ``gain`` lets a constraint go with an acceleration of the order of its deviation.
        """
        if not self.constraints or not np.isfinite(slopes).all():
            return set()
        gaps, left = self.along(span[0], state, slopes), span[1] - span[0]
        touch = (gaps.value >= -CLOSED * gaps.size) & (gaps.value <= self.tolerance * gaps.size)
        if not touch.any():
            return set()
        deep = DEEP * np.maximum(gaps.size, MOMENT * left * gaps.usual_rate)
        touch &= left * np.maximum(gaps.rate, 0.0) + left**2 * np.maximum(gaps.second, 0.0) > deep
        enter = gaps.rate > RISING * gaps.rate_size
        least = RISING * gaps.second_size + 2.0 * gain * (np.abs(gaps.value) + np.abs(gaps.rate))
        bend = (np.abs(gaps.rate) <= RISING * gaps.rate_size) & (gaps.second > least)
        return {self.constraints[k].name for k in np.flatnonzero(touch & (enter | bend)).tolist()}


def contacts_of(free: Equations, constraints: Sequence[Constraint], tolerance: float = TOUCHING) -> Contacts:
    """The one-sided ones among the constraints; ``free`` are the equations without constraints.

    The terms of on' and on'' are the entries of the sums G v and G v̇, and in ``on`` a coordinate of a point is one term: how
    large they are does not depend on how the equations are written, so events come to the same decisions for every form.
    """
    chosen = tuple(c for c in constraints if is_one_sided(c, free.velocities))
    gaps = [replace(c, expression=c.on, in_points=c.on_in_points, order=0) for c in chosen if c.on is not None]
    tables = dynamics_of(free).tables_of(gaps)
    return Contacts(chosen, partial(tables.known, only=GAP_TABLES), free, np.zeros(len(chosen)), tolerance)


GAP_TABLES = ("position", "velocity", "jacobian", "constraint_bias", "position_terms")
"""What gaps need of the tables of constraints."""
