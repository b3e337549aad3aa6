"""The equations of an implicit step, solved by simplified Newton iterations (Radau IIA of three stages).

With zᵢ = Yᵢ - y₀ the stages satisfy A⁻¹Z = h F(Z). A⁻¹ = T diag(γ, [α -β; β α]) T⁻¹, so in W = T⁻¹Z an iteration
solves one real system with γ/h - J and one complex system with (α + iβ)/h - J, J = ∂f/∂y.

E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed. (1996), IV.8.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.integrate.calls import RUNNING, SINGULAR, Native, call, compiled, part, place, read
from svyaz.integrate.loops import STATUS

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
PATIENCE = 50


class Memory(NamedTuple):
    """Room for the iterations: J (n, n), the two factorised matrices, stages z, their transforms w, slopes (3, n)."""

    jacobian: Array
    real: Array
    complex: NDArray[np.complex128]
    real_pivots: NDArray[np.int64]
    complex_pivots: NDArray[np.int64]
    z: Array
    w: Array
    change: Array
    slopes: Array
    before: Array
    scale: Array
    right: Array
    complex_right: NDArray[np.complex128]


def memory(n: int) -> Memory:
    """Room for n states; `before` holds the stages of the last step, from which the next ones are guessed."""
    z, w, change, slopes, before = (np.zeros((3, n)) for _ in range(5))
    return Memory(
        np.zeros((n, n)),
        np.zeros((n, n)),
        np.zeros((n, n), dtype=np.complex128),
        np.zeros(n, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        z,
        w,
        change,
        slopes,
        before,
        np.zeros(n),
        np.zeros(n),
        np.zeros(n, dtype=np.complex128),
    )


@compiled
def factorise(a: Any, pivots: Any) -> bool:
    """PA = LU in place with partial pivoting; false for a singular matrix or one that is not finite."""
    n = a.shape[0]
    for k in range(n):
        best, row = abs(a[k, k]), k
        for i in range(k + 1, n):
            if abs(a[i, k]) > best:
                best, row = abs(a[i, k]), i
        if not 0.0 < best < np.inf:
            return False
        pivots[k] = row
        if row != k:
            for j in range(n):
                a[k, j], a[row, j] = a[row, j], a[k, j]
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            a[i, k] = factor
            if factor != 0.0:
                for j in range(k + 1, n):
                    a[i, j] -= factor * a[k, j]
    return True


@compiled
def substitute(lu: Any, pivots: Any, b: Any) -> None:
    """Solve with the factors, in place."""
    n = lu.shape[0]
    for k in range(n):
        row = pivots[k]
        if row != k:
            b[k], b[row] = b[row], b[k]
    for i in range(n):
        total = b[i]
        for j in range(i):
            total -= lu[i, j] * b[j]
        b[i] = total
    for i in range(n - 1, -1, -1):
        total = b[i]
        for j in range(i + 1, n):
            total -= lu[i, j] * b[j]
        b[i] = total / lu[i, i]


@part
def linearise(jacobian: Native, x: int, m: Memory) -> int:
    """J at [t, y…]; the answer is the status of the native function."""
    return call(jacobian.address, x, place(jacobian.constants), place(m.jacobian))


@part
def prepare(h: float, m: Memory) -> bool:
    """Factorise γ/h - J and (α + iβ)/h - J."""
    n = m.jacobian.shape[0]
    for i in range(n):
        for j in range(n):
            m.real[i, j] = -m.jacobian[i, j]
            m.complex[i, j] = -m.jacobian[i, j]
        m.real[i, i] += GAMMA / h
        m.complex[i, i] += MU / h
    return factorise(m.real, m.real_pivots) and factorise(m.complex, m.complex_pivots)


@part
def iterate(f: Native, h: float, x: Any, m: Memory, argument: Any, count: Any) -> float:
    """One Newton iteration from [t, y…] `x`; its size in units of `scale`, infinite where the rates do not exist.

    The change of w is left in m.change; `accept` adds it.
    """
    n = m.scale.size
    for i in range(3):
        argument[0] = x[0] + NODES[i] * h
        for j in range(n):
            argument[j + 1] = x[j + 1] + m.z[i, j]
        count[STATUS] = call(f.address, place(argument), place(f.constants), place(m.slopes) + 8 * n * i)
        if count[STATUS] != 0:
            return np.inf
    for j in range(n):
        f0, f1, f2 = m.slopes[0, j], m.slopes[1, j], m.slopes[2, j]
        r0 = T_INVERSE[0, 0] * f0 + T_INVERSE[0, 1] * f1 + T_INVERSE[0, 2] * f2
        r1 = T_INVERSE[1, 0] * f0 + T_INVERSE[1, 1] * f1 + T_INVERSE[1, 2] * f2
        r2 = T_INVERSE[2, 0] * f0 + T_INVERSE[2, 1] * f1 + T_INVERSE[2, 2] * f2
        m.right[j] = r0 - GAMMA / h * m.w[0, j]
        m.complex_right[j] = complex(r1, r2) - MU / h * complex(m.w[1, j], m.w[2, j])
    substitute(m.real, m.real_pivots, m.right)
    substitute(m.complex, m.complex_pivots, m.complex_right)
    total = 0.0
    for j in range(n):
        m.change[0, j] = m.right[j]
        m.change[1, j] = m.complex_right[j].real
        m.change[2, j] = m.complex_right[j].imag
        for i in range(3):
            total += (m.change[i, j] / m.scale[j]) ** 2
    size = np.sqrt(total / (3 * n))
    return size if np.isfinite(size) else np.inf


@part
def accept(m: Memory) -> None:
    """w += change, z = T w."""
    for j in range(m.scale.size):
        for i in range(3):
            m.w[i, j] += m.change[i, j]
        for i in range(3):
            m.z[i, j] = T[i, 0] * m.w[0, j] + T[i, 1] * m.w[1, j] + T[i, 2] * m.w[2, j]


@part
def transform(m: Memory) -> None:
    """w = T⁻¹ z."""
    for j in range(m.scale.size):
        for i in range(3):
            m.w[i, j] = T_INVERSE[i, 0] * m.z[0, j] + T_INVERSE[i, 1] * m.z[1, j] + T_INVERSE[i, 2] * m.z[2, j]


@part
def solve(f: Native, h: float, x: Any, m: Memory, argument: Any, tolerance: float, count: Any) -> tuple[int, float]:
    """Iterations of Hairer and Wanner: (their number, rate of convergence); a number ≤ 0 says that they failed."""
    before, rate = 0.0, 0.0
    for k in range(MOST_ITERATIONS):
        size = iterate(f, h, x, m, argument, count)
        if size == np.inf:
            return -(k + 1), rate
        if k > 0:
            rate = size / before
            if rate >= 1.0 or rate ** (MOST_ITERATIONS - k) / (1.0 - rate) * size > tolerance:
                return -(k + 1), rate
        accept(m)
        if size == 0.0 or (k > 0 and rate / (1.0 - rate) * size < tolerance):
            return k + 1, rate
        before = size
    return -MOST_ITERATIONS, rate


@part
def solve_to_rounding(f: Native, h: float, x: Any, m: Memory, argument: Any, count: Any) -> int:
    """Iterate until rounding is all that is left: the number of iterations, ≤ 0 where they fail.

    The unit is each state's own size or its change over the step, not below 1e-8 of the largest of these.
    """
    n, k = m.scale.size, place(m.slopes)
    count[STATUS] = call(f.address, place(x), place(f.constants), k)
    if count[STATUS] != 0:
        return 0
    largest = 1e-290
    for j in range(n):
        m.scale[j] = max(abs(x[j + 1]), abs(h * read(k, j)))
        largest = max(largest, m.scale[j])
    for j in range(n):
        m.scale[j] = max(m.scale[j], 1e-8 * largest)
        for i in range(3):
            m.z[i, j] = m.w[i, j] = 0.0
    before = np.inf
    for iteration in range(1, PATIENCE + 1):
        size = iterate(f, h, x, m, argument, count)
        if size == np.inf:
            return -iteration
        accept(m)
        if size <= 1e-15 or (size <= 1e-11 and size > 0.5 * before):
            return iteration
        before = size
    return -PATIENCE


@part
def linearise_and_prepare(jacobian: Native, x: int, h: float, m: Memory) -> int:
    """J and the two factorisations for a step h."""
    if linearise(jacobian, x, m) != 0 or not prepare(h, m):
        return SINGULAR
    return RUNNING
