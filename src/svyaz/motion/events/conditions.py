"""The conditions that switch constraints, as native code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.dynamics import magnitude, own_gains, shared_values
from svyaz.expr import ONE, ZERO, Expression, substitute
from svyaz.forms import ConditionCode, Equations, multiplier_symbols, rates_of, shared_with
from svyaz.holding import Segment, observed
from svyaz.model import Constraint, Limit, multiplier_symbol
from svyaz.motion.events.contacts import Contacts
from svyaz.motion.phases import reached
from svyaz.program import Function, SingularSystem, function

Sizes = Callable[[Segment, Mapping[str, float], Array], Array]
"""From the code of a phase, the values of all constants and [t, states…] to the sizes of the terms of g."""

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
    do not end the phase. ``margins`` are values of further constants. ``idle`` contacts are not entered at the start.
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
    _bound: dict[Segment, ConditionCode] = field(default_factory=dict, init=False, compare=False, repr=False)
    _levels: dict[tuple[Segment, float, bytes], Array] = field(
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

    def levels(self, segment: Segment, time: float, state: Array) -> Array:
        """Below minus these a condition is armed, (m,)."""
        key = (segment, time, state.tobytes())
        if key not in self._levels:
            self._levels.clear()  # the start of a phase is asked about several times, other states once
            self._levels[key] = self._find_levels(segment, time, state)
        return self._levels[key]

    def _find_levels(self, segment: Segment, time: float, state: Array) -> Array:
        try:
            sizes = self.sizes(segment, self._known(segment), np.concatenate([[time], state]))
        except SingularSystem:
            sizes = np.zeros(len(self.keys))
        gaps = self._gap_terms(time, state)
        sizes = np.array([gaps.get(key, size) for key, size in zip(self.keys, sizes, strict=True)])
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
        names = [c.name for c in self.contacts.constraints]
        return {("on", name): float(x) for name, x in zip(names, self.contacts.at(time, state).terms, strict=True)}

    def _usual_reactions(self, segment: Segment, time: float, state: Array) -> dict[str, float]:
        """Of contacts that act: what of a reaction is a small part of this is rounding, also where all of them vanish."""
        acting = segment.equations.multiplier_names
        if self.contacts is None or not any(c.pushes and c.name in acting for c in self.contacts.constraints):
            return {}
        return {name: size for name, size in self.contacts.reactions(time, state).items() if name in acting}

    def outside(self, segment: Segment, time: float, state: Array) -> tuple[Key, ...]:
        """Limits beyond which a state lies already."""
        values = zip(self.keys, self.at(segment, time, state), strict=True)
        return tuple(key for key, value in values if key[0] in LIMITS and value > 0.0)

    def most_overdue(self, segment: Segment, time: float, state: Array) -> tuple[Key, ...]:
        """The one of them that pulls most, with those that cease by the same condition: others may push without it."""
        late = self.overdue(segment, time, state)
        if not late:
            return ()
        values = dict(zip(self.keys, self.at(segment, time, state), strict=True))
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
        late = (self.at(segment, time, state) > self.levels(segment, time, state)) & np.array(self.reacting)
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
    in_points, whole = equations.recursion is not None, shared_with(equations)
    if whole is not None:
        return _shared(whole, constraints, contacts, limits, passing=passing)
    found = [*sides, *(pair for limit in limits for pair in beyond(limit, equations))]
    depths = {}
    for c in constraints:
        on, off = (c.on_in_points, c.off_in_points) if in_points and c.in_points is not None else (c.on, c.off)
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
    made = _by_recursion if in_points else _written
    watch, sizes = made(segment, symbols, [e for _, e in found], values)
    keys = tuple(key for key, _ in found)
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
    terms = function({"g": [magnitude(e) for e, _ in written]}, (*inputs, *pushes), values, brief=True)

    def sizes(here: Segment, constants: Mapping[str, float], row: Array) -> Array:
        acting = observed(here, row[:1], row[None, 1:])["multipliers"]
        pushed = [-acting[name][0] if name in acting else 0.0 for name in whole.multiplier_names]
        return terms.with_values(constants)(np.concatenate([row, pushed]))["g"]

    reacting = tuple(bool(e.free_symbols & set(symbols)) for _, e, _ in plain)
    return Conditions(tuple(key for key, _, _ in plain), watch, sizes, reacting, contacts, depths, passing=passing)


def _named(constraints: Sequence[Constraint]) -> dict[str, None]:
    return dict.fromkeys(c.name for c in constraints)


def _written(
    segment: Segment, symbols: Sequence[se.Symbol], conditions: Sequence[Expression], values: Mapping[str, float]
) -> tuple[ConditionCode, Sizes]:
    """Conditions as functions of the states; the multipliers are those of the linear system."""
    equations = segment.equations
    known = dict(zip(map(multiplier_symbol, equations.multiplier_names), multiplier_symbols(equations), strict=True))
    reactions = {symbol: known.get(symbol, ZERO) for symbol in symbols}
    written = [substitute(e, reactions) for e in conditions]
    reacting = any(e.free_symbols & set(symbols) for e in conditions)
    systems = rates_of(equations, segment.perturbation.correction).systems[:1] if reacting or equations.sliding else ()

    def numbers(expressions: Sequence[Expression], inputs: Sequence[str] = (), often: bool = False) -> Function:
        own, order = () if inputs else systems, ("t", *equations.states, *inputs)
        return function({"g": expressions}, order, values, systems=own, often=often, brief=True)

    # the multipliers are known from what is observed: no need to solve for them in one more program
    pushes = [str(-s) for s in multiplier_symbols(equations)] if reacting and not equations.sliding else []
    terms = numbers([magnitude(e) for e in written], pushes)

    def sizes(here: Segment, constants: Mapping[str, float], row: Array) -> Array:
        given = np.concatenate([row, -_multipliers(here, row[0], row[1:])]) if pushes else row
        return terms.with_values(constants)(given)["g"]

    return numbers(written, often=True), sizes


def _by_recursion(
    segment: Segment, symbols: Sequence[se.Symbol], conditions: Sequence[Expression], values: Mapping[str, float]
) -> tuple[ConditionCode, Sizes]:
    """Conditions as functions of the points of bodies and of the multipliers that recursions give."""
    recursion, law = segment.equations.recursion, segment.perturbation
    assert recursion is not None, "the equations are named, not written out"
    acting = {multiplier_symbol(name) for name in segment.equations.multiplier_names}
    still = {symbol: ZERO for symbol in symbols if symbol not in acting}
    known = [substitute(e, still) for e in conditions]
    watch = recursion.watching(law.correction, tuple(law.gains), known, values)
    return watch, lambda _, constants, row: watch.with_values(constants).sizes(row)


def _multipliers(segment: Segment, time: float, state: Array) -> Array:
    """λ (m,) at a state."""
    found = observed(segment, np.array([time]), state[None, :])["multipliers"]
    return np.array([found[name][0] for name in segment.equations.multiplier_names])


def beyond(limit: Limit, equations: Equations) -> list[tuple[Key, Expression]]:
    """What rises through zero where a motion passes a side of a limit, in the states of the equations."""
    named = limit.in_points if equations.recursion is not None else None
    e = equations.in_states(limit.expression) if named is None else named
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
