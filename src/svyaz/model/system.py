"""What a person stated: a law of motion, and what is said beside it of constraints, inputs, pictures and runs.

All objects here are frozen. Expressions are SymEngine over plain symbols: a coordinate ``x``, its velocity ``x'``,
the time ``t``, parameters and inputs by their names.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from math import inf, isfinite

from symengine import Symbol

from svyaz.expr import (
    TIME,
    ZERO,
    Expression,
    Place,
    Problem,
    Scope,
    Unit,
    differentiate,
    evaluate,
    is_zero,
    substitute,
)
from svyaz.model.law import Law, Mechanical
from svyaz.model.reading.places import Places
from svyaz.model.reading.words import ModelWords, Table
from svyaz.model.tree import Body, BodyPoint

STEP = Symbol("length of the step")
"""Stands for the length of the fixed step in rules that are applied after each step."""


def multiplier_symbol(constraint: str) -> Symbol:
    """The symbol that stands for the multiplier of a constraint in the conditions that switch constraints."""
    return Symbol(f"multiplier {constraint}")


def deviation_symbol(name: str) -> Symbol:
    """The symbol that stands in stabilising laws for the deviation of a constraint or of an integral that is held."""
    return Symbol(f"deviation {name}")


def deviation_rate_symbol(name: str) -> Symbol:
    """The symbol that stands in stabilising laws for the rate of the deviation of a constraint on positions."""
    return Symbol(f"deviation {name}'")


@dataclass(frozen=True)
class Friction:
    """Coulomb's law for the reaction of a constraint: the force -T ``along``, an entry for each freedom.

    While ``slip`` is not zero, T = ``sliding``·|λ|·sign(slip); while it is, T is what holds it, |T| ≤ ``static``·|λ|.
    Two in a row with ``plane`` are one friction in a plane: the same law for T and slip as vectors, T = ``sliding``·|λ|
    slip/|slip|.
    """

    slip: Expression
    sliding: Expression
    static: Expression
    along: tuple[Expression, ...]
    plane: bool = False


@dataclass(frozen=True)
class Drag:
    """A force λ ``along``, an entry for each freedom, by the reaction of a constraint; ``absolute``: by its size |λ|."""

    along: tuple[Expression, ...]
    absolute: bool = False


@dataclass(frozen=True)
class Constraint:
    """left = right, kept as h = left - right; ``order`` 0 for positions, 1 when velocities occur.

    It acts from ``start`` (a time) or from the moments in which ``on`` rises through zero, until ``end`` or until
    ``off`` does; with ``on`` it does not act at the beginning unless it is ``active``. ``impact`` says how velocities
    are made to fit when it begins to act (``restitution`` is the part of a speed, or of an impulse, that is given back),
    ``anchors`` are names with expressions whose values are taken at that moment.
    ``law`` is F in ḧ = F (ḟ = F for velocities), how its deviation is made to die out, where the model says so itself.

    A servo-constraint (H. Béghin) is not kept by an ideal reaction along its gradient but by a control along a
    ``direction``, an entry for each freedom; ``control`` is the input that acts so, where the model names one, ``bounds``
    what it can do. Such an input is found, and no input of the system any more.

    ``frictions`` and ``drags`` are the forces that depend on its reaction; ``pushes`` is the sign of its multiplier while it
    acts, where ``off`` says so, and 0 where it may have both. ``in_points`` is the expression with the coordinates of
    points of bodies left as they were named, and so are ``on_in_points`` and ``off_in_points`` the conditions.
    """

    name: str
    text: str
    expression: Expression
    order: int
    dependent: tuple[str, ...] = ()
    start: float | None = None
    end: float | None = None
    place: Place | None = field(default=None, compare=False)
    on: Expression | None = None
    off: Expression | None = None
    impact: str | None = None
    restitution: Expression = ZERO
    active: bool = False
    anchors: tuple[tuple[str, Expression], ...] = ()
    law: Expression | None = None
    direction: tuple[Expression, ...] = ()
    control: str = ""
    bounds: tuple[float, float] = (-inf, inf)
    frictions: tuple[Friction, ...] = ()
    drags: tuple[Drag, ...] = ()
    pushes: int = 0
    in_points: Expression | None = field(default=None, compare=False)
    on_in_points: Expression | None = field(default=None, compare=False)
    off_in_points: Expression | None = field(default=None, compare=False)

    @property
    def stated(self) -> Expression:
        """The expression as it was stated: short however long a tree is, for points of bodies stand in it by their names."""
        return self.expression if self.in_points is None else self.in_points

    @cached_property
    def moves_with_time(self) -> bool:
        """Does time occur in it? In the places of points it does not."""
        return TIME in self.stated.free_symbols

    @cached_property
    def ideal(self) -> bool:
        """Is its reaction along its gradient, and alone: no control, no friction, no force that depends on it?"""
        return not (self.direction or self.frictions or self.drags)

    @cached_property
    def servo(self) -> bool:
        """Is it kept by a control instead of an ideal reaction?"""
        return bool(self.direction)

    def acts_at(self, time: float) -> bool:
        """Does it act just after this moment, as far as times alone say? At the beginning they say all."""
        begun = self.active if self.on is not None else self.start is None or self.start <= time
        return begun and (self.end is None or time < self.end)

    @cached_property
    def switched(self) -> bool:
        """Do events of the motion, and not only times, decide when it acts and how it begins?"""
        return self.on is not None or self.off is not None or self.impact is not None or bool(self.anchors)

    @property
    def varying(self) -> bool:
        """Are there moments at which it begins or ceases to act?"""
        return self.switched or self.start is not None or self.end is not None


def multipliers_in(expression: Expression) -> list[Symbol]:
    """The symbols of multipliers that occur in a condition or a force."""
    return [s for s in expression.free_symbols if str(s).startswith("multiplier ")]


def is_one_sided(constraint: Constraint, velocities: Collection[Symbol]) -> bool:
    """Does it push only: ``off`` linear in multipliers, ``on`` a function of positions?"""
    if constraint.on is None or constraint.off is None:
        return False
    reactions = multipliers_in(constraint.off)
    if not reactions or not is_zero(substitute(constraint.off, dict.fromkeys(reactions, ZERO))):
        return False
    slopes = [differentiate(constraint.off, s) for s in reactions]
    at_places = not multipliers_in(constraint.on) and not constraint.on.free_symbols & set(velocities)
    return at_places and not any(multipliers_in(s) for s in slopes)


def names_of(constraints: Sequence[Constraint]) -> tuple[str, ...]:
    """Their names in order."""
    return tuple(c.name for c in constraints)


@dataclass(frozen=True)
class Input:
    """A control: its value, and the limits between which it may be chosen."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Motor:
    """inductance·I' = -resistance·I - back_emf·shaft + supply·voltage; the force torque·I acts on the coordinate ``on``."""

    name: str
    current: str
    voltage: str
    on: str
    inductance: Expression
    resistance: Expression
    back_emf: Expression
    supply: Expression
    torque: Expression
    shaft: Expression

    @property
    def rate(self) -> Expression:
        """The rate of the current."""
        current, voltage = Symbol(self.current), Symbol(self.voltage)
        return (-self.resistance * current - self.back_emf * self.shaft + self.supply * voltage) / self.inductance


