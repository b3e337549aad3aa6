"""The first step of Radau's method, in native code."""

from __future__ import annotations

import numpy as np

from svyaz.arrays import Array
from svyaz.integrate.adaptive import ERROR, STEP, Control
from svyaz.integrate.calls import (
    EVALUATIONS,
    RUNNING,
    SINGULAR,
    STATUS,
    Address,
    Callee,
    Counters,
    bounded,
    call,
    copy,
    place,
    read,
    write,
)
from svyaz.integrate.compiling import compiled, part, piece


@part
def square_sum(v: Address, a: Address, b: Address, atol: Address, rtol: float, n: int) -> float:
    """Σ (vᵢ / (atolᵢ + rtol max(|aᵢ|, |bᵢ|)))² over the states of three [t, y…]."""
    total = 0.0
    for m in range(1, n + 1):
        scale = read(atol, m - 1) + rtol * max(abs(read(a, m)), abs(read(b, m)))
        ratio = read(v, m) / scale
        total += ratio * ratio
    return total


@compiled
def first_step(
    f: Callee, control: Control, order: float, work: Array, slopes: Array, clock: Array, count: Counters
) -> int:
    """Slope at the start and a first step."""
    return begun(f.address, place(f.constants), control, order, work, slopes, clock, count)


@piece
def begun(
    f: Address, c: Address, control: Control, order: float, work: Array, slopes: Array, clock: Array, count: Counters
) -> int:
    """Slope at the start and a first step from the size of y, y' and y'' (Hairer, Nørsett, Wanner II.4)."""
    n = work.shape[1] - 1
    x, k, atol = place(work), place(slopes), place(control.atol)
    y, z = x + 8 * (n + 1), x + 16 * (n + 1)
    status = call(f, x, c, k)
    count[EVALUATIONS] += 2
    if status != 0:
        count[STATUS] = status
        return SINGULAR
    copy(k, z + 8, n)
    d0 = np.sqrt(square_sum(x, x, x, atol, control.rtol, n) / n)
    d1 = np.sqrt(square_sum(z, x, x, atol, control.rtol, n) / n)
    span = control.t1 - read(x, 0)
    h = min(span, 1e-6 if d0 < 1e-5 or not d1 >= 1e-5 else 0.01 * d0 / d1)
    for m in range(n):
        write(y, m + 1, read(x, m + 1) + h * read(k, m))
    write(y, 0, read(x, 0) + h)
    clock[STEP], clock[ERROR] = h, 1e-4
    if not bounded(y, n) or call(f, y, c, k + 8 * n) != 0:
        return RUNNING  # the trial went too far: begin with the cautious step
    for m in range(n):
        write(z, m + 1, (read(k + 8 * n, m) - read(k, m)) / h)
    d2 = np.sqrt(square_sum(z, x, x, atol, control.rtol, n) / n)
    largest = max(d1, d2)
    if np.isfinite(largest):
        better = max(1e-6, h * 1e-3) if largest <= 1e-15 else (0.01 / largest) ** (1.0 / order)
        clock[STEP] = min(100 * h, better, span)
    return RUNNING
