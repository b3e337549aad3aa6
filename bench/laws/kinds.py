"""Twenty random laws of each kind: the run against an integration by SciPy of equations formed by SymPy."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from bench.tools.jobs import Answer, Job, Samples, answer, series
from bench.tools.rows import Row

from svyaz import System

sys.path.append(str(Path(__file__).parents[2] / "tests" / "tools"))
from law_oracle import KINDS, model, moved

MODULE = "bench.laws.kinds"
COUNT, LARGEST = 20, 1e-8


def job(kind: str, quick: bool) -> Job:
    return Job(MODULE, ("kind", kind, "4" if quick else str(COUNT)), 1, 10.0)


def jobs(quick: bool) -> list[Job]:
    return [job(kind, quick) for kind in KINDS]


def rows(samples: Samples, quick: bool) -> list[Row]:
    found = []
    for kind in KINDS:
        worst, count, proved = (series(samples, job(kind, quick), key)[0] for key in ("worst", "count", "proved"))
        note = f"{count:.0f} laws; a region was proved for {proved:.0f}"
        found.append(Row(f"{kind} laws", worst, LARGEST, worst / LARGEST, "", "allowed", 1.0, limit=True, note=note))
    return found


def kind_job(kind: str, count: str) -> Answer:
    rng, worst, proved = np.random.default_rng(13), 0.0, 0
    for _ in range(int(count)):
        drawn = KINDS[kind](rng)
        system = System(**model(drawn.laws))  # type: ignore[arg-type]
        motion = system.simulate(method="dop853", rtol=1e-11, until=1.0, every=0.1, stabilize=drawn.stabilize)  # type: ignore[arg-type]
        assert motion.finished, motion.reason
        worst = max(worst, float(np.abs(motion.states - moved(drawn.law, motion.times)).max()))
        proved += motion.gains is not None and all(region.proved for region in motion.gains.regions)
    return {"worst": worst, "count": float(count), "proved": float(proved)}


if __name__ == "__main__":
    answer({"kind": kind_job})
