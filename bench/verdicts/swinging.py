"""Let go from the horizontal: gains that the verdict allows and with which the run is lost all the same.

The verdict is necessary, not sufficient: critically damped gains are raised towards the limit of each method, and the
part of the limit from which on runs are lost is tabulated. The run's own watch must report every one of them.
"""

from __future__ import annotations

import numpy as np
from bench.tools.jobs import Answer, Job, Samples, answer, series
from bench.tools.nine import Rig, rig
from bench.tools.rows import Row

from svyaz.motion import simulate
from svyaz.stabilise.pilot import scheme_of
from svyaz.stabilise.verdicts import largest_gain

MODULE = "bench.verdicts.swinging"
METHODS = ("euler", "rk2", "rk4", "dopri5")
STEPS = (0.005, 0.01, 0.02)
SHARES = tuple(np.round(np.arange(0.5, 1.0, 0.03), 2))
LOST = 0.1
"""Residual over l² from which on a run counts as lost."""


def lost(made: Rig, method: str, step: float, share: float) -> tuple[bool, float]:
    """(was the constraint lost, κ) with a gain that is this part of the limit of the method."""
    options = made.options(method=method, step=step, stabilize="off")
    kappa = share * largest_gain(scheme_of(options))
    path = made.run(made.critical(kappa), options)
    return path.status != "finished" or float(made.residuals(path)[0].max()) > LOST, kappa


def reported(made: Rig, method: str, step: float, kappa: float) -> bool:
    """Does the result of this run say that it was lost?"""
    motion = simulate(made.system, method=method, step=step, stabilize=float(kappa))
    return motion.status != "finished" or any("lost" in note for note in motion.notes)


def job(method: str, quick: bool) -> Job:
    return Job(MODULE, ("scan", method, "quick" if quick else "full"), 1, 8.0)


def jobs(quick: bool) -> list[Job]:
    return [job(method, quick) for method in METHODS]


def rows(samples: Samples, quick: bool) -> list[Row]:
    found = []
    for method in METHODS:
        done = job(method, quick)
        for step in STEPS:
            first = series(samples, done, f"first {step:g}")
            if first:
                found.append(
                    Row(f"swinging, {method}, step {step:g}: lost from", first[0], 1.0, first[0], "", "the limit")
                )
        told, count = (series(samples, done, key)[0] for key in ("reported", "lost"))
        share = told / count if count else 1.0
        found.append(Row(f"swinging, {method}: lost runs that are reported", told, count, share, "runs", "all", 1.0))
    return found


def scan_job(method: str, extent: str) -> Answer:
    made = rig("pendulum-xy")
    found: Answer = {"lost": 0.0, "reported": 0.0}
    for step in STEPS[1:2] if extent == "quick" else STEPS:
        first = 1.0
        for share in SHARES:
            gone, kappa = lost(made, method, step, share)
            if gone:
                first = min(first, float(share))
                found["lost"] += 1
                found["reported"] += reported(made, method, step, kappa)
        found[f"first {step:g}"] = first
    return found


if __name__ == "__main__":
    answer({"scan": scan_job})
