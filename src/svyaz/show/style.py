"""The look of all figures: fonts, colours that colour-blind readers tell apart, names of variables."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ParamSpec, TypedDict

from svyaz.expr import latex_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.typing import RcKeyType

P = ParamSpec("P")

Dashes = tuple[float, tuple[float, ...]]
"""Where a pattern of dashes begins, and the lengths of lines and gaps."""

# M. Okabe, K. Ito, "Color Universal Design", 2008; their yellow is left out, it is too pale for lines on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES: tuple[str | Dashes, ...] = ("solid", (0, (5, 2)), (0, (1.5, 1.5)))
INK = "#1f2933"
MUTED = "#7b8794"
GRID = "#dfe3e8"
MOST_CURVES = 12

SETTINGS: dict[RcKeyType, object] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 10,
    "mathtext.fontset": "cm",
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 8,
    "axes.labelsize": 11,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.frameon": False,
    "legend.fontsize": 10.5,
    "lines.linewidth": 1.5,
    "lines.solid_capstyle": "round",
    "svg.fonttype": "path",
    "svg.hashsalt": "svyaz",
    "figure.dpi": 100,
    "savefig.dpi": 160,
}


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Makes a function draw its figure in this style, whatever the settings of the person who calls it."""

    @functools.wraps(draw)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> Figure:
        import matplotlib as mpl

        with mpl.rc_context(SETTINGS):
            return draw(*args, **kwargs)

    return wrapper


def new_figure(width: float = 8.0, height: float = 4.0) -> Figure:
    """An empty figure that belongs to no window and no global list; sizes in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


class Look(TypedDict):
    """How a curve is drawn."""

    color: str
    linestyle: str | Dashes


def look(k: int) -> Look:
    """Colour and dashes of curve number k; no two of the first eighteen are alike."""
    return {"color": COLOURS[k % len(COLOURS)], "linestyle": DASHES[k // len(COLOURS) % len(DASHES)]}


def legend(axes: Axes) -> None:
    """A legend beside the axes, where it hides no curve; none for a single unnamed curve."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2, handlelength=1.8)


def label(name: str) -> str:
    """A variable's name as it is written in formulas: θ₁ with a dot for ``theta1'``."""
    return f"${latex_name(name)}$"


NEAR_ENOUGH = 0.5
"""Limits within this part of the height of the curves are brought into the picture."""


def limit_bands(axes: Axes, bands: Sequence[tuple[float, float, str]]) -> None:
    """Shade what lies beyond limits (low, high, colour) of curves that are drawn already."""
    bottom, top = axes.get_ylim()
    near = NEAR_ENOUGH * (top - bottom)
    shown = [side for low, high, _ in bands for side in (low, high) if bottom - near <= side <= top + near]
    bottom, top = min([bottom, *(s - 0.1 * near for s in shown)]), max([top, *(s + 0.1 * near for s in shown)])
    for low, high, colour in bands:
        for begin, end in ((bottom, min(low, top)), (max(high, bottom), top)):
            if end > begin:
                axes.axhspan(begin, end, color=colour, alpha=0.10, linewidth=0, zorder=0.2)
        for side in (side for side in (low, high) if bottom < side < top):
            axes.axhline(side, color=colour, linewidth=0.8, linestyle=(0, (6, 3)), zorder=0.4)
    axes.set_ylim(bottom, top)
