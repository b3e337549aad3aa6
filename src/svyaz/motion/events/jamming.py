"""Painlevé's paradox: friction that presses bodies together as much as their inertia lets them part."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from svyaz.arrays import Array
from svyaz.motion.events.sides import Sides
from svyaz.program import Function, Table, function, once_for_each

JAMMED = 1e-9
"""det G M⁻¹ Rᵀ as a part of that for ideal reactions is positive above this."""


@once_for_each
def _inertias(sides: Sides) -> Function:
    """M, G, R without friction and R, with sides and signs of multipliers among the constants."""
    equations = sides.equations
    tables: dict[str, Table] = {
        "mass": equations.mass_matrix,
        "jacobian": equations.constraint_jacobian,
        "smooth": equations.smooth_reactions,
        "reactions": equations.reactions,
    }
    return function(tables, ("t", *equations.states), sides.named(np.zeros(len(sides.names))))


def paradox(known: Sides, time: float, state: Array, sides: Array, sliding: Collection[int]) -> str:
    """In words: Painlevé's paradox, where friction presses bodies together as much as their inertia lets them part.

    Beside that for reactions without friction, det G M⁻¹ Rᵀ has another sign, or vanishes: accelerations with a reaction
    do not exist, or are not the only ones.
    """
    slipping = [k for k in known.pulls if k not in sliding and sides[k] != 0.0]
    if not slipping:
        return ""
    own = sides.copy()
    own[list(sliding)] = 0.0
    here = _inertias(known).with_values(known.named(own))(np.concatenate([[time], state]))
    m = len(here["jacobian"])
    signs = []
    for rows in (here["smooth"], here["reactions"]):
        matrix = np.block([[here["mass"], rows.T], [here["jacobian"], np.zeros((m, m))]])
        scale = np.sqrt(np.maximum(np.abs(matrix).max(axis=1), np.finfo(float).tiny))
        signs.append(float(np.linalg.det(matrix / np.outer(scale, scale))))
    if not np.isfinite(signs).all() or signs[1] / (signs[0] or 1.0) > JAMMED:
        return ""
    names = dict.fromkeys(known.equations.deviations[known.pulls[k].number].name for k in slipping)
    told = " and ".join(f"'{name}'" for name in names)
    return (
        f"Painlevé's paradox at t = {time:.9g}: with the friction of {told} bodies that slip this way would be pressed "
        "together by what should part them (det G M⁻¹ Rᵀ is not positive), so that rigid bodies have no motion with this "
        "reaction, or several; a smaller coefficient of friction, or an elastic contact, avoids it"
    )
