"""Points of mass 1 in a plane that bonds of given lengths join: as text for svyaz, as objects for EXUDYN, and their times.

The text is read, judged and run in a process that has made a small motion before, so that the loops, which are the same for
every model, are there; code that was kept of other runs is not looked at.
"""

from __future__ import annotations

import os
import resource
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import dist, log
from typing import TYPE_CHECKING

from bench.tools.growth import Curve
from bench.tools.jobs import Answer, Job, Samples, clock, median, series
from bench.tools.outcome import quantity
from bench.tools.rows import Row

if TYPE_CHECKING:
    from svyaz import System

GRAVITY = 9.81
UNHELD = {"method": "rk4", "step": 1e-3, "stabilize": "off"}
STEPS = 200
"""Steps over which the time of one is measured."""


@dataclass(frozen=True)
class Points:
    """Places and velocities (x, y); a bond joins two points, or one with a place that stands still."""

    places: Sequence[tuple[float, float]]
    speeds: Sequence[tuple[float, float]]
    bonds: Sequence[tuple[int, int]] = ()
    feet: Sequence[tuple[int, tuple[float, float]]] = ()

    def text(self) -> str:
        """The model file."""
        count = range(len(self.places))
        lines = ["coordinates = [" + ", ".join(f'"{c}{i}"' for c in "xy" for i in count) + "]"]
        lines.append('kinetic = "' + " + ".join(f"(x{i}'^2 + y{i}'^2)/2" for i in count) + '"')
        lines.append('potential = "' + " + ".join(f"{GRAVITY}*y{i}" for i in count) + '"')
        lines.append("[initial]")
        for i, ((x, y), (a, b)) in enumerate(zip(self.places, self.speeds, strict=True)):
            lines.append(f"x{i} = {float(x)!r}\ny{i} = {float(y)!r}")
            lines.append(f'"x{i}\'" = {float(a)!r}\n"y{i}\'" = {float(b)!r}')
        for i, (x, y) in self.feet:
            square = float(dist(self.places[i], (x, y)) ** 2)
            lines.append(f'[[constraint]]\nequation = "(x{i} - {float(x)!r})^2 + (y{i} - {float(y)!r})^2 = {square!r}"')
        for i, j in self.bonds:
            square = float(dist(self.places[i], self.places[j]) ** 2)
            lines.append(f'[[constraint]]\nequation = "(x{j} - x{i})^2 + (y{j} - y{i})^2 = {square!r}"')
        return "\n".join(lines)


def whole_motion(small: str, text: str, **options: object) -> Answer:
    """Text to result at a first start: seconds, memory, where a first point is at the end."""
    from svyaz import loads, simulate

    simulate(loads(small), **{**options, "until": 0.05})
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SVYAZ_CACHE"] = folder
        begin = clock()
        motion = simulate(loads(text), **options)
        assert motion.finished
        taken = clock() - begin
        last = dict(zip(motion.state_names, map(float, motion.states[-1]), strict=True))
        place = {name: last[name] for name in ("x0", "y0") if name in last}
        return {"whole": taken, "megabytes": memory(), **place}


def memory() -> float:
    """The most that this process has held, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def first_start(small: str, text: str) -> tuple[float, System]:
    """Seconds from the text to the first step at a first start, without stabilisation; and the system."""
    from svyaz import loads, simulate

    simulate(loads(small), **UNHELD, until=0.05)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SVYAZ_CACHE"] = folder
        begin = clock()
        system = loads(text)
        assert simulate(system, **UNHELD, until=1e-3).finished
        return clock() - begin, system


def first_step(small: str, text: str) -> Answer:
    """Text to the first step at a first start, and the time of a step of rk4, without stabilisation."""
    first, system = first_start(small, text)
    return {"first": first, "step": _step(system, UNHELD), "megabytes": memory()}


def _step(system: System, asked: Mapping[str, object]) -> float:
    """Seconds of one step in the loop of the method."""
    import numpy as np

    from svyaz import derive
    from svyaz.stabilise import OFF, integrated, options_for, perturbation, prepare

    options, equations = options_for(system, {**asked, "until": 1.0}), derive(system)
    state = np.array(system.initial_state())
    segment = prepare(equations, perturbation(equations, OFF), (), options, 0.0, state)
    taken = []
    for _ in range(3):
        begin = clock()
        path = integrated(segment, state, (0.0, STEPS * 1e-3), options, None, None)
        taken.append((clock() - begin) / path.steps)
    return min(taken)


def exudyn_motion(points: Points, steps: int, end: float) -> Answer:
    """Objects to result, and the run by itself."""
    import exudyn
    from exudyn.itemInterface import (
        Force,
        MarkerNodePosition,
        MassPoint2D,
        NodePoint2D,
        NodePointGround,
        ObjectConnectorDistance,
    )

    begin = clock()
    container = exudyn.SystemContainer()
    system = container.AddSystem()
    markers = []
    for place, speed in zip(points.places, points.speeds, strict=True):
        node = system.AddNode(NodePoint2D(referenceCoordinates=list(place), initialVelocities=list(speed)))
        system.AddObject(MassPoint2D(physicsMass=1, nodeNumber=node))
        markers.append(system.AddMarker(MarkerNodePosition(nodeNumber=node)))
        system.AddLoad(Force(markerNumber=markers[-1], loadVector=[0, -GRAVITY, 0]))
    pairs = [(markers[i], markers[j], dist(points.places[i], points.places[j])) for i, j in points.bonds]
    for i, place in points.feet:
        ground = system.AddNode(NodePointGround(referenceCoordinates=[*place, 0]))
        marker = system.AddMarker(MarkerNodePosition(nodeNumber=ground))
        pairs.append((marker, markers[i], dist(points.places[i], place)))
    for first, second, length in pairs:
        system.AddObject(ObjectConnectorDistance(markerNumbers=[first, second], distance=length))
    system.Assemble()
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.numberOfSteps, settings.timeIntegration.endTime = steps, end
    settings.timeIntegration.verboseMode = 0
    settings.solutionSettings.writeSolutionToFile = False
    settings.linearSolverType = exudyn.LinearSolverType.EigenSparse
    ready = clock()
    system.SolveDynamic(settings)
    found = system.systemData.GetODE2Coordinates()
    run = clock() - ready
    return {"whole": clock() - begin, "run": run, "step": run / steps, "x": float(found[0]), "y": float(found[1])}


def growth(name: str, samples: Samples, jobs: Mapping[int, Job], key: str, limit: float) -> Row:
    """The exponent p of time ~ Nᵖ, fitted to the logarithms."""
    taken = {n: median(series(samples, job, key)) for n, job in jobs.items()}
    logs = [log(n) for n in taken], [log(t) if t > 0.0 else float("nan") for t in taken.values()]
    exponent = _slope(*logs)
    told = f"N = {min(taken)} … {max(taken)}: " + ", ".join(quantity(t, "s") for t in taken.values())
    return Row(name, exponent, limit, exponent / limit, "", "the limit", 1.0, True, note=told)


def _slope(x: Sequence[float], y: Sequence[float]) -> float:
    a, b = sum(x) / len(x), sum(y) / len(y)
    return sum((u - a) * (v - b) for u, v in zip(x, y, strict=True)) / sum((u - a) ** 2 for u in x)


def curve(name: str, panel: str, samples: Samples, jobs: Mapping[int, Job], key: str) -> Curve:
    """How a time grows with the size."""
    return Curve(name, panel, {n: median(series(samples, job, key)) for n, job in jobs.items()})
