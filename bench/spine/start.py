"""How soon it starts: ``svyaz --help`` against ``python -c pass``, and the second ``./run`` until the sling moves."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from statistics import median
from time import perf_counter

from bench.tools.jobs import ROOT, Answer, Job, Samples, answer, series
from bench.tools.rows import Row, within

MODULE = "bench.spine.start"
PASSES = 9
LONGEST_START = 3.0
MOVED = " at t = "
"""Stands in the line that ``report`` prints when the motion is computed."""


def help_job(quick: bool) -> Job:
    return Job(MODULE, ("help",), 1 if quick else 3, 1.5)


def run_job(quick: bool) -> Job:
    return Job(MODULE, ("run",), 1 if quick else 3, 10.0)


def jobs(quick: bool) -> list[Job]:
    return [help_job(quick), run_job(quick)]


def rows(samples: Samples, quick: bool) -> list[Row]:
    helped, ran = help_job(quick), run_job(quick)
    return [
        within("svyaz --help", series(samples, helped, "help"), series(samples, helped, "pass"), "python -c pass", 10),
        within("./run until the equations are shown", series(samples, ran, "shown"), [LONGEST_START], "3 s", 1),
        within("./run until the motion is computed", series(samples, ran, "moved"), [LONGEST_START], "3 s", 1),
    ]


def measure_help() -> Answer:
    times: dict[str, list[float]] = {"help": [], "pass": []}
    for _ in range(PASSES):
        for name, arguments in (("pass", ["-c", "pass"]), ("help", ["-m", "svyaz", "--help"])):
            begin = perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
            times[name].append(perf_counter() - begin)
    return {name: median(values) for name, values in times.items()}


def measure_run() -> Answer:
    """Once to fill the caches, then again with the clock."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(ROOT / "run"), "report", "sling", "--out", folder]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        return _clocked(command, folder)


def _clocked(command: list[str], folder: str) -> Answer:
    moments: Answer = {}
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    begin = perf_counter()
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        for line in process.stdout:
            moments.setdefault("shown", perf_counter() - begin)
            if MOVED in line:
                moments.setdefault("moved", perf_counter() - begin)
    moments["done"] = perf_counter() - begin
    return moments


if __name__ == "__main__":
    answer({"help": measure_help, "run": measure_run})
