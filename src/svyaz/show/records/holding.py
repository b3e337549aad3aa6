"""Gains and what is known of them, as JSON."""

from __future__ import annotations

from math import isfinite

from svyaz.holding import Certificate, Choice, GainReport, Prediction
from svyaz.json_types import Json, Record
from svyaz.show.results import as_json


def gains_record(gains: GainReport | None) -> Record:
    """The entry ``gains`` of a result; empty where there is nothing to be told."""
    return as_json(gains) if gains is not None else {}


@as_json.register(GainReport)
def _(found: GainReport) -> Record:
    record: Record = {"stabilize": found.stabilize} if found.stabilize else {}
    if found.word is not None:
        record |= {"verdict": found.word, "reasons": list(found.reasons)}
    if found.verdict is not None:
        record |= _judged(found)
    elif found.choice is not None:
        record |= {"auto": as_json(found.choice), "proposed": found.choice.kappa}
    if found.held:
        record["held"] = dict(found.held)
    return record


def _judged(found: GainReport) -> Record:
    assert found.verdict is not None, "what was judged has a verdict"
    low, high = found.limits
    record: Record = {
        "range": [_finite(low), _finite(high)] if low <= high else [None, None],
        "roots": [[float(r.real), float(r.imag)] for r in found.verdict.roots],
        "proposed": found.proposed,
        "predicted": {name: _finite(bound) for name, bound in found.predicted.items()},
    }
    if found.law is not None and found.law.kind == "linear" and found.law.gains:
        record["values"] = found.law.blocks
    if found.choice is not None:
        record["auto"] = as_json(found.choice)
    if found.prediction is not None:
        record["pilot"] = as_json(found.prediction)
    if found.certificates:
        record["certificates"] = [as_json(c) for c in found.certificates]
    return record


@as_json.register(Choice)
def _(found: Choice) -> Record:
    return {
        "kappa": found.kappa,
        "step": found.step,
        "log": list(found.log),
        "steps": found.steps,
        "seconds": found.seconds,
        "trials": [
            {"kappa": t.kappa, "residual": _finite(t.residual), "error": _finite(t.error), "finished": t.finished}
            for t in found.trials
        ],
    }


@as_json.register(Prediction)
def _(found: Prediction) -> Record:
    return {
        "coarseness": found.coarseness,
        "steps": found.steps,
        "seconds": found.seconds,
        "remainders": dict(found.remainders),
        "finished": found.finished,
    }


@as_json.register(Certificate)
def _(found: Certificate) -> Record:
    return {"kind": found.kind, "holds": found.holds, "value": _finite(found.value), "reason": found.reason}


def _finite(value: float) -> Json:
    return float(value) if isfinite(value) else None
