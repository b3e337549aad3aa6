"""Stabilising functions that are not linear in the deviation h = q̇ - v(q): have they a Rayleigh function, and do they attract?

With Φ(q, q̇) = d(q, q̇) h, or ∂D/∂q̇, and V = ½ |h|²

    V̇ = -h·Φ - hᵀ (∂v/∂q) h,

so that |h| falls at the rate (h·Φ + hᵀ (∂v/∂q) h) / |h|². Near the field the linear part of Φ decides; how far that goes is
looked at along the motion from the initial state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import symengine as se

from svyaz.constraints import flattened, potential, vanishes
from svyaz.expr import ZERO, Expression, add_up, gradient, substitute, velocity
from svyaz.model import Attracting, System
from svyaz.motion import simulate
from svyaz.program import function

SMALL = 1e-6
"""Below this part of its first size a deviation is at the error of the motion."""


@dataclass(frozen=True)
class FieldApproach:
    """How |h| falls along the motion from the initial state, up to the time ``until``: first and last size, least rate."""

    until: float
    first: float
    last: float
    rate: float
    ended: str

    @property
    def fails(self) -> bool:
        """Does the deviation not get smaller, or the motion not come to its end?"""
        return bool(self.ended) or not self.last < self.first

    @property
    def text(self) -> str:
        """What was seen, in words."""
        how = (
            f"from the initial state the deviation goes from {self.first:.6g} to {self.last:.6g} at t = {self.until:g}"
        )
        if self.ended:
            return f"{how}, where the motion ends: {self.ended}"
        return f"{how}, its rate of decay is not below {self.rate:.6g} on the way"


def rayleigh_function(law: Attracting) -> Expression | None:
    """D with ∂D/∂q̇ = Φ and D = 0 on the field; None where there is none, or it was not found."""
    if law.stated:
        return law.dissipation
    h = {se.Symbol(f"deviation of {q}"): e for q, e in zip(law.field, law.deviation, strict=True)}
    found = potential([flattened(e) for e in _by_deviation(law)], list(h))
    return None if found is None else substitute(found - substitute(found, dict.fromkeys(h, ZERO)), h)


def _by_deviation(law: Attracting) -> list[Expression]:
    """Φ in terms of q and h."""
    put = {velocity(q): v + se.Symbol(f"deviation of {q}") for q, v in law.field.items()}
    return [substitute(e, put) for e in law.against]


def symmetric_slopes(law: Attracting) -> bool:
    """Is ∂Φ/∂q̇ symmetric, so that there is a Rayleigh function?"""
    slopes = [gradient(e, [velocity(q) for q in law.field]) for e in law.against]
    n = len(slopes)
    return all(vanishes(slopes[i][j] - slopes[j][i]) for i in range(n) for j in range(i))


def approach(system: System, slopes: Sequence[Sequence[Expression]], until: float) -> FieldApproach | None:
    """The motion from the initial state; None where it starts on the field. ``slopes`` are ∂v/∂q."""
    assert isinstance(system.law, Attracting), "only systems with a velocity field come here"
    h, against = system.law.deviation, system.law.against
    carried = [add_up(s * e for s, e in zip(row, h, strict=True)) for row in slopes]
    rate = add_up([ZERO, *(e * (push + own) for e, push, own in zip(h, against, carried, strict=True))])
    of = function({"h": h, "fall": rate}, ("t", *system.states), system.constants)
    start = np.array([0.0, *system.initial_state()])
    if not np.abs(of(start)["h"]).max() > 0.0:
        return None
    motion = simulate(system, method="dop853", rtol=1e-9, until=until)
    found = of(np.column_stack([motion.times, motion.states]))
    sizes = np.linalg.norm(found["h"], axis=1)
    seen = sizes > SMALL * sizes[0]
    least = float(np.min(found["fall"][seen] / sizes[seen] ** 2))
    ended = "" if motion.finished else motion.reason
    return FieldApproach(float(motion.times[-1]), float(sizes[0]), float(sizes[-1]), least, ended)
