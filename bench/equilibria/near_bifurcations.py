"""Systems within 1e-7 … 1e-3 of a bifurcation: is a list ever called complete that is not, and is anything missing?

``python -m bench.equilibria.near_bifurcations agree SEED COUNT`` does the same systems again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from bench.equilibria.bifurcations import Near, near_bifurcation
from bench.tools.jobs import Answer, Job, Samples, answer, finds, series
from bench.tools.rows import Row

from svyaz import System

MODULE = "bench.equilibria.near_bifurcations"
SYSTEMS, EACH = 500, 25


@dataclass(frozen=True)
class NearCompared:
    """What was found of a system near a bifurcation, beside what there is."""

    near: Near
    complete: bool
    finished: bool
    missed: tuple[str, ...]
    extra: tuple[str, ...]

    @property
    def false_claim(self) -> bool:
        """Is a list called complete that is not?"""
        return self.complete and bool(self.missed or self.extra)


def compared(near: Near) -> NearCompared:
    """The answer beside the known equilibria: one is meant when it is nearer than a third of the least distance of two."""
    found = System(**near.words).equilibria()
    names = near.words["coordinates"]
    told = [np.array([e.state[q] for q in names]) for e in found.equilibria]
    known = [np.array(q) for q in near.known]
    least = min((np.abs(a - b).max() for k, a in enumerate(known) for b in known[:k]), default=1.0)
    close = min(1e-6, 0.3 * least)

    def absent(these: list[np.ndarray], those: list[np.ndarray]) -> tuple[str, ...]:
        return tuple(str(a) for a in these if not any(np.abs(a - b).max() < close for b in those))

    finished = not found.left and not found.family
    return NearCompared(near, found.complete, finished, absent(known, told), absent(told, known))


def jobs(quick: bool) -> list[Job]:
    count = 50 if quick else SYSTEMS
    return [Job(MODULE, ("agree", str(first), str(EACH)), 1, 0.5 * EACH) for first in range(0, count, EACH)]


def rows(samples: Samples, quick: bool) -> list[Row]:
    done = {key: sum(sum(series(samples, job, key)) for job in jobs(quick)) for key in ("proved", "found", "honest")}
    told = [find for job in jobs(quick) for found in samples.get(job.name, ()) for find in finds(found)]
    count = float(sum(int(job.arguments[2]) for job in jobs(quick)))
    note = "; ".join([f"{done['proved']:.0f} lists proved, {done['found']:.0f} without a gap", *told])
    name = "systems near a bifurcation: no list is called complete that is not"
    return [Row(name, done["honest"], count, done["honest"] / count, "systems", "all", 1.0, note=note)]


def agree_job(seed: str, count: str) -> Answer:
    """How many lists are complete, have no gap, and claim nothing false; and each gap with its seed."""
    found: Answer = dict.fromkeys(("proved", "found", "honest"), 0.0)
    for number in range(int(seed), int(seed) + int(count)):
        one = compared(near_bifurcation(number))
        found["proved"] += one.complete
        found["found"] += not one.missed
        found["honest"] += not one.false_claim
        if one.false_claim or one.missed:
            which = "false claim" if one.false_claim else "gap" if one.finished else "not finished"
            found[f"seed {number}, {one.near.kind}, {one.near.distance:.1g} away: {which}"] = 1.0
    return found


if __name__ == "__main__":
    answer({"agree": agree_job})
