"""The mechanisms in EXUDYN: rigid bodies in the plane with revolute joints, its implicit trapezoidal rule of index 2.

Nothing is written to files, one thread; full Newton, which was faster here than the modified one.
"""

from __future__ import annotations

from collections.abc import Callable
from math import atan2, hypot
from typing import Any

import numpy as np
from bench.constraints.mechanisms import GRAVITY, SAMPLES, UNTIL
from bench.constraints.setting import Floats, system


class Assembly:
    """A multibody system under construction in EXUDYN; ``sensors`` give the points that are compared."""

    def __init__(self) -> None:
        import exudyn
        import exudyn.utilities as items

        self.items, self.exu = items, exudyn
        self.container = exudyn.SystemContainer()
        self.mbs = self.container.AddSystem()
        self.ground = self.mbs.AddObject(items.ObjectGround())
        self.sensors: list[Any] = []

    def fixed(self, x: float, y: float) -> Any:
        """A marker on the ground."""
        return self.mbs.AddMarker(self.items.MarkerBodyPosition(bodyNumber=self.ground, localPosition=[x, y, 0]))

    def point(self, mass: float, at: tuple[float, float], speed: tuple[float, float], weight: bool) -> tuple[Any, Any]:
        """(node, marker) of a mass point, whose position is sensed."""
        node = self.mbs.AddNode(self.items.NodePoint2D(referenceCoordinates=list(at), initialVelocities=list(speed)))
        self.mbs.AddObject(self.items.MassPoint2D(mass=mass, nodeNumber=node))
        marker = self.mbs.AddMarker(self.items.MarkerNodePosition(nodeNumber=node))
        if weight:
            self.mbs.AddLoad(self.items.Force(markerNumber=marker, loadVector=[0, -mass * GRAVITY, 0]))
        kind = self.exu.OutputVariableType.Position
        sensor = self.items.SensorNode(nodeNumber=node, storeInternal=True, outputVariableType=kind)
        self.sensors.append(self.mbs.AddSensor(sensor))
        return node, marker

    def rod(
        self, mass: float, ends: tuple[Floats, Floats], speeds: tuple[Floats, Floats], sensed: bool
    ) -> tuple[Any, Any]:
        """Markers at both ends of a uniform rod given by its ends and their velocities; the second end may be sensed."""
        along, turn = ends[1] - ends[0], speeds[1] - speeds[0]
        length = hypot(*along)
        spin = (along[0] * turn[1] - along[1] * turn[0]) / length**2
        middle, speed = (ends[0] + ends[1]) / 2, (speeds[0] + speeds[1]) / 2
        reference, velocity = [*middle, atan2(along[1], along[0])], [*speed, spin]
        node = self.mbs.AddNode(self.items.NodeRigidBody2D(referenceCoordinates=reference, initialVelocities=velocity))
        body = self.mbs.AddObject(self.items.RigidBody2D(mass=mass, inertia=mass * length**2 / 12, nodeNumber=node))
        centre = self.mbs.AddMarker(self.items.MarkerBodyPosition(bodyNumber=body))
        self.mbs.AddLoad(self.items.Force(markerNumber=centre, loadVector=[0, -mass * GRAVITY, 0]))
        places = [[-length / 2, 0, 0], [length / 2, 0, 0]]
        first, second = (
            self.mbs.AddMarker(self.items.MarkerBodyPosition(bodyNumber=body, localPosition=place)) for place in places
        )
        if sensed:
            kind = self.exu.OutputVariableType.Position
            sensor = self.items.SensorBody(
                bodyNumber=body, localPosition=places[1], storeInternal=True, outputVariableType=kind
            )
            self.sensors.append(self.mbs.AddSensor(sensor))
        return first, second

    def join(self, first: Any, second: Any) -> None:
        """A revolute joint."""
        self.mbs.AddObject(self.items.RevoluteJoint2D(markerNumbers=[first, second]))


def _pendulum(made: Assembly, q: Floats, v: Floats) -> list[int]:
    _, end = made.point(1.0, (q[0], q[1]), (v[0], v[1]), weight=True)
    made.mbs.AddObject(made.items.DistanceConstraint(markerNumbers=[made.fixed(0, 0), end], distance=1.0))
    return [0, 1]


def _slider_crank(made: Assembly, q: Floats, v: Floats) -> list[int]:
    zero, a, b = np.zeros(2), q[:2], np.array([q[2], 0.0])
    speed_a, speed_b = v[:2], np.array([v[2], 0.0])
    crank = made.rod(1.0, (zero, a), (zero, speed_a), sensed=True)
    rod = made.rod(2.0, (a, b), (speed_a, speed_b), sensed=False)
    node, slider = made.point(1.0, (b[0], b[1]), (speed_b[0], speed_b[1]), weight=False)
    made.join(made.fixed(0, 0), crank[0])
    made.join(crank[1], rod[0])
    made.join(rod[1], slider)
    still = made.mbs.AddNode(made.items.NodePointGround())
    pair = [
        made.mbs.AddMarker(made.items.MarkerNodeCoordinate(nodeNumber=n, coordinate=k))
        for n, k in ((still, 0), (node, 1))
    ]
    made.mbs.AddObject(made.items.CoordinateConstraint(markerNumbers=pair))
    return [0, 1, 2]


def _four_bar(made: Assembly, q: Floats, v: Floats) -> list[int]:
    zero, far = np.zeros(2), np.array([3.0, 0.0])
    b, c, speed_b, speed_c = q[:2], q[2:], v[:2], v[2:]
    crank = made.rod(1.0, (zero, b), (zero, speed_b), sensed=True)
    coupler = made.rod(1.0, (b, c), (speed_b, speed_c), sensed=True)
    rocker = made.rod(1.0, (far, c), (zero, speed_c), sensed=False)
    made.join(made.fixed(0, 0), crank[0])
    made.join(crank[1], coupler[0])
    made.join(coupler[1], rocker[1])
    made.join(made.fixed(3, 0), rocker[0])
    return [0, 1, 2, 3]


BUILDERS = {"pendulum-xy": _pendulum, "slider-crank": _slider_crank, "four-bar": _four_bar}


def solver(name: str) -> Callable[[int], tuple[Callable[[], None], Callable[[], Floats]]]:
    """steps → (what solves, what then gives the positions at the compared moments); assembling is not timed."""
    state = np.array(system(name).initial_state())
    n = len(state) // 2

    def prepared(steps: int) -> tuple[Callable[[], None], Callable[[], Floats]]:
        made = Assembly()
        columns = BUILDERS[name](made, state[:n], state[n:])
        made.mbs.Assemble()
        settings = _settings(made.exu, steps)
        kind = made.exu.DynamicSolverType.TrapezoidalIndex2

        def solve() -> None:
            made.mbs.SolveDynamic(settings, solverType=kind)

        def positions() -> Floats:
            tables = [made.mbs.GetSensorStoredData(sensor)[:, 1:3] for sensor in made.sensors]
            return np.hstack(tables)[-(SAMPLES + 1) :, columns]

        return solve, positions

    return prepared


def _settings(exudyn: Any, steps: int) -> Any:
    settings = exudyn.SimulationSettings()
    integration = settings.timeIntegration
    integration.numberOfSteps, integration.endTime, integration.verboseMode = steps, UNTIL, 0
    integration.newton.useModifiedNewton = False
    integration.newton.relativeTolerance, integration.newton.absoluteTolerance = 1e-10, 1e-12
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = UNTIL / SAMPLES
    settings.show.statistics = settings.show.computationTime = False
    settings.parallel.numberOfThreads = 1
    return settings
