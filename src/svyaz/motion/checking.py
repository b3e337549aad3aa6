"""``check``: what the constraints are, whether they fit together and the start, and the verdict on the gains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import numpy as np

from svyaz.arguments import check_arguments
from svyaz.constraints import (
    RankReport,
    Residual,
    entered,
    examine,
    examined,
    residuals,
)
from svyaz.dynamics import dynamics_of
from svyaz.forms import find_negative_mass
from svyaz.model import Mechanical, System
from svyaz.motion.long_trees import articulated
from svyaz.motion.options import ModelOptions, run_words
from svyaz.motion.phases import START, Beginning, Structure
from svyaz.motion.running import structure_of
from svyaz.shown import Shown
from svyaz.stabilise import (
    GainReport,
    Refusal,
    cannot_be_held,
    held_integrals,
    in_states_of,
    not_integrals,
    options_for,
)

if TYPE_CHECKING:
    from svyaz.constraints import Classification


@dataclass(frozen=True, repr=False)
class Check(Shown):
    """What was found at the initial state, and in words what is wrong (nothing when all is well).

    ``kinds`` are those of the constraints of a mechanical system; without constraints that act there are no ``ranks`` and
    ``residuals``, and no ``gains`` where nothing is to be judged.

    >>> import svyaz
    >>> found = svyaz.load("pendulum-xy").check()
    >>> [str(kind.kind) for kind in found.kinds]
    ['holonomic']
    """

    system: System
    kinds: tuple[Classification, ...]
    ranks: RankReport | None
    residuals: Mapping[str, Residual]
    gains: GainReport | None
    wrong: tuple[str, ...]


@check_arguments
def check(system: System, **asked: Unpack[ModelOptions]) -> Check:
    """Examine the constraints at the initial state and judge the gains, on a pilot whose cost is reported.

    The options are those of ``simulate``.

    >>> import svyaz
    >>> svyaz.check(svyaz.load("pendulum-xy")).ranks.rank
    1
    """
    from svyaz.constraints import classify

    form, options = asked.get("form"), options_for(system, run_words(asked))
    watched = system.integrals and system.constraints  # whether these are integrals is asked on the constraints
    by_recursion = None if watched else articulated(system, form, options)
    structure = by_recursion or structure_of(system, form, options)
    state = np.array(system.initial_state())
    beginning = structure.begin(state)
    equations = examined(beginning.phase.equations)
    kinds = classify(system) if isinstance(system.law, Mechanical) else ()
    if not equations.deviations:
        gains, wrong = _judged(structure, beginning, runnable=True)
        return Check(system, kinds, None, {}, gains, (*_outside(system), *wrong))
    if equations.spare:
        equations = dynamics_of(equations).with_constraints(beginning.phase.active)
    report, found = examine(equations, state, START), residuals(equations, state, START)
    runnable = report.repetitive or (report.full and not report.singular)
    told = report.messages if not runnable or report.contradictory else ()
    unmet = [words for name, r in found.items() for words in _unmet(name, r)]
    gains, wrong = _judged(structure, beginning, runnable=runnable)
    return Check(system, kinds, report, found, gains, (*told, *unmet, *_outside(system), *wrong))


def _outside(system: System) -> list[str]:
    wrong = find_negative_mass(system)
    told = [] if wrong is None else [wrong.message]
    return told + [f"the initial state lies beyond the limits of '{name}'" for name in system.outside(system.initial)]


def _judged(structure: Structure, beginning: Beginning, *, runnable: bool) -> tuple[GainReport | None, tuple[str, ...]]:
    """The record of the gains of the first phase, and what is wrong with them and with held integrals.

    They are settled as those of a run that is made in spite of all that could be said against it.
    """
    system, options, phase = structure.system, structure.options, beginning.phase
    wrong: tuple[str, ...] = ()
    declared = held_integrals(system, beginning.state, START, options.stabilize.decay_rate)
    held = in_states_of(phase.equations, declared, options.stabilize)
    own = entered(phase.equations, beginning.state, START)
    if runnable:
        unfit = cannot_be_held(phase.equations, held, options.hold, own, START)
        wrong = (*not_integrals(examined(phase.equations), system.integrals, beginning.state, START), *unfit)
        runnable = not unfit
    settled = structure.settle(beginning, (), force=True) if runnable else None
    if isinstance(settled, Refusal):
        return None, (*wrong, settled.reason)
    if settled is not None:
        return settled.gains, (*wrong, settled.reason) if settled.reason else wrong
    if options.stabilize.has_gains:
        from svyaz.stabilise import verdict_alone

        gains = verdict_alone(phase.equations, options, options.stabilize)
        return gains, (*wrong, *gains.reasons) if gains.word == "unstable" else wrong
    return None, wrong


def _unmet(name: str, residual: Residual) -> list[str]:
    words = []
    if not residual.position_met:
        words.append(f"the initial position does not satisfy '{name}': its residual is {residual.position:.4g}")
    if not residual.velocity_met:
        what = "the velocity level of " if residual.position is not None else ""
        words.append(f"the initial velocity does not satisfy {what}'{name}': its residual is {residual.velocity:.4g}")
    return words
