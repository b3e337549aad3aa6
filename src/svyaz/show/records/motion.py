"""Motions and checks as JSON and in notebooks."""

from __future__ import annotations

from dataclasses import asdict

from svyaz import __version__
from svyaz.expr import ZERO, to_text
from svyaz.forms import Symmetry, linear_symmetries, pseudo_cyclic
from svyaz.json_types import Json, Record
from svyaz.model import System
from svyaz.motion import Check, Drift, Event, Motion, Reach, ResidualSize
from svyaz.show.records.holding import gains_record
from svyaz.show.results import as_json, finite
from svyaz.stabilise import ErrorBound, Jump


@as_json.register(Motion)
def _(motion: Motion) -> Record:
    result: Record = {
        "svyaz": __version__,
        "model": motion.system.name,
        "form": motion.form,
        "method": motion.method,
        "step": motion.step,
        "rtol": motion.rtol,
        "status": motion.status,
        "reason": motion.reason,
        "t": finite(motion.times[-1]),
        "final": {name: finite(motion.states[-1, k]) for k, name in enumerate(motion.state_names)},
        "steps": int(motion.steps),
        "evaluations": int(motion.evaluations),
        "seconds": float(motion.seconds),
        "residuals": {name: _residual(size) for name, size in motion.residual_sizes().items()},
        "integrals": {name: _integral(drift) for name, drift in motion.drifts().items()},
        **_energy(motion),
        "multipliers": {name: finite(value) for name, value in motion.last_multipliers().items()},
        "gains": gains_record(motion.gains),
        "trajectory_error": finite(motion.trajectory_error),
        "parameters": _stated_values(motion.system),
        "initial": {name: finite(motion.states[0, k]) for k, name in enumerate(motion.state_names)},
        "notes": list(motion.notes),
    }
    if motion.error_bound is not None:
        result["error_bound"] = as_json(motion.error_bound)
    where_any: Record = {
        "controls": {name: _residual(size) for name, size in motion.control_sizes().items()},
        "undetermined": list(motion.undetermined),
        "slides": [{"surface": s.surface, "from": s.start, "until": s.end} for s in motion.slides],
        "limits": {name: as_json(reach) for name, reach in motion.limits.items()},
        "moved": {name: [finite(value) for value in pair] for name, pair in motion.moved.items()},
        "jumps": [as_json(jump) for jump in motion.jumps],
        "phases": [as_json(event) for event in motion.phases],
    }
    return result | {name: entries for name, entries in where_any.items() if entries}


def _stated_values(system: System) -> dict[str, Json]:
    """Parameters and inputs; names with a space are those of laws and limits that were put in, which no model states."""
    return {name: value for name, value in system.constants.items() if " " not in name}


def _residual(size: ResidualSize) -> Json:
    return {
        "max": finite(size.largest),
        "rms": finite(size.mean_square),
        "final": finite(size.final),
        "time_of_max": finite(size.time_of_largest),
    }


def _energy(motion: Motion) -> Record:
    """Where the energy went, of a system that does not keep it."""
    if motion.balance is None:
        return {}
    return {"energy": {name: finite(value) for name, value in motion.balance.totals.items()}}


def _integral(drift: Drift) -> Json:
    record: Record = {"initial": finite(drift.initial), "final": finite(drift.final), "drift": finite(drift.drift)}
    if drift.deviation is not None:
        off = drift.deviation
        ends: Record = {"initial": finite(off.initial), "final": finite(off.final), "max": finite(off.largest)}
        record["deviation"] = ends
    return record


@as_json.register(Event)
def _(event: Event) -> Record:
    record: Record = {"t": event.t, "on": list(event.on), "off": list(event.off), "active": list(event.active)}
    if event.energy_before is None:
        return record
    if event.impacts:
        record["impacts"] = [name for struck in event.impacts for name in struck]
    if len(event.impacts) > 1:
        record["sequence"] = [list(struck) for struck in event.impacts]
    if event.accumulating:
        record["accumulating"] = dict(event.accumulating)
    return record | {
        "energy_before": event.energy_before,
        "energy_after": event.energy_after,
        "kinetic_before": event.kinetic_before,
        "kinetic_after": event.kinetic_after,
        "velocity_jump": dict(event.velocity_jump),
        "impulses": dict(event.impulses),
    }


@as_json.register(Jump)
def _(jump: Jump) -> Record:
    return {
        "t": jump.t,
        "coordinate": jump.coordinate,
        "from": jump.before,
        "to": jump.after,
        "violation": jump.violation,
        "recovery": jump.recovery,
    }


@as_json.register(ErrorBound)
def _(bound: ErrorBound) -> Record:
    return {
        "value": finite(bound.value),
        "growth": bound.growth,
        "defect": bound.defect,
        "initial": bound.initial,
        "worth": "an upper bound that grows exponentially with the time: of use for short runs only",
    }


@as_json.register(Reach)
def _(reach: Reach) -> Record:
    """Low and high are null on an open side, ``left`` where the limit was not passed."""
    return {name: finite(value) for name, value in asdict(reach).items()}


def _symmetry(found: Symmetry) -> Record:
    """What may be moved without changing anything, the momentum along it, and whether that is constant."""
    field: Json = {q: to_text(e) for q, e in found.field.items()}
    return {"field": field, "momentum": to_text(found.momentum), "conserved": found.conserved, "text": found.text}


def _direction(system: System, name: str) -> Record:
    """By what a servo-constraint is kept."""
    found = next(c for c in system.constraints if c.name == name)
    if not found.servo:
        return {}
    pairs = zip(system.freedoms, found.direction, strict=True)
    direction: Json = {q: to_text(e) for q, e in pairs if e != ZERO}
    return {"direction": direction, **({"control": found.control} if found.control else {})}


@as_json.register(Check)
def _(found: Check) -> Record:
    system, report = found.system, found.ranks
    record: Record = {"svyaz": __version__, "model": system.name}
    record["cyclic"] = [c.name for c in pseudo_cyclic(system)]
    record["symmetries"] = [_symmetry(s) for s in linear_symmetries(system)]
    record["constraints"] = [as_json(c) | _direction(system, c.name) for c in found.kinds]
    if report is None:
        record |= {"rank": 0, "redundant": [], "initial": {}}
    else:
        record |= {
            "rank": report.rank,
            "redundant": list(report.redundant),
            "condition": finite(report.augmented_condition),
            "determinant": finite(report.augmented_determinant),
            "mass_determinant": finite(report.mass_determinant),
            "messages": list(report.messages),
            "initial": {name: r.value for name, r in found.residuals.items()},
            "hidden": {name: r.velocity for name, r in found.residuals.items() if r.position is not None},
        }
    if found.gains is not None:
        record["gains"] = gains_record(found.gains)
    return record | {
        "wrong": list(found.wrong),
        "parameters": dict(system.constants),
        "initial_state": dict(zip(system.states, system.initial_state(), strict=True)),
    }
