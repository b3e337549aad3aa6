"""One step of a Runge–Kutta method, in native code, of one lane or of several.

``x`` is [t, y…] at the start of a step, ``y`` the same at its end, ``z`` the argument of a stage, ``k`` the slopes, a row of n
entries a stage. The stages of an explicit method are made here; an implicit method brings a native function that makes a whole
step (see `svyaz.integrate.implicit`), which finds the length of the step in front of its constants.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.integrate.calls import LENGTH, Address, Callee, call, entry, every_lane, failures, fused, lanes, tail
from svyaz.integrate.compiling import piece
from svyaz.integrate.tableau import Tableau


class Scheme(NamedTuple):
    """Rows of a tableau without their zeros: entries first[i] … first[i + 1] of column and weight make row i.

    Row i < s is the argument of stage i, row s the result of the step; then come the stages for dense output and last
    the estimates of the error. `node` (s + 1 + e,) are the times of the stages in the step.
    """

    first: NDArray[np.int64]
    column: NDArray[np.int64]
    weight: Array
    node: Array
    stages: int


@lru_cache(maxsize=64)
def scheme(tableau: Tableau) -> Scheme:
    """The tableau as the loops take it."""
    rows = [*tableau.a, tableau.b]
    nodes = [*tableau.c, 1.0]
    if tableau.extra_a is not None and tableau.extra_c is not None:
        rows += list(tableau.extra_a)
        nodes += list(tableau.extra_c)
    rows += list(tableau.errors)
    filled = [np.flatnonzero(row) for row in rows]
    return Scheme(
        first=np.concatenate(([0], np.cumsum([len(places) for places in filled]))).astype(np.int64),
        column=np.concatenate(filled).astype(np.int64),
        weight=np.concatenate([row[places] for row, places in zip(rows, filled, strict=True)]),
        node=np.array(nodes),
        stages=tableau.stages,
    )


class Stages(NamedTuple):
    """What a step needs: the address of the rates and their constants, the scheme, slopes (rows · n,), and room for the
    argument [t, y…] of a stage; ``implicit`` is the function of an implicit step, at address 0 for an explicit method.
    """

    rates: Address
    constants: Array
    rule: Scheme
    slopes: Array
    z: Array
    implicit: Callee


@piece
def add(column: NDArray[np.int64], weight: Array, begin: int, end: int, k: Array, h: float, x: Array, y: Array) -> None:
    """y = x + h Σ weightₑ k[columnₑ] over the entries begin … end, at least one; four, two and one states at a time."""
    n, w0 = x.size - 1, weight[begin]
    first = n * column[begin]
    m = 0
    while m + 4 <= n:
        s0, s1 = w0 * entry(k, first + m), w0 * entry(k, first + m + 1)
        s2, s3 = w0 * entry(k, first + m + 2), w0 * entry(k, first + m + 3)
        for e in range(begin + 1, end):
            w, at = entry(weight, e), n * entry(column, e) + m
            s0, s1 = fused(w, entry(k, at), s0), fused(w, entry(k, at + 1), s1)
            s2, s3 = fused(w, entry(k, at + 2), s2), fused(w, entry(k, at + 3), s3)
        y[m + 1], y[m + 2] = fused(h, s0, entry(x, m + 1)), fused(h, s1, entry(x, m + 2))
        y[m + 3], y[m + 4] = fused(h, s2, entry(x, m + 3)), fused(h, s3, entry(x, m + 4))
        m += 4
    if m + 2 <= n:
        s0, s1 = w0 * entry(k, first + m), w0 * entry(k, first + m + 1)
        for e in range(begin + 1, end):
            w, at = entry(weight, e), n * entry(column, e) + m
            s0, s1 = fused(w, entry(k, at), s0), fused(w, entry(k, at + 1), s1)
        y[m + 1], y[m + 2] = fused(h, s0, entry(x, m + 1)), fused(h, s1, entry(x, m + 2))
        m += 2
    if m < n:
        s0 = w0 * entry(k, first + m)
        for e in range(begin + 1, end):
            s0 = fused(entry(weight, e), entry(k, n * entry(column, e) + m), s0)
        y[m + 1] = fused(h, s0, entry(x, m + 1))


@piece
def combine(at: Stages, row: int, h: float, x: Array, y: Array) -> None:
    """y = x + h Σ aᵢⱼ kⱼ for a row i of the scheme."""
    rule = at.rule
    add(rule.column, rule.weight, rule.first[row], rule.first[row + 1], at.slopes, h, x, y)


@piece
def move(k: Array, h: float, x: Array, y: Array) -> None:
    """y = x + h k."""
    for m in range(x.size - 1):
        y[m + 1] = fused(h, k[m], x[m + 1])


@piece
def slopes_of(at: Stages, begin: int, end: int, h: float, x: Array) -> int:
    """Slopes begin … end - 1 of a step from x; the answer is the status of the rates, a bit for each of several lanes."""
    status, n = 0, x.size - 1
    i = begin
    while i < end and failures(status, x) != every_lane(x):
        combine(at, i, h, x, at.z)
        at.z[0] = fused(at.rule.node[i], h, x[0])
        status |= call(at.rates, at.z, at.constants, tail(at.slopes, n * i))
        i += 1
    return status


@piece
def solved(at: Stages, steps: Array, x: Array, y: Array) -> int:
    """One step of an implicit method, of one lane, from x to y, its slopes left in k; the answer is its status."""
    at.implicit.constants[LENGTH] = lanes(steps)[0, 0]
    return call(at.implicit.address, x, at.implicit.constants, y)


@piece
def step(at: Stages, steps: Array, x: Array, y: Array) -> int:
    """One step of length ``steps`` (1,) from x to y; the answer is the status of the rates, or that of an implicit step."""
    if at.implicit.address != 0:
        return solved(at, steps, x, y)
    h = steps[0]
    status = call(at.rates, x, at.constants, at.slopes)
    if at.rule.stages == 1:  # Euler's method
        move(at.slopes, h, x, y)
        return status
    if failures(status, x) != every_lane(x):
        status |= slopes_of(at, 1, at.rule.stages, h, x)
    combine(at, at.rule.stages, h, x, y)
    return status
