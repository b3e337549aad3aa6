"""The mechanisms in IDA (SUNDIALS, by scikit-sundae): unknowns q, v, a, λ, the constraints on the level of accelerations.

0 = q̇ - v, 0 = v̇ - a, 0 = M a - force - Gᵀλ, 0 = G a + bias: semi-explicit of index 1, which IDA is made for. (With v̇ in
place of a, multipliers are found from rates that carry the error of the step divided by it, and IDA is many times
slower.) The residual is compiled by Numba, so that what is measured is IDA rather than NumPy on short arrays; the
Jacobian is IDA's own, by differences.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from bench.constraints.mechanisms import MECHANISMS, accelerations, times
from bench.constraints.setting import Floats, system


def residual(name: str) -> Callable[..., Any]:
    """The residual of a mechanism as IDA calls it."""
    import numba

    mass, force, a, b = MECHANISMS[name].arrays()
    n, m = len(mass), len(b)

    @numba.njit
    def core(y: Floats, yp: Floats, out: Floats) -> None:
        q, v, acc, lam = y[:n], y[n : 2 * n], y[2 * n : 3 * n], y[3 * n :]
        for i in range(n):
            out[i] = yp[i] - v[i]
            out[n + i] = yp[n + i] - acc[i]
            total = -force[i]
            for j in range(n):
                total += mass[i, j] * acc[j]
            out[2 * n + i] = total
        for k in range(m):
            closing = 0.0
            for r in range(2):
                difference, speed = -b[k, r], 0.0
                for j in range(n):
                    difference += a[k, r, j] * q[j]
                    speed += a[k, r, j] * v[j]
                closing += 2.0 * speed * speed
                for j in range(n):
                    entry = 2.0 * difference * a[k, r, j]
                    closing += entry * acc[j]
                    out[2 * n + j] -= entry * lam[k]
            out[3 * n + k] = closing

    def function(t: float, y: Floats, yp: Floats, res: Floats) -> None:
        core(y, yp, res)

    return function


def solver(name: str) -> Callable[[float], Floats]:
    """tolerance → positions at the compared moments."""
    from sksundae.ida import IDA

    mechanism, state = MECHANISMS[name], np.array(system(name).initial_state())
    n = len(state) // 2
    acc, lam = accelerations(mechanism, state[:n], state[n:])
    start = np.concatenate([state, acc, lam])
    slope = np.concatenate([state[n:], acc, np.zeros(n + len(lam))])
    function, moments = residual(name), times()
    algebraic = list(range(2 * n, 3 * n + len(lam)))

    def solve(tolerance: float) -> Floats:
        ida = IDA(function, rtol=tolerance, atol=tolerance, algebraic_idx=algebraic, max_num_steps=1_000_000)
        return np.asarray(ida.solve(moments, start, slope).y[:, :n])

    return solve
