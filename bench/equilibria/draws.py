"""Random mechanical systems with equilibria: energies, forces, constraints and a box, as texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Draw:
    """The words of a system; ``mass`` are the entries of its inertia matrix, ``conservative`` tells whether energy is kept."""

    kind: str
    coordinates: tuple[str, ...]
    mass: tuple[tuple[str, ...], ...]
    potential: str
    box: Mapping[str, tuple[float, float]]
    forces: Mapping[str, str] = field(default_factory=dict)
    constraints: tuple[str, ...] = ()
    conservative: bool = True

    @property
    def words(self) -> dict[str, object]:
        """What ``System`` takes."""
        pairs = [(i, k) for i in range(len(self.coordinates)) for k in range(len(self.coordinates))]
        names = self.coordinates
        return {
            "name": self.kind,
            "coordinates": list(names),
            "kinetic": " + ".join(f"({self.mass[i][k]})/2*{names[i]}'*{names[k]}'" for i, k in pairs),
            "potential": self.potential,
            "forces": dict(self.forces),
            "constraint": [{"name": f"c{k}", "equation": f"{e} = 0"} for k, e in enumerate(self.constraints)],
            "box": {name: list(side) for name, side in self.box.items()},
        }


class Dice:
    """Numbers with two digits, so that texts are short and no two coefficients are equal by design."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def number(self, low: float = -2.0, high: float = 2.0) -> float:
        return float(np.round(self.random.uniform(low, high), 2)) or 0.37

    def side(self) -> tuple[float, float]:
        return -self.number(1.2, 2.1), self.number(1.2, 2.1)

    def mass(self, names: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
        """A positive definite inertia matrix that changes with the position."""
        n = len(names)
        root = self.random.uniform(-0.5, 0.5, (n, n)).round(2)
        constant = np.round(root @ root.T + np.eye(n), 4)
        rows = [[str(x) for x in row] for row in constant]
        for k, name in enumerate(names):
            rows[k][k] += f" + {abs(self.number(0, 0.6))}*sin({name})^2"
        return tuple(map(tuple, rows))

    def forces(self, names: tuple[str, ...]) -> tuple[dict[str, str], bool]:
        """None, friction, friction with circulatory forces, or gyroscopic ones; and whether energy is kept."""
        kind = self.random.choice(["none", "friction", "circulatory", "gyroscopic"], p=[0.3, 0.4, 0.2, 0.1])
        if kind == "none" or (kind == "gyroscopic" and len(names) == 1):
            return {}, True
        if kind == "gyroscopic":
            c = self.number()
            return {names[0]: f"{c}*{names[1]}'", names[1]: f"-({c})*{names[0]}'"}, True
        rubbed = {name: f"-{abs(self.number(0.1, 0.9))}*{name}'" for name in names}
        if kind == "circulatory" and len(names) > 1:
            c = self.number(-0.6, 0.6)
            rubbed[names[0]] += f" + {c}*sin({names[1]})"
            rubbed[names[1]] += f" - ({c})*sin({names[0]})"
        return rubbed, False

    def waves(self, names: tuple[str, ...], count: int) -> str:
        """Cosines of sums of angles, and of each alone."""
        told = [f"{self.number()}*cos({name} + {self.number()})" for name in names]
        for _ in range(count):
            arms = [f"{self.random.integers(-2, 3)}*{name}" for name in names]
            told.append(f"{self.number(-1, 1)}*cos({' + '.join(arms)} + {self.number()})")
        return " + ".join(told)

    def polynomial(self, names: tuple[str, ...], degree: int) -> str:
        told = [f"{self.number()}*{name}^{k}" for name in names for k in range(1, degree + 1)]
        told += [f"{self.number()}*{a}*{b}" for i, a in enumerate(names) for b in names[i + 1 :]]
        return " + ".join(told)


def _free(kind: str, names: tuple[str, ...], potential: Callable[[Dice], str], angles: bool) -> Callable[[Dice], Draw]:
    def draw(dice: Dice) -> Draw:
        forces, kept = dice.forces(names)
        box = {} if angles else {name: dice.side() for name in names}
        return Draw(kind, names, dice.mass(names), potential(dice), box, forces, conservative=kept)

    return draw


def _bead(dice: Dice) -> Draw:
    """A bead on y = p(x) under gravity and a spring."""
    forces, kept = dice.forces(("x", "y"))
    wire = f"y - ({dice.polynomial(('x',), 4)})"
    potential = f"{dice.number(1, 9)}*y + {dice.polynomial(('x',), 2)}"
    box = {"x": dice.side(), "y": (-40.0, 41.0)}
    return Draw("bead", ("x", "y"), dice.mass(("x", "y")), potential, box, forces, (wire,), kept)


def _rod(dice: Dice) -> Draw:
    """A bob on a rod in x and y, with springs."""
    forces, kept = dice.forces(("x", "y"))
    length = dice.number(0.5, 1.5)
    side = (-length - 0.13, length + 0.17)
    potential, rod = dice.polynomial(("x", "y"), 3), f"x^2 + y^2 - {length**2}"
    return Draw("rod", ("x", "y"), dice.mass(("x", "y")), potential, {"x": side, "y": side}, forces, (rod,), kept)


def _two_rods(dice: Dice) -> Draw:
    names = ("x", "y", "u", "v")
    forces, kept = dice.forces(names)
    a, b = dice.number(0.5, 1.0), dice.number(0.4, 0.9)
    near, far = (-a - 0.1, a + 0.11), (-a - b - 0.1, a + b + 0.12)
    sides = {"x": near, "y": near, "u": far, "v": far}
    potential = f"{dice.number(1, 5)}*y + {dice.number(1, 5)}*v + {dice.number()}*x + {dice.number(0, 1)}*u^2"
    rods = (f"x^2 + y^2 - {a**2}", f"(u - x)^2 + (v - y)^2 - {b**2}")
    return Draw("two rods", names, dice.mass(names), potential, sides, forces, rods, kept)


KINDS: dict[str, Callable[[Dice], Draw]] = {
    "angle": _free("angle", ("x",), lambda dice: dice.waves(("x",), 2), True),
    "line": _free("line", ("x",), lambda dice: dice.polynomial(("x",), 5), False),
    "two angles": _free("two angles", ("x", "y"), lambda dice: dice.waves(("x", "y"), 1), True),
    "plane": _free("plane", ("x", "y"), lambda dice: dice.polynomial(("x", "y"), 4), False),
    "three angles": _free("three angles", ("x", "y", "z"), lambda dice: dice.waves(("x", "y", "z"), 1), True),
    "bead": _bead,
    "rod": _rod,
    "two rods": _two_rods,
}
SMALL = ("angle", "line", "two angles", "plane", "bead", "rod")
"""Kinds that are searched in a moment."""


def drawn(seed: int, kinds: tuple[str, ...] = tuple(KINDS)) -> Draw:
    """A random system of one of these kinds."""
    dice = Dice(seed)
    return KINDS[str(dice.random.choice(kinds))](dice)
