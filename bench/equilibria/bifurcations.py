"""Systems within 1e-7 … 1e-3 of a bifurcation, with all equilibria in their box by closed forms or by mpmath.

Polynomial equations are solved with 40 digits; where a fold bounds monotone pieces, each piece is bisected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mpmath
import numpy as np

Position = tuple[float, ...]


@dataclass(frozen=True)
class Near:
    """The words of a system and all its equilibria in the box, in the order of its coordinates."""

    kind: str
    words: dict[str, object]
    known: tuple[Position, ...]
    distance: float


class Draws:
    """Random numbers of one system; ``e`` is its distance from the bifurcation, of either sign."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.e = float(10 ** self.random.uniform(-7, -3) * self.random.choice([-1, 1]))

    def number(self, low: float, high: float) -> float:
        return float(np.round(self.random.uniform(low, high), 3))


def real_roots(coefficients: Sequence[float], low: float, high: float) -> list[float]:
    """Of a polynomial, highest power first, in an interval."""
    with mpmath.workdps(40):
        given = [mpmath.mpf(c) for c in coefficients]
        while given and given[0] == 0:
            given = given[1:]
        found = mpmath.polyroots(given, maxsteps=500, extraprec=400)
        real = [z for z in found if abs(mpmath.im(z)) < mpmath.mpf(10) ** -18]
        return sorted(float(mpmath.re(z)) for z in real if low < mpmath.re(z) < high)


def bracketed(function: Callable[[object], object], ends: Sequence[float]) -> list[float]:
    """Zeros of a function that is monotone between neighbouring ends."""
    with mpmath.workdps(40):
        found = []
        for a, b in zip(map(mpmath.mpf, ends), map(mpmath.mpf, ends[1:]), strict=False):
            below = function(a) < 0
            if below == (function(b) < 0):
                continue
            for _ in range(90):
                middle = (a + b) / 2
                a, b = (middle, b) if (function(middle) < 0) == below else (a, middle)
            found.append(float(a))
        return found


def polynomial(coefficients: Sequence[float], name: str) -> str:
    """The antiderivative as a text: the potential whose slope the polynomial is."""
    n = len(coefficients)
    return " + ".join(f"({c!r})*{name}^{n - k}/{n - k}" for k, c in enumerate(coefficients))


def shifted(coefficients: Sequence[float], by: float) -> list[float]:
    """p(x - by)."""
    return [float(c) for c in np.poly1d(coefficients)(np.poly1d([1.0, -by])).coeffs]


def slopes(draws: Draws) -> list[float]:
    """V'(x) near a pitchfork, a transcritical bifurcation or a fold."""
    a, e = draws.number(0.5, 2.0), draws.e
    kinds: list[list[float]] = [
        [a, 0.0, -e, 0.0],  # pitchfork
        [-a, 0.0, -e, 0.0],
        [a, e, 0.0],  # two that exchange their stability
        [a, 0.0, -e],  # fold
        [a, 0.0, -abs(e), 0.4 * abs(e) ** 1.5],  # an imperfect pitchfork
        [a, 0.3 * a, -abs(e), 0.1 * e * abs(e)],
    ]
    chosen = kinds[int(draws.random.integers(len(kinds)))]
    return shifted(chosen, draws.number(-0.4, 0.4)) if draws.random.random() < 0.5 else chosen


def on_a_line(draws: Draws) -> Near:
    p = slopes(draws)
    words = {"coordinates": ["x"], "kinetic": "x'^2/2", "potential": polynomial(p, "x"), "box": {"x": [-1.1, 1.3]}}
    return Near("line", words, tuple((x,) for x in real_roots(p, -1.1, 1.3)), draws.e)


