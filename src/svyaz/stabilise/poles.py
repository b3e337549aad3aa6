"""Poles of coordinates: where the kinetic energy degenerates by the choice of coordinates alone.

At θ = θ₀ the inertia matrix has a null vector z: ψ alone turns nothing (polar and spherical coordinates), or ψ and φ turn the
same (Euler's angles). With δ = θ - θ₀ and χ = q - (z/z_ψ) ψ the chart

    X = f(δ) cos ψ,   Y = f(δ) sin ψ,   χ,        f = 2 tan(δ/2) of angles, f = δ of distances,

is regular there if the kinetic energy in it has a limit that does not depend on ψ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import pi

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import Expression, at_points, names_in, symbols_in
from svyaz.forms import Equations
from svyaz.matrices import eigvalsh, svd
from svyaz.program import once_for_each

Mass = Callable[[Sequence[Mapping[str, float]]], Array]
"""M at values of the states."""

MOST_COORDINATES = 8


@dataclass(frozen=True)
class CoordinatePole:
    """θ = θ₀, the angle ψ that loses its meaning there, and z/z_ψ by coordinate."""

    theta: str
    at: float
    angle: bool
    psi: str
    ratio: tuple[float, ...]

    @property
    def text(self) -> str:
        """How a note names it."""
        place = {0.0: "0", pi: "pi", pi / 2: "pi/2", -pi / 2: "-pi/2"}[self.at]
        return f"the pole {self.theta} = {place} of the coordinates, where {self.psi} has no meaning, in another chart"

    def distance(self, theta: Array) -> Array:
        """δ, of angles within half a turn."""
        gap: Array = theta - self.at
        return np.mod(gap + pi, 2 * pi) - pi if self.angle else gap

    def chart(self, delta: Array) -> tuple[Array, Array]:
        """f and f'."""
        if not self.angle:
            return delta, np.ones_like(delta)
        half: Array = np.tan(delta / 2)
        return 2 * half, 1 + half**2

    def back(self, radius: Array) -> Array:
        """δ ≥ 0 with this f."""
        return 2 * np.arctan(radius / 2) if self.angle else radius


@once_for_each
def poles_of(equations: Equations) -> tuple[CoordinatePole, ...]:
    """Where the inertia matrix degenerates at a value of one coordinate, and a regular chart exists."""
    q = equations.accelerated
    if equations.quasi or len(q) < 2:
        return ()
    entries = [e for row in equations.mass_matrix for e in row]
    own = {se.Symbol(name): se.RealDouble(x) for name, x in equations.system.constants.items()}
    known = [e.xreplace(own) for e in entries]
    used = set().union(*map(names_in, entries))
    if len(entries) != len(q) ** 2 or used - {*equations.states, *equations.constants, "t"}:
        return ()
    numbers = at_points(known, [*equations.states, "t"])

    def mass(states: Sequence[Mapping[str, float]]) -> Array:
        rows = np.array([[*[state.get(name, 0.0) for name in equations.states], 0.0] for state in states])
        return numbers(rows).reshape(len(states), len(q), len(q))

    return tuple(p for theta in q if theta in used for p in _poles_at(equations, theta, entries, mass))


def _poles_at(equations: Equations, theta: str, entries: Sequence[Expression], mass: Mass) -> Iterator[CoordinatePole]:
    """The poles of one coordinate."""
    turning = _is_angle(entries, theta)
    random, q = np.random.default_rng(4), equations.accelerated
    samples = [{name: float(random.uniform(-1.0, 1.0)) for name in equations.states} for _ in range(2)]
    places = (0.0, pi / 2, pi, -pi / 2) if turning else (0.0,)
    looked = [[{**samples[0], theta: at + 0.6}, *({**sample, theta: at} for sample in samples)] for at in places]
    masses = mass([state for three in looked for state in three]).reshape(len(places), 3, len(q), len(q))
    for at, three in zip(places, masses, strict=True):
        if not np.isfinite(three).all():
            continue
        sizes = np.sqrt(np.maximum(np.abs(np.diag(three[0])), 1e-300))
        _, values, vectors = svd(three / np.outer(sizes, sizes))
        aside, *there = values
        if aside[-1] < 1e-9 or not all(found[-1] < 1e-13 * found[0] < found[-2] * 1e-9 for found in there):
            continue
        null = [z / z[np.argmax(np.abs(z))] for z in vectors[1:, -1] / sizes]
        if np.abs(null[0] - null[1]).max() > 1e-9 or abs(null[0][q.index(theta)]) > 1e-9:
            continue
        ratio = np.where(np.abs(null[0]) > 1e-9, null[0], 0.0)
        pole = CoordinatePole(theta, at, turning, q[int(np.argmax(np.abs(ratio)))], tuple(map(float, ratio)))
        if _is_regular(pole, q, samples[0], mass):
            yield pole


def _is_angle(entries: Sequence[Expression], theta: str) -> bool:
    """Does it occur under sines, cosines and tangents alone?"""
    symbol, trig = se.Symbol(theta), (se.sin, se.cos, se.tan)
    hidden = [e.xreplace({f: se.Symbol("f") for f in e.atoms(*trig) if symbol in f.free_symbols}) for e in entries]
    return symbol not in symbols_in(hidden)


def _is_regular(pole: CoordinatePole, q: tuple[str, ...], sample: dict[str, float], mass: Mass) -> bool:
    """Has the kinetic energy in the chart a limit that does not depend on ψ?"""
    k, p, ratio, small = q.index(pole.theta), q.index(pole.psi), np.array(pole.ratio), 1e-4
    limits = []
    for psi in (0.3, 1.9, 4.0):
        state = {**sample, pole.theta: pole.at + small}
        state |= {name: sample[name] + r * (psi - sample[pole.psi]) for name, r in zip(q, ratio, strict=True) if r}
        slopes = np.eye(len(q))  # of q' by (X', Y', χ')
        f, df = pole.chart(np.array(small))
        slopes[:, k] = slopes[:, p] = 0.0
        slopes[k, k], slopes[k, p] = np.cos(psi) / df, np.sin(psi) / df
        slopes[:, k] += ratio * -np.sin(psi) / f
        slopes[:, p] += ratio * np.cos(psi) / f
        limits.append(slopes.T @ mass([state])[0] @ slopes)
    size = np.abs(limits[0]).max()
    least = eigvalsh(0.5 * (limits[0] + limits[0].T))[0]
    return bool(np.abs(np.array(limits) - limits[0]).max() < 10 * small * size and least > 1e-9 * size)
