"""Studies on this computer: kill -9 of workers and of the program, Ctrl-C, a full disk."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bench.faults.watching import (
    MEMBERS,
    NATIVE,
    STUDY,
    WHOLE,
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
from bench.tools.jobs import Answer, Job, Samples, answer
from bench.tools.rows import Row

MODULE = "bench.faults.studies"
NAMES = {
    "worker": "kill -9 of a worker: replaced, all rows there",
    "program": "kill -9 of the program: goes on with its rows",
    "interrupt": "Ctrl-C: exit code 130, goes on with its rows",
    "disk": "full disk: the file is named, goes on elsewhere",
}
MANY = ("sleigh", "--method", "euler", "--step", "1e-3", "--vary", "stabilize=1:100:4000")
"""So much that it does not fit on a small disk."""
SMALL = 192 * 1024


def jobs(quick: bool) -> list[Job]:
    return [Job(MODULE, (name, "1" if quick else "3"), 1, 20.0 if quick else 60.0) for name in NAMES]


def rows(samples: Samples, quick: bool) -> list[Row]:
    return [row(NAMES[job.arguments[0]], samples.get(job.name, ())) for job in jobs(quick)]


def children(process: subprocess.Popen[str]) -> list[int]:
    told = Path(f"/proc/{process.pid}/task").glob("*/children")
    return [int(number) for file in told for number in file.read_text(encoding="ascii").split()]


def without_worker(place: Path, expected: str, number: int) -> None:
    """Workers are killed, one after another, while rows come."""
    out, process = place / f"worker-{number}", None
    process = started(WHOLE, out, "--workers", "2")
    for _ in range(3):
        when_done(process, out, 5)
        for child in children(process)[:1]:
            os.kill(child, signal.SIGKILL)
    ended(process, 0)
    if table(out) != expected:
        raise Unexpected("the rows differ")


def without_program(place: Path, expected: str, number: int) -> None:
    """The program is killed at random, three times; each time it goes on, and no whole row is computed again."""
    out, chance = place / f"program-{number}", random.Random(number)
    known: set[int] = set()
    for turn in range(3):
        process = started(NATIVE, out, *(["--resume"] if turn else []))
        when_done(process, out, chance.randrange(5, 100))
        killed(process)
        if len(numbers(out)) == MEMBERS:
            break  # it was done
        if not known <= numbers(out):
            raise Unexpected("rows that were written are lost")
        known = numbers(out)
        ended(started(NATIVE, out), 2, "--resume")
        if numbers(out) != known:
            raise Unexpected("an unfinished study was overwritten")
    resumed(NATIVE, out, expected)


def interrupted(place: Path, expected: str, number: int) -> None:
    out = place / f"interrupt-{number}"
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # what runs in the background is deaf to it
    process = started(NATIVE, out, preexec_fn=heard)
    when_done(process, out, 5 + 20 * number)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    ended(process, 130, "--resume")
    if time.monotonic() - begin > 5.0:  # a second on a machine that does nothing else
        raise Unexpected("it took long to answer")
    resumed(NATIVE, out, expected)


@contextmanager
def small_disk(place: Path) -> Iterator[Path]:
    """A disk with little room, where one may be mounted; else a limit on the size of files stands for it."""
    disk = place / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SMALL}", "tmpfs", str(disk)]
    mounted = shutil.which("mount") and subprocess.run(command, capture_output=True, check=False).returncode == 0
    try:
        yield disk
    finally:
        if mounted:
            subprocess.run(["umount", str(disk)], check=True)
        else:
            shutil.rmtree(disk)


def on_full_disk(place: Path, expected: str, number: int) -> None:
    own = place / f"full-{number}"
    own.mkdir()
    with small_disk(own) as disk:
        limit = None if disk.is_mount() else partial(resource.setrlimit, resource.RLIMIT_FSIZE, (SMALL, SMALL))
        ended(started(MANY, disk / "s", preexec_fn=limit), 2, str(disk / "s" / STUDY))
        if not numbers(disk / "s"):
            raise Unexpected("nothing was kept")
        shutil.copytree(disk / "s", own / "larger")
    resumed(MANY, own / "larger", expected)


CASES = {"worker": without_worker, "program": without_program, "interrupt": interrupted, "disk": on_full_disk}


def job(name: str, count: str) -> Answer:
    with folder() as place:
        expected = undisturbed({"worker": WHOLE, "disk": MANY}.get(name, NATIVE), place)
        return survived([partial(CASES[name], place, expected, number) for number in range(int(count))])


if __name__ == "__main__":
    answer({name: partial(job, name) for name in CASES})
