"""The record of a living model: plain data, as ``assets/living/engine.js`` reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from svyaz.json_types import Json


class Moved(TypedDict):
    """A parameter or an input with a slider: its value, and the range in which it is moved."""

    name: str
    value: float
    low: float
    high: float
    input: bool


class MethodRecord(TypedDict):
    """An explicit Runge–Kutta method: a by rows below the diagonal."""

    name: str
    a: list[list[float]]
    b: list[float]
    c: list[float]


class SwitchingConstraint(TypedDict):
    """A constraint that times or events switch; with an impact the velocities are made to fit when it begins to act."""

    name: str
    start: float | None
    end: float | None
    impact: bool


class ContactsRecord(TypedDict):
    """One-sided constraints by their names, the signs of their reactions, and the geometry of all constraints of the model."""

    names: list[str]
    pushes: dict[str, float]
    geometry: Geometry


class SwitchedRecord(TypedDict):
    """The constraints, the contacts among them, and the constraint and the place of the state of each anchor that is taken."""

    constraints: list[SwitchingConstraint]
    anchors: list[tuple[str, int]]
    contacts: ContactsRecord | None


class PhaseRecord(TypedDict):
    """A phase: when it is, states of its equations, columns that are observed (kind, name), gains alpha, beta, kappa where they
    are such numbers, and all constants of its programs by name. Where events switch constraints it is a set of them, with what
    may end it, ("on" or "off", constraint).
    """

    start: float
    end: float
    states: list[str]
    quasi: bool
    columns: list[tuple[str, str]]
    gains: dict[str, float] | None
    values: dict[str, float]
    active: list[str]
    keys: list[tuple[str, str]]
    geometry: Geometry | None


class DrawingRecord(TypedDict):
    """A part of the picture: so many points of so many coordinates; does it have a radius, is it traced?"""

    kind: str
    size: int
    dim: int
    trace: bool
    radius: bool
    name: str


class Geometry(TypedDict):
    """How the start is moved onto the constraints: numbers of velocities and constraints, which of these are on positions,
    the places of coordinates, velocities and all states among those of the model, and the order of the outputs.
    """

    size: int
    count: int
    holonomic: list[bool]
    coordinates: list[int]
    speeds: list[int]
    states: list[int]
    order: list[str]
    names: list[str]


class RegulatorRecord(TypedDict):
    """A regulator whose equilibrium is followed: states and inputs in the order of the program of the plant, which coordinates
    are redundant, the variables of the gains, the inputs that act, numbers of constraints, prescribed values (``targets``), the
    equilibrium of the model (``rest``), and from which values the closed loop starts.
    """

    states: list[str]
    inputs: list[str]
    coordinates: list[str]
    dependent: list[str]
    further: list[str]
    variables: list[str]
    acting: list[str]
    constraints: int
    targets: dict[str, float]
    rest: dict[str, float]
    start: dict[str, float]


class Outline(TypedDict):
    """Names of a program, without which its numbers mean nothing."""

    parameters: list[str]
    inputs: list[str]
    outputs: list[str]


class LivingRecord(TypedDict):
    """All that is known of a model beside its programs. ``rates``: the place of the velocity of each state, or -1."""

    name: str
    states: list[str]
    coordinates: list[int]
    rates: list[int]
    angles: list[str]
    shown: dict[str, str]
    moved: list[Moved]
    tied: list[str]
    constants: dict[str, float]
    start: list[float]
    span: tuple[float, float]
    method: MethodRecord
    step: float
    difference: float
    rows: int
    stabilize: Json
    form: str
    phases: list[PhaseRecord]
    drawings: list[DrawingRecord]
    up: int
    held: list[str]
    own: list[str]
    geometry: Geometry | None
    switched: SwitchedRecord | None
    regulator: RegulatorRecord | None
    programs: Mapping[str, Outline]
