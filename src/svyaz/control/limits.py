"""What becomes of a start that does not satisfy the constraints: F is a first integral, and the motion tends elsewhere.

The limit is the position of rest of the closed loop on the surface F(q) = F(q(0)); it is found before anything is run.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from svyaz.control.design import Design
from svyaz.control.loop import ClosedLoop, closed_loop
from svyaz.stability import ConstraintNumbers

MOST_STEPS = 50


def shifted_limit(
    design: Design, state: Mapping[str, float], loop: ClosedLoop | None = None
) -> dict[str, float] | None:
    """Coordinates and further states to which the closed loop tends from this state; None if none was found.

    Newton's method on the rates of the loop, the estimates of an observer and limits of inputs among them, together
    with F(q) - F(q(0)).
    """
    system = design.model.system
    closed = loop or closed_loop(design)
    numbers = ConstraintNumbers(system, design.model.dependent)
    level = numbers.values(state)
    places = {name: k for k, name in enumerate(closed.states)}
    columns = [places[q] for q in system.coordinates]
    x = closed.at_rest.copy()
    for _ in range(MOST_STEPS):
        here = {q: float(x[places[q]]) for q in system.coordinates}
        rate, slope = closed.rates_at(x)
        jacobian = np.zeros((len(level), len(x)))
        jacobian[:, columns] = numbers.jacobian(here)
        rows = np.vstack([slope, jacobian])
        sides = np.concatenate([rate, numbers.values(here) - level])
        sizes = np.linalg.norm(rows, axis=1)
        good = sizes > 0
        step = np.linalg.lstsq(rows[good] / sizes[good, None], -sides[good] / sizes[good], rcond=1e-13)[0]
        x = x + step
        if not np.isfinite(x).all():
            return None
        if np.abs(step).max() <= 1e-12 * (1 + np.abs(x).max()):
            return {name: float(x[places[name]]) for name in (*system.coordinates, *system.rates)}
    return None
