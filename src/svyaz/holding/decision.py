"""What is decided about the gains before a phase is run, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf

import numpy as np

from svyaz.arrays import Array
from svyaz.forms import Equations
from svyaz.holding.gains import Choice, choose, verdict_on
from svyaz.holding.integrals import HeldIntegral
from svyaz.holding.options import Automatic, ByProjection, Gains, Off, OneGain, Options
from svyaz.holding.perturbations import Perturbation, critical, perturbation
from svyaz.holding.pilot import Prediction, predict, scheme_of
from svyaz.holding.segment import Segment, prepare
from svyaz.holding.verdicts import Certificate, Verdict, box_certificate, norm_certificate, safe_range


@dataclass(frozen=True)
class GainReport:
    """The gains of a phase and what is known of them in advance.

    ``stabilize`` is empty where there is nothing to be kept, ``verdict`` missing where nothing is to be judged. ``objection``
    is what is held against gains that are stable by themselves: a tolerance, the rates of held integrals. ``limits``
    between which one gain κ would do (none: inf, -inf).
    """

    stabilize: str
    law: Perturbation | None = None
    verdict: Verdict | None = None
    objection: Objection | None = None
    limits: tuple[float, float] = (0.0, inf)
    choice: Choice | None = None
    prediction: Prediction | None = None
    certificates: tuple[Certificate, ...] = ()
    held: Mapping[str, float] = field(default_factory=dict)

    @property
    def word(self) -> str | None:
        """stable, unstable or infeasible; None where nothing is judged."""
        if self.objection is not None:
            return self.objection.word
        return self.verdict.word if self.verdict is not None else None

    @property
    def reasons(self) -> tuple[str, ...]:
        """Of the word."""
        if self.objection is not None:
            return self.objection.reasons
        return self.verdict.reasons if self.verdict is not None else ()

    @property
    def proposed(self) -> float | None:
        """The gain that was chosen, if one was to be."""
        return self.choice.kappa if self.choice is not None else None

    @property
    def predicted(self) -> Mapping[str, float]:
        """The largest deviations to be expected, by constraint."""
        return self.prediction.bounds if self.prediction is not None else {}


@dataclass(frozen=True)
class Objection:
    """A verdict against gains that are stable by themselves."""

    word: str
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Decision:
    """A compiled phase with its gains, the options (the step may have been reduced), and whether it may be run.

    ``unmet`` are those of the notes that tell which constraints the initial state does not satisfy.
    """

    segment: Segment
    options: Options
    allowed: bool
    reason: str
    gains: GainReport | None = None
    notes: tuple[str, ...] = ()
    unmet: tuple[str, ...] = ()


def decide(
    equations: Equations,
    held: tuple[HeldIntegral, ...],
    options: Options,
    state: Array,
    span: tuple[float, float],
) -> Decision:
    """Settle the gains of one phase: given ones are judged, others are chosen, and deviations are predicted."""
    chosen = options.stabilize
    if not equations.deviations:
        return _without_constraints(equations, held, options, state, span)
    if isinstance(chosen, Automatic):
        return _with_held(_automatic(equations, held, options, state, span), held)
    segment = prepare(equations, perturbation(equations, chosen), held, options, span[0], state)
    if isinstance(chosen, Off | ByProjection):
        word = "off" if isinstance(chosen, Off) else "projection"
        return _with_held(Decision(segment, options, True, "", GainReport(word)), held)
    return _with_held(_judged(segment, options, state, span), held)


def verdict_alone(equations: Equations, options: Options, chosen: Gains) -> GainReport:
    """The verdict on given gains, where no run could be made."""
    law = perturbation(equations, chosen)
    return _report(law, verdict_on(law, options), options, None, None)


def _with_held(decision: Decision, held: tuple[HeldIntegral, ...]) -> Decision:
    """Held integrals beside constraints: their decay rates must suit the step as well."""
    if not held:
        return decision
    assert decision.gains is not None, "constraints have gains, if only none"
    rates = replace(decision.segment.perturbation, matrix=-np.diag([h.gain for h in held]))
    verdict = verdict_on(rates, decision.options)
    gains = replace(decision.gains, held={h.name: h.gain for h in held})
    if verdict.stable:
        return replace(decision, gains=gains)
    reasons = [f"held integrals: {reason}" for reason in verdict.reasons]
    told = (decision.reason, *reasons) if decision.reason else tuple(reasons)
    gains = replace(gains, objection=Objection("unstable", told))
    return replace(decision, allowed=False, reason="; ".join(told), gains=gains)


def _judged(segment: Segment, options: Options, state: Array, span: tuple[float, float]) -> Decision:
    """Gains of the user: judged, and if they are stable the deviations they allow are predicted."""
    law = segment.perturbation
    verdict = verdict_on(law, options)
    if not verdict.stable:
        report = _report(law, verdict, options, None, None)
        return Decision(segment, options, False, "; ".join(verdict.reasons), report)
    prediction = predict(segment, options, state, span)
    report = _report(law, verdict, options, prediction, None)
    infeasible = _beyond_tolerance(prediction, options)
    if infeasible:
        report = replace(report, objection=Objection("infeasible", (infeasible,)))
        return Decision(segment, options, False, infeasible, report)
    return Decision(segment, options, True, "", report)


def _without_constraints(
    equations: Equations, held: tuple[HeldIntegral, ...], options: Options, state: Array, span: tuple[float, float]
) -> Decision:
    """Only held integrals have gains here; their decay rates must suit the step."""
    kappa = options.stabilize.kappa if isinstance(options.stabilize, OneGain) else None
    law = replace(perturbation(equations, Off()), kappa=kappa, described="held integrals")
    plain = replace(options, stabilize=Off())
    segment = prepare(equations, law, held, plain, span[0], state)
    if not held:
        return Decision(segment, options, True, "", GainReport(""))
    gains = replace(law, matrix=-np.diag([h.gain for h in held]))
    verdict = verdict_on(gains, options)
    report = replace(_report(gains, verdict, options, None, None), held={h.name: h.gain for h in held})
    return Decision(segment, options, verdict.stable, "" if verdict.stable else "; ".join(verdict.reasons), report)


def _automatic(
    equations: Equations, held: tuple[HeldIntegral, ...], options: Options, state: Array, span: tuple[float, float]
) -> Decision:
    pattern = prepare(equations, critical(equations, 1.0), held, options, span[0], state)
    choice = choose(pattern, options, state, span)
    chosen = replace(options, step=choice.step)
    law = critical(equations, choice.kappa)
    segment = pattern.regained(law)
    if choice.kappa == 0.0:
        reason = "" if choice.feasible or options.tolerance is None else choice.log[-1]
        return Decision(segment, chosen, not reason, reason, GainReport("auto", choice=choice), choice.log)
    verdict = verdict_on(law, chosen)
    prediction = predict(segment, chosen, state, span)
    return Decision(segment, chosen, True, "", _report(law, verdict, chosen, prediction, choice), choice.log)


def _report(
    law: Perturbation, verdict: Verdict, options: Options, prediction: Prediction | None, choice: Choice | None
) -> GainReport:
    certificates: tuple[Certificate, ...] = ()
    limits = (0.0, verdict.limit)
    if options.step is not None and verdict.stable:
        certificates = _certificates(law, options, prediction)
        if options.tolerance is not None and prediction is not None and prediction.remainders:
            safe = safe_range(scheme_of(options), options.tolerance, max(prediction.remainders.values()))
            limits = (safe.low, safe.high)
    return GainReport(
        stabilize="auto" if choice else law.described,
        law=law,
        verdict=verdict,
        limits=limits,
        choice=choice,
        prediction=prediction,
        certificates=certificates,
    )


def _certificates(law: Perturbation, options: Options, prediction: Prediction | None) -> tuple[Certificate, ...]:
    """Sufficient conditions: the box with the predicted deviations (or the tolerance) as its sides, and an adapted norm."""
    scheme = scheme_of(options)
    count, sides, rest = len(law.matrix), 1.0, 0.0
    if options.tolerance is not None and prediction is not None and prediction.remainders:
        sides, rest = options.tolerance, max(prediction.remainders.values())
    box = box_certificate(law.matrix, scheme, [sides] * count, [rest] * count)
    return norm_certificate(law.matrix, scheme), box


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
