"""Routh's equations: momenta instead of the velocities of some coordinates, redundant coordinates kept.

    q = (α, γ, s),   ṡ = B_α α̇ + B_γ γ̇,   L* = L with this ṡ = ½ ṙᵀ a ṙ + a₁ᵀ ṙ - W,   r = (α, γ),

    p = ∂L*/∂γ̇,     γ̇ = a_γγ⁻¹ (p - a_γ - a_γα α̇),     R = L* - pᵀ γ̇,

    d/dt ∂R/∂α̇ - ∂R/∂α = Q_α + B_αᵀ (∂R/∂s + Q_s),     ṗ = ∂R/∂γ + Q_γ + B_γᵀ (∂R/∂s + Q_s)

(E. J. Routh 1877; with redundant coordinates (2.6.1) of the work on them.) γ are the coordinates that ``momenta`` in [run]
names; else the cyclic ones without inputs, whose momenta are conserved: ṗ = 0. Any others may be named.

The left side of α is the Schur complement of Shulgin's equations a r̈ + b = 0:

    b_αα = a_αα - a_αγ a_γγ⁻¹ a_γα,     b_αα α̈ + b_α - a_αγ a_γγ⁻¹ b_γ = 0     with γ̇ put in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import symengine as se

from svyaz.expr import (
    ZERO,
    Expression,
    ModelError,
    Problem,
    add_up,
    combine,
    gradient,
    names_in,
    substitute,
    velocity,
)
from svyaz.forms.cyclic import pseudo_cyclic
from svyaz.forms.equations import Equations, Form
from svyaz.forms.named.lagrange import applied_forces
from svyaz.forms.named.shulgin import shulgin_equations, solved_for
from svyaz.forms.reduction import shorter
from svyaz.forms.routhian import momentum_of
from svyaz.forms.stated import lagrangian, only_constant_masses
from svyaz.model import Constraint, Mechanical, System, nearest

NAME = "routh"

Rows = Sequence[Sequence[Expression]]


def routh(
    system: System, active: Sequence[Constraint] | None = None, dependent: Sequence[str] | None = None
) -> Equations:
    """The equations in the velocities of α and the momenta of γ."""
    if not isinstance(system.law, Mechanical):
        raise ModelError([Problem(f"the form '{NAME}' is for systems with energies")])
    only_constant_masses(system, f"the form '{NAME}' is", "use the form 'lagrange' or 'multipliers'")
    full = shulgin_equations(system, active, dependent)
    gamma = chosen_momenta(system, full)
    alpha = tuple(q for q in full.accelerated if q not in gamma)
    whole = full.in_states(lagrangian(system))
    slopes = {q: gradient(whole, [velocity(q)])[0] for q in gamma}
    _check_quadratic(full, slopes)
    blocks = _Blocks(full, alpha, gamma)
    speeds = blocks.speeds(slopes)
    put = {velocity(q): speed for q, speed in speeds.items()}
    observed = {name: substitute(rate, put) for name, rate in full.observed.items()}
    observed |= {str(velocity(q)): speed for q, speed in speeds.items()}
    moved = {se.Symbol(name): rate for name, rate in observed.items()}
    coordinates = {q: substitute(velocity(q), moved) for q in system.coordinates}
    mass, bias = blocks.complement(put)
    forces = _generalised_forces(full, whole, gamma)
    momenta = {momentum_of(q): substitute(force, put) for q, force in forces.items()}
    further = {name: substitute(rate, put) for name, rate in full.explicit.items() if name in system.rates}
    return Equations(
        form=NAME,
        system=system,
        states=(*system.coordinates, *(f"{q}'" for q in alpha), *momenta, *system.rates),
        explicit={**coordinates, **momenta, **further},
        accelerated=alpha,
        mass_matrix=mass,
        bias=bias,
        observed=observed,
        entering={momentum_of(q): slope for q, slope in slopes.items()},
        eliminated=full.eliminated,
        origin=full.origin,
        dependent=full.dependent,
        notes=full.notes,
    )


def chosen_momenta(system: System, full: Equations) -> tuple[str, ...]:
    """The coordinates described by momenta: those of [run], or the cyclic ones without inputs."""
    place = system.place("run", "momenta")
    asked = system.run.get("momenta")
    if asked is None:
        found = tuple(c.name for c in pseudo_cyclic(system) if not c.driven and c.name in full.accelerated)
        if not found:
            message = "no coordinate is cyclic without an input: there is no momentum to take for a velocity"
            raise ModelError([Problem(message, hint='name the coordinates yourself: momenta = ["q"] in [run]')])
        return found
    assert isinstance(asked, list | tuple), "the reader has seen to it"
    problems = []
    for name in asked:
        if name not in system.coordinates:
            hint = nearest(name, system.coordinates)
            problems.append(Problem(f"'{name}' has no momentum: it is no coordinate of the model", place, hint))
        elif name in full.dependent:
            message = f"'{name}' is redundant: its velocity follows from the others, and it has no momentum of its own"
            problems.append(Problem(message, place, "take other coordinates as redundant"))
    taken = {*system.constants, *system.states}
    problems += [
        Problem(f"'{momentum_of(name)}' is the momentum of '{name}' and cannot name something else", place)
        for name in asked
        if momentum_of(name) in taken
    ]
    if problems:
        raise ModelError(problems)
    return tuple(q for q in full.accelerated if q in asked)


def _check_quadratic(full: Equations, slopes: Mapping[str, Expression]) -> None:
    """Momenta are solved for velocities only where they are linear in them."""
    velocities = {str(v) for v in full.velocities}
    rows = [full.mass_matrix[full.accelerated.index(q)] for q in slopes]
    if any(names_in(e) & velocities for row in rows for e in row):
        message = f"the form '{NAME}' wants a kinetic energy that is quadratic in the velocities"
        raise ModelError([Problem(message)])


class _Blocks:
    """a and b of a r̈ + b = 0, parted by r = (α, γ)."""

    def __init__(self, full: Equations, alpha: Sequence[str], gamma: Sequence[str]) -> None:
        place = {q: k for k, q in enumerate(full.accelerated)}
        self.alpha, self.gamma = [place[q] for q in alpha], [place[q] for q in gamma]
        self.names = gamma
        self.mass, self.bias = full.mass_matrix, full.bias
        self.velocities = full.velocities

    def block(self, rows: Sequence[int], columns: Sequence[int]) -> list[list[Expression]]:
        """Those rows and columns of a."""
        return [[self.mass[i][j] for j in columns] for i in rows]

    def speeds(self, slopes: Mapping[str, Expression]) -> dict[str, Expression]:
        """γ̇ = a_γγ⁻¹ (p - a_γ - a_γα α̇)."""
        still = dict.fromkeys(self.velocities, ZERO)
        sides = []
        for q, row in zip(self.names, self.block(self.gamma, self.alpha), strict=True):
            products = [m * self.velocities[j] for m, j in zip(row, self.alpha, strict=True)]
            sides.append([add_up([se.Symbol(momentum_of(q)), -substitute(slopes[q], still), *(-e for e in products)])])
        found = solved_for(self.block(self.gamma, self.gamma), sides)
        return {q: row[0] for q, row in zip(self.names, found, strict=True)}

    def complement(
        self, put: Mapping[se.Symbol, Expression]
    ) -> tuple[tuple[tuple[Expression, ...], ...], tuple[Expression, ...]]:
        """b_αα and the bias of α, with γ̇ put in."""
        across = self.block(self.gamma, self.alpha)
        sides = [[*row, self.bias[i]] for row, i in zip(across, self.gamma, strict=True)]
        solved = solved_for(self.block(self.gamma, self.gamma), sides)
        mass, bias = [], []
        for i in self.alpha:
            own = [*(self.mass[i][j] for j in self.alpha), self.bias[i]]
            coupling = [self.mass[i][k] for k in self.gamma]
            row = [
                add_up([e, *(-c * line[j] for c, line in zip(coupling, solved, strict=True))])
                for j, e in enumerate(own)
            ]
            mass.append(tuple(shorter(e) for e in row[:-1]))
            bias.append(substitute(row[-1], put))
        return tuple(mass), tuple(bias)


def _generalised_forces(full: Equations, whole: Expression, gamma: Sequence[str]) -> dict[str, Expression]:
    """ṗ = ∂L*/∂γ + Q_γ + B_γᵀ (∂L*/∂s + Q_s) in the velocities; ∂L*/∂γ = ∂R/∂γ at equal p and α̇."""
    system = full.system
    others = dict(zip(system.coordinates, map(full.in_states, applied_forces(system)), strict=True))
    pull = {q: gradient(whole, [se.Symbol(q)])[0] - others[q] for q in (*gamma, *full.dependent)}
    found = {}
    for q in gamma:
        shares = [gradient(full.explicit[s], [velocity(q)])[0] * pull[s] for s in full.dependent]
        found[q] = combine(add_up([pull[q], *shares]))
    return found


FORM = Form(NAME, routh, reduced=routh)
