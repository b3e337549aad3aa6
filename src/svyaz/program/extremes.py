"""How large tables become along many groups of rows, without keeping what they are at each row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from svyaz.arrays import Array
from svyaz.program.functions import Tabulated

NEAR = 10_000
"""So many rows are looked at together: more do not stay in the memory near the processor."""

Columns = tuple[Array, ...]
"""The columns of a group of rows, in parts (k,) or (k, …) that stand beside each other."""


def largest_magnitudes(function: Tabulated, groups: Sequence[Columns], only: Sequence[str]) -> dict[str, Array]:
    """The largest magnitudes of tables that need no linear system along each group of rows, (groups, …); 0 without rows."""
    found: dict[str, list[Array]] = {name: [] for name in only}
    ends, begin = np.cumsum([len(parts[0]) for parts in groups]), 0
    while begin < len(groups):
        before = ends[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, before + NEAR, side="right")))
        rows = np.concatenate([np.column_stack(parts) for parts in groups[begin:end]])
        for name, table in function.known(rows, only).items():
            each = np.split(np.abs(table), ends[begin : end - 1] - before)
            found[name] += [np.max(part, axis=0, initial=0.0) for part in each]
        begin = end
    return {name: np.array(rows).reshape((len(groups), *function.shapes[name])) for name, rows in found.items()}
