"""The solvers of linear systems that native programs call; their text is in ``solver.ll``, which tells the method.

Storage of a system of size n with s sides: n rows of ``row_length`` numbers, the matrix in columns 0..n-1, the sides
from column ``padded(n)`` on; the padding is zero, so that rows are handled four numbers at a time.
"""

from __future__ import annotations

LANES = 4


def padded(count: int) -> int:
    """The count rounded up to whole vectors."""
    return -(-count // LANES) * LANES


def row_length(size: int, sides: int) -> int:
    """Numbers in a row of the storage of a system."""
    return padded(size) + padded(sides)


SOLVERS = ("svyaz_solve_pivoted", "svyaz_solve_symmetric")
SOLVER_DECLARATIONS = "".join(f"declare i32 @{name}(ptr, ptr, i64, i64, i64) nounwind\n" for name in SOLVERS)
