"""The potential energy along several directions at once in which its second differential vanishes.

Let r_i span these soft directions, with rᵀ M r = 1, and let the second differential be positive across them. The points at
which all forces balance but Σ σ_i M r_i form a surface over s = rᵀ M (q - q₀); on it the energy is the least for its s, with
∂W/∂s_i = -σ_i. Let V be the first form of its power series that does not vanish, of degree p (M. Morse; the splitting lemma).
If V is positive for s ≠ 0, the energy has a strict minimum; if V is negative somewhere, it has none, and the equilibrium is
unstable where nothing but the potential acts (V. P. Palamodov 1977, V. V. Kozlov 1982). Else nothing is said.

On the unit sphere |dV| ≤ p max|V| along great circles (S. N. Bernstein), so that values on a net bound V everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.matrices import lstsq
from svyaz.stability.linearisation import FirstApproximation
from svyaz.stability.rest_curves import CLEAR, EXACT, SAMPLES, RestCurve, in_order
from svyaz.stability.tree_tables import equilibrium_tables

MOST = 3
"""So many soft directions at the most are examined together."""

HIGHEST = {2: 8, 3: 6}
"""Forms up to this degree are looked at, by the number of soft directions."""

NET = {2: 2000, 3: 40_000}
"""Points on the sphere, by the number of soft directions."""

MOVES = 3
"""So often the place is moved to where the form below the first one vanishes best."""


@dataclass(frozen=True)
class SoftEnergy:
    """V, the first form that does not vanish: its degree, and whether it is positive (None: it is not known)."""

    count: int
    degree: int
    positive: bool | None


def soft_energy(approximation: FirstApproximation, soft: Array, reach: float = EXACT) -> SoftEnergy | None:
    """V along ``soft`` (n, k), displacements of the independent coordinates with unit inertia; none if nothing is seen."""
    k = soft.shape[1]
    if not 2 <= k <= MOST:
        return None
    system = approximation.system
    known = {**system.constants, **approximation.inputs, **approximation.state}
    moves = in_order(approximation, np.vstack([np.eye(len(soft)), approximation.slope])) @ soft
    pushes = equilibrium_tables(system, known).inertia @ moves
    against = np.vstack([pushes, np.zeros((len(system.constraints), k))])
    curve = RestCurve(approximation, against.T, against)
    rays = np.random.default_rng(5).normal(size=(2 * len(_monomials(k, HIGHEST[k])), k))
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    first = _energies(curve, rays, curve.start)
    if not first.any():
        return None
    for degree in range(3, HIGHEST[k]):
        place, energies, size = curve.start, first, 0.0
        for _ in range(MOVES):
            shift = _shift(energies, rays, degree)
            size = float(np.linalg.norm(shift))
            if not size <= reach:
                break
            if size > 0:
                place = _moved(curve, shift / size, size, place)
                energies = _energies(curve, rays, place)
        else:
            found = _judged(curve, rays, place, energies, degree, size)
            if found is not None:
                return found
    return None


def _energies(curve: RestCurve, rays: Array, place: Array, random: np.random.Generator | None = None) -> Array:
    """The coefficients (rays, powers of s from 0) of the energy along each ray: -∫ Σ σ_i u_i ds."""
    k, highest = rays.shape[1], HIGHEST[rays.shape[1]]
    found = np.zeros((len(rays), highest + 1))
    for row, ray, x in zip(found, rays, curve.along(rays, place, highest, random), strict=True):
        row[1:] = -(ray @ np.real(x[-k:])) / np.arange(1, highest + 1)
    return found


def _judged(curve: RestCurve, rays: Array, place: Array, energies: Array, degree: int, off: float) -> SoftEnergy | None:
    """Is the form of this degree the first one that is not zero to rounding, and is it positive?

    The place is known to ``off``, and to rounding.
    """
    sizes, random = np.abs(energies).max(axis=0), np.random.default_rng(7)
    if not np.isfinite(energies).all() or not sizes[degree] > 0:
        return None
    samples = _energies(curve, np.tile(rays, (SAMPLES, 1)), place, random).reshape(SAMPLES, *energies.shape)
    scatter = np.abs(samples - energies).max(axis=(0, 1))
    off += 1e-16 * float(np.abs(place).max(initial=0.0))
    doubt = [2 * sizes[degree] * comb(degree, j) * off ** (degree - j) for j in range(degree)]
    if np.any(sizes[:degree] > scatter[:degree] + doubt):
        return None
    off += scatter[degree - 1] / (degree * sizes[degree])
    noise = CLEAR * (scatter[degree] + (degree + 1) * sizes[degree + 1] * off)
    return None if sizes[degree] <= noise else _signed(curve, rays, energies[:, degree], place, degree, float(noise))


def _signed(curve: RestCurve, rays: Array, values: Array, place: Array, degree: int, noise: float) -> SoftEnergy:
    """Is the form with these values along rays positive, or is it negative along one of them?"""
    k, powers = rays.shape[1], _monomials(rays.shape[1], degree)
    net = _net(k, NET[k])
    everywhere = _powers(net, powers) @ lstsq(_powers(rays, powers), values)
    lowest = _energies(curve, net[[int(np.argmin(everywhere))]], place)[0, degree]
    if min(lowest, values.min()) < -noise:
        return SoftEnergy(k, degree, False)
    apart = degree * _spacing(k, NET[k])
    largest = float(np.abs(everywhere).max()) / (1 - apart)
    return SoftEnergy(k, degree, True if everywhere.min() - apart * largest > noise else None)


def _shift(energies: Array, rays: Array, degree: int) -> Array:
    """The displacement δ that makes the form of the next lower degree vanish best: V(s - δ) = V(s) - δ·∂V + …"""
    k, powers = rays.shape[1], _monomials(rays.shape[1], degree)
    if not np.isfinite(energies).all():
        return np.full(k, np.inf)
    form = lstsq(_powers(rays, powers), energies[:, degree])
    slopes = np.zeros((len(rays), k))
    for weight, power in zip(form, powers, strict=True):
        for i in range(k):
            lower = power - np.eye(k, dtype=int)[i]
            if power[i]:
                slopes[:, i] += weight * power[i] * np.prod(rays**lower, axis=1)
    return np.asarray(-lstsq(slopes, energies[:, degree - 1]), dtype=float) if slopes.any() else np.zeros(k)


def _moved(curve: RestCurve, direction: Array, size: float, place: Array) -> Array:
    """The point of the surface at a distance from the place."""
    k = len(direction)
    x = np.real(curve.along(direction[None, :], place, HIGHEST[k])[0][:-k])
    return np.asarray(x @ size ** np.arange(HIGHEST[k]), dtype=float)


def _monomials(k: int, degree: int) -> list[NDArray[np.intp]]:
    """Exponents of the monomials of a degree in k variables."""
    return [np.bincount(chosen, minlength=k) for chosen in combinations_with_replacement(range(k), degree)]


def _powers(points: Array, monomials: list[NDArray[np.intp]]) -> Array:
    return np.array([np.prod(points**power, axis=1) for power in monomials]).T


def _net(k: int, count: int) -> Array:
    """About so many points spread evenly over the circle, or over rings of the sphere, each in the middle of its part."""
    if k == 2:
        angle = 2 * np.pi * (np.arange(count) + 0.5) / count
        return np.array([np.cos(angle), np.sin(angle)]).T
    rings = round(np.pi / _width(count))
    points = []
    for ring in range(rings):
        middle, edges = np.pi * (ring + 0.5) / rings, np.pi * np.array([ring, ring + 1]) / rings
        widest = 1.0 if edges[0] <= np.pi / 2 <= edges[1] else float(np.sin(edges).max())
        parts = int(np.ceil(2 * rings * widest))
        angle = 2 * np.pi * (np.arange(parts) + 0.5) / parts
        points += [
            np.array([np.sin(middle) * np.cos(angle), np.sin(middle) * np.sin(angle), 0 * angle + np.cos(middle)])
        ]
    return np.concatenate(points, axis=1).T


def _width(count: int) -> float:
    """The side of the squares into which so many points divide the sphere."""
    return float(np.sqrt(4 * np.pi / count))


def _spacing(k: int, count: int) -> float:
    """So far any point of the circle or the sphere is from the net at the most: half a part, half a diagonal."""
    return float(np.pi / count if k == 2 else np.pi / round(np.pi / _width(count)) / np.sqrt(2))
