"""What is decided about the gains before a phase is run, and the record of it that goes into the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from svyaz.arrays import Array
from svyaz.forms import Equations
from svyaz.holding.gains import Choice, choose, verdict_on
from svyaz.holding.held import HeldIntegral
from svyaz.holding.options import Options
from svyaz.holding.perturbations import Perturbation, critical, perturbation
from svyaz.holding.pilot import Prediction, predict, scheme_of
from svyaz.holding.segment import Segment, prepare
from svyaz.holding.verdicts import Verdict, box_certificate, largest_gain, norm_certificate, safe_range


@dataclass(frozen=True)
class Decision:
    """A compiled phase with its gains, the options (the step may have been reduced), and whether it may be run.

    ``unmet`` are those of the notes that tell which constraints the initial state does not satisfy.
    """

    segment: Segment
    options: Options
    allowed: bool
    reason: str
    record: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    unmet: tuple[str, ...] = ()


def decide(
    equations: Equations,
    held: tuple[HeldIntegral, ...],
    options: Options,
    state: Array,
    span: tuple[float, float],
) -> Decision:
    """Settle the gains of one phase: given ones are judged, "auto" is chosen, and deviations are predicted."""
    if not equations.deviations:
        return _without_constraints(equations, held, options, state, span)
    settle = _automatic if options.stabilize == "auto" else _given
    return _with_held(settle(equations, held, options, state, span), held)


def verdict_record(equations: Equations, options: Options) -> dict[str, Any]:
    """The verdict on given gains alone, where no run could be made."""
    law = perturbation(equations, options.stabilize)
    return _record(law, verdict_on(law, options), options, None, None)


def _with_held(decision: Decision, held: tuple[HeldIntegral, ...]) -> Decision:
    """Held integrals beside constraints: their decay rates must suit the step as well."""
    if not held:
        return decision
    rates = replace(decision.segment.perturbation, matrix=-np.diag([h.gain for h in held]))
    verdict = verdict_on(rates, decision.options)
    record = {**decision.record, "held": {h.name: h.gain for h in held}}
    if verdict.stable:
        return replace(decision, record=record)
    reasons = [f"held integrals: {reason}" for reason in verdict.reasons]
    told = [decision.reason, *reasons] if decision.reason else reasons
    return replace(
        decision, allowed=False, reason="; ".join(told), record={**record, "verdict": "unstable", "reasons": told}
    )


def _given(
    equations: Equations, held: tuple[HeldIntegral, ...], options: Options, state: Array, span: tuple[float, float]
) -> Decision:
    """Gains of the user: judged, and if they are stable the deviations they allow are predicted."""
    law = perturbation(equations, options.stabilize)
    segment = prepare(equations, law, held, options, span[0], state)
    if options.stabilize in ("off", "projection"):
        return Decision(segment, options, True, "", {"stabilize": options.stabilize})
    verdict = verdict_on(law, options)
    if not verdict.stable:
        return Decision(segment, options, False, "; ".join(verdict.reasons), _record(law, verdict, options, None, None))
    prediction = predict(segment, options, state, span)
    record = _record(law, verdict, options, prediction, None)
    infeasible = _beyond_tolerance(prediction, options)
    if infeasible:
        return Decision(
            segment, options, False, infeasible, {**record, "verdict": "infeasible", "reasons": [infeasible]}
        )
    return Decision(segment, options, True, "", record)


def _without_constraints(
    equations: Equations, held: tuple[HeldIntegral, ...], options: Options, state: Array, span: tuple[float, float]
) -> Decision:
    """Only held integrals have gains here; their decay rates must suit the step."""
    kappa = float(options.stabilize) if isinstance(options.stabilize, int | float) else None
    law = replace(perturbation(equations, "off"), kappa=kappa, described="held integrals")
    plain = replace(options, stabilize="off")
    segment = prepare(equations, law, held, plain, span[0], state)
    if not held:
        return Decision(segment, options, True, "")
    gains = replace(law, matrix=-np.diag([h.gain for h in held]))
    verdict = verdict_on(gains, options)
    record = {**_record(gains, verdict, options, None, None), "held": {h.name: h.gain for h in held}}
    return Decision(segment, options, verdict.stable, "" if verdict.stable else "; ".join(verdict.reasons), record)


def _automatic(
    equations: Equations, held: tuple[HeldIntegral, ...], options: Options, state: Array, span: tuple[float, float]
) -> Decision:
    pattern = prepare(equations, critical(equations, 1.0), held, options, span[0], state)
    choice = choose(pattern, options, state, span)
    chosen = replace(options, step=choice.step)
    law = critical(equations, choice.kappa)
    segment = pattern.regained(law)
    if choice.kappa == 0.0:
        record = {"stabilize": "auto", "auto": choice.as_json(), "proposed": 0.0}
        reason = "" if choice.feasible or options.tolerance is None else choice.log[-1]
        return Decision(segment, chosen, not reason, reason, record, choice.log)
    verdict = verdict_on(law, chosen)
    prediction = predict(segment, chosen, state, span)
    return Decision(segment, chosen, True, "", _record(law, verdict, chosen, prediction, choice), choice.log)


def _record(
    law: Perturbation, verdict: Verdict, options: Options, prediction: Prediction | None, choice: Choice | None
) -> dict[str, Any]:
    """The entry ``gains`` of a result, as in ``check``."""
    record: dict[str, Any] = {
        "stabilize": "auto" if choice else law.described,
        "verdict": verdict.word,
        "reasons": list(verdict.reasons),
        "range": [0.0, _finite(verdict.limit)],
        "roots": [[float(r.real), float(r.imag)] for r in verdict.roots],
        "proposed": choice.kappa if choice else None,
        "predicted": {},
    }
    if law.kind == "linear" and law.gains:
        record["values"] = law.blocks
    if choice is not None:
        record["auto"] = choice.as_json()
    if prediction is not None:
        record["predicted"] = {name: _finite(bound) for name, bound in prediction.bounds.items()}
        record["pilot"] = prediction.as_json()
    if options.step is not None and verdict.stable:
        record["certificates"] = _certificates(law, options, prediction)
        if options.tolerance is not None and prediction is not None and prediction.remainders:
            record["range"] = _range_with_tolerance(options, prediction)
    return record


def _certificates(law: Perturbation, options: Options, prediction: Prediction | None) -> list[dict[str, Any]]:
    """Sufficient conditions: the box with the predicted deviations (or the tolerance) as its sides, and an adapted norm."""
    scheme = scheme_of(options)
    found = [norm_certificate(law.matrix, scheme)]
    count = len(law.matrix)
    if options.tolerance is not None and prediction is not None and prediction.remainders:
        largest = max(prediction.remainders.values())
        found.append(box_certificate(law.matrix, scheme, [options.tolerance] * count, [largest] * count))
    else:
        found.append(box_certificate(law.matrix, scheme, [1.0] * count, [0.0] * count))
    return [{"kind": c.kind, "holds": c.holds, "value": _finite(c.value), "reason": c.reason} for c in found]


def _range_with_tolerance(options: Options, prediction: Prediction) -> list[float | None]:
    assert options.tolerance is not None, "a safe range belongs to a tolerance"
    safe = safe_range(scheme_of(options), options.tolerance, max(prediction.remainders.values()))
    return [_finite(safe.low), _finite(safe.high)] if safe.feasible else [None, None]


def _beyond_tolerance(prediction: Prediction | None, options: Options) -> str:
    """Words for gains that are stable and still leave a constraint farther than the tolerance allows."""
    if options.tolerance is None or prediction is None:
        return ""
    worst = max(prediction.bounds, key=lambda name: prediction.bounds[name])
    bound = prediction.bounds[worst]
    if bound <= options.tolerance:
        return ""
    advice = ""
    remainder = max(prediction.remainders.values(), default=0.0)
    if remainder > 0.0:
        advice = safe_range(scheme_of(options), options.tolerance, remainder).advice
    told = (
        f"the deviation of '{worst}' is predicted to reach {bound:.3g}, more than the tolerance {options.tolerance:.3g}"
    )
    if options.step is None:
        return f"{told}; choose other gains, or a smaller rtol"
    # with fixed gains deviations fall with the order of the method; the advice is for the gain that damps most
    same = options.step * (options.tolerance / bound) ** (1.0 / scheme_of(options).order)
    told += f"; {advice} with the strongest damping" if advice else "; choose other gains, or a smaller step"
    return f"{told}; with these gains about {same:.3g}"


def limit_of(options: Options) -> float:
    """The largest κ that the method allows with this step."""
    return largest_gain(scheme_of(options))


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
