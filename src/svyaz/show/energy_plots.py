"""The energy of a motion as a picture: where it is, where it went, and what the balance leaves over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svyaz.show.curves import axis_label, borders, curve, dense
from svyaz.show.plots import USUAL, magnitudes
from svyaz.show.style import in_own_style, ink, legend, look, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from svyaz.motion import EnergyBalance, Motion


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
