"""The force that is left in the one direction in which the first approximation has none.

Along the null vector of A, s its length, the other coordinates are placed so that all forces balance but one:

    forces = σ(s) e,     F(q) = 0,     ẇ = σ(s) e_w,       σ(s) = σ_p s^p + …

With one zero root and all others to the left, the motion on the centre manifold is ẋ = g x^p + …, g = σ_p (l·e)/(l·r), l and r
the null vectors: what the other variables owe to their motion is of higher order (Lyapunov 1892; Malkin 1952, §93). Of
conservative forces ∫σ ds is the potential energy in the direction that its second differential leaves undecided.

A multiple equilibrium is known only roughly; where the first p powers vanish together the (p - 1)-th derivative of σ has a
simple zero, which is found as exactly as any. That the lower powers vanish is true to rounding only, and told so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.polynomial import Polynomial

from svyaz.arrays import Array
from svyaz.matrices import balance, svd
from svyaz.stability.linearisation import FirstApproximation
from svyaz.stability.rest import multiplier_symbols
from svyaz.stability.rest_curves import CLEAR, EXACT, SAMPLES, RestCurve, in_order
from svyaz.stability.series import Coefficients
from svyaz.stability.spectrum import NEGLIGIBLE
from svyaz.stability.tree_tables import equilibrium_tables

HIGHEST = 8
"""Powers of the reduced force are looked at up to this one."""


@dataclass(frozen=True)
class ReducedForce:
    """σ(s) = ``coefficient`` s^``power`` + …; the power is 0 where none up to the highest is known not to vanish.

    ``vanishes``: do all that were looked at vanish to rounding? ``rate`` is g of ẋ = g x^p, without a value where zero is a
    double root. ``lever`` is e·r: the potential energy along the curve is -σ_p·lever s^(p+1)/(p+1). ``state`` and
    ``multipliers`` are those of the equilibrium, as exactly as they are known now.
    """

    power: int
    coefficient: float
    rate: float | None
    lever: float
    state: Mapping[str, float]
    multipliers: Mapping[str, float]
    vanishes: bool = False
    scatter: float = 0.0


@dataclass(frozen=True)
class _Critical:
    """The null vectors of A: r = (k, 0, w) and l, with the force e that stands against it in full coordinates."""

    right: Array
    left: Array
    displacement: Array
    push: Array
    further: Array


def reduced_force(approximation: FirstApproximation, reach: float = EXACT) -> ReducedForce | None:
    """The reduced force at an equilibrium that is known to ``reach``; none unless A has one null vector."""
    critical = _critical(approximation)
    if critical is None:
        return None
    curve = _Curve(approximation, critical)
    base = curve.start
    first = _looked_at(curve, base, 0)
    if first is None or first.vanishes:
        return first
    for power in range(2, HIGHEST):
        place, off = base, 0.0
        for _ in range(3):
            x = curve.series(place, HIGHEST + 1)
            shift = _near_zero(Polynomial(x[-1]).deriv(power - 1), reach)
            if shift is None:
                break
            place, off = np.array([Polynomial(row)(shift) for row in x[:-1]]), abs(shift)
        else:
            found = _looked_at(curve, place, power, off)
            if found is not None:
                return found
    return first


def _near_zero(function: Polynomial, reach: float) -> float | None:
    """The zero of a polynomial to which Newton's method leads from 0, if it is within reach."""
    at, slope = 0.0, function.deriv()
    for _ in range(40):
        steep = slope(at)
        if not np.isfinite(steep) or steep == 0:
            return 0.0 if function(at) == 0 and at == 0 else None
        step = -function(at) / steep
        at += step
        if not abs(at) <= reach:
            return None
        if abs(step) <= 1e-16 * abs(at):
            break
    return float(at)


