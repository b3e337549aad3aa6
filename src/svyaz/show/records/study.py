"""Sweeps as JSON and in notebooks."""

from __future__ import annotations

from math import isfinite

from svyaz import __version__
from svyaz.json_types import Record
from svyaz.show.results import as_json, stated_numbers
from svyaz.study import Row, Sweep

MOST_ROWS = 100_000
"""Members of a study whose rows are written in JSON; the table and the folder have those of larger ones."""


@as_json.register(Sweep)
def _(found: Sweep) -> Record:
    system, few = found.system, found.total <= MOST_ROWS
    return {
        "svyaz": __version__,
        "model": system.name,
        "status": found.status,
        "vary": {axis.name: [float(v) for v in axis.values] for axis in found.axes},
        "run": dict(found.asked),
        "members": found.total,
        "done": found.answered,
        "missing": list(found.missing) if few else None,
        "outcomes": found.outcomes(),
        "stable": None if found.stable is None else [list(interval) for interval in found.stable],
        "measures": list(found.measures),
        "rows": [_row(found, row) for row in found.rows] if few else None,
        "seconds": found.seconds,
        "workers": found.workers,
        **stated_numbers(system),
        "notes": list(found.notes),
    }


def _row(found: Sweep, row: Row) -> Record:
    result: Record = {axis.name: v for axis, v in zip(found.axes, row.point, strict=True)}
    result |= {"status": row.status, "stable": row.stable}
    measures = {name: row.measures.get(name) for name in found.measures}
    result |= {name: x if x is not None and isfinite(x) else None for name, x in measures.items()}
    return result | ({"reason": row.reason} if row.reason else {})
