"""From a prediction to a verdict on tolerances, a range of gains and certificates that agree with it.

The verdict goes by the deviation that is expected, not by its bound. The range tells for which gains it could not be
otherwise whatever the signs of the remainders, a certificate likewise for the present gains. So: a box that is certified
⇒ a gain in the range ⇒ an expected deviation within the tolerance, since all three use the same S and the same remainders.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np

from svyaz.arrays import Array
from svyaz.forms import Equations
from svyaz.matrices import eig, is_large, separate_blocks
from svyaz.stabilise.decision import GainReport
from svyaz.stabilise.deviation import Deviations, deviations
from svyaz.stabilise.gain_range import Held, farthest, gain_range
from svyaz.stabilise.options import Options
from svyaz.stabilise.perturbations import Perturbation, critical
from svyaz.stabilise.pilot import Prediction, scheme_of
from svyaz.stabilise.verdicts import Certificate, Discretisation, Verdict, box_certificate, norm_certificate, safe_range


def feasibility(
    equations: Equations, law: Perturbation, options: Options, prediction: Prediction | None, verdict: Verdict
) -> GainReport:
    """What a prediction says of gains that are stable by themselves."""
    measured = deviations(equations)
    allowed = _tolerances(measured, options, prediction)
    certificates: tuple[Certificate, ...] = ()
    limits = (0.0, verdict.limit)
    held: list[Held] | None = None
    if options.step is not None:
        held = _limited(measured, law, scheme_of(options), prediction, allowed)
        if law.general is None:  # a norm or a box of the linear part says nothing of the whole law
            certificates = _certificates(measured, law, scheme_of(options), allowed, prediction)
        if held is not None:
            limits = gain_range(scheme_of(options), held, one_gain(equations, law))
    if prediction is not None and not prediction.finished:
        limits = (inf, -inf)
    objection = _objection(measured, options, prediction, allowed, limits)
    remarks = [prediction.cut] if prediction is not None and prediction.cut else []
    kappa = one_gain(equations, law)
    if not objection and held is not None and kappa is not None and not limits[0] <= kappa <= limits[1]:
        remarks.append(
            "the tolerance is kept by the signs that the remainders have here; others of their size could exceed it"
        )
    return GainReport(
        law.described,
        law,
        replace(verdict, reasons=(*verdict.reasons, *remarks)),
        Verdict("infeasible", (objection, *remarks)) if objection else None,
        limits,
        prediction=prediction,
        certificates=certificates,
        tolerance=options.tolerance,
    )


def one_gain(equations: Equations, law: Perturbation) -> float | None:
    """κ of a law that is ḧ + 2κ ḣ + κ² h = 0, ḟ = -κ f, however it was written; None for another."""
    if law.kind != "linear" or not len(law.matrix):
        return None
    kappa = float(-np.trace(law.matrix) / len(law.matrix))
    return kappa if np.allclose(law.matrix, critical(equations, kappa).matrix, rtol=1e-9, atol=0.0) else None


def _tolerances(measured: Deviations, options: Options, prediction: Prediction | None) -> Array:
    """The tolerances; a constraint that is lost has gone beyond any, if it is only the one of its own size."""
    allowed = options.limits(measured.names)
    for k, name in enumerate(measured.names):
        if prediction is not None and name in prediction.lost and allowed[k] == inf:
            allowed[k] = 0.5 * prediction.expected[name]
    return allowed


def _limited(
    measured: Deviations, law: Perturbation, scheme: Discretisation, prediction: Prediction | None, allowed: Array
) -> list[Held] | None:
    """The constraints with tolerances; None where none has one, or remainders are not known.

    The expected deviation of a run contains its last, shorter step: where that is why it lies above what remainders can
    build up, they are enlarged.
    """
    if prediction is None or not prediction.remainders or not np.isfinite(allowed).any():
        return None
    p, start, kappa = measured.positions, prediction.start, one_gain(measured.equations, law)
    gains, rest = prediction.others
    if kappa is not None:
        place = int(np.searchsorted(gains, kappa))
        gains = np.insert(gains, place, kappa)
        rest = np.insert(rest.reshape(-1, measured.count), place, prediction.rest, axis=0)
    elif not len(gains):
        return None
    made = [
        Held(
            float(allowed[k]),
            gains,
            rest[:, j],
            float(start[j]),
            (rest[:, p + j], float(start[p + j])) if j < p else None,
        )
        for k, j in enumerate(measured.reported)
    ]
    if kappa is None:
        return made
    found = [float(farthest(scheme, np.array([kappa]), c)[0]) for c in made]
    names = measured.names
    return [c.enlarged(_excess(prediction.expected[n], f)) for c, f, n in zip(made, found, names, strict=True)]


def _excess(expected: float, found: float) -> float:
    """By how much remainders are to be enlarged so that what they can build up is not below what is expected."""
    return expected / found if 0.0 < found < expected else 1.0


def _certificates(
    measured: Deviations, law: Perturbation, scheme: Discretisation, allowed: Array, prediction: Prediction | None
) -> tuple[Certificate, ...]:
    """Sufficient conditions: an adapted norm, and a box with the tolerances as its sides.

    Where no tolerance is given (and for rates, which have none) the sides are those that fit best, so that no units enter.
    """
    count = len(law.matrix)
    sides, rest, start = np.full(count, inf), np.zeros(count), np.zeros(count)
    if prediction is not None and prediction.remainders and np.isfinite(allowed).any():
        sides[measured.reported], rest, start = allowed, prediction.rest, prediction.start
    sides = _fitting_sides(np.abs(scheme.matrix(law.matrix)), sides, rest)
    box = box_certificate(law.matrix, scheme, sides.tolist(), rest.tolist())
    if box.holds and np.any(start > sides):
        box = Certificate("box", False, float(np.max(start / sides)), "the motion begins outside of the box")
    return norm_certificate(law.matrix, scheme), box


def _fitting_sides(s: Array, sides: Array, rest: Array) -> Array:
    """Sides that are not given (infinite): the least for which their rows hold, else those of the dominant vector of |S|."""
    free = ~np.isfinite(sides)
    if not free.any():
        return sides
    if is_large(s):
        return _sides_of_blocks(s, sides, rest)
    inner = s[np.ix_(free, free)]
    values, vectors = eig(inner)
    largest = int(np.argmax(np.abs(values)))
    dominant = np.abs(vectors[:, largest].real)
    dominant = np.where(dominant > 1e-12 * dominant.max(), dominant, 1.0)
    wanted = (s[np.ix_(free, ~free)] @ sides[~free]) + rest[free]
    found = dominant
    if abs(values[largest]) < 1.0 and wanted.any():
        least = np.linalg.solve(np.eye(len(inner)) - inner, wanted) * (1.0 + 1e-13)
        found = np.where(least > 0.0, least, dominant * least.max())
    fitting = sides.copy()
    fitting[free] = found
    return fitting


def _sides_of_blocks(s: Array, sides: Array, rest: Array) -> Array:
    """The sides of each block apart into which S falls; of one that does not, the same for all that are not given."""
    found = np.where(np.isfinite(sides), sides, 1.0)
    for block, everywhere in separate_blocks(s):
        for places in everywhere if not is_large(block) else ():
            found[places] = _fitting_sides(block, sides[places], rest[places])
    return found


def _objection(
    measured: Deviations,
    options: Options,
    prediction: Prediction | None,
    allowed: Array,
    limits: tuple[float, float],
) -> str:
    """Words for gains that are stable and still leave a constraint farther than it may be."""
    if prediction is None:
        return ""
    if prediction.ended:
        return f"stable gains, but a trial run does not come to its end: {prediction.ended}"
    expected = np.array([prediction.expected[name] for name in measured.names])
    with np.errstate(invalid="ignore", divide="ignore"):
        worst = int(np.argmax(np.where(np.isfinite(expected), expected / allowed, inf)))
    if expected[worst] <= allowed[worst]:
        return ""
    name, value, tolerance = measured.names[worst], expected[worst], options.limits(measured.names)[worst]
    if name in prediction.lost:
        told = f"stable gains, but a trial run loses the constraint '{name}'"
        told += f": its deviation grows to {value:.3g}"
    else:
        told = f"the deviation of '{name}' is predicted to reach {value:.3g}, more than the tolerance {tolerance:.3g}"
    if options.step is None:
        return f"{told}; choose other gains, or a smaller rtol"
    return told + _advice(options, prediction.remainders.get(name, 0.0), value, tolerance, limits)


def _advice(options: Options, remainder: float, value: float, tolerance: float, limits: tuple[float, float]) -> str:
    assert options.step is not None, "the advice is on a fixed step"
    low, high = limits
    if not np.isfinite(tolerance) or not np.isfinite(value):
        return "; choose other gains, or a smaller step"
    scheme = scheme_of(options)
    advice = safe_range(scheme, tolerance, remainder).advice if remainder > 0.0 else ""
    if advice:
        told = f"; {advice} with the strongest damping"
    elif low <= high:
        told = f"; κ between {low:.4g} and {high:.4g} keeps it, or a smaller step"
    else:
        told = "; choose other gains, or a smaller step"
    # with fixed gains deviations fall with the order of the method; the advice is for the gain that damps most
    same = options.step * (tolerance / value) ** (1.0 / scheme.order)
    return f"{told}; with these gains about {same:.3g}"
