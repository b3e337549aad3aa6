"""``svyaz steady`` with given speeds, end to end, in CPU time, beside ``svyaz regulate ball-and-beam``."""

from __future__ import annotations

import os
import subprocess
import sys

from bench.tools.jobs import Answer, Job, Samples, answer, series
from bench.tools.rows import Row, within

MODULE = "bench.steady.commands"
PEER = ("regulate", "ball-and-beam")
ASKED = {
    ("steady", "bicycle"): 3.0,
    ("steady", "hoop", "--fix", "psi'=6"): 2.0,
    ("steady", "watt-governor"): 2.0,
    ("steady", "flywheel-satellite"): 2.0,
    ("steady", "rolling-disc"): 2.0,
}


def _job(asked: tuple[str, ...], quick: bool) -> Job:
    return Job(MODULE, ("command", *asked), 1 if quick else 5, 6.0)


def jobs(quick: bool) -> list[Job]:
    return [_job(asked, quick) for asked in (PEER, *ASKED)]


def rows(samples: Samples, quick: bool) -> list[Row]:
    peer = series(samples, _job(PEER, quick), "seconds")
    return [
        within(
            f"svyaz {' '.join(asked)}, CPU", series(samples, _job(asked, quick), "seconds"), peer, " ".join(PEER), bar
        )
        for asked, bar in ASKED.items()
    ]


def command(*asked: str) -> Answer:
    """CPU seconds of the program as a person starts it; the first time, which fills caches, is not counted."""
    words = [sys.executable, "-m", "svyaz", *asked, "--json", "-"]
    subprocess.run(words, capture_output=True, check=True)
    before = os.times()
    subprocess.run(words, capture_output=True, check=True)
    after = os.times()
    return {"seconds": after.children_user + after.children_system - before.children_user - before.children_system}


if __name__ == "__main__":
    answer({"command": command})
