"""Runs of all kinds of models with contacts: how many of them are right, and the CPU time of the slowest."""

from __future__ import annotations

from bench.contacts.judging import run_case
from bench.contacts.kinds import KINDS
from bench.tools.jobs import Answer, Job, Samples, answer, clock, finds, series
from bench.tools.rows import Row

MODULE = "bench.contacts.runs"
COUNTS = {"balls side by side": 45, "10 discs": 1, "5 discs": 3}
STARTS = 20
"""Shifted starts of each kind unless said."""

BUDGET = 60.0
"""CPU seconds that no run may take."""


def jobs(quick: bool) -> list[Job]:
    kinds = [kind for kind in KINDS if not quick or kind in ("column of 3", "balls side by side")]
    return [Job(MODULE, ("judge", kind, str(2 if quick else COUNTS.get(kind, STARTS))), 1, 40.0) for kind in kinds]


def rows(samples: Samples, quick: bool) -> list[Row]:
    found = []
    for job in jobs(quick):
        kind, count = job.arguments[1], float(job.arguments[2])
        right = sum(series(samples, job, "right"))
        slowest = max(series(samples, job, "slowest"), default=0.0)
        told = [find for one in samples.get(job.name, ()) for find in finds(one)]
        note = "; ".join([f"slowest {slowest:.3g} s of CPU, at most {BUDGET:g} allowed", *told])
        found.append(Row(kind, right, count, right / count, "runs", "all", 1.0, note=note))
    return found


def judge_job(kind: str, count: str) -> Answer:
    """How many starts of a kind are right, and what is wrong with the others."""
    found: Answer = {"right": 0.0, "slowest": 0.0}
    for seed in range(int(count)):
        begun = clock()
        _, faults = run_case(KINDS[kind](seed))
        seconds = clock() - begun
        faults = [*faults, *([f"{seconds:.3g} s"] if seconds > BUDGET else [])]
        found["right"] += not faults
        found["slowest"] = max(found["slowest"], seconds)
        found |= {f"seed {seed}: {text}": 1.0 for text in faults}
    return found


if __name__ == "__main__":
    answer({"judge": judge_job})
