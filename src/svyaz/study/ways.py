"""The way in which the members of a study move: in which form, through which phases, and whether they share one program.

Where "auto" is to choose gains, one choice serves all members: a choice for each would cost hundreds of trial runs before a
run that is made once, and members with different gains are hard to compare. So trial runs are made with the values of the
model itself, and all members get the gains that were found: whether these are stable depends on the method and the step
alone, how well they hold is measured in every run.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from svyaz.constraints import independent, is_reduced
from svyaz.dynamics import integrals_of_tree
from svyaz.expr import ModelError
from svyaz.forms import Equations, derive, first_integrals, form_name, jumps, most_written
from svyaz.model import System, tree_of
from svyaz.motion import Phase, is_switched, phases_by_recursions, phases_of, trial_gains
from svyaz.stabilise import AUTO, OFF, Options, Stabilisation, branches, one_gain, stabilisation
from svyaz.study.folder import holdings_of
from svyaz.study.result import COMMON
from svyaz.study.vary import Axis, structure_depends


@dataclass(frozen=True)
class CommonWay:
    """The form of the members with its phases; ``recursed`` where recursions run them and nothing is written out."""

    form: str
    phases: Sequence[Phase]
    recursed: bool

    @property
    def equations(self) -> Equations:
        """Those of the first phase."""
        return self.phases[0].equations

    @property
    def fullest(self) -> Equations:
        """The equations of the phase with the most constraints, for the names of what can be measured."""
        return max((phase.equations for phase in self.phases), key=lambda e: len(e.deviations))

    def integrals(self, varied: Collection[str]) -> list[str]:
        """The names of the first integrals, whatever the values of the parameters that are ``varied``."""
        system = self.equations.system
        return integrals_of_tree(system, varied) if self.recursed else list(first_integrals(system, varied))

    def is_compiled_once(self, options: Options, changing: Collection[str], axes: Sequence[Axis]) -> bool:
        """Do all members share one program? Not where phases, gains, charts or values are decided anew for each of them."""
        if self.recursed:
            return False
        first = self.equations
        system, gains = first.system, any(axis.kind == "gain" for axis in axes)
        automatic = options.stabilize == AUTO and not gains
        decided = automatic and (bool(first.deviations) or any(i.hold for i in system.integrals))
        own = (
            len(self.phases) > 1 or is_switched(system) or bool(system.step_rule) or is_reduced(first) or first.charted
        )
        own = own or jumps(first) or first.servo  # where directions cease to suffice is seen on rows
        if own or decided or structure_depends(system, changing):
            return False
        return not first.deviations or not _singular(first, options)


def way_of(system: System, form: str | None, options: Options) -> CommonWay:
    """By recursions where that is asked for, and where a tree is too long for its equations to be written out or events decide
    what acts; the program of other trees serves all members.
    """
    by_loop = phases_by_recursions(system, form, options)
    if by_loop and (form is not None or is_switched(system) or len(tree_of(system).bodies) > most_written(system)):
        return CommonWay(by_loop[0].equations.form, by_loop, recursed=True)
    name = form_name(system, form)
    phases = phases_of(system, name, options)
    if is_switched(system):  # the phases are not known in advance: any of the constraints may act
        phases = [replace(phases[0], equations=derive(system, name))]
    return CommonWay(name, phases, recursed=False)


def _singular(equations: Equations, options: Options) -> bool:
    """Do constraints repeat others, or does the motion with the values of the model pass a position at which they branch?"""
    state = np.array(equations.system.initial_state())
    return independent(equations, state, 0.0) is not equations or branches(equations, options, state)


def serves_all(system: System, phases: Sequence[Phase], options: Options, axes: Sequence[Axis]) -> bool:
    """Can one choice serve all members? Not where gains, steps or tolerances vary, where a residual must not be exceeded, and
    where constraints begin or cease to act or integrals are held, which have gains of their own.
    """
    if options.stabilize != AUTO or options.tolerance is not None or len(phases) > 1:
        return False
    if is_switched(system) or any(axis.kind in ("gain", "run") for axis in axes):
        return False
    acting = phases[0].equations.deviations
    return any(d.constraint.law is None for d in acting) and not any(i.hold for i in system.integrals)


def gains_for_all(system: System, form: str, options: Options, path: Path | None) -> Stabilisation:
    """The gains of a study: those of the folder in which it goes on, else those that a run with the model's own values chooses.

    Where that run is held best by none at all, nothing is stabilised; where it finds none, each member is left to choose for
    itself.
    """
    kept = None if path is None else holdings_of(path)
    if kept is not None and COMMON in kept.told.get("run", {}):
        return stabilisation(kept.told["run"][COMMON])
    try:
        chosen = trial_gains(system, form, options)[0]
    except ModelError:
        return options.stabilize
    return OFF if chosen == one_gain(0.0) else chosen
