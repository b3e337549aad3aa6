"""Energies of a tree: T = ½ Σ (m v² + 2 v·(ω × d) + ω·I ω), P = -Σ g·(m r + d), pole by pole.

A tree as a mechanical system like any other: M and bias as expressions.

Small planar trees are written in the short forms of the books: M by the planar formulas, the bias by Christoffel symbols.
All others go by composite bodies and Newton–Euler; their expressions share their parts, so that they are short as programs
and long as text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import symengine as se

from svyaz.expr import (
    ONE,
    TIME,
    ZERO,
    Expression,
    ModelError,
    Problem,
    add_up,
    combine,
    differentiate,
    is_zero,
    total_derivative,
)
from svyaz.forms.christoffel import quadratic_bias
from svyaz.forms.tree.recursions.algebra import (
    Element,
    Elements,
    Vector,
    applied,
    cross,
    dot,
    expressions,
    plus,
    tensor_applied,
    times,
)
from svyaz.forms.tree.recursions.composite import mass_matrix
from svyaz.forms.tree.recursions.newton_euler import inverse_dynamics, joint_motion
from svyaz.forms.tree.recursions.places import Placed, placed, welded
from svyaz.forms.tree.recursions.regroup import links_of, placed_link, with_base_parameters, with_poles_shifted
from svyaz.forms.tree.short_formulas.poles import inertia_of_planar, is_planar_arm
from svyaz.model import GROUND, System, Tree, tree_of


@lru_cache(maxsize=16)
def energies(tree: Tree) -> tuple[Expression, Expression]:
    """(T, P) as expressions of coordinates and velocities; P is zero in the ground pole with all mass there."""
    elements = expressions()
    bodies = placed(tree, {q: se.Symbol(q) for q in tree.coordinates}, elements)
    return energies_of(bodies, tree.gravity, [se.Symbol(v) for v in tree.velocities], elements)


def potential_outward(tree: Tree) -> Expression:
    """P = -Σ (m g·r + g·d), with g in the axes of each body and g·r of each pole carried outward from its base."""
    elements = expressions()
    down: list[tuple[Vector, Element]] = []
    terms: list[Element] = []
    for body in placed(tree, {q: se.Symbol(q) for q in tree.coordinates}, elements):
        base = body.body.base
        gravity, height = (tree.gravity, elements.zero) if base == GROUND else down[base]
        here = applied(body.back, gravity), height + dot(gravity, body.offset)
        down.append(here)
        terms.append(body.mass * here[1] + dot(here[0], body.moment))
    return -add_up(terms)


def energies_of(
    bodies: Sequence[Placed], gravity: Vector, velocities: Sequence[Element], elements: Elements
) -> tuple[Element, Element]:
    """(T, P) of placed bodies with these velocities."""
    none: Vector = (elements.zero,) * 3
    motions: list[tuple[Vector, Vector]] = []
    kinetic = elements.zero
    first = 0
    for body in bodies:
        base = body.body.base
        omega_b, v_b = (none, none) if base == GROUND else motions[base]
        omega_j, v_j = joint_motion(body, velocities, first, none)
        first += len(body.turns)
        omega = plus(applied(body.back, omega_b), omega_j)
        v = plus(applied(body.back, plus(v_b, cross(omega_b, body.offset))), v_j)
        motions.append((omega, v))
        double = body.mass * dot(v, v) + dot(omega, tensor_applied(body.inertia, omega))
        kinetic = kinetic + double / 2 + dot(v, cross(omega, body.moment))
    return kinetic, -dot(gravity, _first_moment(bodies, none))


def _first_moment(bodies: Sequence[Placed], none: Vector) -> Vector:
    """Σ (m r + d) over all bodies, in ground axes."""
    moments: list[Vector] = [body.moment for body in bodies]
    masses = [body.mass for body in bodies]
    total: Vector = none
    for k in range(len(bodies) - 1, -1, -1):
        carried = plus(applied(bodies[k].rotation, moments[k]), times(masses[k], bodies[k].offset))
        base = bodies[k].body.base
        if base == GROUND:
            total = plus(total, carried)
        else:
            moments[base] = plus(moments[base], carried)
            masses[base] = masses[base] + masses[k]
    return total


MOST_WRITTEN = 150
"""The equations of larger trees are written out where that is asked for: a full mass matrix of them fills pages and memory."""


def most_written(system: System) -> int:
    """The equations of trees of at most so many bodies are written out: [run] says it, ``written``."""
    given = system.run.get("written", MOST_WRITTEN)
    return int(given) if isinstance(given, int | float) else MOST_WRITTEN


def refuse_to_write(system: System, told: str = "", hint: str = "'simulate' runs long trees without them") -> None:
    """Refuse a tree whose equations are too long to be written out unasked, with what else is ``told`` of it."""
    count, most = len(tree_of(system).bodies), most_written(system)
    if count > most:
        message = f"{told}the equations of a tree of {count} bodies are not written out; at most {most} are"
        raise ModelError([Problem(message, hint=f"{hint}; 'written = {count}' in [run] has them written all the same")])


LONGEST_BY_POLES = 16
"""Energies of more bodies than this are written so that they share what is long with the equations."""

MOST_IN_BOOK_FORM = 10
"""Planar trees of more bodies than this are left to the recursions."""


def tree_terms(system: System) -> tuple[list[list[Expression]], list[Expression]]:
    """(M, bias) of a tree without constraints; the forces and the dissipation of the model are in the bias.

    Where masses change, momentum does: dM/dt v is in the bias too, with the rates of the states on which M depends.
    """
    tree = tree_of(system)
    others = [
        differentiate(system.dissipation, se.Symbol(v)) - system.forces.get(name, ZERO)
        for v, name in zip(tree.velocities, tree.freedoms, strict=True)
    ]
    refuse_to_write(system)
    known = set().union(*(body.names for body in tree.bodies))
    flow: dict[se.Symbol, Expression] = {se.Symbol(w): rate for w, rate in system.rates.items() if w in known}
    if is_planar_arm(tree) and len(tree.bodies) <= MOST_IN_BOOK_FORM:
        mass, bias = _in_book_form(tree, others)  # ∂M/∂t is in it
        return mass, _with_momenta(tree, mass, bias, flow)
    velocities = [se.Symbol(v) for v in tree.velocities]
    mass = [list(row) for row in _mass_matrix(tree)]
    bias = [b + other for b, other in zip(_bias(tree), others, strict=True)]
    flow |= {TIME: ONE} if "t" in known else {}
    rates = rate_tree(tree, flow) if flow else None
    if rates is None:
        return mass, _with_momenta(tree, mass, bias, flow)
    carried = inverse_dynamics(bodies_of(rates), (ZERO, ZERO, ZERO), None, velocities, expressions())
    return mass, [a + b for a, b in zip(bias, carried, strict=True)]


def rate_tree(tree: Tree, flow: Mapping[se.Symbol, Expression]) -> Tree | None:
    """The tree with the rates of masses, first moments and inertias in place of these, in which energies and M are linear.

    None where a moment changes and its mass does not: a body has a centre instead of it.
    """
    bodies = []
    for body in tree.bodies:
        mass = total_derivative(body.mass, flow)
        moment = [combine(total_derivative(body.mass * c, flow)) for c in body.center]
        if is_zero(mass) and not all(map(is_zero, moment)):
            return None
        x, y, z = ((ZERO if is_zero(mass) else combine(e / mass)) for e in moment)
        inertia = tuple(total_derivative(e, flow) for e in body.inertia)
        bodies.append(replace(body, mass=mass, center=(x, y, z), inertia=inertia))
    return Tree(tuple(bodies), tree.gravity)


def _with_momenta(
    tree: Tree, mass: list[list[Expression]], bias: list[Expression], flow: Mapping[se.Symbol, Expression]
) -> list[Expression]:
    """bias + dM/dt v, as far as M depends on what flows."""
    if not flow:
        return bias
    v = [se.Symbol(name) for name in tree.velocities]
    rows = [[total_derivative(entry, flow) * x for entry, x in zip(row, v, strict=True)] for row in mass]
    return [add_up([b, *row]) for b, row in zip(bias, rows, strict=True)]


@lru_cache(maxsize=16)
def _mass_matrix(tree: Tree) -> tuple[tuple[Expression, ...], ...]:
    """M by composite bodies, once for each tree: long expressions are quickly compared only where they are the same."""
    return tuple(tuple(row) for row in mass_matrix(bodies_of(tree), expressions()))


@lru_cache(maxsize=16)
def _bias(tree: Tree) -> tuple[Expression, ...]:
    """Velocity and gravity terms by Newton and Euler's recursion, once for each tree for the same reason."""
    velocities = [se.Symbol(v) for v in tree.velocities]
    return tuple(inverse_dynamics(bodies_of(tree), tree.gravity, velocities, None, expressions()))


