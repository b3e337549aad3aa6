"""The one name for arrays of floating-point numbers, and arrays that vectors are loaded from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LINE = 8
"""Numbers in a line of the cache."""


def aligned_zeros(count: int) -> Array:
    """So many zeros, which begin where a line of the cache does: vectors across two lines are slow."""
    room = np.zeros(count + LINE)
    first = -(room.ctypes.data // 8) % LINE
    return room[first : first + count]
