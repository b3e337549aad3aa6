"""First integrals that are held: g(x, t) = C made attracting, dg̃/dt = -κ g̃ for the deviation g̃ = g - C.

Orthogonal correction, for any system: ẋ = X + δ, the shortest δ with ∂g/∂x δ = -κ g̃ - dg/dt|_X (the last term vanishes
for a true integral while the others hold) that leaves the constraints alone, ∂y/∂x δ = 0. With D = (∂y/∂x; ∂g/∂x),
δ = Dᵀ z, D Dᵀ z = (0; -κ g̃ - dg/dt).

Bracket method, for canonical systems (Kaspirovich (4.2.8)–(4.2.10)): H' = H + γ·g̃, with γ from dg̃/dt = -κ g̃, that is
Π γ = -κ g̃ - dg/dt|_X, Π_lj = {g_l, g_j}. Π is antisymmetric, hence singular for an odd number of integrals and for
integrals in involution.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import (
    ONE,
    TIME,
    ZERO,
    Expression,
    ModelError,
    Problem,
    add_up,
    differentiate,
    evaluate,
    gradient,
    substitute,
    total_derivative,
)
from svyaz.forms import Equations, Rates
from svyaz.model import Canonical, Integral, System, deviation_symbol
from svyaz.program import Linear, function
from svyaz.stabilise.laws import deviation_symbols, in_rows, law_of_integral, meanings
from svyaz.stabilise.request import Stabilisation

if TYPE_CHECKING:
    from svyaz.stabilise.lyapunov import PerturbedRates

ORTHOGONAL, BRACKET = "orthogonal", "bracket"


@dataclass(frozen=True)
class HeldIntegral:
    """An integral with the value at which it is held and the decay rate of its deviation."""

    integral: Integral
    value: float
    gain: float

    @property
    def law(self) -> Expression:
        """F in dg̃/dt = F, over the symbols of deviations: the law of the integral, else -κ g̃."""
        own = self.integral.law
        return own if own is not None else -se.Symbol(self.gain_name) * deviation_symbol(self.name)

    @property
    def name(self) -> str:
        return self.integral.name

    @property
    def value_name(self) -> str:
        """The constant of the program that carries the value."""
        return f"value of {self.name}"

    @property
    def gain_name(self) -> str:
        """The constant of the program that carries the decay rate."""
        return f"rate of {self.name}"

    @property
    def deviation(self) -> Expression:
        """g - C, with C as a constant of the program."""
        return self.integral.expression - se.Symbol(self.value_name)


def held_integrals(
    system: System, state: Sequence[float] | Array, time: float, kappa: float | None
) -> tuple[HeldIntegral, ...]:
    """Those that the model asks to hold, each at its declared value or at its value in the initial state.

    ``kappa`` replaces their own decay rates (see ``decay_rate``).
    """
    if kappa == 0.0:
        return ()
    found = []
    values = {**system.constants, **dict(zip(system.states, map(float, state), strict=True)), "t": time}
    for integral in system.integrals:
        if integral.hold:
            value = integral.value if integral.value is not None else evaluate(integral.expression, values)
            found.append(HeldIntegral(integral, value, kappa if kappa is not None else integral.gain))
    return tuple(found)


def constants_of(held: Sequence[HeldIntegral]) -> dict[str, float]:
    """Values of the constants that holding brings into the program."""
    return {h.value_name: h.value for h in held} | {h.gain_name: h.gain for h in held}


def hold(equations: Equations, rates: Rates, held: Sequence[HeldIntegral], how: str | None = None) -> Rates:
    """The rates with the corrections that hold the integrals."""
    if not held:
        return rates
    if way_of_holding(equations, held, how) == BRACKET:
        return _by_brackets(equations, rates, held)
    return _orthogonally(equations, rates, held)


def way_of_holding(equations: Equations, held: Sequence[HeldIntegral], how: str | None) -> str:
    """The way asked for; else brackets for an even number of integrals of a canonical system, orthogonal for others."""
    natural = BRACKET if isinstance(equations.system.law, Canonical) and len(held) % 2 == 0 else ORTHOGONAL
    return how or natural


def wanted(equations: Equations, rates: Rates, held: Sequence[HeldIntegral]) -> list[Expression]:
    """F - dg/dt along the uncorrected rates, F = -κ g̃ or a law."""
    flow = {se.Symbol(state): rate for state, rate in rates.rates} | {TIME: ONE}
    meaning = {**meanings(equations), **{deviation_symbol(h.name): h.deviation for h in held}}
    return [substitute(h.law, meaning) - total_derivative(h.integral.expression, flow) for h in held]


def _orthogonally(equations: Equations, rates: Rates, held: Sequence[HeldIntegral]) -> Rates:
    states = [se.Symbol(s) for s in equations.states]
    kept = [e for d in equations.deviations for e in (d.position, d.velocity) if e is not None]
    rows = [gradient(e, states) for e in [*kept, *(h.integral.expression for h in held)]]
    sides = [*([ZERO] * len(kept)), *wanted(equations, rates, held)]
    unknowns = [se.Symbol(f"holding {k}") for k in range(len(rows))]
    gram = [[add_up(a * b for a, b in zip(r, s, strict=True)) for s in rows] for r in rows]
    added = [add_up(row[i] * z for row, z in zip(rows, unknowns, strict=True)) for i in range(len(states))]
    corrected = tuple((name, rate + extra) for (name, rate), extra in zip(rates.rates, added, strict=True))
    return Rates((*rates.systems, Linear(gram, [sides], [unknowns], symmetric=True)), corrected)


def _by_brackets(equations: Equations, rates: Rates, held: Sequence[HeldIntegral]) -> Rates:
    system = equations.system
    if not isinstance(system.law, Canonical):
        raise ModelError([Problem("the bracket method holds integrals of canonical systems (a Hamiltonian) only")])
    if len(held) % 2:
        names = ", ".join(f"'{h.name}'" for h in held)
        message = (
            f"the bracket method cannot hold an odd number of integrals ({names}): "
            "their matrix of Poisson brackets is singular"
        )
        raise ModelError([Problem(message, None, "hold one more or one fewer, or hold them orthogonally")])
    integrals = [h.integral.expression for h in held]
    brackets = [[poisson_bracket(system, a, b) for b in integrals] for a in integrals]
    _refuse_involution(system, held, brackets)
    unknowns = [se.Symbol(f"holding {k}") for k in range(len(held))]
    moved = {}
    for x, y in zip(system.coordinates, system.law.momenta, strict=True):
        moved[x] = add_up(z * differentiate(g, se.Symbol(y)) for g, z in zip(integrals, unknowns, strict=True))
        moved[y] = -add_up(z * differentiate(g, se.Symbol(x)) for g, z in zip(integrals, unknowns, strict=True))
    corrected = tuple((name, rate + moved.get(name, ZERO)) for name, rate in rates.rates)
    return Rates((*rates.systems, Linear(brackets, [wanted(equations, rates, held)], [unknowns])), corrected)


def poisson_bracket(system: System, a: Expression, b: Expression) -> Expression:
    """{a, b} = Σ ∂a/∂q ∂b/∂p - ∂a/∂p ∂b/∂q."""
    q = [se.Symbol(name) for name in system.coordinates]
    p = [se.Symbol(name) for name in system.law.momenta] if isinstance(system.law, Canonical) else []
    return add_up(
        differentiate(a, x) * differentiate(b, y) - differentiate(a, y) * differentiate(b, x)
        for x, y in zip(q, p, strict=True)
    )


def _refuse_involution(system: System, held: Sequence[HeldIntegral], brackets: Sequence[Sequence[Expression]]) -> None:
    """Brackets whose matrix is singular at states about the start of this model are those of integrals in involution.

    States at which they have no value say nothing; if none has one, the run will tell.
    """
    random = np.random.default_rng(7)
    start = np.asarray(system.initial_state(), dtype=float)
    found = []
    for spread in (0.0, 0.1, 0.5, 0.5, 0.5):
        state = start + spread * (1.0 + np.abs(start)) * random.uniform(-1.0, 1.0, len(start))
        point = {**system.constants, **dict(zip(system.states, map(float, state), strict=True)), "t": spread}
        matrix = np.array([[evaluate(e, point) for e in row] for row in brackets])
        if np.isfinite(matrix).all():
            size = float(np.max(np.abs(matrix), initial=0.0))
            found.append(size < 1e-12 or abs(np.linalg.det(matrix / size)) < 1e-12)
    if found and all(found):
        names = ", ".join(f"'{h.name}'" for h in held)
        message = (
            f"the bracket method cannot hold {names}: they are in involution, "
            "their matrix of Poisson brackets is singular"
        )
        raise ModelError([Problem(message, None, "hold them orthogonally")])


def in_states_of(
    equations: Equations, held: Sequence[HeldIntegral], chosen: Stabilisation | None = None
) -> tuple[HeldIntegral, ...]:
    """Held integrals as functions of the states of the equations, with the laws that are given for them with a run."""
    found = []
    for h in held:
        own = None if h.integral.law is None else in_rows(equations, h.integral.law)
        given = law_of_integral(equations, h.name, chosen.law) if chosen is not None and chosen.kind == "law" else None
        law = own if given is None else given
        expression = equations.in_states(h.integral.expression)
        found.append(replace(h, integral=replace(h.integral, expression=expression, law=law)))
    return tuple(found)


def held_rates(held: Sequence[HeldIntegral], values: Mapping[str, float]) -> PerturbedRates:
    """dg̃/dt = F of the integrals that are held."""
    from svyaz.stabilise.lyapunov import PerturbedRates

    return PerturbedRates(
        tuple(deviation_symbol(h.name) for h in held), tuple(h.law for h in held), tuple(h.name for h in held), values
    )


def held_slopes(equations: Equations, held: Sequence[HeldIntegral], times: Array, states: Array) -> Array:
    """∂F/∂g̃ where all deviations vanish, along rows of states (k, g, g)."""
    if all(h.integral.law is None for h in held):
        return np.broadcast_to(-np.diag([h.gain for h in held]), (len(times), len(held), len(held)))
    symbols = [deviation_symbol(h.name) for h in held]
    zero = {**dict.fromkeys(deviation_symbols(equations), ZERO), **dict.fromkeys(symbols, ZERO)}
    table = [[substitute(differentiate(h.law, s), zero) for s in symbols] for h in held]
    values = {**equations.system.constants, **constants_of(held)}
    return function({"W": table}, ("t", *equations.states), values)(np.column_stack([times, states]))["W"]
