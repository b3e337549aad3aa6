"""From a model to a regulator: the equilibrium, the design, its rival from a wrong model, the verdict, all in one answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svyaz import __version__
from svyaz.control.basin import Basin
from svyaz.control.design import Design, designed, measurement_of, theorem_of
from svyaz.control.loop import ClosedLoop, Transient, closed_loop
from svyaz.control.margins import Margin, kept, margin, redesigned_from_linearised
from svyaz.control.regulators import NotSolvable
from svyaz.control.weights import Weights
from svyaz.model import System
from svyaz.stability.choice import Chosen, equilibrium_near
from svyaz.stability.critical import Hypothesis, words_for
from svyaz.stability.linearisation import FirstApproximation, with_linearised_constraints
from svyaz.stability.roots import roots, zero_roots


@dataclass(frozen=True)
class Regulation:
    """A control for an equilibrium, with the reasons why it works; ``rival`` is designed from linearised constraints.

    ``refused`` says why the model with linearised constraints allows no design, when it does not.
    """

    system: System
    chosen: Chosen
    plant: FirstApproximation
    design: Design
    theorem: str
    hypotheses: tuple[Hypothesis, ...]
    rival: Design | None = None
    notes: tuple[str, ...] = field(default=())
    refused: str = ""

    @property
    def valid(self) -> bool:
        """Do all hypotheses of the theorem hold?"""
        return all(h.holds for h in self.hypotheses)

    def loop(self) -> ClosedLoop:
        """The nonlinear system under the control."""
        return closed_loop(self.design)

    def rival_loop(self) -> ClosedLoop:
        """The nonlinear system under the control that was designed from linearised constraints."""
        assert self.rival is not None, "a rival is made only when it is asked for"
        return closed_loop(self.rival)

    def margin(self, name: str, span: tuple[float, float]) -> Margin:
        """Where the rival fails when it is designed anew for each value; without a rival, where the control itself fails."""
        control = redesigned_from_linearised(self.rival) if self.rival is not None else kept(self.design)
        return margin(
            self.system, self.chosen.equilibrium, self.chosen.fixed, self.plant.dependent, name, span, control
        )

    def as_json(
        self, critical: Margin | None = None, found: Basin | None = None, runs: Mapping[str, Transient] | None = None
    ) -> dict[str, Any]:
        """As the contract writes it."""
        design = self.design
        result: dict[str, Any] = {
            "svyaz": __version__,
            "model": self.system.name,
            "state": dict(self.plant.state),
            "inputs": dict(self.plant.inputs),
            "variables": list(self.plant.variables),
            "dependent": list(self.plant.dependent),
            "control": list(design.inputs),
            "A": self.plant.A.tolist(),
            "B": design.B.tolist(),
            "Z": self.plant.Z.tolist(),
            "K": design.regulator.gain.tolist(),
            "open_roots": pairs(roots(self.plant.A)),
            "closed_roots": pairs(design.closed_roots(self.plant)),
            "zero_roots": len(self.plant.dependent) + zero_roots(design.closed_matrix(self.plant)),
            "controllable": design.controllable.complete,
            "observable": None if design.observable is None else design.observable.complete,
            "observer": _observer_json(design),
            "riccati_residual": design.regulator.residual,
            "linearisation_defect": self.plant.linearisation_defect,
            "theorem": self.theorem,
            "hypotheses": words_for(self.hypotheses),
            "least_number_of_inputs": design.controllable.minimal,
            "notes": list(self.notes),
            "parameters": dict(self.system.constants),
            "initial": dict(zip(self.system.states, self.system.initial_state(), strict=True)),
        }
        if self.rival is not None:
            result["against"] = self._rival_json(self.rival)
        elif self.refused:
            result["against"] = {"model": "linearised constraints", "reason": self.refused, "stabilises": False}
        if critical is not None:
            result["critical"] = critical.as_json()
        if found is not None:
            result["basin"] = found.as_json()
        if runs:
            result["runs"] = {name: run_json(run) for name, run in runs.items()}
        return result

    def _rival_json(self, rival: Design) -> dict[str, Any]:
        return {
            "model": "linearised constraints",
            "A": rival.model.A.tolist(),
            "K": rival.regulator.gain.tolist(),
            "observer": _observer_json(rival),
            "predicted_roots": pairs(rival.closed_roots(rival.model)),
            "closed_roots": pairs(rival.closed_roots(self.plant)),
            "stabilises": rival.stabilises(self.plant),
        }


def regulate(
    system: System,
    *,
    near: Mapping[str, float] | None = None,
    fix: Mapping[str, float] | None = None,
    box: Mapping[str, tuple[float, float]] | None = None,
    dependent: Sequence[str] | None = None,
    inputs: Sequence[str] | None = None,
    measure: Sequence[str] = (),
    weights: Weights | None = None,
    against_linearised: bool = False,
) -> Regulation:
    """A regulator (and an observer) about the equilibrium nearest to ``near``.

    Raises NoEquilibrium or NotSolvable, with the reason, when there is none to be had.
    """
    chosen = equilibrium_near(system, near, fix, box, dependent)
    plant = chosen.equilibrium.approximation
    assert plant is not None, "a chosen equilibrium has a first approximation"
    measured = measurement_of(plant, measure) if measure else None
    design = designed(plant, inputs, weights, measured)
    rival, refused = _rival(plant, design) if against_linearised else (None, "")
    theorem, hypotheses = theorem_of(design, plant)
    notes = [*chosen.notes, *chosen.equilibrium.notes, *plant.notes]
    notes += [f"linearised constraints allow no design: {refused}"] if refused else []
    told = tuple(dict.fromkeys(notes))
    return Regulation(plant.system, chosen, plant, design, theorem, hypotheses, rival, told, refused)


def _rival(plant: FirstApproximation, design: Design) -> tuple[Design | None, str]:
    """The design from linearised constraints; where they leave nothing to control or to see, the reason."""
    wrong = with_linearised_constraints(plant.system, plant.state, plant.inputs, plant.dependent or None)
    try:
        return designed(wrong, design.inputs, design.weights, design.measurement), ""
    except NotSolvable as refusal:
        return None, str(refusal)


def pairs(values: NDArray[np.complex128]) -> list[list[float]]:
    """[[real, imaginary], …]."""
    return [[float(z.real), float(z.imag)] for z in values]


def _observer_json(design: Design) -> dict[str, Any] | None:
    if design.watcher is None or design.measurement is None or design.observable is None:
        return None
    return {
        "measured": list(design.measurement.texts),
        "C": design.measurement.matrix.tolist(),
        "gain": design.watcher.gain.tolist(),
        "roots": pairs(design.watcher.roots),
        "riccati_residual": design.watcher.residual,
        "least_number_of_measurements": design.observable.minimal,
    }


def run_json(run: Transient) -> dict[str, Any]:
    """How a transient ended."""
    last = {name: _number(column[-1]) for name, column in run.deviations.items()}
    most = {name: _number(np.abs(column).max()) for name, column in run.inputs.items()}
    return {
        "status": run.status,
        "reason": run.reason,
        "returned": run.returned,
        "t": float(run.times[-1]),
        "deviations": last,
        "largest_inputs": most,
        "largest_residual": _number(run.largest_residual),
        "residuals": {name: _number(column[-1]) for name, column in run.residuals.items()},
    }


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
