"""What changes the energy of a system: the power of forces, of moving constraints, and of what depends on time.

With E = q̇·∂L/∂q̇ - L and Lagrange's equations

    dE/dt = Q·q̇ - ∂L/∂t + Σ λ_k s_k - ∂D/∂q̇·q̇,

where s_k is what a constraint asks of the system beyond letting it move along: -∂h/∂t for h(q, t) = 0, and for
f(q, q̇, t) = 0 the part ∂f/∂q̇·q̇ - c f, which vanishes if f is homogeneous of degree c in the velocities. A control that
keeps a servo-constraint does work like any force, s_k = b·q̇ with b its direction. For canonical
systems dH/dt = ∂H/∂t. Where every term vanishes the energy is a first integral.

Forces whose power can never be positive resist the motion, and what they take away counts as dissipated, as that of D.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
import symengine as se

from svyaz.expr import (
    ONE,
    TIME,
    ZERO,
    Expression,
    add_up,
    differentiate,
    evaluate,
    expanded,
    gradient,
    is_zero,
    names_in,
    real_value,
    substitute,
)
from svyaz.forms.equations import Equations
from svyaz.forms.stated import lagrangian
from svyaz.matrices import eigvalsh
from svyaz.model import Canonical, Constraint, Energies, Mechanical, System, tree_of
from svyaz.program import remembered

DEGREES = (1, 2, 0, 3, 4)
"""Degrees of homogeneity in the velocities for which a constraint is asked."""


@dataclass(frozen=True)
class EnergyPower:
    """dE/dt = ``work`` + Σ λ_k ``slips``_k - ``dissipated``, in terms of the states of the model.

    ``slips`` are named by the constraints; what vanishes is left out. ``rubbing``: there are forces that depend on reactions,
    the power of which the equations tell (``rubbing_power``).
    """

    work: Expression
    dissipated: Expression
    slips: Mapping[str, Expression]
    rubbing: bool = False

    @property
    def vanishes(self) -> bool:
        """Does the energy never change?"""
        return is_zero(self.work) and is_zero(self.dissipated) and not self.slips and not self.rubbing


def power_of(system: System, varied: Collection[str] = ()) -> EnergyPower | None:
    """The power of what acts on a system; None where it has no energy.

    Parameters and inputs that are exactly zero are taken as such, unless they are among those ``varied``.
    """
    return _power(system, varied) if varied else _power_as_stated(system)


@remembered
def _power_as_stated(system: System) -> EnergyPower | None:
    return _power(system, ())


def _power(system: System, varied: Collection[str]) -> EnergyPower | None:
    absent = {se.Symbol(n): ZERO for n, value in system.constants.items() if value == 0.0 and n not in varied}

    def simple(e: Expression) -> Expression:
        return expanded(substitute(e, absent))

    if isinstance(system.law, Canonical):
        return EnergyPower(simple(differentiate(system.law.hamiltonian, TIME)), ZERO, {})
    if not isinstance(system.law, Mechanical):
        return None
    speeds = {q: se.Symbol(v) for q, v in zip(system.freedoms, system.velocities, strict=True)}
    forces = {q: simple(force) for q, force in system.forces.items()}
    resisting = _resistance(system, forces, speeds)
    work = add_up((forces[q] - resisting[q]) * speeds[q] for q in forces) if forces else ZERO
    work += _of_energies(system, speeds)
    slopes = gradient(system.dissipation, [*speeds.values()])
    lost = [speed * slope for speed, slope in zip(speeds.values(), slopes, strict=True)]
    lost += [-resisting[q] * speeds[q] for q in forces]
    slips = [_slip(c, system) for c in system.constraints]
    rubbing = any(c.frictions or c.drags for c in system.constraints)
    gained, taken, *slips = [expanded(substitute(e, absent)) for e in (work, se.Add(*lost), *slips)]
    kept = {c.name: e for c, e in zip(system.constraints, slips, strict=True) if not is_zero(e)}
    return EnergyPower(gained, taken, kept, rubbing)


def _of_energies(system: System, speeds: Mapping[str, se.Symbol]) -> Expression:
    """-∂L/∂t, and what states in the energies do, -∂L/∂w ẇ; forces with -∂²L/∂q̇∂w ẇ in them have it from ∂E/∂w ẇ."""
    names = set().union(*(b.names for b in system.bodies)) if system.bodies else {"t"}
    states = system.law.varying if isinstance(system.law, Energies) else tuple(names & set(system.rates))
    if not states and "t" not in names:
        return ZERO
    if system.bodies:
        from svyaz.forms.tree.recursions.energies import rate_tree, tree_energies

        rates = rate_tree(tree_of(system), {se.Symbol(w): system.rates[w] for w in states} | {TIME: ONE})
        if rates is not None:
            kinetic, potential = tree_energies(rates)
            return potential - kinetic
    whole = lagrangian(system)
    terms = [-differentiate(whole, TIME)]
    for w in states:
        slope = differentiate(whole, se.Symbol(w))
        if isinstance(system.law, Energies):
            slope -= add_up(v * differentiate(slope, v) for v in speeds.values())
        terms.append(-slope * system.rates[w])
    return add_up(terms)


def rubbing_power(equations: Equations, multipliers: Mapping[str, Expression]) -> tuple[Expression, Expression]:
    """(work, dissipated) of the forces that depend on reactions, by the multipliers of the constraints that act.

    A friction T takes T·slip away; what it does beyond that, T (slip - along·v), is the work of what moves under it.
    """
    work, lost = [ZERO], [ZERO]
    speeds = [equations.in_states(se.Symbol(v)) for v in equations.system.velocities]
    for p in equations.pulls:
        name = equations.deviations[p.number].name
        size = p.side * p.load * equations.in_states(p.friction.sliding) * multipliers[name] + p.holding
        slip = equations.in_states(p.friction.slip)
        along = add_up(equations.in_states(e) * v for e, v in zip(p.friction.along, speeds, strict=True))
        lost.append(size * slip)
        work.append(size * expanded(slip - along))
    for d in equations.deviations:
        for drag in d.constraint.drags:
            sign = equations.loads.get(d.name, ONE) if drag.absolute else ONE
            along = add_up(equations.in_states(e) * v for e, v in zip(drag.along, speeds, strict=True))
            lost.append(-sign * multipliers[d.name] * along)
    return add_up(work), add_up(lost)


def keeps_energy(system: System, varied: Collection[str] = ()) -> bool:
    """Is the energy a first integral: does nothing change it, neither as time goes on nor at impacts?"""
    power = power_of(system, varied)
    return power is not None and power.vanishes and all(c.impact is None for c in system.constraints)


def _slip(constraint: Constraint, system: System) -> Expression:
    """G q̇ where the constraint is satisfied; b·q̇ for a servo-constraint."""
    e = constraint.expression
    if constraint.order == 0 and not constraint.servo:
        return -differentiate(e, TIME) if constraint.moves_with_time else ZERO
    speeds = [se.Symbol(v) for v in system.velocities]
    if constraint.servo:
        return add_up(b * v for b, v in zip(constraint.direction, speeds, strict=True))
    along = se.Add(*[v * slope for v, slope in zip(speeds, gradient(e, speeds), strict=True)])
    if any(is_zero(expanded(along - degree * e)) for degree in DEGREES):
        return ZERO
    return along - e


def _resistance(
    system: System, forces: Mapping[str, Expression], speeds: Mapping[str, se.Symbol]
) -> dict[str, Expression]:
    """The part of each force that can only take energy away."""
    constants = system.constants
    terms = {q: list(force.args) if force.is_Add else [force] for q, force in forces.items()}
    linear = {q: [e for e in found if _is_damping(e, speeds, constants)] for q, found in terms.items()}
    together = _damps(linear, speeds, constants)
    found = {}
    for q, speed in speeds.items():
        own = [e for e in terms.get(q, ()) if _sign(e * speed, constants) in ((-1, frozenset()), (0, frozenset()))]
        if together:
            own += [e for e in linear.get(q, ()) if e not in own]
        found[q] = add_up(own) if own else ZERO
    return found


def _is_damping(term: Expression, speeds: Mapping[str, se.Symbol], constants: Collection[str]) -> bool:
    """Is it a constant times one velocity?"""
    names = names_in(term)
    inside = [s for s in speeds.values() if str(s) in names]
    return len(inside) == 1 and names_in(term / inside[0]) <= set(constants)


def _damps(
    linear: Mapping[str, list[Expression]], speeds: Mapping[str, se.Symbol], constants: Mapping[str, float]
) -> bool:
    """Is vᵀ C v ≥ 0 for all velocities, -C v being the forces that are linear in them?"""
    size = len(speeds)
    if not any(linear.values()):
        return False
    c = np.zeros((size, size))
    for (i, q), (j, v) in product(enumerate(speeds), enumerate(speeds.values())):
        c[i, j] = -sum(evaluate(differentiate(e, v), constants) for e in linear.get(q, ()))
    if not np.isfinite(c).all():
        return False
    roots = eigvalsh(c + c.T)
    return bool(roots[0] >= -1e-12 * np.abs(roots).max())


Sign = tuple[int, frozenset[str]]
"""s and names: the sign of an expression is s times the signs of these variables."""

_ODD = (se.sign, se.tanh, se.sinh, se.atan, se.asin, se.asinh)
_POSITIVE = (se.Abs, se.cosh)


def _sign(e: Expression, constants: Mapping[str, float]) -> Sign | None:
    """The sign of an expression wherever it is real; None where it is not that simple."""
    if e.is_Symbol:
        name = str(e)
        return (1, frozenset({name})) if name not in constants else (int(np.sign(constants[name])), frozenset())
    if not e.free_symbols:
        value = real_value(e)
        return (int(np.sign(value)), frozenset()) if np.isfinite(value) else None
    if isinstance(e, _POSITIVE):
        return 1, frozenset()
    if isinstance(e, _ODD):
        return _sign(e.args[0], constants)
    if e.is_Pow:
        base, exponent = e.args
        return _sign_of_power(base, exponent, constants)
    if e.is_Mul:
        return _sign_of_product([_sign(factor, constants) for factor in e.args])
    if e.is_Add:
        found = {_sign(term, constants) for term in e.args}
        return found.pop() if len(found) == 1 else None
    return None


def _sign_of_power(base: Expression, exponent: Expression, constants: Mapping[str, float]) -> Sign | None:
    if exponent.is_Integer:
        return (1, frozenset()) if int(exponent) % 2 == 0 else _sign(base, constants)
    return 1, frozenset()  # real only where the base is positive


def _sign_of_product(factors: list[Sign | None]) -> Sign | None:
    sign, names = 1, frozenset[str]()
    for factor in factors:
        if factor is None:
            return None
        sign, names = sign * factor[0], names ^ factor[1]
    return (0, frozenset()) if sign == 0 else (sign, names)
