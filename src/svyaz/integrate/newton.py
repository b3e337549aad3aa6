"""The equations of a step of Radau IIA with three stages, solved by simplified Newton iterations.

With zᵢ = Yᵢ - y₀ the stages satisfy A⁻¹Z = h F(Z). A⁻¹ = T diag(γ, [α -β; β α]) T⁻¹, so in W = T⁻¹Z an iteration
solves one real system with γ/h - J and one complex system with (α + iβ)/h - J, J = ∂f/∂y.

E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed. (1996), IV.8.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.integrate.calls import Address, call, complex_matrix, complex_numbers, matrix, numbers, place, whole_numbers
from svyaz.integrate.compiling import part, shared
from svyaz.integrate.implicit import HEAD, PATIENCE, Located, factorise, substitute, units

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
    """Room for the iterations: J (n, n), the two factorised matrices, stages z, their transforms w, slopes (3, n).

    `before` holds the stages of the last step, from which the next ones are guessed.
    """

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
        complex_matrix(j + 2 * square, n, n),
        whole_numbers(z - 2 * row, n),
        whole_numbers(z - row, n),
        matrix(z, 3, n),
        matrix(z + three, 3, n),
        matrix(z + 2 * three, 3, n),
        matrix(z + 3 * three, 3, n),
        matrix(z + 4 * three, 3, n),
        numbers(rest, n),
        numbers(rest + row, n),
        complex_numbers(rest + 2 * row, n),
    )


@part
def linearise(jacobian: Located, x: Address, m: Memory) -> int:
    """J at [t, y…]; the answer is the status of the native function."""
    return call(jacobian.address, x, jacobian.constants, place(m.jacobian))


@part
def prepare(h: float, m: Memory) -> bool:
    """Factorise γ/h - J and (α + iβ)/h - J."""
    n = m.jacobian.shape[0]
    for i in range(n):
        for j in range(n):
            m.real[i, j] = -m.jacobian[i, j]
            m.complex[i, j] = -m.jacobian[i, j]
        m.real[i, i] += GAMMA / h
        m.complex[i, i] += complex(MU.real / h, MU.imag / h)
    return factorise(m.real, m.real_pivots) and factorise(m.complex, m.complex_pivots)


@part
def iterate(f: Located, h: float, x: Array, m: Memory, argument: Array, status: StatusRoom) -> float:
    """One Newton iteration from [t, y…] `x`; its size in units of `scale`, infinite where the rates do not exist.

    The change of w is left in m.change; `accept` adds it.
    """
    n = m.scale.size
    for i in range(3):
        argument[0] = x[0] + NODES[i] * h
        for j in range(n):
            argument[j + 1] = x[j + 1] + m.z[i, j]
        status[0] = call(f.address, place(argument), f.constants, place(m.slopes) + 8 * n * i)
        if status[0] != 0:
            return np.inf
    for j in range(n):
        f0, f1, f2 = m.slopes[0, j], m.slopes[1, j], m.slopes[2, j]
        r0 = T_INVERSE[0, 0] * f0 + T_INVERSE[0, 1] * f1 + T_INVERSE[0, 2] * f2
        r1 = T_INVERSE[1, 0] * f0 + T_INVERSE[1, 1] * f1 + T_INVERSE[1, 2] * f2
        r2 = T_INVERSE[2, 0] * f0 + T_INVERSE[2, 1] * f1 + T_INVERSE[2, 2] * f2
        m.right[j] = r0 - GAMMA / h * m.w[0, j]
        m.complex_right[j] = complex(r1, r2) - complex(MU.real / h, MU.imag / h) * complex(m.w[1, j], m.w[2, j])
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
def solve(
    f: Located, h: float, x: Array, m: Memory, argument: Array, tolerance: float, status: StatusRoom
) -> tuple[int, float]:
    """Iterations of Hairer and Wanner: (their number, rate of convergence); a number ≤ 0 says that they failed."""
    before, rate = 0.0, 0.0
    for k in range(MOST_ITERATIONS):
        size = iterate(f, h, x, m, argument, status)
        if size == np.inf:
            return -(k + 1), rate
        if k > 0:
            rate = size / before
            if size < tolerance and before < tolerance and rate >= 0.1:  # rounding of the rates is all that is left
                accept(m)
                return k + 1, 0.0
            if rate >= 1.0 or rate ** (MOST_ITERATIONS - k) / (1.0 - rate) * size > tolerance:
                return -(k + 1), rate
        accept(m)
        if size == 0.0 or (k > 0 and rate / (1.0 - rate) * size < tolerance):
            return k + 1, rate
        before = size
    return -MOST_ITERATIONS, rate


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
