"""Many contacts with friction at once: stacks on an incline, heaps of discs, ladders, boxes that tip or slide, jammed rods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import cos, pi, sin, sqrt, tan

import numpy as np
from bench.contacts.models import Case, G, contact
from scipy.integrate import solve_ivp

from svyaz import System

Cone = tuple[float, Sequence[str]]
"""A coefficient of friction and the direction of the slip."""


def _case(
    given: Mapping[str, object],
    gaps: Mapping[str, str],
    cones: Mapping[str, Cone],
    e: float,
    size: float,
    **more: object,
) -> Case:
    law = "newton" if e else "inelastic"
    own = {name: {"friction": {"along": list(along), "sliding": mu}} for name, (mu, along) in cones.items()}
    constraint = [contact(name, gap, e, law, **own.get(name, {})) for name, gap in gaps.items()]
    return Case(System(**given, constraint=constraint), gaps, size, cones=cones, **more)


def stack(seed: int) -> Case:
    """Blocks upon blocks on an incline. One contact may be too smooth for it: what lies above slides with g (sin a - μ cos a).

    Every third stack is dropped, its blocks apart from each other.
    """
    rng = np.random.default_rng([21, seed])
    count, angle, until = int(rng.integers(2, 5)), float(rng.uniform(0.1, 0.5)), 1.0
    mus = (tan(angle) + rng.uniform(0.05, 0.5, count)).tolist()
    smooth = int(rng.integers(0, count)) if seed % 2 else count
    if smooth < count:
        mus[smooth] = float(rng.uniform(0.1, 0.9)) * tan(angle)
    masses, drop = (10.0 ** rng.uniform(-0.5, 0.5, count)).tolist(), 0.02 if seed % 3 == 2 else 0.0
    names = [f"{c}{k}" for k in range(count) for c in "xy"]
    gaps = {"c0": "y0"} | {f"c{k}": f"y{k} - y{k - 1} - 0.1" for k in range(1, count)}
    sides = [[{2 * k: "1", 2 * k - 2: "-1"}.get(i, "0") for i in range(2 * count)] for k in range(count)]
    weights = [f"{m * G * cos(angle)!r}*y{k} - {m * G * sin(angle)!r}*x{k}" for k, m in enumerate(masses)]
    given = {
        "coordinates": names,
        "kinetic": " + ".join(f"{m!r}/2*(x{k}'^2 + y{k}'^2)" for k, m in enumerate(masses)),
        "potential": " + ".join(weights),
        "initial": {f"y{k}": 0.1 * k + drop * (k + 1) for k in range(count)},
    }
    way = G * (sin(angle) - (mus[smooth] if smooth < count else 0.0) * cos(angle)) * until**2 / 2
    final = {f"x{k}": way if k >= smooth else 0.0 for k in range(count)} if not drop else {}
    cones = {name: (mus[k], sides[k]) for k, name in enumerate(gaps)}
    e = (0.0, 0.4)[seed % 2]
    final |= {f"y{k}": 0.1 * k for k in range(count)}
    return _case(given, gaps, cones, e, 0.1 * count, options={"until": until, "rtol": 1e-8}, final=final)


def heap(seed: int) -> Case:
    """Two discs side by side on a floor and one upon them. It stands if μ ≥ tan 15° between discs and a third of it below."""
    rng, r = np.random.default_rng([22, seed]), 0.05
    stands, least = seed % 2 == 0, tan(pi / 12)
    between, below = least * float(rng.uniform(1.05, 2)), least / 3 * float(rng.uniform(1.05, 4))
    if not stands:
        between *= 0.4
    names = [f"{c}{k}" for k in "abc" for c in "xyp"]
    gaps, cones = {}, dict[str, Cone]()
    for k in "abc":
        gaps[f"floor{k}"] = f"y{k} - {r}"
        cones[f"floor{k}"] = below, [{f"x{k}": "1", f"p{k}": f"{r}"}.get(name, "0") for name in names]
    for i, k in ("ab", "ac", "bc"):
        apart = f"sqrt((x{k} - x{i})^2 + (y{k} - y{i})^2)"
        gaps[f"pair{i}{k}"] = f"{apart} - {2 * r}"
        along = {f"x{k}": f"(y{i} - y{k})/{apart}", f"y{k}": f"(x{k} - x{i})/{apart}", f"p{k}": f"-{r}"}
        along |= {f"x{i}": f"(y{k} - y{i})/{apart}", f"y{i}": f"(x{i} - x{k})/{apart}", f"p{i}": f"-{r}"}
        cones[f"pair{i}{k}"] = between, [along.get(name, "0") for name in names]
    place = {"xa": -r, "ya": r, "xb": r, "yb": r, "xc": 0.0, "yc": r + r * sqrt(3)}
    given = {
        "coordinates": names,
        "kinetic": " + ".join(f"(x{k}'^2 + y{k}'^2)/2 + {r**2 / 4!r}*p{k}'^2" for k in "abc"),
        "potential": f"{G}*(ya + yb + yc)",
        "initial": {name: x for name, x in place.items() if x},
    }
    until = 0.4 if stands else 0.08
    return _case(given, gaps, cones, 0.0, 0.1, options={"until": until, "rtol": 1e-8}, final=place if stands else {})


def ladder(seed: int) -> Case:
    """A rod that leans on a wall: it stands where tan a ≥ (1 - μ μ')/2μ, with μ on the floor and μ' on the wall."""
    rng = np.random.default_rng([23, seed])
    angle = float(rng.uniform(0.5, 1.3))
    floor, wall = (0.0, 0.0) if seed % 4 == 3 else rng.uniform(0.05, 0.9, 2).tolist()
    start = {"x": cos(angle), "y": sin(angle), "p": angle}
    given = {"coordinates": ["x", "y", "p"], "kinetic": "(x'^2 + y'^2)/2 + p'^2/6", "potential": f"{G}*y"}
    cones = {"floor": (floor, ["1", "0", "-sin(p)"]), "wall": (wall, ["0", "1", "cos(p)"])}
    final = start if floor and tan(angle) > (1 - floor * wall) / (2 * floor) else {}
    gaps = {"floor": "y - sin(p)", "wall": "x - cos(p)"}
    options = {"until": 0.3, "rtol": 1e-8}
    return _case({**given, "initial": start}, gaps, cones, 0.0, 1.0, options=options, final=final)


def box(seed: int) -> Case:
    """A box on two feet on an incline: it stands, slides, or tips over its lower foot; every third one is dropped."""
    rng = np.random.default_rng([24, seed])
    b, h = float(rng.uniform(0.1, 0.5)), float(rng.uniform(0.1, 0.5))
    angle, mu, until = float(rng.uniform(0.1, 0.7)), float(rng.uniform(0.1, 1.2)), 0.3
    drop, e = (0.05, 0.3) if seed % 3 == 2 else (0.0, 0.0)
    inertia = (b**2 + h**2) / 3
    given = {
        "coordinates": ["x", "y", "p"],
        "kinetic": f"(x'^2 + y'^2)/2 + {inertia / 2!r}*p'^2",
        "potential": f"{G * cos(angle)!r}*y - {G * sin(angle)!r}*x",
        "initial": {"y": h + drop},
    }
    gaps = {"left": f"y - {b!r}*sin(p) - {h!r}*cos(p)", "right": f"y + {b!r}*sin(p) - {h!r}*cos(p)"}
    arms = {"left": f"{b!r}*sin(p) + {h!r}*cos(p)", "right": f"{h!r}*cos(p) - {b!r}*sin(p)"}
    final = {}
    if not drop and tan(angle) < min(mu, b / h):
        final = {"x": 0.0, "y": h, "p": 0.0}
    elif not drop and mu < min(tan(angle), b / h):
        final = {"x": G * (sin(angle) - mu * cos(angle)) * until**2 / 2, "y": h, "p": 0.0}
    elif not drop and tan(angle) > b / h and mu > 1.5 * tan(angle):  # about the lower foot, which sticks at first
        whole, radius, lean = inertia + b**2 + h**2, sqrt(b**2 + h**2), np.arctan2(b, h) - angle
        until = 0.1
        turned = solve_ivp(
            lambda t, s: [s[1], G * radius * np.sin(lean + s[0]) / whole], (0, until), [0, 0], rtol=1e-11, atol=1e-13
        )
        final = {"p": float(turned.y[0, -1])}
    cones = {name: (mu, ["1", "0", arm]) for name, arm in arms.items()}
    return _case(given, gaps, cones, e, max(b, h), options={"until": until, "rtol": 1e-8}, final=final)


def rod(seed: int) -> Case:
    """Painlevé's rod, the lower end of which slips to the left: reactions exist where 1 + 3 cos a (cos a - μ sin a) > 0."""
    rng = np.random.default_rng([25, seed])
    angle, mu = float(rng.uniform(0.6, 1.4)), float(rng.uniform(0.2, 2.5))
    regular = 1 + 3 * cos(angle) * (cos(angle) - mu * sin(angle))
    given = {"coordinates": ["x", "y", "a"], "kinetic": "(x'^2 + y'^2)/2 + a'^2/6", "potential": f"{G}*y"}
    start = {"initial": {"y": sin(angle), "a": angle, "x'": -3.0}}
    cones = {"floor": (mu, ["1", "0", "sin(a)"])}
    return _case(
        {**given, **start},
        {"floor": "y - sin(a)"},
        cones,
        0.0,
        1.0,
        options={"until": 0.02, "rtol": 1e-8},
        refusal="" if regular > 0 else "Painlevé",
    )


PILES: dict[str, Callable[[int], Case]] = {
    "stacks on an incline": stack,
    "heaps of three discs": heap,
    "ladders": ladder,
    "boxes on two feet": box,
    "Painlevé's rods": rod,
}
"""From a kind and a seed to a case."""
