"""One million Euler steps of the sleigh with gains: the native loop against the same algorithm in NumPy.

The NumPy side is what its users write: M, forces and G as arrays, the augmented system put together and solved by
numpy.linalg.solve in each step; both sides keep every thousandth state. A second NumPy loop is reported without a bar:
arrays made once and filled entry by entry, functions of the math module, as one writes who has measured it before. Both
are timed on fewer steps, the cost of a step being the same throughout.
"""

from __future__ import annotations

import math

import numpy as np
from bench.constraints.setting import Floats, segment
from bench.tools.jobs import Answer, Job, Samples, answer, clock, series
from bench.tools.rows import Row, faster

MODULE = "bench.constraints.million"
STEPS, STEP, KAPPA = 1_000_000, 6e-6, 10.0
PEER_STEPS, EVERY = 20_000, 1000
M, A, J, G, INCLINE = 1.0, 1.0, 1.0, 9.8, math.pi / 6
START = (0.0, 1.0, math.pi / 3, 0.0, 0.0, 1.0)


def ours(quick: bool) -> Job:
    return Job(MODULE, ("native", str(STEPS)), 2 if quick else 7, 1.5)


def peer(quick: bool) -> Job:
    return Job(MODULE, ("numpy", str(PEER_STEPS)), 1 if quick else 3, 2.0)


def jobs(quick: bool) -> list[Job]:
    return [ours(quick), peer(quick)]


def rows(samples: Samples, quick: bool) -> list[Row]:
    own = series(samples, ours(quick), "seconds")
    plain, tight = ([STEPS * s for s in series(samples, peer(quick), key)] for key in ("plain", "tight"))
    distance = max(series(samples, peer(quick), "distance"), default=math.nan)
    note = f"both end at the same place to {distance:.1e}"
    return [
        faster("a million Euler steps of the sleigh", own, plain, "NumPy, linalg.solve a step", 300, note=note),
        faster("a million Euler steps of the sleigh", own, tight, "NumPy, arrays filled in place", None),
    ]


def native_job(steps: str) -> Answer:
    from svyaz.integrate import solve

    code, state = segment("sleigh", KAPPA, method="euler", step=STEP)
    solve(code.rates, state, (0.0, STEP), method="euler", step=STEP)
    begin = clock()
    solve(code.rates, state, (0.0, STEP * int(steps)), method="euler", step=STEP, every=EVERY)
    return {"seconds": clock() - begin}


def numpy_job(steps: str) -> Answer:
    from svyaz.integrate import solve

    count = int(steps)
    begin = clock()
    rows = plain(count)
    middle = clock()
    tight(count)
    end = clock()
    code, state = segment("sleigh", KAPPA, method="euler", step=STEP)
    path = solve(code.rates, state, (0.0, STEP * count), method="euler", step=STEP)
    distance = float(np.abs(rows[-1] - path.states[-1]).max())
    return {"plain": (middle - begin) / count, "tight": (end - middle) / count, "distance": distance}


def accelerations(q: Floats, v: Floats) -> Floats:
    """q̈ from [M -Gᵀ; G 0](q̈, λ) = (-bias, -constraint_bias - κf)."""
    s, c = np.sin(q[2]), np.cos(q[2])
    mass = np.array([[M, 0.0, -M * A * s], [0.0, M, M * A * c], [-M * A * s, M * A * c, J]])
    force = np.array([M * A * v[2] ** 2 * c + M * G * np.sin(INCLINE), M * A * v[2] ** 2 * s, 0.0])
    row = np.array([-s, c, 0.0])
    matrix = np.zeros((4, 4))
    matrix[:3, :3], matrix[:3, 3], matrix[3, :3] = mass, -row, row
    side = np.zeros(4)
    side[:3], side[3] = force, v[2] * (c * v[0] + s * v[1]) - KAPPA * (c * v[1] - s * v[0])
    return np.linalg.solve(matrix, side)[:3]


def plain(steps: int) -> Floats:
    """Euler's method over arrays q and v."""
    q, v = np.array(START[:3]), np.array(START[3:])
    rows = []
    for i in range(steps):
        q, v = q + STEP * v, v + STEP * accelerations(q, v)
        if (i + 1) % EVERY == 0:
            rows.append(np.concatenate([q, v]))
    return np.array(rows)


def tight(steps: int) -> Floats:
    """The same with arrays made once and numbers of Python in between."""
    y, rates, rows = np.array(START), np.empty(6), []
    matrix, side = np.zeros((4, 4)), np.zeros(4)
    matrix[0, 0] = matrix[1, 1] = M
    matrix[2, 2] = J
    weight = M * G * math.sin(INCLINE)
    for i in range(steps):
        phi, dx, dy, dphi = y[2], y[3], y[4], y[5]
        s, c = math.sin(phi), math.cos(phi)
        matrix[0, 2] = matrix[2, 0] = -M * A * s
        matrix[1, 2] = matrix[2, 1] = M * A * c
        matrix[0, 3], matrix[1, 3], matrix[3, 0], matrix[3, 1] = s, -c, -s, c
        side[0], side[1] = M * A * dphi * dphi * c + weight, M * A * dphi * dphi * s
        side[3] = dphi * (c * dx + s * dy) - KAPPA * (c * dy - s * dx)
        rates[:3] = y[3:]
        rates[3:] = np.linalg.solve(matrix, side)[:3]
        y = y + STEP * rates
        if (i + 1) % EVERY == 0:
            rows.append(y)
    return np.array(rows)


if __name__ == "__main__":
    answer({"native": native_job, "numpy": numpy_job})
