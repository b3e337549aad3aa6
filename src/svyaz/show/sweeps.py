"""Pictures of sweeps: curves over one varied quantity with the stable interval shaded, colour maps over two."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from svyaz.arrays import Array
from svyaz.show.plots import check_plot_file, save
from svyaz.show.style import (
    COLOURS,
    DASHES,
    INK,
    MUTED,
    in_own_style,
    label,
    legend,
    limit_bands,
    look,
    new_figure,
    panels,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from svyaz.study import Sweep
if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from svyaz.control import Transient


TITLES = {
    "residual": "Largest residual",
    "error": "Trajectory error (by step halving)",
    "drift": "Drift of integrals",
    "energy": "Energy balance",
    "multiplier": "Multipliers at the end",
    "final": "Final state",
    "steps": "Steps",
    "evaluations": "Evaluations",
    "t": "Time reached",
    "phases": "Phases",
    "period": "Time of the last phase",
}
LOGARITHMIC = ("residual", "error", "drift", "steps", "evaluations")
MOST_MAPS = 6
SYMBOLS = {"stabilize": r"$\kappa$", "kappa": r"$\kappa$", "alpha": r"$\alpha$", "beta": r"$\beta$"}
FAILED = "#d62728"
HIGHEST = 1e4
"""Values that should be small are shown up to this many times their lower quartile: a lost run would hide all others."""


def plot_sweep(sweep: Sweep, file: str | os.PathLike[str]) -> Path:
    """Write the picture of a sweep over one or two quantities as .png, .svg or .pdf."""
    check_plot_file(file)
    return save(sweep_figure(sweep), file)


def sweep_figure(sweep: Sweep) -> Figure:
    """Curves over one quantity, maps over two."""
    return sweep_curves(sweep) if len(sweep.axes) == 1 else sweep_maps(sweep)


def _panels(sweep: Sweep) -> dict[str, list[str]]:
    """Title → measures of a panel; states and multipliers only where nothing that should be small is measured."""
    kinds: dict[str, list[str]] = {}
    for kind in TITLES:
        names = [name for name in sweep.measures if name.partition(".")[0] == kind]
        if names:
            kinds[kind] = names
    small = [kind for kind in ("residual", "error", "drift") if kind in kinds]
    return {kind: kinds[kind] for kind in small} if small else kinds


@in_own_style
def sweep_curves(sweep: Sweep) -> Figure:
    """A panel for each kind of measure over the varied quantity."""
    panels = _panels(sweep)
    figure = new_figure(8.0, 2.7 * len(panels) + 0.6)
    grid = figure.subplots(len(panels), 1, sharex=True, squeeze=False).ravel()
    for axes, (kind, names) in zip(grid, panels.items(), strict=True):
        _curves(axes, sweep, kind, names)
        axes.set_title(TITLES[kind])
    if _geometric(sweep.axes[0].values):
        grid[-1].set_xscale("log")
    grid[-1].set_xlabel(_name(sweep.axes[0].name))
    figure.suptitle(_heading(sweep), x=0.01, ha="left", fontsize=12, fontweight="bold")
    return figure


def _curves(axes: Axes, sweep: Sweep, kind: str, names: Sequence[str]) -> None:
    x = sweep.column(sweep.axes[0].name)
    done = sweep.marks("finished")[sweep.done()]
    top = 0.0
    for k, name in enumerate(names):
        values = np.where(done, sweep.column(name), np.nan)
        if kind in LOGARITHMIC:
            values = np.where(values > 0, values, np.nan)
        marker = "o" if len(x) <= 60 else None
        axes.plot(x, values, label=name.partition(".")[2] or None, marker=marker, markersize=3, **look(k))
        if kind in LOGARITHMIC and np.isfinite(values).any():
            axes.set_yscale("log")
            top = max(top, _top(values))
    if top > 0:
        axes.set_ylim(top=2 * top)
    for number, (low, high) in enumerate(sweep.stable or ()):
        told = "stable gains" if number == 0 else None
        axes.axvspan(low, high, facecolor=COLOURS[2], alpha=0.12, linewidth=0, label=told)
        if high < np.max(x):
            axes.axvline(high, color=COLOURS[2], linewidth=1.0)
    if not done.all():
        failed = x[~done]
        place = axes.get_xaxis_transform()
        axes.plot(failed, np.full(len(failed), 0.02), "x", color=FAILED, markersize=5, transform=place, label="failed")
    axes.margins(x=0.02)
    legend(axes)


@in_own_style
def sweep_maps(sweep: Sweep) -> Figure:
    """A colour map for each measure over two varied quantities; the border of stable gains is drawn, failures are grey."""
    names = [name for group in _panels(sweep).values() for name in group][:MOST_MAPS]
    columns = min(len(names), 2)
    figure = new_figure(5.6 * columns, 4.2 * -(-len(names) // columns) + 0.5)
    for axes, name in zip(panels(figure, len(names), columns), names, strict=True):
        _map(figure, axes, sweep, name)
    figure.suptitle(_heading(sweep), x=0.01, ha="left", fontsize=12, fontweight="bold")
    return figure


def _map(figure: Figure, axes: Axes, sweep: Sweep, name: str) -> None:
    from matplotlib.colors import LogNorm

    across, up = (axis.values for axis in sweep.axes)
    values = np.where(sweep.marks("finished"), sweep.grid(name), np.nan)
    kind = name.partition(".")[0]
    positive = values[np.isfinite(values) & (values > 0)]
    norm = None
    if kind in LOGARITHMIC and len(positive):
        values = np.where(values > 0, values, np.nan)
        norm = LogNorm(float(positive.min()), max(_top(positive), 1.001 * float(positive.min())))
    axes.set_facecolor("#c9ced6")
    drawn = axes.pcolormesh(across, up, values.T, norm=norm, cmap="viridis", shading="nearest", rasterized=True)
    figure.colorbar(drawn, ax=axes, extend="max" if norm is not None and norm.vmax < positive.max() else "neither")
    stable = sweep.marks("stable")
    if stable.any() and not stable.all() and min(stable.shape) > 1:
        axes.contour(across, up, stable.T.astype(float), [0.5], colors=["white"], linewidths=2.6)
        axes.contour(across, up, stable.T.astype(float), [0.5], colors=[INK], linewidths=1.2)
    axes.set_xscale("log" if _geometric(across) else "linear")
    axes.set_yscale("log" if _geometric(up) else "linear")
    axes.set(xlabel=_name(sweep.axes[0].name), ylabel=_name(sweep.axes[1].name))
    axes.set_title(f"{TITLES[kind]}{': ' + name.partition('.')[2] if '.' in name else ''}")
    axes.grid(False)
    if not np.isfinite(values).any():
        axes.text(0.5, 0.5, "no run finished", transform=axes.transAxes, ha="center", color=MUTED)


def _top(values: Array) -> float:
    """The largest value that is shown."""
    return float(min(np.nanmax(values), HIGHEST * np.nanquantile(values, 0.25)))


def _geometric(values: Array) -> bool:
    """Are the values spaced evenly in the logarithm?"""
    if len(values) < 3 or not (values > 0).all():
        return False
    ratios = values[1:] / values[:-1]
    return bool(np.allclose(ratios, ratios[0], rtol=1e-6) and not np.isclose(ratios[0], 1.0, rtol=1e-9))


def _name(name: str) -> str:
    return SYMBOLS.get(name.rpartition(".")[2], name.removeprefix("run."))


def _heading(sweep: Sweep) -> str:
    asked = sweep.asked
    fixed = "" if asked["step"] is None else f", step {asked['step']:g}"
    if any(axis.key == "step" for axis in sweep.axes):
        fixed = ""
    return f"{sweep.system.name}: {asked['method']}{fixed}, until {asked['until']:g}"


PALE: dict[str, Any] = {"alpha": 0.35, "linewidth": 4.5}
"""The linear motion is drawn beneath the nonlinear one, which often hides it."""

MOST_OF_LINEAR = 30.0
MOST = 1e3
"""Curves that leave the picture by this factor are cut off: a control that fails must not hide one that works."""


@in_own_style
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
        reach, rest = first.motion.limits.get(name), first.design.model.state.get(name, 0.0)
        limit_bands(axes, [] if reach is None else [(reach.low - rest, reach.high - rest, MUTED)])
        legend(axes)
    for k, (what, run) in enumerate(runs.items()):
        for j, (name, column) in enumerate(run.inputs.items()):
            colour, dash = COLOURS[k % len(COLOURS)], DASHES[j % len(DASHES)]
            panels[-1].plot(run.times, column, color=colour, linestyle=dash, label=f"{label(name)}, {what}")
    panels[-1].set_ylabel("inputs")
    panels[-1].set_xlabel(label("t"))
    legend(panels[-1])
    return figure


@in_own_style
def curve_figure(title: str, name: str, times: Array, values: Array, linear: Array | None, unit: str = "") -> Figure:
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
    axes.set_xlabel(label("t") + (", s" if unit else ""))
    axes.set_ylabel(f"deviation of {label(name)}" + (f", {unit}" if unit else ""))
    return figure


def plot_transients(runs: Mapping[str, Transient], file: str | os.PathLike[str]) -> Path:
    """Write the figure of the transients."""
    return save(transients_figure(runs), file)
