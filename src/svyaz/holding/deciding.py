"""The gains of a phase are settled; what judges gains is loaded where there are some."""

from __future__ import annotations

from svyaz.arrays import Array
from svyaz.forms import Equations
from svyaz.holding.decision import Decision, without_constraints
from svyaz.holding.integrals import HeldIntegral
from svyaz.holding.options import Options


def decide(
    equations: Equations,
    held: tuple[HeldIntegral, ...],
    options: Options,
    state: Array,
    span: tuple[float, float],
) -> Decision:
    """Settle the gains of one phase: given ones are judged, others are chosen, and deviations are predicted.

    Where nothing is to be kept there is nothing to judge.
    """
    if not equations.deviations and not held:
        return without_constraints(equations, held, options, state, span)
    from svyaz.holding.judging import decide_what_is_kept

    return decide_what_is_kept(equations, held, options, state, span)
