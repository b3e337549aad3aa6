"""The living page: one file with a mechanism that is computed in the browser, its formulas beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from svyaz import __version__
from svyaz.motion import Motion
from svyaz.show import katex
from svyaz.show.files import asset, page
from svyaz.show.follows import formulas_html
from svyaz.show.living.living import Living, NotLiving, living_model
from svyaz.show.living.record import LivingRecord
from svyaz.show.living.regulated import Regulated
from svyaz.show.living.widget import PLOTS, living_script, model_script, panel, rows_script, stage
from svyaz.show.player import player_html, shape_of
from svyaz.show.scene import can_be_drawn, spatial_drawings


def living_page(
    motion: Motion,
    equations_latex: Sequence[str],
    *,
    model: str = "",
    told: Sequence[str] = (),
    loop: Regulated | None = None,
) -> str:
    """The page of a motion: alive where a browser can compute it, else the motion as it was computed, and the word why.

    ``equations_latex`` are display formulas, ``model`` is how the model is called on the command line, ``told`` are
    sentences about what was decided, which the page tells. ``loop`` is the regulation of which the motion is the closed loop.
    """
    system = motion.system if loop is None else loop.stated
    try:
        found: Living | None = living_model(motion, loop)
        why = ""
    except NotLiving as reason:
        found, why = None, str(reason)
    lead = _lead(str(system.words.get("notes", "") or ""))
    parts = [f"<header>\n<h1>{escape(system.name)}</h1>\n{lead}</header>\n"]
    parts.append(_alive(found, motion) if found is not None else _player_html(motion, why))
    formulas = formulas_html(equations_latex)
    parts.append(f"<section>\n<h2>Equations</h2>\n{formulas}</section>\n" if formulas else "")
    how = _how(found, motion, model, [*told, *_regulator_lines(found, loop)])
    parts.append(f"<section>\n<h2>How it is computed</h2>\n{how}</section>\n")
    parts.append(f"<footer>svyaz {escape(__version__)}; formulas set by {escape(katex.setter())}.</footer>\n")
    styles = asset("living/living.css") + katex.stylesheet()
    return page(system.name, "".join(parts), styles, living_script(), kind="living-page")


def _alive(found: Living, motion: Motion) -> str:
    key, scripts = model_script(found)
    drawn = bool(motion.system.drawings)
    shape, spatial = shape_of(motion) if drawn else None, spatial_drawings(motion.system)
    picture = stage(f"Animation of {motion.system.name}", shape, spatial, draggable=drawn, live=key)
    return (
        f'<div class="living" data-model="{key}" data-address>\n{picture}{panel(found, motion)}{PLOTS}{scripts}</div>\n'
    )


def _player_html(motion: Motion, why: str) -> str:
    word = (
        '<p class="kept">This motion was computed beforehand and is played as it was; this page does not compute it in the '
        f"browser, for {escape(why)}.</p>\n"
    )
    if not can_be_drawn(motion):
        return word
    return f'{word}<div class="living alone" data-kept>\n{player_html(motion)}{PLOTS}{rows_script(motion)}</div>\n'


def _regulator_lines(found: Living | None, loop: Regulated | None) -> list[str]:
    """What is said of the regulator."""
    if loop is None:
        return []
    place = ", ".join(f"{name} = {value:.6g}" for name, value in loop.regulation.chosen.fixed.items())
    about = f" with {place}" if place else ""
    told = (
        f"The system is regulated about the equilibrium{about}: u = u₀ - K x, with the gains K of an optimal regulator."
    )
    if found is None:
        return [told]
    if found.record["regulator"] is not None:
        how = (
            "When a parameter or the place of the equilibrium is moved, the equilibrium is followed by Newton's method from "
            "that of the model. The gains stay as they were designed, or as they are set by hand."
        )
    else:
        how = f"u₀ belongs to the parameters of the model, and is kept when one is moved: {found.fixed_equilibrium}."
    return [f"{told} {how}"]


def _lead(notes: str) -> str:
    words = " ".join(notes.split())
    return f'<p class="lead">{escape(words)}</p>\n' if words else ""


def _how(found: Living | None, motion: Motion, model: str, told: Sequence[str]) -> str:
    sentences = [escape(sentence) for sentence in told]
    if found is None:
        sentences.append(
            f"Form <code>{escape(motion.form)}</code>, method <code>{escape(motion.method)}</code>, natively."
        )
        return "".join(f"<p>{sentence}</p>\n" for sentence in sentences)
    record = found.record
    method, step, how = record["method"], record["step"], record["stabilize"]
    sentences.append(
        f"The equations, in the form <code>{escape(motion.form)}</code>, are a program in this page, the same as that of "
        f"native runs; it is integrated by <code>{escape(method['name'])}</code> with the fixed step {step:g}, anew at "
        "every change. Nothing is loaded from elsewhere and nothing is sent."
    )
    difference = record["difference"]
    if difference > 0:
        asked = f"<code>{escape(motion.method)}</code>"
        sentences.append(
            f"The run as the model asks for it, by {asked} with steps that it chooses, differs from this one by at most "
            f"{difference:.1e} of the size of each variable."
        )
    if motion.system.constraints:
        sentences.append(f"Constraints are held {_stabilisation_text(record)}.")
    if record["geometry"] is not None:
        sentences.append("Starts that are moved are brought onto the constraints.")
    if record["tied"]:
        names = ", ".join(map(str, record["tied"]))
        sentences.append(f"Not moved here, since times or steps depend on it: {escape(names)}.")
    if model and not isinstance(how, Mapping):
        gains = f" --stabilize {how}" if motion.system.constraints else ""
        run = f"--form {motion.form} --method {method['name']} --step {step:g} --until {record['span'][1]:g}"
        command = f"svyaz simulate {model} {run}{gains}"
        sentences.append(f"The same natively: <code>{escape(command)}</code>.")
    return "".join(f"<p>{sentence}</p>\n" for sentence in sentences)


def _stabilisation_text(record: LivingRecord) -> str:
    """How constraints are held, in words."""
    if record["stabilize"] == "projection":
        return "by projection after each step"
    if any(phase["gains"] for phase in record["phases"]):
        return "with the gains that are shown; those at first are of the motion as it was stated"
    return (
        "by differentiating them alone"
        if record["stabilize"] == "off"
        else "as the run has chosen, also when something is moved"
    )
