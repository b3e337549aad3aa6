"""What becomes of a start that does not satisfy the constraints: F is a first integral, and the motion tends elsewhere.

The limit is the position of rest of the closed loop on the surface F(q) = F(q(0)); it is found before anything is run.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import symengine as se

from svyaz.control.design import Design
from svyaz.expr.calculus import evaluate, gradient
from svyaz.forms.shulgin import shulgin

MOST_STEPS = 50


def shifted_limit(design: Design, state: Mapping[str, float]) -> dict[str, float] | None:
    """Coordinates and further states to which the closed loop tends from this state, by Newton's method; None if none.

    With an observer the estimates tend to the same deviations only up to the shift; the regulator alone is considered.
    """
    model, system = design.model, design.model.system
    equations = shulgin(system, dependent=model.dependent or None)
    names = (*system.coordinates, *system.rates)
    still = dict.fromkeys(system.velocities, 0.0)
    level = [evaluate(c.expression, {**system.constants, **state}) for c in system.constraints]
    held = dict(zip(design.inputs, design.regulator.gain, strict=True))

    def inputs_at(values: Mapping[str, float]) -> dict[str, float]:
        deviation = np.array([values.get(x, 0.0) - model.state.get(x, 0.0) for x in model.variables])
        moved = {name: float(model.inputs[name] - row @ deviation) for name, row in held.items()}
        return {**model.inputs, **moved}

    rows = [*equations.bias, *(equations.explicit[name] for name in system.rates)]
    slopes = [gradient(e, [se.Symbol(n) for n in (*names, *design.inputs)]) for e in rows]
    bounds = [gradient(c.expression, [se.Symbol(n) for n in names]) for c in system.constraints]
    x = np.array([float(model.state.get(name, 0.0)) for name in names])
    by_name = np.zeros((len(design.inputs), len(names)))
    for i, row in enumerate(design.regulator.gain):
        for j, variable in enumerate(model.variables):
            if variable in names:
                by_name[i, names.index(variable)] = -row[j]
    for _ in range(MOST_STEPS):
        values = {**dict(zip(names, map(float, x), strict=True)), **still}
        known = {**system.constants, **values, **inputs_at(values), "t": 0.0}
        residual = [evaluate(e, known) for e in rows]
        residual += [evaluate(c.expression, known) - f for c, f in zip(system.constraints, level, strict=True)]
        full = np.array([[evaluate(e, known) for e in row] for row in slopes])
        top = full[:, : len(names)] + full[:, len(names) :] @ by_name
        below = np.array([[evaluate(e, known) for e in row] for row in bounds]).reshape(len(bounds), len(names))
        step = np.linalg.lstsq(np.vstack([top, below]), -np.array(residual), rcond=1e-13)[0]
        x = x + step
        if not np.isfinite(x).all():
            return None
        if np.abs(step).max() <= 1e-13 * (1 + np.abs(x).max()):
            return dict(zip(names, map(float, x), strict=True))
    return None
