"""A step of any implicit Runge–Kutta method, as a native function that the loops call by its address.

The slopes of the stages satisfy kᵢ = f(t₀ + cᵢ h, y₀ + h Σ aᵢⱼ kⱼ). With J = ∂f/∂y at the start of the step a simplified
Newton iteration solves (1 - h A ⊗ J) Δk = f(…) - k, until rounding is all that is left; then y₁ = y₀ + h Σ bᵢ kᵢ. The
slopes are the unknowns, not the stages, for then A may be singular and rounding is not magnified by a stiff f.

What the function needs stands in its constants: whole numbers at the front, then the tableau, room for the
iteration and the slopes. E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed. (1996), IV.8.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from svyaz.arrays import Array
from svyaz.integrate.calls import (
    EVALUATED,
    LENGTH,
    NO_CONVERGENCE,
    NO_FACTORS,
    Address,
    Callee,
    call,
    copy,
    matrix,
    numbers,
    place,
    read,
    whole,
)
from svyaz.integrate.compiling import Callback, callback, part, shared
from svyaz.integrate.factors import factorise, substitute
from svyaz.integrate.tableau import Tableau

# places in the constants, after LENGTH and EVALUATED: addresses and numbers
RATES, RATES_CONSTANTS, JACOBIAN, JACOBIAN_CONSTANTS, STATES, STAGES = range(2, 8)
HEAD = 8

PATIENCE = 50
"""So many iterations are made at most."""


class Located(NamedTuple):
    """A native function and its constants, both by their address."""

    address: Address
    constants: Address


class NewtonRoom(NamedTuple):
    """The tableau a (s, s), b (s,), c (s,) and room: J (n, n), 1 - h A ⊗ J and its pivots, changes of the slopes (s n,),
    the argument [t, y…] of a stage, the unit of each state (n,), the slopes (s, n).
    """

    a: Array
    b: Array
    c: Array
    jacobian: Array
    matrix: Array
    pivots: Array
    change: Array
    argument: Array
    scale: Array
    slopes: Array


@shared
def size_of_room(s: int, n: int) -> int:
    """Numbers in the constants before the slopes."""
    return HEAD + s * s + 2 * s + n * n + s * n * (s * n + 2) + 2 * n + 1


@part
def room_in(block: Address, s: int, n: int) -> NewtonRoom:
    """The parts of the constants."""
    m, a = s * n, block + 8 * HEAD
    j = a + 8 * (s * s + 2 * s)
    lu = j + 8 * n * n
    rest = lu + 8 * m * m
    return NewtonRoom(
        matrix(a, s, s),
        numbers(j - 16 * s, s),
        numbers(j - 8 * s, s),
        matrix(j, n, n),
        matrix(lu, m, m),
        numbers(rest, m),
        numbers(rest + 8 * m, m),
        numbers(rest + 16 * m, n + 1),
        numbers(rest + 8 * (2 * m + n + 1), n),
        matrix(rest + 8 * (2 * m + 2 * n + 1), s, n),
    )


def step_constants(tableau: Tableau, rates: Callee, jacobian: Callee, n: int, slopes: int) -> tuple[Array, Array]:
    """The constants of the step of a method for n states, and the part of them with room for `slopes` ≥ s n numbers."""
    s = tableau.stages
    size = size_of_room(s, n)
    constants = np.zeros(size + slopes)
    write_head(constants, rates, jacobian, n)
    constants.view(np.int64)[STAGES] = s
    constants[HEAD : HEAD + s * s + 2 * s] = np.concatenate([tableau.a.ravel(), tableau.b, tableau.c])
    return constants, constants[size:]


def write_head(constants: Array, rates: Callee, jacobian: Callee, n: int) -> None:
    """Write what the step of any implicit method finds at the front of its constants."""
    constants.view(np.int64)[RATES : STATES + 1] = [
        rates.address,
        rates.constants.ctypes.data,
        jacobian.address,
        jacobian.constants.ctypes.data,
        n,
    ]


@part
def matrix_of(h: float, s: int, n: int, m: NewtonRoom) -> None:
    """1 - h A ⊗ J."""
    for i in range(s):
        for j in range(s):
            for p in range(n):
                for q in range(n):
                    m.matrix[i * n + p, j * n + q] = -h * m.a[i, j] * m.jacobian[p, q]
    for p in range(s * n):
        m.matrix[p, p] += 1.0


@part
def units(x: Array, h: float, slope: Address, scale: Array) -> None:
    """The unit of each state: its own size or its change over the step, not below 1e-8 of the largest of these."""
    largest = 1e-290
    for p in range(scale.size):
        scale[p] = max(abs(x[p + 1]), abs(h * read(slope, p)))
        largest = max(largest, scale[p])
    for p in range(scale.size):
        scale[p] = max(scale[p], 1e-8 * largest)


@part
def defects(f: Located, x: Array, h: float, k: Array, m: NewtonRoom) -> int:
    """f(…) - k of all stages into m.change; the answer is the status of the rates."""
    s, n = k.shape
    status = 0
    for i in range(s):
        m.argument[0] = x[0] + m.c[i] * h
        for p in range(n):
            total = 0.0
            for j in range(s):
                total += m.a[i, j] * k[j, p]
            m.argument[p + 1] = x[p + 1] + h * total
        status = call(f.address, place(m.argument), f.constants, place(m.change) + 8 * n * i)
        if status != 0:
            return status
        for p in range(n):
            m.change[i * n + p] -= k[i, p]
    return status


@part
def iterations(f: Located, x: Array, h: float, k: Array, m: NewtonRoom, constants: Array) -> int:
    """Improve the slopes k (s, n) until rounding is all that is left; the answer is a status."""
    s, n = k.shape
    before = np.inf
    for _ in range(PATIENCE):
        status = defects(f, x, h, k, m)
        constants[EVALUATED] += s
        if status != 0:
            return status
        substitute(m.matrix, m.pivots, m.change)
        total = 0.0
        for i in range(s):
            for p in range(n):
                k[i, p] += m.change[i * n + p]
                total += (h * m.change[i * n + p] / m.scale[p]) ** 2
        size = np.sqrt(total / (s * n))
        if not size < np.inf:
            return NO_CONVERGENCE
        if size <= 1e-15 or (size <= 1e-11 and size > 0.5 * before):
            return 0
        before = size
    return NO_CONVERGENCE


def _step(start: Address, c: Address, out: Address) -> int:
    s, n = whole(c, STAGES), whole(c, STATES)
    x, y = numbers(start, n + 1), numbers(out, n + 1)
    constants = numbers(c, size_of_room(s, n) + s * n)
    h, m = constants[LENGTH], room_in(c, s, n)
    k = m.slopes
    f = Located(whole(c, RATES), whole(c, RATES_CONSTANTS))
    status = call(f.address, place(x), f.constants, place(k))
    constants[EVALUATED] += 1
    if status != 0:
        return status
    if call(whole(c, JACOBIAN), place(x), whole(c, JACOBIAN_CONSTANTS), place(m.jacobian)) != 0:
        return NO_FACTORS
    matrix_of(h, s, n, m)
    if not factorise(m.matrix, m.pivots):
        return NO_FACTORS
    units(x, h, place(k), m.scale)
    for i in range(1, s):
        copy(place(k), place(k) + 8 * n * i, n)
    status = iterations(f, x, h, k, m, constants)
    for p in range(n):
        total = 0.0
        for i in range(s):
            total += m.b[i] * k[i, p]
        y[p + 1] = x[p + 1] + h * total
    return status


@lru_cache(maxsize=1)
def step_function() -> Callback:
    """The compiled step."""
    return callback(_step)
