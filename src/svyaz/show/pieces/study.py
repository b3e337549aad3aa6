"""Sweeps in notebooks."""

from __future__ import annotations

from svyaz.show.notebooks import dataset_html, details, heading, picture
from svyaz.show.results import html_of, line_of
from svyaz.show.sweeps import sweep_figure
from svyaz.study import Sweep


@html_of.register(Sweep)
def _(found: Sweep) -> str:
    """Its measures over what was varied, as a picture where there are one or two axes, and as columns."""
    columns = dataset_html(found.to_xarray)
    outcomes = ", ".join(f"{count} {word}" for word, count in found.outcomes().items())
    drawable = found.answered and found.measures and len(found.axes) <= 2
    shown = picture(sweep_figure(found), f"measures of {found.system.name}") if drawable else ""
    return heading(found.system.name, f"{found.answered} of {found.total} members", outcomes, *found.notes) + (
        shown + details("columns", columns) if shown else columns
    )


@line_of.register(Sweep)
def _(found: Sweep) -> str:
    axes = " × ".join(f"{axis.name} ({len(axis.values)})" for axis in found.axes)
    return f"of '{found.system.name}': {axes}, {found.answered} of {found.total} members, {found.status}"
