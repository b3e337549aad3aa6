"""Random trees of bodies, by size, branching and taper, as the words of a model file.

After the generator of test trees in R. Featherstone's spatial_v2: body i is carried by body i - branching (on average),
and each body is ``taper`` times as long as the one before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypedDict


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


JOINTS = ("revolute", "prismatic", "fixed", "free")


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
    if joint in ("revolute", "prismatic"):
        body["coordinate"] = f"q{k + 1}"
        body["axis"] = _axis(random, axes)
    elif joint == "free":
        body["coordinates"] = [f"{letter}_{k + 1}" for letter in ("x", "y", "z", "e0", "e1", "e2", "e3")]
        body["velocities"] = [f"{letter}_{k + 1}" for letter in ("vx", "vy", "vz", "wx", "wy", "wz")]
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
