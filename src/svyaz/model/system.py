"""What a person stated: a mechanical system, a plain system of differential equations, or a canonical one.

All objects here are frozen. Expressions are SymEngine over plain symbols: a coordinate ``x``, its velocity ``x'``,
the time ``t``, parameters and inputs by their names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from symengine import Symbol

from svyaz.expr import Expression, velocity
from svyaz.model.tree import Tree

if TYPE_CHECKING:
    from svyaz.expr import Place, Problem
    from svyaz.model.places import Places


def multiplier_symbol(constraint: str) -> Symbol:
    """The symbol that stands for the multiplier of a constraint in the conditions that switch constraints."""
    return Symbol(f"multiplier {constraint}")


@dataclass(frozen=True)
class Constraint:
    """left = right, kept as h = left - right; ``order`` 0 for positions, 1 when velocities occur.

    It acts from ``start`` (a time) or from the moments in which ``on`` rises through zero, until ``end`` or until
    ``off`` does; with ``on`` it does not act at the beginning unless it is ``active``. ``impact`` says how velocities
    are made to fit when it begins to act, ``anchors`` are names with expressions whose values are taken at that moment.
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
    active: bool = False
    anchors: tuple[tuple[str, Expression], ...] = ()

    def acts_at(self, time: float) -> bool:
        """Does it act just after this moment, as far as times alone say? At the beginning they say all."""
        begun = self.active if self.on is not None else self.start is None or self.start <= time
        return begun and (self.end is None or time < self.end)

    @property
    def switched(self) -> bool:
        """Do events of the motion, and not only times, decide when it acts and how it begins?"""
        return self.on is not None or self.off is not None or self.impact is not None or bool(self.anchors)

    @property
    def varying(self) -> bool:
        """Are there moments at which it begins or ceases to act?"""
        return self.switched or self.start is not None or self.end is not None


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
    """A quantity said to be constant along the motion; held on request with the given decay rate of its deviation."""

    name: str
    expression: Expression
    hold: bool = False
    gain: float = 1.0
    value: float | None = None
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Drawing:
    """One part of the picture: ``points`` are expressions of the coordinates, two or three for each point."""

    kind: str
    points: tuple[tuple[Expression, ...], ...]
    radius: Expression | None = None
    trace: bool = False
    name: str = ""


OF_SECOND_ORDER = ("mechanical", "equations", "accelerations", "field")
"""Kinds of models whose coordinates have velocities."""


