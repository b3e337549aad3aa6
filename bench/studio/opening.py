"""From the command to the first page that is served."""

from __future__ import annotations

import tempfile
from pathlib import Path
from time import perf_counter

from bench.studio.work import ENVIRONMENT, RunningStudio
from bench.tools.jobs import Answer, Job, Samples, answer, series
from bench.tools.rows import Row

MODULE = "bench.studio.opening"
BAR = 2.0


def job(quick: bool) -> Job:
    return Job(MODULE, ("opening",), 2 if quick else 5, 3.0)


def jobs(quick: bool) -> list[Job]:
    return [job(quick)]


def rows(samples: Samples, quick: bool) -> list[Row]:
    taken = sorted(series(samples, job(quick), "seconds"))
    median = taken[len(taken) // 2]
    return [Row("open", median, BAR, median / BAR, "s", "bar", 1.0, limit=True)]


def opening_job() -> Answer:
    with tempfile.TemporaryDirectory() as folder:
        begin = perf_counter()
        with RunningStudio(Path(folder), ENVIRONMENT) as studio:
            status, _, _ = studio.request("GET", "/")
            assert status == 200
            return {"seconds": perf_counter() - begin}


if __name__ == "__main__":
    answer({"opening": opening_job})
