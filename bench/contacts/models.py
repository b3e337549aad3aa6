"""Models with contacts: bodies that fall on a floor and on each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, pi, sin, sqrt

import numpy as np

from svyaz import System

G = 9.81


@dataclass(frozen=True)
class Case:
    """A model, the gaps of its contacts as texts, its size, how it is run, and the coordinates at which it rests.

    ``final`` are coordinates at the end, known to ``near``; ``cones`` are the coefficient of friction and the direction of the
    slip of each contact that has one. Where rigid bodies have no motion, ``refusal`` is a word of the reason.
    """

    system: System
    gaps: Mapping[str, str]
    size: float
    options: Mapping[str, object]
    rest: Mapping[str, float] = field(default_factory=dict)
    final: Mapping[str, float] = field(default_factory=dict)
    near: float = 1e-6
    cones: Mapping[str, tuple[float, Sequence[str]]] | None = None
    refusal: str = ""


def contact(name: str, gap: str, restitution: float, law: str = "newton", **more: object) -> dict[str, object]:
    """A constraint that pushes and does not pull where the gap is closed."""
    given = {"name": name, "equation": f"{gap} = 0", "on": f"-({gap})", "off": f"-lambda_{name}", "impact": law}
    return given | ({"restitution": restitution} if law != "inelastic" else {}) | more


def column(count: int, seed: int, *, restitution: float | None = None) -> Case:
    """Balls one above the other over a floor, let go; radius 0.04, masses from 0.1 to 10, restitution from 0 to 0.9."""
    rng = np.random.default_rng([count, seed])
    masses = 10.0 ** rng.uniform(-1, 1, count)
    e = float(rng.uniform(0, 0.9)) if restitution is None else restitution
    spaces = rng.uniform(0.001, 0.03, count)
    names = [f"y{k}" for k in range(count)]
    gaps = {"c0": "y0 - 0.04"} | {f"c{k}": f"y{k} - y{k - 1} - 0.08" for k in range(1, count)}
    rest = {name: 0.04 + 0.08 * k for k, name in enumerate(names)}
    start = {name: rest[name] + float(spaces[: k + 1].sum()) for k, name in enumerate(names)}
    highest = start[names[-1]] - rest[names[-1]]
    falling = sqrt(2 * highest / G) * (1 + e) / (1 - e)
    return Case(
        System(
            coordinates=names,
            kinetic=" + ".join(f"{m!r}/2*{y}'^2" for m, y in zip(masses.tolist(), names, strict=True)),
            potential=f"{G}*(" + " + ".join(f"{m!r}*{y}" for m, y in zip(masses.tolist(), names, strict=True)) + ")",
            constraint=[contact(name, gap, e) for name, gap in gaps.items()],
            initial=start,
        ),
        gaps,
        0.08 * count,
        {"until": 1.5 * falling + 0.5, "rtol": 1e-8},
        rest,
    )


def discs(count: int, seed: int = 7) -> Case:
    """Discs of radius 0.05 that fall in a box."""
    rng, r = np.random.default_rng([count, seed]), 0.05
    columns = ceil(sqrt(count))
    width = 0.13 * columns + 0.05
    gaps, start = {}, {}
    for i in range(count):
        gaps |= {f"floor{i}": f"y{i} - {r}", f"left{i}": f"x{i} - {r}", f"right{i}": f"{width!r} - x{i} - {r}"}
        gaps |= {f"pair{j}_{i}": f"sqrt((x{i} - x{j})^2 + (y{i} - y{j})^2) - {2 * r}" for j in range(i)}
        start |= {f"x{i}": 0.09 + 0.13 * (i % columns), f"y{i}": 0.09 + 0.13 * (i // columns)}
        start |= {f"{c}{i}'": float(rng.uniform(-0.3, 0.3)) for c in "xy"}
    names = [f"{c}{i}" for i in range(count) for c in "xy"]
    return Case(
        System(
            coordinates=names,
            kinetic=" + ".join(f"{q}'^2/2" for q in names),
            potential=f"{G}*(" + " + ".join(f"y{i}" for i in range(count)) + ")",
            constraint=[contact(name, gap, 0.5) for name, gap in gaps.items()],
            initial=start,
        ),
        gaps,
        0.1,
        {"until": 1.0, "rtol": 1e-7},
    )


def pair(seed: int) -> Case:
    """Two balls that bounce side by side and do not know of each other."""
    rng = np.random.default_rng([2, seed])
    heights = rng.uniform(0.02, 0.06, 2).tolist()
    gaps = {"floor_a": "a", "floor_b": "b"}
    system = System(
        coordinates=["a", "b"],
        kinetic="a'^2/2 + b'^2/2",
        potential=f"{G}*(a + b)",
        constraint=[contact(name, gap, 0.5) for name, gap in gaps.items()],
        initial=dict(zip("ab", heights, strict=True)),
    )
    return Case(system, gaps, 0.04, {"until": 1.0}, {"a": 0.0, "b": 0.0})


def rod(seed: int) -> Case:
    """A rod in the plane that bounces on both of its ends."""
    rng = np.random.default_rng([3, seed])
    half, inertia, e = float(rng.uniform(0.2, 0.5)), float(rng.uniform(0.2, 1.2)), float(rng.uniform(0, 0.8))
    gaps = {"left": f"y - {half!r}*sin(phi)", "right": f"y + {half!r}*sin(phi)"}
    tilt = float(rng.uniform(-0.3, 0.3))
    system = System(
        coordinates=["x", "y", "phi"],
        kinetic=f"(x'^2 + y'^2)/2 + {inertia * half**2 / 2!r}*phi'^2",
        potential=f"{G}*y",
        constraint=[contact(name, gap, e) for name, gap in gaps.items()],
        initial={"y": half * abs(sin(tilt)) + float(rng.uniform(0.01, 0.1)), "phi": tilt, "x'": 0.2},
    )
    return Case(system, gaps, half, {"until": 6.0, "rtol": 1e-8}, {"y": 0.0, "phi": 0.0})


def block(seed: int) -> Case:
    """A block that falls on an incline and slides there with friction until it sticks, or does not."""
    rng = np.random.default_rng([4, seed])
    angle, friction, e = float(rng.uniform(0.1, 0.5)), float(rng.uniform(0.2, 0.9)), float(rng.uniform(0, 0.6))
    own = {"friction": {"along": ["1", "0"], "sliding": friction}}
    system = System(
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        potential=f"{G}*(y*cos({angle!r}) - x*sin({angle!r}))",
        constraint=[contact("slope", "y", e) | own],
        initial={"y": float(rng.uniform(0.01, 0.1)), "x'": float(rng.uniform(-1, 1))},
    )
    return Case(system, {"slope": "y"}, 0.1, {"until": 2.0, "rtol": 1e-8}, {"y": 0.0})


def cradle(seed: int) -> Case:
    """Balls on strings side by side, the first of which is let go from the side."""
    rng = np.random.default_rng([5, seed])
    count, e, length = int(rng.integers(3, 6)), float(rng.uniform(0.3, 1.0)), 0.3
    masses = (10.0 ** rng.uniform(-0.5, 0.5, count)).tolist()
    names = [f"p{k}" for k in range(count)]
    gaps = {f"b{k}": f"{length}*(sin(p{k + 1}) - sin(p{k}))" for k in range(count - 1)}
    system = System(
        coordinates=names,
        kinetic=" + ".join(f"{m * length**2 / 2!r}*{p}'^2" for m, p in zip(masses, names, strict=True)),
        potential=" - ".join(["0", *(f"{m * G * length!r}*cos({p})" for m, p in zip(masses, names, strict=True))]),
        constraint=[contact(name, gap, e) for name, gap in gaps.items()],
        initial={"p0": -float(rng.uniform(0.2, pi / 4))},
    )
    return Case(system, gaps, length, {"until": 2.0, "rtol": 1e-8})


FALLING: dict[str, Callable[[int], Case]] = {
    **{f"column of {count}": lambda seed, count=count: column(count, seed) for count in range(2, 13)},
    "balls side by side": pair,
    "rods on both ends": rod,
    "blocks on inclines": block,
    "cradles": cradle,
    **{f"{count} discs": lambda seed, count=count: discs(count, seed) for count in (2, 5, 10)},
}
"""From a kind and a seed to a case."""
