"""Are second-order equations f(q, q̇, q̈, t) = 0 those of Lagrange with a Rayleigh function, d/dt ∂L/∂q̇ - ∂L/∂q + ∂D/∂q̇?

The conditions of Helmholtz, generalised to dissipation (Kaspirovich 3.1; the seventh corrected: the sum is cyclic):

    H1  ∂f_a/∂q̈_b is symmetric
    H2  s_ab = ½ (∂f_a/∂q̇_b + ∂f_b/∂q̇_a) - d/dt ∂f_a/∂q̈_b contains no accelerations
    H3  r_ab = ∂f_a/∂q_b - ∂f_b/∂q_a - ½ d/dt (∂f_a/∂q̇_b - ∂f_b/∂q̇_a) contains no accelerations
    H4  f is linear in the accelerations
    H5  ∂s_ab/∂q̇_c = ∂s_ac/∂q̇_b
    H6  ∂r_ab/∂q̇_c = ∂s_ac/∂q_b - ∂s_bc/∂q_a
    H7  ∂r_ab/∂q_c + ∂r_bc/∂q_a + ∂r_ca/∂q_b = 0

They hold for the equations as written: solving M q̈ + … = 0 for q̈ destroys them in general. d/dt is the total
derivative, with q̈ and its own derivative as independent variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import symengine as se

from svyaz.constraints import flattened, vanishes
from svyaz.expr import (
    HALF,
    ONE,
    TIME,
    Expression,
    ModelError,
    Problem,
    acceleration,
    add_up,
    combine,
    differentiate,
    expanded_size,
    names_in,
    to_text,
    total_derivative,
    velocity,
)
from svyaz.forms import derive, is_nothing
from svyaz.model import GivenEquations, Mechanical, System
from svyaz.shown import Shown
from svyaz.synthesis.inverse.construction import Construction, construct

SAYS = {
    "H1": "the accelerations enter symmetrically",
    "H2": "s contains no accelerations",
    "H3": "r contains no accelerations",
    "H4": "linear in the accelerations",
    "H5": "s is a second derivative by velocities",
    "H6": "r fits s",
    "H7": "the cyclic sum of r vanishes",
}


@dataclass(frozen=True)
class Condition:
    """One condition: ``where`` tells the components that fail and what is left of them."""

    name: str
    holds: bool
    where: tuple[str, ...] = ()

    @property
    def says(self) -> str:
        return SAYS[self.name]


@dataclass(frozen=True, repr=False)
class Helmholtz(Shown):
    """The seven conditions, and what was constructed when they hold. ``tested`` says in which form.

    >>> import svyaz
    >>> found = svyaz.System(coordinates=["x"], accelerations={"x": "-x - x'"}).helmholtz()
    >>> found.holds
    True
    """

    system: System
    tested: str
    conditions: tuple[Condition, ...]
    construction: Construction | None
    notes: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Do all seven hold?"""
        return all(c.holds for c in self.conditions)

    @property
    def failing(self) -> tuple[str, ...]:
        """The names of those that do not hold."""
        return tuple(c.name for c in self.conditions if not c.holds)


def helmholtz(system: System) -> Helmholtz:
    """Test the equations of a model: [equations] as written, [accelerations] explicitly, Lagrange's for energies."""
    equations, tested = _equations(system)
    conditions, s, r = conditions_of(equations, system.coordinates)
    notes: list[str] = []
    made = None
    if all(c.holds for c in conditions):
        made = construct(equations, system.coordinates, s, r)
        notes.append(_describe(made, system.coordinates))
    elif isinstance(system.law, GivenEquations) and system.law.explicit:
        notes.append(
            "tested in explicit form: the same equations multiplied by a mass matrix, given in [equations], may pass"
        )
    return Helmholtz(system, tested, conditions, made, tuple(notes))


def _describe(made: Construction | None, coordinates: Sequence[str]) -> str:
    """What the functions that were constructed mean."""
    if made is None:
        return "the conditions hold; the integrals for a Lagrangian and a Rayleigh function were not found"
    if made.rayleigh == 0:
        return "the Lagrangian alone gives the equations"
    around = made.circulatory(coordinates)
    if around == 0:
        return "the Lagrangian and the Rayleigh function give the equations"
    return (
        f"the part {to_text(around)} of the Rayleigh function is linear in the velocities: it stands for forces of "
        "position that have no potential (circulatory), not for dissipation"
    )


