"""The nine constrained systems on which predictions, projection and the choice of gains are measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svyaz import System, gallery, loads
from svyaz.forms import Equations
from svyaz.integrate import Path
from svyaz.motion import phases_of
from svyaz.stabilise.advancing import advance
from svyaz.stabilise.deviation import Deviations, deviations
from svyaz.stabilise.options import Options, options_for
from svyaz.stabilise.perturbations import Perturbation, critical, perturbation
from svyaz.stabilise.request import stabilisation
from svyaz.stabilise.segment import Segment, prepare

Floats = NDArray[np.float64]

NINE = (
    "pendulum-xy",
    "sleigh",
    "ball-on-plane",
    "three-link",
    "slider-crank",
    "four-bar",
    "rolling-disc",
    "rocket-path",
    "sling-hooked",
)


@dataclass(frozen=True)
class Rig:
    """A system ready to be run with any gains: the code of its first phase, its start, and its span."""

    system: System
    equations: Equations
    state: Floats
    span: tuple[float, float]
    segment: Segment
    measured: Deviations

    def options(self, **asked: Any) -> Options:
        return options_for(self.system, asked)

    def run(self, law: Perturbation, options: Options, grid: Floats | None = None) -> Path:
        return advance(self.segment.regained(law), self.state, self.span, options, grid, None)

    def critical(self, kappa: float) -> Perturbation:
        return critical(self.equations, kappa)

    def residuals(self, path: Path) -> tuple[Floats, Floats]:
        """(largest deviation, own scale) of each constraint along a path."""
        y = np.abs(self.measured.at(path.times, path.states))[:, self.measured.reported]
        return np.max(y, axis=0), self.measured.scales(path.times, path.states)[self.measured.reported]

    def projected(self, options: Options) -> Segment:
        """The code without gains that puts the state back on the constraints after each step."""
        law = perturbation(self.equations, stabilisation("projection"))
        return prepare(self.equations, law, (), options, self.span[0], self.state)


def rig(name: str, **settings: Any) -> Rig:
    """The first phase of a gallery model over its own span."""
    text = gallery.find(name)
    assert text is not None, name
    system = loads(text, name).with_settings(settings)
    options = options_for(system, {"method": "rk4", "step": 0.001, "stabilize": "off"})
    phase = phases_of(system, "multipliers", options)[0]
    equations = phase.equations
    state = np.array(system.initial_state())
    segment = prepare(equations, critical(equations, 1.0), (), options, phase.start, state)
    return Rig(system, equations, state, (phase.start, phase.end), segment, deviations(equations))
