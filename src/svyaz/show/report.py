"""The report of a motion: one self-contained page with equations, data, pictures and how far to trust them."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from svyaz import __version__
from svyaz.arguments import check_arguments
from svyaz.files import write_text
from svyaz.show import katex, plots
from svyaz.show.files import page
from svyaz.show.follows import equations_part, formulas_html
from svyaz.show.given import part_of_statement
from svyaz.show.overviews import energy_plot
from svyaz.show.player import player, player_script, player_style
from svyaz.show.records.holding import gain_blocks, gain_roots, gains_record
from svyaz.show.results import finite
from svyaz.show.scene import can_be_drawn, finite_span
from svyaz.show.tables import number, table
from svyaz.show.trust import trust_part

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from svyaz.model import System
    from svyaz.motion import Motion

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


@check_arguments
def write_report(
    motion: Motion,
    folder: str | os.PathLike[str],
    *,
    formulas: Sequence[str] | None = None,
    moments: Sequence[float] | None = None,
) -> Path:
    """Writes ``report.html`` and a PNG of each figure into the folder, which is made if need be.

    ``formulas`` are display formulas in LaTeX in place of the equations of the motion; ``moments`` are the times up to which
    traces of links are drawn, by default the quarters of the motion. Files appear whole or not at all; the page comes last.

    >>> import svyaz, tempfile
    >>> motion = svyaz.load("pendulum:1").simulate(until=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     svyaz.write_report(motion, folder).name
    'report.html'
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    pictures = []
    for name, (figure, words) in figures(motion, moments).items():
        plots.save(figure, target / f"{name}.png")
        figure.set_layout_engine("none")  # what was laid out for the PNG serves the page too
        pictures.append(_picture(figure, target / f"{name}.png", words))
    follows = equations_part(motion) if formulas is None else formulas_html(formulas)
    return write_text(target / "report.html", report_page(motion, follows, pictures))


def figures(motion: Motion, moments: Sequence[float] | None) -> dict[str, tuple[Figure, str]]:
    """The figures that make sense for this motion by file name, each with words that say what is seen."""
    found: dict[str, tuple[Figure, str]] = {}
    start, end = finite_span(motion)
    if moments is not None and not all(start <= t <= end for t in moments):
        raise ValueError(f"'moments' must lie in the motion, which lasts from t = {start:g} to t = {end:g}")
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


def report_page(motion: Motion, follows: str, pictures: Sequence[str]) -> str:
    """The whole page: what was given before what follows; ``follows`` and ``pictures`` are ready pieces of HTML."""
    shown = player(motion) if can_be_drawn(motion) else f'<p class="quiet">{no_picture(motion.system)}</p>\n'
    parts = [
        f'<div class="first">\n{_heading(motion)}{shown}{_facts(motion)}</div>\n',
        _section("What was given", part_of_statement(motion)),
        _section("Equations", follows),
        _section("How it was computed", _method(motion)),
        _section("The motion", "".join(pictures)),
        _section("How far to trust it", trust_part(motion)),
        f"<footer>svyaz {escape(__version__)}; formulas set by {escape(katex.setter())}.</footer>\n",
    ]
    script = player_script() if can_be_drawn(motion) else ""
    return page(motion.system.name, "".join(parts), player_style() + katex.stylesheet(), script)


def no_picture(system: System) -> str:
    """Why nothing moves on the page."""
    if system.drawings:
        return "The state is known at no moment: there is nothing to draw."
    return "The model says nothing of what it looks like: with <code>[[draw]]</code> it would be seen moving here."


def _section(title: str, body: str) -> str:
    return f"<section>\n<h2>{escape(title)}</h2>\n{body}</section>\n" if body else ""


def _heading(motion: Motion) -> str:
    words = STATUS.get(motion.status, "The computation ended at t = {t}.").format(t=number(finite(motion.times[-1])))
    reason = f" {escape(motion.reason)}" if motion.reason else ""
    bad = "" if motion.status == "finished" else " bad"
    return (
        f"<header>\n<h1>{escape(motion.system.name)}</h1>\n"
        f'<p><span class="badge{bad}">{escape(motion.status)}</span> {words}{reason}</p>\n</header>\n'
    )


def _facts(motion: Motion) -> str:
    """What a reader looks for first, each explained where the pointer rests on it."""
    unit = f" {motion.system.units['t']}" if motion.system.units else ""
    facts = {
        "Duration": (f"{number(finite(motion.times[-1]))}{unit}", "The time of the motion at its end; it begins at 0."),
        "Steps": (f"{motion.steps:,}".replace(",", "\u202f"), "Steps of the integrator that were accepted."),
        "Computing time": (
            f"{number(motion.seconds, 3)} s",
            "Time the integration took on the computer, compiling apart.",
        ),
        **_worst(motion),
    }
    cards = "".join(
        f'<div class="card" title="{escape(told)}"><dt>{name}</dt><dd>{value}</dd></div>'
        for name, (value, told) in facts.items()
    )
    return f'<dl class="facts">{cards}</dl>\n'


def _worst(motion: Motion) -> dict[str, tuple[str, str]]:
    """The two numbers a reader looks for first."""
    facts = {}
    error = motion.energy_error
    if error is not None:
        kept = motion.balance is None
        told = "how far it went from its first value" if kept else "what the balance of work and losses leaves over"
        title = "Energy drift" if kept else "Energy remainder"
        words = f"Of the energy, {told}, over max(|E₀|, max T): an error of the computation."
        facts[title] = (number(finite(np.max(error)), 2), words)
    sizes = [size.largest for size in motion.residual_sizes().values() if np.isfinite(size.largest)]
    if sizes:
        words = "The largest deviation of any constraint, left side minus right side, from zero."
        facts["Largest residual"] = (number(max(sizes), 2), words)
    return facts


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
