"""The equations of a step of Radau IIA with three stages, solved by simplified Newton iterations.

With zᵢ = Yᵢ - y₀ the stages satisfy A⁻¹Z = h F(Z). A⁻¹ = T diag(γ, [α -β; β α]) T⁻¹, so in W = T⁻¹Z an iteration
solves one real system with γ/h - J and one complex system with (α + iβ)/h - J, J = ∂f/∂y.

What is done to numbers is written so that it serves one run and several at once (see `svyaz.integrate.kernels`).

E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed. (1996), IV.8.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.integrate.calls import Address, call, fused, matrix, numbers, place, whole_numbers
from svyaz.integrate.compiling import part, shared
from svyaz.integrate.factors import (
    factorise,
    factorise_complex,
    has_positive_determinant,
    substitute,
    substitute_complex,
)
from svyaz.integrate.implicit import HEAD, PATIENCE, Located, units

# numbers of the method are constants of the code: it is faster so
_R6 = 6.0**0.5
NODES = np.array([(4 - _R6) / 10, (4 + _R6) / 10, 1.0])
GAMMA = 3.0 + 3.0 ** (2 / 3) - 3.0 ** (1 / 3)
MU = 3.0 + 0.5 * (3.0 ** (1 / 3) - 3.0 ** (2 / 3)) + 0.5j * (3.0 ** (5 / 6) + 3.0 ** (7 / 6))
T = np.array(
    [
        [0.09443876248897524, -0.1412552950209542, -0.030029194105147424],
        [0.2502131229653333, 0.20412935229379994, 0.3829421127572619],
        [1.0, 1.0, 0.0],
    ]
)
T_INVERSE = np.array(
    [
        [4.178718591551905, 0.32768282076106237, 0.5233764454994495],
        [-4.178718591551905, -0.32768282076106237, 0.47662355450055044],
        [-0.5028726349457868, 2.571926949855605, -0.5960392048282249],
    ]
)
MOST_ITERATIONS = 6

StatusRoom = Array | NDArray[np.int64]
"""Room for the status of the rates."""


class Memory(NamedTuple):
    """Room for the iterations: J (n, n), the factors of the real matrix and of the complex one (its two parts), stages z,
    their transforms w, slopes (3, n), right-hand sides.

    `before` holds the stages of the last step, from which the next ones are guessed.
    """

    jacobian: Array
    real: Array
    re: Array
    im: Array
    real_pivots: NDArray[np.int64]
    complex_pivots: NDArray[np.int64]
    z: Array
    w: Array
    change: Array
    slopes: Array
    before: Array
    scale: Array
    right: Array
    right_re: Array
    right_im: Array


@shared
def memory_size(n: int) -> int:
    """Numbers in the constants of a step of n states."""
    return HEAD + 4 * n * n + 22 * n + 2  # with an argument [t, y…] and a status at the end


@part
def memory_in(block: Address, n: int) -> Memory:
    """The parts of the memory."""
    j, square, row, three = block + 8 * HEAD, 8 * n * n, 8 * n, 24 * n
    z = j + 4 * square + 2 * row
    rest = z + 5 * three
    return Memory(
        matrix(j, n, n),
        matrix(j + square, n, n),
        matrix(j + 2 * square, n, n),
        matrix(j + 3 * square, n, n),
        whole_numbers(z - 2 * row, n),
        whole_numbers(z - row, n),
        matrix(z, 3, n),
        matrix(z + three, 3, n),
        matrix(z + 2 * three, 3, n),
        matrix(z + 3 * three, 3, n),
        matrix(z + 4 * three, 3, n),
        numbers(rest, n),
        numbers(rest + row, n),
        numbers(rest + 2 * row, n),
        numbers(rest + 3 * row, n),
    )


@part
def linearise(jacobian: Located, x: Address, m: Memory) -> int:
    """J at [t, y…]; the answer is the status of the native function."""
    return call(jacobian.address, x, jacobian.constants, place(m.jacobian))


@part
def prepare(h: float, m: Memory) -> bool:
    """Factorise γ/h - J and (α + iβ)/h - J."""
    n = m.jacobian.shape[0]
    real, re, im = GAMMA / h, MU.real / h, MU.imag / h
    for i in range(n):
        for j in range(n):
            m.real[i, j] = -m.jacobian[i, j]
            m.re[i, j] = -m.jacobian[i, j]
            m.im[i, j] = 0.0
        m.real[i, i] += real
        m.re[i, i] += re
        m.im[i, i] = im
    return factorise(m.real, m.real_pivots) & factorise_complex(m.re, m.im, m.complex_pivots)


@part
def follows_growth(m: Memory) -> bool:
    """Is the step short enough for what grows? Where one real eigenvalue of J exceeds γ/h (or three …), det(γ/h - J) < 0: the
    stages then take a motion that flies apart for one that is drawn together, and the estimate of the error does not see it.
    """
    return has_positive_determinant(m.real, m.real_pivots)


@part
def argue(i: int, h: float, x: Array, m: Memory, argument: Array) -> None:
    """[t, y…] of stage i of a step from x."""
    argument[0] = fused(NODES[i], h, x[0])
    for j in range(m.scale.size):
        argument[j + 1] = x[j + 1] + m.z[i, j]


@part
def correct(h: float, m: Memory) -> float:
    """The change of w by the slopes of the stages, left in m.change; its sum of squares in units of `scale`."""
    n = m.scale.size
    real, re, im = GAMMA / h, MU.real / h, MU.imag / h
    for j in range(n):
        f0, f1, f2 = m.slopes[0, j], m.slopes[1, j], m.slopes[2, j]
        r0 = fused(T_INVERSE[0, 2], f2, fused(T_INVERSE[0, 1], f1, T_INVERSE[0, 0] * f0))
        r1 = fused(T_INVERSE[1, 2], f2, fused(T_INVERSE[1, 1], f1, T_INVERSE[1, 0] * f0))
        r2 = fused(T_INVERSE[2, 2], f2, fused(T_INVERSE[2, 1], f1, T_INVERSE[2, 0] * f0))
        m.right[j] = fused(-real, m.w[0, j], r0)
        m.right_re[j] = fused(-re, m.w[1, j], fused(im, m.w[2, j], r1))
        m.right_im[j] = fused(-re, m.w[2, j], fused(-im, m.w[1, j], r2))
    substitute(m.real, m.real_pivots, m.right)
    substitute_complex(m.re, m.im, m.complex_pivots, m.right_re, m.right_im)
    total = 0.0
    for j in range(n):
        unit = 1.0 / m.scale[j]
        m.change[0, j] = m.right[j]
        m.change[1, j] = m.right_re[j]
        m.change[2, j] = m.right_im[j]
        for i in range(3):
            ratio = m.change[i, j] * unit
            total = fused(ratio, ratio, total)
    return total


@part
def size_of(total: float, count: int) -> float:
    """The mean size by a sum of squares; infinite also where that is not a number."""
    size = np.sqrt(total / count)
    return size if np.isfinite(size) else np.inf


@part
def iterate(f: Located, h: float, x: Array, m: Memory, argument: Array, status: StatusRoom) -> float:
    """One Newton iteration from [t, y…] `x`; its size in units of `scale`, infinite where the rates do not exist.

    The change of w is left in m.change; `accept` adds it.
    """
    n = m.scale.size
    for i in range(3):
        argue(i, h, x, m, argument)
        status[0] = call(f.address, place(argument), f.constants, place(m.slopes) + 8 * n * i)
        if status[0] != 0:
            return np.inf
    return size_of(correct(h, m), 3 * n)


@part
def accept(m: Memory) -> None:
    """w += change, z = T w."""
    for j in range(m.scale.size):
        for i in range(3):
            m.w[i, j] += m.change[i, j]
        for i in range(3):
            m.z[i, j] = fused(T[i, 2], m.w[2, j], fused(T[i, 1], m.w[1, j], T[i, 0] * m.w[0, j]))


@part
def transform(m: Memory) -> None:
    """w = T⁻¹ z."""
    for j in range(m.scale.size):
        for i in range(3):
            m.w[i, j] = fused(
                T_INVERSE[i, 2], m.z[2, j], fused(T_INVERSE[i, 1], m.z[1, j], T_INVERSE[i, 0] * m.z[0, j])
            )


FAILED, FURTHER, SOLVED = range(3)


@part
def judged(k: int, size: float, before: float, tolerance: float) -> tuple[int, float]:
    """What becomes of the stages after iteration k of this size, and the rate of convergence (Hairer and Wanner)."""
    if size == np.inf:
        return FAILED, 0.0
    rate = 0.0
    if k > 0:
        rate = size / before
        if size < tolerance and before < tolerance and rate >= 0.1:  # rounding of the rates is all that is left
            return SOLVED, 0.0
        if rate >= 1.0 or rate ** (MOST_ITERATIONS - k) / (1.0 - rate) * size > tolerance:
            return FAILED, rate
    if size == 0.0 or (k > 0 and rate / (1.0 - rate) * size < tolerance):
        return SOLVED, rate
    return FURTHER, rate


@part
def solve(
    f: Located, h: float, x: Array, m: Memory, argument: Array, tolerance: float, status: StatusRoom
) -> tuple[int, float]:
    """Iterations of Hairer and Wanner: (their number, rate of convergence); a number ≤ 0 says that they failed."""
    before = 0.0
    for k in range(MOST_ITERATIONS):
        size = iterate(f, h, x, m, argument, status)
        found, rate = judged(k, size, before, tolerance)
        if found == FAILED:
            return -(k + 1), rate
        accept(m)
        if found == SOLVED:
            return k + 1, rate
        before = size
    return -MOST_ITERATIONS, 0.0


@part
def solve_to_rounding(f: Located, h: float, x: Array, m: Memory, argument: Array, status: StatusRoom) -> int:
    """Iterate until rounding is all that is left: the number of iterations, ≤ 0 where they fail."""
    status[0] = call(f.address, place(x), f.constants, place(m.slopes))
    if status[0] != 0:
        return 0
    units(x, h, place(m.slopes), m.scale)
    for j in range(m.scale.size):
        for i in range(3):
            m.z[i, j] = m.w[i, j] = 0.0
    before = np.inf
    for iteration in range(1, PATIENCE + 1):
        size = iterate(f, h, x, m, argument, status)
        if size == np.inf:
            return -iteration
        accept(m)
        if size <= 1e-15 or (size <= 1e-11 and size > 0.5 * before):
            return iteration
        before = size
    return -PATIENCE
