"""Regulators, margins, basins and runs of closed loops as JSON and HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from svyaz import __version__
from svyaz.arrays import Array
from svyaz.control import (
    Basin,
    Design,
    Direction,
    Margin,
    NoRegulator,
    PairReport,
    Regulation,
    Trial,
    input_columns,
    kalman_matrix,
)
from svyaz.json_types import Json, Record
from svyaz.show.records.stability import hypotheses_json
from svyaz.show.results import as_json, finite, stated_numbers
from svyaz.stability import FirstApproximation, roots

LINEARISED = "linearised constraints"


@as_json.register(Regulation)
def _(found: Regulation) -> Record:
    design, plant = found.design, found.plant
    shown = found.shown
    result: Record = {
        "svyaz": __version__,
        "model": found.system.name,
        "state": found.state,
        "inputs": dict(plant.inputs),
        "variables": list(shown.variables),
        "dependent": list(plant.dependent),
        "control": list(design.inputs),
        "A": shown.A.tolist(),
        "B": input_columns(shown, design.inputs).tolist(),
        "Z": shown.Z.tolist(),
        "K": found.shown_gain.tolist(),
        "open_roots": _pairs(roots(plant.A)),
        "closed_roots": _pairs(design.closed_roots(plant)),
        "zero_roots": len(plant.dependent) + design.zero_roots(plant),
        "controllable": design.controllable.complete,
        "observable": None if design.observable is None else design.observable.complete,
        "observer": _observer(design),
        "method": design.method.name,
        "riccati_residual": design.regulator.residual,
        "gain_error": design.regulator.gain_error,
        "linearisation_defect": plant.linearisation_defect,
        "theorem": found.theorem,
        "hypotheses": hypotheses_json(found.hypotheses),
        "least_number_of_inputs": design.controllable.minimal,
        "controllability": _pair(design.controllable, kalman_matrix(shown.A, input_columns(shown, design.inputs))),
        "observability": None if design.observable is None else _pair(design.observable, found.observability_matrix),
        "uncontrollable": _directions(design.facts.uncontrollable),
        "unobservable": _directions(design.facts.unobservable),
        "reason": found.reason,
        "notes": list(found.notes),
        **stated_numbers(found.system),
    }
    if found.uniform is not None:
        motion = found.uniform.choice.motion
        kept = found.conserved
        result |= {"speeds": dict(motion.speeds), "momenta": dict(motion.momenta), "drift": found.drift}
        result["uncontrollable"] = _directions([*kept, *design.facts.uncontrollable])
        if design.watcher is not None and found.shown_watcher is not None:
            result["observer"] = _observer(replace(design, watcher=replace(design.watcher, gain=found.shown_watcher)))
    if design.lasting is not None:
        result["lasting"] = _directions(design.lasting.named)
        result["uncontrollable"] = _directions([*design.lasting.named, *design.facts.uncontrollable])
    if found.rival is not None:
        result["against"] = _against(found.rival, plant)
    elif found.refused is not None:
        result["against"] = _nothing_against(found.refused)
    return result


def _against(rival: Design, plant: FirstApproximation) -> Record:
    """The design from linearised constraints, on its own model and on the true plant."""
    return {
        "model": LINEARISED,
        "A": rival.model.A.tolist(),
        "K": rival.regulator.gain.tolist(),
        "observer": _observer(rival),
        "predicted_roots": _pairs(rival.closed_roots(rival.model)),
        "closed_roots": _pairs(rival.closed_roots(plant)),
        "stabilises": rival.stabilises(plant),
        "uncontrollable": _directions(rival.facts.uncontrollable),
        "unobservable": _directions(rival.facts.unobservable),
        "reason": "",
    }


def _nothing_against(refusal: NoRegulator) -> Record:
    """The same keys where linearised constraints allow no design."""
    return {
        "model": LINEARISED,
        "A": refusal.plant.A.tolist(),
        "K": None,
        "observer": None,
        "predicted_roots": [],
        "closed_roots": [],
        "stabilises": False,
        "uncontrollable": _directions(refusal.facts.uncontrollable),
        "unobservable": _directions(refusal.facts.unobservable),
        "reason": str(refusal),
    }


@as_json.register(NoRegulator)
def _(refusal: NoRegulator) -> Record:
    """What is known of the plant when there is no control for it."""
    plant = refusal.plant
    result: Record = {
        "svyaz": __version__,
        "model": plant.system.name,
        "state": dict(plant.state),
        "inputs": dict(plant.inputs),
        "variables": list(plant.variables),
        "dependent": list(plant.dependent),
        "A": plant.A.tolist(),
        "B": input_columns(plant, refusal.inputs).tolist(),
        "open_roots": _pairs(roots(plant.A)),
        "linearisation_defect": plant.linearisation_defect,
        "parameters": dict(plant.system.constants),
    }
    facts = refusal.facts
    if facts.controllable is not None:
        result |= {"controllable": facts.controllable, "observable": facts.observable}
    if facts.fixed_roots:
        result["fixed_roots"] = _pairs(np.array(facts.fixed_roots))
    return result | {
        "uncontrollable": _directions(facts.uncontrollable),
        "unobservable": _directions(facts.unobservable),
    }


@as_json.register(Margin)
def _(found: Margin) -> Record:
    return {
        "name": found.name,
        "range": [float(found.values[0]), float(found.values[-1])],
        "value": found.first,
        "crossings": [{"value": v, "becomes": "unstable" if worse else "stable"} for v, worse in found.crossings],
        "values": [float(v) for v in found.values],
        "largest_real_part": [None if np.isnan(x) else float(x) for x in found.largest],
    }


@as_json.register(Basin)
def _(found: Basin) -> Record:
    return {
        "count": len(found.returned),
        "returned": int(found.returned.sum()),
        "left": int(found.left.sum()),
        "fraction": found.fraction,
        "radius": found.radius,
        "outside": found.outside,
        "ranges": {name: list(sides) for name, sides in found.ranges.items()},
        "shells": [{"to": to, "count": count, "returned": returned} for to, count, returned in found.shells()],
        "until": found.until,
        "seconds": found.seconds,
    }


@as_json.register(Trial)
def _(trial: Trial) -> Record:
    run = trial.transient
    return {
        "status": run.status,
        "reason": run.reason,
        "returned": run.returned,
        "answer": trial.answer,
        "start": dict(trial.start.state),
        "consistent": trial.start.consistent,
        "halvings": trial.start.halvings,
        "limit": None if trial.limit is None else dict(trial.limit),
        "reached": None if run.reached is None else dict(run.reached),
        "distance_from_limit": finite(trial.distance_from_limit),
        "t": float(run.times[-1]),
        "final": {name: finite(x) for name, x in run.final.items()},
        "deviations": {name: finite(column[-1]) for name, column in run.deviations.items()},
        "largest_inputs": {name: finite(np.abs(column).max()) for name, column in run.inputs.items()},
        "largest_residual": finite(run.largest_residual),
        "residuals": {name: finite(column[-1]) for name, column in run.residuals.items()},
        "limits": {name: as_json(reach) for name, reach in run.motion.limits.items()},
        "notes": list(trial.notes),
    }


def _pairs(values: NDArray[np.complex128]) -> Json:
    """[[real, imaginary], …]."""
    return [[float(z.real), float(z.imag)] for z in values]


def _directions(fixed: Sequence[Direction]) -> Json:
    """[{direction: {name: weight}, root: [real, imaginary]}, …]."""
    return [{"direction": dict(d.weights), "root": [d.root.real, d.root.imag]} for d in fixed]


def _observer(design: Design) -> Json:
    if design.watcher is None or design.measurement is None or design.observable is None:
        return None
    return {
        "measured": list(design.measurement.texts),
        "C": design.measurement.matrix.tolist(),
        "gain": design.watcher.gain.tolist(),
        "roots": _pairs(design.watcher.roots),
        "riccati_residual": design.watcher.residual,
        "least_number_of_measurements": design.observable.minimal,
    }


def _pair(report: PairReport, matrix: Array | None) -> Json:
    return {
        "matrix": None if matrix is None else [[finite(x) for x in row] for row in matrix],
        "complete": report.complete,
        "fixed_roots": _pairs(np.array(report.fixed_roots)),
        "distance": report.distance,
        "gramian": report.gramian,
        "minimal": report.minimal,
    }
