"""The look of all figures: fonts, colours that colour-blind readers tell apart, names of variables."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, ParamSpec, TypedDict, cast

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


@dataclass(frozen=True)
class Looks:
    """How a figure is to look: its size (width, height) in inches, angles in degrees, and a style of matplotlib over ours: its
    name, a file .mplstyle, or settings by name.
    """

    size: tuple[float, float] | None = None
    degrees: bool = False
    style: str | Mapping[str, object] | None = None

    def __post_init__(self) -> None:
        if self.size is not None and not all(SMALLEST <= side <= LARGEST for side in self.size):
            told = "x".join(f"{side:g}" for side in self.size)
            raise ValueError(f"'size': a figure is from {SMALLEST:g} to {LARGEST:g} inches wide and high, not {told}")

    def figure(self, width: float = 8.0, height: float = 4.0) -> Figure:
        """An empty figure of the size asked for, or else of this one."""
        return new_figure(*(self.size or (width, height)))


SMALLEST, LARGEST = 1.0, 100.0


def size_of(text: str) -> tuple[float, float]:
    """Width and height in inches from ``12x6``; ValueError for anything else."""
    sides = text.lower().replace("×", "x").split("x")
    try:
        width, height = (float(side) for side in sides)
    except ValueError:
        raise ValueError(f"'{text}' is no size: write width and height in inches, 12x6") from None
    return Looks((width, height)).size or (width, height)


_over: ContextVar[Mapping[str, object]] = ContextVar("style", default={})  # noqa: B039


@contextmanager
def in_style(looks: Looks) -> Iterator[None]:
    """Figures that are drawn meanwhile have this style over ours."""
    token = _over.set(_settings_of(looks.style))
    try:
        yield
    finally:
        _over.reset(token)


def _settings_of(style: str | Mapping[str, object] | None) -> Mapping[str, object]:
    if style is None:
        return {}
    import matplotlib as mpl
    import matplotlib.style

    if not isinstance(style, str):
        unknown = [name for name in style if name not in set(mpl.rcParams)]
        if unknown:
            raise ValueError(f"matplotlib has no setting '{unknown[0]}'")
        return style
    if style.endswith(".mplstyle"):
        return {str(key): value for key, value in mpl.rc_params_from_file(style, use_default_template=False).items()}
    if style not in matplotlib.style.library:
        near = get_close_matches(style, matplotlib.style.available, 1, 0.4)
        meant = f"; did you mean '{near[0]}'?" if near else ""
        raise ValueError(f"matplotlib has no style '{style}'{meant}")
    return {str(key): value for key, value in matplotlib.style.library[style].items()}


def ink() -> str:
    """The colour of what is drawn strongly."""
    return str(_over.get().get("text.color", INK))


def in_own_style(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Makes a function draw its figure in this style, whatever the settings of the person who calls it."""

    @functools.wraps(draw)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> Figure:
        import matplotlib as mpl

        with mpl.rc_context(SETTINGS | cast("dict[RcKeyType, object]", _over.get())):
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
    cycle: Mapping[str, Sequence[str]] = getattr(_over.get().get("axes.prop_cycle"), "by_key", dict)()
    colours, dashes = cycle.get("color", COLOURS), cycle.get("linestyle", DASHES)
    return {"color": colours[k % len(colours)], "linestyle": dashes[k // len(colours) % len(dashes)]}


def panels(figure: Figure, count: int, columns: int) -> list[Axes]:
    """So many axes in rows of at most so many columns; those of the last row share its whole width."""
    rows = -(-count // columns)
    last = count - columns * (rows - 1)
    grid = figure.add_gridspec(rows, math.lcm(columns, last))
    found = []
    for k in range(count):
        row, column = divmod(k, columns)
        width = grid.ncols // (last if row == rows - 1 else columns)
        found.append(figure.add_subplot(grid[row, column * width : (column + 1) * width]))
    return found


def plain_text(text: str) -> str:
    """A text that is no formula, and that a legend does not pass by."""
    escaped = text.replace("$", r"\$")
    return "\u2060" + escaped if escaped.startswith("_") else escaped


def legend(axes: Axes) -> None:
    """A legend beside the axes, where it hides no curve; none for a single unnamed curve."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2, handlelength=1.8)


def label(name: str) -> str:
    """A variable's name as it is written in formulas: θ₁ with a dot for ``theta1'``."""
    return f"${latex_name(name)}$"


POWERS = 1e-14
"""Sizes that are a smaller part of the largest are not told apart from zero."""


def logarithmic(axes: Axes) -> None:
    """A logarithmic axis for what is drawn already, without what is next to nothing beside the rest."""
    axes.set_yscale("log")
    top = axes.dataLim.y1
    axes.set_ylim(max(axes.dataLim.minposy, POWERS * top) / 1.5, 1.5 * top)


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
