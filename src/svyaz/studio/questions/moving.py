"""Motions: one run or several to compare, checks of the constraints, the plane of the gains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from svyaz.expr import ModelError, Problem
from svyaz.json_types import Json, Record
from svyaz.motion import run_words
from svyaz.studio.questions import Tell
from svyaz.studio.questions.asked import (
    Asked,
    Table,
    flag,
    quantities,
    read_question,
    run_options,
    texts,
)
from svyaz.studio.questions.drawn import motion_drawn

if TYPE_CHECKING:
    from svyaz.motion import Motion

MOST_RUNS = 6
MOST_ROWS = 3000
PLANE = 120
"""Points along each axis of the plane of gains."""


def simulate(question: Table, tell: Tell) -> Mapping[str, object]:
    """The motion, and others to compare with it, each with its record, its columns and its picture."""
    given = read_question(question)
    changes = given.options.get("against") or ()
    if isinstance(changes, str) or not isinstance(changes, Sequence) or len(changes) >= MOST_RUNS:
        raise ModelError([Problem(f"'against' is a list of at most {MOST_RUNS - 1} tables of changes")])
    runs = [_run(given, {}, tell)]
    for change in changes:
        if not isinstance(change, Mapping):
            raise ModelError([Problem("'against' is a list of tables of changes")])
        runs.append(_run(given, change, tell))
    return {"runs": runs}


def _run(given: Asked, changes: Mapping[str, Json], tell: Tell) -> Mapping[str, object]:
    from svyaz.motion import simulate as moved
    from svyaz.show import as_json, dense
    from svyaz.stabilise import options_for

    options = {**given.options, **changes}
    how = run_options(options, given.system)
    until = options_for(given.system, run_words(how)).until
    motion = moved(
        given.system,
        inputs=dict(given.laws) or None,
        progress=lambda t: tell(t, until),
        start=quantities(options, "start", given.system) or None,
        project=flag(options, "project"),
        keep=texts(options, "keep"),
        halve=flag(options, "halve"),
        force=flag(options, "force"),
        beyond=flag(options, "beyond"),
        **how,
    )
    shown = dense(motion)
    return {"changes": dict(changes), "record": as_json(motion), **columns(shown), "scene": motion_drawn(shown)}


def columns(motion: Motion) -> dict[str, object]:
    """The columns of a motion by their names, and which belongs to which group of curves."""
    keep = _rows(len(motion.times))
    pairs = {
        "state": {name: motion.column(name) for name in motion.table_names[1:]},
        "residuals": {name: np.abs(x) for name, x in motion.residuals.items()},
        "multipliers": motion.multipliers,
        "energy": {n: motion.quantities[n] for n in ("kinetic", "potential", "energy") if n in motion.quantities},
        "energy error": {} if motion.energy_error is None else {"energy error": motion.energy_error},
        "integrals": {n: x for n, x in motion.integrals.items() if n != "energy"},
        "inputs": {**motion.inputs, **motion.controls},
        "outputs": motion.outputs,
    }
    if motion.balance is not None:
        told = motion.balance
        pairs["balance"] = {"work": told.work, "dissipated": told.dissipated, "impacts": told.impacts}
    return {
        "t": motion.times[keep],
        "groups": {
            group: {n: np.asarray(x)[keep] for n, x in found.items()} for group, found in pairs.items() if found
        },
    }


def _rows(count: int) -> slice | np.ndarray:
    """All rows, or so many that no page is filled with numbers."""
    return slice(None) if count <= MOST_ROWS else np.unique(np.linspace(0, count - 1, MOST_ROWS).astype(int))


def check(question: Table, tell: Tell) -> Mapping[str, object]:
    """What the constraints are and whether a run would hold them."""
    from svyaz.motion import check as checked
    from svyaz.show import as_json

    given = read_question(question)
    return {"record": as_json(checked(given.system, **run_options(given.options, given.system)))}


def plane(question: Table, tell: Tell) -> Mapping[str, object]:
    """The factor by which deviations change in a step over the gains (alpha, beta), and the gain that is proposed."""
    from svyaz.show import gain_plane_grid
    from svyaz.stabilise import options_for, scheme_of

    given = read_question(question)
    how = run_options(given.options, given.system)
    options = options_for(given.system, {**run_words(how), "stabilize": "off"})
    if options.step is None:
        raise ModelError([Problem("the plane of the gains belongs to a fixed step: choose one")])
    alpha, beta, factor = gain_plane_grid(scheme_of(options), None, PLANE)
    record: Record = {"method": options.method, "step": options.step}
    return {**record, "alpha": alpha, "beta": beta, "factor": np.asarray(factor)}


ANSWERS = {"simulate": simulate, "check": check, "plane": plane}
