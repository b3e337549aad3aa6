"""Motions and checks in notebooks."""

from __future__ import annotations

from html import escape

from svyaz.motion import Check, Motion
from svyaz.show.notebooks import dataset_html, details, heading, picture, player_frame
from svyaz.show.overviews import overview
from svyaz.show.results import html_of, line_of
from svyaz.show.scene import can_be_drawn
from svyaz.show.tables import notebook_table


@html_of.register(Motion)
def _(motion: Motion) -> str:
    """The mechanism in a player, or its curves; what became of the constraints and integrals, and its columns."""
    columns = dataset_html(motion.to_xarray)
    words = f"{motion.status} {motion.reason}".strip()
    counts = f"{motion.steps} steps of {motion.method}"
    drawn = can_be_drawn(motion)
    shown = player_frame(motion) if drawn else picture(overview(motion), f"motion of {motion.system.name}")
    sizes = [[name, size.largest, size.final] for name, size in motion.residual_sizes().items()]
    kept = [[name, drift.initial, drift.final, drift.drift] for name, drift in motion.drifts().items()]
    return (
        heading(motion.system.name, words, f"t = {motion.times[0]:g} … {motion.times[-1]:g}", counts, *motion.notes)
        + shown
        + (notebook_table(["residual", "largest", "at the end"], sizes) if sizes else "")
        + (notebook_table(["integral", "at the start", "at the end", "drift"], kept) if kept else "")
        + details("columns", columns)
    )


@html_of.register(Check)
def _(found: Check) -> str:
    """A row for each constraint, and the verdict on the gains."""
    rows = [[c.name, c.kind, "yes" if c.time_dependent else "no", _start(found, c.name), c.remark] for c in found.kinds]
    heads = ["constraint", "kind", "depends on time", "residual at the start", "remark"]
    gains = found.gains
    verdict = "" if gains is None or gains.word is None else f"gains: {gains.word}"
    reasons = "".join(f"<p>{escape(reason)}</p>" for reason in (() if gains is None else gains.reasons))
    return (
        heading(found.system.name, line_of(found).partition(": ")[2], verdict)
        + (notebook_table(heads, rows) if rows else "")
        + reasons
    )


def _start(found: Check, name: str) -> object:
    return found.residuals[name].value if name in found.residuals else ""


@line_of.register(Check)
def _(found: Check) -> str:
    rank = "no constraint acts" if found.ranks is None else f"rank {found.ranks.rank} of {len(found.residuals)}"
    return f"of '{found.system.name}': {rank}, {'; '.join(found.wrong) or 'nothing is wrong'}"
