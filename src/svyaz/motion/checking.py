"""``check``: what the constraints are, whether they fit together and the start, and the verdict on the gains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from svyaz import __version__
from svyaz.constraints import (
    RankReport,
    Residual,
    as_dictionary,
    classify,
    entered,
    examine,
    examined,
    residuals,
)
from svyaz.holding import (
    asked_rate,
    cannot_be_held,
    decide,
    held_integrals,
    in_states_of,
    not_integrals,
    options_for,
    verdict_record,
)
from svyaz.model import System, is_number
from svyaz.motion.phases import START
from svyaz.motion.running import structure_of
from svyaz.motion.structure.events.switching import Switched


@dataclass(frozen=True)
class Check:
    """The findings, and in words what is wrong (empty when all is well)."""

    result: Mapping[str, Any]
    wrong: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """As the contract writes it."""
        return dict(self.result)


def check(system: System, *, form: str | None = None, **asked: Any) -> Check:
    """Examine the constraints at the initial state and judge the gains, on a pilot whose cost is reported."""
    options = options_for(system, asked)
    structure = structure_of(system, form, options)
    state = np.array(system.initial_state())
    beginning = structure.begin(state)
    phase, derived = beginning.phase, beginning.phase.equations
    equations = examined(derived)
    kinds = [dict(as_dictionary(c)) for c in classify(system)] if system.kind == "mechanical" else []
    result: dict[str, Any] = {"svyaz": __version__, "model": system.name, "constraints": kinds}
    wrong: list[str] = []
    runnable = True
    if equations.deviations:
        report = examine(equations, state, START)
        found = residuals(equations, state, START)
        result.update(_ranks(report))
        result["initial"] = {name: r.value for name, r in found.items()}
        result["hidden"] = {name: r.velocity for name, r in found.items() if r.position is not None}
        if report.singular or not report.full or report.contradictory:
            wrong.extend(report.messages)
        wrong.extend(words for name, r in found.items() for words in _unmet(name, r))
        runnable = report.full and not report.singular
    else:
        result.update({"rank": 0, "redundant": [], "initial": {}})
    held = in_states_of(derived, held_integrals(system, state, START, asked_rate(options.stabilize)))
    own = entered(derived, state, START)
    if runnable:
        wrong.extend(not_integrals(equations, system.integrals, state, START))
        unfit = cannot_be_held(derived, held, options.hold, own, START)
        wrong.extend(unfit)
        runnable = not unfit
    if runnable:
        end = structure.next_event(beginning, held) if isinstance(structure, Switched) else phase.end
        decision = decide(derived, held, options, own, (phase.start, end))
        result["gains"] = dict(decision.record)
        if not decision.allowed:
            wrong.append(decision.reason)
    elif isinstance(options.stabilize, Mapping) or is_number(options.stabilize):
        result["gains"] = verdict_record(derived, options)
        wrong.extend(result["gains"]["reasons"] if result["gains"]["verdict"] == "unstable" else ())
    result["wrong"] = wrong
    result["parameters"] = dict(system.constants)
    result["initial_state"] = dict(zip(system.states, map(float, state), strict=True))
    return Check(result, tuple(wrong))


def _ranks(report: RankReport) -> dict[str, Any]:
    return {
        "rank": report.rank,
        "redundant": list(report.redundant),
        "condition": _finite(report.augmented_condition),
        "determinant": _finite(report.augmented_determinant),
        "mass_determinant": _finite(report.mass_determinant),
        "messages": list(report.messages),
    }


def _unmet(name: str, residual: Residual) -> list[str]:
    words = []
    if not residual.position_met:
        words.append(f"the initial position does not satisfy '{name}': its residual is {residual.position:.4g}")
    if not residual.velocity_met:
        what = "the velocity level of " if residual.position is not None else ""
        words.append(f"the initial velocity does not satisfy {what}'{name}': its residual is {residual.velocity:.4g}")
    return words


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


__all__ = ["Check", "check"]
