"""How times grow with the size of what is computed: curves with their exponents, on logarithmic axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, log
from pathlib import Path


@dataclass(frozen=True)
class Curve:
    """Seconds by size; curves with the same ``panel`` are drawn over each other."""

    name: str
    panel: str
    seconds: Mapping[int, float]

    @property
    def points(self) -> list[tuple[int, float]]:
        """What was measured."""
        return [(n, t) for n, t in sorted(self.seconds.items()) if not isnan(t) and t > 0.0]

    @property
    def exponent(self) -> float:
        """p of time ~ Nᵖ over the second half of the sizes, by its ends."""
        points = self.points[(len(self.points) - 1) // 2 :]
        if len(points) < 2:
            return float("nan")
        (n, t), (m, u) = points[0], points[-1]
        return log(u / t) / log(m / n)


def draw(title: str, curves: Sequence[Curve], path: Path) -> None:
    """One panel beside the other, ours solid, peers dashed."""
    from matplotlib.figure import Figure

    panels = list(dict.fromkeys(c.panel for c in curves))
    figure = Figure(figsize=(5.2 * len(panels), 4.6), layout="constrained")
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        for one in (c for c in curves if c.panel == panel and c.points):
            sizes, seconds = zip(*one.points, strict=True)
            told = "" if isnan(one.exponent) else f", N^{one.exponent:.2f}"
            style = "o-" if one.name.startswith("svyaz") else "s--"
            axes.plot(sizes, seconds, style, markersize=4, label=f"{one.name}{told}")
        axes.set(xscale="log", yscale="log", xlabel="N", ylabel="seconds", title=panel)
        axes.grid(True, which="both", alpha=0.25)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=8)
    figure.suptitle(title, x=0.01, ha="left")
    figure.savefig(path, dpi=130)
