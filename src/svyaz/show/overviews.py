"""The overview of a motion: what there is to see of it in one figure."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from svyaz.arguments import check_arguments
from svyaz.arrays import Array
from svyaz.show.curves import axis_label, borders, curve, dense
from svyaz.show.plots import (
    USUAL,
    by_unit,
    check_plot_file,
    columns_panel,
    coordinate_names,
    magnitudes,
    multipliers_panel,
    path_panel,
    sample_scene,
    save,
    velocities_title,
    velocity_names,
)
from svyaz.show.scene import can_be_drawn
from svyaz.show.style import Looks, in_own_style, in_style, ink, legend, look, new_figure, panels, plain_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from svyaz.motion import EnergyBalance, Motion


@in_own_style
def overview(motion: Motion, looks: Looks = USUAL) -> Figure:
    """Coordinates, velocities, the mechanism with its paths, and what should stay zero, in one figure."""
    motion = dense(motion)

    def columns(names: list[str], title: str) -> list[Callable[[Axes], None]]:
        def panel(group: list[str]) -> Callable[[Axes], None]:
            return lambda axes: columns_panel(axes, motion, group, title, looks)

        return [panel(group) for group in by_unit(motion, names, looks)] if names else []

    drawn = columns(coordinate_names(motion), "Coordinates")
    drawn += [lambda axes: path_panel(axes, sample_scene(motion))] if can_be_drawn(motion) else []
    drawn += columns(velocity_names(motion), velocities_title(motion))
    drawn += columns(list(motion.outputs), "Outputs")
    drawn += [lambda axes: multipliers_panel(axes, motion)] if motion.multipliers else []
    kinds = {
        "residuals": motion.residuals,
        "deviations of integrals": motion.deviations,
        "energy drift" if motion.balance is None else "energy remainder": _energy_error(motion),
    }
    if any(kinds.values()):
        title = " and ".join(kind for kind, there in kinds.items() if there).capitalize()
        zeros = {name: column for kind in kinds.values() for name, column in kind.items()}
        drawn.append(lambda axes: _zeros(axes, motion, zeros, title))
    rows = -(-len(drawn) // 2)
    figure = looks.figure(12.5 if len(drawn) > 1 else 8.0, 3.5 * rows + 0.4)
    for axes, draw in zip(panels(figure, len(drawn), min(2, len(drawn))), drawn, strict=True):
        draw(axes)
    figure.suptitle(plain_text(motion.system.name), x=0.01, ha="left", fontsize=13, fontweight="bold")
    return figure


def _energy_error(motion: Motion) -> dict[str, Array]:
    error = motion.energy_error
    return {} if error is None else {"energy": error}


def _zeros(axes: Axes, motion: Motion, series: dict[str, Array], title: str) -> None:
    magnitudes(axes, motion, series)
    axes.set_title(title)
    axes.set_xlabel(axis_label(motion.system, "t", USUAL))


@check_arguments
def plot_motion(motion: Motion, file: str | os.PathLike[str], looks: Looks = USUAL) -> Path:
    """Writes the overview of a motion as .png, .svg or .pdf.

    >>> import svyaz, tempfile, pathlib
    >>> motion = svyaz.load("pendulum:1").simulate(until=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = svyaz.plot_motion(motion, pathlib.Path(folder) / "u.svg")
    ...     [path.name for path in pathlib.Path(folder).iterdir()]
    ['u.svg']
    """
    check_plot_file(file)
    with in_style(looks):
        return save(overview(motion, looks), file)


@in_own_style
def energy_plot(motion: Motion) -> Figure:
    """Kinetic, potential and whole energy; where it went, if anything changes it; below, its error over max(|E₀|, max T)."""
    motion = dense(motion)
    balance = motion.balance
    figure = new_figure(8.0, 5.2 if balance is None else 7.4)
    heights = (3, 2) if balance is None else (3, 3, 2)
    panels = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)
    curves = {"$T$": motion.kinetic, "$P$": motion.potential, "$E$": motion.energy}
    for k, (name, values) in enumerate(curves.items()):
        if values is not None:
            panels[0].plot(*curve(motion, motion.times, values), label=name, color=look(k)["color"] if k < 2 else ink())
    panels[0].set_title("Energy")
    if balance is not None:
        _balance(panels[1], motion, balance)
    for axes in panels[:-1]:
        axes.margins(x=0.01)
        borders(axes, motion)
        legend(axes)
    error = motion.energy_error
    if error is not None:
        magnitudes(panels[-1], motion, {"": error})
    panels[-1].set_title("Drift of the energy" if balance is None else "Remainder of the energy balance")
    panels[-1].set_xlabel(axis_label(motion.system, "t", USUAL))
    return figure


def _balance(axes: Axes, motion: Motion, balance: EnergyBalance) -> None:
    """The change of the energy, and what it is made of; what is zero all the time is left out."""
    terms = {"work": balance.work, "− dissipated": -balance.dissipated, "− impacts": -balance.impacts}
    for k, (name, values) in enumerate((name, values) for name, values in terms.items() if values.any()):
        axes.plot(*curve(motion, motion.times, values), label=name, **look(k))
    change = curve(motion, motion.times, balance.change)
    axes.plot(*change, label="$E - E_0$", color=ink(), linestyle=(0, (4, 4)))
    axes.set_title("Where the energy went")
