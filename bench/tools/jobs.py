"""Jobs of a bench: each runs in a process of its own, several times, in alternating order, and answers with numbers.

A measurement is a module with ``jobs(quick)``, the list of its jobs, and ``rows(samples)``, what is concluded from
their answers. Run as a script it does one of its jobs, ``python -m bench.spine.derivation svyaz 10``, and prints the
answer as one line of JSON.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time

ROOT = Path(__file__).parents[2]
TIMEOUT, PATIENCE = 1800, 60
"""Seconds that any job may take, and how many times its own guess, on a machine that others use too."""

clock = process_time
"""Seconds of work of this process. Both sides compute in one thread without waiting for anything, so that this is the
time on an idle machine, and on a busy one it is not spoilt by the others."""

Answer = dict[str, float]
Samples = Mapping[str, Sequence[Answer]]
"""Job → what it answered, each time."""


@dataclass(frozen=True)
class Job:
    """``python -m MODULE ARGUMENTS``, done ``repeat`` times; ``seconds`` is a guess at how long it takes once."""

    module: str
    arguments: tuple[str, ...]
    repeat: int
    seconds: float

    @property
    def name(self) -> str:
        return " ".join([self.module.removeprefix("bench."), *self.arguments])


class JobFailed(Exception):
    """A job ended badly; the message is what it said last."""


class PeerMissing(JobFailed):
    """What a job measures against is not installed; the message names it."""


FIND = ("seed ", "case ")
"""How keys of answers begin that tell of a case which came out wrong."""

MISSING = "not installed: "
"""What a job says last that misses a peer, before its name."""


def missing(what: str) -> SystemExit:
    """Raised by a job whose peer is not there."""
    return SystemExit(f"{MISSING}{what}")


def environment() -> dict[str, str]:
    """The environment of a job: this checkout first on the path, one thread for linear algebra.

    Python may keep compiled modules, as it does unless it is told not to.
    """
    path = [str(ROOT), str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**inherited, "PYTHONPATH": os.pathsep.join(path), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def run_job(job: Job) -> Answer:
    """Do a job once, in a process of its own."""
    command = [sys.executable, "-m", job.module, *job.arguments]
    limit = max(TIMEOUT, PATIENCE * job.seconds)
    try:
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired as late:
        raise JobFailed(f"{job.name}: no answer in {limit:.0f} s") from late
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()[-1]
        absent = re.fullmatch(r"ModuleNotFoundError: No module named '([\w.]+)'", last)
        if absent and not absent[1].startswith(("svyaz", "bench")):
            raise PeerMissing(absent[1])
        if last.startswith(MISSING):
            raise PeerMissing(last.removeprefix(MISSING))
        raise JobFailed(f"{job.name}: {last}")
    answer: Answer = json.loads(done.stdout.splitlines()[-1])
    return answer


def schedule(jobs: Iterable[Job]) -> list[Job]:
    """Rounds of all jobs, every second round backwards, so that no job always profits from what ran before it."""
    distinct = list(dict.fromkeys(jobs))
    order: list[Job] = []
    for turn in range(max((job.repeat for job in distinct), default=0)):
        wanted = [job for job in distinct if turn < job.repeat]
        order.extend(wanted if turn % 2 == 0 else reversed(wanted))
    return order


def finds(answer: Answer) -> list[str]:
    """What an answer tells of single cases that came out wrong: its keys that name one."""
    return [key for key in answer if key.startswith(FIND)]


def run_jobs(
    jobs: Iterable[Job],
    before: Callable[[Job], object],
    failed: Callable[[JobFailed], object],
    told: Callable[[str], object],
) -> Samples:
    """Do all jobs as scheduled; ``before`` is told of each, ``failed`` of those that fail, which leave no sample.

    ``told`` gets what each job finds wrong, when it has ended.
    """
    samples: dict[str, list[Answer]] = defaultdict(list)
    for job in schedule(jobs):
        before(job)
        try:
            samples[job.name].append(run_job(job))
        except JobFailed as failure:
            failed(failure)
        else:
            for find in finds(samples[job.name][-1]):
                told(find)
    return samples


def series(samples: Samples, job: Job | str, key: str) -> list[float]:
    """What a job answered under a key, each time; empty when it was not done."""
    name = job if isinstance(job, str) else job.name
    return [answer[key] for answer in samples.get(name, ())]


def median(values: Sequence[float]) -> float:
    """The median; not a number when there are no values."""
    return statistics.median(values) if values else float("nan")


def answer(functions: Mapping[str, Callable[..., Answer]]) -> None:
    """Do the job that the command line names and print its answer: the main function of a measurement."""
    name, *arguments = sys.argv[1:]
    print(json.dumps(functions[name](*arguments)))
