"""Regulators and observers, with trials on the full system beside the first approximation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from svyaz.expr import ModelError, Problem
from svyaz.json_types import Json
from svyaz.library import NegativeAnswer
from svyaz.studio.questions import Tell
from svyaz.studio.questions.asked import Table, flag, number, quantities, ranges, read_question, table, text, texts
from svyaz.studio.questions.drawn import motion_drawn, positions_drawn

if TYPE_CHECKING:
    from svyaz.control import Method, Regulation, Trial
    from svyaz.library import System

MOST_ROWS = 1500
SECONDS = 40.0
LONGEST = 1000.0
"""Seconds of a transient."""

MOST_STARTS = 5000


def regulate(question: Table, tell: Tell) -> Mapping[str, object]:
    """A regulator about an equilibrium or a steady motion, and how it works from a start."""
    from svyaz.control import NoRegulator, NotSolvable
    from svyaz.show import as_json
    from svyaz.stability import NoEquilibrium

    given = read_question(question)
    options, system = given.options, given.system
    try:
        found = _design(system, options, tell)
    except (NotSolvable, NoEquilibrium) as refusal:
        facts = as_json(refusal) if isinstance(refusal, NoRegulator) else {}
        raise NegativeAnswer("; ".join(map(str, refusal.args)), {"record": facts}) from refusal
    record = as_json(found)
    critical = ranges(options, "critical", system)
    for name, span in critical.items():
        record["critical"] = as_json(found.margin(name, span))
    answer: dict[str, object] = {"record": record, "place": _place(system, found), "fixed": dict(found.chosen.fixed)}
    if flag(options, "run"):
        until = number(options, "until", system) or 20.0
        if not 0 < until <= LONGEST:
            raise ModelError([Problem(f"a transient lasts up to {LONGEST:g} s")])
        start = quantities(options, "start", system)
        trials = found.run(start, until, beyond=flag(options, "beyond"), keep=texts(options, "keep"))
        record["runs"] = {name: as_json(trial) for name, trial in trials.items()}
        answer["trials"] = {name: _curves(found, trial) for name, trial in trials.items()}
        answer["iterations"] = _iterations(found, start)
    return answer


def basin(question: Table, tell: Tell) -> Mapping[str, object]:
    """From how many starts at random the control returns, and where they lie: deviations (N, variables), 1 for returned."""
    from svyaz.control import NotSolvable
    from svyaz.show import as_json
    from svyaz.stability import NoEquilibrium

    given = read_question(question)
    options, system = given.options, given.system
    count, until = int(number(options, "count", system) or 300), number(options, "until", system) or 20.0
    if not (1 <= count <= MOST_STARTS and 0 < until <= LONGEST):
        raise ModelError([Problem(f"a basin is tried from 1 to {MOST_STARTS} starts, each up to {LONGEST:g} s")])
    try:
        found = _design(system, options, tell)
    except (NotSolvable, NoEquilibrium) as refusal:
        raise NegativeAnswer("; ".join(map(str, refusal.args))) from refusal
    within, beyond = ranges(options, "within", system), flag(options, "beyond")
    tried = found.basin(within or None, count, until, beyond=beyond, progress=lambda done: tell(done, count))
    rest = {name: float(found.plant.state.get(name, 0.0)) for name in tried.names}
    return {
        "record": as_json(tried),
        "names": list(tried.names),
        "rest": rest,
        "starts": tried.starts,
        "returned": tried.returned.astype(float),
    }


def _design(system: System, options: Table, tell: Tell) -> Regulation:
    from svyaz.control import regulate as regulated

    return regulated(
        system,
        near=quantities(options, "near", system) or None,
        fix=quantities(options, "fix", system) or None,
        box=ranges(options, "box", system) or None,
        dependent=texts(options, "dependent") or None,
        inputs=texts(options, "inputs") or None,
        measure=text(options, "measure") or "",
        weights=dict(table(options, "weights")) or None,
        method=_method(options),
        against_linearised=flag(options, "against"),
        variables=text(options, "variables") or "lagrange",
        seconds=SECONDS,
        progress=tell,
    )


def _method(options: Table) -> Method | str:
    from svyaz.control import placing

    poles = text(options, "poles")
    if poles is None:
        return text(options, "solver") or "schur"
    try:
        wanted = [complex(part.replace(" ", "").replace("i", "j").replace("−", "-")) for part in poles.split(",")]
    except ValueError as error:
        raise ModelError(
            [Problem(f"roots are numbers such as -1 or -2+1i, separated by commas: '{poles[:60]}'")]
        ) from error
    if any(not root.real < 0 for root in wanted):
        raise ModelError([Problem("roots to be placed have negative real parts")])
    return placing(wanted)


def _place(system: System, found: Regulation) -> object:
    """The mechanism where it is to be held."""
    if not system.drawings or found.uniform is not None:
        return None
    return positions_drawn([(system, {**dict.fromkeys(system.states, 0.0), **found.state})])


def _curves(found: Regulation, trial: Trial) -> Mapping[str, object]:
    """Deviations and inputs over time, and deviations of the first approximation at the times asked for."""
    run = trial.transient
    keep = np.unique(np.linspace(0, len(run.times) - 1, min(len(run.times), MOST_ROWS)).astype(int))
    independent = [name for name in run.plant if name not in run.deviations]
    rest = run.design.model.state
    more = {name: run.plant[name] - rest.get(name, 0.0) for name in independent}
    limits: Json = {
        name: [_side(reach.low, rest.get(name, 0.0)), _side(reach.high, rest.get(name, 0.0))]
        for name, reach in run.motion.limits.items()
    }
    return {
        "t": run.times[keep],
        "deviations": {name: x[keep] for name, x in {**run.deviations, **more}.items()},
        "inputs": {name: x[keep] for name, x in run.inputs.items()},
        "linear_t": run.asked,
        "linear": dict(run.linear),
        "limits": limits,
        "scene": motion_drawn(run.motion),
    }


def _side(value: float, rest: float) -> float | None:
    return float(value - rest) if np.isfinite(value) else None


def _iterations(found: Regulation, start: Mapping[str, float]) -> Json:
    """The rows of Algorithm 4.4.1 for this start, of systems whose coordinates are redundant."""
    plant = found.plant
    if not plant.dependent:
        return []
    free = {n: x - plant.state.get(n, 0.0) for n, x in start.items() if n in plant.variables}
    return [[s.number, s.residual, s.length, s.parameter] for s in plant.start(free).steps]


ANSWERS = {"regulate": regulate, "basin": basin}
