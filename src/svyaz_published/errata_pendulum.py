"""Slips in the paper on the n-link pendulum (004), each as (error as printed, error as corrected)."""

from __future__ import annotations

import numpy as np

from svyaz.expr import evaluate
from svyaz_published.numbers import accelerations, gallery_model

Pair = tuple[float, float]


def e1_initial_angles() -> Pair:
    """Distance of the end of the chain from the hook: the first five of the six printed angles, and the last five."""
    lengths, alpha = np.array([1, 1, 3, 1, 1]), np.arcsin(3 / 4)
    printed = np.array([0, -alpha, -alpha, np.pi / 2, np.pi + alpha, np.pi + alpha])
    ends = [np.hypot(lengths @ np.sin(u), lengths @ np.cos(u)) for u in (printed[:5], printed[1:])]
    return float(ends[0]), float(ends[1])


def e2_time_of_the_last_picture() -> Pair:
    """The captions are 0.25, 0.50, 0.75 and a fourth: distance of 0.100 and of 1.00 from the series of equal intervals."""
    return abs(0.75 + 0.25 - 0.100), abs(0.75 + 0.25 - 1.00)


DOUBLE = {"L1": 0.8, "L2": 1.3, "m1": 1.5, "m2": 0.7, "u": 0.4, "v": -0.9}


def e3_potential_of_the_double_pendulum() -> Pair:
    """Formula (5) against minus the weights times the heights: m2 g L1 cos u stands in it twice."""
    n, g = DOUBLE, 9.81
    depth1 = n["L1"] * np.cos(n["u"])
    depth2 = depth1 + n["L2"] * np.cos(n["v"])
    exact = g * (n["m1"] * depth1 + n["m2"] * depth2)
    return abs(float((n["m1"] + n["m2"]) * g * depth1 + n["m2"] * g * depth2 - exact)), abs(
        float(n["m1"] * g * depth1 + n["m2"] * g * depth2 - exact)
    )


def e4_sign_of_the_potential() -> Pair:
    """P of (3) with y upwards, as the program has it: difference of the slopes ∂P/∂u of (3), and of minus (3), from those of
    the program's P."""
    system = gallery_model("pendulum:2")
    at = {**system.constants, "u1": 0.4, "u2": -0.9}
    slopes = np.array([evaluate(system.potential.diff(u), at) for u in ("u1", "u2")])
    printed = -9.81 * np.array([2 * np.sin(0.4), np.sin(-0.9)])
    return float(np.abs(printed - slopes).max()), float(np.abs(-printed - slopes).max())


def e5_total_derivative() -> Pair:
    """(1) prints ∂/∂t of ∂L/∂u': for one link ∂/∂t at fixed u, u' is zero, and ∂L/∂u alone is not; d/dt is meant."""
    system = gallery_model("pendulum:1")
    state = {"u1": 0.4, "u1'": 0.7}
    found = accelerations(system, state)["u1"]
    force = -9.81 * float(np.sin(0.4))
    return abs(0.0 - force), abs(found - force)
