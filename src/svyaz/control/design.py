"""A regulator and an observer for an equilibrium of a mechanical system, with the theorem that makes them valid.

Theorem (Krasinskii): if the pair (A, B) of the first approximation without z is controllable, u = u₀ - K ξ, found for this
pair alone, stabilises the equilibrium asymptotically in all variables, the redundant ones among them; with an observable
measurement σ = C ξ the same holds for u = u₀ - K ξ̂. The initial perturbations must satisfy the constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import symengine as se
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.control.directions import Direction, uncontrollable, unobservable
from svyaz.control.lasting import Lasting, lasting_directions
from svyaz.control.pairs import PairReport, controllability, observability
from svyaz.control.regulators import METHODS, Method, NotSolvable, PairFacts, Regulator, dual_of
from svyaz.control.weights import Weights, unit_weights
from svyaz.expr import Expression, ModelError, Problem, evaluate, gradient, velocity
from svyaz.stability import FirstApproximation, Hypothesis, roots, signs, special_case, zero_roots

FULL_INFORMATION = (
    "Krasinskii: stabilisation by linear feedback on the controllable subsystem, special case of m zero roots"
)
INCOMPLETE_INFORMATION = (
    "Krasinskii: stabilisation by an observer of the controllable subsystem, special case of m zero roots"
)
WITHOUT_CONSTRAINTS = "Krasovskii: stabilisation by the first approximation, linear feedback on a controllable pair"
OBSERVED_WITHOUT_CONSTRAINTS = (
    "Krasovskii: stabilisation by the first approximation, an observer of a controllable and observable pair"
)

PAIR = "pair"
"""What the hypotheses of controllability and observability are about."""

ACCURATE = 1e-8
"""A Riccati solution with a larger relative residual is not trusted."""


@dataclass(frozen=True)
class Measurement:
    """What is measured: expressions of the state, their values at rest, and C of σ = σ₀ + C ξ."""

    texts: tuple[str, ...]
    expressions: tuple[Expression, ...]
    at_rest: tuple[float, ...]
    matrix: Array


@dataclass(frozen=True)
class Design:
    """K (and Λ) found from ``model``, a first approximation; ``inputs`` are those through which it acts.

    ``facts`` name the directions, all of them stable, that it cannot move or see. ``fed`` are deviations of variables that
    are not fed back themselves, but as these expressions, equal to first order. ``lasting`` are the directions of a manifold of
    steady motions that no input moves: the design is made across them.
    """

    model: FirstApproximation
    inputs: tuple[str, ...]
    weights: Weights
    regulator: Regulator
    controllable: PairReport
    method: Method
    facts: PairFacts
    measurement: Measurement | None = None
    watcher: Regulator | None = None
    observable: PairReport | None = None
    fed: Mapping[str, Expression] = field(default_factory=dict)
    lasting: Lasting | None = None

    @property
    def B(self) -> Array:
        """The columns of the inputs that are used."""
        return input_columns(self.model, self.inputs)

    def closed_matrix(self, plant: FirstApproximation) -> Array:
        """The matrix of the plant under this control: of ξ, or of (ξ, ξ̂) with an observer."""
        gain, b = self.regulator.gain, input_columns(plant, self.inputs)
        if self.watcher is None or self.measurement is None:
            return np.asarray(plant.A - b @ gain)
        look, c = self.watcher.gain, self.measurement.matrix
        model, own = self.model.A, self.B
        return np.block([[plant.A, -b @ gain], [look @ c, model - own @ gain - look @ c]])

    def closed_parts(self, plant: FirstApproximation) -> tuple[Array, ...]:
        """Matrices whose roots together are those of the plant under this control.

        With an observer of the plant itself, A - B K of ξ and A - Λ C of the error ξ - ξ̂: the whole matrix has the same roots,
        but their errors are those of its largest gains.
        """
        whole = self.closed_matrix(plant)
        if self.watcher is None or self.measurement is None:
            return (whole,)
        b = input_columns(plant, self.inputs)
        if not (np.array_equal(plant.A, self.model.A) and np.array_equal(b, self.B)):
            return (whole,)
        return plant.A - b @ self.regulator.gain, plant.A - self.watcher.gain @ self.measurement.matrix

    def closed_roots(self, plant: FirstApproximation) -> NDArray[np.complex128]:
        """Roots of the plant under this control, without the zeros of the constraints; the largest real parts first."""
        found = np.concatenate([roots(part) for part in self.closed_parts(plant)])
        return np.asarray(found[np.lexsort((-found.imag, -found.real))])

    def negative_roots(self, plant: FirstApproximation) -> tuple[int, int]:
        """How many of the roots have negative real parts, and how many there are."""
        parts = self.closed_parts(plant)
        return sum(signs(part)[0] for part in parts), sum(map(len, parts))

    def stabilises(self, plant: FirstApproximation) -> bool:
        """Do all roots but those of the constraints and of lasting directions have negative real parts?"""
        negative, count = self.negative_roots(plant)
        return negative == count - self.lasting_roots

    def zero_roots(self, plant: FirstApproximation) -> int:
        """How many of the roots are zero."""
        return sum(zero_roots(part) for part in self.closed_parts(plant))

    @property
    def lasting_roots(self) -> int:
        """Zero roots that stay: of lasting directions, and of their estimates where the measurement does not see them."""
        if self.lasting is None:
            return 0
        return self.lasting.count * (2 if self.watcher is not None and not self.sees_lasting else 1)

    @property
    def sees_lasting(self) -> bool:
        """Does the measurement change along lasting directions?"""
        return self.lasting is None or self.measurement is None or self.lasting.is_seen(self.measurement.matrix)


def input_columns(model: FirstApproximation, inputs: Sequence[str]) -> Array:
    """The columns of B for these inputs."""
    places = [model.input_names.index(name) for name in inputs]
    return np.asarray(model.B[:, places])


def designed(
    model: FirstApproximation,
    inputs: Sequence[str] | None = None,
    weights: Weights | None = None,
    measurement: Measurement | None = None,
    method: Method = METHODS["schur"],
) -> Design:
    """The regulator (and observer) for a first approximation, optimal unless the method is another.

    Raises NotSolvable when a root that is not stable can neither be moved nor be seen.
    """
    names = chosen_inputs(model, inputs)
    b = input_columns(model, names)
    given = weights or unit_weights(
        len(model.variables), len(names), 0 if measurement is None else len(measurement.texts)
    )
    pair = controllability(model.A, b)
    lasting = lasting_directions(model, b, pair)
    if lasting is not None:
        pair = lasting.lifted(controllability(lasting.A, lasting.B))
    seen = None if measurement is None else _observability(model, measurement, lasting)
    facts = pair_facts(model, pair, seen)
    if stuck := not_stable(facts.uncontrollable):
        raise NotSolvable(cannot_be_moved(stuck, names), facts)
    regulator = _found(lambda: _regulator(model, b, given, method, lasting), facts)
    if measurement is None or seen is None:
        return Design(model, names, given, regulator, pair, method, facts, lasting=lasting)
    if hidden := not_stable(facts.unobservable):
        raise NotSolvable(cannot_be_seen(hidden, measurement.texts), facts)
    watcher = _found(lambda: _watcher(model, measurement, given, method, lasting), facts)
    return Design(model, names, given, regulator, pair, method, facts, measurement, watcher, seen, lasting=lasting)


def _regulator(
    model: FirstApproximation, b: Array, given: Weights, method: Method, lasting: Lasting | None
) -> Regulator:
    """K of ξ; across lasting directions where there are such."""
    if lasting is None:
        return method.regulator(model.A, b, given.state, given.input)
    across = lasting.across
    found = method.regulator(lasting.A, lasting.B, across.T @ given.state @ across, given.input)
    return replace(found, gain=found.gain @ lasting.coordinates - lasting.held @ lasting.conserved)


def _observability(model: FirstApproximation, measurement: Measurement, lasting: Lasting | None) -> PairReport:
    """Of ξ, or of what lies across lasting directions that the measurement does not see."""
    if lasting is None or lasting.is_seen(measurement.matrix):
        return observability(model.A, measurement.matrix)
    return lasting.lifted(observability(lasting.A, measurement.matrix @ lasting.across), dual=True)


def _watcher(
    model: FirstApproximation, measurement: Measurement, given: Weights, method: Method, lasting: Lasting | None
) -> Regulator:
    """Λ of an observer of ξ; estimates of lasting directions that are not seen stay zero."""
    noise, c = given.process_noise, measurement.matrix
    if lasting is None or lasting.is_seen(c):
        return dual_of(method.observer, model.A, c, noise, given.measurement_noise)
    p, across = lasting.coordinates, lasting.across
    found = dual_of(method.observer, lasting.A, c @ across, p @ noise @ p.T, given.measurement_noise)
    return replace(found, gain=across @ found.gain)


def pair_facts(model: FirstApproximation, pair: PairReport, seen: PairReport | None) -> PairFacts:
    """The verdicts on both pairs, with directions in the coordinates of the model."""
    return PairFacts(
        controllable=pair.complete,
        observable=None if seen is None else seen.complete,
        fixed_roots=pair.fixed_roots + (() if seen is None else seen.fixed_roots),
        uncontrollable=uncontrollable(model, pair),
        unobservable=() if seen is None else unobservable(model, seen),
    )


def chosen_inputs(model: FirstApproximation, inputs: Sequence[str] | None) -> tuple[str, ...]:
    """The inputs asked for, or all."""
    names = tuple(inputs) if inputs else model.input_names
    if not names:
        message = "the model has no inputs: there is nothing to control it with"
        raise ModelError(
            [Problem(message, hint="name a control in [inputs] and use it in [forces], or add a [[motor]]")]
        )
    for name in names:
        if name not in model.input_names:
            raise ModelError([Problem(f"'{name}' is no input of the model; there are {', '.join(model.input_names)}")])
    return names


def told_roots(roots: Sequence[complex]) -> str:
    """Roots in words: the root 1, the roots 1, 2+3i."""
    told = [f"{z.real + 0.0:.5g}" + (f"{z.imag:+.5g}i" if abs(z.imag) > 1e-12 * abs(z) else "") for z in roots]
    return f"the root{'s' if len(told) > 1 else ''} {', '.join(told)}"


def cannot_be_moved(fixed: Sequence[Direction], inputs: Sequence[str]) -> str:
    """Which roots no input moves, and the combinations of coordinates to which they belong."""
    roots = told_roots([d.root for d in fixed])
    return f"not controllable: {roots} cannot be moved by {', '.join(inputs)}{named_directions(fixed)}"


def cannot_be_seen(fixed: Sequence[Direction], texts: Sequence[str]) -> str:
    """Which roots no measurement sees, and the displacements to which they belong."""
    roots = told_roots([d.root for d in fixed])
    return f"not observable: {roots} cannot be seen in {', '.join(texts)}{named_directions(fixed)}"


def named_directions(fixed: Sequence[Direction]) -> str:
    """In brackets, each once."""
    told = list(dict.fromkeys(str(d) for d in fixed if d.weights))
    return f" ({'direction' if len(told) == 1 else 'directions'} {', '.join(told)})" if told else ""


def not_stable(fixed: Sequence[Direction]) -> list[Direction]:
    """Those that do not die out by themselves."""
    return [d for d in fixed if d.root.real > -1e-9 * max(1.0, abs(d.root))]


def _found(find: Callable[[], Regulator], facts: PairFacts) -> Regulator:
    """A regulator whose Riccati equation, if it has one, is solved; a refusal tells what is known of the pairs."""
    try:
        regulator = find()
    except NotSolvable as refusal:
        fixed = facts.uncontrollable
        owners = f"; {told_roots([d.root for d in fixed])} cannot be moved{named_directions(fixed)}" if fixed else ""
        raise NotSolvable(f"{refusal}{owners}", facts) from refusal
    if regulator.residual is not None and not regulator.residual <= ACCURATE:
        reason = f"the Riccati equation was not solved: its relative residual is {regulator.residual:.2g}"
        raise NotSolvable(reason, facts)
    return regulator


def measurement_of(
    model: FirstApproximation, texts: Sequence[str], speeds: Mapping[str, Expression] | None = None
) -> Measurement:
    """Expressions of coordinates, velocities and further states, linearised along the constraints.

    ``speeds`` are velocities of coordinates that the system ignores.
    """
    from svyaz.expr import Scope, parse, start_of

    system = model.system
    names = (*system.coordinates, *system.rates, *system.parameters)
    derivatives = {**{q: velocity(q) for q in system.coordinates}, **(speeds or {})}
    scope = Scope(symbols={n: se.Symbol(n) for n in names}, derivatives=derivatives, forbidden={})
    expressions = tuple(parse(text, scope, start_of(text, "measure")) for text in texts)
    for text, e in zip(texts, expressions, strict=True):
        model.refuse_heading(text, e)
    values = {**system.constants, **dict.fromkeys(system.velocities, 0.0), **model.state}
    rows = [measured_row(model, e, values) for e in expressions]
    rest = tuple(evaluate(e, values) for e in expressions)
    for text, row in zip(texts, rows, strict=True):
        if not np.abs(row).max(initial=0.0) > 0:
            raise NotSolvable(f"not observable: '{text}' does not change to first order near the equilibrium")
    return Measurement(tuple(texts), expressions, rest, np.array(rows))


def measured_row(model: FirstApproximation, e: Expression, values: Mapping[str, float]) -> Array:
    """The slopes of an expression by ξ along the constraints."""

    def slopes(names: Sequence[str]) -> Array:
        return np.array([evaluate(s, values) for s in gradient(e, [se.Symbol(n) for n in names])], dtype=float)

    following = model.following
    return slopes(model.variables) + slopes(tuple(following)) @ np.array(list(following.values())).reshape(
        len(following), len(model.variables)
    )


def theorem_of(design: Design, plant: FirstApproximation) -> tuple[str, tuple[Hypothesis, ...]]:
    """The theorem that makes the closed loop stable, and its hypotheses as they stand here."""
    negative, count = design.negative_roots(plant)
    m, zeros = len(plant.dependent), design.zero_roots(plant)
    besides = " other than those of constraints" if m else ""
    hypotheses = [
        *special_case(plant),
        Hypothesis(f"the pair (A, B){' without z' if m else ''} is controllable", design.controllable.complete, PAIR),
        Hypothesis(f"all {count} roots of the closed loop{besides} have negative real parts", negative == count),
    ]
    if m:
        told = f"zero roots of the closed loop: {m + zeros}, and {m} constraint{'s' if m > 1 else ''}"
        hypotheses.append(Hypothesis(told, zeros == 0))
    hypotheses += accuracy_hypotheses(design, plant)
    if design.observable is None:
        return FULL_INFORMATION if m else WITHOUT_CONSTRAINTS, tuple(hypotheses)
    hypotheses.append(Hypothesis("the pair (A, C) is observable", design.observable.complete, PAIR))
    return INCOMPLETE_INFORMATION if m else OBSERVED_WITHOUT_CONSTRAINTS, tuple(hypotheses)


def accuracy_hypotheses(design: Design, plant: FirstApproximation) -> list[Hypothesis]:
    """The Riccati equation is solved, and inputs with limits hold the equilibrium from inside them."""
    found = []
    if design.regulator.residual is not None:
        text = f"the Riccati equation is solved to rounding: residual {design.regulator.residual:.1g}"
        found.append(Hypothesis(text, design.regulator.residual < ACCURATE))
    return found + _within_limits(plant, design.inputs)


def _within_limits(plant: FirstApproximation, inputs: Sequence[str]) -> list[Hypothesis]:
    """An input with limits must hold the equilibrium from inside them."""
    found = []
    for name in inputs:
        given, value = plant.system.inputs[name], plant.inputs[name]
        if given.low is None and given.high is None:
            continue
        low = -np.inf if given.low is None else given.low
        high = np.inf if given.high is None else given.high
        text = f"the input {name} = {value:.4g} that holds the equilibrium lies within its limits"
        found.append(Hypothesis(text, bool(low < value < high)))
    return found
