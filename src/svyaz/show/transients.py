"""Transients of closed loops: the full nonlinear system and its first approximation side by side, and the inputs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from svyaz.show.plots import save
from svyaz.show.scene import Array
from svyaz.show.style import COLOURS, DASHES, label, legend, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from svyaz.control import Transient

PALE: dict[str, Any] = {"alpha": 0.35, "linewidth": 4.5}
"""The linear motion is drawn beneath the nonlinear one, which often hides it."""

MOST_OF_LINEAR = 30.0
MOST = 1e3
"""Curves that leave the picture by this factor are cut off: a control that fails must not hide one that works."""


@styled
def transients_figure(runs: Mapping[str, Transient]) -> Figure:
    """A panel for each independent coordinate, the last for the inputs; one colour a control, broad and pale for the linear
    motion beneath."""
    first = next(iter(runs.values()))
    names = first.design.model.independent
    figure = new_figure(8.0, 2.2 * (len(names) + 1))
    panels = figure.subplots(len(names) + 1, 1, sharex=True, squeeze=False)[:, 0]
    for axes, name in zip(panels, names, strict=False):
        for k, (what, run) in enumerate(runs.items()):
            colour = COLOURS[k % len(COLOURS)]
            limit = MOST * max(float(np.abs(first.linear[name]).max()), 1e-12)
            axes.plot(run.asked, run.linear[name], color=colour, label=f"{what}, linear", **PALE)
            axes.plot(run.times, np.clip(run.deviations[name], -limit, limit), color=colour, label=what)
        axes.set_ylabel(f"deviation of {label(name)}")
        legend(axes)
    for k, (what, run) in enumerate(runs.items()):
        for j, (name, column) in enumerate(run.inputs.items()):
            colour, dash = COLOURS[k % len(COLOURS)], DASHES[j % len(DASHES)]
            panels[-1].plot(run.times, column, color=colour, linestyle=dash, label=f"{label(name)}, {what}")
    panels[-1].set_ylabel("inputs")
    panels[-1].set_xlabel(label("t"))
    legend(panels[-1])
    return figure


@styled
def curve_figure(title: str, name: str, times: Array, values: Array, linear: Array | None) -> Figure:
    """One deviation over time: the full nonlinear system, over the first approximation where that is given."""
    figure = new_figure(7.0, 3.4)
    axes = figure.subplots()
    if linear is None:
        axes.plot(times, values, color=COLOURS[1])
    else:
        limit = MOST_OF_LINEAR * float(np.abs(linear).max())
        axes.plot(times, linear, color=COLOURS[0], label="linear", **PALE)
        axes.plot(times, np.clip(values, -limit, limit), color=COLOURS[1], label="nonlinear")
        legend(axes)
    axes.set_title(title)
    axes.set_xlabel(label("t"))
    axes.set_ylabel(f"deviation of {label(name)}")
    return figure


def plot_transients(runs: Mapping[str, Transient], file: str | os.PathLike[str]) -> Path:
    """Write the figure of the transients."""
    return save(transients_figure(runs), file)
