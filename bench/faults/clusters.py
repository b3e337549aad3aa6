"""Studies on a Dask cluster of local processes: kill -9 of a worker, of all workers, of the scheduler."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bench.faults.watching import (
    NATIVE,
    Unexpected,
    ended,
    folder,
    killed,
    numbers,
    resumed,
    row,
    started,
    survived,
    table,
    undisturbed,
    when_done,
)
from bench.tools.jobs import Answer, Job, Samples, answer, environment
from bench.tools.rows import Row

MODULE = "bench.faults.clusters"
NAMES = {
    "worker": "kill -9 of a Dask worker: all rows there",
    "scheduler": "kill -9 of the scheduler: named, goes on here",
    "workers": "kill -9 of all Dask workers: named, goes on here",
}
LONG = {"workers"}
"""Cases in which half a minute is waited for others."""


def jobs(quick: bool) -> list[Job]:
    return [Job(MODULE, (name, "1"), 1, 30.0) for name in NAMES if not (quick and name in LONG)]


def rows(samples: Samples, quick: bool) -> list[Row]:
    return [row(NAMES[job.arguments[0]], samples.get(job.name, ())) for job in jobs(quick)]


def part(name: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", f"distributed.cli.{name}", *arguments, "--no-dashboard"]
    return subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True)


@contextmanager
def cluster(place: Path, count: int = 2) -> Iterator[tuple[str, subprocess.Popen[str], list[subprocess.Popen[str]]]]:
    """Address, scheduler and workers, each a process of its own that nobody replaces."""
    about = place / "scheduler.json"
    about.unlink(missing_ok=True)
    scheduler = part("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(about))
    workers: list[subprocess.Popen[str]] = []
    try:
        while not about.exists():
            if scheduler.poll() is not None:
                raise RuntimeError("no Dask scheduler can be started: pip install 'svyaz[cluster]'")
            time.sleep(0.1)
        address = json.loads(about.read_text(encoding="utf-8"))["address"]
        workers += [part("dask_worker", address, "--nthreads", "1", "--no-nanny") for _ in range(count)]
        yield address, scheduler, workers
    finally:
        for process in (scheduler, *workers):
            process.kill()
            process.wait()


def befallen(fault: str, place: Path, expected: str, number: int) -> None:
    out = place / f"{fault}-{number}"
    with cluster(place) as (address, scheduler, workers):
        process = started(NATIVE, out, "--scheduler", address)
        when_done(process, out, 5)
        known = numbers(out)
        for victim in {"worker": workers[:1], "workers": workers, "scheduler": [scheduler]}[fault]:
            killed(victim)
        if fault == "worker":
            ended(process, 0)
            if table(out) != expected:
                raise Unexpected("the rows differ")
            return
        ended(process, 1, "is gone" if fault == "scheduler" else "no workers")
        if not known <= numbers(out):
            raise Unexpected("rows that were written are lost")
    resumed(NATIVE, out, expected)


def job(fault: str, count: str) -> Answer:
    with folder() as place:
        expected = undisturbed(NATIVE, place)
        return survived([partial(befallen, fault, place, expected, number) for number in range(int(count))])


if __name__ == "__main__":
    answer({name: partial(job, name) for name in NAMES})
