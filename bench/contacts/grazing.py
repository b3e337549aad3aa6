"""Contacts that are touched without an approach: motions tangent to a surface, starts that graze, gaps of either curvature."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
from bench.contacts.models import Case, G, contact
from scipy.integrate import solve_ivp

from svyaz import System

SHIFTS = (0.0, 1e-12, 1e-9, 1e-6, -1e-12, -1e-9)
"""How far a surface lies beyond the point of contact, as a part of the size; negative ones are entered that far."""


def _drawn(kind: int, seed: int) -> tuple[np.random.Generator, float, float]:
    """Random numbers, a coefficient of restitution and a shift."""
    rng = np.random.default_rng([kind, seed])
    return rng, float(rng.choice([0.0, 0.5, 1.0])), SHIFTS[seed % len(SHIFTS)]


def _case(given: dict[str, object], gaps: dict[str, str], e: float, **more: object) -> Case:
    law = "newton" if e else "inelastic"
    return Case(System(**given, constraint=[contact(n, gap, e, law) for n, gap in gaps.items()]), gaps, 1.0, **more)


def ceiling(seed: int) -> Case:
    """A ball thrown so that it just reaches a ceiling; one that it reaches with the speed v takes (1 + e) v away."""
    rng, e, shift = _drawn(11, seed)
    height = float(rng.uniform(0.5, 3.0))
    speed, until = sqrt(2 * G * height), 1.5 * sqrt(2 * height / G)
    given = {"coordinates": ["y"], "kinetic": "y'^2/2", "potential": f"{G}*y", "initial": {"y": 0, "y'": speed}}
    final = {"y": speed * until - G * until**2 / 2}
    lost = 2 * sqrt(2 * G * height * max(-shift, 0.0)) * until
    gaps = {"ceiling": f"{height * (1 + shift)!r} - y"}
    return _case(given, gaps, e, options={"until": until, "rtol": 1e-9}, final=final, near=1e-6 + lost)


def passing(seed: int) -> Case:
    """A point that passes a disc along a tangent: it goes straight on."""
    rng, e, shift = _drawn(12, seed)
    speed = float(rng.uniform(0.5, 3.0))
    start = {"x": -1, "y": 1 + shift, "x'": speed}
    given = {"coordinates": ["x", "y"], "kinetic": "(x'^2 + y'^2)/2", "initial": start}
    options = {"until": 2 / speed, "rtol": 1e-9}
    near = 1e-6 + 4 * sqrt(max(-shift, 0.0))
    return _case(given, {"disc": "sqrt(x^2 + y^2) - 1"}, e, options=options, final={"x": 1, "y": 1 + shift}, near=near)


def top(seed: int) -> Case:
    """A point at the top of a disc with v² = f g r: below f = 1 it slides and leaves where cos θ = (2 + f)/3, else at once."""
    rng, e, _ = _drawn(13, seed)
    part = (0.3, 0.9, 1.0, 1.1, float(rng.uniform(0.1, 0.8)))[seed % 5]
    speed, until = sqrt(part * G), 0.6
    given = {"coordinates": ["x", "y"], "kinetic": "(x'^2 + y'^2)/2", "potential": f"{G}*y"}
    begun, x, y, vx, vy = 0.0, 0.0, 1.0, speed, 0.0
    if part < 1:
        cosine = (2 + part) / 3

        def leaves(t: float, s: np.ndarray) -> float:
            return float(np.cos(s[0]) - cosine)

        leaves.terminal = True  # type: ignore[attr-defined]
        swing = solve_ivp(
            lambda t, s: [s[1], G * np.sin(s[0])], (0, 9), [0, speed], rtol=1e-11, atol=1e-12, events=leaves
        )
        begun, angle, rate = float(swing.t[-1]), float(swing.y[0, -1]), float(swing.y[1, -1])
        x, y, vx, vy = np.sin(angle), np.cos(angle), rate * np.cos(angle), -rate * np.sin(angle)
    until = begun + 0.15
    final = {"x": x + vx * 0.15, "y": y + vy * 0.15 - G * 0.15**2 / 2}
    start = {"initial": {"x": 0, "y": 1, "x'": speed}}
    return _case(
        {**given, **start}, {"disc": "sqrt(x^2 + y^2) - 1"}, e, options={"until": until, "rtol": 1e-9}, final=final
    )


def pendulum(seed: int) -> Case:
    """A pendulum with a wall where it turns back, or with one that its circle touches where it passes fast."""
    rng, e, shift = _drawn(14, seed)
    angle, until = float(rng.uniform(0.3, 1.2)), 3.0
    turning = bool(seed % 2)
    start = [angle, 0.0] if turning else [0.0, float(rng.uniform(7.0, 9.0))]
    gap = f"phi + {angle * (1 + max(shift, 0.0))!r}" if turning else "1 - sin(phi)"
    given = {"coordinates": ["phi"], "kinetic": "phi'^2/2", "potential": f"-{G}*cos(phi)"}
    known = {"initial": {"phi": start[0], "phi'": start[1]}}
    exact = solve_ivp(lambda t, s: [s[1], -G * np.sin(s[0])], (0, until), start, rtol=1e-12, atol=1e-13).y[0, -1]
    options = {"until": until, "rtol": 1e-10}
    return _case({**given, **known}, {"wall": gap}, e, options=options, final={"phi": float(exact)}, near=1e-5)


def between_walls(seed: int) -> Case:
    """A block that rests on a floor and swings on a spring from wall to wall, both of which it just reaches."""
    rng, e, shift = _drawn(15, seed)
    rate, phase = float(rng.uniform(1.0, 5.0)), (0.0, float(rng.uniform(0.2, 1.2)))[seed % 2]
    wall = 1 + max(shift, 0.0)
    start = {"x": float(np.cos(phase)), "x'": -rate * float(np.sin(phase))}
    given = {"coordinates": ["x", "y"], "kinetic": "(x'^2 + y'^2)/2", "initial": start}
    gaps = {"floor": "y", "right": f"{wall!r} - x", "left": f"x + {wall!r}"}
    final = {"x": float(np.cos(5 * rate + phase)), "y": 0.0}
    options = {"until": 5.0, "rtol": 1e-10}
    return _case(
        {**given, "potential": f"{G}*y + {rate**2 / 2!r}*x^2"}, gaps, e, options=options, final=final, near=1e-5
    )


GRAZING: dict[str, Callable[[int], Case]] = {
    "balls that reach a ceiling": ceiling,
    "points that pass a disc": passing,
    "points at the top of a disc": top,
    "pendulums that graze a wall": pendulum,
    "blocks that reach two walls": between_walls,
}
"""From a kind and a seed to a case."""