def _looked_at(curve: _Curve, place: Array, power: int, off: float = 0.0) -> ReducedForce | None:
    """σ there, if all powers below this one vanish to rounding and this one does not; with power 0, whether all vanish.

    The place itself is known to ``off``, along s, and to rounding.
    """
    x = curve.series(place, HIGHEST + 1)
    if not np.isfinite(x).all():
        return None
    random = np.random.default_rng(7)
    samples = np.array(curve.along(np.ones((SAMPLES, 1)), place, HIGHEST + 1, random))[:, -1]
    scatter = np.abs(samples - x[-1]).max(axis=0)
    off += 1e-16 * float(np.abs(place).max(initial=0.0))
    doubt = [
        2 * abs(x[-1, power]) * comb(power, j) * off ** (power - j) if j < power else 0.0 for j in range(HIGHEST + 1)
    ]
    small = np.abs(x[-1]) <= scatter + np.array(doubt)
    if power and not (small[:power].all() and _is_clear(x[-1], scatter, power, off)):
        return None
    return curve.reduced(x, power, bool(small.all()), float(np.abs(x[-1, :power]).max(initial=0.0)))


def _is_clear(force: Array, scatter: Array, power: int, off: float) -> bool:
    """Is this coefficient certainly not zero, also where the place is as far off as the lower ones scatter?"""
    size = abs(force[power])
    if not size > 0:
        return False
    off += scatter[power - 1] / (power * size)
    return bool(size > CLEAR * (scatter[power] + (power + 1) * abs(force[power + 1]) * off))


def _critical(approximation: FirstApproximation) -> _Critical | None:
    """The null vectors where there is one of each."""
    a, n = approximation.A, len(approximation.independent)
    balanced, scale = balance(a)
    u, values, vt = svd(balanced)
    if int(np.count_nonzero(values < NEGLIGIBLE * max(float(values[0]), 1e-300))) != 1:
        return None
    right, left = vt[-1] * scale, u[:, -1] / scale
    moving = np.concatenate([right[:n], right[2 * n :]])
    right = right / np.linalg.norm(moving)
    pushed = np.concatenate([left[n : 2 * n], left[2 * n :]])
    left = left / np.linalg.norm(pushed)
    full = in_order(approximation, np.vstack([np.eye(n), approximation.slope]))
    known = {**approximation.system.constants, **approximation.inputs, **approximation.state}
    inertia = equilibrium_tables(approximation.system, known).inertia
    return _Critical(right, left, full @ right[:n], inertia @ full @ left[n : 2 * n], left[2 * n :])


class _Curve(RestCurve):
    """q(s), λ(s), w(s), σ(s): the equations of rest but for one force, and s measured along the null vector."""

    def __init__(self, approximation: FirstApproximation, critical: _Critical) -> None:
        self.critical = critical
        m = len(approximation.system.constraints)
        moved = critical.right[2 * len(approximation.independent) :]
        across = np.concatenate([critical.displacement, np.zeros(m), moved])
        against = np.concatenate([critical.push, np.zeros(m), -critical.further])
        super().__init__(approximation, (across / (across @ across))[None, :], against[:, None])

    def series(self, base: Array, length: int) -> Coefficients:
        """(q, λ, w, σ) as series in s about the base."""
        return self.along(np.ones((1, 1)), base, length)[0]

    def reduced(self, x: Coefficients, power: int, vanishes: bool, scatter: float) -> ReducedForce:
        """The answer for the base from which x(s) starts."""
        critical, n = self.critical, len(self.approximation.independent)
        coefficient = float(x[-1, power]) if power else 0.0
        meeting = float(critical.left @ critical.right)
        size = float(np.linalg.norm(critical.left) * np.linalg.norm(critical.right))
        rate = coefficient / meeting if abs(meeting) > 1e-6 * size else None
        named = dict(zip(self.program.inputs, map(float, x[:-1, 0]), strict=True))
        system = self.approximation.system
        pushes = zip(system.constraints, multiplier_symbols(system), strict=True)
        return ReducedForce(
            power,
            coefficient,
            rate,
            float(critical.left[n : 2 * n] @ self.approximation.inertia @ critical.right[:n]),
            {name: named[name] for name in (*system.coordinates, *system.rates)},
            {c.name: named[str(s)] for c, s in pushes},
            vanishes,
            scatter,
        )
