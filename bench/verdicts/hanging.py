"""Hanging at rest with a length that is off by 1e-9: the verdict is exact, unstable grows and stable decays.

The number of steps follows from the largest factor in a step: enough for a growth or decay by REACH.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil, log

import numpy as np
from bench.tools.jobs import Answer, Job, Samples, answer, series
from bench.tools.nine import Rig, rig
from bench.tools.rows import Row
from bench.verdicts.draws import Draw, draws

from svyaz.stabilise.advancing import advance

MODULE = "bench.verdicts.hanging"
OFF = 1e-9
REACH = 1e6
GROWN, DECAYED = 1000.0, 0.1
STEPS = (1e-4, 1e-1)
SEED = 11


def hanging() -> Rig:
    """The pendulum at rest at the bottom, its length off by OFF."""
    return rig("pendulum-xy", **{"initial.x": 0, "initial.y": -(1 + OFF)})


def growth(made: Rig, draw: Draw) -> tuple[float, float]:
    """(largest, last) size of (h, τḣ) over the first."""
    tau = draw.options.step
    assert tau is not None, "draws have fixed steps"
    count = max(4, ceil(log(REACH) / abs(log(max(draw.factor, 1e-3)))))
    options = replace(draw.options, until=count * tau)
    segment = made.segment.regained(draw.law)
    path = advance(segment, made.state, (0.0, count * tau), options, None, None)
    y = np.abs(made.measured.at(path.times, path.states)) * [1.0, tau]
    size = np.max(y, axis=1)
    if path.status != "finished":
        return float("inf"), float("inf")
    return float(np.max(size) / size[0]), float(size[-1] / size[0])


def agrees(made: Rig, draw: Draw) -> bool:
    """Does the run do what the verdict says?"""
    largest, last = growth(made, draw)
    return last < DECAYED if draw.verdict.stable else largest >= GROWN


def job(quick: bool) -> Job:
    return Job(MODULE, ("agree", "60" if quick else "400"), 1, 5.0)


def jobs(quick: bool) -> list[Job]:
    return [job(quick)]


def rows(samples: Samples, quick: bool) -> list[Row]:
    done = {key: series(samples, job(quick), key)[0] for key in ("draws", "stable", "agree")}
    note = f"{done['stable']:.0f} of {done['draws']:.0f} draws are stable"
    share = done["agree"] / done["draws"]
    return [
        Row("hanging: runs as the verdict says", done["agree"], done["draws"], share, "runs", "all", 1.0, note=note)
    ]


def agree_job(count: str) -> Answer:
    made = hanging()
    drawn = list(draws(made, int(count), STEPS, SEED))
    return {
        "draws": float(len(drawn)),
        "stable": float(sum(draw.verdict.stable for draw in drawn)),
        "agree": float(sum(agrees(made, draw) for draw in drawn)),
    }


if __name__ == "__main__":
    answer({"agree": agree_job})