def followed(draws: Draws) -> Near:
    """y follows x: V = p(x) + k (y - h(x))²/2."""
    p, k, b = slopes(draws), draws.number(0.5, 2.0), draws.number(-0.6, 0.6)
    words = {
        "coordinates": ["x", "y"],
        "kinetic": "(x'^2 + y'^2 + (x' + y')^2)/2",
        "potential": f"{polynomial(p, 'x')} + {k}*(y - ({b})*sin(x))^2/2",
        "box": {"x": [-1.1, 1.3], "y": [-1.4, 1.5]},
    }
    return Near("followed", words, tuple((x, b * np.sin(x)) for x in real_roots(p, -1.1, 1.3)), draws.e)


def hoop(draws: Draws) -> Near:
    """A bead on a hoop that turns: besides x = 0, z = -g/w² r² where that is on the hoop."""
    g, r = draws.number(1.0, 10.0), draws.number(0.5, 1.5)
    w2 = g / r * (1 + draws.e)
    z = -g / w2
    known = [(0.0, -r), (0.0, r)]
    if z > -r:
        side = float(mpmath.sqrt(mpmath.mpf(r) ** 2 - mpmath.mpf(g) ** 2 / mpmath.mpf(w2) ** 2))
        known += [(-side, z), (side, z)]
    words = {
        "coordinates": ["x", "z"],
        "kinetic": "(x'^2 + z'^2 + w2*x^2)/2",
        "potential": f"{g}*z",
        "parameters": {"w2": w2},
        "constraint": [{"equation": f"x^2 + z^2 = {r}^2", "name": "hoop"}],
        "box": {"x": [-1.1 * r, 1.2 * r], "z": [-1.2 * r, 1.1 * r]},
    }
    return Near("hoop", words, tuple(known), draws.e)


def angles_of_strut(p: float, tilt: float) -> list[float]:
    """θ - tilt = P sin θ for |θ| < 1.4: the left side minus the right one turns at cos θ = 1/P."""
    turns = [float(mpmath.acos(1 / mpmath.mpf(p)))] if p > 1 else []
    ends = [-1.4, *(-x for x in turns), *turns, 1.4]
    return bracketed(lambda a: a - tilt - p * mpmath.sin(a), ends)


def strut(draws: Draws) -> Near:
    """A rod with a spiral spring under a load, in x and y, straight or bent a little; by atan(x/y), asin(x) or atan2(x, y)."""
    bent = draws.random.random() < 0.5
    tilt = 0.3 * abs(draws.e) ** 1.5 if bent else 0.0
    p = 1 + abs(draws.e) if bent else 1 + draws.e
    angle = str(draws.random.choice(["atan(x/y)", "atan2(x, y)", "atan2(x, y)"]))
    words = {
        "coordinates": ["x", "y"],
        "kinetic": "(x'^2 + y'^2)/2",
        "potential": f"({angle} - tilt)^2/2 + P*y",
        "parameters": {"P": p, "tilt": tilt},
        "constraint": [{"equation": "x^2 + y^2 = 1", "name": "rod"}],
        "initial": {"y": 1.0},
        "box": {"x": [-0.95, 0.96], "y": [0.18, 1.2]},
    }
    known = [(float(np.sin(a)), float(np.cos(a))) for a in angles_of_strut(p, tilt)]
    return Near("strut", words, tuple(one for one in known if abs(one[0]) < 0.95), draws.e)


def redundant_strut(draws: Draws) -> Near:
    """The same in x, y and the angle."""
    p = 1 + draws.e
    words = {
        "coordinates": ["a", "x", "y"],
        "kinetic": "(x'^2 + y'^2)/2 + 0.1*a'^2",
        "potential": "a^2/2 + P*y",
        "parameters": {"P": p},
        "constraint": [{"equation": "x = sin(a)", "name": "x"}, {"equation": "y = cos(a)", "name": "y"}],
        "initial": {"y": 1.0},
        "box": {"a": [-1.4, 1.35], "x": [-1.1, 1.2], "y": [-0.2, 1.3]},
    }
    known = [(a, float(np.sin(a)), float(np.cos(a))) for a in angles_of_strut(p, 0.0)]
    return Near("redundant strut", words, tuple(known), draws.e)


