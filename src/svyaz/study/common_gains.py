"""Gains that serve all members of a study, where "auto" is to choose them.

A choice for each member would cost hundreds of rehearsals of a run that is made once, and members with different gains
are hard to compare. So the run is rehearsed with the values of the model itself, and all members get the gains that were
found: whether these are stable depends on the method and the step alone, how well they hold is measured in every run.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from svyaz.expr import ModelError
from svyaz.holding import Automatic, Off, OneGain, Options, Stabilisation, stabilisation
from svyaz.model import System
from svyaz.motion import Phase, is_switched, rehearsed_gains
from svyaz.study.folder import held_in
from svyaz.study.result import COMMON
from svyaz.study.vary import Axis


def serves_all(system: System, phases: Sequence[Phase], options: Options, axes: Sequence[Axis]) -> bool:
    """Can one choice serve all members? Not where gains, steps or tolerances vary, where a residual must not be exceeded, and
    where constraints begin or cease to act or integrals are held, which have gains of their own.
    """
    if not isinstance(options.stabilize, Automatic) or options.tolerance is not None or len(phases) > 1:
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
    kept = None if path is None else held_in(path)
    if kept is not None and COMMON in kept.told.get("run", {}):
        return stabilisation(kept.told["run"][COMMON])
    try:
        chosen = rehearsed_gains(system, form, options)[0]
    except ModelError:
        return options.stabilize
    return Off() if chosen == OneGain(0.0) else chosen
