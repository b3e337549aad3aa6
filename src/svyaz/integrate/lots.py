"""Many short runs of one system from different starts, by Radau's method: what is common to them is prepared once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.integrate.methods import method as find_method
from svyaz.integrate.solve import Flow, control_of, native_of


def radau_lot(
    rates: Flow,
    jacobian: Flow,
    starts: Array,
    times: Array,
    *,
    rtol: float,
    atol: Array,
    max_steps: int,
) -> tuple[Array, NDArray[np.bool_]]:
    """States (N, k, n) at k times, the first of which is the beginning, from N starts (N, n); did each run finish?

    ``atol`` (N, n) is that of each start. A run that fails, or takes more trials than ``max_steps``, keeps the rows that
    it reached; the others are not numbers. The states are those that ``integrate`` gives.
    """
    from svyaz.integrate import adaptive, newton, radau
    from svyaz.integrate.calls import FINISHED, RUNNING
    from svyaz.integrate.runs import STORED

    count_of_runs, n = starts.shape
    f, slope, none = native_of(rates), native_of(jacobian), native_of(None)
    span = (float(times[0]), float(times[-1]))
    control = control_of(find_method("radau"), span, rtol, atol[0] if len(atol) else rtol, n)
    work, slopes, clock, count = np.zeros((6, n + 1)), np.zeros(2 * n), np.zeros(4), np.zeros(16, dtype=np.int64)
    room = newton.memory(n)
    rows = np.full((count_of_runs, len(times), n + 1), np.nan)
    finished = np.zeros(count_of_runs, dtype=bool)
    for k in range(count_of_runs):
        for array in (work, slopes, clock, count, *room):
            array.fill(0)
        work[0, 0], work[0, 1:] = span[0], starts[k]
        control.atol[:] = atol[k]
        rows[k, 0], count[STORED] = work[0], 1
        out = adaptive.Output(rows[k], times, True)
        code = adaptive.first_step(f, control, 4.0, work, slopes, clock, count)
        if code == RUNNING:
            code = radau.free(f, slope, none, control, out, max_steps, work, slopes, room, clock, count)
        finished[k] = code == FINISHED
    return rows[:, :, 1:], finished
