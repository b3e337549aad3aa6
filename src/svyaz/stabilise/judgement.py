"""Gains are judged or chosen before a phase is run, and the deviations that they allow are foreseen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from svyaz.arrays import Array
from svyaz.forms import Equations
from svyaz.stabilise.decision import Decision, GainReport, without_constraints
from svyaz.stabilise.deviation import deviations
from svyaz.stabilise.feasibility import feasibility
from svyaz.stabilise.gain_choice import Choice, choose
from svyaz.stabilise.integrals import HeldIntegral, constants_of, held_rates, held_slopes
from svyaz.stabilise.laws import deviation_rates, deviation_symbols
from svyaz.stabilise.lyapunov import Region, regions
from svyaz.stabilise.options import Options
from svyaz.stabilise.perturbations import Perturbation, critical, perturbation
from svyaz.stabilise.pilot import GONE, Prediction, predict, scheme_of, states_ahead
from svyaz.stabilise.request import AUTO, Stabilisation
from svyaz.stabilise.segment import Segment, prepare
from svyaz.stabilise.verdicts import Verdict, judge, judge_along


def decide_what_is_kept(
    equations: Equations,
    held: tuple[HeldIntegral, ...],
    options: Options,
    state: Array,
    span: tuple[float, float],
) -> Decision:
    """Settle the gains of one phase in which constraints or integrals are kept."""
    chosen = options.stabilize
    if not equations.deviations:
        return _with_held(without_constraints(equations, held, options, state, span), held, state, span)
    lawful = all(d.constraint.law is not None for d in equations.deviations)
    if chosen == AUTO and not lawful:
        return _with_held(_automatic(equations, held, options, state, span), held, state, span)
    law = critical(equations, 1.0) if chosen == AUTO else perturbation(equations, chosen)
    segment = prepare(equations, law.at_state(span[0], state), held, options, span[0], state)
    if not chosen.has_gains and chosen != AUTO:
        return _with_held(Decision(segment, options, True, "", GainReport(chosen.kind)), held, state, span)
    return _with_held(_judge_gains(segment, options, state, span), held, state, span)


def verdict_alone(equations: Equations, options: Options, chosen: Stabilisation) -> GainReport:
    """The verdict on given gains, where no run could be made."""
    law = perturbation(equations, chosen)
    return _report(law, judge(law.matrix, scheme_of(options)))


def _with_held(decision: Decision, held: tuple[HeldIntegral, ...], state: Array, span: tuple[float, float]) -> Decision:
    """Held integrals: their decay rates, or their laws at states ahead, must suit the step as well."""
    if not held:
        return decision
    assert decision.gains is not None, "what is held has gains"
    segment, options, report = decision.segment, decision.options, decision.gains
    lawful = [h for h in held if h.integral.law is not None]
    gains = replace(report, held={h.name: h.gain for h in held if h not in lawful})
    times, states = np.array(span[:1]), state[None, :]
    if lawful:
        times, states = states_ahead(segment, options, state, span, report.prediction)
    slopes = held_slopes(segment.equations, held, times, states)
    verdict = judge_along(slopes, times, scheme_of(options)) if lawful else judge(slopes[0], scheme_of(options))
    if lawful and verdict.stable:
        gains = replace(gains, regions=(*gains.regions, *_regions_of_integrals(segment, held, slopes, times, states)))
    if not segment.equations.deviations:
        gains = replace(gains, verdict=verdict, limits=(0.0, verdict.limit))
        return replace(
            decision, gains=gains, allowed=verdict.stable, reason="" if verdict.stable else "; ".join(verdict.reasons)
        )
    if verdict.stable:
        return replace(decision, gains=gains)
    reasons = [f"held integrals: {reason}" for reason in verdict.reasons]
    told = (decision.reason, *reasons) if decision.reason else tuple(reasons)
    gains = replace(gains, objection=Verdict("unstable", told))
    return replace(decision, allowed=False, reason="; ".join(told), gains=gains)


def _regions_of_integrals(
    segment: Segment, held: tuple[HeldIntegral, ...], slopes: Array, times: Array, states: Array
) -> tuple[Region, ...]:
    """What is proved of integrals with laws."""
    known = {**segment.values, **constants_of(held)}
    named = {"t": times, **dict(zip(segment.equations.states, states.T, strict=True))}
    apart = {str(s) for s in deviation_symbols(segment.equations)}
    sizes = np.array([max(abs(h.value), 1e-12) for h in held])
    found = regions(held_rates(held, known), slopes, sizes, named, apart)
    lawful = {h.name for h in held if h.integral.law is not None}
    return tuple(region for region in found if lawful & set(region.constraints))


def _judge_gains(segment: Segment, options: Options, state: Array, span: tuple[float, float]) -> Decision:
    """Gains of the user: judged, and if they are stable the deviations they allow are predicted."""
    law = segment.perturbation
    verdict = judge(law.matrix, scheme_of(options))
    if not verdict.stable:
        report = _report(law, verdict)
        return Decision(segment, options, False, "; ".join(verdict.reasons), report)
    prediction = predict(segment, options, state, span) if options.foresee else None
    return _along_pilot(_report_prediction(segment, options, prediction), prediction, state, span)


def _along_pilot(
    decision: Decision, prediction: Prediction | None, state: Array, span: tuple[float, float]
) -> Decision:
    """A general law is judged at states of the pilot, and a Lyapunov function is looked for."""
    segment, options = decision.segment, decision.options
    law, general, report = segment.perturbation, segment.perturbation.general, decision.gains
    if general is None:
        return decision
    assert report is not None, "a law is reported"
    times, states = states_ahead(segment, options, state, span, prediction)
    linear = law.along(times, states)
    verdict = judge_along(linear, times, scheme_of(options))
    if not verdict.stable:
        return Decision(segment, options, False, "; ".join(verdict.reasons), _report(law, verdict))
    remarks = report.verdict.reasons[1:] if report.verdict is not None else ()
    verdict = replace(verdict, reasons=(*verdict.reasons, *remarks))
    scales = deviations(segment.equations).scales(times, states)
    rates = deviation_rates(segment.equations, general, segment.known)
    named = {"t": times, **dict(zip(segment.equations.states, states.T, strict=True))}
    found = regions(rates, linear, np.where(scales > 0.0, scales, 1.0), named)
    return replace(decision, gains=replace(report, verdict=verdict, regions=found))


def _automatic(
    equations: Equations, held: tuple[HeldIntegral, ...], options: Options, state: Array, span: tuple[float, float]
) -> Decision:
    pattern = prepare(equations, critical(equations, 1.0).at_state(span[0], state), held, options, span[0], state)
    choice = choose(pattern, options, state, span)
    chosen = replace(options, step=choice.step)
    law = perturbation(equations, choice.gains).at_state(span[0], state)
    if choice.gains.kind == "law":
        segment = prepare(equations, law, held, options, span[0], state)
    else:
        segment = pattern.regained(law)
    if choice.kappa == 0.0 and law.general is None:
        reason = "" if choice.feasible or options.tolerance is None else choice.log[-1]
        return Decision(segment, chosen, not reason, reason, GainReport("auto", choice=choice), choice.log)
    prediction = None
    if chosen.step is not None:  # whether the tolerance is kept was seen in a trial run, if that was the whole run
        judged = replace(chosen, tolerance=None) if choice.part == 1.0 else chosen
        prediction = _as_tried(predict(segment, judged, state, span), choice)
    return _along_pilot(_report_prediction(segment, chosen, prediction, choice), prediction, state, span)


def _as_tried(prediction: Prediction | None, choice: Choice) -> Prediction | None:
    """The prediction with the deviations of the trial run that was chosen, where that was the run itself."""
    if prediction is None or choice.part < 1.0:
        return prediction
    chosen = choice.chosen
    assert chosen is not None, "a trial run was chosen"
    expected = dict(zip(prediction.expected, chosen.residuals, strict=True))
    bounds = {name: max(bound, expected[name]) for name, bound in prediction.bounds.items()}
    lost = tuple(expected) if chosen.residual > GONE else ()
    return replace(prediction, expected=expected, bounds=bounds, lost=lost)


def _report_prediction(
    segment: Segment, options: Options, prediction: Prediction | None, choice: Choice | None = None
) -> Decision:
    """Gains that are stable by themselves, with what is foreseen of them."""
    law = segment.perturbation
    report = feasibility(segment.equations, law, options, prediction, judge(law.matrix, scheme_of(options)))
    if choice is not None:
        report = replace(report, stabilize="auto", choice=choice)
    objection = report.objection.reasons[0] if report.objection is not None else ""
    # a run that does not come to its end tells more of it than a refusal, unless it was to keep a tolerance
    ends_early = prediction is not None and bool(prediction.ended) and options.tolerance is None
    notes = choice.log if choice is not None else ()
    return Decision(segment, options, not objection or ends_early, objection, report, notes)


def _report(law: Perturbation, verdict: Verdict) -> GainReport:
    return GainReport(stabilize=law.described, law=law, verdict=verdict, limits=(0.0, verdict.limit))
