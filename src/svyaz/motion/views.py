"""What is looked at along motions: columns by name, groups of them, expressions of what moves, one over another."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import ModelError, Problem, is_name, names_in, parse, start_of
from svyaz.files import text_file
from svyaz.model import System
from svyaz.motion.facts import deviation_of, multiplier_of, residual_of
from svyaz.motion.result import Motion
from svyaz.program import function

OVER = " over "
"""Stands between what is drawn upwards and what is drawn to the right, which is the time unless given."""

ENERGIES = ("kinetic", "potential", "energy")

GROUPS: Mapping[str, Callable[[Motion], Mapping[str, Array]]] = {
    "coordinates": lambda m: {name: m.column(name) for name in m.system.coordinates or m.state_names},
    "velocities": lambda m: {name: m.column(name) for name in m.state_names if name not in m.system.coordinates},
    "residuals": lambda m: {residual_of(name): column for name, column in m.residuals.items()},
    "multipliers": lambda m: {multiplier_of(name): column for name, column in m.multipliers.items()},
    "integrals": lambda m: m.integrals,
    "deviations": lambda m: {deviation_of(name): column for name, column in m.deviations.items()},
    "energies": lambda m: {name: m.quantities[name] for name in ENERGIES if name in m.quantities},
    "inputs": lambda m: m.inputs,
    "outputs": lambda m: m.outputs,
}
"""Words that stand for several columns."""

MOST_PANELS = 6
"""So many coordinates have a panel each unless they are asked for."""

SMALL = ("residuals", "deviations")
"""Groups of what should be zero: their sizes are looked at."""


@dataclass(frozen=True)
class View:
    """``up`` over ``across``: a group of columns, a column or an expression, over a column or an expression."""

    up: str
    across: str = "t"

    @property
    def small(self) -> bool:
        """Is it a group of what should be zero?"""
        return self.up in SMALL

    def columns(self, motion: Motion) -> dict[str, Array]:
        """What is drawn upwards, by name; of a group the columns that the motion has."""
        if self.up in GROUPS and self.up not in motion.system.states:
            return dict(GROUPS[self.up](motion))
        return {self.up: along(motion, self.up)}


OPEN, CLOSED = "([{", ")]}"


def parted(text: str, mark: str) -> list[str]:
    """The parts of a text between the marks that stand in no parentheses."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in OPEN) - (letter in CLOSED)
        if letter == mark and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def views_of(system: System, texts: Sequence[str]) -> tuple[View, ...]:
    """What the texts ask to look at: ``phi``, ``residuals``, ``y over x``, ``sqrt(x^2 + y^2)``; ModelError for nonsense."""
    views = []
    for text in texts:
        up, over, across = (part.strip() for part in text.partition(OVER))
        view = View(up, across) if over else View(up)
        for part in (view.up, view.across):
            _check(system, part)
        if _lacks(system, view.up):
            raise ModelError([Problem(f"the model has no {view.up} to look at")])
        views.append(view)
    return tuple(views)


def usual_views(motion: Motion) -> tuple[View, ...]:
    """What is looked at unless something is asked for: some coordinates, what should be zero, multipliers."""
    groups = [group for group in ("residuals", "deviations", "multipliers") if GROUPS[group](motion)]
    return tuple(View(name) for name in (*list(GROUPS["coordinates"](motion))[:MOST_PANELS], *groups))


def along(motion: Motion, text: str) -> Array:
    """A column of a motion, or an expression of its columns and of the parameters, along the motion."""
    if has_column(motion, text):
        return motion.column(text)
    expression = _parsed(motion.system, text)
    own = {"t": motion.times, **{name: motion.column(name) for name in motion.state_names}}
    used = names_in(expression)
    inputs = {name: column for name, column in {**motion.integrals, **motion.inputs, **own}.items() if name in used}
    values = {name: value for name, value in motion.system.constants.items() if name not in inputs}
    missing = used - inputs.keys() - values.keys()
    if missing:
        raise ModelError([Problem(f"the motion has no '{min(missing)}', which '{text}' needs")])
    if not inputs:
        inputs = {"t": motion.times}
    return function({"value": expression}, tuple(inputs), values)(np.column_stack(list(inputs.values())))["value"]


def viewed(motion: Motion, views: Sequence[View]) -> dict[str, Array]:
    """The time and all columns of the views, each once."""
    found = {"t": motion.times}
    for view in views:
        found.update({view.across: along(motion, view.across)} | view.columns(motion))
    return found


def write_runs(file: str | Path | TextIO, runs: Mapping[str, Motion], views: Sequence[View]) -> None:
    """The columns of the views along one motion, or along several under each other, their names in the first column."""
    tables = {label: viewed(motion, views) for label, motion in runs.items()}
    names = list(dict.fromkeys(name for found in tables.values() for name in found))
    with text_file(file) as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(names if len(runs) == 1 else ["run", *names])
        for label, found in tables.items():
            columns = [found.get(name) for name in names]
            for k in range(len(found["t"])):
                row = ["" if column is None else repr(float(column[k])) for column in columns]
                writer.writerow(row if len(runs) == 1 else [label, *row])


def has_column(motion: Motion, name: str) -> bool:
    """Is there a column of this name?"""
    try:
        return motion.column(name) is not None
    except KeyError:
        return False


def _names(system: System) -> set[str]:
    """Names of columns that a motion of the system may have, apart from states."""
    second = {f"{q}''" for q in system.coordinates}
    of_constraints = {name for c in system.constraints for name in (c.name, residual_of(c.name), multiplier_of(c.name))}
    of_integrals = {name for i in system.integrals for name in (i.name, deviation_of(i.name))}
    return {"t", *ENERGIES, *system.inputs, *system.outputs} | second | of_constraints | of_integrals


def _lacks(system: System, group: str) -> bool:
    """Is it certain, before any run, that no motion has columns of the group?"""
    if group == "deviations":
        return all(integral.value is None for integral in system.integrals)
    if group == "outputs":
        return not system.outputs
    return group in ("residuals", "multipliers") and not system.constraints


def _check(system: System, text: str) -> None:
    """Refuse what is no group, no column, and no expression."""
    if text in GROUPS or text in system.states or text in _names(system):
        return
    _parsed(system, text)


def _parsed(system: System, text: str) -> se.Basic:
    """An expression of all that the model names, and of integrals whose names are words."""
    words = {i.name: se.Symbol(i.name) for i in system.integrals if is_name(i.name)}
    scope = replace(system.scope, symbols={**words, **system.scope.symbols}, what="what is shown")
    return parse(text, scope, start_of(text, "show"))
