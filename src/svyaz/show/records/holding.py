"""Gains and what is known of them, as JSON."""

from __future__ import annotations

from collections.abc import Mapping

from svyaz.json_types import Record
from svyaz.show.results import as_json, finite
from svyaz.stabilise import SAFETY, Choice, GainReport


def gains_record(gains: GainReport | None) -> Record:
    """The entry ``gains`` of a result; empty where there is nothing to be told."""
    return as_json(gains) if gains is not None else {}


def gain_blocks(gains: GainReport | None) -> dict[str, list[list[float]]]:
    """The matrices A … F of a linear law with gains that was judged; none otherwise."""
    if gains is None or gains.verdict is None or gains.law is None:
        return {}
    return gains.law.blocks if gains.law.kind == "linear" and gains.law.gains else {}


def gain_roots(gains: GainReport | None) -> tuple[complex, ...]:
    """The roots of the perturbation equation, where it was judged."""
    return () if gains is None or gains.verdict is None else tuple(map(complex, gains.verdict.roots))


@as_json.register(GainReport)
def _(found: GainReport) -> Record:
    record: Record = {"stabilize": found.stabilize} if found.stabilize else {}
    if found.word is not None:
        record |= {"verdict": found.word, "reasons": list(found.reasons)}
    if found.verdict is not None:
        record |= _verdict_record(found)
    elif found.choice is not None:
        record |= {"auto": as_json(found.choice), "proposed": found.choice.kappa}
    if found.held:
        record["held"] = dict(found.held)
    return record


def _verdict_record(found: GainReport) -> Record:
    assert found.verdict is not None, "what was judged has a verdict"
    low, high = found.limits
    record: Record = {
        "range": [finite(low), finite(high)] if low <= high else [None, None],
        "roots": [[float(r.real), float(r.imag)] for r in found.verdict.roots],
        "proposed": found.proposed,
        "predicted": {name: finite(bound) for name, bound in found.predicted.items()},
    }
    if found.prediction is not None:
        record["expected"] = {name: finite(value) for name, value in found.prediction.expected.items()}
        record["safety"] = SAFETY
    if found.tolerance is not None:
        record["tolerance"] = dict(found.tolerance) if isinstance(found.tolerance, Mapping) else found.tolerance
    if blocks := gain_blocks(found):
        record["values"] = blocks
    if found.choice is not None:
        record["auto"] = as_json(found.choice)
    if found.prediction is not None:
        pilot = found.prediction
        record["pilot"] = {
            "coarseness": pilot.coarseness,
            "steps": pilot.steps,
            "seconds": pilot.seconds,
            "remainders": dict(pilot.remainders),
            "finished": pilot.finished,
        }
    if found.certificates:
        record["certificates"] = [
            {"kind": c.kind, "holds": c.holds, "value": finite(c.value), "reason": c.reason} for c in found.certificates
        ]
    if found.regions:
        # the level is null where every deviation dies out, and 0 where nothing is proved
        record["lyapunov"] = [
            {
                "constraints": list(region.constraints),
                "proved": region.proved,
                "deviations": list(region.names),
                "matrix": region.matrix.tolist(),
                "level": finite(region.level),
                "rate": finite(region.rate),
                "where": {name: list(sides) for name, sides in region.where.items()},
                "reason": region.told,
            }
            for region in found.regions
        ]
    return record


@as_json.register(Choice)
def _(found: Choice) -> Record:
    compared = {"with": found.chosen, "without": found.unstabilised}
    return {
        "kappa": found.kappa,
        "error": {which: finite(trial.error if trial else None) for which, trial in compared.items()},
        "residual": {which: finite(trial.residual if trial else None) for which, trial in compared.items()},
        "gains": found.gains.word,
        "step": found.step,
        "log": list(found.log),
        "steps": found.steps,
        "seconds": found.seconds,
        "trials": [
            {
                "kappa": t.setting.kappa,
                "damping": t.setting.damping,
                **({"strong": t.setting.strong, "at": t.setting.at} if t.setting.strong else {}),
                "residual": finite(t.residual),
                "error": finite(t.error),
                "finished": t.finished,
            }
            for t in found.trials
        ],
    }
