"""``pendulum:N`` in angles until its first steps, N up to 300: seconds and memory."""

from __future__ import annotations

import resource

from bench.tools.jobs import Answer, Job, Samples, answer, clock, median, series
from bench.tools.rows import Row, within

MODULE = "bench.scale.pendulums"
LIMITS = {10: None, 50: None, 100: 5.0, 300: 40.0}
"""Links, and seconds that are allowed."""
QUICK = (10, 50)
MEMORY = 4096.0


def job(count: int) -> Job:
    return Job(MODULE, ("svyaz", str(count)), 1, 2 + 4e-4 * count**2)


def jobs(quick: bool) -> list[Job]:
    return [job(n) for n in (QUICK if quick else LIMITS)]


def rows(samples: Samples, quick: bool) -> list[Row]:
    found = []
    for n in QUICK if quick else LIMITS:
        taken, limit = series(samples, job(n), "whole"), LIMITS[n]
        note = f"{median(series(samples, job(n), 'megabytes')):.0f} MB"
        found.append(within(f"pendulum:{n}", taken, [limit or 1.0], "the limit", 1.0 if limit else None, note=note))
    if not quick:
        memory = series(samples, job(300), "megabytes")
        found.append(within("pendulum:300, memory", memory, [MEMORY], "the limit", 1.0, unit="MB"))
    return found


def svyaz_job(count: str) -> Answer:
    from svyaz import load, simulate

    simulate(load("pendulum:2"), until=0.01)
    begin = clock()
    assert simulate(load(f"pendulum:{count}"), until=0.01).finished
    return {"whole": clock() - begin, "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


if __name__ == "__main__":
    answer({"svyaz": svyaz_job})
