"""A sweep of 1000 gains × 6000 Euler steps of the sleigh on all cores, against a single run × 1000 / cores.

The single run is one member, computed and observed by the same native loop in this process; the sweep is the whole call
of ``sweep`` after one that made everything warm, with rows written to a file as they come. Both by the wall clock: the
machine must be idle. On a busy one the work tells what the wall clock would: that of the main thread, and that of the
workers divided by the cores.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, process_time, thread_time

import numpy as np
from bench.constraints.setting import system
from bench.tools.jobs import Answer, Job, Samples, answer, series
from bench.tools.rows import Row, within

MODULE = "bench.constraints.many"
GAINS, STEP, UNTIL = 1000, 1e-3, 6.0
ALONE = 50
LIMIT = 1.3


def job(quick: bool) -> Job:
    return Job(MODULE, ("sweep", "200" if quick else str(GAINS)), 1 if quick else 5, 4.0)


def jobs(quick: bool) -> list[Job]:
    return [job(quick)]


def rows(samples: Samples, quick: bool) -> list[Row]:
    done = job(quick)
    wall, ideal = (series(samples, done, key) for key in ("wall", "ideal"))
    count = int(done.arguments[1])
    cores = max(series(samples, done, "cores"), default=0)
    title = f"sweep of {count} gains × 6000 steps"
    memory = series(samples, done, "megabytes")
    return [
        within(title, wall, ideal, f"a single run × {count} / {cores:.0f} cores", LIMIT),
        within("its work, on the cores", series(samples, done, "work"), ideal, "the same", None),
        within("memory that the sweep adds", memory, [100.0], "100 MB", 1, unit="MB"),
    ]


def sweep_job(count: str) -> Answer:
    import resource

    from svyaz.study import sweep
    from svyaz.study.crew import cores

    model = system("sleigh")
    options = {"method": "euler", "step": STEP, "until": UNTIL}
    gains = np.geomspace(1.0, 1000.0, int(count))
    sweep(model, {"stabilize": gains[:4]}, workers=2, **options)  # compiles, loads the loops
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    single = _single(gains)
    with tempfile.TemporaryDirectory() as folder:
        begin, whole, own = perf_counter(), process_time(), thread_time()
        sweep(model, {"stabilize": gains}, keep=Path(folder) / "study.zarr", **options)
        wall, whole, own = perf_counter() - begin, process_time() - whole, thread_time() - own
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "wall": wall,
        "work": own + (whole - own) / cores(),
        "ideal": single * len(gains) / cores(),
        "single": single,
        "cores": cores(),
        "megabytes": max(1.0, (after - before) / 1024),
    }


def _single(gains: np.ndarray) -> float:
    """The median of single members, each computed and observed by a call of its own."""
    from svyaz.motion import phases_of
    from svyaz.stabilise.options import options_for
    from svyaz.study.measures import measure_names, measures_for
    from svyaz.study.tasks import native_work
    from svyaz.study.vary import Plan, axes_for, recipe
    from svyaz.study.worker import answers

    model = system("sleigh")
    axes = axes_for(model, {"stabilize": gains[:: max(1, len(gains) // ALONE)]})
    options = options_for(model, {"method": "euler", "step": STEP, "until": UNTIL, "stabilize": "off"})
    equations = phases_of(model, "multipliers", options)[0].equations
    plan = Plan(axes, "off")
    measures = measures_for(measure_names(equations), ())
    work = native_work(equations, options, recipe(model, ()), plan, measures)
    times = []
    for number in range(plan.total):
        begin = perf_counter()
        answers(work.task, work.data([number]))
        times.append(perf_counter() - begin)
    return median(times)


if __name__ == "__main__":
    answer({"sweep": sweep_job})
