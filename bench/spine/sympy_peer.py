"""The peer: LagrangesMethod, lambdify(cse=True), numpy.linalg.solve, and the steps of rk4 written in NumPy.

What needs the derived equations is measured in the process that derived them, since that is what takes long.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from bench.spine import pendulum
from bench.spine.pendulum import Floats
from bench.tools.jobs import Answer, Job, answer, clock

MODULE = "bench.spine.sympy_peer"
STEP = 1e-3
EVALUATIONS = 2000


def derivation_job(links: int, quick: bool) -> Job:
    """LagrangesMethod alone: {derive}."""
    return Job(MODULE, ("derive", str(links)), 1 if quick else 2, 0.012 * links**3)


def whole_job(links: int, quick: bool) -> Job:
    """Everything: {derive, code, evaluation, rk4}; rk4 is the time of one step."""
    return Job(MODULE, ("whole", str(links), "1" if quick else "10"), 1 if quick else 3, 20.0)


def derive(links: str) -> Answer:
    pendulum.sympy_terms(*pendulum.sympy_lagrangian(2)[:2])
    lagrangian, angles, _ = pendulum.sympy_lagrangian(int(links))
    begin = clock()
    pendulum.sympy_terms(lagrangian, angles)
    return {"derive": clock() - begin}


def whole(links: str, until: str) -> Answer:
    pendulum.lambdified(*_derived(2))
    lagrangian, angles, parameters = pendulum.sympy_lagrangian(int(links))
    begin = clock()
    mass, forcing = pendulum.sympy_terms(lagrangian, angles)
    derived = clock()
    function = pendulum.lambdified(mass, forcing, angles, parameters)
    written = clock()
    values = pendulum.parameter_values(int(links))

    def accelerations(state: Floats) -> Floats:
        mass_matrix, right = function(state, values)
        return np.linalg.solve(mass_matrix, right)[:, 0]

    steps = round(float(until) / STEP)
    return {
        "derive": derived - begin,
        "code": written - derived,
        "evaluation": _seconds_of_evaluation(accelerations, int(links)),
        "rk4": _seconds_of_step(accelerations, pendulum.initial_state(int(links)), steps),
    }


def _derived(links: int) -> tuple[object, object, list[object], list[object]]:
    lagrangian, angles, parameters = pendulum.sympy_lagrangian(links)
    return (*pendulum.sympy_terms(lagrangian, angles), angles, parameters)


def _seconds_of_evaluation(accelerations: Callable[[Floats], Floats], links: int) -> float:
    states = pendulum.random_states(links, EVALUATIONS)[:, 1:]
    accelerations(states[0])
    begin = clock()
    for state in states:
        accelerations(state)
    return (clock() - begin) / EVALUATIONS


def _seconds_of_step(accelerations: Callable[[Floats], Floats], state: Floats, steps: int) -> float:
    """rk4 with arrays of NumPy, every state stored."""
    half = len(state) // 2

    def rates(y: Floats) -> Floats:
        return np.concatenate([y[half:], accelerations(y)])

    stored = np.empty((steps + 1, len(state)))
    stored[0] = state
    begin = clock()
    for i in range(steps):
        k1 = rates(state)
        k2 = rates(state + STEP / 2 * k1)
        k3 = rates(state + STEP / 2 * k2)
        k4 = rates(state + STEP * k3)
        state = state + STEP / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        stored[i + 1] = state
    return (clock() - begin) / steps


if __name__ == "__main__":
    answer({"derive": derive, "whole": whole})
