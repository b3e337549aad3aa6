"""Parts of a system as objects: each is a table of the model files, with its words as typed fields.

A part holds what was given and nothing else. It is read and checked where the tables of files are, in a system.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, TypeAlias

from svyaz.expr import ModelError, Problem

Value: TypeAlias = str | float
"""A number, or an expression: as text, of SymPy or of SymEngine."""

Vector: TypeAlias = Sequence[Value]
"""Two or three values: (2,) or (3,)."""


class Part(Mapping[str, object]):
    """A table of a model: the words that were given, by their names in the files."""

    word: ClassVar[str]
    """Under which header of the files it stands."""

    def __init_subclass__(cls) -> None:
        cls.__name__ = cls.__qualname__ = cls.__name__.removesuffix("Part")

    def _fields(self) -> dict[str, object]:
        """What was given, by the names in Python."""
        return {name: value for name, value in vars(self).items() if value is not None}

    def _words(self) -> dict[str, object]:
        return {name.removesuffix("_"): value for name, value in self._fields().items()}

    def __getitem__(self, name: str) -> object:
        return self._words()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._words())

    def __len__(self) -> int:
        return len(self._words())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._fields().items())})"


@dataclass(frozen=True, eq=False, repr=False)
class BodyPart(Part):
    """A body of a tree and the joint by which its ``base`` carries it, a ``[[body]]`` of the files.

    >>> import svyaz
    >>> upper = svyaz.Body("upper", base="ground", joint="revolute", coordinate="u", axis=[0, 0, 1],
    ...                    mass="m", center=["l", 0, 0], inertia={"zz": "m*l^2"})
    >>> lower = svyaz.Body("lower", base="upper", joint="revolute", coordinate="v", axis=[0, 0, 1], pole=["l", 0, 0],
    ...                    mass="m", center=["l", 0, 0], inertia={"zz": "m*l^2"})
    >>> svyaz.System(upper, lower, gravity=[9.81, 0, 0], parameters={"m": 1, "l": 0.5}, initial={"u": 1})
    <System 'system': u, v; 2 parameters>
    """

    word = "body"
    name: str
    _: KW_ONLY
    base: str
    joint: str
    coordinate: str | None = None
    coordinates: Sequence[str] | None = None
    velocities: Sequence[str] | None = None
    axis: Vector | None = None
    axes: Sequence[Vector] | None = None
    pole: Vector | None = None
    mass: Value | None = None
    center: Vector | None = None
    inertia: Mapping[str, Value] | None = None
    central_inertia: Mapping[str, Value] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class PointPart(Part):
    """A point of a body, a ``[[point]]``: expressions may name its place, ``foot_x``, and its velocity, ``foot_x'``.

    >>> import svyaz
    >>> rod = svyaz.Body("rod", base="ground", joint="revolute", coordinate="u", axis=[0, 0, 1], mass=1, center=[1, 0, 0],
    ...                  inertia={"zz": 4 / 3})
    >>> system = svyaz.System(rod, svyaz.Point("tip", body="rod", at=[2, 0, 0]), outputs={"height": "tip_y"})
    >>> system.simulate(until=0.1, start={"u": 0.0})["height"][0]
    np.float64(0.0)
    """

    word = "point"
    name: str
    _: KW_ONLY
    body: str
    at: Vector | None = None


@dataclass(frozen=True, eq=False, repr=False)
class ConstraintPart(Part):
    """left = right for positions or velocities, a ``[[constraint]]``; ``from_`` is the word ``from``.

    >>> import svyaz
    >>> point = svyaz.System(coordinates=["x", "y"], kinetic="(x'^2 + y'^2)/2", potential="9.81*y", initial={"x": 0.5})
    >>> point.with_parts(svyaz.Constraint("x^2 + y^2 = l^2", name="rod"), parameters={"l": 0.5})
    <System 'system': x, y; 1 parameter; 1 constraint>
    """

    word = "constraint"
    equation: str
    _: KW_ONLY
    name: str | None = None
    dependent: str | Sequence[str] | None = None
    from_: Value | None = None
    until: Value | None = None
    on: Value | None = None
    off: Value | None = None
    impact: str | None = None
    restitution: Value | None = None
    friction: Mapping[str, object] | None = None
    active: bool | None = None
    anchor: Mapping[str, Value] | None = None
    direction: str | Vector | Mapping[str, Value] | None = None
    law: Value | None = None


@dataclass(frozen=True, eq=False, repr=False)
class MotorPart(Part):
    """A drive ``on`` a coordinate with a current and a voltage, a ``[[motor]]``.

    >>> import svyaz
    >>> drive = svyaz.Motor("drive", current="I", voltage="e", on="u", inductance=0.1, resistance=2, back_emf=0.5,
    ...                     supply=1, torque=0.5, shaft="u'")
    >>> svyaz.System(drive, coordinates=["u"], kinetic="u'^2/2", potential=0)
    <System 'system': u; 0 parameters; inputs e>
    """

    word = "motor"
    name: str
    _: KW_ONLY
    current: str
    voltage: str
    inductance: Value
    resistance: Value
    back_emf: Value
    supply: Value
    torque: Value
    shaft: Value
    on: str


@dataclass(frozen=True, eq=False, repr=False)
class StreamPart(Part):
    """Mass that leaves or joins with a velocity, a ``[[stream]]``.

    >>> import svyaz
    >>> gas = svyaz.Stream("gas", mass="m", at=["x"], relative=["-c"])
    >>> rocket = svyaz.System(gas, coordinates=["x"], states=["m"], kinetic="m/2*x'^2", potential=0, rates={"m": -1},
    ...                       parameters={"c": 2}, initial={"m": 10})
    >>> rocket.simulate(until=5)["x'"][-1].round(6)  # c ln(10/5), Tsiolkovsky
    np.float64(1.386294)
    """

    word = "stream"
    name: str
    _: KW_ONLY
    mass: Value
    at: Vector | None = None
    relative: Vector | None = None
    absolute: Vector | None = None


@dataclass(frozen=True, eq=False, repr=False)
class IntegralPart(Part):
    """A quantity that is constant along the motion, an ``[[integral]]``; on request it is held.

    >>> import svyaz
    >>> area = svyaz.Integral("x*y' - y*x'", name="area")
    >>> svyaz.System(area, coordinates=["x", "y"], kinetic="(x'^2 + y'^2)/2", potential="(x^2 + y^2)/2").integrals[0].name
    'area'
    """

    word = "integral"
    expression: Value
    _: KW_ONLY
    name: str | None = None
    hold: bool | None = None
    gain: Value | None = None
    value: Value | None = None
    law: Value | None = None


@dataclass(frozen=True, eq=False, repr=False)
class DrawPart(Part):
    """A shape of the picture, a ``[[draw]]``: a ``link`` or ``spring`` (k, 2), a ``point`` (2,) or a ``circle``; in space 3.

    >>> import svyaz
    >>> pendulum = svyaz.System(coordinates=["u"], kinetic="u'^2/2", potential="-9.81*cos(u)", initial={"u": 1})
    >>> drawn = pendulum.with_parts(svyaz.Draw(link=[[0, 0], ["sin(u)", "-cos(u)"]], name="rod"))
    >>> [drawing.name for drawing in drawn.drawings]
    ['rod']
    """

    word = "draw"
    _: KW_ONLY
    link: Sequence[Vector] | None = None
    point: Vector | None = None
    circle: Mapping[str, object] | None = None
    spring: Sequence[Vector] | None = None
    trace: bool | None = None
    name: str | None = None


# What is stated has the names of what is read from it, as people say them.
Body = BodyPart
Point = PointPart
Constraint = ConstraintPart
Motor = MotorPart
Stream = StreamPart
Integral = IntegralPart
Draw = DrawPart

PART_WORDS = tuple(kind.word for kind in (Body, Point, Constraint, Motor, Stream, Integral, Draw))
"""The headers of the files under which parts stand."""


def join_words(words: Mapping[str, object], parts: Sequence[object]) -> dict[str, object]:
    """The words of a model and further parts, after those that the words hold; what is no list is left to the checks."""
    found = dict(words)
    for part in parts:
        if not isinstance(part, Part):
            message = f"'parts': {part!r} is no part of a system, such as svyaz.Body or svyaz.Constraint"
            raise ModelError([Problem(message, hint='write constraint=[{"equation": "x = 0"}]')])
        given = found.get(part.word, [])
        if isinstance(given, list | tuple):
            found[part.word] = [*given, part]
    return found
