"""The own scale of each state along a motion, by which errors are measured.

It is the largest size of the state itself. A coordinate or velocity that stays at zero (by a symmetry, say) has no size of
its own and takes a small part of the typical one: with E = Σ M_jj q_j² that of q_i is √(E / M_ii), which has the unit of
q_i and does not see the units of the others.
"""

from __future__ import annotations

import numpy as np

from svyaz.arrays import Array
from svyaz.constraints import measure_of, typical_sizes
from svyaz.forms import Equations

LEAST_PART = 1e-3
"""The least scale of a state, as a part of its typical size."""

SAMPLED = 5
"""States along a motion at which the masses are looked at."""


NO_SIZE = 1e-9
"""A state below this part of the largest one is zero up to rounding, as far as one can tell without the masses."""


def scaled_difference(a: Array, b: Array) -> float:
    """max over rows and states of |a - b| over the largest size of the state in ``a``; states of no size do not count."""
    sizes = np.max(np.abs(a), axis=0, initial=0.0)
    moving = sizes > NO_SIZE * np.max(sizes, initial=0.0)
    difference = np.max(np.abs(a - b), axis=0, initial=0.0)
    return float(np.max(difference[moving] / sizes[moving], initial=0.0))


def state_sizes(equations: Equations, times: Array, states: Array) -> Array:
    """One scale a state, (n,); zero only where neither the state nor its like move at all."""
    sizes: Array = np.max(np.abs(states), axis=0, initial=0.0)
    if not equations.accelerated:
        return sizes
    names = list(equations.states)
    places = [names.index(q) for q in equations.accelerated]
    speeds = [names.index(str(v)) for v in equations.velocities]
    few = np.unique(np.linspace(0, len(times) - 1, SAMPLED).astype(int))
    here = measure_of(equations).along(times[few], states[few])
    good = np.isfinite(here.mass).all(axis=(1, 2))
    for columns, values in ((places, here.q), (speeds, here.v)):
        floor = LEAST_PART * typical_sizes(here.mass[good], values[good])
        sizes[columns] = np.maximum(sizes[columns], floor.max(axis=0, initial=0.0))
    return sizes
