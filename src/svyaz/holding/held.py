"""First integrals that are held: g(x, t) = C made attracting, dg̃/dt = -κ g̃ for the deviation g̃ = g - C.

Orthogonal correction, for any system: ẋ = X + δ, the shortest δ with ∂g/∂x δ = -κ g̃ - dg/dt|_X (the last term vanishes
for a true integral while the others hold) that leaves the constraints alone, ∂y/∂x δ = 0. With D = (∂y/∂x; ∂g/∂x),
δ = Dᵀ z, D Dᵀ z = (0; -κ g̃ - dg/dt).

Bracket method, for canonical systems (Kaspirovich (4.2.8)–(4.2.10)): H' = H + γ·g̃, with γ from dg̃/dt = -κ g̃, that is
Π γ = -κ g̃ - dg/dt|_X, Π_lj = {g_l, g_j}. Π is antisymmetric, hence singular for an odd number of integrals and for
integrals in involution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
from svyaz.model import Canonical, Integral, System
from svyaz.program import Linear

ORTHOGONAL, BRACKET = "orthogonal", "bracket"


@dataclass(frozen=True)
class HeldIntegral:
    """An integral with the value at which it is held and the decay rate of its deviation."""

    integral: Integral
    value: float
    gain: float

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


def _wanted(rates: Rates, held: Sequence[HeldIntegral]) -> list[Expression]:
    """-κ g̃ - dg/dt along the uncorrected rates."""
    flow = {se.Symbol(state): rate for state, rate in rates.rates} | {TIME: ONE}
    return [-se.Symbol(h.gain_name) * h.deviation - total_derivative(h.integral.expression, flow) for h in held]


def _orthogonally(equations: Equations, rates: Rates, held: Sequence[HeldIntegral]) -> Rates:
    states = [se.Symbol(s) for s in equations.states]
    kept = [e for d in equations.deviations for e in (d.position, d.velocity) if e is not None]
    rows = [gradient(e, states) for e in [*kept, *(h.integral.expression for h in held)]]
    sides = [*([ZERO] * len(kept)), *_wanted(rates, held)]
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
    return Rates((*rates.systems, Linear(brackets, [_wanted(rates, held)], [unknowns])), corrected)


def poisson_bracket(system: System, a: Expression, b: Expression) -> Expression:
    """{a, b} = Σ ∂a/∂q ∂b/∂p - ∂a/∂p ∂b/∂q."""
    q = [se.Symbol(name) for name in system.coordinates]
    p = [se.Symbol(name) for name in system.law.momenta] if isinstance(system.law, Canonical) else []
    return add_up(
        differentiate(a, x) * differentiate(b, y) - differentiate(a, y) * differentiate(b, x)
        for x, y in zip(q, p, strict=True)
    )


def _refuse_involution(system: System, held: Sequence[HeldIntegral], brackets: Sequence[Sequence[Expression]]) -> None:
    """Brackets that vanish at a generic state are those of integrals in involution."""
    from random import Random

    random = Random(7)
    point = {se.Symbol(n): se.RealDouble(v) for n, v in system.constants.items()}
    point |= {se.Symbol(s): se.RealDouble(random.uniform(0.4, 1.3)) for s in (*system.states, "t")}
    values = [[float(substitute(e, point).n(real=True)) for e in row] for row in brackets]
    matrix = np.array(values)
    size = float(np.max(np.abs(matrix), initial=0.0))
    if size < 1e-12 or abs(np.linalg.det(matrix / size)) < 1e-12:
        names = ", ".join(f"'{h.name}'" for h in held)
        message = (
            f"the bracket method cannot hold {names}: they are in involution, "
            "their matrix of Poisson brackets is singular"
        )
        raise ModelError([Problem(message, None, "hold them orthogonally")])


def in_states_of(equations: Equations, held: Sequence[HeldIntegral]) -> tuple[HeldIntegral, ...]:
    """Held integrals as functions of the states of the equations."""
    return tuple(
        replace(h, integral=replace(h.integral, expression=equations.in_states(h.integral.expression))) for h in held
    )
