"""Motions as JSON and HTML."""

from __future__ import annotations

from dataclasses import asdict
from html import escape

from svyaz import __version__
from svyaz.json_types import Json, Record
from svyaz.motion import Drift, Motion, ResidualSize
from svyaz.show.results import as_json, finite, html_of


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
        "multipliers": {name: finite(value) for name, value in motion.last_multipliers().items()},
        "gains": dict(motion.gains),
        "trajectory_error": finite(motion.trajectory_error),
        "parameters": dict(motion.system.constants),
        "initial": {name: finite(motion.states[0, k]) for k, name in enumerate(motion.state_names)},
        "notes": list(motion.notes),
    }
    if motion.error_bound is not None:
        result["error_bound"] = dict(motion.error_bound)
    if motion.jumps:
        result["jumps"] = [dict(jump) for jump in motion.jumps]
    if motion.phases:
        result["phases"] = [dict(phase) for phase in motion.phases]
    return result


def _residual(size: ResidualSize) -> Json:
    return {
        "max": finite(size.largest),
        "rms": finite(size.mean_square),
        "final": finite(size.final),
        "time_of_max": finite(size.time_of_largest),
    }


def _integral(drift: Drift) -> Json:
    return {name: finite(value) for name, value in asdict(drift).items()}


@html_of.register(Motion)
def _(motion: Motion) -> str:
    """Its columns along the time."""
    columns: str = motion.to_xarray()._repr_html_()
    return f"<p><b>{escape(motion.system.name)}</b>: {escape(motion.status)} {escape(motion.reason)}</p>{columns}"
