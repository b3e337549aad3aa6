"""The one name for arrays of floating-point numbers, and what NumPy does with them at a price."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def median(rows: Array) -> Array:
    """The median of rows (k, …), k > 0, along their first axis; ``np.median`` loads masked arrays, a fifth of NumPy, for it."""
    ordered, k = np.sort(rows, axis=0), len(rows)
    middle: Array = (ordered[(k - 1) // 2] + ordered[k // 2]) / 2
    return middle
