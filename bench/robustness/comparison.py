"""Every form that fits a random system, at a state on its constraints, against the route by jets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from bench.robustness.jets import Array
from bench.robustness.systems import random_system

from svyaz.constraints import entered
from svyaz.expr import Expression, ModelError, evaluate
from svyaz.forms import Equations, form_names, observation
from svyaz.forms.programs import augmented_system
from svyaz.forms.reactions import full_accelerations
from svyaz.program import Linear, build, compile_program

TOLERANCE = 1e-8


def differences(seed: int, native: bool) -> dict[str, float]:
    """{form: largest relative difference of accelerations and multipliers}; forms that refuse the system are left out."""
    made = random_system(seed)
    accelerations, multipliers, _ = made.solution()
    expected = np.concatenate([accelerations, multipliers])
    system, found = made.model(), {}
    state = np.array([made.state[name] for name in system.states])
    for form in form_names():
        try:
            equations = system.derive(form)
        except ModelError:
            continue
        values = _values(equations, state, made.time, native)
        found[form] = float(np.abs(values - expected).max() / max(1.0, np.abs(expected).max()))
    return found


def _values(equations: Equations, state: Array, time: float, native: bool) -> Array:
    """q̈ of all coordinates, then λ of all constraints."""
    systems, tables = observation(equations, augmented_system(equations))
    told = {
        **full_accelerations(equations),
        **{f"λ {c.name}": tables["multipliers"][c.name] for c in equations.system.constraints},
    }
    inputs = ("t", *equations.states)
    x = np.concatenate([[time], entered(equations, state, time)])
    if not native:
        return _numbers(
            list(told.values()), systems, {**equations.system.constants, **dict(zip(inputs, x, strict=True))}
        )
    program = build(list(told.items()), inputs=inputs, parameters=equations.constants, systems=systems)
    code = compile_program(program)
    return np.asarray(code.evaluate(x, code.constants(equations.system.constants)))


def _numbers(outputs: Sequence[Expression], systems: Sequence[Linear], values: Mapping[str, float]) -> Array:
    """The outputs with no program in between: each linear system solved as it stands."""
    known = dict(values)
    for system in systems:
        matrix = np.array([[evaluate(e, known) for e in row] for row in system.matrix])
        for side, unknowns in zip(system.sides, system.unknowns, strict=True):
            found = np.linalg.solve(matrix, [evaluate(e, known) for e in side])
            known |= {str(symbol): float(value) for symbol, value in zip(unknowns, found, strict=True)}
    return np.array([evaluate(e, known) for e in outputs])
