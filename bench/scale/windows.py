"""Chains of N parallelogram windows (2N + 2 coordinates, 2N + 1 constraints), 1 s with rk4 and 1000 steps, beside EXUDYN.

The text is read, judged and run once in a process that has made a small chain before, so that the loops, which are the
same for every model, are there. The motion passes a position at which all constraints branch.
"""

from __future__ import annotations

import resource
from itertools import pairwise
from math import log

from bench.tools.jobs import Answer, Job, Samples, answer, clock, median, series
from bench.tools.rows import Row, within

MODULE = "bench.scale.windows"
HOLDING = ("off", "gains", "projection")
COUNTS, QUICK = (10, 50, 100, 200, 500), (10, 50)
JUDGED = 100
STEADY, GROWTH = 3.0, 1.2
"""Seconds beside three times EXUDYN's, and the largest exponent of the time from 50 to 500 windows."""


def ours(count: int, holding: str) -> Job:
    return Job(MODULE, ("svyaz", str(count), holding), 1, 2 + 0.04 * count)


def peer(count: int) -> Job:
    return Job(MODULE, ("exudyn", str(count)), 1, 1 + 0.01 * count)


def jobs(quick: bool) -> list[Job]:
    counts = QUICK if quick else COUNTS
    return [ours(n, how) for n in counts for how in HOLDING] + [peer(n) for n in counts]


def rows(samples: Samples, quick: bool) -> list[Row]:
    found = []
    for n in QUICK if quick else COUNTS:
        whole = series(samples, peer(n), "whole")
        for how in HOLDING:
            allowed = [3 * median(whole) + STEADY] if whole else []
            name, bar = f"{n} windows, {how}", 1.0 if n == JUDGED else None
            found.append(within(name, series(samples, ours(n, how), "whole"), allowed, "3 EXUDYN + 3 s", bar))
    return found if quick else [*found, *(_growth(samples, how) for how in HOLDING)]


def _growth(samples: Samples, how: str) -> Row:
    """The exponent p of time ~ Nᵖ from 50 to 500 windows."""
    small, large = (median(series(samples, ours(n, how), "whole")) for n in (50, 500))
    exponent = log(large / small) / log(10)
    memory = median(series(samples, ours(500, how), "megabytes"))
    return Row(
        f"exponent, {how}", exponent, GROWTH, exponent / GROWTH, "", "the limit", 1.0, True, note=f"{memory:.0f} MB"
    )


def model(count: int) -> str:
    """The text of a chain."""
    points = range(count + 1)
    names = ", ".join(f'"{c}{i}"' for c in "xy" for i in points)
    lines = [f"coordinates = [{names}]"]
    lines.append('kinetic = "' + " + ".join(f"(x{i}'^2 + y{i}'^2)/2" for i in points) + '"')
    lines.append('potential = "' + " + ".join(f"9.81*y{i}" for i in points) + '"')
    lines += ["[initial]", *(f'x{i} = {i}\ny{i} = 1\n"x{i}\'" = 1' for i in points)]
    lines += [f'[[constraint]]\nequation = "(x{i} - {i})^2 + y{i}^2 = 1"' for i in points]
    beams = [f"(x{i + 1} - x{i})^2 + (y{i + 1} - y{i})^2 = 1" for i in range(count)]
    return "\n".join([*lines, *(f'[[constraint]]\nequation = "{beam}"' for beam in beams)])


def svyaz_job(count: str, holding: str) -> Answer:
    from svyaz import loads, simulate

    how = 10 if holding == "gains" else holding
    simulate(loads(model(3)), method="rk4", step=1e-3, until=0.05, stabilize=how)
    begin = clock()
    motion = simulate(loads(model(int(count))), method="rk4", step=1e-3, until=1.0, stabilize=how)
    assert motion.finished
    return {"whole": clock() - begin, "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def exudyn_job(count: str) -> Answer:
    import exudyn
    from exudyn.itemInterface import (
        Force,
        MarkerNodePosition,
        MassPoint2D,
        NodePoint2D,
        NodePointGround,
        ObjectConnectorDistance,
    )

    begin, points = clock(), range(int(count) + 1)
    container = exudyn.SystemContainer()
    system = container.AddSystem()
    upper, feet = [], []
    for i in points:
        node = system.AddNode(NodePoint2D(referenceCoordinates=[i, 1], initialVelocities=[1, 0]))
        system.AddObject(MassPoint2D(physicsMass=1, nodeNumber=node))
        upper.append(system.AddMarker(MarkerNodePosition(nodeNumber=node)))
        system.AddLoad(Force(markerNumber=upper[-1], loadVector=[0, -9.81, 0]))
        ground = system.AddNode(NodePointGround(referenceCoordinates=[i, 0, 0]))
        feet.append(system.AddMarker(MarkerNodePosition(nodeNumber=ground)))
    pairs = [*zip(feet, upper, strict=True), *pairwise(upper)]
    for pair in pairs:
        system.AddObject(ObjectConnectorDistance(markerNumbers=list(pair), distance=1))
    system.Assemble()
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.numberOfSteps, settings.timeIntegration.endTime = 1000, 1.0
    settings.timeIntegration.verboseMode = 0
    settings.solutionSettings.writeSolutionToFile = False
    settings.linearSolverType = exudyn.LinearSolverType.EigenSparse
    system.SolveDynamic(settings)
    return {"whole": clock() - begin}


if __name__ == "__main__":
    answer({"svyaz": svyaz_job, "exudyn": exudyn_job})
