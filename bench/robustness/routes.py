"""Random systems in all forms against accelerations and multipliers by another way of differentiating.

Every tenth is compared as native code, the others with each linear system of their equations solved as it stands: writing and
compiling a program takes five times as long as all the rest.

The seeds are new every time; ``python -m bench.robustness.routes run SEED COUNT`` does the same systems again.
"""

from __future__ import annotations

import os
from random import SystemRandom
from tempfile import TemporaryDirectory

from bench.robustness.comparison import TOLERANCE, differences
from bench.tools.jobs import Answer, Job, Samples, answer, finds, series
from bench.tools.rows import Row

MODULE = "bench.robustness.routes"
SEED = SystemRandom().randrange(10**9)
SYSTEMS, EACH, NATIVE = 5000, 500, 10


def jobs(quick: bool) -> list[Job]:
    count = 100 if quick else SYSTEMS
    each = min(EACH, count)
    return [Job(MODULE, ("run", str(SEED + first), str(each)), 1, 0.07 * each) for first in range(0, count, each)]


def rows(samples: Samples, quick: bool) -> list[Row]:
    done = {key: sum(sum(series(samples, job, key)) for job in jobs(quick)) for key in ("systems", "forms", "agree")}
    worst = max((x for job in jobs(quick) for x in series(samples, job, "worst")), default=float("nan"))
    wrong = [find for job in jobs(quick) for found in samples.get(job.name, ()) for find in finds(found)]
    count = sum(int(job.arguments[2]) for job in jobs(quick))
    note = f"seeds from {SEED}, {done['forms']:.0f} forms compared, the worst differs by {worst:.1e}"
    share = done["agree"] / count
    return [
        Row(
            "random systems: all forms agree",
            done["agree"],
            float(count),
            share,
            "systems",
            "all",
            1.0,
            note="; ".join([note, *wrong]),
        )
    ]


def run_job(seed: str, count: str) -> Answer:
    """How many systems and forms were compared, how many systems agree, the worst difference, and where it is too large.

    Code of systems that are met once is kept elsewhere, or it would drive out the user's.
    """
    with TemporaryDirectory() as folder:
        os.environ["SVYAZ_CACHE"] = folder
        return _compared(seed, count)


def _compared(seed: str, count: str) -> Answer:
    found: Answer = {"systems": 0.0, "forms": 0.0, "agree": 0.0, "worst": 0.0}
    for number in range(int(seed), int(seed) + int(count)):
        off = differences(number, native=number % NATIVE == 0)
        wrong = {form: x for form, x in off.items() if not x <= TOLERANCE}
        found["systems"] += 1
        found["forms"] += len(off)
        found["agree"] += not wrong
        found["worst"] = max([found["worst"], *off.values()])
        found |= {f"seed {number}, {form}: off by {x:.1e}": x for form, x in wrong.items()}
    return found


if __name__ == "__main__":
    answer({"run": run_job})
