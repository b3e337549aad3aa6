"""Equilibria of systems whose equations are taken as they are: rates, Hamilton's equations, equations in accelerations.

    ẋ = f(x, u);      q̇ = ∂H/∂p, ṗ = -∂H/∂q;      f(q, q̇, q̈, u) = 0,   M = ∂f/∂q̈

Rest means f = 0, with q̇ = q̈ = 0 in the last. The roots are those of ∂ẋ/∂x; of M δq̈ = -∂f/∂q δq - ∂f/∂q̇ δq̇ in the last.
A Hamiltonian that does not contain the time is a first integral, so that rest is stable where it has a strict extremum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import ZERO, Expression, ModelError, Problem, evaluate, gradient, names_in, substitute
from svyaz.forms import Equations, derive
from svyaz.matrices import cond, eigvalsh
from svyaz.model import Canonical, Mechanical, System
from svyaz.program import remembered
from svyaz.stability.critical import (
    ASYMPTOTIC,
    FIRST_APPROXIMATION,
    NO_THEOREM,
    STABLE,
    UNDECIDED,
    UNSTABLE,
    StabilityVerdict,
)
from svyaz.stability.hypotheses import Hypothesis
from svyaz.stability.rest import RestEquations, only_in_waves, pose, settled
from svyaz.stability.spectrum import spectrum

HAMILTONIAN = "Lagrange and Dirichlet: the Hamiltonian is a first integral and has a strict extremum"

DEFINITE = 1e-10
"""The least value of the second differential beside the largest that counts as positive."""


def is_taken(system: System) -> bool:
    """Are its equations taken as they were stated?"""
    return not isinstance(system.law, Mechanical)


@remembered
def taken(system: System) -> Equations:
    """The equations, refused if they contain the time."""
    equations = derive(system)
    if any("t" in names_in(e) for e in _everything(equations)):
        raise ModelError([Problem("the equations change with time: there is no equilibrium")])
    return equations


def _everything(equations: Equations) -> list[Expression]:
    return [*equations.explicit.values(), *equations.bias, *(e for row in equations.mass_matrix for e in row)]


def taken_rest(
    system: System, fix: Mapping[str, float] | None = None, box: Mapping[str, tuple[float, float]] | None = None
) -> RestEquations:
    """The equations of rest of a system with such equations; unknown are its states but velocities."""
    system, fixed, sides, following = settled(system, fix, box)
    equations = taken(system)
    velocities = set(equations.velocities)
    still = dict.fromkeys(velocities, ZERO)
    rates = [substitute(e, still) for q, e in equations.explicit.items() if e not in velocities]
    expressions = [substitute(e, following) for e in (*rates, *(substitute(e, still) for e in equations.bias))]
    everything = _everything(equations)
    states = [name for name in equations.states if se.Symbol(name) not in velocities]
    found = pose(
        system,
        expressions,
        fixed,
        sides,
        unknowns=[*states, *system.inputs],
        linear=[name for name in (*system.inputs, *states) if name not in (*system.box, *sides)],
        periodic=lambda name: name in states and only_in_waves(everything, name),
    )
    return replace(found, expressions=())


def taken_stability(system: System, state: Mapping[str, float], values: Mapping[str, float]) -> StabilityVerdict:
    """The verdict on an equilibrium with these values of inputs and parameters."""
    equations = taken(system)
    known = {**values, **{str(v): 0.0 for v in equations.velocities}, **state}
    matrix = _matrix(equations, known)
    found, zeros, (negative, neutral, positive) = spectrum(matrix)
    order = len(matrix)
    notes = [f"{zeros} zero root{'s' if zeros > 1 else ''}"] if zeros else []
    if neutral > zeros:
        notes.append(f"{neutral - zeros} root{'s lie' if neutral - zeros > 1 else ' lies'} on the imaginary axis")
    word, theorem, hypotheses = UNDECIDED, NO_THEOREM, []
    if positive:
        text = f"{positive} root{'s have' if positive > 1 else ' has'} a positive real part"
        word, theorem, hypotheses = UNSTABLE, FIRST_APPROXIMATION, [Hypothesis(text, True)]
    else:
        hypotheses = [Hypothesis(f"all {order} roots have negative real parts", True if negative == order else None)]
        if negative == order:
            word, theorem = ASYMPTOTIC, FIRST_APPROXIMATION
        elif isinstance(system.law, Canonical) and not system.rates:
            hypotheses = [_definite(system, system.law.hamiltonian, known)]
            word, theorem = (STABLE, HAMILTONIAN) if hypotheses[0].holds else (UNDECIDED, NO_THEOREM)
    return StabilityVerdict(word, theorem, tuple(hypotheses), found, zeros, 0, tuple(notes))


def _matrix(equations: Equations, known: Mapping[str, float]) -> Array:
    """∂ẋ/∂x at rest, in the order of the states."""
    by = [se.Symbol(name) for name in equations.states]
    slopes = {name: _slope(e, by, known) for name, e in equations.explicit.items()}
    if equations.accelerated:
        mass = np.array([[evaluate(e, known) for e in row] for row in equations.mass_matrix], dtype=float)
        if not np.isfinite(cond(mass)) or cond(mass) > 1e14:
            raise ModelError([Problem("the accelerations are not determined at rest: their matrix is singular")])
        moved = -np.linalg.solve(mass, np.array([_slope(e, by, known) for e in equations.bias]))
        slopes |= {str(v): row for v, row in zip(equations.velocities, moved, strict=True)}
    return np.array([slopes[name] for name in equations.states])


def _slope(expression: Expression, by: Sequence[se.Symbol], known: Mapping[str, float]) -> Array:
    return np.array([evaluate(e, known) for e in gradient(expression, by)], dtype=float)


def _definite(system: System, hamiltonian: Expression, known: Mapping[str, float]) -> Hypothesis:
    """Is the second differential of H definite?"""
    by = [se.Symbol(name) for name in system.states]
    hessian = np.array([_slope(e, by, known) for e in gradient(hamiltonian, by)])
    sizes = np.sqrt(np.maximum(np.abs(np.diag(hessian)), 1e-300))
    values = eigvalsh(hessian / np.outer(sizes, sizes))
    small = DEFINITE * float(np.abs(values).max(initial=0.0))
    if np.all(values > small) or np.all(values < -small):
        word = "positive" if values[0] > 0 else "negative"
        return Hypothesis(f"the second differential of the Hamiltonian is {word} definite", True)
    return Hypothesis("the second differential of the Hamiltonian is definite", None)