def _equations(system: System) -> tuple[list[Expression], str]:
    if system.constraints or system.motors:
        raise ModelError([Problem("the conditions are for free systems; the model has constraints or motors")])
    if isinstance(system.law, GivenEquations):
        tested = "explicit form, q'' - a = 0" if system.law.explicit else "equations as written"
        return list(system.law.equations.values()), tested
    if not isinstance(system.law, Mechanical) or system.rates or system.freedoms != system.coordinates:
        message = "the conditions are for second-order equations: [equations], [accelerations] or energies"
        raise ModelError([Problem(message)])
    derived = derive(system, "lagrange")
    lines = [
        add_up([*(m * a for m, a in zip(row, derived.accelerations, strict=True)), b])
        for row, b in zip(derived.mass_matrix, derived.bias, strict=True)
    ]
    return lines, "Lagrange's equations of the model, with its forces"


def conditions_of(
    f: Sequence[Expression], coordinates: Sequence[str]
) -> tuple[tuple[Condition, ...], list[list[Expression]], list[list[Expression]]]:
    """(H1 … H7, s, r)."""
    n = len(f)
    q = [se.Symbol(name) for name in coordinates]
    v, a = [velocity(name) for name in coordinates], [acceleration(name) for name in coordinates]
    flow = _flow(coordinates)
    by_a = [[differentiate(e, x) for x in a] for e in f]
    by_v = [[differentiate(e, x) for x in v] for e in f]
    by_q = [[differentiate(e, x) for x in q] for e in f]
    s = [
        [_tidy(HALF * (by_v[i][j] + by_v[j][i]) - total_derivative(by_a[i][j], flow)) for j in range(n)]
        for i in range(n)
    ]
    r = [
        [_tidy(by_q[i][j] - by_q[j][i] - HALF * total_derivative(by_v[i][j] - by_v[j][i], flow)) for j in range(n)]
        for i in range(n)
    ]
    numbers = range(n)
    upper = [(i, j) for i in numbers for j in range(i, n)]
    faster = [*a, *(se.Symbol(f"{name}'''") for name in coordinates)]

    def third() -> Iterator[tuple[tuple[int, ...], Expression]]:
        for i, j, k in combinations(numbers, 3):
            yield (i, j, k), differentiate(r[i][j], q[k]) + differentiate(r[j][k], q[i]) + differentiate(r[k][i], q[j])

    tests: Mapping[str, list[tuple[tuple[int, ...], Expression]]] = {
        "H1": [((i, j), by_a[i][j] - by_a[j][i]) for i, j in combinations(numbers, 2)],
        "H2": [((i, j), differentiate(s[i][j], x)) for i, j in upper for x in faster],
        "H3": [((i, j), differentiate(r[i][j], x)) for i, j in combinations(numbers, 2) for x in faster],
        "H4": [((i,), differentiate(by_a[i][j], a[k])) for i in numbers for j, k in upper],
        "H5": [
            ((i, j, k), differentiate(s[i][j], v[k]) - differentiate(s[i][k], v[j]))
            for i in numbers
            for j, k in combinations(numbers, 2)
        ],
        "H6": [
            ((i, j, k), differentiate(r[i][j], v[k]) - differentiate(s[i][k], q[j]) + differentiate(s[j][k], q[i]))
            for i, j in combinations(numbers, 2)
            for k in numbers
        ],
        "H7": list(third()),
    }
    conditions = tuple(_condition(name, entries, coordinates) for name, entries in tests.items())
    return conditions, s, r


def _flow(coordinates: Sequence[str]) -> dict[se.Symbol, Expression]:
    flow: dict[se.Symbol, Expression] = {TIME: ONE}
    for name in coordinates:
        flow |= {
            se.Symbol(name): velocity(name),
            velocity(name): acceleration(name),
            acceleration(name): se.Symbol(f"{name}'''"),
        }
    return flow


def _tidy(expression: Expression) -> Expression:
    return combine(flattened(expression)) if expanded_size(expression) < 2000 else expression


def _condition(
    name: str, entries: Sequence[tuple[tuple[int, ...], Expression]], coordinates: Sequence[str]
) -> Condition:
    """A condition is a list of expressions that should vanish; numbers decide, and tell nothing false."""
    failing: dict[tuple[int, ...], str] = {}
    for place, expression in entries:
        if place not in failing and not is_nothing(expression) and not vanishes(expression):
            rest = _tidy(expression)
            told = to_text(rest) if len(names_in(rest)) <= 8 and expanded_size(rest) <= 12 else "…"
            failing[place] = f"({', '.join(coordinates[k] for k in place)}): {told}"
    return Condition(name, not failing, tuple(failing.values()))
