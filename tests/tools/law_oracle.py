"""Motions under stabilising laws by an integration of its own, and random laws of each kind.

The equations are formed by SymPy from T, U and the constraints as they are written, M q̈ + b = Gᵀλ, G q̈ + c = F, and
integrated by SciPy; F is a Python function of the state and of all deviations. The system is the same for all kinds: five
coordinates, two constraints on positions, two on velocities, nonlinear, one moving with time, started off all four.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

Floats = NDArray[np.float64]
Law = Callable[[float, Floats, Floats, Floats], Floats]
"""F of (t, states, (h, ḣ), f): two numbers for positions, then two for velocities."""

COORDINATES = ("a", "b", "c", "d", "e")
KINETIC = "(a'^2 + 2*b'^2 + c'^2 + 3*d'^2 + e'^2)/2 + a'*c'*cos(b)/4"
POTENTIAL = "a^2 + b*c + 2*e"
CONSTRAINTS = {
    "circle": "a^2 + b^2 = 1 + t/10",
    "wave": "c = sin(d) + a/5",
    "blade": "d'*cos(e) = b'*sin(e)",
    "belt": "e' = c'*b + a/3",
}
START = {"a": 1.02, "b": 0.1, "c": 0.2, "d": 0.1, "e": 0.2, "a'": 0.1, "b'": 0.2, "d'": 0.3, "e'": 0.1}


def model(laws: dict[str, str] | None = None) -> dict[str, object]:
    """The words of the system, with laws by constraint."""
    constraints = [{"name": name, "equation": text} for name, text in CONSTRAINTS.items()]
    for one in constraints:
        if laws and one["name"] in laws:
            one["law"] = laws[one["name"]]
    return {
        "name": "mixed",
        "coordinates": list(COORDINATES),
        "kinetic": KINETIC,
        "potential": POTENTIAL,
        "constraint": constraints,
        "initial": dict(START),
    }


@cache
def _parts() -> Callable[..., list[object]]:
    t = sp.Symbol("t")
    q, v = (sp.symbols(" ".join(n + tail for n in COORDINATES)) for tail in ("", "_v"))
    names = {**dict(zip(COORDINATES, q, strict=True)), "t": t}

    def read(text: str) -> sp.Expr:
        for name, rate in zip(COORDINATES, v, strict=True):
            text = text.replace(f"{name}'", str(rate))
        return sp.sympify(text.replace("^", "**"), locals={**names, **{str(s): s for s in v}})

    kinetic, potential = read(KINETIC), read(POTENTIAL)
    sides = [text.split("=") for text in CONSTRAINTS.values()]
    left = [read(a) - read(b) for a, b in sides]

    def rate(e: sp.Expr) -> sp.Expr:
        return sp.diff(e, t) + sum(sp.diff(e, x) * u for x, u in zip(q, v, strict=True))

    mass = sp.hessian(kinetic, v)
    bias = sp.Matrix([rate(sp.diff(kinetic, u)) - sp.diff(kinetic - potential, x) for x, u in zip(q, v, strict=True)])
    levels = [rate(left[0]), rate(left[1]), left[2], left[3]]
    slopes = sp.Matrix([[sp.diff(e, u) for u in v] for e in levels])
    rest = sp.Matrix([rate(e) for e in levels])
    return sp.lambdify((t, *q, *v), [mass, bias, slopes, rest, left[:2], levels], "numpy")


def moved(law: Law, times: Floats) -> Floats:
    """The states along the times, from START."""
    parts, n = _parts(), len(COORDINATES)

    def rates(t: float, x: Floats) -> Floats:
        mass, bias, slopes, rest, places, levels = parts(t, *x)
        h, level = np.array(places, dtype=float), np.array(levels, dtype=float)
        wanted = law(t, x, np.concatenate([h, level[:2]]), level[2:])
        whole = np.block([[mass, -slopes.T], [slopes, np.zeros((4, 4))]])
        found = np.linalg.solve(whole, np.concatenate([-bias.ravel(), wanted - rest.ravel()]))
        return np.concatenate([x[n:], found[:n]])

    start = [START.get(name + tail, 0.0) for tail in ("", "'") for name in COORDINATES]
    done = solve_ivp(rates, (0, times[-1]), start, method="DOP853", rtol=1e-11, atol=1e-12, t_eval=times)
    assert done.success, done.message
    return done.y.T


@dataclass(frozen=True)
class Drawn:
    """A random law: what ``stabilize`` or the model says, and F."""

    stabilize: object
    laws: dict[str, str]
    law: Law


SHAPES: tuple[tuple[str, Callable[[float, Floats], float]], ...] = (
    ("sin(a)", lambda t, x: np.sin(x[0])),
    ("cos(t)", lambda t, x: np.cos(t)),
    ("tanh(b')", lambda t, x: np.tanh(x[6])),
    ("c*d", lambda t, x: x[2] * x[3]),
    ("exp(-e^2)", lambda t, x: np.exp(-(x[4] ** 2))),
)


def _coefficient(rng: np.random.Generator, low: float, high: float) -> tuple[str, Callable[[float, Floats], float]]:
    """k (1 + s w(x)), |s w| below 1/2 near the start, as a text and as a function."""
    k, s = float(rng.uniform(low, high)), float(rng.uniform(-0.4, 0.4))
    text, shape = SHAPES[rng.integers(len(SHAPES))]
    return f"({k!r}*(1 + {s!r}*{text}))", lambda t, x: k * (1 + s * shape(t, x))


def separate(rng: np.random.Generator) -> Drawn:
    """A law for each constraint, by its own deviation, with a cubic term."""
    gains = [(_coefficient(rng, 4, 9), _coefficient(rng, 4, 16), float(rng.uniform(0, 9))) for _ in range(2)]
    gains_f = [(_coefficient(rng, 2, 6), float(rng.uniform(0, 9))) for _ in range(2)]
    laws = {
        name: f"-{b[0]}*deviation' - {k[0]}*deviation - {n!r}*deviation^3"
        for name, (b, k, n) in zip(("circle", "wave"), gains, strict=True)
    }
    laws |= {
        name: f"-{k[0]}*deviation - {n!r}*deviation^3" for name, (k, n) in zip(("blade", "belt"), gains_f, strict=True)
    }

    def law(t: float, x: Floats, y: Floats, f: Floats) -> Floats:
        place = [-b[1](t, x) * y[2 + i] - k[1](t, x) * y[i] - n * y[i] ** 3 for i, (b, k, n) in enumerate(gains)]
        return np.array(place + [-k[1](t, x) * f[i] - n * f[i] ** 3 for i, (k, n) in enumerate(gains_f)])

    return Drawn("auto", laws, law)


def coupled(rng: np.random.Generator) -> Drawn:
    """Laws that name the deviations of other constraints, given with the run."""
    b, k, e = _coefficient(rng, 4, 9), _coefficient(rng, 4, 16), _coefficient(rng, 2, 6)
    s = [float(value) for value in rng.uniform(-0.5, 0.5, 6)]
    laws = {
        "circle": f"-{b[0]}*deviation' - {k[0]}*deviation + {s[0]!r}*deviation_wave' + {s[1]!r}*deviation_belt",
        "wave": f"-{b[0]}*deviation' - {k[0]}*deviation + {s[2]!r}*deviation_circle*deviation_blade",
        "blade": f"-{e[0]}*deviation + {s[3]!r}*deviation_circle' + {s[4]!r}*deviation_belt^2",
        "belt": f"-{e[0]}*deviation + {s[5]!r}*deviation_wave",
    }

    def law(t: float, x: Floats, y: Floats, f: Floats) -> Floats:
        bx, kx, ex = b[1](t, x), k[1](t, x), e[1](t, x)
        return np.array(
            [
                -bx * y[2] - kx * y[0] + s[0] * y[3] + s[1] * f[1],
                -bx * y[3] - kx * y[1] + s[2] * y[0] * f[0],
                -ex * f[0] + s[3] * y[2] + s[4] * f[1] ** 2,
                -ex * f[1] + s[5] * y[1],
            ]
        )

    return Drawn({"law": laws}, {}, law)


def blocks(rng: np.random.Generator) -> Drawn:
    """A … E with entries that are functions of the state."""
    names = {"A": (-16, -6, 2), "B": (-9, -5, 1), "C": (-0.4, 0.4, 0.4), "D": (-0.4, 0.4, 0.4), "E": (-6, -2, 0.4)}
    texts: dict[str, list[list[str]]] = {}
    values: dict[str, list[list[Callable[[float, Floats], float]]]] = {}
    for name, (low, high, off) in names.items():
        made = [[_coefficient(rng, *((low, high) if i == j else (-off, off))) for j in range(2)] for i in range(2)]
        texts[name] = [[entry[0] for entry in row] for row in made]
        values[name] = [[entry[1] for entry in row] for row in made]

    def law(t: float, x: Floats, y: Floats, f: Floats) -> Floats:
        m = {name: np.array([[entry(t, x) for entry in row] for row in rows]) for name, rows in values.items()}
        place = m["A"] @ y[:2] + m["B"] @ y[2:] + m["C"] @ f
        return np.concatenate([place, m["D"] @ y[2:] + m["E"] @ f])

    return Drawn(texts, {}, law)


def extended(rng: np.random.Generator) -> Drawn:
    """An extended Lagrangian: Ã depends on positions and on deviations, H̃ and B on the state."""
    m, n, r = (float(value) for value in rng.uniform(0.1, 0.4, 3))
    k, b = _coefficient(rng, 9, 25), _coefficient(rng, 6, 12)
    off = float(rng.uniform(-0.3, 0.3))
    diagonal = [f"(1.5 + {m!r}*sin(a) + {n!r}*deviation_circle^2)", f"(1.2 + {r!r}*cos(c))", "1.1", "0.9"]
    mass = [[diagonal[i] if i == j else (f"{off!r}*cos(d)" if i + j == 1 else 0) for j in range(4)] for i in range(4)]
    stabilize = {"mass": mass, "stiffness": k[0], "damping": b[0]}

    def law(t: float, x: Floats, y: Floats, f: Floats) -> Floats:
        h, v = y[:2], np.concatenate([y[2:], f])
        a = np.diag([1.5 + m * np.sin(x[0]) + n * h[0] ** 2, 1.2 + r * np.cos(x[2]), 1.1, 0.9])
        a[0, 1] = a[1, 0] = off * np.cos(x[3])
        rate = np.diag([m * np.cos(x[0]) * x[5] + 2 * n * h[0] * v[0], -r * np.sin(x[2]) * x[7], 0.0, 0.0])
        rate[0, 1] = rate[1, 0] = -off * np.sin(x[3]) * x[8]
        bend = np.array([0.5 * 2 * n * h[0] * v[0] ** 2, 0.0, 0.0, 0.0])  # ½ ṽᵀ(∂Ã/∂h)ṽ
        pull = np.concatenate([k[1](t, x) * h, [0.0, 0.0]])
        return np.linalg.solve(a, bend - pull - (rate + b[1](t, x) * np.eye(4)) @ v)

    return Drawn(stabilize, {}, law)


KINDS = {"separate": separate, "coupled": coupled, "blocks": blocks, "extended": extended}
