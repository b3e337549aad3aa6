"""Mutated models of the gallery, read and run briefly: only a ModelError or a status, within bounds of time and memory.

The seeds are new every time; ``python -m bench.robustness.texts run SEED COUNT`` does the same texts again.
"""

from __future__ import annotations

from collections import Counter
from random import SystemRandom

from bench.robustness.trials import trials
from bench.tools.jobs import Answer, Job, Samples, answer, finds
from bench.tools.rows import Row

MODULE = "bench.robustness.texts"
SEED = SystemRandom().randrange(10**9)
TEXTS, EACH = 10_000, 500
SHOWN = 10


def jobs(quick: bool) -> list[Job]:
    count = 200 if quick else TEXTS
    each = min(EACH, count)
    return [Job(MODULE, ("run", str(SEED + first), str(each)), 1, 0.4 * each) for first in range(0, count, each)]


def rows(samples: Samples, quick: bool) -> list[Row]:
    done = Counter[str]()
    for job in jobs(quick):
        for found in samples.get(job.name, ()):
            done.update(found)  # type: ignore[arg-type]
    count = sum(int(job.arguments[2]) for job in jobs(quick))
    wrong = finds(dict(done))
    outcomes = ", ".join(f"{number:.0f} × {key}" for key, number in done.most_common() if key not in wrong)
    note = "; ".join([f"seeds from {SEED}: {outcomes}", *wrong[:SHOWN]])
    good = float(sum(done.values()) - len(wrong) * 2)
    return [
        Row(
            "mutated models: a ModelError or a status", good, float(count), good / count, "texts", "all", 1.0, note=note
        )
    ]


def run_job(seed: str, count: str) -> Answer:
    """{outcome: how often}, and what went wrong with which seed."""
    found: Answer = Counter()
    for trial in trials(range(int(seed), int(seed) + int(count)), "gallery"):
        found[trial.outcome] += 1.0
        if trial.wrong:
            found[f"seed {trial.seed}: {' '.join(trial.wrong.split())[:300]}"] = 1.0
    return dict(found)


if __name__ == "__main__":
    answer({"run": run_job})
