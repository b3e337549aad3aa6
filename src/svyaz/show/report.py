"""The report of a motion: one self-contained page with equations, data, pictures and how far to trust them."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from svyaz import __version__
from svyaz.arrays import Array
from svyaz.expr import latex_name
from svyaz.files import write_text
from svyaz.show import katex, plots
from svyaz.show.energy_plots import energy_plot
from svyaz.show.files import page
from svyaz.show.player import player, player_script, player_style
from svyaz.show.records.holding import gain_blocks, gain_roots, gains_record
from svyaz.show.results import finite
from svyaz.show.scene import can_be_drawn, finite_span
from svyaz.show.tables import number, rows_table, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from svyaz.motion import Event, Motion

MOST_FORMULAS = 24
LONGEST_FORMULA = 6_000  # characters of LaTeX; beyond this nobody reads, and the page grows by a hundred times as much
FORMULAS_TOGETHER = 40_000
HEAVIEST_SVG = 400_000  # bytes; a picture of very many lines is smaller, and opens faster, as PNG
LARGEST_BLOCK = 16  # entries of a gain matrix that are written out

STATUS = {
    "finished": "The motion was computed to its end, t = {t}.",
    "left": "The motion passed a limit of the model: the computation ended there, at t = {t}.",
    "diverged": "The motion grew beyond all bounds: the computation ended at t = {t}.",
    "singular": "The equations could not be solved for the accelerations: the computation ended at t = {t}.",
    "infeasible": "The motion cannot go on in agreement with the constraints: the computation ended at t = {t}.",
    "stopped": "The computation was interrupted at t = {t}; what follows is the motion up to then.",
}


def write_report(
    motion: Motion,
    equations_latex: Sequence[str],
    folder: str | os.PathLike[str],
    moments: Sequence[float] | None = None,
) -> Path:
    """Writes ``report.html`` and a PNG of each figure into the folder, which is made if need be.

    ``equations_latex`` are display formulas in LaTeX; ``moments`` are the times up to which traces of links are drawn,
    by default the quarters of the motion. Files appear whole or not at all; the page comes last.

    >>> import svyaz, tempfile
    >>> motion = svyaz.load("pendulum:1").simulate(until=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     svyaz.write_report(motion, [], folder).name
    'report.html'
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    pictures = []
    for name, (figure, words) in figures(motion, moments).items():
        plots.save(figure, target / f"{name}.png")
        figure.set_layout_engine("none")  # what was laid out for the PNG serves the page too
        pictures.append(_picture(figure, target / f"{name}.png", words))
    return write_text(target / "report.html", report_page(motion, equations_latex, pictures))


def figures(motion: Motion, moments: Sequence[float] | None) -> dict[str, tuple[Figure, str]]:
    """The figures that make sense for this motion by file name, each with words that say what is seen."""
    found: dict[str, tuple[Figure, str]] = {}
    start, end = finite_span(motion)
    if motion.system.drawings and end > start:
        if any(drawing.kind == "link" for drawing in motion.system.drawings):
            words = "Traces of the links at equal intervals of time; the last position is drawn strongly."
            found["traces"] = (plots.traces_plot(motion, moments), words)
        if any(drawing.trace for drawing in motion.system.drawings):
            words = "Paths of the marked points and the last position of the mechanism."
            found["path"] = (plots.planar_path(motion), words)
    found["coordinates"] = (plots.coordinates_plot(motion), "Coordinates against time.")
    if plots.velocity_names(motion):
        found["velocities"] = (plots.velocities_plot(motion), f"{plots.velocities_title(motion)} against time.")
    if any(name + "'" in motion.state_names for name in motion.state_names):
        found["phase"] = (plots.phase_plot(motion), "Velocity against coordinate; a dot marks the start.")
    if motion.energy is not None and (motion.balance is not None or "energy" in motion.integrals):
        words = "Kinetic energy T, potential energy P and the whole energy E; below, "
        if motion.balance is None:
            words += "the drift |E − E₀| / max(|E₀|, max T)."
        else:
            words += "where it went, and what the balance leaves over: the error of the motion, over max(|E₀|, max T)."
        found["energy"] = (energy_plot(motion), words)
    if motion.residuals or motion.deviations:
        whose = ["of each constraint from being satisfied"] * bool(motion.residuals)
        whose += ["of each integral from its value"] * bool(motion.deviations)
        words = f"Deviation {' and '.join(whose)}, on a logarithmic scale."
        found["residuals"] = (plots.residuals_plot(motion), words)
    if motion.multipliers:
        words = "Multipliers λ of the constraints; the force on the system is +Gᵀλ."
        if motion.undetermined:
            words += (
                f" Those of {', '.join(motion.undetermined)} are not determined: some of them follow from the others."
            )
        found["multipliers"] = (plots.multipliers_plot(motion), words)
    return found


def _picture(figure: Figure, png: Path, words: str) -> str:
    """A figure as it stands in the page: SVG, or the PNG where that is lighter."""
    stream = io.BytesIO()
    plots.save_to(figure, stream, ".svg", transparent=True)
    kind, data = "svg+xml", stream.getvalue()
    if len(data) > HEAVIEST_SVG:
        kind, data = "png", png.read_bytes()
    address = f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"
    width = f"{figure.get_figwidth() * 100:.0f}px"
    image = f'<img src="{address}" alt="{escape(words)}" style="max-width: min(100%, {width})">'
    return f'<figure class="card">{image}<figcaption>{escape(words)}</figcaption></figure>\n'


def report_page(motion: Motion, equations_latex: Sequence[str], pictures: Sequence[str]) -> str:
    """The whole page; ``pictures`` are ready pieces of HTML."""
    parts = [_heading(motion)]
    if can_be_drawn(motion):
        parts.append(player(motion))
    parts += [
        _section("Equations", formula_boxes(equations_latex)),
        _section("What was given", _given(motion)),
        _section("How it was computed", _method(motion)),
        _section("The motion", "".join(pictures)),
        _section("How far to trust it", _trust(motion)),
        f"<footer>svyaz {escape(__version__)}; formulas set by {escape(katex.setter())}.</footer>\n",
    ]
    script = player_script() if can_be_drawn(motion) else ""
    return page(motion.system.name, "".join(parts), player_style() + katex.stylesheet(), script)


def _section(title: str, body: str) -> str:
    return f"<section>\n<h2>{escape(title)}</h2>\n{body}</section>\n" if body else ""


def _heading(motion: Motion) -> str:
    words = STATUS.get(motion.status, "The computation ended at t = {t}.").format(t=number(finite(motion.times[-1])))
    reason = f" {escape(motion.reason)}" if motion.reason else ""
    bad = "" if motion.status == "finished" else " bad"
    facts = {
        "Duration": number(finite(motion.times[-1])),
        "Steps": f"{motion.steps:,}".replace(",", "\u202f"),
        "Computing time": f"{number(motion.seconds, 3)} s",
        **_worst(motion),
    }
    cards = "".join(f'<div class="card"><dt>{name}</dt><dd>{value}</dd></div>' for name, value in facts.items())
    return (
        f"<header>\n<h1>{escape(motion.system.name)}</h1>\n"
        f'<p><span class="badge{bad}">{escape(motion.status)}</span> {words}{reason}</p>\n'
        f'<dl class="facts">{cards}</dl>\n</header>\n'
    )


def _worst(motion: Motion) -> dict[str, str]:
    """The two numbers a reader looks for first."""
    facts = {}
    error = motion.energy_error
    if error is not None:
        title = "Energy drift" if motion.balance is None else "Energy remainder"
        facts[title] = number(finite(np.max(error)), 2)
    sizes = [size.largest for size in motion.residual_sizes().values() if np.isfinite(size.largest)]
    if sizes:
        facts["Largest residual"] = number(max(sizes), 2)
    return facts


def formula_boxes(equations: Sequence[str]) -> str:
    """The equations, as many as can be read; what is left out is said."""
    boxes: list[str] = []
    together = 0
    for latex in equations[:MOST_FORMULAS]:
        together += len(latex)
        if len(latex) <= LONGEST_FORMULA and together <= FORMULAS_TOGETHER:
            boxes.append(f'<div class="formula" tabindex="0" role="group" aria-label="Equation">{_set(latex)}</div>\n')
    missing = len(equations) - len(boxes)
    note = ""
    if missing:
        note = (
            f'<p class="quiet">{len(boxes)} of {len(equations)} equations are shown, the others are too many or too '
            "long for a page; <code>svyaz derive</code> writes all of them.</p>\n"
        )
    return (f'<div class="card">\n{"".join(boxes)}</div>\n' if boxes else "") + note


def _set(latex: str) -> str:
    """A formula set by KaTeX; what KaTeX cannot set stands as it was written, for a report must not fail for it."""
    try:
        return katex.render(latex)
    except katex.LatexError:
        return f"<code>{escape(latex)}</code>"


def _name(name: str) -> str:
    return katex.render(latex_name(name), False)


def _given(motion: Motion) -> str:
    tables = []
    initial = dict(zip(motion.state_names, map(finite, motion.states[0]), strict=True))
    for title, values in (("Parameters", motion.system.constants), ("Initial state", initial)):
        if values:
            rows = [[_name(name), number(value)] for name, value in values.items()]
            tables.append(table(title, [], rows))
    return f'<div class="columns">\n{"".join(tables)}</div>\n'


def _method(motion: Motion) -> str:
    if motion.step is not None:
        pace = f"with the step {number(motion.step)}"
    else:
        pace = f"with steps chosen for the relative tolerance {number(motion.rtol)}"
    form, method = escape(motion.form), escape(motion.method)
    counts = f"{motion.steps} steps, {motion.evaluations} evaluations of the right-hand side"
    sentences = [
        f"Form of the equations: <code>{form}</code>. Method: <code>{method}</code> {pace}.",
        f"{counts}, {number(motion.seconds, 3)} s.",
    ]
    error = finite(motion.trajectory_error)
    if error is not None:
        sentences.append(f"Error of the trajectory, by halving the step: {number(error, 2)}.")
    record = gains_record(motion.gains)
    gains = {k: v for k, v in record.items() if isinstance(v, str | int | float)}
    if gains:
        sentences.append("Stabilisation: " + ", ".join(f"{escape(k)} {_plain(v)}" for k, v in gains.items()) + ".")
    sentences += [escape(note) for note in motion.notes]
    return "".join(f"<p>{sentence}</p>\n" for sentence in sentences) + gains_table(
        gain_blocks(motion.gains), gain_roots(motion.gains)
    )


def gains_table(blocks: Mapping[str, Sequence[Sequence[float]]], roots: Sequence[complex]) -> str:
    """The gain matrices of the perturbation equation, and its roots."""
    rows = [[name, matrix_text(block)] for name, block in blocks.items()]
    if not rows:
        return ""
    rows += [["roots", ", ".join(_root(z.real, z.imag) for z in roots)]] if roots else []
    return table("Gains: ḧ = A h + B ḣ + C f, ḟ = D ḣ + E f", [], rows)


def matrix_text(block: Sequence[Sequence[float]]) -> str:
    """A small matrix in one line; a multiple of the unit matrix as such, a large one by its size."""
    corner = block[0][0]
    square = len(block) == len(block[0])
    if square and all(e == (corner if i == j else 0.0) for i, row in enumerate(block) for j, e in enumerate(row)):
        return number(corner) if len(block) == 1 else f"{number(corner)} · 1 ({len(block)} × {len(block)})"
    if len(block) * len(block[0]) > LARGEST_BLOCK:
        return f"{len(block)} × {len(block[0])} matrix"
    return "; ".join(" ".join(number(e) for e in row) for row in block)


def _root(re: float, im: float) -> str:
    return number(re, 4) if im == 0.0 else f"{number(re, 4)} {'+' if im > 0 else '−'} {number(abs(im), 4)} i"


def _plain(value: str | float) -> str:
    return escape(value) if isinstance(value, str) else number(value)


def _trust(motion: Motion) -> str:
    """Residuals, integrals, multipliers and the final state as tables."""
    tables = []
    sizes = {name: astuple(size) for name, size in motion.residual_sizes().items()}
    if sizes:
        heads = ["constraint", "largest", "root mean square", "final", "time of largest"]
        tables.append(rows_table("Residuals of the constraints", heads, sizes, 3))
    drifts = {name: (d.initial, d.final, d.drift) for name, d in motion.drifts().items() if d.deviation is None}
    if drifts:
        tables.append(rows_table("First integrals", ["integral", "initial", "final", "drift"], drifts, 8))
    off = {name: astuple(d.deviation) for name, d in motion.drifts().items() if d.deviation is not None}
    if off:
        heads = ["integral", "initial", "final", "largest"]
        tables.append(rows_table("Deviations of integrals from their values", heads, off, 3))
    if motion.balance is not None:
        terms = [[escape(name), number(finite(value), 8)] for name, value in motion.balance.totals.items()]
        tables.append(table("Energy: final = initial + work − dissipated − impacts + remainder", [], terms))
    if motion.multipliers:
        spans = {name: _span(values) for name, values in motion.multipliers.items() if name not in motion.undetermined}
        tables.append(rows_table("Multipliers", ["constraint", "least", "greatest", "final"], spans, 8))
    if motion.phases:
        tables.append(table("Phases", ["t", "begin to act", "cease to act", "energy"], _phase_rows(motion.phases)))
    final = [[_name(n), number(finite(x), 10)] for n, x in zip(motion.state_names, motion.states[-1], strict=True)]
    tables.append(table("Final state", [], final))
    return "".join(tables)


def _phase_rows(phases: Sequence[Event]) -> list[list[str]]:
    """When constraints began and ceased to act, and the energy before and after."""
    rows = []
    for event in phases:
        energies = [number(e, 8) for e in (event.energy_before, event.energy_after) if e is not None]
        names = [escape(", ".join(names)) for names in (event.on, event.off)]
        rows.append([number(event.t, 9), *names, " → ".join(energies)])
    return rows


def _span(values: Array) -> tuple[float, ...]:
    """Least, greatest and last value over the time in which the constraint acts."""
    acting = values[np.isfinite(values)]
    if not len(acting):
        return np.nan, np.nan, np.nan
    return float(acting.min()), float(acting.max()), float(acting[-1])
