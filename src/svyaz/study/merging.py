"""Several studies of one model put together in one folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from svyaz.expr import ModelError, Problem
from svyaz.study.answers import MISSING, Answers
from svyaz.study.folder import Head, Holdings, holdings_of, open_members
from svyaz.study.kept import REASON, STABLE, STATUS, Members
from svyaz.study.layout import grown, layout_of
from svyaz.study.vary import Axis


def merge(into: str | Path, *folders: str | Path) -> tuple[int, int]:
    """Put the members of studies in ``folders`` into a new study in the folder ``into``; (members done, all members).

    They must be of the same model, ask the same of its runs, and vary and measure the same quantities. The new study holds
    the product of all values; of a member that several have, that of the first is taken. What none has is missing, and is
    run when the study is resumed. Nothing changes in ``folders``.
    """
    found = [_holdings(Path(folder)) for folder in folders]
    if not found:
        raise ModelError([Problem("there are no studies to merge")])
    first, path = found[0], Path(into)
    for folder, held in zip(folders[1:], found[1:], strict=True):
        _agree(first, held, f"'{folders[0]}' and '{folder}'")
    if path.exists() and any(path.iterdir()):
        raise ModelError([Problem(f"'{path}' is there already: studies are merged into a new folder")])
    axes = []
    for name in first.axes:
        values = np.zeros(0)
        for held in found:
            values = grown(values, held.axes[name])
        axes.append(Axis(name, "", name, values))
    words = first.words
    head = Head(words["same"], next((h.words["program"] for h in found if h.words["program"]), ""), first.told)
    with open_members(path, head, axes, first.measures, False) as members:
        for folder, held in zip(folders, found, strict=True):
            _take(members, axes, held, Path(folder))
        members.close()
        return members.answered(), members.layout.total


def _holdings(path: Path) -> Holdings:
    held = holdings_of(path)
    if held is None:
        raise ModelError([Problem(f"there is no study in '{path}'")])
    return held


def _agree(one: Holdings, other: Holdings, which: str) -> None:
    """Refuse to merge studies of different things."""
    differs = [name for name, own in one.words["same"].items() if other.words["same"].get(name) != own]
    programs = {held.words["program"] for held in (one, other)} - {""}
    differs += ["the program of the equations"] if len(programs) > 1 else []
    differs += ["which quantities are varied"] if list(one.axes) != list(other.axes) else []
    differs += ["what is measured"] if set(one.measures) != set(other.measures) else []
    if differs:
        raise ModelError([Problem(f"{which} are different studies: {', '.join(differs)} differs")])


def _take(members: Members, axes: list[Axis], held: Holdings, folder: Path) -> None:
    """Put the members of a study that are not there yet."""
    values = tuple(held.axes.values())
    own = Members(layout_of(values, values, held.chunks), held.measures, folder)
    places = layout_of([axis.values for axis in axes], values, members.layout.chunks).asked
    for numbers, columns in own.parts((*held.measures, REASON)):
        index = np.unravel_index(numbers, own.layout.shape)
        new = np.ravel_multi_index([p[k] for p, k in zip(places, index, strict=True)], members.layout.shape)
        wanted = np.flatnonzero((columns[STATUS] != MISSING) & (members.status_of(new) == MISSING))
        if len(wanted):
            reasons = {k: columns[REASON].get(n, "") for k, n in enumerate(numbers[wanted].tolist())}
            told = {k: text for k, text in reasons.items() if text}
            measures = {name: columns[name][wanted] for name in held.measures}
            members.put(new[wanted].tolist(), Answers(columns[STATUS][wanted], columns[STABLE][wanted], told, measures))
