"""The blocks of Lagrange's and of Routh's function as the work on redundant coordinates names them, as expressions.

    r = (α, β, γ),   ṡ = B α̇,   L* = ½ ṙᵀ a ṙ + a₁ᵀ ṙ - W,   γ̇ = a_γγ⁻¹ (p - a_γ - a_γα α̇ - a_γβ β̇),

    R* = ½ (α̇'b_αα α̇ + 2 α̇'b_αβ β̇ + β̇'b_ββ β̇) - ½ p'b_γγ p + p'b_γα α̇ + p'b_γβ β̇ + b_α'α̇ + b_β'β̇ + b_γ'p + R₀

((2.6.5), (2.6.9) there.) α are positional, β cyclic with their velocities kept, γ described by momenta, s redundant. Where γ
are not cyclic, ṡ = B α̇ + B_sγ γ̇.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from svyaz.expr import HALF, ONE, ZERO, Expression, add_up, gradient, substitute, velocity
from svyaz.forms.cyclic import pseudo_cyclic
from svyaz.forms.equations import Equations
from svyaz.forms.named.shulgin import shulgin_equations, solved_for
from svyaz.forms.reduction import shorter
from svyaz.forms.routhian import momentum_of
from svyaz.forms.stated import lagrangian

Rows = Sequence[Sequence[Expression]]
Block = tuple[tuple[Expression, ...], ...]


@dataclass(frozen=True)
class KineticBlocks:
    """``groups`` names the coordinates of α, β, γ, s (under a, b, g, s); ``blocks`` are B, a_aa … b_g, R0, columns as columns.

    Blocks of groups without coordinates are left out.
    """

    groups: Mapping[str, tuple[str, ...]]
    blocks: Mapping[str, Block]


def kinetic_blocks(equations: Equations) -> KineticBlocks:
    """The blocks of equations in Routh's form."""
    system = equations.system
    full = shulgin_equations(system, equations.eliminated, equations.dependent or None)
    cyclic = {c.name for c in pseudo_cyclic(system)}
    gamma = tuple(q for q in full.accelerated if momentum_of(q) in equations.entering)
    kept = [q for q in full.accelerated if q not in gamma]
    alpha, beta = (tuple(q for q in kept if (q in cyclic) == turns) for turns in (False, True))
    groups = {"a": alpha, "b": beta, "g": gamma, "s": full.dependent}
    rates = [gradient(full.explicit[s], list(full.velocities)) for s in full.dependent]
    a = _lagrange(full, groups)
    found = {"B": _columns(rates, full, alpha), **a, **_routh(a)}
    if gamma and not set(gamma) <= cyclic:
        found["B_sg"] = _columns(rates, full, gamma)
    lengths = {key: len(names) for key, names in groups.items()}
    there = {name: block for name, block in found.items() if block and block[0] and _present(name, lengths)}
    return KineticBlocks(
        groups, {name: tuple(tuple(map(shorter, row)) for row in rows) for name, rows in there.items()}
    )


def _present(name: str, lengths: Mapping[str, int]) -> bool:
    """Do all groups that the name speaks of have coordinates?"""
    return all(lengths.get(letter, 1) for letter in name.partition("_")[2])


def _columns(rates: Rows, full: Equations, names: Sequence[str]) -> list[list[Expression]]:
    return [[row[full.accelerated.index(q)] for q in names] for row in rates]


def _lagrange(full: Equations, groups: Mapping[str, Sequence[str]]) -> dict[str, Rows]:
    """a_aa … a_gg, a_a, a_b, a_g and W."""
    place = {q: k for k, q in enumerate(full.accelerated)}
    whole, still = full.in_states(lagrangian(full.system)), dict.fromkeys(full.velocities, ZERO)
    found: dict[str, Rows] = {}
    for i, j in ("aa", "ab", "ag", "bb", "bg", "gg"):
        found[f"a_{i}{j}"] = [[full.mass_matrix[place[p]][place[q]] for q in groups[j]] for p in groups[i]]
    for i in "abg":
        slopes = gradient(whole, [velocity(q) for q in groups[i]])
        found[f"a_{i}"] = [[substitute(slope, still)] for slope in slopes]
    return {**found, "W": [[-substitute(whole, still)]]}


def _routh(a: Mapping[str, Rows]) -> dict[str, Rows]:
    """b_aa … b_g and R0; without γ they are the a."""
    own = a["a_gg"]
    if not own:
        return {}
    ga, gb = ([[row[j] for row in a[name]] for j in range(len(own))] for name in ("a_ag", "a_bg"))
    unit = [[ONE if i == j else ZERO for j in range(len(own))] for i in range(len(own))]
    b_gg = solved_for(own, unit)
    solved = {"ga": solved_for(own, ga), "gb": solved_for(own, gb), "g": solved_for(own, a["a_g"])}
    return {
        "b_aa": _less(a["a_aa"], a["a_ag"], solved["ga"]),
        "b_ab": _less(a["a_ab"], a["a_ag"], solved["gb"]),
        "b_bb": _less(a["a_bb"], a["a_bg"], solved["gb"]),
        "b_ga": solved["ga"],
        "b_gb": solved["gb"],
        "b_gg": b_gg,
        "b_a": _less(a["a_a"], a["a_ag"], solved["g"]),
        "b_b": _less(a["a_b"], a["a_bg"], solved["g"]),
        "b_g": solved["g"],
        "R0": [[-a["W"][0][0] - HALF * add_up(x[0] * y[0] for x, y in zip(a["a_g"], solved["g"], strict=True))]],
    }


def _less(own: Rows, left: Rows, right: Rows) -> Rows:
    """own - left · right."""
    return [
        [add_up([e, *(-x * line[j] for x, line in zip(row, right, strict=True))]) for j, e in enumerate(entries)]
        for entries, row in zip(own, left, strict=True)
    ]