def magnet(draws: Draws) -> Near:
    """A spring against a magnet, k x = c/(d - x)²: it snaps at x = d/3."""
    k, d = draws.number(0.5, 3.0), draws.number(0.8, 1.5)
    c = 4 * k * d**3 / 27 * (1 - draws.e)
    words = {
        "coordinates": ["x"],
        "kinetic": "x'^2/2",
        "potential": f"{k}*x^2/2 - c/({d} - x)",
        "parameters": {"c": c},
        "box": {"x": [-0.5, 0.93 * d]},
    }
    return Near(
        "magnet", words, tuple((x,) for x in real_roots([k, -2 * k * d, k * d * d, -c], -0.5, 0.93 * d)), draws.e
    )


def truss(draws: Draws) -> Near:
    """Two elastic bars that snap through under a load near their limit: V' turns where 1 + y² = L^(2/3)."""
    length = draws.number(1.05, 1.4)

    def force(y: object) -> object:
        return y * (1 - mpmath.mpf(length) / mpmath.sqrt(1 + y * y))

    turn = mpmath.sqrt(mpmath.mpf(length) ** (mpmath.mpf(2) / 3) - 1)
    load = float(force(-turn)) * (1 - draws.e)
    words = {
        "coordinates": ["y"],
        "kinetic": "y'^2/2",
        "potential": f"(sqrt(1 + y^2) - {length})^2/2 - P*y",
        "parameters": {"P": load},
        "box": {"y": [-1.6, 1.7]},
    }
    ends = [-1.6, -float(turn), float(turn), 1.7]
    return Near("truss", words, tuple((y,) for y in bracketed(lambda y: force(y) - load, ends)), draws.e)


def almost_symmetric(draws: Draws) -> Near:
    """A hat, tilted a little: the circle of equilibria leaves three on one line."""
    a, way = draws.number(0.5, 2.0), draws.number(-3.0, 3.0)
    roots = real_roots([4 * a, 0.0, -4 * a, draws.e], -2.0, 2.0)
    c, s = float(np.cos(way)), float(np.sin(way))
    words = {
        "coordinates": ["x", "y"],
        "kinetic": "(x'^2 + y'^2)/2",
        "potential": f"{a}*(x^2 + y^2 - 1)^2 + e*({c!r}*x + {s!r}*y)",
        "parameters": {"e": draws.e},
        "box": {"x": [-1.6, 1.7], "y": [-1.8, 1.5]},
    }
    size = float(np.hypot(c, s))
    roots = [float(r) for r in real_roots([4 * a, 0.0, -4 * a, draws.e * size], -2.0, 2.0)]
    return Near("almost symmetric", words, tuple((r * c / size, r * s / size) for r in roots), draws.e)


def turned(draws: Draws) -> Near:
    """A pendulum whose torque almost reaches its weight, sin a = 1 - e: two near the horizontal, or none."""
    m = draws.number(0.5, 4.0)
    torque = m * (1 - draws.e)
    words = {
        "coordinates": ["a"],
        "kinetic": "a'^2/2",
        "potential": f"-{m}*cos(a)",
        "forces": {"a": "torque"},
        "parameters": {"torque": torque},
    }
    if torque > m:
        return Near("turned", words, (), draws.e)
    with mpmath.workdps(40):
        first = mpmath.asin(mpmath.mpf(torque) / mpmath.mpf(m))
        return Near("turned", words, ((float(first),), (float(mpmath.pi - first),)), draws.e)


KINDS = (
    on_a_line, followed, hoop, strut, redundant_strut, magnet, truss, almost_symmetric, turned,
)  # fmt: skip


RARE = 5
"""Every so many of the almost symmetric ones are taken, for the others another: their searches are long."""


def near_bifurcation(seed: int) -> Near:
    """One system of the series."""
    kind = KINDS[seed % len(KINDS)]
    if kind is almost_symmetric and seed // len(KINDS) % RARE:
        kind = followed
    return kind(Draws(seed))
