"""A study on one and on two workers of a Dask cluster of local processes, one thread each.

The efficiency is the rate of two over twice the rate of one, by the clock, from the first answers to the last: the machine
must have nothing else to do. The processor time of the one who asks, which is not shared out, is told beside it.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from bench.faults.clusters import cluster
from bench.tools.jobs import Answer, Job, Samples, answer, series
from bench.tools.rows import Row

MODULE = "bench.studies.efficiency"
BAR = 0.8


def _job(workers: int, quick: bool) -> Job:
    return Job(MODULE, ("study", str(workers), "10000" if quick else "40000"), 1 if quick else 3, 30.0)


def jobs(quick: bool) -> list[Job]:
    return [_job(workers, quick) for workers in (1, 2)]


def rows(samples: Samples, quick: bool) -> list[Row]:
    one, two = (max(series(samples, _job(workers, quick), "rate"), default=float("nan")) for workers in (1, 2))
    asking = max(series(samples, _job(2, quick), "asking"), default=float("nan"))
    note = f"who asks takes {100 * asking:.2g} % of the time"
    return [Row("runs on two Dask workers", two, 2 * one, two / (2 * one), "1/s", "twice one", BAR, note=note)]


def study(workers: str, count: str) -> Answer:
    import numpy as np

    import svyaz

    system = svyaz.load("pendulum:2")
    told: list[tuple[float, int]] = []
    with tempfile.TemporaryDirectory(prefix="studies-") as name, cluster(Path(name), int(workers)) as (address, _, _):
        cpu = time.process_time()
        svyaz.sweep(
            system,
            {"L1": np.linspace(1.0, 2.0, int(count))},
            scheduler=address,
            keep=Path(name) / "study.zarr",
            progress=lambda done, total: told.append((time.perf_counter(), done)),
            method="rk4",
            step=1e-3,
            until=10.0,
        )
        cpu = time.process_time() - cpu
    begin = next(k for k, (_, done) in enumerate(told) if done > 0.02 * int(count))
    (first, before), (last, after) = told[begin], told[-1]
    return {"rate": (after - before) / (last - first), "asking": cpu / (last - told[0][0])}


if __name__ == "__main__":
    answer({"study": study})