@dataclass(frozen=True, init=False)
class System:
    """A system as it was stated, with every expression read and checked.

    From Python it is made with the words of the model files; tables are dictionaries, arrays of tables are lists:

    >>> System(name="pendulum", coordinates=["u"], kinetic="m*l^2/2*u'^2", potential="-m*g*l*cos(u)",
    ...        parameters={"m": 1, "l": 1, "g": 9.81}, initial={"u": "30*deg"})

    ``kind`` is ``mechanical`` (energies, a Lagrangian, or a ``tree`` of bodies), ``rates`` (a plain system of
    differential equations), ``canonical`` (a Hamiltonian), ``equations`` or ``accelerations`` (second-order equations
    as given) or ``field`` (constraints for which a velocity field is wanted). ``states`` lists coordinates, then
    velocities or momenta, then further states with rates of their own. ``equations`` holds left - right of given
    second-order equations; ``velocity_field``, ``free`` and ``rayleigh`` belong to the inverse problem, ``quasi``
    are the quasi-velocities that the model asks for.
    """

    name: str
    kind: str
    tree: Tree | None
    coordinates: tuple[str, ...]
    momenta: tuple[str, ...]
    states: tuple[str, ...]
    parameters: Mapping[str, float]
    inputs: Mapping[str, Input]
    kinetic: Expression
    potential: Expression
    lagrangian: Expression
    dissipation: Expression
    hamiltonian: Expression
    energies_given: bool
    forces: Mapping[str, Expression]
    rates: Mapping[str, Expression]
    quasi: Mapping[str, Expression]
    equations: Mapping[str, Expression]
    velocity_field: Mapping[str, Expression]
    free: Mapping[str, Expression]
    rayleigh: tuple[tuple[Expression, ...], ...]
    motors: tuple[Motor, ...]
    constraints: tuple[Constraint, ...]
    integrals: tuple[Integral, ...]
    drawings: tuple[Drawing, ...]
    initial: Mapping[str, float]
    box: Mapping[str, tuple[float, float]]
    run: Mapping[str, Any]
    bypass: Mapping[str, Any]
    source: Mapping[str, Any]
    words: Mapping[str, Any] = field(repr=False, compare=False)
    warnings: tuple[Problem, ...] = field(repr=False, compare=False)
    file: str | None = field(compare=False)

    def __init__(self, **words: Any) -> None:
        self._read(words, None, None)

    @classmethod
    def from_words(cls, words: Mapping[str, Any], file: str | None = None, places: Places | None = None) -> System:
        """A system from a table of words, with the places where they stand in a file."""
        system = object.__new__(cls)
        system._read(words, file, places)
        return system

    def _read(self, words: Mapping[str, Any], file: str | None, places: Places | None) -> None:
        from svyaz.model.read import read_words

        for key, value in read_words(words, file, places).items():
            object.__setattr__(self, key, value)

    @property
    def constants(self) -> dict[str, float]:
        """Everything that is constant during a run: parameters and the values of the inputs."""
        return {**self.parameters, **{name: given.value for name, given in self.inputs.items()}}

    @property
    def velocities(self) -> tuple[str, ...]:
        """Names of the velocities of a mechanical system."""
        if self.tree is not None:
            return self.tree.velocities
        return tuple(str(velocity(q)) for q in self.coordinates) if self.kind in OF_SECOND_ORDER else ()

    @property
    def freedoms(self) -> tuple[str, ...]:
        """A name for each velocity: its coordinate; for a free joint of a tree the velocity itself."""
        return self.coordinates if self.tree is None else self.tree.freedoms

    @property
    def coordinate_rates(self) -> dict[str, Expression]:
        """The rate of each coordinate of a mechanical system, in terms of coordinates and velocities."""
        return {q: velocity(q) for q in self.coordinates} if self.tree is None else self.tree.rates

    def __getattr__(self, name: str) -> Any:
        """The energies of a tree, worked out when they are first asked for: a long chain need never write them."""
        if name not in ("kinetic", "potential", "lagrangian") or self.__dict__.get("tree") is None:
            raise AttributeError(f"a System has no attribute {name!r}")
        from svyaz.forms import energies

        kinetic, potential = energies(self.__dict__["tree"])
        for key, value in (("kinetic", kinetic), ("potential", potential), ("lagrangian", kinetic - potential)):
            object.__setattr__(self, key, value)
        return self.__dict__[name]

    def initial_state(self) -> list[float]:
        """The initial values in the order of ``states``; what was left out is zero."""
        return [float(self.initial.get(name, 0.0)) for name in self.states]

    def with_settings(self, settings: Mapping[str, Any]) -> System:
        """The same system with some values changed: a parameter, or ``initial.x``, ``run.step`` by a dotted name."""
        from svyaz.model.settings import changed_words

        return System.from_words(changed_words(self.words, settings), self.file)

    def derive(self, form: str | None = None) -> Any:
        """Its equations of motion in the form asked for; see ``svyaz.forms``."""
        from svyaz.forms import derive

        return derive(self, form)

    def simulate(self, **options: Any) -> Any:
        """Its motion; see ``svyaz.motion.simulate``."""
        from svyaz.motion import simulate

        return simulate(self, **options)

    def check(self, **options: Any) -> Any:
        """What its constraints are, whether they fit together and the start; see ``svyaz.motion.check``."""
        from svyaz.motion import check

        return check(self, **options)

    def equilibria(self, **options: Any) -> Any:
        """All its equilibria in a box, with their stability; see ``svyaz.stability.equilibrium_search``."""
        from svyaz.stability import equilibria

        return equilibria(self, **options)

    def regulate(self, **options: Any) -> Any:
        """A regulator about one of its equilibria; see ``svyaz.control.regulation``."""
        from svyaz.control import regulate

        return regulate(self, **options)

    def invert(self, **options: Any) -> Any:
        """A system of Lagrange and Rayleigh in which its velocity field attracts; see ``svyaz.synthesis.inverse.inversion``."""
        from svyaz.synthesis import invert

        return invert(self, **options)

    def helmholtz(self) -> Any:
        """Are its equations those of Lagrange with a Rayleigh function? See ``svyaz.synthesis``."""
        from svyaz.synthesis import helmholtz

        return helmholtz(self)

    def _repr_latex_(self) -> str:
        from svyaz.expr import to_latex

        if self.tree is not None:
            names = ", ".join(to_latex_name(q) for q in self.tree.freedoms)
            return rf"$$\text{{tree of bodies}}\quad {names}$$"
        if self.kind == "mechanical":
            return rf"$$L = {to_latex(self.lagrangian)}$$"
        if self.kind == "field":
            return rf"$$\dot q = v(q),\quad {', '.join(to_latex(c.expression) + ' = 0' for c in self.constraints)}$$"
        if self.equations:
            rows = r" \\ ".join(rf"{to_latex(e)} &= 0" for e in self.equations.values())
            return rf"$$\begin{{aligned}}{rows}\end{{aligned}}$$"
        if self.kind == "canonical":
            return rf"$$H = {to_latex(self.hamiltonian)}$$"
        rows = r" \\ ".join(rf"\dot{{{to_latex_name(s)}}} &= {to_latex(e)}" for s, e in self.rates.items())
        return rf"$$\begin{{aligned}}{rows}\end{{aligned}}$$"


def to_latex_name(name: str) -> str:
    """The LaTeX of one name."""
    import symengine as se

    from svyaz.expr import to_latex

    return to_latex(se.Symbol(name))


def names_of(constraints: Sequence[Constraint]) -> tuple[str, ...]:
    """Their names in order."""
    return tuple(c.name for c in constraints)
