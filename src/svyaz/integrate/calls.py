"""What the native loops share: numbers by their address, calls of native functions, and what is done after a step.

A function of a program has the C signature `int32_t f(const double *x, const double *c, double *out)`; since only
its address enters the loop, one compiled loop serves every model and is read from disk the next time. Inside the loops
arrays are addresses too: counting references to array objects would cost more than a whole step of a small system.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.integrate.compiling import Uncompiled, instruction, piece

Address = int
Counters = NDArray[np.int64]

# what a loop answers; it says RUNNING when its share of steps is used up and it wants to be called again
RUNNING, FINISHED, DIVERGED, SINGULAR, STALLED, PROJECTION, NEWTON = range(7)

STOPPED, EXHAUSTED, HOPELESS = -1, -2, -3
"""Interrupted by the user; more steps than allowed; steps so short that more than allowed would be needed."""

# places in `count`, the whole numbers that a loop keeps: steps done, rows stored, evaluations, steps since a row was
# stored, status of the rates; rejected trials, was the last one rejected; J belongs to the state; factorisations; J made
DONE, STORED, EVALUATIONS, WAITING, STATUS, REJECTED, AFTER_REJECTION, FRESH, FACTORISATIONS, JACOBIANS = range(10)
COUNTERS = 10

# what the function of an implicit step answers beside the statuses of the rates, which are positive
NO_FACTORS, NO_CONVERGENCE = -1, -2
# and what stands in front of its constants: the length of the step; evaluations of the rates made so far
LENGTH, EVALUATED = 0, 1

OVERFLOW = 1e150  # beyond it squares of the state overflow: the motion is reported as diverged


class Callee(NamedTuple):
    """A native function and its constants, as the loops take them; address 0 means there is none."""

    address: Address
    constants: Array


@instruction
def call(address: Address, x: Address | Array, c: Address | Array, out: Address | Array) -> int:
    """f(x, c, out) of the function at `address`; x, c, out are arrays or addresses, the answer is its status."""
    raise Uncompiled


@instruction
def place(array: object) -> Address:
    """Address of the first entry of an array, or of a record."""
    raise Uncompiled


@instruction
def read(address: Address, index: int) -> float:
    """The double number `index` places behind an address."""
    raise Uncompiled


@instruction
def write(address: Address, index: int, value: float) -> None:
    """Put a double number `index` places behind an address."""
    raise Uncompiled


@instruction
def whole(address: Address, index: int) -> int:
    """The 64-bit integer `index` places behind an address."""
    raise Uncompiled


@instruction
def numbers(address: Address, size: int) -> Array:
    """The double numbers at an address as an array; counting references to it costs nothing, for there are none."""
    raise Uncompiled


@instruction
def matrix(address: Address, rows: int, columns: int) -> Array:
    """The double numbers at an address as a matrix."""
    raise Uncompiled


@instruction
def whole_numbers(address: Address, size: int) -> NDArray[np.int64]:
    """The 64-bit integers at an address as an array."""
    raise Uncompiled


@instruction
def whole_matrix(address: Address, rows: int, columns: int) -> NDArray[np.int64]:
    """The 64-bit integers at an address as a matrix."""
    raise Uncompiled


@instruction
def fused(a: float, b: float, c: float) -> float:
    """a·b + c, rounded once where the processor can."""
    raise Uncompiled


@instruction
def choose(which: bool, a: float, b: float) -> float:
    """a if ``which`` holds, else b, both of which are computed."""
    raise Uncompiled


@instruction
def square_root(a: float) -> float:
    """√a."""
    raise Uncompiled


@instruction
def width(array: Array) -> int:
    """The number of lanes of an array of vectors, 1 where its entries are numbers; a constant of the code."""
    raise Uncompiled


@instruction
def lanes(array: Array) -> Array:
    """The entries of an array of vectors by rows, a column for each lane."""
    raise Uncompiled


@instruction
def entry(array: NDArray[Any], index: int) -> Any:
    """array[index], where the index is known not to be negative: else each access tests it."""
    raise Uncompiled


@instruction
def tail(array: Array, index: int) -> Array:
    """The entries of an array from one of them on."""
    raise Uncompiled


@instruction
def own(rows: Array, wide: Array, number: int) -> Array:
    """Constants of a function: row ``number`` for one lane, which may change them, ``wide`` for several."""
    raise Uncompiled


@instruction
def bits(truth: bool) -> int:
    """A whole number with a bit for each lane in which something holds."""
    raise Uncompiled


@instruction
def mask(flags: int, array: Array) -> bool:
    """What holds in the lanes of an array with a bit in ``flags``."""
    raise Uncompiled


@piece
def copy(source: Address, target: Address, size: int) -> None:
    """target = source, `size` numbers."""
    for m in range(size):
        write(target, m, read(source, m))


@piece
def every_lane(array: Array) -> int:
    """A bit for each lane."""
    return (1 << width(array)) - 1


@piece
def failures(status: int, array: Array) -> int:
    """A bit for each lane in which a function failed: a function of several lanes answers so, that of one by a number."""
    if width(array) == 1:
        return 1 if status != 0 else 0
    return status


@piece
def unbounded(x: Array) -> int:
    """A bit for each lane whose state in [t, y…] is not finite or beyond the bound of overflow.

    A sum is not packed by the compiler: a packed load of numbers that were just written one by one waits for them.
    """
    size = abs(x[1])
    for m in range(2, x.size):
        size = size + abs(x[m])
    return every_lane(x) & ~bits(size <= OVERFLOW)  # NaN is not below


@piece
def bounded(x: Address, n: int) -> bool:
    """Whether the state of [t, y…] is finite and below the bound of overflow.

    A sum is not packed by the compiler: a packed load of numbers that were just written one by one waits for them.
    """
    size = 0.0
    for m in range(1, n + 1):
        size += abs(read(x, m))
    return size <= OVERFLOW  # false for NaN


@piece
def settle(after_step: Address, constants: Address, x: Address, n: int, scratch: Address) -> int:
    """Apply the map after a step, if there is one, to [t, y…] at x and say whether the state may be kept."""
    code = RUNNING
    if after_step != 0:
        if call(after_step, x, constants, scratch) == 0:
            copy(scratch, x + 8, n)
        else:
            code = PROJECTION
    if code == RUNNING and not bounded(x, n):
        code = DIVERGED
    return code
