"""The conditions that switch constraints, as native code."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.dynamics import CompiledRates, ConditionCode, Sizes, dynamics_of, magnitude, own_gains, shared_values
from svyaz.expr import ONE, ZERO, Expression, substitute
from svyaz.forms import Equations, multiplier_symbols, rates_of, shared_with
from svyaz.model import Constraint, Limit, multiplier_symbol
from svyaz.motion.events.contacts import Contacts
from svyaz.motion.phases import reached
from svyaz.program import SingularSystem, function
from svyaz.stabilise import Segment, multipliers_along

Key = tuple[str, str]
"""("on" or "off", name of the constraint), ("low" or "high", name of the limit), or one of SIDED and a surface."""

LIMITS = ("low", "high")

SIDED = ("crossed", "released up", "released down")
"""A surface at which rates jump was reached from its side; a motion that slides along one is let go to a side."""

LOW = 1e-9
"""A condition is armed once it is below minus this part of the size of its terms."""

PARTED = 1e-2
"""``on`` of a contact is armed below minus this part of its depth: bodies that lie side by side part by rounding alone."""


@dataclass(frozen=True)
class Conditions:
    """The conditions g that are watched in a phase, as native code, and the sizes of their terms.

    ``on`` of a one-sided constraint is watched a second time, lowered by a small depth: it counts there
    even if it has never been negative. ``gain`` is the largest gain of the phases before. ``passing``: limits are told and
    do not end the phase. ``margins`` are values of further constants. ``idle`` contacts are not entered at the start,
    where the constraints are known to be ``independent``.
    """

    keys: tuple[Key, ...]
    values: ConditionCode
    sizes: Sizes
    reacting: tuple[bool, ...]
    contacts: Contacts | None = None
    depths: Mapping[str, float] = field(default_factory=dict)
    gain: float = 0.0
    passing: bool = False
    margins: Mapping[str, float] = field(default_factory=dict)
    idle: frozenset[Key] = frozenset()
    independent: bool = False
    _bound: dict[Segment, ConditionCode] = field(default_factory=dict, init=False, compare=False, repr=False)
    _starts: dict[tuple[str, Segment, float, bytes], Array] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def bound(self, segment: Segment) -> ConditionCode:
        """g (m,) as a function with the gains of the segment."""
        if segment not in self._bound:
            self._bound[segment] = self.values.with_values(self._known(segment))
        return self._bound[segment]

    def _known(self, segment: Segment) -> dict[str, float]:
        depths, equations = {_depth(name): depth for name, depth in self.depths.items()}, segment.equations
        gains = shared_values(equations, shared_with(equations), segment.perturbation.gains)
        return {**equations.system.constants, **gains, **depths, **self.margins}

    def at(self, segment: Segment, time: float, state: Array) -> Array:
        """g (m,); not a number where the reactions are not defined."""
        try:
            return self.bound(segment)(np.concatenate([[time], state]))["g"]
        except SingularSystem:
            return np.full(len(self.keys), np.nan)

    def at_start(self, segment: Segment, time: float, state: Array) -> Array:
        """The same at the start of a phase, about which several questions are asked."""
        return self._once("g", self.at, segment, time, state)

    def levels(self, segment: Segment, time: float, state: Array) -> Array:
        """Below minus these a condition is armed, (m,)."""
        return self._once("levels", self._find_levels, segment, time, state)

    def _once(
        self, what: str, find: Callable[[Segment, float, Array], Array], segment: Segment, time: float, state: Array
    ) -> Array:
        key = (what, segment, time, state.tobytes())
        if key not in self._starts:
            if next(iter(self._starts), key)[1:] != key[1:]:
                self._starts.clear()
            self._starts[key] = find(segment, time, state)
        return self._starts[key]

    def _find_levels(self, segment: Segment, time: float, state: Array) -> Array:
        try:
            sizes = self.sizes(segment, self._known(segment), np.concatenate([[time], state]))
        except SingularSystem:
            sizes = np.zeros(len(self.keys))
        gaps = self._gap_terms(time, state)
        sizes = np.array([gaps.get(key, size) for key, size in zip(self.keys, sizes.tolist(), strict=True)])
        usual = self._usual_reactions(segment, time, state)
        least = [
            PARTED * self.depths.get(name, 0.0) if kind == "on" else LOW * usual.get(name, 0.0)
            for kind, name in self.keys
        ]
        return np.maximum(LOW * np.nan_to_num(sizes), least)

    def _gap_terms(self, time: float, state: Array) -> dict[Key, float]:
        """The sizes of ``on`` of contacts, by their own measure: it is the same for all forms of the equations."""
        if self.contacts is None or not self.depths:
            return {}
        terms = self.contacts.terms(time, state).tolist()
        return {("on", name): x for name, x in zip(self.contacts.numbered, terms, strict=True)}

    def _usual_reactions(self, segment: Segment, time: float, state: Array) -> dict[str, float]:
        """Of contacts that act: what of a reaction is a small part of this is rounding, also where all of them vanish."""
        acting = segment.equations.multiplier_names
        if self.contacts is None or not any(c.pushes and c.name in acting for c in self.contacts.constraints):
            return {}
        return {name: size for name, size in self.contacts.reactions(time, state).items() if name in acting}

    def outside(self, segment: Segment, time: float, state: Array) -> tuple[Key, ...]:
        """Limits beyond which a state lies already."""
        values = zip(self.keys, self.at_start(segment, time, state), strict=True)
        return tuple(key for key, value in values if key[0] in LIMITS and value > 0.0)

    def most_overdue(self, segment: Segment, time: float, state: Array) -> tuple[Key, ...]:
        """The one of them that pulls most, with those that cease by the same condition: others may push without it."""
        late = self.overdue(segment, time, state)
        if not late:
            return ()
        values = dict(zip(self.keys, self.at_start(segment, time, state), strict=True))
        worst = max(late, key=lambda key: values[key])
        ends = {c.name: c.off for c in segment.equations.system.constraints}
        return tuple(key for key in late if ends[key[1]] == ends[worst[1]])

    def sinking(self, span: tuple[float, float], state: Array, slopes: Array) -> tuple[Key, ...]:
        """One-sided constraints that do not act and would be entered at the start of a span."""
        if self.contacts is None or not self.depths:
            return ()
        entered = self.contacts.sinking(span, state, slopes, self.gain)
        return tuple(("on", name) for name in self.depths if name in entered and ("on", name) not in self.idle)

    def overdue(self, segment: Segment, time: float, state: Array) -> tuple[Key, ...]:
        """Constraints that pull where they could only push: ``off`` contains multipliers and is positive already."""
        values = self.at_start(segment, time, state)
        late = (values > 0.0) & np.array(self.reacting)
        if not late.any():
            return ()
        late &= values > self.levels(segment, time, state)
        return tuple(key for key, is_late in zip(self.keys, late, strict=True) if is_late and key[0] == "off")


def conditions(
    segment: Segment,
    constraints: Sequence[Constraint],
    active: Sequence[Constraint],
    time: float,
    contacts: Contacts | None = None,
    limits: Sequence[Limit] = (),
    *,
    passing: bool = False,
    sides: Sequence[tuple[Key, Expression]] = (),
    margins: Mapping[str, float] | None = None,
) -> Conditions:
    """What may switch constraints in a phase: ``on`` of those that do not act, ``off`` of those that do; and ``limits``.

    Limits that a run is ``passing`` do not end it. ``sides`` are further conditions, with the constants ``margins``.
    The multiplier of a constraint that does not act is zero. ``contacts`` are given for phases after an event.
    """
    equations = segment.equations
    dynamics, whole = dynamics_of(equations), shared_with(equations)
    if whole is not None:
        return _shared(whole, constraints, contacts, limits, passing=passing)
    found = [*sides, *(pair for limit in limits for pair in beyond(limit, equations))]
    depths = {}
    for c in constraints:
        on, off = dynamics.choose(c.on, c.on_in_points), dynamics.choose(c.off, c.off_in_points)
        if c not in active and on is not None and (c.end is None or not reached(time, c.end)):
            found.append((("on", c.name), on))
            if contacts is not None and c in contacts.constraints:
                found.append((("on", c.name), on - se.Symbol(_depth(c.name))))
                depths[c.name] = 0.0
        if c in active and off is not None:
            found.append((("off", c.name), off))
    symbols = [multiplier_symbol(name) for name in {**dict.fromkeys(equations.multiplier_names), **_named(constraints)}]
    reacting = tuple(bool(e.free_symbols & set(symbols)) for _, e in found)
    values = {**equations.system.constants, **segment.perturbation.gains, **{_depth(name): 0.0 for name in depths}}
    values |= margins or {}
    acting = {multiplier_symbol(name) for name in equations.multiplier_names}
    still: dict[se.Symbol, Expression] = {symbol: ZERO for symbol in symbols if symbol not in acting}
    watch, sizes = dynamics.watch(segment, [substitute(e, still) for _, e in found], values)
    keys = tuple(key for key, _ in found)
    sizes = _sizes_of_contacts(keys, constraints, () if contacts is None else contacts.constraints) or sizes
    return Conditions(keys, watch, sizes, reacting, contacts, depths, passing=passing, margins=margins or {})


def _shared(
    whole: Equations,
    constraints: Sequence[Constraint],
    contacts: Contacts | None,
    limits: Sequence[Limit],
    *,
    passing: bool,
) -> Conditions:
    """The conditions for every set of the constraints that have switches: those that do not count there are -1."""
    switches = dict(zip(whole.multiplier_names, whole.switches, strict=True))
    plain: list[tuple[Key, Expression, Expression]] = []
    one_sided = () if contacts is None else contacts.constraints
    for c in constraints:
        s: Expression = switches.get(c.name, ZERO)
        if c.on is not None:
            plain.append((("on", c.name), c.on, ONE - s))
            if c in one_sided:
                plain.append((("on", c.name), c.on - se.Symbol(_depth(c.name)), ONE - s))
        if c.off is not None and c.name in switches:
            plain.append((("off", c.name), c.off, s))
    plain += [(key, e, ONE) for limit in limits for key, e in beyond(limit, whole)]
    symbols = [multiplier_symbol(c.name) for c in constraints]
    known = dict(zip(map(multiplier_symbol, whole.multiplier_names), multiplier_symbols(whole), strict=True))
    written = [(substitute(e, {m: known.get(m, ZERO) for m in symbols}), count) for _, e, count in plain]
    gains, correction = own_gains(whole)
    depths = {c.name: 0.0 for c in one_sided}
    values = {**whole.system.constants, **dict.fromkeys([*gains, *map(str, whole.switches), *map(_depth, depths)], 0.0)}
    inputs, pushes = ("t", *whole.states), [str(-m) for m in multiplier_symbols(whole)]
    watch = function(
        {"g": [count * e + (count - ONE) for e, count in written]},
        inputs,
        values,
        systems=rates_of(whole, correction).systems[:1],
        often=True,
        brief=True,
    )
    keys = tuple(key for key, _, _ in plain)
    sizes = _sizes_of_contacts(keys, constraints, one_sided)
    if sizes is None:
        terms = function({"g": [magnitude(e) for e, _ in written]}, (*inputs, *pushes), values, brief=True)

        def sizes(here: CompiledRates, constants: Mapping[str, float], row: Array) -> Array:
            acting = dynamics_of(here.equations).observe(here, row[None, :])["multipliers"]
            pushed = [-acting[name][0] if name in acting else 0.0 for name in whole.multiplier_names]
            return terms.with_values(constants)(np.concatenate([row, pushed]))["g"]

    reacting = tuple(bool(e.free_symbols & set(symbols)) for _, e, _ in plain)
    return Conditions(keys, watch, sizes, reacting, contacts, depths, passing=passing)


def _named(constraints: Sequence[Constraint]) -> dict[str, None]:
    return dict.fromkeys(c.name for c in constraints)


def _sizes_of_contacts(
    keys: Sequence[Key], constraints: Sequence[Constraint], one_sided: Collection[Constraint]
) -> Sizes | None:
    """Sizes where all conditions are gaps of contacts, which have a measure of their own, or the reactions of constraints."""
    known = {c.name: c for c in constraints}
    reactions: list[tuple[int, str]] = []
    for place, (kind, name) in enumerate(keys):
        c = known.get(name)
        if c is None or c.off not in (multiplier_symbol(name), -multiplier_symbol(name)) or c not in one_sided:
            return None
        if kind == "off":
            reactions.append((place, name))

    def sizes(here: CompiledRates, _constants: Mapping[str, float], row: Array) -> Array:
        found = np.zeros(len(keys))
        acting = multipliers_along(here, row[:1], row[None, 1:]) if here.equations.multiplier_names else {}
        for place, name in reactions:
            found[place] = abs(float(acting[name][0])) if name in acting else 0.0
        return found

    return sizes


def beyond(limit: Limit, equations: Equations) -> list[tuple[Key, Expression]]:
    """What rises through zero where a motion passes a side of a limit, in the states of the equations."""
    e = dynamics_of(equations).choose(equations.in_states(limit.expression), limit.in_points)
    assert e is not None, "a limit is written in the states"
    margin = limit.margin(equations.system.constants)
    found: list[tuple[Key, Expression]] = []
    if limit.low is not None:
        found.append((("low", limit.name), limit.low - e - margin))
    if limit.high is not None:
        found.append((("high", limit.name), e - limit.high - margin))
    return found


def _depth(name: str) -> str:
    """The name of the constant by which ``on`` of a constraint is lowered."""
    return f"depth of {name}"