@dataclass(frozen=True)
class Integral:
    """A quantity said to be constant along the motion; held on request with the given decay rate of its deviation, or by
    a ``law`` F, dg̃/dt = F.
    """

    name: str
    expression: Expression
    hold: bool = False
    gain: float = 1.0
    value: float | None = None
    place: Place | None = field(default=None, compare=False)
    law: Expression | None = None


@dataclass(frozen=True)
class Drawing:
    """One part of the picture: ``points`` are expressions of the coordinates, two or three for each point."""

    kind: str
    points: tuple[tuple[Expression, ...], ...]
    radius: Expression | None = None
    trace: bool = False
    name: str = ""


@dataclass(frozen=True)
class Limit:
    """low ≤ expression ≤ high, where a motion is physical; the sides are expressions of parameters, one may be missing.

    ``in_points`` is the expression with the coordinates of points of bodies left as they were named.
    """

    name: str
    expression: Expression
    low: Expression | None = None
    high: Expression | None = None
    in_points: Expression | None = field(default=None, compare=False)

    def sides(self, parameters: Mapping[str, float]) -> tuple[float, float]:
        """Low and high in numbers; infinite where there is none."""
        low, high = (None if e is None else evaluate(e, parameters) for e in (self.low, self.high))
        return (-inf if low is None else low), (inf if high is None else high)

    def margin(self, parameters: Mapping[str, float]) -> float:
        """Beyond a side by no more than this, a state lies on it."""
        sizes = [abs(side) for side in self.sides(parameters) if isfinite(side)]
        return max(ON_THE_SIDE * max(sizes, default=0.0), LEAST_MARGIN)


ON_THE_SIDE, LEAST_MARGIN = 1e-12, 1e-290
"""The margin of a limit, as a part of the size of its sides, and where these are zero."""


