"""Trees of bodies whose cyclic coordinates are ignored, at given speeds or momenta: nothing of them is written out.

The same system as that of ``routhian``, with numbers by recursions in place of a Lagrangian. With γ cyclic, x all others,
M(x) the inertia matrix, P the coordinates γ that are described by momenta and S those that turn at given speeds,

    p_P = M_Px ẋ + M_PP γ̇_P + M_PS γ̇_S,     W(x) = Π + ½ p_Pᵀ M_PP⁻¹ p_P      where S is empty, ṗ = Q_γ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from svyaz.expr import ZERO
from svyaz.forms.cyclic import Cyclic
from svyaz.forms.routhian import momentum_of, pushes_of, without_coordinates
from svyaz.forms.tree.numeric import NumericTree
from svyaz.forms.turning_law import TurningBodies
from svyaz.model import System, tree_of


def turning_system(system: System, by_momentum: Sequence[Cyclic], by_speed: Sequence[Cyclic]) -> System:
    """The tree in its other coordinates; momenta and speeds are parameters of it, or further states where forces act.

    Where some coordinates are given by their speeds, only its equations of rest mean something.
    """
    start, pushes = _initial_momenta(system), pushes_of(system)
    named = {**{momentum_of(c.name): c for c in by_momentum}, **{f"{c.name}'": c for c in by_speed}}
    values = {
        name: start[c.name] if c in by_momentum else float(system.initial.get(name, 0.0)) for name, c in named.items()
    }
    forced = {name: pushes[c.name] for name, c in named.items() if not c.conserved}
    free = {name: values[name] for name, c in named.items() if c.conserved}
    found = without_coordinates(system, [c.name for c in named.values()], ZERO, pushes, forced, free)
    first, second = (tuple(c.name for c in group) for group in (by_momentum, by_speed))
    initial = {**found.initial, **{name: values[name] for name in forced}}
    return replace(found, law=TurningBodies(system, first, second, ZERO), initial=initial)


def _initial_momenta(system: System) -> dict[str, float]:
    """M q̇ at the initial state, by coordinate."""
    n, state = len(system.coordinates), np.array(system.initial_state())
    found = NumericTree(tree_of(system), system.parameters).mass_matrix(state[:n]) @ state[n : 2 * n]
    return dict(zip(system.coordinates, found.tolist(), strict=True))
