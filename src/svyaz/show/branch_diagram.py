"""Diagrams of branches of steady motions: each unknown over what is varied, stability by colour and line."""

from __future__ import annotations

import os
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from svyaz.show.plots import check_plot_file, save
from svyaz.show.style import INK, MUTED, in_own_style, label, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from svyaz.stability import BranchMember, SteadyBranches

LOOKS: dict[str, tuple[str, str, float]] = {
    "asymptotic": ("#0072B2", "solid", 2.2),
    "stable": ("#009E73", "solid", 2.0),
    "unstable": ("#D55E00", "dashed", 1.4),
    "undecided": (MUTED, "dotted", 1.4),
}
MARKS = {"branching": "o", "turning": "^"}
MOST_PANELS = 6


def plot_branches(found: SteadyBranches, file: str | os.PathLike[str]) -> Path:
    """Write the diagram as .png, .svg or .pdf."""
    check_plot_file(file)
    return save(branch_diagram(found), file)


@in_own_style
def branch_diagram(found: SteadyBranches) -> Figure:
    """A panel for each unknown that changes along the branches."""
    names = _changing(found)
    figure = new_figure(8.0, 2.9 * len(names) + 0.8)
    grid = figure.subplots(len(names), 1, sharex=True, squeeze=False).ravel()
    for axes, name in zip(grid, names, strict=True):
        _panel(axes, found, name)
        axes.set_ylabel(label(name))
    grid[-1].set_xlabel(label(found.along))
    handles, words = grid[0].get_legend_handles_labels()
    told = dict(zip(words, handles, strict=True))
    grid[0].legend(told.values(), told.keys(), loc="best")
    heading = f"{found.system.name}: steady motions"
    figure.suptitle(heading, x=0.01, ha="left", fontsize=12, fontweight="bold")
    return figure


def _values(member: BranchMember) -> dict[str, float]:
    motion = member.motion
    return {**motion.state, **motion.speeds, **motion.momenta, **motion.inputs}


def _changing(found: SteadyBranches) -> list[str]:
    rows = [_values(m) for m in found.members]
    spans = {name: max(r[name] for r in rows) - min(r[name] for r in rows) for name in rows[0] if name != found.along}
    changing = [name for name, span in spans.items() if span > 1e-9]
    return (changing or list(spans))[:MOST_PANELS]


def _word(member: BranchMember) -> str:
    return "undecided" if member.motion.verdict is None else member.motion.verdict.word


def _panel(axes: Axes, found: SteadyBranches, name: str) -> None:
    for _, branch in groupby(found.members, key=lambda m: m.number):
        members = list(branch)
        places = [k for k, m in enumerate(members) if m.kind == "regular"]
        for word, run in groupby(places, key=lambda k: _word(members[k])):
            ks = list(run)
            # on to the next point, so that pieces of one branch join
            piece = members[max(ks[0] - 1, 0) : ks[-1] + 2]
            colour, line, width = LOOKS[word]
            xs, ys = [m.value for m in piece], [_values(m)[name] for m in piece]
            axes.plot(xs, ys, color=colour, linestyle=line, linewidth=width, label=word)
    for m in found.members:
        if m.kind in MARKS:
            y = _values(m)[name]
            axes.plot([m.value], [y], MARKS[m.kind], color=INK, markersize=6, label=m.kind, zorder=5)
