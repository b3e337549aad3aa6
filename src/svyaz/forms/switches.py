"""Equations with a switch for each constraint, so that one program serves every set of them that acts.

With S = diag(s), s = 1 for a constraint that acts and 0 for another, whose multiplier is zero,

    [M    Rᵀ S] [ q̈]   [-bias                               ]
    [S G  1-S ] [-λ] = [S (-constraint_bias - correction)   ].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import symengine as se

from svyaz.expr import ONE, Expression
from svyaz.forms.equations import Equations
from svyaz.program import Linear


def with_switches(equations: Equations) -> Equations:
    """The same equations, each constraint with a switch."""
    return replace(equations, switches=tuple(se.Symbol(f"{d.name} acts") for d in equations.deviations))


def shared_with(equations: Equations) -> Equations | None:
    """The equations with switches whose programs serve these; None where they have none, or other forces by now."""
    whole = equations.within
    if whole is None or equations.sliding or equations.pulls:
        return None
    same = whole.system is equations.system and whole.bias is equations.bias
    return whole if same and whole.mass_matrix is equations.mass_matrix else None


def switch_values(part: Equations, whole: Equations) -> dict[str, float]:
    """The values of the switches with which the equations of more constraints are those of some of them."""
    return {
        str(s): float(d.name in part.multiplier_names) for s, d in zip(whole.switches, whole.deviations, strict=True)
    }


def switched_rows(
    equations: Equations, rows: Sequence[Sequence[Expression]], side: Sequence[Expression], unknowns: list[se.Symbol]
) -> Linear:
    """The augmented system with the switches."""
    n = len(equations.accelerated)
    factors: list[Expression] = [*([ONE] * n), *equations.switches]
    found = [[f * g * e for g, e in zip(factors, row, strict=True)] for f, row in zip(factors, rows, strict=True)]
    for k, s in enumerate(equations.switches, n):
        found[k][k] = ONE - s
    return Linear(found, [[f * e for f, e in zip(factors, side, strict=True)]], [unknowns])