@dataclass(frozen=True)
class StepRule:
    """What a source's own rule does after each step of a fixed length: the ``state`` is set to the ``value``.

    That is an expression of the time, the states, accelerations and the length of the step (``STEP``), at the state that the
    step led to. A change of more than ``least`` beyond that of the rates is logged as a jump. ``title`` is used in messages.
    """

    title: str
    state: str
    value: Expression
    least: float


@dataclass(frozen=True)
class System:
    """A system as it was stated, with every expression read and checked.

    ``states`` lists coordinates, then velocities or momenta, then further states, which have ``rates`` of their own;
    under plain rates these are all. ``forces`` are the generalised forces by freedoms, those of the motors included.
    ``outputs`` are expressions that are shown along motions by their names, multipliers among what they may name.
    ``units`` are those of names, velocities and outputs among them, as far as the model tells them.
    ``quasi`` are the quasi-velocities that the model asks for, ``run`` the words of [run] with their numbers evaluated,
    ``words`` the whole model as it was written and ``places`` where in its ``file``. ``scope`` is what may be named in an
    expression about a motion: states, velocities, parameters, inputs, time, and definitions with their rates. ``points``
    are those of the bodies of a tree, by name.
    """

    name: str
    law: Law
    coordinates: tuple[str, ...]
    states: tuple[str, ...]
    parameters: Mapping[str, float]
    inputs: Mapping[str, Input]
    initial: Mapping[str, float]
    forces: Mapping[str, Expression]
    rates: Mapping[str, Expression]
    quasi: Mapping[str, Expression]
    motors: tuple[Motor, ...]
    constraints: tuple[Constraint, ...]
    integrals: tuple[Integral, ...]
    drawings: tuple[Drawing, ...]
    box: Mapping[str, tuple[float, float]]
    limits: tuple[Limit, ...]
    outputs: Mapping[str, Expression]
    units: Mapping[str, Unit]
    run: Table
    step_rule: StepRule | None
    source: Table
    words: ModelWords = field(repr=False, compare=False)
    warnings: tuple[Problem, ...] = field(repr=False, compare=False)
    file: str | None = field(compare=False)
    places: Places | None = field(repr=False, compare=False)
    scope: Scope = field(repr=False, compare=False)
    points: Mapping[str, BodyPoint] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def constants(self) -> Mapping[str, float]:
        """Everything that is constant during a run: parameters and the values of the inputs."""
        return {**self.parameters, **{name: given.value for name, given in self.inputs.items()}}

    @cached_property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies of a tree; other systems have none."""
        return self.law.bodies

    @property
    def unreduced(self) -> System:
        """The system itself; where cyclic coordinates are ignored, that with all coordinates."""
        return self.law.unreduced(self)

    @cached_property
    def turns_freely(self) -> bool:
        """Does a body turn freely, on a ball or free joint, so that velocities are no rates of coordinates?"""
        return any(body.quaternion for body in self.bodies)

    @cached_property
    def velocities(self) -> tuple[str, ...]:
        """Names of the velocities that are states."""
        return self.law.velocities(self.coordinates)

    @cached_property
    def freedoms(self) -> tuple[str, ...]:
        """A name for each velocity: its coordinate; for a free joint of a tree the velocity itself."""
        return self.law.freedoms(self.coordinates)

    @property
    def coordinate_rates(self) -> dict[str, Expression]:
        """The rate of each coordinate of a mechanical system, in terms of coordinates and velocities."""
        return self.law.coordinate_rates(self.coordinates)

    @cached_property
    def dissipation(self) -> Expression:
        """Rayleigh's function D; zero where none was stated."""
        return self.law.dissipation if isinstance(self.law, Mechanical) else ZERO

    def initial_state(self) -> list[float]:
        """The initial values in the order of ``states``; what was left out is zero."""
        return [float(self.initial.get(name, 0.0)) for name in self.states]

    def outside(self, state: Mapping[str, float], parameters: Mapping[str, float] | None = None) -> tuple[str, ...]:
        """Names of the limits beyond which a state lies; what is left out of it is zero."""
        known = {**self.constants, **(parameters or {})}
        at = {**known, "t": 0.0, **dict.fromkeys(self.states, 0.0), **state}
        found = []
        for limit in self.limits:
            (low, high), margin = limit.sides(known), limit.margin(known)
            if not low - margin <= evaluate(limit.expression, at) <= high + margin:
                found.append(limit.name)
        return tuple(found)

    def plain(self) -> System:
        """The statement alone, of this very type."""
        return System(**{f.name: getattr(self, f.name) for f in fields(System)})

    def place(self, *path: str | int) -> Place | None:
        """Where a value of the model stands in its file, if it came from one."""
        return None if self.places is None else self.places.value(path)