@lru_cache(maxsize=16)
def tree_energies(tree: Tree) -> tuple[Expression, Expression]:
    """(T, P) as expressions of coordinates and velocities; P is zero in the ground pole with all mass there.

    Those of a long tree are put together so that they share with its equations what is long in them, or nothing:
    T = ½ vᵀM v, and P by the direction of gravity carried outward from body to body.
    """
    if len(tree.bodies) <= LONGEST_BY_POLES:
        return energies(tree)
    mass, v = _mass_matrix(tree), [se.Symbol(name) for name in tree.velocities]
    twice = [(1 if i == j else 2) * mass[i][j] * v[i] * v[j] for i in range(len(v)) for j in range(i, len(v))]
    return add_up(twice) / 2, potential_outward(tree)


def bodies_of(tree: Tree) -> list[Placed]:
    """The bodies for recursions on expressions: over base parameters, which have many zeros, unless joints are free."""
    elements = expressions()
    whole = welded(tree, elements)
    if not whole.by_rates:
        return placed(whole, {q: se.Symbol(q) for q in whole.coordinates}, elements)
    links = with_base_parameters(with_poles_shifted(links_of(whole), ()), balanced=False)
    return [placed_link(whole, link) for link in links]


def _in_book_form(tree: Tree, others: Sequence[Expression]) -> tuple[list[list[Expression]], list[Expression]]:
    q = [se.Symbol(name) for name in tree.coordinates]
    v = [se.Symbol(name) for name in tree.velocities]
    elements = expressions()
    matrix = inertia_of_planar(tree, dict(zip(tree.coordinates, q, strict=True)), elements)
    mass = [[combine(entry) for entry in row] for row in matrix]
    potential = combine(energies(tree)[1])
    return mass, quadratic_bias(-potential, [ZERO] * len(q), mass, q, v, others)
