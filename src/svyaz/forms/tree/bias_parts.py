"""The bias of a tree in parts, as formulas: centrifugal, Coriolis and gravity terms; the gyroscopic among the first two.

With c_ijk = ½ (∂M_ij/∂q_k + ∂M_ik/∂q_j - ∂M_jk/∂q_i),

    centrifugal_i = Σ_j c_ijj v_j²,    coriolis_i = Σ_{j≠k} c_ijk v_j v_k,    gravity_i = ∂P/∂q_i,    their sum the bias;
    gyroscopic = (C - Ṁ/2) v, C_ij = Σ_k c_ijk v_k: the part of centrifugal and Coriolis terms that does no work.

Short trees are written out from the explicit entries of M. For others the same is computed by Newton–Euler: a velocity alone
gives centrifugal terms, and Ṁ v is the rate of the momenta M v while the velocities stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import symengine as se

from svyaz.expr import HALF, ZERO, Expression, ModelError, Problem, combine, differentiate, total_derivative
from svyaz.forms.reduction import written_size
from svyaz.forms.tree.conditions.unknown_masses import explicit_inertia
from svyaz.forms.tree.recursions.algebra import expressions
from svyaz.forms.tree.recursions.energies import bodies_of, energies
from svyaz.forms.tree.recursions.newton_euler import inverse_dynamics
from svyaz.forms.tree.recursions.places import welded
from svyaz.model import System, Tree, constant_tree
from svyaz.program import Program, build
from svyaz.shown import Shown

PARTS = ("centrifugal", "coriolis", "gravity", "gyroscopic")

LONGEST = 6000
"""Parts of more names, numbers and operations than this are not written out one by one but as a sequence."""

SHORT = 4
"""Trees of more bodies than this, with axes of several directions, go by Newton–Euler."""


@dataclass(frozen=True, repr=False)
class BiasParts(Shown):
    """A formula for each freedom, by the name of the part; ``explicit`` when each can be read by itself."""

    system: System
    freedoms: tuple[str, ...]
    parts: Mapping[str, Sequence[Expression]]
    explicit: bool

    def program(self) -> Program:
        """The parts as outputs ``centrifugal[q1]``, …"""
        outputs = [
            (f"{part}[{name}]", entry)
            for part, entries in self.parts.items()
            for name, entry in zip(self.freedoms, entries, strict=True)
        ]
        return build(outputs, inputs=("t", *self.system.states), parameters=tuple(self.system.constants))


def bias_parts(system: System) -> BiasParts:
    """The parts for a tree of revolute, prismatic and fixed joints; forces of the model are not among them."""
    if not system.bodies:
        raise ModelError([Problem(f"'{system.name}' is not a tree of bodies: its bias has no such parts")])
    tree = constant_tree(system, "this division of the bias")
    if not tree.by_rates:
        message = "formulas for the parts of the bias are written for joints whose velocities are rates of coordinates"
        raise ModelError([Problem(message, hint="NumericTree.bias_parts computes them for free joints")])
    whole = welded(tree, expressions())
    if len(whole.bodies) <= SHORT or len({body.axis for body in whole.bodies}) == 1:
        parts = _from_entries(whole)
        known: dict[Expression, int] = {}
        if sum(written_size(e, known) for entries in parts.values() for e in entries) <= LONGEST:
            return BiasParts(system, whole.freedoms, parts, explicit=True)
    return BiasParts(system, whole.freedoms, _by_newton_euler(whole), explicit=False)


def _from_entries(tree: Tree) -> dict[str, list[Expression]]:
    q = [se.Symbol(name) for name in tree.coordinates]
    v = [se.Symbol(name) for name in tree.velocities]
    matrix = explicit_inertia(tree)
    slopes = [[[differentiate(entry, x) for x in q] for entry in row] for row in matrix]
    places = range(len(q))

    def symbol(i: int, j: int, k: int) -> Expression:
        return HALF * (slopes[i][j][k] + slopes[i][k][j] - slopes[j][k][i])

    potential = combine(energies(tree)[1])
    return {
        "centrifugal": [_sum(combine(symbol(i, j, j)) * v[j] ** 2 for j in places) for i in places],
        "coriolis": [
            _sum(combine(2 * symbol(i, j, k)) * v[j] * v[k] for j, k in combinations(places, 2)) for i in places
        ],
        "gravity": [combine(differentiate(potential, x)) for x in q],
        "gyroscopic": [
            _sum(
                combine(HALF * (slopes[i][k][j] - slopes[j][k][i])) * v[j] * v[k]
                if j == k
                else combine(HALF * (slopes[i][k][j] + slopes[i][j][k]) - slopes[j][k][i]) * v[j] * v[k]
                for j in places
                for k in range(j, len(q))
            )
            for i in places
        ],
    }


def _sum(terms: Iterable[Expression]) -> Expression:
    return se.Add(*terms)


def _by_newton_euler(tree: Tree) -> dict[str, list[Expression]]:
    elements, bodies = expressions(), bodies_of(tree)
    q = [se.Symbol(name) for name in tree.coordinates]
    v = [se.Symbol(name) for name in tree.velocities]
    none = (ZERO, ZERO, ZERO)
    both = inverse_dynamics(bodies, none, v, None, elements)
    alone = [
        inverse_dynamics(bodies, none, [x if k == j else ZERO for k, x in enumerate(v)], None, elements)
        for j in range(len(v))
    ]
    centrifugal = [se.Add(*column) for column in zip(*alone, strict=True)]
    momenta = inverse_dynamics(bodies, none, None, v, elements)
    rates = dict(zip(q, v, strict=True))
    return {
        "centrifugal": centrifugal,
        "coriolis": [b - c for b, c in zip(both, centrifugal, strict=True)],
        "gravity": inverse_dynamics(bodies, tree.gravity, None, None, elements),
        "gyroscopic": [b - HALF * total_derivative(p, rates) for b, p in zip(both, momenta, strict=True)],
    }
