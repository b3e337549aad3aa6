"""Mechanisms made at random, with redundant coordinates, gyroscopic and non-potential forces, motors, and a known
equilibrium: material for comparing one way of computing with another.

    T = ½ q̇ᵀ A(q) q̇ + a(q)ᵀ q̇ + T₀(q),   Π(q),   F(q) = f(q) - f(q₀),   Q = Q(q, q̇, I, u) + c

The constants c are chosen so that q₀ is an equilibrium in which the constraints carry forces λ ≠ 0 chosen at random.

Random trees of bodies, by size, branching and taper, as the words of a model file.

After the generator of test trees in R. Featherstone's spatial_v2: body i is carried by body i - branching (on average),
and each body is ``taper`` times as long as the one before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TypedDict

import symengine as se

from svyaz.expr import Scope, evaluate, parse
from svyaz.forms import derive
from svyaz.model import System, all_joints, system_of


class BodyWords(TypedDict, total=False):
    """A body as it is stated in a model."""

    name: str
    base: str
    joint: str
    pole: list[float]
    mass: float
    center: list[float]
    inertia: dict[str, float]
    axis: list[float]
    coordinate: str
    coordinates: list[str]
    velocities: list[str]


class TreeWords(TypedDict):
    """A model of bodies alone."""

    name: str
    gravity: list[float]
    body: list[BodyWords]


def random_tree(
    size: int,
    seed: int = 0,
    *,
    branching: float = 1.5,
    taper: float = 0.95,
    joints: Sequence[str] = ("revolute",),
    axes: str = "any",
) -> TreeWords:
    """Words of a model of ``size`` bodies; ``branching`` 1 makes a chain, larger numbers bushier trees.

    ``joints`` are drawn from as they stand (name one twice to see it twice as often); ``axes`` is ``any`` direction,
    ``coordinate`` (x, y or z) or ``parallel`` (all z).
    """
    random = Random(seed)
    bodies = []
    for k in range(size):
        base = max(-1, k - max(1, round(random.uniform(1.0, 2.0 * branching - 1.0))))
        bodies.append(_body(random, k, base, taper**k, random.choice(list(joints)), axes))
    if all(body["joint"] == "fixed" for body in bodies):
        bodies[-1] |= {"joint": "revolute", "axis": [0, 0, 1], "coordinate": f"q{size}"}
    return {"name": f"random tree of {size} bodies", "gravity": [0.3, -0.2, -9.81], "body": bodies}


def _body(random: Random, k: int, base: int, scale: float, joint: str, axes: str) -> BodyWords:
    mass = scale**3 * random.uniform(0.5, 2.0)
    center = [scale * random.uniform(-0.5, 0.5) for _ in range(3)]
    body: BodyWords = {
        "name": f"b{k + 1}",
        "base": "ground" if base < 0 else f"b{base + 1}",
        "joint": joint,
        "pole": [scale * random.uniform(-1.0, 1.0) for _ in range(3)],
        "mass": mass,
        "center": center,
        "inertia": _inertia(random, mass, center, scale),
    }
    kind = all_joints()[joint]
    if kind.axes == 1:
        body["axis"] = _axis(random, axes)
    if len(kind.coordinates) == 1:
        body["coordinate"] = f"q{k + 1}"
    elif kind.coordinates:
        body["coordinates"] = [f"{letter}_{k + 1}" for letter in kind.coordinates]
    if kind.velocities:
        body["velocities"] = [f"{letter}_{k + 1}" for letter in kind.velocities]
    return body


def _axis(random: Random, axes: str) -> list[float]:
    if axes == "parallel":
        return [0, 0, 1]
    if axes == "coordinate":
        place = random.randrange(3)
        return [int(place == i) for i in range(3)]
    vector = [random.gauss(0.0, 1.0) for _ in range(3)]
    length = sum(x * x for x in vector) ** 0.5
    return [x / length for x in vector]


def _inertia(random: Random, mass: float, center: Sequence[float], scale: float) -> dict[str, float]:
    """About the pole: that of three rods of random directions through the centre, carried to the pole."""
    rods = [[scale * random.gauss(0.0, 0.3) for _ in range(3)] for _ in range(3)]

    def second(i: int, j: int) -> float:
        return mass * (sum(rod[i] * rod[j] for rod in rods) / 3 + center[i] * center[j])

    x, y, z = second(0, 0), second(1, 1), second(2, 2)
    return {"xx": y + z, "yy": x + z, "zz": x + y, "xy": second(0, 1), "xz": second(0, 2), "yz": second(1, 2)}


class MotorWords(TypedDict):
    """A motor as it is stated in a model."""

    name: str
    current: str
    voltage: str
    shaft: str
    on: str
    inductance: float
    resistance: float
    back_emf: float
    supply: float
    torque: float


@dataclass(frozen=True)
class RandomMechanism:
    """A system with an equilibrium: values of all states, and of the inputs that hold it."""

    system: System
    state: dict[str, float]
    inputs: dict[str, float]


def random_mechanism(
    seed: int, independent: int = 2, redundant: int = 2, motors: int = 1, *, current_rates: bool = False
) -> RandomMechanism:
    """A mechanism with so many independent and redundant coordinates and motors; the last coordinates are redundant.

    With ``current_rates`` the forces depend on the rates of the currents as well. Without motors an input ``u`` acts.
    """
    random = Random(f"{seed} {independent} {redundant} {motors}")
    coordinates = [f"r{k + 1}" for k in range(independent)] + [f"s{k + 1}" for k in range(redundant)]
    state = {q: round(random.uniform(-0.8, 0.8), 3) for q in coordinates}
    kinetic, potential = _kinetic(random, coordinates), _smooth(random, coordinates, 1.0)
    constraints = _constraints(random, coordinates, coordinates[independent:], state)
    driven = [_motor(random, k, coordinates) for k in range(motors)]
    words: dict[str, object] = {
        "name": f"random mechanism {seed}",
        "coordinates": coordinates,
        "kinetic": kinetic,
        "potential": potential,
        "constraint": constraints,
        "motor": driven,
        "inputs": {} if motors else {"u": 0.0},
        "parameters": {f"c_{q}": 0.0 for q in coordinates},
        "initial": state,
    }
    currents = [f"I{k + 1}" for k in range(motors)]
    words["forces"] = {q: _force(random, q, coordinates, currents, current_rates) for q in coordinates}
    held = {name: round(random.uniform(-1, 1), 3) for name in currents}
    inputs = _voltages(driven, held) if motors else {"u": round(random.uniform(-1, 1), 3)}
    constants = _balancing(system_of(words), {**state, **held}, inputs, random)
    words["parameters"] = constants
    velocities = {f"{q}'": 0.0 for q in coordinates}
    return RandomMechanism(system_of(words), {**state, **velocities, **held}, inputs)


def _number(random: Random, size: float = 1.0) -> str:
    return f"({round(random.uniform(-size, size), 3)})"


def _smooth(random: Random, names: list[str], size: float) -> str:
    """A function with all second derivatives different from zero."""
    terms = []
    for i, x in enumerate(names):
        terms.append(f"{_number(random, size)}*sin({x} + {_number(random)})")
        terms.extend(f"{_number(random, size)}*{x}*{y}" for y in names[i:])
    return " + ".join(terms)


def _kinetic(random: Random, names: list[str]) -> str:
    """Positive definite near the equilibrium: a diagonal with small variable entries beside it; and T₁, T₀."""
    terms = [f"{_smooth(random, names, 0.3)}"]
    for i, x in enumerate(names):
        terms.append(f"({round(random.uniform(1.5, 3), 3)} + {_number(random, 0.3)}*cos({names[-1 - i]}))/2*{x}'^2")
        terms.append(f"({_smooth(random, names, 0.4)})*{x}'")
        for y in names[i + 1 :]:
            inner = f"{_number(random, 0.2)} + {_number(random, 0.2)}*sin({x} - {y} + {_number(random)})"
            terms.append(f"({inner})*{x}'*{y}'")
    return " + ".join(terms)


def _constraints(
    random: Random, names: list[str], redundant: list[str], state: dict[str, float]
) -> list[dict[str, str]]:
    found = []
    for k, s in enumerate(redundant):
        left = f"2*{s} + {_smooth(random, names, 0.35)}"
        value = evaluate(parse(left, Scope({q: se.Symbol(q) for q in names})), state)
        found.append({"name": f"F{k + 1}", "equation": f"{left} = {value!r}", "dependent": s})
    return found


def _force(random: Random, q: str, names: list[str], currents: list[str], current_rates: bool) -> str:
    terms = [f"c_{q}", _smooth(random, names, 0.4)]
    for x in names:
        terms.append(f"({_number(random)} + {_number(random)}*{names[0]})*{x}'")
        terms.append(f"{_number(random)}*{x}'^2")
    for name in currents:
        terms.append(f"({_number(random)} + {_number(random)}*{q})*{name}")
        if current_rates:
            terms.append(f"({_number(random, 0.5)} + {_number(random, 0.5)}*{q})*{name}'")
    if not currents:
        terms.append(f"({_number(random)} + {_number(random)}*{q})*u")
    return " + ".join(terms)


def _motor(random: Random, k: int, names: list[str]) -> MotorWords:
    shaft = " + ".join(f"({_number(random)} + {_number(random)}*{x})*{x}'" for x in names)
    inductance, resistance, back_emf, supply, torque = (round(random.uniform(0.3, 1.5), 3) for _ in range(5))
    return {
        "name": f"motor {k + 1}",
        "current": f"I{k + 1}",
        "voltage": f"e{k + 1}",
        "shaft": shaft,
        "on": names[k % len(names)],
        "inductance": inductance,
        "resistance": resistance,
        "back_emf": back_emf,
        "supply": supply,
        "torque": torque,
    }


def _voltages(motors: Sequence[MotorWords], currents: dict[str, float]) -> dict[str, float]:
    return {m["voltage"]: m["resistance"] * currents[m["current"]] / m["supply"] for m in motors}


def _balancing(system: System, state: dict[str, float], inputs: dict[str, float], random: Random) -> dict[str, float]:
    """c = bias - Gᵀλ at rest, λ at random."""
    equations = derive(system, "multipliers")
    rest = {f"{q}'": 0.0 for q in system.coordinates}
    values = {**system.constants, **state, **rest, **inputs, "t": 0.0}
    push = [random.uniform(-1, 1) for _ in equations.deviations]
    return {
        f"c_{q}": evaluate(equations.bias[i], values)
        - sum(p * evaluate(row[i], values) for p, row in zip(push, equations.constraint_jacobian, strict=True))
        for i, q in enumerate(system.coordinates)
    }
