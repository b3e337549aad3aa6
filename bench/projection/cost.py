"""Time of a run with projection, or with gains, over that of the same run without; residuals in units of their scale.

A run is made of at least LEAST_STEPS steps, so that what is timed is the native loop. All kinds of run take turns, and
the median of the turns counts.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import median

import numpy as np
from bench.tools.jobs import Answer, Job, Samples, answer, clock, series
from bench.tools.nine import NINE, Rig, rig
from bench.tools.rows import Row, within

from svyaz.stabilise.advancing import advance
from svyaz.stabilise.options import Options
from svyaz.stabilise.request import stabilisation
from svyaz.stabilise.segment import Segment, prepare

MODULE = "bench.projection.cost"
METHODS = ("rk4", "dopri5", "dop853")
STEP = 1e-3
LEAST_STEPS = 20_000
TURNS = 9
LIMIT, STABILISED_LIMIT, RESIDUAL = 1.6, 1.25, 1e-12


def job(name: str, quick: bool) -> Job:
    return Job(MODULE, ("system", name, "quick" if quick else "full"), 1 if quick else 3, 4.0)


def jobs(quick: bool) -> list[Job]:
    return [job(name, quick) for name in NINE]


def rows(samples: Samples, quick: bool) -> list[Row]:
    found = []
    for name in NINE:
        done = job(name, quick)
        for method in METHODS:
            times = {kind: series(samples, done, f"{method} {kind}") for kind in ("free", "projected", "stabilised")}
            found.append(
                within(f"{name}, {method}: projection", times["projected"], times["free"], "unstabilised", LIMIT)
            )
            if method == "rk4":
                found.append(
                    within(f"{name}, rk4: gains", times["stabilised"], times["free"], "unstabilised", STABILISED_LIMIT)
                )
        worst = max(v for method in METHODS for v in series(samples, done, f"{method} residual"))
        found.append(Row(f"{name}: residual", worst, RESIDUAL, worst / RESIDUAL, "", "of its scale", 1.0, limit=True))
    return found


def system_job(name: str, extent: str) -> Answer:
    made = rig(name)
    found: Answer = {}
    for method in METHODS:
        options = made.options(method=method, step=STEP, stabilize="off")
        kinds = {
            "free": prepare(made.equations, made.critical(0.0), (), options, made.span[0], made.state),
            "projected": made.projected(replace(options, stabilize=stabilisation("projection"))),
            "stabilised": made.segment.regained(made.critical(5.0)),
        }
        turns = 3 if extent == "quick" else TURNS
        seconds: dict[str, list[float]] = {kind: [] for kind in kinds}
        for _ in range(turns):
            for kind, segment in kinds.items():
                seconds[kind].append(_time(made, segment, options))
        found.update({f"{method} {kind}": median(values) for kind, values in seconds.items()})
        path = advance(kinds["projected"], made.state, made.span, options, None, None)
        y = np.max(np.abs(made.measured.at(path.times, path.states))[1:], axis=0)
        found[f"{method} residual"] = float(np.max(y / made.measured.scales(path.times, path.states)))
    return found


def _time(made: Rig, segment: Segment, options: Options) -> float:
    """Seconds of a step: the phase is run again and again until LEAST_STEPS are made; rows only at its ends."""
    steps, ends = 0, np.array(made.span)
    begin = clock()
    while steps < LEAST_STEPS:
        steps += advance(segment, made.state, made.span, options, ends, None).steps
    return (clock() - begin) / steps


if __name__ == "__main__":
    answer({"system": system_job})
