"""The plane of the gains: for which (α, β) a method with its step damps ÿ + αẏ + βy = 0.

The roots λ of λ² + αλ + β are multiplied by S(τλ) in every step, S the stability function of the method. The region of
stability is max |S(τλ)| < 1, drawn exactly from S, inside the quadrant α, β > 0 (Hurwitz). On the parabola α² = 4β both
roots are -κ, κ = α/2. A first-order deviation, ẏ = -κy, has one gain: there the curve |S(-τκ)| is drawn.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from svyaz.arrays import Array
from svyaz.show.plots import check_plot_file, save
from svyaz.show.records.holding import gain_blocks, gain_roots
from svyaz.show.style import COLOURS, INK, MUTED, in_own_style, new_figure
from svyaz.stabilise import Discretisation, largest_gain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from svyaz.stabilise import GainReport

Blocks = Mapping[str, Sequence[Sequence[float]]]
"""Gain matrices A … F by name."""

POINTS = 401
"""Points along each axis of the plane."""

REACH = 1.35
"""The plane reaches this far beyond the stable region, and beyond the present gains."""

UNBOUNDED = 8.0
"""κτ up to which a method without a limit on the real axis is drawn."""

LEVELS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0)


def growth(scheme: Discretisation, alpha: Array, beta: Array) -> Array:
    """max |S(τλ)| over the roots λ of λ² + αλ + β = 0."""
    assert scheme.step is not None, "the plane belongs to a fixed step"
    spread = np.sqrt(np.asarray(alpha**2 / 4 - beta, dtype=complex))
    roots = (-alpha / 2 + spread, -alpha / 2 - spread)
    return np.maximum(*(np.abs(scheme.factor(scheme.step * root)) for root in roots))


def gains_shown(blocks: Blocks, roots: Sequence[complex] = ()) -> tuple[tuple[float, float] | None, float | None]:
    """((α, β), κ) of gain matrices, or of roots: of the first position constraint, and of the first velocity constraint."""
    first = {name: -float(blocks[name][0][0]) for name in ("A", "B", "E") if blocks.get(name)}
    pair = (first.get("B", 0.0), first.get("A", 0.0)) if first.keys() & {"A", "B"} else None
    kappa = first.get("E")
    if pair is None and kappa is None and roots:
        pair, kappa = _from_roots(roots)
    return pair, kappa


def _from_roots(roots: Sequence[complex]) -> tuple[tuple[float, float] | None, float | None]:
    """Two roots make a pair of gains, α = -(λ₁ + λ₂), β = λ₁λ₂; a single one is -κ."""
    if len(roots) == 1:
        return None, -roots[0].real
    first = roots[0]
    partner = min(roots[1:], key=lambda root: abs(root - first.conjugate()))
    return (-(first + partner).real, (first * partner).real), None


def gain_plane_grid(
    scheme: Discretisation, gains: GainReport | None, points: int = POINTS
) -> tuple[Array, Array, Array]:
    """α (points,), β (points,) and the largest factor in a step (points of β, points of α), for a page that draws it."""
    pair, _ = gains_shown(gain_blocks(gains), gain_roots(gains))
    across, up = _extent(scheme, _limit(scheme), pair)
    alpha, beta = np.linspace(0.0, across, points + 1)[1:], np.linspace(0.0, up, points + 1)[1:]
    return alpha, beta, growth(scheme, *np.meshgrid(alpha, beta))


@in_own_style
def gain_plane(scheme: Discretisation, blocks: Blocks, roots: Sequence[complex] = ()) -> Figure:
    """The plane of (α, β) with the present gains, or the line of κ where only first-order deviations have gains."""
    pair, kappa = gains_shown(blocks, roots)
    if pair is None and kappa is not None:
        figure = new_figure(7.2, 4.2)
        _line(figure.subplots(), scheme, kappa)
    else:
        figure = new_figure(7.6, 5.4)
        _plane(figure, figure.subplots(), scheme, pair)
    return figure


def draw_gain_plane(scheme: Discretisation, gains: GainReport | None, file: str | os.PathLike[str]) -> Path:
    """Write the plane of the gains as .png, .svg or .pdf, with those that were judged."""
    check_plot_file(file)
    return save(gain_plane(scheme, gain_blocks(gains), gain_roots(gains)), file)


def _plane(figure: Figure, axes: Axes, scheme: Discretisation, pair: tuple[float, float] | None) -> None:
    assert scheme.step is not None, "the plane belongs to a fixed step"
    limit = _limit(scheme)
    across, up = _extent(scheme, limit, pair)
    alpha, beta = np.meshgrid(np.linspace(-0.06 * across, across, POINTS), np.linspace(-0.06 * up, up, POINTS))
    factor = growth(scheme, alpha, beta)
    factor[(alpha <= 0) | (beta <= 0)] = np.nan  # not Hurwitz: deviations grow whatever the method
    filled = axes.contourf(alpha, beta, factor, LEVELS, cmap="viridis", alpha=0.85)
    figure.colorbar(filled, ax=axes, label=r"largest factor in a step, $\max |S(\tau\lambda)|$")
    axes.contour(alpha, beta, factor, [1.0], colors=[INK], linewidths=1.6)
    axes.axhline(0.0, color=MUTED, linewidth=1.0)
    axes.axvline(0.0, color=MUTED, linewidth=1.0)
    axes.axhspan(-0.06 * up, 0.0, facecolor=MUTED, alpha=0.18, linewidth=0)
    axes.axvspan(-0.06 * across, 0.0, ymin=0.06 / 1.06, facecolor=MUTED, alpha=0.18, linewidth=0)
    _parabola(axes, limit, across, up)
    if pair is not None:
        _present(axes, scheme, pair)
    axes.set(xlim=(-0.06 * across, across), ylim=(-0.06 * up, up), xlabel=r"$\alpha$", ylabel=r"$\beta$")
    axes.ticklabel_format(style="sci", scilimits=(-3, 4), useMathText=True)
    axes.set_title(r"$\ddot y + \alpha \dot y + \beta y = 0$" + f" with {scheme.method}, step {scheme.step:g}")
    axes.grid(False)


def _limit(scheme: Discretisation) -> float:
    """The largest κ that is drawn on the parabola of critical damping."""
    assert scheme.step is not None, "the plane belongs to a fixed step"
    limit = largest_gain(scheme)
    return limit if np.isfinite(limit) else UNBOUNDED / scheme.step


def _extent(scheme: Discretisation, limit: float, pair: tuple[float, float] | None) -> tuple[float, float]:
    """How far the plane reaches: the stable region within |λ| of a few limits, and the present gains."""
    alpha, beta = np.meshgrid(np.linspace(0, 4 * limit, POINTS)[1:], np.linspace(0, 9 * limit**2, POINTS)[1:])
    stable = growth(scheme, alpha, beta) < 1.0
    across, up = float(np.max(alpha[stable], initial=2 * limit)), float(np.max(beta[stable], initial=limit**2))
    across, up = REACH * min(across, 2.6 * limit), REACH * min(up, 3 * limit**2)
    if pair is not None:
        across, up = max(across, REACH * pair[0]), max(up, REACH * pair[1])
    return across, up


def _parabola(axes: Axes, limit: float, across: float, up: float) -> None:
    """Critical damping, α = 2κ, β = κ², with marks at round κ up to the limit."""
    from matplotlib.patheffects import withStroke
    from matplotlib.ticker import MaxNLocator

    kappa = np.linspace(0.0, min(across / 2, np.sqrt(up)), 300)
    axes.plot(2 * kappa, kappa**2, color="white", linewidth=2.6)
    axes.plot(2 * kappa, kappa**2, color=COLOURS[1], linewidth=1.4, label=r"$\alpha^2 = 4\beta$, both roots $-\kappa$")
    marks = [k for k in MaxNLocator(5).tick_values(0.0, limit) if 0 < k <= min(limit, float(kappa[-1]))]
    for k in marks:
        axes.plot(2 * k, k**2, "o", color=COLOURS[1], markersize=4)
        told = axes.annotate(rf"$\kappa={k:g}$", (2 * k, k**2), (-5, 5), textcoords="offset points", ha="right")
        told.set(fontsize=9, color=INK, path_effects=[withStroke(linewidth=2.5, foreground="white")])
    axes.legend(loc="upper left", fontsize=9, frameon=True, framealpha=0.85, edgecolor="none")


def _present(axes: Axes, scheme: Discretisation, pair: tuple[float, float]) -> None:
    factor = float(growth(scheme, np.array(pair[0]), np.array(pair[1])))
    stable = factor < 1.0 and min(pair) > 0
    word, colour = ("stable", "white") if stable else ("unstable", "#d62728")
    told = f"present gains: {word}, {factor:.4g} a step"
    axes.plot(*pair, "*", label=told, markersize=15, markeredgecolor=INK, color=colour, linestyle="none")
    axes.legend(loc="upper left", fontsize=9, frameon=True, framealpha=0.85, edgecolor="none")


def _line(axes: Axes, scheme: Discretisation, kappa: float) -> None:
    """|S(-τκ)| over κ with the stable interval shaded."""
    assert scheme.step is not None, "the plane belongs to a fixed step"
    limit = _limit(scheme)
    line = np.linspace(0.0, REACH * max(limit, kappa), 2001)
    axes.plot(line, np.abs(scheme.factor((-scheme.step * line).astype(complex))), color=COLOURS[0])
    if np.isfinite(largest_gain(scheme)):
        axes.axvspan(0.0, limit, facecolor=COLOURS[2], alpha=0.12, label=rf"stable: $\kappa < {limit:.6g}$")
        axes.axvline(limit, color=COLOURS[2], linewidth=1.2)
    axes.axhline(1.0, color=INK, linewidth=1.0)
    factor = abs(complex(scheme.factor(complex(-scheme.step * kappa))))
    colour = COLOURS[0] if factor < 1.0 else "#d62728"
    told = rf"present $\kappa = {kappa:g}$: factor {factor:.4g}"
    axes.plot(kappa, factor, "*", markersize=15, color=colour, markeredgecolor=INK, label=told, linestyle="none")
    axes.set(xlim=(0.0, float(line[-1])), ylim=(0.0, max(1.6, 1.15 * factor)), xlabel=r"$\kappa$")
    axes.set_ylabel(r"factor in a step, $|S(-\tau\kappa)|$")
    axes.set_title(r"$\dot y = -\kappa y$" + f" with {scheme.method}, step {scheme.step:g}")
    axes.legend(loc="upper left")
